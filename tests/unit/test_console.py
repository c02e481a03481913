"""What a terminal sees of work that takes its time."""

import io
import re
import sys
import time

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


def test_a_pipe_shows_no_progress(monkeypatch):
    """Nothing is written where nobody looks."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with counted_progress() as progress:
        progress(1, 2)
    assert not sys.stderr.getvalue()
