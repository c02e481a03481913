"""Sort keys that hold a value and its record in one word, and the way back."""

import numba
import numpy as np

_SIGN = np.uint64(1 << 63)


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
def _word(bits):
    """Turn the bits of a float into a word that ascends as it does; both zeros are one."""
    if bits & _SIGN:
        return _SIGN if bits == _SIGN else ~bits
    return bits | _SIGN


@numba.njit(cache=True, nogil=True, error_model="numpy")
def pack_floats(values, bits, position_bits, packed):
    """Write words of floats in the upper bits of ``packed``, and the positions in the lower.

    ``bits`` are those of the values. Of words that are too wide the lowest bits are cut off. Those
    of NaN come last. Returns how many bits were cut off, and how many values are no NaN.
    """
    lowest, highest = ~np.uint64(0), np.uint64(0)
    n_present = 0
    for position in range(values.shape[0]):
        if not np.isnan(values[position]):
            word = _word(bits[position])
            lowest, highest = min(lowest, word), max(highest, word)
            n_present += 1
    cut = np.uint64(0)
    most = ~np.uint64(0) >> np.uint64(position_bits)
    while n_present > 0 and (highest - lowest) >> cut >= most:
        cut += np.uint64(1)
    for position in range(values.shape[0]):
        key = most if np.isnan(values[position]) else (_word(bits[position]) - lowest) >> cut
        packed[position] = (key << np.uint64(position_bits)) | np.uint64(position)
    return np.int64(cut), n_present


@numba.njit(cache=True, nogil=True, error_model="numpy")
def unpack_floats(values, n_present, cut, position_bits, packed):
    """Turn sorted words into positions, marked by the upper bit where a new value begins.

    Values that were told apart by bits cut off alone are put in order. What is not present comes
    last, as it is.
    """
    mask = (np.uint64(1) << np.uint64(position_bits)) - np.uint64(1)
    start = 0
    while start < n_present:
        key = packed[start] & ~mask
        end = start
        is_one = True
        first = values[packed[start] & mask]
        while end < n_present and packed[end] & ~mask == key:
            packed[end] &= mask
            is_one = is_one and (cut == 0 or values[packed[end]] == first)
            end += 1
        if is_one:
            packed[start] |= _SIGN
        else:
            positions = packed[start:end].copy()
            some = values[positions.astype(np.int64)]
            before = np.nan
            for place, which in enumerate(np.argsort(some)):
                packed[start + place] = positions[which]
                if some[which] != before:
                    packed[start + place] |= _SIGN
                    before = some[which]
        start = end
    for place in range(n_present, packed.shape[0]):
        packed[place] &= mask


@numba.njit(cache=True, nogil=True, error_model="numpy")
def average(order, ranks):
    """Write the rank of each value, from 1 on, equal ones sharing the average of theirs.

    ``order`` holds the positions of the values in ascending order, marked where a new one begins.
    """
    n = order.shape[0]
    start = 0
    while start < n:
        end = start + 1
        while end < n and not order[end] & _SIGN:
            end += 1
        for place in range(start, end):
            ranks[order[place] & ~_SIGN] = (start + end + 1) / 2
        start = end


@numba.njit(cache=True, nogil=True, error_model="numpy")
def number(order, n_present, numbers):
    """Give different values numbers in ascending order, from 0; return how many there are.

    ``order`` is that of `average`; values beyond the first so many are missing and get -1.
    """
    n_different = 0
    for place in range(n_present):
        if order[place] & _SIGN:
            n_different += 1
        numbers[order[place] & ~_SIGN] = n_different - 1
    for place in range(n_present, order.shape[0]):
        numbers[order[place]] = -1
    return n_different
