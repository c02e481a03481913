"""Tables of a new table's attributes, chosen and measured one after the other."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

import numpy as np

from microveil.noise.counts import CountNoise
from microveil.noise.exponential import draw_run
from microveil.noise.noise import RandomSource
from microveil.synthesis.counter import Counter
from microveil.synthesis.fitting import FEW, Fitting
from microveil.synthesis.measurements import NoisyCounts, Real, Scope, Whole
from microveil.synthesis.model import junction_tree

__all__ = ["TablesPlan", "choose_and_measure"]

# Scores are whole numbers of such parts of a record.
SCORE_BITS = 16
# Cells of the junction tree's tables, all together: what a machine fits in seconds.
MOST_CELLS = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesPlan:
    """Which tables may be chosen, how, and with which noise they are measured.

    Of ``n_tables`` at most the first ``n_edges`` join what is not yet joined: a tree. ``rate`` is
    that of the exponential mechanism that chooses each. An attribute with cuts has so many
    ``parts`` at most; every table has the ``target``, an attribute's position. For ``halves`` see
    `Measurements`.
    """

    n_tables: int
    n_edges: int
    rate: Fraction
    noise: CountNoise
    parts: int
    target: int | None = None
    halves: dict[int, int | None] = field(default_factory=dict)


def choose_and_measure(
    plan: TablesPlan,
    counter: Counter,
    fitting: Fitting,
    source: RandomSource,
    progress: Callable[[str], None],
) -> dict[Scope, NoisyCounts]:
    """Choose and measure all tables that the plan has a budget for, one after the other."""
    scopes = _scopes(plan, fitting)
    counts = dict(zip(scopes, counter.pairs(scopes), strict=True))
    found: dict[Scope, NoisyCounts] = {}
    joined = {one: one for one in range(len(fitting.axes))}
    for number in range(plan.n_tables):
        progress(f"choosing pair {number + 1} of {plan.n_tables}")
        expected = _independent(fitting, scopes, joined) if number < plan.n_edges else {}
        if not expected and plan.target is None:
            expected = _fitted(fitting, scopes, found)
        if not expected:
            break
        scope = _chosen(plan, counts, expected, fitting.n_records, source)
        found[scope] = NoisyCounts.of(counts[scope], plan.noise, source)
        first, second = (joined[one] for one in scope[-2:])
        joined = {one: first if group == second else group for one, group in joined.items()}
    return found


def _scopes(plan: TablesPlan, fitting: Fitting) -> list[Scope]:
    """List what may be measured: every pair, each with the target where there is one.

    Not one of more cells than a model takes: of lists of hundreds of categories it would be
    noise. How many bins there are is known from what was measured.
    """
    sizes, target = [axis.n_bins for axis in fitting.axes], plan.target
    others = [one for one in range(len(sizes)) if one != target]
    scopes: list[Scope] = list(combinations(others, 2))
    if target is not None:
        scopes = [(target, *pair) for pair in scopes] or [(target, others[0])]
    return [scope for scope in scopes if math.prod(sizes[one] for one in scope) <= MOST_CELLS]


def _independent(
    fitting: Fitting, scopes: Sequence[Scope], joined: Mapping[int, int]
) -> dict[Scope, Real]:
    """Expect independence of the pairs that join two parts of the tree."""
    masses = fitting.masses({})
    return {
        scope: np.outer(masses[scope[-2]], masses[scope[-1]])
        for scope in scopes
        if joined[scope[-2]] != joined[scope[-1]]
    }


def _fitted(
    fitting: Fitting, scopes: Sequence[Scope], found: Mapping[Scope, NoisyCounts]
) -> dict[Scope, Real]:
    """Expect what the model of the tables so far says, of pairs that it can still take."""
    sizes = [axis.n_bins for axis in fitting.axes]
    tree = junction_tree(sizes, found)
    open_scopes = [
        (one, other)
        for one, other in scopes
        if (one, other) not in found and tree.cells_with(one, other) <= MOST_CELLS
    ]
    return fitting.fit(found, steps=FEW)[0].pairs(open_scopes) if open_scopes else {}


def _chosen(
    plan: TablesPlan,
    counts: Mapping[Scope, Whole],
    expected: Mapping[Scope, Real],
    n_records: int,
    source: RandomSource,
) -> Scope:
    """Choose the table that is farthest from what is expected, by the exponential mechanism.

    The score is the sum of |counts - expected| in parts of a record, less what noise alone
    would add: one record replaced moves it by 2 at most, whatever the expectation is.
    """
    scopes, losses = list(expected), []
    for scope in scopes:
        public = _public(expected[scope], n_records)
        score = _score(counts[scope], public)
        # Of a table with a target the noise of its slices adds up in squares.
        slices = counts[scope].size / public.size
        noise = public.size * math.sqrt(slices) * plan.noise.magnitude
        bias = round(noise * (1 << SCORE_BITS))
        losses.append(Fraction(bias - score, 4 << SCORE_BITS))
    least = min(losses)
    return scopes[draw_run([loss - least for loss in losses], [1] * len(losses), plan.rate, source)]


def _public(expected: Real, n_records: int) -> Whole:
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
