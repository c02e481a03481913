"""The four methods of IDP-2025: noisy values, and noisy centroids under three sensitivities.

Source: Soria-Comas, Sánchez, Domingo-Ferrer, Martínez and Del Vasto-Terrientes,
"Conciliating Privacy and Utility in Data Releases via Individual Differential Privacy and
Microaggregation", Transactions on Data Privacy 18 (2025).

Each follows the paper's Algorithm 1, attribute by attribute: partition (line 08), sensitivity
of the centroids (line 10), noise (line 11), replacement (line 12); the last two are drawn
later, on the plan made here. Departures, all of them: clusters have k records, but for the
middle one, which takes the remainder; values, sums and noise live on a public grid, so that
the claimed epsilon is exact; the noise of a cluster is added to its sum and then divided by
its size, which is the same law.
"""

import math

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
    epsilon_scopes,
    promise_epsilon,
)
from microveil.methods.centroids import Noise, RankedSteps, domain, means, winsorised_means
from microveil.noise.sensitivity import (
    LoneShift,
    cluster_local_sensitivity,
    global_sensitivity,
    local_sensitivity,
    plain_shifts,
    winsorised_shifts,
)
from microveil.partition.ranking import Clusters, Runs, by_rank, lone_records
from microveil.schema import Attribute

Whole = NDArray[np.int64]


def _lone_records(values: Whole, _attribute: Attribute, _choices: Choices) -> Runs:
    """Partition into singletons: "DP" in the paper is Algorithm 1 with these."""
    return lone_records(values)


def individual_ranking(values: Whole, _attribute: Attribute, choices: Choices) -> Runs:
    """Partition by individual ranking (section 3.1)."""
    return by_rank(values, choices.k)


def widened_by_rank(values: Whole, _attribute: Attribute, choices: Choices) -> Runs:
    """Partition likewise, clusters of equal values merged with their neighbours if so asked."""
    return by_rank(values, choices.k, widen=choices.exact_cells == "widen")


def _lone_noise(clusters: Clusters, attribute: Attribute, _choices: Choices) -> Noise:
    """Scale noise by the global sensitivity; a value moves no further than across its domain."""
    lower, upper = domain(attribute)
    farthest = max(upper - int(clusters.sums.min()), int(clusters.sums.max()) - lower)
    return Noise(
        sensitivities=np.int64(global_sensitivity(lower, upper)), shifts=LoneShift(largest=farthest)
    )


def global_noise(clusters: Clusters, attribute: Attribute, _choices: Choices) -> Noise:
    """Scale noise by the global sensitivity (Algorithm 1)."""
    bounds = domain(attribute)
    return Noise(
        sensitivities=np.int64(global_sensitivity(*bounds)),
        shifts=plain_shifts(clusters.smallest[0], clusters.largest[0], *bounds),
    )


def _local_noise(clusters: Clusters, attribute: Attribute, _choices: Choices) -> Noise:
    """Scale noise by the local sensitivity of each mean (Proposition 8)."""
    smallest, largest, bounds = clusters.smallest[0], clusters.largest[0], domain(attribute)
    return Noise(
        sensitivities=local_sensitivity(smallest, largest, *bounds),
        shifts=plain_shifts(smallest, largest, *bounds),
    )


def _cluster_local_noise(clusters: Clusters, _attribute: Attribute, _choices: Choices) -> Noise:
    """Scale noise by the cluster-based local sensitivity of winsorised means (Proposition 9)."""
    return Noise(
        sensitivities=cluster_local_sensitivity(clusters.smallest, clusters.largest),
        shifts=winsorised_shifts(clusters.smallest, clusters.largest),
    )


SIZES_BY_RANK = (
    "Cluster sizes can be counted in the release; they follow from the number of records "
    "with a value and k alone."
)
_DP_UM = (
    "The published proof holds the clusters fixed. Clusters formed anew by rank cost no more: one "
    "gains what the next one loses, so the epsilon holds at vector scope too."
)
_IDP_LS = (
    "The published proof holds the clusters fixed. Clusters formed anew by rank cost up to "
    "1 + ln 2 = 1.693 times the epsilon, whatever the data."
)
_IDP_CBLS = (
    "The published proof holds the clusters fixed. With clusters formed anew by rank, every "
    "cluster that passes a record on spends the epsilon again: at vector scope the epsilon "
    "multiplies by up to the number of clusters."
)


