"""The names of a table's columns and what they hold, without reading the table."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from microveil.files import parquet_format
from microveil.files.address import Address, address_of
from microveil.files.checking import check_filled
from microveil.files.formats import Format, format_of
from microveil.files.reading import check_whole, files_in, read_by
from microveil.files.table_schema import schema_beside
from microveil.files.text import TextFormat
from microveil.files.typed import Outline
from microveil.schema import Kind

_HEAD = 1 << 20  # bytes by which records of text are counted


def outline_of(place: str | PathLike[str], *, text: TextFormat | None = None) -> Outline | None:
    """Say what a file declares of its columns, at a cost that does not grow with its records.

    What is said here was not held against the values: a file that is broken behind its beginning
    is refused where it is read.
    """
    address = address_of(place)
    if files := files_in(address):
        return parquet_format.parts_outlined(files)
    if address.is_web:
        return None
    if address.scheme == "postgresql":
        from microveil.files import postgresql  # with its library, which others do without

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
