"""What the pages load when the first of them is shown: most of microveil, which takes a while."""

import asyncio
import threading
from importlib import import_module

from starlette.concurrency import run_in_threadpool

__all__ = ["begin_loading", "loaded"]

_REST = ("microveil.files.outline", "microveil.app.trade_off_pages", "microveil.app.release_pages")
_is_loaded = threading.Event()
# One after the other: two threads must not meet in the middle of modules that import each other.
_lock = threading.Lock()
_loading: set[asyncio.Task[None]] = set()


async def loaded() -> None:
    """Load the rest, or wait until that is done; other requests are answered meanwhile."""
    if not _is_loaded.is_set():
        await run_in_threadpool(_load)


def begin_loading() -> None:
    """Load the rest while a person looks at a page that does without."""
    if _is_loaded.is_set() or _loading:
        return
    task = asyncio.get_running_loop().create_task(loaded())
    _loading.add(task)
    task.add_done_callback(_loading.discard)


def _load() -> None:
    with _lock:
        for name in _REST:
            import_module(name)
        _is_loaded.set()
