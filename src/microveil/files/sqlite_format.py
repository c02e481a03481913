"""SQLite files: a table, or what a query gives; a release is a file with the one table "data".

SQLite stores values of any kind in any column, and a column's type is what its declaration says,
not what its values are: INTEGER, REAL and TEXT by SQLite's own rules of affinity, NUMERIC and
DECIMAL decimal numbers, BOOLEAN 0 and 1, DATE and TIMESTAMP text as ISO 8601 writes them. Where
nothing is declared, as of what a query calculates, all values must be of one kind, and text that
is all dates YYYY-MM-DD holds dates. A value of another kind is refused, never read as missing or
as text.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import polars as pl
import polars.selectors as cs

from microveil.errors import FileError
from microveil.files.carries import SQLITE
from microveil.files.checking import check_filled, each
from microveil.files.databases import Refused, driver, identifier, literal, one_of, rows
from microveil.files.declared import Outline
from microveil.files.storing import UnwritableError, stored
from microveil.files.text import TextFormat, quoted
from microveil.files.typed import TypedTable
from microveil.schema import Kind
from microveil.table import Labels
from microveil.table.memory import check_reading

__all__ = ["batches", "opened", "outlined"]

_BEGINS = b"SQLite format 3\0"
_LOGGED = slice(18, 20)  # two bytes of 2 where changes go into a log first (WAL)
_DRIVER, _TITLE, _TABLE = "adbc_driver_sqlite", "SQLite", "data"
_VIEW = "microveil_query"  # in the schema of temporary things: the file keeps what it has
_EXACT = 2**53
_WHOLE, _DECIMAL, _TEXT = "whole numbers", "decimal numbers", "text"
_OPEN = "text, or dates"  # where nothing is declared
_TRUTH, _DATE, _MOMENT = "0 and 1", "dates YYYY-MM-DD", "moments YYYY-MM-DD HH:MM:SS"
# Of moments and of what is not declared the values say what they are.
_KINDS: Mapping[str | None, Kind] = {
    _WHOLE: Kind.WHOLE,
    _DECIMAL: Kind.DECIMAL,
    _TEXT: Kind.OTHER,
    _TRUTH: Kind.BOOLEAN,
    _DATE: Kind.DATE,
}
# What values of a kind are stored as, by SQLite's names.
_STORED = {
    _WHOLE: {"integer"},
    _DECIMAL: {"integer", "real"},
    _TEXT: {"text"},
    _TRUTH: {"integer"},
    _DATE: {"text"},
    _MOMENT: {"text"},
}
# What values are stored as: by SQLite's test, and in words.
_STORAGE = {
    "integer": "whole numbers",
    "real": "decimal numbers",
    "text": "text",
    "blob": "BLOBs",
}
_MOSTLY = 0.9  # of a column's values: from here on the others are taken for mistakes
_MOMENTS = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M")
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"


def opened(
    path: Path,
    raw: bytes,
    text: TextFormat | None,  # noqa: ARG001 -- it is no text
    table: str | None = None,
    query: str | None = None,
) -> TypedTable:
    """Read a table, or what a query gives, of a copy that only its owner can open."""
    library = driver(_DRIVER, str(path), _TITLE)
    check_filled(path, raw)
    if not raw.startswith(_BEGINS):
        raise _broken(path)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "table.db")
        try:
            with (
                copy.open("xb") as file,
                closing(library.connect(f"file:{copy}?mode=ro", autocommit=True)) as connection,
                closing(connection.cursor()) as cursor,
            ):
                rows(cursor, "PRAGMA schema_version")  # it opens the file no earlier
                # It is filled without a name: whatever ends the process leaves nothing of it.
                with suppress(OSError):  # Windows keeps it until it is closed
                    copy.unlink()
                _fill(file, raw)
                reading = _Reading(path, cursor)
                frame = reading.frame(table, query)
                return TypedTable(frame, never_missing=reading.never_missing)
        except Refused:
            raise _broken(path) from None
        except FileError:
            raise
        except Exception:  # noqa: BLE001 -- whatever it is, its words may hold a value
            raise _broken(path) from None


def _fill(file: IO[bytes], raw: bytes) -> None:
    """Write a database, whose log is empty, as one without a log: it would lie beside."""
    file.write(raw)
    if raw[_LOGGED] == b"\2\2":
        file.seek(_LOGGED.start)
        file.write(b"\1\1")
    file.flush()


def outlined(
    path: Path,
    text: TextFormat | None,  # noqa: ARG001 -- it is no text
    table: str | None = None,
    query: str | None = None,
) -> Outline:
    """Read how the columns of a table, or of what a query gives, are declared."""
    library = driver(_DRIVER, str(path), _TITLE)
    with path.open("rb") as file:
        if file.read(len(_BEGINS)) != _BEGINS:
            raise _broken(path)
    # Of a file that is said to change no more nothing is locked, and none appears beside it.
    place = f"file:{quote(f'{path}')}?mode=ro&immutable=1"
    try:
        with (
            closing(library.connect(place, autocommit=True)) as connection,
            closing(connection.cursor()) as cursor,
        ):
            declared = _Reading(path, cursor).declared(table, query)
    except FileError:
        raise
    except Exception:  # noqa: BLE001 -- whatever it is, its words may hold a value
        raise _broken(path) from None
    return Outline(kinds={name: _KINDS.get(_declared(kind)) for name, kind in declared.items()})


def _broken(path: Path) -> FileError:
    rule = "the file must be a whole SQLite database, and it is broken or something else"
    return FileError(str(path), rule, "copy it again while no program writes to it")


class _Reading:
    """One database on its way to a table."""

    def __init__(self, path: Path, cursor: Any) -> None:
        self.path = path
        self.cursor = cursor
        self.never_missing: tuple[str, ...] = ()

    def frame(self, table: str | None, query: str | None) -> pl.DataFrame:
        """Read a table, or what a query gives."""
        self._trust_nothing()
        if self._rows("PRAGMA quick_check(1)").item() != "ok":
            raise Refused
        if query is None:
            return self._read(self._table(table))
        try:
            self._run(f"CREATE TEMP VIEW {_VIEW} AS {query}")
            return self._read(_VIEW)
        except Refused:
            rule = "the query must be one SELECT of this database's tables, and SQLite refuses it"
            raise FileError(str(self.path), rule, "try it with the program sqlite3") from None

    def declared(self, table: str | None, query: str | None) -> dict[str, str]:
        """Say how the columns of a table, or of what a query gives, are declared."""
        self._trust_nothing()
        if query is not None:
            self._run(f"CREATE TEMP VIEW {_VIEW} AS {query}")
        return self._columns(self._table(table) if query is None else _VIEW)

    def _trust_nothing(self) -> None:
        self._run("PRAGMA trusted_schema = OFF")  # views of the file run no dangerous functions

    def _columns(self, name: str) -> dict[str, str]:
        """Return the declarations of a table or a view by column."""
        columns = f'name, type, hidden, "notnull" FROM pragma_table_xinfo({literal(name)})'
        listed = self._rows(f"SELECT {columns}")
        self.never_missing = tuple(row[0] for row in listed.iter_rows() if row[3])
        return {column: kind for column, kind, hidden, _ in listed.iter_rows() if hidden != 1}

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
        # The library reads a column's type off the first values: here off all of them.
        self.cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": n_records})
        mixed = [c for c, kind in kinds.items() if kind == _DECIMAL and "integer" in stored[c]]
        self._refuse_inexact(source, mixed)
        selected = ", ".join(map(identifier, kinds))
        try:
            frame = self._rows(f"SELECT {selected} FROM {source}")
        except Refused as refused:
            if refused.column is None:
                raise
            rule = "text must be UTF-8, and a value is not"
            remedy = "correct it where it was written"
            raise self._refused(refused.column, rule, remedy) from None
        return pl.DataFrame(each(lambda column: self._typed(column, kinds[column.name]), frame))

    def _rows(self, statement: str) -> pl.DataFrame:
        return rows(self.cursor, statement)

    def _run(self, statement: str) -> None:
        try:
            self.cursor.execute(statement)
        except Exception:  # noqa: BLE001 -- its words may hold a value
            raise Refused from None

    def _table(self, wanted: str | None) -> str:
        listed = self._rows(
            "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') "
            r"AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name"
        )
        tables, views = (
            listed.filter(pl.col("type") == kind)["name"].to_list() if listed.height else []
            for kind in ("table", "view")
        )
        example = f"{self.path.name}?table=NAME"
        return one_of(tables, views, wanted, str(self.path), example)

    def _stored(self, source: str, columns: list[str]) -> tuple[int, dict[str, set[str]]]:
        """Count records, and find which ways to store values each column has."""
        if len({column.lower() for column in columns}) < len(columns):
            raise FileError(str(self.path), "columns must have different names", "name them by AS")
        n_records = self._rows(f"SELECT count(*) FROM {source}").item()
        found = ", ".join(
            f"group_concat(DISTINCT typeof({identifier(column)})) AS {identifier(column)}"
            for column in columns
        )
        ways = self._rows(f"SELECT {found} FROM {source}").row(0) if n_records else ()
        return n_records, {
            column: {*listed.split(",")} - {"null"}
            for column, listed in zip(columns, ways, strict=False)
        }

    def _refuse_inexact(self, source: str, columns: list[str]) -> None:
        """Refuse whole numbers that change where they are read as decimal ones."""
        unheld = f"NOT BETWEEN {-_EXACT} AND {_EXACT}"
        beyond = [
            f"total(typeof({name}) = 'integer' AND {name} {unheld}) AS {name}"
            for name in map(identifier, columns)
        ]
        if not beyond:
            return
        found = self._rows(f"SELECT {', '.join(beyond)} FROM {source}").row(0)
        for column, count in zip(columns, found, strict=True):
            if count:
                rule = "whole numbers among decimal ones must lie within 2^53, and one does not"
                raise self._mixed(column, rule)

    def _kind(self, column: str, declared: str, stored: set[str]) -> str:
        """Say what a column holds, by its declaration."""
        if "blob" in stored:
            rule = (
                "columns must hold numbers, text, dates or truth values, and this one holds BLOBs"
            )
            raise self._refused(column, rule, f"leave it out by a query: {self._query('OTHERS')}")
        kind = _declared(declared)
        if kind is None:
            if len(stored) > 1:
                rule = "a column must hold values of one kind, and this one holds"
                raise self._mixed(column, f"{rule} {_ways(stored)}")
            kind = {"integer": _WHOLE, "real": _DECIMAL, "text": _OPEN}[min(stored, default="text")]
        elif not stored <= _STORED[kind]:
            rule = f"a column declared as {declared} must hold {kind} alone, and this one holds"
            raise self._mixed(column, f"{rule} {_ways(stored - _STORED[kind])}")
        return kind

    def _typed(self, column: pl.Series, kind: str) -> pl.Series:
        if kind == _WHOLE:
            return column.cast(pl.Int64)
        if kind == _DECIMAL:
            return column.cast(pl.Float64)
        if kind == _TRUTH:
            if not column.drop_nulls().is_in([0, 1]).all():
                raise self._misfit(column.name, kind)
            return column.cast(pl.Boolean)
        if column.null_count() == len(column):
            column = column.cast(pl.String)  # the library has them as numbers
        if kind == _OPEN:
            kind = self._words_or_dates(column)
        if kind == _TEXT:
            return column
        read = _read_days(column) if kind == _DATE else _read_moments(column)
        if read.null_count() > column.null_count():
            raise self._misfit(column.name, kind)
        return read

    def _words_or_dates(self, words: pl.Series) -> str:
        """Say what text holds of which nothing is declared; a few other words are an error."""
        days = words.drop_nulls().str.contains(f"{_DAY}$")
        if not days.any():
            return _TEXT
        n_others = len(days) - int(days.sum())
        if 0 < n_others <= max(1, (1 - _MOSTLY) * len(days)):
            raise self._misfit(words.name, _DATE)
        return _TEXT if n_others else _DATE

    def _misfit(self, column: str, kind: str) -> FileError:
        return self._mixed(column, f"a column of {kind} must hold nothing else, and this one does")

    def _mixed(self, column: str, rule: str) -> FileError:
        name = identifier(column)
        cast = self._query(f"CAST({name} AS TEXT) AS {name}, OTHERS")
        remedy = f"correct the values, or say what they are by a query: {cast}"
        return self._refused(column, rule, remedy)

    def _refused(self, column: str, rule: str, remedy: str) -> FileError:
        return FileError(f"{self.path}, column {quoted(column)}", rule, remedy)

    def _query(self, columns: str) -> str:
        return f"{self.path.name}?query=SELECT {columns} FROM TABLE"


def _declared(declared: str) -> str | None:
    """Read a column's declaration, by SQLite's rules of affinity where they say something."""
    words = declared.upper()
    for kind, begins in _BEGINNINGS.items():
        if words.startswith(begins):
            return kind
    for kind, marks in _MARKS.items():
        if any(mark in words for mark in marks):
            return kind
    return None


_BEGINNINGS = {_TRUTH: ("BOOL",), _MOMENT: ("DATETIME", "TIMESTAMP"), _DATE: ("DATE",)}
_MARKS = {
    _TEXT: ("CHAR", "CLOB", "TEXT"),
    _DECIMAL: ("REAL", "FLOA", "DOUBLE", "NUM", "DEC"),
    _WHOLE: ("INT",),
}


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


def batches(
    frame: pl.DataFrame,
    text: TextFormat | None,  # noqa: ARG001 -- it is no text
    *,
    escape_formulas: bool,  # noqa: ARG001 -- nothing runs as a formula
    labels: Mapping[str, Labels],  # noqa: ARG001 -- it has no place for them
) -> Iterator[bytes]:
    """Write a table as the only one of a new database, in one part."""
    library = driver(_DRIVER, _TITLE, _TITLE)
    table, declared = _stored(frame)
    columns = ", ".join(f"{identifier(name)} {kind}" for name, kind in declared.items())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.db")
        try:
            with (
                closing(library.connect(f"file:{path}")) as connection,
                closing(connection.cursor()) as cursor,
            ):
                cursor.execute(f"CREATE TABLE {_TABLE} ({columns})")
                cursor.adbc_ingest(_TABLE, table, mode="append")
                connection.commit()
        except Exception:  # noqa: BLE001 -- whatever it is, its words may hold a value
            rule = "SQLite must be able to hold the table, and it is not"
            remedy = "write fewer columns, or another format"
            raise UnwritableError(None, rule, remedy) from None
        yield path.read_bytes()


def _stored(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return a table as SQLite stores it, and how its columns are declared."""
    if len({name.lower() for name in frame.columns}) < frame.width:
        rule = "columns of SQLite must differ in more than capitals, and two do not"
        raise UnwritableError(None, rule, "rename one, or write another format")
    table = stored(frame, SQLITE)
    declared = {column.name: _DECLARED[column.dtype.base_type()] for column in table}
    return table.with_columns(
        cs.boolean().cast(pl.Int64),
        cs.date().dt.to_string("%Y-%m-%d"),
        cs.datetime().dt.to_string("%Y-%m-%d %H:%M:%S%.6f"),
    ), declared


_DECLARED: Mapping[Any, str] = {
    pl.Boolean: "BOOLEAN",
    pl.Int64: "INTEGER",
    pl.Float64: "REAL",
    pl.Date: "DATE",
    pl.Datetime: "TIMESTAMP",
    pl.String: "TEXT",
}
