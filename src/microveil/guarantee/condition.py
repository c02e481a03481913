"""Conditions: what an epsilon takes as given, or leaves out, as values that travel with it.

Every place that shows an epsilon (guarantee, summary, terminal, comparison, frontier, advice,
reports) reads the conditions of the guarantee, and none derives them from a method's name. A
method states those of its own in its promise; those of a request are made where it is planned.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from microveil.guarantee.scope import EVERY_SCOPE, Scope
from microveil.guarantee.terms import Unit
from microveil.text import one_line

__all__ = [
    "OF_REQUESTS",
    "SEEDED",
    "Condition",
    "bounds",
    "categories",
    "cluster_sizes",
    "columns_chosen",
    "exact_cells",
    "in_short",
    "kept_columns",
    "labels",
    "missing_cells",
    "noise_scales",
    "outside_checked",
    "parameters_chosen",
    "people_counted",
    "rank_boundaries",
    "repeated_people",
    "resolution",
    "seeded",
    "unit_sizes",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What an epsilon takes as given, or leaves out.

    Attributes
    ----------
    id : str
    short : str
        In a few words: what is taken as given ("the noise scales"), or, where something is left
        out, the clause that says so ("not for what is released as it is: CITY").
    text : str
        In whole sentences, for whoever must answer for a release.
    is_given : bool
        Whether it is taken as given, the same for this table and its neighbours; else it is
        left out of the claim.
    scopes : tuple of Scope
        Where the epsilon hangs on it; empty where no epsilon is spent at all.

    Examples
    --------
    >>> scales = noise_scales()
    >>> scales.id, scales.clause
    ('noise-scales', 'with the noise scales held')
    """

    id: str
    short: str
    text: str
    is_given: bool = True
    scopes: tuple[Scope, ...] = EVERY_SCOPE

    @property
    def clause(self) -> str:
        """The condition behind a name, by itself."""
        return f"with {self.short} held" if self.is_given else self.short

    def at(self, scopes: Iterable[Scope]) -> "Condition":
        """Return the condition as it bears on other scopes."""
        return replace(self, scopes=tuple(scopes))

    def of(self, names: Sequence[str]) -> "Condition":
        """Return the condition as one of some attributes alone: those of a part, of several.

        >>> noise_scales().of(["INCOME", "AGE"]).clause
        'with the noise scales (INCOME, AGE) held'
        """
        return replace(self, short=f"{self.short} ({_listed(names)})")

    def in_words_of(self, names: Sequence[str]) -> "Condition":
        """Return the condition with its text as that of some attributes: others have their own."""
        return replace(self, text=f"{_listed(names)}: {self.text}")

    def to_dict(self) -> dict[str, Any]:
        """Return the condition as plain values."""
        return {
            "id": self.id,
            "scopes": [scope.value for scope in self.scopes],
            "text": self.text,
            "short": self.short,
            "is_given": self.is_given,
        }

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any]) -> "Condition":
        """Make a condition of the plain values that `to_dict` gives."""
        scopes = tuple(Scope(scope) for scope in contents["scopes"])
        return cls(**{**contents, "scopes": scopes})


def in_short(conditions: Sequence[Condition]) -> tuple[str, ...]:
    """Say conditions in a few words: what is held in one clause, what is left out in others.

    Examples
    --------
    >>> in_short([noise_scales(), cluster_sizes(), kept_columns(["CITY"])])
    ('with the noise scales and the cluster sizes of this table held',
     'not for what is released as it is: CITY')
    """
    # Of several parts two may hold the same for reasons of their own.
    given = list(dict.fromkeys(c.short for c in conditions if c.is_given))
    left_out = tuple(dict.fromkeys(c.short for c in conditions if not c.is_given))
    if not given:
        return left_out
    *first, last = given
    listed = f"{', '.join(first)} and {last}" if first else last
    return (f"with {listed} of this table held", *left_out)


def _listed(names: Sequence[str]) -> str:
    # A name is anybody's text: conditions go to terminals and pages.
    return ", ".join(map(one_line, names))


def noise_scales() -> Condition:
    """Say that the noise was fitted to this table: individual differential privacy holds it."""
    return Condition(
        id="noise-scales",
        short="the noise scales",
        text="The scales of the noise were fitted to this table. The epsilon is that of a "
        "mechanism that holds them: the same for this table and for its neighbours. The program "
        "does not run that mechanism on a neighbour, it would fit them anew, and for that nothing "
        "is promised. An example: twelve values from 10 to 21, one of them replaced by a million, "
        "protected by idp-vector at k 3 and epsilon 0.1 in a domain up to a million. That some "
        "published value exceeds 20,000 has probability 0.00 before and 0.90 after. One release "
        "can be enough to find people: where a cluster's values are alike, the noise is small "
        "whatever the epsilon, and a homogeneous cluster hides nobody. It gives no group privacy: "
        "tables that differ in two records are not compared. Large parts of tables were "
        "reconstructed at arbitrarily low individual losses (Protivash, Durrell, Kifer, Ding and "
        "Zhang 2024): a failure of the accounting, not of small epsilons.",
    )


