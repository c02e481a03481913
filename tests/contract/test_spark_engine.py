"""The engine of Spark: clusters, summaries, scales and guarantee are as in memory."""

import gc
import json
import sys
import threading
from pathlib import Path

import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.errors import DataError, EngineError
from microveil.files.parts import digest_of_parts
from spark_session import BOUNDS, SIZES, framed, people, rows, take_small_steps
from spark_watched import have_tasks_fail_at_first, values_of, watching

pyspark = pytest.importorskip("pyspark", reason="make test-spark installs PySpark")

from microveil.engines import spark as engine  # noqa: E402 -- these need pyarrow
from microveil.engines import spark_chunks as chunks  # noqa: E402

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

K = 3


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Tables of a few records take several runs and buckets, and clusters lie across them."""
    take_small_steps(monkeypatch)


def asked(method, **more):
    return {"method": method, "k": K, "epsilon": 5, "seed": 3, "attributes": ["AGE", "PAY"],
            "bounds": {name: BOUNDS[name] for name in more.get("attributes", ("AGE", "PAY"))
                       if name in BOUNDS},
            "resolution": {"PAY": 0.01} if "PAY" in more.get("attributes", "PAY") else {},
            "missing": "keep", "exact_cells": "allow", "keep": ["ID"], **more}  # fmt: skip


def both(spark, table, **request):
    """The release in memory, and the one of Spark."""
    frame = framed(spark, table)
    return mv.protect(table, **request), mv.protect(frame, record_id="ID", **request)


def said(release):
    """A manifest without the moment, the engine, and what the custodian is told."""
    contents = {**release.manifest.to_dict()}
    for name in ("created", "custodian_notes"):
        contents.pop(name, None)
    parameters = {**contents["parameters"]}
    for name in ("engine", "scratch", "record_id"):
        del parameters[name]
    return {**contents, "parameters": parameters}


def same(one, other):
    assert rows(other).equals(rows(one))
    assert rows(other).schema == rows(one).schema
    assert other.guarantee == one.guarantee
    assert other.notes == one.notes
    assert said(other) == said(one)


def test_releases_guarantees_and_manifests_are_equal(spark):
    """Under one seed to the last cell, with ties, missing values and ids of text, in any order."""
    same(*both(spark, people(100), **asked("idp-vector")))


def test_dates_yes_and_no_and_text_in_an_order_are_released_alike(spark):
    """In their own types, and with a column that is kept beside them."""
    names = ["GAP", "SIZE", "BORN", "WED"]
    request = asked("dp-um", attributes=names, keep=["ID", "AGE"])
    same(*both(spark, people(60), **request, categories={"SIZE": mv.ordered(*SIZES)}))


def test_ten_thousand_records_are_released_alike(spark, monkeypatch):
    """In partitions of many batches, clusters across borders of both, plans made anew midway."""
    monkeypatch.setattr(chunks, "IN_BUCKET", 2000)
    monkeypatch.setattr(chunks, "LONGEST", 900)
    settings = {
        "spark.sql.execution.arrow.maxRecordsPerBatch": "700",
        "spark.sql.adaptive.enabled": "true",
    }
    before = {name: spark.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        same(*both(spark, people(10_000), **asked("idp-vector", k=9)))
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def never_merged(monkeypatch):
    """Have it be an error that records are put in order beyond their runs."""
    from microveil.engines import spark_by_id

    monkeypatch.setattr(spark_by_id.runs, "parted", None)
    monkeypatch.setattr(spark_by_id.runs, "merged", None)


def in_its_order(spark, table, parts=2):
    """The same table in Spark, its records as they are, in so many parts."""
    return spark.createDataFrame(table.to_arrow()).coalesce(parts)


def test_records_that_come_in_the_order_of_their_ids_are_released_alike(spark, monkeypatch):
    """Their runs are numbered, and nothing is written or sorted anew."""
    table, request = people(200), asked("idp-vector")
    never_merged(monkeypatch)
    same(
        mv.protect(table, **request),
        mv.protect(in_its_order(spark, table), record_id="ID", **request),
    )


def test_numbers_as_ids_follow_each_other_as_such(spark, monkeypatch):
    """Not by their text: 9 comes before 10, whichever run it is in."""
    table = people(60).with_columns(pl.arange(5, 65).alias("ID"))
    request = asked("dp-um", attributes=["AGE"])
    in_memory = mv.protect(table, **request)
    never_merged(monkeypatch)
    same(in_memory, mv.protect(in_its_order(spark, table), record_id="ID", **request))


def test_days_of_years_that_python_has_not_are_ids_as_any_other(spark, monkeypatch):
    """Spark's dates go on after the year 9999."""
    never_merged(monkeypatch)
    table = people(60).with_columns(pl.arange(60).alias("ID"))
    late = "date_add(date'9999-12-01', cast(ID as int)) DAY"
    frame = in_its_order(spark, table).selectExpr(late, "ID", "AGE")
    request = asked("dp-um", attributes=["AGE"], keep=["ID"])
    release = mv.protect(frame, record_id="DAY", **request)
    assert rows(release).equals(rows(mv.protect(table, **request)))


