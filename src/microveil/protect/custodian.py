"""A release with what was found out about it in its manifest, and what its custodian reads."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from microveil.protect.finding import findings_of
from microveil.protect.findings import Findings
from microveil.release import Release
from microveil.text import one_line

__all__ = ["custodian_lines", "with_findings"]


def with_findings(
    release: Release,
    original: Any,
    *,
    linkage: bool = True,
    progress: Callable[[str], None] = lambda _step: None,
) -> Release:
    """Return a release whose manifest holds what was found out about it.

    Parameters
    ----------
    release : Release
    original : data frame or dict of numpy arrays
        The table that was protected.
    linkage : bool
        Whether a sample of the records is linked.
    progress : callable
        Told each step.
    """
    manifest = release.manifest
    found = findings_of(
        original,
        release.data,
        [terms.name for terms in release.guarantee.attributes],
        paired=not manifest.to_dict()["parameters"]["shuffle"],
        linkage=linkage,
        progress=progress,
    )
    notes = [*manifest.custodian_notes, *found.warnings]
    entries = {"findings": found.to_dict(), "custodian_notes": notes}
    return replace(release, manifest=manifest.with_entries(**entries))


def custodian_lines(release: Release) -> tuple[str, ...]:
    """Return what the custodian is to read of a release, a line each: it depends on the data.

    Parameters
    ----------
    release : Release
        With findings in its manifest.
    """
    found = Findings.of(release.manifest.to_dict()["findings"])
    return tuple(map(one_line, (*found.lines, *release.manifest.custodian_notes)))
