"""Frames of Spark: what is released, promised and said is as of memory, and each draw is one."""

import gc
import json
import os
import socket
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.errors import DataError, EngineError
from microveil.files.parquet_format import digest_of_parts
from spark_session import (
    BOUNDS,
    SIZES,
    cells,
    framed,
    people,
    rows,
    settings,
    take_parts_of,
    take_small_steps,
)
from spark_watched import have_tasks_killed_at_first, watching

pytest.importorskip("pyspark", reason="make test-spark installs PySpark")

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Tables of a few records take several parts, and clusters lie across them."""
    take_small_steps(monkeypatch)


def asked(method, **more):
    names = more.get("attributes", ["AGE", "PAY"])
    return {"method": method, "k": 3, "epsilon": 5, "seed": 3, "attributes": names,
            "bounds": {name: BOUNDS[name] for name in names if name in BOUNDS},
            "resolution": {"PAY": 0.01} if "PAY" in names else {},
            "missing": "keep", "exact_cells": "allow", "keep": ["ID"], **more}  # fmt: skip


NOISE = {"method": "laplace", "attributes": ["AGE", "PAY", "BORN"], "epsilon": 90,
         "bounds": {name: BOUNDS[name] for name in ("AGE", "PAY", "BORN")},
         "resolution": {"PAY": 0.01}, "missing": "keep", "keep": ["ID"]}  # fmt: skip
CATEGORIES = {"method": "pram", "attributes": ["GAP", "SIZE", "WED"], "epsilon": 4,
              "bounds": {"GAP": BOUNDS["GAP"]}, "categories": {"SIZE": list(SIZES)},
              "missing": "keep", "keep": ["ID"]}  # fmt: skip
OF_RECORDS = {
    "laplace": NOISE,
    "pram, one matrix invariant": {**CATEGORIES, "matrix": {"SIZE": "invariant"}},
    "missing drawn": {**CATEGORIES, "missing": "protect"},
}
ORDERED = asked("dp-um", attributes=["GAP", "SIZE", "BORN", "WED"], keep=["ID", "AGE"],
                categories={"SIZE": mv.ordered(*SIZES)})  # fmt: skip


def said(release):
    """A manifest without the moment and the machine; sums of floats to their last digits."""
    contents = {**release.manifest.to_dict()}
    del contents["created"]
    parameters = {**contents["parameters"]}
    for name in ("engine", "scratch", "record_id"):
        parameters.pop(name, None)
    return {**contents, "parameters": parameters}


def about(contents):
    """The same, where numbers may differ by how they were added up."""
    if isinstance(contents, dict):
        return {name: about(own) for name, own in contents.items()}
    if isinstance(contents, list | tuple):
        return [about(own) for own in contents]
    return pytest.approx(contents, rel=1e-9) if isinstance(contents, float) else contents


def said_alike(one, other):
    assert other.guarantee == one.guarantee
    assert other.notes == one.notes
    assert other.schema == one.schema
    assert said(other) == about(said(one))


# What the driver reads of files between steps: what batches tell, samples, counts and summaries.
READ = {"told", "units", "number", "range", "count", "rank", "size", "sum", "squares",
        "figure", "sum(total)", "sign",
        *(f"{end}{nth}" for end in ("smallest", "largest") for nth in range(3))}  # fmt: skip


def watched(spark, table, request):
    """A release for which no rows were collected, no cell is in a plan, and no file shows ranks.

    Records of a file stand in the order of their ids: that of values would show their ranks.
    """
    with watching() as (plans, read):
        release = mv.protect(framed(spark, table), record_id="ID", **request)
    assert len(plans) >= 4
    assert all(columns <= READ for columns, _ in read)
    text = "".join(plans)
    values = [*table["ID"], *map(str, table["PAY"].drop_nulls())]
    assert not [value for value in values if len(value) > 5 and value in text]
    files = [pl.read_parquet(path.removeprefix("file:")) for path in release.data.inputFiles()]
    assert len(files) > 3
    assert all(file["ID"].is_sorted() for file in files)
    ranks = table.select("ID", rank=pl.col("AGE").rank("ordinal"))
    means = [file.join(ranks, on="ID")["rank"].mean() for file in files if file.height > 9]
    assert max(means) - min(means) < table.height / 2
    return release


# dp-um and idp-vector have tests of their own below.
@pytest.mark.parametrize("method", ["idp-ls", "idp-cbls", "ranking"])
def test_ranked_methods_release_what_they_do_in_memory(spark, method):
    """Under one seed to the last cell, with ties, missing values and ids of text, in any order."""
    table, request = people(100), asked(method)
    if method == "ranking":
        del request["epsilon"]
    there, here = watched(spark, table, request), mv.protect(table, **request)
    assert rows(there).equals(rows(here))
    assert rows(there).schema == rows(here).schema
    said_alike(here, there)


def test_dates_yes_and_no_and_text_in_an_order_are_released_alike(spark):
    """In their own types, and with a column that is kept beside them."""
    table = people(60)
    there = mv.protect(framed(spark, table), record_id="ID", **ORDERED)
    here = mv.protect(table, **ORDERED)
    assert rows(there).equals(rows(here))
    said_alike(here, there)


def test_ten_thousand_records_are_released_alike(spark, monkeypatch):
    """In parts of many batches, plans made anew midway, numbers for ids, values near each other."""
    take_parts_of(monkeypatch, 2000)
    batches = {"spark.sql.execution.arrow.maxRecordsPerBatch": "700",
               "spark.sql.adaptive.enabled": "true"}  # fmt: skip
    table = people(10_000).with_columns(pl.arange(5, 10_005).alias("ID"))
    request = asked("idp-vector", k=9)
    with settings(spark, batches):
        there = mv.protect(framed(spark, table), record_id="ID", **request)
    here = mv.protect(table, **request)
    assert rows(there).equals(rows(here))
    said_alike(here, there)


@pytest.mark.parametrize("name", OF_RECORDS)
def test_draws_for_records_are_promised_and_told_as_in_memory(spark, name):
    """Cells are in the domain, on its grid and of their types, and missing where they are there."""
    table, request = people(120), OF_RECORDS[name]
    there, here = watched(spark, table, request), mv.protect(table, **request)
    said_alike(here, there)
    assert there.guarantee.randomness == "os"
    found, own = rows(there), rows(here)
    assert found.schema == own.schema
    assert found["ID"].to_list() == table["ID"].to_list()
    for attribute in request["attributes"]:
        if request["missing"] == "keep":
            assert found[attribute].is_null().equals(table[attribute].is_null())
        drawn = found[attribute].drop_nulls()
        if attribute in request["bounds"] and attribute != "BORN":
            assert drawn.is_between(*request["bounds"][attribute]).all()
            assert np.allclose(drawn * 100, (drawn * 100).round())
        assert drawn.n_unique() > 1
        assert not found[attribute].equals(table[attribute])
        assert not found[attribute].equals(own[attribute])


def test_draws_of_spark_follow_the_law(spark, monkeypatch):
    """Noise of all records together has the spread of the scale, and each category its share."""
    take_parts_of(monkeypatch, 1000)
    n_records = 4000
    table = pl.DataFrame(
        {"ID": range(n_records), "AGE": [40] * n_records, "WED": [True] * n_records}
    )
    frame = framed(spark, table)
    request = {"attributes": ["AGE"], "bounds": {"AGE": (-1000, 1000)}, "epsilon": 100}
    noise = rows(mv.protect(frame, record_id="ID", keep=["ID"], method="laplace", **request))
    apart = (noise["AGE"] - 40).abs()
    assert abs(apart.mean() / 20 - 1) < 5 / n_records**0.5  # the mean of |noise| is its scale
    assert len({tuple(part) for part in noise["AGE"].to_numpy().reshape(-1, 20)}) == 200
    categories = {"method": "pram", "attributes": ["WED"], "epsilon": 1, "keep": ["ID"]}
    moved = 1 - rows(mv.protect(frame, record_id="ID", **categories))["WED"].mean()
    chance = 1 / (1 + np.e)
    assert abs(moved - chance) < 5 * (chance * (1 - chance) / n_records) ** 0.5


def test_each_release_draws_anew_and_a_seed_draws_alike(spark):
    """Of a seed the same again, in whatever order records come; it covers nothing."""
    table, request = people(60), {**NOISE, "attributes": ["PAY"], "bounds": {"PAY": (0, 100_000)}}
    first, second = (
        rows(mv.protect(framed(spark, table), record_id="ID", **request)) for _ in range(2)
    )
    assert not first["PAY"].equals(second["PAY"])
    frames = (framed(spark, table, parts) for parts in (1, 3))
    seeded = [mv.protect(frame, record_id="ID", seed=3, **request) for frame in frames]
    assert rows(seeded[0]).equals(rows(seeded[1]))
    assert seeded[0].guarantee == mv.protect(table, seed=3, **request).guarantee
    assert seeded[0].guarantee.randomness == "seeded"


def test_a_task_that_is_killed_after_it_gave_all_shows_one_draw_of_each_record(
    spark, monkeypatch, tmp_path
):
    """What it wrote at its first attempt is not there, and was drawn anew."""
    log = str(tmp_path / "drawn")

    def note(batch, context):
        if "cell1" in batch.schema.names:
            with Path(log).open("a", encoding="utf-8") as file:
                both = zip(*(batch[name].to_pylist() for name in ("cell0", "cell1")), strict=True)
                file.writelines(f"{context.attemptNumber()} {key} {cell}\n" for key, cell in both)

    table = people(60).with_columns(pl.col("AGE").cast(pl.Int64))
    request = {**NOISE, "attributes": ["AGE"], "bounds": {"AGE": (-(10**9), 10**9)}}
    have_tasks_killed_at_first(monkeypatch, note)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    release = mv.protect(framed(spark, table), record_id="ID", scratch=scratch, **request)
    monkeypatch.undo()
    shown = dict(rows(release).select("ID", pl.col("AGE").cast(pl.String)).iter_rows())
    drawn = [line.split() for line in Path(log).read_text("utf-8").splitlines()]
    first, second = ({key: cell for at, key, cell in drawn if at == own} for own in ("0", "1"))
    assert first.keys() == second.keys() == {*table["ID"]}
    assert shown == second
    assert not {*first.items()} & {*shown.items()}
    assert not any("_temporary" in path.parts for path in scratch.rglob("*"))


SPECULATING = """
    import time
    import polars as pl
    from pyspark.sql import SparkSession
    from pyspark.sql.classic.dataframe import DataFrame
    import microveil as mv

    mapped = DataFrame.mapInArrow

    def slow_at_first(task):
        def work(batches):
            from pyspark import TaskContext
            context = TaskContext.get()
            for batch in task(batches):
                with open("LOG", "a") as file:
                    file.write(f"{context.stageId()} {context.attemptNumber()}\\n")
                yield batch
            if context.partitionId() == 0 and context.attemptNumber() == 0:
                time.sleep(20)
        return work

    DataFrame.mapInArrow = lambda self, task, schema: mapped(self, slow_at_first(task), schema)
    settings = {"spark.speculation": "true", "spark.speculation.multiplier": "1.1",
                "spark.speculation.quantile": "0.1", "spark.speculation.interval": "100ms",
                "spark.executor.memory": "600m", "spark.ui.enabled": "false",
                "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "3"}
    builder = SparkSession.builder.master("MASTER")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    from microveil.protect.spark import table
    table.IN_PART = 25
    ids = pl.DataFrame({"ID": range(100), "AGE": [40] * 100})
    frame = spark.createDataFrame(ids.to_arrow()).repartition(4)
    release = mv.protect(frame, record_id="ID", keep=["ID"], method="laplace", epsilon=100,
                         attributes=["AGE"], bounds={"AGE": (-10**9, 10**9)}, scratch=".")
    found = release.data.toPandas()
    assert sorted(found["ID"]) == list(range(100)), "ids error"
    assert found["AGE"].nunique() > 95, "draws error"
    spark.stop()
"""


@contextmanager
def two_hosts(folder):
    """Spark's own cluster: a second attempt of a slow task begins on another host alone."""
    import pyspark

    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    worker = ["worker.Worker", "--cores", "1", "--memory", "700M", "--work-dir", folder / "work"]
    commands = [["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]]
    commands += [[*worker, "--host", host, "--webui-port", "0", master]
                 for host in ("127.0.0.2", "127.0.0.3")]  # fmt: skip
    running = []
    with (folder / "cluster.log").open("w") as log:
        for name, *more in commands:
            command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *more]
            environment = {**os.environ, "SPARK_HOME": home, "PYSPARK_PYTHON": sys.executable}
            running.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment))
        try:
            yield master
        finally:
            for one in reversed(running):
                one.terminate()
                one.wait(30)


