"""Tables worked through a block of records, or a column, at a time: no matrix of all is made."""

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil.table.restore import Numbers
from microveil.table.sorting import Counted, counted, ranks_of
from microveil.table.threads import Reused, in_threads

# Squares of numbers up to this, summed over any table, stay finite.
LARGEST_VALUE = 1e140
# Smaller variances have no exact reciprocal in float64: the attribute counts as constant.
SMALLEST_VARIANCE = float(np.finfo(np.float64).tiny)
# A block of ten attributes is 5 MB: it stays in the processor's cache while it is worked on. What
# is below is one block, whose figures are those of the whole to the last bit.
BLOCK_RECORDS = 1 << 16

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True, eq=False)
class AttributeMatrix:
    """Attributes of numbers side by side, as the columns that they are.

    It is read like a matrix of float64, NaN where missing: some records of all attributes, or
    a column. Only what is read is made. ``rows`` are the records that take part, by position; None
    where all do.
    """

    numbers: Sequence[Numbers]
    rows: NDArray[np.int64] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of records and of attributes."""
        rows = self.numbers[0].values if self.rows is None else self.rows
        return len(rows), len(self.numbers)

    @property
    def size(self) -> int:
        """Number of values."""
        n_records, n_attributes = self.shape
        return n_records * n_attributes

    def __len__(self) -> int:
        """Return the number of records."""
        return self.shape[0]

    def __getitem__(self, key: Any) -> NDArray[np.float64]:
        """Return records, by a slice or positions, or a column as matrix[:, a]."""
        if isinstance(key, tuple):
            rows, a = key
            return self._read(self.numbers[a], rows)
        if is_large(self) and isinstance(key, slice):
            # In the columns' own order, which costs a tenth. Few are in that of the matrix that
            # they would be, as sums hang on it to the last bit.
            columns = np.empty((len(self.numbers), len(range(*key.indices(len(self))))))
            self._read_all(key, columns)
            return columns.T
        read = [self._read(numbers, key) for numbers in self.numbers]
        return np.array(read).T if is_large(self) else np.column_stack(read)

    @property
    def T(self) -> Iterator[NDArray[np.float64]]:  # noqa: N802 -- as a matrix has it
        """The columns, each made when it is come to."""
        return (self._read(numbers, slice(None)) for numbers in self.numbers)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.float64]:
        """Return a matrix of all: for whoever cannot do with less."""
        del copy
        return self[:].astype(np.float64 if dtype is None else dtype, copy=False)

    @cached_property
    def largest(self) -> float:
        """The largest size of a value; 0 where all are missing."""
        reused, counted_of = Reused(), self.counted

        def of_column(a: int) -> float:
            few = counted_of[a]
            ends = self.column(a, slice(None), reused) if few is None else few.values[[0, -1]]
            return _largest(ends)

        return max(in_threads(of_column, range(len(self.numbers)), self.size))

    @cached_property
    def counted(self) -> "list[Counted | None]":
        """How often each number occurs, of columns of few; None of others, and of few records."""
        if not is_large(self):
            return [None] * len(self.numbers)
        reused = Reused()
        return in_threads(
            lambda a: counted(self.column(a, slice(None), reused)), range(len(self.numbers))
        )

    @cached_property
    def lacks_some(self) -> bool:
        """Whether a value is missing."""
        return any(in_threads(self._lacks, self.numbers, self.size))

    @cached_property
    def means_and_variances(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and sample variance (n - 1) of each attribute's values, NaN where undefined."""
        found = in_threads(
            lambda a: mean_and_variance(self[:, a]), range(len(self.numbers)), self.size
        )
        means, variances = np.array(found).T
        return means, variances

    @cached_property
    def ranks(self) -> "AttributeMatrix":
        """The ranks of each attribute, see `average_ranks`: several measures ask for them."""
        reused, counted_of = Reused(), self.counted
        columns: list[Any] = in_threads(
            lambda a: ranks_of(self.column(a, slice(None), reused), narrow=True, few=counted_of[a]),
            range(len(self.numbers)),
        )
        return AttributeMatrix(numbers=[Numbers(values=ranks, missing=None) for ranks in columns])

    def taken(self, rows: NDArray[np.int64]) -> "AttributeMatrix":
        """Return the matrix of some of the records, by position."""
        chosen = rows if self.rows is None else self.rows[rows]
        return AttributeMatrix(numbers=self.numbers, rows=chosen)

    def _lacks(self, numbers: Numbers) -> bool:
        """Whether a column lacks a value; of whole numbers none is read."""
        rows: Any = slice(None) if self.rows is None else self.rows
        if numbers.missing is not None and numbers.missing[rows].any():
            return True
        values = numbers.values[rows] if numbers.values.dtype.kind == "f" else numbers.values[:0]
        return bool(np.isnan(values).any())

    def column(self, a: int, rows: slice, reused: Reused) -> NDArray[np.float64]:
        """Return some records of a column: those of the table, or in memory that is used again."""
        numbers = self.numbers[a]
        is_there = numbers.values.dtype == np.float64 and numbers.missing is None
        if is_there and self.rows is None:
            found: NDArray[np.float64] = numbers.values[rows].astype(np.float64, copy=False)
            return found
        out = reused.array("column", len(range(*rows.indices(len(self)))))
        self._read_into(numbers, rows, out)
        return out

    def columns(self, rows: slice, reused: Reused) -> NDArray[np.float64]:
        """Return some records, an attribute to a row, in memory that is used again."""
        out = reused.array("columns", len(self.numbers), len(range(*rows.indices(len(self)))))
        self._read_all(rows, out)
        return out

    def _read_all(self, rows: slice, out: NDArray[np.float64]) -> None:
        for numbers, column in zip(self.numbers, out, strict=True):
            self._read_into(numbers, rows, column)

    def _read_into(self, numbers: Numbers, key: slice, out: NDArray[np.float64]) -> None:
        """Write some numbers of a column, NaN where missing."""
        rows = key if self.rows is None else self.rows[key]
        out[:] = numbers.values[rows]
        if numbers.missing is not None:
            out[numbers.missing[rows]] = np.nan

    def _read(self, numbers: Numbers, key: Any) -> NDArray[np.float64]:
        """Return some numbers of a column, which may be the table's own: not to be written to."""
        rows = key if self.rows is None else self.rows[key]
        values: NDArray[np.float64] = numbers.values[rows].astype(np.float64, copy=False)
        if numbers.missing is None or not (missing := numbers.missing[rows]).any():
            return values
        if numbers.values.dtype.kind == "f" and bool(np.isnan(values[missing]).all()):
            return values  # as they are, no copy of them
        return np.where(missing, np.nan, values)