def test_a_run_without_a_value_is_released_as_in_memory(spark):
    """Beside runs that have some: a column may be filled from some day on alone."""
    table = people(60).with_columns(AGE=pl.when(pl.arange(60) < 30).then(None).otherwise("AGE"))
    request = asked("dp-um", attributes=["AGE"])
    frame = in_its_order(spark, table, parts=1)
    same(mv.protect(table, **request), mv.protect(frame, record_id="ID", **request))


def test_a_value_that_no_grid_holds_is_the_error_that_it_is_in_memory(spark):
    """In one run of many: it names the rule, not a step of Spark."""
    pay = [1e300 if number == 50 else 7.5 for number in range(60)]
    table = people(60).with_columns(PAY=pl.Series(pay))
    for given, more in ((table, {}), (in_its_order(spark, table, 1), {"record_id": "ID"})):
        with pytest.raises(DataError, match="values would not fit 64 bits at this resolution"):
            mv.protect(given, **more, **asked("dp-um", attributes=["PAY"]))


def test_a_column_that_fails_beside_one_that_works_leaves_nothing(spark, monkeypatch, tmp_path):
    """Its error is the one in memory, when the other came to its end; no scratch file is left."""
    for step in ("STEP", "LONGEST", "IN_BUCKET"):
        monkeypatch.setattr(chunks, step, 4000)
    threads, checked = set(), engine.SparkEngine._checked

    def noted(self, *given):
        threads.add(threading.get_ident())
        return checked(self, *given)

    monkeypatch.setattr(engine.SparkEngine, "_checked", noted)
    table = people(10_000).with_columns(pl.arange(10_000).alias("ID"))
    request = asked("dp-um", bounds={"AGE": (0, 120), "PAY": (0, 100)})
    with pytest.raises(DataError) as in_memory:
        mv.protect(table, **request)
    with pytest.raises(DataError) as found:
        mv.protect(in_its_order(spark, table), record_id="ID", scratch=tmp_path, **request)
    assert str(in_memory.value).split(", the first")[0] in str(found.value)
    assert len(threads) == 2
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("again", [(3, 4), (21, 22)])
def test_an_id_that_comes_again_is_an_error_in_order_too(spark, again):
    """Within a run, and as the last of one and the first of the next."""
    ids = [f"p{number:06}" for number in range(60)]
    ids[again[1]] = ids[again[0]]
    table = people(60).with_columns(pl.Series("ID", ids))
    frame = in_its_order(spark, table.sort("ID"), parts=1)
    with pytest.raises(DataError, match="column 'ID', 1 records: a record id must be there"):
        mv.protect(frame, record_id="ID", **asked("dp-um", attributes=["AGE"]))


def test_columns_are_worked_on_two_at_a_time_in_the_name_of_the_caller(spark):
    """Jobs of both are of the group that the caller gave; of many clusters columns come in turn."""
    begun, caller = threading.Barrier(2, timeout=60), threading.get_ident()
    places, properties = [], []
    house = engine.SparkEngine(record_id="ID")
    house.table(in_its_order(spark, people(20)), asked("dp-um"))

    def together(name):
        begun.wait()
        places.extend(house._files._next() for _ in range(2000))
        spark.sparkContext.setLocalProperty("own", name)
        begun.wait()
        properties.append(spark.sparkContext.getLocalProperty("own") == name)
        return name, spark.sparkContext.getLocalProperty("spark.jobGroup.id")

    names = ["AGE", "PAY", "GAP", "BORN"]
    spark.sparkContext.setJobGroup("those of a steward", "")
    try:
        found = house.side_by_side(together, names, 10_000, 4 * engine.MOST_TOGETHER)
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert found == [(name, "those of a steward") for name in names]
    assert all(properties)
    assert len({*places}) == len(places)
    alone = house.side_by_side(
        lambda _name: threading.get_ident(), names, 10_000, 4 * engine.MOST_TOGETHER + 1
    )
    assert {*alone} == {caller}
    house.end()


