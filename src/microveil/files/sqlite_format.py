"""SQLite files: a table, or what a query gives; a release is a file with the one table "data".

SQLite stores values of any kind in any column, and a column's type is what its declaration says,
not what its values are: INTEGER, REAL and TEXT by SQLite's own rules of affinity, NUMERIC and
DECIMAL decimal numbers, BOOLEAN 0 and 1, DATE and TIMESTAMP text as ISO 8601 writes them. Where
nothing is declared, as of what a query calculates, all values must be of one kind, and text that
is all dates YYYY-MM-DD holds dates. A value of another kind is refused, never read as missing or
as text.
"""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import polars as pl
import polars.selectors as cs

from microveil.errors import FileError
from microveil.files.checking import broken, check_filled, each, in_our_words
from microveil.files.databases import Refused, identifier, literal, one_of
from microveil.files.formats import EXACT, SQLITE, Opened
from microveil.files.text import TextFormat, quoted
from microveil.files.typed import Outline, typed
from microveil.files.writing import UnwritableError, stored
from microveil.schema import Kind
from microveil.table.memory import check_reading

_BEGINS = b"SQLite format 3\0"
_LOGGED = slice(18, 20)  # two bytes of 2 where changes go into a log first (WAL)
_TABLE = "data"
_BATCH = 1 << 16  # records that are Python's own at a time
_VIEW = "microveil_query"  # in the schema of temporary things: the file keeps what it has


@dataclass(frozen=True, slots=True)
class _Held:
    """What a column holds: in words, as what its values are stored, and how it is declared."""

    words: str
    kind: Kind | None
    stored: Collection[str]
    dtype: Any = pl.Binary  # what its values are read as
    begins: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()


_TRUTH = _Held("0 and 1", Kind.BOOLEAN, {"integer"}, pl.Int64, begins=("BOOL",))
_MOMENT = _Held("moments YYYY-MM-DD HH:MM:SS", None, {"text"}, begins=("DATETIME", "TIMESTAMP"))
_DATE = _Held("dates YYYY-MM-DD", Kind.DATE, {"text"}, begins=("DATE",))
_TEXT = _Held("text", Kind.OTHER, {"text"}, marks=("CHAR", "CLOB", "TEXT"))
_DECIMAL = _Held(
    "decimal numbers", Kind.DECIMAL, {"integer", "real"}, pl.Float64,
    marks=("REAL", "FLOA", "DOUBLE", "NUM", "DEC"),
)  # fmt: skip
_WHOLE = _Held("whole numbers", Kind.WHOLE, {"integer"}, pl.Int64, marks=("INT",))
_OPEN = _Held("text, or dates", None, {"text"})  # where nothing is declared
_HELD = (_TRUTH, _MOMENT, _DATE, _TEXT, _DECIMAL, _WHOLE)  # in the order in which one decides
# By what all values are stored as, where nothing is declared; and these ways in words.
_UNDECLARED = {"integer": _WHOLE, "real": _DECIMAL, "text": _OPEN}
_STORAGE = {
    "integer": "whole numbers", "real": "decimal numbers", "text": "text", "blob": "BLOBs",
}  # fmt: skip
_DECLARED: dict[Any, str] = {
    pl.Boolean: "BOOLEAN", pl.Int64: "INTEGER", pl.Float64: "REAL", pl.Date: "DATE",
    pl.Datetime: "TIMESTAMP", pl.String: "TEXT",
}  # fmt: skip
_MOSTLY = 0.9  # of a column's values: from here on the others are taken for mistakes
_MOMENTS = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M")
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"


