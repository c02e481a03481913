"""The structure of a CSV file, 64 bytes at a time.

A block of 64 bytes is turned into one 64-bit mask for each byte that matters (quote,
separator, line feed, carriage return): bit i stands for byte i. A running exclusive-or
over the quotes says which bytes lie inside quotes, and a few shifts say whether every
quote, separator and line end stands where RFC 4180 allows it (Langdale and Lemire,
"Parsing Gigabytes of JSON per Second", 2019, use the same masks). A block that breaks
a rule is walked again byte by byte, by the plain state machine, to find the place.
"""

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from microveil.kernels.bits import above_highest, count, lowest

# What the walk can find. Positions are bytes from the start of the data.
SOUND = 0
RAGGED = 1  # a record with another number of fields than the header
UNCLOSED = 2  # the data end inside quotes
AFTER_QUOTE = 3  # text behind a closing quote
STRAY_QUOTE = 4  # a quote inside a field that does not begin with one
LONE_RETURN = 5  # a carriage return without a line feed
BLANK = 6  # an empty line with records below it
NUL = 7  # a byte 0: no text

# Where the walk stands between two bytes.
AT_START = 0  # at the start of a field
PLAIN = 1  # in a field without quotes
QUOTED = 2  # inside quotes
CLOSED = 3  # behind a quote that closes the field, or is the first of a doubled one
RETURNED = 4  # behind a carriage return

# The places of the walk's memory.
CODE, PLACE, FOUND, RECORDS, FIELDS, LINE_START, STATE, BLANK_AT, OPENED, HIGH, END = range(11)
MORE = 11  # whether more text follows: a record that it begins is no error and not counted yet
N_MEMORY = 12

_BLOCK = 64
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_LAST = np.uint64(63)
_LINE_FEED, _RETURN, _QUOTE, _SPACE, _TAB = 10, 13, 34, 32, 9
_PLUS, _DIGIT_0, _DIGIT_9 = 43, 48, 57


def _mask_of(predicate):
    """Give an intrinsic: (address of 64 bytes, byte) -> mask of the bytes that satisfy it."""

    @intrinsic
    def mask(_context, _address, _byte):
        def generate(_context, builder, _signature, arguments):
            address, byte = arguments
            byte = builder.trunc(byte, ir.IntType(8))
            vector = ir.VectorType(ir.IntType(8), _BLOCK)
            pointer = builder.inttoptr(address, vector.as_pointer())
            block = builder.load(pointer, align=1)
            one = builder.insert_element(
                ir.Constant(vector, ir.Undefined), byte, ir.Constant(ir.IntType(32), 0)
            )
            lanes = ir.VectorType(ir.IntType(32), _BLOCK)
            splat = builder.shuffle_vector(
                one, ir.Constant(vector, ir.Undefined), ir.Constant(lanes, [0] * _BLOCK)
            )
            hits = builder.icmp_unsigned(predicate, block, splat)
            return builder.bitcast(hits, ir.IntType(64))

        return types.uint64(types.uint64, types.uint64), generate

    return mask


