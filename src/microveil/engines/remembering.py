"""An engine that does once what many plans on the same columns have in common."""

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil.engines.local import LocalEngine
from microveil.partition import Partition

__all__ = ["RememberingEngine"]

Whole = NDArray[np.int64]
Result = TypeVar("Result")
# Work and the columns it is on: they are kept beside it, so that their ids stay their own.
Found = dict[Hashable, tuple[Sequence[Whole], Future[Any]]]

# So many partitions of several attributes are kept: a grid goes through epsilon before k.
JOINT = 16


class RememberingEngine(LocalEngine):
    """Ranks each column once, and partitions by several attributes once for each k.

    Columns are told apart by identity, and must not be changed. Threads may share the engine:
    who asks for what another is at work on waits for that.

    Examples
    --------
    >>> engine, values = RememberingEngine(), np.array([7, 1, 4])
    >>> engine.rank(values)[0] is engine.rank(values)[0]
    True
    """

    def __init__(self) -> None:
        self._ranked: Found = {}
        self._joint: Found = {}
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
        found: Found,
        key: Hashable,
        columns: Sequence[Whole],
        work: Callable[[], Result],
    ) -> Result:
        with self._lock:
            mine = key not in found
            if mine:
                found[key] = tuple(columns), Future()
                if found is self._joint and len(found) > JOINT:
                    del found[next(iter(found))]
            future = found[key][1]
        if mine:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
                raise
        result: Result = future.result()
        return result
