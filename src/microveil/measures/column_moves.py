"""Which columns fare worst: by mean, spread, share of the commonest value, and distribution."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from microveil.measures.base import By, Entry, Group, Measure, Measured, Takes
from microveil.measures.showing import figures
from microveil.text.document import Block, tabulated
from microveil.utility.column_moves import HEADS, ColumnMove, column_move, worst_rows

__all__ = ["COLUMN_MOVES", "LARGEST_MOVE", "MEASURES"]


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show the five worst columns, the worst first."""
    moves = next((one.result for one in found if one.measure.id == LARGEST_MOVE.id), None)
    others = figures([one for one in found if one.measure.id != LARGEST_MOVE.id])
    return (tabulated(HEADS, worst_rows(moves)), *others) if moves else others


COLUMN_MOVES = Group(title="Worst columns (spread: standard deviation)", show=_show)


def _write(found: Mapping[str, ColumnMove], _: Sequence[str]) -> dict[str, Any]:
    return {name: move.to_dict() for name, move in found.items()}


LARGEST_MOVE = Measure(
    id="largest_move",
    label="largest change of mean, spread, commonest share or distribution",
    short="largest change",
    explanation="0 = unchanged",
    scale="as a share of the original's",
    function=column_move,
    takes=Takes.EACH,
    needs_pairs=False,
    by=By.ATTRIBUTE,
    figure=attrgetter("score"),
    group=COLUMN_MOVES,
    entry=Entry(name="column_moves", write=_write),
)
MEASURES = (LARGEST_MOVE,)
