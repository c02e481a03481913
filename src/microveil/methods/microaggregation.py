"""Microaggregation without noise: the papers' baselines, and k-anonymity where it holds.

Sources: Domingo-Ferrer and Torra, "Ordinal, Continuous and Heterogeneous k-Anonymity Through
Microaggregation" (2005); Solanas and Martinez-Balleste, "V-MDAV" (2006); Hansen and Mukherjee,
"A Polynomial Algorithm for Optimal Univariate Microaggregation" (2003); KANON-2013 (Soria-Comas,
Domingo-Ferrer, Sánchez and Martínez, "Improving the Utility of Differentially Private Data
Releases via k-Anonymity"), Definitions 4 and 5.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from microveil.guarantee import Model
from microveil.methods.base import Ability, Choices, Method, Need, Promise, Setting
from microveil.methods.blocks import plan_blocks
from microveil.methods.category_plans import typical_values
from microveil.methods.centroids import RankedSteps, joint_centroids, means
from microveil.methods.idp2025 import individual_ranking
from microveil.methods.planned import SinglePlan
from microveil.partition import Partition, optimal_sizes
from microveil.partition.ranking import Runs, runs
from microveil.schema import Attribute
from microveil.table import GridColumn


def _optimal(values: NDArray[np.int64], _attribute: Attribute, choices: Choices) -> Runs:
    """Partition with the least sum of squares of any clusters of k or more."""
    return runs(values, partial(optimal_sizes, k=choices.k))


def _representatives(
    columns: Sequence[GridColumn], partition: Partition, choices: Choices
) -> list[SinglePlan]:
    """Represent numbers by their means, ranks by medians, categories by the commonest."""
    plans: list[SinglePlan] = []
    for column in columns:
        may_lack = choices.protects_missing and column.missing is not None
        if may_lack or column.attribute.categories is not None:
            plans.append(typical_values(column, partition, may_lack=may_lack))
        else:
            plans.append(joint_centroids(column, partition))
    return plans


_EXACT = (
    "No noise is drawn. Nothing bounds what one person's data can change, and the published means "
    "are exact."
)
_LEARNT = (
    "Whoever knows that a person is in a cluster learns its means, which are close to the "
    "person's values (attribute disclosure)."
)
_NO_EPSILON = _EXACT, _LEARNT
_TORN = (
    "Each attribute was shuffled by itself. Combinations of values are no longer those of "
    "clusters, so the records are not k-anonymous. No row is a person's, and dependence between "
    "attributes is gone."
)


def _promise_joint(setting: Setting) -> Promise:
    """Promise k-anonymity of all attributes together, and say what became of categories."""
    promise = _promise_numbers(setting)
    deed = _DONE_MIXED if setting.has_categories else _DONE_JOINTLY
    deed += _DONE_MISSING if setting.choices.protects_missing else ""
    return replace(promise, deed=deed)


def _promise_numbers(setting: Setting) -> Promise:
    """Promise k-anonymity where all protected attributes share one partition and their rows."""
    if setting.shuffle == "columns" and len(setting.shares) > 1:
        return Promise(model=Model.NONE, caveats=(_TORN, *_NO_EPSILON))
    if len(setting.choices["blocks"]) == 1:
        return _promise_k_anonymity(setting)
    sharing = setting.choices.unit.shared_by(setting.choices.k)
    in_blocks = (
        "Attributes were microaggregated in blocks: within a block every combination of "
        f"values is shared by {sharing}, across blocks it is not. The records are not k-anonymous."
    )
    return Promise(model=Model.NONE, caveats=(in_blocks, *_NO_EPSILON))


def _promise_k_anonymity(setting: Setting) -> Promise:
    """Promise it of the protected attributes, which have one partition."""
    sharing = setting.choices.unit.shared_by(setting.choices.k)
    outside = "Records released without values are not part of it, nor are kept columns."
    if setting.choices.protects_missing:
        outside = "A missing value counts as a value. Kept columns are not part of it."
    promised = (
        f"k-anonymity: every combination of the protected values is shared by {sharing}. {outside}"
    )
    return Promise(model=Model.K_ANONYMITY, caveats=(promised, *_NO_EPSILON))


def _promise_univariate(setting: Setting) -> Promise:
    """Promise nothing formal, unless there is one attribute and it is its own partition."""
    if len(setting.shares) == 1:
        return _promise_k_anonymity(setting)
    each = (
        "Each attribute was microaggregated by itself: every single value is shared by at "
        f"least {setting.choices.k} records, combinations of values are not. The records "
        "are not k-anonymous."
    )
    return Promise(model=Model.NONE, caveats=(each, *_NO_EPSILON))


_DONE_JOINTLY = (
    "Records that are alike in all attributes of a block were grouped into clusters of at least "
    "{k}, and each value was replaced by its cluster's mean."
)
_DONE_MIXED = (
    "Records that are alike in all attributes of a block were grouped into clusters of at least "
    "{k}. Each number was replaced by the mean of its cluster, each category of an ordered list by "
    "the middle one, and each other category by the commonest. Where several are as good, it is "
    "one that the release had too few of."
)

_DONE_MISSING = (
    " A missing value counted as a value: a cluster may have none if most of its records lacked a "
    "number or a rank, or lacked a category at least as often as they had any one."
)


def _jointly(
    id: str,  # noqa: A002
    title: str,
    source: str,
    needs: Sequence[Need] = ("k",),
    can: Sequence[Ability] = ("categories", "missing", "units"),
) -> Method:
    """Make the method that microaggregates blocks of attributes by the partition of its id."""
    return Method(
        id=id,
        title=title,
        source=source,
        deed=_DONE_JOINTLY,
        plan=partial(plan_blocks, name=id, represent=_representatives),
        promise=_promise_joint,
        needs=frozenset(needs),
        can=frozenset(can),
        randomness=None,
        arguments={"blocks": ()},
    )


METHODS = (
    _jointly(
        "mdav",
        "microaggregation by maximum distance to average vector (MDAV)",
        "Domingo-Ferrer and Torra 2005",
    ),
    _jointly(
        "mdav-insensitive",
        "microaggregation by insensitive MDAV",
        "KANON-2013 Definitions 4 and 5",
        needs=("k", "bounds"),
        can=("categories", "units"),
    ),
    _jointly(
        "v-mdav",
        "microaggregation in clusters of variable size (V-MDAV)",
        "Solanas and Martinez-Balleste 2006",
    ),
    Method(
        id="ranking",
        title="univariate microaggregation by individual ranking",
        source="IDP-2025 section 3.1, without noise",
        deed="Records were grouped by rank, each attribute by itself, into clusters of at "
        "least {k}, and each value was replaced by its cluster's mean.",
        plan=RankedSteps(partition=individual_ranking, representative=means),
        promise=_promise_univariate,
        needs=frozenset({"k"}),
        can=frozenset({"one by one"}),
        randomness=None,
    ),
    Method(
        id="optimal",
        title="optimal univariate microaggregation",
        source="Hansen and Mukherjee 2003",
        deed="Records with neighbouring values were grouped, each attribute by itself, into "
        "clusters of {k} or more, and each value was replaced by its cluster's mean.",
        plan=RankedSteps(partition=_optimal, representative=means),
        promise=_promise_univariate,
        needs=frozenset({"k"}),
        can=frozenset({"one by one"}),
        randomness=None,
    ),
)
