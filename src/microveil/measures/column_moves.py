"""Which columns fare worst: by what people compute of them, and by their distribution."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from microveil.measures.base import By, Group, Measure, Measured, Takes, figures
from microveil.measures.goodness_of_fit import merged_sums
from microveil.measures.opening import Tables, present_codes
from microveil.measures.values import Floats, day
from microveil.table.blocks import mean_and_variance
from microveil.table.sorting import in_order
from microveil.table.threads import in_threads
from microveil.text import shortened
from microveil.text.document import Block, paragraph, tabulated
from microveil.text.figures import figure, signed_percent

# A value that more than this share of the records has is common.
COMMON = 0.05
# A column whose mean, spread or commonest value's share changed by so much fares worse than others.
MARKED = 0.1
MARKED_FIRST = "First the columns whose mean, spread or commonest value moved by more than a tenth."
WORST = 5
HEADS = ("column", "mean", "after", "spread", "after", "common %", "after", "distance")
Sides = tuple[float, float]
# The common values of the original, ascending, and their shares before and after.
CommonValues = tuple[Floats, Floats, Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMove:
    """A column before and after."""

    distance: float  # Kolmogorov and Smirnov's of numbers, else total variation
    mean: Sides | None = None  # None of categories
    spread: Sides | None = None  # standard deviation (n - 1); None also of a single value
    is_signed: bool = False  # the original has values on both sides of 0: its mean is no yardstick
    # The share of the original's commonest value, which is not held itself; None where no number
    # has more than 5 % of the records.
    commonest: Sides | None = None
    is_zero: bool = False  # whether that value is 0
    is_date: bool = False  # of which mean and spread are in days

    def __repr__(self) -> str:
        """Show no figure: notebooks print it."""
        return "ColumnMove(for the custodian)"

    @property
    def has_scale(self) -> bool:
        """Whether the size of the mean says something: not of dates, nor of both signs."""
        return not (self.is_signed or self.is_date)

    @property
    def mean_change(self) -> float:
        """The change of the mean over mean or spread, the smaller; without a scale over spread."""
        if self.mean is None:
            return 0.0
        spread = 0.0 if self.spread is None else self.spread[0]
        scales = [abs(self.mean[0]), spread] if self.has_scale else [spread]
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
        """The largest of its changes and its distance."""
        return max(*self._changes, self.distance)

    @property
    def rank(self) -> tuple[bool, float]:
        """How bad a column fares among others: whether a change is marked, then its distance."""
        return max(self._changes) >= MARKED, self.distance

    @property
    def _changes(self) -> tuple[float, ...]:
        return abs(self.mean_change), abs(self.spread_change), abs(self.share_change)

    @property
    def cells(self) -> tuple[str, ...]:
        """The figures as the cells of a row under `HEADS`."""
        shares = self.commonest and tuple(100 * share for share in self.commonest)
        sides = (side for both in (self.spread, shares) for side in both or (None, None))
        return (
            *map(self.mean_in_words, self.mean or (None, None)),
            *map(figure, (*sides, self.distance)),
        )

    def mean_in_words(self, mean: float | None) -> str:
        """Write a mean, of dates the day."""
        return day(mean) if self.is_date else figure(mean)

    @classmethod
    def of(cls, contents: Mapping[str, Any]) -> "ColumnMove":
        """Read what `to_dict` makes, also from JSON."""
        plain: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in contents.items()
        }
        return cls(**plain)


def _relative(before: float, after: float, scale: float) -> float:
    """Return a change over a scale; 1 where there is no scale."""
    if before == after:
        return 0.0
    return (after - before) / scale if scale else 1.0


def move_of_numbers(
    before: Floats, after: Floats, *, has_mean: bool, is_date: bool = False, every: int = 1
) -> tuple[ColumnMove, CommonValues] | None:
    """Compare numbers, NaN where missing; distance and common values by one record in ``every``."""
    both = [before, after]
    one, other = in_threads(in_order, [side[::every] for side in both], len(before) + len(after))
    n, m = len(one), len(other)
    if not n or not m:
        return None
    # A common value fills one of these places at least.
    values = np.unique(one.at(np.arange(0, n, max(1, int(COMMON * n)))))
    lower = np.nextafter(values, -np.inf)
    shares, shares_after = ((of.up_to(values) - of.up_to(lower)) / len(of) for of in (one, other))
    is_common = shares > COMMON
    values, shares, shares_after = values[is_common], shares[is_common], shares_after[is_common]
    most = int(np.argmax(shares)) if len(values) else None
    mean, spread = None, None
    if has_mean:
        means, variances = zip(*map(mean_and_variance, both), strict=True)
        mean = means[0], means[1]
        if not any(map(math.isnan, variances)):
            spread = math.sqrt(variances[0]), math.sqrt(variances[1])
    move = ColumnMove(
        distance=merged_sums(one, other)[0] / (n * m),
        mean=mean,
        spread=spread,
        is_signed=has_mean and bool(one.values[0] < 0 < one.values[-1]),
        commonest=None if most is None else (float(shares[most]), float(shares_after[most])),
        is_zero=most is not None and not is_date and bool(values[most] == 0),
        is_date=is_date,
    )
    return move, (values, shares, shares_after)


def move_of_shares(shares: Floats, shares_after: Floats) -> ColumnMove:
    """Compare the shares of the original's categories; the release may have more of them."""
    most = int(np.argmax(shares))
    return ColumnMove(
        # Half the sum of all changes: categories that only the release has take what others lose.
        distance=float(np.maximum(shares - shares_after, 0).sum()),
        commonest=(float(shares[most]), float(shares_after[most])),
    )


