"""What is found out about a release for its custodian, and that nobody else is shown it."""

import json
import os

import numpy as np
import polars as pl
import pytest
from scipy import stats

import microveil as mv
from command import run
from microveil.commands import files
from microveil.commands.files import protect_file
from microveil.measures import findings
from microveil.measures.findings import release_findings, warnings_of
from microveil.measures.key_figures import linkage_found
from microveil.measures.linkage import (
    record_linkage,
    record_linkage_by_rank,
    record_linkage_standardised,
)
from microveil.protect import releasing
from microveil.table import MissingCodes
from reference import mixed_linkage
from reference.record_linkage import linked_percent

IS_REPORTED = True  # pages are tested here

HEAD = "For the custodian, not for logs:"


def noisy(n_records, seed=0):
    """Three attributes before and after a little noise on each value."""
    random = np.random.default_rng(seed)
    before = {name: random.normal(size=n_records) for name in ("a", "b", "c")}
    return before, {name: x + 0.2 * random.normal(size=n_records) for name, x in before.items()}


def matrices(*tables):
    return [np.column_stack(list(table.values())) for table in tables]


def moved_value(attribute, share, share_in_release):
    return {"attribute": attribute, "share": share, "share_in_release": share_in_release}


def test_few_records_are_all_linked_by_the_strongest_distance():
    """The largest of the three linkages, its interval and chance, and which distance it is."""
    before, after = noisy(300)
    after["a"] = after["a"] * 1000 + 7  # by values nothing is found, by ranks much
    found = release_findings(before, after, ["a", "b", "c"])["linkage"]
    expected = record_linkage_by_rank(*matrices(before, after))
    assert found["distances"] == "by rank"
    assert found["percent"] == expected.percent
    assert found["interval"] == [*expected.interval]
    assert found["by_chance"] == 100 / 300
    assert (found["n_sampled"], found["n_records"]) == (300, 300)
    for weaker in (record_linkage, record_linkage_standardised):
        assert weaker(*matrices(before, after)).percent < found["percent"]


def test_of_many_records_a_sample_is_linked_against_all(monkeypatch):
    """Its interval holds what linking everybody finds; always the same are linked."""
    before, after = noisy(1200)
    everybody = max(
        link(*matrices(before, after)).percent
        for link in (record_linkage, record_linkage_standardised, record_linkage_by_rank)
    )
    monkeypatch.setattr(findings, "SAMPLED", 400)
    found = release_findings(before, after, ["a", "b", "c"])
    said, found = str(linkage_found(found)), found["linkage"]
    assert (found["n_sampled"], found["n_records"]) == (400, 1200)
    assert found["by_chance"] == 100 / 1200
    low, high = found["interval"]
    assert low < everybody < high
    assert 0 < high - low < 12
    assert release_findings(before, after, before)["linkage"] == found
    assert "400 sampled records" in said


def test_the_worst_attribute_is_the_one_farthest_moved():
    """By Kolmogorov-Smirnov of numbers and total variation of text, of all cells present."""
    before, after = noisy(500)
    after["b"] = after["b"] + 1
    before["c"][:9] = after["c"][:9] = np.nan
    found = release_findings(before, after, ["a", "b", "c"])
    expected = stats.ks_2samp(before["b"], after["b"]).statistic
    assert found["worst_attribute"] == {
        "attribute": "b", "distance": pytest.approx(expected), "measure": "Kolmogorov-Smirnov"
    }  # fmt: skip
    assert found["linkage"]["n_records"] == 491
    words = {"w": np.array(200 * list("aaabbc"))}, {"w": np.array(200 * list("aabbdd"))}
    text = release_findings(*words, ["w"])
    assert text["worst_attribute"] == {
        "attribute": "w", "distance": pytest.approx(1 / 3), "measure": "total variation"
    }  # fmt: skip
    assert text["moved_values"] == [moved_value("w", pytest.approx(1 / 2), pytest.approx(1 / 3))]
    # Two of three a's stay, and one of two b's; to a word that is new every original is as near.
    assert text["linkage"]["percent"] == pytest.approx(100 * (2 / 3 + 1 / 2 + 2 / 6) / 6 / 200)


