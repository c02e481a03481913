"""Multivariate partitions against their plain-Python forms, and what they promise.

Records are numbers, some of which may be missing, and categories in no order.
"""

import importlib
import itertools
from collections import Counter
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from microveil.errors import DataError, RequestError
from microveil.partition.mdav import insensitive_mdav, mdav, standardised, v_mdav
from reference import mdav as plain

module = importlib.import_module("microveil.partition.mdav")
leaf_sizes = st.sampled_from([2, 3, 64])  # small leaves, so that small tables have many
gammas = st.sampled_from([0, 0.2, 1, 1.1, 5.0, 1e200])
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
def requests(draw, kind="numbers"):
    """Records with ties, copies and constants, and a k at which something changes.

    Numbers alone, or "mixed" with categories, or "incomplete": of either some may be missing.
    """
    n_numbers, n_nominal = draw(st.integers(1, 6)), 0
    values = draw(elements)
    if kind != "numbers":
        n_numbers, n_nominal = draw(st.integers(0, 3)), draw(st.integers(1, 3))
        values = draw(st.sampled_from([st.integers(0, 2).map(float), st.floats(-1e3, 1e3)]))
    if kind == "incomplete":
        n_numbers, n_nominal = max(n_numbers, 1), n_nominal - 1
        values = st.one_of(st.none(), values)
    record = st.tuples(
        st.lists(values, min_size=n_numbers, max_size=n_numbers),
        st.lists(st.integers(0, draw(st.integers(0, 4))), min_size=n_nominal, max_size=n_nominal),
    )
    records = draw(st.lists(record, min_size=1, max_size=24 if kind == "numbers" else 18))
    copies = draw(st.lists(st.integers(0, len(records) - 1), max_size=8))
    records += [records[copy] for copy in copies]
    rows, categories = ([record[part] for record in records] for part in (0, 1))
    for constant in draw(st.sets(st.integers(0, max(n_numbers - 1, 0)), max_size=2)):
        if n_numbers:
            rows = [[*row[:constant], rows[0][constant], *row[constant + 1 :]] for row in rows]
    n = len(rows)
    turns = [n, (n + 1) // 2, n // 2, (n + 1) // 3, n // 3, 1]
    k = draw(st.one_of(st.sampled_from(turns), st.integers(1, n)))
    return rows, categories, max(k, 1)


any_records = st.one_of(*(requests(kind) for kind in ("numbers", "mixed", "incomplete")))


def arrays(rows, categories):
    """The matrix, and what else is asked for of records that are not numbers alone."""
    asked = {"missing": "protect"} if any(None in row for row in rows) else {}
    if categories[0]:
        asked["categories"] = np.array(categories)
    return np.array(rows, dtype=float).reshape(len(rows), -1), asked


def generated(kind, n_records, n_attributes=2):
    """A larger table: many leaves, several trees; numbers and categories."""
    generator = np.random.Generator(np.random.PCG64(7))
    whole, shape = generator.integers, (n_records, n_attributes)
    matrix, scales = generator.normal(size=shape), 10.0 ** -whole(0, 15, (n_records, 1))
    shares = 1 / np.arange(1, 31) ** 2
    # Attributes alike, so that the order of sums decides between distances.
    turned = whole(0, 7, (n_records // n_attributes, n_attributes)).astype(float)
    lacking = generator.random(shape) < np.linspace(0.05, 0.9, n_attributes)
    numbers = {
        "grid": whole(0, 4, shape).astype(float),
        "turned": np.concatenate([np.roll(turned, a, axis=1) for a in range(n_attributes)]),
        "equal": np.full(shape, 3.0),
        "skewed": np.exp(2 * matrix @ generator.normal(size=(n_attributes, n_attributes))),
        "outliers": matrix * scales,  # a core that is tight beside them, down to the last bits
        "categories alone": matrix[:, :0],
        "incomplete": np.where(lacking, np.nan, np.exp(2 * matrix)),
    }.get(kind, matrix)
    categories = {
        "skewed shares": generator.choice(30, (n_records, 3), p=shares / shares.sum()),
        "mixed grid": whole(0, 3, (n_records, 3)),
        "categories alone": whole(0, 4, (n_records, 4)),
        "almost alone": (np.arange(n_records) == 17)[:, None].astype(np.int64),
        "incomplete": whole(0, 3, (n_records, 1)),
    }.get(kind, np.empty((len(numbers), 0), dtype=np.int64))
    numbers = {"mixed grid": np.rint(matrix), "almost alone": matrix * scales}.get(kind, numbers)
    return numbers, categories


@settings(max_examples=200)
@given(any_records, leaf_sizes)
@example(([[float(i)] for i in range(6)], [[]] * 6, 3), 2)
@example(([[0.0, 1.0]] * 7, [[]] * 7, 2), 2)
def test_mdav_is_the_plain_algorithm(request_, leaf_size):
    """Ties, copies, constants, extreme scales, missing values: the same clusters, all records."""
    rows, categories, k = request_
    matrix, asked = arrays(rows, categories)
    with mock.patch.object(module, "LEAF_SIZE", leaf_size):
        labels = mdav(matrix, k, **asked).labels
    assert labels.tolist() == plain.mdav(rows, k, categories)


@settings(max_examples=200)
@given(any_records, leaf_sizes, gammas)
def test_v_mdav_is_the_plain_algorithm(request_, leaf_size, gamma):
    """Ties, copies, constants, extreme scales, missing values: the same clusters, all records."""
    rows, categories, k = request_
    matrix, asked = arrays(rows, categories)
    with mock.patch.object(module, "LEAF_SIZE", leaf_size):
        labels = v_mdav(matrix, k, gamma, **asked).labels
    assert labels.tolist() == plain.v_mdav(rows, k, gamma, categories)


@settings(max_examples=60)
@given(any_records, st.data(), gammas)
def test_clusters_of_units_are_those_of_the_plain_algorithms(request_, data, gamma):
    """Whoever has how many records, complete or not: the same clusters, each of k units or more."""
    rows, categories, k = request_
    units = data.draw(st.lists(st.integers(-3, 5), min_size=len(rows), max_size=len(rows)))
    matrix, asked = arrays(rows, categories)
    asked["units"] = np.array(units)
    if len(set(units)) < k:
        with pytest.raises(DataError, match="fewer units than k"):
            mdav(matrix, k, **asked)
        return
    found, variable = mdav(matrix, k, **asked), v_mdav(matrix, k, gamma, **asked)
    assert found.labels.tolist() == plain.mdav(rows, k, categories, units)
    assert variable.labels.tolist() == plain.v_mdav(rows, k, gamma, categories, units)
    for partition in (found, variable):
        members = np.split(np.array(units)[partition.order], np.cumsum(partition.sizes)[:-1])
        assert all(len(set(own.tolist())) >= k for own in members)


KINDS = "normal", "skewed", "grid", "turned", "outliers", "equal"
MIXED = "skewed shares", "mixed grid", "categories alone", "almost alone", "incomplete"


@pytest.mark.parametrize("kind", KINDS + MIXED)
def test_many_leaves_and_several_trees(kind):
    """Leaves that are skipped never hide a record; running sums round as in the plain form."""
    n_records, n_attributes, k = (251, 2, 3) if kind in KINDS[::2] + MIXED[::2] else (200, 5, 7)
    matrix, codes = generated(kind, n_records, n_attributes)
    rows = [[None if np.isnan(value) else value for value in row] for row in matrix.tolist()]
    categories = codes.tolist()
    _, asked = arrays(rows, categories)
    few = {**asked, **({"categories": codes[:120]} if categories[0] else {})}
    expected = plain.mdav(rows, k, categories)
    for leaf_size in (2, 16):
        with mock.patch.object(module, "LEAF_SIZE", leaf_size):
            assert mdav(matrix, k, **asked).labels.tolist() == expected
    with mock.patch.object(module, "LEAF_SIZE", 8):
        labels = v_mdav(matrix[:120], k, 1.1, **few).labels
    assert labels.tolist() == plain.v_mdav(rows[:120], k, 1.1, categories[:120])


@given(any_records)
def test_sizes(request_):
    """Every record has a cluster; MDAV's hold k to 2k - 1, V-MDAV's k to 3k - 2."""
    rows, categories, k = request_
    matrix, asked = arrays(rows, categories)
    found = mdav(matrix, k, **asked), v_mdav(matrix, k, 1.1, **asked)
    for partition, most in zip(found, (2 * k - 1, 3 * k - 2), strict=True):
        assert sorted(partition.order.tolist()) == list(range(len(rows)))
        assert k <= partition.sizes.min() <= partition.sizes.max() <= max(most, k)
        assert np.bincount(partition.labels).tolist() == partition.sizes.tolist()
    assert found[0].n_clusters == v_mdav(matrix, k, 0, **asked).n_clusters == len(rows) // k


def test_unit_and_origin_of_an_attribute_have_no_influence():
    """Attributes are standardised: a power of two as unit changes nothing."""
    matrix, _ = generated("normal", 300, 3)
    labels = mdav(matrix, 4).labels
    assert mdav(matrix * [1.0, 2.0**500, 2.0**-500], 4).labels.tolist() == labels.tolist()


def test_natural_groups_are_found_by_v_mdav():
    """A group of more than k records stays one cluster if gamma allows."""
    groups = [[0, 0], [0, 1], [1, 0], [1, 1], [90, 90], [90, 91], [91, 90]]
    labels = v_mdav(groups, 3, gamma=1.1).labels
    assert sorted([set(labels[:4]), set(labels[4:])], key=min) == [{0}, {1}]
    assert sorted(v_mdav(groups, 3, gamma=1.1).sizes) == [3, 4]
    assert v_mdav(groups, 3, gamma=0).sizes.min() == 3


# The distance of mixed and incomplete records


@settings(max_examples=30)
@given(requests("mixed"))
def test_every_attribute_weighs_the_same(request_):
    """The mean squared difference over all ordered pairs is 2 (n - 1) / n, or 0 of a constant."""
    _, categories, _ = request_
    n = len(categories)
    for column, half in zip(zip(*categories, strict=True), plain.halves(categories), strict=True):
        pairs = [2 * half for one in column for other in column if one != other]
        expected = 2 * (n - 1) / n if pairs else 0
        assert sum(pairs) / n**2 == pytest.approx(expected, rel=1e-12)


@settings(max_examples=30)
@given(requests("mixed"))
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


columns = st.lists(st.one_of(st.none(), st.integers(-9, 9)), min_size=2, max_size=12)


@settings(max_examples=60)
@given(columns, st.data())
def test_the_distance_to_an_incomplete_centroid_is_a_mean_of_distances(column, data):
    """By the definition, in rationals: mean over a set less half the mean within the set."""
    gap = Fraction(plain.gap_of(column))
    some = data.draw(st.lists(st.sampled_from(column), min_size=1, max_size=8))

    def apart(one, other):
        if one is None or other is None:
            return Fraction(0) if one is other else gap
        return Fraction(one - other) ** 2

    within = sum(apart(*pair) for pair in itertools.product(some, repeat=2)) / len(some) ** 2
    for value in {*column, None}:
        expected = sum(apart(value, other) for other in some) / len(some) - within / 2
        found = plain.to_centroid(value, plain.summed(some, len(some)), float(gap))
        assert found == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


@settings(max_examples=30)
@given(requests("mixed"), st.permutations([-(2**62), -1, 0, 7, 2**62]))
def test_which_number_stands_for_a_category_makes_no_difference(request_, names):
    """Codes are names: others, in another order and of any size, give the same clusters."""
    rows, categories, k = request_
    matrix, asked = arrays(rows, categories)
    renamed = mdav(matrix, k, categories=np.array(names)[asked["categories"]])
    assert renamed.labels.tolist() == mdav(matrix, k, **asked).labels.tolist()


@settings(max_examples=30)
@given(requests())
def test_a_constant_category_makes_no_difference(request_):
    """Numbers beside it are clustered as numbers alone, to the last tie."""
    rows, _, k = request_
    constant = np.zeros((len(rows), 2), dtype=np.int64)
    assert mdav(rows, k, categories=constant).labels.tolist() == plain.mdav(rows, k)


def test_missing_numbers_are_refused_unless_asked_for():
    """And so is another word for it, and infinity in any case."""
    with pytest.raises(DataError, match="missing or infinite"):
        mdav([[1.0], [np.nan]], 1)
    with pytest.raises(DataError, match="missing or infinite"):
        mdav([[1.0], [np.inf]], 1, missing="protect")
    with pytest.raises(RequestError, match="'error' or 'protect'"):
        v_mdav([[1.0], [np.nan]], 1, missing="keep")


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
    rows, _ = generated("normal", 30, 2)
    replaced = rows.copy()
    replaced[3] = 40.0, -60.0

    def by_own_bounds(matrix, k):
        return insensitive_mdav(
            matrix, k, np.column_stack([matrix.min(axis=0), matrix.max(axis=0)])
        )

    for cluster in (mdav, by_own_bounds):
        assert most_changed(cluster(rows, 5), cluster(replaced, 5), rows, replaced) > 1


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


@pytest.mark.parametrize(
    "categories", [[1, 2, 3], [[1], [2]], [["a"], ["b"], ["c"]], [[0.5], [1], [2]], [[], [], []]]
)
@pytest.mark.parametrize("cluster", [mdav, v_mdav])
def test_what_is_no_table_of_codes_is_refused(cluster, categories):
    """A row of whole numbers for each record."""
    with pytest.raises(DataError, match="categories"):
        cluster([[1.0], [2.0], [3.0]], 1, categories=categories)


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
