"""The server of the page: how it is opened, whom it answers and how it ends."""

import asyncio
import http.client
import os
import signal
import socket
import stat
import sys
import time
from pathlib import Path

import pytest

from command import run
from microveil.app import serving
from microveil.app.access import OneTimeToken
from microveil.app.places import Folder
from microveil.errors import FileError
from page_server import Server, application, eventually

# A browser that keeps what it was called with, and stays.
BROWSER = """#!/bin/sh
cd "$PAGE_OF_TEST"
for word; do printf '%s\\n' "$word"; done > words
ls -l /proc/$$/fd > open-files
tr '\\0' '\\n' < /proc/$$/environ > environment
mv words browser-words
"""

# Makes the terminal that it is started in its own, as a window does.
OWNED = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture
def start(tmp_path):
    """Start servers, each for a folder of its own, and end them."""
    started = []

    def one(*words, **given):
        folder = tmp_path / f"{len(started)}"
        folder.mkdir()
        started.append(Server.start(folder, *words, **given))
        return started[-1]

    yield one
    for server in started:
        server.end()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server that was opened, for requests that change nothing of it."""
    server = Server.start(tmp_path_factory.mktemp("served")).open()
    yield server
    server.end()


def left(server):
    """What is left of its files for a moment."""
    return list((server.folder / "tmp").iterdir())


def processes():
    """Command lines of all processes that may be looked at."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes()
        except OSError:
            continue


