"""From noisy tables to one distribution over all attributes, and how strongly pairs depend."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from microveil.noise.counts import NoisyCounts
from microveil.synthesis.measurements import Measurements, Real, Scope
from microveil.synthesis.model import Mask, Model, nearest_model
from microveil.synthesis.one_way import AttributeMeasured
from microveil.synthesis.possible import Possible
from microveil.synthesis.tables import (
    Axis,
    axes_of,
    bin_masses,
    copula_table,
    fitted_correlation,
    nearest_table,
    proportionally_fitted,
    shrunk,
)

# Steps of descent: so few while tables are still being chosen, so many at the end.
FEW, MANY = 25, 300
# Cells of the junction tree's tables, all together: what a machine fits in seconds.
MOST_CELLS = 1 << 17
TINY = 1e-12
Correlations = dict[tuple[int, int], float]


@dataclass(slots=True, kw_only=True, eq=False)
class Fitting:
    """Fits models to more and more tables, from which noise is taken off where it ``shrinks``.

    Each fit begins where the last one ended. ``_targets`` keeps what was estimated of a table: most
    attributes' shares stay what they were when one more table is known.
    """

    n_records: int
    attributes: Sequence[AttributeMeasured]
    axes: Sequence[Axis]
    shrinks: bool = True
    possible: Possible | None = None
    _factors: dict[Scope, Real] = field(default_factory=dict)
    _targets: dict[tuple[Scope, tuple[bytes, ...]], tuple[Real, float | None]] = field(
        default_factory=dict
    )

    @classmethod
    def of(cls, measurements: Measurements, *, shrinks: bool = True) -> "Fitting":
        """Fit to the tables of measurements."""
        return cls(
            n_records=measurements.n_records,
            attributes=measurements.attributes,
            axes=(axes := axes_of(measurements)),
            shrinks=shrinks,
            possible=Possible.of(
                measurements.rules, measurements.attributes, axes, measurements.computed
            ),
        )

    def fit(
        self, tables: Mapping[Scope, NoisyCounts], *, steps: int = MANY
    ) -> tuple[Model, list[Real], Correlations]:
        """Fit a model to tables, in so many steps of descent at most.

        With it come the share of records in each bin of each attribute, and the correlations of the
        copulas of pairs of attributes with cuts that have a table.
        """
        targets, correlations = self.targets(tables)
        model, self._factors = nearest_model(
            [axis.n_bins for axis in self.axes],
            targets,
            self._start(targets),
            steps,
            possible=self.possible_cells(targets),
        )
        return model, [targets[one,] for one in range(len(self.axes))], correlations

    def targets(
        self, tables: Mapping[Scope, NoisyCounts]
    ) -> tuple[dict[Scope, Real], Correlations]:
        """Estimate what a model is fitted to: shares of each attribute and table; and copulas."""
        masses = self.masses(tables)
        targets: dict[Scope, Real] = {(one,): mass for one, mass in enumerate(masses)}
        correlations: Correlations = {}
        for scope, table in tables.items():
            own = [masses[one] for one in scope]
            key = scope, tuple(mass.tobytes() for mass in own)
            if key not in self._targets:
                self._targets[key] = self._target(scope, table, own)
            targets[scope], correlation = self._targets[key]
            if correlation is not None:
                correlations[scope[0], scope[1]] = correlation
        return targets, correlations

    def possible_cells(self, scopes: Iterable[Scope]) -> dict[Scope, Mask]:
        """Find the cells that rules leave of tables and of what they tie together, if not all."""
        return {} if self.possible is None else self.possible.zeros(scopes, MOST_CELLS)

    def masses(self, tables: Mapping[Scope, NoisyCounts]) -> list[Real]:
        """Estimate the share of records in each bin of each attribute."""
        return [
            self._without_zeros(
                (number,), bin_masses(number, axis, measured, tables, self.n_records)
            )
            for number, (axis, measured) in enumerate(zip(self.axes, self.attributes, strict=True))
        ]

    def _without_zeros(self, scope: Scope, shares: Real) -> Real:
        """Empty the cells that no record which holds the rules can be in."""
        if self.possible is None:
            return shares
        left = shares * self.possible.cells(scope)
        return np.asarray(left / max(float(left.sum()), TINY))

    def _target(
        self, scope: Scope, table: NoisyCounts, masses: Sequence[Real]
    ) -> tuple[Real, float | None]:
        """Take off a table what is expected to be noise, and give it the margins known."""
        shares = table.counts / self.n_records
        variance = table.variance / self.n_records**2 if self.shrinks else 0.0
        if len(scope) != 2:
            return self._without_zeros(scope, _of_three(shares, variance, masses)), None
        rows, columns = masses
        correlation, plain = None, np.outer(rows, columns)
        if all(self.axes[one].edges is not None for one in scope):
            correlation, plain = self._copula(scope, shares, rows, columns)
        found = nearest_table(shrunk(shares, plain, variance), rows, columns)
        if self.possible is None:
            return found, correlation
        # Zeros stay, and margins that are out of reach for them are left to the fit.
        left = self._without_zeros(scope, found)
        return proportionally_fitted(left, rows, columns, grains=(0.0,)), correlation

    def _copula(self, scope: Scope, shares: Real, rows: Real, columns: Real) -> tuple[float, Real]:
        """Fit a copula among the records that have both values; the rest are independent."""
        table = nearest_table(shares, rows, columns, steps=30)
        inner = tuple(slice(0, len(self.axes[one].ends) - 1) for one in scope)
        own, across = (
            mass[cut] / mass[cut].sum() for mass, cut in zip((rows, columns), inner, strict=True)
        )
        both = table[inner]
        correlation = fitted_correlation(both / max(both.sum(), TINY), own, across)
        plain = np.outer(rows, columns)
        plain[inner] = copula_table(own, across, correlation) * plain[inner].sum()
        return correlation, plain

    def _start(self, targets: Mapping[Scope, Real]) -> dict[Scope, Real]:
        """Begin where the tables of a tree are right, and new ones where the last fit was."""
        found: dict[Scope, Real] = {}
        for scope, target in targets.items():
            if scope in self._factors:
                found[scope] = self._factors[scope]
            elif len(scope) == 1:
                found[scope] = np.log(target + TINY)
            elif not self._factors:
                found[scope] = np.log(target + TINY)
                for axis in range(len(scope)):
                    away = tuple(other for other in range(len(scope)) if other != axis)
                    found[scope] -= np.log(target.sum(axis=away, keepdims=True) + TINY)
            else:
                found[scope] = np.zeros_like(target)
        return found


def _of_three(shares: Real, variance: float, masses: Sequence[Real]) -> Real:
    """Shrink a table of three attributes towards independence given the first."""
    first, second, third = masses
    with_second = nearest_table(shares.sum(axis=2), first, second)
    with_third = nearest_table(shares.sum(axis=1), first, third)
    plain = with_second[:, :, None] * with_third[:, None, :] / first[:, None, None]
    table = np.maximum(shrunk(shares, plain, variance), 0.0)
    return np.asarray(table / table.sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredPair:
    """Two attributes that a measured table holds, by their positions.

    ``noisy`` has the shares of the records in each cell as they were measured, ``shares`` the
    same with what is expected to be noise taken off. The table is of the attributes in ``scope``,
    a third one perhaps: so many of its cells make one cell of the pair.
    """

    positions: tuple[int, int]
    noisy: Real
    shares: Real
    scope: Scope
    n_summed: int

    @property
    def strength(self) -> float:
        """Total variation distance of the table from independence: 0 is none, 1 never reached."""
        apart = np.outer(self.shares.sum(axis=1), self.shares.sum(axis=0))
        return float(np.abs(self.shares - apart).sum() / 2)


def measured_pairs(measurements: Measurements) -> tuple[MeasuredPair, ...]:
    """Return the pairs of attributes that some measured table holds, the strongest first.

    A table of three attributes holds three pairs, each with the sums over the third. Of a pair
    that several tables hold, the one that sums up the fewest cells is taken.
    """
    targets, _ = Fitting.of(measurements).targets(measurements.tables)
    found: dict[tuple[int, int], MeasuredPair] = {}
    for scope, table in measurements.tables.items():
        for first, second in combinations(range(len(scope)), 2):
            others = tuple(one for one in range(len(scope)) if one not in (first, second))
            pair = MeasuredPair(
                positions=(scope[first], scope[second]),
                noisy=table.counts.sum(axis=others) / measurements.n_records,
                shares=targets[scope].sum(axis=others),
                scope=scope,
                n_summed=math.prod(table.steps.shape[one] for one in others),
            )
            known = found.get(pair.positions)
            if known is None or pair.n_summed < known.n_summed:
                found[pair.positions] = pair
    return tuple(sorted(found.values(), key=lambda pair: -pair.strength))
