"""From arguments to requests that fit a table, one or one for each part, and to their plan."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microveil.errors import MicroveilError
from microveil.protect.attributes import check_types
from microveil.protect.auto import settle
from microveil.protect.columns import Opened, Prepared, formulas_in, open_for
from microveil.protect.composing import united_plan
from microveil.protect.parts import Whole, in_part
from microveil.protect.plan import Plan
from microveil.protect.planning import (
    Draw,
    check_scope,
    decide,
    plan_decided,
    refuse_exact,
    takes_one_by_one,
)
from microveil.protect.request import Request
from microveil.schema import Attribute
from microveil.table import check_columns
from microveil.table.memory import check_protecting
from microveil.table.table import check_kept

__all__ = ["Settled", "SettledParts", "plan_settled", "refuse_exact_cells", "settle_asked"]

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Settled:
    """Arguments made a request, with the columns that it is about.

    Attributes
    ----------
    asked : dict
        The arguments.
    prepared : Prepared
        For the request that was made of them.
    """

    asked: Mapping[str, Any]
    prepared: Prepared

    @property
    def request(self) -> Request:
        """What was asked for."""
        return self.prepared.request

    @property
    def keep(self) -> tuple[str, ...]:
        """Columns that are released unprotected."""
        return self.request.keep

    @property
    def shuffle(self) -> str | None:
        """What of the whole is in random order, beside what its only part says."""
        return None

    @property
    def each(self) -> "tuple[Settled, ...]":
        """Itself, as the only part."""
        return (self,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SettledParts:
    """Arguments made the requests of several parts.

    Attributes
    ----------
    whole : Whole
    parts : tuple of Settled
    prepared : Prepared
        The columns of all parts, in the table's order.
    """

    whole: Whole
    parts: tuple[Settled, ...]
    prepared: Prepared

    @property
    def keep(self) -> tuple[str, ...]:
        """Columns that are released unprotected."""
        return self.whole.keep

    @property
    def shuffle(self) -> str | None:
        """What of the whole is in random order, beside what its parts say."""
        return self.whole.shuffle

    @property
    def each(self) -> tuple[Settled, ...]:
        """The parts."""
        return self.parts


def settle_asked(
    table: Any,
    asked: Mapping[str, Any],
    progress: Progress = lambda _step: None,
) -> Settled | SettledParts:
    """Make a request of arguments, or one for each part, choosing what is left to advice.

    Raises
    ------
    MicroveilError
        If the arguments break a rule, or do not fit the table.
    """
    whole = None if asked.get("parts") is None else Whole.of(asked)
    if whole is None or len(whole.parts) == 1:
        given = {name: value for name, value in asked.items() if name != "parts"}
        given = given if whole is None else whole.alone()
        request, prepared = settle(table, given, progress)
        return Settled(asked=given, prepared=_for(request, prepared))
    opened = _opened(table, whole)
    parts = []
    for number, (one, own) in enumerate(zip(whole.parts, whole.requests(), strict=True), 1):
        try:
            request, prepared = settle(opened, own, progress)
        except MicroveilError as error:
            raise in_part(number, one, error) from None
        parts.append(Settled(asked=own, prepared=_for(request, prepared)))
    return SettledParts(whole=whole, parts=tuple(parts), prepared=_prepared(opened, whole, parts))


def plan_settled(settled: Settled | SettledParts, draws: Sequence[Draw] | None = None) -> Plan:
    """Plan what was settled, whatever cells come out exactly.

    Parameters
    ----------
    settled : Settled or SettledParts
    draws : sequence of callable, optional
        One for each part: see `decide`.

    Raises
    ------
    MicroveilError
        If a scope was asked for that the guarantee does not cover, or the table does not fit.
    """
    _check_memory(settled)
    own: Sequence[Draw | None] = draws or [None] * len(settled.each)
    if isinstance(settled, Settled):
        decided = decide(settled.prepared, own[0])
        check_scope(decided.promise, settled.request)
        return plan_decided(decided)
    whole, found = settled.whole, []
    for number, (one, part) in enumerate(zip(whole.parts, settled.parts, strict=True), 1):
        # What was read from the data is seen of each part, beside those of the others.
        looked = any(map(_is_read_from_data, part.prepared.attributes))
        is_apart = part.request.shuffle is not None and not looked
        try:
            found.append(decide(part.prepared, own[number - 1], joined=not is_apart))
        except MicroveilError as error:
            raise in_part(number, one, error) from None
    return united_plan(whole, settled.prepared, found)


def _is_read_from_data(attribute: Attribute) -> bool:
    return (
        attribute.bounds_from_data
        or attribute.categories_from_data
        or attribute.resolution_from_data
    )


def refuse_exact_cells(planned: Plan, settled: Settled | SettledParts) -> None:
    """Refuse a plan by which cells come out exactly, unless that was allowed.

    Raises
    ------
    ExactCellsError
        With the attributes and how many of their cells.
    """
    if isinstance(settled, Settled):
        refuse_exact(planned, settled.request)
        return
    for number, (one, part, plan) in enumerate(
        zip(settled.whole.parts, settled.parts, planned.parts, strict=True), 1
    ):
        try:
            refuse_exact(plan, part.request)
        except MicroveilError as error:
            raise in_part(number, one, error) from None


def _check_memory(settled: Settled | SettledParts) -> None:
    """Refuse what does not fit; what is drawn of a new table is held as well."""
    prepared, requests = settled.prepared, [part.request for part in settled.each]
    drawn = [part["n_records"] or 0 for part in requests if "new table" in part.method.can]
    check_protecting(
        max(prepared.table.n_records, *drawn, 0),
        len(prepared.attributes),
        prepared.request.memory,
        one_by_one=all(map(takes_one_by_one, requests)),
        is_lazy=prepared.table.files is not None and prepared.held is None,
    )


def _for(request: Request, prepared: Prepared) -> Prepared:
    """Return what was prepared for a request, or for another of the same columns."""
    return prepared if prepared.request is request else prepared.asked(request)


def _opened(table: Any, whole: Whole) -> Opened:
    """Open the table once, for all parts: the same records of a unit stay in each."""
    opened = open_for(
        table, whole.codes, whole.unit, whole.stated, outside=whole.outside, seed=whole.seed
    )
    check_columns(opened.table, (*whole.attributes, *whole.keep))
    for name in ("bounds", "categories", "resolution", "missing_codes"):
        given = whole.asked.get(name)
        check_columns(opened.table, tuple(given) if isinstance(given, Mapping) else ())
    check_types(opened.table, whole.types)
    for name in whole.keep:
        check_kept(opened.table, name)
    return opened


def _prepared(opened: Opened, whole: Whole, parts: Sequence[Settled]) -> Prepared:
    places = {name: place for place, name in enumerate(opened.table.names)}
    attributes = sorted(
        (attribute for part in parts for attribute in part.prepared.attributes),
        key=lambda attribute: places[attribute.name],
    )
    released = {*whole.attributes, *whole.keep, parts[0].request.unit}
    return Prepared(
        table=opened.table,
        request=parts[0].request,
        attributes=tuple(attributes),
        left_out=tuple(name for name in opened.table.names if name not in released),
        units=opened.units,
        formulas=tuple(formulas_in(opened.table, attributes, whole.keep)),
    )
