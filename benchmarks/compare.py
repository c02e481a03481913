"""`compare` on a table of the size of Census: no machine learning, two threads."""

import os
from pathlib import Path

import numpy as np
import polars

import microveil as mv
from benchmarks.measure import Row, seconds
from microveil.compare import compare

# What the grid must be done in, after start-up.
BUDGET_SECONDS = 20.0
ATTRIBUTES = [
    "AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "STATETAX", "TAXINC", "POTHVAL", "INTVAL", "FICA",
]  # fmt: skip
METHODS = "laplace,dp-um,idp-ls,idp-cbls"
SIZES, EPSILONS, RUNS = "5:50:5", "0.01,0.1,1", 10


def grid() -> list[Row]:
    """4 methods, 10 k, 3 epsilons and 10 runs on 1080 records of nine attributes.

    On Census where MICROVEIL_DATA names its folder, else on invented amounts of that shape.
    """
    table, name = _table()
    request = {
        "attributes": ATTRIBUTES,
        "bounds": mv.bounds_from_data(table.select(ATTRIBUTES), alpha=1.5),
        "exact_cells": "allow",
        "seed": 1,
        "jobs": 2,
    }
    compare(table, methods=METHODS, k=5, epsilon=1, runs=1, **request)  # start-up

    def ours() -> None:
        found = compare(table, methods=METHODS, k=SIZES, epsilon=EPSILONS, runs=RUNS, **request)
        assert found.table["run"].count() == 3 * RUNS + 3 * 10 * 3 * RUNS

    ratios = [seconds(ours) / BUDGET_SECONDS for _ in range(3)]
    return [
        Row(
            work=f"compare, 4 methods, 10 k, 3 epsilons, 10 runs, {name}",
            peer=f"{BUDGET_SECONDS:g} s, two threads",
            ratio=sorted(ratios)[1],
            least=min(ratios),
            most=max(ratios),
            runs=len(ratios),
            wanted="at most 1",
        )
    ]


def _table() -> tuple[polars.DataFrame, str]:
    folder = os.environ.get("MICROVEIL_DATA")
    if folder and Path(folder, "census.csv").exists():
        return polars.read_csv(Path(folder, "census.csv")), "Census"
    random = np.random.Generator(np.random.PCG64(1))
    amounts = {
        name: np.rint(random.lognormal(8, 1.2, 1080) * (random.random(1080) < 0.8)).astype(np.int64)
        for name in ATTRIBUTES
    }
    return polars.DataFrame(amounts), "as Census"
