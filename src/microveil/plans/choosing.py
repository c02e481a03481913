"""Tables of a new table's attributes, chosen and measured one after the other."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Binned = Any
Engine = Any
from microveil.noise.counts import CountNoise
from microveil.noise.exponential import draw_run
from microveil.noise.noise import RandomSource
from microveil.synthesis.axes import Axis
from microveil.synthesis.fitting import FEW, Fitting
from microveil.synthesis.junction_tree import junction_tree
from microveil.synthesis.measurements import NoisyCounts

__all__ = ["Choosing", "TablesPlan", "noisy_counts"]

Whole = NDArray[np.int64]
Scope = tuple[int, ...]
# Scores are whole numbers of such parts of a record.
SCORE_BITS = 16
# Cells of the junction tree's tables, all together: what a machine fits in seconds.
MOST_CELLS = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesPlan:
    """Which tables may be chosen, how, and with which noise they are measured.

    Attributes
    ----------
    n_tables : int
        How many, at most.
    n_edges : int
        So many of them, the first, join what is not yet joined: a tree.
    rate : Fraction
        Of the exponential mechanism that chooses each.
    noise : CountNoise
    parts : int
        So many parts an attribute with cuts has, at most.
    target : int or None
        The position of the attribute that every table has.
    halves : dict of int or None
        See `Measurements`.
    """

    n_tables: int
    n_edges: int
    rate: Fraction
    noise: CountNoise
    parts: int
    target: int | None = None
    halves: dict[int, int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choosing:
    """Tables chosen and measured one after the other."""

    plan: TablesPlan
    engine: Engine
    binned: Sequence[Binned]
    axes: Sequence[Axis]
    fitting: Fitting
    source: RandomSource
    progress: Callable[[str], None]

    def measured(self) -> dict[Scope, NoisyCounts]:
        """Choose and measure all tables that the plan has a budget for."""
        scopes = self._scopes()
        counts = dict(zip(scopes, self.engine.cross_counts(self.binned, scopes), strict=True))
        found: dict[Scope, NoisyCounts] = {}
        joined = {one: one for one in range(len(self.axes))}
        for number in range(self.plan.n_tables):
            self.progress(f"choosing pair {number + 1} of {self.plan.n_tables}")
            expected = self._independent(scopes, joined) if number < self.plan.n_edges else {}
            if not expected and self.plan.target is None:
                expected = self._fitted(scopes, found)
            if not expected:
                break
            scope = self._chosen(counts, expected)
            found[scope] = noisy_counts(counts[scope], self.plan.noise, self.source)
            first, second = (joined[one] for one in scope[-2:])
            joined = {one: first if group == second else group for one, group in joined.items()}
        return found

    def _scopes(self) -> list[Scope]:
        """List what may be measured: every pair, each with the target where there is one.

        Not one of more cells than a model takes: of lists of hundreds of categories it would be
        noise. How many bins there are is known from what was measured.
        """
        target = self.plan.target
        others = [one for one in range(len(self.axes)) if one != target]
        scopes: list[Scope] = list(combinations(others, 2))
        if target is not None and len(others) > 1:
            scopes = [(target, *pair) for pair in scopes]
        elif target is not None:
            scopes = [(target, others[0])]
        sizes = [axis.n_bins for axis in self.axes]
        return [scope for scope in scopes if math.prod(sizes[one] for one in scope) <= MOST_CELLS]

    def _independent(
        self, scopes: Sequence[Scope], joined: dict[int, int]
    ) -> dict[Scope, NDArray[np.float64]]:
        """Expect independence of the pairs that join two parts of the tree."""
        masses = self.fitting.masses({})
        return {
            scope: np.outer(masses[scope[-2]], masses[scope[-1]])
            for scope in scopes
            if joined[scope[-2]] != joined[scope[-1]]
        }

    def _fitted(
        self, scopes: Sequence[Scope], found: dict[Scope, NoisyCounts]
    ) -> dict[Scope, NDArray[np.float64]]:
        """Expect what the model of the tables so far says, of pairs that it can still take."""
        sizes = [axis.n_bins for axis in self.axes]
        tree = junction_tree(sizes, found)
        open_scopes = [
            (one, other)
            for one, other in scopes
            if (one, other) not in found and tree.cells_with(one, other, sizes) <= MOST_CELLS
        ]
        if not open_scopes:
            return {}
        return self.fitting.fit(found, steps=FEW).model.pairs(open_scopes)

    def _chosen(
        self,
        counts: dict[Scope, Whole],
        expected: dict[Scope, NDArray[np.float64]],
    ) -> Scope:
        """Choose the table that is farthest from what is expected, by the exponential mechanism.

        The score is the sum of |counts - expected| in parts of a record, less what noise alone
        would add: one record replaced moves it by 2 at most, whatever the expectation is.
        """
        scopes = list(expected)
        losses = []
        for scope in scopes:
            public = _public(expected[scope], self.fitting.n_records)
            score = _score(counts[scope], public)
            # Of a table with a target the noise of its slices adds up in squares.
            slices = counts[scope].size / public.size
            noise = public.size * math.sqrt(slices) * self.plan.noise.magnitude
            bias = round(noise * (1 << SCORE_BITS))
            losses.append(Fraction(bias - score, 4 << SCORE_BITS))
        least = min(losses)
        chosen = draw_run(
            [loss - least for loss in losses], [1] * len(losses), self.plan.rate, self.source
        )
        return scopes[chosen]


def _public(expected: NDArray[np.float64], n_records: int) -> Whole:
    """Make whole numbers of what is expected, in parts of a record.

    They hold at most twice as many records as there are, whatever is expected: so no sum of
    distances to them overflows, and the score moves by no more than it is said to.
    """
    shares = np.clip(expected, 0.0, 1.0)
    if not float(shares.sum()) <= 2.0:  # no number counts as too much
        shares = np.nan_to_num(shares)
        shares /= max(1.0, float(shares.sum()))
    return np.rint(shares * float(n_records) * (1 << SCORE_BITS)).astype(np.int64)


def _score(counts: Whole, public: Whole) -> int:
    """Sum |counts - public| over a pair's cells; over a target's too, what is public spread."""
    if counts.ndim == public.ndim:
        return int(np.abs((counts << SCORE_BITS) - public).sum())
    return int(np.abs((counts << SCORE_BITS).sum(axis=0) - public).sum())


def noisy_counts(counts: Whole, noise: CountNoise, source: RandomSource) -> NoisyCounts:
    """Add noise to counts; what comes back may be published."""
    return NoisyCounts(
        steps=noise.added(counts, source),
        bits=noise.bits,
        variance=noise.variance,
        is_gaussian=noise.is_gaussian,
    )
