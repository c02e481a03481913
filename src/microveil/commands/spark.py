"""A Parquet file or a folder of them, protected by Spark: what the command line does with it."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from microveil.commands.asking import with_names_resolved
from microveil.commands.custodians import kept_of_recipe
from microveil.commands.named_values import with_named_values
from microveil.engines.base import Engine
from microveil.errors import EngineError, FileError
from microveil.files.formats import files_of_folder
from microveil.files.parquet_folder import check_parts
from microveil.files.parts import address_of, digest_of_parts
from microveil.protect import Findings, ReleaseFindings, draw, examined_plan, released
from microveil.release import Release
from microveil.release.recipe import merged, read_recipe
from microveil.release.release import refuse_measurements

__all__ = ["protect_in_spark"]

# Of a release that stays in Spark.
NOT_LINKED = "the records are in Spark"
NO_REPORT = "No custodian's report was written: the records are in Spark."


@contextmanager
def _no_word_of_pandas() -> Iterator[None]:
    """PySpark warns of a pandas newer than it knows: nothing here goes through pandas."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        yield


@_no_word_of_pandas()
def protect_in_spark(
    path: str | Path,
    folder: str | Path,
    engine: Engine,
    arguments: Mapping[str, Any],
    *,
    recipe: str | Path | Mapping[str, Any] | None,
    overwrite: bool,
    ledger: str | Path | None,
    with_measurements: bool,
    progress: Callable[[str], None],
) -> Release:
    """Protect a table of Parquet files and write the release, as `protect_file` does.

    Parameters
    ----------
    path : str or Path
        A file, or a folder of them: here, and wherever executors run.
    folder : str or Path
    engine : Engine
        That of Spark.
    arguments : dict
        Of `protect`; those by column may be entries NAME=VALUES.
    recipe, overwrite, ledger, with_measurements, progress
        See `protect_file`.

    Raises
    ------
    MicroveilError
        If anything breaks a rule; nothing is written then.
    """
    from microveil.engines.spark_scratch import spark_failures
    from microveil.engines.spark_table import SparkFiles

    place = Path(path).absolute()
    files = files_of_folder(place) if place.is_dir() else [place]
    if not files or not all(file.is_file() and file.suffix == ".parquet" for file in files):
        raise FileError(
            f"{path}",
            "the engine of Spark reads a Parquet file, or a folder of them, and this is neither",
            "name one whose name ends in .parquet, or leave out the engine",
        )
    check_parts(files)  # Spark would take the columns of one, and leave out those of others
    spark = _session()
    with spark_failures():
        frame = spark.read.parquet(*(address_of(file) for file in files))
    asked = merged(
        {} if recipe is None else read_recipe(recipe), with_named_values(arguments, frame.columns)
    )
    with_names_resolved(asked, frame.columns)
    table = SparkFiles(frame=frame, files=tuple(file.as_posix() for file in files))
    try:
        planned, foreseen = examined_plan(table, asked, engine, progress)
        if with_measurements:
            refuse_measurements(
                planned.guarantee.method,
                is_synthetic=planned.guarantee.is_synthetic,
                is_seeded=planned.seed is not None,
            )
        drawn = draw(planned, engine, progress)
    finally:
        engine.end()
    release = released(
        planned,
        drawn,
        Findings(
            plan=foreseen,
            release=ReleaseFindings(linkage=None, not_linked=NOT_LINKED, worst=None, moved=()),
        ),
        notes=[NO_REPORT],
        input={"name": place.name, "sha256": digest_of_parts(files)},
        **kept_of_recipe(recipe, None),
    )
    release.write(
        folder,
        format="parquet",
        overwrite=overwrite,
        ledger=ledger,
        with_measurements=with_measurements,
        progress=progress,
    )
    return release


def _session() -> Any:
    """Begin the session that Spark's own settings describe, or take the one that there is.

    Raises
    ------
    EngineError
        If PySpark is not installed, or cannot begin one.
    """
    from microveil.engines.spark_daemon import DAEMON

    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise EngineError(
            "engine",
            "the engine of Spark needs PySpark, which is not installed",
            "install it with: pip install 'microveil[spark]'; it needs Java 17, too",
        ) from None
    builder = SparkSession.builder.appName("microveil")
    for name, value in DAEMON.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:  # noqa: BLE001 -- Spark's own, Py4J's, gRPC's
        raise EngineError(
            "engine",
            f"no session of Spark could be begun ({type(error).__name__})",
            "see that Java 17 is installed (java -version, or JAVA_HOME), and that the settings of "
            "Spark name a master that can be reached",
        ) from None
    _work_with_this_python(session)
    return session


def _work_with_this_python(session: Any) -> None:
    """Have workers of this machine use the Python that has microveil, where none is named.

    Spark takes the first python3 of the path: that of a virtual environment is not, unless it was
    activated. Elsewhere workers have a Python of their own.
    """
    from pyspark.sql.utils import is_remote

    if is_remote() or "PYSPARK_PYTHON" in os.environ:
        return
    if session.sparkContext.master.startswith("local"):
        session.sparkContext.pythonExec = sys.executable
