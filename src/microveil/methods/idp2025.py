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
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from microveil.engines import ClusterSummary, Engine
from microveil.methods.base import Method
from microveil.noise import noise_grid
from microveil.partition import Partition
from microveil.privacy import Model
from microveil.release import AttributePlan
from microveil.sensitivity import (
    cluster_local_sensitivity,
    global_sensitivity,
    local_sensitivity,
    winsorised_sum,
)
from microveil.table import GridColumn

__all__ = ["METHODS"]

Domain = tuple[int, int]
Sums = np.ndarray[tuple[int], np.dtype[np.int64]]


def laplace(column: GridColumn, *, k: int, share: Fraction, engine: Engine) -> AttributePlan:
    """Plan Laplace noise on every value: "DP" in the paper, Algorithm 1 with singletons."""
    del k
    partition, clusters = engine.singletons(column.values)
    sensitivity = np.int64(global_sensitivity(*_domain(column)))
    return _planned(column, partition, clusters, clusters.sums, sensitivity, share)


def dp_um(column: GridColumn, *, k: int, share: Fraction, engine: Engine) -> AttributePlan:
    """Plan Algorithm 1: individual ranking, then noise by the global sensitivity."""
    partition, clusters = engine.cluster_by_rank(column.values, k)
    sensitivity = np.int64(global_sensitivity(*_domain(column)))
    return _planned(column, partition, clusters, clusters.sums, sensitivity, share)


def idp_ls(column: GridColumn, *, k: int, share: Fraction, engine: Engine) -> AttributePlan:
    """Plan section 3.2.1: individual ranking, then noise by the local sensitivity."""
    partition, clusters = engine.cluster_by_rank(column.values, k)
    sensitivity = local_sensitivity(clusters.smallest[0], clusters.largest[0], *_domain(column))
    return _planned(column, partition, clusters, clusters.sums, sensitivity, share)


def idp_cbls(column: GridColumn, *, k: int, share: Fraction, engine: Engine) -> AttributePlan:
    """Plan section 3.2.2: winsorised means, noise by the cluster-based local sensitivity."""
    partition, clusters = engine.cluster_by_rank(column.values, k)
    sums = winsorised_sum(clusters.sums, clusters.smallest, clusters.largest)
    sensitivity = cluster_local_sensitivity(clusters.smallest, clusters.largest)
    return _planned(column, partition, clusters, sums, sensitivity, share)


def _domain(column: GridColumn) -> Domain:
    bounds = column.attribute.grid_bounds
    assert bounds is not None  # noqa: S101 -- the request was refused without them
    return bounds


def _planned(
    column: GridColumn,
    partition: Partition,
    clusters: ClusterSummary,
    sums: Sums,
    sensitivities: Sums | np.int64,
    share: Fraction,
) -> AttributePlan:
    grid = noise_grid(
        column.attribute.name,
        share,
        int(clusters.sizes.max()),
        column.attribute.grid_bounds,
        (int(column.values.min()), int(column.values.max())),
    )
    return AttributePlan(
        attribute=column.attribute,
        share=share,
        partition=partition if column.missing is None else partition.among(~column.missing),
        missing=column.missing,
        sums=sums,
        sensitivities=np.broadcast_to(sensitivities, sums.shape),
        grid=grid,
    )


def _once(shares: Sequence[tuple[Fraction, int]]) -> Fraction:
    """Return one share each: the shifts of neighbouring clusters telescope."""
    return sum((share for share, _ in shares), Fraction(0))


def _local(shares: Sequence[tuple[Fraction, int]]) -> float:
    """Return (1 + ln 2) shares, rounded up: the proof is in docs/methods/idp-ls.md."""
    return math.nextafter(float(_once(shares)) * (1 + math.log(2)), math.inf)


def _every_cluster(shares: Sequence[tuple[Fraction, int]]) -> Fraction:
    """Return a share for every cluster: each passes a record on and spends it again."""
    return sum((share * n_clusters for share, n_clusters in shares), Fraction(0))


_INDIVIDUAL = (
    (
        "Under individual differential privacy the noise scales and the rank boundaries belong to "
        "this table and are taken to be the same for its neighbours. It gives no group privacy: "
        "tables that differ in two records are not compared. Were the scales recomputed on the "
        "neighbour, nothing would be promised."
    ),
    (
        "Cluster sizes can be counted in the release; they follow from the number of records and k "
        "alone. Reconstruction attacks on individual differential privacy through many queries are "
        "known (Protivash, Durrell, Kifer, Ding and Zhang 2024)."
    ),
)

METHODS = (
    Method(
        id="laplace",
        title="Laplace noise on every value",
        source='IDP-2025 section 2, "DP"',
        model=Model.DIFFERENTIAL_PRIVACY,
        plan=laplace,
        forms_clusters=False,
        orders_clusters=False,
        vector_epsilon=_once,
        covers_rows=True,
    ),
    Method(
        id="dp-um",
        title="univariate microaggregation, noise by the global sensitivity",
        source="IDP-2025 Algorithm 1",
        model=Model.DIFFERENTIAL_PRIVACY,
        plan=dp_um,
        vector_epsilon=_once,
        caveats=(
            (
                "The published proof holds the clusters fixed. Recomputed by rank they cost no "
                "more: what one cluster loses the next one gains, so the epsilon holds at vector "
                "scope too."
            ),
        ),
    ),
    Method(
        id="idp-ls",
        title="univariate microaggregation, noise by the local sensitivity",
        source="IDP-2025 Proposition 8",
        model=Model.INDIVIDUAL,
        plan=idp_ls,
        vector_epsilon=_local,
        caveats=(
            (
                "The published proof holds the clusters fixed. Recomputed by rank they cost up to "
                "1 + ln 2 = 1.693 times the epsilon, whatever the data."
            ),
            *_INDIVIDUAL,
        ),
    ),
    Method(
        id="idp-cbls",
        title="univariate microaggregation of winsorised means, noise by the cluster-based "
        "local sensitivity",
        source="IDP-2025 Proposition 9",
        model=Model.INDIVIDUAL,
        plan=idp_cbls,
        smallest_k=3,
        needs_bounds=False,
        may_be_exact=True,
        vector_epsilon=_every_cluster,
        caveats=(
            (
                "The published proof holds the clusters fixed. Recomputed by rank, every cluster "
                "that passes a record on spends the epsilon again: at vector scope the epsilon "
                "multiplies by up to the number of clusters."
            ),
            *_INDIVIDUAL,
        ),
    ),
)
