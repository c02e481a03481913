"""The columns of a comparison: what names a run, what it guarantees, what is measured of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars

from microveil.compare.grid import Configuration
from microveil.guarantee import Condition, Scope
from microveil.guarantee.budget import rounded_up
from microveil.guarantee.condition import OF_REQUESTS
from microveil.measures.base import RELEASE, Better, By, Measure
from microveil.measures.information_loss import LOSS
from microveil.measures.registry import MEASURES
from microveil.protect.exact_audit import audit_of
from microveil.protect.plan import Plan, all_figures

# The risk that frontiers and maps show first.
RISK = "record_linkage_standardised"
# What measures for the sake of releases without pairs are asked by, that look for records.
UNPAIRED = "unpaired"
# Releases that keep no epsilon at all are a group of their own.
NO_SCOPE = "none"
# The most demanding first: only what is of one group is held against each other.
GROUPS = {
    **{scope.value: f"{scope.value.capitalize()} scope" for scope in reversed(Scope)},
    NO_SCOPE: "No epsilon",
}

NAMES: dict[str, Any] = {
    "configuration": polars.Int64,
    "method": polars.String,
    "steps": polars.String,
    "k": polars.Int64,
    "epsilon": polars.Float64,
}
CONDITION: dict[str, Any] = {
    "id": polars.String,
    "scopes": polars.List(polars.String),
    "text": polars.String,
    "short": polars.String,
    "is_given": polars.Boolean,
}
FACTS: dict[str, Any] = {
    "scope": polars.String,
    "model": polars.String,
    "delta": polars.Float64,
    "is_synthetic": polars.Boolean,
    "conditions": polars.List(polars.Struct(CONDITION)),
    "cluster_epsilon": polars.Float64,
    "vector_epsilon": polars.Float64,
    "row_epsilon": polars.Float64,
    "vector_loss": polars.Float64,
    "exact_cells": polars.Int64,
    "n_cells": polars.Int64,
}

Row = Mapping[str, Any]


def facts_of(planned: Plan, configuration: Configuration) -> dict[str, Any]:
    """Say what a configuration guarantees: its group, bounds and conditions, the exact loss."""
    claim, promised = planned.claim, planned.promised
    # Where nothing was asked for, what a matrix of the user's own spends.
    epsilon = configuration.epsilon if configuration.epsilon is not None else claim.epsilon
    kept = None if epsilon is None else promised.strongest_at(epsilon, claim.delta)
    figures = all_figures(planned)
    return {
        "epsilon": None if epsilon is None else float(epsilon),
        "scope": NO_SCOPE if kept is None else kept.value,
        "model": claim.model.value,
        "delta": None if epsilon is None else rounded_up(claim.delta),
        "is_synthetic": claim.is_synthetic,
        "conditions": [condition.to_dict() for condition in claim.conditions],
        "cluster_epsilon": promised.cluster.epsilon,
        "vector_epsilon": promised.vector.epsilon,
        "row_epsilon": promised.row.epsilon,
        "vector_loss": audit_of(planned).vector_scope,
        "exact_cells": int(sum(own.exact_cells for own in figures)),
        "n_cells": int(sum(own.n_cells for own in figures)),
    }


def conditions_of(row: Row) -> tuple[Condition, ...]:
    """Return the conditions that a row's epsilon hangs on at the scope that it keeps."""
    every = (Condition.from_dict(entry) for entry in row.get("conditions") or ())
    return tuple(one for one in every if row["scope"] == NO_SCOPE or row["scope"] in one.scopes)


def conditions_in_common(rows: Sequence[Row]) -> tuple[Condition, ...]:
    """Return what requests brought with them and all claims hang on, or all rows without one."""
    spending = [row for row in rows if row["scope"] not in (None, NO_SCOPE)]
    found = [conditions_of(row) for row in spending or rows if row["scope"] is not None]
    return tuple(
        one
        for one in (found[0] if found else ())
        if one.id in OF_REQUESTS and all(any(one.text == o.text for o in own) for own in found)
    )


