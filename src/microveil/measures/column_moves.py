"""Which columns fare worst: by mean, spread, share of the commonest value, and distribution."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from microveil.measures.base import By, Entry, Group, Measure, Takes
from microveil.utility.column_moves import ColumnMove, column_move

__all__ = ["COLUMN_MOVES", "LARGEST_MOVE", "MEASURES"]

COLUMN_MOVES = Group(title="Worst columns (spread: standard deviation)")


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
