"""Record linkage over numbers and categories, missing ones among them: what it must mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.errors import DataError
from microveil.risk import mixed_linkage as measured
from microveil.risk import sampling
from microveil.risk.record_linkage import record_linkage_standardised
from microveil.risk.sampling import Sample
from microveil.table import blocks
from reference import mixed_linkage as oracle
from reference.record_linkage import linked_percent


@st.composite
def pairs(draw):
    """Two tables of numbers and categories in which ties, copies and missing values abound."""
    kinds = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    number = st.one_of(st.none(), st.integers(-3, 3).map(lambda whole: whole / 2))
    category = st.one_of(st.none(), st.integers(0, 3).map(float))
    record = st.tuples(*[category if is_category else number for is_category in kinds])
    both = draw(st.lists(st.tuples(record, record), min_size=1, max_size=25))
    if draw(st.booleans()):  # lightly changed instead of unrelated
        both = [(one, (*one[:-1], other[-1])) for one, other in both]
    before, after = zip(*both, strict=True)
    return before, after, kinds


def columns(rows):
    return [np.array(column, dtype=float) for column in zip(*rows, strict=True)]


@given(pairs(), st.data())
def test_candidates_are_those_of_comparing_every_pair(pair, data):
    """Numbers, categories and missing ones: what brute force finds, of a sample too."""
    before, after, kinds = pair
    weighed = oracle.scales(before, kinds)
    n = len(before)
    for sample in (Sample(), Sample(size=data.draw(st.integers(1, n)))):
        found = measured.record_linkage_mixed(columns(before), columns(after), kinds, sample=sample)
        positions = sample.positions(n).tolist()
        counts = oracle.candidate_counts(before, after, kinds, weighed, positions)
        assert found.percent == pytest.approx(linked_percent(counts), rel=1e-12)
        assert found.n_records == len(counts)
        assert found.baseline_by_chance == 100 / n


@given(pairs())
def test_every_attribute_weighs_by_its_mean_squared_difference(pair):
    """Over all ordered pairs of originals: 2 (n - 1) / n, or nothing where it is constant."""
    before, _, kinds = pair
    for values, is_category, (weight, gap) in zip(
        zip(*before, strict=True), kinds, oracle.scales(before, kinds), strict=True
    ):
        some = values if is_category else [value for value in values if value is not None]
        n = len(some)
        apart = [
            oracle.squared_distance([one], [other], [is_category], [(weight, gap)])
            for one in some
            for other in some
        ]
        if any(apart):
            assert sum(apart) / n**2 == pytest.approx(2 * (n - 1) / n)
            assert is_category or gap == pytest.approx(2 * (n - 1) / n)


def test_many_originals_hide_none_of_the_candidates(monkeypatch):
    """However many are measured at a time, nearer and equal ones are found among all."""
    generator = np.random.default_rng(7)
    before = np.column_stack(
        [generator.normal(size=(700, 2)).round(1), generator.integers(0, 4, (700, 2))]
    )
    after = np.where(generator.random(before.shape) < 0.3, before[::-1], before)
    for table in (before, after):
        table[generator.random(before.shape) < 0.05] = np.nan
    kinds = [False, False, True, True]
    rows = [
        [[None if np.isnan(value) else value for value in row] for row in table.tolist()]
        for table in (before, after)
    ]
    sample = Sample(size=80, seed=1)
    monkeypatch.setattr(blocks, "BLOCK_RECORDS", 300)
    found = measured.record_linkage_mixed(before.T, after.T, kinds, sample=sample)
    positions = sample.positions(700).tolist()
    counts = oracle.candidate_counts(*rows, kinds, oracle.scales(rows[0], kinds), positions)
    assert found.percent == pytest.approx(linked_percent(counts), rel=1e-12)
    assert max(counts) > 1


def test_complete_numbers_are_linked_as_standardised_ones():
    """Without categories and missing values it is the distance there was."""
    generator = np.random.default_rng(2)
    before = generator.integers(0, 6, (300, 3)).astype(float)
    after = before + generator.integers(-1, 2, before.shape)
    mixed = measured.record_linkage_mixed(before.T, after.T, [False] * 3)
    assert mixed == record_linkage_standardised(before, after)


def test_who_lacks_a_value_is_found_by_that():
    """The one record without a number, and the one without a category, are found again."""
    ages, regions = np.full(50, 30.0), np.zeros(50)
    ages[7] = regions[9] = np.nan
    found = measured.record_linkage_mixed([ages, regions], [ages, regions], [False, True])
    assert found.percent == pytest.approx(100 * 3 / 50)


def test_of_a_large_table_a_sample_is_linked(monkeypatch):
    """As by every other distance: the same records, each among all."""
    monkeypatch.setattr(sampling, "MOST_RECORDS", 199)
    monkeypatch.setattr(sampling, "SAMPLED", 15)
    values = [np.arange(200.0), np.zeros(200)]
    found = measured.record_linkage_mixed(values, values, [False, True])
    assert (found.percent, found.n_records, found.baseline_by_chance) == (100, 15, 0.5)
    assert found.is_of_sample


def test_tables_that_do_not_correspond_are_refused():
    """Other records, or none."""
    ages = np.array([1.0, 2.0])
    for before, after in (([ages], [ages[:1]]), ([ages[:0]], [ages[:0]])):
        with pytest.raises(DataError, match="same attributes and records"):
            measured.record_linkage_mixed(before, after, [False])
