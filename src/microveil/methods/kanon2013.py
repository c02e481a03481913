"""The method of KANON-2013: differential privacy through insensitive microaggregation.

Source: Soria-Comas, Domingo-Ferrer, Sánchez and Martínez, "Improving the Utility of
Differentially Private Data Releases via k-Anonymity" (2013), Algorithm 1.

Departures: the reference corner is that of the domain's lower bounds and distances are scaled
by the domain's widths, so that no attribute dominates by its unit; clusters have k records but
for the middle one, which takes the remainder (the paper leaves a last cluster of fewer than k,
against its own section II). The paper composes the queries of the clusters in parallel; under
insensitive microaggregation one changed record can change every cluster by one record, so that
holds while clusters stay as they are and no further. Sequential composition, the default here,
scales the noise by the number of clusters and keeps its promise when they are formed anew.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from microveil.engines import Engine
from microveil.methods.base import Choices, Method, Promise, Setting, epsilon_scopes
from microveil.methods.blocks import plan_blocks
from microveil.methods.centroids import domain, noisy_centroids
from microveil.partition import Partition
from microveil.plans import AttributePlan, CentroidPlan
from microveil.privacy import Model
from microveil.sensitivity import global_sensitivity
from microveil.table import GridColumn

__all__ = ["METHODS"]


def kanon_dp(
    columns: Sequence[GridColumn], choices: Choices, engine: Engine
) -> Sequence[AttributePlan]:
    """Plan Algorithm 1: insensitive microaggregation, then noise on every cluster's mean."""
    return plan_blocks(columns, choices, engine, "mdav-insensitive", _noisy)


def _noisy(
    column: GridColumn, partition: Partition, choices: Choices, engine: Engine
) -> CentroidPlan:
    sums = engine.sums(column.values, partition)
    sensitivity = np.int64(global_sensitivity(*domain(column)))
    share = choices.shares[column.attribute.name]
    sequential = choices.composition == "sequential"
    return noisy_centroids(
        column,
        partition,
        sums,
        sensitivity,
        share,
        grid_share=share / partition.n_clusters if sequential else share,
    )


_SEQUENTIAL = (
    (
        "Composition is sequential: one changed record can change every cluster by one record, and "
        "the noise is scaled by the number of clusters to cover that."
    ),
)
_PARALLEL = (
    (
        "Composition is parallel, as published in 2013: the epsilon holds while clusters stay as "
        "they are. One changed record can change every cluster by one record, so with clusters "
        "formed anew it multiplies by up to their number. Sequential composition corrects this."
    ),
)
_BOUNDS_FROM_DATA = (
    (
        "Bounds read from the data let one record rescale everybody's distance: the clusters are "
        "then not insensitive, and nothing beyond cluster scope is claimed."
    ),
)


def _promise(setting: Setting) -> Promise:
    """Promise by composition; at row scope once rows are shuffled and nothing is kept."""
    shares = setting.shares
    total = setting.epsilon
    if setting.choices.composition == "sequential":
        # With missing cells there may be fewer clusters than that, and less noise.
        cluster = sum(
            (share / (1 if setting.keeps_missing else most) for share, most in shares), Fraction(0)
        )
        vector, caveats = total, _SEQUENTIAL
    else:
        cluster = total
        vector = sum((share * clusters for share, clusters in shares), Fraction(0))
        caveats = _PARALLEL
    if setting.bounds_from_data:
        scopes = epsilon_scopes(cluster, None, None)
        return Promise(
            model=Model.INDIVIDUAL,
            epsilon=total,
            scopes=scopes,
            caveats=(*_BOUNDS_FROM_DATA, *caveats),
        )
    # Across blocks, rows show which records share clusters of two partitions.
    unlinked = setting.shuffled and not setting.keeps and len(setting.choices.blocks) == 1
    return Promise(
        model=Model.INDIVIDUAL if setting.read_from_data else Model.DIFFERENTIAL_PRIVACY,
        epsilon=total,
        scopes=epsilon_scopes(
            cluster, vector, vector if unlinked and not setting.read_from_data else None
        ),
        caveats=caveats,
    )


METHODS = (
    Method(
        id="kanon-dp",
        title="insensitive microaggregation of all attributes, noise by the global sensitivity",
        source="KANON-2013 Algorithm 1",
        deed="Records were grouped by all attributes of a block together into clusters of at"
        " least {k}, and each value was replaced by its cluster's mean plus noise.",
        plan=kanon_dp,
        promise=_promise,
        offers={"composition": ("sequential", "parallel"), "blocks": ()},
    ),
)
