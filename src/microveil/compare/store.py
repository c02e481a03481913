"""The folder of a comparison: what was done is there, whole, whenever the process dies.

Results are written to a file of another name, brought to the disk, and then take the place of
the earlier ones by one rename. A lock that the system lets go of with the process keeps two
from writing at once. The folder is the custodian's: only its owner can open it, and an empty
one that was there is made so.
"""

import fcntl
import io
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars

from microveil.compare.estimators import UNKNOWN
from microveil.compare.measures import Measures
from microveil.compare.rows import as_table, schema_of
from microveil.errors import FileError

__all__ = ["DESCRIPTION", "RESULTS", "Store", "opened", "written_whole"]

RESULTS, DESCRIPTION, LOCK = "results.parquet", "comparison.json", ".lock"
# Results are written so often, in seconds, unless writing takes more than this part of the time.
EVERY, PART_OF_TIME = 2.0, 0.05


class Store:
    """The results in a folder, and those to come.

    Parameters
    ----------
    folder : Path
    rows : list of dict
        Those that are there already.
    measures : Measures
        What a row has.
    """

    def __init__(self, folder: Path, rows: list[dict[str, Any]], measures: Measures) -> None:
        self.folder = folder
        self.rows = rows
        self._measures = measures
        self._due = time.monotonic() + EVERY

    def add(self, row: Mapping[str, Any]) -> None:
        """Take a row, and write all of them if it is time."""
        self.rows.append(dict(row))
        if time.monotonic() >= self._due:
            self.save()

    def save(self) -> None:
        """Write all rows."""
        start = time.monotonic()
        contents = io.BytesIO()
        as_table(self.rows, self._measures).write_parquet(contents)
        written_whole(
            self.folder / RESULTS,
            lambda path: path.write_bytes(contents.getvalue()),
            private=True,
        )
        end = time.monotonic()
        self._due = end + max(EVERY, (end - start) / PART_OF_TIME)


@contextmanager
def opened(folder: Path, description: Mapping[str, Any]) -> Iterator[Store]:
    """Open a folder for a comparison, new or begun earlier, and hold its lock.

    Parameters
    ----------
    folder : Path
        Made if it is not there; only its owner can open it then, also if it was there, empty.
    description : dict
        What is compared, as plain values: one that was begun must be of the same.

    Raises
    ------
    FileError
        If the folder cannot be used, holds something else, or another process writes there.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if described(folder) is None:
            _check_empty(folder)  # before there is a lock in what is not ours
            folder.chmod(0o700)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _refused(folder, error) from None
    try:
        _hold(lock, folder)
        begun = described(folder)
        if begun is None:
            _check_empty(folder)
            text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
            written_whole(
                folder / DESCRIPTION,
                lambda path: path.write_text(text, encoding="utf-8"),
                private=True,
            )
        else:
            _check_same(folder, begun, description)
        measures = Measures.of(description)
        yield Store(folder, _results(folder, measures), measures)
    finally:
        os.close(lock)  # and with it goes the lock


def described(folder: Path) -> dict[str, Any] | None:
    """Return what a folder says it compares; None where no comparison was begun there.

    Raises
    ------
    FileError
        If it cannot be read.
    """
    path = folder / DESCRIPTION
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        description = None
    if not isinstance(description, dict) or not isinstance(description.get("measures", {}), dict):
        raise FileError(
            str(path), "it must describe a comparison", "choose another folder, or empty this one"
        )
    return description


def written_whole(path: Path, write: Callable[[Path], Any], *, private: bool = False) -> None:
    """Let a file appear, or take the place of an earlier one, whole.

    Parameters
    ----------
    path : Path
    write : callable
        Writes the file under the name it is given.
    private : bool
        Whether only its owner can read it; by default what the system gives every new file.

    Raises
    ------
    FileError
        If the system refuses.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        if private:
            part.unlink(missing_ok=True)
            part.touch(mode=0o600)
        write(part)
        _sync(part)
        part.replace(path)
        _sync(path.parent)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise _refused(path, error) from None


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _hold(lock: int, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileError(
            str(folder),
            "another process is writing a comparison there",
            "wait for it, or choose another folder",
        ) from None


def _check_empty(folder: Path) -> None:
    ours = (LOCK, f".{DESCRIPTION}.part")
    if any(entry.name not in ours for entry in folder.iterdir()):
        raise FileError(
            str(folder),
            "it must be empty or hold a comparison, and it holds something else",
            "choose another folder",
        )


def _check_same(folder: Path, begun: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    one, other = (_measures(description) for description in (begun, asked))
    if one != other and str(other.get("estimator_digest")).startswith(UNKNOWN):
        raise FileError(
            str(folder),
            "a comparison was begun there, and this classifier holds what cannot be known again",
            "choose another folder, or pass a classifier whose settings are plain values, arrays "
            "and functions",
        )
    for name in (*asked, *begun):
        same = one == other if name == "measures" else begun.get(name) == asked.get(name)
        if not same:
            raise FileError(
                str(folder),
                f"a comparison was begun there that differs in {_IN_WORDS.get(name, name)}",
                "ask for the same to continue it, or choose another folder",
            )


def _measures(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is measured; the classifier goes by its digest and not by what is shown."""
    return {
        name: value
        for name, value in description.get("measures", {}).items()
        if name != "estimator"
    }


_IN_WORDS = {
    "schema": "the format of its results",
    "microveil": "the version of microveil",
    "k": "its list of k",
    "epsilon": "its list of epsilon",
    "methods": "its methods",
    "runs": "its number of runs",
    "seed": "its seed",
    "measures": "what it measures",
    "arguments": "its other arguments",
    "read_from_data": "what was read from the data",
    "attributes": "its attributes",
    "n_records": "its table",
    "table": "its table, or in what was declared of its columns",
}


def _results(folder: Path, measures: Measures) -> list[dict[str, Any]]:
    path = folder / RESULTS
    if not path.exists():
        return []
    try:
        table = polars.read_parquet(path)
    except (OSError, polars.exceptions.PolarsError):
        table = polars.DataFrame()
    if dict(table.schema) != schema_of(measures):
        raise FileError(
            str(path), "it must hold the results of a comparison", "remove it to begin anew"
        )
    return table.to_dicts()


def _refused(place: Path, error: OSError) -> FileError:
    reason = os.strerror(error.errno) if error.errno else "unknown reason"
    return FileError(
        str(place),
        f"it must be writable, and the system says: {reason}",
        "check the folder around it, its rights and the space left",
    )
