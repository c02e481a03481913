"""Values counted by the upper bits of the words that ascend as they do, and those of some buckets.

A bucket is all values whose words have the same upper bits. Coarse ones go by the upper 16: sign,
exponent, four more bits. Of a coarse bucket with a place the fine ones go by so many bits more.
"""

import numba
import numpy as np

UPPER = 16
LOWER = 64 - UPPER
_SIGN = np.uint64(1 << 63)
_LOWER = np.uint64(LOWER)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _word(bits):
    """Turn the bits of a float into a word that ascends as it does; both zeros are one."""
    if bits & _SIGN:
        return _SIGN if bits == _SIGN else ~bits
    return bits | _SIGN


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _bucket(bits, places, finer):
    """Return the fine bucket of a value, -1 where its coarse one has no place."""
    word = _word(bits)
    place = places[word >> _LOWER]
    if place < 0:
        return -1
    below = (word << np.uint64(UPPER)) >> np.uint64(1)  # 0 where the fine are as the coarse
    return place + np.int64(below >> np.uint64(63 - finer))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_whole(values, lowest, counts):
    """Add to the counts how many are each whole number, from the lowest on.

    Say whether all are among them; where one is not, what was counted is of no use.
    """
    beyond = lowest + len(counts)
    for i in range(len(values)):
        value = values[i]
        if not lowest <= value < beyond:
            return False
        whole = np.int64(value)
        if whole != value:
            return False
        counts[whole - lowest] += 1
    return True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_coarsely(bits, counts):
    """Add to each of 2^16 counts how many of the floats with such bits are in the bucket."""
    for i in range(len(bits)):
        counts[_word(bits[i]) >> _LOWER] += 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_finely(bits, places, finer, counts, words, differ):
    """Add how many are in each fine bucket; ``places`` has the first one of each coarse, or -1.

    ``words`` gets a value's word of each bucket, 0 where there is none: no number has that. Sets
    ``differ`` where a bucket has several.
    """
    for i in range(len(bits)):
        bucket = _bucket(bits[i], places, finer)
        if bucket < 0:
            continue
        counts[bucket] += 1
        word = _word(bits[i])
        if words[bucket] == 0:
            words[bucket] = word
        elif words[bucket] != word:
            differ[bucket] = True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def take(bits, places, finer, wanted, found):
    """Write the bits of the values in fine buckets that are wanted; return how many they are."""
    count = 0
    for i in range(len(bits)):
        bucket = _bucket(bits[i], places, finer)
        if bucket >= 0 and wanted[bucket]:
            found[count] = bits[i]
            count += 1
    return count


@numba.njit(cache=True, nogil=True, error_model="numpy")
def largest_distance(one, other, places, finer, below, n, m):
    """Return the largest |i m - j n| at a value that was taken, i and j counting all at or below.

    ``one`` and ``other`` ascend, taken of n and m values; ``below`` (2, n_buckets) has how many
    that were not taken are in lower buckets. Ends where either does: beyond, the distance goes one
    way in each bucket.
    """
    bits_of_one, bits_of_other = one.view(np.uint64), other.view(np.uint64)
    i = j = largest = 0
    while i < len(one) and j < len(other):
        value = min(one[i], other[j])
        bucket = _bucket(bits_of_one[i] if one[i] == value else bits_of_other[j], places, finer)
        while i < len(one) and one[i] == value:
            i += 1
        while j < len(other) and other[j] == value:
            j += 1
        distance = (i + below[0, bucket]) * m - (j + below[1, bucket]) * n
        largest = max(largest, abs(distance))
    return largest
