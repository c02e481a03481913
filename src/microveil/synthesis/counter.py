"""The counter: all that a new table asks of the data, which are columns on their grids.

Two operations: the `histogram` of one column, and the cross counts of `pairs` of columns (or of
triples) by their bins, which are set in between. What they return is exact and no release: noise
is added by whoever asks. A counter of records that lie elsewhere has `n_records`,
`n_candidates`, `histogram`, `set_bins` and `pairs` too; nothing else here sees a value.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import counts as kernel
from microveil.noise.noise import RandomSource
from microveil.synthesis.cuts import Candidates, Codes
from microveil.synthesis.tables import Axis
from microveil.table import GridColumn
from microveil.table.threads import in_threads, pieces

__all__ = ["CANDIDATES", "Counter", "JitteredCodes"]

Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]
# Places at which a column may be cut. Codes are sorted: of any number of candidates only the runs
# between two codes matter.
CANDIDATES = 1 << 40
# Records put into bins at a time: temporaries stay far below a column.
BATCH = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class JitteredCodes:
    """The codes of a column's values, as the records have them and in order."""

    codes: Whole
    in_order: Whole

    def below(self, code: int) -> int:
        """Count the records whose code is less: O(log n)."""
        return int(np.searchsorted(self.in_order, code))

    def ranked(self, start: int, stop: int) -> Whole:
        """Return the codes of ranks start to stop - 1, ascending: a view."""
        return self.in_order[start:stop]


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """Counts the records of columns in memory.

    ``n_candidates`` is at how many places a column may be cut. ``bins`` has by the position of a
    column the bin of every record, and how many bins there are.
    """

    columns: Sequence[GridColumn]
    n_candidates: int = CANDIDATES
    bins: dict[int, tuple[NDArray[np.unsignedinteger[Any]], int]] = field(default_factory=dict)

    @property
    def n_records(self) -> int:
        """How many records the columns have, those without a value among them."""
        return _length(self.columns[0])

    @overload
    def histogram(self, column: int) -> Whole: ...
    @overload
    def histogram(
        self, column: int, candidates: Candidates, source: RandomSource
    ) -> JitteredCodes: ...
    def histogram(
        self, column: int, candidates: Candidates | None = None, source: RandomSource | None = None
    ) -> Whole | JitteredCodes:
        """Count a column's records by value, or hold them against candidate cuts.

        By value the count of each of the domain, lowest first, and last of the records without
        one. By candidates, with a secret jitter of the source, what counts those below any.
        """
        grid = self.columns[column]
        if candidates is not None and source is not None:
            return _coded(grid, candidates, source)
        lower, upper = grid.attribute.grid_bounds or (0, 0)
        units = np.subtract(grid.values, lower, dtype=np.int64)
        counts = np.bincount(units, minlength=upper - lower + 1)
        return np.append(counts, self.n_records - grid.n_present)

    def set_bins(self, column: int, axis: Axis, codes: Codes | None) -> None:
        """Put a column's records into bins: by code where the axis has edges, else by value."""
        grid = self.columns[column]
        lower, _ = grid.attribute.grid_bounds or (0, 0)
        absent = axis.n_bins - 1 if axis.groups is None else int(axis.groups[-1])
        bins = np.empty(_length(grid), np.min_scalar_type(axis.n_bins - 1))
        for records, present, missing in _batches(grid):
            if axis.groups is None:
                assert isinstance(codes, JitteredCodes)  # noqa: S101 -- made by this counter
                assert axis.edges is not None  # noqa: S101 -- an axis has edges or groups
                own = np.searchsorted(axis.edges, codes.codes[present], side="right")
            else:
                own = axis.groups[np.subtract(grid.values[present], lower, dtype=np.int64)]
            if missing is None:
                bins[records] = own
            else:
                bins[records] = absent
                bins[records][~missing] = own
        self.bins[column] = bins, axis.n_bins

    def pairs(self, scopes: Sequence[tuple[int, ...]]) -> list[Whole]:
        """Count the records by the bins of two or more columns: each (n_bins, n_bins, ...).

        One table for each scope, which is the positions of its columns; side by side. The bins
        are forgotten: a byte or more for each value, which nothing asks for again.
        """
        found = in_threads(self._crossed, scopes)
        self.bins.clear()
        return found

    def _crossed(self, scope: tuple[int, ...]) -> Whole:
        *first, (last, n_last) = [self.bins[one] for one in scope]
        sizes = [n_bins for _, n_bins in first]
        counts = np.zeros((math.prod(sizes), n_last), dtype=np.int64)
        for records in pieces(len(last)):
            joint = first[0][0][records]
            for bins, n_bins in first[1:]:
                joint = joint.astype(np.uint32) * np.uint32(n_bins) + bins[records]
            kernel.cross_counts(joint, last[records], counts)
        return counts.reshape(*sizes, n_last)


def _length(grid: GridColumn) -> int:
    return grid.n_present if grid.missing is None else len(grid.missing)


def _coded(grid: GridColumn, candidates: Candidates, source: RandomSource) -> JitteredCodes:
    """Put each present value, with a secret jitter, on the candidates; O(n log n)."""
    codes = np.empty(grid.n_present, dtype=np.int64)
    for records, present, missing in _batches(grid):
        # A word for each record: that one has no value moves no other's jitter.
        words = source.words(records.stop - records.start)
        if missing is not None:
            words = words[~missing]
        codes[present] = candidates.codes(grid.values[present], words)
    return JitteredCodes(codes, np.sort(codes))


def _batches(grid: GridColumn) -> Iterator[tuple[slice, slice, Mask | None]]:
    """Yield records batch by batch, the places of their values, and which of them have none."""
    done, n_records = 0, _length(grid)
    for start in range(0, n_records, BATCH):
        records = slice(start, min(start + BATCH, n_records))
        missing = None if grid.missing is None else grid.missing[records]
        absent = 0 if missing is None else int(missing.sum())
        end = done + records.stop - start - absent
        yield records, slice(done, end), missing
        done = end
