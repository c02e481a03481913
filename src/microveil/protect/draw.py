"""Draw what is planned: the cells of each attribute, the order of rows, the numbers of units.

Of a request that takes attributes one by one each column is read, planned, drawn and forgotten in
turn. Streams of randomness belong to attributes, so that it makes no difference in which order.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.methods.planned import AttributePlan, Figures, SinglePlan
from microveil.noise.noise import RandomSource, permutation
from microveil.protect.columns import Prepared
from microveil.protect.plan import Plan
from microveil.protect.planning import Draw, plan_of, refuse_exact_cells, takes_one_by_one
from microveil.protect.units import Units
from microveil.synthesis.keeping import Repairs
from microveil.synthesis.measurements import Measurements
from microveil.synthesis.measuring import Counter
from microveil.table import Numbers, Reasons
from microveil.table.table import numbered, rebuilt, restored
from microveil.table.threads import in_threads
from microveil.table.untyped import typed_as

Progress = Callable[[str], None]
Positions = NDArray[np.int64]


class Drawn(NamedTuple):
    """A protected table, of the same kind of frame, and what a new one was drawn from.

    With the latter, how many records were drawn again or moved for rules.
    """

    data: Any
    measurements: Measurements | None = None
    repairs: Repairs | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Drawing:
    """What a release is drawn with, and its columns as they come.

    Attributes
    ----------
    prepared : Prepared
    streams : list of list of RandomSource
        By part one for each attribute: in whatever order they are drawn.
    orders : list of list of int64 array (n_records,), or None
        By part and attribute the order that its cells come in, beside that of whole rows.
    order : int64 array (n_records,) or None
    source : RandomSource
    columns : dict
        By name, columns of the table's library.
    """

    prepared: Prepared
    streams: list[list[RandomSource]]
    orders: list[list[Positions | None]]
    order: Positions | None
    source: RandomSource
    progress: Progress
    columns: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, prepared: Prepared, seed: int | None, progress: Progress) -> Self:
        """Draw streams and orders, each attribute's independent of every other's."""
        source, each = RandomSource.of(seed), prepared.each
        streams, orders = list[list[RandomSource]](), list[list[Positions | None]]()
        n_records, order = prepared.table.n_records, None
        sources = [source] if len(each) == 1 else source.spawn(len(each))
        for part, own in zip(each, sources, strict=True):
            n_attributes = len(part.attributes)
            streams.append(own.spawn(n_attributes))
            orders.append([None] * n_attributes)
            if part.request.order == "rows" and prepared.whole is None:
                order = permutation(n_records, own)
            elif part.request.order == "rows":
                orders[-1] = [permutation(n_records, own)] * n_attributes
            elif part.request.order == "columns":
                orders[-1] = [permutation(n_records, one) for one in own.spawn(n_attributes)]
        if prepared.whole is not None and prepared.whole.shuffle == "rows":
            order = permutation(n_records, source)
        return cls(
            prepared=prepared,
            streams=streams,
            orders=orders,
            order=order,
            source=source,
            progress=progress,
        )

    def draw(self, part: int, number: int, plan: SinglePlan, reasons: Reasons | None) -> None:
        """Draw the column of an attribute, in the orders of its part and of whole rows."""
        prepared, name = self.prepared.each[part], plan.attribute.name
        self.progress(f"randomising {name}")
        cells = drawn_cells(
            plan,
            prepared.units,
            self.streams[part][number],
            isotonic=prepared.request.isotonic,
        )
        if reasons is not None:
            cells = replace(cells, reasons=reasons)
        for positions in (self.orders[part][number], self.order):
            if positions is not None:
                cells = cells.in_order(positions)
        self.columns[name] = restored(prepared.table, name, cells)

    def table(self, planned: Plan) -> Any:
        """Make the table of what was drawn and what is kept, units under new numbers."""
        table, order = planned.table, self.order
        if planned.units is not None and planned.guarantee.has_new_numbers:
            name, numbers = str(planned.units.unit.column), planned.units.renumbered(self.source)
            self.columns[name] = numbered(table, name, numbers if order is None else numbers[order])
        return rebuilt(table, self.columns, planned.guarantee.kept, order)


def plan_and_draw(
    prepared: Prepared, progress: Progress = lambda _step: None
) -> tuple[Plan, Drawn]:
    """Plan what was asked for and draw each attribute as soon as it is planned.

    What is left of the plan of an attribute is its figures.

    Raises
    ------
    MicroveilError
        If the request or the table breaks a rule: what was drawn until then is forgotten.
    """
    if "new table" in prepared.request.method.can:
        planned = plan_of(prepared)
        return planned, draw(planned, progress)
    drawing = _Drawing.of(prepared, prepared.request.seed, progress)

    def draw_of(part: int, columns: Prepared) -> Draw:
        isotonic = columns.request.isotonic
        # What is said of isotonic regression, and of whole records, needs the plans themselves.
        is_needed = isotonic or not takes_one_by_one(columns.request)

        def drawn(number: int, plan: SinglePlan, reasons: Reasons | None) -> AttributePlan:
            drawing.draw(part, number, plan, reasons)
            return plan if is_needed else Figures.of(plan, isotonic=False)

        return drawn

    planned = plan_of(prepared, [draw_of(*one) for one in enumerate(prepared.each)])
    refuse_exact_cells(planned)
    return planned, Drawn(drawing.table(planned))


def draw(
    planned: Plan, progress: Progress = lambda _step: None, *, seed: int | None = None
) -> Drawn:
    """Draw the noise of a plan, or a new table.

    Parameters
    ----------
    planned : Plan
    progress : callable
        Gets the name of each step.
    seed : int, optional
        For experiments only; by default that of the request, and without one the operating
        system's randomness.
    """
    seed = planned.prepared.request.seed if seed is None else seed
    if planned.synthetic is not None:
        counter = Counter(planned.synthetic.asked(planned.prepared.columns))
        measurements, new = planned.synthetic.draw(counter, RandomSource.of(seed), progress)
        names = names_learnt(measurements, new)
        learnt = (own.attribute for own in measurements.attributes if own.kinds is not None)
        table = typed_as(planned.table, learnt)
        made = {name: restored(table, name, new[name]) for name in names}
        return Drawn(rebuilt(table, made, ()), measurements, new.repairs)
    drawing = _Drawing.of(planned.prepared, seed, progress)
    tasks = [
        (place, number, plan, part.reasons.get(plan.attribute.name))
        for place, part in enumerate(planned.parts)
        for number, plan in enumerate(part.singles)
    ]
    in_threads(lambda task: drawing.draw(*task), tasks, len(tasks) * planned.table.n_records)
    return Drawn(drawing.table(planned))


def names_learnt(measurements: Measurements, names: Iterable[str]) -> list[str]:
    """Name the columns of a new table: not those of which nothing was learnt."""
    unknown = {one.attribute.name for one in measurements.attributes if one.is_unknown}
    found = [name for name in names if name not in unknown]
    if not found:
        raise DataError(
            "table",
            "nothing was learnt of any column: no value has enough records to be shown",
            "declare what columns hold, or pass a larger epsilon",
        )
    return found


def drawn_cells(
    plan: SinglePlan, units: Units | None, source: RandomSource, *, isotonic: bool
) -> Numbers:
    """Draw the cells of an attribute: of what is one value a unit, one draw a unit, copied."""
    numbers = plan.draw(source, isotonic=isotonic)
    if plan.attribute.of_unit and units is not None:
        return numbers.in_order(units.first_records())
    return numbers
