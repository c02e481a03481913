"""Who may speak with the page: each request that is not its own browser's is refused."""

import asyncio
import hmac
import re
import time
from threading import Barrier, Thread

import pytest

from microveil.app import access as module
from microveil.app.access import LARGEST_BODY, Access, Guard, OneTimeToken
from page_server import SEALED, asked

HOST = ("host", "127.0.0.1:8765")
ORIGIN = ("origin", "http://127.0.0.1:8765")
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
EVERY_HEADER = {
    "cache-control": "no-store",
    "content-security-policy": PAGE_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


class House:
    """A guard, and the application behind it, which keeps what reaches it."""

    def __init__(self):
        self.now = 100.0
        self.seen = []
        self.headers = []
        self.access = Access.fresh(8765)
        self.token = OneTimeToken(self.now)
        self.guard = Guard(self.application, self.access, self.token, lambda: self.now)
        self.cookie = ("cookie", f"{self.access.cookie}={self.access.secret}")

    async def application(self, scope, receive, send):
        if scope["type"] != "http":
            self.seen.append(scope["type"])
            return
        message = await receive()
        self.seen.append((scope["method"], scope["path"], message["body"]))
        if scope["path"] == "/fails":
            raise ValueError("-7 is no age")
        start = {"type": "http.response.start", "status": 200, "headers": self.headers}
        await send(start)
        if scope["path"] == "/fails-late":
            raise ValueError("-7 is no age")
        await send({"type": "http.response.body", "body": b"the page"})

    def ask(self, *more, method="GET", path="/", **given):
        """Ask as its own browser would, and more."""
        headers = [HOST, self.cookie, *([ORIGIN] if method == "POST" else []), *more]
        return asked(self.guard, method, path, headers=headers, **given)

    def ask_with(self, *headers, method="GET", path="/", **given):
        """Ask with these headers alone."""
        return asked(self.guard, method, path, headers=headers, **given)

    def open(self, query=None, *more, method="GET"):
        """Ask for what the token opens, with no cookie."""
        asked_for = f"token={self.token.value}" if query is None else query
        return self.ask_with(
            HOST, *more, method=method, path="/open", query=asked_for.encode("latin-1")
        )


@pytest.fixture
def house():
    return House()


def refused(house, answer, status, *, is_head=False):
    """Whether it was refused with a sentence, and did not reach the application."""
    assert (answer.status, house.seen) == (status, [])
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    if not is_head:
        assert re.search(r"<h1>[^<>]+</h1><p>[^<>]+\.</p><p>[^<>]+\.</p>", answer.text)
    assert answer.headers["connection"] == "close"


def test_every_start_has_a_cookie_of_its_own():
    """Names and values differ between starts, have 64 and 256 random bits, and no repr has them."""
    starts = [Access.fresh(8765) for _ in range(20)]
    assert len({one.cookie for one in starts}) == len({one.secret for one in starts}) == 20
    assert all(re.fullmatch(r"microveil-[0-9a-f]{16}", one.cookie) for one in starts)
    assert all(re.fullmatch(r"[0-9a-f]{64}", one.secret) for one in starts)
    assert not any(one.secret in repr(one) or one.cookie in repr(one) for one in starts)
    tokens = {OneTimeToken(0.0).value for _ in range(20)}
    assert len(tokens) == 20
    assert all(re.fullmatch(r"[0-9a-f]{64}", value) for value in tokens)


def test_of_many_threads_one_uses_the_token(monkeypatch):
    """However many ask at the same moment, one of them is let in."""
    token, start, let_in = OneTimeToken(0.0), Barrier(8), []
    is_open = token.is_open

    def after_a_while(now):
        found = is_open(now)
        time.sleep(0.01)  # the others come meanwhile
        return found

    def use():
        start.wait()
        let_in.append(token.use(token.value, 1.0))

    monkeypatch.setattr(token, "is_open", after_a_while)
    threads = [Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(let_in) == [False] * 7 + [True]


def test_secrets_are_compared_in_constant_time(house, monkeypatch):
    """Token and cookie are compared whole: by how long it takes, no part of them is learnt."""
    compared = []

    def compare(one, other):
        compared.append((one, other))
        return hmac_compare(one, other)

    hmac_compare = hmac.compare_digest
    monkeypatch.setattr(module.hmac, "compare_digest", compare)
    house.open("token=wrong")
    house.ask_with(HOST, ("cookie", f"{house.access.cookie}=wrong"))
    assert compared == [
        (b"wrong", house.token.value.encode()),
        (b"wrong", house.access.secret.encode()),
    ]


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_its_own_browser_is_let_in(house, method):
    """With our host, cookie and, to change something, our Origin, a request passes as it is."""
    answer = house.ask(method=method, path="/columns", pieces=(b"a=", b"1"))
    assert answer.status == 200
    assert house.seen == [(method, "/columns", b"a=1")]


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8765", "localhost:8765", "localhost", "127.0.0.1",
        "127.0.0.1:8766", "127.0.0.2:8765", "[::1]:8765", "127.0.0.1:8765.evil.example", "",
        "127.0.0.1:8765, evil.example",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/open"])
def test_a_foreign_host_is_refused(house, host, path):
    """A name that somebody else's server owns does not lead here, nor does it spend the token."""
    query = f"token={house.token.value}".encode()
    answer = house.ask_with(("host", host), house.cookie, path=path, query=query)
    refused(house, answer, 421)
    assert house.token.is_open(house.now)


@pytest.mark.parametrize("hosts", [(), (HOST, HOST), (HOST, ("host", "evil.example"))])
def test_a_request_has_one_host(house, hosts):
    """Without a host, or with two, nobody knows whom it is for."""
    refused(house, house.ask_with(*hosts, house.cookie), 421)


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "get", "X"])
@pytest.mark.parametrize("path", ["/", "/open"])
def test_other_methods_are_refused(house, method, path):
    """A page is asked for or a form is sent: no question before it, no other change."""
    answer = house.ask(method=method, path=path)
    refused(house, answer, 405)
    assert "GET" in answer.headers["allow"]
    assert method not in answer.headers["allow"].split(", ")