def rank_boundaries() -> Condition:
    """Say that the borders between clusters were chosen from the data, and are held."""
    return Condition(
        id="rank-boundaries",
        short="the rank boundaries",
        text="Where it is said that the clusters are formed anew, that means by the same rank "
        "boundaries: with these held, records that pass from cluster to cluster cost no more. They "
        "were chosen from the data; were they chosen anew from the neighbour, nothing would be "
        "promised.",
        scopes=(Scope.VECTOR, Scope.ROW),
    )


def cluster_sizes() -> Condition:
    """Say that the sizes of clusters were chosen from the data, and that a release shows them."""
    return Condition(
        id="cluster-sizes",
        short="the cluster sizes",
        text="Cluster sizes were chosen from the data, and whoever counts equal values in the "
        "release sees them. They are taken to be the same for the neighbours; were they chosen "
        "anew from the neighbour, nothing would be promised. They can tell much: an intruder who "
        "knows all records but one, and sees the sizes alone, kept 7 to 57 % of about 60 values "
        "that the last one might have (two columns, 80 records; with a noise-aware partition at "
        "epsilon 0.1: 98 to 100 %, next to nothing learnt).",
    )


def bounds(names: Sequence[str]) -> Condition:
    """Say that the domain of attributes was read from the data."""
    return Condition(
        id="bounds",
        short="the bounds",
        text=f"Bounds were read from the data for {_listed(names)}. The release shows them: "
        "no claim holds for the person who has the largest or the smallest value of such an "
        "attribute, nothing in this release is differential privacy, and the scopes hold "
        "for the others with the bounds taken as given.",
    )


def categories(names: Sequence[str]) -> Condition:
    """Say that the list of categories of attributes was read from the data."""
    return Condition(
        id="categories",
        short="the lists of categories",
        text=f"Lists of categories were read from the data for {_listed(names)}. The release shows "
        "them, a category that one person alone has among them: no claim holds for that person, "
        "nothing in this release is differential privacy, and rows are not covered. The claims "
        "take the lists as given, the same for this table and its neighbours; declaring them "
        "removes the condition.",
    )


def resolution(names: Sequence[str]) -> Condition:
    """Say that the grid of attributes was read from the data."""
    return Condition(
        id="resolution",
        short="the resolutions",
        text=f"Resolutions were read from the data for {_listed(names)}: the number of decimals "
        "in use is revealed, nothing in this release is differential privacy, and the claims "
        "take the resolutions as given.",
    )


def columns_chosen() -> Condition:
    """Say that which columns are protected was found by a look at the table."""
    return Condition(
        id="columns-chosen",
        short="the choice of columns",
        text="Which columns are protected was left to a look at the table: numeric ones, without "
        "those of all-different whole numbers and those named like a person's number. One record "
        "can change that choice, and the release shows it. The claims take it as given, nothing in "
        "this release is differential privacy, and rows are not covered; naming the attributes "
        "removes the condition.",
    )


def parameters_chosen(*, looked_at: bool = False) -> Condition:
    """Say that method, k or another parameter was chosen by figures that come from the data.

    By advice, or after a look at them before anything was asked for.
    """
    if looked_at:
        return Condition(
            id="parameters-chosen",
            short="the choice of parameters",
            text="The method, k, epsilon or another parameter was chosen after a look at figures "
            "that come from this table. They are published and can tell something about it; the "
            "claims take them as given, the same for this table and its neighbours, and are then "
            "individual differential privacy at most. Rows are not covered.",
        )
    return Condition(
        id="parameters-chosen",
        short="the choice of parameters",
        text="Parameters left to advice were chosen by the error to be expected on this table. "
        "They are published and can tell something about it; the claims take them as given, the "
        "same for this table and its neighbours, and are then individual differential privacy at "
        "most. Rows are not covered.",
    )


