"""Tasks that are killed at first, as those of a cluster may be, and what is asked of Spark."""

import os
import signal
import sys
from contextlib import contextmanager

import pytest

# What would bring rows into this process.
OF_ROWS = ("collect", "toArrow", "toPandas", "toLocalIterator", "take", "head", "first", "tail",
           "count")  # fmt: skip


@contextmanager
def watching():
    """Note the plans that are carried out and what the driver reads; rows may not be asked for."""
    from pyspark.sql.classic.dataframe import DataFrame
    from pyspark.sql.readwriter import DataFrameWriter

    from microveil.protect.spark.scratch import Scratch

    plans, read = [], []
    write, take = DataFrameWriter.parquet, Scratch.fetched

    def noted_plan(self, *given, **more):
        execution = self._df._jdf.queryExecution()
        plans.append(execution.toString())
        return write(self, *given, **more)

    def noted_rows(self, frame):
        found = take(self, frame)
        read.append(({*found.column_names}, len(found)))
        return found

    def never(*_given, **_more):
        raise AssertionError("rows were asked for")

    with pytest.MonkeyPatch.context() as meanwhile:
        for name in OF_ROWS:
            meanwhile.setattr(DataFrame, name, never)
        meanwhile.setattr(DataFrameWriter, "parquet", noted_plan)
        meanwhile.setattr(Scratch, "fetched", noted_rows)
        yield plans, read


def have_tasks_killed_at_first(monkeypatch, note=lambda *_: None):
    """Have each task killed at its first attempt, when it has given all that it had to give.

    Each batch that a task gives, at whatever attempt, is noted where the task is, with its context.
    """
    from pyspark import cloudpickle
    from pyspark.sql.classic.dataframe import DataFrame

    # Executors do not have the modules of the tests.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    mapped = DataFrame.mapInArrow
    monkeypatch.setattr(
        DataFrame,
        "mapInArrow",
        lambda self, task, schema: mapped(self, _killed_at_first(task, note), schema),
    )


def _killed_at_first(task, note):
    from pyspark import TaskContext

    def work(batches):
        context = TaskContext.get()
        for batch in task(batches):
            note(batch, context)
            yield batch
        if context.attemptNumber() == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return work
