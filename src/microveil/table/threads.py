"""Work on columns side by side."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_threads"]

# Threads take longer to start than to sort so few values.
FEW_VALUES = 5_000

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    n_values: int = FEW_VALUES,
    *,
    at_once: int | None = None,
) -> list[Result]:
    """Work on attributes side by side: sorting and the kernels let go of the interpreter.

    Parameters
    ----------
    work : callable
    items : sequence
    n_values : int
        In all items together. Few of them are worked on one after the other; without a number
        each item is taken for long work.
    at_once : int, optional
        The most items that are worked on at a time.
    """
    if len(items) == 1 or n_values < FEW_VALUES or at_once == 1:
        return [work(item) for item in items]
    workers = min(at_once or len(items), os.cpu_count() or 1)
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        return list(pool.map(work, items))