def test_the_page_is_opened_by_a_file_of_its_owner(start):
    """The file's folder has mode 0700 and the file 0600; it goes as soon as its link is used."""
    server = start()
    assert stat.S_IMODE(server.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(server.file.parent.stat().st_mode) == 0o700
    assert left(server) == [server.file.parent]
    page = server.file.read_text()
    assert f'http-equiv="refresh" content="0; url={server.link}"' in page
    server.open()
    eventually(lambda: not left(server))
    assert server.ask().text == "the page, 0 bytes"
    assert server.ask(path="/open?token=" + server.token).status == 401


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_nobody_can_open_the_file_at_any_moment(tmp_path, monkeypatch, umask):
    """Whatever the umask, it has its mode from its creation on: no later change gives it."""
    monkeypatch.setattr(serving.tempfile, "tempdir", f"{tmp_path}")
    made = []

    def opened(path, flags, *more, **given):
        descriptor = os_open(path, flags, *more, **given)
        if flags & os.O_CREAT:
            made.append((flags & os.O_EXCL, stat.S_IMODE(os.fstat(descriptor).st_mode)))
        return descriptor

    os_open = os.open
    monkeypatch.setattr(serving.os, "open", opened)
    before = os.umask(umask)
    try:
        access = serving.Access.fresh(8765)
        with serving._redirect_file(access, OneTimeToken(0.0)) as file:
            assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
            assert file.exists()
    finally:
        os.umask(before)
    assert made == [(os.O_EXCL, 0o600)]
    assert not list(tmp_path.iterdir())


def test_the_file_goes_when_its_link_is_worth_nothing(tmp_path):
    """A minute after the start, opened or not, it is removed."""
    (tmp_path / "private").mkdir()
    file = tmp_path / "private" / "open.html"
    file.touch()

    class Running:
        should_exit = False

    late = OneTimeToken(time.monotonic() - 60)
    asyncio.run(serving._removed_when_used(file, late, Running()))
    assert not list(tmp_path.iterdir())


def test_the_token_is_shown_to_nobody(start):
    """It is no argument of a process, not in an environment and in nothing that is printed."""
    server = start()
    assert any(f"{server.folder}".encode() in line for line in processes())
    assert not any(server.token.encode() in line for line in processes())
    environment = Path(f"/proc/{server.process.pid}/environ").read_bytes()
    assert server.token.encode() not in environment
    server.open()
    assert server.ask(path="/fails").status == 500
    with pytest.raises(http.client.IncompleteRead):
        server.ask(path="/fails-late")
    assert server.ask(path="/leaves-an-error").status == 200
    assert server.end() == 0
    secret = server.cookie.partition("=")[2]
    assert server.file.as_uri() in server.said
    for hidden in (server.token, secret, server.cookie, "-4711", "127.0.0.1", "GET"):
        assert hidden not in server.said


def test_the_browser_is_led_to_the_file(start, tmp_path):
    """Its arguments hold the file's address and no token; it inherits neither token nor socket."""
    browser = tmp_path / "browser"
    browser.write_text(BROWSER)
    browser.chmod(0o700)
    server = start(
        "browser", environment={"BROWSER": f"{browser} %s", "PAGE_OF_TEST": f"{tmp_path}"}
    )
    eventually((tmp_path / "browser-words").exists)
    assert (tmp_path / "browser-words").read_text().split() == [server.file.as_uri()]
    assert "socket:" not in (tmp_path / "open-files").read_text()
    assert server.token not in (tmp_path / "environment").read_text()


def test_without_a_browser_the_terminal_says_what_to_open(start):
    """A browser that cannot be started stops nothing."""
    server = start("browser", environment={"BROWSER": "/nowhere/browser", "PATH": "/nowhere"})
    assert server.file.as_uri() in server.said
    assert server.open().ask().status == 200


@pytest.mark.parametrize(
    ("status", "method", "path", "headers"),
    [
        (200, "GET", "/", {}),
        (200, "GET", "/", {"Sec_Fetch_Site": "none"}),
        (421, "GET", "/", {"Host": "evil.example"}),
        (421, "GET", "/", {"Host": "localhost:{port}"}),
        (421, "GET", "/open", {"Host": "evil.example:{port}"}),
        (401, "GET", "/", {"Cookie": ""}),
        (401, "GET", "/static/style.css", {"Cookie": "microveil-0123456789abcdef=0"}),
        (401, "GET", "http://evil.example/", {"Cookie": ""}),
        (403, "GET", "/", {"Sec_Fetch_Site": "cross-site"}),
        (403, "GET", "/", {"Sec_Fetch_Site": "same-site"}),
        (200, "POST", "/", {"Origin": "http://127.0.0.1:{port}"}),
        (403, "POST", "/", {}),
        (403, "POST", "/", {"Origin": "null"}),
        (403, "POST", "/", {"Origin": "http://evil.example"}),
        (403, "POST", "/", {"Origin": "http://localhost:{port}"}),
        (403, "POST", "/", {"Origin": "http://127.0.0.1:{port}", "Sec_Fetch_Site": "cross-site"}),
        (403, "POST", "/", {"Origin": "http://127.0.0.1:{port}", "Sec_Fetch_Site": "same-site"}),
        (405, "OPTIONS", "/", {"Origin": "http://evil.example"}),
        (405, "PUT", "/", {"Origin": "http://127.0.0.1:{port}"}),
        (405, "DELETE", "/", {"Origin": "http://127.0.0.1:{port}"}),
        (200, "HEAD", "/", {}),
        (401, "GET", "/open?token=0", {}),
        (500, "GET", "/fails", {}),
    ],
)
def test_whom_the_server_answers(server, status, method, path, headers):
    """Over the wire too: own requests pass, others are refused, and no answer lets others read."""
    given = {name: value.replace("{port}", f"{server.port}") for name, value in headers.items()}
    answer = server.ask(method, path, b"" if method in {"POST", "PUT"} else None, **given)
    assert answer.status == status
    assert answer.headers["cache-control"] == "no-store"
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    for name in ("server", "date", "access-control-allow-origin", "set-cookie"):
        assert name not in answer.headers


def test_other_machines_get_no_answer(server):
    """It listens on 127.0.0.1 alone, not on this machine's other addresses."""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", server.port), timeout=60)
    listening = Path("/proc/net/tcp").read_text().splitlines()
    at = [line.split()[1] for line in listening if f":{server.port:04X} 00000000:0000" in line]
    assert at == [f"0100007F:{server.port:04X}"]


def test_two_pages_do_not_disturb_each_other(start):
    """Ports and cookies differ, one's cookie opens nothing of the other, and both go on."""
    one, other = start().open(), start().open()
    assert one.port != other.port
    assert one.cookie.partition("=")[0] != other.cookie.partition("=")[0]
    assert one.ask(Cookie=other.cookie).status == 401
    assert other.ask(path="/open?token=" + one.token).status == 401
    # A browser sends both to each, and a page of the one is no page of the other.
    both = f"{one.cookie}; {other.cookie}"
    assert one.ask(Cookie=both).status == other.ask(Cookie=both).status == 200
    origin = f"http://127.0.0.1:{one.port}"
    assert other.ask("POST", body=b"", Cookie=both, Origin=origin).status == 403
    assert one.end() == 0
    assert other.ask().status == 200


@pytest.mark.parametrize(
    ("number", "is_opened"),
    [(signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGHUP, True)],
)
def test_it_ends_cleanly(start, number, is_opened):
    """Ctrl-C, SIGTERM and SIGHUP end the application too, and leave no file."""
    server = start()
    eventually((server.folder / "startup").exists)
    if is_opened:
        server.open()
    assert server.end(number) == 0
    assert (server.folder / "shutdown").exists()
    assert not left(server)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=60)


