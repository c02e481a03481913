"""Margins of subgroups: what of a deviation of a new table is noise."""

import json

import numpy as np
import polars as pl
import pytest

import microveil as mv
from microveil.commands.measuring import assess_files
from microveil.measures.opening import guarantee_beside, measurements_beside
from microveil.measures.subgroup_margins import (
    MOST_CELLS,
    TRIALS,
    margins_of_trials,
    subgroup_margins,
)
from microveil.measures.subgroups import compare_subgroups
from microveil.synthesis.measurements import Measurements

N = 2000
FEW = 4
RANDOM = np.random.Generator(np.random.PCG64(7))
REGION = RANDOM.choice(["E", "N", "S", "W"], N, p=[0.4, 0.3, 0.2, 0.1])
SEX = np.where(RANDOM.random(N) < np.where(REGION == "E", 0.7, 0.4), "f", "m")
JOB = np.where(RANDOM.random(N) < np.where(SEX == "f", 0.3, 0.6), "yes", "no")
PEOPLE = {"REGION": REGION, "SEX": SEX, "JOB": JOB}
CATEGORIES = {"REGION": ["E", "N", "S", "W"], "SEX": ["f", "m"], "JOB": ["yes", "no"]}
# Of regions and jobs the table has next to nothing but by the sexes: shrinking takes it off, so
# that margins of noise without what shrinking does would hold two thirds of the counts.
PAIRS = (("REGION", "JOB"), ("REGION", "SEX"), ("SEX", "JOB"))


def drawn(people=PEOPLE, **asked):
    asked = {"epsilon": 1, "categories": CATEGORIES, "attributes": list(people)} | asked
    return mv.protect(people, method="dp-synthetic", **asked)


def groups_of(release, by, people=PEOPLE):
    none = np.empty((N, 0))
    found = compare_subgroups(
        none,
        np.empty((len(release.data[by[0]]), 0)),
        by={name: (people[name], release.data[name]) for name in by},
    )
    return subgroup_margins(found, [], release.measurements, release.guarantee)


def deviations(runs, pairs, **budget):
    """Deviations of shares over their margins, of releases by seeds: where measured, all."""
    ratios = []
    for seed in runs:
        release = drawn(seed=seed, **budget)
        for by in pairs:
            found = groups_of(release, by)
            assert found.margins.is_measured.all()
            before, after = found.shares
            ratios.append((after - before) / found.margins.shares)
    return np.abs(np.concatenate(ratios))


def test_margins_hold_what_noise_does_to_measured_counts():
    """Of 8 counts in 2 releases nine in ten are within the margin; within half of it fewer."""
    assert TRIALS == 20
    ratios = deviations(range(2), PAIRS[:1])
    assert np.mean(ratios <= 1) >= 0.85
    # The test can fail: margins half as wide, or twice, would be noticed.
    assert np.mean(ratios <= 0.5) <= 0.8
    assert np.mean(ratios <= 2) == 1


@pytest.mark.slow
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"epsilon": 3}])
def test_margins_hold_as_often_as_they_say(budget):
    """At 95 %: over 15 releases and three tables in 90 to 98.5 %, in half of it in 80 % at most."""
    ratios = deviations(range(15), PAIRS, **budget)
    assert 0.90 <= np.mean(ratios <= 1) <= 0.985
    assert np.mean(ratios <= 0.5) <= 0.8


@pytest.mark.usefixtures("few_trials")
def test_margins_hang_on_measurements_and_on_the_groups_alone():
    """The same each time, and whatever the original's counts are: they are only held beside."""
    release = drawn(seed=1)
    one = groups_of(release, ("REGION", "SEX"))
    others = {name: column[::2].repeat(2) for name, column in PEOPLE.items()}
    again = groups_of(release, ("REGION", "SEX"), others)
    assert again.levels == one.levels
    assert again.counts.tolist() != one.counts.tolist()
    assert again.margins.shares.tolist() == one.margins.shares.tolist()
    written = mv.assess(PEOPLE, release, by=["REGION", "SEX"]).to_dict()["subgroups"]
    assert written == json.loads(json.dumps(written))
    assert written["margins"] == {"confidence": 0.95, "trials": FEW, "reason": None}
    for g, group in enumerate(written["groups"]):
        assert list(group) == ["group", "count", "share", "means", "margin"]
        assert group["margin"]["share"] == one.margins.shares[g] > 0
        assert group["margin"]["count"] == pytest.approx(N * group["margin"]["share"])
        assert group["margin"]["measured"] is True


