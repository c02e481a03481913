"""Means, variances, covariances and correlations, before and after."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.base import Better, By, Entry, Figure, Group, Measure, Takes
from microveil.utility.moments import MomentComparison, compare_moments
from microveil.utility.undefined import none_if_undefined

__all__ = ["CORRELATIONS", "MOMENTS", "OF_ATTRIBUTES", "OF_PAIRS"]

MOMENTS = Group(title="Means and variances (closer is better)")
CORRELATIONS = Group(title="Correlations")


def _means(found: MomentComparison) -> list[Figure]:
    return _figures(found.original.means, found.protected.means)


def _variances(found: MomentComparison) -> list[Figure]:
    return _figures(found.original.variances, found.protected.variances)


def _figures(before: NDArray[np.float64], after: NDArray[np.float64]) -> list[Figure]:
    return [
        Figure(value=value, beside=original)
        for original, value in zip(before.tolist(), after.tolist(), strict=True)
    ]


def _mean_change(found: MomentComparison) -> float:
    return found.mean_absolute_change


def _largest_change(found: MomentComparison) -> float:
    return found.largest_absolute_change


def _write_moments(found: MomentComparison, names: Sequence[str]) -> dict[str, Any]:
    sides = {"original": found.original, "protected": found.protected}
    return {
        name: {
            moment: {
                side: none_if_undefined(float(getattr(of, f"{moment}s")[a]))
                for side, of in sides.items()
            }
            for moment in ("mean", "variance")
        }
        for a, name in enumerate(names)
    }


def _write_covariances(found: MomentComparison, _: Sequence[str]) -> dict[str, Any]:
    return {
        "original": _rows(found.original.covariances),
        "protected": _rows(found.protected.covariances),
    }


def _write_correlations(found: MomentComparison, _: Sequence[str]) -> dict[str, Any]:
    return {
        "original": _rows(found.original.correlations),
        "protected": _rows(found.protected.correlations),
        "mean_absolute_change": none_if_undefined(found.mean_absolute_change),
        "largest_absolute_change": none_if_undefined(found.largest_absolute_change),
    }


def _rows(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    return [[none_if_undefined(value) for value in row] for row in matrix.tolist()]


_measure = partial(
    Measure, function=compare_moments, takes=Takes.NUMBERS, in_blocks=True, needs_pairs=False
)
_moment = partial(
    _measure,
    by=By.ATTRIBUTE,
    better=Better.UNCHANGED,
    explanation="closer is better",
    group=MOMENTS,
    entry=Entry(name="moments", write=_write_moments),
)
_correlation = partial(
    _measure, group=CORRELATIONS, entry=Entry(name="correlations", write=_write_correlations)
)
_change = partial(_correlation, explanation="0 = unchanged, 2 = reversed", highest=2.0)
# Of every pair, in the two matrices that an assessment writes: no table has a figure of them.
_matrix = partial(
    _correlation,
    by=By.PAIR,
    better=Better.UNCHANGED,
    explanation="closer is better",
    tabulated=False,
)

OF_ATTRIBUTES = (
    _moment(id="mean", label="mean", figure=_means, lowest=-math.inf),
    _moment(id="variance", label="variance", figure=_variances),
)
OF_PAIRS = (
    _matrix(
        id="covariances",
        label="covariances",
        lowest=-math.inf,
        entry=Entry(name="covariances", write=_write_covariances),
    ),
    _matrix(id="correlations", label="Pearson's correlations", lowest=-1.0, highest=1.0),
    _change(
        id="mean_absolute_change",
        label="mean absolute change of correlations",
        short="mean absolute change",
        figure=_mean_change,
    ),
    _change(
        id="largest_absolute_change",
        label="largest absolute change of correlations",
        short="largest absolute change",
        figure=_largest_change,
    ),
)
