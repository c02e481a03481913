"""Work in the background: each task in a process of its own, followed, cancelled and ended."""

import asyncio
import contextlib
import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from microveil.app.worker import of_line, to_line
from microveil.commands.time_left import time_left, time_left_of
from microveil.errors import RequestError

# How many tasks are carried out at a time, and how many are remembered.
AT_ONCE, REMEMBERED = 2, 32
# Seconds that a task which is cancelled has to clear up.
PATIENCE = 10.0
# Bytes of a line of a worker at most: an answer has pages and pictures in it.
MOST = 1 << 28
STEPS = 200


class State(StrEnum):
    """What has become of a task."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        """Whether nothing more will become of it."""
        return self not in (State.WAITING, State.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of a task."""

    words: str
    seconds: float
    done: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A task in the background, as it stands."""

    id: str
    kind: str
    state: State = State.WAITING
    is_stopping: bool = False
    steps: tuple[Step, ...] = ()
    time_left: str | None = None
    result: Mapping[str, Any] | None = field(default=None, repr=False)
    error: Sequence[str] | None = None
    failure: str | None = None
    released: bool = False


class Works:
    """Tasks in the background, at most two at a time: others wait for their turn.

    `aclose` it, and no process stays behind; where this one is killed they end by themselves.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        patience: float = PATIENCE,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._folder, self._patience = Path(folder), patience
        self._environment = dict(os.environ if environment is None else environment)
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._works: dict[str, Work] = {}
        self._carried: dict[str, asyncio.Task[None]] = {}
        self._stops: dict[str, asyncio.Event] = {}
        self._is_closed = False

    def get(self, name: str) -> Work | None:
        """Return work; None where there is none of this id, or it is forgotten."""
        return self._works.get(name)

    def start(self, task: Mapping[str, Any]) -> Work:
        """Start a task, or put it behind those that wait."""
        self._forget()
        if self._is_closed or len(self._works) >= REMEMBERED:
            rule = "the app is ending" if self._is_closed else "too much is under way"
            raise RequestError("work", rule, "wait until something has ended, or cancel it")
        line = to_line(task)  # what cannot be written is found out here
        work = Work(id=secrets.token_urlsafe(9), kind=str(task.get("task")))
        self._works[work.id], self._stops[work.id] = work, asyncio.Event()
        running = asyncio.get_running_loop().create_task(self._carry_out(work.id, of_line(line)))
        self._carried[work.id] = running
        return work

    def cancel(self, name: str) -> Work:
        """Cancel a task and return at once: by an interrupt, later by killing it."""
        if not self._works[name].state.is_end:
            self._change(name, is_stopping=True)
            self._stops[name].set()
        return self._works[name]

    async def wait(self, name: str) -> Work:
        """Wait until a task has ended."""
        if name in self._carried:
            await asyncio.shield(self._carried[name])
        return self._works[name]

    async def aclose(self) -> None:
        """Cancel all tasks, wait until their processes have ended, and forget what they found."""
        self._is_closed = True
        for name in self._works:
            self.cancel(name)
        await asyncio.gather(*self._carried.values())
        self._works.clear()
        self._carried.clear()
        self._stops.clear()

    def _forget(self) -> None:
        """Forget the oldest of those that have ended, where there are too many."""
        ended = [name for name, work in self._works.items() if work.state.is_end]
        for name in ended[: max(0, len(self._works) - REMEMBERED + 1)]:
            for held in (self._works, self._carried, self._stops):
                held.pop(name)

    def _change(self, name: str, **changes: Any) -> None:
        self._works[name] = replace(self._works[name], **changes)

    async def _carry_out(self, name: str, task: dict[str, Any]) -> None:
        """Wait for a turn, and see a task through to its end."""
        stop = self._stops[name]
        turn, stopped = (
            asyncio.ensure_future(waiting) for waiting in (self._turns.acquire(), stop.wait())
        )
        await asyncio.wait((turn, stopped), return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not turn.done():
            turn.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await turn
        if turn.cancelled():
            self._change(name, state=State.CANCELLED)
            return
        try:
            await self._run(name, task, stop)
        except Exception as error:  # noqa: BLE001 -- nobody else sees it
            self._change(name, state=State.FAILED, failure=type(error).__name__)
        finally:
            self._turns.release()

    async def _run(self, name: str, task: dict[str, Any], stop: asyncio.Event) -> None:
        """Carry a task out in a process of its own."""
        if stop.is_set():
            self._change(name, state=State.CANCELLED)
            return
        release = task.get("folder")
        before = _seen(release)
        # A process that is killed clears nothing up: what is temporary has a folder of its own.
        temporary = tempfile.mkdtemp(prefix="microveil-app-")
        try:
            process = await asyncio.create_subprocess_exec(
                # Not from the working directory, which holds the user's files, is anything loaded.
                *(sys.executable, "-P", "-m", "microveil.app.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=self._folder,
                env=self._environment,
                start_new_session=True,
                limit=MOST,
            )
            said = await self._followed(name, process, {**task, "temporary": temporary}, stop)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        self._end(name, said, process.returncode, released=_seen(release) not in (None, before))

    async def _followed(
        self,
        name: str,
        process: asyncio.subprocess.Process,
        task: Mapping[str, Any],
        stop: asyncio.Event,
    ) -> dict[str, Any]:
        """Give a process its task, and follow what it says until it ends."""
        assert process.stdin is not None  # noqa: S101 -- it is a pipe
        stopper = asyncio.ensure_future(self._stopped(process, stop))
        try:
            with contextlib.suppress(ConnectionError):  # it may have ended already
                process.stdin.write(to_line(task))
                await process.stdin.drain()
            said = await self._said(name, process)
            await process.wait()
        finally:
            stopper.cancel()
            _kill(process)
            await process.wait()
            process.stdin.close()
        return said

    async def _stopped(self, process: asyncio.subprocess.Process, stop: asyncio.Event) -> None:
        """Interrupt a process once it is to stop, and kill it where it does not."""
        await stop.wait()
        assert process.stdin is not None  # noqa: S101 -- it is a pipe
        process.stdin.close()  # at its end a worker interrupts itself, on every system
        await asyncio.sleep(self._patience)
        _kill(process)

    async def _said(self, name: str, process: asyncio.subprocess.Process) -> dict[str, Any]:
        """Read the lines of a process up to their end; return what they end in."""
        assert process.stdout is not None  # noqa: S101 -- it is a pipe
        began, said = time.monotonic(), dict[str, Any]()
        self._change(name, state=State.RUNNING)
        async for line in process.stdout:
            found = _object(line)
            if "progress" in found:
                self._step(name, found, time.monotonic() - began)
            else:
                said |= found
        return said

    def _step(self, name: str, found: Mapping[str, Any], seconds: float) -> None:
        """Take note of a step, or of how far the one at hand has come."""
        words, done, total = str(found["progress"]), found.get("done"), found.get("total")
        steps, begun = self._works[name].steps, seconds
        if done is None or total is None:
            began = [(step.words, step.seconds) for step in steps]
            left = time_left([*began, (words, seconds)], seconds)
        else:
            if steps and steps[-1].words == words:
                begun, steps = steps[-1].seconds, steps[:-1]
            left = time_left_of(done, total, seconds - begun)
        step = Step(words=words, seconds=begun, done=done, total=total)
        self._change(name, steps=(*steps, step)[-STEPS:], time_left=left)

    def _end(self, name: str, said: Mapping[str, Any], code: int | None, *, released: bool) -> None:
        """Take note of what became of a task. What is done was not cancelled, whoever asked."""
        kept = {key: said[key] for key in ("result", "error", "failure") if key in said}
        if "result" in said:
            state = State.DONE
        elif self._works[name].is_stopping:
            state, kept = State.CANCELLED, {}
        elif "error" in said:
            state = State.REFUSED
        else:
            state = State.FAILED
            kept.setdefault("failure", _ending(code))
        self._change(name, state=state, time_left=None, released=released, **kept)


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill a process that has not ended, with what it started."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()


def _object(line: bytes) -> dict[str, Any]:
    """Read a line; one that an interrupt cut short says nothing."""
    try:
        found = of_line(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _seen(folder: str | None) -> tuple[int, int] | None:
    """Return which folder stands at a place, None where there is none."""
    try:
        found = os.stat(folder) if folder is not None else None  # noqa: PTH116 -- may be None
    except OSError:
        return None
    return None if found is None else (found.st_ino, found.st_mtime_ns)


def _ending(code: int | None) -> str:
    """Say how a process ended that said nothing: by which signal, or with which exit code."""
    if code is None or code >= 0:
        return f"exit code {code}"
    return signal.Signals(-code).name
