"""A session of Spark for tests, where PySpark is installed."""

import os
import sys


def session():
    """Two threads in this process, that try a task three times."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    made = (
        SparkSession.builder.master("local[2,3]")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.adaptive.coalescePartitions.enabled", "false")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    return made


def take_small_steps(monkeypatch):
    """Have tables of a few records take several runs and buckets, with clusters across them."""
    from microveil.engines import spark_chunks

    monkeypatch.setattr(spark_chunks, "IN_BUCKET", 20)
    monkeypatch.setattr(spark_chunks, "STEP", 2)
    monkeypatch.setattr(spark_chunks, "LONGEST", 17)
