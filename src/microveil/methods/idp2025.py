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
from fractions import Fraction

import numpy as np

from microveil.engines.base import Column, Engine, Ranked
from microveil.guarantee import Model
from microveil.guarantee.condition import cluster_sizes, noise_scales
from microveil.methods.base import (
    NO_GROUP_PRIVACY,
    Choices,
    Method,
    Promise,
    Setting,
    each,
    epsilon_scopes,
    floor_by_rank,
)
from microveil.methods.centroids import (
    domain,
    noisy_centroids,
    plain_means,
    winsorised_means,
)
from microveil.noise.noise import noise_grid
from microveil.noise.sensitivity import (
    cluster_local_sensitivity,
    global_sensitivity,
    local_sensitivity,
)
from microveil.noise.shifts import LoneShift, RankedShifts, plain_shifts, winsorised_shifts
from microveil.plans import CentroidPlan, RecordNoisePlan, record_noise
from microveil.utility.error_floor import SensitivityRule

__all__ = [
    "METHODS",
    "SIZES_BY_RANK",
    "dp_um",
    "globally_noisy",
    "promise_dp_um",
    "promise_laplace",
]


def laplace(column: Column, choices: Choices, engine: Engine) -> CentroidPlan | RecordNoisePlan:
    """Plan Laplace noise on every value: "DP" in the paper, Algorithm 1 with singletons."""
    lower, upper = domain(column)
    sensitivity = global_sensitivity(lower, upper)
    share = choices.shares[column.attribute.name]
    least, greatest = engine.extremes(column)
    shift = LoneShift(largest=max(upper - least, greatest - lower))
    if not engine.holds_records(column):  # the sums of such clusters are the values themselves
        grid = noise_grid(column.attribute.name, share, 1, (lower, upper), (least, greatest))
        scale = int(grid.scales(np.array([sensitivity]))[0])
        return record_noise(column, share, scale, grid, shift, engine)
    alone = plain_means(engine.singletons(column))
    return noisy_centroids(column, alone, np.int64(sensitivity), share, shift, engine)


def dp_um(column: Column, choices: Choices, engine: Engine) -> CentroidPlan:
    """Plan Algorithm 1: individual ranking, then noise by the global sensitivity."""
    ranked = engine.cluster_by_rank(column, choices.k)
    return globally_noisy(column, ranked, choices.shares[column.attribute.name], engine)


def globally_noisy(column: Column, ranked: Ranked, share: Fraction, engine: Engine) -> CentroidPlan:
    """Plan noise by the global sensitivity on the means of clusters by rank."""
    sensitivity = np.int64(global_sensitivity(*domain(column)))
    shifts = _plain_shifts(column, ranked)
    return noisy_centroids(column, plain_means(ranked), sensitivity, share, shifts, engine)


def idp_ls(column: Column, choices: Choices, engine: Engine) -> CentroidPlan:
    """Plan section 3.2.1: individual ranking, then noise by the local sensitivity."""
    ranked = engine.cluster_by_rank(column, choices.k)
    smallest, largest = ranked.clusters.smallest[0], ranked.clusters.largest[0]
    sensitivity = local_sensitivity(smallest, largest, *domain(column))
    shifts = _plain_shifts(column, ranked)
    share = choices.shares[column.attribute.name]
    return noisy_centroids(column, plain_means(ranked), sensitivity, share, shifts, engine)


def idp_cbls(column: Column, choices: Choices, engine: Engine) -> CentroidPlan:
    """Plan section 3.2.2: winsorised means, noise by the cluster-based local sensitivity."""
    widen = choices.exact_cells == "widen"
    ranked = engine.cluster_by_rank(column, choices.k, widen=widen)
    smallest, largest = ranked.clusters.smallest, ranked.clusters.largest
    sensitivity = cluster_local_sensitivity(smallest, largest)
    shifts = winsorised_shifts(smallest, largest)
    share = choices.shares[column.attribute.name]
    return noisy_centroids(column, winsorised_means(ranked), sensitivity, share, shifts, engine)


def _plain_shifts(column: Column, ranked: Ranked) -> RankedShifts:
    clusters = ranked.clusters
    return plain_shifts(clusters.smallest[0], clusters.largest[0], *domain(column))


SIZES_BY_RANK = (
    "Cluster sizes can be counted in the release; they follow from the number of records "
    "with a value and k alone."
)
_DP_UM = (
    (
        "The published proof holds the clusters fixed. Recomputed by rank they cost no more: what "
        "one cluster loses the next one gains, so the epsilon holds at vector scope too."
    ),
)
_IDP_LS = (
    (
        "The published proof holds the clusters fixed. Recomputed by rank they cost up to "
        "1 + ln 2 = 1.693 times the epsilon, whatever the data."
    ),
    SIZES_BY_RANK,
)
_IDP_CBLS = (
    "The published proof holds the clusters fixed. Recomputed by rank, every cluster that "
    "passes a record on spends the epsilon again: at vector scope the epsilon multiplies by up "
    "to the number of clusters."
)


