"""Posterior odds of PRAM, by Bayes' rule."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.errors import DataError
from microveil.noise.shares import posterior_odds


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


def test_nobody_has_no_odds():
    """Of an attribute without a value nothing is said."""
    with pytest.raises(DataError):
        posterior_odds(np.eye(2), [0, 0])
