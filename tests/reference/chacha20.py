"""ChaCha20 (RFC 8439, sections 2.1 to 2.4) in whole numbers, and a record's words from it."""

import itertools

CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)
COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
WORD = 1 << 32


def rotated(word, left):
    return (word << left) % WORD | word >> (32 - left)


def quarter_round(state, a, b, c, d):
    for into, by, changed, left in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[into] = (state[into] + state[by]) % WORD
        state[changed] = rotated(state[changed] ^ state[into], left)


def block(key, counter, nonce):
    """64 bytes of the keystream: of a key of 32 bytes, a counter and a nonce of 12 bytes."""
    numbers = [int.from_bytes(key[at : at + 4], "little") for at in range(0, 32, 4)]
    nonces = [int.from_bytes(nonce[at : at + 4], "little") for at in range(0, 12, 4)]
    first = [*CONSTANTS, *numbers, counter, *nonces]
    state = list(first)
    for _ in range(10):
        for places in (*COLUMNS, *DIAGONALS):
            quarter_round(state, *places)
    words = [(one + other) % WORD for one, other in zip(first, state, strict=True)]
    return b"".join(word.to_bytes(4, "little") for word in words)


def words_of_record(key, record):
    """The 64-bit words of a record, without end: its number is the nonce, below four zeros."""
    nonce = bytes(4) + record.to_bytes(8, "little")
    for counter in itertools.count():
        stream = block(key, counter, nonce)
        for at in range(0, 64, 8):
            yield int.from_bytes(stream[at : at + 8], "little")
