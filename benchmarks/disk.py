"""Parquet to Parquet, a column at a time, beside polars reading and writing the file lazily."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars

from benchmarks.measure import Row, in_turns, once, python

RECORDS, MEMORY = 1_000_000, "1GB"
# In a process each: memory is that of the whole process, libraries too. Linux counts it since the
# process began, in kilobytes.
OURS = """
from pathlib import Path
from microveil.commands.files import protect_file
bounds = {bounds!r}
protect_file({source!r}, {folder!r}, method="dp-um", k=10, epsilon=1, attributes=list(bounds),
             bounds=bounds, resolution={resolution!r}, memory={memory!r}, overwrite=True)
lines = Path("/proc/self/status").read_text().splitlines()
print(next(line for line in lines if line.startswith("VmHWM")).split()[1])
"""
THEIRS = """
import polars
polars.scan_parquet({source!r}).sink_parquet({copy!r})
"""
# Of a census: the greatest value of each attribute, the lower ones more often.
PEOPLE = {
    "age": 100, "sex": 1, "region": 25, "education": 15, "hours": 99, "weeks": 52, "household": 14,
    "children": 10, "birth": 120, "occupation": 539, "rooms": 19, "commute": 200,
}  # fmt: skip
AMOUNTS, MOST = 20 - len(PEOPLE), 4_000_000


def files() -> Iterator[Row]:
    """One million records of twenty attributes: at cents, nearly all different; and of a census."""
    random = np.random.Generator(np.random.PCG64(5))
    with tempfile.TemporaryDirectory() as folder:
        cents = {f"c{a}": _amounts(random, 2) for a in range(20)}
        yield from _measured(Path(folder), cents, "at cents", most=3)
        del cents
        people = {
            name: (random.random(RECORDS) ** 2 * (greatest + 1)).astype(np.int64)
            for name, greatest in PEOPLE.items()
        }
        people |= {f"income{a}": _amounts(random, 0).astype(np.int64) for a in range(AMOUNTS)}
        yield from _measured(Path(folder), people, "of a census", most=6)


def _amounts(random: np.random.Generator, decimals: int) -> np.ndarray:
    """Draw amounts of money."""
    return np.round(np.minimum(random.lognormal(9, 1, RECORDS), MOST), decimals)


def _measured(folder: Path, table: dict[str, np.ndarray], kind: str, *, most: int) -> Iterator[Row]:
    source = folder / "people.parquet"
    polars.DataFrame(table).write_parquet(source)
    paths = {"source": str(source), "copy": str(folder / "copy.parquet")}
    ours = OURS.format(
        **paths,
        folder=str(folder / "release"),
        bounds={name: (0, PEOPLE.get(name, MOST)) for name in table},
        resolution={name: 0.01 for name in table if table[name].dtype == np.float64},
        memory=MEMORY,
    )
    size = f"{RECORDS:.0e}".replace("e+0", "e")
    work = f"protect --memory {MEMORY}, Parquet, {size} x {len(table)}, {kind}"
    yield in_turns(
        work,
        "polars reading and writing it lazily",
        python(ours),
        python(THEIRS.format(**paths)),
        runs=2,
        wanted=f"(at most {most} at 1e7)",
    )
    shown = subprocess.run([sys.executable, "-c", ours], check=True, capture_output=True, text=True)
    gigabytes = json.loads(shown.stdout) * 1024 / 1e9
    yield once(f"{work}: peak memory, GB", "", gigabytes, f"at most {MEMORY}")
