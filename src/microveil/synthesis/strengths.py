"""The pairs of attributes that were measured, and how strongly their tables say they depend."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from microveil.synthesis.fitting import Fitting
from microveil.synthesis.measurements import Measurements
from microveil.synthesis.synthesis import axes_of

__all__ = ["MeasuredPair", "measured_pairs"]

Real = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredPair:
    """Two attributes that a measured table holds.

    Attributes
    ----------
    positions : (int, int)
        Of the attributes.
    noisy : float64 array (n_first, n_second)
        Shares of the records in each cell as they were measured, with their noise.
    shares : float64 array (n_first, n_second)
        The same with what is expected to be noise taken off: none negative; they sum to 1.
    scope : tuple of int
        The positions of the attributes of the table: these two, or a third beside.
    n_summed : int
        How many of its cells make one cell of the pair.
    """

    positions: tuple[int, int]
    noisy: Real
    shares: Real
    scope: tuple[int, ...]
    n_summed: int

    @property
    def strength(self) -> float:
        """Total variation distance of the table from independence: 0 is none, 1 is never reached.

        >>> diagonal = np.diag([0.5, 0.5])
        >>> MeasuredPair(
        ...     positions=(0, 1), noisy=diagonal, shares=diagonal, scope=(0, 1), n_summed=1
        ... ).strength
        0.5
        """
        apart = np.outer(self.shares.sum(axis=1), self.shares.sum(axis=0))
        return float(np.abs(self.shares - apart).sum() / 2)


def measured_pairs(measurements: Measurements) -> tuple[MeasuredPair, ...]:
    """Return the pairs of attributes that some measured table holds, the strongest first.

    Parameters
    ----------
    measurements : Measurements

    Returns
    -------
    tuple of MeasuredPair
        A function of what was measured alone: as publishable as that.

    Notes
    -----
    A table of three attributes holds three pairs, each with the sums over the third. Of a pair
    that several tables hold, the one that sums up the fewest cells is taken.
    """
    axes = axes_of(measurements.attributes, measurements.parts, measurements.halves)
    fitting = Fitting(
        n_records=measurements.n_records, attributes=measurements.attributes, axes=axes
    )
    targets, _ = fitting.targets(measurements.tables)
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
