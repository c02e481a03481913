"""The method of RECORD-2018: noise on the microaggregated records themselves.

Source: Soria-Comas and Domingo-Ferrer, "Differentially private data publishing via optimal
univariate microaggregation and record perturbation", Knowledge-Based Systems (2018). The paper
protects the microaggregated data set and takes its partition as given; only its first two pages
were at hand, so the noise-aware partition (least within-cluster squares plus expected squared
noise, clusters of k or more) is our reading of its reformulated optimal microaggregation.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from microveil.guarantee import Model
from microveil.guarantee.condition import cluster_sizes, noise_scales, rank_boundaries
from microveil.methods.base import Choices, Method, Promise, Setting, promise_epsilon
from microveil.methods.blocks import plan_blocks
from microveil.methods.centroids import (
    CentroidPlan,
    Noise,
    RankedSteps,
    domain,
    joint_centroids,
    means,
)
from microveil.methods.idp2025 import global_noise, individual_ranking, promise_dp_um
from microveil.noise.sensitivity import global_sensitivity
from microveil.partition import Partition, noise_aware_sizes, optimal_sizes
from microveil.partition.ranking import Runs, runs
from microveil.schema import Attribute
from microveil.table import GridColumn


def record_dp(columns: Sequence[GridColumn], choices: Choices) -> list[CentroidPlan]:
    """Plan a partition of the user's choice, then noise by the global sensitivity."""
    if choices["partition"] == "mdav":
        return plan_blocks(columns, choices, "mdav", _noisy)
    return _OF_RANKS(columns, choices)


def _partition(values: NDArray[np.int64], attribute: Attribute, choices: Choices) -> Runs:
    if choices["partition"] == "ranking":
        return individual_ranking(values, attribute, choices)
    if choices["partition"] == "optimal":
        return runs(values, partial(optimal_sizes, k=choices.k))
    # Noise of scale width/(s share) on the mean of s records: 2 (width/share)**2 / s in all.
    scale = float(global_sensitivity(*domain(attribute)) / choices.shares[attribute.name])
    return runs(values, partial(noise_aware_sizes, k=choices.k, penalty=2 * scale**2))


_OF_RANKS = RankedSteps(partition=_partition, representative=means, noise=global_noise)


def _noisy(
    columns: Sequence[GridColumn], partition: Partition, choices: Choices
) -> list[CentroidPlan]:
    """Represent clusters of whole records by their means, with noise by the global sensitivity."""
    plans = []
    for column in columns:
        width = np.int64(global_sensitivity(*domain(column.attribute)))
        noise = Noise(sensitivities=width, shifts=None)
        share = choices.shares[column.attribute.name]
        plans.append(joint_centroids(column, partition, share, noise))
    return plans


# Noise on a mean is as wide as the domain over its cluster's size: all that hangs on the data.
_SCALES = replace(
    noise_scales(),
    text="The noise on a mean is as wide as the attribute's domain over the size of its cluster, "
    "and the clusters were chosen from the data. Their sizes, and so the noise scales, are taken "
    "to be the same for this table and its neighbours. The program does not hold them: it would "
    "choose clusters anew on a neighbour, and for that nothing is promised. There is no group "
    "privacy: tables that differ in two records are not compared.",
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
    if setting.choices["partition"] == "ranking":
        return promise_dp_um(setting)
    by_distance = setting.choices["partition"] == "mdav"
    return promise_epsilon(
        setting,
        None if by_distance else setting.epsilon,
        model=Model.INDIVIDUAL,
        conditions=(_SCALES, *(() if by_distance else (rank_boundaries(),)), cluster_sizes()),
        caveats=(_GIVEN, _BY_DISTANCE) if by_distance else (_GIVEN,),
    )


METHODS = (
    Method(
        id="record-dp",
        title="microaggregation with its partition taken as given, noise by the global sensitivity",
        source="RECORD-2018",
        deed="Records were grouped into clusters of at least {k}, and each value was "
        "replaced by its cluster's mean plus noise.",
        plan=record_dp,
        promise=_promise,
        needs=frozenset({"k", "epsilon", "bounds"}),
        randomness="laplace",
        can=frozenset({"one by one"}),
        arguments={
            "partition": ("mdav", "ranking", "optimal", "noise-aware"),
            "blocks": (),
        },
        sets_aside={
            "partition=ranking": ("blocks",),
            "partition=optimal": ("blocks",),
            "partition=noise-aware": ("blocks",),
        },
    ),
)
