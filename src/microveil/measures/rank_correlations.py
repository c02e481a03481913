"""Spearman's correlations before and after."""

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from microveil.measures.base import Better, By, Entry, Group, Measure, Takes
from microveil.utility.rank_correlations import RankCorrelations, compare_rank_correlations

__all__ = ["MEASURES", "RANK_CORRELATIONS"]

RANK_CORRELATIONS = Group(title="Rank correlations")


def _write(found: RankCorrelations, _: Sequence[str]) -> dict[str, Any]:
    return found.to_dict()


_measure = partial(
    Measure,
    function=compare_rank_correlations,
    takes=Takes.NUMBERS,
    in_blocks=True,
    needs_pairs=False,
    group=RANK_CORRELATIONS,
    entry=Entry(name="rank_correlations", write=_write),
)
_change = partial(_measure, explanation="0 = unchanged, 2 = reversed", highest=2.0)

MEASURES = (
    _measure(
        id="rank_correlations",
        label="Spearman's correlations",
        explanation="closer is better",
        lowest=-1.0,
        highest=1.0,
        by=By.PAIR,
        better=Better.UNCHANGED,
        tabulated=False,
    ),
    _change(
        id="rank_mean_absolute_change",
        label="mean absolute change of Spearman's correlations",
        short="mean absolute change, Spearman",
        figure=attrgetter("mean_absolute_change"),
    ),
    _change(
        id="rank_largest_absolute_change",
        label="largest absolute change of Spearman's correlations",
        short="largest absolute change, Spearman",
        figure=attrgetter("largest_absolute_change"),
    ),
)
