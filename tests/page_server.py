"""The server of the page with an application of the tests' own, and requests to it."""

import asyncio
import contextlib
import http.client
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from microveil.app.places import Folder
from microveil.app.serving import serve

__all__ = ["Answer", "Server", "application", "asked", "eventually"]

SEALED = b"default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


@dataclass(frozen=True)
class Answer:
    """What came back, header names in small letters."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self):
        return self.body.decode()


def application(folder):
    """An application that shows what it was asked, and says in the folder when it is ended."""

    async def fails():
        raise ValueError("-4711 is no age")

    async def answer(scope, receive, send):
        if scope["type"] == "lifespan":
            for part in ("startup", "shutdown"):
                await receive()
                (folder.root / part).touch()
                await send({"type": f"lifespan.{part}.complete"})
            return
        body = (await receive())["body"]
        headers = [(b"content-type", b"text/plain")]
        if scope["path"] == "/fails":
            raise ValueError("-4711 is no age")
        if scope["path"] == "/report":
            headers.append((b"Content-Security-Policy", SEALED))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["path"] == "/leaves-an-error":
            task = asyncio.create_task(fails())
            await asyncio.sleep(0)
            del task
        hangs = scope["path"] in {"/hangs", "/fails-late"}
        text = f"the page, {len(body)} bytes".encode()
        await send({"type": "http.response.body", "body": text, "more_body": hangs})
        if scope["path"] == "/fails-late":
            raise ValueError("-4711 is no age")
        if hangs:
            await asyncio.sleep(600)

    return answer


def asked(guard, method="GET", path="/", *, headers=(), pieces=(b"",), query=b""):
    """Ask an ASGI application, with a body in pieces; a None among them is a browser that left."""
    scope = {
        "type": "http", "method": method, "path": path, "query_string": query,
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
    }  # fmt: skip
    left = list(pieces)
    sent = []

    async def receive():
        piece = left.pop(0)
        if piece is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": bool(left)}

    async def send(message):
        sent.append(message)

    asyncio.run(guard(scope, receive, send))
    if not sent:
        return None
    found = {}
    for name, value in sent[0]["headers"]:
        assert name.decode() not in found, "a header is there twice"
        found[name.decode()] = value.decode()
    body = b"".join(message["body"] for message in sent[1:])
    return Answer(sent[0]["status"], found, body)


def eventually(is_so):
    """Wait until something is so; it is not asserted how long that takes."""
    ends = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.02)


def _hears_its_terminal():
    """Be as started in a terminal, also where the tests themselves are to outlive theirs."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@dataclass
class Server:
    """A process that serves `application` for a folder."""

    folder: Path
    process: subprocess.Popen
    file: Path = field(init=False)
    said: str = field(init=False, default="")
    port: int = field(init=False)
    cookie: str = field(init=False, default="")

    @classmethod
    def start(cls, folder, *words, before=(), **given):
        """Start it; its files for a moment are in a folder of their own."""
        (folder / "tmp").mkdir(exist_ok=True)
        environment = {**os.environ, "TMPDIR": f"{folder / 'tmp'}", **given.pop("environment", {})}
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **given}
        given.setdefault("preexec_fn", _hears_its_terminal)
        command = [*before, sys.executable, __file__, f"{folder}", *words]
        return cls(folder, subprocess.Popen(command, env=environment, text=True, **given)).settled()

    def settled(self):
        """Read what to open, and where it leads to."""
        while "Ctrl-C" not in self.said:
            line = self.process.stdout.readline()
            assert line, self.said
            self.said += line
        self.file = Path(re.search(r"file://(\S+)", self.said)[1])
        self.link = re.search(r'href="(.*?)"', self.file.read_text())[1]
        self.port = int(re.search(r":(\d+)/", self.link)[1])
        self.token = self.link.partition("token=")[2]
        return self

    def ask(self, method="GET", path="/", body=None, **headers):
        """Send a request, with the cookie if there is one."""
        given = {"Cookie": self.cookie, "Host": f"127.0.0.1:{self.port}"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        with contextlib.ExitStack() as opened:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            opened.callback(connection.close)
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in given.items():
                if value:
                    connection.putheader(name, value)
            if body is not None and "Transfer_Encoding" not in headers:
                connection.putheader("Content-Length", f"{len(body)}")
            connection.endheaders()
            if body:
                connection.send(body)
            answer = opened.enter_context(connection.getresponse())
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())

    def open(self):
        """Follow the link, and keep the cookie."""
        answer = self.ask(path="/open?token=" + self.token)
        assert answer.status == 200, answer.text
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return self

    def end(self, number=signal.SIGINT):
        """End it, and say with what code it ended."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        said, _ = self.process.communicate(timeout=120)
        self.said += said or ""
        return self.process.returncode


def main():
    """Serve a folder; a second word opens a browser."""
    serve(
        Folder(Path(sys.argv[1])),
        open_browser="browser" in sys.argv,
        application=application,
        say=lambda line: print(line, flush=True),  # noqa: T201
    )


if __name__ == "__main__":
    main()
