"""The ledger as a file of JSON lines, which only its owner may read, and whose lines all count."""

import datetime
import hmac
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from microveil.errors import FileError, RequestError, refused_by_system, stands_alone
from microveil.files.disk import check_name, locked, written_whole
from microveil.guarantee import Guarantee
from microveil.ledger.entries import Entry, Totals

NAME = "microveil-ledger.jsonl"
HEAD = {"microveil": "ledger of releases", "schema": 1}
# The first line of a ledger is far shorter.
LONGEST_HEAD = 1000
# What a folder holds that may be published, and what its custodian's holds.
PUBLISHED, CUSTODIANS = ("guarantee.json", "guarantee.md"), "manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """When a ledger was begun, the key of its digests, and its releases in their order."""

    begun: str
    key: bytes = field(repr=False)
    entries: tuple[Entry, ...] = ()

    @classmethod
    def new(cls) -> "Ledger":
        """Begin a ledger, with a key from the operating system."""
        now = datetime.datetime.now(datetime.UTC)
        return cls(begun=now.isoformat(timespec="seconds"), key=secrets.token_bytes(32))

    @classmethod
    def read(cls, contents: bytes, place: Path) -> "Ledger":
        """Read contents; refuse a line that cannot be read, whose release would not be counted."""
        first, *lines = contents.removesuffix(b"\n").split(b"\n")
        begun, entries = _head(first, place), []
        for number, line in enumerate(lines, start=2):
            try:
                entries.append(Entry.from_dict(json.loads(line.decode())))
            except (ValueError, RecursionError):  # bytes that are no text among them
                is_cut = number > len(lines) and not contents.endswith(b"\n")
                raise _broken(place, number, is_cut=is_cut) from None
        return replace(begun, entries=tuple(entries))

    def digest(self, sha256: str | None) -> str | None:
        """Turn the digest of a file into one that says nothing without the key."""
        return sha256 and hmac.new(self.key, sha256.encode("ascii"), "sha256").hexdigest()

    def totals(self, population: str, *, sha256: str | None = None) -> Totals:
        """Add up the releases of a population; those of the file with the digest too."""
        digest = self.digest(sha256)
        return Totals.of(self.entries, population, begun=self.begun, digest=digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A release on its way into the ledger at a place; `sha256` is that of its file."""

    place: Path
    guarantee: Guarantee
    population: str
    folder: str
    sha256: str | None

    def expected(self) -> Totals:
        """Return what the population's releases come to once this one is among them."""
        ledger = read_ledger(self.place) if self.place.exists() else Ledger.new()
        ledger = replace(ledger, entries=(*ledger.entries, self._entry(ledger)))
        return ledger.totals(self.population, sha256=self.sha256)

    def announce(self) -> None:
        """Add the line to the ledger, which is begun if it is not there, and bring it to the disk.

        A whole file takes the ledger's place: a process that is killed leaves it as it was.
        """
        place = self.place
        try:
            with locked(place.with_name(f".{place.name}.lock"), wait=True):
                before = _identity(place)
                contents = _first_line(Ledger.new()) if before is None else _contents(place)
                line = _line(self._entry(Ledger.read(contents, place)).to_dict())

                def write(part: Path) -> None:
                    # An editor may have taken the last end of line.
                    part.write_bytes(contents.removesuffix(b"\n") + b"\n" + line)
                    if _identity(place) != before:
                        rule = "the ledger was replaced meanwhile"
                        raise FileError(f"{place}", rule, "run it again")

                written_whole(place, write, private=True)
        except OSError as error:
            raise _refused(place, error) from None

    @contextmanager
    def counted(self) -> Iterator[Callable[[], None]]:
        """Give what announces the release; an error after that says that the release counts."""
        announced = False

        def announce() -> None:
            nonlocal announced
            self.announce()
            announced = True

        try:
            yield announce
        except FileError as error:
            if not announced:
                raise
            rule = (
                f"{error.rule}; the release's line is in the ledger {self.place} already, which "
                "counts it all the same"
            )
            raise FileError(error.place, rule, error.remedy) from None

    def _entry(self, ledger: Ledger) -> Entry:
        said = {"population": self.population, "folder": self.folder}
        return Entry.of(self.guarantee, **said, digest=ledger.digest(self.sha256))


