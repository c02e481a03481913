"""Draw what is planned: the cells of each attribute, the order of rows, the numbers of units.

Of a request that takes attributes one by one each column is read, planned, drawn and forgotten in
turn. Streams of randomness belong to attributes, so that it makes no difference in which order.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from microveil.methods.planned import AttributePlan, Figures, SinglePlan
from microveil.noise.noise import RandomSource, permutation
from microveil.release import Plan
from microveil.release.planning import Draw, takes_one_by_one
from microveil.release.settling import Settled, SettledParts, plan_settled, refuse_exact_cells
from microveil.release.units import Units
from microveil.synthesis.measurements import Measurements
from microveil.table import Numbers, Reasons
from microveil.table.ordering import OrderInMemory
from microveil.table.threads import in_threads

__all__ = ["Drawn", "draw", "plan_and_draw"]

Columns = dict[str, Numbers]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """What was drawn of a plan.

    Attributes
    ----------
    data : data frame
        The protected table, of the same kind of frame as the original.
    measurements : Measurements or None
        What a new table was drawn from.
    """

    data: Any
    measurements: Measurements | None = None


def plan_and_draw(
    settled: Settled | SettledParts, progress: Callable[[str], None] = lambda _step: None
) -> tuple[Plan, Drawn]:
    """Plan what was settled and draw each attribute as soon as it is planned.

    What is left of the plan of an attribute is its figures.

    Parameters
    ----------
    settled : Settled or SettledParts
    progress : callable
        Gets the name of each step.

    Raises
    ------
    MicroveilError
        If the request or the table breaks a rule: what was drawn until then is forgotten.
    """
    source = RandomSource.of(settled.each[0].request.seed)
    if "new table" in settled.each[0].request.method.can:
        planned = plan_settled(settled)
        return planned, draw(planned, progress, source=source)
    sources = _of_parts(source, len(settled.each))
    found: list[Columns] = [{} for _ in sources]
    draws = [
        _drawing(part, own, columns, progress)
        for part, own, columns in zip(settled.each, sources, found, strict=True)
    ]
    planned = plan_settled(settled, draws)
    refuse_exact_cells(planned, settled)
    return planned, _arranged(planned, found, source, sources)


def _drawing(
    part: Settled, source: RandomSource, columns: Columns, progress: Callable[[str], None]
) -> Draw:
    """Make what draws the attributes of a part as they are planned."""
    prepared, isotonic = part.prepared, part.request.isotonic
    streams = source.spawn(len(prepared.attributes))
    # In the table's order, whichever is drawn first.
    columns.update(dict.fromkeys(prepared.names))  # type: ignore[arg-type]

    def drawn(number: int, plan: SinglePlan, reasons: Reasons | None) -> AttributePlan:
        name = plan.attribute.name
        progress(f"randomising {name}")
        columns[name] = _cells(plan, prepared.units, reasons, streams[number], isotonic=isotonic)
        # What is said of isotonic regression, and of whole records, needs the plans themselves.
        is_needed = isotonic or not takes_one_by_one(part.request)
        return plan if is_needed else Figures.of(plan, isotonic=False)

    return drawn


def _cells(
    plan: SinglePlan,
    units: Units | None,
    reasons: Reasons | None,
    source: RandomSource,
    *,
    isotonic: bool,
) -> Numbers:
    """Draw the cells of an attribute: of what is one value a unit, one draw a unit, copied."""
    numbers = plan.draw(source, isotonic=isotonic)
    if plan.attribute.of_unit and units is not None:
        numbers = numbers.in_order(units.first_records())
    return numbers if reasons is None else replace(numbers, reasons=reasons)


def draw(
    planned: Plan,
    progress: Callable[[str], None] = lambda _step: None,
    *,
    source: RandomSource | None = None,
) -> Drawn:
    """Draw the noise of a plan, or a new table.

    Parameters
    ----------
    planned : Plan
    progress : callable
        Gets the name of each step.
    source : RandomSource, optional
        By default the operating system's randomness, or the seed's where the plan has one.
    """
    if source is None:
        source = RandomSource.of(planned.seed)
    if planned.synthetic is not None:
        measurements, new = planned.synthetic.draw(source, progress)
        return Drawn(data=planned.table.rebuild(new, (), None), measurements=measurements)
    parts = planned.parts or (planned,)
    sources = _of_parts(source, len(parts))
    found = [drawn_columns(part, own, progress) for part, own in zip(parts, sources, strict=True)]
    return _arranged(planned, found, source, sources)


def drawn_columns(
    part: Plan, source: RandomSource, progress: Callable[[str], None] = lambda _step: None
) -> Columns:
    """Draw the attributes of a plan without parts, each by a stream of its own."""
    streams = source.spawn(len(part.singles))

    def drawn(number: int) -> tuple[str, Numbers]:
        plan = part.singles[number]
        name = plan.attribute.name
        progress(f"randomising {name}")
        reasons = part.reasons.get(name)
        return name, _cells(plan, part.units, reasons, streams[number], isotonic=part.isotonic)

    numbers = range(len(streams))
    return dict(in_threads(drawn, numbers, len(streams) * part.table.n_records))


def _of_parts(source: RandomSource, n_parts: int) -> list[RandomSource]:
    """Return a stream for each part; of one alone the release's own."""
    return [source] if n_parts == 1 else source.spawn(n_parts)


def _arranged(
    planned: Plan, found: list[Columns], source: RandomSource, sources: list[RandomSource]
) -> Drawn:
    """Put rows, or columns, in random orders where that was asked for, and make the table."""
    n_records = planned.table.n_records
    parts = planned.parts
    if parts:
        found = [
            _shuffled(columns, part.shuffle, n_records, own)
            for columns, part, own in zip(found, parts, sources, strict=True)
        ]
    columns = {name: cells for own in found for name, cells in own.items()}
    order = None
    if planned.shuffle == "rows":
        order = OrderInMemory(positions=permutation(n_records, source))
    elif planned.shuffle == "columns":
        columns = _shuffled(columns, planned.shuffle, n_records, source)
    numbered = {}
    if planned.units is not None and planned.guarantee.has_new_numbers:
        numbered[str(planned.units.unit.column)] = planned.units.renumbered(source)
    return Drawn(data=planned.table.rebuild(columns, planned.guarantee.kept, order, numbered))


def _shuffled(
    columns: Mapping[str, Numbers], shuffle: str | None, n_records: int, source: RandomSource
) -> Columns:
    """Put columns in a random order, together or each in one of its own.

    By a stream for each: what is known of one order says nothing of another.
    """
    if shuffle == "rows":
        order = OrderInMemory(positions=permutation(n_records, source))
        return {name: numbers.arranged(order) for name, numbers in columns.items()}
    if shuffle != "columns":
        return dict(columns)
    orders = source.spawn(len(columns))
    return {
        name: numbers.arranged(OrderInMemory(positions=permutation(n_records, stream)))
        for (name, numbers), stream in zip(columns.items(), orders, strict=True)
    }
