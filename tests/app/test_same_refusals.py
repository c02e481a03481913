"""What the command line refuses, the page refuses with the same sentence, beside the field."""

import io

import polars as pl
import pytest

import microveil as mv
from command import run
from drafted import drafted, sent
from microveil.app.columns_step import declare_columns
from microveil.app.forms import Form
from microveil.app.places import Folder
from microveil.app.promise_step import promise
from microveil.errors import FileError

TABLE = """AGE,INCOME,BORN,SEX,ID
31,1200.50,1990-01-02,f,1
44,900.25,1980-03-04,m,2
58,2100.00,1966-05-06,f,3
"""
DOMAINS = {
    "lower_0": "0", "upper_0": "120",
    "lower_1": "0", "upper_1": "1000000",
    "lower_2": "1900-01-01", "upper_2": "2030-12-31",
    "categories_3": "f\nm",
}  # fmt: skip
ASKED = {
    "--method": "dp-synthetic",
    "--epsilon": "1",
    "--attributes": "AGE,INCOME,BORN,SEX",
    "--bounds AGE": "0:120",
    "--bounds INCOME": "0:1000000",
    "--bounds BORN": "1900-01-01:2030-12-31",
    "--resolution INCOME": "0.01",
    "--categories SEX": "f,m",
}
PROMISED = {"who": "record", "scope": "row", "epsilon": "1"}


def refused(folder, **changed):
    """Return what the command line says, with flags of the request changed."""
    (folder / "people.csv").write_text(TABLE)
    words = []
    for flag, value in {**ASKED, **changed}.items():
        name, _, column = flag.partition(" ")
        if value is not None:
            words += [f"{name}={column}={value}" if column else f"{name}={value}"]
    done = run("protect", "people.csv", *words, "-o", "release", folder=folder)
    assert done.returncode == 2, done.stdout
    assert not (folder / "release").exists()
    return " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("field", "fields", "flags"),
    [
        ("lower-0", {"lower_0": "9", "upper_0": "1"}, {"--bounds AGE": "9:1"}),
        ("categories-3", {"categories_3": "f\nf"}, {"--categories SEX": "f,f"}),
        ("resolution-1", {"resolution_1": "0"}, {"--resolution INCOME": "0"}),
        ("resolution-1", {"resolution_1": "-1"}, {"--resolution INCOME": "-1"}),
        ("resolution-1", {"resolution_1": "x"}, {"--resolution INCOME": "x"}),
        ("resolution-1", {"resolution_1": "nan"}, {"--resolution INCOME": "nan"}),
        ("codes-3", {"codes_3": "z\nz"}, {"--missing-codes SEX": "z,z"}),
    ],
)  # fmt: skip
def test_a_bad_column_is_refused_as_by_the_command_line(tmp_path, field, fields, flags):
    """Bounds, categories, steps and codes."""
    form = Form(sent(**{**DOMAINS, "all": "yes", **fields}))
    _, errors = declare_columns(drafted()[1], form)
    assert errors[field], dict.fromkeys(errors)
    assert errors[field] in refused(tmp_path, **flags)


@pytest.mark.parametrize(
    ("field", "fields", "asked"),
    [
        ("lower-0", {"lower_0": "x"}, {"bounds": {"AGE": ("x", "120")}}),
        ("lower-0", {"lower_0": "nan"}, {"bounds": {"AGE": ("nan", "120")}}),
        ("lower-0", {"upper_0": "inf"}, {"bounds": {"AGE": ("0", "inf")}}),
        ("lower-0", {"lower_0": ""}, {"bounds": {"AGE": ("", "120")}}),
        ("lower-2", {"lower_2": "soon"}, {"bounds": {"BORN": ("soon", "2030-12-31")}}),
        ("lower-2", {"lower_2": "1900-02-30"}, {"bounds": {"BORN": ("1900-02-30", "2030-12-31")}}),
        ("categories-0", {"categories_0": "1\nx", "lower_0": "", "upper_0": ""},
         {"categories": {"AGE": ["1", "x"]}}),
        ("max_rows", {"max_rows": "1.5"}, {"unit": "ID", "max_rows": "1.5"}),
        ("max_rows", {"max_rows": "x"}, {"unit": "ID", "max_rows": "x"}),
    ],
)  # fmt: skip
def test_what_flags_would_read_otherwise_is_refused_as_in_python(field, fields, asked):
    """On the command line two words are categories, and a number is checked by the flag itself."""
    table = pl.read_csv(io.StringIO(TABLE), try_parse_dates=True)
    (name,) = asked.get("bounds") or asked.get("categories") or ["AGE"]
    with pytest.raises(mv.RequestError) as refusal:
        mv.protect(table, method="laplace", epsilon=1, attributes=name, **asked)
    if "max_rows" in fields:
        _, errors = promise(drafted()[1], Form({**PROMISED, "who": "unit", "unit": "ID", **fields}))
    else:
        _, errors = declare_columns(drafted()[1], Form(sent(**{**DOMAINS, "all": "yes", **fields})))
    assert errors[field] in map(str, refusal.value.problems)


@pytest.mark.parametrize(
    ("field", "value", "flags"),
    [
        ("epsilon", "0", {"--epsilon": "0"}),
        ("epsilon", "-1", {"--epsilon": "-1"}),
        ("epsilon", "x", {"--epsilon": "x"}),
        ("epsilon", "nan", {"--epsilon": "nan"}),
        ("epsilon", "inf", {"--epsilon": "inf"}),
        ("delta", "-1", {"--delta": "-1"}),
        ("delta", "1", {"--delta": "1"}),
        ("delta", "x", {"--delta": "x"}),
        ("max_rows", "0", {"--unit": "ID", "--max-rows": "0"}),
        ("max_rows", "-1", {"--unit": "ID", "--max-rows": "-1"}),
        ("missing", "maybe", {"--missing": "maybe"}),
    ],
)
def test_a_bad_promise_is_refused_as_by_the_command_line(tmp_path, field, value, flags):
    """The budget, what is left to chance, units and cells without a value."""
    of_unit = {"who": "unit", "unit": "ID"} if "--unit" in flags else {}
    before = drafted()[1]
    draft, errors = promise(before, Form({**PROMISED, **of_unit, field: value}))
    assert errors[field], dict.fromkeys(errors)
    assert errors[field] in refused(tmp_path, **flags)
    assert draft is before


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("release", "release is there already"),
        ("older", "older-custodian is there already"),
        ("no/such/folder", "it must be there"),
        ("people.csv/release", "the folder around it must be a folder"),
        ("../release", "a path must lead downwards"),
        ("/release", "a path must lead downwards"),
        (".hidden", "names that begin with a point are hidden"),
        ("", "what is written must have a name"),
        ("a\0b", "a path must be text without NUL"),
    ],
)
def test_a_bad_folder_is_refused(tmp_path, name, rule):
    """Before anything is drawn, with the rule: one that is there is never written into."""
    (tmp_path / "people.csv").write_text(TABLE)
    for taken in ("release", "older-custodian"):
        (tmp_path / taken).mkdir()
    with pytest.raises(FileError) as refusal:
        Folder(tmp_path).place_for(name)
    assert rule in str(refusal.value)
