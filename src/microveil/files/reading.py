"""Reading files of any format, or only what they declare of their columns."""

import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from microveil.errors import FileError, RequestError, stands_alone
from microveil.files import arrow_format, parquet_format
from microveil.files.address import Address, address_of
from microveil.files.checking import check_filled
from microveil.files.compression import unpacked
from microveil.files.formats import (
    FORMATS,
    Cells,
    Format,
    Opened,
    files_of_folder,
    format_of,
)
from microveil.files.parquet_format import digest_of_parts
from microveil.files.table_schema import Beside, schema_beside
from microveil.files.text import TextFormat
from microveil.files.typed import Outline
from microveil.schema import Kind
from microveil.table import Labels
from microveil.table.column_files import height_of
from microveil.table.memory import check_reading
from microveil.table.untyped import Spelling

Bytes = TypeVar("Bytes")
_HEAD = 1 << 20  # bytes by which records of text are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A table read from a file."""

    path: Path  # as messages name it: of a URL its host and the file's name
    format: Format  # how a release of it is written: as it is stored, where that is a file
    frame: pl.DataFrame | pl.LazyFrame  # lazy only where that was asked for
    text: TextFormat | None  # how it is written; None where nothing can be said of that
    digest: str  # SHA-256 of its bytes; of a table in no file, of those it has as an Arrow file
    labels: Mapping[str, Labels]  # the file's, or of the schema beside it
    database: str | None = None  # of PostgreSQL, its name
    table: str | None = None
    query: str | None = None
    never_missing: tuple[str, ...] = ()  # columns that never lack a value, as the file declares
    untyped: Mapping[str, Spelling] = field(default_factory=dict)  # columns whose kind is learnt

    @property
    def name(self) -> str:
        """What it is called."""
        of_database = "" if self.database is None else f", database {self.database}"
        return f"{self.path.name}{of_database}"

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return self.frame.collect_schema().names()

    @property
    def whole(self) -> pl.DataFrame:
        """The table in memory."""
        return self.frame.lazy().collect()

    @property
    def n_records(self) -> int:
        """How many records it has."""
        return height_of(self.frame)

    @property
    def origin(self) -> dict[str, str]:
        """What it was, for the custodian's manifest."""
        asked = {"table": self.table, "query": self.query}
        named = {key: value for key, value in asked.items() if value is not None}
        return {"name": self.name, **named, "sha256": self.digest}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedFile:
    """A file whose form is checked and whose columns have names, but no types yet."""

    address: Address
    format: Format
    table: Opened
    digest: str
    beside: Beside
    database: str | None = None
    states: Mapping[Path, object]  # of files that are read piece by piece

    @property
    def names(self) -> list[str]:
        """The columns."""
        return self.table.names

    @property
    def labels(self) -> Mapping[str, Labels]:
        """What the file, or the schema beside it, says of its columns in words."""
        return self.beside.labels

    @property
    def has_types(self) -> bool:
        """Whether the file says what its columns are; words for missing values are no text then."""
        return self.format.has_types

    def read(self, **how: Any) -> SourceFile:
        """Read the table; see `Cells`."""
        given, said, text = Cells(**how), self.beside, self.table.text or TextFormat()
        untyped = frozenset(given.untyped) - said.texts - said.decimals
        cells = replace(
            given,
            decimals=said.decimals | frozenset(given.decimals),
            as_text=lambda name: given.as_text(name) or name in said.texts or name in untyped,
            untyped=untyped,
        )
        frame = self.table.read(cells)
        _check_unchanged(self.states)
        return SourceFile(
            path=self.address.path,
            format=self.format,
            frame=frame,
            text=self.table.text,
            digest=self.digest,
            labels=said.labels,
            database=self.database,
            table=self.address.table,
            query=self.address.query,
            never_missing=self.table.never_missing,
            untyped={name: text.spelling for name in self.names if name in untyped},
        )


