"""Microaggregation without noise: the papers' baselines, and k-anonymity where it holds.

Sources: Domingo-Ferrer and Torra, "Ordinal, Continuous and Heterogeneous k-Anonymity Through
Microaggregation" (2005); Solanas and Martinez-Balleste, "V-MDAV" (2006); Hansen and Mukherjee,
"A Polynomial Algorithm for Optimal Univariate Microaggregation" (2003); KANON-2013 (Soria-Comas,
Domingo-Ferrer, Sánchez and Martínez, "Improving the Utility of Differentially Private Data
Releases via k-Anonymity"), Definitions 4 and 5.
"""

from collections.abc import Sequence
from dataclasses import replace

from microveil.arguments.steps import BLOCKS
from microveil.engines.base import Clusters, Column, Engine
from microveil.guarantee import Model
from microveil.methods.base import Choices, Method, PlanStep, Promise, Setting, each, epsilon_scopes
from microveil.methods.blocks import plan_blocks
from microveil.methods.categories import typical_categories
from microveil.methods.centroids import joint_means, plain_centroids, plain_means
from microveil.methods.with_missing import typical_or_missing
from microveil.plans import CentroidPlan, SinglePlan
from microveil.table.memory import TOGETHER

__all__ = ["METHODS"]


def ranking(column: Column, choices: Choices, engine: Engine) -> CentroidPlan:
    """Plan individual ranking: means of k records with consecutive values."""
    ranked = engine.cluster_by_rank(column, choices.k)
    return plain_centroids(column, plain_means(ranked), engine)


def optimal(column: Column, choices: Choices, engine: Engine) -> CentroidPlan:
    """Plan optimal univariate microaggregation: the least sum of squares of any clusters."""
    ranked = engine.cluster_optimally(column, choices.k)
    return plain_centroids(column, plain_means(ranked), engine)


def jointly(name: str) -> PlanStep:
    """Make the step that microaggregates blocks of attributes by a partition."""

    def plan(columns: Sequence[Column], choices: Choices, engine: Engine) -> Sequence[SinglePlan]:
        return plan_blocks(columns, choices, engine, name, _representatives)

    return plan


def _representatives(
    columns: Sequence[Column], clusters: Clusters, choices: Choices, engine: Engine
) -> list[SinglePlan]:
    """Represent numbers by their means, ranks by medians, categories by the commonest."""

    def represented(column: Column) -> SinglePlan:
        if choices.protects_missing and engine.missing(column) is not None:
            return typical_or_missing(column, clusters, engine)
        if column.attribute.categories is not None:
            return typical_categories(column, clusters, engine)
        return plain_centroids(column, joint_means(column, clusters, engine), engine)

    return [represented(column) for column in columns]


_NOTHING = epsilon_scopes(None, None, None)
_NO_EPSILON = (
    (
        "No noise is drawn: nothing is promised about what one person's data can change, and the "
        "published means are exact."
    ),
    (
        "Whoever knows that a person is in a cluster learns its means, which lie close to the "
        "person's values (attribute disclosure)."
    ),
)


