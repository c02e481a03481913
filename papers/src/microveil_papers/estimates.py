"""Means of an experiment with their intervals, by what sets them apart, and ratios over k."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import polars
from scipy.special import stdtrit

from microveil.report.wording import number

__all__ = [
    "SEVERAL_ORDERS",
    "Estimate",
    "Ratio",
    "difference",
    "estimates_of",
    "pooled",
    "ratio_of",
]

CONFIDENCE = 0.95
# What "several orders of magnitude" is taken for, as a factor.
SEVERAL_ORDERS = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The mean of a figure over runs, with its 95 % interval.

    Attributes
    ----------
    k : int or None
    mean, low, high : float
        ``low`` and ``high`` are the mean where there is no interval.
    has_interval : bool
        One run of something random has none.
    """

    k: int | None
    mean: float
    low: float
    high: float
    has_interval: bool = True

    def __str__(self) -> str:
        """Write mean and interval in three digits."""
        if not self.has_interval:
            return f"{number(self.mean, 3)} (one run)"
        if self.low == self.high:
            return number(self.mean, 3)
        return f"{number(self.mean, 3)} [{number(self.low, 3)}, {number(self.high, 3)}]"

    def is_below(self, other: "Estimate") -> bool:
        """Say whether the whole interval is below another one; unknown ones never are."""
        return self.has_interval and other.has_interval and self.high < other.low


def estimates_of(table: polars.DataFrame, figure: str, **chosen: Any) -> list[Estimate]:
    """Return a figure of the configurations that were chosen by columns, by k ascending.

    Examples
    --------
    >>> rows = {"name": ["a", "a"], "k": [5, 3], "e": [1.0, 2.0], "e_low": [0.5, 1.5]}
    >>> table = polars.DataFrame({**rows, "e_high": [1.5, 2.5]})
    >>> [str(estimate) for estimate in estimates_of(table, "e", name="a")]
    ['2 [1.5, 2.5]', '1 [0.5, 1.5]']
    """
    own = table.filter(*(polars.col(name) == value for name, value in chosen.items()))
    return list(_read(own.drop_nulls(figure).sort("k"), figure))


def _read(table: polars.DataFrame, figure: str) -> Iterator[Estimate]:
    for row in table.iter_rows(named=True):
        mean = row[figure]
        low, high = row[f"{figure}_low"], row[f"{figure}_high"]
        yield Estimate(
            k=row["k"],
            mean=mean,
            low=mean if low is None else low,
            high=mean if high is None else high,
            has_interval=low is not None,
        )


def pooled(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean over estimates of independent runs, with its interval.

    The variances of the means are added; the quantile stays that of one estimate's few runs, so
    that the interval is a little wide.

    Examples
    --------
    >>> str(pooled([Estimate(k=k, mean=k, low=k - 3.0, high=k + 3.0) for k in (1, 2, 3, 4)]))
    '2.5 [1, 4]'
    """
    mean = fmean(estimate.mean for estimate in estimates)
    reach = math.hypot(*(estimate.high - estimate.mean for estimate in estimates)) / len(estimates)
    known = all(estimate.has_interval for estimate in estimates)
    return Estimate(k=None, mean=mean, low=mean - reach, high=mean + reach, has_interval=known)


def difference(after: Estimate, before: Estimate) -> Estimate:
    """Return by how much one is above another one of other runs, with the interval.

    Examples
    --------
    >>> one = Estimate(k=None, mean=9.0, low=6.0, high=12.0)
    >>> str(difference(one, Estimate(k=None, mean=1.0, low=-3.0, high=5.0)))
    '8 [3, 13]'
    """
    mean = after.mean - before.mean
    reach = math.hypot(after.high - after.mean, before.high - before.mean)
    known = after.has_interval and before.has_interval
    return Estimate(k=None, mean=mean, low=mean - reach, high=mean + reach, has_interval=known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """The geometric mean of ratios over k, with a 95 % interval.

    The k are not a sample of anything: the interval only says whether the ratio is of one kind
    throughout.

    Attributes
    ----------
    mean, low, high : float
    """

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        """Write mean and interval in three digits."""
        return f"{number(self.mean, 3)} [{number(self.low, 3)}, {number(self.high, 3)}] over k"


def ratio_of(above: Sequence[Estimate], below: Sequence[Estimate]) -> Ratio:
    """Divide two methods k by k.

    Parameters
    ----------
    above, below : sequence of Estimate
        Of the same k; one estimate alone is held against all of the other's.

    Examples
    --------
    >>> estimates = [Estimate(k=k, mean=2.0 * k, low=0, high=0) for k in (3, 5, 10)]
    >>> others = [Estimate(k=k, mean=1.0 * k, low=0, high=0) for k in (3, 5, 10)]
    >>> str(ratio_of(estimates, others))
    '2 [2, 2] over k'
    """
    many = max(len(above), len(below))
    pairs = [
        (one.mean, other.mean)
        for one, other in zip(
            [*above] * (many if len(above) == 1 else 1),
            [*below] * (many if len(below) == 1 else 1),
            strict=True,
        )
    ]
    logs = np.array([math.log(one / other) for one, other in pairs])
    mean, reach = float(logs.mean()), math.inf
    if len(logs) > 1:
        quantile = float(stdtrit(len(logs) - 1, (1 + CONFIDENCE) / 2))
        reach = quantile * float(logs.std(ddof=1)) / math.sqrt(len(logs))
    return Ratio(mean=math.exp(mean), low=math.exp(mean - reach), high=math.exp(mean + reach))
