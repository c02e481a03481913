"""What the releases of one population come to together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from typing import Any

from microveil.guarantee import Model
from microveil.ledger.entries import SCOPES, Entry, Spent
from microveil.text import one_line
from microveil.text.document import Items, plain

__all__ = ["ScopeSum", "Totals"]

# An exact fraction that is longer is not shown beside its decimals.
LONGEST_SHOWN = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeSum:
    """The sum at one scope, over the releases that cover it by differential privacy."""

    spent: Spent
    n_releases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What the releases of one population come to, as far as the ledger knows of them.

    Releases are counted by the model in force, those drawn from a seed apart. `n_of_units` protect
    all records of a unit together, those of the columns `units`. `n_same_file` are of the file
    that was asked about, under this population and, `n_same_file_elsewhere`, under others.
    """

    population: str
    begun: str
    n_releases: int
    sums: Mapping[str, ScopeSum]
    n_differential_privacy: int
    n_individual: int
    n_k_anonymity: int
    n_none: int
    n_seeded: int
    n_with_kept_columns: int
    units: tuple[str, ...]
    n_of_units: int
    n_same_file: int
    n_same_file_elsewhere: int
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
        return cls(
            population=population,
            begun=begun,
            n_releases=len(ours),
            sums={name: _sum(ours, name) for name in SCOPES},
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
        left_out = {"units"} if self.n_of_units else {"units", "n_of_units"}
        sums = {
            name: {"n_releases": found.n_releases, **found.spent.to_dict()}
            for name, found in self.sums.items()
        }
        return {
            **{name: own for name, own in self._fields().items() if name not in left_out},
            "sums": sums,
            "in_words": list(self.in_words()),
        }

    def in_words(self) -> tuple[str, ...]:
        """Return the totals as sentences, each by itself a line."""
        from microveil.text.templates import document_of

        told = {**self._fields(), "units": [*map(one_line, self.units)], "figure": _figure}
        (sentences,) = document_of("ledger/totals.jinja", **told).blocks
        assert isinstance(sentences, Items)  # noqa: S101 -- as the template has it
        return tuple(map(plain, sentences.items))

    def _fields(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


def _sum(entries: Iterable[Entry], name: str) -> ScopeSum:
    covering = [
        spent
        for entry in entries
        if entry.model is Model.DIFFERENTIAL_PRIVACY
        and not entry.seeded
        and (spent := entry.scopes[name]) is not None
    ]
    return ScopeSum(spent=sum(covering, Spent(epsilon=Fraction(0))), n_releases=len(covering))


def _figure(number: Fraction) -> str:
    """Write six digits, rounded up, and the fraction where they are not all of it.

    >>> _figure(Fraction(3, 10)), _figure(Fraction(1, 3))
    ('0.3', '0.333334 (exactly 1/3)')
    """
    with localcontext() as context:
        context.prec, context.rounding = 6, ROUND_CEILING
        decimals = Decimal(number.numerator) / Decimal(number.denominator)
    decimal, exact = f"{float(decimals):.6g}", str(number)
    if Fraction(decimals) == number or len(exact) > LONGEST_SHOWN:
        return decimal
    return f"{decimal} (exactly {exact})"
