"""The randomisations of KNOISE: PRAM, k-PRAM and k-noise.

Source: Biswal, Arbuckle and Kulik, "Disclosure metrics born from statistical evaluations of
data utility". PRAM: Gouweleeuw, Kooiman, Willenborg and de Wolf, "Post Randomisation for
Statistical Disclosure Control" (1998).

Departures: the paper asks that intervals hold k records in expectation; here, unless
every="average" asks for the paper's rule, they really hold k. PRAM may be calibrated to an
epsilon as randomised response over a declared list of categories; its probabilities are whole
numbers in proportion, rounded so that the epsilon is never exceeded.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from microveil.arguments.steps import EVERY, MATRIX, NOISE, WIDTH
from microveil.engines.base import Column, Engine
from microveil.errors import RequestError
from microveil.methods.base import Choices, Method, Promise, Setting, each, epsilon_scopes
from microveil.methods.centroids import domain
from microveil.plans import IntervalPlan, NoisePlan, TransitionPlan
from microveil.privacy import Model

__all__ = ["METHODS"]

MOST_CATEGORIES = 1000
# Probabilities are whole numbers in proportion to 2**40 and more.
WEIGHT_BITS = 40
ROOM_BITS = 61


def k_noise(column: Column, choices: Choices, engine: Engine) -> NoisePlan:
    """Plan section 2.4: intervals give delta, half their width; each value gets its own noise."""
    return NoisePlan(
        column=engine.held(column),
        share=None,
        law=choices[NOISE],
        delta=engine.interval_delta(column, **_rule(column, choices)),
    )


def k_pram(column: Column, choices: Choices, engine: Engine) -> IntervalPlan:
    """Plan section 2.3: within each interval, values are drawn among those it holds."""
    return IntervalPlan(
        column=engine.held(column),
        share=None,
        partition=engine.cluster_by_interval(column, **_rule(column, choices)),
        permute=choices[NOISE] == "permutation",
    )


class _Rule(TypedDict):
    """How intervals are cut."""

    k: int | None
    width: float | None
    every: str


def _rule(column: Column, choices: Choices) -> _Rule:
    width = choices[WIDTH]
    return _Rule(
        k=choices.k if width is None else None,
        width=None if width is None else float(width / column.attribute.resolution),
        every=choices[EVERY],
    )


def pram(column: Column, choices: Choices, engine: Engine) -> TransitionPlan:
    """Plan section 2.1: each value is drawn by its row of a transition matrix."""
    name = column.attribute.name
    lower, upper = domain(column)
    n_categories = upper - lower + 1
    if choices.protects_missing:
        # Being missing is one more category, and each reason of its own another.
        n_categories += 1 + len(column.attribute.reasons)
    if n_categories > MOST_CATEGORIES:
        raise RequestError(
            f"attribute '{name}'",
            f"a transition matrix takes {MOST_CATEGORIES} categories at most, and its bounds and "
            "resolution make more",
            "declare tighter bounds or a coarser resolution",
        )
    given = choices[MATRIX].get(name)
    share: Fraction | None = choices.shares.get(name)
    if given is None or (isinstance(given, str) and given == "invariant"):
        if share is None:
            raise RequestError(
                f"attribute '{name}'", "without a matrix pram needs epsilon", "pass epsilon=1"
            )
        weights = randomised_response(share, n_categories, name)
        if given is not None:
            weights, share = invariant(weights, _observed(column, choices, engine)), None
    else:
        weights = _checked_matrix(given, n_categories, name)
        share = spent(weights)
    return TransitionPlan(
        column=engine.held(column),
        share=share,
        weights=weights,
        matrix_is_public=given is None or not isinstance(given, str),
        hides_missing=choices.protects_missing,
    )


def _observed(column: Column, choices: Choices, engine: Engine) -> NDArray[np.int64]:
    """Count the records of each category, of missing ones too where these are categories."""
    counts = engine.counts(column)
    if not choices.protects_missing:
        return counts
    reasons = engine.held(column).reasons
    which = np.empty(0, np.int16) if reasons is None else reasons.which
    of_reasons = np.bincount(which[which >= 0], minlength=len(column.attribute.reasons))
    unsaid = choices.n_records - column.n_present - int(of_reasons.sum())
    return np.concatenate([counts, [unsaid], of_reasons])


def randomised_response(share: Fraction, n_categories: int, name: str) -> NDArray[np.int64]:
    """Return weights of the most accurate matrix that spends a share of epsilon.

    A value stays with probability e^share / (e^share + M - 1) and moves to each other category
    with 1 / (e^share + M - 1). The weight to stay is rounded down: the share is never exceeded.
    A share so small that the weight to stay would be no larger than the others is refused.

    >>> randomised_response(Fraction(1), 2, "A") / 2**40
    array([[2.71828183, 1.        ],
           [1.        , 2.71828183]])
    """
    unchanged = RequestError(
        f"attribute '{name}'", "this epsilon leaves values as they are", "pass less"
    )
    if share > ROOM_BITS:
        raise unchanged
    with localcontext() as context:
        context.prec = 80
        factor = (Decimal(share.numerator) / Decimal(share.denominator)).exp()
        # The last digits of exp are not certain: take them away.
        factor *= 1 - Decimal(10) ** -70
        room = (1 << ROOM_BITS) / (factor + n_categories)
        bits = min(WEIGHT_BITS, int(room).bit_length() - 1)
        if bits < 0:
            raise unchanged
        stay = int(factor * (1 << bits))
    if stay <= 1 << bits:
        raise RequestError(
            f"attribute '{name}'",
            f"e^share - 1 must be one part in 2^{WEIGHT_BITS} or more, and its share of epsilon is "
            "so small that every category would be as likely as any other",
            "pass a larger epsilon, give it a larger weight in the budget, or leave it out",
        )
    weights = np.full((n_categories, n_categories), 1 << bits, dtype=np.int64)
    np.fill_diagonal(weights, stay)
    return weights


def invariant(weights: NDArray[np.int64], observed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the matrix that leaves the observed shares as they are in expectation.

    With P the base matrix and t the shares, the product of P and its reverse
    Q_lk = t_k P_kl / sum_j t_j P_jl keeps t (Gouweleeuw et al. 1998, section 4).

    >>> made = invariant(np.array([[3, 1], [1, 3]]), np.array([30, 10]))
    >>> np.round(np.array([30, 10]) @ (made / made.sum(axis=1, keepdims=True)), 6)
    array([30., 10.])
    """
    base = weights / weights.sum(axis=1, keepdims=True)
    shares = observed / observed.sum()
    reverse = (base * shares[:, None]).T
    reverse /= np.maximum(reverse.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return _as_weights(base @ reverse)


def spent(weights: NDArray[np.int64]) -> Fraction | None:
    """Return the epsilon of a public matrix, max over l of ln(max_k p_kl / min_k p_kl).

    Rounded up; None where a probability is 0 and no epsilon holds.

    >>> float(spent(np.array([[3, 1], [1, 3]])))
    1.0986122886681098...
    """
    totals = weights.sum(axis=1).tolist()
    # Most weights of a large matrix are the same: each is made a fraction once in its column.
    columns = [
        [Fraction(weight, total) for weight, total in set(zip(column, totals, strict=True))]
        for column in weights.T.tolist()
    ]
    if any(min(column) == 0 < max(column) for column in columns):
        return None
    largest = max(max(column) / min(column) for column in columns if max(column))
    with localcontext() as context:
        # Near-uniform rows have logarithms down to 1e-13: digits enough for them too.
        context.prec = 120
        logarithm = (Decimal(largest.numerator) / Decimal(largest.denominator)).ln()
    return Fraction(logarithm) + Fraction(1, 10**100)


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
    return _as_weights(matrix)


def _as_weights(matrix: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return whole numbers in proportion; what is possible stays possible."""
    weights = np.rint(matrix * 2.0**WEIGHT_BITS).astype(np.int64)
    return np.where((matrix > 0) & (weights == 0), 1, weights)


_NOTHING = epsilon_scopes(None, None, None)


def _promise_pram(setting: Setting) -> Promise:
    """Promise what the matrices spend: every record is randomised on its own."""
    if not setting.spends_epsilon:
        return Promise(
            model=Model.NONE,
            epsilon=None,
            scopes=_NOTHING,
            caveats=(
                (
                    "A matrix was made from the data, or has a probability of 0: no epsilon holds. "
                    "Protection rests on each value being uncertain by its own chance to move."
                ),
            ),
        )
    total = setting.epsilon
    from_data = setting.read_from_data
    return Promise(
        model=Model.INDIVIDUAL if from_data else Model.DIFFERENTIAL_PRIVACY,
        epsilon=total,
        scopes=epsilon_scopes(total, total, None if from_data else total),
        caveats=(
            (
                "Every value was drawn by itself from a transition matrix (randomised response). "
                + (
                    "Its categories were read from the data, so the epsilon holds for tables "
                    "with the same ones."
                    if from_data
                    else "Matrix and categories are public: the epsilon holds whatever is seen."
                )
            ),
        ),
    )


_MOVES = {
    "uniform": "Values move by half an interval at most",
    "triangular": "Values move by 0.71 intervals at most",
    "laplace": "Values move by about a third of an interval, without a limit",
    "gaussian": "Values move by about a third of an interval, without a limit",
    "draw": "Values stay within their interval, and one that is alone in it stays as it is",
    "permutation": "Values stay within their interval, and one that is alone in it stays as it is",
}


def _promise_nothing(setting: Setting) -> Promise:
    """Promise nothing formal: intervals and noise follow the data's range."""
    moves = _MOVES[setting.choices[NOISE]]
    return Promise(
        model=Model.NONE,
        epsilon=None,
        scopes=_NOTHING,
        caveats=(
            (
                "Nothing formal is promised. The intervals follow the smallest and largest value "
                f"of the data. {moves}: a person with an unusual value stays recognisable."
            ),
        ),
    )


METHODS = (
    Method(
        id="pram",
        title="post randomisation by a transition matrix",
        source="KNOISE section 2.1",
        deed="Each value was kept or replaced by another category, by chance.",
        randomness="other",
        plan=each(pram),
        promise=_promise_pram,
        needs_k=False,
        takes_categories=True,
        hides_missing=True,
        hides_reasons=True,
        arguments=(MATRIX,),
    ),
    Method(
        id="k-pram",
        title="a draw among the values of the same interval",
        source="KNOISE section 2.3",
        deed="Values were cut into intervals of equal width, and each was replaced by a "
        "value drawn among those of its interval.",
        randomness="other",
        plan=each(k_pram),
        promise=_promise_nothing,
        needs_epsilon=False,
        needs_bounds=False,
        arguments=(EVERY.of("group", "average"), WIDTH, NOISE.of("draw", "permutation")),
    ),
    Method(
        id="k-noise",
        title="noise as wide as an interval of k records",
        source="KNOISE sections 2.4 and 2.5",
        deed="Noise of the spread of an interval was added to each value.",
        randomness="other",
        plan=each(k_noise),
        promise=_promise_nothing,
        needs_epsilon=False,
        needs_bounds=False,
        arguments=(
            EVERY.of("group", "average"),
            WIDTH,
            NOISE.of("uniform", "laplace", "gaussian", "triangular"),
        ),
    ),
)
