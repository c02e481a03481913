"""What the page answers by itself, and the headers that every answer carries."""

import html
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "FROM_ELSEWHERE",
    "NO_COOKIE",
    "NO_HOST",
    "NO_METHOD",
    "NO_OPENING",
    "NO_TOKEN",
    "PAGE_POLICY",
    "TOO_LARGE",
    "Answer",
    "Message",
    "Refusal",
    "Send",
    "internal_error",
]

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_POLICY = b"content-security-policy"
_REFERRER = b"referrer-policy"
_SET_BY_GUARD = frozenset(name for name, _ in _HEADERS) | {_POLICY, _REFERRER}
_AGAIN = "End the program in its terminal with Ctrl-C, and start microveil app again"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not let through, and what its sender can do."""

    status: int
    title: str
    reason: str
    remedy: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


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
    ((b"allow", b"GET, HEAD, POST"),),
)
NO_OPENING = Refusal(
    405,
    "No such request",
    "The page is opened by following its link.",
    "Open the file that the terminal names in a browser",
    ((b"allow", b"GET"),),
)
NO_TOKEN = Refusal(
    401,
    "Not opened",
    "The link opens the page once, and within 60 seconds of the start.",
    _AGAIN,
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


def internal_error(error: Exception) -> Refusal:
    """Say that an unforeseen error happened: its type alone, its message may hold a value.

    >>> internal_error(ValueError("-7 is no age")).reason
    'ValueError. What was released, if anything, is whole.'
    """
    reason = f"{type(error).__name__}. What was released, if anything, is whole."
    return Refusal(500, "An error of our own", reason, _AGAIN)


class Answer:
    """What is sent to the browser: everything of it with our headers.

    >>> import asyncio
    >>> sent = []
    >>> async def send(message):
    ...     sent.append(message)
    >>> asyncio.run(Answer(send, "GET").refuse(NO_COOKIE))
    >>> sent[0]["status"], b"Ctrl-C" in sent[1]["body"]
    (401, True)
    """

    def __init__(self, send: Send, method: str) -> None:
        self.send = send
        self.method = method
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        """Send a message of the application."""
        # With no-referrer, browsers send forms with an Origin of null.
        await self._send(message, referrer=b"same-origin")

    async def _send(self, message: Message, *, referrer: bytes) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            headers = list(_guarded(message.get("headers", ())))
            message = {**message, "headers": [*headers, (_REFERRER, referrer)]}
        await self.send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with why, and what to do; what is left of the body is not read."""
        text = f"<h1>{html.escape(refusal.title)}</h1>"
        text += f"<p>{html.escape(refusal.reason)}</p><p>{html.escape(refusal.remedy)}.</p>"
        page = _page(refusal.title, text)
        await self._send_page(refusal.status, page, (*refusal.headers, (b"connection", b"close")))

    async def lead_home(self, cookie: str) -> None:
        """Hand out the cookie, with a page that goes on to the first one."""
        page = _page("microveil", '<p><a href="/">Go on</a></p>', leads_to="/")
        await self._send_page(200, page, ((b"set-cookie", cookie.encode()),))

    async def _send_page(
        self, status: int, page: str, headers: tuple[tuple[bytes, bytes], ...]
    ) -> None:
        """Answer with a whole page; a HEAD, with what would stand before it."""
        body = page.encode()
        about = (
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-length", b"%d" % len(body)),
        )
        start = {"type": "http.response.start", "status": status, "headers": [*about, *headers]}
        # The address may hold the token.
        await self._send(start, referrer=b"no-referrer")
        await self.send(
            {"type": "http.response.body", "body": b"" if self.method == "HEAD" else body}
        )


def _page(title: str, text: str, leads_to: str | None = None) -> str:
    lead = f'<meta http-equiv="refresh" content="0; url={leads_to}">' if leads_to else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title>{lead}</head><body><main>{text}</main></body></html>\n"
    )


def _guarded(headers: Any) -> Iterator[tuple[bytes, bytes]]:
    """Give the headers of an answer, with ours in place of theirs."""
    policies = [value for name, value in headers if name.lower() == _POLICY]
    yield from ((name, value) for name, value in headers if name.lower() not in _SET_BY_GUARD)
    yield from _HEADERS
    yield _POLICY, policies[0] if _is_sealed(policies) else PAGE_POLICY.encode()


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
