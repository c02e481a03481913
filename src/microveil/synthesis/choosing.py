"""Which tables of pairs are measured, and with how much of the budget: one chosen after the other.

By the exponential mechanism, of the exact counts of all that may be measured; the noisy counts of
those that were chosen are all that comes back.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from microveil.noise.counts import CountNoise, NoisyCounts
from microveil.noise.exponential import draw_run
from microveil.noise.noise import RandomSource
from microveil.schema import Attribute
from microveil.synthesis.fitting import FEW, MOST_CELLS, Fitting
from microveil.synthesis.measurements import Real, Scope, Whole
from microveil.synthesis.measuring import Counter
from microveil.synthesis.model import junction_tree

# Scores are whole numbers of such parts of a record.
SCORE_BITS = 16
# Of what noise would add to a table's score so much is taken off: all of it kept tables of many
# cells from being measured that say much all the same, once noise is shrunk away. Of 1, 1/2, 1/4
# and 0 a half did best on five simulated tables.
OF_NOISE = 0.5
# A table spends in proportion to its cells to this power, which makes the sum of errors of counts
# least; never less than one in so many of what each would spend of equal shares.
OF_CELLS, LEAST_SHARE = 2 / 3, 16
# Shares are whole numbers of such parts of an equal share.
SHARE_BITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesPlan:
    """Which tables may be chosen, how, and with which noise they are measured.

    Of ``n_tables`` at most the first ``n_edges`` join what is not yet joined: a tree. ``rate`` is
    that of the exponential mechanism that chooses each, ``noise`` what there would be on each if
    all spent alike: see `Shares`. An attribute with cuts has so many
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

    def half(self, number: int, planned: Attribute, learnt: Attribute) -> dict[int, int | None]:
        """Return where an attribute is cut in two, if it is, in steps that were learnt."""
        if number not in self.halves:
            return {}
        at = self.halves[number]
        return {number: at and math.ceil(at * planned.resolution / learnt.resolution)}


@dataclass(frozen=True, slots=True)
class Shares:
    """What tables may still spend, by their public sizes: all together never more than was planned.

    In parts of what each would spend of equal shares: ``left`` of ``n_left`` tables. ``weights``
    are those of all tables that may be chosen, of mean 1.
    """

    left: int
    n_left: int
    weights: Mapping[Scope, float]

    @classmethod
    def of(cls, n_tables: int, cells: Mapping[Scope, int]) -> "Shares":
        """Return the shares of so many tables, chosen of some with so many cells."""
        powers = {scope: own**OF_CELLS for scope, own in cells.items()}
        mean = sum(powers.values()) / max(len(powers), 1)
        weights = {scope: power / mean for scope, power in powers.items()}
        return cls(n_tables << SHARE_BITS, n_tables, weights)

    def share(self, scope: Scope) -> Fraction:
        """Return what a table spends if it is next; the last one all that is left."""
        return Fraction(self._parts(scope), 1 << SHARE_BITS)

    def without(self, scope: Scope) -> "Shares":
        """Return what is left once a table has spent its share."""
        return replace(self, left=self.left - self._parts(scope), n_left=self.n_left - 1)

    def _parts(self, scope: Scope) -> int:
        least = (1 << SHARE_BITS) // LEAST_SHARE
        most = self.left - (self.n_left - 1) * least
        if self.n_left == 1:
            return most
        return min(max(round(self.left / self.n_left * self.weights[scope]), least), most)


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
    shares = Shares.of(plan.n_tables, {scope: own.size for scope, own in counts.items()})
    found: dict[Scope, NoisyCounts] = {}
    joined = {one: one for one in range(len(fitting.axes))}
    for number in range(plan.n_tables):
        progress(f"choosing pair {number + 1} of {plan.n_tables}")
        expected = _independent(fitting, scopes, joined) if number < plan.n_edges else {}
        if not expected and plan.target is None:
            expected = _fitted(fitting, scopes, found)
        if not expected:
            break
        noises = {scope: plan.noise.spending(shares.share(scope)) for scope in expected}
        scope = _chosen(plan.rate, noises, counts, expected, fitting.n_records, source)
        found[scope] = NoisyCounts.of(counts[scope], noises[scope], source)
        shares = shares.without(scope)
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
    tree = junction_tree(sizes, [*found, *fitting.possible_cells(found)])
    open_scopes = [
        (one, other)
        for one, other in scopes
        if (one, other) not in found and tree.cells_with(one, other) <= MOST_CELLS
    ]
    return fitting.fit(found, steps=FEW)[0].pairs(open_scopes) if open_scopes else {}


def _chosen(
    rate: Fraction,
    noises: Mapping[Scope, CountNoise],
    counts: Mapping[Scope, Whole],
    expected: Mapping[Scope, Real],
    n_records: int,
    source: RandomSource,
) -> Scope:
    """Choose the table that is farthest from what is expected, by the exponential mechanism.

    The score is the sum of |counts - expected| in parts of a record, less a part of what noise
    alone would add: one record replaced moves it by 2 at most, whatever the expectation is.
    """
    scopes, losses = list(expected), []
    for scope in scopes:
        public = _public(expected[scope], n_records)
        score = _score(counts[scope], public)
        # Of a table with a target the noise of its slices adds up in squares.
        slices = counts[scope].size / public.size
        noise = public.size * math.sqrt(slices) * noises[scope].magnitude
        bias = round(OF_NOISE * noise * (1 << SCORE_BITS))
        losses.append(Fraction(bias - score, 4 << SCORE_BITS))
    least = min(losses)
    return scopes[draw_run([loss - least for loss in losses], [1] * len(losses), rate, source)]


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
