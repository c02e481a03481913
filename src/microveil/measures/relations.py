"""Relations between columns, and how many of them a release keeps.

The strength of a relation is the rank correlation (Spearman's) where both columns have an order,
else Cramér's V with Bergsma's (2013) correction: without it, V of two unrelated columns with many
categories is far above 0, and a release that lost the relation would seem to keep it. A number
beside a category is cut at the original's deciles. Each is over the records that have both values.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.base import Better, Group, Measure, Measured, Takes, figures, result_in
from microveil.measures.distributions import decile_levels
from microveil.measures.moments import rank_correlations
from microveil.measures.opening import Columns, Tables, present_codes
from microveil.measures.values import Floats, Whole, drawn
from microveil.table.threads import in_threads
from microveil.text import shortened
from microveil.text.document import Block, items

# Of more records so many are drawn: a correlation of them is off by 0.01 at most, 95 % of the time.
SAMPLED = 50_000
# Pairs grow with the square of this: 4,950 take seconds.
MOST_COLUMNS = 100
# A weaker one is no relation. One is kept within the larger of a fixed and a relative change.
WEAKEST, KEPT, KEPT_SHARE = 0.1, 0.1, 0.3
ROUNDING = 1e-9
STRONGEST = 3
# Larger tables of counts are not laid out: their records are sorted.
MOST_CELLS = 1 << 18
RANK, CRAMER = "rank correlation", "Cramér's V"
Strengths = dict[tuple[str, str], float]
Levels = dict[str, Whole]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Two columns and how strongly they are related, before and after."""

    columns: tuple[str, str]
    measure: str  # "rank correlation" or "Cramér's V"
    original: float
    release: float  # 0 where it is not defined, as beside a constant

    def __repr__(self) -> str:
        """Show no figure: notebooks print it."""
        return "Relation(for the custodian)"

    def __str__(self) -> str:
        """Name the columns and both strengths."""
        one, other = map(shortened, self.columns)
        strengths = self.original, self.release
        before, after = (f"{value:.2f}".replace("-0.00", "0.00") for value in strengths)
        return f"'{one}' and '{other}' {before}, now {after} ({self.measure})"

    @property
    def is_kept(self) -> bool:
        """Whether the release's is within 0.1 or 30 % of the original's; a reversed one is not."""
        allowed = max(KEPT, KEPT_SHARE * abs(self.original))
        return abs(self.release - self.original) <= allowed + ROUNDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """How many relations of the original a release keeps."""

    n_pairs: int  # whose strength in the original is above 0.1
    n_kept: int
    strongest: tuple[Relation, ...]  # the original's three, the strongest first
    n_records: int  # looked at: all of up to 50,000, and of more so many at random
    is_sampled: bool
    n_columns: int  # looked at, the first 100 at most
    n_all: int

    def __repr__(self) -> str:
        """Show no figure: notebooks print it."""
        return "Relations(for the custodian)"

    @property
    def lines(self) -> tuple[str, ...]:
        """How many are kept, and the strongest before and after, in words."""
        if not self.n_pairs:
            return (f"Pairs kept: no two {self.scope} are related in the original.",)
        kept = (
            f"Pairs kept: {self.n_kept} of {self.n_pairs} pairs of {self.scope} that are related "
            "in the original (above 0.1; kept: within 0.1 or 30 % of that)."
        )
        return kept, f"Strongest relations: {'; '.join(map(str, self.strongest))}."

    @property
    def scope(self) -> str:
        """Say which columns and records were looked at."""
        columns = "columns"
        if self.n_columns < self.n_all:
            columns = f"the first {self.n_columns} of {self.n_all} columns"
        return f"{columns} (by {self.n_records:,} sampled records)" if self.is_sampled else columns

    @property
    def percent_kept(self) -> float:
        """Kept pairs in percent; NaN where there are none to keep."""
        return 100 * self.n_kept / self.n_pairs if self.n_pairs else math.nan

    @classmethod
    def of(cls, contents: Mapping[str, Any]) -> "Relations":
        """Read what `to_dict` makes, also from JSON."""
        strongest = (
            Relation(**{**one, "columns": tuple(one["columns"])}) for one in contents["strongest"]
        )
        return cls(**{**contents, "strongest": tuple(strongest)})


def sampled_records(n_records: int) -> Whole | None:
    """Return which records relations are looked for in, always the same; None for all of them."""
    if n_records <= SAMPLED:
        return None
    return drawn(n_records, SAMPLED, np.random.Generator(np.random.PCG64(0)))


def _sampled(tables: Tables) -> tuple[Columns, Columns, Collection[str], int]:
    """Return the records of both tables in which relations are looked for."""
    sides = []
    for side, table in enumerate((tables.original, tables.protected)):
        chosen = sampled_records(len(table))
        rows = slice(None) if chosen is None else chosen
        taken = table[rows]
        found = {name: taken[:, a] for a, name in enumerate(tables.names)}
        for name, codes in tables.texts.items():
            ranks = tables.ranks.get(name)
            found[name] = present_codes(codes, side)[rows] if ranks is None else ranks[side][rows]
        sides.append(found)
    nominal = tables.nominal | (tables.texts.keys() - tables.ranks.keys())
    return sides[0], sides[1], nominal, len(tables.original)


