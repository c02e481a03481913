"""Draws for records in Spark: by a key and the record's number, once, and shown nowhere."""

import json
import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.noise.noise import RandomSource

pytest.importorskip("pyspark", reason="make test-spark installs PySpark")

import pyarrow as pa

from spark_session import BOUNDS, SIZES, framed, people, rows
from spark_watched import have_tasks_fail_at_first, values_of, watching

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

NOISE = {"method": "laplace", "attributes": ["AGE", "PAY", "BORN"], "epsilon": 90,
         "bounds": {name: BOUNDS[name] for name in ("AGE", "PAY", "BORN")},
         "resolution": {"PAY": 0.01}, "missing": "keep", "keep": ["ID"]}  # fmt: skip
CATEGORIES = {"method": "pram", "attributes": ["GAP", "SIZE", "WED"], "epsilon": 4,
              "bounds": {"GAP": BOUNDS["GAP"]}, "categories": {"SIZE": list(SIZES)},
              "missing": "keep", "keep": ["ID"]}  # fmt: skip
HIDDEN = {**CATEGORIES, "missing": "protect"}
INVARIANT = {
    **CATEGORIES,
    "attributes": ["SIZE"],
    "epsilon": 1,
    "bounds": {},
    "matrix": {"SIZE": "invariant"},
}
REQUESTS = {"laplace": NOISE, "pram": CATEGORIES, "missing drawn": HIDDEN, "invariant": INVARIANT}


def figures(part):
    """The custodian's figures of an attribute, and what is expected and lost, as numbers."""
    return {
        **part.to_dict(),
        "loss": part.vector_loss,
        "squares": pytest.approx(part.total_squares),
        "about": pytest.approx(part.squares_about_published_mean),
        "error": pytest.approx(part.expected_error(isotonic=False)),
    }


@pytest.mark.parametrize("name", REQUESTS)
def test_guarantee_and_figures_are_those_of_memory_but_for_the_randomness(spark, name):
    """Cells are in the domain, on its grid and of their types, and missing where they are there."""
    table, request = people(120), REQUESTS[name]
    frame = framed(spark, table)
    there = mv.protect(frame, record_id="ID", **request)
    here, planned = mv.protect(table, **request), mv.plan(table, **request)
    assert there.guarantee == here.guarantee.drawn_by_key()
    assert there.guarantee.randomness == "keyed"
    assert there.notes == here.notes
    found, own = rows(there), rows(here)
    assert found.schema == own.schema
    assert found["ID"].to_list() == table["ID"].to_list()
    for attribute in request["attributes"]:
        if request["missing"] == "keep":
            assert found[attribute].is_null().equals(table[attribute].is_null())
        cells = found[attribute].drop_nulls()
        if attribute in request["bounds"] and attribute != "BORN":
            assert cells.is_between(*request["bounds"][attribute]).all()
            assert np.allclose(cells * 100, (cells * 100).round())
        assert cells.n_unique() > 1
        assert not found[attribute].equals(table[attribute])
        assert not found[attribute].equals(own[attribute])
    of_spark = mv.plan(frame, record_id="ID", **request)
    for part, other in zip(planned.attributes, of_spark.attributes, strict=True):
        assert other.n_cells == part.n_cells
        assert figures(other) == figures(part)


def test_draws_of_spark_follow_the_law(spark):
    """Noise of all records together has the spread of the scale, and each category its share."""
    n_records = 4000
    table = pl.DataFrame(
        {"ID": range(n_records), "AGE": [40] * n_records, "WED": [True] * n_records}
    )
    frame = framed(spark, table)
    request = {"attributes": ["AGE"], "bounds": {"AGE": (-1000, 1000)}, "epsilon": 100}
    noise = rows(mv.protect(frame, record_id="ID", keep=["ID"], method="laplace", **request))
    apart = (noise["AGE"] - 40).abs()
    assert abs(apart.mean() / 20 - 1) < 5 / n_records**0.5  # the mean of |noise| is its scale
    categories = {"method": "pram", "attributes": ["WED"], "epsilon": 1, "keep": ["ID"]}
    moved = 1 - rows(mv.protect(frame, record_id="ID", **categories))["WED"].mean()
    chance = 1 / (1 + np.e)
    assert abs(moved - chance) < 5 * (chance * (1 - chance) / n_records) ** 0.5


def test_each_release_has_a_key_of_its_own_and_a_seed_has_one(spark):
    """Another release draws anew; of a seed the same again, and it covers nothing."""
    table, request = people(60), {**NOISE, "attributes": ["PAY"], "bounds": {"PAY": (0, 100_000)}}
    frame = framed(spark, table)
    first, second = (rows(mv.protect(frame, record_id="ID", **request)) for _ in range(2))
    assert not first["PAY"].equals(second["PAY"])
    seeded = [mv.protect(frame, record_id="ID", seed=3, **request) for _ in range(2)]
    assert rows(seeded[0]).equals(rows(seeded[1]))
    assert seeded[0].guarantee == mv.protect(table, seed=3, **request).guarantee
    assert seeded[0].guarantee.randomness == "seeded"


