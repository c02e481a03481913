"""Radix sort of 64-bit words, and the words that floats and whole numbers are in order as.

Words are distributed by eight bits at a time, the lowest first, each pass from one array to the
other (Seward, "On the use of comparisons in sorting", 1954): no comparisons, so that time hangs
neither on the order that values come in nor on what instructions a processor has. Where the other
array holds but a part, words are first exchanged in place by their upper eight bits (McIlroy,
Bostic and McIlroy, "Engineering radix sort", 1993) until what is left fits.
"""

import numba
import numpy as np

DIGIT = 8
_DIGITS = 1 << DIGIT
_MOST = 64 // DIGIT
# So many words are sorted by insertion; by so many upper bits others are sorted first.
_FEW, _UPPER = 24, 32
_MASK = np.uint64(_DIGITS - 1)
_SIGN = np.uint64(1 << 63)
_ALL = np.uint64((1 << 64) - 1)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def words_of_floats(bits):
    """Turn the bits of floats, in place, into words that ascend as they do; NaN comes last."""
    infinite = np.uint64(0x7FF << 52)
    for i in range(bits.shape[0]):
        word = bits[i]
        if word & ~_SIGN > infinite:
            bits[i] = _ALL
        else:
            bits[i] = ~word if word & _SIGN else word | _SIGN


@numba.njit(cache=True, nogil=True, error_model="numpy")
def floats_of_words(words):
    """Turn such words back, in place."""
    for i in range(words.shape[0]):
        word = words[i]
        words[i] = word & ~_SIGN if word & _SIGN else ~word


@numba.njit(cache=True, nogil=True, error_model="numpy")
def flip_sign(words):
    """Turn the bits of whole numbers into words that ascend as they do, or back, in place."""
    for i in range(words.shape[0]):
        words[i] ^= _SIGN


@numba.njit(cache=True, nogil=True, error_model="numpy")
def sort(words, other, low, high):
    """Sort words by their bits from ``low`` up to, and without, ``high``.

    Equal bits keep their order where ``other`` is as long as ``words``. It may be shorter, not
    empty; what it holds is lost.
    """
    high = _end_of_different(words, low, high)
    if words.shape[0] <= _FEW:
        _insert(words, low, high)
    elif words.shape[0] > other.shape[0] and high > low:
        digit = max(low, high - DIGIT)
        ends = _exchange(words, digit, high - digit)
        start = 0
        for value in range(_DIGITS):
            if ends[value] - start > 1:
                sort(words[start : ends[value]], other, low, digit)
            start = ends[value]
    elif high - low > _UPPER + DIGIT:
        # By their upper bits most are in order, and few runs of equal ones are left to be sorted.
        middle = high - _UPPER
        _distribute(words, other, middle, high)
        start = 0
        while start < words.shape[0]:
            end = _end_of_run(words, start, low, middle, high)
            if end < 0:
                end = -end
                sort(words[start:end], other, low, middle)
            start = end
    else:
        _distribute(words, other, low, high)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _mask_of(low, high):
    """Return a word whose bits from ``low`` up to ``high`` are set."""
    return (_ALL >> np.uint64(64 - (high - low))) << np.uint64(low) if high > low else np.uint64(0)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _end_of_different(words, low, high):
    """Return where the bits end that are not the same in all words: at least ``low``."""
    different = np.uint64(0)
    for i in range(1, words.shape[0]):
        different |= words[i] ^ words[0]
    different &= _mask_of(low, high)
    while high > low and not (different >> np.uint64(high - 1)) & np.uint64(1):
        high -= 1
    return high


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _end_of_run(words, start, low, middle, high):
    """Return where the words end whose upper bits are those of the first: negative if unsorted.

    Upper bits are those from ``middle`` up to ``high``; the order is by those below, from ``low``.
    """
    upper, mask = _mask_of(middle, high), _mask_of(low, middle)
    own = words[start] & upper
    before = words[start] & mask
    is_sorted = True
    end = start + 1
    while end < words.shape[0] and words[end] & upper == own:
        now = words[end] & mask
        is_sorted &= before <= now
        before = now
        end += 1
    return end if is_sorted else -end


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _insert(words, low, high):
    """Sort a few words by insertion: equal bits keep their order."""
    mask = _mask_of(low, high)
    for i in range(1, words.shape[0]):
        word = words[i]
        key = word & mask
        place = i
        while place > 0 and words[place - 1] & mask > key:
            words[place] = words[place - 1]
            place -= 1
        words[place] = word


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _exchange(words, shift, width):
    """Put words in order of one digit, in place; returns where each of its values ends."""
    shift = np.uint64(shift)
    mask = np.uint64((1 << width) - 1)
    ends = np.zeros(_DIGITS, dtype=np.int64)
    for i in range(words.shape[0]):
        ends[(words[i] >> shift) & mask] += 1
    free = np.empty(_DIGITS, dtype=np.int64)
    end = 0
    for value in range(_DIGITS):
        free[value] = end
        end += ends[value]
        ends[value] = end
    for value in range(_DIGITS):
        while free[value] < ends[value]:
            word = words[free[value]]
            own = (word >> shift) & mask
            while own != np.uint64(value):
                place = free[own]
                free[own] = place + 1
                word, words[place] = words[place], word
                own = (word >> shift) & mask
            words[free[value]] = word
            free[value] += 1
    return ends


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _distribute(words, other, low, high):
    """Sort by one digit after another, the lowest first, to the other array and back."""
    n = words.shape[0]
    n_digits = (high - low + DIGIT - 1) // DIGIT
    starts = np.zeros((_MOST, _DIGITS), dtype=np.int64)
    mask = _mask_of(0, high - low)
    for i in range(n):
        word = (words[i] >> np.uint64(low)) & mask
        for digit in range(n_digits):
            starts[digit, word & _MASK] += 1
            word >>= np.uint64(DIGIT)
    source, target = words, other
    in_other = False
    for digit in range(n_digits):
        shift = np.uint64(low + digit * DIGIT)
        own_mask = (mask >> np.uint64(digit * DIGIT)) & _MASK
        own = starts[digit]
        if n == 0 or own[(source[0] >> shift) & own_mask] == n:
            continue  # all have the same
        start = 0
        for value in range(_DIGITS):
            count = own[value]
            own[value] = start
            start += count
        for i in range(n):
            word = source[i]
            value = (word >> shift) & own_mask
            target[own[value]] = word
            own[value] += 1
        source, target = target, source
        in_other = not in_other
    if in_other:
        words[:] = other[:n]
