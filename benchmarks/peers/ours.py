"""Releases of `dp-synthetic` as the peers' are made: each in a process of its own."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars

import microveil as mv
from benchmarks.peers.tables import SOURCES

EPSILON, DELTA = Fraction(1), Fraction(1, 10**9)


def request(source: str, table: polars.DataFrame) -> dict[str, Any]:
    """Ask for a new table at the budget of all."""
    return {
        "method": "dp-synthetic",
        "epsilon": float(EPSILON),
        "delta": float(DELTA),
        **SOURCES[source].asked(table),
    }


def draw_ours(source: str, folder: Path) -> None:
    """Draw a release and time it, twice: the first time of a process, as the peers', and again."""
    table = polars.read_csv(SOURCES[source].path)
    protect = mv.protect  # loads the libraries, which are not timed
    times = {}
    for name in ("all", "again"):
        start = time.perf_counter()
        release = protect(table, **request(source, table))
        times[name] = time.perf_counter() - start
    release.data.write_csv(folder / "released.csv")
    (folder / "times.json").write_text(json.dumps(times))


def in_new_process(work: Callable[..., None], *arguments: object) -> None:
    """Do a piece of work in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pool.submit(work, *arguments).result()
