"""The frontier: what no other cell of the same guarantee beats.

Cells are held against each other within a scope alone. Within it, a cell is beaten by one that
guarantees at least as much (an epsilon no larger, a model no weaker) with no more loss and no
more risk, and less of one of them. So a cluster-scope epsilon never pushes a vector-scope one
off, individual differential privacy never differential privacy, and epsilon 1 never epsilon 0.1.
"""

import numpy as np
import polars
from numpy.typing import ArrayLike, NDArray

from microveil.compare.measuring import LOSS, RISKS
from microveil.compare.rows import GROUPS, NO_SCOPE

__all__ = ["frontier_of", "unbeaten"]

# What is promised, the weakest first.
STRENGTH = {"none": 0, "k-anonymity": 1, "idp": 2, "dp": 3}
# What names a cell on the frontier.
NAMES = ("scope", "cell", "method", "steps", "k", "epsilon", "model")


def unbeaten(
    losses: ArrayLike, risks: ArrayLike, epsilons: ArrayLike, strengths: ArrayLike
) -> NDArray[np.bool_]:
    """Tell which cells no other cell beats.

    Parameters
    ----------
    losses, risks, epsilons, strengths : array_like (n_cells,)
        Without NaN; larger losses, risks and epsilons are worse, a larger strength is better.

    Returns
    -------
    bool array (n_cells,)
        Cells that are alike in loss and risk do not beat each other.

    Notes
    -----
    O(n_cells^2).

    Examples
    --------
    >>> unbeaten([10, 5, 7, 7], [1, 3, 2, 4], [1, 1, 1, 0.1], [3, 3, 3, 3])
    array([ True,  True,  True,  True])
    >>> unbeaten([10, 5, 7, 7], [1, 3, 2, 4], [1, 1, 1, 1], [3, 3, 3, 2])
    array([ True,  True,  True, False])
    """
    loss, risk, epsilon, strength = (
        np.asarray(part, dtype=np.float64) for part in (losses, risks, epsilons, strengths)
    )
    kept = np.ones(len(loss), dtype=np.bool_)
    for i in range(len(loss)):
        as_strong = (epsilon <= epsilon[i]) & (strength >= strength[i])
        no_worse = (loss <= loss[i]) & (risk <= risk[i])
        better = (loss < loss[i]) | (risk < risk[i])
        kept[i] = not (as_strong & no_worse & better).any()
    return kept


def frontier_of(summary: polars.DataFrame) -> polars.DataFrame:
    """Find the frontier of information loss with each risk, in each scope.

    Parameters
    ----------
    summary : polars.DataFrame
        See `Comparison.summary`.

    Returns
    -------
    polars.DataFrame
        One row for each cell on the frontier with a risk: `risk` names it; loss and `linkage`
        are the means over runs, each with its interval; by scope, risk, epsilon and loss.
    """
    parts = []
    for scope in GROUPS:
        for risk in RISKS:
            cells = summary.filter(
                (polars.col("scope") == scope)
                & polars.col(LOSS).is_not_null()
                & polars.col(risk).is_not_null()
            )
            kept = unbeaten(
                cells[LOSS],
                cells[risk],
                # An epsilon that nothing is kept of makes no cell stronger than another.
                np.zeros(cells.height) if scope == NO_SCOPE else cells["epsilon"],
                [STRENGTH[model] for model in cells["model"]],
            )
            parts.append(_told(cells.filter(polars.Series(kept)), risk))
    return polars.concat(parts)


def _told(cells: polars.DataFrame, risk: str) -> polars.DataFrame:
    ends = ("", "_low", "_high")
    return cells.select(
        *NAMES,
        polars.lit(risk).alias("risk"),
        *(polars.col(LOSS + end) for end in ends),
        *(polars.col(risk + end).alias("linkage" + end) for end in ends),
        "record_linkage_by_chance",
    ).sort("epsilon", LOSS, "cell", nulls_last=True)
