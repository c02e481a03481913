"""The Pareto frontier: what no other configuration of the same guarantee beats.

Configurations are held against each other within a scope alone. Within it, a configuration is
beaten by one that guarantees at least as much (an epsilon no larger, a model no weaker, no
condition that the other has not) with no more loss and no more risk, and less of one
of them; what nothing beats is Pareto-optimal. So a cluster-scope epsilon never beats a vector-scope
one, individual differential privacy never differential privacy, epsilon 1 never epsilon 0.1, and
what is conditional on cluster sizes never what is not, what leaves a delta out never what leaves
none. A release whose rows follow nobody has no record to be found again: its risk is none, by what
linkage is and not by a measurement.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars
from numpy.typing import ArrayLike, NDArray

from microveil.compare.measures import loss_of, risks_of
from microveil.compare.rows import GROUPS, NO_SCOPE, conditions_of
from microveil.evaluation.measures.linkage import CHANCE
from microveil.privacy import Model

__all__ = ["beaten_apart", "excluded_of", "frontier_of", "unbeaten"]

# What names a Pareto-optimal configuration.
ENDS = ("", "_low", "_high")
NAMES = (
    "scope", "configuration", "method", "steps", "k", "epsilon", "delta", "model", "is_synthetic",
    "conditions",
)  # fmt: skip


def unbeaten(
    losses: ArrayLike,
    risks: ArrayLike,
    epsilons: ArrayLike,
    strengths: ArrayLike,
    conditions: ArrayLike | None = None,
) -> NDArray[np.bool_]:
    """Say which configurations are Pareto-optimal: no other beats them.

    Parameters
    ----------
    losses, risks, epsilons, strengths : array_like (n_configurations,)
        Without NaN; larger losses, risks and epsilons are worse, a larger strength is better.
    conditions : array_like of bool (n_configurations, n_conditions), optional
        What each guarantee hangs on; one with a condition beats none without it.

    Returns
    -------
    bool array (n_configurations,)
        Configurations that are alike in loss and risk do not beat each other.

    Notes
    -----
    O(n_configurations^2).

    Examples
    --------
    >>> unbeaten([10, 5, 7, 7], [1, 3, 2, 4], [1, 1, 1, 0.1], [3, 3, 3, 3])
    array([ True,  True,  True,  True])
    >>> unbeaten([10, 5, 7, 7], [1, 3, 2, 4], [1, 1, 1, 1], [3, 3, 3, 2])
    array([ True,  True,  True, False])
    >>> unbeaten([10, 5], [3, 2], [1, 1], [2, 2], [[False], [True]])
    array([ True,  True])
    """
    loss, risk = (np.asarray(part, dtype=np.float64) for part in (losses, risks))
    kept = np.ones(len(loss), dtype=np.bool_)
    for i, as_strong in enumerate(_as_strong(epsilons, strengths, conditions)):
        no_worse = (loss <= loss[i]) & (risk <= risk[i])
        better = (loss < loss[i]) | (risk < risk[i])
        kept[i] = not (as_strong & no_worse & better).any()
    return kept


def beaten_apart(
    losses: ArrayLike,
    risks: ArrayLike,
    epsilons: ArrayLike,
    strengths: ArrayLike,
    conditions: ArrayLike | None = None,
) -> NDArray[np.bool_]:
    """Say which configurations another one beats by more than the spread of the runs.

    Parameters
    ----------
    losses, risks : array_like (n_configurations, 3)
        Means, and lower and upper ends of their intervals; ends of NaN reach everywhere.
    epsilons, strengths : array_like (n_configurations,)
    conditions : array_like of bool (n_configurations, n_conditions), optional
        As for `unbeaten`.

    Returns
    -------
    bool array (n_configurations,)
        True where one that guarantees as much has a mean loss and a mean risk no larger, and
        its interval of the one or of the other ends below where that of the configuration begins.

    Notes
    -----
    O(n_configurations^2).

    Examples
    --------
    >>> losses = [[5, 4, 6], [7, 6, 8], [5.5, 4.5, 6.5]]
    >>> beaten_apart(losses, [[1, 1, 1], [2, 2, 2], [1, 1, 1]], [1, 1, 1], [3, 3, 3])
    array([False,  True, False])
    """
    loss, risk = (np.asarray(part, dtype=np.float64).reshape(-1, 3) for part in (losses, risks))
    found = np.zeros(len(loss), dtype=np.bool_)
    for i, as_strong in enumerate(_as_strong(epsilons, strengths, conditions)):
        no_worse = (loss[:, 0] <= loss[i, 0]) & (risk[:, 0] <= risk[i, 0])
        apart = (loss[:, 2] < loss[i, 1]) | (risk[:, 2] < risk[i, 1])  # never where one is NaN
        found[i] = (as_strong & no_worse & apart).any()
    return found


def excluded_of(summary: polars.DataFrame) -> polars.DataFrame:
    """Say which configurations are off each frontier for certain, as far as the runs show.

    One that is not Pareto-optimal by its means and not excluded either may be it for all these
    runs show.

    Parameters
    ----------
    summary : polars.DataFrame
        See `Comparison.summary`.

    Returns
    -------
    polars.DataFrame
        One row for every row of the summary, in its order; for each risk a column of True and
        False, ``excluded[record_linkage]`` for example, null where there is nothing to hold
        against others. See `beaten_apart`.
    """
    found: dict[str, list[bool | None]] = {}
    loss = loss_of(summary).id
    for risk in risks_of(summary.columns):
        excluded: list[bool | None] = [None] * summary.height
        for scope in GROUPS:
            configurations = _measured_configurations(
                summary.with_row_index("row"), scope, (loss, risk)
            )
            losses, risks = (
                configurations.select(*ends).to_numpy()
                for ends in ([loss + end for end in ENDS], _risk_of(risk))
            )
            beaten = beaten_apart(losses, risks, *_guarantees(configurations, scope))
            for row, is_beaten in zip(
                configurations["row"].to_list(), beaten.tolist(), strict=True
            ):
                excluded[row] = is_beaten
        found[f"excluded[{risk}]"] = excluded
    return polars.DataFrame(found, schema=dict.fromkeys(found, polars.Boolean))


def frontier_of(summary: polars.DataFrame) -> polars.DataFrame:
    """Find what is Pareto-optimal in information loss and each risk, in each scope.

    Parameters
    ----------
    summary : polars.DataFrame
        See `Comparison.summary`.

    Returns
    -------
    polars.DataFrame
        One row for each configuration that is Pareto-optimal with a risk: `risk` names it; loss
        (see `loss_of`) and `linkage`, the figure of the risk, are means over runs, each with its
        interval; by scope, risk, epsilon and loss. Linkage is null where rows follow nobody.
    """
    parts = []
    loss = loss_of(summary).id
    for scope in GROUPS:
        for risk in risks_of(summary.columns):
            configurations = _measured_configurations(summary, scope, (loss, risk))
            kept = unbeaten(
                configurations[loss],
                configurations.select(_risk_of(risk)[0]).to_series(),
                *_guarantees(configurations, scope),
            )
            parts.append(_named(configurations.filter(polars.Series(kept)), loss, risk))
    return polars.concat(parts)


def _measured_configurations(
    summary: polars.DataFrame, scope: str, measures: tuple[str, str]
) -> polars.DataFrame:
    loss, risk = measures
    return summary.filter(
        (polars.col("scope") == scope)
        & polars.col(loss).is_not_null()
        & (polars.col(risk).is_not_null() | polars.col("is_synthetic"))
    )


def _risk_of(risk: str) -> list[polars.Expr]:
    """Return a risk with its interval: none where no row is anybody's."""
    nobodys = polars.col("is_synthetic")
    return [
        polars.when(nobodys).then(0.0).otherwise(polars.col(risk + end)).alias(risk + end)
        for end in ENDS
    ]


