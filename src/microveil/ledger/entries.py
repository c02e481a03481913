"""A line of the ledger: one release, and what it spent."""

import datetime
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from microveil.guarantee import Guarantee, Model, Scope, Unit
from microveil.text import readable

__all__ = ["SCOPES", "Entry", "Spent"]

SCHEMA = 1
SCOPES = tuple(scope.value for scope in Scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """An epsilon and a delta, exactly.

    Attributes
    ----------
    epsilon, delta : Fraction

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
    def from_dict(cls, written: Mapping[str, Any]) -> "Spent":
        """Read what `to_dict` wrote; the fractions are what counts.

        Raises
        ------
        ValueError
            If they are no fractions of 0 or more: a negative one would take back what was spent.
        """
        texts = (written["epsilon_exact"], written["delta_exact"])
        if not all(re.fullmatch(r"[0-9]+(/[0-9]+)?", text) for text in texts):
            raise ValueError
        return cls(epsilon=Fraction(texts[0]), delta=Fraction(texts[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One release, as the ledger has it.

    Attributes
    ----------
    time : str
        When it was announced, in UTC.
    population : str
        Who the people are.
    folder : str
        Name of the folder that was to be published.
    method : str
    model : Model
        None in force where the release was drawn from a seed.
    seeded : bool
    budget : Spent or None
        The nominal one over all attributes; None where none is in force.
    scopes : dict of (Spent or None)
        What each scope is covered by; None where it is not covered.
    kept : int
        How many columns were released as they are.
    digest : str or None
        Of the file that was protected, keyed; None where it was no file.
    unit : Unit
        Who is protected: a record, or all records of a unit.
    """

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
        """Make the line of a release that is about to appear."""
        seeded = guarantee.randomness == "seeded"
        budget, scopes = _spent(guarantee)
        return cls(
            time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            population=population,
            folder=readable(folder),
            method=guarantee.method,
            model=Model.NONE if seeded else guarantee.model,
            seeded=seeded,
            budget=None if seeded else budget,
            scopes=dict.fromkeys(SCOPES) if seeded else scopes,
            kept=len(guarantee.kept),
            digest=digest,
            # What clusters count is none whose epsilon adds up.
            unit=Unit() if guarantee.has_clusters else guarantee.unit,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain values."""
        return {
            "schema": SCHEMA,
            # Whether the release did appear then, nobody knows: it counts all the same.
            "event": "announced",
            "time": self.time,
            "population": self.population,
            "folder": self.folder,
            "method": self.method,
            "model": self.model.value,
            "seeded": self.seeded,
            "budget": None if self.budget is None else self.budget.to_dict(),
            "scopes": {
                name: None if spent is None else spent.to_dict()
                for name, spent in self.scopes.items()
            },
            "kept": self.kept,
            "input": self.digest,
            # Lines of releases that protect a record are those of earlier versions.
            **({} if self.unit.column is None else {"unit": self.unit.to_dict()}),
        }

    def to_line(self) -> bytes:
        """Write the line."""
        return f"{json.dumps(self.to_dict(), ensure_ascii=False)}\n".encode()

    @classmethod
    def from_dict(cls, written: Any) -> "Entry":
        """Read what `to_dict` wrote.

        Raises
        ------
        ValueError
            If it is anything else, were it only more.
        """
        try:
            entry = cls(
                time=written["time"],
                population=written["population"],
                folder=written["folder"],
                method=written["method"],
                model=Model(written["model"]),
                seeded=written["seeded"],
                budget=_read(written["budget"]),
                scopes={name: _read(written["scopes"][name]) for name in SCOPES},
                kept=written["kept"],
                digest=written["input"],
                unit=_unit(written.get("unit")),
            )
            same = entry.to_dict() == written
        except (KeyError, TypeError, ArithmeticError):
            raise ValueError from None
        texts = (entry.time, entry.population, entry.folder, entry.method, entry.digest or "")
        kinds = isinstance(entry.seeded, bool) and isinstance(entry.kept, int)
        if not (same and kinds and all(isinstance(text, str) for text in texts)):
            raise ValueError
        return entry


def _unit(written: Any) -> Unit:
    if written is None:
        return Unit()
    unit = Unit(column=written["column"], max_rows=written["max_rows"])
    known = isinstance(unit.column, str) and type(unit.max_rows) is int and unit.max_rows > 0
    if not known or unit.to_dict() != written:
        raise ValueError
    return unit


def _read(written: Any) -> Spent | None:
    return None if written is None else Spent.from_dict(written)


def _spent(guarantee: Guarantee) -> tuple[Spent | None, dict[str, Spent | None]]:
    """Return the budget of a guarantee, and what covers each scope."""
    scopes = {
        scope.value: None
        if cover.exact_epsilon is None
        else Spent(epsilon=cover.exact_epsilon, delta=cover.exact_delta)
        for scope, cover in guarantee.scopes.by_scope.items()
    }
    if guarantee.epsilon is None:
        return None, scopes
    return Spent(epsilon=guarantee.epsilon, delta=guarantee.delta), scopes