def _column_move(
    before: Floats, after: Floats, is_text: bool, is_nominal: bool, is_date: bool
) -> ColumnMove | None:
    """Compare a column of an assessment: numbers, or text as the codes of its categories."""
    if not is_text:
        found = move_of_numbers(before, after, has_mean=not is_nominal, is_date=is_date)
        return None if found is None else found[0]
    codes = [side[~np.isnan(side)].astype(np.int64) for side in (before, after)]
    if not all(map(len, codes)):
        return None
    size = 1 + max(int(side.max()) for side in codes)
    return move_of_shares(*(np.bincount(side, minlength=size) / len(side) for side in codes))


def _each(tables: Tables) -> Iterator[tuple[str, tuple[Floats, Floats, bool, bool, bool]]]:
    """Go through the columns of both tables; and whether they are text, in no order, and dates."""
    for name, sides in tables.each_number():
        yield name, (*sides, False, name in tables.nominal, name in tables.dates)
    for name, codes in tables.texts.items():
        yield name, (present_codes(codes, 0), present_codes(codes, 1), True, True, False)


def moved_most(moves: Mapping[str, ColumnMove]) -> str:
    """Name the columns whose mean, spread and share of the commonest value moved most, if any."""
    found: dict[str, list[str]] = {}
    for change in ("mean_change", "spread_change", "share_change"):
        name = max(moves, key=lambda name: abs(getattr(moves[name], change)), default=None)
        if name is not None and getattr(moves[name], change):
            found.setdefault(name, []).append(_in_words(change, moves[name]))
    return "; ".join(
        f"'{shortened(name)}': {', '.join(changes)}" for name, changes in found.items()
    )


def _in_words(change: str, move: ColumnMove) -> str:
    if change == "share_change":
        assert move.commonest is not None  # noqa: S101 -- it has changed
        before, after = (f"{figure(100 * share)} %" for share in move.commonest)
        return f"commonest value {before} to {after}"
    what = change.removesuffix("_change")
    sides: Sides = getattr(move, what)
    if what == "mean" and not move.has_scale:
        return " to ".join((f"mean {move.mean_in_words(sides[0])}", move.mean_in_words(sides[1])))
    share = f" ({signed_percent((sides[1] - sides[0]) / abs(sides[0]))})" if sides[0] else ""
    unit = " days" if move.is_date else ""
    return f"{what} {figure(sides[0])} to {figure(sides[1])}{unit}{share}"


def worst_first(moves: Mapping[str, ColumnMove]) -> list[str]:
    """Name the columns, the worst first."""
    return sorted(moves, key=lambda name: moves[name].rank, reverse=True)


def order_in_words(moves: Mapping[str, ColumnMove]) -> str:
    """Say why the worst columns are not in the order of their distances, where some change is."""
    is_marked = any(moves[name].rank[0] for name in worst_first(moves)[:WORST])
    return MARKED_FIRST if is_marked else ""


def worst_rows(moves: Mapping[str, ColumnMove]) -> list[tuple[str, ...]]:
    """Return the five worst columns, the worst first: a row each, without a head."""
    return [(shortened(name), *moves[name].cells) for name in worst_first(moves)[:WORST]]


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show the five worst columns, the worst first."""
    moves = next((one.result for one in found if one.measure.id == LARGEST_MOVE.id), None)
    others = figures([one for one in found if one.measure.id != LARGEST_MOVE.id])
    if not moves:
        return others
    said = order_in_words(moves)
    order = (paragraph(said),) if said else ()
    return (*order, tabulated(HEADS, worst_rows(moves)), *others)


COLUMN_MOVES = Group(
    title="Worst columns (spread: standard deviation, of dates in days)", show=_show
)
LARGEST_MOVE = Measure(
    id="largest_move",
    label="largest change of mean, spread, commonest share or distribution",
    short="largest change",
    explanation="0 = unchanged",
    scale="as a share of the original's",
    function=_column_move,
    takes=Takes(_each, of_each=True),
    needs_pairs=False,
    by=By.ATTRIBUTE,
    figure=attrgetter("score"),
    group=COLUMN_MOVES,
    entry="column_moves",
)
MEASURES = (LARGEST_MOVE,)