def _guarantees(
    configurations: polars.DataFrame, scope: str
) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
    """Return the epsilon, the strength of the model and the conditions of each configuration."""
    # An epsilon that nothing is kept of makes no configuration stronger than another.
    epsilons = (
        np.zeros(configurations.height)
        if scope == NO_SCOPE
        else configurations["epsilon"].to_numpy()
    )
    rows = configurations.to_dicts()
    held = [{c.id for c in conditions_of(row)} | _left_out(row) for row in rows]
    every = sorted(set().union(*held))
    conditions = np.array([[condition in own for condition in every] for own in held], dtype=bool)
    return epsilons, [Model(model).strength for model in configurations["model"]], conditions


def _left_out(row: Mapping[str, Any]) -> set[str]:
    """Say that a delta is left out, which holds a guarantee back as a condition does."""
    return {"delta"} if row["delta"] else set()


def _as_strong(
    epsilons: ArrayLike, strengths: ArrayLike, conditions: ArrayLike | None
) -> Iterator[NDArray[np.bool_]]:
    """Yield for each configuration which ones guarantee at least as much, itself among them."""
    epsilon, strength = (np.asarray(part, dtype=np.float64) for part in (epsilons, strengths))
    hangs = np.asarray([[]] * len(epsilon) if conditions is None else conditions, dtype=np.bool_)
    for i in range(len(epsilon)):
        own = (hangs <= hangs[i]).all(axis=1)
        yield (epsilon <= epsilon[i]) & (strength >= strength[i]) & own


def _named(configurations: polars.DataFrame, loss: str, risk: str) -> polars.DataFrame:
    return configurations.select(
        *NAMES,
        polars.lit(risk).alias("risk"),
        *(polars.col(loss + end) for end in ENDS),
        *(polars.col(risk + end).alias("linkage" + end) for end in ENDS),
        polars.col(CHANCE)
        if CHANCE in configurations.columns
        else polars.lit(None, polars.Float64).alias(CHANCE),
    ).sort("epsilon", loss, "configuration", nulls_last=True)
