"""A distribution over all attributes, as a tree of cliques, and the one nearest to tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import combinations
from math import prod
from string import ascii_letters

import numpy as np

from microveil.synthesis.measurements import Real, Scope

__all__ = ["JunctionTree", "Model", "Place", "junction_tree", "nearest_model"]

# The attributes through which a clique depends on another one far from it, and the distribution
# of that given those: (bins of it, bins of each shared).
Carried = tuple[Scope, Real]
TINY = 1e-300
# A step that comes nearer is made so much longer, one that does not so much shorter.
LONGER, SHORTER = 1.2, 0.5
# A squared distance at which every share is met to one record in a thousand million.
REACHED = 1e-18


@dataclass(frozen=True, slots=True)
class Place:
    """How a table of some of a clique's attributes lies in the clique's.

    What einsum does to the clique's table to get that of the attributes, the table's axes as the
    clique has them, and its shape with an axis of 1 for each that it does not have.
    """

    sum: str
    order: tuple[int, ...]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, scope: Scope, members: Scope, sizes: Sequence[int]) -> "Place":
        """Find the place of a scope in a clique."""
        axes = tuple(members.index(one) for one in scope)
        return cls(
            f"{_letters(range(len(members)))}->{_letters(axes)}",
            tuple(sorted(range(len(scope)), key=axes.__getitem__)),
            tuple(sizes[one] if one in scope else 1 for one in members),
        )

    def margin(self, belief: Real) -> Real:
        """Sum a clique's table over what the scope does not have."""
        # Faster than a sum over axes of which the last are short.
        return np.asarray(np.einsum(self.sum, belief))

    def wide(self, table: Real) -> Real:
        """Shape a table of the scope so that it multiplies the clique's."""
        return table.transpose(self.order).reshape(self.shape)


def _letters(axes: Iterable[int]) -> str:
    return "".join(ascii_letters[axis] for axis in axes)


@dataclass(frozen=True)
class JunctionTree:
    """Cliques in an order in which each meets those before it in one of them alone, its parent.

    ``sizes`` are the attributes' numbers of bins; the parent of a root is -1.
    """

    sizes: tuple[int, ...]
    cliques: tuple[Scope, ...]
    parents: tuple[int, ...]

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """Of each clique its parent and those whose parent it is."""
        near: list[list[int]] = [[] for _ in self.cliques]
        for child, parent in enumerate(self.parents):
            if parent >= 0:
                near[child].append(parent)
                near[parent].append(child)
        return near

    @cached_property
    def cells(self) -> list[int]:
        """How many cells the table of each clique has."""
        return [prod(self.sizes[one] for one in clique) for clique in self.cliques]

    def separator(self, clique: int) -> Scope:
        """Return what a clique shares with its parent, sorted."""
        parent = self.parents[clique]
        return tuple(
            one for one in self.cliques[clique] if one in self.cliques[parent] and parent >= 0
        )

    @cached_property
    def separators(self) -> list[tuple[Place, Place] | None]:
        """Of each clique where its separator lies: in itself, and in its parent."""
        return [
            None
            if parent < 0
            else (self.place(self.separator(one), one), self.place(self.separator(one), parent))
            for one, parent in enumerate(self.parents)
        ]

    def cells_with(self, one: int, other: int) -> int:
        """Bound the cells of a tree that holds a table of two more attributes.

        Either is put into every clique on the way from its nearest one to the other's: a tree
        that holds the pair, though not always the smallest.
        """
        sizes, cells = self.sizes, [self.cells[clique] for clique in self._way(one, other)]
        if not cells:
            return sum(self.cells) + sizes[one] * sizes[other]
        return sum(self.cells) + min(
            sum(cells[1:]) * (sizes[one] - 1), sum(cells[:-1]) * (sizes[other] - 1)
        )

    def _way(self, one: int, other: int) -> list[int]:
        """Find the cliques from one that holds an attribute to one that holds another, fewest."""
        came = {clique: -1 for clique, members in enumerate(self.cliques) if one in members}
        waiting = list(came)
        for clique in waiting:
            if other in self.cliques[clique]:
                way = [clique]
                while came[way[-1]] >= 0:
                    way.append(came[way[-1]])
                return way[::-1]
            for following in self.neighbours[clique]:
                if following not in came:
                    came[following] = clique
                    waiting.append(following)
        return []

    def host(self, attributes: Iterable[int]) -> int:
        """Find a clique that holds these attributes, the smallest there is."""
        wanted = set(attributes)
        holding = (number for number, own in enumerate(self.cliques) if wanted <= set(own))
        return min(holding, key=lambda number: len(self.cliques[number]))

    def place(self, scope: Scope, clique: int) -> Place:
        """Find the place of a scope in a clique of the tree."""
        return Place.of(scope, self.cliques[clique], self.sizes)

    def hosts(self, scopes: Iterable[Scope]) -> dict[Scope, tuple[int, Place]]:
        """Find for each scope a clique that holds it, and its place there."""
        found = ((scope, self.host(scope)) for scope in scopes)
        return {scope: (host, self.place(scope, host)) for scope, host in found}

    def calibrated(self, potentials: Sequence[Real]) -> "Model":
        """Pass messages to the root and back: the potentials become each clique's distribution."""
        beliefs = list(potentials)
        sent: dict[int, Real] = {}
        for number in range(len(beliefs) - 1, -1, -1):
            places = self.separators[number]
            if places is None:
                beliefs[number] /= max(float(beliefs[number].sum()), TINY)
                continue
            sent[number] = message = places[0].margin(beliefs[number])
            parent = beliefs[self.parents[number]]
            parent *= places[1].wide(message / max(float(message.sum()), TINY))
        for number, places in enumerate(self.separators):
            if places is not None:
                due = places[1].margin(beliefs[self.parents[number]])
                belief = beliefs[number]
                belief *= places[0].wide(due / np.maximum(sent[number], TINY))
        return Model(self, tuple(beliefs))


