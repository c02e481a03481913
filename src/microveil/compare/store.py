"""The folder of a comparison: every run that was done is there, whole, whenever the process dies.

Runs are lines of a journal, which become the file of results at the end and when a comparison goes
on. A lock keeps two from writing at once. The folder is the custodian's: only its owner can open
it.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import polars

from microveil.compare.columns import Measures, as_table, schema_of
from microveil.compare.measuring import UNKNOWN
from microveil.errors import FileError, refused_by_system
from microveil.files.disk import check_name, locked, written_text, written_whole

RESULTS, DESCRIPTION, LOCK = "results.parquet", "comparison.json", ".lock"
JOURNAL = ".results.jsonl"
IN_WORDS = {
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

Row = dict[str, Any]


class Store:
    """The results in a folder, or in none, and those to come."""

    def __init__(self, folder: Path | None, measures: Measures) -> None:
        self._folder, self._measures = folder, measures
        self.rows: list[Row] = []
        if folder is None:
            return
        rows, journal = _results(folder / RESULTS, measures), folder / JOURNAL
        if journal.exists():
            # What is cut short behind the last line is a run that was not done.
            rows += map(json.loads, journal.read_text(encoding="utf-8").split("\n")[:-1])
        self.rows = [*{(row["configuration"], row.get("run")): row for row in rows}.values()]
        if journal.exists():
            self.save()

    def add(self, row: Row) -> None:
        """Take a row, which outlives the process from now on."""
        self.rows.append(row)
        if self._folder is None:
            return
        place = self._folder / JOURNAL
        try:
            place.touch(mode=0o600)
            with place.open("a", encoding="utf-8", newline="\n") as journal:
                journal.write(f"{json.dumps(row)}\n")
        except OSError as error:
            raise _refused(place, error) from None

    def save(self) -> None:
        """Write all rows as the file of results, which the journal then adds nothing to."""
        if self._folder is None:
            return
        table = as_table(self.rows, self._measures)
        written_whole(self._folder / RESULTS, table.write_parquet, private=True)
        (self._folder / JOURNAL).unlink(missing_ok=True)


def _results(path: Path, measures: Measures) -> list[Row]:
    if not path.exists():
        return []
    try:
        table = polars.read_parquet(path)
    except (OSError, polars.exceptions.PolarsError):
        table = polars.DataFrame()
    if dict(table.schema) != schema_of(measures):
        rule = "it must hold the results of a comparison"
        raise FileError(f"{path}", rule, "remove it to begin anew")
    return table.to_dicts()


@contextmanager
def opened(folder: Path | None, description: Mapping[str, Any]) -> Iterator[Store]:
    """Open a folder for a comparison, new or begun earlier with the same description; lock it."""
    if folder is None:
        yield Store(None, Measures.of(description))
        return
    check_name(folder)
    with ExitStack() as held:
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if described(folder) is None:
                _check_empty(folder)  # before there is a lock in what is not ours
                folder.chmod(0o700)
            held.enter_context(locked(folder / LOCK, wait=False))
        except TimeoutError:
            rule = "another process is writing a comparison there"
            raise FileError(str(folder), rule, "wait for it, or choose another folder") from None
        except OSError as error:
            raise _refused(folder, error) from None
        begun = described(folder)
        if begun is None:
            _check_empty(folder)
            written = json.dumps(description, indent=2, ensure_ascii=False)
            written_text(folder / DESCRIPTION, written)
        else:
            _check_same(folder, begun, description)
        yield Store(folder, Measures.of(description))


def described(folder: Path | None) -> dict[str, Any] | None:
    """Return what a folder says it compares; None where no comparison was begun there."""
    if folder is None:
        return None
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


def _check_empty(folder: Path) -> None:
    ours = (LOCK, f".{DESCRIPTION}.part")
    if any(entry.name not in ours for entry in folder.iterdir()):
        rule = "it must be empty or hold a comparison, and it holds something else"
        raise FileError(str(folder), rule, "choose another folder")


def _check_same(folder: Path, begun: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    one, other = (_measures(description) for description in (begun, asked))
    if one != other and str(other.get("estimator_digest")).startswith(UNKNOWN):
        raise FileError(
            str(folder),
            "a comparison was begun there, and this classifier holds what cannot be known again",
            "choose another folder, or pass a classifier whose settings are plain values, arrays "
            "and named functions",
        )
    for name in (*asked, *begun):
        same = one == other if name == "measures" else begun.get(name) == asked.get(name)
        if not same:
            rule = f"a comparison was begun there that differs in {IN_WORDS.get(name, name)}"
            remedy = "ask for the same to continue it, or choose another folder"
            raise FileError(str(folder), rule, remedy)


def _measures(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is measured; the classifier goes by its digest and not by what is shown."""
    found = dict(description.get("measures", {}))
    found.pop("estimator", None)
    return found


def _refused(place: Path, error: OSError) -> FileError:
    remedy = "check the folder around it, its rights and the space left"
    return refused_by_system(place, "it must be writable", error, remedy)
