"""Releases of `dp-synthetic` as the peers' are made: each in a process of its own."""

import json
import math
import time
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

import polars

import microveil as mv

EPSILON, DELTA = Fraction(1), Fraction(1, 10**9)


def domains(table: polars.DataFrame) -> dict[str, tuple[int, int]]:
    """Declare 0 to 1.5 times the largest value, rounded up to half a leading digit.

    >>> domains(polars.DataFrame({"TAX": [1, 9_876]}))
    {'TAX': (0, 15000)}
    """
    found = {}
    for name in table.columns:
        wide = 1.5 * table[name].max()
        leading = 10 ** math.floor(math.log10(wide))
        found[name] = (0, int(math.ceil(wide / leading * 2) / 2 * leading))
    return found


def draw_ours(source: Path, folder: Path) -> None:
    """Draw a release and time it, twice: the first time of a process, as the peers', and again."""
    table = polars.read_csv(source)
    times = {}
    for name in ("all", "again"):
        start = time.perf_counter()
        release = mv.protect(
            table,
            method="dp-synthetic",
            epsilon=float(EPSILON),
            delta=float(DELTA),
            attributes=table.columns,
            bounds=domains(table),
        )
        times[name] = time.perf_counter() - start
    release.data.write_csv(folder / "released.csv")
    (folder / "times.json").write_text(json.dumps(times))


def in_new_process(source: Path, folder: Path) -> None:
    """Draw ours in a process of its own, as the peers are."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pool.submit(draw_ours, source, folder).result()
