"""Whom a guarantee protects, and what it says of an attribute: published values alone."""

import datetime
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from microveil.guarantee.budget import exact_text, shown
from microveil.guarantee.scope import Model, Scopes
from microveil.schema import EPOCH, Attribute, Bounds, Categories, Domain, Kind, Source, written
from microveil.text import listed, one_line

Plain = int | float | str
Transition = tuple[tuple[int, ...], ...] | str
# A transition matrix by the share of epsilon alone.
RESPONSE = "randomised response"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Who is protected: one record, or all records with one value of a column.

    >>> household = Unit(column="HHID", max_rows=8)
    >>> household.in_words, household.shared_by(5)
    ('all records of one unit (HHID, 8 at most)', 'records of at least 5 different people (HHID)')
    """

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

    def to_dict(self) -> dict[str, Any]:
        """Return the unit as plain values."""
        return {"column": self.column, "max_rows": self.max_rows}


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
        kind, from_data = attribute.kind, attribute.resolution_from_data
        is_date = kind is Kind.DATE
        return cls(
            name=attribute.name,
            # Whether numbers have decimals is read from the data where their resolution is.
            kind=Kind.DECIMAL if from_data and kind is Kind.WHOLE else kind,
            method=method,
            share=share,
            domain=None if attribute.domain_source is Source.DATA else attribute.written_domain,
            domain_source=attribute.domain_source,
            resolution=None if from_data else written(attribute.resolution, Kind.DECIMAL),
            resolution_source=attribute.resolution_source,
            reasons=tuple(
                written(Fraction(code), kind) if is_date and isinstance(code, int) else code
                for code in attribute.reasons
            ),
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
        rare = {
            "missing_codes": list(self.reasons),
            "transition": [*map(list, rows)] if isinstance(rows, tuple) else rows,
            "of_unit": self.of_unit,
        }
        return {
            "method": self.method,
            "share": None if self.share is None else float(self.share),
            "domain": None if self.domain is None else list(self.domain),
            "domain_source": self.domain_source.value,
            "resolution": self.resolution,
            "resolution_source": self.resolution_source.value,
            **{name: value for name, value in rare.items() if value},
        }


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
