"""What versions 0.1 and 0.2 saved is read: see the README of tests/saved."""

import json
import re
import shutil
from fractions import Fraction
from pathlib import Path

import polars
import pytest

import microveil as mv
from command import run
from microveil.compare import compare

SAVED = Path(__file__).parents[1] / "saved"
MODELS = {"0.1": "iDP of the centroids", "0.2": "DP of the centroids"}
COMPARED = {
    "methods": "dp-um,idp-cbls", "k": 3, "epsilon": 1, "runs": 2, "seed": 1,
    "attributes": ["AGE"], "bounds": {"AGE": ("0", "120")},
}  # fmt: skip


@pytest.fixture
def place(request, tmp_path):
    """A folder with what a version saved, and the table that it was made of."""
    shutil.copytree(SAVED / request.param, tmp_path, dirs_exist_ok=True)
    shutil.copy(SAVED / "people.csv", tmp_path)
    # Git keeps no mode: these are the custodian's alone.
    for own in (tmp_path / "compared", *tmp_path.glob("*-ledger.jsonl")):
        own.chmod(0o700 if own.is_dir() else 0o600)
    return tmp_path


@pytest.mark.parametrize(("place", "version"), [(own, own) for own in MODELS], indirect=["place"])
def test_a_recipe_makes_a_release_like_the_one_it_made(place, version):
    """Of the same method, model and scopes; an engine is taken with one warning."""
    made = run("protect", "people.csv", "--recipe", "recipe.toml", "-o", "again", folder=place)
    assert made.returncode == 0
    assert made.stderr.count("Version 0.4 will refuse") == (version == "0.2")
    old, new = (mv.Guarantee.read(place / own / "guarantee.json") for own in ("release", "again"))
    assert (old.method, old.model, old.k, old.scopes) == (new.method, new.model, new.k, new.scopes)


@pytest.mark.parametrize(("place", "version"), [(own, own) for own in MODELS], indirect=["place"])
def test_the_folder_of_a_release_is_assessed_by_what_it_promises(place, version):
    """Its table and its guarantee are found; the statement is written anew."""
    told = run("assess", "people.csv", "release", folder=place)
    assert told.returncode == 0
    promised = re.search(r"promised: (.*), epsilon 1 at cluster", told.stdout)
    assert promised[1] == MODELS[version]
    guarantee = mv.Guarantee.read(place / "release" / "guarantee.json")
    assert "**The rows of this release are not covered.**" in guarantee.statement()
    assert mv.Guarantee.from_dict(guarantee.to_dict()) == guarantee


@pytest.mark.parametrize("place", ["0.2"], indirect=True)
def test_the_folder_of_a_release_is_audited_by_its_manifest(place):
    """What was asked for is read back, and comes to the guarantee that was given."""
    told = run("audit", "release", folder=place)
    assert told.returncode == 0
    assert re.search(r"all together +1 +0\.89", told.stdout)


@pytest.mark.parametrize("place", ["0.1"], indirect=True)
def test_a_release_that_promised_otherwise_is_audited_by_its_own_version(place):
    """Guarantees of schema 1 left conditions unsaid: by this version there are more."""
    told = run("audit", "release", folder=place)
    assert told.returncode == 2
    assert "audit it with the version that made it" in told.stderr


@pytest.mark.parametrize("place", ["0.2"], indirect=True)
def test_a_ledger_counts_on(place):
    """Its one release, and another of the same people."""
    head, line = map(json.loads, (place / "microveil-ledger.jsonl").read_text().splitlines())
    asked = {"method": "laplace", "epsilon": "0.5", "attributes": "AGE", "bounds": {"AGE": (0, 99)}}
    table = polars.read_csv(place / "people.csv")
    mv.protect(table, **asked, population=line["population"]).write(place / "out")
    written = [*map(json.loads, (place / "microveil-ledger.jsonl").read_text().splitlines())]
    assert written[:2] == [head, line]
    counted = json.loads((place / "out-custodian" / "manifest.json").read_text())["ledger"]
    assert "cluster scope: epsilon 1.5 in all, over 2 releases." in counted["in_words"]


def test_a_certificate_of_keyed_draws_is_a_computational_claim():
    """Of a Spark release of 0.2: read to the last word, page and all."""
    path = SAVED / "0.2" / "keyed.json"
    read = mv.Guarantee.read(path)
    assert read.to_dict() == json.loads(path.read_text(encoding="utf-8"))
    assert (read.randomness, read.epsilon, read.is_computational) == ("keyed", Fraction(1), True)
    assert "(a computational claim)" in read.summary()
    assert "The claim is a computational one." in read.statement()


@pytest.mark.parametrize(
    ("place", "what"),
    [("0.1", "the format of its results"), ("0.2", "the version of microveil")],
    indirect=["place"],
)
def test_a_comparison_of_another_version_is_not_continued(place, what):
    """Its pages and results can be read; runs of two versions are not put beside each other."""
    table = polars.read_csv(place / "people.csv")
    with pytest.raises(mv.FileError, match=what):
        compare(table, **COMPARED, folder=place / "compared", linkage=True)
