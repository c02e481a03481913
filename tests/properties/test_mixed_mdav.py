"""MDAV and V-MDAV over mixed records: their plain-Python forms, the distance, and k-anonymity."""

import importlib
from collections import Counter
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microveil.errors import DataError
from microveil.partition.mdav import mdav, v_mdav
from reference import mdav as of_numbers
from reference import mixed_mdav as plain

module = importlib.import_module("microveil.partition.mdav")
leaf_sizes = st.sampled_from([2, 3, 64])


@st.composite
def requests(draw):
    """Mixed records with ties, copies and constants, of one kind alone too, and a k."""
    n_numbers = draw(st.integers(0, 3))
    n_nominal = draw(st.integers(1, 4))
    value = draw(st.sampled_from([st.integers(0, 2).map(float), st.floats(-1e3, 1e3)]))
    code = st.integers(0, draw(st.integers(0, 4)))
    record = st.tuples(
        st.lists(value, min_size=n_numbers, max_size=n_numbers),
        st.lists(code, min_size=n_nominal, max_size=n_nominal),
    )
    records = draw(st.lists(record, min_size=1, max_size=20))
    records += [
        records[copy] for copy in draw(st.lists(st.integers(0, len(records) - 1), max_size=8))
    ]
    rows, categories = ([record[kind] for record in records] for kind in (0, 1))
    n = len(records)
    k = draw(st.one_of(st.sampled_from([n, (n + 1) // 2, n // 2, n // 3, 1]), st.integers(1, n)))
    return rows, categories, max(k, 1)


def generated(kind, n_records):
    """A larger table: many leaves, several trees."""
    generator = np.random.Generator(np.random.PCG64(11))
    numbers = generator.normal(size=(n_records, 2))
    if kind == "skewed":
        shares = 1 / np.arange(1, 31) ** 2
        categories = generator.choice(30, (n_records, 3), p=shares / shares.sum())
        return np.exp(2 * numbers), categories
    if kind == "grid":
        return np.rint(numbers), generator.integers(0, 3, (n_records, 3))
    if kind == "categories alone":
        return numbers[:, :0], generator.integers(0, 4, (n_records, 4))
    # A category that stands almost alone, beside a core that is tight in the numbers.
    return numbers * 10.0 ** -generator.integers(0, 15, (n_records, 1)), np.column_stack(
        [np.arange(n_records) == 17, generator.integers(0, 2, n_records)]
    ).astype(np.int64)


def arrays(rows, categories):
    return np.array(rows, dtype=float).reshape(len(rows), -1), np.array(categories)


@settings(max_examples=60)
@given(requests(), leaf_sizes)
def test_mdav_of_mixed_records_is_the_plain_algorithm(request_, leaf_size):
    """Ties, copies, constants, one kind alone: the same clusters, record by record."""
    rows, categories, k = request_
    matrix, codes = arrays(rows, categories)
    with mock.patch.object(module, "LEAF_SIZE", leaf_size):
        labels = mdav(matrix, k, categories=codes).labels
    assert labels.tolist() == plain.mdav(rows, categories, k)


@settings(max_examples=60)
@given(requests(), leaf_sizes, st.sampled_from([0, 0.2, 1.1, 5.0]))
def test_v_mdav_of_mixed_records_is_the_plain_algorithm(request_, leaf_size, gamma):
    """Ties, copies, constants, one kind alone: the same clusters, record by record."""
    rows, categories, k = request_
    matrix, codes = arrays(rows, categories)
    with mock.patch.object(module, "LEAF_SIZE", leaf_size):
        labels = v_mdav(matrix, k, gamma, categories=codes).labels
    assert labels.tolist() == plain.v_mdav(rows, categories, k, gamma)


@pytest.mark.parametrize("kind", ["skewed", "grid", "categories alone", "almost alone"])
@pytest.mark.parametrize(("n_records", "k"), [(161, 3), (140, 7)])
def test_many_leaves_and_several_trees(kind, n_records, k):
    """Leaves that are skipped never hide a record, whatever the categories' shares are."""
    matrix, codes = generated(kind, n_records)
    rows, categories = matrix.tolist(), codes.tolist()
    expected = plain.mdav(rows, categories, k)
    for leaf_size in (2, 16):
        with mock.patch.object(module, "LEAF_SIZE", leaf_size):
            assert mdav(matrix, k, categories=codes).labels.tolist() == expected
    with mock.patch.object(module, "LEAF_SIZE", 8):
        labels = v_mdav(matrix[:120], k, 1.1, categories=codes[:120]).labels
    assert labels.tolist() == plain.v_mdav(rows[:120], categories[:120], k, 1.1)


@settings(max_examples=30)
@given(
    st.lists(
        st.lists(st.integers(0, 3).map(float), min_size=2, max_size=2), min_size=2, max_size=20
    ),
    st.data(),
)
def test_numbers_alone_are_clustered_as_before_there_were_categories(rows, data):
    """The plain algorithm of mixed records gives those of numbers, to the last tie."""
    k = data.draw(st.integers(1, len(rows)))
    none = [[] for _ in rows]
    assert plain.mdav(rows, none, k) == of_numbers.mdav(rows, k)
    assert plain.v_mdav(rows, none, k, 1.1) == of_numbers.v_mdav(rows, k, 1.1)
    constant = np.zeros((len(rows), 2), dtype=np.int64)
    assert mdav(rows, k, categories=constant).labels.tolist() == of_numbers.mdav(rows, k)


@settings(max_examples=30)
@given(requests())
def test_every_attribute_weighs_the_same(request_):
    """The mean squared difference over all ordered pairs is 2 (n - 1) / n, or 0 of a constant."""
    _, categories, _ = request_
    n = len(categories)
    for column, half in zip(zip(*categories, strict=True), plain.halves(categories), strict=True):
        pairs = [2 * half for one in column for other in column if one != other]
        expected = 2 * (n - 1) / n if pairs else 0
        assert sum(pairs) / n**2 == pytest.approx(expected, rel=1e-12)


@settings(max_examples=30)
@given(requests())
def test_the_distance_to_a_centroid_is_a_mean_of_distances(request_):
    """Mean over a set of the distances to its records, less half the mean among these."""
    rows, categories, k = request_
    weights = plain.halves(categories)
    records = list(zip(rows, categories, strict=True))
    some = records[:k]
    means = [sum(column) / k for column in zip(*[row for row, _ in some], strict=True)]
    counts = [Counter(column) for column in zip(*[codes for _, codes in some], strict=True)]

    def apart(one, other):
        return Fraction(plain.distance(one, other, weights))

    among = sum(apart(one, other) for one in some for other in some) / k**2
    for record in records:
        expected = float(sum(apart(record, other) for other in some) / k - among / 2)
        found = plain.distance_to_centroid(record, (means, counts), weights)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-6)


@settings(max_examples=30)
@given(requests(), st.permutations([-(2**62), -1, 0, 7, 2**62]))
def test_which_number_stands_for_a_category_makes_no_difference(request_, names):
    """Codes are names: others, in another order and of any size, give the same clusters."""
    rows, categories, k = request_
    matrix, codes = arrays(rows, categories)
    renamed = np.array(names)[codes]
    assert (
        mdav(matrix, k, categories=renamed).labels.tolist()
        == mdav(matrix, k, categories=codes).labels.tolist()
    )


@settings(max_examples=30)
@given(requests())
def test_sizes(request_):
    """Every record has a cluster; MDAV's hold k to 2k - 1, V-MDAV's k to 3k - 2."""
    rows, categories, k = request_
    matrix, codes = arrays(rows, categories)
    for partition, most in (
        (mdav(matrix, k, categories=codes), 2 * k - 1),
        (v_mdav(matrix, k, 1.1, categories=codes), 3 * k - 2),
    ):
        assert sorted(partition.order.tolist()) == list(range(len(rows)))
        assert k <= partition.sizes.min() <= partition.sizes.max() <= max(most, k)


@pytest.mark.parametrize(
    "categories", [[1, 2, 3], [[1], [2]], [["a"], ["b"], ["c"]], [[0.5], [1], [2]], [[], [], []]]
)
@pytest.mark.parametrize("cluster", [mdav, v_mdav])
def test_what_is_no_table_of_codes_is_refused(cluster, categories):
    """A row of whole numbers for each record."""
    with pytest.raises(DataError, match="categories"):
        cluster([[1.0], [2.0], [3.0]], 1, categories=categories)
