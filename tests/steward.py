"""A steward at the page of `microveil app`: the program, a browser, and hands that use it.

Only tests marked `browser` need Playwright and Chromium (make test-browser).
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Keyboard", "Mouse", "Page", "Program", "chromium"]

SECONDS = 150  # a comparison on a machine that is busy with other work
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PROGRAMS = ("chromium", "chromium-browser")


def chromium():
    """Return the path of Chromium: the one that CHROMIUM names, else the system's."""
    named = os.environ.get("CHROMIUM")
    found = named or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None or not Path(found).is_file():
        raise FileNotFoundError(
            "these tests drive Chromium: apt-get install chromium, or let CHROMIUM name it"
        )
    return found


def main():
    """Say what to install where there is no Chromium."""
    try:
        chromium()
    except FileNotFoundError as error:
        sys.exit(f"{error}")


@dataclass
class Program:
    """A process of `microveil app` for a folder, as a user starts it."""

    folder: Path
    process: subprocess.Popen
    said: str = field(init=False, default="")

    @classmethod
    def start(cls, folder, temporary, *words):
        """Start it, with its files for a moment in a folder of their own."""
        temporary.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "microveil", "app", f"{folder}", "--no-browser", *words]
        environment = {
            **os.environ,
            "TMPDIR": f"{temporary}",
            "OMP_NUM_THREADS": "1",
            "POLARS_MAX_THREADS": "1",
        }
        process = subprocess.Popen(
            command,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        program = cls(folder, process)
        while "Ctrl-C" not in program.said:
            line = process.stdout.readline()
            assert line, program.said
            program.said += line
        return program

    @property
    def opening(self):
        """The address of the file that leads to the page, once."""
        return re.search(r"file://\S+", self.said)[0]

    def workers(self):
        """Return the numbers of the processes that work for it, or that it left behind."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                words = (place / "cmdline").read_bytes()
                folder = (place / "cwd").readlink()
            except OSError:
                continue
            if b"microveil.app.worker" in words and folder == self.folder.resolve():
                found.append(int(place.name))
        return found

    def end(self, number=signal.SIGINT):
        """End it, and return what it said."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=SECONDS)
        self.said += rest or ""
        return self.said


@dataclass
class Page:
    """A page in a browser, with everything that went over the network or went wrong.

    Requests to the file that opens the page are left out: they go nowhere.
    """

    page: object
    requests: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.troubles.append(f"{error}"))
        self.page.on("console", self._said)
        self.page.set_default_timeout(1000 * SECONDS)

    def _said(self, message):
        # Of a refused form, and of a request that a test sends to be refused.
        if "the server responded with a status of 4" not in message.text:
            self.troubles.append(message.text)

    @property
    def elsewhere(self):
        """The requests that went to another place than this machine."""
        own = ("http://127.0.0.1:", "file:///", "data:", "about:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]

    @property
    def step(self):
        """The last part of the address: the step that is shown."""
        return self.page.url.partition("?")[0].rstrip("/").rpartition("/")[2]


class Mouse:
    """Uses a page by clicks and fields, and counts them."""

    def __init__(self, page):
        self.page, self.n_clicks, self.n_fields = page, 0, 0

    @property
    def n_actions(self):
        """Clicks and fields in all."""
        return self.n_clicks + self.n_fields

    def press(self, what):
        """Press a button or follow a link."""
        self.n_clicks += 1
        self.page.locator(what).first.click()

    def tick(self, what):
        """Choose one of several, or tick a box."""
        self.n_clicks += 1
        self.page.locator(what).check()

    def write(self, what, text):
        """Fill in a field."""
        self.n_fields += 1
        self.page.locator(what).fill(text)

    def choose(self, what, value):
        """Choose from a list."""
        self.n_fields += 1
        self.page.locator(what).select_option(value)


class Keyboard(Mouse):
    """Uses a page by Tab, arrows, Space, Enter and letters alone."""

    MOST_TABS = 400

    def _reach(self, what):
        wanted = self.page.locator(what).first
        for _ in range(self.MOST_TABS):
            if wanted.evaluate("one => one === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{what} is not reached by Tab")

    def press(self, what):
        """Tab to it, and press Enter."""
        self.n_clicks += 1
        self._reach(what)
        self.page.keyboard.press("Enter")

    def tick(self, what):
        """Tab to it or to one of its group, go on by arrows, and press Space."""
        self.n_clicks += 1
        wanted = self.page.locator(what)
        name, kind = (wanted.get_attribute(of) for of in ("name", "type"))
        if kind == "radio":
            group = self.page.locator(f"input[name='{name}']")
            checked = self.page.locator(f"input[name='{name}']:checked")
            first = checked if checked.count() else group.first
            self._reach(f"#{first.get_attribute('id')}")
            for _ in range(group.count()):
                if wanted.evaluate("one => one === document.activeElement"):
                    break
                self.page.keyboard.press("ArrowDown")
        self._reach(what)
        if not wanted.is_checked():
            self.page.keyboard.press("Space")

    def write(self, what, text):
        """Tab to it, and type in place of what is there."""
        self.n_fields += 1
        self._reach(what)
        self.page.keyboard.press("Control+A")
        if text:
            self.page.keyboard.insert_text(text)
        else:
            self.page.keyboard.press("Delete")

    def choose(self, what, value):
        """Tab to it, and go through the list by arrows."""
        self.n_fields += 1
        self._reach(what)
        self.page.keyboard.press("Home")
        for _ in range(self.page.locator(f"{what} option").count()):
            if self.page.locator(what).input_value() == value:
                return
            self.page.keyboard.press("ArrowDown")
        raise AssertionError(f"{what} has no {value}")


if __name__ == "__main__":
    main()