def test_one_partition_may_hold_everything(spark):
    """However the frame comes, and whatever Spark makes of it."""
    table, request = people(40), asked("idp-cbls", attributes=["AGE"])
    in_memory = mv.protect(table, **request)
    same(in_memory, mv.protect(framed(spark, table, parts=1), record_id="ID", **request))


def test_values_outside_bounds_are_counted_and_never_shown(spark):
    """And clamped where that is asked for, as in memory."""
    table, frame = people(30), None
    request = asked("dp-um", attributes=["AGE"], bounds={"AGE": (0, 33)})
    frame = framed(spark, table)
    n_outside = int((table["AGE"] > 33).sum())
    with pytest.raises(mv.DataError, match=rf"'AGE', {n_outside} records: values lie outside") as e:
        mv.protect(frame, record_id="ID", **request)
    assert not any(str(value) in str(e.value) for value in table["AGE"] if value > 33)
    same(*both(spark, table, **request, outside="clamp"))


def test_missing_values_are_refused_with_their_number(spark):
    """Where they are not to be kept; infinite ones too."""
    table = people(30).with_columns(PAY=pl.Series([float("inf"), float("nan"), *[1.0] * 28]))
    request = asked("dp-um", attributes=["PAY"], missing="error")
    with pytest.raises(mv.DataError, match="'PAY', 1 record: a value is missing"):
        mv.protect(framed(spark, table), record_id="ID", **request)
    whole = table.with_columns(pl.col("PAY").fill_nan(2))
    with pytest.raises(mv.DataError, match="'PAY', 1 record: a value is infinite"):
        mv.protect(framed(spark, whole), record_id="ID", **request)


REFUSED = [
    ({"shuffle": True, "keep": ()}, "secret order"),
    ({"isotonic": True}, "does not measure the linkage"),
    ({"missing_codes": {"AGE": [40]}}, "takes no codes"),
    ({"method": "laplace", "unit": "SIZE", "max_rows": 30}, "does not protect units"),
    ({"k": "auto"}, "weighs no requests"),
    ({"method": "auto", "scope": "vector"}, "weighs no requests"),
    ({"method": "idp-cbls", "exact_cells": "widen"}, "does not merge clusters"),
    ({"method": "optimal"}, "ranked methods, laplace, pram and dp-synthetic alone"),
    ({"method": "mdav"}, "ranked methods, laplace, pram and dp-synthetic alone"),
    ({"method": "k-noise"}, "ranked methods, laplace, pram and dp-synthetic alone"),
    ({"attributes": None}, "columns are not looked through"),
    ({"record_id": None}, "rows of a Spark frame are in no order"),
]


@pytest.mark.parametrize(("more", "rule"), REFUSED)
def test_what_is_not_there_is_refused_with_what_would_do(spark, more, rule):
    """Before anything is released, and nothing is left in the scratch folder."""
    request = {**asked("dp-um", attributes=["AGE"]), "record_id": "ID", **more}
    with pytest.raises(EngineError, match=rule):
        mv.protect(framed(spark, people(12)), **request)


def test_a_record_id_must_be_there_and_nobody_elses(spark):
    """It decides between records of equal values."""
    frame, request = framed(spark, people(80)), asked("dp-um", attributes=["AGE"])
    n_others = 80 - people(80)["AGE"].n_unique()
    with pytest.raises(mv.DataError, match=rf"'AGE', {n_others} records: a record id must"):
        mv.protect(frame, record_id="AGE", **request)
    with pytest.raises(mv.DataError, match=r"'GAP', [0-9]+ records: a record id must"):
        mv.protect(frame, record_id="GAP", **request)
    with pytest.raises(mv.RequestError, match="no such column"):
        mv.protect(frame, record_id="NUMBER", **request)
    with pytest.raises(mv.RequestError, match="whole numbers, text or dates"):
        mv.protect(frame, record_id="PAY", **request)
    with pytest.raises(mv.RequestError, match="pass engine='spark'"):
        mv.protect(people(80), record_id="ID", **request)


