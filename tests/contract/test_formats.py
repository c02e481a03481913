"""A format is one module and one line of the registry, wherever that module lives."""

import json
from dataclasses import replace

import polars as pl
import pytest

from microveil.commands.files import inspect_file, protect_file
from microveil.commands.measuring import assess_files, compare_file
from microveil.files import FORMATS
from microveil.files.reading import read_file
from trial_formats import LINES

ASKED = {"method": "dp-um", "k": 5, "epsilon": 1, "attributes": ["AGE"], "bounds": {"AGE": (0, 99)}}
TABLE = pl.DataFrame({"AGE": range(20, 60), "SEX": ["f", "m"] * 20})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a file of a format that this test has registered."""
    monkeypatch.setitem(FORMATS, LINES.name, LINES)
    TABLE.write_ndjson(tmp_path / "people.jsonl")
    return tmp_path


def test_a_format_from_outside_reaches_every_command(folder):
    """Inspected, released as it came, assessed beside its guarantee, compared and reported."""
    people = folder / "people.jsonl"
    assert "AGE" in inspect_file(people, None, None)[1].text
    release = protect_file(people, folder / "out", **ASKED, keep=["SEX"])
    released = folder / "out" / "data.jsonl"
    assert json.loads(released.read_text().splitlines()[0]).keys() == {"AGE", "SEX"}
    assert read_file(released).frame.equals(release.data)
    manifest = json.loads((folder / "out-custodian" / "manifest.json").read_text())
    assert manifest["output"]["name"] == "data.jsonl"
    assert assess_files(people, released, None, text=None).guarantee == release.guarantee
    _, report, _ = compare_file(
        people, folder / "map", methods=["dp-um"], runs=1, jobs=1, linkage=False,
        progress=lambda *_: None, k=[5], epsilon=[1], attributes=["AGE"], bounds={"AGE": (0, 99)},
    )  # fmt: skip
    assert report.exists()


@pytest.mark.parametrize("suffixes", [(), ("jsonl",), (".JSONL",)])
def test_a_format_wants_a_suffix(suffixes):
    """In small letters, behind a point."""
    with pytest.raises(ValueError, match="wants a suffix"):
        replace(LINES, suffixes=suffixes)
