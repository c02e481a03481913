"""What stands in a ledger: a line for each release, and what those of a population come to."""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from microveil.guarantee import Guarantee, Model, Scope, Unit
from microveil.guarantee.budget import six_digits
from microveil.text import one_line, readable
from microveil.text.document import Items, plain

SCOPES = tuple(scope.value for scope in Scope)
# What a line holds as it is.
_PLAIN: Mapping[str, type] = {
    "time": str, "population": str, "folder": str, "method": str, "seeded": bool, "kept": int,
}  # fmt: skip
# An exact fraction that is longer is not shown beside its decimals.
LONGEST_SHOWN = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """An epsilon and a delta, exactly."""

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


NOTHING = Spent(epsilon=Fraction(0))


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
        spent = {"budget": (guarantee.epsilon, guarantee.delta)} | {
            scope.value: (cover.exact_epsilon, cover.exact_delta)
            for scope, cover in guarantee.scopes.by_scope.items()
        }
        known = {
            name: None if seeded or epsilon is None else Spent(epsilon=epsilon, delta=delta)
            for name, (epsilon, delta) in spent.items()
        }
        return cls(
            time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            population=population,
            folder=readable(folder),
            method=guarantee.method,
            model=Model.NONE if seeded else guarantee.model,
            seeded=seeded,
            budget=known["budget"],
            scopes={name: known[name] for name in SCOPES},
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
            **{name: getattr(self, name) for name in ("time", "population", "folder", "method")},
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
        texts, rows = (entry.digest or "", entry.unit.column or ""), entry.unit.max_rows
        typed = all(isinstance(written[name], kind) for name, kind in _PLAIN.items())
        of_unit = type(rows) is int and rows > 0 and all(isinstance(text, str) for text in texts)
        if not (same and typed and of_unit):
            raise ValueError
        return entry


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeSum:
    """The sum at one scope, over the releases that cover it by differential privacy."""

    spent: Spent
    n_releases: int


@dataclass(frozen=True, kw_only=True)
class Totals:
    """What the releases of one population come to, as far as the ledger knows of them."""

    population: str
    begun: str
    n_releases: int
    sums: Mapping[str, ScopeSum]
    n_differential_privacy: int  # by the model in force, those drawn from a seed apart
    n_individual: int
    n_k_anonymity: int
    n_none: int
    n_seeded: int
    n_with_kept_columns: int
    units: tuple[str, ...]  # their columns
    n_of_units: int  # that protect all records of a unit together
    n_same_file: int  # of the file that was asked about
    n_same_file_elsewhere: int  # and under other populations
    n_populations: int

    @classmethod
    def of(
        cls, entries: Iterable[Entry], population: str, *, begun: str, digest: str | None = None
    ) -> "Totals":
        """Add up the lines of a population; count those of the file with a keyed digest."""
        everything = list(entries)
        ours = [entry for entry in everything if entry.population == population]
        of_file = [entry for entry in everything if digest is not None and entry.digest == digest]
        models = [None if entry.seeded else entry.model for entry in ours]
        units = [entry.unit.column for entry in ours if entry.unit.column is not None]
        n_same_file = sum(entry.population == population for entry in of_file)
        formal = [own for own in ours if own.model is Model.DIFFERENTIAL_PRIVACY and not own.seeded]
        spent = {name: [own.scopes[name] for own in formal] for name in SCOPES}
        found = {name: [one for one in every if one] for name, every in spent.items()}
        return cls(
            population=population,
            begun=begun,
            n_releases=len(ours),
            sums={
                name: ScopeSum(spent=sum(own, NOTHING), n_releases=len(own))
                for name, own in found.items()
            },
            n_differential_privacy=models.count(Model.DIFFERENTIAL_PRIVACY),
            n_individual=models.count(Model.INDIVIDUAL),
            n_k_anonymity=models.count(Model.K_ANONYMITY),
            n_none=models.count(Model.NONE),
            n_seeded=models.count(None),
            n_with_kept_columns=sum(entry.kept > 0 for entry in ours),
            units=tuple(dict.fromkeys(units)),
            n_of_units=len(units),
            n_same_file=n_same_file,
            n_same_file_elsewhere=len(of_file) - n_same_file,
            n_populations=len({entry.population for entry in everything}),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as plain values, and in words."""
        told = {**vars(self)}
        del told["units"]
        if not self.n_of_units:
            del told["n_of_units"]
        sums = {
            name: {"n_releases": found.n_releases, **found.spent.to_dict()}
            for name, found in self.sums.items()
        }
        return {**told, "sums": sums, "in_words": list(self.in_words())}

    def in_words(self) -> tuple[str, ...]:
        """Return the totals as sentences, each by itself a line."""
        from microveil.text.templates import document_of

        told = {**vars(self), "units": [*map(one_line, self.units)], "figure": _figure}
        (sentences,) = document_of("ledger/totals.jinja", **told).blocks
        assert isinstance(sentences, Items)  # noqa: S101 -- as the template has it
        return tuple(map(plain, sentences.items))


def _figure(number: Fraction) -> str:
    """Write six digits, rounded up, and the fraction where they are not all of it."""
    shown, exact = six_digits(number), str(number)
    is_all = Fraction(shown) == number or len(exact) > LONGEST_SHOWN
    return shown if is_all else f"{shown} (exactly {exact})"
