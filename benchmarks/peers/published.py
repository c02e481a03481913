"""AIM's published rules, with an inference in numpy that ends where stock AIM does not.

McKenna, Mullins, Sheldon and Miklau, "AIM: An Adaptive and Iterative Mechanism for Differentially
Private Synthetic Data" (2022), sections 3 and 4, for the workload of all pairs, with one record
replaced. Its one-way tables are those that are known. For comparison only: its noise is drawn in
floating point and protects nobody.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import polars
from numpy.typing import NDArray

from benchmarks.peers.bins import Bins
from microveil.synthesis.generation import drawn_bins
from microveil.synthesis.measurements import Scope
from microveil.synthesis.model import JunctionTree, Model, junction_tree, widened

Real = NDArray[np.float64]
# Rounds that the first shares of the budget would do for, by attribute, and the tables' part.
ROUNDS, TABLES = 16, 0.9
# Cells of the junction tree once all of the budget is spent.
MOST_CELLS = 1 << 20
# Steps of the descent in a round, and at the end; it ends where one takes off less, relatively.
STEPS, LAST_STEPS, TOLERANCE = 100, 1000, 1e-6


@dataclass(slots=True, kw_only=True)
class Measured:
    """All measurements of one table, as their mean weighted by the inverse of their variances."""

    counts: Real
    precision: Real

    def add(self, counts: Real, variance: float) -> None:
        """Take in one more."""
        total = self.counts * self.precision + counts / variance
        self.precision = self.precision + 1 / variance
        self.counts = total / self.precision


@dataclass(kw_only=True)
class Inference:
    """The model nearest to all measurements, each round beginning where the last one ended."""

    sizes: Sequence[int]
    n_records: int
    measured: dict[Scope, Measured]
    logs: dict[Scope, Real] = field(default_factory=dict)

    def fitted(self, steps: int) -> Model:
        """Descend to the least squares, each weighted by its precision (entropic mirror)."""
        layout = junction_tree(self.sizes, self.measured)
        hosts = {scope: layout.host(scope) for scope in self.measured}
        for scope, found in self.measured.items():
            is_own = len(scope) == 1
            start = np.log(np.maximum(found.counts, 0.5)) if is_own else np.zeros_like(found.counts)
            self.logs.setdefault(scope, start)
        model = self._model(layout, hosts, self.logs)
        gaps, distance = self._gaps(model, hosts)
        step = 1 / max(float(found.precision.max()) for found in self.measured.values())
        step /= self.n_records
        for _ in range(steps):
            logs = {scope: log - step * gaps[scope] for scope, log in self.logs.items()}
            trial = self._model(layout, hosts, logs)
            next_gaps, next_distance = self._gaps(trial, hosts)
            if next_distance > distance:
                step *= 0.5
                continue
            is_done = distance - next_distance <= TOLERANCE * distance
            self.logs, model, gaps, distance = logs, trial, next_gaps, next_distance
            step *= 1.2
            if is_done:
                break
        return model

    def _model(
        self, layout: JunctionTree, hosts: Mapping[Scope, int], logs: Mapping[Scope, Real]
    ) -> Model:
        tables = [np.zeros([self.sizes[one] for one in clique]) for clique in layout.cliques]
        for scope, log in logs.items():
            host = hosts[scope]
            tables[host] += widened(log, scope, layout.cliques[host])
        return layout.calibrated([np.exp(table - table.max()) for table in tables])

    def _gaps(self, model: Model, hosts: Mapping[Scope, int]) -> tuple[dict[Scope, Real], float]:
        gaps, distance = {}, 0.0
        for scope, found in self.measured.items():
            off = model.clique_margin(hosts[scope], scope) * self.n_records - found.counts
            gaps[scope] = off * found.precision
            distance += float(np.vdot(off, gaps[scope]))
        return gaps, distance


@dataclass(frozen=True, kw_only=True)
class Step:
    """What a round may spend, with one record replaced.

    Attributes
    ----------
    rho : float
    """

    rho: float

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise on each count: a table moves by sqrt(2)."""
        return 1 / math.sqrt(TABLES * self.rho)

    @property
    def rate(self) -> float:
        """The epsilon of the choice."""
        return math.sqrt(8 * (1 - TABLES) * self.rho)

    def noise(self, cells: int) -> float:
        """Expect so much noise of a table, in the sum of absolute counts."""
        return math.sqrt(2 / math.pi) * self.deviation * cells


