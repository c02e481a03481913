"""One pass of a distribution sort: values to ranges of values, cells to ranges of records.

Of some records at a time: those of each range come to stand together, in the order they had.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _cell_of(value, least, scale, n_cells):
    """Return which of equal parts of all values one is in: never less than of a smaller one."""
    return min(np.int64((float(value) - least) * scale), n_cells - 1)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def first_ranges(starts, least, scale, firsts):
    """Write how many starts are in the parts before each of ``len(firsts) - 1`` equal ones."""
    n_cells = firsts.shape[0] - 1
    firsts[:] = 0
    for start in starts:
        firsts[_cell_of(start, least, scale, n_cells) + 1] += 1
    for cell in range(n_cells):
        firsts[cell + 1] += firsts[cell]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _range_of(value, starts, firsts, least, scale):
    """Return how many of the ascending starts are not above a value."""
    cell = _cell_of(value, least, scale, firsts.shape[0] - 1)
    low = firsts[cell]
    high = firsts[cell + 1]
    while low < high:
        middle = (low + high) >> 1
        if starts[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_values(values, starts, firsts, least, scale, counts):
    """Add to ``counts`` how many values lie in each range: before the first start, or from one on.

    ``firsts`` are of `first_ranges`.
    """
    for i in range(values.shape[0]):
        counts[_range_of(values[i], starts, firsts, least, scale)] += 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def places_of(values, starts, firsts, least, scale, ends, places):
    """Write where each value goes, range by range, and where each range ends."""
    ends[:] = 0
    for i in range(values.shape[0]):
        own = _range_of(values[i], starts, firsts, least, scale)
        places[i] = own
        ends[own] += 1
    _placed(ends, places)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def places_of_records(positions, width, ends, places):
    """Write where each position goes, by ranges of so many records, and where each range ends."""
    ends[:] = 0
    for i in range(positions.shape[0]):
        own = positions[i] // width
        places[i] = own
        ends[own] += 1
    _placed(ends, places)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _placed(ends, places):
    """Turn ranges into places, those of a range behind each other, and counts into ends."""
    start = 0
    for own in range(ends.shape[0]):
        count = ends[own]
        ends[own] = start
        start += count
    for i in range(places.shape[0]):
        own = places[i]
        places[i] = ends[own]
        ends[own] += 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def put(values, places, out):
    """Write each value to its place."""
    for i in range(values.shape[0]):
        out[places[i]] = values[i]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def cells_of_ranks(ends, cells, first_rank, cluster, out):
    """Write the cells of ranks from one on, which is in the given cluster."""
    for i in range(out.shape[0]):
        while ends[cluster] <= first_rank + i:
            cluster += 1
        out[i] = cells[cluster]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def scatter(positions, cells, first, out):
    """Give each position's place behind the first its cell."""
    for i in range(positions.shape[0]):
        out[positions[i] - first] = cells[i]
