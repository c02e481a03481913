"""Files that are not read whole: their bytes are read piece by piece, when they are looked at.

They are not mapped: where a file is cut short by another program, the system ends a process that
looks at a page which is gone.
"""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

from microveil.errors import FileError

# Small enough to be taken of memory that was used before.
_PIECE = 1 << 19


class FileBytes:
    """The bytes of a file, with what its readers ask of bytes; threads may share it."""

    def __init__(self, path: Path, skipped: int = 0) -> None:
        self.path, self._skipped = path, skipped
        self._file = path.open("rb")
        self._size = os.fstat(self._file.fileno()).st_size
        self._reading = threading.Lock()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def __len__(self) -> int:
        """Return how many bytes there were when it was opened."""
        return max(0, self._size - self._skipped)

    def __getitem__(self, places: slice) -> bytes:
        """Read the bytes from a place to another."""
        start, stop, _ = places.indices(len(self))
        try:
            with self._reading:
                self._file.seek(self._skipped + start)
                found = self._file.read(max(0, stop - start))
        except OSError:
            rule, remedy = "the file must be readable", "check the disk and the name"
            raise FileError(f"{self.path}", rule, remedy) from None
        if len(found) < stop - start:
            raise _changed(self.path)
        return found

    def __contains__(self, byte: bytes) -> bool:
        """Say whether it has a byte."""
        return any(byte in piece for piece in self.pieces())

    def startswith(self, starts: bytes | tuple[bytes, ...]) -> bool:
        """Say whether it begins with some bytes, or with one of several."""
        longest = max(map(len, starts)) if isinstance(starts, tuple) else len(starts)
        return self[:longest].startswith(starts)

    def count(self, byte: bytes, start: int, end: int) -> int:
        """Count a byte between two places."""
        return sum(piece.count(byte) for piece in self.pieces(start, end))

    def find(self, byte: bytes, start: int) -> int:
        """Return the place of the first such byte from a place on; -1 where there is none."""
        for piece in self.pieces(start):
            if (place := piece.find(byte)) >= 0:
                return start + place
            start += len(piece)
        return -1

    def pieces(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes between two places, by default all, piece by piece."""
        end = len(self) if end is None else min(end, len(self))
        for place in range(start, end, _PIECE):
            yield self[place : min(place + _PIECE, end)]


def state_of(path: Path) -> tuple[int, int, int]:
    """Return what changes where a file is written or replaced."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def check_unchanged(path: Path, state: tuple[int, int, int]) -> None:
    """Refuse a file that was changed while it was read piece by piece."""
    try:
        is_same = state_of(path) == state
    except OSError:
        is_same = False
    if not is_same:
        raise _changed(path)


def _changed(path: Path) -> FileError:
    return FileError(
        f"{path}",
        "the file must stay as it is while it is read, and it was changed or removed meanwhile",
        "wait until nobody writes to it, and start again",
    )