def junction_tree(sizes: Sequence[int], scopes: Iterable[Iterable[int]]) -> JunctionTree:
    """Triangulate the graph of measured tables: the node whose clique adds least fill goes first.

    >>> tree = junction_tree([2, 3, 4], [(0, 1), (1, 2)])
    >>> tree.cliques, tree.cells
    (((0, 1), (1, 2)), [6, 12])
    """
    neighbours: list[set[int]] = [set() for _ in sizes]
    for scope in scopes:
        for a, b in combinations(scope, 2):
            neighbours[a].add(b)
            neighbours[b].add(a)
    left, found = set(range(len(sizes))), list[frozenset[int]]()

    def fill(node: int) -> tuple[int, int, int]:
        around = neighbours[node]
        missing = sum(len(around - neighbours[one]) - 1 for one in around)
        return missing, prod(sizes[one] for one in around) * sizes[node], node

    while left:
        node = min(left, key=fill)
        around = neighbours[node]
        clique = frozenset(around | {node})
        if not any(clique <= other for other in found):
            found.append(clique)
        for one in around:
            neighbours[one] |= around - {one}
            neighbours[one].discard(node)
        left.discard(node)
        neighbours[node] = set()
    return _ordered(sizes, found)


def _ordered(sizes: Sequence[int], cliques: list[frozenset[int]]) -> JunctionTree:
    """Join cliques by their largest separators (Prim), so that each meets earlier ones in one."""
    rest = list(range(len(cliques)))
    order, parents = list[int](), list[int]()
    best = dict.fromkeys(rest, (0, -1))
    while rest:
        number = max(rest, key=lambda one: (best[one][0], -one))
        rest.remove(number)
        order.append(number)
        parents.append(order.index(best[number][1]) if best[number][0] else -1)
        for other in rest:
            shared = len(cliques[number] & cliques[other])
            if shared > best[other][0]:
                best[other] = shared, number
    chosen = tuple(tuple(sorted(cliques[number])) for number in order)
    return JunctionTree(tuple(sizes), chosen, tuple(parents))


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A distribution whose cliques' tables, ``beliefs``, agree wherever they meet."""

    tree: JunctionTree
    beliefs: tuple[Real, ...]

    def margin(self, scope: Scope) -> Real:
        """Return the table of attributes, in the order asked for, that one clique holds."""
        return self.clique_margin(self.tree.host(scope), scope)

    def clique_margin(self, clique: int, scope: Scope) -> Real:
        """Return the table of attributes of one clique, in the order asked for."""
        return self.tree.place(scope, clique).margin(self.beliefs[clique])

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
            own, met = self.margin((one,)), dict(self._met(one, margin))
            for other in wanted:
                far = met.get(other)
                found[one, other] = np.outer(own, self.margin((other,))) if far is None else far()
        return found

    def _met(
        self, attribute: int, margin: Callable[[int, Scope], Real]
    ) -> Iterator[tuple[int, Callable[[], Real]]]:
        """Walk the tree from an attribute: every other it meets, and the table of both.

        Beyond its own cliques it is carried as its distribution given what two cliques share.
        """
        cliques, start = self.tree.cliques, self.tree.host((attribute,))
        waiting: list[tuple[int, int, Carried | None]] = [(start, -1, None)]
        seen = {attribute}
        while waiting:
            clique, origin, carried = waiting.pop()
            if carried is None:
                beside = partial(_inside, attribute, partial(margin, clique))
            else:
                beside = partial(_beside, carried, partial(margin, clique))
            for member in cliques[clique]:
                if member not in seen:
                    seen.add(member)
                    yield member, partial(beside, (member,))
            for other in self.tree.neighbours[clique]:
                if other == origin:
                    continue
                onward = carried
                if attribute not in cliques[other]:
                    shared = tuple(one for one in cliques[clique] if one in cliques[other])
                    onward = shared, beside(shared) / np.maximum(margin(other, shared), TINY)
                waiting.append((other, clique, onward))