def missing_cells(with_reasons: Sequence[str] = ()) -> Condition:
    """Say that which cells are missing is released as it is, of some attributes with the reason."""
    if with_reasons:
        return Condition(
            id="missing-cells",
            short="the missing cells, and why they are missing",
            text="Cells without a value are released as such, and those of "
            f"{_listed(with_reasons)} with the code that says why: a code is published as it is. "
            "The claims compare tables with the same cells missing for the same reasons, and say "
            "nothing about which are, or why.",
        )
    return Condition(
        id="missing-cells",
        short="the missing cells",
        text="Cells without a value are released as such; the claims compare tables with the same "
        "cells missing, and say nothing about which are.",
    )


def exact_cells() -> Condition:
    """Say that cells which need no noise by the method's rule may come out as they are."""
    return Condition(
        id="exact-cells",
        short="not for cells of clusters of equal values, which come out exactly",
        text="Clusters of equal values need no noise by the method's rule and may be published "
        "exactly as they are; this was allowed.",
        is_given=False,
    )


def kept_columns(names: Sequence[str]) -> Condition:
    """Say that columns are released unprotected."""
    listed = _listed(names)
    return Condition(
        id="kept-columns",
        short=f"not for what is released as it is: {listed}",
        text=f"Released unprotected: {listed}. No claim covers these columns; "
        "neighbouring tables have them alike.",
        is_given=False,
    )


def labels() -> Condition:
    """Say that labels of the file are released: they may have been made of the values."""
    return Condition(
        id="labels",
        short="the labels",
        text="The value labels, missing codes and column labels of the file are taken to be "
        "public: they are released as they stand. The claims compare tables with the same labels, "
        "and say nothing about what these show. A list that was made of the values, as Stata's "
        "encode makes one, shows which values there are.",
    )


def unit_sizes(unit: Unit) -> Condition:
    """Say that neighbours replace the records of one unit by as many others."""
    return Condition(
        id="unit-sizes",
        short=f"the number of records of each unit ({unit.named})",
        text="How many records each unit has, and which of the rows they are, is taken as given: "
        f"neighbouring tables have {unit.in_words} replaced by as many others, and the claims say "
        "nothing about how many these are.",
    )


def people_counted(unit: Unit) -> Condition:
    """Say that a column tells k-anonymity which records are one person's."""
    column = one_line(unit.column or "")
    return Condition(
        id="unit-sizes",
        short=f"people are told apart by {column} alone",
        text=f"Records with one value of {column} are taken to be one person's, and others to be "
        "other people's: whoever has several values of it is counted several times. How many "
        "records a person has is not hidden.",
        is_given=False,
    )


def repeated_people() -> Condition:
    """Say that k-anonymity counts records, of which several may be one person's."""
    return Condition(
        id="repeated-people",
        short="a person with several rows is counted several times",
        text="Records were counted, not people: a person with several rows is counted several "
        "times, and k rows may be those of fewer than k people, even of one. Where a column says "
        "whose a row is, name it (unit, --unit), and k different people share every combination. "
        "If every row is another person's, the two are the same.",
        is_given=False,
    )


def outside_checked(unit: Unit | None = None, *, bounds: bool = True) -> Condition:
    """Say that a table with values outside the bounds, or too large units, would be refused.

    Parameters
    ----------
    unit : Unit, optional
        Who is protected: records of a unit were counted where it is one.
    bounds : bool
        Whether the check of the bounds is taken as given.
    """
    of_unit = unit is not None and unit.column is not None
    checks = ["every value lies inside its bounds"] * bounds
    held = ["values outside the declared bounds"] * bounds
    if unit is not None and of_unit:
        checks.append(f"no unit has more than {unit.max_rows} records")
        held.append(f"more than {unit.max_rows} records of one unit")
    closing = "such values are moved to the nearer bound" if bounds else ""
    if of_unit:
        more = "records of a unit beyond its number are left out"
        closing = f"{closing}, {more}" if bounds else more
    return Condition(
        id="outside-checked",
        short=f"the check that {' and that '.join(checks)}",
        text=f"It was asked that a table with {' or '.join(held)} be refused. That "
        "this one was not tells that it has none; the claims take it as given. Without the check "
        f"{closing}, and the condition is gone.",
    )


SEEDED = "seeded"


def seeded() -> Condition:
    """Say that the randomness came from a seed."""
    return Condition(
        id=SEEDED,
        short="drawn from a seed: protects nobody",
        text="The noise came from a seed: this release protects nobody and is for experiments "
        "only.",
        is_given=False,
    )


# Those that a request brings with it, whatever its method: a comparison says them once for all.
OF_REQUESTS = frozenset(
    {
        "bounds",
        "categories",
        "resolution",
        "columns-chosen",
        "parameters-chosen",
        "missing-cells",
        "outside-checked",
        "exact-cells",
        "kept-columns",
        "labels",
        "unit-sizes",
        "repeated-people",
        SEEDED,
    }
)
