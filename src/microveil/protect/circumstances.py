"""What a guarantee says beside its conditions: how the release was made, and what adds up."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from microveil.guarantee import Model, Unit
from microveil.guarantee.condition import FURTHER, IN_ONE_STREAM
from microveil.methods import Promise
from microveil.protect.request import Advised, Request
from microveil.schema import Attribute
from microveil.text import listed, one_line

__all__ = [
    "Promised",
    "handling",
    "may_be_exact",
    "remarks_of_method",
    "remarks_of_release",
]


class Promised(Protocol):
    """What conditions and remarks depend on: a request decided on, or by public figures alone."""

    @property
    def request(self) -> Request:
        """What was asked for."""

    @property
    def protected(self) -> Sequence[Attribute]:
        """The attributes."""

    @property
    def promise(self) -> Promise:
        """Of the method, as asked for."""


def may_be_exact(request: Request) -> str | None:
    """Return what is done about cells that would come out exactly; None where none can."""
    return request.exact_cells if "exact cells" in request.method.can else None


def remarks_of_method(one: Promised, *, apart: bool = False) -> Iterator[str]:
    """Yield what is to be known of what a method did, to rows apart from other parts' perhaps."""
    request, promise, method = one.request, one.promise, one.request.method
    if request.attributes is None and promise.epsilon is None:
        yield (
            "Which columns are protected was left to a look at the table: numeric ones, without "
            "those of all-different whole numbers and those named like a person's number."
        )
    if request.chosen_publicly:
        chosen = "The choice reveals nothing."
        if request.attributes is None:
            chosen = "Which columns these are of was left to a look at the table."
        yield (
            "What was left to advice was chosen from public figures alone: the number of records, "
            f"the bounds and the budget. {chosen}"
        )
    yield f"Method: {method.id}, {promise.title or method.title}."
    yield from promise.caveats
    if apart and request.order == "rows":
        yield (
            "These columns are in a random order of their own, drawn in secret: their values stand "
            "beside other people's of the other columns."
        )


def handling(one: Promised, shuffle: str | None, *, apart: bool = False) -> Iterator[str]:
    """Yield what became of cells, clusters and the order of rows."""
    request, exact_cells = one.request, may_be_exact(one.request)
    if request.isotonic:
        yield _ISOTONIC + ("." if shuffle == "columns" else _ISOTONIC_IN_ROWS)
    if request.missing == "error":
        yield "No cell of a protected attribute may be missing: such a table is refused."
    elif request.missing == "protect" and request.method.randomness is None:
        yield (
            "Being without a value was taken for a value like any other, which records of a "
            "cluster share."
        )
    elif request.missing == "protect":
        yield (
            "Being without a value is protected like any value: which cells are missing here says "
            "of nobody that theirs was."
        )
    never = [attribute.name for attribute in one.protected if attribute.never_missing]
    if request.missing != "error" and never:
        yield f"No cell of {listed(never)} may be missing: such a table is refused."
    if request.outside == "clamp" and any(own.bounds is not None for own in one.protected):
        yield "Values outside the declared bounds were moved to the nearer bound."
    if exact_cells == "widen":
        yield (
            "No cluster holds equal values only, which would need no noise by the method's rule: "
            "such clusters were merged with their neighbours or kept out of the partition."
        )
    if exact_cells == "refuse":
        yield "A release in which a cluster would come out exactly is refused."
    if not (apart and shuffle == "rows"):
        yield _DRAWN_ANEW if "new table" in request.method.can else _ORDER[shuffle]


_ISOTONIC = (
    "Isotonic regression put the noisy means back in their order. It costs no privacy at cluster "
    "and vector scope"
)
_ISOTONIC_IN_ROWS = (
    ", but in rows that follow individuals it publishes the rank block of every record and invites "
    "linkage: an intruder who knows people's values can link far more rows to them than without it."
)
_DRAWN_ANEW = "Rows were drawn in random order: none follows a person."
_ORDER = {
    None: "Rows are in the order of the original table: whoever knows a person's place in it "
    "knows their row.",
    "rows": "Rows are in random order.",
    "columns": "Each attribute is in a random order of its own, drawn in secret: no row is a "
    "person's, and dependence between attributes is gone.",
}


def remarks_of_release(
    decided: Sequence[Promised], model: Model, shuffle: str | None, *, spends: bool
) -> Iterator[str]:
    """Yield what is to be known of a release as a whole, of one part or of several."""
    unit = decided[0].request.protected_unit
    # What advice chose by the table was not chosen by public figures, whoever declares so.
    grounds = {
        None if own.advised is Advised.DATA and own.looked_at != Advised.DATA else own.looked_at
        for own in (one.request for one in decided)
    }
    if grounds == {"data"} and not spends:
        yield (
            "The method, k or another parameter was chosen after a look at figures that come from "
            "this table: what is published of them can tell something about it."
        )
    if grounds == {"public"}:
        yield (
            "Who made the release declares that method, k and epsilon were chosen by public "
            "figures, and by none that come from this table. No program can see that."
        )
    if not spends:
        yield (
            "Every further release of the same people, by other clusters or a rerun, can be put "
            "beside this one and tell more than either."
        )
    elif unit.column is None:
        yield (
            "Neighbouring tables differ in one record, replaced by any other for which the request "
            "would not be refused; the number of records is public."
        )
    else:
        yield f"Neighbouring tables differ in {unit.in_words}, replaced by as many others."
    if spends:
        yield FURTHER[model]
    yield from _who(decided, unit, shuffle)
    drawn = dict.fromkeys(one.request.method.randomness for one in decided)
    yield from (f"{_LAWS[law]} {IN_ONE_STREAM}" for law in drawn if law is not None)


_LAWS = {
    "laplace": "Noise is exact discrete Laplace noise in integer arithmetic, from",
    "counts": "Cuts and noise on counts are drawn exactly, in integer arithmetic, from",
    "other": "Randomness comes from",
}


def _who(decided: Sequence[Promised], unit: Unit, shuffle: str | None) -> Iterator[str]:
    """Say who is protected, and what became of their records."""
    request, column = decided[0].request, one_line(unit.column or "")
    if unit.column is None:
        yield (
            "One record is taken to be one person: a person with several records is protected less."
        )
        return
    if request.counted.column is not None:
        order = "" if shuffle is not None else _SORTED_BY_PERSON
        yield f"{column} is left out: it would show which rows are one person's.{order}"
        return
    yield (
        f"A unit is all records with one value of {column}: a person with records in several of "
        "them is protected less."
    )
    if request.outside == "clamp" and request.max_rows is not None:
        yield (
            f"Of a unit with more than {unit.max_rows} records so many were drawn, without a look "
            "at their values, and the others left out before anything else."
        )
    if once := [own.name for one in decided for own in one.protected if own.of_unit]:
        yield (
            f"One value a unit was drawn of {listed(once)}, from that of its first record, and "
            "copied to the others: drawn for each of them, the draws would average out."
        )
    if "new table" in request.method.can:
        yield (
            "Records were drawn one by one, and no units: no two rows of the new table are one "
            "household's."
        )
    elif shuffle != "columns":
        yield (
            f"{column} holds new numbers, drawn in a secret order: they say which rows are one "
            "unit's, and not whose."
        )


_SORTED_BY_PERSON = (
    " So can the order of the rows, if the table is sorted by person: shuffle them (shuffle)."
)
