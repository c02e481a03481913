"""`idp-vector`, this project's method: an epsilon that holds with the clusters formed anew.

The winsorised means of `idp-cbls` under other scales. There each cluster's noise is scaled to
what one record can change in it, and the loss adds up over the clusters that pass a record on.
Here the scales share out one epsilon over all clusters, with the least expected noise that this
allows, in closed form (METHODS section 5; statement and proof: docs/methods/idp-vector.md). The
clusters are those of individual ranking, or are chosen together with the noise.
"""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from microveil.arguments.steps import PARTITION
from microveil.engines.base import Column, Engine
from microveil.guarantee import Model
from microveil.guarantee.condition import cluster_sizes, noise_scales
from microveil.methods.base import (
    CERTAIN,
    NO_GROUP_PRIVACY,
    Choices,
    Method,
    Promise,
    Setting,
    each,
    epsilon_scopes,
    floor_by_plans,
    floor_by_rank,
)
from microveil.methods.centroids import scaled_centroids, winsorised_means
from microveil.methods.idp2025 import SIZES_BY_RANK
from microveil.noise.shifts import least_vector_scales, winsorised_shifts
from microveil.plans import CentroidPlan
from microveil.utility.error_floor import SensitivityRule

__all__ = ["METHODS", "idp_vector"]


def idp_vector(
    column: Column, choices: Choices, engine: Engine, *, coarsely: bool = False
) -> CentroidPlan:
    """Plan winsorised means with scales of least noise whose losses add up to the share."""
    n_values = column.n_present
    share = choices.shares[column.attribute.name]
    widen = choices.exact_cells == "widen"
    if choices[PARTITION] == "noise-aware":
        ranked = engine.cluster_vector_aware(
            column,
            choices.k,
            float(share),
            exact_allowed=choices.exact_cells == "allow",
            coarsely=coarsely,
        )
        largest_cluster = n_values
    else:
        ranked = engine.cluster_by_rank(column, choices.k, widen=widen)
        largest_cluster = n_values if widen else min(n_values, 2 * choices.k - 1)
    represented = winsorised_means(ranked)
    shifts = winsorised_shifts(ranked.clusters.smallest, ranked.clusters.largest)
    del ranked  # the ends of clusters are half of what is at hand of them
    return scaled_centroids(
        column,
        represented,
        shifts.largest,  # the sensitivity of `idp-cbls`, Proposition 9
        least_vector_scales(shifts, represented.partition.sizes, float(share)),
        share,
        shifts,
        engine,
        largest_cluster=largest_cluster,
        room=_room(n_values, choices.k, largest_cluster),
    )


def _error_floor(
    columns: Sequence[Column],
    choices: Choices,
    engine: Engine,
    limit: float,
    *,
    ends: bool = False,
) -> float:
    """Bound the error of clusters by rank, and likely that of clusters that are searched for."""
    if choices[PARTITION] == "ranking":
        return floor_by_rank(SensitivityRule.VECTOR)(columns, choices, engine, limit, ends=ends)
    coarse_plan = partial(idp_vector, coarsely=True)
    return floor_by_plans(coarse_plan, CERTAIN)(columns, choices, engine, limit, ends=ends)


def _room(n_values: int, k: int, largest_cluster: int) -> int:
    """How many times three widths over the share a scale can be, by public figures.

    The largest shifts of J clusters add up to at most three times the range R of the values,
    so by Hölder L <= (3 R)^(2/3) (J/k)^(1/3), and a scale, L (M s)^(1/3) / share with M <= 3 R,
    is at most 3 R (J s/k)^(1/3) / share.
    """
    clusters = max(1, n_values // k)
    return math.ceil(float(np.cbrt(clusters * largest_cluster / k))) + 1


_IDP_VECTOR = (
    "The scales of the noise are set so that the losses of all clusters together, when one "
    "record leaves its cluster and every cluster between passes one on, stay within the "
    "epsilon. Scales belong to the custodian and must not be published."
)


def _promise(setting: Setting) -> Promise:
    """Promise epsilon at vector scope, and so at cluster scope."""
    choices, total = setting.choices, setting.epsilon
    chosen = choices[PARTITION] == "noise-aware" or choices.exact_cells == "widen"
    return Promise(
        model=Model.INDIVIDUAL,
        epsilon=total,
        scopes=epsilon_scopes(total, total, total if setting.unlinked else None),
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
        "least {k}, and each value was replaced by its cluster's mean plus noise, the "
        "smallest and the largest value of a cluster set to their neighbours before.",
        plan=each(idp_vector, searches=lambda choices: choices[PARTITION] == "noise-aware"),
        error_floor=_error_floor,
        ranks_each=True,
        promise=_promise,
        smallest_k=3,
        needs_bounds=False,
        orders_clusters=True,
        may_be_exact=True,
        without_units=NO_GROUP_PRIVACY,
        arguments=(PARTITION.of("ranking", "noise-aware"),),
    ),
)
