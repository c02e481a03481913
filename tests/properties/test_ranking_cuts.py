"""Where individual ranking cuts: found for a part of the ranks as for all of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from microveil.partition.ranking import RankingCuts, ranking_sizes


@some.composite
def cuts(draw):
    """So many ranks, and a k of at most as many."""
    n_records = draw(some.integers(1, 60))
    return RankingCuts(n_records=n_records, k=draw(some.integers(1, n_records)))


@given(cuts())
def test_every_rank_is_in_the_cluster_that_the_sizes_put_it_in(cuts):
    """And clusters begin where those before them end."""
    sizes = ranking_sizes(cuts.n_records, cuts.k)
    assert sizes.sum() == cuts.n_records
    assert sizes.min() >= cuts.k
    assert sizes.max() <= 2 * cuts.k - 1 or cuts.k == 1
    labels = np.repeat(np.arange(len(sizes)), sizes)
    assert cuts.clusters(np.arange(cuts.n_records)).tolist() == labels.tolist()
    assert [cuts.holding(rank) for rank in range(cuts.n_records)] == labels.tolist()
    starts = [0, *np.cumsum(sizes).tolist()]
    assert [cuts.start(cluster) for cluster in range(len(sizes) + 1)] == starts


@given(cuts(), some.data())
def test_sizes_of_some_clusters_are_those_among_all(cuts, data):
    """From any cluster to any other."""
    first = data.draw(some.integers(0, cuts.n_clusters))
    end = data.draw(some.integers(first, cuts.n_clusters))
    sizes = ranking_sizes(cuts.n_records, cuts.k)
    assert cuts.sizes(first, end).tolist() == sizes[first:end].tolist()
