"""A table larger than memory: each column is read when it is asked for, and is not kept."""

import copy
from collections.abc import Mapping
from typing import Any, cast

import narwhals as nw
import numpy as np
import polars
from numpy.typing import NDArray

from microveil.schema import Kind
from microveil.table.column_files import ColumnFiles, columns_of, files_of, side_by_side
from microveil.table.frame_table import FrameTable, exact_decimals
from microveil.table.protocol import Table
from microveil.table.restore import Numbers

__all__ = ["LazyTable"]

# Types that say by themselves what a column holds; of others cells are looked at.
_PLAIN = (nw.Boolean, nw.Date, nw.String, nw.Enum, nw.Categorical)


class LazyTable(FrameTable):
    """A lazy frame of polars, or columns that are one each, as typed columns.

    What is made of it is lazy too: columns to be released wait in Arrow files, where other columns
    of the frame do, or else in the folder for temporary files.

    Parameters
    ----------
    given : polars.LazyFrame or dict of them by column

    Examples
    --------
    >>> table = LazyTable(polars.LazyFrame({"AGE": [31, 45]}))
    >>> table.n_records, table.numbers("AGE").values
    (2, array([31, 45]))
    """

    def __init__(
        self,
        given: polars.LazyFrame | Mapping[str, polars.LazyFrame],
    ) -> None:
        if isinstance(given, polars.LazyFrame):
            schema = given.collect_schema()
            self._columns = columns_of(given)
        else:
            self._columns = dict(given)
            schema = polars.Schema(
                {name: own.collect_schema()[name] for name, own in given.items()}
            )
        super().__init__(nw.from_native(polars.DataFrame(schema=schema), eager_only=True))
        # One column says as much as all, which may each be a file.
        name, own = next(iter(self._columns.items()))
        self.n_records = int(own.select(name).select(polars.len()).collect().item())
        self._files = files_of(given)

    def state(self, kinds: Mapping[str, Kind], most: int) -> None:
        """Look at columns of another type than was stated of them, one after another."""
        for name, kind in kinds.items():
            dtype = self._frame.get_column(name).dtype if name in self.names else None
            if dtype in (nw.String, nw.Unknown) or (dtype is not None and self.kind(name) != kind):
                one = FrameTable(self._as_given(name).to_frame())
                one.state({name: kind}, most)
                self.of_few |= one.of_few
                cells = cast("polars.DataFrame", one.assembled({name: one.kept(name, None)}))
                if cells.schema[name] != polars.DataFrame(self._frame.to_native()).schema[name]:
                    self._columns[name] = cells.lazy()
                    self._frame = self._frame.with_columns(
                        nw.from_native(cells.clear(), eager_only=True).get_column(name)
                    )

    def _as_given(self, name: str) -> "nw.Series[Any]":
        cells = self._columns[name].select(name).collect().to_series()
        return nw.from_native(cells, series_only=True)

    def _of_type(self, name: str) -> "nw.Series[Any]":
        outline = self._frame.get_column(name)
        dtype = outline.dtype
        is_plain = (
            dtype in _PLAIN
            or dtype.is_float()
            or (dtype.is_integer() and dtype not in (nw.UInt64, nw.UInt128, nw.Int128))
        )
        return outline if is_plain else self._column(name)

    def _exact_decimals(self, name: str) -> NDArray[np.float64] | None:
        return exact_decimals(self._of_type(name))

    def taken(self, rows: NDArray[np.int64]) -> Table:
        """Take rows by position, and have them wait too, column after column."""
        columns = {
            name: self._waiting(self._as_given(name).to_native().gather(rows))
            for name in self.names
        }
        fewer = LazyTable(columns)
        fewer._files, fewer.of_few = self._files, self.of_few
        return fewer

    def part(self, records: slice) -> Table:
        """Read some records of a column when it is asked for."""
        fewer = copy.copy(self)
        fewer.n_records, fewer.of_few = records.stop - records.start, frozenset()
        fewer._columns = {  # noqa: SLF001 -- of the same class
            name: own.slice(records.start, fewer.n_records) for name, own in self._columns.items()
        }
        return fewer

    def restored(self, name: str, numbers: Numbers) -> polars.LazyFrame:
        """Make a column of the type that was there, and have it wait."""
        return self._waiting(super().restored(name, numbers))

    def numbered(self, name: str, values: NDArray[np.int64]) -> polars.LazyFrame:
        """Make whole numbers, and have them wait."""
        return self._waiting(super().numbered(name, values))

    def kept(self, name: str, order: NDArray[np.int64] | None) -> polars.LazyFrame:
        """Take the cells, and have them wait."""
        return self._waiting(super().kept(name, order))

    def _waiting(self, column: polars.Series) -> polars.LazyFrame:
        if self._files is None:
            self._files = ColumnFiles()
        return self._files.put(column)

    def assembled(self, columns: Mapping[str, Any]) -> polars.LazyFrame:
        """Put the columns side by side; the frame holds the files that they wait in."""
        return side_by_side(columns, self._files)
