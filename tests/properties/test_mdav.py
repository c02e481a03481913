"""Multivariate partitions against their plain-Python forms, and what they promise."""

import importlib
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from microveil.errors import DataError, RequestError
from microveil.partition.mdav import insensitive_mdav, mdav, standardised, v_mdav
from reference import mdav as plain

module = importlib.import_module("microveil.partition.mdav")
leaf_sizes = st.sampled_from([2, 3, 64])  # small leaves, so that small tables have many
elements = st.sampled_from(
    [
        st.integers(0, 2).map(float),
        st.integers(-50, 50).map(float),
        st.floats(-1, 1),
        st.floats(-1e308, 1e308),
        st.floats(-1e-300, 1e-300),
    ]
)


@st.composite
def requests(draw):
    """A table with ties, copies and constant attributes, and a k at which something changes."""
    n_attributes = draw(st.integers(1, 6))
    values = draw(elements)
    rows = draw(
        st.lists(
            st.lists(values, min_size=n_attributes, max_size=n_attributes), min_size=1, max_size=24
        )
    )
    copies = draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
    rows += [rows[copy] for copy in copies]
    for constant in draw(st.sets(st.integers(0, n_attributes - 1), max_size=2)):
        rows = [[*row[:constant], rows[0][constant], *row[constant + 1 :]] for row in rows]
    n = len(rows)
    turns = [n, (n + 1) // 2, n // 2, (n + 1) // 3, n // 3, 1]
    k = draw(st.one_of(st.sampled_from(turns), st.integers(1, n)))
    return rows, max(k, 1)


def generated(kind, n_records, n_attributes):
    """A larger table: many leaves, several trees."""
    generator = np.random.Generator(np.random.PCG64(7))
    if kind == "grid":
        return generator.integers(0, 4, (n_records, n_attributes)).astype(float)
    if kind == "turned":  # attributes alike, so that the order of sums decides between distances
        base = generator.integers(0, 7, (n_records // n_attributes, n_attributes)).astype(float)
        return np.concatenate([np.roll(base, a, axis=1) for a in range(n_attributes)])
    if kind == "equal":
        return np.full((n_records, n_attributes), 3.0)
    matrix = generator.normal(size=(n_records, n_attributes))
    if kind == "skewed":
        return np.exp(2 * matrix @ generator.normal(size=(n_attributes, n_attributes)))
    if kind == "outliers":  # a core that is tight beside them, down to the rounding of bounds
        return matrix * 10.0 ** -generator.integers(0, 15, (n_records, 1))
    return matrix


@given(requests(), leaf_sizes)
@example(([[float(i)] for i in range(6)], 3), 2)
@example(([[0.0, 1.0]] * 7, 2), 2)
def test_mdav_is_the_plain_algorithm(request_, leaf_size):
    """Ties, copies, constants and extreme scales: the same clusters, record by record."""
    rows, k = request_
    with mock.patch.object(module, "LEAF_SIZE", leaf_size):
        labels = mdav(rows, k).labels
    assert labels.tolist() == plain.mdav(rows, k)


@given(requests(), leaf_sizes, st.sampled_from([0, 0.2, 1, 1.1, 5.0, 1e200]))
def test_v_mdav_is_the_plain_algorithm(request_, leaf_size, gamma):
    """Ties, copies, constants and extreme scales: the same clusters, record by record."""
    rows, k = request_
    with mock.patch.object(module, "LEAF_SIZE", leaf_size):
        labels = v_mdav(rows, k, gamma).labels
    assert labels.tolist() == plain.v_mdav(rows, k, gamma)


@pytest.mark.parametrize("kind", ["normal", "skewed", "grid", "turned", "outliers", "equal"])
@pytest.mark.parametrize(("n_records", "n_attributes", "k"), [(251, 2, 3), (200, 5, 7)])
def test_many_leaves_and_several_trees(kind, n_records, n_attributes, k):
    """Leaves that are skipped never hide a record, however unlike the scales are."""
    matrix = generated(kind, n_records, n_attributes)
    rows = matrix.tolist()
    expected = plain.mdav(rows, k)
    for leaf_size in (2, 16):
        with mock.patch.object(module, "LEAF_SIZE", leaf_size):
            assert mdav(matrix, k).labels.tolist() == expected
    with mock.patch.object(module, "LEAF_SIZE", 8):
        assert v_mdav(matrix[:120], k, 1.1).labels.tolist() == plain.v_mdav(rows[:120], k, 1.1)


@given(requests())
def test_standardised_is_the_plain_computation(request_):
    """Z-scores are equal to the last bit."""
    rows, _ = request_
    assert standardised(np.array(rows)).tolist() == plain.standardised(rows)


@given(requests())
def test_sizes(request_):
    """Every record has a cluster; MDAV's hold k to 2k - 1, V-MDAV's k to 3k - 2."""
    rows, k = request_
    for partition, most in ((mdav(rows, k), 2 * k - 1), (v_mdav(rows, k, 1.1), 3 * k - 2)):
        assert sorted(partition.order.tolist()) == list(range(len(rows)))
        assert k <= partition.sizes.min() <= partition.sizes.max() <= max(most, k)
        assert np.bincount(partition.labels).tolist() == partition.sizes.tolist()
    assert mdav(rows, k).n_clusters == len(rows) // k
    assert v_mdav(rows, k, 0).n_clusters == len(rows) // k


@given(st.integers(0, 2**32), st.integers(2, 150), st.integers(1, 5), st.data())
def test_permuted_records_have_permuted_clusters(seed, n_records, n_attributes, data):
    """Where no distances are equal the order of the table has no influence."""
    k = data.draw(st.integers(2, n_records))
    generator = np.random.Generator(np.random.PCG64(seed))
    matrix = generator.normal(size=(n_records, n_attributes))
    order = generator.permutation(n_records)
    for cluster in (mdav, v_mdav):
        labels = cluster(matrix, k).labels
        assert cluster(matrix[order], k).labels.tolist() == labels[order].tolist()


def test_unit_and_origin_of_an_attribute_have_no_influence():
    """Attributes are standardised: a power of two as unit changes nothing."""
    matrix = generated("normal", 300, 3)
    labels = mdav(matrix, 4).labels
    assert mdav(matrix * [1.0, 2.0**500, 2.0**-500], 4).labels.tolist() == labels.tolist()


def test_natural_groups_are_found_by_v_mdav():
    """A group of more than k records stays one cluster if gamma allows."""
    groups = [[0, 0], [0, 1], [1, 0], [1, 1], [90, 90], [90, 91], [91, 90]]
    labels = v_mdav(groups, 3, gamma=1.1).labels
    assert sorted([set(labels[:4]), set(labels[4:])], key=min) == [{0}, {1}]
    assert sorted(v_mdav(groups, 3, gamma=1.1).sizes) == [3, 4]
    assert v_mdav(groups, 3, gamma=0).sizes.min() == 3


# Insensitive MDAV

BOUNDS = [(-1.0, 9.0), (0.0, 3.0), (2.0, 2.0)]


def in_domain(number):
    return st.tuples(
        st.one_of(st.integers(-1, 9).map(float), st.floats(-1, 9)),
        st.one_of(st.integers(0, 3).map(float), number),
        st.just(2.0),
    ).map(list)


domain_records = in_domain(st.floats(0, 3))
domain_rows = st.lists(domain_records, min_size=1, max_size=40)


def most_changed(before, after, old, new):
    """The greatest number of records, as places and values, that any cluster lost or gained."""
    changed = 0
    for cluster in range(before.n_clusters):
        was = {(i, tuple(old[i])) for i in np.flatnonzero(before.labels == cluster)}
        now = {(i, tuple(new[i])) for i in np.flatnonzero(after.labels == cluster)}
        changed = max(changed, len(was - now), len(now - was))
    return changed


@given(domain_rows, st.data())
def test_insensitive_mdav_is_the_plain_algorithm(rows, data):
    """Distance from the lower corner by domain width, then values in order, then position."""
    k = data.draw(st.integers(1, len(rows)))
    labels = insensitive_mdav(rows, k, BOUNDS).labels
    assert labels.tolist() == plain.insensitive_mdav(rows, k, BOUNDS)


@given(domain_rows, domain_records, st.data())
def test_one_replaced_record_changes_each_cluster_by_at_most_one(rows, replacement, data):
    """The promise that gives insensitive MDAV its name."""
    k = data.draw(st.integers(1, len(rows)))
    place = data.draw(st.integers(0, len(rows) - 1))
    replaced = [*rows[:place], replacement, *rows[place + 1 :]]
    before = insensitive_mdav(rows, k, BOUNDS)
    after = insensitive_mdav(replaced, k, BOUNDS)
    assert most_changed(before, after, rows, replaced) <= 1


def test_mdav_and_bounds_from_the_data_are_not_insensitive():
    """The test above can fail: one record changes MDAV, and bounds read from the data, by more."""
    rows = generated("normal", 30, 2)
    replaced = rows.copy()
    replaced[3] = 40.0, -60.0

    def by_own_bounds(matrix, k):
        return insensitive_mdav(
            matrix, k, np.column_stack([matrix.min(axis=0), matrix.max(axis=0)])
        )

    for cluster in (mdav, by_own_bounds):
        assert most_changed(cluster(rows, 5), cluster(replaced, 5), rows, replaced) > 1


def test_equal_distances_are_ordered_by_values_then_position():
    """(0, 1) and (1, 0) are as far; copies keep the order of the table."""
    rows = [[1, 0], [0, 1], [1, 0], [0, 0], [0, 1]]
    assert insensitive_mdav(rows, 1, [(0, 1), (0, 1)]).labels.tolist() == [3, 1, 4, 0, 2]


def test_a_domain_as_wide_as_numbers_go():
    """Distances neither overflow nor lose their order."""
    rows = [[9e307], [-8e307], [0.0], [1e-300]]
    assert insensitive_mdav(rows, 1, [(-8e307, 9e307)]).labels.tolist() == [3, 0, 1, 2]


# What is refused


@pytest.mark.parametrize("cluster", [mdav, v_mdav, lambda x, k: insensitive_mdav(x, k, [(0, 9)])])
@pytest.mark.parametrize(
    ("matrix", "k", "error"),
    [
        ([[1], [2], [3]], 0, RequestError),
        ([[1], [2], [3]], True, RequestError),
        ([[1], [2], [3]], 1.5, RequestError),
        ([[1], [2], [3]], 4, DataError),
        ([[1.0], [float("nan")]], 1, DataError),
        ([[1.0], [float("inf")]], 1, DataError),
        ([["a"], ["b"]], 1, DataError),
        ([1, 2, 3], 1, DataError),
        ([[], []], 1, DataError),
        (np.empty((0, 1)), 1, DataError),
    ],
)
def test_bad_input_is_refused(cluster, matrix, k, error):
    """What cannot be clustered gets an error of ours."""
    with pytest.raises(error):
        cluster(matrix, k)


@pytest.mark.parametrize("gamma", [-0.1, float("nan"), float("inf"), True, "0.2", None])
def test_bad_gamma_is_refused(gamma):
    """Gamma is a finite number of 0 or more."""
    with pytest.raises(RequestError):
        v_mdav([[1], [2]], 1, gamma)


@pytest.mark.parametrize(
    "bounds",
    [[(0, 1), (0, 1)], [0, 1], [(1, 0)], [(0, float("nan"))], [(-1.7e308, 1.7e308)], "ab", None],
)
def test_bad_bounds_are_refused(bounds):
    """Bounds are one finite pair per attribute."""
    with pytest.raises(RequestError):
        insensitive_mdav([[0.5], [0.6]], 1, bounds)


def test_records_outside_the_bounds_are_counted_not_shown():
    """The error names the first record and no value."""
    with pytest.raises(DataError, match="2 records are outside the bounds, the first is record 2"):
        insensitive_mdav([[5], [77], [78]], 1, [(0, 10)])


# Published figures


@pytest.mark.reference
@pytest.mark.parametrize(
    ("k", "loss"), [(3, 5.692186279), (4, 7.494699833), (5, 9.088435498), (10, 14.155930425)]
)
def test_information_loss_of_mdav_on_census(reference_data, k, loss):
    """100 SSE / SST on the 13 standardised attributes, to nine decimals."""
    census = np.loadtxt(reference_data / "census.csv", delimiter=",", skiprows=1)
    points = standardised(census)
    labels = mdav(census, k).labels
    clusters = [points[labels == cluster] for cluster in range(len(census) // k)]
    within = sum(((cluster - cluster.mean(axis=0)) ** 2).sum() for cluster in clusters)
    assert round(100 * within / (points**2).sum(), 9) == loss