def own_conditions(row: Row, common: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return the conditions of a row that are not said for all claims."""
    said = {condition.text for condition in common}
    return tuple(condition for condition in conditions_of(row) if condition.text not in said)


def of_class(measure: str, label: str) -> str:
    """Name the column of a class."""
    return f"{measure}[{label}]"


def risks_of(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the risks among some columns that the loss is held against."""
    known = set(columns)
    return tuple(one.id for one in MEASURES.values() if one.id in known and one.use.on_frontier)


def risk_of(columns: Iterable[str]) -> str | None:
    """Return the risk among some columns that is shown first; None where there is none."""
    risks = risks_of(columns)
    return RISK if RISK in risks else next(iter(risks), None)


def loss_of(summary: polars.DataFrame) -> Measure:
    """Return the loss that all rank by, or what stands for it where some rows follow nobody."""
    if not summary["is_synthetic"].any():
        return LOSS
    stand_ins = (one for one in reversed(MEASURES.values()) if one.use.stands_for_loss)
    known = (one for one in stand_ins if one.id in summary.columns and summary[one.id].count())
    return next(known, LOSS)


def without_pairs(measure: Measure) -> bool:
    """Say whether a measure is taken for the sake of methods whose rows follow nobody."""
    use = measure.compared
    return (
        (use is None or use.stands_for_loss)
        and measure.by is By.TABLE
        and not measure.needs_pairs
        and measure.asked_by in {"", UNPAIRED}
        and measure.takes is not RELEASE
        and measure.better is not Better.UNCHANGED
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One figure of a run: of the table, or of the class that its label names."""

    measure: Measure
    label: str = ""

    @property
    def name(self) -> str:
        """The name of the column."""
        return of_class(self.measure.id, self.label) if self.label else self.measure.id

    @property
    def title(self) -> str:
        """The measure in words, and of which class."""
        return self.measure.title + (f", class {self.label}" if self.label else "")


@dataclass(frozen=True, slots=True)
class Measures:
    """What is measured, as descriptions have it: of a classifier what it is known again by."""

    asked: Mapping[str, Any] = field(default_factory=lambda: {"linkage": True})

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> "Measures":
        """Read the measures off the description of a comparison."""
        return cls({"linkage": True, **description.get("measures", {})})

    def asks(self, measure: Measure) -> bool:
        """Whether a measure is asked for, or needs no asking."""
        if without_pairs(measure):
            is_linked = self.asked["linkage"] or measure.asked_by != UNPAIRED
            return bool(self.asked.get(UNPAIRED)) and is_linked
        asked = not measure.asked_by or bool(self.asked.get(measure.asked_by))
        return asked and measure.compared is not None

    @property
    def measured(self) -> tuple[Measure, ...]:
        """The measures of every run."""
        return tuple(filter(self.asks, MEASURES.values()))

    @property
    def all(self) -> tuple[Column, ...]:
        """Every figure of a run, in the order of the columns: those of a class stand together."""
        of_classes = [measure for measure in self.measured if measure.by is By.CLASS]
        found = []
        for measure in self.measured:
            if measure.by is not By.CLASS:
                found.append(Column(measure=measure))
            elif measure is of_classes[0]:
                found += [
                    Column(measure=one, label=label)
                    for label in self.asked["labels"]
                    for one in of_classes
                ]
        return tuple(found)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all figures."""
        return tuple(column.name for column in self.all)

    @property
    def risks(self) -> tuple[str, ...]:
        """The risks that the loss is held against."""
        return risks_of(self.names)


def schema_of(measures: Measures) -> dict[str, Any]:
    """Return the columns of the table of runs with their types."""
    return {
        **NAMES,
        **FACTS,
        "run": polars.Int64,
        "seed": polars.Int64,
        **dict.fromkeys(measures.names, polars.Float64),
        "refused": polars.String,
    }


def as_table(rows: Iterable[Row], measures: Measures) -> polars.DataFrame:
    """Lay rows out in the order of the grid, whatever order they came in."""
    schema = schema_of(measures)
    whole = [{name: row.get(name) for name in schema} for row in rows]
    return polars.DataFrame(whole, schema=schema).sort("configuration", "run")
