"""What the commands show: JSON on standard output, progress on a terminal."""

import io
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from microveil.commands.time_left import time_left
from microveil.text import readable, typed

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

# Seconds over which speed is taken: methods and k differ in cost, and a run may take a minute.
SPEED_OVER = 600.0


def command_line(*words: str | Path) -> str:
    """Return a command as it is to be typed next: with this program as it was called."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        program = [sys.executable, "-m", "microveil"]
    else:
        found = shutil.which(called.name)
        known = found is None or Path(found).resolve() == called.resolve()
        program = [called.name if known else f"{called}"]
    return typed([*program, *map(str, words)])


def show_every_character() -> None:
    """Escape what the encoding of an output lacks, where Python would end with an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_text(text: str) -> None:
    """Print lines; what a name holds that would move the cursor or turn text is replaced."""
    typer.echo("\n".join(map(readable, text.removesuffix("\n").split("\n"))))


def print_message(message: str) -> None:
    """Print a message of one line on standard error."""
    typer.echo(readable(message), err=True)


def print_json(contents: dict[str, Any]) -> None:
    """Print one JSON object; what is not to be seen is escaped in it."""
    # Escaped where the terminal's encoding lacks letters: Windows pipes cp1252.
    is_full = "utf" in (sys.stdout.encoding or "").lower()
    text = json.dumps(contents, indent=2, ensure_ascii=not is_full)
    shown = (
        letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1]
        for letter in text
    )
    typer.echo("".join(shown))


@contextmanager
def step_progress() -> Iterator[Callable[[str], None]]:
    """Show steps on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda _step: None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with _bar(*columns) as bar:
        task, begun = bar.add_task("starting", total=None), time.monotonic()
        steps: list[tuple[str, float]] = []

        def show(step: str) -> None:
            seconds = time.monotonic() - begun
            steps.append((step, seconds))
            left = time_left(steps, seconds)
            bar.update(task, description=step if left is None else f"{step}, {left}")

        yield show


@contextmanager
def counted_progress() -> Iterator[Callable[..., None]]:
    """Show runs done and the time left on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda _done, _total, _what="": None
        return
    from rich import progress

    columns = (progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeRemainingColumn())
    with _bar(*columns, progress.TextColumn("{task.description}")) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, what="": bar.update(
            task, completed=done, total=total, description=what
        )


def _bar(*columns: "ProgressColumn") -> "Progress":
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, speed_estimate_period=SPEED_OVER)
