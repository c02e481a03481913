"""Any data frame, seen as typed columns, and back to the same kind of frame.

pandas, polars and pyarrow tables go through narwhals; a dict of numpy arrays is taken as it
is. What may hold identifiers beside the values (a pandas index, unused categories, metadata
of a frame, a schema or a file) does not come back.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import narwhals as nw
import polars

from microveil.errors import DataError, RequestError
from microveil.schema import Kind
from microveil.table.array_table import ArrayTable
from microveil.table.frame_table import FrameTable
from microveil.table.labelled import LabelledTable, Labels, fitting
from microveil.table.lazy_table import LazyTable
from microveil.table.missing import MissingCodes, without_codes
from microveil.table.naming import check_names
from microveil.table.protocol import Table
from microveil.table.restore import RESTORE

__all__ = ["is_of_spark", "open_beside", "open_table", "part_of_table"]


def open_table(
    table: Any,
    missing: MissingCodes | None = None,
    stated: Mapping[str, Kind] = MappingProxyType({}),
    most: int = 1,
) -> Table:
    """See any supported table as typed columns.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame, pyarrow.Table, LabelledTable or dict of numpy arrays
        Or what is open already.
    missing : MissingCodes, optional
        What stands for a missing value: such cells are seen as missing.
    stated : mapping of str to Kind
        What columns hold by what is declared of them: what one without any value is taken for.
    most : int
        How many values one unit may have.

    Raises
    ------
    RequestError
        If it is none of these.
    DataError
        If columns share a name, are unnamed or of different lengths, or there are fewer
        than two records.

    Examples
    --------
    >>> import numpy as np
    >>> table = open_table({"AGE": np.array([31, 45]), "NAME": np.array(["a", "b"])})
    >>> table.kind("AGE"), table.kind("NAME")
    (<Kind.WHOLE: 'whole number'>, <Kind.OTHER: 'text'>)
    """
    labels: dict[str, Labels] = {}
    if isinstance(table, LabelledTable):
        labels = {name: column.labels for name, column in table.schema.items()}
        table = table.frame
    if isinstance(table, FrameTable):
        opened: Table = table
    else:
        opened = _seen(table)
        opened.labels = {
            name: fitting(said, opened.kind(name), is_text=opened.is_text(name))
            for name, said in labels.items()
        }
    if opened.n_records == 0:
        raise DataError("table", "it holds no records", "pass a table of at least two records")
    if opened.n_records == 1:
        raise DataError(
            "table", "one record cannot be hidden among others", "pass a table of at least two"
        )
    if stated and isinstance(opened, FrameTable):
        opened.state(stated, most)
    return without_codes(opened, missing) if missing else opened


def _seen(table: Any) -> Table:
    """See a frame of any library, the names of whose columns can be used, as columns."""
    # narwhals would word these errors with the frame's own message.
    library = type(table).__module__.partition(".")[0]
    if library == "pandas":
        check_names(list(getattr(table, "columns", ())))
    elif library == "pyarrow":
        check_names(list(getattr(table, "column_names", ())))
    elif isinstance(table, Mapping):
        check_names(list(table))
    if _is_lazy(table):
        return LazyTable(table)
    if isinstance(table, Mapping):
        return ArrayTable(table)
    opened = FrameTable(_narwhals(table))
    check_names(list(opened.names))
    return opened


def open_beside(original: Any, release: Table, missing: MissingCodes | None = None) -> Table:
    """Open the original of a release, whose columns say what those without any value hold.

    >>> import polars
    >>> release = open_table(polars.DataFrame({"AGE": [31, 45]}))
    >>> open_beside(polars.DataFrame({"AGE": [None, None]}), release).kind("AGE")
    <Kind.WHOLE: 'whole number'>
    """
    return open_table(original, missing, {name: release.kind(name) for name in release.names})


def part_of_table(frame: Any) -> Table:
    """See some of a table's records as typed columns, however few they are.

    >>> import polars
    >>> part_of_table(polars.DataFrame({"AGE": [31]})).n_records
    1
    """
    return FrameTable(_narwhals(frame))


def _is_lazy(table: Any) -> bool:
    """Whether it is a lazy frame of polars, or columns that are one each."""
    if isinstance(table, Mapping) and table:
        return all(isinstance(column, polars.LazyFrame) for column in table.values())
    return isinstance(table, polars.LazyFrame)


def _narwhals(table: Any) -> "nw.DataFrame[Any]":
    try:
        frame: nw.DataFrame[Any] | None = nw.from_native(table, eager_only=True)
    except (TypeError, ValueError):
        frame = None
    if frame is None or frame.implementation not in RESTORE:
        raise RequestError(
            "table",
            "it must be a pandas or polars data frame, a pyarrow table or a dict of numpy arrays",
            "convert it, or collect a lazy frame first",
        )
    return frame


def is_of_spark(table: Any) -> bool:
    """Whether a table is a Spark frame: by its module, so that nothing heavy is imported."""
    return type(table).__module__.startswith("pyspark.sql.")
