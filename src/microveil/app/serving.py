"""The server of the page: on this machine alone, from its start in a terminal to its end.

The browser is sent to a file with a link that holds the token: a program's arguments can be read
by everybody on the machine, a file of mode 0600 by its owner alone.
"""

import asyncio
import contextlib
import html
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microveil.app.access import Access, Application, Guard, OneTimeToken
from microveil.app.places import Folder
from microveil.errors import FileError
from microveil.files.checking import of_extra

if TYPE_CHECKING:
    import uvicorn

_LIBRARIES = ("uvicorn", "starlette", "jinja2", "tomli_w")
# Seconds that answers under way may still take when the program is ended.
_LAST_SECONDS = 2
# Nothing that the server says of a request is written anywhere: it may hold a column's name.
_NO_LOG = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"none": {"class": "logging.NullHandler"}},
    "loggers": {"uvicorn": {"handlers": ["none"], "propagate": False}},
}


def serve(
    folder: Folder,
    *,
    open_browser: bool = True,
    application: Callable[[Folder], Application] | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page until the program is ended: by Ctrl-C, SIGTERM or the terminal's end."""
    for library in _LIBRARIES:
        of_extra(library, extra="app", place="microveil app", purpose="the page is made")
    with _listening() as listener:
        access = Access.fresh(listener.getsockname()[1])
        if application is None:
            application = import_module("microveil.app.pages").application
        answering = application(folder)
        asyncio.run(_served(listener, access, answering, open_browser=open_browser, say=say))


@contextlib.contextmanager
def _listening() -> Iterator[socket.socket]:
    """Listen on a free port of this machine, so that nobody else can be there meanwhile."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        try:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
        except OSError as error:
            rule = f"a port must be free, and the system says: {error.strerror}"
            raise FileError("127.0.0.1", rule, "end other programs, and try again") from None
        yield listener


async def _served(
    listener: socket.socket,
    access: Access,
    application: Application,
    *,
    open_browser: bool,
    say: Callable[[str], None],
) -> None:
    """Serve from the first to the last request; the file with the link lives no longer."""
    _tell_no_message_of_errors(say)
    token = OneTimeToken(time.monotonic())
    server = _server(Guard(application, access, token, time.monotonic))
    with _redirect_file(access, token) as file, _ended_by_signals(server):
        here = "Open this file in a browser on this machine within 60 s:"
        if open_browser:
            here = (
                "The page opens in your browser. If it does not, open this file there within 60 s:"
            )
        say(f"{here}\n\n  {file.as_uri()}\n\nCtrl-C ends the page and all that it is doing.")
        watching = asyncio.create_task(_removed_when_used(file, token, server))
        if open_browser:
            # A browser of the terminal comes back only when it is left.
            threading.Thread(target=_browse, args=(file.as_uri(),), daemon=True).start()
        try:
            with contextlib.suppress(SystemExit):  # what some versions raise, and others do not
                await server.serve(sockets=[listener])
        finally:
            watching.cancel()
        if not server.started:
            raise RuntimeError("the application did not start")


def _tell_no_message_of_errors(say: Callable[[str], None]) -> None:
    """Say of errors that nobody waits for what type they are: the message may hold a value."""

    def told(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        say(f"microveil: an error of our own ({type(context.get('exception')).__name__}).")

    if not os.environ.get("MICROVEIL_DEBUG"):
        asyncio.get_running_loop().set_exception_handler(told)


def _server(guard: Guard) -> "uvicorn.Server":
    import uvicorn

    class Server(uvicorn.Server):
        """A server that leaves signals to this program."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        guard,
        http="h11",
        loop="asyncio",
        ws="none",
        access_log=False,
        log_config=None if os.environ.get("MICROVEIL_DEBUG") else _NO_LOG,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_LAST_SECONDS,
    )
    return Server(config)


@contextlib.contextmanager
def _redirect_file(access: Access, token: OneTimeToken) -> Iterator[Path]:
    """Write the file that leads to the page, which nobody else can read; remove it at the end."""
    link = html.escape(f"{access.origin}/open?token={token.value}")
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>microveil</title>'
        '<meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={link}"></head>'
        f'<body><p><a href="{link}">Open the page of microveil</a></p></body></html>\n'
    )
    try:
        private = Path(tempfile.mkdtemp(prefix="microveil-"))  # of mode 0700
    except OSError as error:
        raise _unwritable(tempfile.gettempdir(), error) from None
    try:
        file = private / "open.html"
        try:
            file.touch(mode=0o600, exist_ok=False)
            file.write_text(page, encoding="utf-8", newline="\n")
        except OSError as error:
            raise _unwritable(f"{private}", error) from None
        yield file
    finally:
        shutil.rmtree(private, ignore_errors=True)


def _unwritable(place: str, error: OSError) -> FileError:
    rule = f"the folder for temporary files must be writable, and the system says: {error.strerror}"
    return FileError(place, rule, "name another one by the environment variable TMPDIR")


def _browse(address: str) -> None:
    # Without a browser the terminal says what to open.
    with contextlib.suppress(Exception):
        webbrowser.open(address)


async def _removed_when_used(file: Path, token: OneTimeToken, server: Any) -> None:
    """Remove the file as soon as its link leads nowhere any more."""
    while token.is_open(time.monotonic()) and not server.should_exit:  # noqa: ASYNC110 -- and time
        await asyncio.sleep(0.1)
    shutil.rmtree(file.parent, ignore_errors=True)


@contextlib.contextmanager
def _ended_by_signals(server: Any) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and the end of the terminal end the server; a second one at once."""

    def end(number: int, _frame: Any) -> None:
        if server.should_exit:
            signal.signal(number, signal.SIG_IGN)  # the one that follows has come already
            raise KeyboardInterrupt
        server.should_exit = True

    signals = [signal.SIGINT, signal.SIGTERM]
    # Whoever started it by nohup wants it to outlive the terminal.
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        signals.append(hangup)
    before = {number: signal.signal(number, end) for number in signals}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
