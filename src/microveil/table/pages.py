"""Pages of files that are mapped into memory, given back to the system where they take too much.

A process that may take so much memory cannot wait for the system to take pages back: that happens
when the machine has none left. One thread of the process looks for all of them.
"""

import ctypes
import itertools
import mmap
import os
import threading
import weakref
from pathlib import Path

import numpy as np

__all__ = [
    "MUCH",
    "PART",
    "Pages",
    "can_be_watched",
    "give_back_freed",
    "of_files",
    "relieve",
    "watch",
]

# Pages of files are given back where they take more than this part of the memory that is allowed,
PART = 16
# and how often is looked whether they do, in seconds: until then a disk reads some 20 MB.
INTERVAL = 0.01
# Arrays from 1 MB on are given back to the system at once, by this option of the C library; where
# much memory is allowed from this part of it on, and from 32 MB in any case. Where those of a
# piece, 4 MB, and of a million clusters, 8 MB, are held for the next ones two fifths of the time
# of the system are saved. What was held is given back where a step ends that needs many: see
# `give_back_freed`.
LARGE_PART, MUCH, _MMAP_THRESHOLD = 48, 800_000_000, -3
LARGE, LARGEST = 1 << 20, 1 << 25
# So much of smaller ones at most is held for the next ones.
HELD, _TRIM_THRESHOLD = 1 << 24, -1
# Where Linux says what a process has in memory; elsewhere the system alone takes pages back.
_SIZE = Path("/proc/self/statm")


class Pages:
    """Maps whose pages are given back where files take more than so many bytes of memory.

    Threads map, look and give back at the same time: places are looked at in a copy, which no
    thread can change, and one goes with its map.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        # Of each map the first and the last address. By a number: an address may be another map's
        # before it is known that the one that was there is gone.
        self._places: dict[int, tuple[weakref.ref[mmap.mmap], int, int]] = {}
        self._numbers = itertools.count()

    def add(self, pages: mmap.mmap) -> None:
        """Give them back from now on."""
        first = int(np.frombuffer(pages, dtype=np.uint8).ctypes.data)
        number, places = next(self._numbers), self._places
        own = weakref.ref(pages, lambda _: places.pop(number, None))
        places[number] = own, first, first + len(pages) - 1

    def has(self, address: int) -> bool:
        """Whether an address is in one of them."""
        places = self._places.copy().values()
        return any(first <= address <= last and own() is not None for own, first, last in places)

    def __len__(self) -> int:
        """How many maps there are."""
        return len(self._places)

    def relieve(self, taken: int) -> None:
        """Give them back where files take so many bytes."""
        if self.most is None or taken <= self.most:
            return
        for own, _, _ in self._places.copy().values():
            pages = own()
            if pages is not None:
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
                if owner() is not None or len(pages)
            ]
            return [pages for _, pages in self._watched]


_WAKE = threading.Event()  # never set: a pause that a process which ends does not wait for
_WATCHERS: dict[int, _Watcher] = {}  # by process: one that is forked has no threads
_SIZES: dict[int, int] = {}  # of each the file that says what it has in memory


def can_be_watched() -> bool:
    """Say whether the system tells what of a process is pages of files."""
    return _SIZE.exists()


def watch(owner: object, pages: Pages, memory: int) -> None:
    """Have pages given back whenever files take too much, as long as the owner or a map is there.

    The C library gives arrays back that are large beside so many bytes of memory, as they are
    freed, from then on: else it keeps some, from a size on that grows with what it has seen.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        large = LARGE if memory < MUCH else min(LARGEST, memory // LARGE_PART)
        library.mallopt(_MMAP_THRESHOLD, large)
        library.mallopt(_TRIM_THRESHOLD, HELD)
    _WATCHERS.setdefault(os.getpid(), _Watcher()).watch(owner, pages)


def relieve() -> None:
    """Give pages back, now, where they take too much: for who reads maps by itself."""
    if os.getpid() in _WATCHERS:
        taken = of_files()
        for pages in _WATCHERS[os.getpid()].left():
            pages.relieve(taken)


def give_back_freed() -> None:
    """Give memory back that the C library holds for the next small arrays.

    Where what was freed lies between what is not, it takes no option for that: a file of 200
    columns whose footer is read for each of them left 130 MB.
    """
    if can_be_watched():
        library = ctypes.CDLL(None)
        if hasattr(library, "malloc_trim"):
            library.malloc_trim(0)


def of_files() -> int:
    """Return how many bytes of files this process has in memory."""
    process = os.getpid()
    if process not in _SIZES:
        # Once: it is asked a hundred times a second, and where no more files can be opened.
        _SIZES[process] = os.open(_SIZE, os.O_RDONLY | os.O_CLOEXEC)
    return int(os.pread(_SIZES[process], 128, 0).split()[2]) * mmap.PAGESIZE
