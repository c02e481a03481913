"""What a file says of its columns before any value of it is read."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from microveil.schema import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The columns of a table, as its file declares them.

    A kind is None where only the values show it: of text, and of moments, which are dates where all
    of them are midnights. Values may make a column another that is declared as decimal, and is
    text where its digits are too many for a float; or as whole, and is decimal where a
    statistical package shows it without decimals.
    """

    kinds: Mapping[str, Kind | None]  # in the order of the columns
    n_records: int | None = None  # None where the file does not say it


def kind_of(dtype: pl.DataType) -> Kind | None:
    """Return what a column of a type holds; None where its values say it, or it is none of ours."""
    if dtype in (pl.Int128, pl.UInt64):  # text where a value has more than 63 bits
        return None
    if dtype.is_integer():
        return Kind.WHOLE
    if dtype.is_float() or dtype.is_decimal():
        return Kind.DECIMAL
    if dtype == pl.Boolean:
        return Kind.BOOLEAN
    if dtype == pl.Date:
        return Kind.DATE
    return Kind.OTHER if dtype in (pl.String, pl.Enum, pl.Categorical) else None
