"""The findings name what a release lost: tails, spikes and relations, and not distances alone."""

import datetime
import io
import json
import os
import re
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import command
import microveil as mv
from command import run
from reference import relations as oracle

IS_REPORTED = True  # the custodian's page is read here

HEAD = "For the custodian, not for logs:"
N = 600


def related(n=N, seed=0):
    """Numbers with a tail, a spike and gaps, categories of two and of many levels, all related."""
    random = np.random.default_rng(seed)
    latent = random.normal(size=n)
    gain = np.where(random.random(n) < 0.6, 0, np.exp(8 + 2 * random.normal(size=n))).round()
    age = (45 + 12 * latent + 5 * random.normal(size=n)).round()
    table = pl.DataFrame(
        {
            "AGE": age,
            "GAIN": gain,
            "CHANGE": (latent * 3 + random.normal(size=n)).round(1),
            "SEX": np.where(latent + random.normal(size=n) > 0, "f", "m"),
            "TOWN": [f"t{place}" for place in (6 * latent + random.normal(size=n)).round()],
        }
    )
    gaps = [pl.when(pl.int_range(n) % 7 > 0).then(name).alias(name) for name in ("AGE", "SEX")]
    return table.with_columns(gaps)


def worse(table, seed=1):
    """Cut the tail, halve the spike, weaken one relation and shuffle the town."""
    random = np.random.default_rng(seed)
    gain = table["GAIN"].clip(0, 20_000).to_numpy().copy()
    gain[::2] = np.where(gain[::2] == 0, 500, gain[::2])
    return table.with_columns(
        GAIN=gain,
        CHANGE=table["CHANGE"] + 9 * random.normal(size=len(table)),
        TOWN=table["TOWN"].sample(fraction=1, shuffle=True, seed=seed),
    )


@pytest.mark.parametrize(("seed", "paired"), [(0, True), (1, False), (2, True), (3, False)])
def test_every_figure_is_the_textbooks(seed, paired):
    """Mean, spread, commonest share, pairs kept and their strengths, of mixed columns with gaps."""
    before = related(seed=seed)
    after = worse(before, seed)
    if not paired:
        after = after.sample(fraction=0.7, shuffle=True, seed=seed)
    figures = mv.assess(before, after, paired=paired).to_dict()
    original, release = before.to_dict(as_series=False), after.to_dict(as_series=False)
    for name in original:
        expected = oracle.column_moves(original[name], release[name])
        for figure, value in expected.items():
            found = figures["column_moves"][name][figure]
            assert found == (None if value is None else pytest.approx(value)), (name, figure)
    # Numbers come first in an assessment: of several relations as strong, the order is theirs.
    expected = oracle.relations(original, release)
    found = figures["relations"]
    assert (found["n_pairs"], found["n_kept"]) == (len(expected), oracle.n_kept(expected))
    assert 0 < found["n_kept"] < found["n_pairs"]
    for one, (names, strength, after_it) in zip(found["strongest"], expected, strict=False):
        assert set(one["columns"]) == set(names)
        assert one["original"] == pytest.approx(strength)
        assert one["release"] == pytest.approx(after_it)


