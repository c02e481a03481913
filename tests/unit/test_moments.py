"""Moments before and after, and the assessment that puts every measure together."""

import json
import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import microveil as mv
from microveil.measures.moments import compare_moments, moments
from microveil.table import blocks

WITH_GAPS = st.one_of(st.integers(-5, 5).map(float), st.just(np.nan))
PAIRED_KEYS = {
    "n_cells_compared",
    "n_records_complete",
    "sse",
    "mean_sse",
    "mean_sse_published",
    "information_loss",
    "record_linkage",
    "record_linkage_standardised",
    "record_linkage_by_rank",
    "record_linkage_by_chance",
    "record_linkage_intervals",
    "errors",
}
# Of releases with pairs and without.
COMMON_KEYS = {
    "schema",
    "n_records",
    "n_protected",
    "attributes",
    "text_attributes",
    "numeric_looks",
    "paired",
    "left_out",
    "categories",
    "constant_attributes",
    "moments",
    "column_moves",
    "correlations",
    "covariances",
    "goodness_of_fit",
    "kept",
    "promised",
    "kolmogorov_smirnov",
    "rank_correlations",
    "relations",
    "sorted_error",
    "total_variation",
    "wasserstein",
    "worst_attribute",
}
UNPAIRED_KEYS = {"closest_records"}


@st.composite
def table_pairs(draw):
    """Draw two tables of small whole numbers with missing cells and constant attributes."""
    shape = draw(st.tuples(st.integers(1, 12), st.integers(1, 4)))
    original = draw(hnp.arrays(np.float64, shape, elements=WITH_GAPS))
    protected = draw(hnp.arrays(np.float64, shape, elements=WITH_GAPS))
    original[:, sorted(draw(st.sets(st.integers(0, shape[1] - 1))))] = 0.1
    return original, protected


def normal_table(n_attributes=4):
    return np.random.default_rng(0).standard_normal((200, n_attributes)).cumsum(axis=1)


def test_moments_are_numpys():
    """Without missing cells or constants the moments are the textbook's."""
    table = normal_table()
    result = moments(table)
    assert np.allclose(result.means, table.mean(axis=0))
    assert np.allclose(result.variances, table.var(axis=0, ddof=1))
    assert np.allclose(result.covariances, np.cov(table, rowvar=False))
    assert np.allclose(result.correlations, np.corrcoef(table, rowvar=False))


def test_a_covariance_uses_the_records_that_hold_both_values():
    """A record with a missing cell serves the pairs of attributes that it has."""
    table = normal_table(3)
    table[:50, 0] = np.nan
    table[150:, 1] = np.nan
    result = moments(table)
    expected = np.cov(table[50:150, :2], rowvar=False)[0, 1]
    assert result.covariances[0, 1] == pytest.approx(expected)
    assert result.covariances[1, 2] == pytest.approx(np.cov(table[:150, 1:], rowvar=False)[0, 1])
    assert result.correlations[0, 2] == pytest.approx(np.corrcoef(table[50:, [0, 2]].T)[0, 1])
    assert result.variances[0] == pytest.approx(table[50:, 0].var(ddof=1))


@given(table_pairs(), st.integers(1, 9))
def test_pairs_have_the_moments_of_the_records_that_hold_both(pair, size):
    """As numpy has them of the complete records of each pair, of blocks of any size."""
    table = pair[0]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blocks, "BLOCK_RECORDS", size)
        found = moments(table)
    for a, b in combinations(range(table.shape[1]), 2):
        both = table[:, [a, b]]
        both = both[~np.isnan(both).any(axis=1)]
        covariance = np.cov(both, rowvar=False)[0, 1] if len(both) > 1 else np.nan
        assert found.covariances[a, b] == pytest.approx(covariance, abs=1e-12, nan_ok=True)
        varies = len(both) > 1 and (np.ptp(both, axis=0) > 0).all()
        correlation = np.corrcoef(both, rowvar=False)[0, 1] if varies else np.nan
        assert found.correlations[a, b] == pytest.approx(correlation, abs=1e-12, nan_ok=True)
        assert found.covariances[b, a] == pytest.approx(found.covariances[a, b], nan_ok=True)
        assert found.correlations[b, a] == pytest.approx(found.correlations[a, b], nan_ok=True)


