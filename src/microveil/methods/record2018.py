"""The method of RECORD-2018: noise on the microaggregated records themselves.

Source: Soria-Comas and Domingo-Ferrer, "Differentially private data publishing via optimal
univariate microaggregation and record perturbation", Knowledge-Based Systems (2018). The paper
protects the microaggregated data set and takes its partition as given; only its first two pages
were at hand, so the noise-aware partition (least within-cluster squares plus expected squared
noise, clusters of k or more) is our reading of its reformulated optimal microaggregation.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from microveil.arguments.steps import BLOCKS, PARTITION
from microveil.engines.base import Clusters, Column, Engine
from microveil.guarantee import Model
from microveil.guarantee.condition import cluster_sizes, noise_scales, rank_boundaries
from microveil.methods.base import (
    Choices,
    Method,
    Promise,
    Setting,
    each,
    epsilon_scopes,
    summed_floor,
)
from microveil.methods.blocks import plan_blocks
from microveil.methods.centroids import domain, joint_means, noisy_centroids
from microveil.methods.idp2025 import dp_um, globally_noisy, promise_dp_um
from microveil.noise.sensitivity import global_sensitivity
from microveil.plans import CentroidPlan, SinglePlan, SyntheticPlan
from microveil.table.memory import TOGETHER

__all__ = ["METHODS"]


def record_dp(
    columns: Sequence[Column], choices: Choices, engine: Engine
) -> Sequence[SinglePlan] | SyntheticPlan:
    """Plan a partition of the user's choice, then noise by the global sensitivity."""
    if choices[PARTITION] == "mdav":
        return plan_blocks(columns, choices, engine, "mdav", _noisy)
    step = each(dp_um)
    if choices[PARTITION] != "ranking":
        step = each(_optimal, searches=lambda _choices: True)
    return step(columns, choices, engine)


def _optimal(column: Column, choices: Choices, engine: Engine) -> CentroidPlan:
    share = choices.shares[column.attribute.name]
    if choices[PARTITION] == "optimal":
        ranked = engine.cluster_optimally(column, choices.k)
    else:
        # Noise of scale width/(s share) on the mean of s records: 2 (width/share)**2 / s in all.
        lower, upper = domain(column)
        scale = float(global_sensitivity(lower, upper) / share)
        ranked = engine.cluster_noise_aware(column, choices.k, 2 * scale**2)
    return globally_noisy(column, ranked, share, engine)


def _error_floor(
    columns: Sequence[Column],
    choices: Choices,
    engine: Engine,
    limit: float,
    *,
    ends: bool = False,
) -> float:
    """Bound the errors of clusters that are runs, however they are searched for."""
    if ends or choices[PARTITION] == "mdav":
        return 0.0

    def bounded(column: Column, most: float) -> float:
        del most
        share = float(choices.shares[column.attribute.name])
        return engine.error_floor_of_any_runs(column, choices.k, share)

    return summed_floor(columns, limit, bounded)


def _noisy(
    columns: Sequence[Column], clusters: Clusters, choices: Choices, engine: Engine
) -> list[CentroidPlan]:
    return [
        noisy_centroids(
            column,
            joint_means(column, clusters, engine),
            np.int64(global_sensitivity(*domain(column))),
            choices.shares[column.attribute.name],
            None,
            engine,
        )
        for column in columns
    ]


# Noise on a mean is as wide as the domain over its cluster's size: all that hangs on the data.
_SCALES = replace(
    noise_scales(),
    text="The noise on a mean is as wide as the attribute's domain over the size of its cluster, "
    "and the clusters were chosen from the data. Their sizes, and with them the noise scales, are "
    "taken to be the same for this table and for its neighbours. The program does not hold them: "
    "it would choose clusters anew on a neighbour, and for that nothing is promised. It gives no "
    "group privacy: tables that differ in two records are not compared.",
)
_GIVEN = (
    "The partition was chosen from the data and is taken as given: it is the same for the "
    "table and its neighbours."
)
_BY_DISTANCE = (
    "One changed record can change every cluster when they are formed anew: nothing is "
    "promised at vector scope."
)


def _promise(setting: Setting) -> Promise:
    """Promise by partition: as `dp-um`, or with the partition taken as given."""
    if setting.choices[PARTITION] == "ranking":
        return promise_dp_um(setting)
    total = setting.epsilon
    if setting.choices[PARTITION] == "mdav":
        scopes = epsilon_scopes(total, None, None)
        return Promise(
            model=Model.INDIVIDUAL,
            epsilon=total,
            scopes=scopes,
            conditions=(_SCALES, cluster_sizes()),
            caveats=(_GIVEN, _BY_DISTANCE),
        )
    return Promise(
        model=Model.INDIVIDUAL,
        epsilon=total,
        scopes=epsilon_scopes(total, total, total if setting.unlinked else None),
        conditions=(_SCALES, rank_boundaries(), cluster_sizes()),
        caveats=(_GIVEN,),
    )


METHODS = (
    Method(
        id="record-dp",
        title="microaggregation with its partition taken as given, noise by the global sensitivity",
        source="RECORD-2018",
        deed="Records were grouped into clusters of at least {k}, and each value was "
        "replaced by its cluster's mean plus noise.",
        plan=record_dp,
        error_floor=_error_floor,
        ranks_each=True,
        promise=_promise,
        memory=TOGETHER,
        arguments=(
            PARTITION.of(
                "mdav",
                "ranking",
                "optimal",
                "noise-aware",
                sets_aside=dict.fromkeys(("ranking", "optimal", "noise-aware"), ("blocks",)),
            ),
            BLOCKS,
        ),
    ),
)
