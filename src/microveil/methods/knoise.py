"""The randomisations of KNOISE: PRAM, k-PRAM and k-noise.

Source: Biswal, Arbuckle and Kulik, "Disclosure metrics born from statistical evaluations of
data utility". PRAM: Gouweleeuw, Kooiman, Willenborg and de Wolf, "Post Randomisation for
Statistical Disclosure Control" (1998).

Departures: the paper asks that intervals hold k records in expectation; here, unless
every="average" asks for the paper's rule, they really hold k. PRAM may be calibrated to an
epsilon as randomised response over a declared list of categories; its probabilities are whole
numbers in proportion, rounded so that the epsilon is never exceeded. Ordered categories may have a
matrix by which they move to near ones more readily.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.guarantee import Model
from microveil.guarantee.terms import RESPONSE
from microveil.methods.base import Choices, Method, Promise, Setting, epsilon_scopes
from microveil.methods.centroids import domain
from microveil.methods.randomised import IntervalPlan, NoisePlan, TransitionPlan
from microveil.noise.transition import (
    as_weights,
    invariant,
    ordinal_matrix,
    randomised_response,
    spent,
)
from microveil.partition import Intervals, Partition, intervals
from microveil.table import GridColumn

MOST_CATEGORIES = 1000
# A linear programme with the square of so many unknowns takes a second or two.
MOST_RANKS = 60
# A guarantee is to be read by people too: of more categories it states no matrix.
MOST_STATED = 100
# Matrices that are made here, from a share of epsilon.
MADE = ("invariant", "ordinal")


def k_noise(columns: Sequence[GridColumn], choices: Choices) -> list[NoisePlan]:
    """Plan section 2.4: intervals give delta, half their width; each value gets its own noise."""
    return [
        NoisePlan(
            attribute=column.attribute,
            missing=column.missing,
            values=column.values,
            law=choices["noise"],
            delta=_intervals(column, choices).delta,
        )
        for column in columns
    ]


def k_pram(columns: Sequence[GridColumn], choices: Choices) -> list[IntervalPlan]:
    """Plan section 2.3: within each interval, values are drawn among those it holds."""
    plans = []
    for column in columns:
        found = _intervals(column, choices)
        order, sizes = np.argsort(found.labels, kind="stable"), found.sizes[found.sizes > 0]
        plan = IntervalPlan(
            attribute=column.attribute,
            missing=column.missing,
            values=column.values,
            partition=Partition(order=order, sizes=sizes, n_records=len(order)),
            in_order=column.values[order],
            permute=choices["noise"] == "permutation",
        )
        plans.append(plan)
    return plans


def _intervals(column: GridColumn, choices: Choices) -> Intervals:
    """Cut the values into intervals of k records, or of a width."""
    width = choices["width"]
    return intervals(
        column.values.astype(np.float64),
        k=choices.k if width is None else None,
        width=None if width is None else float(width / column.attribute.resolution),
        every=choices["every"],
    )


def pram(columns: Sequence[GridColumn], choices: Choices) -> list[TransitionPlan]:
    """Plan section 2.1: each value is drawn by its row of a transition matrix."""
    return [by_matrix(column, choices, _observed(column, choices)) for column in columns]


def by_matrix(column: GridColumn, choices: Choices, observed: NDArray[np.int64]) -> TransitionPlan:
    """Plan a column of which so many records were counted in each category."""
    attribute = column.attribute
    name, hides_missing = attribute.name, choices.hides_missing(attribute)
    n_categories = _n_categories(column, hides_missing=hides_missing)
    given = choices["matrix"].get(name)
    kind = given if isinstance(given, str) else None
    share: Fraction | None = choices.shares.get(name)
    if given is None or kind in MADE:
        if share is None:
            raise RequestError(
                attribute.place, "without a matrix pram needs epsilon", "pass epsilon=1"
            )
        if kind == "ordinal":
            weights = _of_ranks(column, choices, share, n_categories)
        else:
            weights = randomised_response(share, n_categories, name)
        if kind == "invariant":
            weights, share = invariant(weights, observed), None
    else:
        weights = _checked_matrix(given, n_categories, name)
        share = spent(weights)
    stated: tuple[tuple[int, ...], ...] | str | None = None
    if given is None and not hides_missing:
        stated = RESPONSE
    elif kind != "invariant" and n_categories <= MOST_STATED:
        stated = tuple(map(tuple, weights.tolist()))
    return TransitionPlan(
        attribute=attribute,
        missing=None if hides_missing else column.missing,
        column=column,
        share=share,
        weights=weights,
        category_counts=observed,
        stated=stated,
    )


def _n_categories(column: GridColumn, *, hides_missing: bool) -> int:
    """Count the categories; being missing may be one more, and each reason of its own another."""
    lower, upper = domain(column.attribute)
    n_categories = upper - lower + 1
    if hides_missing:
        n_categories += 1 + len(column.attribute.reasons)
    if n_categories > MOST_CATEGORIES:
        raise RequestError(
            column.attribute.place,
            f"a transition matrix takes {MOST_CATEGORIES} categories at most, and its bounds and "
            "resolution make more",
            "declare tighter bounds or a coarser resolution",
        )
    return n_categories


def _observed(column: GridColumn, choices: Choices) -> NDArray[np.int64]:
    """Count the records of each category, of missing ones too where these are categories."""
    lower, upper = domain(column.attribute)
    units = np.subtract(column.values, lower, dtype=np.int64)
    counts = np.bincount(units, minlength=upper - lower + 1)
    if not choices.hides_missing(column.attribute):
        return counts
    of_reasons = np.zeros(len(column.attribute.reasons), dtype=np.int64)
    if column.reasons is not None:
        of_reasons += column.reasons.counts
    unsaid = choices.n_records - column.n_present - int(of_reasons.sum())
    return np.concatenate([counts, [unsaid], of_reasons])


def _of_ranks(
    column: GridColumn, choices: Choices, share: Fraction, n_categories: int
) -> NDArray[np.int64]:
    """Return the matrix by which a value moves to near ones more readily than to far ones."""
    place = column.attribute.place
    if choices.hides_missing(column.attribute):
        raise RequestError(
            place,
            "a matrix of ranks has no place for being missing, which is near to no category",
            "leave its matrix out, or pass missing='keep' (--missing keep)",
        )
    if not column.attribute.kind.is_ranked:
        raise RequestError(
            place,
            "a matrix of ranks takes ordered categories or numbers, and its categories are in no "
            "order",
            "leave its matrix out, or declare an order (--ordered)",
        )
    if n_categories > MOST_RANKS:
        raise RequestError(
            place,
            f"a matrix of ranks takes {MOST_RANKS} categories at most",
            "declare a coarser resolution, or leave its matrix out",
        )
    return ordinal_matrix(share, n_categories, column.attribute.name)


def _checked_matrix(given: Any, n_categories: int, name: str) -> NDArray[np.int64]:
    place = f"matrix of '{name}'"
    try:
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        matrix = np.empty(0)
    if matrix.shape != (n_categories, n_categories):
        raise RequestError(
            place,
            f"it must have a row and a column for each of the {n_categories} categories",
            "declare the categories, and pass as many rows; with missing='protect' one more for "
            "missing cells, and one for each code that is kept apart",
        )
    in_range = np.isfinite(matrix).all() and (matrix >= 0).all()
    if not in_range or np.abs(matrix.sum(axis=1) - 1).max() > 1e-9:
        raise RequestError(
            place, "its rows must be probabilities that sum to 1", "correct the matrix"
        )
    return as_weights(matrix)


_NO_MATRIX = (
    "A matrix was made from the data, or has a probability of 0: no epsilon holds. "
    "Protection rests on each value being uncertain by its own chance to move."
)
_DRAWN = "Every value was drawn by itself from a transition matrix (randomised response). "
_FROM_DATA = (
    "Its categories were read from the data, so the epsilon holds for tables with the same ones."
)
_PUBLIC = "Matrix and categories are public: the epsilon holds whatever is seen."
_BY_RANKS = (
    "For attributes with a matrix of ranks, half of each row is randomised response. The other "
    "half has the least distance in ranks if all ranks are equally frequent."
)


def _promise_pram(setting: Setting) -> Promise:
    """Promise what the matrices spend: every record is randomised on its own."""
    if not setting.spends_epsilon:
        return Promise(model=Model.NONE, caveats=(_NO_MATRIX,))
    total, from_data = setting.epsilon, setting.read_from_data
    of_ranks = any(
        isinstance(m, str) and m == "ordinal" for m in setting.choices["matrix"].values()
    )
    drawn = _DRAWN + (_FROM_DATA if from_data else _PUBLIC)
    return Promise(
        model=setting.model,
        epsilon=total,
        scopes=epsilon_scopes(total, total, None if from_data else total),
        caveats=(drawn, _BY_RANKS) if of_ranks else (drawn,),
    )


_NO_LIMIT = "Values move by about a third of an interval, without a limit"
_WITHIN = "Values stay within their interval, and one that is alone in it stays as it is"
_MOVES = {
    "uniform": "Values move by half an interval at most",
    "triangular": "Values move by 0.71 intervals at most",
    "laplace": _NO_LIMIT,
    "gaussian": _NO_LIMIT,
    "draw": _WITHIN,
    "permutation": _WITHIN,
}


def _promise_nothing(setting: Setting) -> Promise:
    """Promise nothing formal: intervals and noise follow the data's range."""
    nothing = (
        "Nothing formal is promised. The intervals follow the smallest and largest value of the "
        f"data. {_MOVES[setting.choices['noise']]}: a person with an unusual value stays "
        "recognisable."
    )
    return Promise(model=Model.NONE, caveats=(nothing,))


