"""How far the shares of levels moved, of attributes and pairs: total variation.

Levels are the bins between the original's deciles, or categories; a missing cell is one like
another. Total variation is half the sum of |p - q|: the share of records that would have to move.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.base import By, Compared, Group, Measure, Takes
from microveil.measures.opening import Tables
from microveil.measures.values import Floats, Whole, plain
from microveil.table.sorting import InOrder
from microveil.table.threads import in_threads

# Which level each record has, counted from 0.
Levels = NDArray[np.uint8] | NDArray[np.uint16]


def decile_ends(values: InOrder) -> Floats:
    """Return the different deciles d: the least value with at least d tenths at or below it."""
    return np.unique(values.at(_places(len(values))))


def _places(n_values: int) -> Whole:
    """Return where the deciles stand among values in order."""
    # In whole numbers, so that no rounding of d/10 moves a decile: ceil(d n / 10) values
    # lie at or below decile d.
    places = [(d * n_values + 9) // 10 - 1 for d in range(1, 10)]
    return np.array(places if n_values else [], dtype=np.int64)


def decile_levels(original: Floats, protected: Floats) -> tuple[Levels, Levels]:
    """Give each number its bin, up to a decile of the original's; of a missing cell the last."""
    present = original[~np.isnan(original)]
    places = _places(len(present))
    # A third of the time that it takes to put all in order.
    ends = np.unique(np.partition(present, places)[places])
    before, after = (
        np.where(np.isnan(side), len(ends) + 1, np.searchsorted(ends, side)).astype(np.uint8)
        for side in (original, protected)
    )
    return before, after


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TotalVariation:
    """Total variation of attributes and of their pairs, 0 (alike) to 1 (apart)."""

    names: tuple[str, ...]
    of_attributes: Floats  # (n_attributes,)
    of_pairs: Floats  # (n_attributes, n_attributes), NaN on the diagonal

    @property
    def by_name(self) -> dict[str, float]:
        """The total variation of each attribute, by name."""
        return dict(zip(self.names, self.of_attributes.tolist(), strict=True))

    @property
    def one_way(self) -> float:
        """The mean over all attributes."""
        return float(self.of_attributes.mean())

    @property
    def two_way(self) -> float:
        """The mean over all pairs of attributes; NaN where there is one attribute alone."""
        pairs = self.of_pairs[np.triu_indices(len(self.names), k=1)]
        return float(pairs.mean()) if len(pairs) else math.nan

    @property
    def worst_pair(self) -> tuple[str, str, float] | None:
        """The pair whose table moved most, and how far; None where there is no pair."""
        pairs = combinations(range(len(self.names)), 2)
        worst = max(pairs, key=lambda pair: float(self.of_pairs[pair]), default=None)
        if worst is None:
            return None
        a, b = worst
        return self.names[a], self.names[b], float(self.of_pairs[a, b])

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON knows them; what is undefined is None."""
        worst = self.worst_pair
        return {
            "attributes": self.by_name,
            "one_way": self.one_way,
            "two_way": plain(self.two_way),
            "worst_pair": worst and {"attributes": list(worst[:2]), "distance": worst[2]},
        }


def levels_of(tables: Tables) -> tuple[dict[str, Levels], dict[str, Levels]]:
    """Cut numbers at deciles, and take text as codes, by attribute."""
    of_numbers = in_threads(
        lambda a: decile_levels(tables.original[:, a], tables.protected[:, a]),
        range(len(tables.names)),
        tables.original.size,
    )
    found = dict(zip(tables.names, of_numbers, strict=True))
    for name, (before, after, categories) in tables.texts.items():
        if len(categories) <= 1 << 8:
            found[name] = before.astype(np.uint8), after.astype(np.uint8)
        else:
            found[name] = before.astype(np.uint16), after.astype(np.uint16)
    one, other = ({name: both[side] for name, both in found.items()} for side in (0, 1))
    return one, other


def total_variation(
    original: Mapping[str, Levels], protected: Mapping[str, Levels]
) -> TotalVariation:
    """Compare the shares of levels in two tables of the same attributes, in any order."""
    names, sides = tuple(original), (original, protected)
    sizes = {name: 1 + max(int(side[name].max()) for side in sides) for name in names}

    def distance(one: str, other: str | None = None) -> float:
        size = sizes[one] * (1 if other is None else sizes[other])
        shares = []
        for side in sides:
            levels: NDArray[Any] = side[one]
            if other is not None:
                levels = levels.astype(np.min_scalar_type(size)) * sizes[other] + side[other]
            shares.append(np.bincount(levels, minlength=size) / len(levels))
        return float(np.abs(shares[0] - shares[1]).sum() / 2)

    pairs = list(combinations(range(len(names)), 2))
    n_values = sum(len(side) for side in original.values())
    of_attributes = np.array(in_threads(distance, names, n_values))
    of_pairs = np.full((len(names), len(names)), np.nan)
    found = in_threads(lambda pair: distance(*(names[a] for a in pair)), pairs, n_values)
    for (a, b), apart in zip(pairs, found, strict=True):
        of_pairs[a, b] = of_pairs[b, a] = apart
    return TotalVariation(names=names, of_attributes=of_attributes, of_pairs=of_pairs)


DISTRIBUTIONS = Group(title="Distributions")


_variation = partial(
    Measure,
    function=total_variation,
    takes=Takes(levels_of),
    needs_pairs=False,
    explanation="0 = alike, 1 = apart",
    highest=1.0,
    group=DISTRIBUTIONS,
    entry="total_variation",
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
MEASURES = (TOTAL_VARIATION, ONE_WAY, TWO_WAY)
