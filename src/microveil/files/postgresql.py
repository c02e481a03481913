"""Tables of PostgreSQL, or what a query gives: read in one transaction that can change nothing.

What a column is its type says, in words that the library's own reading does not have for all:
numbers of any precision are read as exact decimals, enumerations as categories with their list, in
the order of their declaration, which declares no domain (decision 0013). Whoever connects, and
with which password, PostgreSQL's own rules say: its URL, PGUSER, PGPASSWORD, ~/.pgpass, services.

A release is written in one transaction too, which ends when its folders are about to appear: until
then nobody sees the table. Its comment says that it is a release, and no other is ever replaced.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from microveil.errors import FileError
from microveil.files.address import Address, address_of
from microveil.files.checking import in_our_words, of_extra
from microveil.files.databases import Refused, identifier, literal, one_of, rows
from microveil.files.formats import Opened
from microveil.files.text import quoted
from microveil.files.typed import Outline, to_publish, typed
from microveil.files.writing import UnwritableError
from microveil.schema import Kind
from microveil.table.memory import check_reading

_PLACE, _PSQL = "PostgreSQL", "try it with the program psql"
DATABASE = "SELECT pg_catalog.current_database()::text"
_EXAMPLE = "postgresql://HOST/DATABASE?table=NAME"
_SECONDS = 30  # for a connection, where the address does not say
_FEW_SECONDS = 5  # for a connection, and for each question, of which nothing but a look depends
_MOST_DIGITS = 38
_ALIAS = '"microveil source"'  # a column of that name would stand for itself
_DAYS = "'0001-01-01'", "'9999-12-31'"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Type:
    """How columns of a type are read: what is selected of a column, and whether it can be."""

    kind: Kind | None
    selected: str = "{}"
    sound: str | None = None
    rule: str = ""


_WORDS = _Type(kind=Kind.OTHER, selected="{}::text")
_MOMENT = _Type(
    kind=None,
    sound="{} BETWEEN " + " AND ".join(_DAYS),
    rule="dates must lie in the years 1 to 9999, and one does not or is infinite",
)
_EXACT = _Type(
    kind=Kind.DECIMAL,
    selected="{}::text",
    sound="{} NOT IN ('NaN', 'Infinity', '-Infinity')",
    rule="a numeric column must hold numbers, and one is NaN or infinite",
)
# By PostgreSQL's own names; a type that is not here is refused by its name.
_TYPES: Mapping[str, _Type] = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), _Type(kind=Kind.WHOLE)),
    **dict.fromkeys(("float4", "float8"), _Type(kind=Kind.DECIMAL)),
    "bool": _Type(kind=Kind.BOOLEAN),
    **dict.fromkeys(("text", "varchar", "bpchar", "char", "name", "citext"), _WORDS),
    **dict.fromkeys(("uuid", "inet", "cidr", "macaddr"), _WORDS),
    "date": replace(_MOMENT, kind=Kind.DATE),
    **dict.fromkeys(("timestamp", "timestamptz"), _MOMENT),
    "numeric": _EXACT,
}
_LISTED = """
SELECT c.relname AS name, n.nspname AS home, c.relkind IN ('r', 'p') AS is_table,
       pg_catalog.pg_table_is_visible(c.oid) AS is_visible
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema'
  AND n.nspname !~ '^pg_' AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
ORDER BY 2, 1
"""
# A domain is what it is of; {} are the types of the columns.
_NAMED = """
WITH RECURSIVE base AS (
  SELECT o AS place, t.oid, t.typname::text AS name, t.typtype::text AS sort, t.typbasetype
  FROM unnest(ARRAY[{}]::oid[]) WITH ORDINALITY AS u(type, o)
  JOIN pg_catalog.pg_type t ON t.oid = u.type
  UNION ALL
  SELECT b.place, t.oid, t.typname::text, t.typtype::text, t.typbasetype
  FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.typbasetype WHERE b.sort = 'd'
)
SELECT name, sort, (SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder)
                    FROM pg_catalog.pg_enum e WHERE e.enumtypid = base.oid) AS labels
