"""What files of each format can hold: from here have it writing, its refusals and docs/files.md."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # the command line shows the formats without loading what reads them
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