def test_records_far_from_the_mean_lose_no_digits():
    """What two attributes share may lie anywhere: it is centred at its own mean."""
    random = np.random.default_rng(1)
    table = random.standard_normal((4000, 2))
    table[:2000, 0] += 1e6
    table[2000:, 1] = np.nan
    expected = np.corrcoef(table[:2000].T)[0, 1]
    assert moments(table).correlations[0, 1] == pytest.approx(expected, rel=1e-9)
    table[:2000, 0] = 0.1
    assert np.isnan(moments(table).correlations[0, 1])


@given(table_pairs())
@example((np.array([[1.0, -1.0], [0.0, 1.0], [1.0, 2.0]]), np.zeros((3, 2))))
def test_correlations_lie_between_minus_one_and_one(pair):
    """A correlation is within bounds, 1 with itself, and NaN with a constant."""
    table = pair[0]
    correlations = moments(table).correlations
    constant = ~blocks.varying(table)
    defined = ~np.isnan(correlations)
    assert (np.abs(correlations[defined]) <= 1).all()
    assert (correlations == correlations.T)[defined].all()
    assert np.isnan(correlations[constant]).all()
    assert (np.diag(correlations)[~constant] == 1).all()


def test_a_constant_that_binary_cannot_write_has_no_variance():
    """Equal decimal fractions have variance 0, not the rounding of their sum."""
    result = moments(np.full((10, 1), 0.1))
    assert result.variances[0] == 0.0
    assert result.means[0] == 0.1


def test_changes_of_correlations_are_over_pairs_of_attributes():
    """Reversing one of three attributes doubles the two correlations that it is in."""
    table = normal_table(3)
    change = compare_moments(table, table * [1.0, 1.0, -1.0]).correlations
    before = np.abs(change.original)
    assert change.largest_absolute_change == pytest.approx(2 * max(before[0, 2], before[1, 2]))
    assert change.mean_absolute_change == pytest.approx(2 * (before[0, 2] + before[1, 2]) / 3)


def assessed(original, protected, names, *, paired=True):
    """Assess two matrices."""
    tables = (dict(zip(names, side.T, strict=True)) for side in (original, protected))
    return mv.assess(*tables, paired=paired)


@given(table_pairs(), st.booleans())
def test_an_assessment_is_json(pair, paired):
    """Missing, constant or single records leave no NaN and no infinity in the dictionary."""
    assume(len(pair[0]) > 1)  # one record cannot be hidden
    names = [f"attribute {number}" for number in range(pair[0].shape[1])]
    figures = assessed(*pair, names, paired=paired).to_dict()
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures


def test_linkage_uses_the_records_complete_in_both():
    """Chance and linkage are those of the records without a missing cell in either table."""
    table = normal_table(2)
    protected = table.copy()
    table[0, 0] = protected[1, 1] = np.nan
    figures = assessed(table, protected, ["a", "b"]).to_dict()
    assert figures["n_records"] == 200
    assert figures["n_records_complete"] == 198
    assert figures["n_cells_compared"] == 398
    assert figures["record_linkage_by_chance"] == 100 / 198


def test_means_of_dates_are_shown_as_days_and_their_spread_in_days():
    """Of all records, by weights and in subgroups, with margins; `to_dict` has days since 1970."""
    day = np.array(["2020-01-01", "2020-01-02", "2020-01-09"] * 40, dtype="datetime64[D]")
    people = {"SEX": np.tile(["f", "m", "f"], 40), "DAY": day, "WEIGHT": np.ones(120)}
    declared = {"bounds": {"DAY": ("2020-01-01", "2020-01-31")}, "categories": {"SEX": ["f", "m"]}}
    release = mv.protect(people, epsilon=1e6, seed=1, attributes=["SEX", "DAY"], **declared)
    found = mv.assess(people, release, by="SEX", weights="WEIGHT")
    assert found.to_dict()["moments"]["DAY"]["mean"]["original"] == 18265
    lines = [" ".join(line.split()) for line in found.to_text().splitlines()]
    assert "DAY 2020-01-04 2020-01-04 12.8 days² 12.8 days²" in lines
    assert "DAY 2020-01-04 - 12.8 days² - - -" in lines
    assert any(re.fullmatch(r"m 2020-01-02 2020-01-02 \S+ days", line) for line in lines)
    assert not any("18,2" in line for line in lines)


def test_numbers_beyond_the_calendar_in_a_column_of_dates_stay_numbers():
    """The release wrote its dates as 20200101."""
    before = {"DAY": np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")}
    found = mv.assess(before, {"DAY": np.array([20200101, 20200102])}, paired=False)
    assert re.search(r"DAY +2020-01-01 +2.02e7 +0.5 days² +0.5 days²", found.to_text())
