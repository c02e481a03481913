"""All that looks at the data of a new table: its counts of records.

A counter has the `kinds` of a column's cells, where no file says what they are, and takes them as
one; the `histogram` of a column over its domain, the `values`, `words` or `decimals` of one without
a domain, its coarse `cells`, its values `coded` against candidate cuts, and the cross counts of
`pairs` of columns (or of triples) by their bins, which are set in between. What it returns is exact
and no release: noise is added by whoever asks. A counter of records that lie elsewhere has these
but for `kinds`, `n_records`, `n_candidates`, `adopt` and `set_bins` too; nothing else sees a value.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import synthesis as kernel
from microveil.noise.noise import RandomSource
from microveil.schema import Attribute, widest
from microveil.synthesis.cuts import Candidates, Codes
from microveil.synthesis.measurements import Whole
from microveil.synthesis.tables import Axis
from microveil.table import GridColumn
from microveil.table.threads import in_threads, pieces
from microveil.table.untyped import UntypedColumn

Mask = NDArray[np.bool_]
# Different values, or words, and how many records have each: piece by piece.
Tally = Iterable[tuple[Whole, Whole]]
WordTally = Iterable[tuple[Sequence[str], Whole]]
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
    column the bin of every record, and how many bins there are. A column whose domain is learnt is
    put on it in between: see `adopt`.
    """

    columns: list[GridColumn]
    n_candidates: int = CANDIDATES
    bins: dict[int, tuple[NDArray[np.unsignedinteger[Any]], int]] = field(default_factory=dict)

    @property
    def n_records(self) -> int:
        """How many records the columns have, those without a value among them."""
        return self.columns[0].n_records

    def kinds(self, column: int) -> Whole:
        """Count a column's cells by what each is, in the order of `CELLS`."""
        untyped = self._untyped(column).looked_at()
        self.columns[column] = replace(self.columns[column], untyped=untyped)
        return untyped.counts()

    def take_as(self, column: int, attribute: Attribute) -> None:
        """Take the cells of a column as values of the kind that was learnt of it."""
        self.columns[column] = self._untyped(column).as_kind(attribute)

    def _untyped(self, column: int) -> UntypedColumn:
        untyped = self.columns[column].untyped
        assert untyped is not None  # noqa: S101 -- it is asked of no other column
        return untyped

    def histogram(self, column: int) -> Whole:
        """Count a column's records by value of its domain, and last those without one."""
        grid = self.columns[column]
        lower, upper = grid.attribute.grid_bounds or (0, 0)
        units = np.subtract(grid.values, lower, dtype=np.int64)
        counts = np.bincount(units, minlength=upper - lower + 1)
        return np.append(counts, self.n_records - grid.n_present)

    def values(self, column: int) -> tuple[Tally, int]:
        """Count a column's records by value, once each and ascending, and those without one."""
        grid = self.columns[column]
        values, counts = np.unique(grid.values, return_counts=True)
        return [(values.astype(np.int64), counts)], self.n_records - grid.n_present

    def words(self, column: int) -> tuple[WordTally, int]:
        """Count a column's records by word, once each and in order, and those without one."""
        grid = self.columns[column]
        counts = np.bincount(grid.values, minlength=len(grid.words))
        return [(grid.words, counts)], self.n_records - grid.n_present

    def cells(self, column: int, borders: Whole) -> Whole:
        """Count a column's values from each border up to the next."""
        places = np.searchsorted(borders, self.columns[column].values, side="right") - 1
        return np.bincount(places, minlength=len(borders) - 1)

    def decimals(self, column: int) -> Whole:
        """Count a column's values by the fewest decimals that they need: none, one, two ..."""
        grid = self.columns[column]
        places = round(math.log10(grid.attribute.resolution.denominator))
        needed = [len(grid.values)]
        for power in range(places, 0, -1):
            # Of those that a step of so many decimals divides fewer suffice.
            divided = np.count_nonzero(grid.values % 10 ** (places - power + 1) == 0)
            needed.append(int(divided))
        fewer = np.array(needed[::-1])
        return np.diff(fewer, prepend=0)

    def adopt(self, column: int, attribute: Attribute, rest: int = 0) -> None:
        """Put a column on the grid, or on the list of categories, that was learnt of it.

        ``rest`` is the place of a word that is in no list.
        """
        self.columns[column] = adopted(self.columns[column], attribute, rest)

    def coded(
        self,
        column: int,
        candidates: Candidates,
        source: RandomSource,
        atoms: Whole | None = None,
    ) -> JitteredCodes:
        """Put each value, with a secret jitter of the source, on the candidates; O(n log n).

        Values that are atoms have none, and are not among those in order, which are cut.
        """
        grid = self.columns[column]
        codes = np.empty(grid.n_present, dtype=np.int64)
        rest = np.ones(grid.n_present, dtype=np.bool_)
        for records, present, missing in _batches(grid):
            # A word for each record: that one has no value moves no other's jitter.
            words = source.words(records.stop - records.start)
            if missing is not None:
                words = words[~missing]
            own = jittered(grid.values[present], words, candidates, atoms)
            codes[present], rest[present] = own
        return JitteredCodes(codes, np.sort(codes[rest]))

    def set_bins(self, column: int, axis: Axis, codes: Codes | None) -> None:
        """Put a column's records into bins: by code where the axis has edges, else by value."""
        grid = self.columns[column]
        lower, _ = grid.attribute.grid_bounds or (0, 0)
        absent = axis.n_bins - 1 if axis.groups is None else int(axis.groups[-1])
        bins = np.empty(grid.n_records, np.min_scalar_type(axis.n_bins - 1))
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


