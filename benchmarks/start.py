"""Start-up, and kernels that a second process need not compile."""

from collections.abc import Iterator

from benchmarks.measure import Row, in_turns, python

PROTECT = """
import sys, numpy as np, microveil as mv
mv.protect({"x": np.arange(3000) % 700}, method="idp-cbls", k=10, epsilon=1, attributes="x",
           exact_cells="allow", shuffle=True)
"""
# Counts what numba compiles in a process whose cache is warm.
COMPILED = (
    PROTECT
    + """
from numba.core.dispatcher import Dispatcher
import gc
kernels = [d for d in gc.get_objects() if isinstance(d, Dispatcher)]
fresh = sum(sum(d.stats.cache_misses.values()) for d in kernels)
sys.exit(f"{fresh} kernels were compiled" if fresh else 0)
"""
)


def starts() -> Iterator[Row]:
    """New processes in turn; the last row fails if the second process compiles anything."""
    python(PROTECT)()
    python(COMPILED)()
    yield in_turns(
        "microveil --help",
        "import typer, rich",
        python("import sys, microveil.cli as c; sys.argv = ['microveil', '--help']; c.main()"),
        python("import typer, rich"),
        runs=5,
        wanted="at most 2.5",
    )
    yield in_turns(
        "import microveil",
        "import numpy",
        python("import microveil"),
        python("import numpy"),
        runs=5,
        wanted="at most 1.2",
    )
    yield in_turns(
        "protect in a second process (0 kernels compiled: checked)",
        "import numba, polars, scipy.optimize",
        python(PROTECT),
        python("import numba, polars, scipy.optimize"),
        runs=3,
        wanted="(to compare)",
    )
