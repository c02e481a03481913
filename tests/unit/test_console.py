"""What a terminal sees of work that takes its time."""

import io
import re
import sys
import time

from microveil.cli import console
from microveil.cli.console import counted_progress


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
