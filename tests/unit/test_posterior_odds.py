"""Posterior odds of PRAM: Bayes' rule, and matrices that are none."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.errors import DataError, RequestError
from microveil.noise.posterior_odds import checked_transitions, posterior_odds


@st.composite
def matrices_and_counts(draw):
    """Draw transition matrices with zeros in them, and counts of which some are zero."""
    n_scores = draw(st.integers(1, 6))
    rows = st.lists(st.integers(0, 9), min_size=n_scores, max_size=n_scores).filter(any)
    matrix = np.array([draw(rows) for _ in range(n_scores)], dtype=float)
    counts = draw(rows)
    return matrix / matrix.sum(axis=1, keepdims=True), counts


@given(matrices_and_counts())
def test_odds_are_those_of_bayes_rule(drawn):
    """odds/(1 + odds) is P(original is k | published is k), from the table of both."""
    matrix, counts = drawn
    result = posterior_odds(matrix, counts)
    both = matrix * (np.array(counts) / sum(counts))[:, np.newaxis]
    for k, odds in enumerate(result.odds.tolist()):
        published = both[:, k].sum()
        others = sum(both[other, k] for other in range(len(counts)) if other != k)
        if published == 0:
            assert math.isnan(odds)
        elif others == 0:
            assert odds == math.inf
        else:
            assert odds / (1 + odds) == pytest.approx(both[k, k] / published)


@pytest.mark.parametrize(
    ("matrix", "place"),
    [
        ([[1.0, 0.0]], "transition matrix:"),
        ([], "transition matrix:"),
        ([1.0], "transition matrix:"),
        ([[1.0, 0.0], [0.5, 0.4999]], "row 2"),
        ([[1.0, 0.0], [0.5, 0.5 + 1e-11]], "row 2"),
        ([[1.5, -0.5], [0.5, 0.5]], "row 1"),
        ([[1.0, 0.0], [math.nan, 0.5]], "row 2"),
        ([[1.0, 0.0], [math.inf, 0.0]], "row 2"),
    ],
)
def test_matrices_that_are_no_transitions_are_refused(matrix, place):
    """The error says which row, and no probability of it."""
    with pytest.raises(RequestError, match=place):
        checked_transitions(matrix)


@pytest.mark.parametrize("counts", [[1], [1, 2, 3], [0, 0], [-1, 2], [math.nan, 1], [math.inf, 1]])
def test_counts_that_are_none_are_refused(counts):
    """One count of 0 or more for every score, not all 0."""
    with pytest.raises(DataError):
        posterior_odds(np.eye(2), counts)