_TORN = (
    (
        "Each attribute was shuffled by itself: combinations of values are no longer those of "
        "clusters, so the records are not k-anonymous. They are nobody's, and dependence between "
        "attributes is gone."
    ),
    *_NO_EPSILON,
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
        return Promise(model=Model.NONE, epsilon=None, scopes=_NOTHING, caveats=_TORN)
    if len(setting.choices[BLOCKS]) == 1:
        return _promise_k_anonymity(setting)
    return Promise(
        model=Model.NONE,
        epsilon=None,
        scopes=_NOTHING,
        caveats=(
            (
                "Attributes were microaggregated in blocks: within a block every combination of "
                f"values is shared by {setting.choices.unit.shared_by(setting.choices.k)}, across "
                "blocks it is not. The records are not k-anonymous."
            ),
            *_NO_EPSILON,
        ),
    )


def _promise_k_anonymity(setting: Setting) -> Promise:
    """Promise it of the protected attributes, which have one partition."""
    return Promise(
        model=Model.K_ANONYMITY,
        epsilon=None,
        scopes=_NOTHING,
        caveats=(
            (
                "k-anonymity: every combination of the protected values is shared by "
                f"{setting.choices.unit.shared_by(setting.choices.k)}. {_of_missing(setting)}"
            ),
            *_NO_EPSILON,
        ),
    )


def _of_missing(setting: Setting) -> str:
    """Say what is outside: records without values, unless these are values of their own."""
    if setting.choices.protects_missing:
        return "Being without a value counts as one. Columns that are kept are outside it."
    return "Records released without values are outside it, and so are columns that are kept."


def _promise_univariate(setting: Setting) -> Promise:
    """Promise nothing formal, unless there is one attribute and it is its own partition."""
    if len(setting.shares) == 1:
        return _promise_k_anonymity(setting)
    return Promise(
        model=Model.NONE,
        epsilon=None,
        scopes=_NOTHING,
        caveats=(
            (
                "Each attribute was microaggregated by itself: every single value is shared by at "
                f"least {setting.choices.k} records, combinations of values are not. The records "
                "are not k-anonymous."
            ),
            *_NO_EPSILON,
        ),
    )


_DONE_JOINTLY = (
    "Records that are alike in all attributes of a block were grouped into clusters of at least "
    "{k}, and each value was replaced by its cluster's mean."
)
_DONE_MIXED = (
    "Records that are alike in all attributes of a block were grouped into clusters of at least "
    "{k}. Each number was replaced by its cluster's mean, each rank by its median, and each "
    "other category by its commonest one. Ties went to what the release had too few of."
)

_DONE_MISSING = (
    " Being without a value is one: a cluster most of whose records lacked a number or a rank, or "
    "lacked a category at least as often as they had any one, may have none of it."
)

METHODS = (
    Method(
        id="mdav",
        title="microaggregation by maximum distance to average vector (MDAV)",
        source="Domingo-Ferrer and Torra 2005",
        deed=_DONE_JOINTLY,
        randomness=None,
        plan=jointly("mdav"),
        promise=_promise_joint,
        counts_units=True,
        needs_epsilon=False,
        needs_bounds=False,
        takes_categories=True,
        hides_missing=True,
        memory=TOGETHER,
        arguments=(BLOCKS,),
    ),
    Method(
        id="mdav-insensitive",
        title="microaggregation by insensitive MDAV",
        source="KANON-2013 Definitions 4 and 5",
        deed=_DONE_JOINTLY,
        randomness=None,
        plan=jointly("mdav-insensitive"),
        promise=_promise_joint,
        counts_units=True,
        needs_epsilon=False,
        takes_categories=True,
        memory=TOGETHER,
        arguments=(BLOCKS,),
    ),
    Method(
        id="v-mdav",
        title="microaggregation in clusters of variable size (V-MDAV)",
        source="Solanas and Martinez-Balleste 2006",
        deed=_DONE_JOINTLY,
        randomness=None,
        plan=jointly("v-mdav"),
        promise=_promise_joint,
        counts_units=True,
        needs_epsilon=False,
        needs_bounds=False,
        takes_categories=True,
        hides_missing=True,
        memory=TOGETHER,
        arguments=(BLOCKS,),
    ),
    Method(
        id="ranking",
        title="univariate microaggregation by individual ranking",
        source="IDP-2025 section 3.1, without noise",
        deed="Records were grouped by rank, each attribute by itself, into clusters of at "
        "least {k}, and each value was replaced by its cluster's mean.",
        randomness=None,
        plan=each(ranking),
        ranks_each=True,
        promise=_promise_univariate,
        needs_epsilon=False,
        needs_bounds=False,
    ),
    Method(
        id="optimal",
        title="optimal univariate microaggregation",
        source="Hansen and Mukherjee 2003",
        deed="Records with neighbouring values were grouped, each attribute by itself, into "
        "clusters of {k} or more, and each value was replaced by its cluster's mean.",
        randomness=None,
        plan=each(optimal, searches=lambda _choices: True),
        promise=_promise_univariate,
        needs_epsilon=False,
        needs_bounds=False,
    ),
)