def test_trials_without_a_subgroup_leave_its_mean_without_a_margin():
    """A mean that one trial in ten lacks has none; a single one of forty does no harm."""
    random = np.random.Generator(np.random.PCG64(1))
    means = random.normal(size=(40, 3, 1))
    means[:4, 1] = np.nan
    means[0, 2] = np.nan
    found = margins_of_trials(np.zeros((40, 3)), means, np.zeros(3, dtype=bool), 0.95)
    assert np.isnan(found.means[:, 0]).tolist() == [False, True, False]
    # Student's t: 2.02 standard deviations with forty, 2.02 with 39.
    assert found.means[0, 0] == pytest.approx(2.0211 * np.sqrt((means[:, 0] ** 2).mean()), rel=1e-4)
    assert found.shares.tolist() == [0, 0, 0]


def mixed():
    """People with a kind of every column, some without a value."""
    days = np.datetime64("2000-01-01") + RANDOM.integers(0, 20, N).astype("timedelta64[D]")
    table = pl.DataFrame(
        {
            "REGION": RANDOM.choice(["N", "S", "W", "rare"], N, p=[0.5, 0.3, 0.199, 0.001]),
            "WORKS": RANDOM.random(N) < 0.6,
            "DAY": days,
            "SIZE": RANDOM.choice(["small", "large"], N),
            "ROOMS": RANDOM.integers(1, 6, N),
            "INCOME": np.round(RANDOM.lognormal(7, 1, N), 2).clip(0, 1e5),
        }
    )
    gone = pl.Series(RANDOM.random(N) < 0.2)
    return table.with_columns(
        pl.when(gone).then(None).otherwise(pl.col(name)).alias(name) for name in ("WORKS", "ROOMS")
    )


