"""Record linkage over numbers and categories, missing ones among them: what it must mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.kernels import mixed_linkage as kernel
from microveil.measures import linkage as candidates
from microveil.measures.linkage import (
    record_linkage_mixed,
    record_linkage_standardised,
    sampled,
)
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


def linked(before, after, kinds, **asked):
    """Link columns side by side."""
    sides = (np.column_stack([*side]).astype(float) for side in (before, after))
    return record_linkage_mixed(*sides, np.array(kinds), **asked)


def columns(rows):
    return [np.array(column, dtype=float) for column in zip(*rows, strict=True)]


@given(pairs(), st.data())
def test_candidates_are_those_of_comparing_every_pair(pair, data):
    """Numbers, categories and missing ones: what brute force finds, of a sample too."""
    before, after, kinds = pair
    weighed = oracle.scales(before, kinds)
    n = len(before)
    for sample in (None, data.draw(st.integers(1, n))):
        found = linked(columns(before), columns(after), kinds, sample=sample)
        positions = sampled(n, sample).tolist()
        counts = oracle.candidate_counts(before, after, kinds, weighed, positions)
        assert found.percent == pytest.approx(linked_percent(counts), rel=1e-12)
        assert found.n_records == len(counts)
        assert found.baseline_by_chance == 100 / n


def arranged(before, kinds, reach, leaf_size):
    """The originals in a tree, and what differences weigh."""
    weights, gaps = zip(*oracle.scales(before, kinds), strict=True)
    scale = np.array(kinds), np.array(weights), np.array(gaps)
    records = np.array(columns(before))
    for a in np.flatnonzero(kinds):
        records[a, np.isnan(records[a])] = -1.0
    order, blocks, leaf_starts, boxes = kernel.build_tree(records, scale, reach, leaf_size)
    return records, scale, order, (blocks, leaf_starts, boxes)


def asked(after, kinds):
    """Records as the kernel asks about them."""
    queries = np.array(columns(after)).T.copy()
    queries[np.isnan(queries) & np.array(kinds)] = -1.0
    return queries


REACHES = st.sampled_from([0.0, 0.5, 3.0, np.inf])
LEAF_SIZES = st.sampled_from([2, 3, 5, 16])


@given(pairs(), REACHES, LEAF_SIZES)
def test_the_tree_changes_no_answer(pair, reach, leaf_size):
    """However records are divided, each query has the candidates of comparing every pair."""
    before, after, kinds = pair
    weighed = oracle.scales(before, kinds)
    _, scale, order, tree = arranged(before, kinds, reach, leaf_size)
    own = [oracle.squared_distance(*two, kinds, weighed) for two in zip(before, after, strict=True)]
    counts = kernel.count_at_radius(tree, scale, asked(after, kinds), np.array(own))
    assert sorted(order) == list(range(len(before)))
    expected = oracle.candidate_counts(before, after, kinds, weighed)
    assert np.maximum(counts, 0).tolist() == expected


@given(pairs(), REACHES, LEAF_SIZES)
def test_no_record_of_a_node_lies_nearer_than_its_bound(pair, reach, leaf_size):
    """To the last bit, so that what is left out holds neither a nearer original nor a tie."""
    before, after, kinds = pair
    weighed = oracle.scales(before, kinds)
    _, scale, order, (_, leaf_starts, boxes) = arranged(before, kinds, reach, leaf_size)
    n_leaves = len(leaf_starts) - 1
    for node in range(1, 2 * n_leaves):
        leaves = [node]
        while leaves[0] < n_leaves:
            leaves = [child for leaf in leaves for child in (2 * leaf, 2 * leaf + 1)]
        members = order[leaf_starts[leaves[0] - n_leaves] : leaf_starts[leaves[-1] - n_leaves + 1]]
        for record, query in zip(after[:5], asked(after[:5], kinds), strict=True):
            bound = kernel._least_distance(boxes[node], query, scale, np.inf)
            assert all(
                bound <= oracle.squared_distance(before[i], record, kinds, weighed) for i in members
            )


def test_a_distant_record_draws_no_division_to_itself():
    """Beyond the reach far is far: categories that tell pairs apart are divided first."""
    groups = np.tile([0.0, 1.0, 2.0, 3.0], 64)
    incomes = np.random.default_rng(3).normal(0, 0.1, 256)
    incomes[5] = 1e6
    scale = np.array([False, True]), np.array([1.0, 4.0]), np.array([2.0, 4.0])
    _, _, _, boxes = kernel.build_tree(np.array([incomes, groups]), scale, 4.0, 64)
    of_leaves = boxes[4:, 1]
    assert of_leaves[:, :2].tolist() == [[group, group] for group in range(4)]


def test_records_are_divided_where_nobody_moved():
    """A reach of 0 divides those that differ at all."""
    scale = np.array([False]), np.ones(1), np.full(1, 2.0)
    _, _, _, boxes = kernel.build_tree(np.arange(64.0).reshape(1, -1), scale, 0.0, 16)
    assert boxes[4:, 0, :2].tolist() == [[0, 15], [16, 31], [32, 47], [48, 63]]


@given(pairs(), st.integers(1, 9))
def test_blocks_change_no_answer(pair, size):
    """Of one record or some, in the table's order: candidates add up over blocks."""
    before, after, kinds = pair
    n = len(before)
    sample = max(n - 1, 1)
    whole = linked(columns(before), columns(after), kinds, sample=sample)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blocks, "BLOCK_RECORDS", size)
        patched.setattr(candidates, "PIECE_RECORDS", size)
        parts = linked(columns(before), columns(after), kinds, sample=sample)
    assert parts == whole


