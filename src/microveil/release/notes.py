"""Warnings in words, of what is public; they never refuse."""

from collections.abc import Sequence

from microveil.arguments.steps import MATRIX
from microveil.guarantee import Guarantee
from microveil.methods import METHODS
from microveil.methods.planned import AttributePlan
from microveil.methods.synthetic import DEEP_ENOUGH
from microveil.release.columns import Prepared
from microveil.release.request import Request
from microveil.synthesis.plan import CutsPlan
from microveil.text import one_line

__all__ = ["REPORTED_RECORDS", "file_notes", "labels_beside", "notes_of_parts", "plan_notes"]


# Of larger tables no report is made unasked: an assessment takes far longer than protecting.
REPORTED_RECORDS = 50_000
# Under these a new table would not cover rows either, and they say so themselves.
OF_A_LOOK = frozenset({"bounds", "categories", "resolution", "columns-chosen"})


def plan_notes(
    request: Request, parts: Sequence[AttributePlan], prepared: Prepared, claim: Guarantee
) -> tuple[str, ...]:
    """Return what a person should know of a plan before publishing: nothing of the data.

    Parameters
    ----------
    request : Request
    parts : sequence of AttributePlan
    prepared : Prepared
    claim : Guarantee
        What holds with the operating system's randomness.
    """
    wanted = request.scope is not None or request.keep or request.seed is not None
    return (
        *_of_request(request),
        *_of_left_out(prepared.left_out),
        *_of_attributes(request, parts),
        *([] if wanted else _of_rows(claim)),
        *_of_new_table(request, parts, prepared.table.n_records),
        *_of_table(prepared, is_seeded=request.seed is not None),
        *_of_advice(request),
    )


def notes_of_parts(
    parts: Sequence[tuple[str, Request, Sequence[AttributePlan]]],
    prepared: Prepared,
    claim: Guarantee,
    *,
    wanted: bool,
) -> tuple[str, ...]:
    """Return the notes on a release of several parts.

    Parameters
    ----------
    parts : sequence of (str, Request, sequence of AttributePlan)
        Of each the names of its attributes.
    prepared : Prepared
        The columns of all of them.
    claim : Guarantee
    wanted : bool
        Whether rows, or a scope, were asked for.
    """
    of_parts = [
        f"{named}: {note}"
        for named, request, plans in parts
        for note in (
            *_of_request(request),
            *_of_attributes(request, plans),
            *_of_advice(request),
        )
    ]
    is_seeded = any(request.seed is not None for _, request, _ in parts)
    return (
        *of_parts,
        *_of_left_out(prepared.left_out),
        *([] if wanted else _of_rows(claim)),
        *_of_table(prepared, is_seeded=is_seeded),
    )


def _of_left_out(left_out: Sequence[str]) -> list[str]:
    return [f"Not released: {', '.join(left_out)}."] if left_out else []


def _of_table(prepared: Prepared, *, is_seeded: bool) -> list[str]:
    notes = []
    if prepared.table.has_index:
        notes.append(
            "The index of the data frame is not released; reset_index makes a column of it, which "
            "can be asked for as others can."
        )
    if is_seeded:
        notes.append("Noise from a seed protects nobody: do not publish this release.")
    if prepared.formulas:
        notes.append(
            "A spreadsheet may run as a formula what begins with =, +, -, @, a tab or a line end. "
            "A name, a category or a kept cell does in: "
            f"{', '.join(map(one_line, prepared.formulas))}. --escape-formulas "
            "(escape_formulas=True of write) writes such text to a CSV file with an apostrophe "
            "before it."
        )
    return notes


def _of_advice(request: Request) -> list[str]:
    if request.advised is None:
        return []
    steps = [f"{step} {value}" for step, value in request.steps.items()]
    size = [f"k {request.k}"] if "k" in request.method.needs else []
    chosen = ", ".join([request.method.id, *steps, *size])
    return [f"Left to advice, chosen: {chosen}."]


def _of_new_table(request: Request, parts: Sequence[AttributePlan], n_records: int) -> list[str]:
    """Say where a new table's budget is short, or its delta no small chance."""
    cut = (part for part in parts if isinstance(part, CutsPlan))
    rough = [part.attribute.name for part in cut if part.worth < DEEP_ENOUGH]
    notes = []
    if rough:
        names = ", ".join(map(one_line, rough))
        notes.append(
            f"The budget hardly suffices for the distribution of {names}: "
            "its quarters come out roughly, and its largest values can lie far off. A larger "
            "epsilon, a delta or fewer attributes would mend it."
        )
    if request.delta * n_records >= 1:
        notes.append(
            "delta is 1/n or more, n the number of records: publishing one person's record as it "
            "is, picked by chance, would keep it too. Stay far below: 1e-9, say."
        )
    return notes


def _of_rows(claim: Guarantee) -> list[str]:
    """Name what would cover rows that follow people."""
    new = [method.id for method in METHODS.values() if "new table" in method.can]
    looked = any(condition.id in OF_A_LOOK for condition in claim.conditions)
    if not new or looked or not claim.follows_individuals:
        return []
    note = (
        f"What rows show of the people they follow is not covered (row scope): {' or '.join(new)} "
        "would cover it, by a new table whose rows are nobody's."
    )
    return [note]


def file_notes(*, is_reported: bool) -> tuple[str, ...]:
    """Return what a person should know of the files of a release.

    Parameters
    ----------
    is_reported : bool
        Whether the custodian gets a report.
    """
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
        f"{title} files cannot hold every label of {', '.join(map(one_line, names))}: they are too "
        "long, or of codes that take none there. Such labels are left out of the file, and stand "
        "whole in schema.json beside it."
    )


def _of_request(request: Request) -> list[str]:
    notes = []
    if request[MATRIX] and request.epsilon is not None and request.method.uses("matrix"):
        notes.append(
            "Attributes with a transition matrix of their own spend what it spends, beside the "
            "epsilon asked for: the guarantee holds the sum."
        )
    if request.unused:
        notes.append(f"{request.method.id} has no use for: {', '.join(request.unused)}.")
    return notes


def _of_attributes(request: Request, parts: Sequence[AttributePlan]) -> list[str]:
    notes = []
    attributes = [part.attribute for part in parts]
    read = [a.name for a in attributes if a.bounds_from_data]
    if read:
        notes.append(
            f"Bounds read from the data ({', '.join(read)}): the release shows them, and the "
            "people who hold the largest and smallest values are not protected."
        )
    listed = [a.name for a in attributes if a.categories_from_data]
    if listed:
        notes.append(
            f"Categories read from the data ({', '.join(listed)}): the release shows them, and "
            "people who are alone in theirs are not protected."
        )
    if request.isotonic:
        notes.append(
            "Isotonic regression invites linkage: rows that follow individuals show every "
            "record's rank block, and an intruder who knows people's values can find far more "
            "of them. Use it to publish distributions."
        )
    return notes