def all_tables(model: Model) -> dict[Scope, Real]:
    """Read the one-way tables and those of all pairs off a model."""
    found: dict[Scope, Real] = {}
    for one in range(len(model.tree.sizes)):
        found[(one,)] = model.margin((one,))
    return found | model.pairs([*combinations(range(len(model.tree.sizes)), 2)])


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The tables that may be measured: all pairs, and each attribute's own.

    Attributes
    ----------
    sizes : tuple of int
        Bins of each attribute.
    n_records : int
    exact : dict of float64 array
        The counts.
    weights : dict of int
        Of each table the attributes it shares with all pairs.
    """

    sizes: tuple[int, ...]
    n_records: int
    exact: Mapping[Scope, Real]
    weights: Mapping[Scope, int]

    @classmethod
    def of(cls, bins: Bins) -> "Workload":
        """Count all tables."""
        codes, sizes = list(bins.codes.values()), tuple(bins.sizes.values())
        pairs = list(combinations(range(len(sizes)), 2))
        scopes = [*((one,) for one in range(len(sizes))), *pairs]
        return cls(
            sizes=sizes,
            n_records=len(codes[0]),
            exact={scope: counted(scope, codes, sizes) for scope in scopes},
            weights={scope: sum(len({*scope} & {*pair}) for pair in pairs) for scope in scopes},
        )

    def chosen(
        self,
        before: Mapping[Scope, Real],
        step: Step,
        measured: Collection[Scope],
        room: float,
        random: np.random.Generator,
    ) -> Scope:
        """Choose by the exponential mechanism, among the tables that the model has room for.

        The score is how much farther a table is from the model's than its noise will be.
        """
        scores = {
            scope: weight
            * (np.abs(exact - before[scope] * self.n_records).sum() - step.noise(exact.size))
            for (scope, exact), weight in zip(
                self.exact.items(), self.weights.values(), strict=True
            )
            if scope in measured or sum(junction_tree(self.sizes, [*measured, scope]).cells) <= room
        }
        # The largest of scores with Gumbel noise is the exponential mechanism's choice; one record
        # replaced moves a score by 2 of its weight.
        spread = 2 * 2 * max(self.weights.values()) / step.rate
        return max(scores, key=lambda scope: scores[scope] + spread * random.gumbel())


def counted(scope: Scope, codes: Sequence[NDArray[np.int64]], sizes: Sequence[int]) -> Real:
    """Count the records of every cell of a table."""
    shape = [sizes[one] for one in scope]
    cells = np.ravel_multi_index([codes[one].astype(np.int64) for one in scope], shape)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape).astype(np.float64)


def aim(bins: Bins, rho: float) -> polars.DataFrame:
    """Spend rho in rounds, each choosing, measuring and fitting one more table.

    Where a round moves the model's table by less than noise is expected to, the next ones have
    four times the budget.
    """
    work, random = Workload.of(bins), np.random.default_rng()
    known = {
        (number,): Measured(counts=np.array(counts), precision=1 / np.square(deviations))
        for number, (counts, deviations) in enumerate(bins.known.values())
    }
    inference = Inference(sizes=work.sizes, n_records=work.n_records, measured=known)
    model = inference.fitted(STEPS)
    spent, share = 0.0, rho / (ROUNDS * len(work.sizes))
    while spent < rho:
        # The last round takes what is left, where that would do for no two.
        share = rho - spent if rho - spent <= 2 * share else share
        spent = rho if share == rho - spent else spent + share
        step, before = Step(rho=share), all_tables(model)
        room = MOST_CELLS * spent / rho
        chosen = work.chosen(before, step, inference.measured, room, random)
        exact = work.exact[chosen]
        noisy = exact + step.deviation * random.normal(size=exact.shape)
        nothing = Measured(counts=np.zeros(exact.shape), precision=np.zeros(exact.shape))
        inference.measured.setdefault(chosen, nothing).add(noisy, step.deviation**2)
        model = inference.fitted(STEPS)
        moved = np.abs(model.margin(chosen) - before[chosen]).sum() * work.n_records
        if moved <= step.noise(exact.size):
            share *= 4
    drawn = drawn_bins(inference.fitted(LAST_STEPS), work.n_records, random)
    return polars.DataFrame(dict(zip(bins.codes, drawn, strict=True)))
