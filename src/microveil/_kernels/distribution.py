"""One pass of a distribution sort: values to ranges of values, cells to ranges of records.

Each range is filled from its start on, so that what goes there keeps its order, and all writing
is to as many places as there are ranges, each of them moving on: pages of a disk are written
whole, one after another.
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
def distribute_values(values, starts, firsts, least, scale, places, out):
    """Write each value to the next place of its range."""
    for i in range(values.shape[0]):
        own = _range_of(values[i], starts, firsts, least, scale)
        out[places[own]] = values[i]
        places[own] += 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def distribute_records(values, positions, starts, firsts, least, scale, places, out, out_positions):
    """Write each value, and its record's position, to the next place of its range.

    Without positions, an empty array, records are numbered as they come.
    """
    are_given = positions.shape[0] > 0
    for i in range(values.shape[0]):
        own = _range_of(values[i], starts, firsts, least, scale)
        place = places[own]
        out[place] = values[i]
        out_positions[place] = positions[i] if are_given else i
        places[own] = place + 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_positions(positions, width, counts):
    """Add to ``counts`` how many positions lie in each range of so many."""
    for i in range(positions.shape[0]):
        counts[positions[i] // width] += 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def distribute_cells(order, sizes, cells, width, places, positions, out):
    """Write each record's position, and its cluster's cell, to the next place of its range."""
    rank = 0
    for cluster in range(sizes.shape[0]):
        cell = cells[cluster]
        for _ in range(sizes[cluster]):
            position = order[rank]
            own = position // width
            place = places[own]
            positions[place] = position
            out[place] = cell
            places[own] = place + 1
            rank += 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def scatter(positions, cells, first, out):
    """Give each position's place behind the first its cell."""
    for i in range(positions.shape[0]):
        out[positions[i] - first] = cells[i]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def positions_of(missing, positions):
    """Write the positions of records that have a value, in ascending order."""
    count = 0
    for record in range(missing.shape[0]):
        if not missing[record]:
            positions[count] = record
            count += 1
