"""The guarantee of a release: a value that holds nothing that depends on the data."""

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from microveil.privacy.budget import exact_number
from microveil.privacy.statement import write_statement
from microveil.schema import Attribute, Kind, Source, written

__all__ = ["AttributeTerms", "Guarantee", "Model", "Scope", "Scopes"]


class Model(StrEnum):
    """The privacy model that a release's claim is stated in."""

    DIFFERENTIAL_PRIVACY = "dp"
    INDIVIDUAL = "idp"
    K_ANONYMITY = "k-anonymity"
    NONE = "none"

    @property
    def in_words(self) -> str:
        """The model's name in words."""
        return {
            Model.DIFFERENTIAL_PRIVACY: "differential privacy (DP)",
            Model.INDIVIDUAL: "individual differential privacy (iDP)",
            Model.K_ANONYMITY: "k-anonymity",
            Model.NONE: "none: nothing formal is promised",
        }[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whether one view of a neighbouring table is covered, and by which epsilon."""

    covered: bool
    epsilon: float | None

    @classmethod
    def of(cls, epsilon: Fraction | float) -> "Scope":
        """Return a covered scope."""
        nearest = float(epsilon)
        # A certificate must not understate: Fractions are rounded up.
        short = isinstance(epsilon, Fraction) and Fraction(nearest) < epsilon
        if short and epsilon != exact_number(repr(nearest)):
            nearest = math.nextafter(nearest, math.inf)
        return cls(covered=True, epsilon=nearest)

    @classmethod
    def none(cls) -> "Scope":
        """Return a scope that is not covered."""
        return cls(covered=False, epsilon=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """What the epsilon covers when one record is replaced by any other.

    Attributes
    ----------
    cluster : Scope
        The record stays in its cluster; the released values are seen.
    vector : Scope
        The partition is recomputed; an attribute's centroids are all seen.
    row : Scope
        Which records share a cluster is seen too.
    """

    cluster: Scope
    vector: Scope
    row: Scope

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return the scopes as plain values."""
        return {
            name: {"covered": scope.covered, "epsilon": scope.epsilon}
            for name, scope in (
                ("cluster", self.cluster),
                ("vector", self.vector),
                ("row", self.row),
            )
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeTerms:
    """The share of epsilon that one attribute spends, and its public domain and grid."""

    attribute: Attribute
    share: Fraction | None

    def _domain(self) -> list[Any] | None:
        bounds, kind = self.attribute.bounds, self.attribute.kind
        if self.attribute.categories is not None:
            return list(self.attribute.categories)
        if bounds is None:
            return None
        return [written(bounds.lower, kind), written(bounds.upper, kind)]

    def to_dict(self) -> dict[str, Any]:
        """Return the terms as plain values; what was read from the data stays unsaid."""
        bounds = self.attribute.bounds
        told = bounds is not None and not self.attribute.bounds_from_data
        resolution = self.attribute.resolution
        resolution_told = not self.attribute.resolution_from_data
        return {
            "share": None if self.share is None else float(self.share),
            "bounds": self._domain() if told else None,
            "bounds_source": Source.NONE.value if bounds is None else bounds.source.value,
            "resolution": written(resolution, Kind.DECIMAL) if resolution_told else None,
            "resolution_source": self.attribute.resolution_source.value,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee:
    """What a release promises, under which conditions.

    Attributes
    ----------
    method, title, source, deed : str
        The method's id, its name in words, where it was published, and what it did.
    model : Model
    epsilon : Fraction or None
        The nominal budget over all attributes; None where the method spends none.
    k : int or None
        The least cluster size; None where records form no clusters.
    n_records : int
    scopes : Scopes
        What holds for this release, from figures that need no data.
    attributes : tuple of AttributeTerms
    randomness : str
        "os", or "seeded": then nothing is covered.
    kept : tuple of str
        Columns released unprotected.
    held : tuple of str
        What of this table the scopes take as given though it is chosen or read from the data
        and the release shows it: the cluster sizes, for example. The notes say it whole.
    notes : tuple of str
        The conditions and exceptions, a sentence or two each.
    """

    method: str
    title: str
    source: str
    deed: str
    model: Model
    epsilon: Fraction | None
    k: int | None
    n_records: int
    scopes: Scopes
    attributes: tuple[AttributeTerms, ...]
    randomness: str
    kept: tuple[str, ...]
    held: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def model_in_words(self) -> str:
        """The privacy model, with what it takes as given."""
        return " ".join([self.model.in_words, *([self._given] if self.held else [])])

    @property
    def _given(self) -> str:
        return f"with {' and '.join(self.held)} of this table held"

    @property
    def provisos(self) -> tuple[str, ...]:
        """What the scopes hang on and what they leave out, in a few words each."""
        told = [self._given] if self.held else []
        if self.kept:
            told.append(f"not for what is released as it is: {', '.join(self.kept)}")
        return tuple(told)

    def to_dict(self) -> dict[str, Any]:
        """Return the guarantee as plain values, for JSON."""
        return {
            "schema": 1,
            "model": self.model.value,
            "epsilon": None if self.epsilon is None else float(self.epsilon),
            "k": self.k,
            "scopes": self.scopes.to_dict(),
            "attributes": {terms.attribute.name: terms.to_dict() for terms in self.attributes},
            "randomness": self.randomness,
            "kept": list(self.kept),
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """Return what is covered in a few lines, for a terminal."""
        if self.epsilon is None:
            return f"privacy model: {self.model.in_words}"
        if self.randomness == "seeded":
            return "drawn from a seed: protects nobody"
        lines = [f"epsilon {float(self.epsilon):g}, {self.model.in_words}, covers:"]
        for name, scope in self.scopes.to_dict().items():
            told = f"epsilon {scope['epsilon']:.6g}" if scope["covered"] else "not covered"
            lines.append(f"  {name} scope: {told}")
        lines += [f"  {proviso}" for proviso in self.provisos]
        return "\n".join(lines)

    def statement(self) -> str:
        """Return the guarantee as a page (Markdown) for whoever must answer for the release."""
        return write_statement(
            self.to_dict(),
            method=f"`{self.method}`: {self.title} ({self.source})",
            deed=self.deed,
            model="none in force, for want of randomness"
            if self.randomness == "seeded"
            else self.model.in_words,
            n_records=self.n_records,
        )
