"""Who may speak with the page: the browser that its owner opened, and nothing else.

Every web page that a browser shows, and every program on the machine, can send requests to
127.0.0.1. `Guard` stands before the application and lets pass what carries the cookie of this
start, names this address as its host and was not sent by another page. The cookie is handed out
once, for the token of the file that was opened (`serving`).

What remains: browsers send cookies to all ports of a host. Where somebody else's server runs on
127.0.0.1 and the browser is led there, that server receives the cookie.
"""

import hmac
import html
import secrets
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qsl

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

# Seconds in which the token must be used.
SECONDS_TO_OPEN = 60.0
# Bytes of a request: forms alone are sent, a table stays where it is.
LARGEST_BODY = 1_000_000
PAGE_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    b"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_POLICY, _REFERRER = b"content-security-policy", b"referrer-policy"
_HEADERS = {
    b"cache-control": b"no-store",
    b"x-content-type-options": b"nosniff",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
_AGAIN = "End the program in its terminal with Ctrl-C, and start microveil app again"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not let through, and what its sender can do."""

    status: int
    title: str
    reason: str
    remedy: str
    allow: bytes | None = None


NO_HOST = Refusal(
    421,
    "Another address",
    "The address of this page begins with 127.0.0.1 and its port; it was called by another name.",
    "Open it by the address that begins with http://127.0.0.1",
)
NO_METHOD = Refusal(
    405,
    "No such request",
    "A page is asked for, or a form of it is sent; nothing else is answered.",
    "Open the page in a browser",
    b"GET, HEAD, POST",
)
NO_OPENING = Refusal(
    405,
    "No such request",
    "The page is opened by following its link.",
    "Open the file that the terminal names in a browser",
    b"GET",
)
NO_TOKEN = Refusal(
    401, "Not opened", "The link opens the page once, and within 60 seconds of the start.", _AGAIN
)
NO_COOKIE = Refusal(
    401,
    "Not opened here",
    "This page belongs to the browser that it was opened in when it was started.",
    _AGAIN,
)
FROM_ELSEWHERE = Refusal(
    403,
    "From another page",
    "Another page sent this request; it was not carried out.",
    "If it was you, type the address into the browser's address bar",
)
TOO_LARGE = Refusal(
    413,
    "Too much",
    "A form of this page has at most 1 MB.",
    "Shorten what was entered; of a table of thousands of columns write a recipe with microveil "
    "inspect, and open that",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How this start of the page is reached, and the cookie that it knows its browser by."""

    origin: str
    host: str
    cookie: str = field(repr=False)
    secret: str = field(repr=False)

    @classmethod
    def fresh(cls, port: int) -> Self:
        """Draw the cookie of a new start, from the operating system's random numbers."""
        return cls(
            origin=f"http://127.0.0.1:{port}",
            host=f"127.0.0.1:{port}",
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
    """What the page is opened with: good once, and for 60 seconds."""

    def __init__(self, now: float) -> None:
        self.value = secrets.token_hex(32)
        self._until = now + SECONDS_TO_OPEN
        self._is_spent = False
        self._lock = threading.Lock()

    def is_open(self, now: float) -> bool:
        """Whether it can still be used."""
        return not self._is_spent and now < self._until

    def use(self, given: str, now: float) -> bool:
        """Spend the token if it is given in time; a wrong guess spends nothing."""
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
            refusal = self._refusal(scope)
            if refusal is None and scope["path"] == "/open":
                await self._open(scope, send)
                return
            if refusal is None:
                refusal = await self._passed_on(scope, receive, send)
            if refusal is not None:
                await _refuse(send, refusal)

    def _refusal(self, scope: Message) -> Refusal | None:
        """Say why a request is refused by what stands before its body; None if it is not."""
        method = scope["method"]
        if _only(scope, b"host") != self.access.host:
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

    async def _open(self, scope: Message, send: Send) -> None:
        """Exchange the token for the cookie, with a page that goes on to the first one."""
        asked = parse_qsl(scope["query_string"].decode("latin-1"))
        given = [value for name, value in asked if name == "token"]
        if len(given) != 1 or not self.token.use(given[0], self.clock()):
            await _refuse(send, NO_TOKEN)
            return
        cookie = f"{self.access.cookie}={self.access.secret}; Path=/; HttpOnly; SameSite=Strict"
        lead = '<meta http-equiv="refresh" content="0; url=/">'
        headers = [(b"set-cookie", cookie.encode())]
        await _send_page(send, 200, "microveil", '<p><a href="/">Go on</a></p>', headers, lead)

    async def _passed_on(self, scope: Message, receive: Receive, send: Send) -> Refusal | None:
        """Have the application answer; return why it did not, unless the browser left."""
        has_begun = False

        async def guarded(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                # With no-referrer, browsers send forms with an Origin of null.
                headers = _guarded(message.get("headers", ()), b"same-origin")
                message = {**message, "headers": headers}
            await send(message)

        try:
            body = await _whole_body(scope, receive)
            if body is not None:
                await self.application(scope, _replayed(body, receive), guarded)
        except _BodyTooLargeError:
            return TOO_LARGE
        except Exception as error:
            if has_begun:
                raise
            # Its type alone: the message may hold a value.
            reason = f"{type(error).__name__}. What was released, if anything, is whole."
            return Refusal(500, "An error of our own", reason, _AGAIN)
        return None


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


async def _refuse(send: Send, refusal: Refusal) -> None:
    """Answer with why, and what to do; what is left of the body is not read."""
    text = f"<h1>{html.escape(refusal.title)}</h1>"
    text += f"<p>{html.escape(refusal.reason)}</p><p>{html.escape(refusal.remedy)}.</p>"
    headers = [(b"connection", b"close")]
    headers += [] if refusal.allow is None else [(b"allow", refusal.allow)]
    await _send_page(send, refusal.status, refusal.title, text, headers)


async def _send_page(
    send: Send,
    status: int,
    title: str,
    text: str,
    headers: list[tuple[bytes, bytes]],
    lead: str = "",
) -> None:
    """Answer with a page of our own; of a HEAD the server sends what stands before it."""
    body = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title>{lead}</head><body><main>{text}</main></body></html>\n"
    ).encode()
    about = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
    ]
    # The address may hold the token.
    guarded = _guarded([*about, *headers], b"no-referrer")
    await send({"type": "http.response.start", "status": status, "headers": guarded})
    await send({"type": "http.response.body", "body": body})


def _guarded(headers: Any, referrer: bytes) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer, with ours in place of theirs."""
    policies = [value for name, value in headers if name.lower() == _POLICY]
    policy = policies[0] if _is_sealed(policies) else PAGE_POLICY
    ours = {**_HEADERS, _POLICY: policy, _REFERRER: referrer}
    return [*(one for one in headers if one[0].lower() not in ours), *ours.items()]


def _is_sealed(policies: list[bytes]) -> bool:
    """Whether an answer has one policy, and that one allows no script, however it is read."""
    if len(policies) != 1 or b"," in policies[0]:
        return False
    rules: dict[bytes, bytes] = {}
    for rule in policies[0].lower().split(b";"):
        name, _, sources = rule.strip().partition(b" ")
        rules.setdefault(name, sources)  # what is said twice holds as it was said first
    has_script = any(name.startswith(b"script-src") for name in rules)
    sealed = rules.get(b"default-src") == b"'none'" and rules.get(b"sandbox") == b""
    return sealed and not has_script
