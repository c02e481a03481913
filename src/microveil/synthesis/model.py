"""A distribution over all attributes, as the calibrated cliques of a junction tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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
    away : tuple of int
        The clique's axes that a table of these attributes sums over.
    order : tuple of int
        The attributes' axes in the order in which the clique has them.
    shape : tuple of int
        With an axis of 1 for each that is summed over.
    """

    away: tuple[int, ...]
    order: tuple[int, ...]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, scope: Scope, members: Scope, sizes: Sequence[int]) -> "Place":
        """Find the place of a scope in a clique."""
        return cls(
            away=tuple(axis for axis, one in enumerate(members) if one not in scope),
            order=tuple(sorted(range(len(scope)), key=lambda axis: members.index(scope[axis]))),
            shape=tuple(sizes[one] if one in scope else 1 for one in members),
        )

    def margin(self, belief: Real) -> Real:
        """Sum a clique's table over what the scope does not have."""
        table = np.add.reduce(belief, axis=self.away) if self.away else belief
        inverse = sorted(range(len(self.order)), key=self.order.__getitem__)
        return table if inverse == list(range(len(inverse))) else np.transpose(table, inverse)

    def wide(self, table: Real) -> Real:
        """Shape a table of the scope so that it multiplies the clique's."""
        return np.transpose(table, self.order).reshape(self.shape)


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
        """Pass messages to the root and back: each clique's distribution, of all potentials."""
        beliefs = list(potentials)
        sent: dict[int, Real] = {}
        for number in range(len(beliefs) - 1, -1, -1):
            beliefs[number] = beliefs[number] / max(float(beliefs[number].sum()), TINY)
            places = self.separators[number]
            if places is not None:
                sent[number] = places[0].margin(beliefs[number])
                parent = self.tree.parents[number]
                beliefs[parent] = beliefs[parent] * places[1].wide(sent[number])
        for number, places in enumerate(self.separators):
            if places is not None:
                due = places[1].margin(beliefs[self.tree.parents[number]])
                ratio = due / np.maximum(sent[number], TINY)
                beliefs[number] = beliefs[number] * places[0].wide(ratio)
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

    def pairs_with(self, attribute: int) -> dict[int, Real]:
        """Return the tables of an attribute with every other: (bins of it, bins of the other).

        The attribute is carried along the tree beside each clique: as many passes over all cells
        as it has bins.
        """
        found: dict[int, Real] = {}
        start = self.tree.host((attribute,))
        waiting = [(start, -1, self._beside(start, attribute))]
        while waiting:
            clique, origin, joint = waiting.pop()
            self._read_off(clique, joint, attribute, found)
            waiting += [
                (other, clique, self._carried(clique, other, joint))
                for other in self.tree.neighbours[clique]
                if other != origin
            ]
        own = self.margin((attribute,))
        for other in range(len(self.sizes)):
            if other != attribute and other not in found:
                found[other] = np.outer(own, self.margin((other,)))
        return found

    def _beside(self, clique: int, attribute: int) -> Real:
        """Put an attribute of a clique beside it: (bins, cells of the clique), joint."""
        members, belief = self.tree.cliques[clique], self.beliefs[clique]
        size = self.sizes[attribute]
        wide = Place.of((attribute,), members, self.sizes).shape
        alike = np.eye(size).reshape(size, *wide)
        return np.asarray(alike * belief)

    def _read_off(self, clique: int, joint: Real, attribute: int, found: dict[int, Real]) -> None:
        members = self.tree.cliques[clique]
        for member in members:
            if member != attribute and member not in found:
                away = Place.of((member,), members, self.sizes).away
                found[member] = joint.sum(axis=tuple(1 + axis for axis in away))

    def _carried(self, clique: int, other: int, joint: Real) -> Real:
        """Carry an attribute over a separator to the next clique."""
        mine, theirs = self.tree.cliques[clique], self.tree.cliques[other]
        shared = tuple(one for one in mine if one in theirs)
        own, far = (Place.of(shared, members, self.sizes) for members in (mine, theirs))
        message = joint.sum(axis=tuple(1 + axis for axis in own.away))
        share = message / np.maximum(far.margin(self.beliefs[other]), TINY)
        return np.asarray(share.reshape(len(joint), *far.shape) * self.beliefs[other])
