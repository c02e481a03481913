"""Take the records of a long column some at a time."""

from collections.abc import Iterator

__all__ = ["BYTES", "PIECE", "pieces"]

# Records that are read, rounded or written at a time where a column is not held in memory.
PIECE = 1 << 19
# Fewer of a column of long text: about so many bytes.
BYTES = 1 << 22


def pieces(n_records: int) -> Iterator[slice]:
    """Cut records into runs of `PIECE`; of none there is one, which is empty.

    >>> [(piece.start, piece.stop) for piece in pieces(PIECE + 2)]
    [(0, 524288), (524288, 524290)]
    """
    for start in range(0, max(n_records, 1), PIECE):
        yield slice(start, min(start + PIECE, n_records))
