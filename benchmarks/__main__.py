"""Run every benchmark, or those named, and print one table of ratios."""

import sys

from benchmarks import (
    assess,
    compare,
    disk,
    partitions,
    protect,
    sampler,
    start,
    synthetic,
    vector_aware,
)
from benchmarks.measure import printed

CASES = {
    "arrays": protect.arrays,
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
}

names = sys.argv[1:] or list(CASES)
print(printed([row for name in names for row in CASES[name]()]))
