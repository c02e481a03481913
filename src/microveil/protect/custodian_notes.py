"""What is said of a plan to its custodian, in figures and words: all of it depends on the data.

Nothing is looked at here but the plan; what is found of a release is in `evaluation.findings`. But
for isotonic regression, of which it is linked what trial draws would show.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from microveil.methods.centroids import CentroidPlan
from microveil.methods.planned import Figures
from microveil.protect.columns import Prepared
from microveil.protect.exact_audit import audit_of
from microveil.protect.expectation import Expectation, average, expectations
from microveil.protect.invited_linkage import strongest_linkage
from microveil.protect.plan import PartPlan, Plan, kept_scope
from microveil.table import numbers_of_attribute, numeric_look_of
from microveil.text import one_line

__all__ = ["PlanNotes", "plan_notes"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PlanNotes:
    """What the custodian's manifest says of a plan: entries of figures, and sentences."""

    entries: Mapping[str, Any]
    sentences: tuple[str, ...]


def plan_notes(planned: Plan, progress: Callable[[str], None] = lambda _step: None) -> PlanNotes:
    """Say what a plan really guarantees, what error to expect of it, and what is worth knowing."""
    progress("auditing")
    expected = expectations(planned)
    entries: dict[str, Any] = {
        "audit": audit_of(planned).to_dict(),
        "expected_error": {name: entry.to_dict() for name, entry in expected.items()},
    }
    sentences = [*_of_plan(planned)]
    requests = [part.request for part in planned.parts]
    if expected and any(request.advised is not None for request in requests):
        sentences.append(
            f"Of what advice chose the expected error is {average(expected):.3g} of the "
            "variance, mean over the attributes."
        )
    looks = _numeric_looks(planned.prepared) if requests[0].attributes is None else {}
    sentences += [f"'{name}' is not released: {look}." for name, look in looks.items()]
    if planned.isotonic:
        progress("linking trial draws")
        linkage = strongest_linkage(planned)
        entries["isotonic_linkage"] = linkage.to_dict()
        sentences.append(f"{linkage}")
    if looks:
        entries["numeric_looks"] = looks
    if any(entry.hopeless for entry in expected.values()):
        sentences.append(_hopeless(planned, expected))
    return PlanNotes(entries=entries, sentences=tuple(sentences))


def _numeric_looks(prepared: Prepared) -> dict[str, str]:
    """Say of columns that were left out why they are text, where they look like numbers."""
    looks = {name: numeric_look_of(prepared.table, name) for name in prepared.left_out}
    return {name: look for name, look in looks.items() if look is not None}


def _of_plan(planned: Plan) -> Iterator[str]:
    parts = planned.attributes
    if planned.units is not None and planned.units.n_dropped:
        n_dropped = planned.units.n_dropped
        yield (
            f"{n_dropped} of {planned.table.n_records + n_dropped} records were left out: they are "
            f"beyond the {planned.units.unit.max_rows} that a unit may have."
        )
    yield from _of_unit_attributes(planned)
    for one in planned.parts:
        yield from _of_whole_records(one)
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


def _of_whole_records(planned: PartPlan) -> Iterator[str]:
    """Say how many records are released without a value, because one of theirs is missing."""
    found = (getattr(part, "missing", None) for part in planned.attributes)
    masks = [mask for mask in found if mask is not None]
    if not planned.request.method.uses("blocks") or len(masks) < len(planned.attributes):
        return
    n_records = planned.prepared.table.n_records
    if n_empty := int(np.logical_and.reduce(masks).sum()):
        names = ", ".join(one_line(part.attribute.name) for part in planned.attributes)
        yield (
            f"{n_empty} of {n_records} records are released without any value of "
            f"{names}: clusters are of whole records, and each of these lacks a value. Fewer "
            "attributes, or missing='protect' where the method can, would keep more."
        )


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


def _hopeless(planned: Plan, expected: Mapping[str, Expectation]) -> str:
    """Say which attributes are hopeless, and where something better may be found."""
    worst = ", ".join(
        f"'{name}' ({entry.over_variance:.3g} times the variance)"
        if entry.variance > 0
        else f"'{name}' (all its values are equal)"
        for name, entry in expected.items()
        if entry.hopeless
    )
    note = f"To be expected: an error worse than publishing the mean in {worst}."
    if kept_scope(planned) is None:
        return note
    return f"{note} microveil advise (in Python mv.advise) looks for what would be better."