def test_a_request_without_the_cookie_is_refused(house):
    """Another's cookie, or ours with another value, is none, and it says how to start again."""
    name, secret = house.access.cookie, house.access.secret
    other = Access.fresh(8765)
    for cookies in (
        (), ("",), (f"{other.cookie}={other.secret}",), (f"{name}={other.secret}",),
        (f"{other.cookie}={secret}",), (f"{name}={secret[:-1]}",), (f"{name}={secret}0",),
        (f"{name}=",), (f"x{name}={secret}",), (secret,), (name,), (f"{name}: {secret}",),
    ):  # fmt: skip
        answer = house.ask_with(HOST, *(("cookie", cookie) for cookie in cookies))
        refused(house, answer, 401)
        assert "Ctrl-C" in answer.text
        assert "microveil app" in answer.text


def test_cookies_of_others_do_no_harm(house):
    """Beside ours may stand those of other servers on this machine, even one of our name."""
    other = Access.fresh(8766)
    planted = (
        f"a=1; {other.cookie}={other.secret}; {house.access.cookie}=planted; {house.cookie[1]}"
    )
    assert house.ask_with(HOST, ("cookie", planted)).status == 200
    assert house.ask_with(HOST, ("cookie", "a=1"), house.cookie).status == 200


@pytest.mark.parametrize(
    "origins",
    [
        (), ("null",), ("http://evil.example",), ("http://127.0.0.1:8766",), ("http://127.0.0.1",),
        ("https://127.0.0.1:8765",), ("http://localhost:8765",), ("",),
        ("http://127.0.0.1:8765.evil.example",), ("http://127.0.0.1:8765", "http://evil.example"),
        ("http://127.0.0.1:8765/",),
    ],
)  # fmt: skip
def test_what_changes_anything_comes_from_our_origin(house, origins):
    """A form posted by another page, by a page of no origin or by no page is refused."""
    headers = [HOST, house.cookie, *(("origin", one) for one in origins)]
    refused(house, house.ask_with(*headers, method="POST"), 403)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "", "Same-Origin", "x"])
