"""A tree of cliques that hold every measured table, and the cost of one more."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

__all__ = ["JunctionTree", "junction_tree"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JunctionTree:
    """Cliques in an order in which each meets those before it in one of them alone.

    ``parents`` names that earlier clique, -1 at a root; ``neighbours`` are of each clique its
    parent and those whose parent it is; ``n_cells`` is of all cliques' tables together.
    """

    cliques: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]
    neighbours: tuple[tuple[int, ...], ...]
    n_cells: int

    def separator(self, clique: int) -> tuple[int, ...]:
        """Return what a clique shares with its parent, sorted."""
        parent = self.parents[clique]
        if parent < 0:
            return ()
        return tuple(sorted(set(self.cliques[clique]) & set(self.cliques[parent])))

    def cells_with(self, one: int, other: int, sizes: Sequence[int]) -> int:
        """Bound the cells of a tree that holds a table of two more attributes.

        Either is put into every clique on the way from its nearest one to the other's: a tree
        that holds the pair, though not always the smallest.
        """
        way = self._way(one, other)
        if not way:
            return self.n_cells + sizes[one] * sizes[other]
        cells = [prod(sizes[member] for member in self.cliques[clique]) for clique in way]
        return self.n_cells + min(
            sum(cells[1:]) * (sizes[one] - 1), sum(cells[:-1]) * (sizes[other] - 1)
        )

    def _way(self, one: int, other: int) -> list[int]:
        """Find the cliques from one that holds an attribute to one that holds another, fewest."""
        came: dict[int, int] = {
            clique: -1 for clique, members in enumerate(self.cliques) if one in members
        }
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
        return min(
            (number for number, clique in enumerate(self.cliques) if wanted <= set(clique)),
            key=lambda number: len(self.cliques[number]),
        )


def junction_tree(sizes: Sequence[int], scopes: Iterable[Iterable[int]]) -> JunctionTree:
    """Triangulate the graph of measured tables: the node whose clique adds least fill goes first.

    >>> tree = junction_tree([2, 3, 4], [(0, 1), (1, 2)])
    >>> tree.cliques, tree.n_cells
    (((0, 1), (1, 2)), 18)
    """
    neighbours: list[set[int]] = [set() for _ in sizes]
    for scope in scopes:
        for a, b in combinations(scope, 2):
            neighbours[a].add(b)
            neighbours[b].add(a)
    left, found = set(range(len(sizes))), list[frozenset[int]]()
    while left:
        costs = {node: _fill(node, neighbours, sizes) for node in left}
        node = min(left, key=lambda one: (costs[one], one))
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


def _fill(node: int, neighbours: list[set[int]], sizes: Sequence[int]) -> tuple[int, int]:
    around = neighbours[node]
    missing = sum(len(around - neighbours[one]) - 1 for one in around)
    return missing, prod(sizes[one] for one in around) * sizes[node]


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
    near: list[list[int]] = [[] for _ in chosen]
    for child, parent in enumerate(parents):
        if parent >= 0:
            near[child].append(parent)
            near[parent].append(child)
    return JunctionTree(
        cliques=chosen,
        parents=tuple(parents),
        neighbours=tuple(map(tuple, near)),
        n_cells=sum(prod(sizes[one] for one in clique) for clique in chosen),
    )