def test_too_many_clusters_for_the_driver_are_refused_with_the_figures(spark, monkeypatch):
    """And with the k that would do."""
    monkeypatch.setattr(engine, "MOST_CLUSTERS", 3)
    with pytest.raises(EngineError, match=r"at most 3 clusters .* these are 4.* k of 4 or more"):
        mv.protect(framed(spark, people(12)), record_id="ID", **asked("dp-um", attributes=["AGE"]))


def test_nothing_but_the_release_is_left_in_the_scratch_folder(spark, tmp_path):
    """Of mode 0700 while it works; after an error nothing at all that holds a record."""
    frame, request = framed(spark, people(12)), asked("dp-um", attributes=["AGE"])
    release = mv.protect(frame, record_id="ID", scratch=tmp_path, **request)
    (left,) = tmp_path.iterdir()
    assert left.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in left.iterdir()} == {"data"}
    assert release.data.columns == ["ID", "AGE"]
    with pytest.raises(mv.DataError, match="outside the declared bounds"):
        mv.protect(
            frame, record_id="ID", scratch=tmp_path, **{**request, "bounds": {"AGE": (0, 1)}}
        )
    files = [path for path in tmp_path.rglob("*") if path.is_file() and left not in path.parents]
    assert files == []


def test_scratch_files_of_a_plan_are_there_as_long_as_the_plan(spark, tmp_path):
    """And no longer; where there is no plan, after an error, there are none."""
    frame, request = framed(spark, people(12)), asked("dp-um", attributes=["AGE"])
    planned = mv.plan(frame, record_id="ID", scratch=tmp_path, **request)
    assert any(path.is_file() for path in tmp_path.rglob("*"))
    figures = planned.attributes[0].sums.tolist()
    own = planned.attributes[0]
    del planned
    gc.collect()
    assert [*tmp_path.iterdir()] == []
    assert own.sums.tolist() == figures
    with pytest.raises(mv.DataError, match="outside the declared bounds"):
        mv.plan(frame, record_id="ID", scratch=tmp_path, **{**request, "bounds": {"AGE": (0, 1)}})
    assert [*tmp_path.iterdir()] == []


def test_what_a_frame_says_of_its_columns_is_not_released(spark):
    """A comment or a code list may name what a column holds."""
    frame = framed(spark, people(12))
    marked = frame.withColumns(
        {name: frame[name].alias(name, metadata={"comment": "p000007"}) for name in ("ID", "AGE")}
    )
    release = mv.protect(marked, record_id="ID", **asked("dp-um", attributes=["AGE"]))
    assert [field.metadata for field in release.data.schema] == [{}, {}]
    place = Path(release.data.inputFiles()[0].removeprefix("file:"))
    assert b"comment" not in place.read_bytes()


def test_kept_columns_of_every_type_are_what_they_were(spark):
    """Moments with and without a zone, days of long ago and exact decimals, to the last digit."""
    table = people(12)
    frame = framed(spark, table).selectExpr(
        "ID", "AGE", "cast(AGE / 7 as decimal(9, 3)) SHORT", "cast(AGE / 7 as decimal(30, 9)) LONG",
        "date'1200-02-29' + AGE DAY",
        "timestamp'1890-03-04 05:06:07.123456' + AGE * interval 1 hour ZONE",
        "timestamp_ntz'1500-03-04 05:06:07.123456' NONE", "cast(AGE as tinyint) TINY",
        "cast(AGE / 7 as float) SINGLE", "if(AGE > 40, SIZE, null) SOME",
    )  # fmt: skip
    kept = [name for name in frame.columns if name != "AGE"]
    release = mv.protect(frame, record_id="ID", **asked("dp-um", attributes=["AGE"], keep=kept))
    assert {*frame.drop("AGE").dtypes} < {*release.data.dtypes}
    assert release.data.select(*kept).orderBy("ID").collect() == (
        frame.select(*kept).orderBy("ID").collect()
    )
    (path, *_) = release.data.inputFiles()
    read_alone = spark.read.parquet(str(Path(path.removeprefix("file:")).parent))
    assert read_alone.schema == release.data.schema


