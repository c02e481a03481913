"""Scopes: what of a neighbouring table is looked at, and by which epsilon each is covered."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from enum import StrEnum
from fractions import Fraction
from typing import Any

from microveil.guarantee.budget import exact_number

__all__ = ["EVERY_SCOPE", "Cover", "Scope", "Scopes"]


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
        return {
            Scope.CLUSTER: "One person's values change, everybody stays in the cluster they are "
            "in, and the published values are looked at.",
            Scope.VECTOR: "One person's values change, the clusters are formed anew, and all "
            "published values of an attribute are looked at, without knowing which row is whose.",
            Scope.ROW: "The same, and it is also seen which rows share a value, that is, which "
            "people share a cluster.",
        }[self]

    @property
    def meaning_of_synthetic(self) -> str:
        """The same of a new table, which has no clusters and whose rows are nobody's."""
        looked_at = {
            Scope.CLUSTER: "the values of the new table are looked at, one by one.",
            Scope.VECTOR: "all values of an attribute are looked at, the whole column.",
            Scope.ROW: "whatever is published is looked at: whole rows, all columns together, and "
            "the noisy counts where they are published too.",
        }[self]
        return f"One person's record changes, and {looked_at}"

    def compared(self, *, is_synthetic: bool, is_of_unit: bool) -> str:
        """Say what is compared, in the words of a release: of one person, or of a whole unit.

        >>> Scope.ROW.compared(is_synthetic=True, is_of_unit=True)[:27]
        "One unit's records change, "
        """
        meaning = self.meaning_of_synthetic if is_synthetic else self.meaning
        for one, all_of_them in _OF_UNIT.items() if is_of_unit else ():
            meaning = meaning.replace(one, all_of_them)
        return meaning


EVERY_SCOPE = tuple(Scope)
_OF_UNIT = {
    "One person's values change": "The values of all records of one unit change",
    "One person's record changes": "One unit's records change",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """Whether a scope is covered, and by which epsilon and delta.

    >>> Cover.of(Fraction(1, 10)).epsilon, Cover.none().covered
    (0.1, False)
    """

    exact_epsilon: Fraction | None  # None where nothing is promised
    exact_delta: Fraction = Fraction(0)

    @classmethod
    def of(cls, epsilon: Fraction | float, delta: Fraction = Fraction(0)) -> "Cover":
        """Return the cover by an epsilon."""
        return cls(exact_epsilon=Fraction(epsilon), exact_delta=delta)

    @classmethod
    def none(cls) -> "Cover":
        """Return the cover of a scope that is not covered."""
        return cls(exact_epsilon=None)

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
    """What epsilon covers when one record is replaced by any other, scope by scope.

    >>> one = Cover.of(Fraction(1))
    >>> Scopes(cluster=one, vector=one, row=Cover.none()).strongest_at(Fraction(1))
    <Scope.VECTOR: 'vector'>
    """

    cluster: Cover
    vector: Cover
    row: Cover

    @classmethod
    def none(cls) -> "Scopes":
        """Return scopes of which none is covered."""
        return cls(cluster=Cover.none(), vector=Cover.none(), row=Cover.none())

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
        kept = (scope for scope, cover in self.by_scope.items() if cover.keeps(epsilon, delta))
        return max(kept, key=lambda scope: scope.order, default=None)

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


def exact_text(number: Fraction | None) -> str | None:
    """Write what floating point would round, as a fraction: 1/3."""
    return None if number is None else str(number)


def shown(number: Fraction | None) -> float | None:
    """Return what is shown of a number: a float that does not understate it."""
    return None if number is None else rounded_up(number)


def six_digits(number: Fraction) -> str:
    """Write six digits, rounded up: a promise must not be understated.

    >>> six_digits(Fraction(1, 3)), six_digits(Fraction(30))
    ('0.333334', '30')
    """
    with localcontext() as context:
        context.prec, context.rounding = 6, ROUND_CEILING
        return f"{float(+Decimal(repr(rounded_up(number)))):.6g}"


def rounded_up(number: Fraction) -> float:
    """Return the nearest float, or the next above it where it would understate the number.

    >>> rounded_up(Fraction(1, 10)), Fraction(rounded_up(Fraction(1, 3))) >= Fraction(1, 3)
    (0.1, True)
    """
    nearest = float(number)
    # 0.1 is meant by the float that is written so, though that lies a little off.
    if Fraction(nearest) < number and number != exact_number(repr(nearest)):
        return math.nextafter(nearest, math.inf)
    return nearest
