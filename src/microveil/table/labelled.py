"""A table with what its file says of its columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from microveil.schema import Categories, Kind

if TYPE_CHECKING:
    import polars

__all__ = ["ColumnSchema", "LabelledTable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSchema:
    """What a file says of a column.

    Attributes
    ----------
    kind : Kind
        How its values become numbers, if they do.
    categories : Categories or None
        Every value that there is, where the file lists them.
    """

    kind: Kind
    categories: Categories | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelledTable:
    """A table read from a file, and what the file says of its columns.

    Attributes
    ----------
    frame : polars.DataFrame
        The table, shape (n_records, n_columns).
    schema : mapping of str to ColumnSchema
        By column, in the table's order.
    """

    frame: "polars.DataFrame"
    schema: Mapping[str, ColumnSchema]

    def __repr__(self) -> str:
        """Say how large it is: its values are the custodian's."""
        return f"<LabelledTable of {self.frame.height} records and {len(self.schema)} columns>"
