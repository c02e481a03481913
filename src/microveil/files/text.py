"""How a file of text is written: separator, encoding, and what numbers and dates look like."""

import codecs
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microveil.errors import RequestError

if TYPE_CHECKING:
    from microveil.table.untyped import Spelling

CANDIDATES = {",": ",", ";": "';'", "\t": "$'\\t'", "|": "'|'"}  # separator -> as a shell takes it

ORDERS = ("DMY", "MDY", "YMD")  # of day, month and year
# What separates thousands, and what else is printed for it.
_THOUSANDS = {
    ".": r"\.",
    ",": ",",
    "'": "['\N{RIGHT SINGLE QUOTATION MARK}]",
    " ": "[ \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]",
}

# Python counts these as text encodings, but they hold host names, source code or nothing.
_NO_ENCODINGS = {
    *("idna", "punycode", "raw_unicode_escape", "unicode_escape", "utf_7"),
    *("charmap", "undefined"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFormat:
    """How a file of text is written: what is no such thing is refused by a RequestError."""

    separator: str = ","  # one ASCII character; "" for that of the file's format
    decimal: str = "."  # or a comma
    encoding: str = "utf-8"  # of characters, as Python knows it; "" for that of the file's format
    dates: str = ""  # the order of day, month and year; "" for YYYY-MM-DD alone, which is read too
    thousands: str = ""  # one of _THOUSANDS; "" for nothing
    header: int = 1  # the line that names the columns, of a workbook too; lines above are no table
    said: frozenset[str] = field(default=frozenset(), compare=False)  # by a flag or an argument

    def __post_init__(self) -> None:
        separator, decimal = self.separator, self.decimal
        is_sign = len(separator) == 1 and separator.isascii() and not separator.isalnum()
        for name, is_wrong, rule, example in (
            ("separator", separator and not is_sign,
             "the separator must be one ASCII character and no letter or digit",
             "--separator ';'"),
            ("separator", separator and separator in '"\r\n\0+-.' and separator != decimal,
             "the separator must not be a quote, a line end or a part of a number",
             "--separator ';'"),
            ("decimal", decimal not in (".", ","), "the decimal mark must be . or ,",
             "--decimal ,"),
            ("separator", separator == decimal, "the separator and the decimal mark must differ",
             "--separator ';' --decimal ,"),
            ("dates", self.dates not in ("", *ORDERS),
             f"the order of a date must be one of {', '.join(ORDERS)}",
             "--dates DMY for 31.12.1990"),
            ("thousands", self.thousands not in ("", *_THOUSANDS) or self.thousands == decimal,
             "what separates thousands must be . , ' or a space, and not the decimal mark",
             "--thousands . --decimal , for 1.234,56"),
            ("header", type(self.header) is not int or self.header < 1,
             "the line that names the columns must be a whole number, 1 or more", "--header 3"),
            ("encoding", not _holds_text(self.encoding or "utf-8"),
             "the encoding must be a character encoding that Python knows",
             "--encoding latin-1"),
        ):  # fmt: skip
            if is_wrong:
                raise RequestError(name, rule, f"pass for example {example}")

    @property
    def codec(self) -> str:
        """The encoding's name as Python's codecs spell it."""
        return codecs.lookup(self.encoding).name

    def separated_by(self, separator: str) -> "TextFormat":
        """Return it with another separator, semicolons where that is the decimal mark."""
        return replace(self, separator=";" if separator == self.decimal else separator)

    def in_format(self, separator: str) -> "TextFormat":
        """Return it with the separator and encoding of a text format where it says none itself."""
        encoded = self if self.encoding else replace(self, encoding="utf-8")
        return encoded if self.separator else encoded.separated_by(separator)

    @property
    def entries(self) -> dict[str, str | int]:
        """What a recipe says of it."""
        named = {"encoding": self.encoding, "dates": self.dates, "thousands": self.thousands}
        of_text = {"separator": self.separator, "decimal": self.decimal} if self.separator else {}
        said = {name: value for name, value in named.items() if value}
        return {**of_text, **said, **({} if self.header == 1 else {"header": self.header})}

    @property
    def spelling(self) -> "Spelling":
        """How its numbers and dates are written."""
        from microveil.table.untyped import Spelling  # it loads polars

        thousands = _THOUSANDS.get(self.thousands, "")
        return Spelling(decimal=self.decimal, thousands=thousands, dates=self.dates)

    @property
    def is_unsaid(self) -> bool:
        """Whether it leaves all to the file's format."""
        return not self.said and self in (UNSAID, TextFormat(separator=""))


def _holds_text(encoding: str) -> bool:
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError):
        return False
    is_text: bool = codec._is_text_encoding  # noqa: SLF001 - no public name
    return is_text and codec.name.replace("-", "_") not in _NO_ENCODINGS


# What leaves all to the file's format.
UNSAID = TextFormat(separator="", encoding="")


def text_format(
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    dates: str | None = None,
    thousands: str | None = None,
    header: int | None = None,
) -> TextFormat:
    """Return how a file of text is written; what is None is as the file's format has it."""
    given = {
        "separator": separator, "decimal": decimal, "encoding": encoding,
        "dates": dates, "thousands": thousands,
    }  # fmt: skip
    said: dict[str, Any] = {
        name: value or "none" for name, value in given.items() if value is not None
    }
    if separator == "\\t":
        said["separator"] = "\t"
    if header is not None:
        said["header"] = header
    return replace(UNSAID, **said, said=frozenset(said))


def other_encoding(some: bytes, codec: str) -> str:
    """Name the encoding that text is often in if it is not in another."""
    if not codec.startswith("utf-8"):
        return "utf-8"
    try:
        some.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def place(path: Path, line: int) -> str:
    """Say where in a file."""
    return f"{path}, line {line}"


def quoted(name: str) -> str:
    """Show a column's name, shortened, on one line."""
    return repr(name if len(name) <= 60 else f"{name[:57]}...")
