"""Whom an intruder looks for, and how many originals could be the one looked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.kernels import mixed_linkage as kernel
from microveil.measures.nearest import LEAF_SIZE, distinct_records
from microveil.table.blocks import Matrix, blocks_of
from microveil.table.threads import in_threads

Positions = NDArray[np.intp]

# All of up to so many records are looked for, which takes about as long as sorting their
# attributes; of more, so many at random: a 95 % interval is then at most two points wide.
MOST_RECORDS, SAMPLED = 50_000, 10_000
QUERIES_PER_TASK = 256
# Originals that a sample is looked for among at a time, but for the first block.
PIECE_RECORDS = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Which records are looked for among all."""

    # So many, drawn at random without replacement, or all where there are no more. By default all
    # of up to 50,000, and of more 10,000.
    size: int | None = None
    # Decides which: the same seed, the same records. No secret from whoever holds the original.
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scale:
    """What differences weigh, by attribute.

    ``weights`` are of a squared difference of numbers, or of two different categories; ``gaps``
    say how far a missing number is from a present one, squared.
    """

    is_category: NDArray[np.bool_]
    weights: NDArray[np.float64]
    gaps: NDArray[np.float64]


def _records(
    table: Matrix, rows: Positions | slice, is_category: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return some records; a category that is missing is one more, the same in both tables."""
    # A matrix of its own: what was read may be the table's.
    matrix = np.array(table[rows], dtype=np.float64)
    for a in np.flatnonzero(is_category):
        matrix[np.isnan(matrix[:, a]), a] = -1.0
    return matrix


def _own_distances(
    original: NDArray[np.float64], protected: NDArray[np.float64], scale: Scale
) -> NDArray[np.float64]:
    """Return the squared distance of each protected record to its own original.

    The same operations in the same order as in the kernel, which compares with it.
    """
    total = np.zeros(len(original))
    for a, (x, y) in enumerate(zip(original.T, protected.T, strict=True)):
        weight = scale.weights[a]
        apart = (
            np.where(x != y, weight, 0.0) if scale.is_category[a] else (x - y) * (x - y) * weight
        )
        lacking = np.isnan(x).astype(np.int8) + np.isnan(y)
        total += np.choose(lacking, [apart, scale.gaps[a], 0.0])
    return total


def candidates(
    original: Matrix, protected: Matrix, chosen: Positions, scale: Scale
) -> NDArray[np.int64]:
    """Count the originals nearest to each chosen record; 0 where its own is not among them."""
    asked_for = _records(protected, chosen, scale.is_category)
    own = _own_distances(_records(original, chosen, scale.is_category), asked_for, scale)
    # Equal ones ask the same question once.
    asked_first, which_query = distinct_records(asked_for)
    queries = asked_for[asked_first]
    radii = np.full(len(queries), np.inf)
    np.minimum.at(radii, which_query, own)
    weighed = scale.is_category, scale.weights, scale.gaps

    def count(block: slice, asked: Positions) -> NDArray[np.int64]:
        records = np.ascontiguousarray(_records(original, block, scale.is_category).T)
        # The distance that half of the queries reach no farther than.
        reach = float(np.median(radii[asked]))
        tree = kernel.build_tree(records, weighed, reach, LEAF_SIZE)[1:]

        def among(task: Positions) -> NDArray[np.int64]:
            counts: NDArray[np.int64] = kernel.count_at_radius(
                tree, weighed, queries[task], radii[task]
            )
            return counts

        tasks = np.split(asked, range(QUERIES_PER_TASK, len(asked), QUERIES_PER_TASK))
        return np.concatenate(in_threads(among, tasks))

    # Most queries are answered by the first block; others are asked of fewer, larger ones.
    first_block = blocks_of(len(original))[0]
    starts = range(first_block.stop, len(original), PIECE_RECORDS)
    pieces = [first_block, *(slice(start, start + PIECE_RECORDS) for start in starts)]
    counts = counted_in_blocks(count, len(queries), pieces)
    return np.where(own == radii[which_query], counts[which_query], 0)


def counted_in_blocks(
    count: Callable[[slice, Positions], NDArray[np.int64]], n_queries: int, blocks: Sequence[slice]
) -> NDArray[np.int64]:
    """Count the candidates of queries, a block of originals at a time; 0 where one is nearer.

    ``count`` gives, of a block and the positions of queries, the candidates of each, -1 where an
    original of the block is nearer: a query is then asked no more of.
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
