"""Warnings in words, of what is public; they never refuse."""

from collections.abc import Iterator, Mapping, Sequence

from microveil.guarantee import Guarantee
from microveil.methods import METHODS
from microveil.methods.planned import AttributePlan
from microveil.methods.synthetic import DEEP_ENOUGH
from microveil.protect.columns import Prepared
from microveil.protect.plan import PartPlan
from microveil.protect.request import Request
from microveil.synthesis.plan import CutsPlan
from microveil.text import listed

__all__ = ["REPORTED_RECORDS", "file_notes", "labels_beside", "notes_of_parts", "plan_notes"]

# Of larger tables no report is made unasked: an assessment takes far longer than protecting.
REPORTED_RECORDS = 50_000
# Under these a new table would not cover rows either, and they say so themselves.
OF_A_LOOK = frozenset({"bounds", "categories", "resolution", "columns-chosen"})


def plan_notes(
    request: Request, parts: Sequence[AttributePlan], prepared: Prepared, claim: Guarantee
) -> tuple[str, ...]:
    """Return what a person should know of a plan before publishing: nothing of the data."""
    wanted = request.scope is not None or request.keep or request.seed is not None
    return (
        *_of_request(request),
        *_of_left_out(prepared),
        *_of_attributes(request, parts),
        *([] if wanted else _of_rows(claim)),
        *_of_new_table(request, parts, prepared.table.n_records),
        *_of_table(prepared, is_seeded=request.seed is not None),
        *_of_advice(request),
    )


def notes_of_parts(
    decided: Mapping[str, PartPlan], prepared: Prepared, claim: Guarantee, *, wanted: bool
) -> tuple[str, ...]:
    """Return the notes on a release of several parts, by the names of their attributes.

    Where rows or a scope were asked for (`wanted`), nothing is said of what would cover rows.
    """
    of_parts = (
        f"{named}: {note}"
        for named, one in decided.items()
        for of in (
            _of_request(one.request),
            _of_attributes(one.request, one.attributes),
            _of_advice(one.request),
        )
        for note in of
    )
    is_seeded = any(one.request.seed is not None for one in decided.values())
    return (
        *of_parts,
        *_of_left_out(prepared),
        *([] if wanted else _of_rows(claim)),
        *_of_table(prepared, is_seeded=is_seeded),
    )


def file_notes(*, is_reported: bool) -> tuple[str, ...]:
    """Return what a person should know of the files of a release, reported to the custodian."""
    if is_reported:
        return ()
    note = (
        f"No custodian's report was written: the table has more than {REPORTED_RECORDS:,} "
        "records. --custodian-report (microveil.report.custodian_report) makes it."
    )
    return (note,)


def labels_beside(title: str, names: Sequence[str]) -> str:
    """Say that a format cannot hold some labels of columns."""
    return (
        f"{title} files cannot hold every label of {listed(names)}: they are too "
        "long, or of codes that take none there. Such labels are left out of the file, and stand "
        "whole in schema.json beside it."
    )


def _of_request(request: Request) -> Iterator[str]:
    if request["matrix"] and request.epsilon is not None and request.method.uses("matrix"):
        yield (
            "Attributes with a transition matrix of their own spend what it spends, beside the "
            "epsilon asked for: the guarantee holds the sum."
        )
    if request.unused:
        yield f"{request.method.id} has no use for: {', '.join(request.unused)}."


def _of_left_out(prepared: Prepared) -> Iterator[str]:
    if prepared.left_out:
        yield f"Not released: {', '.join(prepared.left_out)}."


def _of_attributes(request: Request, parts: Sequence[AttributePlan]) -> Iterator[str]:
    attributes = [part.attribute for part in parts]
    if read := [own.name for own in attributes if own.bounds_from_data]:
        yield (
            f"Bounds read from the data ({', '.join(read)}): the release shows them, and the "
            "people who hold the largest and smallest values are not protected."
        )
    if read := [own.name for own in attributes if own.categories_from_data]:
        yield (
            f"Categories read from the data ({', '.join(read)}): the release shows them, and "
            "people who are alone in theirs are not protected."
        )
    if request.isotonic:
        yield (
            "Isotonic regression invites linkage: rows that follow individuals show every "
            "record's rank block, and an intruder who knows people's values can find far more "
            "of them. Use it to publish distributions."
        )


def _of_rows(claim: Guarantee) -> Iterator[str]:
    """Name what would cover rows that follow people."""
    new = [method.id for method in METHODS.values() if "new table" in method.can]
    looked = any(condition.id in OF_A_LOOK for condition in claim.conditions)
    if new and not looked and claim.follows_individuals:
        yield (
            f"What rows show of the people they follow is not covered (row scope): "
            f"{' or '.join(new)} would cover it, by a new table whose rows are nobody's."
        )


def _of_new_table(
    request: Request, parts: Sequence[AttributePlan], n_records: int
) -> Iterator[str]:
    """Say where a new table's budget is short, or its delta no small chance."""
    cut = (part for part in parts if isinstance(part, CutsPlan))
    if rough := [part.attribute.name for part in cut if part.worth < DEEP_ENOUGH]:
        yield (
            f"The budget hardly suffices for the distribution of {listed(rough)}: "
            "its quarters come out roughly, and its largest values can lie far off. A larger "
            "epsilon, a delta or fewer attributes would mend it."
        )
    if request.delta * n_records >= 1:
        yield (
            "delta is 1/n or more, n the number of records: publishing one person's record as it "
            "is, picked by chance, would keep it too. Stay far below: 1e-9, say."
        )


def _of_table(prepared: Prepared, *, is_seeded: bool) -> Iterator[str]:
    if prepared.table.has_index:
        yield (
            "The index of the data frame is not released; reset_index makes a column of it, which "
            "can be asked for as others can."
        )
    if is_seeded:
        yield "Noise from a seed protects nobody: do not publish this release."
    if prepared.formulas:
        yield (
            "A spreadsheet may run as a formula what begins with =, +, -, @, a tab or a line end. "
            f"A name, a category or a kept cell does in: {listed(prepared.formulas)}. "
            "--escape-formulas (escape_formulas=True of write) writes such text to a CSV file "
            "with an apostrophe before it."
        )


def _of_advice(request: Request) -> Iterator[str]:
    if request.advised is not None:
        steps = (f"{step} {value}" for step, value in request.steps.items())
        size = [f"k {request.k}"] if "k" in request.method.needs else []
        yield f"Left to advice, chosen: {', '.join([request.method.id, *steps, *size])}."
