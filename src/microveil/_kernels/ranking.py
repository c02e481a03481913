"""Sort keys that hold a value and its record in one word, and the way back."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def pack(values, minimum, position_bits, packed):
    """Write (value - minimum) in the upper bits of ``packed`` and the position in the lower.

    Sorting the words sorts the values, ties by position: a stable order from any sort.
    """
    shift = np.uint64(position_bits)
    for position in range(values.shape[0]):
        key = np.uint64(values[position] - minimum)
        packed[position] = (key << shift) | np.uint64(position)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def unpack(packed, minimum, position_bits, values, order):
    """Split words into ``values`` (which may be the words' own memory) and ``order``."""
    shift = np.uint64(position_bits)
    mask = (np.uint64(1) << shift) - np.uint64(1)
    for rank in range(packed.shape[0]):
        word = packed[rank]
        order[rank] = np.int64(word & mask)
        values[rank] = np.int64(word >> shift) + minimum


@numba.njit(cache=True, nogil=True, error_model="numpy")
def broadcast(order, sizes, values, out):
    """Give every record of ``out`` the value of its cluster."""
    rank = 0
    for cluster in range(sizes.shape[0]):
        value = values[cluster]
        for _ in range(sizes[cluster]):
            out[order[rank]] = value
            rank += 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def squared_distances(run, total):
    """Squared distances of a run's values, whose sum is ``total``, to their mean."""
    size = run.shape[0]
    first = run[0]
    mean = float(total - size * first) / size
    squares = 0.0
    for rank in range(size):
        distance = float(run[rank] - first) - mean
        squares += distance * distance
    return squares


@numba.njit(cache=True, nogil=True, error_model="numpy")
def moments(in_order, sizes, sums, squares):
    """Sum each run of values, in any order, and its squared distances to the mean."""
    start = 0
    for cluster in range(sizes.shape[0]):
        end = start + sizes[cluster]
        total = 0
        for rank in range(start, end):
            total += in_order[rank]
        sums[cluster] = total
        squares[cluster] = squared_distances(in_order[start:end], total) if end > start else 0.0
        start = end


@numba.njit(cache=True, nogil=True, error_model="numpy")
def summarise(in_order, sizes, sums, squares, smallest, largest):
    """Sum each run of sorted values and its squared distances to the mean, pick the ends.

    Squares are of distances to the run's first value: what all values have in common
    cannot wash them out.
    """
    start = 0
    for cluster in range(sizes.shape[0]):
        last = start + sizes[cluster] - 1
        total = 0
        for rank in range(start, last + 1):
            total += in_order[rank]
        sums[cluster] = total
        squares[cluster] = squared_distances(in_order[start : last + 1], total)
        for nth in range(3):
            smallest[nth, cluster] = in_order[min(start + nth, last)]
            largest[nth, cluster] = in_order[max(last - nth, start)]
        start = last + 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def average(values, order, ranks):
    """Write the rank of each value, from 1 on, equal ones sharing the average of theirs.

    ``order`` holds the positions of the values in ascending order, equal ones in any.
    """
    n = order.shape[0]
    start = 0
    while start < n:
        value = values[order[start]]
        end = start + 1
        while end < n and values[order[end]] == value:
            end += 1
        for place in range(start, end):
            ranks[order[place]] = (start + end + 1) / 2
        start = end