def opened(
    path: Path,
    raw: bytes,
    text: TextFormat | None,  # noqa: ARG001 -- it is no text
    table: str | None = None,
    query: str | None = None,
) -> Opened:
    """Read a table, or what a query gives, of a copy in memory."""
    check_filled(path, raw)
    if not raw.startswith(_BEGINS):
        raise _broken(path)
    if raw[_LOGGED] == b"\2\2":  # its log is empty, and would lie beside
        raw = raw[: _LOGGED.start] + b"\1\1" + raw[_LOGGED.stop :]
    with _reading(path, ":memory:", raw) as reading:
        frame = reading.frame(table, query)
        return typed(frame, reading.never_missing)


def outlined(
    path: Path,
    text: TextFormat | None,  # noqa: ARG001 -- it is no text
    table: str | None = None,
    query: str | None = None,
) -> Outline:
    """Read how the columns of a table, or of what a query gives, are declared."""
    with path.open("rb") as file:
        if file.read(len(_BEGINS)) != _BEGINS:
            raise _broken(path)
    # Of a file that is said to change no more nothing is locked, and none appears beside it.
    with _reading(path, f"file:{quote(f'{path}')}?mode=ro&immutable=1") as reading:
        declared = {name: _held(kind) for name, kind in reading.declared(table, query).items()}
    kinds = {name: None if held is None else held.kind for name, held in declared.items()}
    return Outline(kinds=kinds)


@contextmanager
def _reading(path: Path, place: str, raw: bytes | None = None) -> Iterator["_Reading"]:
    """Connect to a database, or to a copy in memory; what SQLite says may hold a value."""
    try:
        with (
            in_our_words(lambda _error: _broken(path)),
            closing(sqlite3.connect(place, uri=True, isolation_level=None)) as connection,
        ):
            if raw is not None:
                connection.deserialize(raw)
            connection.execute("PRAGMA trusted_schema = OFF")  # views run no dangerous functions
            yield _Reading(path, connection)
    except Refused:
        raise _broken(path) from None


def _broken(path: Path) -> FileError:
    remedy = "copy it again while no program writes to it"
    return broken(path, "a whole SQLite database", remedy=remedy)


