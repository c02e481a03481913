"""Draw what is planned: the cells of each attribute, the order of rows, the numbers of units.

Of a request that takes attributes one by one each column is read, planned, drawn and forgotten in
turn. Streams of randomness belong to attributes, so that it makes no difference in which order.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from microveil.methods.planned import AttributePlan, Figures, SinglePlan
from microveil.noise.noise import RandomSource, permutation
from microveil.protect.claims import shuffled
from microveil.protect.plan import Plan, drawn_cells
from microveil.protect.planning import Draw, takes_one_by_one
from microveil.protect.settling import Settled, SettledParts, plan_settled, refuse_exact_cells
from microveil.synthesis.counter import Counter
from microveil.synthesis.measurements import Measurements
from microveil.table import Numbers, Reasons, Table
from microveil.table.table import numbered, rebuilt, restored
from microveil.table.threads import in_threads

__all__ = ["Drawn", "draw", "plan_and_draw"]

# By name, columns of the table's library.
Columns = dict[str, Any]
Positions = NDArray[np.int64]


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Randomness:
    """What an attribute of a release is drawn with, and the order that its cells come in.

    Attributes
    ----------
    streams : list of RandomSource
        One for each attribute of a part.
    orders : list of int64 array (n_records,), or None
        One for each where the part has an order of its own, or each attribute has.
    """

    streams: list[RandomSource]
    orders: list[Positions | None]

    @classmethod
    def of(
        cls, n_attributes: int, shuffle: str | None, n_records: int, source: RandomSource
    ) -> Self:
        """Draw them: what is known of the order of one attribute says nothing of another's."""
        streams = source.spawn(n_attributes)
        if shuffle == "rows":
            return cls(streams=streams, orders=[permutation(n_records, source)] * n_attributes)
        if shuffle == "columns":
            own = source.spawn(n_attributes)
            return cls(streams=streams, orders=[permutation(n_records, one) for one in own])
        return cls(streams=streams, orders=[None] * n_attributes)


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
    source, table = RandomSource.of(settled.each[0].request.seed), settled.prepared.table
    if "new table" in settled.each[0].request.method.can:
        planned = plan_settled(settled)
        return planned, draw(planned, progress, source=source)
    outlines = [(len(part.prepared.attributes), shuffled(part.request)) for part in settled.each]
    own, order = _randomness(outlines, settled.shuffle, table.n_records, source)
    columns: Columns = {}

    def drawing(part: Settled, randomness: _Randomness) -> Draw:
        isotonic = part.request.isotonic
        # What is said of isotonic regression, and of whole records, needs the plans themselves.
        is_needed = isotonic or not takes_one_by_one(part.request)

        def drawn(number: int, plan: SinglePlan, reasons: Reasons | None) -> AttributePlan:
            name = plan.attribute.name
            progress(f"randomising {name}")
            stream = randomness.streams[number]
            cells = drawn_cells(plan, part.prepared.units, stream, isotonic=isotonic)
            cells = cells if reasons is None else replace(cells, reasons=reasons)
            columns[name] = _released(table, name, cells, randomness.orders[number], order)
            return plan if is_needed else Figures.of(plan, isotonic=False)

        return drawn

    draws = [drawing(part, one) for part, one in zip(settled.each, own, strict=True)]
    planned = plan_settled(settled, draws)
    refuse_exact_cells(planned, settled)
    return planned, _assembled(planned, columns, order, source)


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
    table = planned.table
    if planned.synthetic is not None:
        counter = Counter(planned.columns)
        measurements, new = planned.synthetic.draw(counter, source, progress)
        made = {name: restored(table, name, cells) for name, cells in new.items()}
        return Drawn(data=rebuilt(table, made, ()), measurements=measurements)
    parts = planned.parts or (planned,)
    outlines = [(len(part.singles), part.shuffle) for part in parts]
    whole = planned.shuffle if planned.parts else None
    own, order = _randomness(outlines, whole, table.n_records, source)
    columns: Columns = {}

    def drawn(task: tuple[Plan, _Randomness, int]) -> None:
        part, randomness, number = task
        plan = part.singles[number]
        name = plan.attribute.name
        progress(f"randomising {name}")
        stream, reasons = randomness.streams[number], part.reasons.get(name)
        cells = drawn_cells(plan, part.units, stream, isotonic=part.isotonic)
        cells = cells if reasons is None else replace(cells, reasons=reasons)
        columns[name] = _released(table, name, cells, randomness.orders[number], order)

    tasks = [
        (part, one, number)
        for part, one in zip(parts, own, strict=True)
        for number in range(len(part.singles))
    ]
    in_threads(drawn, tasks, len(tasks) * table.n_records)
    return _assembled(planned, columns, order, source)


def _randomness(
    outlines: list[tuple[int, str | None]],
    shuffle: str | None,
    n_records: int,
    source: RandomSource,
) -> tuple[list[_Randomness], Positions | None]:
    """Draw the streams and orders of each part, and the order of whole rows.

    Parameters
    ----------
    outlines : list of (int, str or None)
        Of each part how many attributes it has, and what of it is in random order.
    shuffle : str or None
        Of several parts, what of the whole is.
    n_records : int
    source : RandomSource
        Of one part its own; several take streams of it.
    """
    sources = [source] if len(outlines) == 1 else source.spawn(len(outlines))
    own = [
        _Randomness.of(n_attributes, of_part, n_records, one)
        for (n_attributes, of_part), one in zip(outlines, sources, strict=True)
    ]
    if len(outlines) == 1 and outlines[0][1] == "rows":
        order = own[0].orders[0]
        return [replace(own[0], orders=[None] * outlines[0][0])], order
    return own, permutation(n_records, source) if shuffle == "rows" else None


def _released(
    table: Table, name: str, cells: Numbers, own: Positions | None, order: Positions | None
) -> Any:
    """Make a column to be released, in the orders of its part and of whole rows."""
    for positions in (own, order):
        if positions is not None:
            cells = cells.in_order(positions)
    return restored(table, name, cells)


def _assembled(
    planned: Plan, columns: Columns, order: Positions | None, source: RandomSource
) -> Drawn:
    """Make the table of what was drawn and what is kept, units under new numbers."""
    table = planned.table
    if planned.units is not None and planned.guarantee.has_new_numbers:
        name, numbers = str(planned.units.unit.column), planned.units.renumbered(source)
        columns[name] = numbered(table, name, numbers if order is None else numbers[order])
    return Drawn(data=rebuilt(table, columns, planned.guarantee.kept, order))