_OF_INTERVALS: dict[str, tuple[str, ...]] = {"every": ("group", "average"), "width": ()}

METHODS = (
    Method(
        id="pram",
        title="post randomisation by a transition matrix",
        source="KNOISE section 2.1",
        deed="Each value was kept or replaced by another category, by chance.",
        plan=pram,
        promise=_promise_pram,
        needs=frozenset({"epsilon", "bounds"}),
        can=frozenset({"one by one", "categories", "missing", "reasons"}),
        randomness="other",
        without_units=None,
        arguments={"matrix": ()},
    ),
    Method(
        id="k-pram",
        title="a draw among the values of the same interval",
        source="KNOISE section 2.3",
        deed="Values were cut into intervals of equal width, and each was replaced by a "
        "value drawn among those of its interval.",
        plan=k_pram,
        promise=_promise_nothing,
        needs=frozenset({"k"}),
        can=frozenset({"one by one"}),
        randomness="other",
        arguments={**_OF_INTERVALS, "noise": ("draw", "permutation")},
        sets_aside={"width": ("k", "every")},
    ),
    Method(
        id="k-noise",
        title="noise as wide as an interval of k records",
        source="KNOISE sections 2.4 and 2.5",
        deed="Noise of the spread of an interval was added to each value.",
        plan=k_noise,
        promise=_promise_nothing,
        needs=frozenset({"k"}),
        can=frozenset({"one by one"}),
        randomness="other",
        arguments={**_OF_INTERVALS, "noise": ("uniform", "laplace", "gaussian", "triangular")},
        sets_aside={"width": ("k", "every")},
    ),
)
