"""A table with what its file says of its columns."""

import datetime
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from microveil.schema import Categories, GivenCode, Kind

if TYPE_CHECKING:
    import polars

    from microveil.table.untyped import Spelling

# What a code of a column of a kind is.
_TYPES: Mapping[Kind, type | tuple[type, ...]] = {
    Kind.WHOLE: int,
    Kind.DECIMAL: (int, float),
    Kind.BOOLEAN: bool,
    Kind.DATE: datetime.date,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What a file's metadata say of a column in words; none of it is read off its values.

    Codes are what values stand for, and may leave values out; missing ones stand for no answer,
    as -9 for "refused". They are ordinal where the file says that their order means something, and
    those left out can be held by no cell of the column.
    """

    column: str | None = None
    codes: Mapping[GivenCode, str] = field(default_factory=dict)
    missing_codes: tuple[GivenCode, ...] = ()
    is_ordinal: bool = False
    n_left_out: int = 0
    is_scale: bool = field(default=False, repr=False)  # by SPSS
    bounds: tuple[Any, Any] | None = field(default=None, repr=False)  # of numbers or dates

    @property
    def valid(self) -> dict[GivenCode, str]:
        """The code list without the codes of missing answers."""
        return {code: text for code, text in self.codes.items() if code not in self.missing_codes}

    @property
    def parts(self) -> frozenset[str]:
        """Which of them there are: "column", "codes", "text codes", "missing codes"."""
        listed = {"text codes" if isinstance(code, str) else "codes" for code in self.codes}
        listed |= {"column"} if self.column else set()
        return frozenset(listed | ({"missing codes"} if self.missing_codes else set()))


def fitting(labels: Labels, kind: Kind, *, is_text: bool) -> Labels:
    """Leave out the codes that no cell of a column can hold, and count them; text holds any."""
    if is_text:  # as of a CSV file's column that is to be released as it stands
        codes: dict[GivenCode, str] = {_as_text(c): text for c, text in labels.codes.items()}
        missing = dict.fromkeys(map(_as_text, labels.missing_codes))
        return replace(labels, codes=codes, missing_codes=(*missing,))
    listed = {*labels.codes, *labels.missing_codes}
    held = {code for code in listed if _is_of_kind(code, kind)}
    return replace(only(labels, held), n_left_out=labels.n_left_out + len(listed - held))


def _as_text(code: GivenCode) -> str:
    return str(code).lower() if isinstance(code, bool) else str(code)


def only(labels: Labels, held: Collection[GivenCode]) -> Labels:
    """Return labels with some of their codes alone."""
    return replace(
        labels,
        codes={code: text for code, text in labels.codes.items() if code in held},
        missing_codes=tuple(code for code in labels.missing_codes if code in held),
    )


def _is_of_kind(code: GivenCode, kind: Kind) -> bool:
    if isinstance(code, bool) and kind is not Kind.BOOLEAN:
        return False
    if isinstance(code, datetime.datetime) or (isinstance(code, float) and not math.isfinite(code)):
        return False
    return isinstance(code, _TYPES.get(kind, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSchema:
    """What is known of a column beside its values: categories are those listed or declared."""

    kind: Kind
    categories: Categories | None
    labels: Labels = field(default_factory=Labels)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelledTable:
    """A table read from a file, and what the file says of its columns.

    Attributes
    ----------
    frame : polars.DataFrame or polars.LazyFrame
        The table, shape (n_records, n_columns).
    schema : mapping of str to ColumnSchema
        By column, in the table's order.
    untyped : mapping of str to Spelling
        Columns of a file without types whose kind is to be learnt: their cells are text, and how
        numbers and dates are written there.
    """

    frame: "polars.DataFrame | polars.LazyFrame"
    schema: Mapping[str, ColumnSchema]
    untyped: "Mapping[str, Spelling]" = field(default_factory=dict)

    @property
    def n_records(self) -> int:
        """How many records it has."""
        from microveil.table.column_files import height_of  # it loads polars

        return height_of(self.frame)

    @property
    def missing_codes(self) -> dict[str, list[GivenCode]]:
        """Codes of missing answers by column, of the columns that have some."""
        listed = {name: list(column.labels.missing_codes) for name, column in self.schema.items()}
        return {name: codes for name, codes in listed.items() if codes}

    def __repr__(self) -> str:
        """Say how large it is: its values are the custodian's."""
        return f"<LabelledTable of {self.n_records} records and {len(self.schema)} columns>"
