"""How far the distribution of each attribute moved."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from microveil.measures.base import By, Entry, Measure, Takes
from microveil.measures.distributions import DISTRIBUTIONS
from microveil.utility.goodness_of_fit import GoodnessOfFit, goodness_of_fit

__all__ = ["DISTANCE", "MEASURES"]


def _statistic(test: str) -> Callable[[GoodnessOfFit], float]:
    def statistic(found: GoodnessOfFit) -> float:
        measured = getattr(found, test)
        return math.nan if measured is None else float(measured.statistic)

    return statistic


def _write(found: Mapping[str, GoodnessOfFit], _: Sequence[str]) -> dict[str, Any]:
    return {name: fit.to_dict() for name, fit in found.items()}


_measure = partial(
    Measure,
    function=goodness_of_fit,
    takes=Takes.RANKED,
    needs_pairs=False,
    by=By.ATTRIBUTE,
    group=DISTRIBUTIONS,
)
_further = partial(_measure, tabulated=False, entry=Entry(name="goodness_of_fit", write=_write))

# By which the worst attribute is known.
DISTANCE = _measure(
    id="kolmogorov_smirnov",
    label="largest distance of the distribution functions",
    short="KS",
    explanation="0 = alike, 1 = apart",
    highest=1.0,
    figure=_statistic("kolmogorov_smirnov"),
)

MEASURES = (
    _further(
        id="cramer_von_mises",
        label="Cramér-von Mises statistic",
        short="CvM",
        explanation="0 = alike, 1/6 = as independent samples of one law",
        figure=_statistic("cramer_von_mises"),
    ),
    _further(
        id="anderson_darling",
        label="Anderson-Darling statistic",
        short="AD",
        explanation="0 = as independent samples of one law, lower is closer",
        lowest=-math.inf,
        figure=_statistic("anderson_darling"),
    ),
    _further(
        id="chi_squared",
        label="chi-squared on the original's deciles",
        short="chi2",
        explanation="0 = alike",
        figure=_statistic("chi_squared"),
    ),
    DISTANCE,
)
