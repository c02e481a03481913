"""Places for arrays in files without a name, given out and taken back.

Few files hold many arrays: each takes an open file, of which a process may have a thousand, and
pages that the system has to find and to clear. A place that nobody looks at any more is given out
again, and the pages of it are in memory already.
"""

import bisect
import errno
import mmap
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SEGMENT", "Extent", "Extents"]

# The size of a file, which takes room on the disk where it is written alone; larger ones are for
# one array.
SEGMENT = 1 << 28
# The system lets one thread at a time write to a file: each of so many has another.
_WRITERS = 2
# A place begins and ends with a page.
_PAGE = mmap.PAGESIZE


class Extents:
    """Files of which places are given out; one that is taken back is given out again.

    Parameters
    ----------
    opened : callable
        Opens a new file without a name.
    mapped : callable
        Is given the map of each.

    Notes
    -----
    Threads take places, and let go of them, at the same time.

    Examples
    --------
    >>> import tempfile
    >>> extents = Extents(tempfile.TemporaryFile, lambda pages: None)
    >>> extent = extents.take(16)
    >>> extent.write(8, memoryview(b"12345678"))
    >>> bytes(extent.array()[8:11])
    b'123'
    """

    def __init__(
        self, opened: Callable[[], IO[bytes]], mapped: Callable[[mmap.mmap], None]
    ) -> None:
        self._opened, self._mapped = opened, mapped
        self._segments: list[_Segment] = []
        self._taking = threading.Lock()

    def take(self, size: int) -> "Extent":
        """Return a place of so many bytes: one that was taken back, else a fresh one.

        In the file that this thread took the last one of, else in the one not taken of for longest.

        Raises
        ------
        OSError
            If a file cannot be opened or mapped.
        """
        whole = _in_pages(size)
        with self._taking:
            for segment in self._segments:
                segment.gather()
            this = threading.get_ident()
            in_turn = sorted(self._segments, key=lambda segment: segment.taker != this)
            for segment in in_turn:
                if (start := segment.again(whole)) is not None:
                    self._to_the_end(segment)
                    return Extent(segment, start, size, is_fresh=False)
            roomy = [segment for segment in in_turn if segment.has_room(whole)]
            if roomy and (roomy[0].taker == this or len(roomy) >= _WRITERS):
                segment = roomy[0]
            else:
                segment = self._segment(whole)
                self._mapped(segment.pages)
                self._segments.append(segment)
            self._to_the_end(segment)
            return Extent(segment, segment.further(whole), size, is_fresh=True)

    def give_back(self) -> None:
        """Close the files of which no place is taken: the system has their pages for others."""
        with self._taking:
            for segment in self._segments:
                segment.gather()
            self._segments = [segment for segment in self._segments if not segment.is_free]

    def _to_the_end(self, segment: "_Segment") -> None:
        """Note that a place was taken of a file: its turn is after all others."""
        self._segments.remove(segment)
        self._segments.append(segment)
        segment.taker = threading.get_ident()

    def _segment(self, whole: int) -> "_Segment":
        """Make a file for a place; for it alone where the process may have none so large."""
        try:
            return _Segment(self._opened(), max(SEGMENT, whole))
        except OSError as error:
            if error.errno not in (errno.EFBIG, errno.ENOMEM) or whole >= SEGMENT:
                raise
        return _Segment(self._opened(), whole)


class Extent:
    """A place of so many bytes in a file, taken back when nothing looks at it any more.

    Attributes
    ----------
    size : int
        Bytes.
    is_fresh : bool
        Whether nothing was ever there: all of it is 0, and it has no room on the disk yet.
    """

    __slots__ = ("__weakref__", "_segment", "_start", "is_fresh", "size")

    def __init__(self, segment: "_Segment", start: int, size: int, *, is_fresh: bool) -> None:
        self._segment, self._start = segment, start
        self.size, self.is_fresh = size, is_fresh

    def __del__(self) -> None:
        # No lock: this may come at any moment, in whatever thread, and while one is held.
        self._segment.let_go.append((self._start, _in_pages(self.size)))

    def write(self, place: int, data: memoryview) -> None:
        """Write bytes from a place in it on: no page of it need be mapped.

        Raises
        ------
        OSError
            If the system refuses.
        ValueError
            If they would end beyond it.
        """
        self._check(place, len(data))
        while data:
            done = os.pwrite(self._segment.descriptor, data, self._start + place)
            place, data = place + done, data[done:]

    def read(self, place: int, into: memoryview) -> None:
        """Read as many bytes as fit, from a place in it on.

        Raises
        ------
        OSError, ValueError
            As for `write`.
        """
        self._check(place, len(into))
        while into:
            done = os.preadv(self._segment.descriptor, [into], self._start + place)
            place, into = place + done, into[done:]

    def _check(self, place: int, size: int) -> None:
        if place < 0 or place + size > self.size:
            raise ValueError("a place is neither written nor read beyond its end")

    def reserve(self) -> None:
        """Take its room on the disk: without it a page that is written would end the process.

        Raises
        ------
        OSError
            If there is none.
        """
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self._segment.descriptor, self._start, self.size)
            return
        zeros = memoryview(bytes(_PAGE))
        for place in range(0, self.size, _PAGE):
            self.write(place, zeros[: self.size - place])

    def array(self) -> NDArray[np.uint8]:
        """Return its bytes, mapped: it is not taken back while there is a view of them."""
        return np.asarray(self)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {
            "version": 3,
            "shape": (self.size,),
            "typestr": "|u1",
            "data": (self._segment.address + self._start, False),
        }


class _Segment:
    """A file without a name, of one size, mapped as a whole."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        with file:
            file.truncate(size)
            self.pages = mmap.mmap(file.fileno(), size)
            self.descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, self.descriptor)
        self.address = int(np.frombuffer(self.pages, dtype=np.uint8).ctypes.data)
        self.let_go: deque[tuple[int, int]] = deque()
        self.taker = 0  # the thread that took the last place
        self._size, self._given = size, 0
        self._free: list[tuple[int, int]] = []  # places and sizes, by place; no two touch

    def gather(self) -> None:
        """Take back what was let go."""
        while self.let_go:
            start, size = self.let_go.popleft()
            at = bisect.bisect(self._free, (start, size))
            if at < len(self._free) and start + size == self._free[at][0]:
                size += self._free.pop(at)[1]
            if at and sum(self._free[at - 1]) == start:
                at -= 1
                before = self._free.pop(at)
                start, size = before[0], before[1] + size
            self._free.insert(at, (start, size))

    def again(self, size: int) -> int | None:
        """Return a place that was given out before, of those that fit the smallest."""
        fits = [(own, start) for start, own in self._free if own >= size]
        if not fits:
            return None
        own, start = min(fits)
        self._free.remove((start, own))
        if own > size:
            bisect.insort(self._free, (start + size, own - size))
        return start

    @property
    def is_free(self) -> bool:
        """Whether no place is taken, of those that were gathered."""
        return self._free == [(0, self._given)]

    def has_room(self, size: int) -> bool:
        """Whether there is a place behind all that were given out."""
        return self._given + size <= self._size

    def further(self, size: int) -> int:
        """Return a place behind all that were given out, where there is room."""
        start = self._given
        self._given += size
        return start


def _in_pages(size: int) -> int:
    """Return how many bytes the pages have that hold so many, one page at least."""
    return max(1, -(-size // _PAGE)) * _PAGE
