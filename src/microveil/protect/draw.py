"""Draw what is planned: the cells of each attribute, the order of rows, the numbers of units.

Of a request that takes attributes one by one each column is read, planned, drawn and forgotten in
turn. Streams of randomness belong to attributes, so that it makes no difference in which order.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.methods.planned import SinglePlan
from microveil.noise.noise import RandomSource, permutation
from microveil.protect.columns import Prepared, Units
from microveil.protect.plan import Plan
from microveil.protect.planning import plan_of, refuse_exact_cells
from microveil.synthesis.keeping import Repairs
from microveil.synthesis.measurements import Measurements
from microveil.synthesis.measuring import Counter
from microveil.table import Numbers, Table
from microveil.table.table import numbered, rebuilt, restored
from microveil.table.threads import in_threads
from microveil.table.untyped import typed_as

Positions = NDArray[np.int64]


class Drawn(NamedTuple):
    """A protected table, of the same kind of frame, and what a new one was drawn from."""

    data: Any
    measurements: Measurements | None = None
    repairs: Repairs | None = None  # how many records were drawn again or moved for rules


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Drawing:
    """What a release is drawn with, and its columns as they come, of the table's library."""

    table: Table
    units: Units | None
    streams: Mapping[str, RandomSource]  # by attribute: in whatever order they are drawn
    orders: Mapping[str, Positions]  # by attribute: of its cells, beside that of whole rows
    order: Positions | None
    source: RandomSource
    progress: Callable[[str], None]
    columns: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, prepared: Prepared, seed: int | None) -> Self:
        """Draw streams and orders, each attribute's independent of every other's."""
        source, each = RandomSource.of(seed), prepared.each
        streams, orders, order = dict[str, RandomSource](), dict[str, Positions](), None
        n_records = prepared.table.n_records
        sources = [source] if len(each) == 1 else source.spawn(len(each))
        for part, own in zip(each, sources, strict=True):
            names, n_names = part.names, len(part.names)
            streams |= zip(names, own.spawn(n_names), strict=True)
            if part.request.order == "rows" and prepared.whole is None:
                order = permutation(n_records, own)
            elif part.request.order == "rows":
                orders |= dict.fromkeys(names, permutation(n_records, own))
            elif part.request.order == "columns":
                drawn = (permutation(n_records, one) for one in own.spawn(n_names))
                orders |= zip(names, drawn, strict=True)
        if prepared.whole is not None and prepared.whole.shuffle == "rows":
            order = permutation(n_records, source)
        return cls(
            table=prepared.table,
            units=prepared.units,
            streams=streams,
            orders=orders,
            order=order,
            source=source,
            progress=prepared.progress,
        )

    def draw(self, plan: SinglePlan) -> None:
        """Draw the column of an attribute, in the orders of its part and of whole rows."""
        name = plan.attribute.name
        self.progress(f"randomising {name}")
        cells = drawn_cells(plan, self.units, self.streams[name])
        if plan.reasons is not None:
            cells = replace(cells, reasons=plan.reasons)
        for positions in (self.orders.get(name), self.order):
            if positions is not None:
                cells = cells.in_order(positions)
        self.columns[name] = restored(self.table, name, cells)

    def released(self, planned: Plan) -> Any:
        """Make the table of what was drawn and what is kept, units under new numbers."""
        table, order = self.table, self.order
        if planned.units is not None and planned.guarantee.has_new_numbers:
            name, numbers = str(planned.units.unit.column), planned.units.renumbered(self.source)
            self.columns[name] = numbered(table, name, numbers if order is None else numbers[order])
        return rebuilt(table, self.columns, planned.guarantee.kept, order)


def plan_and_draw(prepared: Prepared) -> tuple[Plan, Drawn]:
    """Plan what was asked for and draw each attribute as soon as it is planned.

    What is left of the plan of an attribute is its figures. Where the table breaks a rule, what
    was drawn until then is forgotten.
    """
    if "new table" in prepared.request.method.can:
        planned = plan_of(prepared)
        return planned, draw(planned)
    drawing = _Drawing.of(prepared, prepared.request.seed)
    planned = plan_of(prepared, drawing.draw)
    refuse_exact_cells(planned)
    return planned, Drawn(drawing.released(planned))


def draw(planned: Plan, *, seed: int | None = None) -> Drawn:
    """Draw the noise of a plan, or a new table; by default from the seed of its request, if any."""
    prepared = planned.prepared
    seed = prepared.request.seed if seed is None else seed
    if planned.synthetic is not None:
        counter = Counter(planned.synthetic.asked(prepared.columns))
        measurements, new = planned.synthetic.draw(
            counter, RandomSource.of(seed), prepared.progress
        )
        names = names_learnt(measurements, new)
        learnt = (own.attribute for own in measurements.attributes if own.kinds is not None)
        table = typed_as(planned.table, learnt)
        made = {name: restored(table, name, new[name]) for name in names}
        return Drawn(rebuilt(table, made, ()), measurements, new.repairs)
    drawing = _Drawing.of(prepared, seed)
    singles = [plan for part in planned.parts for plan in part.singles]
    in_threads(drawing.draw, singles, len(singles) * planned.table.n_records)
    return Drawn(drawing.released(planned))


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


def drawn_cells(plan: SinglePlan, units: Units | None, source: RandomSource) -> Numbers:
    """Draw the cells of an attribute: of what is one value a unit, one draw a unit, copied."""
    numbers = plan.draw(source)
    if plan.attribute.of_unit and units is not None:
        return numbers.in_order(units.first_records())
    return numbers
