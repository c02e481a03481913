"""Memory: what a table takes, forecast before it is read or protected, and what the machine has.

Measured was the growth of the peak of the resident set (CPython 3.11, x86-64) on tables of 10^5
and 10^6 records of 5 or 10 attributes: factors are above it, and by less than two.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any

from microveil.errors import DataError, FileError, RequestError

# Bytes for a cell of a file, beside its bytes: its value as the readers pass it on (measured: 8 of
# whole numbers in Parquet to 21 of text), and as pyreadstat does (35).
CELL, STATISTICAL = 24, 40
# Bytes for a value of an attribute: by methods that take attributes one by one (measured: 22 of
# dp-um to 39 of record-dp), and by those that take records together, or categories (50 of pram, 56
# of mdav).
APART, TOGETHER = 40, 64
# And for a value of a file that is read whole: to hold it, to compare the release with it, and to
# link a sample.
OF_FILE = CELL + 65
# What the program takes with its libraries, the least that may be allowed with them, and what
# nobody has; sizes by their names.
LIBRARIES, LEAST_MEMORY, MOST_MEMORY = 250_000_000, 450_000_000, 1 << 60
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "B": 1}
# Of the memory that is free so much is taken where nothing else is asked for.
SAFE = 0.8

_MEMORY, _SIZE = Path("/proc/meminfo"), Path("/proc/self/statm")
_GROUPS, _OWN_GROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
# Where a group's limit, what it takes, and what of that is given back at need are, in version 2
# and 1; a limit from here on is none.
_VERSION_2 = ("memory.max", "memory.current", "inactive_file")
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_UNLIMITED = 1 << 60


def to_read(size: int, cells: int, each: int = CELL) -> int:
    """Forecast how many bytes a table takes while so many bytes of its file are read."""
    return size + each * cells


def to_protect(
    n_records: int, n_attributes: int, *, one_by_one: bool, from_file: bool = False
) -> int:
    """Forecast how many bytes protecting attributes takes that are at hand together."""
    each = (APART if one_by_one else TOGETHER) + (OF_FILE if from_file else 0)
    return n_records * n_attributes * each


def columns_at_once(n_records: int, asked: int | None) -> int | None:
    """Return how many columns fit into memory, each by itself; None where nobody says."""
    allowed = allowed_memory(asked)
    return None if allowed is None else max(1, allowed // to_protect(n_records, 1, one_by_one=True))


def check_protecting(
    n_records: int, n_attributes: int, asked: int | None, *, one_by_one: bool, is_lazy: bool
) -> None:
    """Refuse to protect what does not fit into memory, with what is needed and what would do."""
    at_hand = 1 if one_by_one and is_lazy else n_attributes
    needed, allowed = to_protect(n_records, at_hand, one_by_one=one_by_one), allowed_memory(asked)
    if allowed is None or needed <= allowed:
        return
    fitting = allowed // to_protect(n_records, 1, one_by_one=one_by_one)
    remedies = {
        "choose a method that takes attributes one by one, dp-um for example": not one_by_one,
        "pass a lazy frame, whose columns wait on the disk: pl.scan_parquet(...)": not is_lazy,
        f"name at most {fitting} of the {n_attributes} columns (--attributes)": 0
        < fitting
        < at_hand,
        "allow more (--memory)": bool(asked),
        "use a machine with more memory": True,
    }
    raise DataError(
        "table",
        _rule(f"protecting {n_attributes} columns of {n_records} records", needed, allowed),
        ", or ".join(remedy for remedy, is_one in remedies.items() if is_one),
    )


def check_held(n_records: int, n_columns: int) -> None:
    """Refuse to hold a lazy table that does not fit into the memory that is free."""
    needed, free = to_read(0, n_records * n_columns), free_memory()
    if free is not None and needed > free:
        raise DataError(
            "table",
            _rule(f"to hold {n_columns} columns of {n_records} records", needed, free),
            "write Parquet or CSV, which is written some records after others",
        )


def check_reading(path: Path, size: int, cells: int = 0, each: int = CELL) -> None:
    """Refuse a file whose table does not fit into the memory that is free; see `to_read`."""
    needed, free = to_read(size, cells, each), free_memory()
    if free is not None and needed > free:
        raise FileError(
            f"{path}",
            _rule("reading it", needed, free),
            "leave columns out of the file that the release does without, or use a machine with "
            "more memory",
        )


def bytes_of(given: Any) -> int:
    """Read how much memory may be taken, in bytes; refuse less than anything takes."""
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
    """Return how many bytes may be taken beside the libraries; None where nobody knows."""
    if asked is not None:
        return asked - LIBRARIES
    free = free_memory()
    return None if free is None else int(free * SAFE)


def free_memory() -> int | None:
    """Return how many bytes this process may still take; None where the system does not say.

    The least of what the machine has, what is left to the group of processes that this one is in
    (a container's limit), and what is left of its own address space.
    """
    found = [*_of_groups()]
    try:
        available = _MEMORY.read_text("ascii").partition("MemAvailable:")[2]
        found.append(1024 * int(available.split()[0]))
    except (OSError, ValueError, IndexError):
        # No POSIX system, or one without the names.
        with suppress(AttributeError, OSError, ValueError):
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ImportError, OSError, ValueError):
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            taken = int(_SIZE.read_text("ascii").split()[0]) * resource.getpagesize()
            found.append(most - taken)
    return max(0, min(found)) if found else None


def _rule(what: str, needed: int, free: int) -> str:
    return f"{what} takes about {_in_words(needed)} of memory, and {_in_words(free)} can be had"


def _in_words(size: int) -> str:
    """Write a number of bytes."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _of_groups() -> Iterator[int]:
    """Yield what is left to each group that this process is in, the outer ones included."""
    with suppress(OSError, ValueError):
        for line in _OWN_GROUP.read_text().splitlines():
            _, controllers, name = line.split(":", 2)
            if controllers and "memory" not in controllers.split(","):
                continue
            root = _GROUPS / "memory" if controllers else _GROUPS
            limit, taken, given_back = _VERSION_1 if controllers else _VERSION_2
            # A container may see its own group as the root, by a name that it has outside.
            for group in accumulate(filter(None, name.split("/")), Path.joinpath, initial=root):
                with suppress(OSError, ValueError, IndexError):  # "max" is no number
                    most = int((group / limit).read_text("ascii"))
                    if most >= _UNLIMITED:
                        continue  # what it takes limits nothing, and is long to sum up
                    used = int((group / taken).read_text("ascii"))
                    statistics = "\n" + (group / "memory.stat").read_text("ascii")
                    cached = statistics.partition(f"\n{given_back} ")[2].split()[0]
                    yield most - used + int(cached)
