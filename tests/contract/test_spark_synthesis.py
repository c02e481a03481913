"""`dp-synthetic` in Spark: what is counted is counted as in memory, and nothing else leaves it."""

import json

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.engines import ENGINES
from microveil.engines.handles import LocalCodes
from microveil.engines.local import LocalEngine
from microveil.noise.keyed import RecordStreams

pytest.importorskip("pyspark", reason="make test-spark installs PySpark")

from microveil.engines import spark_synthesis
from spark_session import BOUNDS, SIZES, cells, framed, people
from spark_watched import have_tasks_fail_at_first, values_of, watching

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

N_RECORDS = 300
OF_RUNS = {"bytes", "count", "ends", "nameless", "some"}
CHECKED = {"present", "missing", "infinite", "outside", "least", "greatest", "rule", "remedy",
           "some"}  # fmt: skip
EVERY = {"method": "dp-synthetic", "attributes": ["AGE", "PAY", "GAP", "SIZE", "BORN", "WED"],
         "bounds": {name: BOUNDS[name] for name in ("AGE", "PAY", "GAP", "BORN")},
         "resolution": {"PAY": 0.01}, "categories": {"SIZE": list(SIZES)}, "epsilon": 200,
         "missing": "protect"}  # fmt: skip
FEW = {"method": "dp-synthetic", "attributes": ["AGE", "SIZE", "WED"],
       "bounds": {"AGE": BOUNDS["AGE"]}, "categories": {"SIZE": list(SIZES)},
       "epsilon": 50}  # fmt: skip
REQUESTS = {
    "every kind, missing protected": EVERY,
    "a threshold and a delta": {**FEW, "target": {"AGE": 40}, "delta": 1e-9, "n_records": 50},
    "a target of categories, more records": {**FEW, "target": "SIZE", "n_records": 150_000},
    "independent": {**FEW, "structure": "independent"},
}


class KeyedEngine(LocalEngine):
    """The engine in memory, with the candidates of Spark's and its jitter, by key and number."""

    n_candidates = spark_synthesis.N_CANDIDATES

    def coded(self, column, candidates, source):
        grid = column.grid
        there = np.arange(grid.n_present) if grid.missing is None else np.flatnonzero(~grid.missing)
        streams = RecordStreams.keyed(source.key(), "jitter", grid.attribute.name)
        codes = candidates.codes(grid.values, streams.of(there).words())
        return LocalCodes(codes=codes, in_order=np.sort(codes))


@pytest.fixture
def keyed(monkeypatch):
    """The engine in memory that draws jitter as Spark's does."""
    monkeypatch.setitem(ENGINES, "keyed", (__name__, "KeyedEngine"))
    return "keyed"


def in_any_order(release):
    """A table's rows, sorted: files of Spark's stand in no order."""
    found = cells(release)
    return found.sort(*found.columns)


def same_table(one, other):
    assert one.measurements.to_dict() == other.measurements.to_dict()
    assert in_any_order(one).equals(in_any_order(other))
    assert cells(one).schema == cells(other).schema


@pytest.mark.parametrize("name", REQUESTS)
def test_under_one_jitter_measurements_and_tables_are_those_of_memory(spark, keyed, name):
    """Cuts, counts, pairs and records, in one block or in three, under one seed."""
    table, request = people(N_RECORDS), {**REQUESTS[name], "seed": 3}
    there = mv.protect(framed(spark, table), record_id="ID", **request)
    here = mv.protect(table, engine=keyed, **request)
    same_table(there, here)
    assert cells(there).height == request.get("n_records", N_RECORDS)
    assert there.guarantee == mv.protect(table, **request).guarantee


def test_guarantee_is_that_of_memory_but_for_the_randomness(spark):
    """It is keyed, and says of what; cells have their types, domains and grids."""
    table = people(N_RECORDS)
    there = mv.protect(framed(spark, table), record_id="ID", **EVERY)
    here = mv.protect(table, **EVERY)
    assert there.guarantee == here.guarantee.drawn_by_key()
    assert there.guarantee.randomness == "keyed"
    assert there.notes == here.notes
    drawn, own = cells(there), cells(here)
    assert drawn.schema == own.schema
    assert drawn["AGE"].is_between(*BOUNDS["AGE"]).all()
    pay = drawn["PAY"].drop_nulls() * 100
    assert np.allclose(pay, pay.round())
    assert {*drawn["SIZE"].drop_nulls()} <= {*SIZES}


def test_distributions_are_near_the_originals(spark):
    """As in memory: with a wide budget by a few hundredths, in cuts, counts and pairs."""
    random = np.random.default_rng(1)
    ages = random.integers(20, 80, 4000)
    table = pl.DataFrame(
        {"ID": np.arange(4000), "AGE": ages, "PAY": ages * 500 + random.integers(0, 9000, 4000),
         "WED": ages + random.integers(-5, 5, 4000) > 45}
    )  # fmt: skip
    request = {"method": "dp-synthetic", "attributes": ["AGE", "PAY", "WED"], "epsilon": 50,
               "bounds": {"AGE": (0, 120), "PAY": (0, 100_000)}}  # fmt: skip
    drawn = cells(mv.protect(framed(spark, table), record_id="ID", **request))
    for name in ("AGE", "PAY"):
        shares = np.linspace(0.05, 0.95, 19)
        own, new = (np.quantile(one[name].to_numpy(), shares) for one in (table, drawn))
        assert np.abs(own - new).max() < 0.05 * (own[-1] - own[0])
    assert abs(table["WED"].mean() - drawn["WED"].mean()) < 0.02
    numbers = [one.select("AGE", "PAY", "WED").cast(pl.Float64) for one in (table, drawn)]
    apart = np.subtract(*(np.corrcoef(one.to_numpy().T) for one in numbers))
    assert np.abs(apart).max() < 0.1


