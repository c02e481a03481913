"""Where a table is, in one string: a file, a URL, a table or a query of a database.

No recipe holds one: what a recipe from elsewhere asks for opens no file and no connection. Nothing
of an address that could be a password is shown or written anywhere: passwords are refused, and of
a URL the host and the file's name are shown alone.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit
from urllib.request import url2pathname

from microveil.errors import FileError
from microveil.files.formats import FORMATS

# A single letter is a drive of Windows.
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://", flags=re.IGNORECASE)
_WEB = ("http", "https")
# What libpq reads of a URL that would be a password.
_SECRETS = {"password", "sslpassword"}
_STAYS = "which would stay in histories and lists of processes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a table is, by its scheme: file, http, https or postgresql."""

    scheme: str
    location: str  # a path, a URL, or what connects to a database
    path: Path  # as messages name it: a file's own, of a URL its host and the file's name
    table: str | None = None
    query: str | None = None

    @property
    def is_web(self) -> bool:
        """Whether it has to be downloaded."""
        return self.scheme in _WEB


def address_of(given: str | os.PathLike[str]) -> Address:
    """Read an address; an error about it repeats nothing, which may be a password."""
    written = os.fspath(given)
    named = _SCHEME.match(written)
    if named is None:
        return _of_file(written)
    scheme, rest = named[1].lower(), written[named.end() :]
    if scheme == "file":
        host, slash, path = rest.partition("/")
        if host in ("", "localhost"):
            return _of_file(url2pathname(slash + path))
        rule = "it must name a file of this machine, and it names another"
        raise FileError("file URL", rule, "write file:///folder/people.csv, or the file's path")
    if scheme in _WEB:
        return _of_web(scheme, rest)
    if scheme in ("postgresql", "postgres"):
        return _of_database(rest)
    raise FileError(
        "address",
        "it must be a file's name or begin with https:// http:// file:// or postgresql://",
        "name a SQLite file by its path: people.db?table=NAME; export other databases to a file",
    )


def shown(given: str) -> str:
    """Return an address as a command to run next has it: DATA where it may hold a secret.

    A query may hold values, and what stands behind a ? in a URL may open doors.

    >>> shown("people.db?table=people"), shown("people.db?query=SELECT 1")
    ('people.db?table=people', 'DATA')
    """
    address = address_of(given)
    is_secret = address.query is not None or (address.is_web and "?" in given)
    return "DATA" if is_secret else given


def in_file(path: Path, table: str | None, query: str | None) -> str:
    """Write the address of a table in a file, or of what a query gives."""
    if query is not None:
        return f"{path}?query={query}"
    return f"{path}" if table is None else f"{path}?table={quote(table)}"


def _of_file(written: str) -> Address:
    """Read a path, with a table or a query behind it where it is one of several tables."""
    file, mark, asked = written.partition("?")
    databases = tuple(
        end for entry in FORMATS.values() if entry.has_tables for end in entry.suffixes
    )
    if not mark or not file.lower().endswith(databases) or os.path.lexists(written):
        return Address(scheme="file", location=written, path=Path(written))
    others, table, query = _asked(asked)
    if others:
        raise FileError(
            file,
            "behind the ? of a database's file a table or a query is named, and nothing else",
            f"write {Path(file).name}?table=NAME",
        )
    return Address(scheme="file", location=file, path=Path(file), table=table, query=query)


def _of_web(scheme: str, rest: str) -> Address:
    url = f"{scheme}://{rest}"
    try:
        parts = urlsplit(url)
        host, has_user = parts.hostname or "", "@" in parts.netloc
        _ = parts.port  # a password that is cut at a slash is no port
    except ValueError:
        host, has_user = "", False
    if has_user:
        rule = f"it must hold no user and no password, {_STAYS}"
        remedy = "download the file with a program that keeps them, and name the file"
        raise FileError(f"{scheme} URL", rule, remedy)
    if not host:
        raise FileError(f"{scheme} URL", "it must be a URL", "write https://HOST/FOLDER/people.csv")
    # Other parts of it may be secret: links that are shared are often as good as passwords.
    name = unquote(parts.path.rpartition("/")[2]).rpartition("@")[2]
    return Address(scheme=scheme, location=url, path=Path(host, Path(name).name))


def _of_database(rest: str) -> Address:
    where, _, asked = rest.partition("?")
    others, table, query = _asked(asked)
    user, at, _ = where.rpartition("@")
    keys = {unquote(part.partition("=")[0]).strip().lower() for part in others}
    if (at and ":" in user) or keys & _SECRETS:
        remedy = (
            "set PGPASSWORD, or write it into ~/.pgpass or a service file, which PostgreSQL's own "
            "programs read too"
        )
        raise FileError("PostgreSQL", f"its address must hold no password, {_STAYS}", remedy)
    location = f"postgresql://{where}" + (f"?{'&'.join(others)}" if others else "")
    return Address(
        scheme="postgresql", location=location, path=Path("PostgreSQL"), table=table, query=query
    )


def _asked(options: str) -> tuple[list[str], str | None, str | None]:
    """Divide what stands behind a ?: what is said to others, the table and the query."""
    before, found, query = f"&{options}".partition("&query=")
    parts = [part for part in before.split("&") if part]
    tables = [unquote(part[6:]) for part in parts if part.startswith("table=")]
    if len(tables) + bool(found) > 1:
        raise FileError(
            "address", "it must name one table or one query, and it names several", "name one"
        )
    if (found and not query.strip()) or "" in tables:
        raise FileError("address", "its table or query must not be empty", "write ?table=NAME")
    others = [part for part in parts if not part.startswith("table=")]
    return others, next(iter(tables), None), query if found else None