def _compared(
    original: Mapping[str, Floats],
    protected: Mapping[str, Floats],
    nominal: Collection[str],
    n_records: int,
) -> Relations:
    """Compare the relations of records of two tables: numbers, ranks or codes; NaN is missing."""
    names = list(original)[:MOST_COLUMNS]
    sides = [{name: side[name] for name in names} for side in (original, protected)]
    ordered = [name for name in names if name not in nominal]
    strengths = [_rank_correlations(side, ordered) for side in sides]
    others = [pair for pair in combinations(names, 2) if not set(pair) <= set(ordered)]
    if others:
        for known, levels in zip(strengths, _levels(sides, ordered), strict=True):
            both = [(levels[one], levels[other]) for one, other in others]
            n_values = len(others) * len(levels[names[0]])
            found = in_threads(lambda codes: _cramers_v(*codes), both, n_values)
            known.update(zip(others, found, strict=True))
    pairs = [
        Relation(
            columns=pair,
            measure=RANK if set(pair) <= set(ordered) else CRAMER,
            original=before,
            release=0.0 if math.isnan(after := strengths[1][pair]) else after,
        )
        for pair in combinations(names, 2)
        if abs(before := strengths[0][pair]) > WEAKEST
    ]
    pairs.sort(key=lambda relation: -abs(relation.original))
    n_sampled = len(original[names[0]]) if names else 0
    return Relations(
        n_pairs=len(pairs),
        n_kept=sum(pair.is_kept for pair in pairs),
        strongest=tuple(pairs[:STRONGEST]),
        n_records=n_sampled,
        is_sampled=n_sampled < n_records,
        n_columns=len(names),
        n_all=len(original),
    )


def _rank_correlations(side: Mapping[str, Floats], names: Sequence[str]) -> Strengths:
    """Return Spearman's correlation of each pair of columns that have an order."""
    if len(names) < 2:
        return {}
    matrix = rank_correlations(np.column_stack([side[name] for name in names]))
    return {
        (one, other): float(matrix[a, b])
        for (a, one), (b, other) in combinations(enumerate(names), 2)
    }


def _levels(sides: Sequence[Mapping[str, Floats]], ordered: Collection[str]) -> list[Levels]:
    """Return deciles and codes of both tables' columns, -1 where a cell is missing."""
    levels: list[Levels] = [{}, {}]
    for name in sides[0]:
        both = [side[name] for side in sides]
        if name in ordered:
            cut: Sequence[NDArray[Any]] = decile_levels(both[0], both[1])
        else:
            codes = np.unique(np.concatenate(both), return_inverse=True)[1]
            cut = np.split(codes, [len(both[0])])
        for known, values, level in zip(levels, both, cut, strict=True):
            known[name] = np.where(np.isnan(values), -1, level.astype(np.int64))
    return levels


def _cramers_v(one: Whole, other: Whole) -> float:
    """Return Cramér's V of codes, -1 where missing, by Bergsma's correction; NaN of a constant."""
    present = (one >= 0) & (other >= 0)
    if not present.all():
        one, other = one[present], other[present]
    if not len(one):
        return math.nan
    n, rows, columns = len(one), np.bincount(one), np.bincount(other)
    r, c = np.count_nonzero(rows), np.count_nonzero(columns)
    if min(r, c) < 2:
        return math.nan
    cells: Whole = one * len(columns) + other
    if len(rows) * len(columns) > MOST_CELLS:
        cells, counts = np.unique(cells, return_counts=True)
    else:
        counts = np.bincount(cells)
        cells = np.flatnonzero(counts)
        counts = counts[cells]
    by_margins = (
        counts.astype(np.float64) ** 2 / rows[cells // len(columns)] / columns[cells % len(columns)]
    )
    squares = float(by_margins.sum()) - 1
    by_chance = (r - 1) * (c - 1) / (n - 1)
    most = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return min(1.0, math.sqrt(max(0.0, squares - by_chance) / most)) if most > 0 else 0.0


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show how many pairs are kept, and the strongest before and after."""
    relations = result_in(found, Relations)
    strongest = () if relations is None else relations.strongest
    return (*figures(found), *([items(map(str, strongest))] if strongest else []))


RELATIONS = Group(title="Relations between columns", show=_show)


PAIRS_KEPT = Measure(
    id="pairs_kept",
    label="pairs kept",
    scale="of pairs whose rank correlation or Cramér's V is above 0.1 in the original",
    explanation="100 = each is within 0.1 or 30 % of the original's",
    unit="%",
    highest=100.0,
    function=_compared,
    takes=Takes(_sampled),
    needs_pairs=False,
    better=Better.HIGHER,
    figure=attrgetter("percent_kept"),
    group=RELATIONS,
    entry="relations",
)
MEASURES = (PAIRS_KEPT,)
