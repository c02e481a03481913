"""A Parquet file or a folder of them, protected by Spark: what the command line does with it."""

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from microveil.commands.custodians import kept_of_recipe
from microveil.commands.naming import with_named_values
from microveil.errors import EngineError, FileError, RequestError
from microveil.files.formats import files_of_folder
from microveil.files.parquet_format import address_of, check_parts, digest_of_parts
from microveil.protect.declarations import with_codebook
from microveil.protect.recipe import read_recipe
from microveil.protect.release import Release
from microveil.protect.settling import merged

# What is found of a release where nothing is compared.
FINDINGS: dict[str, Any] = {
    "linkage": None,
    "not_linked": "the records are in Spark",
    "worst_attribute": None,
    "moved_values": [],
}
NO_REPORT = "No custodian's report was written: the records are in Spark."


def release_in_spark(
    path: str | Path,
    *,
    recipe: str | Path | Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda _step: None,
    **arguments: Any,
) -> Release:
    """Protect a table of Parquet files, which are here and wherever executors run."""
    of_recipe = {} if recipe is None else read_recipe(recipe)
    if arguments.get("accept") or of_recipe.get("accept"):
        raise RequestError(
            "accept",
            "Spark does not pass on the code lists of a file",
            "declare the domains in the recipe, or pass a codebook that holds them",
        )
    from microveil.protect.spark.protecting import SparkFiles, protect_in_spark
    from microveil.protect.spark.scratch import spark_failures

    place = Path(path).absolute()
    files = files_of_folder(place) if place.is_dir() else [place]
    if not files or not all(file.is_file() and file.suffix == ".parquet" for file in files):
        raise FileError(
            f"{path}",
            "Spark reads a Parquet file, or a folder of them, and this is neither",
            "name one whose name ends in .parquet, or leave out Spark",
        )
    check_parts(files)  # Spark would take the columns of one, and leave out those of others
    with warnings.catch_warnings():
        # PySpark warns of a pandas newer than it knows: nothing here goes through pandas.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        progress("beginning a session of Spark")
        session = _session()
        with spark_failures():
            frame = session.read.parquet(*(address_of(file) for file in files))
        asked = merged(of_recipe, with_named_values(arguments, frame.columns))
        asked = with_codebook(asked, frame.columns)
        progress("protecting in Spark")
        return protect_in_spark(
            SparkFiles(frame=frame, files=tuple(file.as_posix() for file in files)),
            asked,
            notes=[NO_REPORT],
            findings=FINDINGS,
            input={"name": place.name, "sha256": digest_of_parts(files)},
            **kept_of_recipe(recipe, None),
        )


def _session() -> Any:
    """Begin the session that Spark's own settings describe, or take the one that there is."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise EngineError(
            "spark",
            "PySpark is not installed",
            "install it with: pip install 'microveil[spark]'; it needs Java 17, too",
        ) from None
    # As every reader has moments, in the place of a type of old.
    moments = "spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS"
    try:
        session = SparkSession.builder.appName("microveil").config(*moments).getOrCreate()
    except Exception as error:  # noqa: BLE001 -- Spark's own, Py4J's, gRPC's
        raise EngineError(
            "spark",
            f"no session of Spark could be begun ({type(error).__name__})",
            "see that Java 17 is installed (java -version, or JAVA_HOME), and that the settings of "
            "Spark name a master that can be reached",
        ) from None
    # Spark takes the first python3 of the path: on this machine it need not be the one that has
    # microveil. Elsewhere workers have a Python of their own.
    is_here = str(session.sparkContext.master).startswith("local")
    if is_here and "PYSPARK_PYTHON" not in os.environ:
        session.sparkContext.pythonExec = sys.executable
    return session