def _inside(attribute: int, margin: Callable[[Scope], Real], scope: Scope) -> Real:
    """Return the table of an attribute and others of its clique."""
    return margin((attribute, *scope))


def _beside(carried: Carried, margin: Callable[[Scope], Real], scope: Scope) -> Real:
    """Return the table of an attribute far away and some of the clique's."""
    shared, share = carried
    union = (*shared, *(one for one in scope if one not in shared))
    table = margin(union)
    if len(union) == len(shared) + len(scope):  # a product of matrices
        rows = share.reshape(len(share), -1)
        columns = table.reshape(rows.shape[1], -1)
        return (rows @ columns).reshape(len(rows), *table.shape[len(shared) :])
    known, beside = _letters(range(len(shared))), _letters(union.index(one) for one in scope)
    return np.asarray(np.einsum(f"Z{known},{_letters(range(len(union)))}->Z{beside}", share, table))


def nearest_model(
    sizes: Sequence[int],
    targets: Mapping[Scope, Real],
    factors: Mapping[Scope, Real],
    steps: int,
    tolerance: float = 1e-7,
) -> tuple[Model, dict[Scope, Real]]:
    """Fit a model to tables of probabilities: least squares by entropic mirror descent.

    Targets that contradict each other have no model; the squared distance to them has a minimum
    all the same, where proportional fitting would run on for ever. Begins at factors, by scope
    their logarithms, and returns those at the end: after so many steps, each a few passes over
    all cells, or where one takes off less of the squared distance, relatively.
    """
    descent = _Descent(targets, junction_tree(sizes, targets))
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


def _squares(gaps: Mapping[Scope, Real]) -> float:
    return sum(float(np.vdot(gap, gap)) for gap in gaps.values())


class _Descent:
    """What stays the same from step to step: where each table lies.

    In a clique, or in another table that holds it: sums over that are shorter.
    """

    def __init__(self, targets: Mapping[Scope, Real], tree: JunctionTree) -> None:
        self._targets, self._tree = targets, tree
        self._within: dict[Scope, tuple[Scope, Place]] = {}
        for scope in targets:
            wider = [other for other in targets if set(scope) < set(other)]
            if wider:
                widest = max(wider, key=len)
                self._within[scope] = widest, Place.of(scope, widest, tree.sizes)
        self._hosts = tree.hosts(scope for scope in targets if scope not in self._within)

    def model(self, factors: Mapping[Scope, Real]) -> Model:
        """Multiply the factors, of which the logarithms are given, and calibrate."""
        widest = {scope: factors[scope] for scope in self._hosts}
        for scope, (wider, place) in self._within.items():
            widest[wider] = widest[wider] + place.wide(factors[scope])
        sizes = self._tree.sizes
        logs = [np.zeros([sizes[one] for one in clique]) for clique in self._tree.cliques]
        for scope, factor in widest.items():
            host, place = self._hosts[scope]
            log = logs[host]
            log += place.wide(factor)
        for log in logs:
            np.exp(np.subtract(log, log.max(), out=log), out=log)
        return self._tree.calibrated(logs)

    def gaps(self, model: Model) -> dict[Scope, Real]:
        """Subtract from each table what it should be."""
        tables = {
            scope: place.margin(model.beliefs[host]) for scope, (host, place) in self._hosts.items()
        }
        for scope, (wider, place) in self._within.items():
            tables[scope] = place.margin(tables[wider])
        return {scope: tables[scope] - target for scope, target in self._targets.items()}
