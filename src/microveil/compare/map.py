"""The risk-utility map: a loss against a risk, as figures for whoever draws them.

A panel holds what guarantees the same: one scope, one epsilon. All panels share their axes. The
loss is the information loss, or where rows of some method follow nobody what stands for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars

from microveil.compare.measures import RISK, baseline_of, loss_of, risks_of
from microveil.compare.results import Comparison
from microveil.compare.rows import GROUP_WORDS, GROUPS, conditions_of
from microveil.errors import RequestError
from microveil.measures.registry import MEASURES

__all__ = ["Panel", "Point", "Series", "risk_utility_map"]

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One configuration: its means over runs with their 95 % intervals.

    Attributes
    ----------
    configuration : int
    k : int or None
    loss, risk : float
        In the units of their measures. Where rows follow nobody the risk of being found again is
        0 by what it is, and was not measured.
    loss_interval, risk_interval : (float, float) or None
        None for a single run, and of a risk that was not measured.
    on_frontier : bool
        Of the means over runs.
    is_synthetic : bool
        Whether rows follow nobody.
    """

    configuration: int
    k: int | None
    loss: float
    risk: float
    loss_interval: Interval | None
    risk_interval: Interval | None
    on_frontier: bool
    is_synthetic: bool = False

    def __repr__(self) -> str:
        """Name the configuration without its figures, which are the custodian's."""
        return f"Point(configuration {self.configuration}, k {self.k})"

    def to_dict(self) -> dict[str, Any]:
        """Return the point as plain values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One method with its steps, over k ascending.

    Attributes
    ----------
    name : str
    model : str
        As in `Guarantee.to_dict`.
    conditions : tuple of str
        What its guarantee takes as given and leaves out, a clause each.
    points : tuple of Point
    """

    name: str
    model: str
    conditions: tuple[str, ...]
    points: tuple[Point, ...]

    def __repr__(self) -> str:
        """Name the series without its figures, which are the custodian's."""
        return f"Series({self.name}, {len(self.points)} points)"

    def to_dict(self) -> dict[str, Any]:
        """Return the series as plain values."""
        return {
            "name": self.name,
            "model": self.model,
            "conditions": list(self.conditions),
            "points": [point.to_dict() for point in self.points],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """What guarantees the same.

    Attributes
    ----------
    scope : {"row", "vector", "cluster", "none"}
    epsilon : float or None
    title : str
    loss, risk : str
        The measures on the axes.
    chance : float or None
        What blind guessing links, in percent.
    series : tuple of Series
    """

    scope: str
    epsilon: float | None
    title: str
    loss: str
    risk: str
    chance: float | None
    series: tuple[Series, ...]

    def __repr__(self) -> str:
        """Name the panel without its figures, which are the custodian's."""
        return f"Panel({self.title}, {len(self.series)} series)"

    def to_dict(self) -> dict[str, Any]:
        """Return the panel as plain values."""
        return {
            "scope": self.scope,
            "epsilon": self.epsilon,
            "title": self.title,
            "loss": self.loss,
            "loss_in_words": MEASURES[self.loss].label,
            "risk": self.risk,
            "risk_in_words": MEASURES[self.risk].label,
            "chance": self.chance,
            "series": [series.to_dict() for series in self.series],
        }


def risk_utility_map(comparison: Comparison, risk: str = RISK) -> tuple[Panel, ...]:
    """Lay a comparison out as a risk-utility map.

    Parameters
    ----------
    comparison : Comparison
    risk : str
        The id of a measure that is a risk, "record_linkage_by_rank" for example.

    Returns
    -------
    tuple of Panel
        By scope, the most demanding first, then by epsilon. What has no figure is left out.

    Raises
    ------
    RequestError
        If there is no such risk, or it was not measured.

    Examples
    --------
    >>> import numpy as np
    >>> from microveil.compare import compare
    >>> found = compare({"AGE": np.arange(20, 80)}, methods="mdav", k=[3, 5], attributes="AGE")
    >>> [(panel.title, len(panel.series[0].points)) for panel in risk_utility_map(found)]
    [('No epsilon', 2)]
    """
    risks = risks_of(MEASURES)
    if risk not in risks:
        raise RequestError(
            f"risk '{risk}'", "there is no such risk", f"choose from {', '.join(risks)}"
        )
    if risk not in comparison.summary.columns:
        raise RequestError(
            f"risk '{risk}'",
            "record linkage was not measured, so that there is no map",
            "compare with linkage=True",
        )
    kept = comparison.frontier.filter(polars.col("risk") == risk)["configuration"].to_list()
    loss = loss_of(comparison.summary).id
    linked = polars.col(risk).is_not_null() | polars.col("is_synthetic")
    configurations = comparison.summary.filter(polars.col(loss).is_not_null() & linked).to_dicts()
    panels = []
    for scope in GROUPS:
        own = [row for row in configurations if row["scope"] == scope]
        for epsilon in sorted({row["epsilon"] for row in own}, key=lambda e: e or 0.0):
            rows = [row for row in own if row["epsilon"] == epsilon]
            panels.append(_panel(scope, epsilon, (loss, risk), rows, set(kept)))
    return tuple(panels)


def _panel(
    scope: str,
    epsilon: float | None,
    measures: tuple[str, str],
    rows: list[dict[str, Any]],
    kept: set[int],
) -> Panel:
    loss, risk = measures
    choices = dict.fromkeys((row["method"], row["steps"], row["model"]) for row in rows)
    chances = (baseline_of(risk, row) for row in rows)
    return Panel(
        scope=scope,
        epsilon=epsilon,
        title=GROUP_WORDS[scope] + ("" if epsilon is None else f", epsilon {epsilon:g}"),
        loss=loss,
        risk=risk,
        chance=next((chance for chance in chances if chance is not None), None),
        series=tuple(
            Series(
                name=":".join(part for part in (method, steps) if part),
                model=model,
                conditions=_clauses(rows, method, steps),
                points=tuple(
                    _point(row, measures, kept)
                    for row in sorted(rows, key=lambda row: row["k"] or 0)
                    if (row["method"], row["steps"], row["model"]) == (method, steps, model)
                ),
            )
            for method, steps, model in choices
        ),
    )


def _clauses(rows: list[dict[str, Any]], method: str, steps: str) -> tuple[str, ...]:
    own = [row for row in rows if (row["method"], row["steps"]) == (method, steps)]
    found = [condition.clause for row in own for condition in conditions_of(row)]
    found += [f"but for a delta of {row['delta']:g}" for row in own if row["delta"]]
    return tuple(dict.fromkeys(found))


def _point(row: Mapping[str, Any], measures: tuple[str, str], kept: set[int]) -> Point:
    loss, risk = measures
    return Point(
        configuration=row["configuration"],
        k=row["k"],
        loss=row[loss],
        risk=0.0 if row["is_synthetic"] else row[risk],
        loss_interval=_interval(row, loss),
        risk_interval=_interval(row, risk),
        on_frontier=row["configuration"] in kept,
        is_synthetic=row["is_synthetic"],
    )


def _interval(row: Mapping[str, Any], measure: str) -> Interval | None:
    low, high = row[f"{measure}_low"], row[f"{measure}_high"]
    return None if low is None else (low, high)
