"""Posterior odds of PRAM: Bayes' rule, and matrices that are none."""

import json
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


@given(matrices_and_counts())
def test_the_dictionary_is_json(drawn):
    """Infinite and undefined odds are None, told apart by a flag."""
    result = posterior_odds(*drawn)
    figures = result.to_dict()
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    for score, odds in zip(figures["scores"], result.odds, strict=True):
        assert score["infinite"] == (odds == math.inf)
        assert (score["odds"] is None) == (not math.isfinite(odds))
    assert figures["largest_infinite"] == (result.largest == math.inf)


def test_a_release_without_randomisation_is_certain():
    """The identity matrix leaves no doubt; a score that nobody has is never published."""
    figures = posterior_odds(np.eye(3), [5, 5, 0]).to_dict()
    assert figures["scores"] == [
        {"share": 0.5, "odds": None, "infinite": True},
        {"share": 0.5, "odds": None, "infinite": True},
        {"share": 0.0, "odds": None, "infinite": False},
    ]
    assert figures["largest"] is None
    assert figures["largest_infinite"] is True


def test_randomised_response_on_two_scores():
    """By hand: 0.9 x 0.1 against 0.1 x 0.9 for the rare score, 81 to 1 for the other."""
    result = posterior_odds([[0.9, 0.1], [0.1, 0.9]], [10, 90])
    assert result.odds == pytest.approx([1.0, 81.0])
    assert result.largest == pytest.approx(81.0)
    assert result.shares == pytest.approx([0.1, 0.9])


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


def test_rounding_in_a_row_is_let_pass():
    """Ten tenths do not sum to 1 in float64; they do here."""
    assert sum([0.1] * 10) != 1.0
    assert checked_transitions(np.full((10, 10), 0.1)).shape == (10, 10)
    assert checked_transitions([[1.0, 0.0], [0.5, 0.5 + 1e-13]]).shape == (2, 2)


@pytest.mark.parametrize("counts", [[1], [1, 2, 3], [0, 0], [-1, 2], [math.nan, 1], [math.inf, 1]])
def test_counts_that_are_none_are_refused(counts):
    """One count of 0 or more for every score, not all 0."""
    with pytest.raises(DataError):
        posterior_odds(np.eye(2), counts)