@stands_alone
def ledger_place(
    folder: str | Path, population: str | None, ledger: str | Path | None = None
) -> Path | None:
    """Say which file a release is recorded in, if any, and refuse one that cannot be used."""
    if population is None:
        if ledger is None:
            return None
        rule = "it counts the releases of a population, and none is named"
        remedy = "name it: population='...' (--population NAME), or leave the ledger out"
        raise RequestError("ledger", rule, remedy)
    public = Path(os.path.abspath(folder))  # noqa: PTH100 - a link is refused, not followed
    place = Path(os.path.abspath(ledger or public.with_name(NAME)))  # noqa: PTH100
    check_name(place)
    _check_outside(place, public)
    if os.path.lexists(place):
        read_ledger(place)
    elif not (os.path.isdir(place.parent) and os.access(place.parent, os.W_OK | os.X_OK)):  # noqa: PTH112 -- never raises
        rule = "the folder around a ledger must exist and be writable for you"
        raise FileError(f"{place}", rule, "make the folder, or name another file with --ledger")
    return place


@stands_alone
def read_ledger(place: str | Path) -> Ledger:
    """Read a ledger, which only its owner can read, and each line of which is as it was written."""
    try:
        return Ledger.read(_contents(Path(place)), Path(place))
    except OSError as error:
        raise _refused(place, error) from None


def _line(contents: dict[str, Any]) -> bytes:
    return f"{json.dumps(contents, ensure_ascii=False)}\n".encode()


def _first_line(ledger: Ledger) -> bytes:
    return _line({**HEAD, "begun": ledger.begun, "key": ledger.key.hex()})


def _head(line: bytes, place: Path) -> Ledger:
    """Read a ledger's first line."""
    try:
        head = json.loads(line[:LONGEST_HEAD].decode())
        ours = head["microveil"] == HEAD["microveil"]
        schema, begun, key = head["schema"], head["begun"], head["key"]
    except (ValueError, TypeError, KeyError, RecursionError):
        ours = False
    if not ours:
        rule = "it must be a ledger of releases that microveil began, and it is something else"
        remedy = "name another file with --ledger, or restore the ledger from a copy"
        raise FileError(f"{place}", rule, remedy)
    if schema != HEAD["schema"]:
        rule = "it was written by a version of microveil that this one does not know"
        raise FileError(f"{place}", rule, "use a newer version")
    if not isinstance(begun, str) or not re.fullmatch(r"[0-9a-f]{64}", str(key)):
        raise _broken(place, 1)
    return Ledger(begun=begun, key=bytes.fromhex(key))


def _broken(place: Path, number: int, *, is_cut: bool = False) -> FileError:
    rule = "each line must be as microveil wrote it, and this one is not"
    remedy = "restore it from a copy: a line that cannot be read is a release that is not counted"
    if is_cut:
        rule = (
            "the last line must be whole, and it is cut short, as when a process is killed while "
            "it writes it, before its release appears"
        )
        remedy = "remove what is there of the line if no release came of it, else restore it"
    return FileError(f"{place}, line {number}", rule, remedy)


def _check_outside(place: Path, public: Path) -> None:
    """Refuse a place within a release, where it would be published, or replaced with it."""
    spot, home = (Path(os.path.realpath(path.parent), path.name) for path in (place, public))
    targets = (home, home.with_name(f"{home.name}-custodian"))
    for around in (spot, *spot.parents):
        published = all(os.path.isfile(around / name) for name in PUBLISHED)  # noqa: PTH113 -- never raises
        replaced = around.name.endswith("-custodian") and os.path.isfile(around / CUSTODIANS)  # noqa: PTH113
        if published or replaced or any(_same(around, target) for target in targets):
            rule = (
                "a ledger must not lie within the folders of a release: it would be published, "
                "or be lost when the release is replaced"
            )
            raise FileError(f"{place}", rule, "name a file beside them with --ledger")


def _same(path: Path, other: Path) -> bool:
    with suppress(OSError):
        return path.samefile(other)
    return path == other


def _contents(place: Path) -> bytes:
    """Read all of a ledger; of another file, however large, only what shows that it is none."""
    mode = place.lstat().st_mode
    if stat.S_ISLNK(mode):
        rule = "a ledger must be a file itself, and this is a link"
        raise FileError(f"{place}", rule, "name the file that it leads to")
    if not stat.S_ISREG(mode):
        rule = "a ledger is a file, and this is something else"
        raise FileError(f"{place}", rule, "name another file with --ledger")
    if mode & 0o077 and os.name == "posix":  # elsewhere the folder's rights hold
        rule = "nobody but its owner may be able to read or write a ledger, and others are"
        raise FileError(f"{place}", rule, f"chmod 600 {place}, if nobody has changed it")
    with place.open("r+b") as file:  # it is to be writable, too
        head = file.readline(LONGEST_HEAD)
        return head + (file.read() if head.endswith(b"\n") else b"")


def _identity(place: Path) -> tuple[int, int, int] | None:
    """Return what changes with a file; None where there is none."""
    try:
        found = place.lstat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _refused(place: str | Path, error: OSError) -> FileError:
    rule = "the ledger must be readable and writable for you"
    remedy = "check its path, its rights and the space left"
    return refused_by_system(place, rule, error, remedy)
