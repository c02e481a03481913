"""Tables worked through a block of records, or a column, at a time: no matrix of all is made."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil.table.restore import Numbers
from microveil.table.threads import in_threads

__all__ = ["BLOCK_RECORDS", "AttributeMatrix", "Matrix", "blocks_of", "over_blocks"]

# A block of ten attributes is 5 MB: it stays in the processor's cache while it is worked on. What
# is below is one block, whose figures are those of the whole to the last bit.
BLOCK_RECORDS = 1 << 16

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttributeMatrix:
    """Attributes of numbers side by side, as the columns that they are.

    It is read like a matrix of float64, NaN where missing: some records of all attributes, or
    a column. Only what is read is made.

    Attributes
    ----------
    numbers : sequence of Numbers
        By attribute, each of as many records.
    rows : int array or None
        The records that take part, by position; None where all do.

    Examples
    --------
    >>> ages = Numbers(values=np.array([31, 45, 0]), missing=np.array([False, False, True]))
    >>> matrix = AttributeMatrix(numbers=(ages, ages))
    >>> matrix.shape, matrix[1:], matrix[:, 0]
    ((3, 2), array([[45., 45.],
           [nan, nan]]), array([31., 45., nan]))
    """

    numbers: Sequence[Numbers]
    rows: NDArray[np.int64] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of records and of attributes."""
        rows = self.numbers[0].values if self.rows is None else self.rows
        return len(rows), len(self.numbers)

    def __len__(self) -> int:
        """Return the number of records."""
        return self.shape[0]

    def __getitem__(self, key: Any) -> NDArray[np.float64]:
        """Return records, by a slice or positions, or a column as matrix[:, a]."""
        if isinstance(key, tuple):
            rows, a = key
            return self._read(self.numbers[a], rows)
        return np.column_stack([self._read(numbers, key) for numbers in self.numbers])

    @property
    def T(self) -> Iterator[NDArray[np.float64]]:  # noqa: N802 -- as a matrix has it
        """The columns, each made when it is come to."""
        return (self._read(numbers, slice(None)) for numbers in self.numbers)

    def taken(self, rows: NDArray[np.int64]) -> "AttributeMatrix":
        """Return the matrix of some of the records, by position."""
        chosen = rows if self.rows is None else self.rows[rows]
        return AttributeMatrix(numbers=self.numbers, rows=chosen)

    def _read(self, numbers: Numbers, key: Any) -> NDArray[np.float64]:
        """Return some numbers of a column, which may be the table's own: not to be written to."""
        rows = key if self.rows is None else self.rows[key]
        values: NDArray[np.float64] = numbers.values[rows].astype(np.float64, copy=False)
        if numbers.missing is None or not (missing := numbers.missing[rows]).any():
            return values
        return np.where(missing, np.nan, values)


# What can be read by records and by columns.
Matrix = NDArray[np.float64] | AttributeMatrix


def blocks_of(n_records: int) -> list[slice]:
    """Divide records into blocks, at least one.

    >>> blocks_of(70_000)
    [slice(0, 65536, None), slice(65536, 70000, None)]
    """
    starts = range(0, max(n_records, 1), BLOCK_RECORDS)
    return [slice(start, min(start + BLOCK_RECORDS, n_records)) for start in starts]


def over_blocks(work: Callable[[slice], Result], n_records: int) -> list[Result]:
    """Work on the blocks of a table side by side; results come in their order."""
    return in_threads(work, blocks_of(n_records))
