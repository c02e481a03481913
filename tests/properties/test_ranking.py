"""Individual ranking against its plain-Python form, and what it promises."""

import importlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil import partition
from microveil.errors import MicroveilError
from microveil.partition.ranking import by_rank
from reference import ranking as plain

ranking = importlib.import_module("microveil.partition.ranking")
small = st.integers(-5, 5)
wide = st.integers(-(2**61), 2**61)
tables = st.lists(st.one_of(small, wide), min_size=1, max_size=60)


@given(tables, st.data())
def test_labels_are_those_of_the_plain_algorithm(values, data):
    """Ties, extremes and values too wide to pack: the same clusters, record by record."""
    k = data.draw(st.integers(1, len(values)))
    assert partition.ranking(np.array(values), k).labels.tolist() == plain.ranking(values, k)


@given(
    st.integers(-(2**63), 2**63 - 21),
    st.lists(st.integers(0, 20), min_size=1, max_size=60),
    st.sampled_from([0, 1 << 12]),
)
def test_few_values_are_counted_as_they_would_be_sorted(least, steps, most_counted):
    """Wherever they lie, ties are in order of position, as a stable sort has them."""
    values = [least + step for step in steps]
    expected = sorted(range(len(values)), key=values.__getitem__)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ranking, "COUNTED", most_counted)
        order, in_order = partition.rank_order(np.array(values, dtype=np.int64))
    assert order.tolist() == expected
    assert in_order.tolist() == sorted(values)
    assert order.dtype == np.int32


@given(st.lists(st.booleans(), min_size=1, max_size=300), st.data())
def test_clusters_among_others_are_those_of_the_same_records(present, data):
    """Whatever bytes the order has, some records outside all clusters: none is another's."""
    present = np.array(present)
    places = np.flatnonzero(present)
    order = np.array(data.draw(st.permutations(range(len(places)))), dtype=int)[:127]
    clusters = partition.Partition(
        order=order.astype(data.draw(st.sampled_from([np.int8, np.int32, np.int64]))),
        sizes=np.full(len(order), 1),
        n_records=len(places),
    )
    among = clusters.among(present)
    assert among.order.tolist() == places[order].tolist()
    assert among.n_records == len(present)


@given(tables, st.data())
def test_floats_are_ranked_like_whole_numbers(values, data):
    """The index sort of floats and the packed sort of whole numbers cut the same clusters."""
    values = [value % 1000 for value in values]
    k = data.draw(st.integers(1, len(values)))
    as_floats = partition.ranking(np.array(values) / 2.0, k).labels
    assert as_floats.tolist() == plain.ranking(values, k)


def test_ties_keep_their_order_however_far_values_lie_apart():
    """Where value and position fill one word of 64 bits, one bit less and one bit more."""
    random = np.random.default_rng(3)
    for n_records in (40, 1000):
        for bits in range(63 - n_records.bit_length() - 2, 64):
            few = random.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), 5)
            values = np.append(random.choice(few, n_records - 2), [-(2 ** (bits - 1)), 0])
            values[-1] = 2 ** (bits - 1) - 1
            order, in_order = ranking.rank_order(values)
            expected = np.argsort(values, kind="stable")
            assert order.tolist() == expected.tolist()
            assert in_order.tolist() == values[expected].tolist()


def test_the_middle_cluster_takes_the_remainder():
    """For every number of records up to 40 and every k, by the plain algorithm."""
    for n_records in range(1, 41):
        values = np.arange(n_records)
        for k in range(1, n_records + 1):
            labels = partition.ranking(values, k).labels.tolist()
            assert labels == plain.ranking(values.tolist(), k)


@given(st.integers(1, 500), st.data())
def test_sizes_are_k_but_for_one_cluster(n_records, data):
    """Sizes lie in k to 2k - 1, only one is above k, and they sum to n."""
    k = data.draw(st.integers(1, n_records))
    sizes = partition.ranking_sizes(n_records, k)
    assert sizes.sum() == n_records
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    assert (sizes > k).sum() <= 1


@given(tables, st.data())
def test_summaries_are_those_of_the_clusters(values, data):
    """Sums are exact, squares nearly; the three smallest and largest count copies."""
    values = [value % 10**15 for value in values]
    k = data.draw(st.integers(1, len(values)))
    _, summary = by_rank(np.array(values), k)
    clusters = plain.clusters(values, k)
    assert summary.sums.tolist() == [sum(cluster) for cluster in clusters]
    assert summary.sums.sum() == sum(values)
    exact = [
        float(sum((value - Fraction(sum(cluster), len(cluster))) ** 2 for value in cluster))
        for cluster in clusters
    ]
    assert summary.squares.tolist() == pytest.approx(exact, rel=1e-9, abs=1e-9)
    for nth in range(3):
        smallest = [cluster[min(nth, len(cluster) - 1)] for cluster in clusters]
        largest = [cluster[max(-1 - nth, -len(cluster))] for cluster in clusters]
        assert summary.smallest[nth].tolist() == smallest
        assert summary.largest[nth].tolist() == largest


@given(st.lists(small, min_size=4, max_size=40), st.randoms(use_true_random=False))
def test_clusters_do_not_depend_on_the_order_of_distinct_values(values, random):
    """Permuting records with different values permutes their labels."""
    values = [value * 100 + place for place, value in enumerate(values)]
    order = list(range(len(values)))
    random.shuffle(order)
    labels = partition.ranking(np.array(values), 2).labels
    permuted = partition.ranking(np.array([values[place] for place in order]), 2).labels
    assert permuted.tolist() == labels[order].tolist()


@pytest.mark.parametrize(
    ("values", "k"),
    [
        ([1, 2, 3], 0),
        ([1, 2, 3], 4),
        ([1, 2, 3], True),
        ([1, 2, 3], 1.5),
        ([1.0, float("nan")], 1),
        ([1.0, float("inf")], 1),
        (["a", "b"], 1),
        ([[1, 2], [3, 4]], 1),
    ],
)
def test_bad_input_is_refused(values, k):
    """What cannot be ranked gets an error of ours."""
    with pytest.raises(MicroveilError):
        partition.ranking(values, k)
