"""Files in and out, one module a format; what a column's values mean is decided in `table`.

A format is one module and one line of `formats.FORMATS`; here stands what needs no library.

A CSV file is checked before polars reads it, because polars renames columns of equal
names, fills short records and quotes values in its messages. What holds for CSV
and for TSV, and but for the form of a record for the cells of an Excel sheet:

- A record has as many fields as the header; quotes follow RFC 4180; lines end with LF
  or CRLF. Blank lines may end the file; between records they are refused, also in a
  file of one column, where a missing value is written ``""``.
- A column's type comes from its first 10,000 records, or, where these are all empty,
  from its first 10,000 values: whole numbers, decimal numbers, truth values, dates
  ``YYYY-MM-DD``, else text. Quotes make no difference.
- Truth values are ``true`` and ``false``, ``True`` and ``False`` or ``TRUE`` and
  ``FALSE``, one spelling in a column; a column that mixes them is text. They are always
  written ``true`` and ``false``.
- The first line names the columns, each with a letter in it: numbers, dates, signs
  and words such as true and NA there are taken for the first person's values in a file
  without a header. Messages about reading a file show columns by number for that reason.
- An empty cell is missing, in text too. Words such as NA are no missing values.
- Numbers may stand between spaces; a cell of spaces in a column of numbers is missing.
  Infinities, NaN and numbers beyond the range of 64 bits are refused.
- A column with a value that begins with 0 or + and a digit (00123, +4912345) anywhere
  is text, unless it is declared as decimal: a number would not keep it as written.
- For a release (``of_one_kind``) a column that is text by one value, or by a tenth of them
  at most, is refused with the line of the first.
- Where nothing is said of how a file is written, tabs separate the fields of a TSV file and
  commas those of a CSV file.
- A compressed file may unpack to half of the memory that is free, and is refused beyond it.
- An encoding is one of characters: idna, punycode, utf-7 and escapes are refused. What
  is written is decoded again, so that a character an encoding changes is an error.
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
