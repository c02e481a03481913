"""`idp-vector`, this project's method: an epsilon that holds with the clusters formed anew.

The winsorised means of `idp-cbls` under other scales. There each cluster's noise is scaled to
what one record can change in it, and the loss adds up over the clusters that pass a record on.
Here the scales share out one epsilon over all clusters, with the least expected noise that this
allows, in closed form (METHODS section 5; statement and proof: docs/methods/idp-vector.md). The
clusters are those of individual ranking, or are chosen together with the noise.
"""

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from microveil.guarantee import Model
from microveil.guarantee.condition import cluster_sizes, noise_scales
from microveil.methods.base import (
    NO_GROUP_PRIVACY,
    Choices,
    Method,
    Promise,
    Setting,
    promise_epsilon,
)
from microveil.methods.centroids import Noise, RankedSteps, winsorised_means
from microveil.methods.idp2025 import SIZES_BY_RANK, widened_by_rank
from microveil.noise.sensitivity import least_vector_scales, winsorised_shifts
from microveil.partition import vector_aware_sizes
from microveil.partition.ranking import Clusters, Runs, runs
from microveil.schema import Attribute


def _partition(values: NDArray[np.int64], attribute: Attribute, choices: Choices) -> Runs:
    """Partition by individual ranking, or with clusters chosen together with the noise."""
    if choices["partition"] == "ranking":
        return widened_by_rank(values, attribute, choices)
    sizes_of = partial(
        vector_aware_sizes,
        k=choices.k,
        share=float(choices.shares[attribute.name]),
        exact_allowed=choices.exact_cells == "allow",
    )
    return runs(values, sizes_of)


def _noise(clusters: Clusters, attribute: Attribute, choices: Choices) -> Noise:
    """Scale noise to the least whose losses of all clusters add up to the share."""
    n_values = int(clusters.sizes.sum())
    largest_cluster = n_values
    if choices["partition"] == "ranking" and choices.exact_cells != "widen":
        largest_cluster = min(n_values, 2 * choices.k - 1)
    shifts = winsorised_shifts(clusters.smallest, clusters.largest)
    share = float(choices.shares[attribute.name])
    return Noise(
        sensitivities=shifts.largest,  # that of `idp-cbls`, Proposition 9
        shifts=shifts,
        scales=least_vector_scales(shifts, clusters.sizes, share),
        largest_cluster=largest_cluster,
        room=_room(n_values, choices.k, largest_cluster),
    )


def _room(n_values: int, k: int, largest_cluster: int) -> int:
    """How many times three widths over the share a scale can be, by public figures.

    The largest shifts of J clusters add up to at most three times the range R of the values,
    so by Hölder L <= (3 R)^(2/3) (J/k)^(1/3), and a scale, L (M s)^(1/3) / share with M <= 3 R,
    is at most 3 R (J s/k)^(1/3) / share.
    """
    clusters = max(1, n_values // k)
    return math.ceil(float(np.cbrt(clusters * largest_cluster / k))) + 1


_IDP_VECTOR = (
    "The noise is scaled so that the losses of all clusters together stay within the epsilon when "
    "one record leaves its cluster and every cluster in between passes one on. Scales belong to "
    "the custodian and must not be published."
)


def _promise(setting: Setting) -> Promise:
    """Promise epsilon at vector scope, and so at cluster scope."""
    choices = setting.choices
    chosen = choices["partition"] == "noise-aware" or choices.exact_cells == "widen"
    return promise_epsilon(
        setting,
        setting.epsilon,
        model=Model.INDIVIDUAL,
        conditions=(noise_scales(), *((cluster_sizes(),) if chosen else ())),
        caveats=(_IDP_VECTOR,) if chosen else (_IDP_VECTOR, SIZES_BY_RANK),
    )


METHODS = (
    Method(
        id="idp-vector",
        title="univariate microaggregation of winsorised means, noise by the sensitivity of all "
        "centroids together",
        source="this project",
        deed="Records were grouped by rank, each attribute by itself, into clusters of at "
        "least {k}, and each value was replaced by its cluster's mean plus noise, after "
        "the smallest and the largest value of a cluster were set to their neighbours.",
        plan=RankedSteps(
            partition=_partition, representative=winsorised_means, noise=_noise, smallest_k=3
        ),
        promise=_promise,
        randomness="laplace",
        needs=frozenset({"k", "epsilon"}),
        can=frozenset({"one by one", "isotonic", "exact cells"}),
        without_units=NO_GROUP_PRIVACY,
        arguments={"partition": ("ranking", "noise-aware")},
    ),
)