@pytest.mark.parametrize(
    ("n", "common", "left", "moved"),
    [(100, 95, 0, True), (100, 95, 60, True), (100, 95, 86, False), (100, 60, 40, False),
     (3000, 19.7, 18.6, False), (3000, 91.5, 93.7, False), (3000, 60, 30, True),
     (50_000, 95, 92.9, True), (50_000, 95, 93, False), (50_000, 6, 0, True),
     (50_000, 5, 0, False), (50_000, 40, 43, True)],
)  # fmt: skip
def test_a_common_value_that_moved_beyond_chance_is_warned_of(n, common, left, moved):
    """Of more than 5 % of the records, by over 2 points and 4 deviations; no value is held."""
    other = np.arange(1, n + 1.0)
    counts = round(n * common / 100), round(n * left / 100)
    before, after = (np.where(np.arange(n) < count, 0.0, other) for count in counts)
    found = release_findings({"x": before}, {"x": after}, ["x"], linkage=False)
    assert bool(found["moved_values"]) is bool(warnings_of(found)) is moved
    if moved:
        expected = moved_value("x", counts[0] / n, counts[1] / n)
        assert found["moved_values"] == [pytest.approx(expected)]
        shares = f"{common:g} % of the values are one and the same in the original, {left:g} % in"
        assert f"x: {shares} the release. Whoever" in warnings_of(found)[0]


def test_without_pairs_or_by_request_nothing_is_linked():
    """The reason stands in its place, and distributions are compared all the same."""
    before, after = noisy(50)
    shuffled = release_findings(before, after, ["a"], in_place=())
    assert shuffled["linkage"] is None
    assert "random order" in shuffled["not_linked"]
    assert shuffled["worst_attribute"] is not None
    # Which is why, whatever else would stand against it.
    of_much = release_findings(before, after, ["a"], in_place=(), linkage="that takes too much")
    assert of_much["not_linked"] == shuffled["not_linked"]
    skipped = release_findings(before, after, ["a"], linkage=False)
    assert skipped["linkage"] is None
    assert "not asked for" in skipped["not_linked"]
    before["a"][::2] = np.nan
    after["b"][1::2] = np.nan
    # No record is complete: all are linked, as records that lack values.
    assert release_findings(before, after, ["a", "b"])["linkage"]["n_records"] == 50
    before["c"][:] = np.inf  # which a release leaves out
    assert release_findings(before, after, ["c"])["worst_attribute"] is None


@pytest.fixture
def gains(tmp_path):
    """A folder with people.csv: 95 % of the people have a gain of 0, the others large ones."""
    random = np.random.default_rng(5)
    gain = np.where(np.arange(400) < 380, 0, random.integers(5000, 99_000, 400))
    age = random.integers(18, 90, 400)
    pl.DataFrame({"AGE": age, "GAIN": random.permutation(gain)}).write_csv(tmp_path / "people.csv")
    return tmp_path


GAINS = ["--method", "idp-vector", "--partition", "noise-aware", "--k", "5", "--epsilon", "3",
         "--attributes", "AGE,GAIN", "--bounds", "AGE=0:120", "--bounds", "GAIN=-1000:100000",
         "--exact-cells", "widen", "--seed", "1"]  # fmt: skip


def test_protect_warns_of_the_zeros_that_moved(gains):
    """Where nobody is left at 0, the custodian reads it though information loss is small."""
    done = run("protect", "people.csv", *GAINS, "-o", "out", folder=gains)
    assert done.returncode == 0, done.stderr
    _, told = done.stdout.split(HEAD)
    released = pl.read_csv(gains / "out" / "data.csv")
    assert (released["GAIN"] == 0).sum() == 0
    loss = mv.assess(pl.read_csv(gains / "people.csv"), released).to_dict()["information_loss"]
    assert loss < 10
    assert "has moved: GAIN: 95 % of the values are one and the same" in told
    assert "are 0" not in told
    assert "\n  GAIN " in told
    assert "of all 400 records" in told
    page = (gains / "out-custodian" / "report.html").read_text()
    assert "95 % of the values are one and the same in the original, 0 % in the release" in page


