"""A frame of Spark's, Parquet to Parquet, against the same table in memory: where PySpark is."""

import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars

import microveil as mv
from benchmarks.measure import Row, in_turns

RECORDS = 1_000_000
BOUNDS = {"age": (0, 100), "pay": (0, 4_000_000), "hours": (0, 99)}


def frames() -> Iterator[Row]:
    """Three attributes of ages, incomes and hours, on two threads of this machine."""
    if importlib.util.find_spec("pyspark") is None:
        return
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    request = {"method": "dp-um", "k": 10, "epsilon": 1, "bounds": BOUNDS, "keep": ["id"]}
    request["attributes"] = list(BOUNDS)
    with tempfile.TemporaryDirectory() as place:
        source, copy = Path(place, "people.parquet"), Path(place, "copy.parquet")
        _people().write_parquet(source)

        def ours() -> None:
            frame = session.read.parquet(str(source))
            release = mv.protect(frame, record_id="id", **request)
            release.data.write.mode("overwrite").parquet(str(Path(place, "release")))

        def theirs() -> None:
            mv.protect(polars.read_parquet(source), **request).data.write_parquet(copy)

        yield in_turns(
            f"protect, dp-um, Spark local[2], Parquet, {RECORDS:.0e} x {len(BOUNDS)}",
            "the same in memory",
            ours,
            theirs,
            runs=2,
            wanted="(at most 12 at 1e7)",
        )
    session.stop()


def _people() -> polars.DataFrame:
    random = np.random.Generator(np.random.PCG64(6))
    return polars.DataFrame(
        {
            "id": random.permutation(RECORDS),
            "age": (random.random(RECORDS) ** 2 * 101).astype(np.int64),
            "pay": np.minimum(random.lognormal(9, 1, RECORDS), 4_000_000).astype(np.int64),
            "hours": random.integers(0, 100, RECORDS),
        }
    )
