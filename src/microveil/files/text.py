"""How a file of text is written: separator, encoding, and what numbers and dates look like."""

import codecs
from dataclasses import dataclass, field, replace
from pathlib import Path

from microveil.errors import RequestError

__all__ = [
    "CANDIDATES",
    "THOUSANDS",
    "UNSAID",
    "TextFormat",
    "other_encoding",
    "place",
    "quoted",
    "text_format",
]

CANDIDATES = {",": ",", ";": "';'", "\t": "$'\\t'", "|": "'|'"}  # separator -> as a shell takes it

ORDERS = ("DMY", "MDY", "YMD")  # of day, month and year
# What separates thousands, and what else is printed for it.
THOUSANDS = {
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
    """How a file of text is written.

    Parameters
    ----------
    separator : str
        The one ASCII character between fields; "" for that of the file's format.
    decimal : str
        The decimal mark: ``"."`` or ``","``.
    encoding : str
        The name of a character encoding that Python knows; idna, punycode, utf-7 and
        escapes are none. "" for that of the file's format.
    dates : {"", "DMY", "MDY", "YMD"}
        In which order day, month and year stand, with . / or - between them; dates are read as
        YYYY-MM-DD too, and "" for this alone.
    thousands : {"", ".", ",", "'", " "}
        What stands between thousands; "" for nothing.
    said : frozenset of str
        Which of these a flag or an argument says.

    Raises
    ------
    RequestError
        A part is none of these, or separator and decimal mark are the same.

    Examples
    --------
    >>> TextFormat(separator=";", decimal=",").encoding
    'utf-8'
    """

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    dates: str = ""
    thousands: str = ""
    said: frozenset[str] = field(default=frozenset(), compare=False)

    def __post_init__(self) -> None:
        separator = self.separator
        if separator and (len(separator) != 1 or not separator.isascii() or separator.isalnum()):
            rule = "the separator must be one ASCII character and no letter or digit"
            raise RequestError("separator", rule, "pass for example --separator ';'")
        if separator and separator in '"\r\n\0+-.' and separator != self.decimal:
            rule = "the separator must not be a quote, a line end or a part of a number"
            raise RequestError("separator", rule, "pass for example --separator ';'")
        if self.decimal not in (".", ","):
            raise RequestError("decimal", "the decimal mark must be . or ,", "pass --decimal ,")
        if separator == self.decimal:
            rule = "the separator and the decimal mark must differ"
            raise RequestError("separator", rule, "pass for example --separator ';' --decimal ,")
        if self.dates not in ("", *ORDERS):
            rule = f"the order of a date must be one of {', '.join(ORDERS)}"
            raise RequestError("dates", rule, "pass for example --dates DMY for 31.12.1990")
        if self.thousands not in ("", *THOUSANDS) or self.thousands == self.decimal:
            rule = "what separates thousands must be . , ' or a space, and not the decimal mark"
            remedy = "pass for example --thousands . --decimal , for 1.234,56"
            raise RequestError("thousands", rule, remedy)
        try:
            codec = codecs.lookup(self.encoding or "utf-8")
            is_text = codec._is_text_encoding  # noqa: SLF001 - no public name
            is_text = is_text and codec.name.replace("-", "_") not in _NO_ENCODINGS
        except (LookupError, ValueError):
            is_text = False
        if not is_text:
            rule = "the encoding must be a character encoding that Python knows"
            raise RequestError("encoding", rule, "pass for example --encoding latin-1")

    @property
    def codec(self) -> str:
        """The encoding's name as Python's codecs spell it."""
        return codecs.lookup(self.encoding).name

    def separated_by(self, separator: str) -> "TextFormat":
        r"""Return it with another separator, semicolons where that is the decimal mark.

        >>> TextFormat(separator="\t", decimal=",").separated_by(",").separator
        ';'
        """
        return replace(self, separator=";" if separator == self.decimal else separator)

    def in_format(self, separator: str) -> "TextFormat":
        r"""Return it with the separator and encoding of a text format where it says none itself.

        >>> TextFormat(separator="", decimal=",").in_format("\t").separator
        '\t'
        """
        encoded = self if self.encoding else replace(self, encoding="utf-8")
        return encoded if self.separator else encoded.separated_by(separator)

    @property
    def entries(self) -> dict[str, str]:
        """What a recipe says of it."""
        named = {"dates": self.dates, "thousands": self.thousands}
        of_text = {"separator": self.separator, "decimal": self.decimal} if self.separator else {}
        said = {name: value for name, value in named.items() if value}
        return {**of_text, "encoding": self.encoding, **said}

    @property
    def is_unsaid(self) -> bool:
        """Whether it leaves all to the file's format."""
        return not self.said and self in (UNSAID, TextFormat(separator=""))


# What leaves all to the file's format.
UNSAID = TextFormat(separator="", encoding="")


def text_format(
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    dates: str | None = None,
    thousands: str | None = None,
) -> TextFormat:
    """Return how a file of text is written; what is None is as the file's format has it.

    A separator of a backslash and a t is a tab, as a command line passes it.
    """
    given = {
        "separator": separator, "decimal": decimal, "encoding": encoding,
        "dates": dates, "thousands": thousands,
    }  # fmt: skip
    said = {name: value or "none" for name, value in given.items() if value is not None}
    if separator == "\\t":
        said["separator"] = "\t"
    return replace(UNSAID, **said, said=frozenset(said))


def other_encoding(some: bytes, codec: str) -> str:
    """Name the encoding that text is often in if it is not in another.

    >>> other_encoding("Müller".encode("cp1252"), "utf-8"), other_encoding(b"", "cp1252")
    ('cp1252', 'utf-8')
    """
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