_equal = _mask_of("==")
_at_least = _mask_of(">=")


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _loses_digits(data, at, separator):
    """Whether the value at ``at`` is written so that a number would not keep its digits.

    Such a value begins, after spaces, with 0 or + and a digit: 00123, +4912345.
    """
    stop = data.shape[0]
    while at < stop and (data[at] == _SPACE or data[at] == _TAB) and data[at] != separator:
        at += 1
    return (
        at + 1 < stop
        and (data[at] == _DIGIT_0 or data[at] == _PLUS)
        and data[at + 1] >= _DIGIT_0
        and data[at + 1] <= _DIGIT_9
    )


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _end_line(memory, n_fields, at, blank):
    """Book the line that ends at ``at``; True where it breaks a rule."""
    start = memory[LINE_START]
    found = memory[FIELDS] + 1
    memory[LINE_START] = at + 1
    memory[FIELDS] = 0
    if blank:
        if memory[BLANK_AT] < 0:
            memory[BLANK_AT] = start
        return False
    if memory[BLANK_AT] >= 0:
        memory[CODE] = BLANK
        memory[PLACE] = memory[BLANK_AT]
        return True
    if n_fields > 0 and found != n_fields:
        memory[CODE] = RAGGED
        memory[PLACE] = start
        memory[FOUND] = found
        return True
    memory[RECORDS] += 1
    return False


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _walk_bytes(data, start, stop, separator, n_fields, limit, memory, numbered):
    """Walk byte by byte; returns where it ended: at ``stop``, an error or the limit."""
    state = memory[STATE]
    for at in range(start, stop):
        byte = data[at]
        code = SOUND
        if byte >= 128:
            memory[HIGH] = 1
        if (
            (state == AT_START or (state == QUOTED and memory[OPENED] == at - 1))
            and memory[FIELDS] < numbered.shape[0]
            and byte != separator
            and _loses_digits(data, at, separator)
        ):
            numbered[memory[FIELDS]] = 1
        if byte == 0:
            code = NUL
        elif state == QUOTED:
            if byte == _QUOTE:
                state = CLOSED
        elif state == RETURNED and byte != _LINE_FEED:
            code = LONE_RETURN
        elif byte == _QUOTE:
            if state == PLAIN:
                code = STRAY_QUOTE
            elif state == AT_START:
                memory[OPENED] = at
            state = QUOTED
        elif byte == separator:
            memory[FIELDS] += 1
            state = AT_START
        elif byte == _LINE_FEED:
            line = memory[LINE_START]
            blank = at == line or (at == line + 1 and state == RETURNED)
            memory[STATE] = state = AT_START
            if _end_line(memory, n_fields, at, blank):
                return at
            if 0 < limit == memory[RECORDS]:
                return at + 1
        elif byte == _RETURN:
            state = RETURNED
        elif state == CLOSED:
            code = AFTER_QUOTE
        else:
            state = PLAIN
        if code != SOUND:
            memory[CODE] = code
            memory[PLACE] = at - 1 if code == LONE_RETURN else at
            return at
    memory[STATE] = state
    return stop


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _inside_quotes(quotes, state):
    """Mask of the bytes inside quotes: an opening quote counts, a closing one does not."""
    spread = quotes
    spread ^= spread << np.uint64(1)
    spread ^= spread << np.uint64(2)
    spread ^= spread << np.uint64(4)
    spread ^= spread << np.uint64(8)
    spread ^= spread << np.uint64(16)
    spread ^= spread << np.uint64(32)
    return ~spread if state == QUOTED else spread


