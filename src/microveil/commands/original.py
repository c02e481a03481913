"""The table of a file that a release was made of: what the release is held against."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import polars

from microveil.commands.asking import codes_of
from microveil.evaluation.findings import release_findings
from microveil.evaluation.promised import codes_in_release
from microveil.evaluation.text_of_findings import warnings_of
from microveil.protect.plan import Plan
from microveil.protect.release import Release
from microveil.table.protocol import rebuilt

__all__ = ["original_of", "with_findings"]


def original_of(planned: Plan, frame: polars.DataFrame) -> polars.DataFrame:
    """Return the table of a file without the records of units that were left out."""
    if planned.units is None or not planned.units.n_dropped:
        return frame
    kept: polars.DataFrame = rebuilt(planned.table, {}, frame.columns)
    return kept


def with_findings(
    release: Release,
    planned: Plan,
    original: polars.DataFrame,
    asked: Mapping[str, Any],
    *,
    linkage: bool | str,
    progress: Callable[[str], None],
) -> Release:
    """Hold a release against its original, and write what was found into its manifest.

    Before the release is written: it and what its custodian reads appear together or not at all.
    """
    codes = codes_of(asked)
    found = release_findings(
        original,
        release.data,
        [part.attribute.name for part in planned.attributes],
        in_place=planned.guarantee.in_place,
        linkage=linkage,
        categories=_listed(planned),
        codes=(codes, codes_in_release(codes, planned.guarantee)),
        progress=progress,
    )
    notes = [*release.manifest.custodian_notes, *warnings_of(found)]
    manifest = release.manifest.with_entries(custodian_notes=notes, findings=found)
    return replace(release, manifest=manifest)


def _listed(planned: Plan) -> dict[str, tuple[str, ...] | None]:
    """Return the attributes that are categories, with their words where these have an order.

    Ordered numbers are compared as numbers.
    """
    found = {part.attribute.name: part.attribute.categories for part in planned.attributes}
    return {
        name: listed.words if listed.ordered else None
        for name, listed in found.items()
        if listed is not None and (listed.words or not listed.ordered)
    }
