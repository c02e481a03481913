"""What the command line refuses, the page refuses with the same sentence, beside the field."""

import io

import polars as pl
import pytest

import microveil as mv
from command import run
from drafted import drafted, fields_of
from microveil.app.columns import as_sent, columns_of, declare_column
from microveil.app.places import Folder
from microveil.app.promise import promise
from microveil.app.site import Form
from microveil.errors import FileError

TABLE = """AGE,INCOME,BORN,SEX,ID
31,1200.50,1990-01-02,f,1
44,900.25,1980-03-04,m,2
58,2100.00,1966-05-06,f,3
"""
AGE, INCOME, BORN, SEX = range(4)
DOMAINS = {
    AGE: {"lower": "0", "upper": "120"},
    INCOME: {"lower": "0", "upper": "1000000", "resolution": "0.01"},
    BORN: {"lower": "1900-01-01", "upper": "2030-12-31"},
    SEX: {"categories": "f\nm"},
}
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


def errors_of(number, changed):
    """Save a column with some fields changed; return what is wrong beside them."""
    draft = drafted()[1]
    column = list(columns_of(draft))[number]
    form = Form(fields_of(column) | DOMAINS[number] | changed)
    return declare_column(draft, as_sent(column, form))[1]


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
    ("number", "fields", "flags"),
    [
        (AGE, {"lower": "9", "upper": "1"}, {"--bounds AGE": "9:1"}),
        (SEX, {"categories": "f\nf"}, {"--categories SEX": "f,f"}),
        (INCOME, {"resolution": "0"}, {"--resolution INCOME": "0"}),
        (INCOME, {"resolution": "-1"}, {"--resolution INCOME": "-1"}),
        (INCOME, {"resolution": "x"}, {"--resolution INCOME": "x"}),
        (INCOME, {"resolution": "nan"}, {"--resolution INCOME": "nan"}),
        (SEX, {"codes": "z\nz"}, {"--missing-codes SEX": "z,z"}),
    ],
)
def test_a_bad_column_is_refused_as_by_the_command_line(tmp_path, number, fields, flags):
    """Bounds, categories, steps and codes."""
    field, errors = next(iter(fields)), errors_of(number, fields)
    assert errors[field], dict.fromkeys(errors)
    assert errors[field] in refused(tmp_path, **flags)


@pytest.mark.parametrize(
    ("number", "fields", "asked"),
    [
        (AGE, {"lower": "x"}, {"bounds": {"AGE": ("x", "120")}}),
        (AGE, {"lower": "nan"}, {"bounds": {"AGE": ("nan", "120")}}),
        (AGE, {"upper": "inf"}, {"bounds": {"AGE": ("0", "inf")}}),
        (AGE, {"lower": ""}, {"bounds": {"AGE": ("", "120")}}),
        (BORN, {"lower": "soon"}, {"bounds": {"BORN": ("soon", "2030-12-31")}}),
        (BORN, {"lower": "1900-02-30"}, {"bounds": {"BORN": ("1900-02-30", "2030-12-31")}}),
        (
            AGE,
            {"categories": "1\nx", "lower": "", "upper": ""},
            {"categories": {"AGE": ["1", "x"]}},
        ),
        (None, {"max_rows": "1.5"}, {"unit": "ID", "max_rows": "1.5"}),
        (None, {"max_rows": "x"}, {"unit": "ID", "max_rows": "x"}),
    ],
)
def test_what_flags_would_read_otherwise_is_refused_as_in_python(number, fields, asked):
    """On the command line two words are categories, and a number is checked by the flag itself."""
    table = pl.read_csv(io.StringIO(TABLE), try_parse_dates=True)
    (name,) = asked.get("bounds") or asked.get("categories") or ["AGE"]
    with pytest.raises(mv.RequestError) as refusal:
        mv.protect(table, method="laplace", epsilon=1, attributes=name, **asked)
    if number is None:
        _, errors = promise(drafted()[1], Form({**PROMISED, "who": "unit", "unit": "ID", **fields}))
    else:
        errors = errors_of(number, fields)
    (field,) = errors
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
