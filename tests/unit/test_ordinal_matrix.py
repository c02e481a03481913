"""The transition matrix for ranks: what it spends, in rationals, and what it is the best of."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import microveil as mv
from microveil.noise import transition as module
from microveil.noise.transition import ordinal_matrix

LEVELS = [f"level {number}" for number in range(6)]
SIZES = [(2, Fraction(1)), (3, Fraction(1, 50)), (5, Fraction(7, 3)), (10, Fraction(1)),
         (17, Fraction(1, 3)), (6, Fraction(9))]  # fmt: skip


def mean_ranks(matrix):
    """The mean distance in ranks, all equally frequent."""
    ranks = np.arange(len(matrix))
    return float((matrix * np.abs(ranks[:, None] - ranks)).sum() / len(matrix))


@pytest.mark.parametrize(("n_categories", "share"), SIZES)
def test_no_two_probabilities_of_an_outcome_are_further_apart_than_the_share(n_categories, share):
    """In rationals: e^share from below by its series, so that the check errs on the safe side."""
    weights = ordinal_matrix(share, n_categories, "x").tolist()
    below = sum((share**power / math.factorial(power) for power in range(60)), start=Fraction(0))
    chances = [[Fraction(weight, sum(row)) for weight in row] for row in weights]
    ratios = [max(column) / min(column) for column in zip(*chances, strict=True)]
    assert max(ratios) <= below
    assert max(ratios) >= below * (1 - Fraction(1, 10**6))  # and no budget is left lying


def test_a_programme_that_is_not_lowered_would_be_found_out(monkeypatch):
    """The check of the weights is what keeps the share: with it alone the first ones would do."""
    tried = []

    def spends_too_much(weights):
        tried.append(weights)
        return Fraction(2)

    monkeypatch.setattr(module, "spent", spends_too_much)
    with pytest.raises(mv.RequestError, match="no matrix of ranks"):
        ordinal_matrix(Fraction(1), 4, "x")
    assert len(tried) == len(module.LOWERED)


@pytest.mark.parametrize(("n_categories", "share"), [(3, 1.0), (4, 0.3), (5, 2.0)])
def test_the_programme_is_that_of_all_pairs_of_rows(n_categories, share):
    """Written out with a constraint for every j, k and l, it comes to the same mean distance."""
    m = n_categories
    limits = []
    for j in range(m):
        for k in range(m):
            for outcome in range(m):
                row = np.zeros((m, m))
                row[j, outcome] += 1
                row[k, outcome] -= math.exp(share)
                limits.append(row.ravel())
    sums = np.kron(np.eye(m), np.ones(m))
    costs = np.abs(np.arange(m)[:, None] - np.arange(m)).ravel() / m
    plain = linprog(
        costs, A_ub=np.array(limits), b_ub=np.zeros(len(limits)), A_eq=sums, b_eq=np.ones(m)
    )
    assert mean_ranks(module._nearest(share, m)) == pytest.approx(plain.fun, rel=1e-6)


def release(**more):
    table = {"E": np.array(LEVELS)[np.random.Generator(np.random.PCG64(1)).integers(0, 6, 900)]}
    return mv.protect(
        table, method="pram", epsilon=2, **{"matrix": {"E": "ordinal"},
        "categories": {"E": mv.ordered(*LEVELS)}, "attributes": ["E"], **more},
    )  # fmt: skip


def test_a_release_by_ranks_promises_its_epsilon_at_row_scope():
    """As randomised response does; it says how the matrix was made, and a recipe asks alike."""
    guarantee = release().guarantee
    assert guarantee.scopes.row.epsilon == 2
    assert "has the least distance in ranks" in guarantee.statement()
    assert "has the least distance in ranks" not in release(matrix={}).guarantee.statement()
    entry = {"role": "confidential", "type": "text", "categories": LEVELS, "ordered": True,
             "matrix": "ordinal"}  # fmt: skip
    asked = {"method": "pram", "epsilon": 2, "seed": 5, "attributes": {"E": entry}}
    table = {"E": np.array(LEVELS * 50)}
    by_recipe = mv.protect(table, recipe=asked).data["E"]
    ours = mv.protect(
        table, method="pram", epsilon=2, seed=5, attributes=["E"], matrix={"E": "ordinal"},
        categories={"E": mv.ordered(*LEVELS)},
    )  # fmt: skip
    assert by_recipe.tolist() == ours.data["E"].tolist()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"categories": {"E": LEVELS}}, "in no order; leave its matrix out"),
        ({"categories": {"E": mv.ordered(*LEVELS, *map(str, range(60)))}}, "takes 60 categories"),
    ],
)
def test_a_matrix_of_ranks_of_what_has_none_is_refused(more, message):
    """Or of so many that the programme would take long."""
    with pytest.raises(mv.RequestError, match=message):
        release(**more)