def test_a_lost_tail_is_named_in_the_headline_of_an_assessment(tmp_path):
    """On the terminal and on the custodian's page, whatever distribution moved farthest."""
    before = related()
    tail = before.with_columns(GAIN=pl.col("GAIN").clip(0, 20_000), AGE=pl.col("AGE") + 3)
    before.write_csv(tmp_path / "before.csv")
    tail.write_csv(tmp_path / "after.csv")
    means, spreads = (
        [getattr(side["GAIN"], figure)() for side in (before, tail)] for figure in ("mean", "std")
    )
    assert means[1] < 0.8 * means[0]
    assert mv.assess(before, tail).worst_attribute.attribute == "AGE"
    done = run("assess", "before.csv", "after.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split("\n\n")[0].split())
    lost = f"'GAIN': mean {means[0]:,.0f} to {means[1]:,.0f} (-"
    assert f"worst attribute: {lost}" in told
    assert f"spread {spreads[0]:,.0f} to {spreads[1]:,.0f} (-" in told
    assert "'AGE': distribution moved by" in told
    assert "pairs kept" in told


def test_relations_that_are_lost_are_none_kept():
    """Of 34 columns drawn each by itself no pair is kept, those of many categories included."""
    random = np.random.default_rng(3)
    latent = random.normal(size=2000)
    table = {
        f"N{place:02}": (latent + random.normal(size=2000)).round(2) for place in range(17)
    } | {
        f"C{place:02}": np.array([f"c{level}" for level in (7 * latent).round() + place])
        for place in range(17)
    }
    apart = {name: random.permutation(column) for name, column in table.items()}
    found = mv.assess(table, apart, paired=False, linkage=False)
    figures = found.to_dict()["relations"]
    assert (figures["n_pairs"], figures["n_kept"]) == (34 * 33 // 2, 0)
    assert f"0 of {34 * 33 // 2} pairs" in " ".join(found.to_text().split())
    kept = mv.assess(table, table, paired=False, linkage=False).to_dict()["relations"]
    assert kept["n_kept"] == kept["n_pairs"]


def test_a_reversed_relation_is_lost():
    """A correlation of the other sign is no relation kept, however strong it is."""
    x = np.arange(200.0)
    table = {"a": x, "b": x, "c": x**2}
    figures = mv.assess(table, {**table, "b": -x}, paired=False).to_dict()["relations"]
    assert (figures["n_pairs"], figures["n_kept"]) == (3, 1)


def test_a_large_or_wide_table_says_how_much_of_it_was_looked_at():
    """Of 50,000 records, or of the first 100 columns, are the relations of more."""
    random = np.random.default_rng(4)
    x = random.normal(size=60_000)
    table = {"a": x, "b": x + random.normal(size=60_000), "c": np.where(x > 0, "p", "n")}
    found = mv.assess(table, table, ["a", "b", "c"], linkage=False)
    figures = found.to_dict()["relations"]
    assert (figures["n_records"], figures["is_sampled"]) == (50_000, True)
    assert "50,000 sampled records" in found.to_text()
    exact = oracle.rank_correlation(table, table, "a", "b")
    strengths = {frozenset(one["columns"]): one["original"] for one in figures["strongest"]}
    assert strengths[frozenset("ab")] == pytest.approx(exact, abs=0.02)
    wide = {f"x{place}": random.normal(size=60) for place in range(120)}
    figures = mv.assess(wide, wide, linkage=False).to_dict()["relations"]
    assert (figures["n_columns"], figures["n_all"]) == (100, 120)


@pytest.fixture
def people(tmp_path):
    """A folder with people.csv: related columns, of which 60 % of the gains are 0."""
    whole = [pl.col(name).fill_null(40).cast(pl.Int64) for name in ("AGE", "GAIN")]
    related().select(*whole, "CHANGE").write_csv(tmp_path / "people.csv")
    return tmp_path


ASKED = ["protect", "people.csv", "--method", "idp-vector", "--partition", "noise-aware", "--k",
         "5", "--epsilon", "5", "--attributes", "AGE,GAIN,CHANGE", "--bounds", "AGE=0:120",
         "--bounds", "GAIN=-1000:2000000", "--bounds", "CHANGE=-20:20", "--resolution",
         "CHANGE=0.1", "--outside", "clamp", "--exact-cells", "widen", "--seed", "1"]  # fmt: skip
SAID = ("Pairs kept", "Worst", "Strongest", "has moved", "common %", "spread")


@pytest.mark.parametrize("flags", [(), ("--shuffle",)])
def test_protect_ends_with_what_was_lost(people, flags):
    """A spike first, then a table of the worst columns, pairs kept, and the strongest."""
    done = run(*ASKED, *flags, "-o", "out", folder=people)
    assert done.returncode == 0, done.stderr
    _, told = done.stdout.split(HEAD)
    before, after = (pl.read_csv(people / name) for name in ("people.csv", "out/data.csv"))
    lines = told.strip().splitlines()
    zeros = [f"{100 * (side['GAIN'] == 0).mean():.3g} %" for side in (before, after)]
    assert (
        f"GAIN: {zeros[0]} of the values are one and the same in the original, {zeros[1]} in the"
        in lines[0]
    )
    rows = {line.split()[0]: line.split()[1:] for line in lines if "  " in line.strip()}
    assert rows["column"][-1] == "distance"
    for name in before.columns:
        moves = oracle.column_moves(before[name].to_list(), after[name].to_list())
        for place, figure in ((0, "mean"), (2, "spread")):
            shown = [float(cell.replace(",", "")) for cell in rows[name][place : place + 2]]
            assert shown == pytest.approx(moves[figure], rel=5e-3)
    expected = oracle.relations(before.to_dict(as_series=False), after.to_dict(as_series=False))
    assert f"  Pairs kept: {oracle.n_kept(expected)} of {len(expected)} pairs of columns" in told
    names, strength, after_it = expected[0]
    assert (
        next(line for line in lines if "Strongest" in line)
        .strip()
        .startswith(
            f"Strongest relations: '{names[0]}' and '{names[1]}' {strength:.2f}, now {after_it:.2f}"
        )
    )
    assert len(lines) <= 15


def test_protect_finds_what_an_assessment_finds(people):
    """The findings in the manifest are the figures of `assess`, for the same release."""
    assert run(*ASKED, "-o", "out", folder=people).returncode == 0
    assessed = json.loads(
        run("assess", "people.csv", "out/data.csv", "--json", folder=people).stdout
    )
    findings = json.loads((people / "out-custodian/manifest.json").read_text())["findings"]
    assert findings["relations"] == assessed["relations"]
    assert findings["columns"] == assessed["column_moves"]
    page = (people / "out-custodian/report.html").read_text()
    figures = assessed["relations"]
    assert f"{figures['n_kept']} of {figures['n_pairs']} pairs of columns" in page
    assert "Columns, the worst first" in page


def test_what_was_lost_is_in_nothing_that_is_published(people):
    """Neither in the folder of the release, nor in --json, nor in what a notebook prints."""
    done = run(*ASKED, "--json", "--public-report", "-o", "out", folder=people)
    assert done.returncode == 0, done.stderr
    published = [done.stdout, done.stderr]
    published += [
        (people / "out" / name).read_text()
        for name in os.listdir(people / "out")
        if name != "data.csv"
    ]
    # A public page may have figures of the release, never these words.
    assert not [word for word in SAID[:4] for text in published if word in text]
    before = pl.read_csv(people / "people.csv")
    found = mv.assess(before, pl.read_csv(people / "out/data.csv"))
    shown = [repr(found), repr(found.relations), *map(repr, found.relations.strongest)]
    shown += map(repr, found.column_moves.values())
    assert not any(re.search(r"\d\.\d", text) for text in shown)


class Terminal(io.StringIO):
    """What a command writes to where somebody looks."""

    def isatty(self):
        return True


def test_the_end_of_protect_fits_a_terminal_of_80_columns(people, monkeypatch):
    """No line is longer, and none of the table is broken."""
    monkeypatch.setattr(command, "io", SimpleNamespace(StringIO=Terminal))
    done = run(*ASKED, "-o", "out", folder=people, COLUMNS="80")
    assert done.returncode == 0
    lines = done.stdout.split(HEAD)[1].strip().splitlines()
    assert max(map(len, lines)) <= 80
    table = [line.rstrip() for line in lines if line.rstrip().endswith("distance")]
    assert len(table) == 1
    assert len(table[0]) <= 80


def test_a_relation_rests_on_records_with_both_values():
    """Missing numbers are no value of their own, however much they go with a category."""
    random = np.random.default_rng(1)
    number = random.integers(0, 10, 4000)
    word = np.where(random.random(4000) < 0.5, "a", np.where(number > 5, "b", "c"))
    gone = (random.random(4000) < 0.3) & (word == "a")
    gaps = pl.DataFrame({"NUMBER": number, "WORD": word}).with_columns(
        NUMBER=pl.when(~pl.Series(gone)).then("NUMBER")
    )
    present = gaps.drop_nulls()
    found, expected = (mv.assess(table, table).to_dict()["relations"] for table in (gaps, present))
    assert found["strongest"] == expected["strongest"] != []


def test_dates_are_days_of_the_calendar_wherever_columns_are_called_worst(tmp_path):
    """In the table and the sentence; their mean is held against the spread, not against 1970."""
    random = np.random.default_rng(2)
    born = 574 + (6638 * random.uniform(-1.7, 1.7, N)).round()
    dates = pl.DataFrame({"BORN": born, "AGE": (50 - born / 365).astype(int)}).with_columns(
        BORN=pl.from_epoch(pl.col("BORN").cast(pl.Int32), "d")
    )
    later = dates.with_columns(BORN=pl.col("BORN") + pl.duration(days=124))
    dates.write_parquet(tmp_path / "before.parquet")
    later.write_parquet(tmp_path / "after.parquet")
    days = [f"{side['BORN'].cast(pl.Int32).mean():.0f}" for side in (dates, later)]
    means = [f"{datetime.date(1970, 1, 1) + datetime.timedelta(int(day))}" for day in days]
    done = run("assess", "before.parquet", "after.parquet", folder=tmp_path)
    told = " ".join(done.stdout.split())
    assert f"'BORN': mean {means[0]} to {means[1]};" in told
    row = next(line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["BORN"])
    assert row[1:3] == means
    found = mv.assess(dates, later)
    spread = dates["BORN"].cast(pl.Int32).std()
    assert found.column_moves["BORN"].mean_change == pytest.approx(124 / spread)
    assert max(found.column_moves, key=lambda name: found.column_moves[name].rank) == "BORN"
    # The end of protect has the same, where files say nothing of types too.
    dates.write_csv(tmp_path / "people.csv")
    asked = ["--method", "dp-um", "--k", "5", "--epsilon", "3", "--seed", "1", "--outside", "clamp"]
    bounds = ["--bounds", "BORN=1930-01-01:2010-12-31", "--bounds", "AGE=0:120"]
    done = run("protect", "people.csv", *asked, *bounds, "-o", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    row = next(line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["BORN"])
    assert row[1] == means[0]
    assert re.fullmatch(r"(19|20)\d\d-\d\d-\d\d", row[2])
    page = (tmp_path / "out-custodian/report.html").read_text()
    assert f"mean {means[0]} to {row[2]}" in page


def test_the_worst_come_first_by_the_distance_that_is_shown():
    """Before all others what moved by more than a tenth: a tail that no distance shows."""
    random = np.random.default_rng(5)
    table = {name: random.normal(100, 10, 4000) for name in "abcd"}
    moved = {
        name: own + far for (name, own), far in zip(table.items(), (0.2, 0.9, 0, 0.5), strict=True)
    }
    moved["c"][:8] += 9000
    found = mv.assess(table, moved, linkage=False)
    told = found.to_text().split("Worst columns")[1].split("Relations between")[0]
    assert "First the columns whose mean, spread or commonest value moved by more" in told
    rest = mv.assess(
        *({n: own[n] for n in ("a", "b", "d")} for own in (table, moved)), linkage=False
    )
    assert "First the columns" not in rest.to_text()
    lines = told.splitlines()
    rows = [line.split() for line in lines if line.split()[:1] and line.split()[0] in table]
    assert [row[0] for row in rows] == ["c", "b", "d", "a"]
    distances = [float(row[-1]) for row in rows]
    assert distances[0] < min(distances[1:])
    assert distances[1:] == sorted(distances[1:], reverse=True)


def with_gaps(n_complete):
    """Numbers of which each record lacks one, but for the first ones, and a release of them."""
    random = np.random.default_rng(6)
    before = random.normal(size=(N, 3)).round(3)
    after = random.permuted(before, axis=0)
    after[:n_complete] = before[:n_complete]
    for side in (before, after):
        side[np.arange(n_complete, N), np.arange(n_complete, N) % 3] = np.nan
    return [dict(zip("abc", side.T, strict=True)) for side in (before, after)]


def test_found_again_says_of_how_many_and_nothing_of_a_handful():
    """By numbers alone complete records are compared: said, and not told of four of 600."""
    few = mv.assess(*with_gaps(4))
    assert few.measured["record_linkage"].value == pytest.approx(100)
    found = next(own for own in few.key_figures if own.name == "records found again")
    assert f"% of all {N} records, 95 %" in found.value
    assert float(found.value.split()[0]) < 5
    shown = few.to_text().split("Record linkage")[1].split("\n\n")[0]
    said = f"of the 4 of {N} records that have every value in both tables, or all {N} records."
    assert said in " ".join(shown.split())
    more = mv.assess(*with_gaps(60))
    found = next(own for own in more.key_figures if own.name == "records found again")
    assert found.value.startswith(f"100 % of the 60 of {N} records that have every value in both")


def test_the_page_and_the_terminal_say_alike_who_is_found_again(tmp_path):
    """Of more records than protect looks for, both name the same share of the same sample."""
    random = np.random.default_rng(8)
    table = {name: random.integers(0, 500, 2400) for name in ("AGE", "PAY")}
    pl.DataFrame(table).write_csv(tmp_path / "people.csv")
    done = run(
        "protect", "people.csv", "--method", "mdav", "--k", "3", "-o", "out", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"Records found again: ([\d.]+ % of 2,000 sampled records)", done.stdout)
    assert found
    assert found[1] in (tmp_path / "out-custodian/report.html").read_text()