def test_with_speculation_on_each_record_has_one_draw(tmp_path):
    """Two attempts of one task run at a time, on two hosts, and both give all they have."""
    script, log = tmp_path / "speculate.py", str(tmp_path / "log")
    with two_hosts(tmp_path) as master:
        told = textwrap.dedent(SPECULATING).replace("LOG", log).replace("MASTER", master)
        script.write_text(told)
        done = subprocess.run(
            [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        )  # fmt: skip
    assert done.returncode == 0, [line for line in done.stderr.splitlines() if "rror" in line]
    attempts = {line.split()[1] for line in (tmp_path / "log").read_text("utf-8").splitlines()}
    assert "1" in attempts


EVERY = {"method": "dp-synthetic", "attributes": ["AGE", "PAY", "GAP", "SIZE", "BORN", "WED"],
         "bounds": {name: BOUNDS[name] for name in ("AGE", "PAY", "GAP", "BORN")},
         "resolution": {"PAY": 0.01}, "categories": {"SIZE": list(SIZES)}, "epsilon": 200,
         "missing": "protect"}  # fmt: skip
FEW = {"method": "dp-synthetic", "attributes": ["AGE", "SIZE", "WED"],
       "bounds": {"AGE": BOUNDS["AGE"]}, "categories": {"SIZE": list(SIZES)},
       "epsilon": 50}  # fmt: skip
NEW = {
    "every kind, missing protected": EVERY,
    "a threshold and a delta": {**FEW, "target": {"AGE": 40}, "delta": 1e-9, "n_records": 50},
    "a target of categories, more records": {**FEW, "target": "SIZE", "n_records": 150_000},
}


@pytest.mark.parametrize("name", NEW)
def test_a_new_table_is_promised_and_measured_as_in_memory(spark, name):
    """In domains and grids, of the types of the original, each block and record once."""
    table, request = people(300), NEW[name]
    there = mv.protect(framed(spark, table), record_id="ID", **request)
    here = mv.protect(table, **request)
    said_alike(here, there)
    assert there.guarantee.randomness == "os"
    drawn, own = cells(there), cells(here)
    assert drawn.schema == own.schema
    assert drawn.height == request.get("n_records", 300)
    assert drawn["AGE"].drop_nulls().is_between(*BOUNDS["AGE"]).all()
    assert {*drawn["SIZE"].drop_nulls()} <= {*SIZES}
    measured = (one.measurements.to_dict()["attributes"] for one in (there, here))
    # Cuts, or cells where too few records are left for these: each draw's own noise decides.
    of_the_rest = {"depth", "cuts", "cells"}
    for one, other in zip(*map(dict.values, measured), strict=True):
        assert one.keys() - of_the_rest == other.keys() - of_the_rest


def test_what_is_not_declared_is_learnt_as_in_memory(spark):
    """Under one seed the same words, values and decimals, whatever Spark does; the rest is new.

    Words that one person has come out nowhere, nor does a column of nothing else.
    """
    table = people(3000).with_columns(NOTE=pl.concat_str(pl.lit("note "), "ID"))
    table = table.with_columns(SIZE=pl.Series(["Xanadu", None, "", *table["SIZE"][3:]]))
    budget = {"epsilon": 30, "delta": 1e-9, "rules": ["AGE < 40 implies SIZE != 'S'"], "seed": 5}
    there = mv.protect(framed(spark, table, 3), record_id="ID", **budget)
    here = mv.protect(table, **budget)
    assert there.guarantee == here.guarantee
    assert "as no value has enough records to be shown: NOTE" in "".join(there.notes)
    drawn, own = cells(there), cells(here)
    assert drawn.schema == own.schema
    assert drawn.columns == ["AGE", "PAY", "GAP", "SIZE", "BORN", "WED"]
    assert not drawn.filter((pl.col("AGE") < 40) & (pl.col("SIZE") == "S")).height
    assert {*drawn["SIZE"]} <= {*SIZES, "other", None}
    for one, other in zip(there.measurements.attributes, here.measurements.attributes, strict=True):
        assert one.attribute.resolution == other.attribute.resolution
        assert one.attribute.categories == other.attribute.categories
        if one.candidates is None:
            assert one.to_dict() == other.to_dict()
        elif one.atoms is not None:
            assert one.atoms.tolist() == other.atoms.tolist()
            assert one.counts.steps.tolist() == other.counts.steps.tolist()
    for name in ("AGE", "PAY", "GAP"):
        known = table[name].drop_nulls()
        assert abs(drawn[name].drop_nulls().mean() / known.mean() - 1) < 0.1
    few = framed(spark, table.with_columns(GAP=pl.Series([1, *[None] * 2999], dtype=pl.Int64)))
    with pytest.raises(DataError, match="so few records have a value"):
        mv.protect(few, record_id="ID", **budget)


def test_histograms_and_pairs_see_one_jitter_that_was_written_once(spark, monkeypatch, tmp_path):
    """And count by it what memory counts, also where every task is carried out twice."""
    from microveil.protect.spark import counts, protecting
    from microveil.synthesis.cuts import Candidates
    from microveil.synthesis.measuring import Counter
    from microveil.table import GridColumn

    have_tasks_killed_at_first(monkeypatch)
    frame = framed(spark, people(50))
    asks = {**FEW, "attributes": ["AGE", "WED"], "categories": {}, "record_id": "ID"}
    with protecting._opened(frame, {**asks, "scratch": tmp_path}) as (_, table, scratch):
        counter = counts.counter(table, ["AGE"], None, scratch)
        candidates = Candidates(lower=0, upper=120, count=counter.n_candidates)
        held = pl.from_arrow(counter.frame.toArrow())
        words = held["jitter_units0"].to_numpy().view(np.uint64)
        assert len({*words.tolist()}) == 50
        codes = np.sort(candidates.codes(held["units0"].to_numpy(), words))
        for _ in range(2):
            histogram = counter.coded(0, candidates)
            assert histogram.ranked(0, 50).tolist() == codes.tolist()
        grids = [
            GridColumn(attribute=column.attribute, values=held[column.units].to_numpy(),
                       missing=None)
            for column in counter.columns
        ]  # fmt: skip
        assert counter.histogram(1).tolist() == Counter(grids).histogram(1).tolist()


def test_distributions_are_near_the_originals(spark, monkeypatch):
    """As in memory: with a wide budget by a few hundredths, in cuts, counts and pairs."""
    take_parts_of(monkeypatch, 1000)
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
    numbers = [one.select("AGE", "PAY", "WED").cast(pl.Float64) for one in (table, drawn)]
    apart = np.subtract(*(np.corrcoef(one.to_numpy().T) for one in numbers))
    assert np.abs(apart).max() < 0.1


def test_released_records_keep_rules(spark):
    """In every block, with a column that is computed in tasks; how many were changed is said."""
    table = people(400).with_columns(YEARS=pl.col("AGE") + 3)
    rules = ["AGE < 40 implies SIZE != small", "YEARS == AGE + 3", "AGE >= 20"]
    request = {**FEW, "attributes": ["AGE", "SIZE", "YEARS"], "n_records": 70_000,
               "bounds": {"AGE": BOUNDS["AGE"], "YEARS": (0, 200)}}  # fmt: skip
    rules[0] = rules[0].replace("small", SIZES[0])
    release = mv.protect(framed(spark, table), record_id="ID", rules=rules, **request)
    drawn = cells(release)
    assert drawn.height == 70_000
    assert (drawn["YEARS"] == drawn["AGE"] + 3).all()
    assert drawn["AGE"].min() >= 20
    assert not ((drawn["AGE"] < 40) & (drawn["SIZE"] == SIZES[0])).any()
    (note,) = (one for one in release.notes if one.startswith("Every record keeps the rules"))
    assert "of 70,000 drawn records" in note


def test_a_session_with_another_committer_is_refused(spark, tmp_path):
    """Before anything is written, with what to set."""
    name = "mapreduce.fileoutputcommitter.algorithm.version"
    says = pytest.raises(EngineError, match=f"{name} may let .* set it to 1, its default")
    with settings(spark, {name: "2"}), says:
        mv.protect(framed(spark, people(12)), record_id="ID", scratch=tmp_path, **NOISE)
    assert [*tmp_path.iterdir()] == []


def test_a_frame_whose_order_changes_from_look_to_look_is_released_once(spark, monkeypatch):
    """What is counted on is written out before, and of every task the first attempt is lost."""
    from pyspark.sql import functions

    table, request = people(60), asked("dp-um", attributes=["PAY"])
    restless = framed(spark, table).orderBy(functions.rand())
    have_tasks_killed_at_first(monkeypatch)
    there = mv.protect(restless, record_id="ID", **request)
    assert rows(there).equals(rows(mv.protect(table, **request)))


def test_values_that_break_a_rule_are_counted_and_never_shown(spark):
    """Outside bounds, missing, infinite and too large; clamped or kept where so asked."""
    table = people(30)
    request = asked("dp-um", attributes=["AGE"], bounds={"AGE": (0, 33)})
    n_outside = int((table["AGE"] > 33).sum())
    with pytest.raises(DataError, match=rf"'AGE', {n_outside} records: values lie outside") as e:
        mv.protect(framed(spark, table), record_id="ID", **request)
    assert not any(str(value) in str(e.value) for value in table["AGE"] if value > 33)
    clamped = {**request, "outside": "clamp"}
    there = mv.protect(framed(spark, table), record_id="ID", **clamped)
    assert rows(there).equals(rows(mv.protect(table, **clamped)))
    odd = table.with_columns(PAY=pl.Series([float("inf"), float("nan"), *[1.0] * 28]))
    request = asked("dp-um", attributes=["PAY"], missing="error")
    with pytest.raises(DataError, match="'PAY', 1 record: a value is missing"):
        mv.protect(framed(spark, odd), record_id="ID", **request)
    huge = table.with_columns(PAY=pl.Series([1e300, *[7.5] * 29]))
    with pytest.raises(DataError, match="values would not fit 64 bits at this resolution"):
        mv.protect(framed(spark, huge), record_id="ID", **request)


REFUSED = [
    ({"shuffle": True, "keep": ()}, "secret order"),
    ({"isotonic": True}, "does not measure the linkage"),
    ({"missing_codes": {"AGE": [40]}}, "takes no codes"),
    ({"method": "laplace", "unit": "SIZE", "max_rows": 30}, "does not protect units"),
    ({"parts": [{"method": "dp-um", "attributes": ["AGE"]}]}, "releases of one part"),
    ({"k": "auto"}, "weighs no requests"),
    ({"method": "auto", "scope": "vector"}, "weighs no requests"),
    ({"method": "idp-cbls", "exact_cells": "widen"}, "does not merge clusters"),
    ({"method": "optimal"}, "ranked methods, laplace, pram and dp-synthetic alone"),
    ({"method": "idp-vector", "partition": "noise-aware"}, "ranked methods, laplace, pram"),
    ({"method": "record-dp", "partition": "ranking"}, "is dp-um"),
    ({"method": "mdav"}, "ranked methods, laplace, pram and dp-synthetic alone"),
    ({"method": "k-noise"}, "ranked methods, laplace, pram and dp-synthetic alone"),
    ({"attributes": None}, "columns are not looked through"),
    ({"record_id": None}, "rows of a Spark frame are in no order"),
]


def test_what_is_not_there_is_refused_with_what_would_do(spark):
    """Before anything is written."""
    frame = framed(spark, people(12))
    for more, rule in REFUSED:
        request = {**asked("dp-um", attributes=["AGE"]), "record_id": "ID", **more}
        with pytest.raises(EngineError, match=rule):
            mv.protect(frame, **request)


def test_a_record_id_must_be_there_and_nobody_elses(spark):
    """It decides between records of equal values."""
    frame, request = framed(spark, people(80)), asked("dp-um", attributes=["AGE"])
    n_others = 80 - people(80)["AGE"].n_unique()
    with pytest.raises(DataError, match=rf"'AGE', {n_others} records: a record id must"):
        mv.protect(frame, record_id="AGE", **request)
    with pytest.raises(DataError, match=r"'GAP', [0-9]+ records: a record id must"):
        mv.protect(frame, record_id="GAP", **request)
    with pytest.raises(mv.RequestError, match="no such column"):
        mv.protect(frame, record_id="NUMBER", **request)
    with pytest.raises(mv.RequestError, match="whole numbers, text or dates"):
        mv.protect(frame, record_id="PAY", **request)
    with pytest.raises(mv.MicroveilError, match="name"):
        mv.protect(frame.selectExpr("*", "ID id"), record_id="ID", **request)


def test_too_many_clusters_for_the_driver_are_refused_with_the_figures(spark, monkeypatch):
    """And with the k that would do."""
    from microveil.protect.spark import clusters

    monkeypatch.setattr(clusters, "MOST_CLUSTERS", 3)
    with pytest.raises(EngineError, match=r"at most 3 clusters .* these are 4.* k of 4 or more"):
        mv.protect(framed(spark, people(12)), record_id="ID", **asked("dp-um", attributes=["AGE"]))


def test_nothing_but_the_release_is_left_in_the_scratch_folder(spark, tmp_path):
    """Of mode 0700 while it works; after an error, or of a plan, nothing at all."""
    frame, request = framed(spark, people(12)), asked("dp-um", attributes=["AGE"])
    release = mv.protect(frame, record_id="ID", scratch=tmp_path, **request)
    (left,) = tmp_path.iterdir()
    assert left.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in left.iterdir()} == {"data"}
    assert release.data.columns == ["ID", "AGE"]
    planned = mv.plan(frame, record_id="ID", scratch=tmp_path, **request)
    assert planned.guarantee == release.guarantee
    with pytest.raises(DataError, match="outside the declared bounds"):
        mv.protect(
            frame, record_id="ID", scratch=tmp_path, **{**request, "bounds": {"AGE": (0, 1)}}
        )
    gc.collect()
    assert [*tmp_path.iterdir()] == [left]


