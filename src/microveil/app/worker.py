"""One task in a process of its own: `python -P -m microveil.app.worker`.

A task comes as one line of JSON on standard input, so that nothing confidential is an argument that
others see; what becomes of it goes to standard output as lines of JSON: any number of
``{"progress": ...}``, then one of ``{"result": {...}}``, ``{"error": [line, ...]}``
of our own errors, ``{"failure": "TypeName"}`` of any other, whose message might hold a value of the
table, and ``{"cancelled": true}``.

A task is carried out by what the command line calls, and an interrupt (SIGINT) cancels it as
Ctrl-C does a command: nothing is left half written. Standard input stays open as long as somebody
waits for the task. Once it closes the worker interrupts itself, and ends soon after, whatever it is
at.

Only what JSON has no word for is written otherwise: dates, which recipes have as bounds, see
`to_line`.
"""

import datetime
import json
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from microveil.app.tasks import TASKS, Say, Task
from microveil.errors import MicroveilError, RequestError, lines_of

# Exit codes, as those of the command line; the last is what shells have for an interrupt.
DONE, FAILED, REFUSED, CANCELLED = 0, 1, 2, 130
# Seconds in which a worker that nobody waits for clears up before it ends however it can.
PATIENCE = 10.0
BLOCK = 1 << 16
# Set when the task is interrupted, whatever error comes of it.
_interrupted_once = threading.Event()
# In place of values that TOML has and JSON has not: an object of the one key. A datetime is a date
# too, and stands first.
_DATED: Mapping[str, Any] = {
    "$datetime": datetime.datetime,
    "$date": datetime.date,
    "$time": datetime.time,
}


def to_line(contents: Mapping[str, Any]) -> bytes:
    """Write an object as one line of JSON, with dates as objects that say so."""
    return json.dumps(contents, default=_as_object).encode("ascii") + b"\n"


def of_line(line: bytes | str) -> Any:
    """Read what `to_line` wrote."""
    return json.loads(line, object_hook=_of_object)


def _as_object(value: Any) -> dict[str, str] | str:
    for key, kind in _DATED.items():
        if isinstance(value, kind):
            return {key: value.isoformat()}
    if isinstance(value, Path):
        return f"{value}"
    raise TypeError(f"{type(value).__name__} has no form in a task")


def _of_object(found: dict[str, Any]) -> Any:
    if len(found) == 1:
        ((key, value),) = found.items()
        if key in _DATED and isinstance(value, str):
            return _DATED[key].fromisoformat(value)
    return found


def main() -> NoReturn:
    """Carry out the task that standard input names, and end."""
    signal.signal(signal.SIGINT, _interrupted)  # whoever started this may have it ignored
    say = _reserved_output()
    code = FAILED
    try:
        task = dict(of_line(_first_line()))
        threading.Thread(target=_watch, args=(task.get("temporary"),), daemon=True).start()
        with _temporary(task.pop("temporary", None)):
            code = _carried_out(task, say)
    except BaseException as error:  # noqa: BLE001 -- its message is nobody's but the data's
        # A library that an interrupt meets inside may raise an error of its own (polars panics).
        if _interrupted_once.is_set():
            code = CANCELLED
            say({"cancelled": True})
        else:
            say({"failure": type(error).__name__})
    # What threads are still at is of no use to anybody.
    os._exit(code)


def _carried_out(task: Task, say: Say) -> int:
    """Carry out a task and say what became of it."""
    try:
        carry_out = TASKS.get(str(task.get("task")))
        if carry_out is None:
            raise RequestError("task", "there is no such task", f"name one of {', '.join(TASKS)}")
        result = carry_out(task, say)
    except MicroveilError as error:
        say({"error": lines_of(error, "fields")})
        return REFUSED
    # It is done, and no interrupt that comes now makes it undone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    say({"result": result})
    return DONE


def _interrupted(_number: int, _frame: FrameType | None) -> NoReturn:
    """Interrupt once: another interrupt would come in the way of clearing up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _interrupted_once.set()
    raise KeyboardInterrupt


def _reserved_output() -> Say:
    """Keep standard output for lines of JSON: what anything else prints goes nowhere."""
    reserved = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for standard in (1, 2):
        os.dup2(nowhere, standard)
    os.close(nowhere)

    is_cut = False

    def say(contents: Mapping[str, Any]) -> None:
        nonlocal is_cut
        # What an interrupt cut short is a line by itself, which says nothing.
        left = memoryview(b"\n" * is_cut + to_line(contents))
        is_cut = True
        try:
            while left:
                left = left[os.write(reserved, left) :]
        except OSError:
            return  # nobody reads it any more, which standard input will show
        is_cut = False

    return say


def _first_line() -> bytes:
    """Read standard input up to the end of its first line, and nothing that Python would hold."""
    line = b""
    while not line.endswith(b"\n"):
        block = os.read(0, BLOCK)
        if not block:
            break
        line += block
    return line


def _watch(temporary: str | None) -> None:
    """Wait until standard input closes; then interrupt the task, and end it if that takes long."""
    while os.read(0, BLOCK):
        pass
    _interrupt()
    time.sleep(PATIENCE)
    if temporary is not None:
        shutil.rmtree(temporary, ignore_errors=True)
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():  # with what it started
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(FAILED)


def _interrupt() -> None:
    """Interrupt the task; Windows would end the whole process at `os.kill`."""
    if os.name == "nt":
        signal.raise_signal(signal.SIGINT)
    else:
        os.kill(os.getpid(), signal.SIGINT)


@contextmanager
def _temporary(folder: str | None) -> Iterator[None]:
    """Have all temporary files in a folder, and none of them left."""
    if folder is None:
        yield
        return
    tempfile.tempdir = folder
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
