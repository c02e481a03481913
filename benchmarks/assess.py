"""`assess` of two large files, and `method="auto"` beside a plain `protect`."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars

import microveil as mv
from benchmarks.measure import Row, in_turns, once, python
from microveil.commands.files import protect_file

RECORDS, ATTRIBUTES = 500_000, 10
# In a process each, so that none finds memory or kernels that another left; the first call of a
# run compiles what is compiled.
OURS = """
from pathlib import Path
from microveil.commands.measuring import assess_files
assess_files({original!r}, {protected!r}, None, text=None)
# As Linux counts it since the process began, in kilobytes: what getrusage says of a process that
# another one started is no less than what that one took.
lines = Path("/proc/self/status").read_text().splitlines()
print(next(line for line in lines if line.startswith("VmHWM")).split()[1])
"""
THEIRS = """
import polars
for path in ({original!r}, {protected!r}):
    frame = polars.read_parquet(path)
    for column in frame:
        column.sort()
"""


Table = polars.DataFrame


def files() -> Iterator[Row]:
    """Parquet files of 500,000 records of ten attributes, before and after, of four kinds."""
    random = np.random.Generator(np.random.PCG64(3))
    names = [f"c{a}" for a in range(ATTRIBUTES)]
    with tempfile.TemporaryDirectory() as folder:
        cents = {name: np.round(random.lognormal(8, 1, RECORDS), 2) for name in names}
        before, after = _protected(Path(folder, "cents"), Table(cents), 0.01)
        yield from _measured(folder, before, after, "at cents")
        yield from _measured(folder, *_with_categories(before, after, random), "two of categories")
        yield from _measured(folder, *_with_gaps(before, after, random), "5 % missing")
        del cents, before, after
        sizes = [2, 5, 10, 20, 100, 1000]  # of codes, the lower ones more often
        codes = [np.clip(np.round(random.normal(40, 18, RECORDS)), 0, 99) for _ in range(4)]
        codes += [size * random.random(RECORDS) ** 2 for size in sizes]
        whole = Table({name: c.astype(np.int64) for name, c in zip(names, codes, strict=True)})
        yield from _measured(folder, *_protected(Path(folder, "codes"), whole, 1), "ages and codes")


def _protected(folder: Path, table: Table, resolution: float) -> tuple[Table, Table]:
    """Protect a table; return it and its release."""
    folder.mkdir()
    original, release = folder / "people.parquet", folder / "release"
    table.write_parquet(original)
    protect_file(
        original,
        release,
        method="dp-um",
        k=50,
        epsilon=10,
        attributes=table.columns,
        bounds={name: (0, table[name].max()) for name in table.columns},
        resolution=dict.fromkeys(table.columns, resolution),
        linkage=False,
    )
    return table, polars.read_parquet(release / "data.parquet")


def _with_categories(
    before: Table, after: Table, random: np.random.Generator
) -> tuple[Table, Table]:
    """Make categories of two columns, of which a tenth is drawn anew."""
    for name, size in (("c8", 5), ("c9", 50)):
        regions = polars.Series(name, [f"region {i}" for i in range(size)])
        own = (size * random.random(RECORDS) ** 2).astype(np.int64)
        drawn = np.where(random.random(RECORDS) < 0.1, random.integers(0, size, RECORDS), own)
        before = before.with_columns(regions.gather(own))
        after = after.with_columns(regions.gather(drawn))
    return before, after


def _with_gaps(before: Table, after: Table, random: np.random.Generator) -> tuple[Table, Table]:
    """Leave a twentieth of the cells out, the same in both."""
    there = {name: polars.Series(random.random(RECORDS) < 0.95) for name in before.columns}
    some = [polars.when(is_there).then(polars.col(name)) for name, is_there in there.items()]
    return before.select(some), after.select(some)


def _measured(folder: str, before: Table, after: Table, kind: str) -> Iterator[Row]:
    original, protected = Path(folder, "before.parquet"), Path(folder, "after.parquet")
    before.write_parquet(original)
    after.write_parquet(protected)
    paths = {"original": str(original), "protected": str(protected)}
    ours, theirs = OURS.format(**paths), THEIRS.format(**paths)
    yield in_turns(
        f"assess, Parquet, 5e5 x 10, {kind}",
        "polars reading both, sorting each column",
        python(ours),
        python(theirs),
        runs=2,
        wanted="(at most 8 at 5e6)",
    )
    shown = subprocess.run([sys.executable, "-c", ours], check=True, capture_output=True, text=True)
    gigabytes = json.loads(shown.stdout) * 1024 / 1e9
    wanted = "(at most 2 at 5e6)"
    yield once(f"assess, {kind}: peak resident memory, GB", "", gigabytes, wanted)


def auto() -> Iterator[Row]:
    """Method and k left to advice, on tables of survey and of register size."""
    return (_auto(n_records, runs) for n_records, runs in ((5_000, 3), (100_000, 2)))


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
        wanted="(to compare)",
    )
