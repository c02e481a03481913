"""What tasks of Spark make of batches, without a session: as memory does, and no value is told."""

import json
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow", reason="Spark hands batches of Arrow's to tasks")

from microveil.errors import DataError, EngineError  # noqa: E402 -- these need pyarrow
from microveil.noise.noise import RandomSource  # noqa: E402
from microveil.partition.ranking import ranking, ranking_sizes  # noqa: E402
from microveil.protect.spark import clusters, counts, protecting, scratch, table  # noqa: E402
from microveil.schema import Attribute, Bounds, Kind, Source  # noqa: E402
from microveil.synthesis.cuts import Candidates  # noqa: E402
from microveil.synthesis.measuring import Counter, JitteredCodes  # noqa: E402
from microveil.synthesis.tables import Axis  # noqa: E402
from microveil.table import GridColumn  # noqa: E402

needs_spark = pytest.mark.skipif(
    find_spec("pyspark") is None, reason="types of columns are Spark's: install the extra spark"
)

KINDS = {"WHOLE": (Kind.WHOLE, Fraction(1)), "DECIMAL": (Kind.DECIMAL, Fraction(1, 100))}


def attribute(kind="WHOLE", lower=0, upper=120):
    own, resolution = KINDS[kind]
    return Attribute(
        name="AGE",
        kind=own,
        resolution=resolution,
        resolution_source=Source.TYPE,
        domain=Bounds(lower=lower, upper=upper, source=Source.DECLARED),
    )


def on_grid(cells, own, *, clamp=False):
    """What the task gives for one batch: units, and what it tells."""
    batch = pa.record_batch({table.KEY: pa.array(range(len(cells))), "units0": cells})
    (found,) = table.on_grids({"units0": own}, [], clamp)(iter([batch]))
    told = found[table.TOLD].to_pylist()
    assert told[1:] == [None] * (len(cells) - 1)
    return found["units0"].to_pylist(), json.loads(told[0])


def of_column(told, n_records, own=None, *, missing="keep"):
    """The column that batches tell of."""
    rules = {"missing": missing, "may_be_hidden": False, "frame": None, "units": "units0"}
    return table.column_of(own or attribute(), told, n_records, **rules)


@needs_spark
def test_cells_are_put_on_the_grid_and_missing_ones_stay_missing():
    """Of every type that a column may have."""
    units, told = on_grid(pa.array([5, None, 90], pa.int16()), attribute())
    assert units == [5, None, 90]
    assert told["units0"] == {
        "missing": 1, "infinite": 0, "outside": 0, "ends": [5, 90], "rule": None
    }  # fmt: skip
    cells = pa.array([0.125, None, float("nan"), float("inf"), 1.0])
    units, told = on_grid(cells, attribute("DECIMAL"))
    assert units == [12, None, None, None, 100]
    assert (told["units0"]["missing"], told["units0"]["infinite"]) == (2, 1)


@needs_spark
def test_values_outside_the_bounds_are_counted_or_clamped():
    """And refused by their number alone."""
    cells = pa.array([5, 777, -3, 8])
    _, told = on_grid(cells, attribute())
    with pytest.raises(DataError, match="'AGE', 2 records: values lie outside") as refused:
        of_column([told["units0"]], 4)
    assert "777" not in str(refused.value)
    units, told = on_grid(cells, attribute(), clamp=True)
    assert units == [5, 120, 0, 8]
    assert told["units0"]["outside"] == 0


@needs_spark
def test_a_value_that_no_grid_holds_is_told_by_its_rule():
    """As in memory, and whichever batch it is in."""
    _, told = on_grid(pa.array([1e300, 7.5]), attribute("DECIMAL"))
    _, good = on_grid(pa.array([7.5]), attribute("DECIMAL"))
    with pytest.raises(DataError, match="would not fit 64 bits"):
        of_column([good["units0"], told["units0"]], 3, attribute("DECIMAL"))


@needs_spark
def test_missing_values_are_refused_with_their_number_or_left_out():
    """Infinite ones too; a column without any value only where being without is a value."""
    cells = pa.array([float("inf"), None, float("nan"), 1.0])
    _, told = on_grid(cells, attribute("DECIMAL"))
    parts = [told["units0"], {**told["units0"], "missing": 0}]
    with pytest.raises(DataError, match="'AGE', 2 records: a value is missing"):
        of_column(parts, 8, missing="error")
    with pytest.raises(DataError, match="'AGE', 2 records: a value is infinite"):
        of_column([{**one, "missing": 0} for one in parts], 8, missing="error")
    column = of_column(parts, 8)
    assert (column.n_present, column.least, column.greatest) == (4, 100, 100)
    _, none = on_grid(pa.array([None, None], pa.int64()), attribute())
    with pytest.raises(DataError, match="every value is missing"):
        of_column([none["units0"]], 2)
    assert of_column([none["units0"]], 2, missing="protect").n_present == 0


