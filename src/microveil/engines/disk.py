"""The engine of one machine whose memory is smaller than the table: the local one, on the disk."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil.engines.base import Column
from microveil.engines.local import LocalEngine
from microveil.errors import EngineError
from microveil.partition import Partition
from microveil.table.memory import TOGETHER, allowed_memory, to_protect
from microveil.table.scratch import PART, Scratch
from microveil.table.threads import in_threads

__all__ = ["DiskEngine"]

# Bytes for a value of a column that is read or compared (measured: 27 and 29); for one that is
# planned, and for a cluster of its plan (20 to 22, 70 to 110); and what the process takes before it
# holds any (190 MB).
LOOKED_AT, A_VALUE, A_CLUSTER, LIBRARIES = 30, 22, 110, 200_000_000
Item = TypeVar("Item")
Result = TypeVar("Result")


class DiskEngine(LocalEngine):
    """Works on few columns at a time, and keeps what is needed later on the disk.

    What it computes, and by which code, is what the engine in memory computes: between two steps
    arrays are in files that have no name, mapped into memory where they are looked at.

    Parameters
    ----------
    scratch : str or Path, optional
        The folder of these files; by default the one for temporary files.
    memory : int, optional
        How many bytes the process may take; by default what is free.
    """

    def __init__(self, *, scratch: str | Path | None = None, memory: int | None = None) -> None:
        self.memory: int | None = allowed_memory(memory)
        self.scratch = Scratch(scratch, self.memory)

    def column_memory(self, n_records: int, n_clusters: int) -> int | None:
        """Add up the column, its plan, the libraries, and pages that are not given back yet."""
        pages = 0 if self.memory is None else self.memory // PART
        return LIBRARIES + pages + _taken(n_records, n_clusters)

    def side_by_side(
        self,
        work: Callable[[Item], Result],
        items: Sequence[Item],
        n_values: int,
        n_clusters: int = 0,
    ) -> list[Result]:
        """Work on one after another, or on as many at a time as the memory holds work on."""
        at_once = None
        if self.memory is not None and items:
            room = self.memory - self.memory // PART - LIBRARIES
            of_one = _taken(n_values, n_clusters) // len(items)
            at_once = max(1, room // max(1, of_one))
        return in_threads(work, items, n_values, n_clusters, at_once=at_once)

    def kept(self, value: Result) -> Result:
        """Write large arrays and columns to the disk, and map them."""
        return self.scratch.kept(value)

    def empty(self, n_records: int, dtype: "np.dtype[Any] | type") -> NDArray[Any]:
        """Take it of the disk, where there is room for all of it."""
        return self.scratch.empty(n_records, dtype)

    def cluster_jointly(
        self, name: str, columns: Sequence[Column], k: int, *, with_missing: bool = False
    ) -> Partition:
        """Partition the columns together, where memory holds what that takes."""
        n_records = max(column.n_present for column in columns)
        needed = to_protect(n_records, len(columns), TOGETHER)
        if self.memory is not None and needed > self.memory:
            raise EngineError(
                "engine",
                f"{name} looks at all columns of a block together, which takes about "
                f"{needed / 1e6:.0f} MB of memory, and {self.memory / 1e6:.0f} MB are allowed",
                "choose a method that takes attributes one by one (dp-um, idp-vector, laplace), "
                "smaller blocks (--block), or allow more (--memory)",
            )
        return super().cluster_jointly(name, columns, k, with_missing=with_missing)


def _taken(n_values: int, n_clusters: int) -> int:
    """Forecast what work on values and clusters takes."""
    return max(LOOKED_AT * n_values, A_VALUE * n_values + A_CLUSTER * n_clusters)