def test_what_changes_anything_was_sent_by_our_page(house, site):
    """Whatever Origin it names, what the browser does not call same-origin changes nothing."""
    refused(house, house.ask(("sec-fetch-site", site), method="POST"), 403)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("site", ["cross-site", "same-site", ""])
def test_another_page_shows_none_of_ours(house, method, site):
    """Links, pictures and frames of other pages get nothing, of other ports neither."""
    refused(
        house, house.ask(("sec-fetch-site", site), method=method), 403, is_head=method == "HEAD"
    )


def test_a_header_that_is_there_twice_says_nothing(house):
    """A request that is called same-origin and cross-site is refused."""
    both = (("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site"))
    refused(house, house.ask(*both), 403)
    refused(house, house.ask(*both, method="POST"), 403)


@pytest.mark.parametrize("site", [(), ("none",), ("cross-site",)])
def test_the_token_is_exchanged_for_the_cookie(house, site):
    """Opened from a file, it gives the one cookie that lets in, and leads on to the first page."""
    answer = house.open(None, *(("sec-fetch-site", one) for one in site))
    assert answer.status == 200
    cookie, *rest = answer.headers["set-cookie"].split("; ")
    assert sorted(rest) == ["HttpOnly", "Path=/", "SameSite=Strict"]
    assert ("cookie", cookie) == house.cookie
    assert '<meta http-equiv="refresh" content="0; url=/">' in answer.text
    # That page's own address has the token, which it must not pass on.
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert house.seen == []
    assert house.ask_with(HOST, ("cookie", cookie)).status == 200


def test_a_token_opens_the_page_once_and_in_time(house):
    """The second use is refused, and so is the first after a minute: no cookie is given."""
    assert house.open().status == 200
    again = house.open()
    refused(house, again, 401)
    late = House()
    late.now += 60
    answer = late.open()
    refused(late, answer, 401)
    for one in (again, answer):
        assert "set-cookie" not in one.headers
        assert "Ctrl-C" in one.text


def test_what_is_not_the_token_opens_nothing(house):
    """No token, a wrong one or two of them give no cookie, and spend nothing."""
    value = house.token.value
    for query in (
        "", "token", "token=", "token=0", f"Token={value}", f"token={value}&token={value}",
        f"x={value}", f"token={value}0", "token=%ff%00", "token=é", f"/{value}", "&" * 5000,
    ):  # fmt: skip
        refused(house, house.open(query), 401)
    assert house.open(f"token={value}&x=1").status == 200


def test_nobody_spends_the_token_by_looking(house):
    """A HEAD or a POST to what it opens is refused, and leaves it as it was."""
    for method in ("HEAD", "POST"):
        answer = house.open(method=method)
        refused_by = (answer.status, answer.headers["allow"])
        assert refused_by == (405, "GET")
    assert house.open().status == 200


def test_a_path_like_that_of_the_token_is_none(house):
    """Only the very address exchanges it; every other needs the cookie."""
    for path in ("/open/", "//open", "/Open", "open", "/x/../open", "http://x/open"):
        query = f"token={house.token.value}".encode()
        refused(house, house.ask_with(HOST, path=path, query=query), 401)


def test_a_body_has_an_end(house):
    """One megabyte passes whole; a byte more is refused, with and without its length said."""
    most = b"x" * LARGEST_BODY
    assert house.ask(method="POST", pieces=(most[:-7], most[:7])).status == 200
    assert house.seen.pop() == ("POST", "/", most)
    length = ("content-length", f"{LARGEST_BODY + 1}")
    refused(house, house.ask(length, method="POST", pieces=()), 413)
    for method in ("POST", "GET"):
        endless = (most, b"y", AssertionError("more was read than needed"))
        refused(house, house.ask(method=method, pieces=endless), 413)
    refused(house, house.ask(("content-length", "9" * 5000), method="POST", pieces=()), 413)
    lie = ("content-length", "2")
    refused(house, house.ask(lie, method="POST", pieces=(most, b"y")), 413)


def test_a_browser_that_leaves_is_not_answered(house):
    """A body that never came whole does not reach the application."""
    assert house.ask(method="POST", pieces=(b"method=", None)) is None
    assert house.seen == []


