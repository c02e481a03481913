"""`protect`, arrays to arrays and file to file."""

import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars

import microveil as mv
from benchmarks.measure import Row, in_turns
from microveil.publish import protect_file

RECORDS = 10_000_000
MEMORY = """
import resource, json, sys
import numpy as np, microveil as mv
x = np.round(np.random.Generator(np.random.PCG64(1)).lognormal(10, 1, {records}), 2)
request = dict(method={method!r}, k=10, epsilon=1, attributes="x", resolution={{"x": 0.01}},
               bounds={{"x": (0, float(x.max()))}}, exact_cells="allow")
mv.protect({{"x": x[:1000]}}, **request)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
mv.protect({{"x": x}}, **request)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps((after - before) * 1024 / x.nbytes))
"""


def arrays() -> list[Row]:
    """One attribute of ten million floats at cents, k = 10, against one stable index sort."""
    values = np.round(np.random.Generator(np.random.PCG64(1)).lognormal(10, 1, RECORDS), 2)
    rows = []
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
        rows.append(
            in_turns(
                f"protect, {method}, arrays of 1e7, k = 10",
                "numpy.argsort(kind='stable') of them",
                lambda request=request: mv.protect({"x": values}, **request),
                lambda: np.argsort(values, kind="stable"),
                runs=5,
                wanted="at most 0.6, aim 0.4",
            )
        )
        code = MEMORY.format(records=RECORDS, method=method)
        told = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        extra = float(json.loads(told.stdout))
        rows.append(
            Row(
                work=f"protect, {method}, arrays of 1e7: extra memory",
                peer="one column of the input",
                ratio=extra,
                least=extra,
                most=extra,
                runs=1,
                wanted="at most 4",
            )
        )
    return rows


def files() -> list[Row]:
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
                overwrite=True,
            )

        def theirs() -> None:
            polars.read_csv(source).write_csv(copy)

        def digests() -> None:
            for path in (source, copy):
                hashlib.sha256(path.read_bytes()).hexdigest()

        work = "protect, dp-um, CSV to CSV, 1e6 x 10 at cents"
        return [
            in_turns(
                work,
                "polars reading and writing that file",
                ours,
                theirs,
                runs=5,
                wanted="at most 2",
            ),
            in_turns(
                "SHA-256 of both files, one thread",
                "polars reading and writing that file",
                digests,
                theirs,
                runs=5,
                wanted="(to compare)",
            ),
        ]
