"""The method of KANON-2013: differential privacy through insensitive microaggregation.

Source: Soria-Comas, Domingo-Ferrer, Sánchez and Martínez, "Improving the Utility of
Differentially Private Data Releases via k-Anonymity" (2013), Algorithm 1.

Departures: the reference corner is that of the domain's lower bounds and distances are scaled
by the domain's widths, so that no attribute dominates by its unit; clusters have k records but
for the middle one, which takes the remainder (the paper leaves a last cluster of fewer than k,
against its own section II). The paper composes the queries of the clusters in parallel; under
insensitive microaggregation one changed record can change every cluster by one record, so that
holds while clusters stay as they are and no further. Sequential composition, the default here,
scales the noise by the number of clusters and keeps its promise when they are formed anew. One
attribute alone is ordered by its values: what one cluster loses the next one gains, as in
`dp-um`, and its noise needs no such scaling.

Beyond the paper, `sensitivity="vector"` scales the noise to how far the one record that each
cluster passes on really moves its sums in this table, and to where a record with any values of
the domain can arrive, which happens to one cluster only: far less noise for the same epsilon,
as individual differential privacy. Statement and proof: docs/methods/kanon-dp.md.

Also beyond the paper, records may be mixed: they are ordered by numbers and ordered categories
alone, and a category is drawn anew for every record from its cluster's noisy counts, of which one
record changes two in each cluster. The commonest category alone would be the table's commonest one
almost everywhere; and a mode or median as an individual method would publish it has a local
sensitivity of 0 as soon as it leads by three, so that it would come out exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.guarantee import Model
from microveil.guarantee.condition import noise_scales
from microveil.methods.base import Choices, Method, Promise, Setting, epsilon_scopes
from microveil.methods.blocks import plan_blocks, refuse_no_order
from microveil.methods.category_plans import HistogramPlan, noisy_histogram
from microveil.methods.centroids import CentroidPlan, Noise, domain, joint_centroids
from microveil.methods.idp2025 import SIZES_BY_RANK
from microveil.noise.joint_shifts import JointShifts, joint_shifts, least_scales, worst_loss
from microveil.noise.sensitivity import global_sensitivity, local_sensitivity
from microveil.partition import Partition
from microveil.schema import Source
from microveil.table import GridColumn

# How many times J widths over the share a scale by vector sensitivity may be.
ROOM = 4


def _noisy(
    columns: Sequence[GridColumn], partition: Partition, choices: Choices
) -> list[CentroidPlan | HistogramPlan]:
    """Plan noise on every cluster's mean (Algorithm 1), or a draw from its noisy counts.

    Where scales are fitted to how far sums move, and where an ordered attribute is alone, so that
    shifts of its ranks telescope, ranks taken as numbers have the smaller noise.
    """
    alone, by_vector = len(choices.shares) == 1, choices["sensitivity"] == "vector"
    if by_vector:
        _refuse_categories(columns)
    ranked = [column for column in columns if column.attribute.kind.is_ranked]
    places = {column.attribute.name: index for index, column in enumerate(ranked)}
    block = _Block(columns=ranked, partition=partition)
    # Scaled to how far the sums of this table's clusters really move.
    held = _in_any_cluster(ranked, partition, block.shifts) if by_vector else None
    plans: list[CentroidPlan | HistogramPlan] = []
    for column in columns:
        attribute, n_clusters = column.attribute, partition.n_clusters
        share = choices.shares[attribute.name]
        of_cluster = share / n_clusters if choices["composition"] == "sequential" else share
        if attribute.categories is not None and not (alone or by_vector):
            plans.append(noisy_histogram(column, partition, share, grid_share=of_cluster))
            continue
        shifts = _AttributeShifts(block=block, index=places[attribute.name])
        if held is None:
            noise = Noise(
                sensitivities=np.int64(global_sensitivity(*domain(attribute))),
                shifts=shifts,
                grid_share=share if alone else of_cluster,
            )
        else:
            noise = Noise(
                sensitivities=held.staying[shifts.index],
                shifts=shifts,
                scales=least_scales(held, shifts.index, partition.sizes, float(share)),
                room=ROOM * n_clusters,
            )
        plans.append(joint_centroids(column, partition, share, noise))
    return plans


def _refuse_categories(columns: Sequence[GridColumn]) -> None:
    """Refuse categories in no order where the noise is individual."""
    for column in columns:
        if not column.attribute.kind.is_ranked:
            raise RequestError(
                column.attribute.place,
                "vector sensitivity is of sums, and its categories are in no order; a commonest "
                "one has no sensitivity as soon as it leads by three, and would come out exactly",
                "pass sensitivity='global' (--sensitivity global), which draws categories from "
                "noisy counts, or choose pram or dp-synthetic",
            )


def _in_any_cluster(
    columns: Sequence[GridColumn], partition: Partition, shifts: JointShifts
) -> JointShifts:
    """Return the shifts with a record of any cluster replaced by any record of the domain.

    At cluster scope the partition is held, so that a record which stays may take any values,
    also such that the order would carry it elsewhere.
    """
    staying = np.empty_like(shifts.staying)
    starts = np.cumsum(partition.sizes) - partition.sizes
    for index, column in enumerate(columns):
        in_clusters = column.values[partition.order]
        smallest = np.minimum.reduceat(in_clusters, starts)
        largest = np.maximum.reduceat(in_clusters, starts)
        staying[index] = local_sensitivity(smallest, largest, *domain(column.attribute))
    return replace(shifts, staying=staying)


@dataclass(frozen=True, kw_only=True)
class _Block:
    """How far one record moves attributes whose clusters are formed together."""

    columns: Sequence[GridColumn]
    partition: Partition

    @cached_property
    def shifts(self) -> JointShifts:
        # Found when first asked for: a plan by composition needs it for its audit alone.
        values = [column.values for column in self.columns]
        domains = [domain(column.attribute) for column in self.columns]
        return joint_shifts(values, self.partition.order, self.partition.sizes, domains)


@dataclass(frozen=True, kw_only=True)
class _AttributeShifts:
    """The shifts of one attribute of a block."""

    block: _Block
    index: int

    def loss(self, scales: NDArray[np.float64]) -> float:
        """Return the loss at vector scope, for scales of the noise on the sums."""
        return worst_loss(self.block.shifts, self.index, scales)


_SEQUENTIAL = (
    "Composition is sequential: one changed record can change every cluster by one record, and "
    "the noise is scaled by the number of clusters to cover that."
)
_PARALLEL = (
    "Composition is parallel, as published in 2013: the epsilon holds while clusters stay as "
    "they are. One changed record can change every cluster by one record. So with clusters formed "
    "anew the epsilon multiplies by up to their number; sequential composition corrects this."
)
_VECTOR = (
    "The scales of the noise were set to how far the sums of this table's clusters move when "
    "one record is replaced by any other and the clusters are formed anew, so that the losses "
    "of all clusters together stay within the epsilon. Scales belong to the custodian and must "
    "not be published."
)
_ALONE = (
    "The one attribute is ordered by its values. When one record is replaced, one cluster gains "
    "what the next one loses, so the epsilon holds with clusters formed anew, whichever "
    "composition."
)
_VECTOR_TITLE = (
    "insensitive microaggregation of all attributes, noise by the sensitivity of all centroids "
    "together"
)
_BOUNDS_FROM_DATA = (
    "Bounds read from the data let one record rescale everybody's distance. The clusters are then "
    "not insensitive, and nothing beyond cluster scope is claimed."
)


_REDRAWN = (
    "Categories were drawn anew for every record from the noisy counts of its cluster. Which of "
    "the cluster's records had which category is gone."
)


def _promise(setting: Setting) -> Promise:
    """Promise by composition, and say what became of categories."""
    if setting.attributes:
        refuse_no_order(attribute.kind for attribute in setting.attributes)
    promise = _promise_numbers(setting)
    redrawn = setting.has_categories and len(setting.shares) > 1
    if not redrawn or setting.choices["sensitivity"] == "vector":
        return promise
    return replace(promise, deed=_DONE_MIXED, caveats=(*promise.caveats, _REDRAWN))


def _promise_numbers(setting: Setting) -> Promise:
    """Promise by composition; at row scope once rows are shuffled and nothing is kept."""
    shares, total = setting.shares, setting.epsilon
    by_vector = setting.choices["sensitivity"] == "vector"
    cluster: Fraction = total
    caveats: tuple[str, ...]
    vector: Fraction | None = total
    if by_vector:
        caveats = (_VECTOR, SIZES_BY_RANK)
    elif len(shares) == 1:
        caveats = (_ALONE,)
    elif setting.choices["composition"] == "sequential":
        # With missing cells there may be fewer clusters than that, and less noise.
        cluster = total / (1 if setting.keeps_missing else setting.most_clusters)
        caveats = (_SEQUENTIAL,)
    else:
        vector = total * setting.most_clusters
        caveats = (_PARALLEL,)
    # Across blocks, rows show which records share clusters of two partitions.
    of_one_block = setting.shuffle == "rows" and len(setting.choices["blocks"]) == 1
    unlinked = (of_one_block or setting.shuffle == "columns") and not setting.keeps
    source = "this project, on the clusters of KANON-2013" if by_vector else None
    if any(one.domain_source is Source.DATA for one in setting.attributes):
        vector, caveats, source = None, (_BOUNDS_FROM_DATA, *caveats), None
    return Promise(
        model=Model.INDIVIDUAL if by_vector else setting.model,
        epsilon=total,
        scopes=epsilon_scopes(
            cluster, vector, vector if unlinked and not setting.read_from_data else None
        ),
        conditions=(noise_scales(),) if by_vector else (),
        caveats=caveats,
        title=_VECTOR_TITLE if by_vector else None,
        source=source,
    )


_DONE_MIXED = (
    "Records were grouped, by all numbers and ordered categories of a block together, into "
    "clusters of at least {k}. Each number was replaced by its cluster's mean plus noise, each "
    "category by one drawn from its cluster's noisy counts."
)

METHODS = (
    Method(
        id="kanon-dp",
        title="insensitive microaggregation of all attributes, noise by the global sensitivity",
        source="KANON-2013 Algorithm 1",
        deed="Records were grouped by all attributes of a block together into clusters of at"
        " least {k}, and each value was replaced by its cluster's mean plus noise.",
        plan=partial(plan_blocks, name="mdav-insensitive", represent=_noisy),
        promise=_promise,
        needs=frozenset({"k", "epsilon", "bounds"}),
        randomness="laplace",
        can=frozenset({"categories"}),
        arguments={
            "composition": ("sequential", "parallel"),
            "sensitivity": ("global", "vector"),
            "blocks": (),
        },
        sets_aside={"sensitivity=vector": ("composition",)},
    ),
)
