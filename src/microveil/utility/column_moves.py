"""What became of a column: mean, spread, share of the commonest value, distribution.

The distance between two distributions hardly sees a long tail: a few large values carry half of a
mean. So each column is also judged by what people compute from it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import columns as kernel
from microveil.text import shortened
from microveil.text.figures import figure, signed_percent
from microveil.utility.distribution_shift import (
    DistributionShift,
    Values,
    distribution_shift,
    held,
)

__all__ = [
    "COMMON",
    "HEADS",
    "ColumnMove",
    "column_move",
    "move_of_numbers",
    "move_of_shares",
    "moved_most",
    "worst_rows",
]

# A value that more than this share of the records has is common.
COMMON = 0.05
WORST = 5
HEADS = ("column", "mean", "after", "spread", "after", "common %", "after", "distance")
Sides = tuple[float, float]
# Number of values, mean, sum of squared deviations, least and largest value.
_Summary = tuple[int, float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMove:
    """A column before and after.

    Attributes
    ----------
    distance : float
        Between the distributions: Kolmogorov and Smirnov's of numbers, else total variation.
    mean, spread : (float, float) or None
        Mean and standard deviation (n - 1), original and release; None of categories, and the
        spread of a single value.
    is_signed : bool
        Whether the original has values on both sides of 0, so that its mean is no yardstick.
    commonest : (float, float) or None
        The share of the original's commonest value, in the original and in the release; None
        where no number has more than 5 % of the records. The value itself is not held.
    is_zero : bool
        Whether that value is 0.
    """

    distance: float
    mean: Sides | None = None
    spread: Sides | None = None
    is_signed: bool = False
    commonest: Sides | None = None
    is_zero: bool = False

    def __repr__(self) -> str:
        """Show no figure: notebooks print it."""
        return "ColumnMove(for the custodian)"

    @property
    def mean_change(self) -> float:
        """The change of the mean over the mean or the spread, whichever is smaller.

        Over the spread alone where values have both signs.

        >>> ColumnMove(distance=0.1, mean=(1000.0, 640.0), spread=(7000.0, 3500.0)).mean_change
        -0.36
        """
        if self.mean is None:
            return 0.0
        spread = 0.0 if self.spread is None else self.spread[0]
        scales = [spread] if self.is_signed else [abs(self.mean[0]), spread]
        return _relative(*self.mean, min((scale for scale in scales if scale), default=0.0))

    @property
    def spread_change(self) -> float:
        """The change of the spread over the original's."""
        return 0.0 if self.spread is None else _relative(*self.spread, self.spread[0])

    @property
    def share_change(self) -> float:
        """The change of the commonest value's share."""
        return 0.0 if self.commonest is None else self.commonest[1] - self.commonest[0]

    @property
    def score(self) -> float:
        """The largest of its changes and its distance: by this columns are called worst."""
        changes = (self.mean_change, self.spread_change, self.share_change, self.distance)
        return max(map(abs, changes))

    @property
    def cells(self) -> tuple[str, ...]:
        """The figures as the cells of a row under `HEADS`."""
        shares = self.commonest and tuple(100 * share for share in self.commonest)
        return (
            *_written(self.mean),
            *_written(self.spread),
            *_written(shares),
            figure(self.distance),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def of(cls, contents: Mapping[str, Any]) -> "ColumnMove":
        """Read what `to_dict` makes, also from JSON."""
        plain: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in contents.items()
        }
        return cls(**plain)


def move_of_numbers(
    before: Values, after: Values, *, has_mean: bool
) -> tuple[ColumnMove, DistributionShift] | None:
    """Compare the numbers of a column.

    Parameters
    ----------
    before, after : Values
    has_mean : bool
        False of codes that stand for categories.

    Returns
    -------
    (ColumnMove, DistributionShift) or None
        None where one side has no value.

    Examples
    --------
    >>> sides = np.array([0.0, 0.0, 3.0]), np.array([0.0, 2.0, 4.0])
    >>> move, _ = move_of_numbers(*(Values(3, side.__getitem__) for side in sides), has_mean=True)
    >>> move.mean, move.is_zero
    ((1.0, 2.0), True)
    """
    sides = held(before), held(after)
    shift = distribution_shift(*sides, common=COMMON)
    if shift is None:
        return None
    commonest, is_zero = None, False
    if len(shift.values):
        most = int(np.argmax(shift.shares))
        commonest = float(shift.shares[most]), float(shift.shares_after[most])
        is_zero = bool(shift.values[most] == 0)
    found = ColumnMove(distance=shift.distance, commonest=commonest, is_zero=is_zero)
    if has_mean:
        original, released = (_summary(side) for side in sides)
        found = ColumnMove(
            distance=shift.distance,
            mean=(original[1], released[1]),
            spread=_spreads(original, released),
            is_signed=original[3] < 0 < original[4],
            commonest=commonest,
            is_zero=is_zero,
        )
    return found, shift


