"""Models and scopes: in what a claim is stated, and what of a neighbouring table is looked at."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from microveil.guarantee.budget import exact_text, shown


class Model(StrEnum):
    """The privacy model that a release's claim is stated in, the weakest first.

    >>> Model.DIFFERENTIAL_PRIVACY.at_most(Model.INDIVIDUAL)
    <Model.INDIVIDUAL: 'idp'>
    """

    NONE = "none"
    K_ANONYMITY = "k-anonymity"
    INDIVIDUAL = "idp"
    DIFFERENTIAL_PRIVACY = "dp"

    @property
    def strength(self) -> int:
        """Its place among the models: 0 promises nothing."""
        return _STRENGTHS[self]

    def at_most(self, other: "Model") -> "Model":
        """Return the weaker of two models."""
        return min(self, other, key=lambda model: model.strength)

    @property
    def in_words(self) -> str:
        """The model's name in words."""
        return _IN_WORDS.get(self, self.value)

    @property
    def of_centroids(self) -> str:
        """The model's name where it speaks of centroids and not of the rows they stand in."""
        return _OF_CENTROIDS.get(self, self.in_words)


# Looked up for every pair of a comparison's configurations.
_STRENGTHS = {model: place for place, model in enumerate(Model)}
_IN_WORDS = {
    Model.DIFFERENTIAL_PRIVACY: "differential privacy (DP)",
    Model.INDIVIDUAL: "individual differential privacy (iDP)",
    Model.NONE: "none: nothing formal is promised",
}
_OF_CENTROIDS = {
    Model.DIFFERENTIAL_PRIVACY: "DP of the centroids",
    Model.INDIVIDUAL: "iDP of the centroids",
}


class Scope(StrEnum):
    """What is compared when one record is replaced by any other, the least first."""

    CLUSTER = "cluster"
    VECTOR = "vector"
    ROW = "row"

    @property
    def order(self) -> int:
        """Its place among the scopes: 0 is looked at least."""
        return EVERY_SCOPE.index(self)

    @property
    def meaning(self) -> str:
        """What is compared, in a sentence or two."""
        return self.compared(is_synthetic=False, is_of_unit=False)

    def compared(self, *, is_synthetic: bool, is_of_unit: bool) -> str:
        """Say what is compared, in the words of a release: of one person, or of a whole unit.

        >>> Scope.ROW.compared(is_synthetic=True, is_of_unit=True)[:27]
        "One unit's records change, "
        """
        words = (_COMPARED_IN_NEW_TABLE if is_synthetic else _COMPARED)[self]
        return words.format(**(_OF_UNIT if is_of_unit else _OF_PERSON))


EVERY_SCOPE = tuple(Scope)
_COMPARED = {
    Scope.CLUSTER: "{values} change, everybody stays in their cluster, and the published values "
    "are seen.",
    Scope.VECTOR: "{values} change, clusters are formed anew, and all published values of an "
    "attribute are seen, without knowing which row is whose.",
    Scope.ROW: "The same, and it is also seen which rows share a value, so which people share a "
    "cluster.",
}
# A synthetic table has no clusters.
_COMPARED_IN_NEW_TABLE = {
    Scope.CLUSTER: "{record}, and the values of the synthetic table are seen, one by one.",
    Scope.VECTOR: "{record}, and all values of a column are seen.",
    Scope.ROW: "{record}, and everything published is seen: whole rows, all columns together, "
    "and the noisy counts if they are published too.",
}
_OF_PERSON = {"values": "One person's values", "record": "One person's record changes"}
_OF_UNIT = {
    "values": "The values of all records of one unit",
    "record": "One unit's records change",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """Whether a scope is covered, and by which epsilon and delta.

    >>> Cover.of(Fraction(1, 10)).epsilon, Cover().covered
    (0.1, False)
    """

    exact_epsilon: Fraction | None = None  # None where nothing is promised
    exact_delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, epsilon: Fraction | float, delta: Fraction = Fraction(0)) -> "Cover":
        """Return the cover by an epsilon."""
        return cls(exact_epsilon=Fraction(epsilon), exact_delta=delta)

    @property
    def covered(self) -> bool:
        """Whether anything is promised at the scope."""
        return self.exact_epsilon is not None

    @property
    def epsilon(self) -> float | None:
        """The epsilon in floating point, rounded up; None where not covered."""
        return shown(self.exact_epsilon)

    @property
    def delta(self) -> float | None:
        """The delta in floating point, rounded up; None where not covered."""
        return shown(self.exact_delta) if self.covered else None

    def keeps(self, epsilon: Fraction, delta: Fraction = Fraction(0)) -> bool:
        """Whether the scope is covered by no more than a budget."""
        own = self.exact_epsilon
        return own is not None and own <= epsilon and self.exact_delta <= delta

    def __repr__(self) -> str:
        """Write epsilon and delta as floats."""
        if not self.covered:
            return "Cover(covered=False)"
        return f"Cover(covered=True, epsilon={self.epsilon}, delta={self.delta})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """What epsilon covers when one record is replaced by any other: by default nothing.

    >>> one = Cover.of(Fraction(1))
    >>> Scopes(cluster=one, vector=one, row=Cover()).strongest_at(Fraction(1))
    <Scope.VECTOR: 'vector'>
    """

    cluster: Cover = Cover()
    vector: Cover = Cover()
    row: Cover = Cover()

    def __getitem__(self, scope: Scope | str) -> Cover:
        return self.by_scope[Scope(scope)]

    @property
    def by_scope(self) -> Mapping[Scope, Cover]:
        """The covers by scope, the least first."""
        return {Scope.CLUSTER: self.cluster, Scope.VECTOR: self.vector, Scope.ROW: self.row}

    @property
    def any_covered(self) -> bool:
        """Whether anything is promised at any scope."""
        return any(cover.covered for cover in self.by_scope.values())

    def strongest_at(self, epsilon: Fraction, delta: Fraction = Fraction(0)) -> Scope | None:
        """Return the scope that looks at most among those that keep a budget; None if none does."""
        kept = (scope for scope in reversed(EVERY_SCOPE) if self[scope].keeps(epsilon, delta))
        return next(kept, None)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return the scopes as plain values."""
        return {
            scope.value: {"covered": own.covered, "epsilon": own.epsilon, "delta": own.delta}
            for scope, own in self.by_scope.items()
        }

    def exact(self) -> dict[str, dict[str, str | None]]:
        """Return epsilons and deltas as text, in whole fractions."""
        return {
            scope.value: {"epsilon": exact_text(own.exact_epsilon), "delta": str(own.exact_delta)}
            for scope, own in self.by_scope.items()
        }