def test_a_web_socket_is_closed(house):
    """Whoever asks for one, with our cookie too, is not let in."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        raise AssertionError("it listens")

    scope = {"type": "websocket", "path": "/", "headers": [(b"host", b"127.0.0.1:8765")]}
    asyncio.run(house.guard(scope, receive, send))
    assert [message["type"] for message in sent] == ["websocket.close"]
    asyncio.run(house.guard({"type": "another"}, receive, send))
    assert house.seen == []
    asyncio.run(house.guard({"type": "lifespan"}, receive, send))
    assert house.seen == ["lifespan"]


def test_every_answer_has_the_headers(house):
    """Refused or not, nothing is kept, framed, guessed or loaded from elsewhere."""
    house.headers = [
        (b"Cache-Control", b"public"), (b"content-security-policy", b"default-src *"),
        (b"referrer-policy", b"unsafe-url"), (b"X-Content-Type-Options", b""), (b"x-more", b"1"),
    ]  # fmt: skip
    passed = house.ask()
    assert passed.headers["x-more"] == "1"
    # Not no-referrer: with it, browsers send forms with an Origin of null.
    assert passed.headers["referrer-policy"] == "same-origin"
    refusals = [
        house.ask_with(house.cookie), house.ask(method="PUT"), house.ask_with(HOST),
        house.ask(("sec-fetch-site", "cross-site")), house.open("token=0"),
        house.ask(path="/fails"),
        house.ask(("content-length", "9999999")), house.open(),
    ]  # fmt: skip
    assert [one.status for one in refusals] == [421, 405, 401, 403, 401, 500, 413, 200]
    for one in (passed, *refusals):
        assert one.headers.items() >= EVERY_HEADER.items()
    assert {one.headers["referrer-policy"] for one in refusals} == {"no-referrer"}


@pytest.mark.parametrize(
    ("policies", "stands"),
    [
        ([SEALED], True),
        ([b"default-src 'none'; sandbox allow-scripts"], False),
        ([b"default-src 'none'; script-src 'unsafe-inline'; sandbox"], False),
        ([b"default-src 'none'; script-src-elem *; sandbox"], False),
        ([b"default-src *; default-src 'none'; sandbox"], False),
        ([b"default-src *; sandbox"], False),
        ([b"default-src 'none'"], False),
        ([b"default-src 'none'; sandbox, default-src *"], False),
        ([SEALED, SEALED], False),
    ],
)
def test_a_policy_of_its_own_allows_no_script(house, policies, stands):
    """A report may bring its own policy if that seals it in; any other is replaced by ours."""
    house.headers = [(b"Content-Security-Policy", policy) for policy in policies]
    found = house.ask().headers["content-security-policy"]
    assert found == (SEALED.decode() if stands else PAGE_POLICY)


def test_of_an_unforeseen_error_its_type_is_shown(house):
    """Its message may hold a value, and is in no answer; what was begun is broken off."""
    answer = house.ask(path="/fails")
    assert answer.status == 500
    assert "ValueError" in answer.text
    assert "age" not in answer.text
    with pytest.raises(ValueError, match="age"):
        house.ask(path="/fails-late")


def test_nothing_of_a_request_comes_back(house):
    """What a stranger writes into path, query, header and body is in no refusal."""
    mark = "marked<b>"
    noise = [("user-agent", mark), ("referer", mark), ("x-forwarded-host", mark), (mark, mark)]
    given = {"path": f"/{mark}", "query": mark.encode(), "pieces": (mark.encode(),)}
    answers = [
        house.ask_with(("host", mark), *noise, **given),
        house.ask_with(HOST, *noise, ("cookie", f"{mark}={mark}"), **given),
        house.ask(*noise, ("sec-fetch-site", mark), **given),
        house.ask(*noise, method=mark, **given),
        house.ask(*noise, ("content-length", "9999999"), **given),
        house.open(f"token={mark}", *noise),
    ]
    assert [one.status for one in answers] == [421, 401, 403, 405, 413, 401]
    for one in answers:
        assert "marked" not in one.text + repr(one.headers)
