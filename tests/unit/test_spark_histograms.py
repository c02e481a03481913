"""What Spark's engine works with on the driver is what the engine in memory works with."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.engines.handles import LocalCodes
from microveil.kernels.keyed import words_of_record
from microveil.noise.keyed import RecordStreams
from microveil.partition.quantiles import Candidates
from microveil.synthesis.generation import block_source

pytest.importorskip("pyarrow", reason="the engine of Spark packs records by it")

from microveil.engines.spark_cells import in_files
from microveil.engines.spark_synthesis import (
    BLOCK,
    MOST_COUNTS,
    HistogramOfCodes,
    added_up,
    groups_of_scopes,
    tallied,
)

COUNT = 12


@given(st.lists(st.integers(0, COUNT), max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_counts_of_codes_say_what_sorted_codes_say(codes, one, other):
    """Records below any code, and the codes of any ranks."""
    held = np.array(codes, dtype=np.int64)
    local = LocalCodes(codes=held, in_order=np.sort(held))
    ends = np.cumsum(np.bincount(held, minlength=COUNT + 1))
    counted = HistogramOfCodes(coding=None, ends=ends)
    for code in range(COUNT + 2):
        assert counted.below(code) == local.below(code)
    start, stop = sorted(min(rank, len(codes)) for rank in (one, other))
    assert counted.ranked(start, stop).tolist() == local.ranked(start, stop).tolist()


def test_a_records_jitter_is_the_first_word_of_its_stream():
    """Whichever others are asked for with it, and another under another key, name or purpose."""
    streams = RecordStreams.keyed(bytes(32), "jitter", "AGE")
    records = np.array([3, 1 << 40, 3, 0])
    words = streams.of(records).words()
    assert words[0] == words[2]
    assert len({*words.tolist()}) == 3
    assert streams.of(records[1:2]).words()[0] == words[1]
    scratch, own = np.empty(16, dtype=np.uint32), np.empty(8, dtype=np.uint64)
    words_of_record(streams.key, 3, 0, 1, scratch, own)
    assert own[0] == words[0]
    for other in ((bytes([1]) * 32, "jitter", "AGE"), (bytes(32), "jitter", "PAY"),
                  (bytes(32), "cells", "AGE")):  # fmt: skip
        assert not (RecordStreams.keyed(*other).of(records).words() == words).any()


def test_jitter_by_key_is_uniform():
    """Codes of one value lie evenly over its grid step, as those of one stream do."""
    records = np.arange(20_000)
    words = RecordStreams.keyed(bytes(32), "jitter", "AGE").of(records).words()
    codes = Candidates(lower=0, upper=9, count=(1 << 20) - 1).codes(np.full(20_000, 4), words)
    positions = Candidates(lower=0, upper=9, count=(1 << 20) - 1).positions(codes)
    shares = np.sort(positions) - 4
    # Kolmogorov's distance is beyond this of one sample in 10,000.
    assert np.abs(shares - (records + 0.5) / 20_000).max() < 2.23 / 20_000**0.5


@pytest.mark.parametrize("largest", [0, 4096])
def test_counts_of_partitions_add_up_to_those_of_the_table(largest, tmp_path):
    """Over borders of blocks, whichever partitions have any, in files or in rows on their way."""
    import pyarrow as pa

    n_counts = 2 * BLOCK + 5
    parts = [[0, BLOCK - 1, BLOCK], [BLOCK, 2 * BLOCK + 4], []]

    def begun():
        def count(row, counts):
            np.add.at(counts, parts[row["part"].as_py()], 1)

        return count

    task = in_files(tallied(begun, n_counts), tmp_path, largest)
    one_a_task = [task(iter([pa.record_batch({"part": [nth]})])) for nth in range(len(parts))]
    rows = sorted(
        (row for batches in one_a_task for batch in batches for row in batch.to_pylist()),
        key=lambda row: row["block"],
    )
    types = pa.schema([("block", pa.int64()), ("cells", pa.binary()), ("counts", pa.binary())])
    found = np.zeros(n_counts, dtype=np.int64)
    for batch in added_up(iter([pa.RecordBatch.from_pylist(rows, types)])):
        (row,) = batch.to_pylist()
        cells, counts = (np.frombuffer(row[name], np.int64) for name in ("cells", "counts"))
        found[row["block"] * BLOCK + cells] += counts
    assert (
        found.tolist()
        == np.bincount(np.concatenate(parts).astype(int), minlength=n_counts).tolist()
    )


@given(st.lists(st.integers(1, 3000), min_size=2, max_size=6))
def test_no_pass_makes_more_counts_than_are_said_to_come(sizes):
    """But for a table that has more by itself; every scope is in one pass, in order."""
    scopes = [(one, other) for one in range(len(sizes)) for other in range(one)]
    groups = groups_of_scopes(sizes, scopes)
    assert [scope for group in groups for scope in group] == scopes
    for group in groups:
        cells = sum(sizes[one] * sizes[other] for one, other in group)
        assert cells <= MOST_COUNTS or len(group) == 1


def test_blocks_of_a_seed_are_drawn_apart():
    """Each by a stream of its own, which hangs on the seed and the block's number."""
    drawn = [block_source(seed, number).integers(1 << 62, size=4).tolist()
             for seed in (1, 2) for number in (0, 1, 1 << 20)]  # fmt: skip
    assert len({word for words in drawn for word in words}) == 24
    assert block_source(1, 1).integers(1 << 62, size=4).tolist() == drawn[1]