@stands_alone
def open_file(
    place: str | PathLike[str],
    *,
    text: TextFormat | None = None,
    progress: Callable[[str], None] = lambda _step: None,
    lazily: Path | None = None,
) -> OpenedFile:
    """Open a file to see its columns before it is said how to read them."""
    address = address_of(place)
    if text is not None and text.said:
        of_each(text, address.location)
    text = _of_release(address, text)
    files = files_in(address)
    form, database, states = _form_at(address), None, dict[Path, object]()
    table: Opened
    if address.scheme == "postgresql":
        from microveil.files import postgresql  # with its library, which others do without

        table, database = postgresql.opened(address)
        buffer = io.BytesIO()
        arrow_format.write(table.read(Cells()).lazy().collect(), buffer)
        digest = hashlib.sha256(buffer.getbuffer()).hexdigest()
    elif not files and (lazily is None or address.is_web or not form.is_lazy):
        raw = _bytes(address, form, progress)
        digest = hashlib.sha256(raw).hexdigest()
        table = _opened(address, form, raw, text)
    else:
        table, digest, states = read_by(
            address.path, lambda path: _in_pieces(files or [path], form, text, lazily)
        )
    beside = Beside(labels=table.labels)
    # A release has beside it what its format cannot hold, whatever that keeps of labels.
    may_be_beside = _is_release(address) or not form.carries.has_all_labels
    if address.scheme == "file" and not files and may_be_beside:
        beside = schema_beside(address.path, table.names) or beside
    return OpenedFile(
        address=address, format=form, table=table, digest=digest, beside=beside,
        database=database, states=states,
    )  # fmt: skip


def _is_release(address: Address) -> bool:
    return address.scheme == "file" and (address.path.parent / "guarantee.json").is_file()


def _of_release(address: Address, text: TextFormat | None) -> TextFormat | None:
    """Return how a file is written: a release's first line names its columns in any case."""
    return text if text is None or not _is_release(address) else replace(text, header=1)


def _in_pieces(
    files: list[Path], form: Format, text: TextFormat | None, lazily: Path | None
) -> tuple[Opened, str, dict[Path, object]]:
    """Open files that are not held as they are; whatever changes meanwhile is refused."""
    states = {path: _state_of(path) for path in files}
    digest = digest_of_parts(files)
    try:
        if lazily is None:
            return parquet_format.parts_opened(files), digest, states
        if form.name == "parquet":
            return parquet_format.parts_lazily(files, lazily), digest, states
        return form.load().opened_lazily(files[0], form.text(text), lazily), digest, states
    except FileError:  # it may be broken because it was cut short
        _check_unchanged(states)
        raise


