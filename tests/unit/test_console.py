"""What a terminal sees of work that takes its time."""

import io
import re
import sys
import time

from microveil.cli import console
from microveil.cli.console import counted_progress
from microveil.commands.time_left import time_left


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_runs_done_and_the_time_left_are_shown_on_a_terminal(monkeypatch):
    """Half done after a while: as long again, and what is being done."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with counted_progress() as progress:
        for done in range(4):
            progress(done, 6, "drawing")
            time.sleep(0.5)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    assert "0/6" in shown
    assert "3/6" in shown
    assert re.search(r"3/6 0:00:0[12] drawing", shown)


def test_a_pipe_shows_no_progress(monkeypatch):
    """Nothing is written where nobody looks."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with counted_progress() as progress:
        progress(1, 2)
    assert not sys.stderr.getvalue()


def test_the_time_left_is_by_the_last_step_that_tells():
    """It falls as time goes by; too early, or past its own end, nothing is said."""
    steps = [("reading", 0.0), ("partitioning", 10.0), ("randomising AGE", 12.0)]
    assert time_left(steps, 12.0) == "about 28 s left"
    assert time_left(steps, 30.0) == "about 10 s left"
    assert time_left([*steps, ("writing the table", 85.0)], 85.0) == "about 15 s left"
    assert time_left(steps, 40.0) is None
    assert time_left([("partitioning", 1.0)], 4.9) is time_left([], 60.0) is None
    assert time_left([("partitioning", 0.0)], 6.0) is None


def test_a_step_that_tells_nothing_shows_what_an_earlier_one_told(monkeypatch):
    """The terminal goes on to say how long it takes while columns are drawn."""
    moments, shown = iter([0.0, 10.0, 12.0]), []
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(console.time, "monotonic", lambda: next(moments, 12.0))
    monkeypatch.setattr(
        "rich.progress.Progress.update", lambda _bar, _task, **said: shown.append(said)
    )
    with console.step_progress() as show:
        show("partitioning")
        show("randomising AGE")
    assert [said["description"] for said in shown] == [
        "partitioning, about 30 s left",
        "randomising AGE, about 28 s left",
    ]
