"""A distribution over all attributes, as the calibrated cliques of a junction tree."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from string import ascii_letters

import numpy as np
from numpy.typing import NDArray

from microveil.synthesis.junction_tree import JunctionTree

__all__ = ["Layout", "Model", "Scope"]

Real = NDArray[np.float64]
Scope = tuple[int, ...]
TINY = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How a table of some of a clique's attributes lies in the clique's.

    Attributes
    ----------
    sum : str
        What einsum does to the clique's table to get that of the attributes.
    order : tuple of int
        The table's axes in the order in which the clique has them.
    shape : tuple of int
        With an axis of 1 for each of the clique's that the table does not have.
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
    """A junction tree and where everything lies in it.

    Attributes
    ----------
    sizes : tuple of int
        Bins of each attribute.
    tree : JunctionTree
    """

    sizes: tuple[int, ...]
    tree: JunctionTree

    @cached_property
    def separators(self) -> tuple[tuple[Place, Place] | None, ...]:
        """Of each clique what it shares with its parent: in itself, and in the parent."""
        found: list[tuple[Place, Place] | None] = []
        for number, parent in enumerate(self.tree.parents):
            if parent < 0:
                found.append(None)
                continue
            shared = self.tree.separator(number)
            own, above = (
                Place.of(shared, self.tree.cliques[one], self.sizes) for one in (number, parent)
            )
            found.append((own, above))
        return tuple(found)

    def hosts(self, scopes: Sequence[Scope]) -> dict[Scope, tuple[int, Place]]:
        """Find for each scope a clique that holds it, and its place there."""
        found = {}
        for scope in scopes:
            host = self.tree.host(scope)
            found[scope] = host, Place.of(scope, self.tree.cliques[host], self.sizes)
        return found

    def calibrated(self, potentials: Sequence[Real]) -> "Model":
        """Pass messages to the root and back: each clique's distribution, of all potentials.

        Parameters
        ----------
        potentials : sequence of float64 arrays
            Of each clique; they become the distributions.
        """
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
    """A distribution whose cliques' tables agree wherever they meet.

    Attributes
    ----------
    layout : Layout
    beliefs : tuple of float64 arrays
        The distribution of each clique, axes in the order of its attributes.
    """

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
        start = self.tree.host((attribute,))
        waiting: list[tuple[int, int, _Carried]] = [
            (start, -1, _Carried(attribute=attribute, shared=None, share=None))
        ]
        seen = {attribute}
        while waiting:
            clique, origin, carried = waiting.pop()
            members = self.tree.cliques[clique]
            for member in members:
                if member not in seen:
                    seen.add(member)
                    yield member, partial(carried.beside, partial(margin, clique), (member,))
            waiting += [
                (other, clique, self._onward(clique, other, carried, margin))
                for other in self.tree.neighbours[clique]
                if other != origin
            ]

    def _onward(
        self,
        clique: int,
        other: int,
        carried: "_Carried",
        margin: Callable[[int, Scope], Real],
    ) -> "_Carried":
        """Carry an attribute over a separator to the next clique."""
        if carried.attribute in self.tree.cliques[other]:
            return carried
        mine, theirs = self.tree.cliques[clique], self.tree.cliques[other]
        shared = tuple(one for one in mine if one in theirs)
        joint = carried.beside(partial(margin, clique), shared)
        share = joint / np.maximum(margin(other, shared), TINY)
        return _Carried(attribute=carried.attribute, shared=shared, share=share)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Carried:
    """What a clique needs to know of an attribute that may be far from it.

    Attributes
    ----------
    attribute : int
    shared : tuple of int or None
        The attributes through which the clique hangs on it; None where it is one of the clique's.
    share : float64 array (bins of it, bins of each shared) or None
        Its distribution given those.
    """

    attribute: int
    shared: Scope | None
    share: Real | None

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
