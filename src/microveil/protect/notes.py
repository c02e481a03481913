"""The custodian's notes in words, all that there are: they depend on the data."""

from collections.abc import Iterator

import numpy as np

from microveil.audit.advice import kept_scope
from microveil.methods import METHODS
from microveil.methods.centroids import CentroidPlan
from microveil.methods.planned import Figures
from microveil.protect.findings import Findings, PlanFindings, ReleaseFindings
from microveil.release import Plan, Release
from microveil.release.expectation import average
from microveil.table import numbers_of_attribute
from microveil.text import one_line, wrapped

__all__ = ["custodian_lines", "custodian_notes", "custodian_text"]


def custodian_notes(planned: Plan, found: Findings) -> tuple[str, ...]:
    """Return what the custodian should know of a release before publishing it."""
    return (
        *_of_plan(planned),
        *_of_plan_findings(planned, found.plan),
        *(() if found.release is None else found.release.warnings),
    )


def custodian_lines(release: Release) -> tuple[str, ...]:
    """Return what the custodian is to read of a release, a line each.

    Parameters
    ----------
    release : Release
        With findings in its manifest.
    """
    found = ReleaseFindings.of(release.manifest.to_dict()["findings"])
    return tuple(map(one_line, (*_prose(release, found), *found.kept)))


def custodian_text(release: Release) -> str:
    """Return the same for a terminal, with the worst columns as a table."""
    found = ReleaseFindings.of(release.manifest.to_dict()["findings"])
    lines = (
        *(wrapped(one_line(line), "  ") for line in _prose(release, found)),
        *found.table,
        *(wrapped(one_line(line), "  ") for line in found.kept),
    )
    return "\n".join(lines)


def _prose(release: Release, found: ReleaseFindings) -> tuple[str, ...]:
    """Return the findings, which begin with their warnings, and the other notes."""
    notes = release.manifest.custodian_notes
    return *found.lines, *(note for note in notes if note not in found.warnings)


def _of_plan(planned: Plan) -> Iterator[str]:
    parts = planned.attributes
    if planned.units is not None and planned.units.n_dropped:
        n_dropped = planned.units.n_dropped
        yield (
            f"{n_dropped} of {planned.table.n_records + n_dropped} records were left out: they are "
            f"beyond the {planned.units.unit.max_rows} that a unit may have."
        )
    yield from _of_unit_attributes(planned)
    for plan in planned.parts or (planned,):
        yield from _of_whole_records(plan)
    for part in parts:
        if isinstance(part, CentroidPlan | Figures) and part.widening:
            yield _cost_of_widening(part)
    exact = sum(part.exact_cells for part in parts)
    if exact:
        cells = sum(part.n_cells for part in parts)
        yield f"{exact} of {cells} cells are published exactly as they are."


def _of_unit_attributes(planned: Plan) -> Iterator[str]:
    """Say where an attribute that was declared one value a unit is not."""
    for attribute in (part.attribute for part in planned.attributes):
        if planned.units is None or not attribute.of_unit:
            continue
        n_units = planned.units.differing(numbers_of_attribute(planned.table, attribute))
        if n_units:
            yield (
                f"The records of {n_units} units differ in {one_line(attribute.name)}, which was "
                "declared to be one value a unit: each has been given that of the unit's first."
            )


def _of_whole_records(planned: Plan) -> Iterator[str]:
    """Say how many records are released without a value, because one of theirs is missing."""
    found = (getattr(part, "missing", None) for part in planned.attributes)
    masks = [mask for mask in found if mask is not None]
    takes_records = METHODS[planned.guarantee.method].uses("blocks")
    if not takes_records or len(masks) < len(planned.attributes):
        return
    if n_empty := int(np.logical_and.reduce(masks).sum()):
        names = ", ".join(one_line(part.attribute.name) for part in planned.attributes)
        yield (
            f"{n_empty} of {planned.table.n_records} records are released without any value of "
            f"{names}: clusters are of whole records, and each of these lacks a value. Fewer "
            "attributes, or missing='protect' where the method can, would keep more."
        )


def _of_plan_findings(planned: Plan, found: PlanFindings) -> Iterator[str]:
    if found.is_advised and found.expected:
        yield (
            f"Of what advice chose the expected error is {average(found.expected):.3g} of the "
            "variance, mean over the attributes."
        )
    for name, look in found.numeric_looks.items():
        yield f"'{name}' is not released: {look}."
    if found.linkage is not None:
        yield str(found.linkage)
    if any(entry.hopeless for entry in found.expected.values()):
        yield _hopeless(planned, found)


def _cost_of_widening(part: CentroidPlan | Figures) -> str:
    before, total = part.widening, part.total_squares
    assert before is not None  # noqa: S101 -- only widened plans come here
    if total == 0:
        return f"All values of '{part.attribute.name}' are equal: merging clusters hides none."
    lost = [
        100 * squares / total for squares in (before.squares_before, part.squares_within or 0.0)
    ]
    return (
        f"Clusters of equal values were merged with their neighbours in '{part.attribute.name}': "
        f"{before.clusters_before} clusters became {part.n_clusters}, and clustering alone loses "
        f"{lost[1]:.3g} % of the variance instead of {lost[0]:.3g} %."
    )


def _hopeless(planned: Plan, found: PlanFindings) -> str:
    """Say which attributes are hopeless, and where something better may be found."""
    worst = ", ".join(
        f"'{name}' ({entry.over_variance:.3g} times the variance)"
        if entry.variance > 0
        else f"'{name}' (all its values are equal)"
        for name, entry in found.expected.items()
        if entry.hopeless
    )
    note = f"To be expected: an error worse than publishing the mean in {worst}."
    if kept_scope(planned) is None:
        return note
    return f"{note} microveil advise (in Python mv.advise) looks for what would be better."
