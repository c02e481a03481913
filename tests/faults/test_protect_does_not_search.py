"""`protect` says that an error is large and where to look for better, and does not look itself."""

import json
import re

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.text.figures import figure

N = 400
AGES = np.arange(N) % 60 + 20
BOUNDS = {"AGE": (0, 120), "TAX": (0, 100_000)}
TAXES = np.arange(N) * 37 % 900 + 100
# Of either too little budget is left for a spread of some twenty or some hundreds.
HOPELESS = {
    "laplace": {"epsilon": 1},
    "dp-um": {"epsilon": 0.1, "k": 3},
    "kanon-dp": {"epsilon": 0.1, "k": 3},
}


def warning(release):
    """The custodian's note about an error that is larger than the spread, if there is one."""
    notes = release.manifest.custodian_notes
    return next((note for note in notes if note.startswith("To be expected")), None)


@pytest.mark.parametrize("method", HOPELESS)
def test_an_error_beyond_the_spread_is_told_by_its_figure_and_names_where_to_look(method):
    """The figure is that of advice; no other method is weighed or recommended."""
    table = {"AGE": AGES, "TAX": TAXES}
    asked = {"method": method, "attributes": ["AGE", "TAX"], "bounds": BOUNDS, **HOPELESS[method]}
    release = mv.protect(table, **asked)
    told = warning(release)
    expected = mv.advise(table, **asked).expected
    figures = dict(re.findall(r"'(\w+)' \((\S+) times the variance\)", told))
    assert figures == {
        name: figure(entry.over_variance) for name, entry in expected.items() if entry.hopeless
    }
    assert "TAX" in figures
    assert told.endswith("microveil advise (in Python mv.advise) looks for what would be better.")
    assert not [entry["id"] for entry in mv.methods() if entry["id"] in told]
    assert "advice" not in release.manifest.to_dict()


def test_the_command_that_protect_names_says_what_would_be_better(tmp_path):
    """Whoever follows the note on the terminal gets figures and options, and no release."""
    pl.DataFrame({"AGE": AGES, "TAX": TAXES}).write_csv(tmp_path / "people.csv")
    request = ("--method", "laplace", "--epsilon", "1", "--attributes", "AGE,TAX",
               "--bounds", "AGE=0:120", "--bounds", "TAX=0:100000")  # fmt: skip
    made = run("protect", "people.csv", *request, "-o", "out", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "microveil advise" in made.stdout.partition("For the custodian")[2]
    manifest = json.loads((tmp_path / "out-custodian" / "manifest.json").read_text())
    assert "advice" not in manifest
    before = sorted(path.name for path in tmp_path.iterdir())
    advised = run("advise", "people.csv", *request, folder=tmp_path)
    assert advised.returncode == 0, advised.stderr
    assert "worse than publishing the mean" in advised.stdout
    assert "at row scope" in advised.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    refused = run("advise", "people.csv", folder=tmp_path)
    assert refused.returncode != 0
    assert "method" in refused.stderr
