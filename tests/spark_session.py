"""A session of Spark for tests, where PySpark is installed, and tables for it."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

# Of Java and Spark what pays in a session of minutes: no code is made for a plan of a few records,
# and no plan is made anew between two stages, each of which would be a job of its own then.
SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.shuffle.compress": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.daemon.module": "spark_daemon",
}
SIZES = ("S", "M", "L")


@pytest.fixture(scope="session")
def spark():
    """Two threads in this process, that try a task three times: one session for all tests."""
    pytest.importorskip("pyspark", reason="make test-spark installs PySpark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([f"{Path(__file__).parent}", *sys.path])
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2,3]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@contextmanager
def settings(spark, values):
    """Have a session work by these settings meanwhile."""
    before = {name: spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def take_small_steps(monkeypatch):
    """Have tables of a few records take several parts, clusters across them."""
    take_parts_of(monkeypatch, 25)


def take_parts_of(monkeypatch, n_records):
    """Have a part that Spark sorts or joins at once hold so many records."""
    from microveil.protect.spark import table

    monkeypatch.setattr(table, "IN_PART", n_records)


def people(n_records):
    """A table with ties, missing values, text in an order, dates and yes/no, by its record id."""
    random = np.random.default_rng(n_records)
    ages = random.integers(18, 90, n_records)
    pay = np.round(random.lognormal(8, 1, n_records), 2).clip(0, 90_000)
    return pl.DataFrame(
        {
            "ID": [f"p{number:06}" for number in range(n_records)],
            "AGE": pl.Series(ages).cast(pl.Int16),
            "PAY": [None if number % 5 == 1 else value for number, value in enumerate(pay)],
            "GAP": [None if number % 7 == 0 else number % 50 for number in range(n_records)],
            "SIZE": random.choice(SIZES, n_records),
            "BORN": pl.Series(random.integers(0, 9000, n_records)).cast(pl.Int32).cast(pl.Date),
            "WED": random.integers(0, 2, n_records) > 0,
        }
    )


BOUNDS = {
    "AGE": (0, 120),
    "PAY": (0, 100_000),
    "GAP": (0, 60),
    "BORN": ("1900-01-01", "2020-12-31"),
}


def framed(spark, table, parts=2):
    """The same table in Spark, its records in another order."""
    shuffled = table.sample(fraction=1, shuffle=True, seed=1).to_arrow()
    return spark.createDataFrame(shuffled).repartition(parts)


def cells(release):
    """A release as a table of this process."""
    data = release.data
    return data if isinstance(data, pl.DataFrame) else pl.from_arrow(data.toArrow())


def rows(release):
    """A release as a table of this process, in the order of its record id."""
    return cells(release).sort("ID")
