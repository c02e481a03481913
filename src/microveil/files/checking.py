"""The check of a table that was read, common to all formats: what does not fit its column.

All of it is refused at once, by column and line, each with its remedy and none with a value.
"""

import errno
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import polars as pl

from microveil.errors import FileError, MicroveilError, one_error

_SHOWN = 20  # of a file whose columns are many

Item = TypeVar("Item")
Found = TypeVar("Found")


class KnownError(Exception):
    """An error of ours that is caught where its place is known."""


@contextmanager
def in_our_words(refused: Callable[[BaseException], Exception]) -> Iterator[None]:
    """Raise an error of ours in place of a library's, whose words may hold a value."""
    try:
        yield
    except (MicroveilError, KnownError, MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 -- a panic of polars is no Exception
        raise refused(error) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """The first value of a column that does not fit its type: its record, from 0, rule, remedy.

    Its index is -1 where the column as a whole is meant.
    """

    index: int
    rule: str
    remedy: str


def first_true(mask: pl.Series) -> int | None:
    """Return the place of the first true value."""
    return mask.arg_max() if mask.any() else None


def within(fits: pl.Series, rule: str, remedy: str = "correct it") -> Misfit | None:
    """Return the first value that is known not to fit."""
    index = first_true(~fits)
    return None if index is None else Misfit(index=index, rule=rule, remedy=remedy)


def fitting(
    path: Path,
    names: Sequence[str],
    found: Mapping[str, Found | Misfit],
    line_of: Callable[[int], str],
) -> dict[str, Found]:
    """Return what was found of each column, or refuse the file with the first misfit of each."""
    misfits = sorted(
        (own.index, names.index(name) + 1, own.rule, own.remedy)
        for name, own in found.items()
        if isinstance(own, Misfit)
    )
    if not misfits:
        return cast("dict[str, Found]", found)
    refused = [
        FileError(f"{path}{f', {line_of(at)}' if at >= 0 else ''}, column {number}", rule, remedy)
        for at, number, rule, remedy in misfits[:_SHOWN]
    ]
    if more := len(misfits) - len(refused):
        rule = f"values must fit their columns, and those of {more} more columns do not"
        refused.append(FileError(str(path), rule, "correct the others first"))
    raise one_error(refused)


def each(work: Callable[[Item], Found], items: Iterable[Item]) -> list[Found]:
    """Work on each column; what is refused of several is refused together."""
    done: list[Found] = []
    refused: list[MicroveilError] = []
    for item in items:
        try:
            done.append(work(item))
        except FileError as error:
            refused += error.problems
    if refused:
        raise one_error(refused)
    return done


def broken(
    path: Path,
    title: str,
    error: BaseException | None = None,
    remedy: str = "export the table again; name it .csv if it is text",
) -> FileError:
    """Return the error about a file that cannot be read, or that may not be opened by a limit."""
    # polars tells in words that the process may open no more files.
    is_limit = isinstance(error, OSError) and error.errno == errno.EMFILE
    signs = ("TooManyOpenFiles", f"(os error {errno.EMFILE})")
    if is_limit or any(sign in str(error) for sign in signs):
        rule = "the process must be allowed one more open file, and has as many open as it may"
        return FileError(str(path), rule, "raise the limit (ulimit -n), or close other files")
    rule = f"the file must be {title}, and it is broken or something else"
    return FileError(str(path), rule, remedy)


def check_filled(path: Path, raw: bytes) -> None:
    """Refuse a file without a byte."""
    if not raw:
        rule = "the file must hold a table, and it is empty"
        raise FileError(str(path), rule, "check that the table was exported")


def check_records(path: Path, n_records: int) -> None:
    """Refuse a table without records."""
    if n_records == 0:
        rule = "the file must hold records, and there are none"
        raise FileError(str(path), rule, "check that the table was exported")


def of_extra(module: str, *, extra: str, place: str, purpose: str) -> Any:
    """Import a library that not every installation has."""
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        rule = f"{purpose} by {name}, which is not installed"
        raise FileError(place, rule, f"install it with: pip install 'microveil[{extra}]'") from None
