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
from microveil.table.memory import bytes_of, columns_at_once
from microveil.table.table import rebuilt

__all__ = ["original_of", "with_findings"]

TOO_LARGE = "its columns do not fit into memory together"


Frame = polars.DataFrame | polars.LazyFrame


def original_of(planned: Plan, frame: Frame) -> Frame:
    """Return the table of a file without the records of units that were left out."""
    if planned.units is None or not planned.units.n_dropped:
        return frame
    kept: Frame = rebuilt(planned.table, {}, frame.collect_schema().names())
    return kept


def with_findings(
    release: Release,
    planned: Plan,
    original: Frame,
    asked: Mapping[str, Any],
    *,
    linkage: bool | str,
    progress: Callable[[str], None],
) -> Release:
    """Hold a release against its original, and write what was found into its manifest.

    Before the release is written: it and what its custodian reads appear together or not at all.
    """
    codes, memory, n_records = codes_of(asked), asked.get("memory"), planned.table.n_records
    at_once = columns_at_once(n_records, None if memory is None else bytes_of(memory))
    if isinstance(original, polars.LazyFrame) and linkage is True:
        linkage = at_once is None or len(planned.attributes) <= at_once or TOO_LARGE
    found = release_findings(
        original,
        release.data,
        [part.attribute.name for part in planned.attributes],
        in_place=planned.guarantee.in_place,
        linkage=linkage,
        categories=_listed(planned),
        codes=(codes, codes_in_release(codes, planned.guarantee)),
        at_once=at_once,
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
