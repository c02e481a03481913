"""Figures by a survey's weights, before and after."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from microveil.measures.base import Better, By, Entry, Figure, Group, Measure, Measured, Takes
from microveil.measures.showing import figures
from microveil.text import listed
from microveil.text.document import Block, paragraph, tabulated
from microveil.text.figures import figure
from microveil.utility.weighted import (
    WeightedComparison,
    WeightedShares,
    compare_weighted_moments,
    compare_weighted_shares,
)

__all__ = ["MEASURES", "WEIGHTED"]

# More categories than a person reads are in `to_dict` alone.
MOST_CATEGORIES = 20


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show moments and totals, and the shares of categories of the records and by weights."""
    by_name = [one.result for one in found if one.measure.function is compare_weighted_shares]
    blocks = figures(found)
    for name, shares in (by_name[0] or {}).items() if by_name else ():
        blocks += _shares(name, shares)
    return blocks


def _shares(name: str, found: WeightedShares) -> tuple[Block, ...]:
    columns = (found.original, found.protected, found.weighted_original, found.weighted_protected)
    sides = [np.full(len(found.categories), np.nan) if one is None else one for one in columns]
    rows = (
        (category or "missing", *(figure(100 * share) for share in own))
        for category, *own in zip(found.categories[:MOST_CATEGORIES], *sides, strict=False)
    )
    said = f"Shares of {listed([name])}, in percent: of the records, then weighted."
    if len(found.categories) > MOST_CATEGORIES:
        said += f" The first {MOST_CATEGORIES} of {len(found.categories)}; --json has all of them."
    return paragraph(said), tabulated(("category", "before", "after", "weighted", "after"), rows)


WEIGHTED = Group(title="Weighted figures", show=_show)


def _means(found: WeightedComparison) -> list[Figure]:
    return _figures(found, "means")


def _variances(found: WeightedComparison) -> list[Figure]:
    return _figures(found, "variances")


def _figures(found: WeightedComparison, moment: str) -> list[Figure]:
    before = getattr(found.original, moment)
    after = np.full_like(before, np.nan)
    if found.protected is not None:
        after = getattr(found.protected, moment)
    return [
        Figure(value=value, beside=original)
        for original, value in zip(before.tolist(), after.tolist(), strict=True)
    ]


def _write_moments(found: WeightedComparison, names: Sequence[str]) -> dict[str, Any]:
    return found.to_dict(names)


def _write_shares(found: Mapping[str, WeightedShares], _: Sequence[str]) -> dict[str, Any]:
    return {name: shares.to_dict() for name, shares in found.items()}


_measure = partial(
    Measure,
    needs_pairs=False,
    by=By.ATTRIBUTE,
    group=WEIGHTED,
    asked_by="weights",
    arguments=("weights",),
)
_moment = partial(
    _measure,
    function=compare_weighted_moments,
    takes=Takes.NUMBERS,
    in_blocks=True,
    better=Better.UNCHANGED,
    explanation="closer is better",
    entry=Entry(name="weighted_moments", write=_write_moments),
)

MEASURES = (
    _moment(id="weighted_mean", label="weighted mean", figure=_means, lowest=-math.inf),
    _moment(id="weighted_variance", label="weighted variance", figure=_variances),
    _moment(
        id="weighted_total_error",
        label="relative error of the weighted total",
        short="error of the total",
        explanation="0 = unchanged",
        figure=attrgetter("total_errors"),
        better=Better.ZERO,
        lowest=-math.inf,
    ),
    _measure(
        id="weighted_total_variation",
        label="total variation of weighted shares",
        short="TV",
        explanation="0 = alike, 1 = apart",
        function=compare_weighted_shares,
        takes=Takes.TEXT,
        figure=attrgetter("weighted_total_variation"),
        highest=1.0,
        entry=Entry(name="weighted_shares", write=_write_shares),
    ),
)
