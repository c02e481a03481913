"""Exact draws, each from a stream of words of its own: ChaCha20 under one key, by record.

ChaCha20 is that of RFC 8439: a block of 64 bytes is a function of the key, a counter of blocks
and a nonce. Here the nonce is the number of a record, so that what is drawn for a record hangs on
the key and its number alone: on no other record, no order, and no batch. The draws themselves are
those of `laplace`, from a record's words in the place of the next ones of one stream.
"""

import numba
import numpy as np

from microveil.kernels.laplace import _discrete_laplace, _uniform_below

_WORDS = 8  # of 64 bits, in a block
_FIRST = 2  # blocks that a record's draw nearly always does with
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@numba.njit(cache=True, error_model="numpy")
def _rotated(word, left):
    """Rotate 32 bits to the left."""
    return np.uint32((word << np.uint32(left)) | (word >> np.uint32(32 - left)))


@numba.njit(cache=True, error_model="numpy")
def _quarter_round(a, b, c, d):
    """Return four words after a quarter round (section 2.1)."""
    a = np.uint32(a + b)
    d = _rotated(np.uint32(d ^ a), 16)
    c = np.uint32(c + d)
    b = _rotated(np.uint32(b ^ c), 12)
    a = np.uint32(a + b)
    d = _rotated(np.uint32(d ^ a), 8)
    c = np.uint32(c + d)
    b = _rotated(np.uint32(b ^ c), 7)
    return a, b, c, d


@numba.njit(cache=True, error_model="numpy", nogil=True)
def block(key, counter, nonce, out):
    """Write a block of the keystream (section 2.3).

    Parameters
    ----------
    key : uint32 array (8,)
    counter : uint32
    nonce : (uint32, uint32, uint32)
    out : uint32 array (16,), written
    """
    # "expand 32-byte k"
    s0, s1 = np.uint32(0x61707865), np.uint32(0x3320646E)
    s2, s3 = np.uint32(0x79622D32), np.uint32(0x6B206574)
    s4, s5, s6, s7 = key[0], key[1], key[2], key[3]
    s8, s9, s10, s11 = key[4], key[5], key[6], key[7]
    s12, s13, s14, s15 = counter, nonce[0], nonce[1], nonce[2]
    x0, x1, x2, x3, x4, x5, x6, x7 = s0, s1, s2, s3, s4, s5, s6, s7
    x8, x9, x10, x11, x12, x13, x14, x15 = s8, s9, s10, s11, s12, s13, s14, s15
    for _ in range(10):
        x0, x4, x8, x12 = _quarter_round(x0, x4, x8, x12)
        x1, x5, x9, x13 = _quarter_round(x1, x5, x9, x13)
        x2, x6, x10, x14 = _quarter_round(x2, x6, x10, x14)
        x3, x7, x11, x15 = _quarter_round(x3, x7, x11, x15)
        x0, x5, x10, x15 = _quarter_round(x0, x5, x10, x15)
        x1, x6, x11, x12 = _quarter_round(x1, x6, x11, x12)
        x2, x7, x8, x13 = _quarter_round(x2, x7, x8, x13)
        x3, x4, x9, x14 = _quarter_round(x3, x4, x9, x14)
    out[0], out[1], out[2], out[3] = x0 + s0, x1 + s1, x2 + s2, x3 + s3
    out[4], out[5], out[6], out[7] = x4 + s4, x5 + s5, x6 + s6, x7 + s7
    out[8], out[9], out[10], out[11] = x8 + s8, x9 + s9, x10 + s10, x11 + s11
    out[12], out[13], out[14], out[15] = x12 + s12, x13 + s13, x14 + s14, x15 + s15


@numba.njit(cache=True, error_model="numpy", nogil=True)
def words_of_record(key, record, start, stop, scratch, words):
    """Write blocks ``start`` to ``stop`` of a record's stream to where they stand in ``words``.

    A word is 8 bytes of the keystream, the lowest first.
    """
    number = np.uint64(record)
    nonce = (np.uint32(0), np.uint32(number & _LOW), np.uint32(number >> _HALF))
    for at in range(start, stop):
        block(key, np.uint32(at), nonce, scratch)
        for word in range(_WORDS):
            high = np.uint64(scratch[2 * word + 1]) << _HALF
            words[_WORDS * at + word] = high | np.uint64(scratch[2 * word])


@numba.njit(cache=True, error_model="numpy", nogil=True)
def first_words(records, key, out):
    """Fill ``out`` with the first word of each record's stream.

    Parameters
    ----------
    records : int64 array (n_draws,)
    key : uint32 array (8,)
    out : uint64 array (n_draws,), written
    """
    scratch = np.empty(2 * _WORDS, dtype=np.uint32)
    words = np.empty(_WORDS, dtype=np.uint64)
    for draw in range(records.shape[0]):
        words_of_record(key, records[draw], 0, 1, scratch, words)
        out[draw] = words[0]


@numba.njit(cache=True, error_model="numpy", nogil=True)
def discrete_laplace(scale, records, key, out):
    """Fill ``out`` with one draw of the discrete Laplace law for each record.

    Parameters
    ----------
    scale : int64, from 1 to 2**62
    records : int64 array (n_draws,)
        Their numbers: equal ones get equal draws.
    key : uint32 array (8,)
    out : int64 array (n_draws,), written
    """
    scratch = np.empty(2 * _WORDS, dtype=np.uint32)
    words = np.empty(_WORDS * _FIRST, dtype=np.uint64)
    for draw in range(records.shape[0]):
        known, blocks = 0, _FIRST
        while True:
            if _WORDS * blocks > words.shape[0]:
                longer = np.empty(_WORDS * blocks, dtype=np.uint64)
                longer[: words.shape[0]] = words
                words = longer
            words_of_record(key, records[draw], known, blocks, scratch, words)
            value, at = _discrete_laplace(scale, words[: _WORDS * blocks], 0)
            if at <= _WORDS * blocks:
                out[draw] = value
                break
            # The same words again, followed by fresh ones: see `laplace`.
            known, blocks = blocks, 2 * blocks


@numba.njit(cache=True, error_model="numpy", nogil=True)
def uniform(bounds, records, key, out):
    """Fill ``out`` with a uniform whole number below each bound, as above."""
    scratch = np.empty(2 * _WORDS, dtype=np.uint32)
    words = np.empty(_WORDS, dtype=np.uint64)
    for draw in range(records.shape[0]):
        known = 0
        while True:
            if _WORDS * (known + 1) > words.shape[0]:
                longer = np.empty(2 * words.shape[0], dtype=np.uint64)
                longer[: words.shape[0]] = words
                words = longer
            words_of_record(key, records[draw], known, known + 1, scratch, words)
            known += 1
            value, at = _uniform_below(np.uint64(bounds[draw]), words[: _WORDS * known], 0)
            if at <= _WORDS * known:
                out[draw] = np.int64(value)
                break
