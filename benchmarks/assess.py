"""`assess` of two large files, and `method="auto"` beside a plain `protect`."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars

import microveil as mv
from benchmarks.measure import Row, in_turns, python
from microveil.commands.files import protect_file

RECORDS, ATTRIBUTES = 5_000_000, 10
# In a process each, so that none finds memory or kernels that another left; the first call of a
# run compiles what is compiled.
OURS = """
import resource
from microveil.commands.measuring import assess_files
assess_files({original!r}, {protected!r}, None, text=None)
# The kernel's own figure, in kilobytes on Linux: what assessing and the interpreter took at most.
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
THEIRS = """
import polars
for path in ({original!r}, {protected!r}):
    frame = polars.read_parquet(path)
    for column in frame:
        column.sort()
"""


def files() -> list[Row]:
    """Parquet files of five million records of ten attributes at cents, before and after."""
    random = np.random.Generator(np.random.PCG64(3))
    with tempfile.TemporaryDirectory() as folder:
        original, release = Path(folder, "people.parquet"), Path(folder, "release")
        names = [f"c{a}" for a in range(ATTRIBUTES)]
        columns = {name: np.round(random.lognormal(8, 1, RECORDS), 2) for name in names}
        bounds = {name: (0, float(values.max())) for name, values in columns.items()}
        polars.DataFrame(columns).write_parquet(original)
        del columns
        protect_file(
            original,
            release,
            method="dp-um",
            k=50,
            epsilon=10,
            attributes=names,
            bounds=bounds,
            resolution=dict.fromkeys(names, 0.01),
            linkage=False,
        )
        protected = release / "data.parquet"
        paths = {"original": str(original), "protected": str(protected)}
        ours, theirs = OURS.format(**paths), THEIRS.format(**paths)
        row = in_turns(
            "assess, Parquet, 5e6 x 10, a sample linked",
            "polars reading both, sorting each column",
            python(ours),
            python(theirs),
            runs=3,
            wanted="at most 8",
        )
        shown = subprocess.run(
            [sys.executable, "-c", ours], check=True, capture_output=True, text=True
        )
        gigabytes = json.loads(shown.stdout) * 1024 / 1e9
        memory = Row(
            work="assess, Parquet, 5e6 x 10: peak resident memory, GB",
            peer="",
            ratio=gigabytes,
            least=gigabytes,
            most=gigabytes,
            runs=1,
            wanted="at most 2",
        )
        return [row, memory]


def auto() -> list[Row]:
    """Method and k left to advice, on tables of survey and of register size."""
    return [_auto(n_records, runs) for n_records, runs in ((5_000, 5), (100_000, 3))]


def _auto(n_records: int, runs: int) -> Row:
    random = np.random.Generator(np.random.PCG64(4))
    table = {f"c{a}": np.round(random.lognormal(8, 1, n_records), 2) for a in range(4)}
    request = {
        "attributes": list(table),
        "bounds": {name: (0, float(values.max())) for name, values in table.items()},
        "resolution": dict.fromkeys(table, 0.01),
        "epsilon": 1,
        "scope": "cluster",
        "exact_cells": "allow",
    }
    best = mv.advise(table, method="idp-cbls", k=3, **request).options[0]
    chosen = {"method": best.method, "k": best.k, **best.choices}
    return in_turns(
        f"protect, method auto, arrays of {n_records} x 4",
        "protect, the method and k that it chooses",
        lambda: mv.protect(table, method="auto", **request),
        lambda: mv.protect(table, **chosen, **request),
        runs=runs,
        wanted="at most 4",
    )
