"""Files of the web: fetched into memory, never onto the disk.

A redirection goes to http or https, and from https to https alone. What a server answers is no
part of a message. Half of the memory that is free is the most that a file may come to, said in
advance or counted on the way. Addresses come from whoever calls, never from a recipe or from a
file: a program that lets others name them gives them the network that it is in.
"""

import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from typing import IO

from microveil.errors import FileError
from microveil.files.address import Address
from microveil.files.compression import check_fits, joined

__all__ = ["downloaded"]

_SECONDS = 30.0  # without a byte
_STEP = 1 << 20
_REMEDY = "check the address and the connection, or download the file yourself and name it"


class _Redirections(urllib.request.HTTPRedirectHandler):
    """Follow a few, never away from a connection that is encrypted."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Message,
        newurl: str,
    ) -> urllib.request.Request | None:
        allowed = ("https",) if req.type == "https" else ("http", "https")
        scheme = newurl.partition(":")[0].lower()
        if scheme not in allowed:
            raise _RedirectedError
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]


class _RedirectedError(Exception):
    """A redirection leads where none may."""


def downloaded(address: Address, progress: Callable[[str], None] = lambda _step: None) -> bytes:
    """Fetch a file.

    Parameters
    ----------
    address : Address
        Of http or https.
    progress : callable
        Gets how large it is, where the server says so.

    Raises
    ------
    FileError
        If it cannot be fetched whole, or does not fit into half of the memory that is free.
    """
    place = str(address.path)
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
    except TimeoutError:
        rule = f"the server must answer within {_SECONDS:g} seconds, and it does not"
    except urllib.error.URLError as error:
        rule = _unreached(error)
    except (OSError, ValueError, http.client.HTTPException):
        rule = "the file must be fetched whole, and the connection or the answer is broken"
    raise FileError(place, rule, _REMEDY)


def _unreached(error: urllib.error.URLError) -> str:
    if isinstance(error.reason, TimeoutError):
        return f"the server must answer within {_SECONDS:g} seconds, and it does not"
    if isinstance(error.reason, ssl.SSLCertVerificationError):
        return "the server must prove who it is, and its certificate is not valid"
    return "the server must be reached, and it is not"


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
