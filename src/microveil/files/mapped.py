"""Files that are not read whole: their bytes are mapped, and looked at piece by piece."""

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from microveil.errors import FileError

__all__ = ["MappedFile", "check_unchanged", "state_of"]

# Small enough to be taken of memory that was used before.
_PIECE = 1 << 19


class MappedFile(mmap.mmap):
    """The bytes of a file, with what its readers ask of bytes."""

    @classmethod
    def of(cls, path: Path) -> Self:
        """Map a file.

        Raises
        ------
        OSError, ValueError
            As for ``open``; a file without a byte cannot be mapped.
        """
        with path.open("rb") as file:
            return cls(file.fileno(), 0, access=mmap.ACCESS_READ)

    def startswith(self, start: bytes) -> bool:
        """Say whether it begins with these bytes."""
        return self[: len(start)] == start

    def count(self, byte: bytes, start: int, end: int) -> int:
        """Count a byte between two places."""
        places = range(start, end, _PIECE)
        return sum(self[place : min(place + _PIECE, end)].count(byte) for place in places)

    def pieces(self) -> Iterator[bytes]:
        """Yield all bytes, piece by piece."""
        for place in range(0, len(self), _PIECE):
            yield self[place : place + _PIECE]


def state_of(path: Path) -> tuple[int, int, int]:
    """Return what changes where a file is written or replaced."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def check_unchanged(path: Path, state: tuple[int, int, int]) -> None:
    """Refuse a file that was changed while it was read piece by piece.

    Raises
    ------
    FileError
        If it was, or is gone.
    """
    try:
        is_same = state_of(path) == state
    except OSError:
        is_same = False
    if not is_same:
        raise FileError(
            f"{path}",
            "the file must stay as it is while it is read, and it was changed or removed meanwhile",
            "wait until nobody writes to it, and start again",
        )
