"""Record linkage: the fast tree against comparing every pair, and what it must mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from microveil.errors import RequestError
from microveil.measures import linkage as measured
from microveil.measures.linkage import checked_sample, sampled
from microveil.measures.nearest import reciprocal_variances
from microveil.table import Numbers, blocks
from microveil.table.blocks import AttributeMatrix
from reference import record_linkage as oracle

# A first call compiles, and interpreted kernels are slow: no time limit per example.

FORMS = [
    measured.record_linkage,
    measured.record_linkage_standardised,
    measured.record_linkage_by_rank,
]


@st.composite
def paired_grids(draw, largest=3):
    """Draw two tables of whole and half numbers in which ties and duplicates abound."""
    shape = draw(st.tuples(st.integers(1, 40), st.integers(1, 4)))
    cells = st.integers(-2 * largest, 2 * largest).map(lambda number: number / 2)
    original = draw(hnp.arrays(np.float64, shape, elements=cells))
    protected = draw(hnp.arrays(np.float64, shape, elements=cells))
    constant = draw(st.sets(st.integers(0, shape[1] - 1)))
    original[:, sorted(constant)] = draw(cells)
    if draw(st.booleans()):  # lightly perturbed instead of unrelated
        protected = original + np.sign(protected) * (np.abs(protected) > largest / 2)
    return original, protected


def random_pair(n_records, n_attributes, noise, seed=0):
    generator = np.random.default_rng(seed)
    original = generator.standard_normal((n_records, n_attributes))
    return original, original + noise * generator.standard_normal(original.shape)


@given(paired_grids())
def test_candidates_are_those_of_comparing_every_pair(pair):
    """The tree finds exactly the candidates that brute force finds, ties included."""
    original, protected = pair
    expected = oracle.candidate_counts(
        original.tolist(), protected.tolist(), [1.0] * original.shape[1]
    )
    assert measured.candidate_counts(original, protected).tolist() == expected


@given(paired_grids())
def test_standardised_linkage_is_that_of_comparing_every_pair(pair):
    """Standardised distances give the percentage that brute force gives."""
    original, protected = pair
    weights = reciprocal_variances(original)
    expected = oracle.candidate_counts(original.tolist(), protected.tolist(), weights.tolist())
    assert np.allclose(weights, oracle.reciprocal_variances(original.tolist()), rtol=1e-12)
    assert measured.record_linkage_standardised(original, protected).percent == pytest.approx(
        oracle.linked_percent(expected), rel=1e-12
    )


@given(paired_grids())
def test_linkage_by_rank_is_that_of_comparing_ranks(pair):
    """Linkage by rank is linkage of average ranks, as brute force computes them."""
    ranks = [oracle.average_ranks(rows.tolist()) for rows in pair]
    expected = oracle.candidate_counts(*ranks, [1.0] * pair[0].shape[1])
    assert measured.record_linkage_by_rank(*pair).percent == pytest.approx(
        oracle.linked_percent(expected), rel=1e-12
    )


@given(paired_grids(), st.data())
def test_a_sample_is_linked_against_all_originals(pair, data):
    """Each distance finds of the sampled records what brute force finds of them among all."""
    n_records, n_attributes = pair[0].shape
    size = data.draw(st.integers(1, n_records))
    positions = sampled(n_records, size).tolist()
    assert len(set(positions)) == size
    ranks = [oracle.average_ranks(rows.tolist()) for rows in pair]
    rows = [table.tolist() for table in pair]
    ones = [1.0] * n_attributes
    of_columns = [columns_of(table) for table in pair]
    for link, tables, weights in (
        (measured.record_linkage, rows, ones),
        (measured.record_linkage_standardised, rows, reciprocal_variances(pair[0]).tolist()),
        (measured.record_linkage_by_rank, ranks, ones),
    ):
        found = link(*pair, sample=size)
        expected = oracle.candidate_counts(*tables, weights, positions)
        assert found.percent == pytest.approx(oracle.linked_percent(expected), rel=1e-12)
        assert (found.n_records, found.is_of_sample) == (size, size < n_records)
        assert found.baseline_by_chance == 100 / n_records
        assert link(*of_columns, sample=size) == found


def columns_of(table):
    return AttributeMatrix(numbers=[Numbers(values=x.copy(), missing=None) for x in table.T])


@pytest.mark.parametrize("link", FORMS)
@pytest.mark.parametrize("noise", [0.02, 0.4])
def test_originals_in_many_blocks_are_as_good_as_in_one(link, noise, monkeypatch):
    """Candidates of a sample are counted in all blocks, nearer ones found in any."""
    pair = [np.round(table, 1) for table in random_pair(300, 2, noise)]
    whole = link(*pair, sample=120)
    monkeypatch.setattr(blocks, "BLOCK_RECORDS", 37)
    monkeypatch.setattr(measured, "PIECE_RECORDS", 50)
    found = link(*pair, sample=120)
    assert found.percent == pytest.approx(whole.percent, rel=1e-12)
    assert 5 < found.percent < 95


@pytest.mark.parametrize("link", FORMS)
def test_pieces_of_a_large_table_are_as_good_as_one(link, monkeypatch):
    """Whether the table is an array or columns, whole numbers or not; threads share no memory."""
    random = np.random.default_rng(9)
    original = random.integers(0, 40, (3000, 3))
    protected = original + random.integers(-2, 3, original.shape)
    sides = [original.astype(np.float64), protected.astype(np.float64)]
    expected = link(*sides, sample=500)
    monkeypatch.setattr(blocks, "BLOCK_RECORDS", 100)
    monkeypatch.setattr(measured, "PIECE_RECORDS", 256)
    columns = [
        AttributeMatrix(numbers=[Numbers(values=c, missing=None) for c in side.T.copy()])
        for side in (original, protected)
    ]
    assert expected == link(*sides, sample=500)
    found = link(*columns, sample=500)
    assert found == expected
    assert 0 < found.percent < 100


@pytest.mark.parametrize("link", FORMS)
def test_of_a_large_table_a_sample_is_linked_always_the_same(link, monkeypatch):
    """Above the limit, and not at it; its interval holds what linking everybody finds."""
    pair = random_pair(400, 3, 0.4)
    everybody = link(*pair)
    monkeypatch.setattr(measured, "MOST_RECORDS", 399)
    monkeypatch.setattr(measured, "SAMPLED", 200)
    found = link(*pair)
    assert (found.n_records, found.is_of_sample) == (200, True)
    assert found.interval[0] < everybody.percent < found.interval[1]
    assert link(*pair) == found
    monkeypatch.setattr(measured, "MOST_RECORDS", 400)
    assert link(*pair) == everybody
    assert not everybody.is_of_sample


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_a_sample_of_nobody_is_refused(size):
    """A whole number of records, one at least."""
    with pytest.raises(RequestError, match="sample"):
        checked_sample(size)


@pytest.mark.parametrize(
    ("n_attributes", "noise", "seed"),
    [(1, 0.001, 1), (2, 0.05, 2), (5, 0.5, 3), (10, 0.3, 4), (10, 1.0, 5), (30, 1.0, 6)],
)
def test_real_numbers_agree_with_brute_force_to_the_last_bit(n_attributes, noise, seed):
    """With no grid to round to, pruning by boxes still loses no nearer and no equal record."""
    original, protected = random_pair(180, n_attributes, noise, seed)
    protected *= 1e3 ** np.arange(n_attributes)[::-1] / 1e3
    original *= 1e3 ** np.arange(n_attributes)[::-1] / 1e3
    expected = oracle.candidate_counts(original.tolist(), protected.tolist(), [1.0] * n_attributes)
    assert measured.candidate_counts(original, protected).tolist() == expected


@pytest.mark.parametrize("link", FORMS)
def test_copies_of_different_records_are_all_linked(link):
    """Data released as they are, all records different, are linked to 100 percent."""
    original, _ = random_pair(500, 3, 0)
    assert link(original, original.copy()).percent == 100.0


def test_a_constant_attribute_counts_as_nothing_when_standardised():
    """Noise on an attribute that is constant in the original hides nobody."""
    original, protected = random_pair(300, 2, 0.3)
    constant, noise = np.full((300, 1), 0.1), random_pair(300, 1, 9.0)[1]
    with_constant = measured.record_linkage_standardised(
        np.hstack([original, constant]), np.hstack([protected, noise])
    )
    assert with_constant == measured.record_linkage_standardised(original, protected)


def test_whole_numbers_stay_tied_when_standardised():
    """Two originals at the same whole distance on either side remain candidates alike."""
    original = np.arange(0.0, 200.0, 2.0)[:, np.newaxis]
    linkage = measured.record_linkage_standardised(original[:-1], original[:-1] + 1.0)
    n = original.shape[0] - 1
    assert linkage.percent == pytest.approx(100 / n * ((n - 1) / 2 + 1), rel=1e-12)


def test_work_shared_among_threads_gives_the_answers_of_one_call():
    """A table large enough to be split gives each record the answer it gets alone."""
    original, protected = random_pair(3 * measured.QUERIES_PER_TASK + 7, 3, 0.05)
    whole = measured.candidate_counts(original, protected)
    some = [0, 1, 255, 256, 511, 512, 774]
    for record in some:
        distances = [
            oracle.squared_distance(x, protected[record].tolist(), [1.0] * 3)
            for x in original.tolist()
        ]
        least = min(distances)
        expected = distances.count(least) if distances[record] == least else 0
        assert whole[record] == expected


def test_the_interval_is_wilsons():
    """Ten of a hundred give 5.52 to 17.44 percent, the textbook's example of Wilson's."""
    lower, upper = measured._wilson_interval(0.1, 100)
    assert (lower, upper) == pytest.approx((5.5229, 17.4366), abs=1e-3)


@pytest.mark.reference
def test_nine_attributes_of_census_agree_with_brute_force(reference_data):
    """On the paper's nine attributes, tree and full matrix count the same candidates."""
    table = np.loadtxt(reference_data / "census.csv", delimiter=",", skiprows=1)
    original = table[:, [0, 1, 2, 3, 5, 6, 7, 8, 10]]
    noise = np.random.default_rng(0).laplace(size=original.shape)
    protected = original + np.round(noise * 0.2 * original.std(axis=0))
    distances = np.zeros((1080, 1080))
    for a in range(9):
        distances += (original[:, a] - protected[:, a, np.newaxis]) ** 2
    least = distances.min(axis=1)
    sizes = (distances == least[:, np.newaxis]).sum(axis=1)
    expected = np.where(np.diag(distances) == least, sizes, 0)
    assert (measured.candidate_counts(original, protected) == expected).all()
    assert 0 < (expected > 0).sum() < 1080
