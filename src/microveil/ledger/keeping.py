"""The ledger as a file: begun, read and written so that no line is lost.

Only its owner may read it (mode 0600, from the start). A lock of the system's is held while it
is read and while a line is added, so that of several processes each adds its own; the line is
on the disk before the release appears.
"""

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from microveil.errors import FileError, RequestError, stands_alone
from microveil.files.folders import rename_new
from microveil.ledger.books import LONGEST_HEAD, Ledger
from microveil.ledger.entries import Entry

__all__ = ["announce", "ledger_place", "read_ledger"]

NAME = "microveil-ledger.jsonl"
# What a folder holds that may be published, and what its custodian's holds.
PUBLISHED = ("guarantee.json", "guarantee.md")
CUSTODIANS = "manifest.json"


@stands_alone
def ledger_place(
    folder: str | Path, population: str | None, ledger: str | Path | None = None
) -> Path | None:
    """Say which file a release is to be recorded in, and refuse one that cannot be used.

    Parameters
    ----------
    folder : str or Path
        Where the release is to appear.
    population : str or None
        Without one nothing is recorded.
    ledger : str or Path, optional
        By default microveil-ledger.jsonl beside the folder.

    Returns
    -------
    Path or None
        None where nothing is to be recorded.

    Raises
    ------
    RequestError
        If there is a ledger and no population.
    FileError
        If the place lies within a release, or what is there is no ledger that can be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     ledger_place(Path(parent, "release"), "households 2025").name
    'microveil-ledger.jsonl'
    """
    if population is None:
        if ledger is None:
            return None
        raise RequestError(
            "ledger",
            "it counts the releases of a population, and none is named",
            "name it: population='...' (--population NAME), or leave the ledger out",
        )
    public = Path(os.path.abspath(folder))  # noqa: PTH100 - a link is refused, not followed
    place = Path(os.path.abspath(ledger or public.with_name(NAME)))  # noqa: PTH100
    _check_outside(place, public)
    if os.path.lexists(place):
        read_ledger(place)
    elif not (os.path.isdir(place.parent) and os.access(place.parent, os.W_OK | os.X_OK)):  # noqa: PTH112 -- never raises
        rule = "the folder around a ledger must exist and be writable for you"
        raise FileError(f"{place}", rule, "make the folder, or name another file with --ledger")
    return place


@stands_alone
def read_ledger(place: str | Path) -> Ledger:
    """Read a ledger.

    Raises
    ------
    FileError
        If there is none, anybody but its owner can read or write it, or a line of it is not as
        it was written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_ledger(Path(folder, "nothing"))
    Traceback (most recent call last):
        ...
    microveil.errors.FileError: ...the ledger must be readable and writable for you, ...
    """
    with _held(Path(place), fcntl.LOCK_SH) as descriptor:
        return Ledger.read(_contents(descriptor), Path(place))


@stands_alone
def announce(place: Path, line: Callable[[Ledger], Entry]) -> Ledger:
    """Add a line to a ledger, which is begun if it is not there, and bring it to the disk.

    Parameters
    ----------
    place : Path
    line : callable
        Makes the line for the ledger as it is then.

    Returns
    -------
    Ledger
        With the line.

    Raises
    ------
    FileError
        If the line cannot be added; nothing is left of it then.
    """
    if not os.path.lexists(place):
        _begin(place)
    with _held(place, fcntl.LOCK_EX) as descriptor:
        contents = _contents(descriptor)
        ledger = Ledger.read(contents, place)
        entry = line(ledger)
        # An editor may have taken the last end of line.
        missing = b"" if contents.endswith(b"\n") else b"\n"
        _append(descriptor, missing + entry.to_line(), len(contents))
    return ledger.including(entry)


def _check_outside(place: Path, public: Path) -> None:
    """Refuse a place within a release, where it would be published, or replaced with it."""
    spot, home = (Path(os.path.realpath(path.parent), path.name) for path in (place, public))
    targets = (home, home.with_name(f"{home.name}-custodian"))
    for around in (spot, *spot.parents):
        published = all(os.path.isfile(around / name) for name in PUBLISHED)  # noqa: PTH113 -- never raises
        replaced = around.name.endswith("-custodian") and os.path.isfile(around / CUSTODIANS)  # noqa: PTH113
        if published or replaced or any(_same(around, target) for target in targets):
            raise FileError(
                f"{place}",
                "a ledger must not lie within the folders of a release: it would be published, "
                "or be lost when the release is replaced",
                "name a file beside them with --ledger",
            )


def _same(path: Path, other: Path) -> bool:
    if path == other:
        return True
    try:
        return path.samefile(other)
    except OSError:
        return False


@contextmanager
def _held(place: Path, lock: int) -> Iterator[int]:
    """Open a ledger and hold its lock, which goes with the process at the latest."""
    try:
        descriptor = os.open(
            place, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        )
    except OSError as error:
        raise _refused(place, error) from None
    try:
        _check_kind(place, os.fstat(descriptor))
        fcntl.flock(descriptor, lock)
        # It may have been moved while others held it: a line would go where nobody looks.
        if not os.path.samestat(os.fstat(descriptor), os.lstat(place)):
            raise FileError(f"{place}", "the ledger was replaced meanwhile", "run it again")
        yield descriptor
    except OSError as error:
        raise _refused(place, error) from None
    finally:
        os.close(descriptor)


def _check_kind(place: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        rule = "a ledger is a file, and this is something else"
        raise FileError(f"{place}", rule, "name another file with --ledger")
    if status.st_mode & 0o077:
        rule = "nobody but its owner may be able to read or write a ledger, and others are"
        raise FileError(f"{place}", rule, f"chmod 600 {place}, if nobody has changed it")


def _contents(descriptor: int) -> bytes:
    """Read all of a ledger; of another file, however large, only what shows that it is none."""
    size = os.fstat(descriptor).st_size
    head = os.pread(descriptor, LONGEST_HEAD, 0)
    if b"\n" not in head:
        return head
    parts = [head]
    while (done := sum(map(len, parts))) < size:
        part = os.pread(descriptor, size - done, done)
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def _append(descriptor: int, line: bytes, size: int) -> None:
    try:
        done = 0
        while done < len(line):
            done += os.write(descriptor, line[done:])
        os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):
            os.ftruncate(descriptor, size)
        raise


def _begin(place: Path) -> None:
    """Let a ledger without lines appear whole, unless another process is first."""
    part = None
    try:
        descriptor, part = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
        try:
            os.fchmod(descriptor, 0o600)  # a umask may have taken the owner's rights
            _append(descriptor, Ledger.new().first_line(), 0)
        finally:
            os.close(descriptor)
        with suppress(FileExistsError):
            rename_new(Path(part), place)
        _sync_folder(place.parent)
    except OSError as error:
        raise _refused(place, error) from None
    finally:
        if part is not None:
            with suppress(OSError):
                Path(part).unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refused(place: Path, error: OSError) -> FileError:
    if error.errno == errno.ELOOP:
        rule = "a ledger must be a file itself, and this is a link"
        return FileError(f"{place}", rule, "name the file that it leads to")
    reason = os.strerror(error.errno) if error.errno else "unknown reason"
    rule = f"the ledger must be readable and writable for you, and the system says: {reason}"
    return FileError(f"{place}", rule, "check its path, its rights and the space left")
