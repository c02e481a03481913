"""Reading files from Python, as the command line reads them."""

from collections.abc import Iterable
from os import PathLike

from microveil.errors import RequestError, stands_alone
from microveil.files.reading import SourceFile, open_file
from microveil.files.text import text_format
from microveil.schema import Categories, Source
from microveil.table import (
    ColumnSchema,
    LabelledTable,
    Labels,
    MissingCodes,
    Table,
    fitting,
    open_table,
)
from microveil.table.table import is_text, listed_categories


@stands_alone
def read(
    place: str | PathLike[str],
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    dates: str | None = None,
    thousands: str | None = None,
    header: int | None = None,
    missing_values: Iterable[str] | None = None,
) -> LabelledTable:
    r"""Read a file of any format as a table, as the command line reads it.

    Parameters
    ----------
    place : str or pathlib.Path
        A file, the end of whose name says its format, one of docs/files.md; its URL, of https, http
        or file; a table or a query of a database: "people.db?table=people",
        "postgresql://HOST/DATABASE?table=people", or with "?query=SELECT ..." behind it.
    separator, decimal, encoding : str, optional
        How a file of text is written, by default with points and in UTF-8. Without a separator it
        is that of the format: tabs in a TSV file, commas in a CSV file, or semicolons where commas
        are decimal marks. An encoding is also of SPSS, Stata and SAS files that do not say theirs.
    dates : {"DMY", "MDY", "YMD"}, optional
        In which order dates of a file of text have day, month and year, beside YYYY-MM-DD.
    thousands : {".", ",", "'", " "}, optional
        What separates thousands in a file of text.
    header : int, optional
        The line of a file of text or Excel that names the columns, by default 1: lines above it
        are passed over.
    missing_values : sequence of str, optional
        What stands for a missing value in a file of text: ["NA", "."]. Such cells are empty.

    Returns
    -------
    LabelledTable
        The table as ``frame``, a polars.DataFrame, and what the file says of its columns as
        ``schema``. `protect`, `assess` and the others take it as it is.

    Raises
    ------
    FileError
        The file cannot be read, is no table, or a value does not fit its column. The
        message holds the line, never the value.
    RequestError
        How it is written cannot be, or the file's format has none.
    DataError
        The table has fewer than two records.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.tsv")
    ...     _ = path.write_text("AGE\tZIP\n41\t01234\n\t98101\n")
    ...     people = read(path)
    >>> people
    <LabelledTable of 2 records and 2 columns>
    >>> people.frame.to_dict(as_series=False)
    {'AGE': [41, None], 'ZIP': ['01234', '98101']}
    >>> people.schema["AGE"].kind
    <Kind.WHOLE: 'whole number'>
    """
    missing = MissingCodes.of(None, missing_values)
    text = text_format(separator, decimal, encoding, dates, thousands, header)
    file = open_file(place, text=text)
    if missing.of_text and file.has_types:
        raise RequestError(
            "missing_values",
            "they are words of a file of text or Excel, and in this format cells are empty",
            "leave them out here, and pass them to protect",
        )
    return labelled(file.read(missing=missing.words_of))


def labelled(source: SourceFile) -> LabelledTable:
    """Return the table of a file with what the file says of its columns."""
    opened, labels = open_table(source.frame), source.labels
    schema = {name: _column(opened, name, labels.get(name, Labels())) for name in opened.names}
    return LabelledTable(source.frame, schema, source.untyped)


def _column(table: Table, name: str, labels: Labels) -> ColumnSchema:
    listed = listed_categories(table, name)
    categories = None
    if listed:
        categories = Categories(values=listed, ordered=False, source=Source.TYPE)
    kind = table.kind(name)
    held = fitting(labels, kind, is_text=is_text(table, name))
    return ColumnSchema(kind=kind, categories=categories, labels=held)
