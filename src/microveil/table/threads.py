"""Work on columns side by side."""

import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# Threads take longer to start than to sort so few values.
FEW_VALUES = 5_000
# Columns that are read onto the disk at a time: of each a piece is in memory, and a disk has no
# more to give.
READ_AT_ONCE = 2
# Records that are read, rounded or written at a time where a column is not held in memory.
PIECE = 1 << 19

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    n_values: int = FEW_VALUES,
    n_clusters: int = 0,
    *,
    at_once: int | None = None,
) -> list[Result]:
    """Work on attributes side by side: sorting and the kernels let go of the interpreter."""
    if len(items) == 1 or max(n_values, n_clusters) < FEW_VALUES or at_once == 1:
        return list(map(work, items))
    workers = min(at_once or len(items), os.cpu_count() or 1)
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        return list(pool.map(work, items))


class Reused(threading.local):
    """Memory that each thread works in block after block: to ask the system anew takes longer."""

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[np.float64]] = {}

    def array(self, use: str, *shape: int) -> NDArray[np.float64]:
        """Return an array for a use, in which anything stands: what was there before is lost."""
        size = math.prod(shape)
        if use not in self._kept or len(self._kept[use]) < size:
            self._kept[use] = np.empty(size)
        return self._kept[use][:size].reshape(shape)


def pieces(n_records: int) -> Iterator[slice]:
    """Cut records into runs of `PIECE`; of none there is one, which is empty."""
    for start in range(0, max(n_records, 1), PIECE):
        yield slice(start, min(start + PIECE, n_records))
