"""Candidates counted a block of originals at a time, by threads that close queries."""

import numpy as np

from microveil.measures.linkage import counted_in_blocks

N_QUERIES, N_BLOCKS = 20_000, 400


def test_threads_count_what_one_would():
    """Whatever a thread closes while another lists what is open: over and over the same counts."""
    random = np.random.default_rng(1)
    found = np.where(random.random((N_BLOCKS, N_QUERIES)) < 0.01, -1, 1)
    found[0] = 1  # all stay open for the threads
    expected = np.where((found < 0).any(axis=0), 0, N_BLOCKS)
    blocks = [slice(block, block + 1) for block in range(N_BLOCKS)]
    assert 0 < np.count_nonzero(expected) < N_QUERIES / 10
    for _ in range(4):
        counts = counted_in_blocks(
            lambda block, asked: found[block.start][asked], N_QUERIES, blocks
        )
        assert np.array_equal(counts, expected)
