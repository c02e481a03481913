"""The Pareto frontier: what no other configuration of the same guarantee beats.

Configurations are held against each other within a scope alone. Within it, a configuration is
beaten by one that guarantees at least as much (an epsilon no larger, a model no weaker, no
condition that the other has not, no delta where it has none) with no more loss and no more risk,
and less of one of them; what nothing beats is Pareto-optimal. A release whose rows follow nobody
has no record to be found again: its risk is none, by what linkage is and not by a measurement.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars
from numpy.typing import ArrayLike, NDArray

from microveil.compare.columns import GROUPS, NO_SCOPE, conditions_of, loss_of, risks_of
from microveil.guarantee import Model
from microveil.measures.linkage import CHANCE

ENDS = ("", "_low", "_high")
# What names a Pareto-optimal configuration.
NAMES = (
    "scope", "configuration", "method", "steps", "k", "epsilon", "delta", "model", "is_synthetic",
    "conditions",
)  # fmt: skip


def beaten(
    losses: ArrayLike,
    risks: ArrayLike,
    epsilons: ArrayLike,
    strengths: ArrayLike,
    conditions: ArrayLike,
) -> NDArray[np.bool_]:
    """Say which configurations another one beats by more than the spread of the runs.

    Of losses and risks, (n, 3), there are means, and the ends of their intervals, which may be the
    means themselves; ends of NaN reach everywhere. One with a condition, (n, n_conditions), beats
    none without it. Beaten is what one that guarantees as much has a mean loss and a mean risk no
    larger than, and an interval of the one or of the other that ends below where its own begins.
    """
    epsilon, strength = (np.asarray(part, dtype=np.float64) for part in (epsilons, strengths))
    hangs = np.asarray(conditions, dtype=np.bool_).reshape(len(epsilon), -1)
    both = [np.asarray(part, dtype=np.float64).reshape(-1, 3) for part in (losses, risks)]
    # Rows are who may beat, columns who may be beaten.
    no_weaker = (epsilon[:, None] <= epsilon) & (strength[:, None] >= strength)
    no_weaker &= (hangs[:, None] <= hangs).all(axis=2)
    no_worse = np.all([own[:, 0, None] <= own[:, 0] for own in both], axis=0)
    apart = np.any([own[:, 2, None] < own[:, 1] for own in both], axis=0)  # never where one is NaN
    found: NDArray[np.bool_] = np.any(no_weaker & no_worse & apart, axis=0)
    return found


class _Held(NamedTuple):
    """The configurations of a scope that have a loss and a risk, held against each other."""

    risk: str
    rows: list[int]  # of the summary
    is_optimal: list[bool]
    is_excluded: list[bool]


def _held(summary: polars.DataFrame) -> Iterator[_Held]:
    """Hold configurations against each other, scope by scope and risk by risk."""
    loss, rows = loss_of(summary).id, summary.with_row_index("row").to_dicts()
    for scope in GROUPS:
        for risk in risks_of(summary.columns):
            own = [
                {**row, **dict.fromkeys((risk + end for end in ENDS), 0.0)}
                if row["is_synthetic"]
                else row
                for row in rows
                if row["scope"] == scope and row[loss] is not None
            ]
            own = [row for row in own if row[risk] is not None]
            if not own:
                continue
            both = [
                np.array([[row[name + end] for end in ENDS] for row in own], dtype=np.float64)
                for name in (loss, risk)
            ]
            held = [
                {c.id for c in conditions_of(row)} | ({"delta"} if row["delta"] else set())
                for row in own
            ]
            guarantees = (
                # An epsilon that nothing is kept of makes no configuration stronger than another.
                [0.0 if scope == NO_SCOPE else row["epsilon"] for row in own],
                [float(Model(row["model"]).strength) for row in own],
                [[one in conditions for one in sorted(set().union(*held))] for conditions in held],
            )
            loss_means, risk_means = (np.repeat(part[:, :1], 3, axis=1) for part in both)
            yield _Held(
                risk,
                [row["row"] for row in own],
                (~beaten(loss_means, risk_means, *guarantees)).tolist(),
                beaten(both[0], both[1], *guarantees).tolist(),
            )


def excluded_of(summary: polars.DataFrame) -> polars.DataFrame:
    """Say which configurations are off each frontier for certain, as far as the runs show.

    For each risk a column of True and False, ``excluded[record_linkage]`` for example, null where
    there is nothing to hold against others. What is not Pareto-optimal by its means and not
    excluded either may be it for all these runs show.
    """
    found: dict[str, list[bool | None]] = {
        f"excluded[{risk}]": [None] * summary.height for risk in risks_of(summary.columns)
    }
    for held in _held(summary):
        for row, is_excluded in zip(held.rows, held.is_excluded, strict=True):
            found[f"excluded[{held.risk}]"][row] = is_excluded
    return polars.DataFrame(found, schema=dict.fromkeys(found, polars.Boolean))


def frontier_of(summary: polars.DataFrame) -> polars.DataFrame:
    """Find what is Pareto-optimal in the loss and each risk, in each scope.

    One row for each: ``risk`` names it; the loss (see `loss_of`) and ``linkage``, the figure of
    the risk, are means over runs, each with its interval; by scope, risk, epsilon and loss.
    Linkage is null where rows follow nobody.
    """
    loss = loss_of(summary).id
    parts = [_named(summary.clear(), loss, risk) for risk in risks_of(summary.columns)[:1]]
    for held in _held(summary):
        kept = [row for row, is_kept in zip(held.rows, held.is_optimal, strict=True) if is_kept]
        parts.append(_named(summary[kept], loss, held.risk))
    return polars.concat(parts)


def _named(configurations: polars.DataFrame, loss: str, risk: str) -> polars.DataFrame:
    return configurations.select(
        *NAMES,
        polars.lit(risk).alias("risk"),
        *(loss + end for end in ENDS),
        *(polars.col(risk + end).alias("linkage" + end) for end in ENDS),
        polars.col(CHANCE)
        if CHANCE in configurations.columns
        else polars.lit(None, polars.Float64).alias(CHANCE),
    ).sort("epsilon", loss, "configuration", nulls_last=True)
