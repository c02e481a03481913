"""The pages that the command line writes: for whom, where, and what they hold."""

import fcntl
import hashlib
import json
import os
import sys

import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.commands import files
from microveil.commands.files import protect_file

IS_REPORTED = IS_DRAWN = True  # pages are tested here

AGE = ("--attributes", "AGE", "--bounds", "AGE=0:120")
COMPARED = (
    "compare", "people.csv", "--methods", "laplace,dp-um", "--k", "5,20", "--epsilon", "1",
    "--runs", "2", "--seed", "3", *AGE, "-o", "results",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    mv.invented_people(200, seed=1).write_csv(tmp_path / "people.csv")
    return tmp_path


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_custodians_report_names_the_files_by_their_digests(folder):
    """Input and output stand in the report with the digests that the manifest has."""
    done = run("protect", "people.csv", "--method", "dp-um", "--k", "5", "--epsilon", "1", *AGE,
               "-o", "out", folder=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = (folder / "out-custodian" / "report.html").read_text()
    manifest = json.loads((folder / "out-custodian" / "manifest.json").read_text())
    assert manifest["output"]["sha256"] == digest(folder / "out" / "data.csv")
    for file in (manifest["input"], manifest["output"]):
        assert f"{file['name']}, <code>{file['sha256']}</code>" in page


def test_a_public_report_is_written_where_it_is_asked_for(folder):
    """FOLDER gets report.html by --public-report alone, and the command says so."""
    asked = ("protect", "people.csv", "--method", "dp-um", "--k", "5", "--epsilon", "1", *AGE)
    done = run(*asked, "--public-report", "-o", "out", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "report.html" in done.stdout.splitlines()[0]
    assert sorted(os.listdir(folder / "out")) == [
        "data.csv", "guarantee.json", "guarantee.md", "report.html",
    ]  # fmt: skip
    page = (folder / "out" / "report.html").read_text()
    assert "For the custodian only" not in page
    assert "AGE" in page
    manifest = json.loads((folder / "out-custodian" / "manifest.json").read_text())
    assert manifest["input"]["sha256"] not in page
    done = run(*asked, "--overwrite", "-o", "out", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "report.html" not in os.listdir(folder / "out")


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "ranking"},
        {"method": "dp-um", "epsilon": 1, "seed": 4, "bounds": {"AGE": (0, 120)}},
    ],
)
def test_who_gets_the_same_release_gets_the_same_public_page(tmp_path, asked):
    """Two tables whose releases are alike have the same page, though the custodians' differ."""
    pages = []
    for name, spread in (("narrow", 1), ("wide", 7)):
        ages = [middle + step * spread for middle in range(20, 100, 20) for step in (-1, 0, 1)]
        pl.DataFrame({"AGE": ages}).write_csv(tmp_path / f"{name}.csv")
        out = tmp_path / f"out-{name}"
        protect_file(
            tmp_path / f"{name}.csv", out, k=3, attributes=["AGE"], public_report=True, **asked
        )
        pages.append(
            [
                (out / "data.csv").read_bytes(),
                (out / "guarantee.json").read_bytes(),
                (out / "report.html").read_bytes(),
                (tmp_path / f"out-{name}-custodian" / "report.html").read_bytes(),
            ]
        )
    narrow, wide = pages
    assert narrow[:3] == wide[:3]
    assert narrow[3] != wide[3]


def test_a_report_of_many_records_is_written_where_it_is_asked_for(folder, monkeypatch):
    """Above the limit too."""
    monkeypatch.setattr(files, "REPORTED_RECORDS", 2)
    asked = ("protect", "people.csv", "--method", "dp-um", "--k", "5", "--epsilon", "1", *AGE)
    done = run(*asked, "--custodian-report", "-o", "out", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "No custodian's report" not in done.stderr
    assert "AGE" in (folder / "out-custodian" / "report.html").read_text()


def test_that_no_report_was_written_is_said(tmp_path, monkeypatch):
    """Of a table above the limit there is no custodian's page, and a note tells who makes it."""
    monkeypatch.setattr(files, "REPORTED_RECORDS", 20)
    for count, written in ((20, True), (21, False)):
        pl.DataFrame({"AGE": list(range(count))}).write_csv(tmp_path / "people.csv")
        release = protect_file(
            tmp_path / "people.csv", tmp_path / f"out-{count}", k=3, method="mdav",
            attributes=["AGE"],
        )  # fmt: skip
        assert (tmp_path / f"out-{count}-custodian" / "report.html").exists() is written
        assert any("No custodian's report" in note for note in release.notes) is not written


def test_compare_does_not_write_where_another_process_does(folder):
    """The lock is held for the report and the pictures too, and they are their owner's alone."""
    done = run(*COMPARED, folder=folder)
    assert done.returncode == 0, done.stderr
    results = folder / "results"
    assert (results / "report.html").stat().st_mode & 0o777 == 0o600
    taken = os.open(results / ".lock", os.O_RDWR)
    try:
        fcntl.flock(taken, fcntl.LOCK_EX)
        before = (results / "report.html").read_bytes()
        again = run(*COMPARED, folder=folder)
        assert again.returncode == 2
        assert "another process" in again.stderr
        assert (results / "report.html").read_bytes() == before
    finally:
        os.close(taken)


def test_compare_writes_its_report_and_its_map(folder, monkeypatch):
    """report.html and map.svg lie in the folder, and the last lines say where."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it were not installed
    done = run(*COMPARED, folder=folder)
    assert done.returncode == 0, done.stderr
    results = folder / "results"
    assert done.stdout.splitlines()[-2:] == [
        "Report: results/report.html",
        "Risk-utility map: results/map.svg",
    ]
    page = (results / "report.html").read_text()
    assert "For the custodian only" in page
    assert page.endswith("</html>\n")
    assert (results / "map.svg").read_text().rstrip().endswith("</svg>")
    assert {path.stat().st_mode & 0o777 for path in results.iterdir()} == {0o600}
    (results / "report.html").write_text("half a pa")
    again = run(*COMPARED, folder=folder)
    assert again.returncode == 0, again.stderr
    assert (results / "report.html").read_text() == page
    assert not [name for name in os.listdir(results) if name.endswith(".part")]


def test_without_linkage_no_map_is_drawn_or_promised(folder):
    """There is no risk to draw."""
    done = run(*COMPARED, "--no-linkage", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "Report: results/report.html"
    assert "was not measured" in (folder / "results" / "report.html").read_text()
    assert not (folder / "results" / "map.svg").exists()