@pytest.fixture
def few_trials(monkeypatch):
    """What a margin is of, and where there is none, hangs on no number of trials.

    Of two trials both may come out without any deviation; of four next to never.
    """
    monkeypatch.setattr("microveil.measures.subgroup_margins.TRIALS", FEW)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A release with its measurements beside it, the release itself and the table."""
    table = mixed()
    release = drawn(
        table,
        epsilon=20,
        missing="protect",
        attributes=table.columns,
        bounds={"DAY": ("2000-01-01", "2000-01-31"), "ROOMS": (1, 9), "INCOME": (0, 1e5)},
        resolution={"INCOME": 0.01},
        categories={
            "REGION": ["N", "S", "W", "rare"],
            "SIZE": mv.ordered("small", "large"),
        },
    )
    folder = tmp_path_factory.mktemp("margins")
    release.write(folder / "release", format="parquet", with_measurements=True)
    table.write_parquet(folder / "people.parquet")
    return table, release, folder


def test_measurements_are_read_as_they_were_written(written):
    """Of every kind of attribute: the guarantee beside them says what their domain is."""
    table, release, folder = written
    path = folder / "release" / "data.parquet"
    guarantee = guarantee_beside(path, table.columns)
    found = measurements_beside(path, guarantee)
    assert found.to_dict() == release.measurements.to_dict()
    for read, made in zip(found.attributes, release.measurements.attributes, strict=True):
        assert read.attribute == made.attribute
    # They hold what the release has, and no more.
    plain = json.loads((folder / "release" / "measurements.json").read_text())
    attributes = [measured.attribute for measured in found.attributes]
    assert Measurements.from_dict(plain, attributes).to_dict() == found.to_dict()


@pytest.mark.usefixtures("few_trials")
def test_files_have_the_margins_of_the_release(written):
    """Levels are found by name: yes/no, dates, numbers, missing; a mean has a margin beside it."""
    table, release, folder = written
    by = ["WORKS", "ROOMS"]
    names = ["DAY", "INCOME"]
    found = assess_files(
        folder / "people.parquet", folder / "release" / "data.parquet", names, text=None, by=by
    )
    held = mv.assess(table, release, names, by=by)
    assert found.to_dict()["subgroups"] == held.to_dict()["subgroups"]
    margins = held.subgroups.margins
    large = held.subgroups.counts[1] > 100
    assert large.sum() >= 5
    assert np.all(margins.shares[large] > 0)
    assert np.all(margins.means[large] > 0)
    # A margin is no wider than all that the value may be.
    assert np.all(margins.means[large] < [31, 1e5])
    assert "±" in held.to_text()


@pytest.mark.parametrize(
    ("by", "levels"),
    [
        (["REGION"], {("N",), ("S",), ("W",), ("rare",)}),
        (["DAY"], {(f"2000-01-{day:02}",) for day in range(1, 21)}),
        (["INCOME", "REGION"], set()),
    ],
)
@pytest.mark.usefixtures("few_trials")
def test_a_count_is_measured_where_it_is_a_cell_of_a_table(written, by, levels):
    """A histogram has every value by itself; a number with cuts has no value by itself."""
    table, release, _ = written
    table = table.with_columns(INCOME=pl.col("INCOME") * 0)
    release_data = release.data.with_columns(INCOME=pl.col("INCOME") * 0)
    found = mv.assess(
        table, release_data, ["DAY"], by=by, paired=False, measurements=release.measurements
    ).subgroups
    measured = {
        own for own, is_so in zip(found.levels, found.margins.is_measured, strict=True) if is_so
    }
    assert levels <= measured
    assert bool(measured) == bool(levels)


@pytest.mark.usefixtures("few_trials")
def test_values_that_share_a_bin_are_not_measured_by_themselves():
    """The table has their sum alone, and the text marks them."""
    people = {**PEOPLE, "REGION": np.where(np.arange(N) < 3, "V", REGION)}
    categories = {**CATEGORIES, "REGION": ["E", "N", "S", "U", "V", "W"]}
    release = drawn(people, epsilon=5, categories=categories, seed=2)
    found = groups_of(release, ("REGION", "SEX"), people)
    measured = dict(zip(found.levels, found.margins.is_measured.tolist(), strict=True))
    assert measured["E", "f"] is measured["N", "m"] is True
    assert not any(known for (region, _), known in measured.items() if region in "UV")
    text = mv.assess(people, release, by=["REGION", "SEX"]).to_text()
    marked = next(line for line in text.splitlines() if " V, " in line)
    assert marked.count("*") == 2
    assert "*" not in next(line for line in text.splitlines() if " E, f" in line)


@pytest.mark.usefixtures("few_trials")
def test_columns_that_no_table_has_together_are_marked():
    """Drawn independently of each other nothing of a pair is measured."""
    release = drawn(structure="independent", seed=1)
    assert not groups_of(release, ("REGION", "SEX")).margins.is_measured.any()
    assert groups_of(release, ("REGION",)).margins.is_measured.all()


def reasons(found):
    text = found.to_text()
    assert "±" not in text
    entry = found.to_dict()["subgroups"]
    assert {group["margin"] for group in entry["groups"]} == {None}
    assert entry["margins"]["confidence"] is None
    reason = entry["margins"]["reason"]
    assert " ".join(text.split()).count(f"No margin of noise: {reason}.") == 1
    return reason


def test_there_is_no_margin_without_measurements(written, tmp_path):
    """Null, and one sentence says why: other methods, other tables, measurements left out."""
    release = drawn(seed=1)
    alone = mv.assess(PEOPLE, release.data, by=["SEX"], guarantee=release.guarantee)
    assert "protect with --with-measurements" in reasons(alone)
    assert "no guarantee" in reasons(mv.assess(PEOPLE, PEOPLE, by=["SEX"]))
    ages = {"AGE": RANDOM.integers(18, 95, 200), "SEX": SEX[:200]}
    rows = mv.protect(ages, method="laplace", epsilon=1, attributes=["AGE"], keep=["SEX"],
                      bounds={"AGE": (0, 120)})  # fmt: skip
    assert "laplace" in reasons(mv.assess(ages, rows, by=["SEX"]))
    _, made, folder = written
    made.write(tmp_path / "release", format="parquet")
    found = assess_files(
        folder / "people.parquet", tmp_path / "release" / "data.parquet", ["DAY"], text=None,
        by=["REGION"],
    )  # fmt: skip
    assert "measurements do not lie beside it" in reasons(found)
    extended = {**release.data, "OWN": release.data["SEX"]}
    other = mv.assess(
        {**PEOPLE, "OWN": SEX}, extended, by=["OWN"], paired=False,
        measurements=release.measurements,
    )  # fmt: skip
    assert "not drawn with these columns" in reasons(other)


def test_a_table_too_large_to_be_drawn_so_often_has_none():
    """A margin that would take an hour is not begun."""
    release = drawn(seed=1, n_records=MOST_CELLS // 3 + 1)
    assert "3,000,000 cells" in groups_of(release, ("SEX",)).without_margins


def test_measurements_of_another_release_are_refused(written, tmp_path):
    """A margin that belongs to another release must not be shown for this one."""
    table, release, _ = written
    folder, _ = release.write(tmp_path / "release", format="parquet", with_measurements=True)
    path = folder / "measurements.json"
    contents = json.loads(path.read_text())
    guarantee = guarantee_beside(folder / "data.parquet", table.columns)
    broken = [
        {**contents, "epsilon": 2},
        {**contents, "n_records": N + 1},
        {name: part for name, part in contents.items() if name != "tables"},
        {**contents, "attributes": dict(list(contents["attributes"].items())[1:])},
    ]
    for other in broken:
        path.write_text(json.dumps(other))
        with pytest.raises(mv.FileError, match="must be the measurements"):
            measurements_beside(folder / "data.parquet", guarantee)
    path.write_text("no JSON")
    with pytest.raises(mv.FileError, match="must be the measurements"):
        measurements_beside(folder / "data.parquet", guarantee)