def move_of_shares(shares: NDArray[np.float64], shares_after: NDArray[np.float64]) -> ColumnMove:
    """Compare the shares of categories, those of the original in both.

    Parameters
    ----------
    shares, shares_after : float64 array (n_categories,)
        What is missing from the second is the share of categories that the original lacks.

    Examples
    --------
    >>> move = move_of_shares(np.array([0.75, 0.25]), np.array([0.5, 0.25]))
    >>> move.distance, move.commonest
    (0.25, (0.75, 0.5))
    """
    most = int(np.argmax(shares))
    return ColumnMove(
        # Half the sum of all changes: categories that only the release has take what others lose.
        distance=float(np.maximum(shares - shares_after, 0).sum()),
        commonest=(float(shares[most]), float(shares_after[most])),
    )


def column_move(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    is_text: bool,
    is_nominal: bool,
) -> ColumnMove | None:
    """Compare a column of an assessment: float64 with NaN for missing cells.

    Parameters
    ----------
    before, after : float64 array (n_records,)
        Not necessarily as many; of text the codes of its categories.
    is_text, is_nominal : bool
        Whether they are such codes, or numbers that stand for categories.

    Returns
    -------
    ColumnMove or None
        None where one side has no value.

    Examples
    --------
    >>> both = np.array([1.0, 3.0]), np.array([2.0, 6.0, np.nan])
    >>> column_move(*both, False, False).mean
    (2.0, 4.0)
    """
    sides = [side[~np.isnan(side)] for side in (before, after)]
    if not all(map(len, sides)):
        return None
    if is_text:
        codes = [side.astype(np.int64) for side in sides]
        size = 1 + max(int(side.max()) for side in codes)
        return move_of_shares(*(np.bincount(side, minlength=size) / len(side) for side in codes))
    found = move_of_numbers(
        *(Values(len(side), side.__getitem__) for side in sides),
        has_mean=not is_nominal,
    )
    return None if found is None else found[0]


def moved_most(moves: Mapping[str, ColumnMove]) -> str:
    """Name the columns whose mean, spread and share of the commonest value moved most.

    Returns
    -------
    str
        Empty where none of these moved.

    Examples
    --------
    >>> print(moved_most({"GAIN": ColumnMove(distance=0.01, mean=(1000, 640), spread=(70, 35))}))
    'GAIN': mean 1,000 to 640 (-36 %), spread 70 to 35 (-50 %)
    """
    found: dict[str, list[str]] = {}
    for change in ("mean_change", "spread_change", "share_change"):
        name = max(moves, key=lambda name: abs(getattr(moves[name], change)), default=None)
        if name is not None and getattr(moves[name], change):
            found.setdefault(name, []).append(_in_words(change, moves[name]))
    return "; ".join(
        f"'{shortened(name)}': {', '.join(changes)}" for name, changes in found.items()
    )


def worst_rows(moves: Mapping[str, ColumnMove]) -> list[tuple[str, ...]]:
    """Return the five worst columns, the worst first: a row each, without a head.

    Examples
    --------
    >>> worst_rows({"SEX": move_of_shares(np.array([0.6, 0.4]), np.array([0.5, 0.5]))})
    [('SEX', '-', '-', '-', '-', '60', '50', '0.1')]
    """
    worst = sorted(moves, key=lambda name: moves[name].score, reverse=True)[:WORST]
    return [(shortened(name), *moves[name].cells) for name in worst]


def _in_words(change: str, move: ColumnMove) -> str:
    if change == "share_change":
        assert move.commonest is not None  # noqa: S101 -- it has changed
        before, after = (f"{figure(100 * share)} %" for share in move.commonest)
        return f"{'zeros' if move.is_zero else 'commonest value'} {before} to {after}"
    what = change.removesuffix("_change")
    sides: Sides = getattr(move, what)
    before, after = _written(sides)
    share = ""
    if sides[0] and not (what == "mean" and move.is_signed):
        share = f" ({signed_percent((sides[1] - sides[0]) / abs(sides[0]))})"
    return f"{what} {before} to {after}{share}"


def _relative(before: float, after: float, scale: float) -> float:
    """Return a change over a scale; 1 where there is no scale."""
    if before == after:
        return 0.0
    return (after - before) / scale if scale else 1.0


def _written(sides: Sides | tuple[float, ...] | None) -> tuple[str, ...]:
    return tuple(map(figure, sides or (None, None)))


def _spreads(before: _Summary, after: _Summary) -> Sides | None:
    if min(before[0], after[0]) < 2:
        return None
    one, other = (float(np.sqrt(squares / (n - 1))) for n, _, squares, *_ in (before, after))
    return one, other


def _summary(side: Values) -> _Summary:
    """Sum up all pieces: each by itself, then as Chan, Golub and LeVeque (1979) add them."""
    n, mean, squares, lowest, highest = 0, 0.0, 0.0, np.inf, -np.inf
    for values in side.pieces():
        count, total, least, largest = kernel.sums(values)
        if not count:
            continue
        # The computed mean of equal values can miss their value by a rounding.
        own = least if least == largest else total / count
        apart, all_of_them = own - mean, n + count
        squares += kernel.squares(values, own) + apart * apart * n * count / all_of_them
        mean += apart * count / all_of_them
        n, lowest, highest = all_of_them, min(lowest, least), max(highest, largest)
    return n, lowest if lowest == highest else mean, squares, lowest, highest