def adopted(grid: GridColumn, attribute: Attribute, rest: int) -> GridColumn:
    """Put a column on the grid, or on the list of categories, that was learnt of it."""
    if attribute.categories is not None:
        listed = {word: place for place, word in enumerate(attribute.categories.values)}
        places = np.array([listed.get(word, rest) for word in grid.words], dtype=np.int64)
        values = places[grid.values] if len(places) else grid.values
    else:
        steps = int(attribute.resolution / grid.attribute.resolution)
        values = np.rint(grid.values / steps).astype(np.int64) if steps > 1 else grid.values
        # What lies beyond is moved to the end of the grid, each record by itself.
        values = np.clip(values, *(attribute.grid_bounds or widest(attribute)))
    return replace(grid, attribute=attribute, values=values, words=())


def jittered(
    values: NDArray[np.signedinteger[Any]],
    words: NDArray[np.uint64],
    candidates: Candidates,
    atoms: Whole | None,
) -> tuple[Whole, Mask]:
    """Put values on candidates, each by its word but atoms by none; also which are no atoms."""
    if atoms is None or not len(atoms):
        return candidates.codes(values, words), np.ones(len(values), dtype=np.bool_)
    rest = ~is_atom(values, atoms)
    return candidates.codes(values, np.where(rest, words, np.uint64(0))), rest


def is_atom(values: NDArray[np.signedinteger[Any]], atoms: Whole) -> Mask:
    """Say which values are among some that ascend."""
    if atoms[-1] - atoms[0] < 4 * len(values):
        # Looked up in a list of the grid between them: ten times as fast as sought, or more.
        before = int(atoms[0]) - 1
        listed = np.zeros(int(atoms[-1]) - before + 2, dtype=np.bool_)
        listed[atoms - before] = True
        return np.asarray(listed.take(np.subtract(values, before, dtype=np.int64), mode="clip"))
    place = np.minimum(np.searchsorted(atoms, values), len(atoms) - 1)
    return np.asarray(atoms[place] == values)


def _batches(grid: GridColumn) -> Iterator[tuple[slice, slice, Mask | None]]:
    """Yield records batch by batch, the places of their values, and which of them have none."""
    done, n_records = 0, grid.n_records
    for start in range(0, n_records, BATCH):
        records = slice(start, min(start + BATCH, n_records))
        missing = None if grid.missing is None else grid.missing[records]
        absent = 0 if missing is None else int(missing.sum())
        end = done + records.stop - start - absent
        yield records, slice(done, end), missing
        done = end
