"""What the epsilons of a page take as given: read off the plans that were carried out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars

import microveil as mv
from microveil.compare.columns import NO_SCOPE
from microveil.guarantee import EVERY_SCOPE, Condition, Model, Scope

__all__ = ["SEE", "TITLE", "Given", "clauses_of", "given_in", "joined"]

TITLE = "What the epsilons are conditional on"
# For captions and notes of what shows an epsilon.
SEE = f"What each epsilon is conditional on stands under \u201c{TITLE}\u201d."


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A method whose epsilon a page shows, and what that hangs on.

    Attributes
    ----------
    name : str
        With its steps.
    model : Model
        The weakest of its configurations.
    scope : Scope or None
        The most that is looked at where every configuration keeps its epsilon; None where one
        keeps it nowhere.
    conditions : tuple of Condition
        Those of all its configurations.
    """

    name: str
    model: Model
    scope: Scope | None
    conditions: tuple[Condition, ...]

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Given":
        """Read it off a row of a comparison that has a ``name``."""
        return cls(
            name=row["name"],
            model=Model(row["model"]),
            scope=None if row["scope"] == NO_SCOPE else Scope(row["scope"]),
            conditions=tuple(Condition.from_dict(entry) for entry in row["conditions"]),
        )

    @classmethod
    def of_guarantee(cls, name: str, guarantee: mv.Guarantee) -> "Given":
        """Read it off a guarantee that spends an epsilon."""
        epsilon = guarantee.epsilon
        return cls(
            name=name,
            model=guarantee.model,
            scope=None if epsilon is None else guarantee.scopes.strongest_at(epsilon),
            conditions=guarantee.conditions,
        )

    @property
    def scope_in_words(self) -> str:
        """The scope's name, or that there is none."""
        return "no scope" if self.scope is None else f"{self.scope.value} scope"

    def joined_with(self, other: "Given") -> "Given":
        """Return what is so of both: the weaker model and scope, the conditions of either."""
        return Given(
            name=self.name,
            model=self.model.at_most(other.model),
            scope=min(self.scope, other.scope, key=(None, *EVERY_SCOPE).index),
            conditions=tuple(dict.fromkeys((*self.conditions, *other.conditions))),
        )


def joined(configurations: Iterable[Given]) -> tuple[Given, ...]:
    """Join the configurations of each method.

    Examples
    --------
    >>> from microveil.guarantee.condition import condition_of, noise_scales
    >>> configuration = {"name": "idp-ls", "model": Model.INDIVIDUAL, "scope": Scope.CLUSTER}
    >>> held = ((noise_scales(),), (noise_scales(), condition_of("bounds", names=["AGE"])))
    >>> (found,) = joined(Given(**configuration, conditions=conditions) for conditions in held)
    >>> clauses_of(found.conditions)
    'with the noise scales held; with the bounds held'
    """
    found: dict[str, Given] = {}
    for configuration in configurations:
        found[configuration.name] = (
            found[configuration.name].joined_with(configuration)
            if configuration.name in found
            else configuration
        )
    return tuple(found.values())


def given_in(*tables: polars.DataFrame) -> tuple[Given, ...]:
    """Read off comparisons what the epsilons in them take as given.

    Parameters
    ----------
    *tables : polars.DataFrame
        As `compare` sums them up, with ``name``. Configurations that spend no epsilon are passed
        over.

    Returns
    -------
    tuple of Given
        One for each method, in the order of the tables.
    """
    return joined(
        Given.of_row(row)
        for table in tables
        for row in table.drop_nulls("epsilon")
        .select("name", "model", "scope", "conditions")
        .iter_rows(named=True)
    )


def clauses_of(conditions: Iterable[Condition]) -> str:
    """Write conditions in a few words each, with the scopes of those that do not bear on all.

    Examples
    --------
    >>> from microveil.guarantee.condition import rank_boundaries
    >>> clauses_of([rank_boundaries()])
    'with the rank boundaries held (at vector and row scope)'
    >>> clauses_of([])
    'nothing'
    """
    return "; ".join(dict.fromkeys(map(_clause, conditions))) or "nothing"


def _clause(condition: Condition) -> str:
    if set(condition.scopes) in (set(EVERY_SCOPE), set()):
        return condition.clause
    return f"{condition.clause} (at {' and '.join(condition.scopes)} scope)"
