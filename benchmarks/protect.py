"""`protect`, arrays to arrays and file to file."""

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars

import microveil as mv
from benchmarks.measure import Row, in_turns, once, seconds
from microveil.commands.files import protect_file

RECORDS, FEW, RUNS = 10_000_000, 20_000, 11
# In a new process: what one call takes at most beyond what was there before it. The peak that
# getrusage tells is no use, since Linux hands a child its parent's; so the peak is reset first,
# or, where that cannot be done, memory is looked at again and again during the call.
MEMORY = """
import json, os, subprocess, threading
import numpy as np, microveil as mv
x = np.round(np.random.Generator(np.random.PCG64(1)).lognormal(10, 1, {records}), 2)
request = dict(method={method!r}, k=10, epsilon=1, attributes="x", resolution={{"x": 0.01}},
               bounds={{"x": (0, float(x.max()))}}, exact_cells="allow")
mv.protect({{"x": x[:1000]}}, **request)

def kilobytes(entry):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(entry + ":"))

def resident():
    if os.path.exists("/proc/self/status"):
        return kilobytes("VmRSS")
    return int(subprocess.check_output(["ps", "-o", "rss=", "-p", str(os.getpid())]))

def extra_by_reset():
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    before = kilobytes("VmHWM")
    mv.protect({{"x": x}}, **request)
    return kilobytes("VmHWM") - before

def extra_by_samples():
    before, done = resident(), threading.Event()
    samples = [before]
    def look():
        while not done.wait(0.005):
            samples.append(resident())
    beside = threading.Thread(target=look)
    beside.start()
    mv.protect({{"x": x}}, **request)
    done.set()
    beside.join()
    return max(samples) - before

can_reset = os.access("/proc/self/clear_refs", os.W_OK)
extra = extra_by_reset() if can_reset else extra_by_samples()
print(json.dumps(extra * 1024 / x.nbytes))
"""


def arrays() -> Iterator[Row]:
    """One attribute of ten million floats at cents, k = 10, against one stable index sort."""
    values = np.round(np.random.Generator(np.random.PCG64(1)).lognormal(10, 1, RECORDS), 2)
    for method in ("dp-um", "idp-cbls"):
        request = {
            "method": method,
            "k": 10,
            "epsilon": 1,
            "attributes": "x",
            "bounds": {"x": (0, float(values.max()))},
            "resolution": {"x": 0.01},
            "exact_cells": "allow",
        }
        yield in_turns(
            f"protect, {method}, arrays of 1e7, k = 10",
            "numpy.argsort(kind='stable') of them",
            lambda request=request: mv.protect({"x": values}, **request),
            lambda: np.argsort(values, kind="stable"),
            runs=3,
            wanted="at most 0.4",
        )
        code = MEMORY.format(records=RECORDS, method=method)
        told = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        extra = float(json.loads(told.stdout))
        yield once(
            f"protect, {method}, arrays of 1e7: extra memory",
            "one column of the input",
            extra,
            "at most 4",
        )


def small() -> Iterator[Row]:
    """Two attributes of 20,000 whole numbers: what is not work on the values shows here."""
    random = np.random.Generator(np.random.PCG64(3))
    table = {name: random.integers(0, 1000, FEW) for name in ("x", "y")}
    request = {"k": 10, "epsilon": 1, "bounds": dict.fromkeys(table, (0, 1000))}
    for method, most in (("dp-um", 10), ("laplace", 15)):

        def ours(method: str = method) -> object:
            return mv.protect(table, method=method, **request)

        ours()
        milliseconds = sorted(1000 * seconds(ours) for _ in range(RUNS))
        yield Row(
            work=f"protect, {method}, arrays of {FEW:,} x {len(table)}, milliseconds",
            peer="",
            ratio=milliseconds[RUNS // 2],
            least=milliseconds[0],
            most=milliseconds[-1],
            runs=RUNS,
            wanted=f"at most {most}",
        )


def files() -> Iterator[Row]:
    """A CSV file of a million records and ten attributes at cents, file to file."""
    random = np.random.Generator(np.random.PCG64(2))
    columns = {f"c{i}": np.round(random.lognormal(8, 1, 1_000_000), 2) for i in range(10)}
    bounds = {name: (0, float(values.max())) for name, values in columns.items()}
    with tempfile.TemporaryDirectory() as folder:
        source, copy = Path(folder, "people.csv"), Path(folder, "copy.csv")
        polars.DataFrame(columns).write_csv(source)

        def ours() -> None:
            protect_file(
                source,
                Path(folder, "release"),
                method="dp-um",
                k=10,
                epsilon=1,
                attributes=list(columns),
                bounds=bounds,
                resolution=dict.fromkeys(columns, 0.01),
                # What linking a sample costs hangs on the attributes, not on the file.
                linkage=False,
                overwrite=True,
            )

        def theirs() -> None:
            polars.read_csv(source).write_csv(copy)

        def digests() -> None:
            for path in (source, copy):
                hashlib.sha256(path.read_bytes()).hexdigest()

        work = "protect --no-linkage, dp-um, CSV to CSV, 1e6 x 10 at cents"
        yield in_turns(
            work,
            "polars reading and writing that file",
            ours,
            theirs,
            runs=3,
            wanted="at most 2.5",
        )
        yield in_turns(
            "SHA-256 of both files, one thread",
            "polars reading and writing that file",
            digests,
            theirs,
            runs=3,
            wanted="(to compare)",
        )
