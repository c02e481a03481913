"""What engines hand to methods in place of columns, codes, bins and clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.engines.base import Binned, Clusters, Column
from microveil.partition import Partition
from microveil.schema import Attribute
from microveil.table import GridColumn

__all__ = [
    "GridHandle",
    "LocalBins",
    "LocalCodes",
    "LocalColumn",
    "TableClusters",
    "are_ranked",
    "domains_of",
    "listed",
    "local_bins",
    "local_column",
]

Whole = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class GridHandle:
    """The handle of a column that was put on its grid, wherever its values are.

    Attributes
    ----------
    grid : GridColumn
    """

    grid: GridColumn

    @property
    def attribute(self) -> Attribute:
        """Its name and domain."""
        return self.grid.attribute

    @property
    def n_present(self) -> int:
        """How many records have a value."""
        return self.grid.n_present


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalColumn(GridHandle):
    """The handle of a column in memory, or on the disk."""

    @property
    def values(self) -> Whole:
        """All values at hand: those of a column that is rounded anew are made for it."""
        return np.asarray(self.grid.values)

    @cached_property
    def extremes(self) -> tuple[int, int]:
        """The least and the greatest value."""
        return int(self.grid.values.min()), int(self.grid.values.max())


@dataclass(frozen=True, kw_only=True, eq=False)
class TableClusters:
    """Clusters of a column's values whose records are known by their positions in the table.

    Attributes
    ----------
    of_table : Partition
    """

    of_table: Partition

    @property
    def sizes(self) -> Whole:
        """How many records each cluster takes."""
        return self.of_table.sizes

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return self.of_table.n_clusters


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalCodes:
    """The codes of a column's values, as the records have them and in order."""

    codes: Whole
    in_order: Whole

    def below(self, code: int) -> int:
        """Search: O(log n)."""
        return int(np.searchsorted(self.in_order, code))

    def ranked(self, start: int, stop: int) -> Whole:
        """Return a view."""
        return self.in_order[start:stop]


@dataclass(frozen=True, kw_only=True, eq=False)
class LocalBins:
    """The bin of every record of the table."""

    bins: NDArray[Any]
    n_bins: int


def local_column(column: Column) -> LocalColumn:
    """Return a handle as the column that it is."""
    assert isinstance(column, LocalColumn)  # noqa: S101 -- handles stay with their engine
    return column


def local_bins(binned: Binned) -> LocalBins:
    """Return a handle as the bins that it is."""
    assert isinstance(binned, LocalBins)  # noqa: S101 -- handles stay with their engine
    return binned


def listed(clusters: Clusters) -> Partition:
    """Return a handle as the partition that it is."""
    assert isinstance(clusters, Partition)  # noqa: S101 -- handles stay with their engine
    return clusters


def domains_of(columns: Sequence[Column]) -> list[tuple[int, int]]:
    """Return the bounds of each column in grid units; (0, 0) where none are declared."""
    return [column.attribute.grid_bounds or (0, 0) for column in columns]


def are_ranked(columns: Sequence[Column]) -> list[bool]:
    """Say of each column whether its values are in an order."""
    return [column.attribute.kind.is_ranked for column in columns]
