"""Every kernel compiled once, before tests run in several processes at once.

A process compiles what it finds in no cache, so workers that start together would each compile the
same. Whoever starts them calls `compile_kernels` first; where that was done and nothing has changed
since, a stamp in the folder of the cache says so.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import numba

from microveil import kernels

__all__ = ["call_kernels", "compile_kernels"]

N = 60
BOTH = {"k": 3, "epsilon": 50, "attributes": ["A", "B"],
        "bounds": {"A": (0, 99), "B": (0, 99)}, "resolution": {"B": 0.5}}  # fmt: skip
WITH_GAPS = {"attributes": ["B"], "missing": "keep"}
REQUESTS = [
    {"method": "laplace"},
    {"method": "laplace", "shuffle": True, **WITH_GAPS},
    {"method": "dp-um", "isotonic": True},
    {"method": "idp-ls", "exact_cells": "allow"},
    {"method": "idp-cbls", "exact_cells": "widen"},
    {"method": "idp-cbls", "exact_cells": "allow", **WITH_GAPS},
    {"method": "idp-vector", "exact_cells": "allow"},
    {"method": "idp-vector", "exact_cells": "widen"},
    {"method": "idp-vector", "partition": "noise-aware", "exact_cells": "allow"},
    {"method": "kanon-dp"},
    {"method": "kanon-dp", "sensitivity": "vector"},
    # More combinations than are gone through one by one.
    {"method": "kanon-dp", "sensitivity": "vector", "bounds": {"A": (0, 9999), "B": (0, 9999)}},
    {"method": "record-dp"},
    {"method": "record-dp", "partition": "noise-aware", **WITH_GAPS},
    {"method": "mdav"},
    {"method": "mdav-insensitive"},
    {"method": "v-mdav"},
    {"method": "ranking", **WITH_GAPS},
    {"method": "optimal", **WITH_GAPS},
    {"method": "pram", "resolution": {"B": 9}},
    {"method": "k-pram", "every": "average"},
    {"method": "k-noise", "every": "group", **WITH_GAPS},
    {"method": "k-noise", "noise": "laplace"},
]


def call_kernels() -> None:
    """Reach every kernel through the functions that call it, with each type that they pass."""
    import numpy as np
    import polars as pl

    import microveil as mv
    from microveil.files.reading import read_file
    from microveil.measures.neighbourhoods import neighbourhoods
    from microveil.partition.optimal import optimal

    random = np.random.Generator(np.random.PCG64(1))
    whole = {name: random.integers(0, 99, N) for name in ("A", "B")} | {"WORD": ["east"] * N}
    whole |= {"B": whole["B"] / 2, "WORD": np.array(whole["WORD"])}
    gaps = whole | {"B": np.where(np.arange(N) % 9, whole["B"], np.nan)}
    for request in REQUESTS:
        asked = BOTH | request
        released = mv.protect(gaps if "missing" in asked else whole, **asked).data
    mv.assess(whole, released, ["A", "B"], k=3)
    mv.assess(gaps, gaps, ["A", "B", "WORD"])
    mv.attack(whole, released, control=whole, known=["A"], secret=["B"], parts=(["A"], ["B"]),
              n_attacks=20)  # fmt: skip
    neighbourhoods(whole["B"], delta=2.0, k=3, protected=released["B"])
    optimal(whole["B"], 3)
    # What comes of a data frame cannot be written to.
    mv.protect(pl.DataFrame(whole), **BOTH, method="mdav")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "people.csv")
        pl.DataFrame(whole).write_csv(path)
        read_file(path)


def compile_kernels() -> None:
    """Fill the cache of kernels, unless that was done since any of them last changed."""
    package = Path(kernels.__file__).parent
    sources = [(path.name, path.stat().st_mtime_ns) for path in sorted(package.glob("*.py"))]
    state = json.dumps([str(package), sys.version, numba.__version__, sources])
    stamp = Path(os.environ.get("NUMBA_CACHE_DIR", package / "__pycache__"), "compiled.json")
    if stamp.exists() and stamp.read_text() == state:
        return
    call_kernels()
    if os.access(stamp.parent, os.W_OK):  # else numba keeps its cache elsewhere
        stamp.write_text(state)
