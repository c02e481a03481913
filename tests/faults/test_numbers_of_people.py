"""Columns named like a person's number are no quantities, and may say whose a row is."""

import tomllib

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run

N = 60
AGES = np.arange(N) * 7 % 50 + 20
# Of two rows each, which do not stand together.
OWNERS = np.arange(N) % 30 * 3 + 100
NUMBERS = ["id", "ID", "caseid", "CASEID", "pid", "persnr", "patient_id", "PatientID", "idauniq",
           "hhid", "record_no", "xwaveid", "Laufnr"]  # fmt: skip
QUANTITIES = ["PAID", "unpaid", "acid", "covid", "children_no", "snr_db", "AGE2", "idle", "income"]


def proposed(table, tmp_path):
    table.write_csv(tmp_path / "people.csv")
    done = run("inspect", "people.csv", folder=tmp_path)
    assert not done.returncode, done.stderr
    return done.stdout


def entry(recipe, name):
    return recipe.split(f"[attributes.{name}]")[1].split("\n[")[0]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("form", ["whole", "decimal", "text"])
def test_a_number_of_people_is_left_out_and_offered_as_the_unit(name, form, tmp_path):
    """Neither protected unasked nor proposed as confidential, whatever it is written as."""
    forms = {"whole": OWNERS, "decimal": OWNERS * 1.0, "text": [f"p{owner}" for owner in OWNERS]}
    table = pl.DataFrame({name: forms[form], "AGE": AGES})
    assert mv.protect(table, method="mdav", k=5).data.columns == ["AGE"]
    recipe = proposed(table, tmp_path)
    assert 'role = "identifier"' in entry(recipe, name)
    assert f'# unit = "{name}"' in recipe
    assert 'role = "confidential"' in entry(recipe, "AGE")


@pytest.mark.parametrize("name", QUANTITIES)
def test_a_quantity_whose_name_looks_a_little_alike_stays_one(name, tmp_path):
    """Words that end so by chance."""
    table = pl.DataFrame({name: OWNERS, "AGE": AGES})
    assert mv.protect(table, method="mdav", k=5).data.columns == [name, "AGE"]
    recipe = proposed(table, tmp_path)
    assert 'role = "confidential"' in entry(recipe, name)
    assert "# unit =" not in recipe


def test_a_named_number_is_not_averaged_unless_its_domain_is_declared():
    """The refusal names the ways out, and each of them works."""
    table = pl.DataFrame({"pid": OWNERS, "AGE": AGES})
    asked = {"method": "mdav", "k": 5, "attributes": ["pid", "AGE"]}
    for more in ({}, {"bounds": mv.bounds_from_data(table)}):
        with pytest.raises(mv.RequestError, match=r"column 'pid'.*unit='pid'.*--bounds pid=0:99"):
            mv.protect(table, **asked, **more)
    assert mv.protect(table, **asked, bounds={"pid": (0, 999)}).data.columns == ["pid", "AGE"]
    codes = sorted(set(OWNERS.tolist()))
    listed = mv.protect(table, **asked, categories={"pid": codes}).data
    assert set(listed["pid"]) <= set(codes)
    assert mv.protect(table, method="mdav", k=5, unit="pid").data.columns == ["AGE"]


LEFT_OUT = {"RESP": "number", "Person": "number", "fnlwgt": "weight", "weight": "weight",
            "NAME": "name", "Straße": "name"}  # fmt: skip


@pytest.mark.parametrize("is_typed", [True, False])
def test_protect_leaves_out_by_name_what_inspect_does(is_typed, tmp_path):
    """Numbers and names of people and a survey's weights, said in one line with the way back."""
    # Nothing but the name says what these are.
    numbers = np.arange(N) % 7 + 0.25
    words = np.array(["Kim", "Lee", "Sam"])[np.arange(N) % 3]
    columns = {
        name: words if kind == "name" else OWNERS if kind == "number" else numbers
        for name, kind in LEFT_OUT.items()
    }
    table = pl.DataFrame({**columns, "NOTE": np.arange(N) % 6 + 1, "PERSONS": AGES, "AGE": AGES})
    file = tmp_path / ("people.parquet" if is_typed else "people.csv")
    (table.write_parquet if is_typed else table.write_csv)(file)
    done = run("protect", file.name, "--epsilon", "90", "--delta", "0.001", "-o", "out",
               folder=tmp_path)  # fmt: skip
    assert not done.returncode, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("note: Not released")]
    said = {name: reason for name, reason in LEFT_OUT.items() if name in line}
    assert said == LEFT_OUT
    assert "fnlwgt, weight (named like a survey's weight)" in line
    assert "--attributes" in line
    terms = mv.Guarantee.read(tmp_path / "out" / "guarantee.json").attributes
    assert [own.name for own in terms] == ["NOTE", "PERSONS", "AGE"]
    roles = tomllib.loads(run("inspect", file.name, folder=tmp_path).stdout)["attributes"]
    proposed = {name for name, own in roles.items() if own["role"] in ("identifier", "weight")}
    assert proposed == {*LEFT_OUT}


def test_k_anonymity_leaves_out_a_survey_s_weights():
    """They are averaged where they are asked for by name."""
    table = pl.DataFrame({"fnlwgt": np.arange(N) % 7 + 0.25, "AGE": AGES})
    release = mv.protect(table, method="mdav", k=5, resolution={"fnlwgt": 0.25})
    assert release.data.columns == ["AGE"]
    assert release.notes[0].startswith("Not released: fnlwgt (named like a survey's weight).")
    asked = {"attributes": ["fnlwgt"], "resolution": {"fnlwgt": 0.25}}
    assert mv.protect(table, method="mdav", k=5, **asked).data.columns == ["fnlwgt"]


def test_a_plain_weight_beside_a_height_is_a_body_s():
    """By the names alone: no value decides which columns a new table has."""
    table = pl.DataFrame({"weight": np.arange(N) % 7 + 60, "height": AGES + 150})
    release = mv.protect(table, epsilon=90, delta=1e-3)
    assert release.data.columns == ["weight", "height"]


@pytest.mark.parametrize(
    ("asked", "flags"),
    [
        ({"epsilon": 90, "delta": 1e-3}, "--unit person --max-rows N"),
        ({"method": "mdav", "k": 5}, "--unit person."),
        ({"method": "ranking", "k": 5}, "(--unit)"),
    ],
)
def test_a_column_that_may_say_whose_a_record_is_is_named(asked, flags):
    """By the terminal's notes and by the guarantee, unless a unit is declared."""
    table = pl.DataFrame({"person": OWNERS, "year": np.arange(N) % 4 + 2015, "AGE": AGES})
    release = mv.protect(table, **asked)
    said = [note for note in release.notes if note.startswith("One record is taken to be one")]
    assert len(said) == 1
    assert "If person says which records belong together" in said[0]
    assert flags in said[0]
    assert said[0] in release.guarantee.remarks
    assert said[0] in release.guarantee.statement()
    assert not any("If person" in own for own in mv.protect(table[["AGE"]], **asked).notes)
    if "--unit" in flags and asked.get("method") != "ranking":
        unit = {"unit": "person"} | ({"max_rows": 2} if "epsilon" in asked else {})
        declared = mv.protect(table, **asked, **unit)
        assert not any("One record" in own for own in declared.notes)
        assert not any("One record" in own for own in declared.guarantee.remarks)
