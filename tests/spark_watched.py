"""What a release asks of Spark, as tests see it: plans, tasks, keys, and what the driver reads.

And tasks that fail at first, as those of a cluster may.
"""

import re
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

# Numbers and places of Spark's own in a plan, any of which may be like a value.
OWN = re.compile(r"#\d+|\b(plan_id|id|rowCount|sizeInBytes)=[\d.E+]+|file:[^\],\s]*")
# What would bring rows into this process.
OF_ROWS = ("collect", "toArrow", "toPandas", "toLocalIterator", "take", "head", "first", "tail",
           "count")  # fmt: skip


@dataclass
class Watched:
    """What was asked while a release was made.

    Attributes
    ----------
    plans : list of str
        Each plan that was carried out, as Spark prints it in all its stages.
    tasks : list of bytes
        Each task, as it goes to the workers.
    keys : list of (Path, int, bytes)
        The file of each key, its mode, and the key.
    read : list of (set of str, int)
        What the driver read of files between two steps: columns, and the number of rows.
    """

    plans: list = field(default_factory=list)
    tasks: list = field(default_factory=list)
    keys: list = field(default_factory=list)
    read: list = field(default_factory=list)

    def assert_no_key_is_left(self, folder):
        """No plan, no task and no file that is left in a folder has a key of this release."""
        assert {mode for _, mode, _ in self.keys} == {0o600}
        assert len({secret for *_, secret in self.keys}) == len(self.keys)
        assert not any(path.exists() for path, *_ in self.keys)
        secrets = [secret for *_, secret in self.keys]
        printed = [
            form for one in secrets for form in (one.hex(), repr(one)[2:-1], repr([*one])[1:-1])
        ]
        assert self.plans
        assert not any(form in plan for form in printed for plan in self.plans)
        assert not any(one in task for one in secrets for task in self.tasks)
        left = [path for path in folder.rglob("*") if path.is_file()]
        assert left
        assert not any(one in path.read_bytes() for one in secrets for path in left)

    def shown(self, values):
        """Those of some values that a plan shows in any form; short ones may be of anything."""
        text = OWN.sub("", "".join(self.plans)).casefold()
        return {
            value
            for value in values
            if any(len(form) > 4 and form in text for form in _printed(value))
        }

    def sent(self, numbers):
        """Those of some numbers, of hundredths, that a task has among its own in any form."""
        return {one for one in numbers if any(form in task for form in _packed(one)
                                              for task in self.tasks)}  # fmt: skip


def _printed(value):
    """How a value is printed in a plan: as text, as a number of units or as bytes."""
    if isinstance(value, str):
        return {value, value.encode().hex()}
    return {f"{value}", f"{round(value * 100)}"}


def _packed(value):
    """How a number is among what is pickled: in an array, in either order of bytes, or as text."""
    units = round(value * 100)
    numbers = [struct.pack(form, value) for form in ("<d", ">d")]
    return [*numbers, struct.pack("<q", units), b"J" + struct.pack("<i", units)]


def values_of(table, *names):
    """All values of some columns."""
    return [value for name in names for value in table[name].drop_nulls()]


@contextmanager
def watching() -> Iterator[Watched]:
    """Watch what is asked of Spark meanwhile; that rows are asked for is an error."""
    from pyspark import cloudpickle
    from pyspark.sql.classic.dataframe import DataFrame
    from pyspark.sql.readwriter import DataFrameWriter

    from microveil.engines.spark_keys import KeyFiles
    from microveil.engines.spark_scratch import SparkScratch

    seen = Watched()
    write, mapped = DataFrameWriter.parquet, DataFrame.mapInArrow
    written, take = KeyFiles.written, SparkScratch.read

    def noted_plan(self, *given, **more):
        frame = self._df
        execution = frame._jdf.queryExecution()
        modes = frame._sc._jvm.org.apache.spark.sql.execution.ExplainMode
        told = [execution.explainString(modes.fromString(name)) for name in ("formatted", "cost")]
        seen.plans.append("".join([execution.toString(), *told]))
        return write(self, *given, **more)

    def noted_task(self, task, schema, *rest, **more):
        seen.tasks.append(cloudpickle.dumps(task))
        return mapped(self, task, schema, *rest, **more)

    def noted_key(self, secret):
        path = written(self, secret)
        seen.keys.append((path, stat.S_IMODE(path.stat().st_mode), path.read_bytes()))
        assert seen.keys[-1][-1] == secret
        return path

    def noted_rows(self, place, columns):
        found = take(self, place, columns)
        seen.read.append((set(columns), len(found)))
        return found

    def never(*_given, **_more):
        raise AssertionError("rows were asked for")

    with pytest.MonkeyPatch.context() as meanwhile:
        for name in OF_ROWS:
            meanwhile.setattr(DataFrame, name, never)
        meanwhile.setattr(DataFrameWriter, "parquet", noted_plan)
        meanwhile.setattr(DataFrame, "mapInArrow", noted_task)
        meanwhile.setattr(KeyFiles, "written", noted_key)
        meanwhile.setattr(SparkScratch, "read", noted_rows)
        yield seen


def have_tasks_fail_at_first(monkeypatch, note=lambda *_: None, *, after=None):
    """Have each task fail at its first attempt: after so many batches, or when it has given all.

    Each batch that a task gives, at whatever attempt, is noted where the task is, with its context.
    """
    from pyspark import cloudpickle
    from pyspark.sql.classic.dataframe import DataFrame

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    mapped = DataFrame.mapInArrow
    monkeypatch.setattr(
        DataFrame,
        "mapInArrow",
        lambda self, task, schema: mapped(self, _failing(task, note, after), schema),
    )


def _failing(task, note, after):
    from pyspark import TaskContext

    def first_fails(batches):
        context = TaskContext.get()
        is_first = context.attemptNumber() == 0
        for nth, batch in enumerate(task(batches), 1):
            note(batch, context)
            yield batch
            if is_first and nth == after:
                raise RuntimeError("on purpose")
        if is_first:
            raise RuntimeError("on purpose")

    return first_fails