def test_a_task_that_is_tried_again_draws_what_it_drew(spark, tmp_path, monkeypatch):
    """Every cell is released once, and both attempts gave the same."""
    log = str(tmp_path / "log")

    def note(batch, context):
        from microveil.engines.spark_cells import Cell
        from microveil.engines.spark_chunks import unpacked_cells

        if "places" in batch.schema.names:
            drawn = [
                [row["chunk"], context.attemptNumber(),
                 unpacked_cells(Cell(pa.py_buffer(row["cell"]))).to_pylist()]
                for row in batch.to_pylist()
            ]  # fmt: skip
            with Path(log).open("a", encoding="utf-8") as file:
                file.write("".join(f"{json.dumps(one)}\n" for one in drawn))

    have_tasks_fail_at_first(monkeypatch, note, after=1)
    table = people(60)
    request = {**NOISE, "attributes": ["PAY"], "bounds": {"PAY": BOUNDS["PAY"]}}
    release = mv.protect(framed(spark, table), record_id="ID", **request)
    found = rows(release)
    assert found["ID"].to_list() == table["ID"].to_list()
    assert found["PAY"].is_null().equals(table["PAY"].is_null())
    attempts = {}
    for line in Path(log).read_text(encoding="utf-8").splitlines():
        chunk, attempt, cells = json.loads(line)
        attempts.setdefault(chunk, {})[attempt] = cells
    twice = [drawn for drawn in attempts.values() if len(drawn) > 1]
    assert sum(len(drawn[0]) for drawn in twice) > 20
    assert all(drawn[0] == drawn[1] for drawn in twice)
    every = [cell for drawn in attempts.values() for cell in drawn[max(drawn)] if cell is not None]
    assert sorted(found["PAY"].drop_nulls().to_list()) == sorted(every)


def test_no_plan_no_task_and_no_file_that_is_left_has_the_key(spark, tmp_path, monkeypatch):
    """It is in a file of mode 0600 for as long as tasks need it; into this process come counts."""
    keys, key = [], RandomSource.key

    def noted_key(self):
        keys.append(key(self))
        return keys[-1]

    table = people(200)
    frame = framed(spark, table)
    monkeypatch.setattr(RandomSource, "key", noted_key)
    few = {**CATEGORIES, "attributes": ["WED"], "categories": {}, "bounds": {}}
    with watching() as seen:
        drawn, _ = (
            mv.protect(frame, record_id="ID", scratch=tmp_path, **request)
            for request in (NOISE, few)
        )
    assert len({*keys}) == len(keys) == 4
    assert [secret for *_, secret in seen.keys] == keys
    seen.assert_no_key_is_left(tmp_path)
    figures = [n_rows for columns, n_rows in seen.read if "figure" in columns]
    assert max(figures) <= 9  # three figures of three partitions
    assert max(n_rows for _, n_rows in seen.read) <= 9
    new = {*values_of(rows(drawn), "PAY")} - {*values_of(table, "PAY")}
    assert seen.shown([*values_of(table, "ID", "PAY"), *new]) == set()


def test_a_key_is_destroyed_when_a_request_fails(spark, tmp_path, monkeypatch):
    """Overwritten and removed, as after a release."""
    from microveil.engines.spark_keys import KeyFiles

    files, written = [], KeyFiles.written

    def noted(self, secret):
        files.append(written(self, secret))
        return files[-1]

    def fails(*_given, **_more):
        raise mv.DataError("here", "it fails", "on purpose")

    monkeypatch.setattr(KeyFiles, "written", noted)
    monkeypatch.setattr("microveil.engines.spark_records.DrawnCells.frame", fails)
    with pytest.raises(mv.DataError, match="on purpose"):
        mv.protect(framed(spark, people(12)), record_id="ID", scratch=tmp_path, **NOISE)
    assert len(files) == 3
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_keys_are_overwritten_before_their_files_are_removed(tmp_path, monkeypatch):
    """Of a disk's own copies nothing can be said; of the file's bytes none is left."""
    from microveil.engines.spark_keys import KeyFiles

    keys = KeyFiles(tmp_path)
    paths = [keys.written(bytes([7]) * 32), keys.written(bytes([8]) * 32)]
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o600}
    last = []
    monkeypatch.setattr(Path, "unlink", lambda path: last.append(path.read_bytes()))
    keys.destroy()
    assert last == [bytes(32)] * 2
    keys.destroy()
    assert len(last) == 2
    with pytest.raises(mv.MicroveilError, match="cannot be written"):
        KeyFiles(tmp_path / "nowhere").written(bytes(32))


@pytest.mark.usefixtures("spark")
def test_a_release_of_spark_is_audited_by_its_folder(tmp_path):
    """In this process, of what its manifest says was asked."""
    people(40).write_parquet(tmp_path / "people.parquet")
    asks = ["--method", "laplace", "--epsilon", 5, "--attributes", "AGE", "--bounds", "AGE=0:120",
            "--keep", "ID", "--engine", "spark", "--scratch", tmp_path]  # fmt: skip
    done = run("protect", "people.parquet", "-o", "there", *asks, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "(a computational claim)" in done.stdout
    written = json.loads((tmp_path / "there" / "guarantee.json").read_text("utf-8"))
    assert written["randomness"] == "keyed"
    assert "computational" in (tmp_path / "there" / "guarantee.md").read_text("utf-8")
    audited = run("audit", "people.parquet", "there", folder=tmp_path)
    assert audited.returncode == 0, audited.stderr
    assert "true loss" in audited.stdout
