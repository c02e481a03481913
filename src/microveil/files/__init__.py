"""Files in and out, one module a format; what a column's values mean is decided in `table`.

A format is one module and one line of `formats.FORMATS`; here stands what needs no library. What
holds for text, and but for the form of a record for the cells of an Excel sheet, docs/files.md
says: a file is checked before polars reads it, because polars renames columns of equal names,
fills short records and quotes values in its messages. Messages about reading a file show columns by
number, since the first line of a file without a header is a person's.
"""

from microveil.files.formats import (
    FORMATS,
    Format,
    format_of,
    named_format,
    titles,
    written_formats,
)

__all__ = ["FORMATS", "Format", "format_of", "named_format", "titles", "written_formats"]
