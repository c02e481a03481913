"""Files that appear whole, renames that replace nothing, and locks, on every system."""

import ctypes
import errno
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from microveil.errors import FileError, refused_by_system

_AT_FDCWD = -100
_RENAME_NOREPLACE = 1
# Where the kernel or the file system does not know the call or the flag.
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)
# Windows takes them for devices, streams or wildcards, or drops what they end in.
OF_WINDOWS = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\..*)?"
    r"|.*[<>:\"|?*\0-\x1f].*|.*[. ]",
    re.IGNORECASE | re.DOTALL,
)


def check_name(path: Path) -> None:
    """Refuse to write under a name that Windows would take for something else, when there."""
    if os.name == "nt" and OF_WINDOWS.fullmatch(path.name):
        raise FileError(
            f"{path}",
            "Windows must have such names for files: none of its devices (CON, NUL, COM1), none of "
            '< > : " | ? *, and no point or space at the end',
            "choose another name",
        )


def free_name(folder: Path, stem: str, suffix: str = "") -> str:
    """Propose a name that is free, as its custodian's folder is: with a number if need be."""
    names = (f"{stem}{'' if n == 1 else f'-{n}'}{suffix}" for n in count(1))
    taken = os.path.lexists
    return next(n for n in names if not (taken(folder / n) or taken(folder / f"{n}-custodian")))


@contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[None]:
    """Hold a lock by a file, which stays; it ends with the process at the latest.

    TimeoutError where another process holds it and this one is not to wait.
    """
    from filelock import FileLock  # loaded only where something is locked

    with FileLock(path, mode=0o600, timeout=-1 if wait else 0):
        yield


def written_whole(
    path: Path,
    write: Callable[[Path], Any],
    *,
    private: bool = False,
    appear: Callable[[Path, Path], Any] = lambda part, path: part.replace(path),
) -> None:
    """Let a file appear, or take the place of an earlier one, whole; its owner's if private."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)  # of a process that was killed
        part.touch(mode=0o600 if private else 0o666, exist_ok=False)
        if private:
            part.chmod(0o600)  # a umask may have taken the owner's rights
        write(part)
        synced(part)
        appear(part, path)
        synced(path.parent)
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        if isinstance(error, FileExistsError):
            rule = "nothing is overwritten, and it is there already"
            raise FileError(f"{path}", rule, "choose another name") from None
        remedy = "check the folder around it, its rights and the space left"
        raise refused_by_system(path, "it must be writable", error, remedy) from None


def written_text(path: Path, text: str) -> None:
    """Let a text of the custodian's appear whole."""
    contents = f"{text}\n"
    written_whole(path, lambda part: part.write_text(contents, "utf-8", newline="\n"), private=True)


def written_new(path: Path, text: str) -> None:
    """Let a text appear whole under a name that nothing has yet."""
    contents = text.encode()
    written_whole(path, lambda part: part.write_bytes(contents), appear=rename_new)


def synced(path: Path) -> None:
    """Bring a file or the entries of a folder to the disk; Windows has no call for a folder."""
    if os.name == "nt" and path.is_dir():
        return
    # Windows brings only what is open for writing to the disk.
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def rename_new(source: Path, target: Path) -> None:
    """Rename, but never onto something that exists, as ``os.rename`` does to empty folders."""
    if sys.platform == "linux":
        call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        if call is not None:
            old, new = os.fsencode(source), os.fsencode(target)
            if call(_AT_FDCWD, old, _AT_FDCWD, new, _RENAME_NOREPLACE) == 0:
                return
            number = ctypes.get_errno()
            if number not in _UNKNOWN:
                raise OSError(number, os.strerror(number))
    # What can slip in between is an empty folder at most: others make the rename fail.
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    source.rename(target)
