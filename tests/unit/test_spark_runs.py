"""Which runs of records, as they come to Spark's engine, follow each other by their ids."""

import datetime

import pytest

pa = pytest.importorskip("pyarrow", reason="the engine of Spark needs pyarrow")

from microveil.engines import spark_by_id  # noqa: E402 -- these need pyarrow
from microveil.engines.spark_cells import HERE  # noqa: E402
from microveil.engines.spark_chunks import (  # noqa: E402
    BYTES_IN_BUCKET,
    LARGEST,
    LONGEST,
    bucket_starts,
    packed_cells,
)


def following(*ends, n_records=10, n_bytes=0):
    """The first ids of runs with such ends, as a step before wrote them."""
    cells = [HERE + packed_cells(pa.array(ids)) for ids in ends]
    return spark_by_id._following(
        n_records, n_bytes, pa.chunked_array([pa.array(cells, pa.binary())])
    )


def day(number):
    return datetime.date(2020, 1, number)


@pytest.mark.parametrize(
    "ends",
    [
        [[1, 4], [5, 5]],
        [[9, 9], [10, 11]],
        [[b"a", b"b"], [b"ba", b"bb"]],
        [[day(1), day(9)], [day(10), day(20)]],
        [[1, 4]],
    ],
)
def test_runs_that_follow_each_other_are_in_the_order_of_their_first_ids(ends):
    """In whatever order they come; numbers, bytes of text and dates each in their own."""
    firsts = [first for first, _ in ends]
    assert following(*ends) == following(*ends[::-1]) == firsts


@pytest.mark.parametrize("ends", [[[1, 5], [5, 9]], [[1, 9], [2, 3]], [[1, 9], [1, 9]]])
def test_runs_that_share_an_id_or_lie_in_each_other_do_not_follow(ends):
    """Two records with one id must come to stand beside each other, to be found."""
    assert following(*ends) is None
    assert following(*ends[::-1]) is None


def test_many_short_runs_are_no_runs_to_be_kept():
    """A release would have a file for each of the parts that a frame happens to come in."""
    ends = [[2 * nth, 2 * nth + 1] for nth in range(3)]
    assert following(*ends, n_records=LONGEST) is None
    assert following(*ends, n_records=LONGEST + 1) == [0, 2, 4]
    assert following(*ends, n_records=LONGEST, n_bytes=LARGEST + 1) == [0, 2, 4]
    assert following(*ends[:2], n_records=4) == [0, 2]


def test_buckets_of_long_text_hold_fewer_records():
    """As many buckets as bytes want, if some record is known of each."""
    assert len(bucket_starts(1000, 400, n_bytes=BYTES_IN_BUCKET)) == 0
    assert len(bucket_starts(1000, 400, n_bytes=3 * BYTES_IN_BUCKET)) == 2
    assert len(bucket_starts(1000, 2, n_bytes=3 * BYTES_IN_BUCKET)) == 1