def promise_laplace(setting: Setting) -> Promise:
    """Promise epsilon for all that is seen: each value has its own noise."""
    row = None if setting.read_from_data else setting.epsilon
    return Promise(
        model=_differential(setting),
        epsilon=setting.epsilon,
        scopes=epsilon_scopes(setting.epsilon, setting.epsilon, row),
    )


def promise_dp_um(setting: Setting) -> Promise:
    """Promise epsilon at vector scope: the shifts of neighbouring clusters telescope."""
    row = setting.epsilon if setting.unlinked else None
    return Promise(
        model=_differential(setting),
        epsilon=setting.epsilon,
        scopes=epsilon_scopes(setting.epsilon, setting.epsilon, row),
        caveats=_DP_UM,
    )


def _promise_idp_ls(setting: Setting) -> Promise:
    """Promise (1 + ln 2) epsilon at vector scope, rounded up; proof: docs/methods/idp-ls.md."""
    vector = math.nextafter(float(setting.epsilon) * (1 + math.log(2)), math.inf)
    return Promise(
        model=Model.INDIVIDUAL,
        epsilon=setting.epsilon,
        scopes=epsilon_scopes(setting.epsilon, vector, vector if setting.unlinked else None),
        conditions=(noise_scales(),),
        caveats=_IDP_LS,
    )


def _promise_idp_cbls(setting: Setting) -> Promise:
    """Promise a share for every cluster at vector scope: each passes a record on."""
    widened = setting.choices.exact_cells == "widen"
    vector = sum((share * clusters for share, clusters in setting.shares), Fraction(0))
    return Promise(
        model=Model.INDIVIDUAL,
        epsilon=setting.epsilon,
        scopes=epsilon_scopes(setting.epsilon, vector, vector if setting.unlinked else None),
        conditions=(noise_scales(), *((cluster_sizes(),) if widened else ())),
        caveats=(_IDP_CBLS,) if widened else (_IDP_CBLS, SIZES_BY_RANK),
    )


def _differential(setting: Setting) -> Model:
    return Model.INDIVIDUAL if setting.read_from_data else Model.DIFFERENTIAL_PRIVACY


METHODS = (
    Method(
        id="laplace",
        title="Laplace noise on every value",
        source='IDP-2025 section 2, "DP"',
        deed="Each value was replaced by itself plus noise of its own.",
        plan=each(laplace),
        error_floor=floor_by_rank(SensitivityRule.GLOBAL),
        goes_in_parts=True,
        promise=promise_laplace,
        needs_k=False,
        without_units=None,
    ),
    Method(
        id="dp-um",
        title="univariate microaggregation, noise by the global sensitivity",
        source="IDP-2025 Algorithm 1",
        deed="Records were grouped by rank, each attribute by itself, into clusters of at "
        "least {k}, and each value was replaced by its cluster's mean plus noise.",
        plan=each(dp_um),
        error_floor=floor_by_rank(SensitivityRule.GLOBAL),
        ranks_each=True,
        promise=promise_dp_um,
        orders_clusters=True,
    ),
    Method(
        id="idp-ls",
        title="univariate microaggregation, noise by the local sensitivity",
        source="IDP-2025 Proposition 8",
        deed="Records were grouped by rank, each attribute by itself, into clusters of at "
        "least {k}, and each value was replaced by its cluster's mean plus noise.",
        plan=each(idp_ls),
        error_floor=floor_by_rank(SensitivityRule.LOCAL),
        ranks_each=True,
        promise=_promise_idp_ls,
        orders_clusters=True,
        without_units=NO_GROUP_PRIVACY,
    ),
    Method(
        id="idp-cbls",
        title="univariate microaggregation of winsorised means, noise by the cluster-based "
        "local sensitivity",
        source="IDP-2025 Proposition 9",
        deed="Records were grouped by rank, each attribute by itself, into clusters of at "
        "least {k}, and each value was replaced by its cluster's mean plus noise, the "
        "smallest and the largest value of a cluster set to their neighbours before.",
        plan=each(idp_cbls),
        error_floor=floor_by_rank(SensitivityRule.CLUSTER_LOCAL),
        ranks_each=True,
        promise=_promise_idp_cbls,
        smallest_k=3,
        needs_bounds=False,
        orders_clusters=True,
        may_be_exact=True,
        without_units=NO_GROUP_PRIVACY,
    ),
)