def test_linkage_is_skipped_on_request_and_for_shuffled_rows(gains):
    """Nothing is linked then, and manifest and terminal say why."""
    for flag, why in (("--no-linkage", "it was not"), ("--shuffle", "rows are in random")):
        done = run("protect", "people.csv", *GAINS, flag, "-o", f"out{flag}", folder=gains)
        assert done.returncode == 0, done.stderr
        assert f"Records found again: not measured: {why}" in done.stdout
        manifest = json.loads((gains / f"out{flag}-custodian" / "manifest.json").read_text())
        assert manifest["findings"]["linkage"] is None


MARK = 73.7373
PLANTED = {
    "linkage": {
        "distances": "by rank", "percent": MARK, "interval": [MARK, MARK], "by_chance": MARK,
        "n_sampled": 737373, "n_records": 737373,
    },
    "not_linked": None,
    "worst_attribute": {"attribute": "GAIN", "distance": MARK, "measure": "Kolmogorov-Smirnov"},
    "moved_values": [moved_value("GAIN", MARK, MARK)],
    "columns": {},
    "relations": None,
}  # fmt: skip


@pytest.fixture
def planted(monkeypatch):
    """Findings and custodian's notes that are known by their figures."""
    monkeypatch.setattr(files, "release_findings", lambda *_, **__: PLANTED)
    monkeypatch.setattr(releasing, "_told", lambda *_: (f"{MARK} of 7373 cells.",))


def marked(text):
    return any(
        figure in text for figure in ("73.7", "7373", "737,373", "7.37e+03", "worst", "moved")
    )


@pytest.mark.usefixtures("planted")
def test_what_the_custodian_reads_is_in_nothing_that_is_published(gains):
    """Planted figures are in no file of the release, its public page and a representation.

    By a seed: where points of its pictures lie, noise of the system would plant them now and then.
    """
    release = protect_file(
        gains / "people.csv", gains / "out", method="idp-cbls", k=10, epsilon=1,
        attributes=["AGE", "GAIN"], exact_cells="allow", public_report=True, seed=1,
    )  # fmt: skip
    assert sorted(os.listdir(gains / "out")) == [
        "data.csv", "guarantee.json", "guarantee.md", "report.html",
    ]  # fmt: skip
    for name in ("guarantee.json", "guarantee.md", "report.html"):
        assert not marked((gains / "out" / name).read_text()), name
    assert not marked("".join(release.notes))
    assert not marked(repr(release) + repr(release.manifest))
    for private in ("manifest.json", "report.html"):
        assert marked((gains / "out-custodian" / private).read_text())


@pytest.mark.usefixtures("planted")
def test_what_the_custodian_reads_is_on_the_terminal_and_in_no_json(gains):
    """Under its head on standard output; with --json on neither stream, and never in a note."""
    asked = ("protect", "people.csv", "--method", "idp-cbls", "--k", "10", "--epsilon", "1",
             "--attributes", "AGE,GAIN", "--exact-cells", "allow")  # fmt: skip
    done = run(*asked, "-o", "out", folder=gains)
    assert done.returncode == 0, done.stderr
    above, below = done.stdout.split(HEAD)
    assert not marked(above + done.stderr)
    assert below.count("73.7") >= 4
    done = run(*asked, "--json", "-o", "other", folder=gains)
    assert done.returncode == 0, done.stderr
    assert not marked(done.stdout + done.stderr)
    assert set(json.loads(done.stdout)) == {"folder", "custodian", "guarantee", "notes"}


HOPELESS = {
    "expected error": ("--method", "dp-um", "--k", "5", "--epsilon", "0.1"),
    "auto": ("--method", "auto", "--k", "auto", "--scope", "vector", "--epsilon", "1"),
    "isotonic": ("--method", "dp-um", "--k", "5", "--epsilon", "0.1", "--isotonic"),
    "exact": ("--method", "idp-cbls", "--k", "10", "--epsilon", "1", "--exact-cells", "allow"),
    "widened": ("--method", "idp-cbls", "--k", "10", "--epsilon", "1", "--exact-cells", "widen"),
}


