"""A distribution over all attributes, as a tree of cliques, and the one nearest to tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import combinations
from math import prod
from string import ascii_letters
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil.synthesis.measurements import Real, Scope

# The attributes through which a clique depends on another one far from it, and the distribution
# of that given those: (bins of it, bins of each shared).
Carried = tuple[Scope, Real]
Mask = NDArray[np.bool_]
Shared = TypeVar("Shared", np.bool_, np.float64)
TINY = 1e-300
# A step that comes nearer is made so much longer, one that does not so much shorter.
LONGER, SHORTER = 1.2, 0.5
# A squared distance at which every share is met to one record in a thousand million.
REACHED = 1e-18


def margin_of(table: Real, members: Scope, scope: Scope) -> Real:
    """Sum a table of members over those that a scope does not have, in the scope's order."""
    # By einsum: faster than a sum over axes of which the last are short.
    axes = map(members.index, scope)
    return np.asarray(np.einsum(f"{_letters(range(len(members)))}->{_letters(axes)}", table))


def widened(table: NDArray[Shared], scope: Scope, members: Scope) -> NDArray[Shared]:
    """Shape a table of a scope so that it multiplies one of members, which hold the scope."""
    order = sorted(range(len(scope)), key=lambda axis: members.index(scope[axis]))
    axes = [axis for axis, one in enumerate(members) if one not in scope]
    return np.expand_dims(table.transpose(order), axes)


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

    @cached_property
    def separators(self) -> list[Scope]:
        """What each clique shares with its parent, sorted; a root shares nothing."""
        return [
            tuple(one for one in clique if parent >= 0 and one in self.cliques[parent])
            for clique, parent in zip(self.cliques, self.parents, strict=True)
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

    def calibrated(self, potentials: Sequence[Real]) -> "Model":
        """Pass messages to the root and back: the potentials become each clique's distribution."""
        beliefs = list(potentials)
        sent: dict[int, Real] = {}
        every = [*zip(self.cliques, self.parents, self.separators, strict=True)]
        for number, (clique, parent, shared) in reversed([*enumerate(every)]):
            if parent < 0:
                beliefs[number] /= max(float(beliefs[number].sum()), TINY)
                continue
            sent[number] = message = margin_of(beliefs[number], clique, shared)
            message = message / max(float(message.sum()), TINY)
            beliefs[parent] *= widened(message, shared, self.cliques[parent])
        for number, (clique, parent, shared) in enumerate(every):
            if parent >= 0:
                due = margin_of(beliefs[parent], self.cliques[parent], shared)
                beliefs[number] *= widened(due / np.maximum(sent[number], TINY), shared, clique)
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
        return margin_of(self.beliefs[clique], self.tree.cliques[clique], scope)

    def pairs(self, scopes: Sequence[Scope]) -> dict[Scope, Real]:
        """Return the tables of pairs of attributes, however far apart.

        The first attribute of a pair is carried along the tree to the second: as many passes
        over the cells of separators as it has bins.
        """
        margin = cache(self.clique_margin)
        others: dict[int, list[int]] = {}
        for one, other in scopes:
            others.setdefault(one, []).append(other)
        found: dict[Scope, Real] = {}
        for one, wanted in others.items():
            met = self._met(one, set(wanted), margin)
            for other in wanted:
                if other not in met:  # in a tree of its own
                    met[other] = np.outer(self.margin((one,)), self.margin((other,)))
                found[one, other] = met[other]
        return found

    def _met(
        self, attribute: int, wanted: set[int], margin: Callable[[int, Scope], Real]
    ) -> dict[int, Real]:
        """Walk the tree from an attribute: the table of it and every wanted one that it meets.

        Beyond its own cliques it is carried as its distribution given what two cliques share.
        """
        cliques, found = self.tree.cliques, dict[int, Real]()
        waiting: list[tuple[int, int, Carried | None]] = [(self.tree.host((attribute,)), -1, None)]
        for clique, origin, carried in waiting:
            beside = partial(_beside, attribute, carried, partial(margin, clique))
            for member in wanted.intersection(cliques[clique]).difference(found):
                found[member] = beside((member,))
            for other in self.tree.neighbours[clique]:
                if other == origin:
                    continue
                onward = None
                if attribute not in cliques[other]:
                    shared = tuple(one for one in cliques[clique] if one in cliques[other])
                    onward = shared, beside(shared) / np.maximum(margin(other, shared), TINY)
                waiting.append((other, clique, onward))
        return found


def _beside(
    attribute: int, carried: Carried | None, margin: Callable[[Scope], Real], scope: Scope
) -> Real:
    """Return the table of an attribute, of this clique or carried to it, and others of it."""
    if carried is None:
        return margin((attribute, *scope))
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
    possible: Mapping[Scope, Mask] | None = None,
) -> tuple[Model, dict[Scope, Real]]:
    """Fit a model to tables of probabilities: least squares by entropic mirror descent.

    Targets that contradict each other have no model; the squared distance to them has a minimum
    all the same, where proportional fitting would run on for ever. Begins at factors, by scope
    their logarithms, and returns those at the end: after so many steps, each a few passes over
    all cells, or where one takes off less of the squared distance, relatively. What is not
    ``possible`` of tables of some scopes has no mass.
    """
    possible = possible or {}
    tree = junction_tree(sizes, [*targets, *possible])
    masks = [(tree.host(scope), scope, mask) for scope, mask in possible.items()]
    # A table that another one holds is summed of that: shorter than to sum its clique's.
    wider = {one: [other for other in targets if set(one) < set(other)] for one in targets}
    within = {scope: max(others, key=len) for scope, others in wider.items() if others}
    hosts = {scope: tree.host(scope) for scope in targets if scope not in within}
    current = dict(factors)
    model = _model_of(tree, hosts, within, current, masks)
    gaps = _gaps_of(model, hosts, within, targets)
    distance, step = _squares(gaps), 1.0
    for _ in range(steps):
        if distance <= REACHED:
            break
        trial = {scope: factor - step * gaps[scope] for scope, factor in current.items()}
        next_model = _model_of(tree, hosts, within, trial, masks)
        next_gaps = _gaps_of(next_model, hosts, within, targets)
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


def _model_of(
    tree: JunctionTree,
    hosts: Mapping[Scope, int],
    within: Mapping[Scope, Scope],
    factors: Mapping[Scope, Real],
    masks: Sequence[tuple[int, Scope, Mask]],
) -> Model:
    """Multiply the factors, of which the logarithms are given, by what is possible; calibrate."""
    widest = {scope: factors[scope] for scope in hosts}
    for scope, wider in within.items():
        widest[wider] = widest[wider] + widened(factors[scope], scope, wider)
    logs = [np.zeros([tree.sizes[one] for one in clique]) for clique in tree.cliques]
    for scope, factor in widest.items():
        host = hosts[scope]
        logs[host] += widened(factor, scope, tree.cliques[host])
    potentials = [np.exp(log - log.max()) for log in logs]
    for host, scope, mask in masks:
        potentials[host] *= widened(mask, scope, tree.cliques[host])
    return tree.calibrated(potentials)


def _gaps_of(
    model: Model,
    hosts: Mapping[Scope, int],
    within: Mapping[Scope, Scope],
    targets: Mapping[Scope, Real],
) -> dict[Scope, Real]:
    """Subtract from each table what it should be."""
    tables = {scope: model.clique_margin(host, scope) for scope, host in hosts.items()}
    for scope, wider in within.items():
        tables[scope] = margin_of(tables[wider], wider, scope)
    return {scope: tables[scope] - target for scope, target in targets.items()}