def test_without_cuts_no_claim_hangs_on_a_key(spark):
    """Counts of lists have noise of the operating system's alone: the guarantee is memory's."""
    table = people(N_RECORDS)
    request = {**FEW, "attributes": ["SIZE", "WED"], "bounds": {}}
    there = mv.plan(framed(spark, table), record_id="ID", **request)
    assert there.guarantee.randomness == "os"
    assert there.guarantee == mv.plan(table, **request).guarantee


def test_tasks_that_are_tried_again_count_and_draw_what_they_did(spark, keyed, monkeypatch):
    """Every record is counted once, and every new one is there once."""
    have_tasks_fail_at_first(monkeypatch)
    table, request = people(N_RECORDS), {**FEW, "seed": 4, "n_records": 70_000}
    there = mv.protect(framed(spark, table), record_id="ID", **request)
    same_table(there, mv.protect(table, engine=keyed, **request))


def test_tables_of_many_cells_are_counted_in_several_passes(spark, keyed, monkeypatch):
    """Each holds no more counts than are said to come to the driver, and none is left out."""
    from microveil.engines.spark import SparkEngine

    passes, counted = [], SparkEngine._counted

    def noted(self, frame, begun, n_counts):
        passes.append(n_counts)
        return counted(self, frame, begun, n_counts)

    monkeypatch.setattr(spark_synthesis, "MOST_COUNTS", 40)
    monkeypatch.setattr(SparkEngine, "_counted", noted)
    table, request = people(N_RECORDS), {**FEW, "seed": 5}
    there = mv.protect(framed(spark, table), record_id="ID", **request)
    of_codes, *of_pairs = passes
    assert of_codes == spark_synthesis.N_CANDIDATES + 1
    assert len(of_pairs) > 1
    assert max(of_pairs) <= 64  # 16 bins at most of 4: one table alone may be larger than a pass
    same_table(there, mv.protect(table, engine=keyed, **request))


def test_counts_alone_come_to_the_driver_and_no_plan_has_a_key(spark, tmp_path):
    """Keys are in files of mode 0600 while they are needed; no task and no file left has one."""
    marked = people(N_RECORDS).with_columns(AGE=pl.lit(77).cast(pl.Int16))
    frame = framed(spark, marked)
    with watching() as seen:
        mv.protect(frame, record_id="ID", scratch=tmp_path, **FEW)
    # One key for the jitter of AGE, and the seed of the new records.
    assert [len(secret) for *_, secret in seen.keys] == [32] * 2
    seen.assert_no_key_is_left(tmp_path)
    # Of each run what is checked; per value of a list, per block of 262,144 codes, per block of
    # pairs; and of each part of the new table how many records it has.
    assert {*map(frozenset, (columns for columns, _ in seen.read))} == {
        *map(frozenset, (OF_RUNS, {"count", "doubled"}, CHECKED, {"value", "count"})),
        *map(frozenset, ({"block", "cells", "counts"}, {"count"})),
    }
    assert max(n_rows for columns, n_rows in seen.read if "nameless" not in columns) <= 4
    assert seen.shown(values_of(marked, "ID")) == set()


def test_records_that_are_lost_between_steps_are_an_error(spark, monkeypatch):
    """A count that is short of one record, of codes or of a pair, releases nothing."""
    from microveil.engines.spark import SparkEngine

    counted = SparkEngine._counted
    frame = framed(spark, people(60))
    for spoilt in (True, False):

        def short(self, frame, begun, n_counts, *, spoilt=spoilt):
            counts = counted(self, frame, begun, n_counts)
            of_codes = n_counts > spark_synthesis.N_CANDIDATES
            counts[np.flatnonzero(counts)[0]] -= of_codes == spoilt
            return counts

        monkeypatch.setattr(SparkEngine, "_counted", short)
        with pytest.raises(mv.MicroveilError, match="lost or counted twice"):
            mv.protect(frame, record_id="ID", **FEW)
        monkeypatch.setattr(SparkEngine, "_counted", counted)


@pytest.mark.usefixtures("spark")
def test_the_command_line_writes_a_new_table_and_its_measurements(tmp_path):
    """And audits it by its folder, in this process."""
    people(N_RECORDS).write_parquet(tmp_path / "people.parquet")
    asks = ["--method", "dp-synthetic", "--epsilon", 50, "--attributes", "AGE,WED",
            "--bounds", "AGE=0:120", "--engine", "spark", "--scratch", tmp_path,
            "--with-measurements"]  # fmt: skip
    done = run("protect", "people.parquet", "-o", "there", *asks, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "(a computational claim)" in done.stdout
    written = json.loads((tmp_path / "there" / "guarantee.json").read_text("utf-8"))
    assert written["randomness"] == "keyed"
    statement = (tmp_path / "there" / "guarantee.md").read_text("utf-8")
    assert "The jitter that spread equal values" in statement
    assert pl.read_parquet(tmp_path / "there" / "data.parquet").shape == (N_RECORDS, 2)
    measured = json.loads((tmp_path / "there" / "measurements.json").read_text("utf-8"))
    assert measured["attributes"]["AGE"]["candidates"] == spark_synthesis.N_CANDIDATES
    audited = run("audit", "people.parquet", "there", folder=tmp_path)
    assert audited.returncode == 0, audited.stderr
