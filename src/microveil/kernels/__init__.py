"""Compiled loops: arrays in, arrays out, no checks, nothing of microveil imported.

Every kernel has a plain-Python oracle in ``tests/reference``; the public functions
that call them check their input, so that a kernel need not.
"""

import os
import tempfile
from pathlib import Path


def _ensure_cache() -> None:
    """Give compiled kernels a place where neither the package nor a home can be written.

    A service account in a read-only container has neither; the kernels are then compiled
    once for each process, into a folder of its own.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 -- Path.home raises where there is none
    cache = Path(os.environ.get("XDG_CACHE_HOME", home / ".cache"))
    nearest = next((path for path in (cache, *cache.parents) if path.exists()), cache)
    here = Path(__file__).parent
    if not os.access(here, os.W_OK) and not os.access(nearest, os.W_OK):
        os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="microveil-")


_ensure_cache()
