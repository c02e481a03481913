"""Work on columns side by side."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Work on attributes side by side: sorting and the kernels let go of the interpreter."""
    if len(items) == 1:
        return [work(items[0])]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(work, items))