class _Reading:
    """One database on its way to a table."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection
        self.never_missing: tuple[str, ...] = ()

    def frame(self, table: str | None, query: str | None) -> pl.DataFrame:
        """Read a table, or what a query gives."""
        if self._rows("PRAGMA quick_check(1)") != [("ok",)]:
            raise Refused
        if query is None:
            return self._read(self._table(table))
        try:
            self._rows(f"CREATE TEMP VIEW {_VIEW} AS {query}")
            return self._read(_VIEW)
        except Refused:
            rule = "the query must be one SELECT of this database's tables, and SQLite refuses it"
            raise FileError(str(self.path), rule, "try it with the program sqlite3") from None

    def declared(self, table: str | None, query: str | None) -> dict[str, str]:
        """Say how the columns of a table, or of what a query gives, are declared."""
        if query is not None:
            self._rows(f"CREATE TEMP VIEW {_VIEW} AS {query}")
        return self._columns(self._table(table) if query is None else _VIEW)

    def _columns(self, name: str) -> dict[str, str]:
        """Return the declarations of a table or a view by column."""
        columns = f'name, type, hidden, "notnull" FROM pragma_table_xinfo({literal(name)})'
        listed = self._rows(f"SELECT {columns}")
        self.never_missing = tuple(row[0] for row in listed if row[3])
        return {column: kind for column, kind, hidden, _ in listed if hidden != 1}

    def _read(self, name: str) -> pl.DataFrame:
        """Read a table or a view."""
        declared = self._columns(name)
        source = identifier(name)
        n_records, stored = self._stored(source, list(declared))
        if n_records == 0:
            rule = "the table must hold records, and there are none"
            raise FileError(str(self.path), rule, "check what was exported")
        found = each(lambda column: self._kind(column, declared[column], stored[column]), declared)
        kinds = dict(zip(declared, found, strict=True))
        check_reading(self.path, 0, n_records * len(declared))
        mixed = [c for c, held in kinds.items() if held is _DECIMAL and "integer" in stored[c]]
        self._refuse_inexact(source, mixed)
        selected = ", ".join(map(identifier, kinds))
        self.connection.text_factory = bytes  # which need not be UTF-8
        parts = []
        with in_our_words(lambda _error: Refused()):
            records = self.connection.execute(f"SELECT {selected} FROM {source}")
            while batch := records.fetchmany(_BATCH):
                columns = zip(kinds.items(), zip(*batch, strict=True), strict=True)
                parts.append(pl.DataFrame([pl.Series(c, v, h.dtype) for (c, h), v in columns]))
        frame = pl.concat(parts, rechunk=True)
        return pl.DataFrame(each(lambda column: self._typed(column, kinds[column.name]), frame))

    def _rows(self, statement: str) -> list[Any]:
        with in_our_words(lambda _error: Refused()):
            return self.connection.execute(statement).fetchall()

    def _table(self, wanted: str | None) -> str:
        listed = self._rows(
            "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') "
            r"AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name"
        )
        tables, views = ([n for n, kind in listed if kind == own] for own in ("table", "view"))
        example = f"{self.path.name}?table=NAME"
        return one_of(tables, views, wanted, str(self.path), example)

    def _stored(self, source: str, columns: list[str]) -> tuple[int, dict[str, set[str]]]:
        """Count records, and find which ways to store values each column has."""
        if len({column.lower() for column in columns}) < len(columns):
            raise FileError(str(self.path), "columns must have different names", "name them by AS")
        ((n_records,),) = self._rows(f"SELECT count(*) FROM {source}")
        found = ", ".join(
            f"group_concat(DISTINCT typeof({identifier(column)}))" for column in columns
        )
        ways = self._rows(f"SELECT {found} FROM {source}")[0] if n_records else ()
        return n_records, {
            column: {*listed.split(",")} - {"null"}
            for column, listed in zip(columns, ways, strict=False)
        }

    def _refuse_inexact(self, source: str, columns: list[str]) -> None:
        """Refuse whole numbers that change where they are read as decimal ones."""
        unheld = f"NOT BETWEEN {-EXACT} AND {EXACT}"
        beyond = [
            f"total(typeof({name}) = 'integer' AND {name} {unheld})"
            for name in map(identifier, columns)
        ]
        if not beyond:
            return
        (found,) = self._rows(f"SELECT {', '.join(beyond)} FROM {source}")
        for column, count in zip(columns, found, strict=True):
            if count:
                rule = "whole numbers among decimal ones must lie within 2^53, and one does not"
                raise self._mixed(column, rule)

    def _kind(self, column: str, declared: str, stored: set[str]) -> _Held:
        """Say what a column holds, by its declaration."""
        if "blob" in stored:
            rule = (
                "columns must hold numbers, text, dates or truth values, and this one holds BLOBs"
            )
            raise self._refused(column, rule, f"leave it out by a query: {self._query('OTHERS')}")
        held = _held(declared)
        if held is None and len(stored) > 1:
            rule = "a column must hold values of one kind, and this one holds"
            raise self._mixed(column, f"{rule} {_ways(stored)}")
        if held is not None and not stored <= {*held.stored}:
            rule = f"a column declared as {declared} must hold {held.words} alone, and this one"
            raise self._mixed(column, f"{rule} holds {_ways(stored - {*held.stored})}")
        return held or _UNDECLARED[min(stored, default="text")]

    def _typed(self, column: pl.Series, held: _Held) -> pl.Series:
        if held in (_WHOLE, _DECIMAL):
            return column
        if held is _TRUTH:
            if not column.drop_nulls().is_in([0, 1]).all():
                raise self._misfit(column.name, held)
            return column.cast(pl.Boolean)
        rule, remedy = "text must be UTF-8, and a value is not", "correct it where it was written"
        with in_our_words(lambda _error: self._refused(column.name, rule, remedy)):
            column = column.cast(pl.String)
        if held is _OPEN:
            held = self._words_or_dates(column)
        if held is _TEXT:
            return column
        read = _read_days(column) if held is _DATE else _read_moments(column)
        if read.null_count() > column.null_count():
            raise self._misfit(column.name, held)
        return read

    def _words_or_dates(self, words: pl.Series) -> _Held:
        """Say what text holds of which nothing is declared; a few other words are an error."""
        days = words.drop_nulls().str.contains(f"{_DAY}$")
        if not days.any():
            return _TEXT
        n_others = len(days) - int(days.sum())
        if 0 < n_others <= max(1, (1 - _MOSTLY) * len(days)):
            raise self._misfit(words.name, _DATE)
        return _TEXT if n_others else _DATE

    def _misfit(self, column: str, held: _Held) -> FileError:
        rule = f"a column of {held.words} must hold nothing else, and this one does"
        return self._mixed(column, rule)

    def _mixed(self, column: str, rule: str) -> FileError:
        name = identifier(column)
        remedy = "correct the values, or say what they are by a query: "
        cast = f"CAST({name} AS TEXT) AS {name}, OTHERS"
        return self._refused(column, rule, remedy + self._query(cast))

    def _refused(self, column: str, rule: str, remedy: str) -> FileError:
        return FileError(f"{self.path}, column {quoted(column)}", rule, remedy)

    def _query(self, columns: str) -> str:
        return f"{self.path.name}?query=SELECT {columns} FROM TABLE"


def _held(declared: str) -> _Held | None:
    """Read a column's declaration; None where it says nothing."""
    words = declared.upper()
    begins = (held for held in _HELD if held.begins and words.startswith(held.begins))
    marked = (held for held in _HELD if any(mark in words for mark in held.marks))
    return next(begins, None) or next(marked, None)