def test_a_release_that_lost_a_part_is_an_error(spark, monkeypatch):
    """By what its files say, and by what was counted as they were written."""
    from microveil.engines import spark_scratch, spark_tasks

    frame, request = framed(spark, people(60)), asked("dp-um", attributes=["AGE"])
    monkeypatch.setattr(spark_scratch, "n_records_of", lambda _folder: 59)
    with pytest.raises(EngineError, match="another number of records"):
        mv.protect(frame, record_id="ID", **request)
    monkeypatch.setattr(spark_scratch, "n_records_of", lambda _folder: 60)
    assembled = spark_tasks.assembled

    def without_a_part(columns, folder):
        task = assembled(columns, folder)
        return lambda batches: (row for row in task(batches) if row["count"][0].as_py() > 20)

    monkeypatch.setattr(spark_tasks, "assembled", without_a_part)
    with pytest.raises(EngineError, match="another number of records"):
        mv.protect(frame, record_id="ID", **request)


def test_a_frame_whose_order_changes_from_look_to_look_is_released_once(spark):
    """What is counted on is written out before: a random order makes no difference."""
    from pyspark.sql import functions

    table, request = people(60), asked("dp-um", attributes=["AGE"])
    restless = framed(spark, table).orderBy(functions.rand())
    same(mv.protect(table, **request), mv.protect(restless, record_id="ID", **request))


def test_tasks_that_fail_release_every_cell_once_and_draw_once(spark, tmp_path, monkeypatch):
    """Each task fails at first, in the midst of what it gives: cells are those of one draw."""
    log = str(tmp_path / "log")

    def note(_batch, context):
        if context.attemptNumber() == 0:
            with Path(log).open("a", encoding="utf-8") as file:
                file.write(f"{context.stageId()} {context.partitionId()}\n")

    # So little noise that few values end at a bound, where they would be equal.
    table = people(60)
    request = asked("dp-um", seed=None, epsilon=1000, attributes=["PAY"])
    frame = framed(spark, table)
    have_tasks_fail_at_first(monkeypatch, note, after=1)
    release = mv.protect(frame, record_id="ID", **request)
    assert len(set(Path(log).read_text(encoding="utf-8").splitlines())) >= 6
    found = rows(release)
    assert found["ID"].to_list() == table["ID"].to_list()
    (part,) = mv.plan(table, **request).attributes
    clusters = found.with_columns(cluster=pl.Series(part.partition.labels))
    drawn = clusters.filter(pl.col("cluster") >= 0).group_by("cluster")
    assert (drawn.agg(pl.col("PAY").n_unique())["PAY"] == 1).all()
    assert (drawn.agg(pl.col("PAY").null_count())["PAY"] == 0).all()
    assert found["PAY"].null_count() == table["PAY"].null_count()
    assert found["PAY"].n_unique() > 10


# What the driver reads of files between steps: counts, summaries, and some values and record ids.
READ = {"bucket", "bytes", "count", "doubled", "ends", "nameless", "owner", "some", "summary",
        "present", "missing", "infinite", "outside", "least", "greatest", "rule", "remedy",
        "sign"}  # fmt: skip


def new_cells(release, table):
    """Those of a release that are no values of the original, and no bounds."""
    found = {*values_of(rows(release), "PAY")} - {*values_of(table, "PAY")}
    return {one for one in found if BOUNDS["PAY"][0] < one < BOUNDS["PAY"][1]}


def test_no_plan_collects_rows_or_shows_a_value(spark):
    """Through files come counts and summaries; no cell is in a plan, no new one in a task."""
    table, request = people(200), asked("dp-um", attributes=["PAY"], epsilon=100)
    frame = framed(spark, table)
    with watching() as seen:
        release = mv.protect(frame, record_id="ID", **request)
    assert len(seen.plans) >= 6
    assert all(columns <= READ for columns, _ in seen.read)
    assert max(n_rows for _, n_rows in seen.read) <= 200 / 10  # runs and buckets
    new = new_cells(release, table)
    assert len(new) > 20
    assert seen.shown([*values_of(table, "ID", "PAY"), *new]) == set()
    assert seen.sent(new) == set()


def test_a_value_that_is_put_into_a_plan_is_seen(spark, monkeypatch):
    """In each form: the test that none is there would fail by what it says of values."""
    from pyspark.sql import functions as sql

    from microveil.engines.spark_table import SparkTable

    table, cells = people(30), SparkTable.cells
    some_ids, some_pay = table["ID"][:2].to_list(), table["PAY"].drop_nulls()[:2].to_list()
    literals = [some_ids[0], some_ids[1].encode(), some_pay[0], round(some_pay[1] * 100)]

    def with_literals(self, name):
        return cells(self, name).where(sql.concat(*map(sql.lit, literals)).isNotNull())

    monkeypatch.setattr(SparkTable, "cells", with_literals)
    frame = framed(spark, table)
    with watching() as seen:
        mv.protect(frame, record_id="ID", **asked("dp-um", attributes=["PAY"]))
    assert seen.shown(values_of(table, "ID", "PAY")) == {*some_ids, *some_pay}


