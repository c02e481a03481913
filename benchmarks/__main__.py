"""Run every benchmark, or those named, and print each ratio as it is there."""

import sys
import time
from collections.abc import Callable, Iterable

from benchmarks import (
    assess,
    compare,
    disk,
    partitions,
    protect,
    sampler,
    spark,
    start,
    synthetic,
    vector_aware,
)
from benchmarks.measure import HEAD, Row, line

CASES: dict[str, Callable[[], Iterable[Row]]] = {
    "arrays": protect.arrays,
    "small": protect.small,
    "sampler": sampler.draws,
    "files": protect.files,
    "disk": disk.files,
    "assess": assess.files,
    "auto": assess.auto,
    "start": start.starts,
    "mdav": partitions.joint,
    "optimal": partitions.univariate,
    "vector-aware": vector_aware.vector_aware,
    "compare": compare.grid,
    "synthetic": synthetic.tables,
    "spark": spark.frames,
}

names = sys.argv[1:] or list(CASES)
print(HEAD, flush=True)
for name in names:
    start = time.perf_counter()
    for row in CASES[name]():
        print(line(row), flush=True)
    print(f"({name}: {time.perf_counter() - start:.0f} s)", flush=True)