@pytest.mark.parametrize("value", [3.0, np.nan])
@pytest.mark.parametrize("is_category", [False, True])
def test_records_that_are_all_equal_are_all_candidates(value, is_category):
    """Each is guessed among all, whether they have a value or lack it."""
    same = [np.full(300, value)]
    found = linked(same, same, [is_category])
    assert found.percent == pytest.approx(100 / 300)
    part = linked(same, same, [is_category], sample=7)
    assert part.percent == pytest.approx(100 / 300)


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
    sample = 80
    monkeypatch.setattr(blocks, "BLOCK_RECORDS", 300)
    monkeypatch.setattr(candidates, "PIECE_RECORDS", 90)
    found = linked(before.T, after.T, kinds, sample=sample)
    positions = sampled(700, sample).tolist()
    counts = oracle.candidate_counts(*rows, kinds, oracle.scales(rows[0], kinds), positions)
    assert found.percent == pytest.approx(linked_percent(counts), rel=1e-12)
    assert max(counts) > 1


def test_complete_numbers_are_linked_as_standardised_ones():
    """Without categories and missing values it is the distance there was."""
    generator = np.random.default_rng(2)
    before = generator.integers(0, 6, (300, 3)).astype(float)
    after = before + generator.integers(-1, 2, before.shape)
    mixed = linked(before.T, after.T, [False] * 3)
    assert mixed == record_linkage_standardised(before, after)


def test_who_lacks_a_value_is_found_by_that():
    """The one record without a number, and the one without a category, are found again."""
    ages, regions = np.full(50, 30.0), np.zeros(50)
    ages[7] = regions[9] = np.nan
    found = linked([ages, regions], [ages, regions], [False, True])
    assert found.percent == pytest.approx(100 * 3 / 50)


def test_of_a_large_table_a_sample_is_linked(monkeypatch):
    """As by every other distance: the same records, each among all."""
    monkeypatch.setattr(candidates, "MOST_RECORDS", 199)
    monkeypatch.setattr(candidates, "SAMPLED", 15)
    values = [np.arange(200.0), np.zeros(200)]
    found = linked(values, values, [False, True])
    assert (found.percent, found.n_records, found.baseline_by_chance) == (100, 15, 0.5)
    assert found.is_of_sample
