"""Kernels as plain Python, so that coverage sees their lines (`make coverage`).

numba leaves a kernel as it is written where NUMBA_DISABLE_JIT is set. What only machine code can
do, the intrinsics of a kernel, is done here; and a test that takes too long so is given up.
"""

import contextlib
import signal

import numba
import numpy as np
import pytest
from hypothesis import settings

from microveil.kernels import laplace

__all__ = ["IS_UNCOMPILED", "limited", "take_over"]

IS_UNCOMPILED = bool(numba.config.DISABLE_JIT)
SECONDS = 20  # for one test


def take_over():
    """Put plain Python in the place of the intrinsics."""
    np.seterr(over="ignore")  # words wrap around, as in machine code
    settings.register_profile("uncompiled", deadline=None, max_examples=10)
    settings.load_profile("uncompiled")
    laplace._multiply_high = lambda a, b: np.uint64(int(a) * int(b) >> 64)


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
