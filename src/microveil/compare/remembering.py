"""An engine that does once what many requests on the same columns have in common."""

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil.engines import LocalEngine
from microveil.partition import Partition

__all__ = ["RememberingEngine"]

Whole = NDArray[np.int64]
Result = TypeVar("Result")

# So many partitions of several attributes are kept: a grid goes through epsilon before k.
JOINT = 16


class RememberingEngine(LocalEngine):
    """Ranks each column once, and partitions by several attributes once for each k.

    Threads may share it: who asks for what another is at work on waits for that.

    Examples
    --------
    >>> engine, values = RememberingEngine(), np.array([7, 1, 4])
    >>> engine.rank(values)[0] is engine.rank(values)[0]
    True
    """

    def __init__(self) -> None:
        # Columns are kept beside what was found of them, so that their ids stay their own.
        self._columns: dict[int, Whole] = {}
        self._ranked: dict[Hashable, Future[Any]] = {}
        self._joint: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()

    def rank(self, values: Whole) -> tuple[NDArray[np.integer], Whole]:
        """Rank one column, once."""
        return self._once(
            self._ranked, (id(values),), [values], lambda: LocalEngine.rank(self, values)
        )

    def cluster_jointly(
        self,
        name: str,
        columns: Sequence[Whole],
        k: int,
        bounds: Sequence[tuple[int, int]],
    ) -> Partition:
        """Partition the matrix of the columns, once for each k."""
        key = (name, tuple(id(column) for column in columns), k, tuple(bounds))
        return self._once(
            self._joint,
            key,
            columns,
            lambda: LocalEngine.cluster_jointly(self, name, columns, k, bounds),
        )

    def _once(
        self,
        found: dict[Hashable, Future[Any]],
        key: Hashable,
        columns: Sequence[Whole],
        work: Callable[[], Result],
    ) -> Result:
        with self._lock:
            future = found.get(key)
            mine = future is None
            if future is None:
                future = found[key] = Future()
                self._columns.update((id(column), column) for column in columns)
                if found is self._joint and len(found) > JOINT:
                    del found[next(iter(found))]
        if mine:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
                raise
        result: Result = future.result()
        return result
