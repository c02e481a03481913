"""Files of the web: fetched into memory, never onto the disk.

A redirection goes to http or https, and from https to https alone. What a server answers is no
part of a message. Addresses come from whoever calls, never from a recipe or from a
file: a program that lets others name them gives them the network that it is in.
"""

import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from microveil.errors import FileError
from microveil.files.address import Address
from microveil.files.compression import check_fits, joined

_SECONDS = 30.0  # without a byte
_STEP = 1 << 20
_REMEDY = "check the address and the connection, or download the file yourself and name it"


class _RedirectedError(Exception):
    """A redirection leads where none may."""


class _Redirections(urllib.request.HTTPRedirectHandler):
    """Follow a few, never away from a connection that is encrypted."""

    def redirect_request(self, req: urllib.request.Request, *answer: Any) -> Any:
        scheme = answer[-1].partition(":")[0].lower()
        if scheme not in ({"https"} if req.type == "https" else {"http", "https"}):
            raise _RedirectedError
        return super().redirect_request(req, *answer)


def downloaded(address: Address, progress: Callable[[str], None]) -> bytes:
    """Fetch a file; progress gets how large it is, where the server says so."""
    # Built anew: what a program installed for all of urllib, passwords among it, is not used.
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(context=ssl.create_default_context()),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirections(),
    ):
        opener.add_handler(handler)
    try:
        with opener.open(address.location, timeout=_SECONDS) as answer:
            return _whole(address, answer, progress)
    except FileError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        rule = f"the server must give the file, and it answers {error.code}"
    except _RedirectedError:
        rule = "a redirection must lead to http or https, and from https to https, and one does not"
    except (OSError, ValueError, http.client.HTTPException) as error:
        rule = _unreached(error)
    raise FileError(str(address.path), rule, _REMEDY)


def _unreached(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, TimeoutError):
        return f"the server must answer within {_SECONDS:g} seconds, and it does not"
    if isinstance(reason, ssl.SSLCertVerificationError):
        return "the server must prove who it is, and its certificate is not valid"
    if isinstance(error, urllib.error.URLError):
        return "the server must be reached, and it is not"
    return "the file must be fetched whole, and the connection or the answer is broken"


def _whole(
    address: Address, answer: http.client.HTTPResponse, progress: Callable[[str], None]
) -> bytes:
    said = answer.headers.get("Content-Length", "")
    expected = int(said) if said.isascii() and said.isdigit() else None
    if expected is not None:
        check_fits(address.path, expected)
        progress(f"downloading {expected / 1e6:.1f} MB")
    raw = joined(address.path, iter(lambda: answer.read(_STEP), b""))
    if expected is not None and len(raw) != expected:
        raise http.client.IncompleteRead(b"")
    return raw
