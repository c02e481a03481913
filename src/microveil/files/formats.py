"""The registry of formats: what each is called, can hold, and the module that reads and writes it.

What files can hold is told here once: writing, its refusals and docs/files.md have it from here.
"""

import importlib
import re
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, cast

from microveil.errors import FileError, RequestError

if TYPE_CHECKING:
    import polars

    from microveil.files.text import TextFormat
    from microveil.files.typed import Outline
    from microveil.schema import GivenCode
    from microveil.table import Labels

EXACT = 2**53  # up to here a float tells whole numbers apart
STATA_LONG = -2_147_483_647, 2_147_483_620  # beyond lie Stata's missing values


@dataclass(frozen=True, slots=True)
class Most:
    """The longest text that a place holds, in bytes of UTF-8 or in characters."""

    length: int
    unit: Literal["bytes", "characters"] = "bytes"

    def holds(self, text: str) -> bool:
        """Whether a text fits: a zero character would end it."""
        length = len(text.encode()) if self.unit == "bytes" else len(text)
        return length <= self.length and "\0" not in text

    def __str__(self) -> str:
        return f"{self.length:,} {self.unit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What the columns of a file may be called; names that differ in capitals alone are equal."""

    pattern: "re.Pattern[str]"
    in_words: str
    most: Most

    def hold(self, name: str) -> bool:
        """Whether a column may be called so."""
        begins = name[:1] == "_" or name[:1].isalpha()  # some digits are letters to expressions
        return begins and self.most.holds(name) and bool(self.pattern.fullmatch(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Carries:
    """What files of a format can hold; None where nothing limits it."""

    names: Names | None = None  # what columns may be called
    whole: int | None = None  # how large whole numbers may be, at most 64 bits
    decimal: float | None = None  # below which size decimal numbers stay
    has_truths: bool = True  # else truth values are the whole numbers 0 and 1
    first_year: int = 1  # before it there is no date; the last is 9999
    moments: Literal["ms", "us"] | None = None  # the unit of which moments are whole numbers
    text: Most | None = None
    records: int | None = None
    columns: int | None = None
    # The parts of `Labels` that have a place, and how long their text may be.
    labels: Mapping[str, Most | None] = field(default_factory=dict)
    codes: tuple[int, int] | None = None  # between which whole codes alone have labels

    @property
    def has_all_labels(self) -> bool:
        """Whether there is a place for all that labels say."""
        return self.labels.keys() >= {"column", "codes", "text codes", "missing codes"}

    def kept(self, labels: "Labels") -> "Labels":
        """Return what of a column's labels a file holds, whole: longer ones would be cut."""
        is_whole = not labels.column or self._takes("column", labels.column)
        codes = {code: text for code, text in labels.codes.items() if self._labels(code, text)}
        missing = labels.missing_codes if "missing codes" in self.labels else ()
        return replace(
            labels, column=labels.column if is_whole else None, codes=codes, missing_codes=missing
        )

    def loses(self, labels: "Labels") -> bool:
        """Whether a file has a place for such labels of a column, but not for all of these."""
        placed = [code for code in labels.codes if _part(code) in self.labels]
        kept = self.kept(labels)
        is_cut = "column" in self.labels and kept.column != labels.column
        return is_cut or len(kept.codes) < len(placed)

    def _takes(self, part: str, text: str) -> bool:
        most = self.labels.get(part)
        return part in self.labels and (most is None or most.holds(text))

    def _labels(self, code: "GivenCode", text: str) -> bool:
        is_code = isinstance(code, str) or self.codes is None
        if self.codes is not None and isinstance(code, int):
            is_code = self.codes[0] <= code <= self.codes[1]
        return is_code and self._takes(_part(code), text)


def _part(code: "GivenCode") -> str:
    """Name the part of labels that a code is of."""
    return "text codes" if isinstance(code, str) else "codes"


ANYTHING = Carries()
EXCEL = Carries(
    whole=EXACT,
    decimal=9.9e307,
    first_year=1900,
    moments="ms",
    text=Most(32_767, "characters"),
    records=1_048_575,
    columns=16_384,
)
SPSS = Carries(
    names=Names(
        pattern=re.compile(
            r"(?!(?:ALL|AND|BY|EQ|GE|GT|LE|LT|NE|NOT|OR|TO|WITH)$)"
            r"[^\W\d_](?:[\w.@#$]{0,62}[\w@#$])?",
            flags=re.IGNORECASE,
        ),
        in_words=(
            "a column's name in SPSS is a letter and up to 63 letters, digits, _ . @ # and $, of "
            "64 bytes in all (an accented letter takes two), no word of its language, and another "
            "but for capitals"
        ),
        most=Most(64),
    ),
    whole=EXACT,
    decimal=sys.float_info.max,
    has_truths=False,
    moments="ms",
    text=Most(32_767),
    labels={
        "column": Most(256),
        "codes": Most(120),
        "text codes": Most(120),
        "missing codes": Most(8),  # those that are text
    },
)
STATA = Carries(
    names=Names(
        pattern=re.compile(
            r"(?!(?:_all|_b|byte|_coef|_cons|double|float|if|in|int|long|_n|_N|_pi|_pred|_rc|_skip|"
            r"str[0-9]+|strL|using|with)$)[^\W\d][\w]{0,31}"
        ),
        in_words=(
            "a column's name in Stata is up to 32 letters, digits and _, no digit first, no word "
            "of its language (as using, in, int, _n and str5 are), and another but for capitals"
        ),
        most=Most(32, "characters"),
    ),
    whole=EXACT,
    decimal=2.0**1023,  # from here on numbers stand for missing values
    has_truths=False,
    moments="ms",
    text=Most(2_000_000_000),
    labels={"column": Most(80, "characters"), "codes": Most(32_000)},
    codes=STATA_LONG,
)
SQLITE = Carries(moments="us")
SAS = Carries(labels={"column": None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """How the cells of columns are read, by the names of these.

    ``decimals`` are decimal numbers even where all look whole. Cells ``as_text`` are taken as they
    stand: nobody calculates with them. ``of_one_kind`` says that a value or a few of another kind,
    007 among numbers, are an error and do not make a column text: else its type would show that
    there is such a record. ``missing`` gives the words of text that stand for a missing value.
    ``untyped`` columns, whose kind is learnt, are text, each cell as it is by itself.
    """

    decimals: Collection[str] = ()
    as_text: Callable[[str], bool] = lambda _name: False
    of_one_kind: Callable[[str], bool] = lambda _name: False
    missing: Callable[[str], Collection[str]] = lambda _name: ()
    untyped: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A file whose form is checked and whose columns have names, but no types yet."""

    names: list[str]
    read: "Callable[[Cells], polars.DataFrame | polars.LazyFrame]"
    text: "TextFormat | None" = None  # how it is written, where it is text
    labels: "Mapping[str, Labels]" = field(default_factory=dict)  # what it says of columns in words
    never_missing: tuple[str, ...] = ()  # columns, as it declares


class FormatModule(Protocol):
    """What the module of a format offers; a table or a query follows where a file may hold several.

    ``opened(path, raw, text)`` checks the form of a file of these bytes; ``write(frame, file,
    text=, escape_formulas=, labels=, name=)`` writes a table into a file that is open.
    ``outlined(path, text)`` says what a file declares of its columns, None where its beginning does
    not reach; it is left out where a file has to be read whole. ``opened_lazily(path, text,
    beside)`` gives a lazy table, what waits of it beside; it is left out where files are held.
    """

    opened: Callable[..., Opened]
    write: Callable[..., None]
    outlined: "Callable[..., Outline | None]"
    opened_lazily: Callable[..., Opened]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of files."""

    name: str  # as it is asked for
    title: str  # as it is shown
    suffixes: tuple[str, ...]  # of the names of its files; a release gets the first
    module: str  # a `FormatModule`, imported when it is needed
    separator: str | None = None  # between fields where nothing else is said; of text alone
    compression: str | None = None  # gzip or zstd
    carries: Carries = ANYTHING  # a table that is written is held against it
    has_types: bool = True  # its files say what their columns are; else the first values do
    is_written: bool = True
    has_tables: bool = False  # its files may hold several tables, and be asked by a query
    is_encoded: bool = False  # its files hold text in an encoding that they may not say themselves
    unfinished: tuple[str, ...] = ()  # ends of names of files beside one that is not whole

    def __post_init__(self) -> None:
        if not self.suffixes or any(end != end.lower() or end[:1] != "." for end in self.suffixes):
            raise ValueError(f"format {self.name} wants a suffix, in small letters behind a point")

    @property
    def is_text(self) -> bool:
        """Whether its files hold characters alone: a spreadsheet may run them as formulas."""
        return self.separator is not None

    @property
    def is_outlined(self) -> bool:
        """Whether a file says the names of its columns without being read whole."""
        return hasattr(self.load(), "outlined")

    @property
    def is_lazy(self) -> bool:
        """Whether a file larger than memory is read, a column or some records at a time."""
        return self.compression is None and hasattr(self.load(), "opened_lazily")

    @property
    def is_written_lazily(self) -> bool:
        """Whether a table is written some records at a time, so that it may be lazy."""
        return self.is_text or self.is_lazy

    @property
    def takes(self) -> frozenset[str]:
        """What can be said of how its files are written."""
        named = {"separator", "decimal", "encoding", "dates", "thousands"}
        of_text = named if self.is_text else set()
        of_cells = set() if self.has_types else {"header"}
        return frozenset(of_text | of_cells | ({"encoding"} if self.is_encoded else set()))

    def text(self, said: "TextFormat | None") -> "TextFormat | None":
        """Return how its files are written, by what was said of it; None where nothing can be."""
        if self.separator is None:
            return said if self.takes else None
        from microveil.files.text import TextFormat

        return (said or TextFormat(separator="")).in_format(self.separator)

    def load(self) -> FormatModule:
        """Import what reads and writes it."""
        return cast("FormatModule", importlib.import_module(self.module))


_HERE = "microveil.files"
_COMPRESSED = {"": None, ".gz": "gzip", ".zst": "zstd"}
_ALL = (
    *(
        Format(
            name=f"{name}{end}", title=name.upper(), separator=separator, compression=compression,
            suffixes=tuple(f"{suffix}{end}" for suffix in suffixes), has_types=False,
            module=f"{_HERE}.csv_format",
        )
        for name, separator, suffixes in (
            ("csv", ",", (".csv", ".txt")), ("tsv", "\t", (".tsv", ".tab"))
        )
        for end, compression in _COMPRESSED.items()
    ),
    Format(
        name="parquet", title="Parquet", suffixes=(".parquet", ".pq"),
        module=f"{_HERE}.parquet_format",
    ),
    Format(
        name="arrow", title="Arrow IPC", suffixes=(".arrow", ".feather", ".ipc"),
        module=f"{_HERE}.arrow_format",
    ),
    Format(
        name="xlsx", title="Excel", suffixes=(".xlsx",), has_types=False,
        module=f"{_HERE}.excel_format", carries=EXCEL,
    ),
    Format(
        name="sav", title="SPSS", suffixes=(".sav",), is_encoded=True,
        module=f"{_HERE}.spss_format", carries=SPSS,
    ),
    Format(
        name="zsav", title="SPSS", suffixes=(".zsav",), is_encoded=True,
        module=f"{_HERE}.spss_format", carries=SPSS,
    ),
    Format(
        name="dta", title="Stata", suffixes=(".dta",), is_encoded=True,
        module=f"{_HERE}.stata_format", carries=STATA,
    ),
    Format(
        name="sas", title="SAS", suffixes=(".sas7bdat", ".xpt"), is_encoded=True, is_written=False,
        module=f"{_HERE}.sas_format", carries=SAS,
    ),
    Format(
        name="sqlite", title="SQLite", suffixes=(".db", ".sqlite", ".sqlite3"), has_tables=True,
        unfinished=("-wal", "-journal"), module=f"{_HERE}.sqlite_format", carries=SQLITE,
    ),
)  # fmt: skip
FORMATS: dict[str, Format] = {entry.name: entry for entry in _ALL}

# What no other name makes a table that can be read.
_SPREADSHEETS = (".xls", ".xlsx", ".xlsm", ".xlsb", ".ods", ".fods", ".numbers", ".gnumeric")


def format_of(path: Path) -> Format:
    """Return the format of a file by its name."""
    for entry in FORMATS.values():
        if path.name.lower().endswith(entry.suffixes):
            return entry
    suffixes = [suffix for entry in FORMATS.values() for suffix in entry.suffixes]
    if path.suffix.lower() in _SPREADSHEETS:
        remedy = f"in its program, save the sheet as CSV, or export the table as {titles()}"
    else:
        remedy = f"export the table as {titles()}; a file of text needs but another name"
    rule = f"the file's name must end with one of {' '.join(suffixes)}"
    raise FileError(str(path), rule, remedy)


def files_of_folder(folder: Path) -> list[Path]:
    """Return the files of a folder that holds nothing but Parquet, in the order of their names."""
    found = [path for path in folder.iterdir() if not path.name.startswith((".", "_"))]
    are_all = all(path.suffix == ".parquet" and path.is_file() for path in found)
    return sorted(found) if are_all else []


def named_format(name: str) -> Format:
    """Return the format of a name, to write a table in."""
    known = FORMATS.get(name) if isinstance(name, str) else None
    if known is None or not known.is_written:
        rule = "there is no such format" if known is None else f"{known.title} files are read alone"
        raise RequestError("format", rule, f"choose from {', '.join(written_formats())}")
    return known


def written_formats() -> list[str]:
    """Name the formats that tables are written in."""
    return [name for name, entry in FORMATS.items() if entry.is_written]


def titles() -> str:
    """Name the formats in a phrase."""
    *most, last = dict.fromkeys(entry.title for entry in FORMATS.values())
    return " or ".join([", ".join(most), last] if most else [last])