@needs_spark
def test_records_are_numbered_in_the_order_of_their_keys_and_no_key_is_there_twice():
    """Across batches too; keys that are missing, or the one before them, are told of."""
    keys = [pa.array(own, pa.string()) for own in ([None, None, "a"], [], ["a", "b", "b"], ["c"])]
    batches = [pa.record_batch({table.KEY: own}) for own in keys]
    found = [*table.on_grids({}, [], clamp=False)(iter(batches))]
    assert pa.Table.from_batches(found)[table.NUMBER].to_pylist() == [*range(7)]
    told = [json.loads(one[table.TOLD].to_pylist()[0]) for one in found]
    assert [one["n_others"] for one in told] == [2, 2, 0]


VALUES = st.lists(st.integers(-9, 9), min_size=1, max_size=40)
PLACES = st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 40)), max_size=5)


def in_ranges(values, splits, length):
    """The rows that tasks make of records, of so many each, for the ranges between splits."""
    share = clusters.shared(clusters.Starts(*np.array(splits, dtype=np.int64).reshape(-1, 2).T))
    for start in range(0, len(values), length):
        some = values[start : start + length]
        batch = pa.record_batch({"units": some, "number": np.arange(start, start + len(some))})
        yield from share(iter([batch.slice(0, 1), batch.slice(1)]))


@given(VALUES, st.integers(1, 9), st.integers(1, 40), PLACES, st.randoms())
def test_clusters_are_those_of_memory_whatever_ranges_and_tasks_records_come_in(
    values, k, length, splits, random
):
    """Their summaries, and who is in them by value and number, with clusters across ranges."""
    k = min(k, len(values))
    partition = ranking(values, k)
    shares = [*in_ranges(values, sorted(splits), length)]
    random.shuffle(shares)
    held = pa.Table.from_batches(shares)
    counts = np.zeros(len(splits) + 1, dtype=np.int64)
    np.add.at(counts, held["range"].to_numpy(), held["count"].to_numpy())
    task = clusters.summaries(np.cumsum(counts) - counts, len(values), k)
    summary, starts = clusters.joined(pa.Table.from_batches(task(shares)), partition.sizes)
    places = starts.places(np.array(values), np.arange(len(values)))
    assert places.tolist() == partition.labels.tolist()
    in_order = np.sort(values)
    ends = np.cumsum(summary.sizes)
    for nth, end in enumerate(ends):
        own = in_order[end - summary.sizes[nth] : end]
        assert summary.sums[nth] == own.sum()
        assert summary.squares[nth] == pytest.approx(((own - own.mean()) ** 2).sum())
        assert summary.smallest[:, nth].tolist() == [own[min(i, len(own) - 1)] for i in range(3)]
        assert summary.largest[:, nth].tolist() == [own[max(-1 - i, -len(own))] for i in range(3)]


def test_summaries_of_other_clusters_are_refused():
    """Of fewer records or more, of one that lies across two, and of two that lie across."""
    (whole,) = in_ranges([1, 2, 3, 4], [], 4)
    (others,) = in_ranges([1, 2, 3], [], 3)
    (found,) = clusters.summaries(np.array([0]), 4, 2)(iter([whole]))
    (of_others,) = clusters.summaries(np.array([0]), 3, 1)(iter([others]))
    (of_one,) = clusters.summaries(np.array([0]), 4, 4)(iter([whole]))
    crossed = pa.Table.from_batches([found]).set_column(5, "smallest0", pa.array([1, 1]))
    for one in (of_others, of_one, found.slice(0, 1), pa.concat_batches([found, found]), crossed):
        with pytest.raises(EngineError, match="lost or counted twice"):
            clusters.joined(pa.table(one), ranking_sizes(4, 2))
    assert clusters.joined(pa.table(found), ranking_sizes(4, 2))[0].sums.tolist() == [3, 7]


class Settings:
    """A session of which settings alone are asked."""

    def __init__(self, **settings):
        self._settings = settings
        self._jsparkSession = self

    def sessionState(self):  # noqa: N802 -- Spark's name
        return self

    def newHadoopConf(self):  # noqa: N802 -- Spark's name
        return self

    def get(self, name):
        return self._settings.get(name)


