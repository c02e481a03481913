"""Reading files of any format."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TypeVar

import polars as pl

from microveil.errors import FileError, RequestError, stands_alone
from microveil.files import arrow_format, parquet_format
from microveil.files.address import Address, address_of
from microveil.files.compression import unpacked
from microveil.files.digest import DigestBeside, digest_of_files
from microveil.files.formats import (
    FORMATS,
    Format,
    Opened,
    files_of_folder,
    format_of,
)
from microveil.files.table_schema import Beside, schema_beside
from microveil.files.text import TextFormat
from microveil.table import Labels
from microveil.table.column_files import height_of
from microveil.table.memory import check_reading

Bytes = TypeVar("Bytes")

__all__ = [
    "OpenedFile",
    "SourceFile",
    "check_whole",
    "files_in",
    "of_each",
    "open_file",
    "read_by",
    "read_file",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A table read from a file.

    Parameters
    ----------
    path : pathlib.Path
        The file, as messages name it: of a URL its host and the file's name.
    format : Format
        How a release of it is written: as it is stored, where that is a file.
    frame : polars.DataFrame or polars.LazyFrame
        The table, shape (n_records, n_columns); lazy only where that was asked for.
    text : TextFormat or None
        How it is written; None where nothing can be said of that.
    digest : str
        SHA-256 of the file's bytes, in hexadecimal digits; of a table that is in no file of those
        that it would have as an Arrow file.
    labels : mapping of str to Labels
        By column: those of the file, and where its format has no place for some those of the
        schema.json beside it.
    database : str or None
        Of PostgreSQL, its name.
    table, query : str or None
        Which table of a database, or what was asked of it.
    never_missing : tuple of str
        Columns that never lack a value, as the file declares.
    """

    path: Path
    format: Format
    frame: pl.DataFrame | pl.LazyFrame
    text: TextFormat | None
    digest: str
    labels: Mapping[str, Labels]
    database: str | None = None
    table: str | None = None
    query: str | None = None
    never_missing: tuple[str, ...] = ()

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


class OpenedFile:
    """A file whose form is checked and whose columns have names, but no types yet."""

    _table: Opened
    _digest: DigestBeside

    def __init__(
        self,
        address: Address,
        text: TextFormat | None = None,
        progress: Callable[[str], None] = lambda _step: None,
        lazily: Path | None = None,
    ) -> None:
        self._address = address
        self._database: str | None = None
        if text is not None and text.said:
            of_each(text, address.location)
        if files := files_in(address):
            self._format = FORMATS["parquet"]
            self._digest = digest_of_files(files)
            if lazily is None:
                self._table = parquet_format.parts_opened(files)
            else:
                self._table = parquet_format.parts_lazily(files, lazily)
            self._beside = Beside(labels=self._table.labels)
            return
        if address.scheme == "postgresql":
            from microveil.files import postgresql  # with its library, which others do without

            table, self._database = postgresql.opened(address)
            # A database has no file that a release of it could be written like.
            self._table = table
            self._format = FORMATS["parquet"]
            self._digest = DigestBeside(arrow_format.batches(table.frame.lazy().collect()))
            self._beside = Beside(labels=table.labels)
            return
        self._format = _form_at(address)
        if lazily is None or address.is_web or not self._format.is_lazy:
            raw = self._bytes(progress)
            self._digest = DigestBeside([raw])
            self._table = self._opened(raw, text)
        else:
            self._digest = read_by(address.path, lambda path: digest_of_files([path]))
            module, text = self._format.load(), self._format.text(text)
            self._table = read_by(
                address.path, lambda path: module.opened_lazily(path, text, lazily)
            )
        # A release has beside it what its format cannot hold, whatever that keeps of labels.
        is_release = (address.path.parent / "guarantee.json").is_file()
        is_alone = address.is_web or (self._format.carries.has_all_labels and not is_release)
        beside = None if is_alone else schema_beside(address.path, self._table.names)
        self._beside = beside or Beside(labels=self._table.labels)

    def _bytes(self, progress: Callable[[str], None]) -> bytes:
        address = self._address
        if address.is_web:
            from microveil.files.download import downloaded  # what it imports takes a while

            return downloaded(address, progress)
        check_whole(address.path, self._format)
        return _read_bytes(address.path)

    def _opened(self, raw: bytes, text: TextFormat | None) -> Opened:
        path, form = self._address.path, self._format
        data = raw if form.compression is None else unpacked(path, raw, form.compression)
        if form.has_tables:
            return form.load().opened(path, data, None, self._address.table, self._address.query)
        return form.load().opened(path, data, form.text(text))

    @property
    def names(self) -> list[str]:
        """The columns."""
        return self._table.names

    @property
    def labels(self) -> Mapping[str, Labels]:
        """What the file, or the schema beside it, says of its columns in words."""
        return self._beside.labels

    @property
    def has_types(self) -> bool:
        """Whether the file says what its columns are; words for missing values are no text then."""
        return self._format.has_types

    def read(
        self,
        *,
        decimals: Collection[str] = (),
        as_text: Callable[[str], bool] = lambda _name: False,
        of_one_kind: Callable[[str], bool] = lambda _name: False,
        missing: Callable[[str], Collection[str]] = lambda _name: (),
    ) -> SourceFile:
        """Read the table; see `read_file`."""
        said = self._beside
        frame = self._table.read(
            said.decimals | frozenset(decimals),
            lambda name: as_text(name) or name in said.texts,
            of_one_kind,
            missing,
        )
        return SourceFile(
            path=self._address.path,
            format=self._format,
            frame=frame,
            text=self._table.text,
            digest=self._digest.result(),
            labels=said.labels,
            database=self._database,
            table=self._address.table,
            query=self._address.query,
            never_missing=getattr(self._table, "never_missing", ()),
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
    return OpenedFile(address_of(place), text, progress, lazily)


def of_each(text: TextFormat | None, *places: str | PathLike[str]) -> list[TextFormat | None]:
    """Return what is said of each file, of which some are no text."""
    if text is None or not text.said:
        return [text] * len(places)
    forms = [_form_at(address_of(place)) for place in places]
    for name in sorted(text.said):
        if not any(name in form.takes for form in forms):
            more = ", SPSS, Stata and SAS" if name == "encoding" else ""
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
    place: str | PathLike[str],
    *,
    text: TextFormat | None = None,
    decimals: Collection[str] = (),
    as_text: Callable[[str], bool] = lambda _name: False,
    of_one_kind: Callable[[str], bool] = lambda _name: False,
    missing: Callable[[str], Collection[str]] = lambda _name: (),
) -> SourceFile:
    r"""Read a file of any format as a table, or say which line breaks which rule.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("AGE,ZIP\n41,01234\n,98101\n")
    ...     read_file(path).frame.to_dict(as_series=False)
    {'AGE': [41, None], 'ZIP': ['01234', '98101']}
    """
    opened = open_file(place, text=text)
    return opened.read(decimals=decimals, as_text=as_text, of_one_kind=of_one_kind, missing=missing)


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


def _read_bytes(path: Path) -> bytes:
    def whole(path: Path) -> bytes:
        # Twice: whatever its format is, what stands in it is held as a table, too.
        check_reading(path, 2 * path.stat().st_size)
        return path.read_bytes()

    return read_by(path, whole)


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