def test_a_new_cell_that_goes_through_a_plan_or_a_task_is_seen(spark, monkeypatch):
    """As a literal that is joined, and among what a task is given: the test above would fail."""
    from pyspark.sql import functions as sql

    from microveil.engines import spark_order

    spread, frame = spark_order.sorting.spread, spark_order.SparkCells.frame
    given = []

    def with_literal(self, numbers, kind):
        given[:] = spark_order.restored(numbers, self.values, kind).to_pylist()
        return frame(self, numbers, kind).where(sql.lit(given[2]) >= 0)

    def with_cells(buckets, place):
        own, task = given[3:5], spread(buckets, place)

        def work(batches):
            assert own
            yield from task(batches)

        return work

    monkeypatch.setattr(spark_order.SparkCells, "frame", with_literal)
    monkeypatch.setattr(spark_order.sorting, "spread", with_cells)
    table, request = people(60), asked("dp-um", attributes=["PAY"], epsilon=1000)
    shuffled = framed(spark, table)
    with watching() as seen:
        release = mv.protect(shuffled, record_id="ID", **request)
    new = new_cells(release, table)
    assert seen.shown(new) == {given[2]}
    assert seen.sent(new) == {*given[3:5]}


@pytest.mark.usefixtures("spark")
def test_a_command_writes_parquet_and_takes_ties_by_the_place_in_the_file(tmp_path):
    """The release is that of the engine in memory; its folders are as those of any release."""
    table = people(40)
    (tmp_path / "people").mkdir()
    table[:25].write_parquet(tmp_path / "people" / "a.parquet", row_group_size=9)
    table[25:].write_parquet(tmp_path / "people" / "b, of 2.parquet")
    table.write_csv(tmp_path / "people.csv")
    asks = ["--method", "dp-um", "--k", 3, "--epsilon", 5, "--seed", 3, "--attributes", "AGE",
            "--keep", "ID,WED", "--bounds", "AGE=0:120", "--no-linkage"]  # fmt: skip
    in_spark = ["--engine", "spark", "--scratch", tmp_path]
    for more, name in (([], "here"), (in_spark, "there")):
        done = run("protect", "people", "-o", name, *asks, *more, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    assert "not measured: the records are in Spark" in done.stdout
    parts = sorted((tmp_path / "there" / "data.parquet").iterdir())
    there = mv.read(tmp_path / "there" / "data.parquet").frame.sort("ID")
    assert there.equals(pl.read_parquet(tmp_path / "here" / "data.parquet"))
    here, in_parts = (
        json.loads((tmp_path / f"{name}-custodian" / "manifest.json").read_text("utf-8"))
        for name in ("here", "there")
    )
    assert in_parts["input"] == here["input"]
    assert in_parts["guarantee"] == here["guarantee"]
    assert in_parts["output"] == {"name": "data.parquet", "sha256": digest_of_parts(parts)}
    (tmp_path / "others").mkdir()
    table[:25].write_parquet(tmp_path / "others" / "a.parquet")
    table[25:].drop("WED").write_parquet(tmp_path / "others" / "b.parquet")
    refused = [
        ("people", ["--format", "csv"], "reads and writes Parquet"),
        ("others", [], "must have the same columns"),
        ("people.csv", [], "reads a Parquet file, or a folder of them"),
    ]
    for name, more, rule in refused:
        done = run("protect", name, "-o", "no", *asks, *in_spark, *more, folder=tmp_path)
        assert (done.returncode, rule in done.stderr) == (2, True)
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("named", [None, "python3"])
def test_the_command_works_with_the_python_that_has_microveil(spark, monkeypatch, named):
    """On this machine, where no other is named: the first python3 of the path may be another."""
    from microveil.commands.spark import _session

    monkeypatch.setattr(spark.sparkContext, "pythonExec", "python3")
    monkeypatch.delenv("PYSPARK_PYTHON")
    if named is not None:
        monkeypatch.setenv("PYSPARK_PYTHON", named)
    assert _session() is spark
    assert spark.sparkContext.pythonExec == (sys.executable if named is None else named)
