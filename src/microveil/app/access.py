"""Who may speak with the page: the browser that its owner opened, and nothing else.

Every web page that a browser shows, and every program on the machine, can send requests to
127.0.0.1. `Guard` stands before the application and lets pass what carries the cookie of this
start, names this address as its host and was not sent by another page. The cookie is handed out
once, for the token of the file that was opened (`serving`).

What remains: browsers send cookies to all ports of a host. Where somebody else's server runs on
127.0.0.1 and the browser is led there, that server receives the cookie.
"""

import hmac
import secrets
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qsl

from microveil.app.refusals import (
    FROM_ELSEWHERE,
    NO_COOKIE,
    NO_HOST,
    NO_METHOD,
    NO_OPENING,
    NO_TOKEN,
    TOO_LARGE,
    Answer,
    Message,
    Refusal,
    Send,
    internal_error,
)

__all__ = ["LARGEST_BODY", "SECONDS_TO_OPEN", "Access", "Guard", "OneTimeToken"]

Receive = Callable[[], Awaitable[Message]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

# Seconds in which the token must be used.
SECONDS_TO_OPEN = 60.0
# Bytes of a request: forms alone are sent, a table stays where it is.
LARGEST_BODY = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How this start of the page is reached, and the cookie that it knows its browser by.

    >>> access = Access.fresh(8765)
    >>> access.origin, sorted(access.hosts), len(access.secret)
    ('http://127.0.0.1:8765', ['127.0.0.1:8765'], 64)
    """

    origin: str
    hosts: frozenset[str]
    cookie: str = field(repr=False)
    secret: str = field(repr=False)

    @classmethod
    def fresh(cls, port: int) -> Self:
        """Draw the cookie of a new start, from the operating system's random numbers."""
        host = f"127.0.0.1:{port}"
        return cls(
            origin=f"http://{host}",
            hosts=frozenset({host}),
            cookie=f"microveil-{secrets.token_hex(8)}",
            secret=secrets.token_hex(32),
        )

    def admits(self, cookies: bytes) -> bool:
        """Whether the header of a request's cookies holds ours; takes the same time for all."""
        found = False
        for pair in cookies.split(b";"):
            name, _, value = pair.strip().partition(b"=")
            if name == self.cookie.encode():
                found |= hmac.compare_digest(value, self.secret.encode())
        return found


class OneTimeToken:
    """What the page is opened with: good once, and for 60 seconds.

    >>> token = OneTimeToken(now=0.0)
    >>> token.use("another", now=1.0), token.use(token.value, now=1.0)
    (False, True)
    >>> token.use(token.value, now=2.0)
    False
    """

    def __init__(self, now: float) -> None:
        self.value = secrets.token_hex(32)
        self._until = now + SECONDS_TO_OPEN
        self._is_spent = False
        self._lock = threading.Lock()

    def is_open(self, now: float) -> bool:
        """Whether it can still be used."""
        return not self._is_spent and now < self._until

    def use(self, given: str, now: float) -> bool:
        """Whether this is the token, in time and for the first time; it is spent then.

        A wrong one spends nothing, or whoever guesses would lock its owner out.
        """
        is_ours = hmac.compare_digest(given.encode("utf-8", "replace"), self.value.encode())
        with self._lock:
            is_good = is_ours and self.is_open(now)
            self._is_spent |= is_good
        return is_good


class Guard:
    """Let a request pass to the application, or answer it with a refusal.

    A request passes if all of this holds, looked at in this order; nothing of it is repeated in
    an answer:

    - its one Host is ours (421),
    - it is a GET, HEAD or POST (405),
    - no other page sent it: Sec-Fetch-Site, where it is there, is ``same-origin``, or ``none`` of
      a page that is asked for; a POST has our Origin (403),
    - it carries the cookie (401),
    - its body has at most 1 MB (413).

    ``/open`` needs no cookie, and is followed from a file, which is another site. It answers with
    a page that leads on, not with a redirection: of that the browser would still say that another
    site began it, and withhold a cookie that is ``SameSite=Strict``.

    All answers carry the policy on content and the other headers of this module. A policy of the
    application's own stands if it allows no script at all: ``default-src 'none'``, ``sandbox``.
    """

    def __init__(
        self,
        application: Application,
        access: Access,
        token: OneTimeToken,
        clock: Callable[[], float],
    ) -> None:
        self.application = application
        self.access = access
        self.token = token
        self.clock = clock

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on; a web socket is closed."""
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            await self._answer(scope, receive, Answer(send, scope["method"]))

    async def _answer(self, scope: Message, receive: Receive, answer: Answer) -> None:
        refusal = self._refusal(scope)
        if refusal is not None:
            await answer.refuse(refusal)
        elif scope["path"] == "/open":
            await self._open(scope, answer)
        else:
            try:
                body = await _whole_body(scope, receive)
            except _BodyTooLargeError:
                await answer.refuse(TOO_LARGE)
                return
            if body is not None:  # else the browser left
                await self._pass_on(scope, _replayed(body, receive), answer)

    def _refusal(self, scope: Message) -> Refusal | None:
        """Say why a request is refused by what stands before its body; None if it is not."""
        method = scope["method"]
        if _only(scope, b"host") not in self.access.hosts:
            return NO_HOST
        if method not in {"GET", "HEAD", "POST"}:
            return NO_METHOD
        if scope["path"] == "/open":
            return None if method == "GET" else NO_OPENING
        if not self._is_from_here(scope):
            return FROM_ELSEWHERE
        if not self.access.admits(b";".join(_values(scope, b"cookie"))):
            return NO_COOKIE
        return None

    def _is_from_here(self, scope: Message) -> bool:
        """Whether no other page sent a request, as far as the browser says."""
        changes = scope["method"] == "POST"
        if _values(scope, b"sec-fetch-site"):
            allowed = {"same-origin"} if changes else {"same-origin", "none"}
            if _only(scope, b"sec-fetch-site") not in allowed:
                return False
        return not changes or _only(scope, b"origin") == self.access.origin

    async def _open(self, scope: Message, answer: Answer) -> None:
        """Exchange the token for the cookie."""
        asked = parse_qsl(scope["query_string"].decode("latin-1"))
        given = [value for name, value in asked if name == "token"]
        if len(given) != 1 or not self.token.use(given[0], self.clock()):
            await answer.refuse(NO_TOKEN)
            return
        cookie = f"{self.access.cookie}={self.access.secret}; Path=/; HttpOnly; SameSite=Strict"
        await answer.lead_home(cookie)

    async def _pass_on(self, scope: Message, receive: Receive, answer: Answer) -> None:
        try:
            await self.application(scope, receive, answer)
        except Exception as error:
            if answer.has_begun:
                raise
            await answer.refuse(internal_error(error))


def _values(scope: Message, header: bytes) -> list[bytes]:
    return [value for name, value in scope["headers"] if name.lower() == header]


def _only(scope: Message, header: bytes) -> str | None:
    """Return a header that a request has once; None if it is missing, or double."""
    values = _values(scope, header)
    return values[0].decode("latin-1") if len(values) == 1 else None


class _BodyTooLargeError(Exception):
    """A request has more than it may."""


async def _whole_body(scope: Message, receive: Receive) -> bytes | None:
    """Read a body; None if the browser left meanwhile."""
    said = _only(scope, b"content-length")
    if said is not None and (len(said) > 20 or int(said) > LARGEST_BODY):
        raise _BodyTooLargeError
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise _BodyTooLargeError
        if not message.get("more_body", False):
            return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Receive a body that was read, then what the server says of the connection."""
    waiting = [body]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay
