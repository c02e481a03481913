"""Columns held against their original as soon as they are drawn; the original is then let go.

The cells of the columns that come next take the place that it had on the disk: else a table and
its release would be there together, and what was read first be fetched again at last.
"""

from dataclasses import dataclass, field

import polars

from microveil.engines.disk import DiskEngine
from microveil.plans import DrawnPlan
from microveil.protect.release_findings import Moved, how_moved
from microveil.table import open_table
from microveil.table.frame_table import FrameTable
from microveil.utility.relations import MOST_COLUMNS

__all__ = ["ComparedAtHand"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparedAtHand:
    """Compares a column that was drawn with its original, and lets that go.

    Only numbers that are released as they were drawn, without a copy: others wait until the
    release is made.

    Attributes
    ----------
    table : FrameTable
        Of polars, on the engine's disk. Nobody else may hold its columns, or they stay.
    engine : DiskEngine
    moved : dict of Moved
        Takes what was found, by attribute.
    """

    table: FrameTable
    engine: DiskEngine
    moved: dict[str, Moved] = field(default_factory=dict)

    def __call__(self, drawn: DrawnPlan) -> None:
        """Compare a column; nothing else may be left of its plan."""
        name = drawn.attribute.name
        column = self.table.seen_as(name, drawn.numbers, self.engine)
        if column is None:
            return
        released = open_table(polars.DataFrame([column]))
        self.moved[name] = how_moved(
            name,
            self.table,
            released,
            self.engine.sorted_values,
            is_sampled=len(self.moved) < MOST_COLUMNS,
            relieve=self.engine.scratch.relieve,
        )
        self.table.let_go(name)
