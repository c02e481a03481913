"""What a method may ask of an engine, and no more.

A method is written once over this protocol: partition a column, summarise its clusters,
give one value per cluster back to the records. Of a column it sees a handle, which holds no
value, and what the engine computes of it. Sensitivities, scales and noise are elementwise on
the summaries, so they are the same wherever the clusters live; an engine cannot change what is
promised.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil.noise.joint_shifts import JointShifts
from microveil.noise.keyed import CellDraws, StreamDraws
from microveil.noise.noise import RandomSource
from microveil.partition import Partition
from microveil.partition.quantiles import Candidates, Codes
from microveil.schema import Attribute, Cells
from microveil.synthesis.axes import Axis
from microveil.table import GridColumn, Numbers, Table
from microveil.table.ordering import Order

__all__ = [
    "Binned",
    "ClusterSummary",
    "Clusters",
    "Column",
    "Engine",
    "GridRules",
    "Grouped",
    "NewRecords",
    "Ranked",
    "RecordLaw",
    "ValueLaw",
    "Widening",
    "as_clusters",
    "as_searched",
]

Whole = NDArray[np.int64]
Item = TypeVar("Item")
Value = TypeVar("Value")


def as_clusters(n_records: int) -> int:
    """Return as how many clusters so many records count of which each is planned by itself.

    That takes half of the memory of a cluster, 66 bytes (measured).

    >>> as_clusters(10)
    5
    """
    return n_records // 2


def as_searched(n_records: int) -> int:
    """Return as how many clusters so many records count among which clusters are searched for.

    Of a search each record takes up to 85 bytes (measured).

    >>> as_searched(30)
    20
    """
    return n_records * 2 // 3


class Column(Protocol):
    """A column as methods and planning see it: what is public of it, and never a value."""

    @property
    def attribute(self) -> Attribute:
        """Its name and domain."""
        ...

    @property
    def n_present(self) -> int:
        """How many records have a value."""
        ...


class Clusters(Protocol):
    """A partition as methods see it: how large its clusters are, and never who is in them."""

    @property
    def sizes(self) -> Whole:
        """How many records each cluster takes, int64 (n_clusters,)."""
        ...

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        ...


class Binned(Protocol):
    """The records' bins of an attribute as methods see them: how many, and never whose."""

    @property
    def n_bins(self) -> int:
        """How many bins there are."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSummary:
    """What a method needs to know of each cluster, in whole grid units.

    Attributes
    ----------
    sizes, sums : int64 arrays (n_clusters,)
    squares : float64 array (n_clusters,)
        Sum of squared distances of the cluster's values to their mean.
    smallest : int64 array (3, n_clusters)
        The smallest values in ascending order, counting copies; a cluster of fewer than
        three repeats its last.
    largest : int64 array (3, n_clusters)
        The largest values in descending order, likewise.
    """

    sizes: Whole
    sums: Whole
    squares: NDArray[np.float64]
    smallest: Whole
    largest: Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Widening:
    """What it cost to merge clusters of equal values with their neighbours.

    Attributes
    ----------
    clusters_before : int
    squares_before : float
        Within-cluster sum of squares, in squared grid units.
    """

    clusters_before: int
    squares_before: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A partition of one attribute into runs of consecutive ranks, ascending, summarised.

    Attributes
    ----------
    partition : Clusters
    clusters : ClusterSummary
    widening : Widening or None
        None where no cluster was merged.
    """

    partition: Clusters
    clusters: ClusterSummary
    widening: Widening | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """A partition of the records that have a value, and these values, as a plan keeps them.

    Attributes
    ----------
    partition : Partition
    in_order : int64 array (n_present,)
        Cluster after cluster, those of each in the order of its members.
    """

    partition: Partition
    in_order: Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRules:
    """What a column is held against as it is put on its grid, see `table.on_grid`.

    Attributes
    ----------
    keep_missing, clamp, may_be_empty, may_be_hidden : bool
    shared : bool
        Whether the values may be the table's own.
    """

    keep_missing: bool
    clamp: bool
    may_be_empty: bool = False
    may_be_hidden: bool = False
    shared: bool = False


class RecordLaw(Protocol):
    """What is drawn of a record by its own value alone, whatever the others are."""

    @property
    def draws_missing(self) -> bool:
        """Whether records without a value are drawn for too."""
        ...

    def drawn(self, column: GridColumn, draws: CellDraws) -> Numbers:
        """Draw the cells of some records to be released: one draw for each that is drawn for."""
        ...


class ValueLaw(Protocol):
    """What is drawn of a value by itself and a stream, which no engine keys by records."""

    def drawn(self, column: GridColumn, draws: StreamDraws) -> Numbers:
        """Draw the cells of some records to be released: one draw for each that has a value."""
        ...


