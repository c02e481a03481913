"""A distribution over all attributes, as calibrated cliques, and the one nearest to tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from string import ascii_letters

import numpy as np
from numpy.typing import NDArray

from microveil.synthesis.junction_tree import JunctionTree, junction_tree

__all__ = ["Layout", "Model", "Place", "nearest_model"]

Real = NDArray[np.float64]
Scope = tuple[int, ...]
TINY = 1e-300
# A step that comes nearer is made so much longer, one that does not so much shorter.
LONGER, SHORTER = 1.2, 0.5
# A squared distance at which every share is met to one record in a thousand million.
REACHED = 1e-18
# The descent ends where a step takes off less of the squared distance, relatively.
TOLERANCE = 1e-7


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How a table of some of a clique's attributes lies in the clique's.

    ``sum`` is what einsum does to the clique's table to get that of the attributes, ``order``
    the table's axes as the clique has them, ``shape`` has an axis of 1 for each of the clique's
    that the table does not have.
    """

    sum: str
    order: tuple[int, ...]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, scope: Scope, members: Scope, sizes: Sequence[int]) -> "Place":
        """Find the place of a scope in a clique."""
        axes = tuple(members.index(one) for one in scope)
        return cls(
            sum=f"{_letters(range(len(members)))}->{_letters(axes)}",
            order=tuple(sorted(range(len(scope)), key=axes.__getitem__)),
            shape=tuple(sizes[one] if one in scope else 1 for one in members),
        )

    def margin(self, belief: Real) -> Real:
        """Sum a clique's table over what the scope does not have."""
        # Faster than a sum over axes of which the last are short.
        return np.asarray(np.einsum(self.sum, belief))

    def wide(self, table: Real) -> Real:
        """Shape a table of the scope so that it multiplies the clique's."""
        return table.transpose(self.order).reshape(self.shape)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """A junction tree of attributes of so many bins, and where everything lies in it."""

    sizes: tuple[int, ...]
    tree: JunctionTree

    @cached_property
    def separators(self) -> tuple[tuple[Place, Place] | None, ...]:
        """Of each clique what it shares with its parent: in itself, and in the parent."""
        cliques, found = self.tree.cliques, list[tuple[Place, Place] | None]()
        for number, parent in enumerate(self.tree.parents):
            if parent < 0:
                found.append(None)
                continue
            shared = self.tree.separator(number)
            own = Place.of(shared, cliques[number], self.sizes)
            found.append((own, Place.of(shared, cliques[parent], self.sizes)))
        return tuple(found)

    def hosts(self, scopes: Sequence[Scope]) -> dict[Scope, tuple[int, Place]]:
        """Find for each scope a clique that holds it, and its place there."""
        found = {}
        for scope in scopes:
            host = self.tree.host(scope)
            found[scope] = host, Place.of(scope, self.tree.cliques[host], self.sizes)
        return found

    def calibrated(self, potentials: Sequence[Real]) -> "Model":
        """Pass messages to the root and back: the potentials become each clique's distribution."""
        beliefs = list(potentials)
        sent: dict[int, Real] = {}
        for number in range(len(beliefs) - 1, -1, -1):
            places = self.separators[number]
            if places is None:
                beliefs[number] /= max(float(beliefs[number].sum()), TINY)
                continue
            message = places[0].margin(beliefs[number])
            sent[number] = message
            parent = beliefs[self.tree.parents[number]]
            parent *= places[1].wide(message / max(float(message.sum()), TINY))
        for number, places in enumerate(self.separators):
            if places is not None:
                due = places[1].margin(beliefs[self.tree.parents[number]])
                belief = beliefs[number]
                belief *= places[0].wide(due / np.maximum(sent[number], TINY))
        return Model(layout=self, beliefs=tuple(beliefs))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Model:
    """A distribution whose cliques' tables, ``beliefs``, agree wherever they meet."""

    layout: Layout
    beliefs: tuple[Real, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Bins of each attribute."""
        return self.layout.sizes

    @property
    def tree(self) -> JunctionTree:
        """The tree of cliques."""
        return self.layout.tree

    def margin(self, scope: Scope) -> Real:
        """Return the table of attributes, in the order asked for, that one clique holds."""
        return self.clique_margin(self.tree.host(scope), scope)

    def clique_margin(self, clique: int, scope: Scope) -> Real:
        """Return the table of attributes of one clique, in the order asked for."""
        return Place.of(scope, self.tree.cliques[clique], self.sizes).margin(self.beliefs[clique])

    def pairs(self, scopes: Iterable[Scope]) -> dict[Scope, Real]:
        """Return the tables of pairs of attributes, however far apart.

        The first attribute of a pair is carried along the tree to the second: as many passes
        over the cells of separators as it has bins.
        """
        margin = cache(self.clique_margin)
        others: dict[int, set[int]] = {}
        for one, other in scopes:
            others.setdefault(one, set()).add(other)
        found: dict[Scope, Real] = {}
        for one, wanted in others.items():
            own = self.margin((one,))
            met = dict(self._met(one, margin))
            for other in wanted:
                far = met.get(other)
                found[one, other] = np.outer(own, self.margin((other,))) if far is None else far()
        return found

    def _met(
        self, attribute: int, margin: Callable[[int, Scope], Real]
    ) -> Iterator[tuple[int, Callable[[], Real]]]:
        """Walk the tree from an attribute: every other it meets, and the table of both."""
        cliques, start = self.tree.cliques, self.tree.host((attribute,))
        waiting = [(start, -1, _Carried(attribute))]
        seen = {attribute}
        while waiting:
            clique, origin, carried = waiting.pop()
            for member in cliques[clique]:
                if member not in seen:
                    seen.add(member)
                    yield member, partial(carried.beside, partial(margin, clique), (member,))
            for other in self.tree.neighbours[clique]:
                if other == origin:
                    continue
                onward = carried
                if attribute not in cliques[other]:
                    shared = tuple(one for one in cliques[clique] if one in cliques[other])
                    joint = carried.beside(partial(margin, clique), shared)
                    share = joint / np.maximum(margin(other, shared), TINY)
                    onward = _Carried(attribute, shared, share)
                waiting.append((other, clique, onward))


@dataclass(frozen=True, slots=True, eq=False)
class _Carried:
    """What a clique needs to know of an attribute that may be far from it.

    ``shared`` are the attributes through which the clique depends on it, None where it is one of
    the clique's; ``share`` is its distribution given those: (bins of it, bins of each shared).
    """

    attribute: int
    shared: Scope | None = None
    share: Real | None = None

    def beside(self, margin: Callable[[Scope], Real], scope: Scope) -> Real:
        """Return the table of the attribute and some of the clique's: (bins of it, their bins)."""
        if self.shared is None or self.share is None:
            return margin((self.attribute, *scope))
        union = (*self.shared, *(one for one in scope if one not in self.shared))
        table, own = margin(union), len(union)
        if len(union) == len(self.shared) + len(scope):  # a product of matrices
            rows = self.share.reshape(len(self.share), -1)
            columns = table.reshape(rows.shape[1], -1)
            return (rows @ columns).reshape(len(rows), *table.shape[len(self.shared) :])
        known = _letters(range(len(self.shared)))
        beside = _letters(union.index(one) for one in scope)
        subscripts = f"Z{known},{_letters(range(own))}->Z{beside}"
        return np.asarray(np.einsum(subscripts, self.share, table))


def _letters(axes: Iterable[int]) -> str:
    return "".join(ascii_letters[axis] for axis in axes)


def nearest_model(
    sizes: Sequence[int],
    targets: Mapping[Scope, Real],
    factors: Mapping[Scope, Real],
    steps: int,
) -> tuple[Model, dict[Scope, Real]]:
    """Fit a model to tables of probabilities: least squares by entropic mirror descent.

    Targets that contradict each other have no model; the squared distance to them has a minimum
    all the same, where proportional fitting would run on for ever. Begins at factors, by scope
    their logarithms, and returns those at the end; in so many steps at most, each a few passes
    over all cells of the junction tree.

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
        is_done = distance - next_distance <= TOLERANCE * distance
        current, model, gaps, distance = trial, next_model, next_gaps, next_distance
        step *= LONGER
        if is_done:
            break
    return model, current


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Descent:
    """What stays the same from step to step.

    ``hosts`` has of each table that is in no other its clique, and its place there; ``within``
    of each other one a table that holds it, and its place in that: sums over a table are shorter
    than over its clique.
    """

    layout: Layout
    targets: Mapping[Scope, Real]
    hosts: Mapping[Scope, tuple[int, Place]]
    within: Mapping[Scope, tuple[Scope, Place]]

    @classmethod
    def towards(cls, targets: Mapping[Scope, Real], layout: Layout) -> "_Descent":
        """Find where each table lies."""
        within = {}
        for scope in targets:
            wider = [other for other in targets if set(scope) < set(other)]
            if wider:
                widest = max(wider, key=len)
                within[scope] = widest, Place.of(scope, widest, layout.sizes)
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
        """Subtract from each table what it should be."""
        tables = {
            scope: place.margin(model.beliefs[host]) for scope, (host, place) in self.hosts.items()
        }
        for scope, (wider, place) in self.within.items():
            tables[scope] = place.margin(tables[wider])
        return {scope: tables[scope] - target for scope, target in self.targets.items()}


def _squares(gaps: Mapping[Scope, Real]) -> float:
    return sum(float(np.vdot(gap, gap)) for gap in gaps.values())
