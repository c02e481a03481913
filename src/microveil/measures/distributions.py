"""How far the distributions moved: by quantiles, and by the shares of levels and of their pairs."""

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from microveil.measures.base import By, Compared, Entry, Group, Measure, Takes
from microveil.utility.quantile_distances import quantile_distances
from microveil.utility.total_variation import TotalVariation, total_variation

__all__ = ["DISTRIBUTIONS", "MEASURES", "ONE_WAY", "SORTED_ERROR", "TOTAL_VARIATION", "TWO_WAY"]

DISTRIBUTIONS = Group(title="Distributions")


def _write(found: TotalVariation, _: Sequence[str]) -> dict[str, Any]:
    return found.to_dict()


_quantiles = partial(
    Measure,
    function=quantile_distances,
    takes=Takes.NUMBERS,
    in_blocks=True,
    needs_pairs=False,
    explanation="0 = alike",
    group=DISTRIBUTIONS,
)
_variation = partial(
    Measure,
    function=total_variation,
    takes=Takes.LEVELS,
    needs_pairs=False,
    explanation="0 = alike, 1 = apart",
    highest=1.0,
    group=DISTRIBUTIONS,
    entry=Entry(name="total_variation", write=_write),
)

# By which releases with pairs and without compare.
SORTED_ERROR = _quantiles(
    id="sorted_error",
    label="sorted-column error",
    scale="per variance, mean over attributes of numbers",
    figure=attrgetter("sorted_error"),
)
# By which the worst attribute is known, of text without an order.
TOTAL_VARIATION = _variation(
    id="total_variation",
    label="total variation",
    short="TV",
    scale="missing cells are a level of their own",
    by=By.ATTRIBUTE,
    figure=attrgetter("by_name"),
)
ONE_WAY = _variation(
    id="one_way_total_variation",
    label="one-way total variation",
    scale="mean over attributes",
    figure=attrgetter("one_way"),
    compared=Compared(stands_for_loss=True),
)
# What stands for the information loss where there are no pairs, but of a single attribute.
TWO_WAY = _variation(
    id="two_way_total_variation",
    label="two-way total variation",
    scale="mean over pairs of attributes",
    figure=attrgetter("two_way"),
    compared=Compared(stands_for_loss=True),
)

MEASURES = (
    _quantiles(
        id="wasserstein",
        label="Wasserstein distance over the standard deviation",
        short="Wasserstein",
        by=By.ATTRIBUTE,
        figure=attrgetter("wasserstein"),
    ),
    SORTED_ERROR,
    TOTAL_VARIATION,
    ONE_WAY,
    TWO_WAY,
)
