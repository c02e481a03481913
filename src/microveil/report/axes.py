"""Axes: from values to places in a picture, and the round numbers along them."""

import datetime
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from microveil.report.wording import SUPERSCRIPTS, tick
from microveil.schema import EPOCH, Kind

__all__ = [
    "LABEL_GAP",
    "LETTER_WIDTH",
    "Axis",
    "Tick",
    "bent_axis",
    "linear_axis",
    "log_axis",
    "share_axis",
]

Float = NDArray[np.float64]
Tick = tuple[float, str]
LETTER_WIDTH = 7.2  # of a digit in a wide typeface, in units of the picture
LABEL_GAP = 6.0
LINE_HEIGHT = 13.0
# On a longer logarithmic axis ticks stand at powers of ten alone.
MOST_DECADES = 5
# Ends that are no farther apart, in steps of floats of their size or at all, count as equal:
# between them there is no place for a tick.
APART, LEAST = 8, 1e-290
DAYS_IN_YEAR = 365.2425
YEAR_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis with its name, its range and its ticks.

    Attributes
    ----------
    title : str
        What is measured, with its unit.
    lower, upper : float
        The range drawn; lower < upper.
    ticks : tuple of (float, str)
        Values and labels, in order.
    threshold : float or None
        Where given the scale is the inverse hyperbolic sine of value/threshold: nearly
        linear up to the threshold on either side of 0, logarithmic beyond.
    note : str or None
        What a reader must know of the scale.
    logarithmic : bool
        Whether the scale is logarithmic all along; 0 < lower then.
    """

    title: str
    lower: float
    upper: float
    ticks: tuple[Tick, ...]
    threshold: float | None = None
    note: str | None = None
    logarithmic: bool = False

    def places(self, values: Float, start: float, end: float) -> Float:
        """Return where values lie between two ends of a picture, those outside at the ends."""
        low, high = self._bent(np.array([self.lower, self.upper]))
        within = self._bent(np.clip(values, self.lower, self.upper))
        placed: Float = start + (end - start) * (within - low) / (high - low)
        return placed

    def place(self, value: float, start: float, end: float) -> float:
        """Return where one value lies."""
        return float(self.places(np.array([value]), start, end)[0])

    def _bent(self, values: Float) -> Float:
        if self.logarithmic:
            logarithms: Float = np.log(values)
            return logarithms
        if self.threshold is None:
            # Halved, so that the distance of the largest float64s stays finite.
            return values / 2
        bent: Float = np.arcsinh(values / self.threshold)
        return bent


def linear_axis(title: str, lower: float, upper: float, kind: Kind, length: float) -> Axis:
    """Return an axis with as many round ticks as have room.

    Parameters
    ----------
    title : str
    lower, upper : float
    kind : Kind
        Of the values: dates are days since 1970-01-01.
    length : float
        Of the axis, in units of the picture.

    Examples
    --------
    >>> [label for _, label in linear_axis("age", 16, 104, Kind.WHOLE, 280).ticks]
    ['20', '30', '40', '50', '60', '70', '80', '90', '100']
    """
    if not upper - lower > max(APART * math.ulp(lower), APART * math.ulp(upper), LEAST):
        margin = max(0.5, abs(lower) * 1e-6)
        lower, upper = lower - margin, upper + margin
    chosen: tuple[Tick, ...] = ()
    for most in range(2, 10):
        ticks = _dates(lower, upper, most) if kind is Kind.DATE else _round(lower, upper, most)
        gaps = [right - left for left, right in itertools.pairwise(ticks)]
        step = min(gaps, default=upper - lower)
        labels = tuple((value, tick(value, kind, step)) for value in ticks)
        widest = LETTER_WIDTH * max((len(label) for _, label in labels), default=0) + LABEL_GAP
        if chosen and widest > length * (step / (upper - lower)):
            break
        chosen = labels or chosen
    return Axis(title=title, lower=lower, upper=upper, ticks=chosen)


def share_axis(title: str, most: float) -> Axis:
    """Return an axis of percents from 0 to a round number above the most there is.

    >>> [label for _, label in share_axis("records, %", 0.23).ticks]
    ['0', '5', '10', '15', '20', '25']
    """
    step = _nice(max(100 * most, 0.1) / 5)
    upper = step * math.ceil(100 * most / step - 1e-9) if most > 0 else step
    count = max(1, round(upper / step))
    ticks = tuple((n * step / 100, tick(n * step, Kind.DECIMAL, step)) for n in range(count + 1))
    return Axis(title=title, lower=0.0, upper=count * step / 100, ticks=ticks)


def bent_axis(
    title: str,
    lower: float,
    upper: float,
    threshold: float,
    kind: Kind,
    length: float,
    *,
    upright: bool = False,
) -> Axis:
    """Return an axis that is nearly linear up to a threshold and logarithmic beyond.

    Ticks stand at 0 and at powers of ten times the threshold, on either side, as many as
    have room.

    Examples
    --------
    >>> axis = bent_axis("wealth", 0, 2_000_000, 1000, Kind.WHOLE, 260)
    >>> [label for _, label in axis.ticks]
    ['0', '1,000', '10,000', '100,000', '1,000,000']
    """
    bare = Axis(title=title, lower=lower, upper=upper, ticks=(), threshold=threshold)
    powers = [threshold * 10.0**power for power in range(300) if threshold * 10.0**power <= 1e300]
    wanted = [0.0]
    # Zero and the outermost ticks matter most, so they are given room first.
    for power in reversed(powers):
        wanted += [power, -power]
    ticks = _with_room(bare, [(v, tick(v, kind, abs(v) or 1.0)) for v in wanted], length, upright)
    return replace(
        bare,
        ticks=ticks,
        note=f"logarithmic scale beyond {tick(threshold, Kind.DECIMAL, threshold)}",
    )


def log_axis(
    title: str,
    lower: float,
    upper: float,
    length: float,
    *,
    stops: Sequence[float] = (),
    upright: bool = False,
) -> Axis:
    """Return a logarithmic axis with as many ticks as have room.

    Parameters
    ----------
    title : str
    lower, upper : float
        0 < lower <= upper; the axis reaches a little beyond either.
    length : float
        Of the axis, in units of the picture.
    stops : sequence of float
        Where ticks are wanted, the outermost first of all; else at 1, 2 and 5 times powers of
        ten.
    upright : bool
        Whether labels stand above each other, and their height is what needs room.

    Examples
    --------
    >>> [label for _, label in log_axis("loss", 3, 2500, 290).ticks]
    ['5', '10', '20', '50', '100', '200', '1,000']
    >>> [label for _, label in log_axis("k", 3, 100, 290, stops=[3, 5, 10, 25, 50, 100]).ticks]
    ['3', '5', '10', '25', '50', '100']
    """
    margin = max((upper / lower) ** 0.04, 1.02)
    bare = Axis(title=title, lower=lower / margin, upper=upper * margin, ticks=(), logarithmic=True)
    if stops:
        ordered = sorted(stops)
        wanted = [ordered[0], ordered[-1], *ordered[1:-1]]
    else:
        first, last = math.floor(math.log10(bare.lower)), math.ceil(math.log10(bare.upper))
        powers = [10.0**power for power in range(max(first, -300), min(last, 300) + 1)]
        # Each second, fifth or tenth power where there are too many for one another's labels.
        step = max(1, math.ceil(len(powers) / 8))
        wanted = powers[::step]
        if len(powers) <= MOST_DECADES:
            wanted += [factor * power for factor in (2, 5) for power in powers if power < 1e4]
    labelled = [(value, _on_log_scale(value)) for value in wanted]
    return replace(bare, ticks=_with_room(bare, labelled, length, upright))


def _on_log_scale(value: float) -> str:
    """Write a power of ten as one where it is too long to be written out."""
    power = round(math.log10(value))
    if not -4 <= power < 4 and math.isclose(value, 10.0**power):
        return f"10{str(power).translate(SUPERSCRIPTS)}"
    return tick(value, Kind.DECIMAL, value)


def _with_room(
    axis: Axis, wanted: Iterable[Tick], length: float, upright: bool
) -> tuple[Tick, ...]:
    """Choose the ticks whose labels do not touch those chosen before them; in order."""
    ticks: list[Tick] = []

    def room(label: str) -> float:
        return LINE_HEIGHT if upright else LETTER_WIDTH * len(label) + LABEL_GAP

    for value, label in wanted:
        if not axis.lower <= value <= axis.upper:
            continue
        place = axis.place(value, 0, length)
        taken = (
            abs(place - axis.place(other, 0, length)) < (room(label) + room(text)) / 2
            for other, text in ticks
        )
        if not any(taken):
            ticks.append((value, label))
    return tuple(sorted(ticks))


def _nice(step: float) -> float:
    """Return the least of 1, 2, 5 times a power of ten that is not below a number."""
    power: float = 10.0 ** math.floor(math.log10(step))
    return next((m * power for m in (1, 2, 5) if m * power >= step * (1 - 1e-9)), 10 * power)


def _round(lower: float, upper: float, most: int) -> list[float]:
    step = _nice(upper / most - lower / most)
    first, last = math.ceil(lower / step - 1e-9), math.floor(upper / step + 1e-9)
    return [n * step for n in range(first, last + 1)]


def _dates(lower: float, upper: float, most: int) -> list[float]:
    """Return the starts of years, or round numbers of days where years are too long."""
    years = (upper - lower) / DAYS_IN_YEAR
    if years < 3:
        step = max(1.0, _nice((upper - lower) / most))
        return [n * step for n in range(math.ceil(lower / step), math.floor(upper / step) + 1)]
    step_in_years = next((s for s in YEAR_STEPS if years / s <= most), YEAR_STEPS[-1])
    try:
        first = (EPOCH + datetime.timedelta(days=math.ceil(lower))).year
        last = (EPOCH + datetime.timedelta(days=math.floor(upper))).year
    except OverflowError:  # beyond the year 9999
        return _round(lower, upper, most)
    starts = range(first - first % step_in_years, last + 1, step_in_years)
    days = [(datetime.date(max(1, year), 1, 1) - EPOCH).days for year in starts]
    return [float(day) for day in days if lower <= day <= upper]
