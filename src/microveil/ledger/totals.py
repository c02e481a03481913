"""What the releases of one population come to together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from typing import Any

from microveil.guarantee import Model
from microveil.ledger.entries import SCOPES, Entry, Spent
from microveil.text import one_line

__all__ = ["ScopeSum", "Totals"]

# An exact fraction that is longer is not shown beside its decimals.
LONGEST_SHOWN = 24
OF_INDIVIDUAL = (
    "By individual differential privacy: {}, counted and not added up. It does not compose as "
    "differential privacy does: no epsilon holds for several releases together, nor for one of "
    "them beside others."
)
OF_K_ANONYMITY = (
    "By k-anonymity: {}, counted. It bounds nothing for several releases together: records that "
    "share a cluster in one can be told apart by another."
)
OF_KEPT_COLUMNS = "With columns released as they are: {}. No epsilon covers these columns."


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeSum:
    """The sum at one scope, over the releases that cover it by differential privacy.

    Attributes
    ----------
    spent : Spent
    n_releases : int
        How many are in the sum.
    """

    spent: Spent
    n_releases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What the releases of one population come to, as far as the ledger knows of them.

    Attributes
    ----------
    population : str
    begun : str
        When the ledger was begun: it knows of no release before.
    n_releases : int
    sums : dict of ScopeSum
        By scope.
    n_differential_privacy, n_individual, n_k_anonymity, n_none, n_seeded : int
        How many releases have which model in force; those drawn from a seed are counted apart.
    n_with_kept_columns : int
        How many released columns as they are.
    units : tuple of str
        The columns whose units are protected by some, each once.
    n_of_units : int
        How many protect all records of a unit together.
    n_same_file, n_same_file_elsewhere : int
        How many are of the file that was asked about, under this population and under others.
    n_populations : int
        How many the ledger counts in all.
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
        """Add up the lines of a population.

        Parameters
        ----------
        entries : iterable of Entry
            Of all populations.
        population : str
        begun : str
        digest : str, optional
            Keyed, of a file: how often it is there is counted.
        """
        everything = list(entries)
        ours = [entry for entry in everything if entry.population == population]
        of_file = [entry for entry in everything if digest is not None and entry.digest == digest]
        models = [Model.NONE if entry.seeded else entry.model for entry in ours]
        n_seeded = sum(entry.seeded for entry in ours)
        return cls(
            population=population,
            begun=begun,
            n_releases=len(ours),
            sums={name: _sum(ours, name) for name in SCOPES},
            n_differential_privacy=models.count(Model.DIFFERENTIAL_PRIVACY),
            n_individual=models.count(Model.INDIVIDUAL),
            n_k_anonymity=models.count(Model.K_ANONYMITY),
            n_none=models.count(Model.NONE) - n_seeded,
            n_seeded=n_seeded,
            n_with_kept_columns=sum(entry.kept > 0 for entry in ours),
            units=tuple(dict.fromkeys(e.unit.column for e in ours if e.unit.column is not None)),
            n_of_units=sum(entry.unit.column is not None for entry in ours),
            n_same_file=sum(entry.population == population for entry in of_file),
            n_same_file_elsewhere=sum(entry.population != population for entry in of_file),
            n_populations=len({entry.population for entry in everything}),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as plain values, and in words."""
        return {
            "population": self.population,
            "begun": self.begun,
            "n_releases": self.n_releases,
            "sums": {
                name: {"n_releases": found.n_releases, **found.spent.to_dict()}
                for name, found in self.sums.items()
            },
            "n_differential_privacy": self.n_differential_privacy,
            "n_individual": self.n_individual,
            "n_k_anonymity": self.n_k_anonymity,
            "n_none": self.n_none,
            "n_seeded": self.n_seeded,
            "n_with_kept_columns": self.n_with_kept_columns,
            **({"n_of_units": self.n_of_units} if self.n_of_units else {}),
            "n_same_file": self.n_same_file,
            "n_same_file_elsewhere": self.n_same_file_elsewhere,
            "n_populations": self.n_populations,
            "in_words": list(self.in_words()),
        }

    def in_words(self) -> tuple[str, ...]:
        """Return the totals as sentences, each by itself a line."""
        return (
            (
                f"Releases of the population '{self.population}' since {self.begun[:10]}, when "
                f"this ledger was begun: {self.n_releases}."
            ),
            *self._sums_in_words(),
            *self._others_in_words(),
            *self._hints(),
        )

    def _sums_in_words(self) -> tuple[str, ...]:
        if not self.n_differential_privacy:
            return ()
        deltas = any(found.spent.delta for found in self.sums.values())
        added = "epsilons and deltas" if deltas else "epsilons"
        return (
            (
                f"By differential privacy: {self.n_differential_privacy}. Their {added} add up, "
                "each under the conditions of its own guarantee:"
            ),
            *(self._sum_in_words(name, found) for name, found in self.sums.items()),
            *self._whose_in_words(),
        )

    def _whose_in_words(self) -> tuple[str, ...]:
        """Say of whom the sums speak, where releases protect units."""
        if not self.n_of_units:
            return ()
        listed = ", ".join(map(one_line, self.units))
        if len(self.units) == 1 and self.n_of_units == self.n_releases:
            return (f"Each of them protects all records of one unit together ({listed}).",)
        return (
            (
                f"{self.n_of_units} of the {self.n_releases} protect all records of one unit "
                f"together ({listed}), and not all of them the same: the sums bound what is shown "
                "of one record, and of a whole unit they do not."
            ),
        )

    def _sum_in_words(self, name: str, found: ScopeSum) -> str:
        if not found.n_releases:
            return f"{name} scope: no sum, as no release covers it by differential privacy."
        delta = f", delta {_shown(found.spent.delta)}" if found.spent.delta else ""
        words = (
            f"{name} scope: epsilon {_shown(found.spent.epsilon)}{delta} in all, over "
            f"{_count(found.n_releases, 'release')}"
        )
        left = self.n_releases - found.n_releases
        if not left:
            return f"{words}."
        covers = "does not cover it" if left == 1 else "do not cover it"
        return (
            f"{words}; {left} of the {self.n_releases} {covers} by differential privacy, so "
            "nothing bounds what all of them reveal together."
        )

    def _others_in_words(self) -> tuple[str, ...]:
        counted = (
            (self.n_individual, OF_INDIVIDUAL),
            (self.n_k_anonymity, OF_K_ANONYMITY),
            (self.n_none, "Without any formal promise: {}."),
            (self.n_seeded, "Drawn from a seed: {}. Such a release protects nobody."),
            (self.n_with_kept_columns, OF_KEPT_COLUMNS),
        )
        return tuple(sentence.format(count) for count, sentence in counted if count)

    def _hints(self) -> tuple[str, ...]:
        hints = []
        if self.n_same_file > 1:
            hints.append(
                f"The same file was released {self.n_same_file} times under this population: "
                "each release of it counts."
            )
        if self.n_same_file_elsewhere:
            hints.append(
                "The same file was also released under the name of another population "
                f"({_count(self.n_same_file_elsewhere, 'release')}): that is not counted here, "
                "though it is about the same people."
            )
        if self.n_releases == 1 and self.n_populations > 1:
            hints.append(
                f"The ledger counts {_count(self.n_populations - 1, 'other population')} apart: "
                "a name that is spelled otherwise is another population."
            )
        return tuple(hints)


def _sum(entries: Iterable[Entry], name: str) -> ScopeSum:
    covering = [
        spent
        for entry in entries
        if entry.model is Model.DIFFERENTIAL_PRIVACY
        and not entry.seeded
        and (spent := entry.scopes[name]) is not None
    ]
    return ScopeSum(spent=sum(covering, Spent(epsilon=Fraction(0))), n_releases=len(covering))


def _shown(number: Fraction) -> str:
    """Write six digits, rounded up, and the fraction where they are not all of it.

    >>> _shown(Fraction(3, 10)), _shown(Fraction(1, 3))
    ('0.3', '0.333334 (exactly 1/3)')
    """
    with localcontext() as context:
        context.prec, context.rounding = 6, ROUND_CEILING
        decimals = Decimal(number.numerator) / Decimal(number.denominator)
    decimal, exact = f"{float(decimals):.6g}", str(number)
    if Fraction(decimals) == number or len(exact) > LONGEST_SHOWN:
        return decimal
    return f"{decimal} (exactly {exact})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
