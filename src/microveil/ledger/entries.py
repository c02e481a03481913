"""A line of the ledger: one release, and the budget it spent."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from microveil.guarantee import Guarantee, Model, Scope, Unit
from microveil.text import readable

__all__ = ["SCOPES", "Entry", "Spent"]

SCOPES = tuple(scope.value for scope in Scope)
# What a line holds as it is.
_PLAIN = {
    **dict.fromkeys(("time", "population", "folder", "method"), str),
    "seeded": bool,
    "kept": int,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """An epsilon and a delta, exactly.

    Examples
    --------
    >>> Spent(epsilon=Fraction(1, 10)) + Spent(epsilon=Fraction(1, 5))
    Spent(epsilon=Fraction(3, 10), delta=Fraction(0, 1))
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def __add__(self, other: "Spent") -> "Spent":
        """Add both: sequential composition of differential privacy."""
        return Spent(epsilon=self.epsilon + other.epsilon, delta=self.delta + other.delta)

    def to_dict(self) -> dict[str, Any]:
        """Return both as numbers, and exactly as fractions in text."""
        return {
            "epsilon": float(self.epsilon),
            "epsilon_exact": str(self.epsilon),
            "delta": float(self.delta),
            "delta_exact": str(self.delta),
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any] | None) -> "Spent | None":
        """Read the fractions; refuse a negative one, which would take back what was spent."""
        if written is None:
            return None
        epsilon, delta = (Fraction(written[f"{name}_exact"]) for name in ("epsilon", "delta"))
        if min(epsilon, delta) < 0:
            raise ValueError
        return cls(epsilon=epsilon, delta=delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One release. A scope that no epsilon covers has None; so has the digest of no file."""

    time: str
    population: str
    folder: str
    method: str
    model: Model
    seeded: bool
    budget: Spent | None
    scopes: Mapping[str, Spent | None]
    kept: int
    digest: str | None
    unit: Unit = field(default_factory=Unit)

    @classmethod
    def of(
        cls, guarantee: Guarantee, *, population: str, folder: str, digest: str | None
    ) -> "Entry":
        """Make the line of a release that is about to appear; a seed protects nobody."""
        seeded = guarantee.randomness == "seeded"
        budget = (guarantee.epsilon, guarantee.delta)
        covers = {
            scope.value: (cover.exact_epsilon, cover.exact_delta)
            for scope, cover in guarantee.scopes.by_scope.items()
        }
        return cls(
            time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            population=population,
            folder=readable(folder),
            method=guarantee.method,
            model=Model.NONE if seeded else guarantee.model,
            seeded=seeded,
            budget=None if seeded else _spent(*budget),
            scopes={name: None if seeded else _spent(*covers[name]) for name in SCOPES},
            kept=len(guarantee.kept),
            digest=digest,
            # Clusters count records, whose epsilons do not add up to a unit's.
            unit=Unit() if guarantee.has_clusters else guarantee.unit,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain values."""
        return {
            "schema": 1,
            "event": "announced",  # it counts, whether or not the release did appear
            "time": self.time,
            "population": self.population,
            "folder": self.folder,
            "method": self.method,
            "model": self.model.value,
            "seeded": self.seeded,
            "budget": self.budget and self.budget.to_dict(),
            "scopes": {name: spent and spent.to_dict() for name, spent in self.scopes.items()},
            "kept": self.kept,
            "input": self.digest,
            # Earlier versions knew no units, and protected records.
            **({} if self.unit.column is None else {"unit": self.unit.to_dict()}),
        }

    @classmethod
    def from_dict(cls, written: Any) -> "Entry":
        """Read what `to_dict` wrote; raise ValueError for anything else, or more."""
        try:
            entry = cls(
                **{name: written[name] for name in _PLAIN},
                digest=written["input"],
                model=Model(written["model"]),
                budget=Spent.from_dict(written["budget"]),
                scopes={name: Spent.from_dict(written["scopes"][name]) for name in SCOPES},
                unit=Unit(**written.get("unit", {})),
            )
            same = entry.to_dict() == written
        except (AttributeError, KeyError, TypeError, ArithmeticError):
            raise ValueError from None
        kinds = all(isinstance(written[name], kind) for name, kind in _PLAIN.items())
        texts = (entry.digest or "", entry.unit.column or "")
        rows = entry.unit.max_rows
        of_unit = type(rows) is int and rows > 0 and all(isinstance(text, str) for text in texts)
        if not (same and kinds and of_unit):
            raise ValueError
        return entry


def _spent(epsilon: Fraction | None, delta: Fraction) -> Spent | None:
    return None if epsilon is None else Spent(epsilon=epsilon, delta=delta)
