"""Counts of Spark's records, without a session: each is what memory counts of the same table."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow", reason="Spark hands batches of Arrow's to tasks")

from microveil.errors import EngineError  # noqa: E402 -- these need pyarrow
from microveil.protect.spark.counts import SparkCounter  # noqa: E402
from microveil.protect.spark.table import SparkColumn, grid_columns  # noqa: E402
from microveil.schema import FINEST, Attribute, Bounds, Kind, Source  # noqa: E402
from microveil.synthesis.cuts import Candidates  # noqa: E402
from microveil.synthesis.measuring import Counter  # noqa: E402
from microveil.synthesis.one_way import with_categories  # noqa: E402
from microveil.synthesis.tables import Axis  # noqa: E402


class Frame:
    """What the counter asks of a frame of Spark's, of batches in this process."""

    def __init__(self, batches, schema):
        self.batches, self.schema = batches, schema

    @property
    def table(self):
        return pl.from_arrow(pa.Table.from_batches(self.batches, self.schema))

    def select(self, *names):
        schema = pa.schema([self.schema.field(name) for name in names])
        return Frame([batch.select(names) for batch in self.batches], schema)

    def mapInArrow(self, task, schema):  # noqa: N802 -- Spark's name
        types = {"bigint": pa.int64(), "double": pa.float64(), "string": pa.string()}
        own = pa.schema([(name, types[kind]) for name, kind in map(str.split, schema.split(","))])
        return Frame([batch.cast(own) for batch in task(iter(self.batches))], own)

    def groupBy(self, name):  # noqa: N802 -- Spark's name
        def added(other):
            return framed(self.table.group_by(name).agg(pl.col(other).sum().alias(f"sum({other})")))

        return SimpleNamespace(sum=added)

    def orderBy(self, name):  # noqa: N802 -- Spark's name
        return framed(self.table.sort(name))


def framed(table):
    """A frame of a table of polars."""
    return Frame(table.to_arrow().to_batches(), table.to_arrow().schema)


# Counts come in pieces of three.
SCRATCH = SimpleNamespace(
    fetched=lambda frame: frame.table.to_arrow(),
    in_pieces=lambda frame: frame.table.iter_slices(3),
)


def attribute(kind, resolution=1, *, source=Source.LEARNT, domain=None):
    return Attribute(name="A", kind=kind, resolution=Fraction(resolution), domain=domain,
                     resolution_source=source, is_learnt=domain is None)  # fmt: skip


TEXT = attribute(Kind.OTHER, source=Source.TYPE)
FINE = attribute(Kind.DECIMAL, FINEST)
DECLARED = attribute(
    Kind.WHOLE, domain=Bounds(lower=-9, upper=9, source=Source.DECLARED), source=Source.TYPE
)
ATTRIBUTES = {"units0": TEXT, "units1": FINE, "units2": DECLARED}
# Words and numbers, of many decimals and few, and what stands for a missing value.
RECORDS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.sampled_from(["a", "b", "c", "ä", "z"])),
        st.one_of(st.none(), st.sampled_from([0, 5 * 10**6]), st.integers(-(10**7), 10**7)),
        st.one_of(st.none(), st.integers(-9, 9)),
        st.integers(0, 2**63 - 1),
    ),
    min_size=1,
    max_size=25,
)  # fmt: skip
TYPES = pa.schema([("units0", pa.string()), ("units1", pa.int64()), ("units2", pa.int64()),
                   ("jitter_units1", pa.int64())])  # fmt: skip


def counters_of(records, cut):
    """Both counters of records: those of Spark's in two batches, and one that is empty."""
    cells = zip(*records, strict=True)
    arrays = [pa.array(own, one.type) for own, one in zip(cells, TYPES, strict=True)]
    batch = pa.RecordBatch.from_arrays(arrays, schema=TYPES)
    frame = Frame([batch.slice(0, cut), batch.slice(0, 0), batch.slice(cut)], TYPES)
    columns = [
        SparkColumn(attribute=own, frame=frame, units=name, n_records=len(records), least=0,
                    n_present=len(records) - batch[name].null_count, greatest=0)
        for name, own in ATTRIBUTES.items()
    ]  # fmt: skip
    here = Counter([*grid_columns(batch, ATTRIBUTES).values()])
    return SparkCounter(columns, frame, SCRATCH), here, batch["jitter_units1"].to_numpy()


def tallied(found):
    """Values and how many records have each, in their order, and how many have none."""
    tally, absent = found
    pieces = [(values, counts) for values, counts in tally if len(values)]
    each = (zip(list(values), counts.tolist(), strict=True) for values, counts in pieces)
    return [pair for piece in each for pair in piece], absent


@given(RECORDS, st.data())
def test_counts_of_batches_are_those_of_memory(records, data):
    """Before a domain is learnt and on it: words, values, decimals, cells, codes and pairs."""
    there, here, words = counters_of(records, data.draw(st.integers(0, len(records))))
    of_words, absent = tallied(here.words(0))  # in the order in which the batch has them
    assert tallied(there.words(0)) == (sorted(of_words), absent)
    assert there.decimals(1).tolist() == [*here.decimals(1)]
    of_cents = attribute(Kind.DECIMAL, Fraction(1, 10 ** data.draw(st.integers(0, 6))))
    for counter in (there, here):
        counter.adopt(0, with_categories(TEXT, ("b", "ä", "other")), 2)
        counter.adopt(1, of_cents)
    assert there.histogram(0).tolist() == here.histogram(0).tolist()
    assert there.histogram(2).tolist() == here.histogram(2).tolist()
    for column in (1, 2):
        assert tallied(there.values(column)) == tallied(here.values(column))
        borders = np.array([-(10**8), *sorted(data.draw(st.sets(st.integers(-20, 20)))), 10**8])
        assert there.cells(column, borders).tolist() == here.cells(column, borders).tolist()
    ((values, _),) = here.values(1)[0]
    atoms = np.array(sorted(data.draw(st.sets(st.sampled_from([0, *values.tolist()])))))
    candidates = Candidates(lower=-(10**7), upper=10**7, count=60)
    source = SimpleNamespace(words=lambda _n: words.view(np.uint64).copy())
    codes = [there.coded(1, candidates, None, atoms), here.coded(1, candidates, source, atoms)]
    n_rest = int(codes[0].ends[-1])
    assert codes[0].ranked(0, n_rest).tolist() == codes[1].ranked(0, len(records)).tolist()
    cut = Axis(edges=np.array([20, 31, 40]), ends=np.linspace(0, 1, 5), groups=None, n_bins=5,
               has_missing=True)  # fmt: skip
    for counter, own in zip((there, here), codes, strict=True):
        counter.set_bins(0, by_value(4), None)
        counter.set_bins(1, cut, own)
        counter.set_bins(2, by_value(20), None)
    scopes = [(0, 1), (1, 2), (2, 0), (0, 1, 2)]
    tables = [[one.tolist() for one in counter.pairs(scopes)] for counter in (there, here)]
    assert tables[0] == tables[1]


def by_value(n_values):
    return Axis(edges=None, ends=np.array([0.0, 1.0]), groups=np.arange(n_values), n_bins=n_values,
                has_missing=False)  # fmt: skip


def test_a_count_that_lost_a_record_is_an_error():
    """Whatever is counted, values that come in pieces too."""
    there, _, _ = counters_of([("a", 5, 1, 7), ("b", 5, 2, 8)], 1)
    there.frame.batches.pop()
    for ask in (lambda: there.decimals(1), lambda: [*there.words(0)[0]]):
        with pytest.raises(EngineError, match="lost or counted twice"):
            ask()