@numba.njit(cache=True, nogil=True, error_model="numpy")
def walk(data, separator, n_fields, limit, memory, numbered):  # noqa: PLR0915 - see below
    """Check the structure of CSV text in one pass.

    Long, because a call that takes an array counts a reference to it, and one such call
    in a block costs as much as the block.

    Parameters
    ----------
    data : ndarray of uint8, shape (n_bytes,)
        The text, in an encoding that writes ASCII characters as ASCII bytes only.
    separator : int
        The byte between fields.
    n_fields : int
        Fields a record must have; 0 to accept any number.
    limit : int
        Stop behind this many records; 0 to walk to the end.
    memory : ndarray of int64, shape (N_MEMORY,)
        Must come as zeros but for -1 at BLANK_AT and OPENED. Filled with the findings:
        the code and its place, the number of records, the byte where the walk ended. A text
        that follows another takes its memory on, the places less the length of that.
    numbered : ndarray of uint8, shape (n_fields,) or (0,)
        Set to 1 for each column with a value that a number would not keep as written.
    """
    stop = data.shape[0]
    base = np.uint64(data.ctypes.data)
    high = _ZERO
    at = 0
    while at + _BLOCK <= stop:
        block = base + np.uint64(at)
        state = memory[STATE]
        quotes = _equal(block, np.uint64(_QUOTE))
        feeds = _equal(block, np.uint64(_LINE_FEED))
        splits = _equal(block, np.uint64(separator))
        returns = _equal(block, np.uint64(_RETURN))
        inside = opens = closes = _ZERO
        if quotes != _ZERO or state == QUOTED:
            inside = _inside_quotes(quotes, state)
            opens = quotes & inside
            closes = quotes & ~inside
            feeds &= ~inside
            splits &= ~inside
            returns &= ~inside
        ends = feeds | splits
        after_end = (ends << _ONE) | np.uint64(state == AT_START)
        after_close = (closes << _ONE) | np.uint64(state == CLOSED)
        after_return = (returns << _ONE) | np.uint64(state == RETURNED)
        wrong = _equal(block, _ZERO)
        wrong |= opens & ~(after_end | after_close)
        wrong |= after_close & ~(ends | opens | returns)
        wrong |= after_return & ~feeds
        if wrong != _ZERO or (limit > 0 and memory[RECORDS] + _BLOCK >= limit):
            memory[END] = _walk_bytes(
                data, at, at + _BLOCK, separator, n_fields, limit, memory, numbered
            )
            if memory[CODE] != SOUND or 0 < limit == memory[RECORDS]:
                return
            at += _BLOCK
            continue
        high |= _at_least(block, np.uint64(128))
        opened = opens & ~after_close  # not the second quotes of doubled ones
        was_opened = np.uint64(state == QUOTED and memory[OPENED] == at - 1)
        fresh = (after_end | (opened << _ONE) | was_opened) & ~(ends | quotes)
        fresh &= ~_at_least(block, np.uint64(_DIGIT_0 + 1))
        while fresh != _ZERO:
            bit = lowest(fresh)
            fresh &= fresh - _ONE
            if _loses_digits(data, at + np.int64(bit), separator):
                below = (_ONE << bit) - _ONE
                line_end = above_highest(feeds & below)
                column = np.int64(count(splits & below & ~((_ONE << line_end) - _ONE)))
                if line_end == _ZERO:
                    column += memory[FIELDS]
                if column < numbered.shape[0]:
                    numbered[column] = 1
        if opened != _ZERO:
            memory[OPENED] = at + np.int64(above_highest(opened)) - 1
        while feeds != _ZERO:
            bit = lowest(feeds)
            feeds &= feeds - _ONE
            below = (_ONE << bit) - _ONE
            memory[FIELDS] += np.int64(count(splits & below))
            splits &= ~below
            here = at + np.int64(bit)
            line = memory[LINE_START]
            # The byte before the block may be of a text before this one.
            returned = state == RETURNED if bit == _ZERO else data[here - 1] == _RETURN
            blank = here == line or (here == line + 1 and returned)
            if _end_line(memory, n_fields, here, blank):
                return
        memory[FIELDS] += np.int64(count(splits))
        if inside >> _LAST:
            memory[STATE] = QUOTED
        elif closes >> _LAST:
            memory[STATE] = CLOSED
        elif ends >> _LAST:
            memory[STATE] = AT_START
        else:
            memory[STATE] = RETURNED if returns >> _LAST else PLAIN
        at += _BLOCK
    if high != _ZERO:
        memory[HIGH] = 1
    memory[END] = _walk_bytes(data, at, stop, separator, n_fields, limit, memory, numbered)
    if memory[CODE] != SOUND or memory[MORE] or 0 < limit == memory[RECORDS]:
        return
    if memory[STATE] == QUOTED:
        memory[CODE] = UNCLOSED
        memory[PLACE] = memory[OPENED]
    elif memory[STATE] == RETURNED:
        memory[CODE] = LONE_RETURN
        memory[PLACE] = stop - 1
    elif memory[LINE_START] < stop:
        _end_line(memory, n_fields, stop, blank=False)
