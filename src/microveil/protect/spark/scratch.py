"""What Spark writes between two steps and as a release: once, and whole before anything reads it.

Spark may carry out a task again, for one that failed or was slow. What two attempts make of the
same records need not be equal, so a step that draws, or that numbers records, is written by Spark's
committer: it takes the output of one attempt of each task, and shows it when all tasks are done.
Every later step reads what was written.
"""

import itertools
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pyarrow.parquet

from microveil.errors import EngineError
from microveil.files.parquet_format import address_of

# The settings by which the files of one attempt of a task are renamed when the whole job is done.
# A setting that has no value here stands at its default, which is the same.
COMMITTER = {
    "spark.sql.sources.commitProtocolClass": (
        "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
    ),
    "spark.sql.parquet.output.committer.class": "org.apache.parquet.hadoop.ParquetOutputCommitter",
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "spark.hadoop.outputCommitCoordination.enabled": "true",
}


# Rows that the driver holds at a time, of counts that may be too many for it.
PIECE = 1 << 20


class Scratch:
    """A folder of mode 0700 that this process and all executors of a session see."""

    def __init__(self, spark: Any, folder: str | Path | None) -> None:
        check_committer(spark)
        if folder is None and not str(spark.conf.get("spark.master", "")).startswith("local"):
            raise EngineError(
                "scratch",
                "executors may be on other machines, and what is written between two steps must be "
                "read by all",
                "name a folder that they share with this process: scratch='/shared/folder'",
            )
        self.spark, self._folder, self._work = spark, folder, _made(folder)
        self._numbers = itertools.count(1)
        self.end = weakref.finalize(self, shutil.rmtree, self._work, ignore_errors=True)

    def written(self, frame: Any) -> Any:
        """Write a frame once, and return it as it is read from there."""
        return self._written(frame, self._work / f"{next(self._numbers)}")

    def fetched(self, frame: Any) -> pa.Table:
        """Take counts or summaries into this process, through files: none is too large."""
        place = self._work / f"{next(self._numbers)}"
        self._written(frame, place)
        return pyarrow.parquet.read_table(place)

    def in_pieces(self, frame: Any) -> Iterator[polars.DataFrame]:
        """Take counts into this process, however many there are: some after others, in order."""
        place = self._work / f"{next(self._numbers)}"
        self._written(frame, place)
        held = polars.scan_parquet(sorted(place.glob("*.parquet")))
        for start in range(0, held.select(polars.len()).collect().item(), PIECE):
            yield held.slice(start, PIECE).collect()

    def released(self, frame: Any, n_records: int) -> Any:
        """Write a release once, where it stays until the process ends, and return it read."""
        place = _made(self._folder)
        remove = weakref.finalize(self.spark, shutil.rmtree, place, ignore_errors=True)
        try:
            found = self._written(frame, place / "data")
            files = (place / "data").glob("*.parquet")
            if sum(pyarrow.parquet.read_metadata(file).num_rows for file in files) != n_records:
                raise lost_records()
        except EngineError:
            remove()
            raise
        return found

    def _written(self, frame: Any, place: Path) -> Any:
        with spark_failures():
            frame.write.parquet(address_of(place))
            return self.spark.read.schema(frame.schema).parquet(address_of(place))


def check_committer(spark: Any) -> None:
    """Refuse a session whose committer may show what two attempts of a task wrote."""
    with spark_failures():
        found = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001 -- the one way
        settings = {name: found.get(name) for name in COMMITTER}
    for name, wanted in COMMITTER.items():
        if settings[name] not in (None, wanted):
            raise EngineError(
                "spark",
                f"the setting {name} may let two attempts of a task both show what they drew",
                f"set it to {wanted}, its default, and begin a new session",
            )


def _made(folder: str | Path | None) -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="microveil-", dir=folder)).absolute()
    except OSError:
        raise EngineError(
            "scratch", "the folder for scratch files cannot be written", "name another"
        ) from None


@contextmanager
def spark_failures() -> Iterator[None]:
    """Word what goes wrong in Spark without its own message, which may hold a value."""
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
        "nothing is released; see that nothing else writes to the scratch folder",
    )
