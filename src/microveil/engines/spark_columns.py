"""Handles of columns in Spark: where their values are, and what was found of them."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from microveil.engines.handles import GridHandle
from microveil.engines.spark_buckets import Bounds
from microveil.engines.spark_chunks import bucket_starts
from microveil.engines.spark_tasks import Rounding

__all__ = ["SparkColumn", "SparkMissing", "SparkValues"]

Whole = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class SparkValues:
    """Stands for the array of a column's values: where they are, and how many.

    Attributes
    ----------
    frame : pyspark.sql.DataFrame
        Of (chunk, count, cell): the cells of each run of records, packed.
    rounding : Rounding
        How a worker makes values of cells.
    count, least, greatest : int
    some : int64 array (2, n)
        Values and numbers of some records.
    """

    frame: Any
    rounding: Rounding
    count: int
    least: int
    greatest: int
    some: Whole

    def __len__(self) -> int:
        return self.count

    def bounds(self) -> Bounds:
        """Return where buckets begin that hold like numbers of records, about."""
        units, rows = self.some[:, np.lexsort(self.some[::-1])]
        first = bucket_starts(self.count, len(units))
        return Bounds(units=units[first], rows=rows[first])


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkMissing:
    """Stands for the mask of a column's missing values: how many there are."""

    count: int

    def sum(self) -> int:
        """Count the records without a value."""
        return self.count


@dataclass(frozen=True, kw_only=True, eq=False)
class SparkColumn(GridHandle):
    """The handle of a column in Spark."""

    @property
    def values(self) -> SparkValues:
        """Where the values are."""
        return cast("SparkValues", self.grid.values)