class NewRecords(Protocol):
    """A table of nobody's records, of which every block can be drawn without the others."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        ...

    @property
    def n_records(self) -> int:
        """How many records there are."""
        ...

    @property
    def n_blocks(self) -> int:
        """How many blocks they are drawn in."""
        ...

    def drawn(
        self,
        seed: bytes,
        empty: Callable[[int, "np.dtype[Any] | type"], NDArray[Any]],
        whole: Callable[[int, Callable[[slice], Numbers]], Numbers],
    ) -> Mapping[str, Numbers]:
        """Draw all of them: by name the columns to be released.

        ``empty`` makes the arrays to be drawn into, ``whole`` a column of so many records, of all
        at once or of some after others.
        """
        ...

    def block(self, seed: bytes, number: int) -> Mapping[str, Numbers]:
        """Draw one block: a function of the seed and of the block's number alone."""
        ...


class Engine(Protocol):
    """Partition, summarise, broadcast.

    Handles that an engine takes are those it made itself. Any step may be refused, by an
    `EngineError`; what a step gives is then never less exact than asked for.
    """

    @property
    def memory(self) -> int | None:
        """How many bytes the process may take; None where that is for the machine to say."""
        ...

    @property
    def in_process(self) -> bool:
        """Whether arrays that a handle, a plan or a release names are arrays of this process.

        Else what stands in their place knows how long it is, and what the engine itself does
        with it.
        """
        ...

    @property
    def n_candidates(self) -> int:
        """At how many places an attribute may be cut: as many as the engine tells codes apart."""
        ...

    def table(self, given: Any, asked: Mapping[str, Any]) -> Any:
        """Take in a table for a request, as the engine reads it.

        What of the arguments of `protect` the engine cannot carry out it refuses here.
        """
        ...

    def end(self) -> None:
        """Remove what is held outside this process, but for what was released."""
        ...

    def gridded(self, table: Table, attribute: Attribute, rules: GridRules) -> GridColumn:
        """Put a column on its grid and hold it against its declared bounds."""
        ...

    def column_memory(
        self, n_records: int, n_clusters: int, in_parts: int | None = None
    ) -> int | None:
        """Forecast what the process takes with one column at hand; None where it holds them all.

        Of a column that need not be whole ``in_parts`` says how many clusters there are where it
        is gone through in parts: what is forecast is then the less of the two.
        """
        ...

    def order_memory(self, n_records: int) -> int | None:
        """Forecast what the process takes to draw an order of the records; None as above."""
        ...

    def random_order(self, n_records: int, source: RandomSource) -> Order:
        """Draw an order of so many records, each as likely as another."""
        ...

    def holds_records(self, column: Column) -> bool:
        """Whether what is planned for every single record of a column is at hand at once.

        Else some records are looked at after others, and a plan holds what was added up of them.
        """
        ...

    def side_by_side(
        self,
        work: Callable[[Item], Value],
        items: Sequence[Item],
        n_values: int,
        n_clusters: int = 0,
    ) -> list[Value]:
        """Work on columns of so many values and clusters in all, as many at a time as fit."""
        ...

    def kept(self, value: Value) -> Value:
        """Return what is needed later as the engine keeps it until then: it may be elsewhere.

        A column, a plan or anything else that holds arrays.
        """
        ...

    def joined(self, n_records: int, made: Callable[[slice], Value]) -> Value:
        """Make a column of so many records, of all at once or of some after others, and keep it."""
        ...

    def seen_as(self, column: Value, values: NDArray[Any]) -> Value | None:
        """Return values as a column named and typed like another, where they are kept already."""
        ...

    def sorted_values(
        self, n_records: int, made: Callable[[slice], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Make the values of so many records, at once or of some after others; return in order."""
        ...

    def empty(self, n_records: int, dtype: "np.dtype[Any] | type") -> NDArray[Any]:
        """Make an array to be filled, as the engine keeps such arrays."""
        ...

    def column(self, column: GridColumn) -> Column:
        """Make the handle of a column that was prepared."""
        ...

    def complete(self, columns: Sequence[Column]) -> Sequence[Column]:
        """Leave out the records that lack a value in any of the columns."""
        ...

    def extremes(self, column: Column) -> tuple[int, int]:
        """Find the least and the greatest value."""
        ...

    def counts(self, column: Column) -> Whole:
        """Count the records of every value of the domain, lowest first: (width + 1,)."""
        ...

    def summed(
        self, column: Column, figures: Callable[[Whole], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Add up what a function makes of present values, of however many at a time."""
        ...

    def singletons(self, column: Column) -> Ranked:
        """Every record its own cluster, in the order of the table."""
        ...

    def cluster_by_rank(self, column: Column, k: int, *, widen: bool = False) -> Ranked:
        """Individual ranking of one column.

        With ``widen``, clusters of equal values are merged with their neighbours until
        none is left, unless all values are equal.
        """
        ...

    def cluster_optimally(self, column: Column, k: int) -> Ranked:
        """Optimal univariate microaggregation of one column."""
        ...

    def cluster_noise_aware(self, column: Column, k: int, penalty: float) -> Ranked:
        """Least within-cluster squares plus penalty / size, clusters of k or more."""
        ...

    def cluster_vector_aware(
        self, column: Column, k: int, share: float, *, exact_allowed: bool
    ) -> Ranked:
        """Clusters of k or more with little expected error under vector sensitivities."""
        ...

    def cluster_jointly(
        self,
        name: str,
        columns: Sequence[Column],
        k: int,
        *,
        with_missing: bool = False,
        units: Whole | None = None,
    ) -> Clusters:
        """Partition by several columns: "mdav", "v-mdav" or "mdav-insensitive".

        Those whose kind is in no order count by being equal or not; "mdav-insensitive" orders
        records by the others alone, of which there must be one. With ``with_missing`` being
        without a value is a value, and all records of the table are clustered; not by
        "mdav-insensitive". With ``units``, the unit of each record that is clustered, each cluster
        holds records of k units.
        """
        ...

    def having(self, column: Column, clusters: Clusters) -> Clusters:
        """Leave out of clusters of all records those without a value; some may then be empty."""
        ...

    def interval_delta(
        self, column: Column, *, k: int | None, width: float | None, every: str
    ) -> float:
        """Half the width of the column's intervals, see `partition.intervals`."""
        ...

    def cluster_by_interval(
        self, column: Column, *, k: int | None, width: float | None, every: str
    ) -> Grouped:
        """Intervals that hold records as clusters, ascending, members of each by position."""
        ...

    def moments(self, column: Column, clusters: Clusters) -> tuple[Whole, NDArray[np.float64]]:
        """Exact sum of each cluster, and squared distances to its mean, both (n_clusters,)."""
        ...

    def cluster_extremes(self, column: Column, clusters: Clusters) -> tuple[Whole, Whole]:
        """Find the least and the greatest value of each cluster, both (n_clusters,)."""
        ...

    def category_counts(self, column: Column, clusters: Clusters) -> Whole:
        """Count the records of each cluster by category: (n_clusters, n_categories)."""
        ...

    def joint_shifts(
        self, columns: Sequence[Column], clusters: Clusters
    ) -> Callable[[], JointShifts]:
        """How far one record moves the sums of insensitive clusters; found when called."""
        ...

    def coded(self, column: Column, candidates: Candidates, source: RandomSource) -> Codes:
        """Put each present value, with a secret jitter, on the candidates for cuts."""
        ...

    def binned(self, column: Column, axis: Axis, codes: Codes | None) -> Binned:
        """Put every record into a bin: by its code where the axis has edges, else by its value."""
        ...

    def cross_counts(
        self, binned: Sequence[Binned], scopes: Sequence[tuple[int, ...]]
    ) -> list[Whole]:
        """Count the records by the bins of two or more attributes: each (n_bins, n_bins, ...).

        One table for each scope, which is the positions of its attributes among those binned.
        """
        ...

    def generated(self, records: NewRecords, seed: bytes) -> Mapping[str, Numbers]:
        """Draw a new table, as the engine keeps columns to be released: no data are asked."""
        ...

    def held(self, column: Column) -> GridColumn:
        """Return the column as a plan keeps it whose draw starts from every single value."""
        ...

    def missing(self, column: Column) -> NDArray[np.bool_] | None:
        """Return which records of the table have no value, as a plan keeps it."""
        ...

    def in_table(self, column: Column, clusters: Clusters) -> Partition:
        """Clusters of the records that have a value, among all of the table, as a plan has it."""
        ...

    def everybody(self, clusters: Clusters) -> Partition:
        """Clusters of all records of the table, as a plan has it."""
        ...

    def randomised(self, column: GridColumn, law: RecordLaw, source: RandomSource) -> Numbers:
        """Draw every record's cell of a column that is held, once."""
        ...

    def perturbed(self, column: GridColumn, law: ValueLaw, source: RandomSource) -> Numbers:
        """Draw every value's cell of a column that is held, by the words of one stream."""
        ...

    def drawn_within(self, grouped: Grouped, source: RandomSource, *, permute: bool) -> Whole:
        """Give every record a value of its cluster, drawn with replacement or permuted."""
        ...

    def broadcast(self, partition: Partition, values: Cells) -> Cells:
        """One value per cluster (n_clusters,) to one per record (n_records,); 0 outside."""
        ...
