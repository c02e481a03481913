"""Values as whole grid units, in order, and what runs of them sum to."""

import math

import numba
import numpy as np

# Whole numbers of this size and more leave no room for sums.
HUGE = 4611686018427387904.0  # 2**62


@numba.njit(cache=True, nogil=True, error_model="numpy")
def pack(values, minimum, position_bits, packed):
    """Write (value - minimum) in the upper bits of ``packed`` and the position in the lower.

    Sorting the words sorts the values, ties by position: a stable order from any sort.
    """
    shift = np.uint64(position_bits)
    for place in range(values.shape[0]):
        key = np.uint64(values[place] - minimum)
        packed[place] = (key << shift) | np.uint64(place)


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
def count(values, minimum, counts):
    """Add to ``counts`` how often each value occurs, from the minimum on."""
    for place in range(values.shape[0]):
        counts[values[place] - minimum] += 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def rank_by_counts(values, minimum, ranks, order):
    """Write the position of each value at its rank.

    ``ranks`` (n_different,) holds the rank of the next record of each value, and moves on.
    """
    for place in range(values.shape[0]):
        value = values[place] - minimum
        order[ranks[value]] = place
        ranks[value] += 1


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
    """Squared distances of a run's values, whose sum is ``total``, to their mean.

    By distances to the first value: what all values have in common cannot wash them out.
    """
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
    """Sum each run of sorted values and its squared distances to the mean, pick the ends."""
    moments(in_order, sizes, sums, squares)
    start = 0
    for cluster in range(sizes.shape[0]):
        last = start + sizes[cluster] - 1
        for nth in range(3):
            smallest[nth, cluster] = in_order[min(start + nth, last)]
            largest[nth, cluster] = in_order[max(last - nth, start)]
        start = last + 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def average(values, order, ranks):
    """Write the rank of each value, from 1 on, equal ones sharing the average of theirs.

    ``order`` holds the positions of the values in ascending order.
    """
    n = order.shape[0]
    start = 0
    while start < n:
        end = start + 1
        while end < n and values[order[end]] == values[order[start]]:
            end += 1
        for place in range(start, end):
            ranks[order[place]] = (start + end + 1) / 2
        start = end


@numba.njit(cache=True, nogil=True, error_model="numpy")
def number(values, order, numbers):
    """Give different values numbers in ascending order, from 0; return how many there are.

    ``order`` is that of `average`; NaN comes last, and gets -1.
    """
    n_different = 0
    before = np.nan
    for place in range(order.shape[0]):
        value = values[order[place]]
        if np.isnan(value):
            numbers[order[place]] = -1
            continue
        if value != before:
            n_different += 1
            before = value
        numbers[order[place]] = n_different - 1
    return n_different


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_multiples(values, per_unit, lowest, counts):
    """Count how often each multiple of ``1 / per_unit`` occurs, from ``lowest`` multiples on.

    Say whether all values are among them, to the last bit; where one is not, what was counted is
    of no use. What is no number is left out.
    """
    for i in range(values.shape[0]):
        if np.isnan(values[i]):
            continue
        multiple = np.rint(values[i] * per_unit)
        place = np.int64(multiple) - lowest
        if multiple / per_unit != values[i] or place < 0 or place >= counts.shape[0]:
            return False
        if multiple == 0.0 and math.copysign(1.0, values[i]) < 0.0:
            return False
        counts[place] += 1
    return True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def look_up(values, per_unit, lowest, table, missing, found):
    """Write for each value what a table has at its multiple's place; ``missing`` of no number."""
    for i in range(values.shape[0]):
        if np.isnan(values[i]):
            found[i] = missing
        else:
            found[i] = table[np.int64(np.rint(values[i] * per_unit)) - lowest]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def place(values, ties, of_values, of_ties, places):
    """Write how many of some pairs, in ascending order, are at most each (value, tie), less 1."""
    for record in range(values.shape[0]):
        value, tie = values[record], ties[record]
        low, high = 0, of_values.shape[0]
        while low < high:
            middle = (low + high) >> 1
            own = of_values[middle]
            if own < value or (own == value and of_ties[middle] <= tie):
                low = middle + 1
            else:
                high = middle
        places[record] = low - 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def to_grid(values, numerator, denominator, grid):
    """Round ``values * denominator / numerator`` to whole numbers, record by record.

    Returns the count of values that are not a number, infinite, and too large; each is
    written as 0.
    """
    n_missing = 0
    n_infinite = 0
    n_huge = 0
    for record in range(values.shape[0]):
        scaled = values[record] * denominator / numerator
        if abs(scaled) < HUGE:
            grid[record] = np.int64(np.rint(scaled))
            continue
        grid[record] = 0
        if np.isnan(values[record]):
            n_missing += 1
        elif np.isinf(values[record]):
            n_infinite += 1
        else:
            n_huge += 1
    return n_missing, n_infinite, n_huge


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _centre(counts, n):
    """Turn each value's count into twice its average rank, less twice the mean of all ranks.

    Returns four times the sum of the squares. Whole numbers of 32 bits, as counts are: what is
    looked up for every record should be small.
    """
    below = 0
    squares = 0.0
    for value in range(counts.shape[0]):
        copies = np.int64(counts[value])
        # Ranks from below + 1 to below + copies, of n whose mean is (n + 1) / 2.
        deviation = 2 * below + copies - n
        squares += copies * (float(deviation) * float(deviation))
        counts[value] = deviation
        below += copies
    return squares


@numba.njit(cache=True, nogil=True, error_model="numpy")
def correlate_ranks(one, other, n_one, n_other):
    """Return how many records have both values, and the moments of the ranks of these.

    ``one`` and ``other`` hold numbers of the values of an attribute each, as they ascend from 0,
    -1 where missing: ranks are the same whatever the values. They are among the records that have
    both, fewer than 2^31, equal values sharing the average of theirs. Returned are the number of
    records, the sums of the squared deviations of either attribute's ranks from their mean, and
    that of the products.
    """
    one_counts = np.zeros(n_one, np.int32)
    other_counts = np.zeros(n_other, np.int32)
    n = 0
    for i in range(one.shape[0]):
        if one[i] >= 0 and other[i] >= 0:
            one_counts[one[i]] += 1
            other_counts[other[i]] += 1
            n += 1
    one_squares = _centre(one_counts, n)
    other_squares = _centre(other_counts, n)
    products = 0.0
    for i in range(one.shape[0]):
        if one[i] >= 0 and other[i] >= 0:
            products += float(one_counts[one[i]]) * float(other_counts[other[i]])
    return n, one_squares / 4, other_squares / 4, products / 4