@pytest.mark.parametrize("method", ["dp-um", "laplace"])
def test_kept_columns_of_every_type_are_what_they_were(spark, method):
    """Moments with and without a zone, days of long ago and exact decimals, to the last digit.

    What a frame says of a column, a comment or a code list, is not released: it may name what the
    column holds. Text that a spreadsheet would run is named by its column alone.
    """
    frame = framed(spark, people(12)).selectExpr(
        "ID", "AGE", "cast(AGE / 7 as decimal(9, 3)) SHORT", "cast(AGE / 7 as decimal(30, 9)) LONG",
        "date'1200-02-29' + AGE DAY",
        "timestamp'1890-03-04 05:06:07.123456' + AGE * interval 1 hour ZONE",
        "timestamp_ntz'1500-03-04 05:06:07.123456' NONE", "cast(AGE as tinyint) TINY",
        "cast(AGE / 7 as float) SINGLE", "if(AGE > 40, concat('=', SIZE), null) SOME",
    )  # fmt: skip
    comment = {"comment": "p000007"}
    frame = frame.withColumns(
        {name: frame[name].alias(name, metadata=comment) for name in ("ID", "AGE")}
    )
    kept = [name for name in frame.columns if name != "AGE"]
    request = asked(method, attributes=["AGE"], keep=kept)
    release = mv.protect(frame, record_id="ID", **request)
    assert release.data.dtypes == frame.dtypes
    assert release.data.select(*kept).orderBy("ID").collect() == (
        frame.select(*kept).orderBy("ID").collect()
    )
    assert not any(field.metadata for field in release.data.schema)
    for address in release.data.inputFiles():
        assert b"comment" not in Path(address.removeprefix("file:")).read_bytes()
    assert any("does in: SOME" in note for note in release.notes)
    with pytest.raises(DataError, match="cannot be kept"):
        mv.protect(
            frame.selectExpr("*", "array(AGE) MANY"), record_id="ID", **{**request, "keep": "MANY"}
        )


