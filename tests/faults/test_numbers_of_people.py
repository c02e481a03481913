"""Columns named like a person's number are no quantities, and may say whose a row is."""

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