def _ways(stored: set[str]) -> str:
    return " and ".join(shown for way, shown in _STORAGE.items() if way in stored)


def _read_days(words: pl.Series) -> pl.Series:
    shaped = words.set(~words.str.contains(f"{_DAY}$"), None)
    return shaped.str.to_date("%Y-%m-%d", strict=False)


def _read_moments(words: pl.Series) -> pl.Series:
    spaced = words.str.replace("T", " ", literal=True)
    shaped = spaced.set(~spaced.str.contains(f"{_DAY} "), None)
    forms = (shaped.str.to_datetime(form, time_unit="us", strict=False) for form in _MOMENTS)
    return pl.select(pl.coalesce(forms).alias(words.name)).to_series()


def write(
    frame: pl.DataFrame,
    file: IO[bytes],
    **_how: Any,  # nothing runs as a formula, and labels have no place
) -> None:
    """Write a table as the only one of a new database, in one part."""
    if len({name.lower() for name in frame.columns}) < frame.width:
        rule = "columns of SQLite must differ in more than capitals, and two do not"
        raise UnwritableError(None, rule, "rename one, or write another format")
    table = stored(frame, SQLITE)
    columns = ", ".join(
        f"{identifier(column.name)} {_DECLARED[column.dtype.base_type()]}" for column in table
    )
    table = table.with_columns(
        cs.boolean().cast(pl.Int64),
        cs.date().dt.to_string("%Y-%m-%d"),
        cs.datetime().dt.to_string("%Y-%m-%d %H:%M:%S%.6f"),
    )
    rule = "SQLite must be able to hold the table, and it is not"
    remedy = "write fewer columns, or another format"
    with (
        in_our_words(lambda _error: UnwritableError(None, rule, remedy)),
        closing(sqlite3.connect(":memory:")) as connection,
    ):
        connection.execute(f"CREATE TABLE {_TABLE} ({columns})")
        places = ", ".join("?" * table.width)
        connection.executemany(f"INSERT INTO {_TABLE} VALUES ({places})", table.iter_rows())
        connection.commit()
        file.write(connection.serialize())