def _state_of(path: Path) -> object:
    """Return what changes where a file is written or replaced."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _check_unchanged(states: Mapping[Path, object]) -> None:
    """Refuse files that were changed while they were read piece by piece."""
    for path, state in states.items():
        try:
            is_same = _state_of(path) == state
        except OSError:
            is_same = False
        if not is_same:
            rule = "the file must stay as it is while it is read, and it was changed or removed"
            remedy = "wait until nobody writes to it, and start again"
            raise FileError(f"{path}", rule, remedy)


def _bytes(address: Address, form: Format, progress: Callable[[str], None]) -> bytes:
    if address.is_web:
        from microveil.files.download import downloaded  # what it imports takes a while

        return downloaded(address, progress)
    check_whole(address.path, form)

    def whole(path: Path) -> bytes:
        # Twice: whatever its format is, what stands in it is held as a table, too.
        check_reading(path, 2 * path.stat().st_size)
        return path.read_bytes()

    return read_by(address.path, whole)


def _opened(address: Address, form: Format, raw: bytes, text: TextFormat | None) -> Opened:
    path = address.path
    data = raw if form.compression is None else unpacked(path, raw, form.compression)
    if form.has_tables:
        return form.load().opened(path, data, None, address.table, address.query)
    return form.load().opened(path, data, form.text(text))


def of_each(text: TextFormat | None, *places: str | PathLike[str]) -> list[TextFormat | None]:
    """Return what is said of each file, of which some are no text."""
    if text is None or not text.said:
        return [text] * len(places)
    forms = [_form_at(address_of(place)) for place in places]
    for name in sorted(text.said):
        if not any(name in form.takes for form in forms):
            also = {"encoding": ", SPSS, Stata and SAS", "header": " and Excel"}
            more = also.get(name, "")
            rule = f"only files of text{more} have one, and this one is {forms[0].title}"
            raise RequestError(name, rule, f"leave it out (--{name})")
    return [replace(text, said=text.said & form.takes) for form in forms]


def _form_at(address: Address) -> Format:
    """Return the format that a table is read as: of a database and a folder that of its release."""
    if address.scheme == "postgresql" or files_in(address):
        return FORMATS["parquet"]
    if address.scheme == "file" and not address.path.suffix and not address.path.exists():
        raise FileError(
            address.location,
            "there is no such file, nor a folder of a release",
            "check its name, and the folder that it is in",
        )
    return format_of(address.path)


@stands_alone
def read_file(
    place: str | PathLike[str], *, text: TextFormat | None = None, **how: Any
) -> SourceFile:
    """Read a file of any format as a table, or say which line breaks which rule; see `Cells`."""
    return open_file(place, text=text).read(**how)


def check_whole(path: Path, form: Format) -> None:
    """Refuse a file of which a part is in another beside it."""
    for ending in form.unfinished:
        other = path.with_name(f"{path.name}{ending}")
        if other.is_file() and _begins(other):
            rule = f"the database must be whole, and a part of it is in {other.name} still"
            remedy = "close the programs that have it open, or open and close it with sqlite3"
            raise FileError(str(path), rule, remedy)


def _begins(path: Path) -> bool:
    """Whether a file holds something: one that is kept to be written anew begins with a zero."""
    try:
        with path.open("rb") as file:
            return file.read(1) not in (b"", b"\0")
    except OSError:
        return True


def files_in(address: Address) -> list[Path]:
    """Return the files of a folder of Parquet files; none of any other address."""
    if address.scheme != "file" or not address.path.is_dir():
        return []
    files = read_by(address.path, files_of_folder)
    if not files:
        raise FileError(
            address.location,
            "this must be a file, and it is a folder",
            "name the file inside it; of a table in Parquet files the folder must hold these alone",
        )
    return files


def read_by(path: Path, read: Callable[[Path], Bytes]) -> Bytes:
    """Read a path; what the system refuses is refused in our words."""
    try:
        return read(path)
    except FileError:
        raise
    except FileNotFoundError:
        rule, remedy = "the file must exist", "check its name and folder"
    except IsADirectoryError:
        rule, remedy = "this must be a file, and it is a folder", "name the file inside it"
    except PermissionError:
        rule, remedy = "the file must be readable for you", "ask its owner for the right to read it"
    except (OSError, ValueError):
        rule, remedy = "the file must be readable", "check the disk and the name"
    raise FileError(str(path), rule, remedy)


# What a file declares, without reading its table.


def outline_of(place: str | PathLike[str], *, text: TextFormat | None = None) -> Outline | None:
    """Say what a file declares of its columns, at a cost that does not grow with its records.

    What is said here was not held against the values: a file that is broken behind its beginning
    is refused where it is read.
    """
    address = address_of(place)
    text = _of_release(address, text)
    if files := files_in(address):
        return parquet_format.parts_outlined(files)
    if address.is_web:
        return None
    if address.scheme == "postgresql":
        from microveil.files import postgresql

        return postgresql.outlined(address)
    form = format_of(address.path)
    if not form.is_outlined:
        return None
    check_whole(address.path, form)
    found = read_by(address.path, lambda path: _outlined(path, address, form, text))
    return _with_beside(address.path, form, found)


def size_of(place: str | PathLike[str], text: TextFormat | None) -> tuple[int, int] | None:
    """Say how many records and columns a file has that may be read lazily; None of any other."""
    address = address_of(place)
    if address.scheme != "file" or not address.path.exists():
        return None
    if not files_in(address) and not format_of(address.path).is_lazy:
        return None
    found = outline_of(place, text=text)
    if found is None:
        return None
    n_records = found.n_records
    if n_records is None:
        with address.path.open("rb") as file:
            head = file.read(_HEAD)
        n_records = address.path.stat().st_size * max(1, head.count(b"\n")) // max(1, len(head))
    return n_records, len(found.kinds)


def _outlined(
    path: Path, address: Address, form: Format, text: TextFormat | None
) -> Outline | None:
    with path.open("rb") as file:  # libraries say otherwise what is wrong with an empty one
        begins = file.read(1)
    if form.has_tables:
        check_filled(path, begins)
        return form.load().outlined(path, None, address.table, address.query)
    if not form.is_text:
        check_filled(path, begins)
    return form.load().outlined(path, form.text(text))


def _with_beside(path: Path, form: Format, found: Outline | None) -> Outline | None:
    """Add what a schema.json beside a table says of its columns, as it is read by it."""
    if found is None or form.carries.has_all_labels:
        return found
    beside = schema_beside(path, list(found.kinds))
    if beside is None:
        return found
    known: Mapping[str, Kind | None] = {
        **dict.fromkeys(beside.texts if form.is_text else (), Kind.OTHER),
        **dict.fromkeys(beside.decimals, Kind.DECIMAL),
    }
    kinds = {
        name: known.get(name, kind) if kind in (None, Kind.WHOLE) else kind
        for name, kind in found.kinds.items()
    }
    return Outline(kinds=kinds, n_records=found.n_records)
