"""The ledger as a value: its key, its lines, and what they come to."""

import datetime
import hmac
import json
import re
import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from microveil.errors import FileError
from microveil.guarantee import Guarantee
from microveil.ledger.entries import Entry
from microveil.ledger.totals import Totals

__all__ = ["LONGEST_HEAD", "Ledger"]

HEAD = "ledger of releases"
SCHEMA = 1
KEY_BYTES = 32
# The first line of a ledger is far shorter.
LONGEST_HEAD = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What a ledger file says.

    Attributes
    ----------
    begun : str
        When, in UTC.
    key : bytes
        Of the digests: random, and in the file's first line.
    entries : tuple of Entry
        One for each release, in the order in which they were announced.
    """

    begun: str
    key: bytes = field(repr=False)
    entries: tuple[Entry, ...] = ()

    @classmethod
    def new(cls) -> "Ledger":
        """Begin a ledger, with a key from the operating system."""
        now = datetime.datetime.now(datetime.UTC)
        return cls(begun=now.isoformat(timespec="seconds"), key=secrets.token_bytes(KEY_BYTES))

    @classmethod
    def read(cls, contents: bytes, place: Path) -> "Ledger":
        """Read the contents of a ledger file.

        Parameters
        ----------
        contents : bytes
        place : Path
            As errors name it.

        Raises
        ------
        FileError
            If it is no ledger, or any of its lines is not as it was written: a line that cannot
            be read is a release that would not be counted.
        """
        first, *lines = contents.split(b"\n")
        begun, key = _head(first, place)
        if lines and not lines[-1]:
            del lines[-1]
        whole = contents.endswith(b"\n")
        entries = []
        for number, line in enumerate(lines, start=2):
            try:
                entries.append(Entry.from_dict(json.loads(line.decode())))
            except (ValueError, RecursionError):  # bytes that are no text among them
                cut = number == len(lines) + 1 and not whole
                raise _broken(place, number, cut=cut) from None
        return cls(begun=begun, key=key, entries=tuple(entries))

    def first_line(self) -> bytes:
        """Write the line that makes a file a ledger."""
        head = {"microveil": HEAD, "schema": SCHEMA, "begun": self.begun, "key": self.key.hex()}
        return f"{json.dumps(head)}\n".encode()

    def digest(self, sha256: str) -> str:
        """Turn the digest of a file into one that says nothing without the key."""
        return hmac.new(self.key, sha256.encode("ascii"), "sha256").hexdigest()

    def entry(
        self, guarantee: Guarantee, *, population: str, folder: str, sha256: str | None
    ) -> Entry:
        """Make the line that a release is to have in this ledger."""
        return Entry.of(
            guarantee,
            population=population,
            folder=folder,
            digest=None if sha256 is None else self.digest(sha256),
        )

    def including(self, entry: Entry) -> "Ledger":
        """Return the ledger with one line more."""
        return replace(self, entries=(*self.entries, entry))

    def totals(self, population: str, *, sha256: str | None = None) -> Totals:
        """Add up the releases of a population.

        Parameters
        ----------
        population : str
        sha256 : str, optional
            Digest of a file: how often it was released is counted too.
        """
        digest = None if sha256 is None else self.digest(sha256)
        return Totals.of(self.entries, population, begun=self.begun, digest=digest)


def _head(line: bytes, place: Path) -> tuple[str, bytes]:
    try:
        head: Any = json.loads(line[:LONGEST_HEAD].decode())
        ours = head["microveil"] == HEAD
        schema, begun, key = head["schema"], head["begun"], head["key"]
    except (ValueError, TypeError, KeyError, RecursionError):
        ours = False
    if not ours:
        raise FileError(
            f"{place}",
            "it must be a ledger of releases that microveil began, and it is something else",
            "name another file with --ledger, or restore the ledger from a copy",
        )
    if schema != SCHEMA:
        raise FileError(
            f"{place}",
            "it was written by a version of microveil that this one does not know",
            "use a newer version",
        )
    if not isinstance(begun, str) or not re.fullmatch(rf"[0-9a-f]{{{2 * KEY_BYTES}}}", str(key)):
        raise _broken(place, 1, cut=False)
    return begun, bytes.fromhex(key)


def _broken(place: Path, number: int, *, cut: bool) -> FileError:
    if cut:
        return FileError(
            f"{place}, line {number}",
            "the last line must be whole, and it is cut short, as when a process is killed while "
            "it writes it, before its release appears",
            "remove what is there of the line if no release came of it, else restore it",
        )
    return FileError(
        f"{place}, line {number}",
        "each line must be as microveil wrote it, and this one is not",
        "restore it from a copy: a line that cannot be read is a release that is not counted",
    )