def promise_laplace(setting: Setting) -> Promise:
    """Promise epsilon for all that is seen: each value has its own noise."""
    row = None if setting.read_from_data else setting.epsilon
    return Promise(
        model=setting.model,
        epsilon=setting.epsilon,
        scopes=epsilon_scopes(setting.epsilon, setting.epsilon, row),
    )


def promise_dp_um(setting: Setting) -> Promise:
    """Promise epsilon at vector scope: the shifts of neighbouring clusters telescope."""
    return promise_epsilon(setting, setting.epsilon, caveats=(_DP_UM,))


def _promise_idp_ls(setting: Setting) -> Promise:
    """Promise (1 + ln 2) epsilon at vector scope, rounded up; proof: docs/methods/idp-ls.md."""
    vector = math.nextafter(float(setting.epsilon) * (1 + math.log(2)), math.inf)
    caveats = (_IDP_LS, SIZES_BY_RANK)
    return promise_epsilon(
        setting, vector, model=Model.INDIVIDUAL, conditions=(noise_scales(),), caveats=caveats
    )


def _promise_idp_cbls(setting: Setting) -> Promise:
    """Promise a share for every cluster at vector scope: each passes a record on."""
    widened = setting.choices.exact_cells == "widen"
    return promise_epsilon(
        setting,
        setting.epsilon * setting.most_clusters,
        model=Model.INDIVIDUAL,
        conditions=(noise_scales(), *((cluster_sizes(),) if widened else ())),
        caveats=(_IDP_CBLS,) if widened else (_IDP_CBLS, SIZES_BY_RANK),
    )


_GROUPED = (
    "Records were grouped by rank, each attribute by itself, into clusters of at "
    "least {k}, and each value was replaced by its cluster's mean plus noise"
)

METHODS = (
    Method(
        id="laplace",
        title="Laplace noise on every value",
        source='IDP-2025 section 2, "DP"',
        deed="Each value was replaced by itself plus noise of its own.",
        plan=RankedSteps(partition=_lone_records, representative=means, noise=_lone_noise),
        promise=promise_laplace,
        randomness="laplace",
        needs=frozenset({"epsilon", "bounds"}),
        can=frozenset({"one by one"}),
        without_units=None,
    ),
    Method(
        id="dp-um",
        title="univariate microaggregation, noise by the global sensitivity",
        source="IDP-2025 Algorithm 1",
        deed=f"{_GROUPED}.",
        plan=RankedSteps(partition=individual_ranking, representative=means, noise=global_noise),
        promise=promise_dp_um,
        needs=frozenset({"k", "epsilon", "bounds"}),
        randomness="laplace",
        can=frozenset({"one by one", "isotonic"}),
    ),
    Method(
        id="idp-ls",
        title="univariate microaggregation, noise by the local sensitivity",
        source="IDP-2025 Proposition 8",
        deed=f"{_GROUPED}.",
        plan=RankedSteps(partition=individual_ranking, representative=means, noise=_local_noise),
        promise=_promise_idp_ls,
        needs=frozenset({"k", "epsilon", "bounds"}),
        randomness="laplace",
        can=frozenset({"one by one", "isotonic"}),
        without_units=NO_GROUP_PRIVACY,
    ),
    Method(
        id="idp-cbls",
        title="univariate microaggregation of winsorised means, noise by the cluster-based "
        "local sensitivity",
        source="IDP-2025 Proposition 9",
        deed=f"{_GROUPED}, after "
        "the smallest and the largest value of a cluster were set to their neighbours.",
        plan=RankedSteps(
            partition=widened_by_rank,
            representative=winsorised_means,
            noise=_cluster_local_noise,
            smallest_k=3,
        ),
        promise=_promise_idp_cbls,
        randomness="laplace",
        needs=frozenset({"k", "epsilon"}),
        can=frozenset({"one by one", "isotonic", "exact cells"}),
        without_units=NO_GROUP_PRIVACY,
    ),
)
