"""Which records are looked for: of a large table a sample, each against all others' candidates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.table.threads import in_threads

__all__ = ["MOST_RECORDS", "SAMPLED", "Positions", "Sample", "counted_in_blocks"]

Positions = NDArray[np.intp]

# All of up to so many records are looked for, which takes about as long as sorting their
# attributes; of more, so many at random: a 95 % interval is then at most two points wide.
MOST_RECORDS, SAMPLED = 50_000, 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Which records are looked for among all.

    Attributes
    ----------
    size : int or None
        So many, drawn at random without replacement, or all where there are no more. By default
        all of up to 50,000, and of more 10,000.
    seed : int
        Decides which: the same seed, the same records. No secret from whoever holds the original.

    Raises
    ------
    RequestError
        If the size is not a whole number of 1 or more.

    Examples
    --------
    >>> Sample(size=3).positions(10)
    array([5, 6, 9])
    >>> len(Sample().positions(50_000)), len(Sample().positions(50_001))
    (50000, 10000)
    """

    size: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        whole = isinstance(self.size, int | np.integer) and not isinstance(self.size, bool)
        if self.size is not None and not (whole and self.size >= 1):
            raise RequestError(
                "sample",
                "it must be a whole number of 1 or more",
                f"pass sample={SAMPLED} (--sample {SAMPLED})",
            )

    def positions(self, n_records: int) -> Positions:
        """Return the positions of the records to look for, ascending."""
        size = self.size
        if size is None:
            size = n_records if n_records <= MOST_RECORDS else SAMPLED
        if n_records <= size:
            return np.arange(n_records)
        random = np.random.Generator(np.random.PCG64(self.seed))
        return np.sort(random.choice(n_records, size, replace=False))


def counted_in_blocks(
    count: Callable[[slice, Positions], NDArray[np.int64]], n_queries: int, blocks: Sequence[slice]
) -> NDArray[np.int64]:
    """Count the candidates of queries among originals, a block of these at a time.

    Parameters
    ----------
    count : callable
        Of a block of originals and the positions of queries, how many originals of it are
        candidates of each; -1 where one is nearer.
    n_queries : int
    blocks : sequence of slices
        Of the originals.

    Returns
    -------
    ndarray of int64, shape (n_queries,)
        0 where an original is nearer. A query is asked no more of when a block has a nearer one.

    Examples
    --------
    >>> nearer, tied = np.array([1, -1]), np.array([2, 5])
    >>> found = {0: nearer, 1: tied}
    >>> counted_in_blocks(lambda b, asked: found[b.start][asked], 2, [slice(0, 1), slice(1, 2)])
    array([3, 0])
    """
    counts = np.zeros(n_queries, dtype=np.int64)
    is_open = np.ones(n_queries, dtype=np.bool_)

    def add(block: slice) -> tuple[Positions, NDArray[np.int64]]:
        # Of a copy: numpy counts first and looks again, and other threads close queries meanwhile.
        asked = np.flatnonzero(is_open.copy())
        found = count(block, asked) if len(asked) else np.empty(0, dtype=np.int64)
        is_open[asked[found < 0]] = False
        return asked, found

    # Most noise leaves a nearer original in the first block already.
    for asked, found in [add(blocks[0]), *(in_threads(add, blocks[1:]) if blocks[1:] else ())]:
        counts[asked] += found
    return np.where(is_open, counts, 0)
