"""Pages of files that are mapped into memory, given back to the system where they take too much.

A process that may take so much memory cannot wait for the system to take pages back: that happens
when the machine has none left. One thread of the process looks for all of them.
"""

import ctypes
import mmap
import os
import threading
import weakref
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["PART", "Pages", "can_be_watched", "of_files", "relieve", "watch"]

# Pages of files are given back where they take more than this part of the memory that is allowed,
PART = 8
# and how often is looked whether they do, in seconds: until then a disk reads some 20 MB.
INTERVAL = 0.01
# Arrays from this size on are given back to the system at once, by this option of the C library.
LARGE, _MMAP_THRESHOLD = 1 << 20, -3
# Where Linux says what a process has in memory; elsewhere the system alone takes pages back.
_SIZE = Path("/proc/self/statm")


@dataclass(frozen=True, eq=False)
class Pages:
    """Maps whose pages are given back where files take more than so many bytes of memory."""

    most: int | None = None
    # Of each map the first and the last address.
    places: weakref.WeakKeyDictionary[mmap.mmap, tuple[int, int]] = field(
        default_factory=weakref.WeakKeyDictionary
    )

    def relieve(self, taken: int) -> None:
        """Give them back where files take so many bytes."""
        if self.most is not None and taken > self.most:
            for pages in list(self.places):
                pages.madvise(mmap.MADV_DONTNEED)


class _Watcher:
    """The one thread of a process that looks after pages: one for each would take its time.

    It is there as long as somebody has pages.
    """

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._watched: list[tuple[weakref.ref[object], Pages]] = []

    def watch(self, owner: object, pages: Pages) -> None:
        """Look after pages from now on."""
        with self._changing:
            self._watched.append((weakref.ref(owner), pages))
            if len(self._watched) == 1:
                threading.Thread(target=self._look, name="pages", daemon=True).start()

    def _look(self) -> None:
        while watched := self.left():
            taken = of_files()
            for pages in watched:
                pages.relieve(taken)
            _WAKE.wait(INTERVAL)

    def left(self) -> list[Pages]:
        """Return the pages of whoever is there still, or has left maps that are looked at."""
        with self._changing:
            self._watched = [
                (owner, pages)
                for owner, pages in self._watched
                if owner() is not None or len(pages.places)
            ]
            return [pages for _, pages in self._watched]


_WAKE = threading.Event()  # never set: a pause that a process which ends does not wait for
_WATCHERS: dict[int, _Watcher] = {}  # by process: one that is forked has no threads


def can_be_watched() -> bool:
    """Say whether the system tells what of a process is pages of files."""
    return _SIZE.exists()


def watch(owner: object, pages: Pages) -> None:
    """Have pages given back whenever files take too much, as long as the owner or a map is there.

    The C library gives large arrays back as they are freed from then on: else it keeps some, from
    a size on that grows with what it has seen.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(_MMAP_THRESHOLD, LARGE)
    _WATCHERS.setdefault(os.getpid(), _Watcher()).watch(owner, pages)


def relieve() -> None:
    """Give pages back, now, where they take too much: for who reads maps by itself."""
    if os.getpid() in _WATCHERS:
        taken = of_files()
        for pages in _WATCHERS[os.getpid()].left():
            pages.relieve(taken)


def of_files() -> int:
    """Return how many bytes of files this process has in memory."""
    return int(_SIZE.read_text("ascii").split()[2]) * mmap.PAGESIZE