# What can be read by records and by columns.
Matrix = NDArray[np.float64] | AttributeMatrix


def means_and_variances(matrix: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and sample variance (n - 1) of each attribute's values, NaN where undefined."""
    if not isinstance(matrix, AttributeMatrix):
        columns = [Numbers(values=column, missing=None) for column in matrix.T]
        matrix = AttributeMatrix(numbers=columns)
    return matrix.means_and_variances


def mean_and_variance(column: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and sample variance of the values that a column has, NaN where undefined."""
    lacks = np.isnan(column)
    values = column[~lacks] if lacks.any() else column
    if not len(values):
        return np.nan, np.nan
    # The computed mean of equal values can miss their value by a rounding.
    if values.min() == values.max():
        return float(values[0]), 0.0 if len(values) > 1 else np.nan
    return float(values.mean()), float(values.var(ddof=1))


def varying(matrix: Matrix) -> NDArray[np.bool_]:
    """Say which attributes have a variance that float64 holds."""
    found: NDArray[np.bool_] = means_and_variances(matrix)[1] >= SMALLEST_VARIANCE
    return found


def average_ranks(matrix: Matrix) -> Matrix:
    """Replace values, none missing, by their ranks within the attribute, ties by their average."""
    if isinstance(matrix, AttributeMatrix):
        return matrix.ranks
    return np.column_stack([ranks_of(values) for values in matrix.T])


def blocks_of(n_records: int) -> list[slice]:
    """Divide records into blocks, at least one."""
    starts = range(0, max(n_records, 1), BLOCK_RECORDS)
    return [slice(start, min(start + BLOCK_RECORDS, n_records)) for start in starts]


def is_large(matrix: Matrix) -> TypeGuard[AttributeMatrix]:
    """Whether a matrix is of columns, and of more records than one block has."""
    return isinstance(matrix, AttributeMatrix) and len(matrix) > BLOCK_RECORDS


def lacks_some(matrix: Matrix) -> bool:
    """Whether a value is missing."""
    return (
        matrix.lacks_some if isinstance(matrix, AttributeMatrix) else bool(np.isnan(matrix).any())
    )


def _largest(column: NDArray[np.float64]) -> float:
    highest, lowest = (reduce(column, initial=0.0) for reduce in (np.fmax.reduce, np.fmin.reduce))
    return max(float(highest), -float(lowest))


def largest_of(matrix: Matrix) -> float:
    """Return the largest size of a value; 0 where all are missing."""
    return matrix.largest if isinstance(matrix, AttributeMatrix) else _largest(matrix.ravel())


def summed(parts: Sequence[Result]) -> Result:
    """Add what the blocks of a table give, in their order."""
    return functools.reduce(operator.add, parts)


def over_blocks(work: Callable[[slice], Result], n_records: int) -> list[Result]:
    """Work on the blocks of a table side by side; results come in their order."""
    return in_threads(work, blocks_of(n_records))
