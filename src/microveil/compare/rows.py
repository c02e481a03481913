"""The tidy table of a comparison: one row for every run, its measures as columns.

A configuration that was refused has one row that says why, without a run and without measures.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars

from microveil.compare.grid import Configuration
from microveil.compare.measures import Measures
from microveil.guarantee import Condition, Scope
from microveil.guarantee.budget import rounded_up
from microveil.guarantee.condition import OF_REQUESTS
from microveil.protect.exact_audit import audit_of
from microveil.protect.plan import Plan

__all__ = [
    "CONDITIONAL",
    "FACTS",
    "GROUPS",
    "GROUP_WORDS",
    "NAMES",
    "NO_SCOPE",
    "Facts",
    "as_table",
    "conditions_in_common",
    "conditions_of",
    "own_conditions",
    "refused_row",
    "run_row",
    "schema_of",
]

SCOPES = tuple(scope.value for scope in reversed(Scope))  # the most demanding first
# Behind the name of a method whose guarantee has conditions of its own.
CONDITIONAL = "†"
# Releases that keep no epsilon at all are a group of their own.
NO_SCOPE = "none"
GROUPS = (*SCOPES, NO_SCOPE)
GROUP_WORDS = {
    "row": "Row scope",
    "vector": "Vector scope",
    "cluster": "Cluster scope",
    "none": "No epsilon",
}

# What names a configuration, what it guarantees, and what one run of it gave.
NAMES: dict[str, Any] = {
    "configuration": polars.Int64,
    "method": polars.String,
    "steps": polars.String,
    "k": polars.Int64,
    "epsilon": polars.Float64,
}
FACTS: dict[str, Any] = {
    "scope": polars.String,
    "model": polars.String,
    "delta": polars.Float64,
    "is_synthetic": polars.Boolean,
    "conditions": polars.List(
        polars.Struct(
            {
                "id": polars.String,
                "scopes": polars.List(polars.String),
                "text": polars.String,
                "short": polars.String,
                "is_given": polars.Boolean,
            }
        )
    ),
    "cluster_epsilon": polars.Float64,
    "vector_epsilon": polars.Float64,
    "row_epsilon": polars.Float64,
    "vector_loss": polars.Float64,
    "exact_cells": polars.Int64,
    "n_cells": polars.Int64,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a configuration guarantees and what is known of it before any noise.

    Attributes
    ----------
    scope : {"row", "vector", "cluster", "none"}
        The most demanding scope at which the configuration keeps its epsilon.
    epsilon : float or None
        What was asked for; where nothing was, what a matrix of the user's own spends.
    model : str
        As in `Guarantee.to_dict`.
    delta : float or None
        What the guarantee leaves out of epsilon; None where no epsilon is spent.
    is_synthetic : bool
        Whether rows follow nobody: nothing can be measured row by row.
    conditions : list of dict
        Those of the guarantee, as in `Guarantee.to_dict`.
    cluster_epsilon, vector_epsilon, row_epsilon : float or None
        The published bounds; None where the scope is not covered.
    vector_loss : float or None
        The exact loss at vector scope, which depends on the data; None where nothing bounds it.
    exact_cells, n_cells : int
        Cells that noise was due for and that come out as they are, and all cells.
    """

    scope: str
    epsilon: float | None
    model: str
    delta: float | None
    is_synthetic: bool
    conditions: list[dict[str, Any]]
    cluster_epsilon: float | None
    vector_epsilon: float | None
    row_epsilon: float | None
    vector_loss: float | None
    exact_cells: int
    n_cells: int

    @classmethod
    def of(cls, planned: Plan, configuration: Configuration) -> "Facts":
        """Read the facts off a plan."""
        claim, promised = planned.claim, planned.promised
        epsilon = configuration.epsilon if configuration.epsilon is not None else claim.epsilon
        kept = None if epsilon is None else promised.strongest_at(epsilon, claim.delta)
        return cls(
            scope=NO_SCOPE if kept is None else kept.value,
            epsilon=None if epsilon is None else float(epsilon),
            model=claim.model.value,
            delta=None if epsilon is None else rounded_up(claim.delta),
            is_synthetic=claim.is_synthetic,
            conditions=[condition.to_dict() for condition in claim.conditions],
            cluster_epsilon=promised.cluster.epsilon,
            vector_epsilon=promised.vector.epsilon,
            row_epsilon=promised.row.epsilon,
            vector_loss=audit_of(planned).vector_scope,
            exact_cells=sum(part.exact_cells for part in planned.attributes),
            n_cells=sum(part.n_cells for part in planned.attributes),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as the columns of a row."""
        return {name: getattr(self, name) for name in FACTS}


def conditions_of(row: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Return the conditions that a row's epsilon hangs on at the scope that it keeps.

    Examples
    --------
    >>> held = {
    ...     "id": "noise-scales",
    ...     "scopes": ["vector"],
    ...     "short": "the noise scales",
    ...     "text": "They were fitted to this table.",
    ...     "is_given": True,
    ... }
    >>> [one.clause for one in conditions_of({"scope": "vector", "conditions": [held]})]
    ['with the noise scales held']
    >>> conditions_of({"scope": "cluster", "conditions": [held]})
    ()
    """
    every = (Condition.from_dict(entry) for entry in row.get("conditions") or ())
    return tuple(one for one in every if row["scope"] == NO_SCOPE or row["scope"] in one.scopes)


def conditions_in_common(rows: Sequence[Mapping[str, Any]]) -> tuple[Condition, ...]:
    """Return the conditions that requests brought with them and that all claims hang on.

    Only rows that keep an epsilon claim anything; where none does, all of them count.
    """
    spending = [row for row in rows if row["scope"] not in (None, NO_SCOPE)]
    found = [conditions_of(row) for row in spending or rows if row["scope"] is not None]
    shared = found[0] if found else ()
    return tuple(
        one
        for one in shared
        if one.id in OF_REQUESTS and all(any(one.text == o.text for o in own) for own in found)
    )


def own_conditions(row: Mapping[str, Any], common: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return the conditions of a row that are not said for all claims."""
    said = {condition.text for condition in common}
    return tuple(condition for condition in conditions_of(row) if condition.text not in said)


def run_row(
    configuration: Configuration,
    facts: Facts,
    run: int,
    seed: int | None,
    figures: Mapping[str, float | None],
) -> dict[str, Any]:
    """Make the row of a run."""
    known = {**_named(configuration), **facts.to_dict(), "epsilon": facts.epsilon}
    return {**known, "run": run, "seed": seed, **figures}


def refused_row(configuration: Configuration, reason: str) -> dict[str, Any]:
    """Make the row of a configuration that was refused."""
    return {**_named(configuration), "refused": reason}


def schema_of(measures: Measures) -> dict[str, Any]:
    """Return the columns of the tidy table with their types."""
    return {
        **NAMES,
        **FACTS,
        "run": polars.Int64,
        "seed": polars.Int64,
        **dict.fromkeys(measures.names, polars.Float64),
        "refused": polars.String,
    }


def as_table(rows: Iterable[Mapping[str, Any]], measures: Measures) -> polars.DataFrame:
    """Lay rows out as the tidy table: in the order of the grid, whatever order they came in."""
    schema = schema_of(measures)
    whole = [{name: row.get(name) for name in schema} for row in rows]
    return polars.DataFrame(whole, schema=schema).sort("configuration", "run")


def _named(configuration: Configuration) -> dict[str, Any]:
    return {
        "configuration": configuration.number,
        "method": configuration.choice.name,
        "steps": configuration.choice.written_steps,
        "k": configuration.k,
        "epsilon": None if configuration.epsilon is None else float(configuration.epsilon),
    }