def test_a_release_that_lost_records_is_an_error(spark, monkeypatch):
    """By what its files say: nothing is released."""
    monkeypatch.setattr("pyarrow.parquet.read_metadata", lambda _path: SimpleNamespace(num_rows=0))
    with pytest.raises(EngineError, match="lost or counted twice"):
        mv.protect(framed(spark, people(60)), record_id="ID", **asked("dp-um"))


@pytest.mark.usefixtures("spark")
def test_a_command_writes_parquet_and_takes_ties_by_the_place_in_the_file(tmp_path):
    """The release is that of memory; its folders are as those of any release, and it is audited."""
    table = people(40)
    (tmp_path / "people").mkdir()
    table[:25].write_parquet(tmp_path / "people" / "a.parquet", row_group_size=9)
    table[25:].write_parquet(tmp_path / "people" / "b, of 2.parquet")
    table.write_csv(tmp_path / "people.csv")
    asks = ["--method", "dp-um", "--k", 3, "--epsilon", 5, "--seed", 3, "--attributes", "AGE",
            "--keep", "ID,WED", "--bounds", "AGE=0:120", "--no-linkage"]  # fmt: skip
    in_spark = ["--spark", "--scratch", tmp_path]
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
    refused = [
        ("people", ["--format", "csv"], "reads and writes Parquet"),
        ("people.csv", [], "reads a Parquet file, or a folder of them"),
    ]
    for name, more, rule in refused:
        done = run("protect", name, "-o", "no", *asks, *in_spark, *more, folder=tmp_path)
        assert (done.returncode, rule in done.stderr) == (2, True)
    assert not (tmp_path / "no").exists()
    table.write_parquet(tmp_path / "one.parquet")
    learning = ["--epsilon", 900, "--delta", 1e-9, "-o", "new", *in_spark]
    done = run("protect", "one.parquet", *learning, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {*mv.read(tmp_path / "new" / "data.parquet").frame.columns} >= {"AGE", "GAP"}
    asks = [*asks[6:], "--method", "laplace", "--epsilon", 5]
    done = run("protect", "one.parquet", "-o", "noisy", *asks, *in_spark, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    audited = run("audit", "one.parquet", "noisy", folder=tmp_path)
    assert audited.returncode == 0, audited.stderr
