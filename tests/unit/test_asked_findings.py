"""Whether a release is held against its original is for its custodian to say."""

import json

import polars as pl
import pytest

import microveil as mv
from command import run

PEOPLE = mv.invented_people(300, seed=5)
ASKED = {"method": "mdav", "k": 5, "attributes": ["AGE", "VISITS"], "missing": "keep"}


def test_findings_are_made_where_they_are_asked_for():
    """In Python they are not by default, and cost a plain release nothing."""
    plain = mv.protect(PEOPLE, **ASKED).manifest.to_dict()
    held = mv.protect(PEOPLE, **ASKED, findings=True).manifest.to_dict()
    assert "findings" not in plain
    assert held["findings"]["linkage"]["n_records"] == 300
    assert {*held["findings"]["columns"]} == {"AGE", "VISITS"}
    with pytest.raises(mv.RequestError, match="findings"):
        mv.protect(PEOPLE, **ASKED, findings="yes")


def test_the_command_line_makes_them_unless_told_not_to(tmp_path):
    """What is printed then says so, and how to make up for it."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    line = ["protect", "people.csv", "--method", "mdav", "--k", "5", "--attributes", "AGE,VISITS",
            "--missing", "keep"]  # fmt: skip
    made = run(*line, "-o", "held", folder=tmp_path)
    left = run(*line, "--no-findings", "-o", "plain", folder=tmp_path)
    for done, folder, is_held in ((made, "held", True), (left, "plain", False)):
        assert done.returncode == 0, done.stderr
        found = json.loads((tmp_path / f"{folder}-custodian" / "manifest.json").read_text())
        assert ("findings" in found) is is_held
        assert ("microveil assess says what was kept" in done.stdout) is not is_held
    assert pl.read_csv(tmp_path / "plain" / "data.csv").height == 300