FROM base WHERE sort <> 'd' ORDER BY place
"""


def opened(address: Address) -> tuple[Opened, str]:
    """Read the table that an address names, or what its query gives; and name the database."""
    lost = "the connection must last until the table is read, and it does not"
    try:
        with _reading(address, _SECONDS, lost) as reading:
            database = rows(reading.cursor, DATABASE).item()
            return typed(reading.frame(address.table, address.query)), database
    except Refused:
        rule = "the query must be one SELECT of what may be read, and the server refuses it"
        raise FileError(_PLACE, rule, _PSQL) from None


def outlined(address: Address) -> Outline:
    """Say how the columns of a table, or of what a query gives, are declared."""
    rule = "the table must be one that may be read, and the server refuses it or takes long"
    try:
        with _reading(address, _FEW_SECONDS, rule) as reading:
            reading.cursor.execute(f"SET LOCAL statement_timeout = '{_FEW_SECONDS}s'")
            return Outline(kinds=reading.kinds(address.table, address.query))
    except Refused:
        raise FileError(_PLACE, rule, _PSQL) from None


@contextmanager
def _reading(address: Address, seconds: int, lost: str) -> Iterator["_Reading"]:
    refused = FileError(_PLACE, lost, _PSQL)
    with in_our_words(lambda _error: refused), connected(address, seconds) as (_, cursor):
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield _Reading(cursor)


@contextmanager
def connected(address: Address, seconds: int = _SECONDS) -> Iterator[tuple[Any, Any]]:
    """Connect to a database, within so many seconds where the address says none."""
    extra = {"extra": "files", "place": _PLACE, "purpose": "PostgreSQL tables are read and written"}
    of_extra("adbc_driver_manager", **extra)
    library = of_extra("adbc_driver_postgresql.dbapi", **extra)
    mark = "&" if "?" in address.location else "?"
    limited = "connect_timeout=" in address.location
    location = address.location + ("" if limited else f"{mark}connect_timeout={seconds}")
    rule = "the server must be reached and let you in, and it is not or does not"
    remedy = (
        "check host, database and user with the program psql; a password is read from "
        "PGPASSWORD, ~/.pgpass or a service file"
    )
    # A library's words may hold what the address does.
    with in_our_words(lambda _error: FileError(_PLACE, rule, remedy)):
        connection = library.connect(location)
    with closing(connection), closing(connection.cursor()) as cursor:
        yield connection, cursor


class _Reading:
    """One connection on its way to a table."""

    def __init__(self, cursor: Any) -> None:
        self.cursor = cursor

    def frame(self, table: str | None, query: str | None) -> pl.DataFrame:
        """Read a table, or what a query gives."""
        source = self._source(table, query)
        names = self._names(source)
        kinds = self._kinds(source, names)
        self._refuse_unsound(source, kinds)
        selected = ", ".join(
            f"{kind.selected.format(_of(name))} AS {identifier(name)}"
            for name, (kind, _) in kinds.items()
        )
        frame = rows(self.cursor, f"SELECT {selected} FROM {source} AS {_ALIAS}")
        return pl.DataFrame([_typed(column, *kinds[column.name]) for column in frame])

    def kinds(self, table: str | None, query: str | None) -> dict[str, Kind | None]:
        """Say what each column is declared to hold."""
        source = self._source(table, query)
        found = self._kinds(source, self._names(source))
        return {name: kind.kind for name, (kind, _) in found.items()}

    def _source(self, table: str | None, query: str | None) -> str:
        return f"({query.strip().rstrip(';')}\n)" if query is not None else self._table(table)

    def _table(self, wanted: str | None) -> str:
        """Find a table by its name, with its schema before it or where it is seen without."""
        found: dict[str, tuple[str, str, bool]] = {}
        listed = rows(self.cursor, _LISTED)
        for name, home, is_table, is_visible in listed.iter_rows() if listed.height else ():
            found[name if is_visible else f"{home}.{name}"] = (home, name, is_table)
        tables = [shown for shown, (_, _, is_table) in found.items() if is_table]
        views = [shown for shown in found if shown not in tables]
        full = {f"{home}.{name}": shown for shown, (home, name, _) in found.items()}
        wanted = wanted if wanted in found or wanted is None else full.get(wanted, wanted)
        home, name, _ = found[one_of(tables, views, wanted, _PLACE, _EXAMPLE)]
        return f"{identifier(home)}.{identifier(name)}"

    def _names(self, source: str) -> list[str]:
        """Name the columns, of the first record, since a type may be one that cannot be read."""
        listed = rows(
            self.cursor,
            f"WITH first AS (SELECT pg_catalog.row_to_json({_ALIAS}) AS record "
            f"FROM {source} AS {_ALIAS} LIMIT 1) "
            "SELECT k FROM first, pg_catalog.json_object_keys(record) AS k",
        )
        names: list[str] = listed["k"].to_list() if listed.height else []
        if not names:
            rule = "the table must hold records, and there are none that you may read"
            raise FileError(_PLACE, rule, "check what was asked for")
        if len({*names}) < len(names):
            raise FileError(_PLACE, "columns must have different names", "name them by AS")
        return names

    def _kinds(self, source: str, names: list[str]) -> dict[str, tuple[_Type, list[str] | None]]:
        """Say how each column is read; of an enumeration with its list."""
        asked = ", ".join(f"pg_catalog.pg_typeof({_of(name)})::oid::int8" for name in names)
        types = rows(self.cursor, f"SELECT ARRAY[{asked}] FROM {source} AS {_ALIAS} LIMIT 1").item()
        named = rows(self.cursor, _NAMED.format(", ".join(map(str, types))))
        kinds: dict[str, tuple[_Type, list[str] | None]] = {}
        for column, (name, sort, labels) in zip(names, named.iter_rows(), strict=True):
            kind = _WORDS if sort == "e" else _TYPES.get(name)
            if kind is None:
                raise _refused(
                    column,
                    "columns must hold numbers, text, dates or truth values, and its type is "
                    f"{quoted(name)}",
                    "leave it out, or cast it, by a query: ?query=SELECT OTHERS FROM TABLE",
                )
            kinds[column] = kind, labels if sort == "e" else None
        return kinds

    def _refuse_unsound(self, source: str, kinds: Mapping[str, tuple[_Type, Any]]) -> None:
        """Refuse more records than memory holds, and values that no table of ours has."""
        asked = {
            name: f"coalesce(bool_and({kind.sound.format(_of(name))}), true)"
            for name, (kind, _) in kinds.items()
            if kind.sound is not None
        }
        sound = f"ARRAY[{', '.join(asked.values())}]::bool[]"
        counted = rows(self.cursor, f"SELECT count(*), {sound} FROM {source} AS {_ALIAS}")
        n_records, found = counted.row(0)
        check_reading(Path(_PLACE), 0, n_records * len(kinds))
        for name, is_sound in zip(asked, found, strict=True):
            if not is_sound:
                remedy = "correct it, or leave such records out by a query"
                raise _refused(name, kinds[name][0].rule, remedy)


def _of(column: str) -> str:
    return f"{_ALIAS}.{identifier(column)}"


def _refused(column: str, rule: str, remedy: str) -> FileError:
    return FileError(f"{_PLACE}, column {quoted(column)}", rule, remedy)


def _typed(column: pl.Series, kind: _Type, labels: list[str] | None) -> pl.Series:
    if labels is not None:
        return column.cast(pl.Enum(labels))
    return _decimals(column) if kind is _EXACT else column


def _decimals(column: pl.Series) -> pl.Series:
    """Read numbers of any precision exactly, all to as many decimals as one of them has."""
    parts = column.str.strip_prefix("-").str.split_exact(".", 1).struct.unnest().get_columns()
    digits, places = _longest(parts[0].str.strip_chars_start("0")), _longest(parts[1])
    if digits + places > _MOST_DIGITS:
        rule = f"numbers must have at most {_MOST_DIGITS} digits before and behind the point"
        raise _refused(column.name, rule, "round them by a query, or cast them: NAME::float8")
    return column.cast(pl.Decimal(_MOST_DIGITS, places))


def _longest(texts: pl.Series) -> int:
    return max(texts.drop_nulls().str.len_chars().to_list(), default=0)


# What is written.

_LONGEST_NAME = 63
_MARK = "A release of microveil"
# What columns are made of: whole numbers as what they are sent as.
_WRITTEN_TYPES: dict[Any, tuple[Any, str]] = {
    **dict.fromkeys((pl.Int8, pl.UInt8, pl.Int16), (pl.Int16, "smallint")),
    **dict.fromkeys((pl.UInt16, pl.Int32), (pl.Int32, "integer")),
    **dict.fromkeys((pl.UInt32, pl.Int64, pl.UInt64, pl.Int128), (pl.Int64, "bigint")),
    **dict.fromkeys((pl.String, pl.Enum, pl.Categorical, pl.Null), (pl.String, "text")),
    pl.Float32: (pl.Float32, "real"),
    pl.Float64: (pl.Float64, "double precision"),
    pl.Boolean: (pl.Boolean, "boolean"),
    pl.Date: (pl.Date, "date"),
}


def check_new_table(place: str, *, overwrite: bool) -> None:
    """Refuse a table that could not appear, before long work."""
    address = _address(place)
    with connected(address) as (_, cursor):
        _target(cursor, address, overwrite=overwrite)


@contextmanager
def new_table(
    place: str | None, frame: pl.DataFrame, *, overwrite: bool
) -> Iterator[tuple[str | None, Callable[[], None]]]:
    """Write a table into a new one; give what it is called, and what makes it appear.

    An error before that leaves the database as it was; one after it takes the table back, unless
    it replaced an earlier release.
    """
    if place is None:
        yield None, lambda: None
        return
    address = _address(place)
    with connected(address) as (connection, cursor):
        home, name, is_there = _target(cursor, address, overwrite=overwrite)
        target = f"{identifier(home)}.{identifier(name)}"
        try:
            columns = [_column(column) for column in to_publish(frame)]
        except UnwritableError as error:
            where = f"PostgreSQL, table {quoted(name)}, column {quoted(str(error.column))}"
            raise FileError(where, error.rule, error.remedy) from None
        declared = ", ".join(f"{identifier(c.name)} {kind}" for c, kind in columns)
        with in_our_words(lambda _error: _unwritten(name)):
            if is_there:
                cursor.execute(f"DROP TABLE {target}")
            cursor.execute(f"CREATE TABLE {target} ({declared})")
            cursor.execute(f"COMMENT ON TABLE {target} IS {literal(_MARK)}")
            table = pl.DataFrame([column for column, _ in columns])
            cursor.adbc_ingest(name, table, mode="append", db_schema_name=home)
            database = rows(cursor, DATABASE).item()
        has_appeared = False

        def appear() -> None:
            nonlocal has_appeared
            with in_our_words(lambda _error: _unwritten(name)):
                connection.commit()
            has_appeared = True

        try:
            yield f"PostgreSQL, database {database}, table {home}.{name}", appear
        except BaseException:
            if has_appeared and not is_there:
                cursor.execute(f"DROP TABLE {target}")
                connection.commit()
            raise


def _address(place: str) -> Address:
    address = address_of(place)
    if address.scheme != "postgresql" or address.table is None:
        raise FileError(
            "into",
            "a release is written into a table of PostgreSQL, which its address must name",
            "write postgresql://HOST/DATABASE?table=NAME; for SQLite ask for its format",
        )
    return address


def _target(cursor: Any, address: Address, *, overwrite: bool) -> tuple[str, str, bool]:
    """Find where a table is to appear: schema and name, and whether a release is there now."""
    try:
        homes = rows(
            cursor, "SELECT nspname::text, nspname = current_schema() FROM pg_catalog.pg_namespace"
        )
        home, _, name = str(address.table).partition(".")
        if not name or home not in homes["nspname"].to_list():
            own = homes.filter(homes.to_series(1).fill_null(value=False))
            home, name = own["nspname"].to_list()[0], str(address.table)
        there = rows(
            cursor,
            "SELECT c.relkind::text, coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), '') "
            "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            f"WHERE n.nspname = {literal(home)} AND c.relname = {literal(name)}",
        )
    except (Refused, LookupError):
        raise _unwritten(str(address.table)) from None
    if not there.height:
        return home, name, False
    shown = f"PostgreSQL, table {quoted(name)}"
    if there.row(0) != ("r", _MARK):
        rule = "only a release may be overwritten, and this is a table of another kind"
        raise FileError(shown, rule, "choose another name")
    if not overwrite:
        rule = "the table must not exist yet"
        raise FileError(shown, rule, "choose another name, or pass --overwrite to replace it")
    return home, name, True


def _column(column: pl.Series) -> tuple[pl.Series, str]:
    """Return a column as it is sent, and as it is declared."""
    dtype = column.dtype
    if len(column.name.encode()) > _LONGEST_NAME:
        rule = f"a column's name in PostgreSQL has at most {_LONGEST_NAME} bytes, and would be cut"
        raise UnwritableError(column.name, rule, "rename it")
    if isinstance(dtype, pl.Decimal):
        return column, f"numeric({dtype.precision or 38}, {dtype.scale})"
    if isinstance(dtype, pl.Datetime):
        moments = column.cast(pl.Datetime("us", dtype.time_zone))
        if moments.cast(dtype).equals(column):
            return moments, "timestamptz" if dtype.time_zone else "timestamp"
        rule = "moments must be whole microseconds, and one is not"
        raise UnwritableError(column.name, rule, "leave it out")
    sent, declared = _WRITTEN_TYPES.get(dtype.base_type(), (None, ""))
    if sent is None:
        rule = "columns must hold numbers, text, dates or truth values"
        raise UnwritableError(column.name, rule, "leave it out")
    try:
        return column.cast(sent), declared
    except pl.exceptions.PolarsError:
        rule = "whole numbers must lie within 2^63, and one does not"
        raise UnwritableError(column.name, rule, "leave it out") from None


def _unwritten(table: str) -> FileError:
    return FileError(
        f"PostgreSQL, table {quoted(table)}",
        "the server must let you make the table and take it whole, and it does not",
        "try it with the program psql: CREATE TABLE needs a right on the schema",
    )
