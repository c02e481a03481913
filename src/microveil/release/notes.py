"""Warnings in words; they never refuse. What depends on the data is the custodian's."""

from collections.abc import Iterator, Sequence

from microveil.files import FORMULA_SIGNS, begins_like_formula
from microveil.plans import AttributePlan, CentroidPlan
from microveil.release.release import Plan
from microveil.release.request import Request
from microveil.text import one_line

__all__ = ["custodian_notes", "formula_notes", "plan_notes"]


def plan_notes(
    request: Request, parts: Sequence[AttributePlan], left_out: Sequence[str]
) -> tuple[str, ...]:
    """Return what a person should know of a plan before publishing: nothing of the data."""
    notes = _of_request(request, parts, left_out)
    if request.seed is not None:
        notes.append("Noise from a seed protects nobody: do not publish this release.")
    return tuple(notes)


def custodian_notes(parts: Sequence[AttributePlan]) -> tuple[str, ...]:
    """Return what the custodian should know of a plan: it depends on the data."""
    notes = [_cost_of_widening(part) for part in _widened(parts)]
    exact = sum(part.exact_cells for part in parts)
    if exact:
        cells = sum(part.n_cells for part in parts)
        notes.append(f"{exact} of {cells} cells are published exactly as they are.")
    return tuple(notes)


def formula_notes(planned: Plan) -> tuple[str, ...]:
    """Warn of names, categories and kept cells that a spreadsheet would run as formulas."""
    table, kept = planned.table, planned.guarantee.kept
    listed = {part.attribute.name: part.attribute.categories for part in planned.attributes}

    def texts(name: str) -> Iterator[str]:
        yield name
        categories = listed.get(name)
        yield from (categories and categories.words) or ()
        yield from table.texts_beginning(name, FORMULA_SIGNS) if name in kept else ()

    released = [name for name in table.names if name in kept or name in listed]
    found = [one_line(name) for name in released if any(map(begins_like_formula, texts(name)))]
    if not found:
        return ()
    note = (
        "A spreadsheet may run as a formula what begins with =, +, -, @, a tab or a line end. A "
        f"name, a category or a kept cell does in: {', '.join(found)}. --escape-formulas "
        "(escape_formulas=True of write) writes such text to a CSV file with an apostrophe "
        "before it."
    )
    return (note,)


def _of_request(
    request: Request, parts: Sequence[AttributePlan], left_out: Sequence[str]
) -> list[str]:
    notes = []
    if request.matrix and request.epsilon is not None and "matrix" in request.method.offers:
        notes.append(
            "Attributes with a transition matrix of their own spend what it spends, beside the "
            "epsilon asked for: the guarantee holds the sum."
        )
    if request.unused:
        notes.append(f"{request.method.id} has no use for: {', '.join(request.unused)}.")
    if left_out:
        notes.append(f"Not released: {', '.join(left_out)}.")
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


def _widened(parts: Sequence[AttributePlan]) -> list[CentroidPlan]:
    return [part for part in parts if isinstance(part, CentroidPlan) and part.widening]


def _cost_of_widening(part: CentroidPlan) -> str:
    before, total = part.widening, part.total_squares
    assert before is not None  # noqa: S101 -- only widened plans come here
    if total == 0:
        return f"All values of '{part.attribute.name}' are equal: merging clusters hides none."
    lost = [100 * squares / total for squares in (before.squares_before, float(part.within.sum()))]
    return (
        f"Clusters of equal values were merged with their neighbours in '{part.attribute.name}': "
        f"{before.clusters_before} clusters became {part.n_clusters}, and clustering alone loses "
        f"{lost[1]:.3g} % of the variance instead of {lost[0]:.3g} %."
    )
