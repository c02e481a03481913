"""Memory: what a table takes, forecast before it is read or protected, and what the machine has.

The factors were measured as the growth of the peak of the resident set (VmHWM of Linux, CPython
3.11, x86-64) on tables of 10^5 and 10^6 records and 5 or 10 attributes, of whole numbers,
decimals and short text, from CSV and Parquet: each is above what was measured, and by less than
two.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

from microveil.errors import DataError, FileError, RequestError

__all__ = [
    "APART",
    "LINKED",
    "STATISTICAL",
    "TOGETHER",
    "allowed_memory",
    "bytes_of",
    "check_allowed",
    "check_column",
    "check_protecting",
    "check_reading",
    "free_memory",
    "to_protect",
    "to_read",
]

# Bytes for a cell of a file, beside its bytes: its value as the readers pass it on (measured: 8 of
# whole numbers in Parquet to 18 of text), and as pyreadstat does (35).
CELL, STATISTICAL = 18, 40
# Bytes for a value of an attribute: by methods that take attributes one by one (measured: 22 of
# dp-um to 39 of record-dp), and by those that take records together, or categories (50 of pram, 56
# of mdav).
APART, TOGETHER = 40, 64
# And for a release that is written: to compare its distributions, and to link a sample as well.
COMPARED, LINKED = 28, 65
# What anything takes with its libraries, and what nobody has; by the names of their sizes.
LEAST_MEMORY, MOST_MEMORY = 450_000_000, 1 << 60
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "B": 1}
# Of the memory that is free so much is taken where nothing else is asked for.
SAFE = 0.8
# Whatever the table.
ALWAYS = 40_000_000

_MEMORY, _SIZE = Path("/proc/meminfo"), Path("/proc/self/statm")
_GROUPS, _OWN_GROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
# Where a group's limit, what it takes, and what of that is given back at need are, in version 2
# and 1; a limit from here on is none.
_VERSION_2 = ("memory.max", "memory.current", "inactive_file")
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_UNLIMITED = 1 << 60


def to_read(size: int, cells: int, each: int = CELL) -> int:
    """Forecast how many bytes a file's table takes while it is read.

    Parameters
    ----------
    size : int
        Bytes of the file that are still to be held.
    cells : int
        Of the table.
    each : int
        Bytes for a cell, `CELL` or `STATISTICAL`.

    Examples
    --------
    >>> to_read(30_000_000, 5_000_000)
    120000000
    """
    return size + each * cells


def to_protect(
    n_records: int, n_attributes: int, each: int, *, written: bool = False, linked: bool = False
) -> int:
    """Forecast how many bytes protecting a table takes beside it.

    Parameters
    ----------
    n_records, n_attributes : int
    each : int
        Bytes that the method takes for a value, `APART` or `TOGETHER`.
    written, linked : bool
        Whether the release is compared with its original and written; whether it is linked, too.

    Examples
    --------
    >>> to_protect(1_000_000, 5, APART)
    240000000
    """
    beside = LINKED if linked else COMPARED if written else 0
    return ALWAYS + n_records * n_attributes * (each + beside)


def check_reading(path: Path, size: int, cells: int = 0, each: int = CELL) -> None:
    """Refuse a file whose table does not fit into the memory that is free.

    Parameters
    ----------
    path : Path
    size, cells, each : int
        See `to_read`; no cells where they are not known yet.

    Raises
    ------
    FileError
        With what is needed and what is there.
    """
    needed, free = to_read(size, cells, each), free_memory()
    if free is not None and needed > free:
        raise FileError(
            f"{path}",
            _rule("reading it", needed, free),
            "leave columns out of the file that the release does without, or use a machine with "
            "more memory",
        )


def check_protecting(
    n_records: int,
    n_attributes: int,
    each: int,
    *,
    written: bool = False,
    linked: bool = False,
) -> None:
    """Refuse to protect what does not fit into the memory that is free.

    Parameters
    ----------
    n_records, n_attributes, each, written, linked
        See `to_protect`.

    Raises
    ------
    DataError
        With what is needed, what is there, and what would fit.
    """
    free = free_memory()
    if free is None:
        return
    needed = to_protect(n_records, n_attributes, each, written=written, linked=linked)
    if needed <= free:
        return
    remedies = []
    of_one = to_protect(n_records, 1, each, written=written, linked=linked) - ALWAYS
    if (fitting := (free - ALWAYS) // max(1, of_one)) > 0:
        remedies.append(f"name at most {fitting} of the {n_attributes} columns (--attributes)")
    if linked and to_protect(n_records, n_attributes, each, written=True) <= free:
        remedies.append("leave out the linkage (--no-linkage)")
    if (
        each > APART
        and to_protect(n_records, n_attributes, APART, written=written, linked=linked) <= free
    ):
        remedies.append("choose a method that takes attributes one by one, laplace for example")
    remedies.append("use a machine with more memory")
    what = f"protecting {n_attributes} columns of {n_records} records"
    raise DataError("table", _rule(what, needed, free), ", or ".join(remedies))


def check_column(
    n_records: int, needed: int, allowed: int | None, whole: tuple[str, str] | None = None
) -> None:
    """Refuse to work on a column that does not fit into the memory that is allowed.

    Parameters
    ----------
    n_records : int
    needed : int
        Bytes that the process takes with it at hand.
    allowed : int or None
        Bytes; None where nobody says.
    whole : (str, str), optional
        What has to have all of it in memory, and what would do without.

    Raises
    ------
    DataError
        With what is needed and what is allowed.
    """
    because, instead = "", "choose a larger k"
    if whole is not None:
        because, instead = f": {whole[0]} has to have all of it at hand", whole[1]
    work = f"work on one column of {n_records} records"
    check_allowed(work, needed, allowed, instead, because)


def check_allowed(
    work: str, needed: int, allowed: int | None, instead: str, because: str = ""
) -> None:
    """Refuse any work as `check_column` does that on a column; ``instead`` is what would do."""
    if allowed is None or needed <= allowed:
        return
    raise DataError(
        "table",
        f"{work} takes about {_in_words(needed)} of memory, and {_in_words(allowed)} are allowed"
        f"{because}",
        f"allow more (--memory), {instead}, or use a machine that has more",
    )


def bytes_of(given: Any) -> int:
    """Read how much memory may be taken, in bytes.

    Raises
    ------
    RequestError
        If it is no size, or less than anything takes.

    >>> bytes_of("2GB"), bytes_of("500 MB"), bytes_of(1_000_000_000)
    (2000000000, 500000000, 1000000000)
    """
    number, unit = given, "B"
    if isinstance(given, str):
        text = given.strip().upper()
        unit = next((end for end in UNITS if text.endswith(end)), "B")
        number = text.removesuffix(unit).strip()
    try:
        size = float(number) * UNITS[unit]
    except (TypeError, ValueError):
        size = 0
    if isinstance(given, bool) or not LEAST_MEMORY <= size <= MOST_MEMORY:
        raise RequestError(
            "memory",
            f"it is a size of {LEAST_MEMORY // 10**6} MB or more, in bytes, MB or GB",
            "pass for example memory='2GB' (--memory 2GB)",
        )
    return int(size)


def allowed_memory(asked: int | None) -> int | None:
    """Return how many bytes may be taken: what was asked for, or the greater part of what is free.

    >>> allowed_memory(1_000_000_000)
    1000000000
    """
    if asked is not None:
        return asked
    free = free_memory()
    return None if free is None else int(free * SAFE)


def free_memory() -> int | None:
    """Return how many bytes this process may still take; None where the system does not say.

    The least of what the machine has, what is left to the group of processes that this one is in
    (a container's limit), and what is left of its own address space.
    """
    found = [*_of_machine(), *_of_groups(), *_of_process()]
    return max(0, min(found)) if found else None


def _rule(what: str, needed: int, free: int) -> str:
    return f"{what} takes about {_in_words(needed)} of memory, and {_in_words(free)} are free"


def _in_words(size: int) -> str:
    """Write a number of bytes.

    >>> _in_words(12_345_678_901), _in_words(20_000_000)
    ('12.3 GB', '20 MB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _of_machine() -> Iterator[int]:
    with suppress(OSError, ValueError, StopIteration):
        lines = _MEMORY.read_text("ascii").splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable"))
        yield 1024 * int(line.split()[1])
        return
    with suppress(AttributeError, OSError, ValueError):  # no POSIX system, or one without the names
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_groups() -> Iterator[int]:
    """Yield what is left to each group that this process is in, the outer ones included."""
    with suppress(OSError, ValueError):
        for line in _OWN_GROUP.read_text().splitlines():
            _, controllers, name = line.split(":", 2)
            if not controllers:
                yield from _left(_GROUPS, name, _VERSION_2)
            elif "memory" in controllers.split(","):
                yield from _left(_GROUPS / "memory", name, _VERSION_1)


def _left(root: Path, name: str, files: tuple[str, str, str]) -> Iterator[int]:
    limit, taken, given_back = files
    # A container may see its own group as the root, by a name that it has outside.
    for group in accumulate(filter(None, name.split("/")), Path.joinpath, initial=root):
        with suppress(OSError, ValueError, StopIteration):  # "max" is no number
            most = int((group / limit).read_text("ascii"))
            if most >= _UNLIMITED:
                continue  # what it takes limits nothing, and is long to sum up
            used = int((group / taken).read_text("ascii"))
            lines = (group / "memory.stat").read_text("ascii").splitlines()
            cached = next(line for line in lines if line.startswith(f"{given_back} "))
            yield most - used + int(cached.split()[1])


def _of_process() -> Iterator[int]:
    with suppress(ImportError, OSError, ValueError):
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            taken = int(_SIZE.read_text("ascii").split()[0]) * resource.getpagesize()
            yield most - taken
