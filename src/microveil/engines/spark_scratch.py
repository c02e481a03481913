"""Parquet files between the steps of a Spark job, and how its failures are worded.

What a later step counts on is written out first: of what Spark would compute again, nothing says
that it comes out in the same order.
"""

import itertools
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from microveil.engines import spark_chunks as chunks
from microveil.engines.spark_cells import Task, in_files
from microveil.engines.spark_keys import KeyFiles
from microveil.engines.spark_parts import PART, n_records_of
from microveil.errors import EngineError
from microveil.files.parts import address_of

__all__ = ["SparkScratch", "lost_records", "spark_failures"]

# Rows between two steps are few, and hold no large cell: none is compressed or looked up.
BETWEEN = {"compression": "uncompressed", "parquet.enable.dictionary": "false"}
# Tasks of a step for each thread of a session on this machine: each takes a tenth of a second to
# begin and to end, whatever it does.
TASKS = 4


class SparkScratch:
    """A folder of mode 0700 that this process and all executors of a session see.

    Parameters
    ----------
    spark : SparkSession
    folder : str or Path, optional
        Where it is made; by default among temporary files, where the session is a local one.

    Raises
    ------
    EngineError
        If no folder is named though executors may be on other machines, or it cannot be made.
    """

    def __init__(self, spark: Any, folder: str | Path | None) -> None:
        self.spark = spark
        self._is_local = str(spark.conf.get("spark.master", "")).startswith("local")
        if folder is None and not self._is_local:
            raise EngineError(
                "scratch",
                "executors may be on other machines, and what is written between two steps must be "
                "read by all",
                "name a folder that they share with this process: scratch='/shared/folder'",
            )
        self._folder, self._work = folder, _made(folder)
        self._cells = self._work / "cells"
        with _writing():
            self._cells.mkdir(mode=0o700)
        self._numbers = itertools.count(1)
        self.keys = KeyFiles(self._work)
        # A plan looks at records for as long as it is there: it holds this, by its table.
        self._end = weakref.finalize(self, _removed, self.keys, self._work)

    def mapped(self, frame: Any, task: Task, schema: str) -> Any:
        """Have a task work on a frame; large cells that it gives stay in files of the folder."""
        return frame.mapInArrow(in_files(task, self._cells, chunks.IN_ROW), schema)

    def gathered(self, frame: Any, n_keys: int, key: str, *then: str) -> Any:
        """Bring all rows that have a key to one task, in the order of keys and of columns then.

        Of a cluster, which may grow with the work that waits, a task for each key at most; on this
        machine a few for each thread.
        """
        n_tasks = n_keys
        if self._is_local:
            n_tasks = min(n_keys, TASKS * self.spark.sparkContext.defaultParallelism)
        return frame.repartition(n_tasks, key).sortWithinPartitions(key, *then)

    def placed(self, frame: Any) -> tuple[Any, Path]:
        """Write a frame to the folder, and return it as it is read from there, and where it is."""
        place = self._next()
        with spark_failures():
            frame.write.options(**BETWEEN).parquet(address_of(place))
            return self.spark.read.schema(frame.schema).parquet(address_of(place)), place

    def released(
        self, frame: Any, parts: Callable[[Path], Task], schema: Any, n_records: int
    ) -> Any:
        """Have parts of a release written where they stay until the process ends, and read them.

        Raises
        ------
        EngineError
            If they hold another number of records than they must.
        """
        place = _made(self._folder)
        weakref.finalize(self.spark, shutil.rmtree, place, ignore_errors=True)
        place /= "data"
        with _writing():
            place.mkdir(mode=0o700)
        counted = self.fetched(self.mapped(frame, parts(place), PART))["count"]
        if counted.to_numpy().sum() != n_records or n_records_of(place) != n_records:
            raise EngineError(
                "spark",
                "the release has another number of records than it must have",
                "nothing is released; please report this",
            )
        with spark_failures():
            return self.spark.read.schema(schema).parquet(address_of(place))

    def handed_over(self, columns: Mapping[int, pa.RecordBatch]) -> Path:
        """Give workers columns of this process, each in a file of its number in a folder.

        No plan shows what is in a file.
        """
        place = self._next()
        with _writing():
            place.mkdir(mode=0o700)
            for number, column in columns.items():
                (place / f"{number}").write_bytes(chunks.packed(column))
        return place

    def fetched(self, frame: Any) -> pa.Table:
        """Take a frame of cluster summaries into this process: through files, none too large."""
        return self.read(self.placed(frame)[1], frame.columns)

    def read(self, place: Path, columns: Sequence[str]) -> pa.Table:
        """Read columns that were written: what is known of each run or bucket, and no value."""
        with spark_failures():
            return pyarrow.parquet.read_table(place, columns=[*columns])

    def end(self) -> None:
        """Remove all but what was released; keys first, so that nothing is drawn again.

        It comes by itself where nothing holds this any more, and as the process ends.
        """
        self._end()

    def _next(self) -> Path:
        return self._work / f"{next(self._numbers)}"


def _removed(keys: KeyFiles, work: Path) -> None:
    keys.destroy()
    shutil.rmtree(work, ignore_errors=True)


def _made(folder: str | Path | None) -> Path:
    with _writing():
        return Path(tempfile.mkdtemp(prefix="microveil-", dir=folder)).absolute()


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise EngineError(
            "scratch", "the folder for scratch files cannot be written", "name another"
        ) from None


@contextmanager
def spark_failures() -> Iterator[None]:
    """Word what goes wrong in Spark without its own message, which may hold a value.

    >>> with spark_failures():
    ...     raise RuntimeError("a value")
    Traceback (most recent call last):
    microveil.errors.EngineError: spark: a step failed in Spark (RuntimeError); ...
    """
    failed: str | None = None
    try:
        yield
    except Exception as error:  # noqa: BLE001 -- Spark's own, Py4J's, gRPC's
        failed = type(error).__name__
    if failed is not None:
        raise EngineError(
            "spark",
            f"a step failed in Spark ({failed})",
            "see Spark's own log, which may show values of the table; microveil must be installed "
            "wherever executors run",
        )


def lost_records() -> EngineError:
    """Word that a step saw other records than one before it."""
    return EngineError(
        "spark",
        "records were lost or counted twice between two steps",
        "see that nothing else writes to the scratch folder",
    )
