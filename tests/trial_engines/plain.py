"""An engine in plain Python, to be read rather than run fast: lists, and `tests/reference`.

What has no plain algorithm in closed form it refuses, as any engine may.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from microveil.engines.base import ClusterSummary, Grouped, Ranked
from microveil.engines.local import LocalEngine
from microveil.errors import EngineError
from microveil.partition import Partition
from microveil.table import GridColumn
from reference import incomplete_mdav, intervals, mdav, mixed_mdav, ranking


@dataclass(frozen=True, kw_only=True)
class PlainColumn:
    """Values in a list, and the positions in the table of the records that have them."""

    grid: GridColumn
    values: list
    records: list

    @property
    def attribute(self):
        return self.grid.attribute

    @property
    def n_present(self):
        return len(self.values)


@dataclass(frozen=True, kw_only=True)
class PlainClusters:
    """The positions, among records with a value, of each cluster's members."""

    members: list

    @property
    def sizes(self):
        return np.array([len(cluster) for cluster in self.members], dtype=np.int64)

    @property
    def n_clusters(self):
        return len(self.members)


@dataclass(frozen=True, kw_only=True)
class PlainCodes:
    """The code of each value, in a list."""

    codes: list

    def below(self, code):
        return sum(own < code for own in self.codes)

    def ranked(self, start, stop):
        return np.array(sorted(self.codes)[start:stop], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class PlainBins:
    """The bin of each record of the table, in a list."""

    bins: list
    n_bins: int


class PlainEngine:
    """Every step as its definition says."""

    memory = None
    in_process = True
    n_candidates = 1 << 40

    def column_memory(self, n_records, n_clusters, in_parts=None):
        return None

    def holds_records(self, column):
        return True

    def side_by_side(self, work, items, n_values, n_clusters=0):
        return [work(item) for item in items]

    def kept(self, value):
        return value

    def joined(self, n_records, made):
        return made(slice(0, n_records))

    def sorted_values(self, n_records, made):
        return np.array(sorted(made(slice(0, n_records)).tolist()), dtype=float)

    def seen_as(self, column, values):
        return None

    def empty(self, n_records, dtype):
        return np.empty(n_records, dtype)

    def table(self, given, asked):
        return given

    def end(self):
        pass

    def gridded(self, table, attribute, rules):
        return LocalEngine().gridded(table, attribute, rules)

    def column(self, column):
        n_records = column.n_present + column.n_missing
        absent = column.missing if column.n_missing else [False] * n_records
        records = [record for record in range(n_records) if not absent[record]]
        return PlainColumn(grid=column, values=column.values.tolist(), records=records)

    def complete(self, columns):
        shared = set.intersection(*(set(column.records) for column in columns))
        return [_among(column, shared) for column in columns]

    def extremes(self, column):
        return min(column.values), max(column.values)

    def counts(self, column):
        lower, upper = column.attribute.grid_bounds
        return np.array([column.values.count(value) for value in range(lower, upper + 1)])

    def singletons(self, column):
        return _ranked(column, [[place] for place in range(column.n_present)])

    def randomised(self, column, law, source):
        return LocalEngine().randomised(column, law, source)

    def perturbed(self, column, law, source):
        return LocalEngine().perturbed(column, law, source)

    def drawn_within(self, grouped, source, *, permute):
        return LocalEngine().drawn_within(grouped, source, permute=permute)

    def cluster_by_rank(self, column, k, *, widen=False):
        if widen:
            raise _refused("does not widen clusters", "exact_cells='allow'")
        return _ranked(column, _members(ranking.ranking(column.values, k)))

    def cluster_optimally(self, column, k):
        raise _refused("has no optimal partition", "partition='ranking'")

    def cluster_noise_aware(self, column, k, penalty):
        raise _refused("has no noise-aware partition", "partition='ranking'")

    def cluster_vector_aware(self, column, k, share, *, exact_allowed):
        raise _refused("has no noise-aware partition", "partition='ranking'")

    def cluster_jointly(self, name, columns, k, *, with_missing=False, units=None):
        assert units is None  # no test asks this engine for them
        if with_missing:
            return PlainClusters(members=_members(self._with_missing(name, columns, k)))
        numbers = [column for column in columns if column.attribute.kind.is_ranked]
        others = [column for column in columns if not column.attribute.kind.is_ranked]
        rows = _rows(numbers, columns[0].n_present)
        if name == "mdav":
            labels = mixed_mdav.mdav(rows, _rows(others, len(rows)), k)
            return PlainClusters(members=_members(labels))
        if name == "v-mdav":
            labels = mixed_mdav.v_mdav(rows, _rows(others, len(rows)), k, 0.2)
            return PlainClusters(members=_members(labels))
        bounds = [column.attribute.grid_bounds for column in numbers]
        return PlainClusters(members=_members(mdav.insensitive_mdav(rows, k, bounds)))

    def _with_missing(self, name, columns, k):
        n_records = columns[0].grid.n_present + columns[0].grid.n_missing
        by_record = [dict(zip(column.records, column.values, strict=True)) for column in columns]
        ranked = [column.attribute.kind.is_ranked for column in columns]
        rows, categories = (
            [
                [own.get(i) for own, is_ranked in zip(by_record, ranked, strict=True)
                 if is_ranked is wanted]
                for i in range(n_records)
            ]
            for wanted in (True, False)
        )  # fmt: skip
        lacks = any(value is None for row in rows for value in row)
        # Being without a number alone needs another distance; of complete ones the sums differ.
        plain = incomplete_mdav if lacks else mixed_mdav
        if name == "v-mdav":
            return plain.v_mdav(rows, categories, k, 0.2)
        return plain.mdav(rows, categories, k)

    def having(self, column, clusters):
        places = {record: place for place, record in enumerate(column.records)}
        return PlainClusters(
            members=[
                [places[record] for record in cluster if record in places]
                for cluster in clusters.members
            ]
        )

    def everybody(self, clusters):
        n_records = sum(map(len, clusters.members))
        return _listed(clusters.members, range(n_records), n_records)

    def interval_delta(self, column, *, k, width, every):
        n_intervals = self._n_intervals(column, k, width, every)
        return (max(column.values) - min(column.values)) / n_intervals / 2

    def cluster_by_interval(self, column, *, k, width, every):
        labels = intervals.labels(column.values, self._n_intervals(column, k, width, every))
        found = _listed(_members(labels), range(column.n_present), column.n_present)
        in_order = np.array([column.values[place] for place in found.order.tolist()])
        return Grouped(partition=found, in_order=in_order)

    def _n_intervals(self, column, k, width, every):
        if width is not None:
            raise _refused("cuts no intervals of a width", "k")
        if every == "average":
            return column.n_present // k
        return intervals.most_intervals(column.values, k)

    def moments(self, column, clusters):
        groups = [[column.values[place] for place in cluster] for cluster in clusters.members]
        return _sums(groups), _squares(groups)

    def cluster_extremes(self, column, clusters):
        groups = [[column.values[place] for place in cluster] for cluster in clusters.members]
        return np.array([min(group) for group in groups]), np.array([max(g) for g in groups])

    def category_counts(self, column, clusters):
        lower, upper = column.attribute.grid_bounds
        return np.array(
            [
                [
                    sum(column.values[place] == category for place in cluster)
                    for category in range(lower, upper + 1)
                ]
                for cluster in clusters.members
            ]
        )

    def joint_shifts(self, columns, clusters):
        raise _refused("does not follow records through joint clusters", "dp-um")

    def coded(self, column, candidates, source):
        words = source.words(column.n_present + column.grid.n_missing)[column.records]
        codes = candidates.codes(np.array(column.values, dtype=np.int64), words)
        return PlainCodes(codes=codes.tolist())

    def binned(self, column, axis, codes):
        lower, _ = column.attribute.grid_bounds or (0, 0)
        if axis.groups is None:
            own = [sum(edge <= code for edge in axis.edges.tolist()) for code in codes.codes]
            absent = axis.n_bins - 1
        else:
            own = [int(axis.groups[value - lower]) for value in column.values]
            absent = int(axis.groups[-1])
        n_records = column.grid.n_present + column.grid.n_missing
        bins = dict(zip(column.records, own, strict=True))
        return PlainBins(
            bins=[bins.get(record, absent) for record in range(n_records)], n_bins=axis.n_bins
        )

    def cross_counts(self, binned, scopes):
        return [self._crossed([binned[one] for one in scope]) for scope in scopes]

    def _crossed(self, binned):
        counts = np.zeros([handle.n_bins for handle in binned], dtype=np.int64)
        for cell in zip(*(handle.bins for handle in binned), strict=True):
            counts[cell] += 1
        return counts

    def generated(self, records, seed):
        return records.drawn(seed, np.empty, self.joined_numbers)

    def joined_numbers(self, n_records, made):
        return made(slice(0, n_records))

    def held(self, column):
        return column.grid

    def missing(self, column):
        n_records = column.grid.n_present + column.grid.n_missing
        if len(column.records) == n_records:
            return None
        present = set(column.records)
        return np.array([record not in present for record in range(n_records)])

    def in_table(self, column, clusters):
        n_records = column.grid.n_present + column.grid.n_missing
        return _listed(clusters.members, column.records, n_records)

    def broadcast(self, partition, values):
        labels, one_each = partition.labels.tolist(), values.tolist()
        cells = [0 if label < 0 else one_each[label] for label in labels]
        return np.array(cells, dtype=values.dtype)


def _refused(what, instead):
    return EngineError("engine", f"the plain one {what}", f"pass {instead}")


def _rows(columns, n_records):
    return [[column.values[place] for column in columns] for place in range(n_records)]


def _among(column, shared):
    pairs = zip(column.values, column.records, strict=True)
    kept = [(value, record) for value, record in pairs if record in shared]
    return replace(
        column, values=[value for value, _ in kept], records=[record for _, record in kept]
    )


def _members(labels):
    members = {label: [] for label in sorted(set(labels))}
    for place, label in enumerate(labels):
        members[label].append(place)
    return [*members.values()]


def _listed(members, records, n_records):
    order = [records[place] for cluster in members for place in cluster]
    sizes = np.array([len(cluster) for cluster in members], dtype=np.int64)
    return Partition(order=np.array(order), sizes=sizes, n_records=n_records)


def _ranked(column, members):
    groups = [sorted(column.values[place] for place in cluster) for cluster in members]
    clusters = ClusterSummary(
        sizes=np.array([len(group) for group in groups], dtype=np.int64),
        sums=_sums(groups),
        squares=_squares(groups),
        smallest=np.array([[g[min(nth, len(g) - 1)] for g in groups] for nth in range(3)]),
        largest=np.array([[g[max(-1 - nth, -len(g))] for g in groups] for nth in range(3)]),
    )
    return Ranked(partition=PlainClusters(members=members), clusters=clusters)


def _sums(groups):
    return np.array([sum(group) for group in groups], dtype=np.int64)


def _squares(groups):
    means = [Fraction(sum(group), max(len(group), 1)) for group in groups]
    return np.array(
        [
            float(sum((value - mean) ** 2 for value in group))
            for group, mean in zip(groups, means, strict=True)
        ]
    )