@pytest.mark.parametrize("case", HOPELESS)
def test_figures_that_hang_on_data_are_not_for_programs(gains, case):
    """Neither JSON nor notes hold an expected error, a count of cells or a linkage of trials."""
    asked = ("protect", "people.csv", *HOPELESS[case], "--attributes", "AGE,GAIN", "--bounds",
             "AGE=0:120", "--bounds", "GAIN=0:100000", "--json")  # fmt: skip
    done = run(*asked, "-o", "out", folder=gains)
    assert done.returncode == 0, done.stderr
    notes = json.loads(done.stdout)["notes"]
    for words in ("To be expected", "variance", "cells are", "clusters became", "trial draws"):
        assert words not in "".join(notes)
        assert words not in done.stderr
    manifest = json.loads((gains / "out-custodian" / "manifest.json").read_text())
    assert manifest["notes"] == notes
    told = "".join(manifest["custodian_notes"])
    words = {
        "expected error": "To be expected: an error worse than publishing the mean in 'AGE'",
        "auto": "the expected error is",
        "isotonic": "trial draws",
        "exact": "cells are published exactly as they are",
        "widened": "clusters became",
    }
    assert words[case] in told


def test_a_release_of_mixed_records_is_linked_over_all_attributes():
    """Numbers, ranks, categories and who lacks them: the percentage of comparing every pair."""
    random = np.random.default_rng(5)
    words = ("low", "middle", "high")
    rows = [
        (float(age), float(rank), float(code))
        for age, rank, code in zip(
            random.integers(0, 9, 60), random.integers(0, 3, 60), random.integers(0, 4, 60),
            strict=True,
        )
    ]  # fmt: skip
    before = [tuple(None if random.random() < 0.1 else value for value in row) for row in rows]
    moved = [(row[0] if row[0] is None else row[0] // 2 * 2, *row[1:]) for row in before]
    after = [
        (age, rank if place % 3 else 0.0, code if place % 2 else 3.0)
        for place, (age, rank, code) in enumerate(moved)
    ]

    def table(records):
        ages, ranks, codes = zip(*records, strict=True)
        return {
            "AGE": np.array(ages, dtype=float),
            "RANK": np.array(["" if rank is None else words[int(rank)] for rank in ranks]),
            "CODE": np.array([np.nan if code is None else 7 * code for code in codes]),
        }

    found = release_findings(
        table(before), table(after), ["AGE", "RANK", "CODE"],
        categories={"RANK": words, "CODE": None},
    )["linkage"]  # fmt: skip
    kinds = (False, False, True)
    counts = mixed_linkage.candidate_counts(
        before, after, kinds, mixed_linkage.scales(before, kinds)
    )
    assert found["distances"] == "over all attributes"
    assert found["percent"] == pytest.approx(linked_percent(counts), rel=1e-12)
    assert found["n_records"] == 60


@pytest.mark.parametrize("odd", [np.inf, -np.inf, 2e150, -2e150, np.nan, None])
def test_a_value_that_no_distance_can_be_taken_of_is_left_out(odd):
    """On either side, whether it is alone in not being usable, or there is none."""
    values = np.arange(40.0)
    some = values if odd is None else np.insert(values, 7, odd)
    after = {"x": values + 10}
    for sides in (({"x": some}, after), (after, {"x": some})):
        found = release_findings(*sides, ["x"], linkage=False)
        assert found["worst_attribute"]["distance"] == 0.25
    assert np.array_equal(some[:7], values[:7])


def test_of_many_records_distributions_are_those_of_some_evenly_spaced(monkeypatch):
    """Which is said; means and spreads are those of all."""
    monkeypatch.setattr(findings, "COMPARED", 10)
    before = np.arange(40.0)
    after = np.where(np.arange(40) % 4, before, 99.0)
    found = release_findings({"x": before}, {"x": after}, ["x"], linkage=False)
    assert found["worst_attribute"]["distance"] == 1.0
    assert found["worst_attribute"]["measure"] == "Kolmogorov-Smirnov of one record in 4"
    assert found["columns"]["x"]["mean"] == [before.mean(), pytest.approx(after.mean())]


def test_codes_of_missing_values_are_no_values_of_a_distribution():
    """Declared on one side: they are left out there, and counted on the other."""
    values = np.array([1.0, 2.0, 3.0, 4.0] * 25)
    coded = np.append(values, [-9.0] * 100)
    codes = MissingCodes.of({"x": [-9]}, None)
    found = release_findings(
        {"x": coded}, {"x": values}, ["x"], linkage=False, codes=(codes, MissingCodes())
    )
    assert found["worst_attribute"]["distance"] == 0
    found = release_findings({"x": coded}, {"x": values}, ["x"], linkage=False)
    assert found["worst_attribute"]["distance"] == 0.5
