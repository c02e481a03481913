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
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars
from numpy.typing import ArrayLike, NDArray

from microveil.compare.measures import loss_of, risks_of
from microveil.compare.rows import GROUPS, NO_SCOPE, conditions_of
from microveil.guarantee import Model
from microveil.measures.linkage import CHANCE

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
    risks = risks_of(summary.columns)
    found: dict[str, list[bool | None]] = {
        f"excluded[{risk}]": [None] * summary.height for risk in risks
    }
    loss = loss_of(summary).id
    for held in _held_by_scope(summary.with_row_index("row"), loss):
        rows = np.array([row["row"] for row in held.rows])
        for risk in risks:
            risk_ends, known = held.risk(risk)
            beaten = beaten_apart(held.losses[known], risk_ends[known], *held.guarantees(known))
            for row, is_beaten in zip(rows[known].tolist(), beaten.tolist(), strict=True):
                found[f"excluded[{risk}]"][row] = is_beaten
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
    risks, loss = risks_of(summary.columns), loss_of(summary).id
    parts = [_named(summary.clear(), loss, risk) for risk in risks[:1]]
    for held in _held_by_scope(summary, loss):
        for risk in risks:
            risk_ends, known = held.risk(risk)
            kept = np.zeros(len(known), dtype=np.bool_)
            kept[known] = unbeaten(
                held.losses[known, 0], risk_ends[known, 0], *held.guarantees(known)
            )
            parts.append(_named(held.configurations.filter(polars.Series(kept)), loss, risk))
    return polars.concat(parts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Held:
    """The configurations of a scope that have a loss, to be held against each other.

    Attributes
    ----------
    configurations : polars.DataFrame
        Rows of a summary.
    rows : list of dict
        The same.
    losses : float64 array (n_configurations, 3)
        Means and both ends of their intervals, NaN where there is none.
    epsilons, strengths : float64 array (n_configurations,)
    conditions : bool array (n_configurations, n_conditions)
    """

    configurations: polars.DataFrame
    rows: list[dict[str, Any]]
    losses: NDArray[np.float64]
    epsilons: NDArray[np.float64]
    strengths: NDArray[np.float64]
    conditions: NDArray[np.bool_]

    @classmethod
    def of(cls, configurations: polars.DataFrame, scope: str, loss: str) -> "_Held":
        """Take what they guarantee: epsilon, strength of the model and conditions."""
        rows = configurations.to_dicts()
        held = [{c.id for c in conditions_of(row)} | _left_out(row) for row in rows]
        every = sorted(set().union(*held))
        return cls(
            configurations=configurations,
            rows=rows,
            losses=_with_ends(rows, loss),
            # An epsilon that nothing is kept of makes no configuration stronger than another.
            epsilons=np.array([0.0 if scope == NO_SCOPE else row["epsilon"] for row in rows]),
            strengths=np.array([float(Model(row["model"]).strength) for row in rows]),
            conditions=np.array([[one in own for one in every] for own in held], dtype=np.bool_),
        )

    def risk(self, risk: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return a risk with its interval, none where no row is anybody's, and who has one."""
        nobodys = np.array([bool(row["is_synthetic"]) for row in self.rows])
        known = nobodys | np.array([row[risk] is not None for row in self.rows])
        return np.where(nobodys[:, np.newaxis], 0.0, _with_ends(self.rows, risk)), known

    def guarantees(
        self, chosen: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Return epsilons, strengths and conditions of some."""
        return self.epsilons[chosen], self.strengths[chosen], self.conditions[chosen]


def _held_by_scope(summary: polars.DataFrame, loss: str) -> Iterator[_Held]:
    """Yield what is held against each other, scope by scope, where there is something."""
    found = summary.filter(polars.col(loss).is_not_null()).partition_by("scope", as_dict=True)
    for scope in GROUPS:
        if (scope,) in found:
            yield _Held.of(found[scope,], scope, loss)


def _ends_of(measure: str) -> list[str]:
    return [measure + end for end in ENDS]


def _with_ends(rows: list[dict[str, Any]], measure: str) -> NDArray[np.float64]:
    return np.array([[row[name] for name in _ends_of(measure)] for row in rows], dtype=np.float64)


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
        *_ends_of(loss),
        *(polars.col(risk + end).alias("linkage" + end) for end in ENDS),
        polars.col(CHANCE)
        if CHANCE in configurations.columns
        else polars.lit(None, polars.Float64).alias(CHANCE),
    ).sort("epsilon", loss, "configuration", nulls_last=True)
