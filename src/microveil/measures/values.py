"""What measures compute with: arrays, estimates with intervals, and values as JSON has them."""

import datetime
import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike, NDArray

from microveil.errors import RequestError
from microveil.schema import EPOCH
from microveil.text.figures import NOTHING, figure, figures_to

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]


def library(module: str, place: str) -> Any:
    """Import a library that not every installation has."""
    try:
        return importlib.import_module(module)
    except ImportError:
        name = "scikit-learn" if module.startswith("sklearn") else module
        rule = f"it needs {name}, which is not installed"
        remedy = "install it with: pip install 'microveil[report]'"
        raise RequestError(place, rule, remedy) from None


def drawn(n_records: int, most: int, random: np.random.Generator) -> Whole:
    """Return at most so many positions of records, drawn at random, ascending."""
    if n_records <= most:
        return np.arange(n_records)
    return np.sort(random.choice(n_records, most, replace=False)).astype(np.int64)


def as_json(found: Any, *properties: str) -> dict[str, Any]:
    """Return the fields of a dataclass, and properties by their names, as JSON knows them."""
    names = (*found.__dataclass_fields__, *properties)
    return {name: plain(getattr(found, name)) for name in names}


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: undefined numbers as None, parts by `to_dict` or fields."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return as_json(value) if is_dataclass(value) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A rate, or a median, with its confidence interval."""

    value: float  # NaN where nothing was tried
    interval: tuple[float, float]  # of no width where the rate was not estimated but counted out
    n: int | None = None  # number of attacks it rests on; None where it was counted out
    what: str = "rate"  # between 0 and 1

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as JSON knows it: None instead of NaN."""
        return {self.what: plain(self.value), "interval": plain(self.interval), "n": self.n}

    @classmethod
    def exact(cls, value: float) -> "Estimate":
        """Return a rate that was counted out, which has no sampling error."""
        return cls(value=value, interval=(0.0, 1.0) if math.isnan(value) else (value, value))


def success_rate(successes: float, n_attacks: int, confidence: float) -> Estimate:
    """Estimate a success rate with the interval of Clopper and Pearson (1934).

    Guesses among ties count as fractions: these vary no more than zeros and ones of the same mean.
    """
    if n_attacks == 0:
        return Estimate(value=math.nan, interval=(0.0, 1.0), n=0)
    successes = min(max(successes, 0.0), float(n_attacks))
    failures, tail = n_attacks - successes, (1 - confidence) / 2
    inverse = scipy.special.betaincinv
    lower = float(inverse(successes, failures + 1, tail)) if successes > 0 else 0.0
    upper = float(inverse(successes + 1, failures, 1 - tail)) if failures > 0 else 1.0
    return Estimate(value=successes / n_attacks, interval=(lower, upper), n=n_attacks)


def excess(success: Estimate, base: Estimate) -> Estimate:
    """Estimate what an attack finds of that which its base leaves unknown.

    It is (success - base)/(1 - base), at least 0, and undetermined (0, from 0 to 1) where the base
    leaves nothing unknown. Its interval is Donner and Zou's (2012) for ratios, from both rates' as
    if independent: wider than it need be where attack and baseline had the same people as targets.
    """
    if math.isnan(success.value) or math.isnan(base.value):
        return Estimate(value=math.nan, interval=(0.0, 1.0), n=success.n)
    if base.value >= 1:
        return Estimate(value=0.0, interval=(0.0, 1.0), n=success.n)
    missed, left = 1 - success.value, 1 - base.value
    missed_low, missed_high = 1 - success.interval[1], 1 - success.interval[0]
    left_low, left_high = 1 - base.interval[1], 1 - base.interval[0]
    product = missed * left

    def root(missed_end: float, left_end: float) -> float:
        swing = missed_end * (2 * missed - missed_end) * left_end * (2 * left - left_end)
        return math.sqrt(max(0.0, product**2 - swing))

    low, high = 0.0, math.inf
    if missed_low > 0:
        low = missed_low * (2 * missed - missed_low) / (product + root(missed_low, left_high))
    if left_low > 0:
        high = (product + root(missed_high, left_low)) / (left_low * (2 * left - left_low))
    value, *ends = (min(1.0, max(0.0, 1 - ratio)) for ratio in (missed / left, high, low))
    return Estimate(value=value, interval=(ends[0], ends[1]), n=success.n)


def median_of(values: Floats, confidence: float = 0.95) -> Estimate:
    """Return the median of independent values, and those z/2 roots of n ranks to either side."""
    in_order, n = np.sort(values), len(values)
    if not n:
        return Estimate(value=math.nan, interval=(math.nan, math.nan), n=0, what="median")
    middle, reach = (n - 1) / 2, float(scipy.special.ndtri((1 + confidence) / 2)) * math.sqrt(n) / 2
    low, high = max(math.floor(middle - reach), 0), min(math.ceil(middle + reach), n - 1)
    ends = float(in_order[low]), float(in_order[high])
    return Estimate(value=float(np.median(in_order)), interval=ends, n=n, what="median")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean, Student's confidence interval of it, and the deviation; NaN of a single value."""

    value: float  # NaN where a value is undefined
    interval: tuple[float, float]
    standard_deviation: float


def mean_of(values: ArrayLike, confidence: float = 0.95) -> Mean:
    """Average independent values."""
    array = np.asarray(values, dtype=np.float64)
    mean, deviation, reach = float(array.mean()), math.nan, math.nan
    if len(array) > 1 and math.isfinite(mean):
        deviation = float(array.std(ddof=1))
        quantile = float(scipy.special.stdtrit(len(array) - 1, (1 + confidence) / 2))
        reach = quantile * deviation / math.sqrt(len(array))
    return Mean(value=mean, interval=(mean - reach, mean + reach), standard_deviation=deviation)


def day(mean: float | None) -> str:
    """Write a mean of dates as the day; beyond the calendar as a number."""
    if mean is None or math.isnan(mean):
        return NOTHING
    try:
        return (EPOCH + datetime.timedelta(days=round(mean))).isoformat()
    except OverflowError:
        return figure(mean)


def days(spread: float | None, unit: str = "days") -> str:
    """Write how far dates lie from each other."""
    shown = figure(spread)
    return shown if shown == NOTHING else f"{shown} {unit}"


def percent(estimate: Estimate | None) -> str:
    """Write a rate in percent with its interval; an exact one without."""
    if estimate is None or math.isnan(estimate.value):
        return NOTHING
    low, high = estimate.interval
    shown = figure(100 * estimate.value)
    return shown if estimate.n is None else f"{shown} ({figures_to((100 * low, 100 * high))})"
