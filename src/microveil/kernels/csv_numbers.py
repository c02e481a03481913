"""Numbers of a CSV file without quotes, read where float64 and int64 hold all their digits.

A decimal of fifteen digits is a whole number below 2**53 over a power of ten, both exact: their
quotient is the float64 nearest to it (Clinger, "How to read floating point numbers accurately",
1990). Digits are read eight at a time: those of a word are put together in pairs, all pairs at
once, these in fours and so on. Places are addresses, which spares looks at the ends of arrays.
"""

import numba
import numpy as np

from microveil.kernels.bits import load, load_byte, lowest, store

# What a column holds.
DECIMALS, WHOLE, OTHER = 0, 1, 2

_ZERO, _ONE, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
_BYTES = np.uint64(3)  # bits are eight times as many
_MINUS, _POINT, _DIGIT_0, _DIGIT_9 = (np.uint64(ord(mark)) for mark in "-.09")
_LINE_FEED, _RETURN = np.uint64(ord("\n")), np.uint64(ord("\r"))
_DIGITS_0, _NO_DIGITS = np.uint64(0x3030303030303030), np.uint64(0x8080808080808080)
_FROM_TEN = np.uint64(0x7676767676767676)  # carries a byte of ten or more into its highest bit
_TEN, _HUNDRED, _TEN_THOUSAND = np.uint64(10), np.uint64(100), np.uint64(10_000)
_TWO_BYTES, _FOUR_BYTES = np.uint64(16), np.uint64(32)
_OF_TWO, _OF_FOUR = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF)
_OF_EIGHT = np.uint64(0xFFFFFFFF)
_POWERS = np.array([10**power for power in range(9)], dtype=np.uint64)
_DIVISORS = np.array([float(10**power) for power in range(16)])
_MOST_DIGITS = np.array([15, 18], dtype=np.uint64)  # of decimals, and of whole numbers


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_lines(data):
    """Return how many lines there are: what is behind the last line feed is one."""
    n_lines = 0
    for byte in data:
        n_lines += byte == 10
    return n_lines + (len(data) > 0 and data[-1] != 10)


@numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _digits(place, end, number):
    """Return a number with the digits behind it that are there, and where these end."""
    is_more = True
    while is_more and place + _EIGHT <= end:
        word = load(place) ^ _DIGITS_0
        n_digits = lowest(((word + _FROM_TEN) | word) & _NO_DIGITS) >> _BYTES
        if n_digits == _ZERO:
            break
        word <<= (_EIGHT - n_digits) << _BYTES
        word = (word * _TEN + (word >> _EIGHT)) & _OF_TWO
        word = (word * _HUNDRED + (word >> _TWO_BYTES)) & _OF_FOUR
        word = (word * _TEN_THOUSAND + (word >> _FOUR_BYTES)) & _OF_EIGHT
        number = number * _POWERS[n_digits] + word
        place += n_digits
        is_more = n_digits == _EIGHT
    # The last bytes of all are fewer than a word.
    while is_more and place < end and _DIGIT_0 <= load_byte(place) <= _DIGIT_9:
        number = _TEN * number + load_byte(place) - _DIGIT_0
        place += _ONE
    return number, place


@numba.njit(cache=True, nogil=True, error_model="numpy")
def read_numbers(data, separator, kinds, addresses, valid, record):
    """Read records from one on, if every cell of a column of numbers is empty or plain.

    Returns which record would come next, or -1 where a cell is neither. Plain is a minus or none,
    digits, and of decimals a point and digits or none: fifteen digits at most, and eighteen of a
    whole number.

    Parameters
    ----------
    data : uint8 array
        Records, each of as many fields as there are kinds and with LF or CRLF behind it, which
        the last one may lack.
    separator : int
    kinds : int64 array (n_columns,)
        `DECIMALS`, `WHOLE` or `OTHER`, of which nothing is read.
    addresses : uint64 array (n_columns,)
        Where each column's float64 or int64 values begin.
    valid : bool array (n_columns, n_records)
        To be filled: whether there is a number.
    record : int
    """
    n_columns, mark = kinds.shape[0], np.uint64(separator)
    place = np.uint64(data.ctypes.data)
    end = place + np.uint64(data.shape[0])
    while place < end:
        for column in range(n_columns):
            kind, is_last = kinds[column], column == n_columns - 1
            behind = _LINE_FEED if is_last else mark
            if kind == OTHER:
                while place < end and load_byte(place) != behind:
                    place += _ONE
                place += _ONE
                continue
            is_negative = place < end and load_byte(place) == _MINUS
            if is_negative:
                place += _ONE
            first = place
            number, place = _digits(place, end, _ZERO)
            n_digits, n_decimals = place - first, _ZERO
            if n_digits and kind == DECIMALS and place < end and load_byte(place) == _POINT:
                first = place + _ONE
                number, place = _digits(first, end, number)
                n_decimals = place - first
                n_digits += n_decimals
                if not n_decimals:
                    return -1
            if n_digits > _MOST_DIGITS[kind] or (is_negative and not n_digits):
                return -1
            if is_last and place < end and load_byte(place) == _RETURN:
                place += _ONE
            if place < end and load_byte(place) != behind:
                return -1
            place += _ONE
            valid[column, record] = n_digits > _ZERO
            target = addresses[column] + _EIGHT * np.uint64(record)
            if kind == DECIMALS:
                value = float(number) / _DIVISORS[n_decimals]
                store(target, -value if is_negative else value)
            else:
                whole = np.int64(number)
                store(target, -whole if is_negative else whole)
        record += 1
    return record
