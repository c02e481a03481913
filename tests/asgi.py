"""A browser's requests to an application in this process, as far as tests need them."""

import asyncio
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def location(self):
        """Where it leads."""
        return self.headers["location"]


async def asked(application, method, target, form=None):
    """Send one request and return the answer."""
    path, _, query = target.partition("?")
    body = b"" if form is None else urlencode(form).encode()
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
        "scheme": "http", "path": path, "raw_path": path.encode(), "root_path": "",
        "query_string": query.encode(), "server": ("127.0.0.1", 80), "client": None,
        "headers": [(b"content-type", b"application/x-www-form-urlencoded")],
    }  # fmt: skip
    parts, started = [], {}

    bodies = [body]

    async def receive():
        if not bodies:  # the browser stays
            await asyncio.Event().wait()
        return {"type": "http.request", "body": bodies.pop(), "more_body": False}

    async def send(message):
        if message["type"] == "http.response.start":
            started.update(message)
        else:
            parts.append(message.get("body", b""))

    await application(scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in started["headers"]}
    return Answer(started["status"], headers, b"".join(parts).decode())
