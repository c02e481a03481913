"""A figure over runs: its mean, how sure that is, and how far single runs lie apart."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

__all__ = ["Spread", "spread_of"]

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The mean of a figure over runs, and the spread of the runs.

    Attributes
    ----------
    mean, low, high : float
        With the 95 % interval of the mean, by Student's law; all equal where there is none.
    least, greatest : float
        Between them lie the middle 95 % of the single runs.
    has_interval : bool
        One run has none, and nothing that asks for an interval is true of it.
    """

    mean: float
    low: float
    high: float
    least: float
    greatest: float
    has_interval: bool = True

    def __str__(self) -> str:
        """Write mean and interval in three digits."""
        if not self.has_interval:
            return f"{self.mean:.3g} (one run)"
        return f"{self.mean:.3g} [{self.low:.3g}, {self.high:.3g}]"

    @property
    def of_runs(self) -> str:
        """Where single runs lie, in three digits."""
        return f"{self.least:.3g} to {self.greatest:.3g}"

    def is_within(self, margin: float) -> bool:
        """Say whether the whole interval of the mean is nearer to 0 than a margin.

        >>> spread_of([0.1, 0.2, 0.3]).is_within(0.5)
        True
        """
        return self.has_interval and max(abs(self.low), abs(self.high)) < margin

    def is_beyond(self, margin: float) -> bool:
        """Say whether the whole interval of the mean is farther from 0 than a margin."""
        return self.is_above(margin) or self.is_below(-margin)

    def is_above(self, value: float) -> bool:
        """Say whether the whole interval of the mean is above a value."""
        return self.has_interval and self.low > value

    def is_below(self, value: float) -> bool:
        """Say whether the whole interval of the mean is below a value."""
        return self.has_interval and self.high < value

    def holds(self, value: float) -> bool:
        """Say whether a value is among the middle 95 % of the single runs."""
        return self.least <= value <= self.greatest


def spread_of(runs: ArrayLike) -> Spread:
    """Summarise a figure of which each run gives one.

    Parameters
    ----------
    runs : array_like, shape (n_runs,)

    Examples
    --------
    >>> print(spread_of([1.0, 2.0, 3.0]))
    2 [-0.484, 4.48]
    """
    figures = np.asarray(runs, dtype=np.float64)
    mean, reach = float(figures.mean()), 0.0
    if len(figures) > 1:
        quantile = float(stdtrit(len(figures) - 1, (1 + CONFIDENCE) / 2))
        reach = quantile * float(figures.std(ddof=1)) / math.sqrt(len(figures))
    least, greatest = np.quantile(figures, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Spread(
        mean=mean,
        low=mean - reach,
        high=mean + reach,
        least=float(least),
        greatest=float(greatest),
        has_interval=len(figures) > 1,
    )
