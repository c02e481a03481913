"""Records of a CSV file whose cells need no quotes, written one after the other.

Digits are written eight at a time, as the bytes of a word: a number is split in halves, those in
halves again and so on, all parts of it at once. Behind a word there may be bytes of it that what
follows is written over.
"""

import numba
import numpy as np

from microveil.kernels.bits import above_highest, lowest, store

# Of numbers without decimals, and of text: no number of decimals.
WHOLE, TEXT = -1, -2
# The longest number: a sign, nineteen digits or fewer and a point.
LONGEST = 21
# What is written behind the last record at most, over which nothing follows.
SLACK = 8

_ZERO, _ONE, _SEVEN, _EIGHT = (np.uint64(number) for number in (0, 1, 7, 8))
_BYTES = np.uint64(3)  # bits are eight times as many
_MINUS, _POINT, _DIGIT_0 = (np.uint64(ord(mark)) for mark in "-.0")
_QUOTES = np.uint64(ord('"') * 257)
_LINE_FEED = np.uint64(ord("\n"))
_DIGITS_0 = np.uint64(0x3030303030303030)
_HUNDRED_MILLION, _TEN_THOUSAND = np.uint64(10**8), np.uint64(10**4)
_HALF, _HUNDRED, _OF_FOUR = np.uint64(32), np.uint64(100), np.uint64(0x0000007F0000007F)
_QUARTER, _TEN, _OF_TWO = np.uint64(16), np.uint64(10), np.uint64(0x000F000F000F000F)
# By 10486 and 20 bits down a number of four digits is divided by 100, by 103 and 10 bits one of two
# by 10: rounded down, without a remainder's error.
_BY_HUNDRED, _DOWN_20, _BY_TEN, _DOWN_10 = (np.uint64(number) for number in (10486, 20, 103, 10))
_LARGEST = 10**15


@numba.njit(cache=True, nogil=True, error_model="numpy")
def on_grid(values, valid, parts, found):
    """Write each valid value times ``parts``, a whole number of fifteen digits at most.

    Returns whether each value is the float64 nearest to that number over ``parts``: no shorter
    decimal is then nearest to it, and its digits are those of the number. -0.0 is none.
    """
    for i in range(values.shape[0]):
        value = values[i] if valid[i] else 0.0
        whole = np.rint(value * parts)
        if not abs(whole) < _LARGEST or whole / parts != value:
            return False
        if whole == 0.0 and np.signbit(value):
            return False
        found[i] = np.int64(whole)
    return True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _digits(number):
    """Return the eight digits of a number below 10**8 as bytes, the first in the lowest byte."""
    high = number // _TEN_THOUSAND
    fours = high | ((number - high * _TEN_THOUSAND) << _HALF)
    firsts = ((fours * _BY_HUNDRED) >> _DOWN_20) & _OF_FOUR
    twos = firsts + ((fours - firsts * _HUNDRED) << _QUARTER)
    firsts = ((twos * _BY_TEN) >> _DOWN_10) & _OF_TWO
    return firsts + ((twos - firsts * _TEN) << _EIGHT)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _write_first(number, place):
    """Write a number from 1 to below 10**8 without zeros before it; return the place behind it."""
    digits = _digits(number)
    n_zeros = lowest(digits) >> _BYTES
    store(place, (digits | _DIGITS_0) >> (n_zeros << _BYTES))
    return place + _EIGHT - n_zeros


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _write_number(number, decimals, place):
    """Write a number over 10**decimals, without zeros at its end but the first decimal.

    ``decimals`` is seven at most, or `WHOLE`. Returns the place behind it.
    """
    rest = np.uint64(abs(number))
    if number < 0:
        store(place, _MINUS)
        place += _ONE
    is_long = rest >= _HUNDRED_MILLION
    if is_long:
        high = rest // _HUNDRED_MILLION
        rest -= high * _HUNDRED_MILLION
        if high >= _HUNDRED_MILLION:
            highest = high // _HUNDRED_MILLION
            place = _write_first(highest, place)
            store(place, _digits(high - highest * _HUNDRED_MILLION) | _DIGITS_0)
            place += _EIGHT
        else:
            place = _write_first(high, place)
    digits = _digits(rest)
    n_decimals = np.uint64(max(decimals, 0))
    n_zeros = _ZERO if is_long else min(lowest(digits) >> _BYTES, _SEVEN - n_decimals)
    text = digits | _DIGITS_0
    store(place, text >> (n_zeros << _BYTES))
    place += _EIGHT - n_decimals - n_zeros
    if decimals < 0:
        return place
    store(place, _POINT | _DIGIT_0 << _EIGHT)
    place += _ONE
    if n_decimals == _ZERO:
        return place + _ONE
    behind = (_EIGHT - n_decimals) << _BYTES
    store(place, text >> behind)
    return place + max((above_highest(digits >> behind) + _SEVEN) >> _BYTES, _ONE)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def write_records(numbers, decimals, texts, starts, valid, separator, missing, out):
    """Write records; return how many bytes they take.

    Parameters
    ----------
    numbers : int64 array (n_columns, n_records)
        Of a column of text the row of ``starts`` that is its.
    decimals : int64 array (n_columns,)
        Digits behind the point, or `WHOLE` or `TEXT`.
    texts : uint8 array
        All text, one column behind the other.
    starts : int64 array (n_texts, n_records + 1)
        Where each cell of it begins; it ends where the next begins.
    valid : bool array (n_columns, n_records)
    separator : int
    missing : int
        What stands for a missing value: two bytes at most, as a word.
    out : uint8 array
        Of `LONGEST` and a separator for each number, and for each text its length, two quotes
        and a separator, at least, and of `SLACK`.
    """
    first = np.uint64(out.ctypes.data)
    place = first
    mark, absent = np.uint64(separator), np.uint64(missing)
    n_absent = (above_highest(absent) + _SEVEN) >> _BYTES
    for record in range(numbers.shape[1]):
        for column in range(numbers.shape[0]):
            if not valid[column, record]:
                store(place, absent)
                place += n_absent
            elif decimals[column] >= WHOLE:
                place = _write_number(numbers[column, record], decimals[column], place)
            else:
                row = numbers[column, 0]
                start, stop = starts[row, record], starts[row, record + 1]
                if start == stop:  # empty text is told from a missing value
                    store(place, _QUOTES)
                    place += np.uint64(2)
                at = np.int64(place - first)
                for letter in range(start, stop):
                    out[at + letter - start] = texts[letter]
                place += np.uint64(stop - start)
            store(place, mark)
            place += _ONE
        store(place - _ONE, _LINE_FEED)
    return np.int64(place - first)
