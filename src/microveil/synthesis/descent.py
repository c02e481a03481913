"""The model nearest to target tables, by entropic mirror descent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.synthesis.junction_tree import junction_tree
from microveil.synthesis.model import Layout, Model, Place, Scope

__all__ = ["nearest_model"]

Real = NDArray[np.float64]
# A step that comes nearer is made so much longer, one that does not so much shorter.
LONGER, SHORTER = 1.2, 0.5
# A squared distance at which every share is met to one record in a thousand million.
REACHED = 1e-18


def nearest_model(
    sizes: Sequence[int],
    targets: Mapping[Scope, Real],
    factors: Mapping[Scope, Real],
    steps: int,
    tolerance: float = 1e-7,
) -> tuple[Model, dict[Scope, Real]]:
    """Fit a model to target tables: least squares by entropic mirror descent.

    Targets that contradict each other have no model; the squared distance to them has a minimum
    all the same, where proportional fitting would run on for ever.

    Parameters
    ----------
    sizes : sequence of int
        Bins of each attribute.
    targets : mapping of float64 arrays
        By scope a table of probabilities, axes as the scope has them.
    factors : mapping of float64 arrays
        Where to begin: by scope the logarithm of a factor of the distribution.
    steps : int
        At most.
    tolerance : float
        Ends where a step takes off less of the squared distance, relatively, or where the
        targets are met.

    Returns
    -------
    Model
    dict of float64 arrays
        The logarithms of the factors at the end.

    Notes
    -----
    A step costs a few passes over all cells of the junction tree.

    Examples
    --------
    >>> target = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> model, _ = nearest_model([2, 2], {(0, 1): target}, {(0, 1): np.zeros((2, 2))}, 200)
    >>> model.margin((0, 1)).round(3)
    array([[0.4, 0.1],
           [0.1, 0.4]])
    """
    layout = Layout(sizes=tuple(sizes), tree=junction_tree(sizes, targets))
    descent = _Descent.towards(targets, layout)
    current = dict(factors)
    model = descent.model(current)
    gaps = descent.gaps(model)
    distance, step = _squares(gaps), 1.0
    for _ in range(steps):
        if distance <= REACHED:
            break
        trial = {scope: factor - step * gaps[scope] for scope, factor in current.items()}
        next_model = descent.model(trial)
        next_gaps = descent.gaps(next_model)
        next_distance = _squares(next_gaps)
        if next_distance > distance:
            step *= SHORTER
            continue
        is_done = distance - next_distance <= tolerance * distance
        current, model, gaps, distance = trial, next_model, next_gaps, next_distance
        step *= LONGER
        if is_done:
            break
    return model, current


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Descent:
    """What stays the same from step to step.

    Attributes
    ----------
    layout : Layout
    targets : mapping of float64 arrays
    hosts : mapping of (int, Place)
        Of each table that is in no other table its clique, and its place there.
    within : mapping of (tuple of int, Place)
        Of each other one a table that holds it, and its place there.
    """

    layout: Layout
    targets: Mapping[Scope, Real]
    hosts: Mapping[Scope, tuple[int, Place]]
    within: Mapping[Scope, tuple[Scope, Place]]

    @classmethod
    def towards(cls, targets: Mapping[Scope, Real], layout: Layout) -> "_Descent":
        """Find where each table lies: sums over a table are shorter than over its clique."""
        within = {
            scope: (wider, Place.of(scope, wider, layout.sizes))
            for scope in targets
            if (wider := _wider(scope, targets)) is not None
        }
        hosts = layout.hosts([scope for scope in targets if scope not in within])
        return cls(layout=layout, targets=targets, hosts=hosts, within=within)

    def model(self, factors: Mapping[Scope, Real]) -> Model:
        """Multiply the factors, of which the logarithms are given, and calibrate."""
        sizes = self.layout.sizes
        widest = {scope: factors[scope] for scope in self.hosts}
        for scope, (wider, place) in self.within.items():
            widest[wider] = widest[wider] + place.wide(factors[scope])
        logs = [np.zeros([sizes[one] for one in clique]) for clique in self.layout.tree.cliques]
        for scope, factor in widest.items():
            host, place = self.hosts[scope]
            log = logs[host]
            log += place.wide(factor)
        for log in logs:
            np.exp(np.subtract(log, log.max(), out=log), out=log)
        return self.layout.calibrated(logs)

    def gaps(self, model: Model) -> dict[Scope, Real]:
        """Take what each table should be off what it is."""
        tables = {
            scope: place.margin(model.beliefs[host]) for scope, (host, place) in self.hosts.items()
        }
        for scope, (wider, place) in self.within.items():
            tables[scope] = place.margin(tables[wider])
        return {scope: tables[scope] - target for scope, target in self.targets.items()}


def _wider(scope: Scope, targets: Mapping[Scope, Real]) -> Scope | None:
    """Find a table that has more attributes than these, and no other has still more."""
    wider = [other for other in targets if set(scope) < set(other)]
    return max(wider, key=len, default=None)


def _squares(gaps: Mapping[Scope, Real]) -> float:
    return sum(float(np.vdot(gap, gap)) for gap in gaps.values())
