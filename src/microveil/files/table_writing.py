"""Writing a table into a new one of PostgreSQL, whole or not at all.

All is done in one transaction, which ends when the release's folders are about to appear: until
then nobody sees the table. A table that is written says in its comment that it is a release, and
no other is ever replaced.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl

from microveil.errors import FileError
from microveil.files.address import Address, address_of
from microveil.files.checking import in_our_words
from microveil.files.databases import Refused, identifier, literal, rows
from microveil.files.postgresql import DATABASE, connected
from microveil.files.text import quoted
from microveil.files.typed import to_publish
from microveil.files.writing import UnwritableError

_LONGEST_NAME = 63
_MARK = "A release of microveil"
# What columns are made of: whole numbers as what they are sent as.
_TYPES: dict[Any, tuple[Any, str]] = {
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
        with in_our_words(lambda _error: _refused(name)):
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
            with in_our_words(lambda _error: _refused(name)):
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
        raise _refused(str(address.table)) from None
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
    sent, declared = _TYPES.get(dtype.base_type(), (None, ""))
    if sent is None:
        rule = "columns must hold numbers, text, dates or truth values"
        raise UnwritableError(column.name, rule, "leave it out")
    try:
        return column.cast(sent), declared
    except pl.exceptions.PolarsError:
        rule = "whole numbers must lie within 2^63, and one does not"
        raise UnwritableError(column.name, rule, "leave it out") from None


def _refused(table: str) -> FileError:
    return FileError(
        f"PostgreSQL, table {quoted(table)}",
        "the server must let you make the table and take it whole, and it does not",
        "try it with the program psql: CREATE TABLE needs a right on the schema",
    )
