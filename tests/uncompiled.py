"""Kernels as plain Python, so that coverage sees their lines (`make coverage`).

numba leaves a kernel as it is written where NUMBA_DISABLE_JIT is set. What only machine code can
do, the intrinsics of some kernels, is done here; and a test that takes too long so is given up.
"""

import contextlib
import ctypes
import signal

import numba
import numpy as np
import pytest
from hypothesis import settings

from microveil.kernels import csv, csv_numbers, csv_records, laplace

__all__ = ["IS_UNCOMPILED", "limited", "take_over"]

IS_UNCOMPILED = bool(numba.config.DISABLE_JIT)
SECONDS = 20  # for one test


def take_over():
    """Put plain Python in the place of the intrinsics."""
    np.seterr(over="ignore")  # words wrap around, as in machine code
    settings.register_profile("uncompiled", deadline=None, max_examples=10)
    settings.load_profile("uncompiled")
    laplace._multiply_high = lambda a, b: np.uint64(int(a) * int(b) >> 64)
    csv._equal = _mask(lambda byte, given: byte == given)
    csv._at_least = _mask(lambda byte, given: byte >= given)
    csv.count = lambda word: np.uint64(int(word).bit_count())
    csv_numbers.store = csv_records.store = _store
    csv_numbers.load = lambda at: np.uint64(int.from_bytes(ctypes.string_at(int(at), 8), "little"))
    csv_numbers.load_byte = lambda at: np.uint64(ctypes.string_at(int(at), 1)[0])
    for kernel in (csv, csv_numbers, csv_records):
        kernel.lowest = _lowest
        kernel.above_highest = lambda word: np.uint64(int(word).bit_length())


def _lowest(word):
    return np.uint64((int(word) & -int(word)).bit_length() - 1 if word else 64)


def _store(address, word):
    ctypes.memmove(int(address), np.asarray(word).tobytes(), 8)
    return 0


def _mask(holds):
    def mask(address, given):
        block = ctypes.string_at(int(address), csv._BLOCK)
        return np.uint64(sum(1 << i for i, byte in enumerate(block) if holds(byte, int(given))))

    return mask


@contextlib.contextmanager
def limited():
    """Give a test up where it takes too long without machine code."""

    def stop(_signal, _frame):
        pytest.skip(f"more than {SECONDS} s uncompiled")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