OTHERS = {
    "spark.sql.sources.commitProtocolClass": "org.apache.spark.internal.io.cloud."
    "PathOutputCommitProtocol",
    "spark.sql.parquet.output.committer.class": "org.apache.spark.internal.io.cloud."
    "BindingParquetOutputCommitter",
    "mapreduce.fileoutputcommitter.algorithm.version": "2",
    "spark.hadoop.outputCommitCoordination.enabled": "false",
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_committer_that_may_show_two_attempts_is_refused_with_what_to_set(name):
    """Each setting by itself; where all stand at their defaults, or are set to them, none is."""
    with pytest.raises(
        EngineError, match=rf"{name} may let .* set it to .*{scratch.COMMITTER[name]}"
    ):
        scratch.check_committer(Settings(**{name: OTHERS[name]}))
    scratch.check_committer(Settings())
    scratch.check_committer(Settings(**scratch.COMMITTER))


def columns_of(*values, missing):
    """Columns of Spark's that stand for such values, and a batch of them with some jitter."""
    columns, cells = [], {}
    for nth, (own, upper) in enumerate(zip(values, (999, 4), strict=True)):
        absent = missing if nth == 0 else np.zeros(len(own), dtype=bool)
        column = table.SparkColumn(
            attribute=attribute(upper=upper),
            frame=None,
            units=f"units{nth}",
            n_records=len(own),
            n_present=int((~absent).sum()),
            least=0,
            greatest=upper,
        )
        columns.append(column)
        cells[column.units] = pa.array(own, mask=absent)
    return columns, cells


def test_tables_of_batches_add_up_to_those_of_memory():
    """By bins of codes and of values, records without a value among them, in any batches."""
    random, n = np.random.default_rng(1), 500
    ages, few = random.integers(0, 1000, n), random.integers(0, 5, n)
    missing, words = random.random(n) < 0.1, random.integers(0, 1 << 63, n, dtype=np.uint64)
    columns, cells = columns_of(ages, few, missing=missing)
    batch = pa.record_batch({**cells, "jitter_units0": words.view(np.int64)})
    candidates = Candidates(lower=0, upper=999, count=(1 << 20) - 1)
    codes = candidates.codes(ages[~missing], words[~missing])
    cut = Axis(edges=np.array([200_000, 700_000]), ends=np.array([0, 0.2, 0.7, 1]), groups=None,
               n_bins=4, has_missing=True)  # fmt: skip
    counted = Axis(edges=None, ends=np.array([0.0, 1.0]), groups=np.array([0, 0, 1, 1, 2, 2]),
                   n_bins=3, has_missing=False)  # fmt: skip
    here = Counter(
        [
            GridColumn(attribute=columns[0].attribute, values=ages[~missing], missing=missing),
            GridColumn(attribute=columns[1].attribute, values=few, missing=None),
        ]
    )
    here.set_bins(0, cut, JitteredCodes(codes, np.sort(codes)))
    here.set_bins(1, counted, None)
    (expected,) = here.pairs([(0, 1)])
    held = counts._Histogram(candidates, np.zeros(0, np.int64), None)
    attributes = {column.units: column.attribute for column in columns}
    add = counts.tables_of(attributes, {}, {0: (cut, held), 1: (counted, None)}, [(0, 1)])
    batches = [batch.slice(0, 200), batch.slice(200, 0), batch.slice(200)]
    (found,) = counts.adding(add, 12)(iter(batches))
    totals = np.zeros(12)
    totals[found["figure"].to_numpy()] = found["total"].to_numpy()
    assert totals.reshape(4, 3).tolist() == expected.tolist()


@given(st.lists(st.integers(0, 12), max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_counts_of_codes_say_what_sorted_codes_say(codes, one, other):
    """Records below any code, and the codes of any ranks."""
    held = np.sort(np.array(codes, dtype=np.int64))
    here = JitteredCodes(held, held)
    there = counts._Histogram(None, np.cumsum(np.bincount(held, minlength=13)), None)
    for code in range(14):
        assert there.below(code) == here.below(code)
    start, stop = sorted(min(rank, len(codes)) for rank in (one, other))
    assert there.ranked(start, stop).tolist() == here.ranked(start, stop).tolist()


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=6))
def test_no_pass_makes_more_counts_than_are_said_to_come(sizes):
    """But for a table that has more by itself; every table is in one pass, in order."""
    tables = [one * other for nth, one in enumerate(sizes) for other in sizes[:nth]]
    passes = [tables[some] for some in counts.in_passes(tables)]
    assert [size for some in passes for size in some] == tables
    assert all(sum(some) <= counts.MOST_COUNTS or len(some) == 1 for some in passes)


def test_records_take_the_cell_of_their_cluster_and_missing_ones_none():
    """Of equal values by their numbers."""
    starts = clusters.Starts(np.array([1, 5, 5]), np.array([3, 0, 9]))
    take = protecting.taking(attribute(), starts, np.array([7, 40, 90]))
    missing = np.array([False, True, False, False])
    column = GridColumn(attribute=attribute(), values=np.array([5, 4, 5]), missing=missing)
    found = take(column, np.array([9, 1, 2, 8]), RandomSource.seeded(1))
    assert found.values[~missing].tolist() == [90, 7, 40]
    assert found.missing is missing
