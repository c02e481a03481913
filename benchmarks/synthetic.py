"""`dp-synthetic` on large tables, against polars reading and writing one, and its memory."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars

from benchmarks.measure import Row, in_turns, once
from microveil.commands.files import protect_file

SMALL, LARGE = 100_000, 1_000_000
COLUMNS = 15
CATEGORIES = [f"level {number}" for number in range(12)]
# In a new process: the peak of protect beyond what was there, less the release itself.
MEMORY = """
import json
from benchmarks.synthetic import asked, held, mixed_table
import microveil as mv

def kilobytes(entry):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(entry + ":"))

table = mixed_table({records})
mv.protect(table.head(2000), **asked(3.0))
with open("/proc/self/clear_refs", "w") as clear:
    clear.write("5")
before = kilobytes("VmHWM")
release = mv.protect(table, **asked())
extra = (kilobytes("VmHWM") - before) * 1024 - held(release.data)
print(json.dumps(extra / held(table)))
"""


def mixed_table(n_records: int) -> polars.DataFrame:
    """Invent fifteen columns that hang together: heavy tails, ages, zeros, categories, counts."""
    random = np.random.Generator(np.random.PCG64(1))
    hidden = random.normal(size=n_records)
    columns: dict[str, np.ndarray] = {}
    for number in range(COLUMNS):
        noise = random.normal(size=n_records)
        kind = number % 5
        if kind == 0:
            values = np.rint(np.exp(10 + 0.5 * hidden + 0.5 * noise)).clip(0, 1_000_000)
        elif kind == 1:
            values = np.rint(45 + 12 * hidden + 12 * noise).clip(0, 120)
        elif kind == 2:
            values = np.where(noise < 1.3, 0, np.rint(np.exp(6 + hidden))).clip(0, 10_000)
        else:
            values = np.rint(np.abs(3 * hidden + 2 * noise)).clip(0, 11)
        name = f"{'ABCDE'[kind]}{number}"
        whole = values.astype(np.int64)
        columns[name] = np.array(CATEGORIES)[whole] if kind == 3 else whole
    return polars.DataFrame(columns)


def held(table: polars.DataFrame) -> int:
    """Count the bytes that a table takes: polars has short text in 16 of them."""
    size = {name: 16 if kind == polars.String else 8 for name, kind in table.schema.items()}
    return table.height * sum(size.values())


def asked(epsilon: float = 1.0) -> dict[str, object]:
    """Ask for a new table of all columns."""
    widest = {"A": 1_000_000, "B": 120, "C": 10_000, "E": 20}
    names = [f"{'ABCDE'[number % 5]}{number}" for number in range(COLUMNS)]
    return {
        "method": "dp-synthetic",
        "epsilon": epsilon,
        "delta": 1e-9,
        "attributes": names,
        "bounds": {name: (0, widest[name[0]]) for name in names if name[0] != "D"},
        "categories": {name: CATEGORIES for name in names if name[0] == "D"},
    }


def tables() -> Iterator[Row]:
    """File to file, in turns with polars reading and writing the file; memory in arrays."""
    with tempfile.TemporaryDirectory() as place:
        for records, runs, wanted in (
            (SMALL, 3, "(to compare)"),
            (LARGE, 2, "(at most 12 at 1e7)"),
        ):
            source, folder = Path(place) / f"{records}.parquet", Path(place) / "release"
            mixed_table(records).write_parquet(source)

            def ours(source: Path = source, folder: Path = folder) -> None:
                protect_file(source, folder, overwrite=True, linkage=False, **asked())

            def theirs(source: Path = source) -> None:
                polars.read_parquet(source).write_parquet(Path(place) / "copy.parquet")

            yield in_turns(
                f"dp-synthetic, Parquet, {records:.0e} x {COLUMNS}",
                "polars reading and writing that file",
                ours,
                theirs,
                runs=runs,
                wanted=wanted,
            )
            source.unlink()
    yield _memory(LARGE)


def _memory(records: int) -> Row:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY.format(records=records)],
        check=True,
        capture_output=True,
        text=True,
    )
    ratio = float(json.loads(done.stdout))
    return once(
        f"dp-synthetic, {records:.0e} x {COLUMNS}: extra memory",
        "the table, beside it and the release",
        ratio,
        "at most 0.5",
    )