def test_an_answer_without_an_end_does_not_keep_it(start):
    """Ctrl-C ends it while a browser still waits, and the application with it."""
    server = start().open()
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as browser:
        host = f"Host: 127.0.0.1:{server.port}\r\nCookie: {server.cookie}\r\n\r\n"
        browser.sendall(f"GET /hangs HTTP/1.1\r\n{host}".encode())
        assert browser.recv(20).startswith(b"HTTP/1.1 200")
        assert server.end() == 0
    assert (server.folder / "shutdown").exists()


def test_it_ends_with_its_terminal(tmp_path):
    """Closing the window that it was started in ends it, and the application."""
    ours, terminal = os.openpty()
    server = Server.start(
        tmp_path,
        stdin=terminal,
        start_new_session=True,
        before=(sys.executable, "-c", OWNED),
    )
    os.close(terminal)
    eventually((tmp_path / "startup").exists)
    os.close(ours)
    assert server.process.wait(timeout=120) == 0
    server.process.stdout.close()
    assert (tmp_path / "shutdown").exists()
    assert not left(server)


def test_an_application_that_does_not_start_is_an_error(tmp_path, monkeypatch):
    """The program ends with an error then, and leaves no file."""
    monkeypatch.setattr(serving.tempfile, "tempdir", f"{tmp_path / 'tmp'}")
    (tmp_path / "tmp").mkdir()

    async def broken(_scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.failed"})

    with pytest.raises(RuntimeError, match="did not start"):
        serving.serve(
            Folder(tmp_path), open_browser=False, application=lambda _: broken, say=lambda _: None
        )
    assert not list((tmp_path / "tmp").iterdir())


def test_without_room_for_the_file_it_says_what_helps(tmp_path, monkeypatch):
    """Where no file can be made, the error names the folder and another one as the remedy."""
    monkeypatch.setattr(serving.tempfile, "tempdir", f"{tmp_path / 'gone'}")
    with pytest.raises(FileError, match="TMPDIR") as told:
        serving.serve(
            Folder(tmp_path), open_browser=False, application=application, say=lambda _: None
        )
    assert told.value.place == f"{tmp_path / 'gone'}"


def test_the_command_serves_the_folder(tmp_path, monkeypatch):
    """`microveil app FOLDER --file FILE --no-browser` is what is served; this folder by default."""
    served = []
    monkeypatch.setattr(serving, "serve", lambda folder, **given: served.append((folder, given)))
    (tmp_path / "data").mkdir()
    (tmp_path / "people.csv").touch()
    done = run("app", "data", "--file", "people.csv", "--no-browser", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert run("app", folder=tmp_path).returncode == 0
    (first, how), (second, by_default) = served
    assert first == Folder(tmp_path / "data", (tmp_path / "people.csv",))
    assert second == Folder(tmp_path)
    assert (how["open_browser"], by_default["open_browser"]) == (False, True)
    assert run("app", "gone", folder=tmp_path).returncode == 2


@pytest.mark.parametrize("library", ["uvicorn", "starlette", "jinja2"])
def test_without_its_libraries_the_command_says_what_installs_them(tmp_path, monkeypatch, library):
    """It names the extra, and starts nothing."""
    monkeypatch.setitem(sys.modules, library, None)
    done = run("app", "--no-browser", folder=tmp_path)
    assert done.returncode == 2
    assert library in done.stderr
    assert "pip install 'microveil[app]'" in done.stderr
    assert done.stdout == ""
