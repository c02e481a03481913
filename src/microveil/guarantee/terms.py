"""What a guarantee is stated in: models, scopes, whom it protects, and what of an attribute."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from microveil.guarantee.budget import exact_text, shown
from microveil.schema import EPOCH, Attribute, Bounds, Categories, Domain, Kind, Source, written
from microveil.text import listed, one_line

Plain = int | float | str
Transition = tuple[tuple[int, ...], ...] | str
# A transition matrix by the share of epsilon alone.
RESPONSE = "randomised response"


class Model(StrEnum):
    """The privacy model that a release's claim is stated in, the weakest first."""

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


EVERY_SCOPE = tuple(Scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """Whether a scope is covered, and by which epsilon and delta."""

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
    """What epsilon covers when one record is replaced by any other: by default nothing."""

    cluster: Cover = Cover()
    vector: Cover = Cover()
    row: Cover = Cover()

    def __getitem__(self, scope: Scope | str) -> Cover:
        cover: Cover = getattr(self, Scope(scope).value)
        return cover

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
        for scope in reversed(EVERY_SCOPE):
            if self[scope].keeps(epsilon, delta):
                return scope
        return None

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Who is protected: one record, or all records with one value of a column."""

    column: str | None = None  # None where a record is taken to be a person
    max_rows: int = 1  # of a unit at most; where k-anonymity counts units, all that there are

    @property
    def in_words(self) -> str:
        """Whose values a neighbouring table has replaced."""
        return "one record" if self.column is None else f"all records of one unit ({self.named})"

    @property
    def named(self) -> str:
        """The column and how many records there may be: anybody may have named it."""
        return f"{one_line(self.column or '')}, {self.max_rows} at most"

    def least(self, k: int) -> str:
        """Say how many a cluster holds at least."""
        return f"{k}" if self.column is None else f"{k} different people ({one_line(self.column)})"

    def shared_by(self, k: int) -> str:
        """Say who shares a combination of values."""
        least = f"at least {self.least(k)}"
        return f"{least} records" if self.column is None else f"records of {least}"

    def draws(self, *, of_unit: bool) -> int:
        """Return how many draws replacing a unit changes at most: one a record, or one in all."""
        return 1 if of_unit else self.max_rows

    def spends(self, share: Fraction | None, *, of_unit: bool) -> Fraction | None:
        """Return what a unit spends where a draw spends a share of a pure epsilon."""
        return None if share is None else share * self.draws(of_unit=of_unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeTerms:
    """What is said of one protected attribute, without anything read from the data."""

    name: str
    kind: Kind
    method: str  # the id of the method that protects it
    share: Fraction | None  # of epsilon; None where it spends none of its own
    domain: tuple[Plain, ...] | None  # both bounds, or every category; None where read from data
    domain_source: Source
    resolution: Plain | None  # None where it was read from the data
    resolution_source: Source
    # Codes that stand in the release for why a cell is missing; dates in ISO form.
    reasons: tuple[Plain, ...] = ()
    # A public matrix: row k holds whole numbers in proportion to the probabilities by which
    # category k is released as each; `RESPONSE` where share and domain say them.
    transition: Transition | None = None
    of_unit: bool = False  # drawn once a unit and copied to its records

    @classmethod
    def of(
        cls,
        attribute: Attribute,
        share: Fraction | None,
        method: str,
        transition: Transition | None = None,
    ) -> "AttributeTerms":
        """Take of an attribute what may be published."""
        kind, from_data = attribute.kind, "resolution" in attribute.from_data
        source, reasons = attribute.domain_source, attribute.reasons
        if kind is Kind.DATE:
            reasons = tuple(
                written(Fraction(code), kind) if isinstance(code, int) else code for code in reasons
            )
        return cls(
            name=attribute.name,
            # Whether numbers have decimals is read from the data where their resolution is.
            kind=Kind.DECIMAL if from_data and kind is Kind.WHOLE else kind,
            method=method,
            share=share,
            domain=None if source is Source.DATA else attribute.written_domain,
            domain_source=source,
            resolution=None if from_data else written(attribute.resolution, Kind.DECIMAL),
            resolution_source=attribute.resolution_source,
            reasons=reasons,
            transition=transition,
            of_unit=attribute.of_unit,
        )

    def attribute(self) -> Attribute | None:
        """Make the attribute again; None where its domain or grid was read from the data."""
        if Source.LEARNT in (self.domain_source, self.resolution_source) and self.domain is None:
            return Attribute(
                name=self.name,
                kind=self.kind,
                resolution=_number_of(self.resolution or 1, Kind.DECIMAL),
                resolution_source=self.resolution_source,
                is_learnt=True,
            )
        if self.domain is None or self.resolution is None:
            return None
        domain: Domain
        if self.kind.is_numeric:
            lower, upper = (_number_of(bound, self.kind) for bound in self.domain)
            domain = Bounds(lower=lower, upper=upper, source=self.domain_source)
        else:
            domain = Categories(
                values=tuple(part for part in self.domain if not isinstance(part, float)),
                ordered=self.kind is Kind.ORDINAL,
                source=self.domain_source,
            )
        return Attribute(
            name=self.name,
            kind=self.kind,
            resolution=_number_of(self.resolution, Kind.DECIMAL),
            resolution_source=self.resolution_source,
            domain=domain,
            of_unit=self.of_unit,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the terms as plain values, without what few attributes have."""
        rows = self.transition
        plain: dict[str, Any] = {
            "method": self.method,
            "share": None if self.share is None else float(self.share),
            "domain": None if self.domain is None else list(self.domain),
            "domain_source": self.domain_source.value,
            "resolution": self.resolution,
            "resolution_source": self.resolution_source.value,
        }
        if self.reasons:
            plain["missing_codes"] = list(self.reasons)
        if rows:
            plain["transition"] = [*map(list, rows)] if isinstance(rows, tuple) else rows
        if self.of_unit:
            plain["of_unit"] = True
        return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class PartTerms:
    """What is said of one part of a release of several, the others' columns counted as kept."""

    attributes: tuple[str, ...]
    method: str
    title: str
    source: str
    deed: str
    model: Model
    epsilon: Fraction | None
    k: int | None
    scopes: Scopes  # nothing is covered where a seed drew it
    shuffle: str | None  # "rows" or "columns", in a random order of their own

    @property
    def named(self) -> str:
        """Its attributes, in a line."""
        return listed(self.attributes)

    def to_dict(self) -> dict[str, Any]:
        """Return the terms as plain values."""
        return {
            "attributes": list(self.attributes),
            "method": self.method,
            "title": self.title,
            "source": self.source,
            "deed": self.deed,
            "model": self.model.value,
            "epsilon": shown(self.epsilon),
            "k": self.k,
            "scopes": self.scopes.to_dict(),
            "shuffle": self.shuffle,
            "exact": {"epsilon": exact_text(self.epsilon), "scopes": self.scopes.exact()},
        }


def _number_of(shown: Plain, kind: Kind) -> Fraction:
    """Read what `schema.written` wrote: a float is the decimal number that it shows."""
    if kind is Kind.DATE:
        return Fraction((datetime.date.fromisoformat(str(shown)) - EPOCH).days)
    return Fraction(str(shown))
