"""Labels of files: what a release says of them, which go out, and that none changes on the way."""

import datetime
import json

import pandas as pd
import polars as pl
import pyreadstat
import pytest

import microveil as mv
from command import run

WRITTEN = ["csv", "tsv.gz", "parquet", "arrow", "xlsx", "sqlite", "sav", "zsav", "dta"]
SCOPES = ["cluster", "vector", "row"]
N = 40
FRAME = pd.DataFrame({
    "AGE": [20.0 + n for n in range(N)],
    "REGION": [1.0, 2.0] * (N // 2),
    "WAGE": [100.0 * n for n in range(N)],
})  # fmt: skip
REGIONS = {1: "North", 2: "South", 7: "Hermit"}
MANNER = {"resolution": {"AGE": 1, "WAGE": 1}, "bounds": {"AGE": (0, 120), "WAGE": (0, 9999)}}


def spss(path, frame=FRAME, **more):
    """Write an SPSS file of whole numbers."""
    numbers = [n for n in frame.columns if frame[n].dtype == "float64"]
    pyreadstat.write_sav(
        frame, str(path), **{"variable_format": dict.fromkeys(numbers, "F8.0"), **more}
    )
    return path


def stata(path, frame=FRAME, **more):
    """Write a Stata file of whole numbers."""
    pyreadstat.write_dta(frame.astype("int32"), str(path), **more)
    return path


def conditions(guarantee):
    """Name the conditions of a guarantee, with their scopes."""
    return {one["id"]: one["scopes"] for one in guarantee.to_dict()["conditions"]}


def public_text(folder):
    """Return everything that a release publishes, unpacked as its own library unpacks it."""
    bare = b"".join(file.read_bytes() for file in folder.iterdir())
    return bare.decode("utf-8", errors="replace") + repr(mv.read(data_of(folder)).schema)


def data_of(folder):
    (data,) = folder.glob("data.*")
    return data


# The condition ------------------------------------------------------------------------

ASKED = [
    ({"method": "dp-um", "k": 5, "epsilon": 1, "attributes": ["AGE"]}, SCOPES),
    ({"method": "laplace", "epsilon": 1, "attributes": ["AGE"]}, SCOPES),
    ({"method": "idp-vector", "k": 5, "epsilon": 1, "attributes": ["AGE"]}, SCOPES),
    ({"method": "dp-synthetic", "epsilon": 100, "attributes": ["AGE"]}, SCOPES),
    ({"method": "mdav", "k": 5, "attributes": ["AGE"]}, []),
    ({"method": "k-noise", "k": 5, "noise": "uniform", "attributes": ["AGE"]}, []),
    (
        {"parts": [
            mv.part(["WAGE"], method="laplace", epsilon=1),
            mv.part(["AGE"], method="dp-um", k=5, epsilon=1),
        ]},
        SCOPES,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "scopes"), ASKED)
@pytest.mark.parametrize("write", [spss, stata])
def test_whoever_publishes_labels_of_a_file_says_so(tmp_path, write, asked, scopes):
    """A column label that is released is a condition, at every scope of every method."""
    path = write(tmp_path / f"t.{'sav' if write is spss else 'dta'}", column_labels={"AGE": "Age"})
    release = mv.protect(mv.read(path), **asked, **MANNER)
    assert conditions(release.guarantee)["labels"] == scopes
    assert "the labels" in release.guarantee.summary()
    statement = release.guarantee.statement()
    assert "**With the labels held.**" in statement
    assert "If one person's record were replaced by any other, nothing" not in statement
    folder, _ = release.write(tmp_path / "out")
    assert mv.Guarantee.read(folder / "guarantee.json") == release.guarantee


def test_labels_of_columns_that_are_kept_are_a_condition(tmp_path):
    """They are published with their column, beside whatever is promised of others."""
    path = stata(tmp_path / "t.dta", variable_value_labels={"REGION": REGIONS})
    asked = {"method": "laplace", "epsilon": 1, "attributes": ["AGE"], "max_rows": 1, **MANNER}
    release = mv.protect(mv.read(path), keep=["REGION"], **asked)
    assert list(conditions(release.guarantee)) == ["labels", "kept-columns"]
    assert release.schema["REGION"].labels.codes == REGIONS
    assert "replaced by any other and the labels stayed the same" in release.guarantee.statement()
    assert conditions(mv.protect(mv.read(path), **asked).guarantee) == {}


def test_a_guarantee_is_conditional_on_nothing_where_no_label_goes_out(tmp_path):
    """A table without labels, and one whose only labels lie outside the declared domain."""
    asked = {"method": "laplace", "epsilon": 1, "attributes": ["AGE"], "max_rows": 1, **MANNER}
    plain = mv.protect(mv.read(spss(tmp_path / "a.sav")), **asked).guarantee
    outside = spss(tmp_path / "b.sav", variable_value_labels={"AGE": {150.0: "Methuselah"}})
    assert mv.protect(mv.read(outside), **asked).guarantee == plain
    assert plain.conditions == ()
    assert "If one person's record were replaced by any other, nothing" in plain.statement()


# Which labels go out ------------------------------------------------------------------

DECLARED = [
    {"method": "pram", "epsilon": 1, "attributes": ["REGION"], "categories": {"REGION": [1, 2]}},
    {"method": "laplace", "epsilon": 1, "attributes": ["REGION"], "bounds": {"REGION": (1, 6)}},
    {"method": "dp-synthetic", "epsilon": 9, "attributes": ["REGION"],
     "categories": {"REGION": [1, 2]}},
    {"method": "mdav", "k": 5, "attributes": ["REGION"], "bounds": {"REGION": (0, 2.5)}},
    {"parts": [mv.part(["REGION"], method="pram", epsilon=1), mv.part(["AGE"], method="mdav", k=5)],
     "categories": {"REGION": [1, 2]}},
]  # fmt: skip


@pytest.mark.parametrize("asked", DECLARED)
@pytest.mark.parametrize("name", ["csv", "sav", "dta"])
def test_a_label_outside_the_declared_domain_is_published_nowhere(tmp_path, asked, name):
    """Not of a code beyond the bounds, nor of one that no list of categories holds."""
    path = stata(tmp_path / "t.dta", variable_value_labels={"REGION": REGIONS})
    release = mv.protect(mv.read(path), resolution={"REGION": 1, "AGE": 1}, **asked)
    folder, _ = release.write(tmp_path / "out", format=name)
    assert mv.read(data_of(folder)).schema["REGION"].labels.codes == {1: "North", 2: "South"}
    assert "Hermit" not in public_text(folder)
    assert "labels" in conditions(release.guarantee)


@pytest.mark.parametrize("asked", DECLARED)
def test_a_person_whose_value_made_a_label_leaves_no_trace_of_it(tmp_path, asked):
    """Files whose labels differ by one person's value alone say the same of their release."""
    said = []
    for labels in (REGIONS, {1: "North", 2: "South"}):
        path = stata(tmp_path / "t.dta", variable_value_labels={"REGION": labels})
        release = mv.protect(mv.read(path), resolution={"REGION": 1, "AGE": 1}, **asked)
        said.append((release.guarantee.to_dict(), release.notes, release.schema))
    assert said[0] == said[1]


def test_labels_of_dates_outside_the_bounds_are_left_out(tmp_path):
    """A labelled date goes out where it lies inside them, or is declared missing."""
    first, last, none = (datetime.date(year, 1, 1) for year in (1990, 2050, 1900))
    frame = pd.DataFrame({"BORN": [datetime.date(1990, 1, n % 28 + 1) for n in range(N)]})
    words = {first: "the first", last: "Hermit", none: "refused"}
    path = tmp_path / "t.sav"
    pyreadstat.write_sav(frame, str(path), variable_value_labels={"BORN": words})
    asked = {"method": "laplace", "epsilon": 1, "bounds": {"BORN": ("1980-01-01", "2020-01-01")}}
    release = mv.protect(
        mv.read(path), attributes=["BORN"], missing="keep", missing_codes={"BORN": [none]}, **asked
    )
    assert release.schema["BORN"].labels.codes == {first: "the first", none: "refused"}
    without = mv.protect(mv.read(path), attributes=["BORN"], **asked)
    assert without.schema["BORN"].labels.codes == {first: "the first"}


@pytest.mark.parametrize("name", ["csv", "sav"])
def test_codes_that_are_declared_missing_keep_their_labels(tmp_path, name):
    """Though they lie outside the domain: a release may say why cells are missing."""
    frame = FRAME.assign(WAGE=[-9.0, *FRAME["WAGE"][1:]])
    labels = {"WAGE": {-9.0: "refused", -8.0: "Hermit", 0.0: "none"}}
    path = spss(
        tmp_path / "t.sav", frame, variable_value_labels=labels, missing_ranges={"WAGE": [-9, -8]}
    )
    release = mv.protect(
        mv.read(path), method="dp-um", k=5, epsilon=1, attributes=["WAGE"], missing="keep",
        missing_codes={"WAGE": [-9]}, **MANNER,
    )  # fmt: skip
    folder, _ = release.write(tmp_path / "out", format=name)
    again = mv.read(data_of(folder)).schema["WAGE"].labels
    assert again.codes == {-9: "refused", 0: "none"}
    assert again.missing_codes == (-9,)
    assert "Hermit" not in public_text(folder)


# Codes that no cell of their column can hold ------------------------------------------


@pytest.fixture
def extended(tmp_path):
    """A Stata file with labelled extended missing values, as surveys have them."""
    frame = pd.DataFrame({"AGE": [20, 21, 30, 31, 40, 41], "V": [1, 2, "a", "b", 1, 2]})
    words = {1: "yes", 2: "no", "a": "refused", "b": "does not apply"}
    pyreadstat.write_dta(
        frame, str(tmp_path / "in.dta"), missing_user_values={"V": ["a", "b"]},
        variable_value_labels={"V": words},
    )  # fmt: skip
    return tmp_path / "in.dta"


@pytest.mark.parametrize("name", WRITTEN)
def test_labelled_missing_values_of_stata_leave_the_other_labels_whole(extended, name):
    """1 yes and 2 no are kept in every format, what is left out is named, and all is read again."""
    asked = ["--method", "mdav", "--k", 2, "--attributes", "AGE", "--resolution", "AGE=1"]
    done = run("protect", extended.name, *asked, "--keep", "V", "--format", name, "-o", "out",
               folder=extended.parent)  # fmt: skip
    assert done.returncode == 0
    assert "no cell of the column can hold: in V." in done.stderr + done.stdout
    data = data_of(extended.parent / "out")
    assert mv.read(data).schema["V"].labels.codes == {1: "yes", 2: "no"}
    assert run("assess", extended.name, "out", folder=extended.parent).returncode == 0
    if name == "dta":
        assert pyreadstat.read_dta(str(data))[1].variable_value_labels == {"V": {1: "yes", 2: "no"}}


DAYS = [datetime.date(year, 1, 1) for year in (1990, 1901, 2001, 1999, 1905, 1960)]


@pytest.mark.parametrize("name", WRITTEN)
def test_codes_of_dates_are_dates_in_every_format(tmp_path, name):
    """A code that SPSS stores as seconds is read as a date, and released as one."""
    refused = datetime.date(1901, 1, 1)
    frame = pd.DataFrame({"AGE": [20.0, 21, 30, 31, 40, 41], "V": DAYS})
    seconds = float((refused - datetime.date(1582, 10, 14)).days * 86_400)
    pyreadstat.write_sav(
        frame, str(tmp_path / "in.sav"), missing_ranges={"V": [seconds]},
        variable_value_labels={"V": {refused: "refused"}},
    )  # fmt: skip
    read = mv.read(tmp_path / "in.sav")
    assert read.missing_codes == {"V": [refused]}
    asked = {"method": "mdav", "k": 2, "resolution": {"AGE": 1}}
    release = mv.protect(read, attributes=["AGE"], keep=["V"], **asked)
    folder, _ = release.write(tmp_path / "out", format=name)
    again = mv.read(data_of(folder))
    assert again.schema["V"].labels.codes == {refused: "refused"}
    assert again.missing_codes == {"V": [refused]}
    assert again.frame["V"].to_list() == DAYS
    of_dates = mv.protect(
        again, attributes=["V"], missing="keep", missing_codes=again.missing_codes, **asked
    )
    assert of_dates.data["V"].null_count() == 1
    if name == "sav":
        words = pyreadstat.read_sav(str(data_of(folder)), user_missing=True)[1]
        assert words.missing_ranges == {"V": [{"lo": refused, "hi": refused}]}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize(
    "more",
    [
        {"variable_value_labels": {"V": {1.0: "one", 1.5: "half"}}},
        {"variable_value_labels": {"V": {1.0: "one"}}, "missing_ranges": {"V": [99.5]}},
    ],
)
def test_a_code_between_whole_numbers_takes_no_other_ones_label(tmp_path, name, more):
    """1.5 in a column of whole numbers is left out and named; 1 stays one."""
    frame = pd.DataFrame({"AGE": [20.0, 21, 30, 31, 40, 41], "V": [1.0, 2, 3, 3, 1, 2]})
    read = mv.read(spss(tmp_path / "in.sav", frame, **more))
    release = mv.protect(read, method="mdav", k=2, attributes=["AGE"], keep=["V"])
    assert any("can hold: in V." in note for note in release.notes)
    folder, _ = release.write(tmp_path / "out", format=name)
    labels = mv.read(data_of(folder)).schema["V"].labels
    assert (labels.codes, labels.missing_codes) == ({1: "one"}, ())


@pytest.mark.parametrize("name", WRITTEN)
def test_fractions_that_are_codes_of_decimals_are_kept_in_every_format(tmp_path, name):
    """In the file, or in schema.json where it takes whole numbers alone."""
    frame = pd.DataFrame({"AGE": [20.0, 21, 30, 31, 40, 41], "V": [1.5, 2, 3, 3, 1, 2]})
    words = {1.5: "half", 2.0: "two"}
    pyreadstat.write_sav(frame, str(tmp_path / "in.sav"), variable_value_labels={"V": words})
    asked = {"method": "mdav", "k": 2, "resolution": {"AGE": 1}}
    release = mv.protect(mv.read(tmp_path / "in.sav"), attributes=["AGE"], keep=["V"], **asked)
    folder, _ = release.write(tmp_path / "out", format=name)
    assert mv.read(data_of(folder)).schema["V"].labels.codes == words


def test_labels_of_moments_are_left_out_and_named(tmp_path):
    """A code in seconds is no value of a column of moments, in the release nor beside it."""
    moments = pd.to_datetime(["1990-01-01 10:00", "1900-01-01 00:00"] * 3)
    frame = pd.DataFrame({"AGE": [20.0, 21, 30, 31, 40, 41], "V": moments})
    words = {datetime.datetime(1900, 1, 1): "refused"}  # noqa: DTZ001 -- a file knows no zones
    pyreadstat.write_sav(frame, str(tmp_path / "in.sav"), variable_value_labels={"V": words})
    read = mv.read(tmp_path / "in.sav")
    asked = {"method": "mdav", "k": 2, "resolution": {"AGE": 1}}
    release = mv.protect(read, attributes=["AGE"], keep=["V"], **asked)
    assert any("can hold: in V." in note for note in release.notes)
    folder, _ = release.write(tmp_path / "out")
    assert mv.read(data_of(folder)).schema["V"].labels.codes == {}


def test_a_schema_with_yes_and_no_as_codes_is_read_again(tmp_path):
    """Labels of true and false survive a release."""
    pl.DataFrame({"AGE": range(N), "WORKS": [True, False] * (N // 2)}).write_csv(tmp_path / "t.csv")
    codes = [{"value": "true", "label": "at work"}, {"value": "false", "label": "not"}]
    fields = [{"name": "AGE", "type": "integer"},
              {"name": "WORKS", "type": "boolean", "categories": codes}]  # fmt: skip
    (tmp_path / "schema.json").write_text(json.dumps({"fields": fields}), encoding="utf-8")
    read = mv.read(tmp_path / "t.csv")
    release = mv.protect(read, method="mdav", k=5, attributes=["AGE"], keep=["WORKS"])
    words = {True: "at work", False: "not"}
    for name in WRITTEN:
        folder, _ = release.write(tmp_path / f"out-{name}", format=name)
        assert mv.read(data_of(folder)).schema["WORKS"].labels.codes == words, name


@pytest.mark.parametrize("name", WRITTEN)
def test_labels_of_a_column_that_is_kept_as_text_are_read_again(tmp_path, name):
    """A command keeps cells of a CSV file as they stand: their codes are then text too."""
    pl.DataFrame({"AGE": range(N), "V": [1, 2] * (N // 2)}).write_csv(tmp_path / "t.csv")
    listed = [{"value": 1, "label": "yes"}, {"value": 2, "label": "no"}]
    of_v = {"name": "V", "type": "integer", "categories": listed, "missingValues": ["", "2"]}
    fields = [{"name": "AGE", "type": "integer"}, of_v]
    (tmp_path / "schema.json").write_text(json.dumps({"fields": fields}), encoding="utf-8")
    done = run("protect", "t.csv", *PROTECT, "--format", name, folder=tmp_path)
    assert done.returncode == 0
    assert "can hold: in V." not in done.stderr + done.stdout
    again = mv.read(data_of(tmp_path / "out"))
    assert again.frame["V"].to_list() == ["1", "2"] * (N // 2)
    labels = again.schema["V"].labels
    assert (labels.codes, labels.missing_codes) == ({"1": "yes", "2": "no"}, ("2",))


# Labels that a format would cut -------------------------------------------------------


def described(data):
    """Return value labels and column labels as another library finds them in a file."""
    reader = pyreadstat.read_dta if data.suffix == ".dta" else pyreadstat.read_sav
    meta = reader(str(data))[1]
    return meta.variable_value_labels.get("V", {}), meta.column_names_to_labels["V"] or ""


def labelled_table(folder, column, codes):
    """Write a table whose labels stand in a schema.json, as long as they like."""
    pl.DataFrame({"AGE": range(N), "V": [1, 2] * (N // 2)}).write_parquet(folder / "t.parquet")
    listed = [{"value": code, "label": text} for code, text in codes.items()]
    fields = [{"name": "AGE", "type": "integer"},
              {"name": "V", "type": "integer", "title": column, "categories": listed}]  # fmt: skip
    (folder / "schema.json").write_text(json.dumps({"fields": fields}), encoding="utf-8")


PROTECT = ["--method", "mdav", "--k", 5, "--attributes", "AGE", "--keep", "V", "-o", "out"]


@pytest.mark.parametrize(
    ("name", "column", "codes"),
    [
        ("sav", "A" * 257, {1: "x" * 121, 2: "x" * 120 + "y", 3: "no answer"}),
        ("zsav", "ä" * 129, {1: "ä" * 61, 2: "ä" * 60 + "ö", 3: "no answer"}),
        ("dta", "A" * 81, {1: "x" * 32_001, 2: "x" * 32_000 + "y", 3: "no answer"}),
        ("dta", "A" * 81, {2**31 - 1: "z", -(2**31): "y", 3: "no answer"}),
        ("sav", "a\0b", {1: "a\0b", 2: "a\0c", 3: "no answer"}),
        ("dta", "a\0b", {1: "a\0b", 2: "a\0c", 3: "no answer"}),
    ],
)
def test_a_label_that_is_too_long_is_kept_whole_beside_the_file(tmp_path, name, column, codes):
    """No file holds part of a label, two codes never share one, and a note names the column."""
    labelled_table(tmp_path, column, codes)
    done = run("protect", "t.parquet", *PROTECT, "--format", name, folder=tmp_path)
    assert done.returncode == 0
    assert "cannot hold every label of V" in done.stderr + done.stdout
    assert described(data_of(tmp_path / "out")) == ({3: "no answer"}, "")
    field = json.loads((tmp_path / "out" / "schema.json").read_text("utf-8"))["fields"][1]
    assert field["title"] == column
    assert {entry["value"]: entry["label"] for entry in field["categories"]} == codes
    labels = mv.read(data_of(tmp_path / "out")).schema["V"].labels
    assert (labels.column, labels.codes) == (column, codes)


@pytest.mark.parametrize(
    ("name", "column", "codes"),
    [
        ("sav", "ä" * 128, {1: "ä" * 60, 2: "x" * 120}),
        ("zsav", "A" * 256, {1: "x" * 120, 2: "x" * 119 + "y"}),
        ("dta", "ä" * 80, {1: "x" * 32_000, 2: "ä" * 16_000}),
    ],
)
def test_a_label_as_long_as_a_format_takes_is_in_the_file(tmp_path, name, column, codes):
    """The limits are those of the formats: what fits stands in the file itself."""
    labelled_table(tmp_path, column, codes)
    done = run("protect", "t.parquet", *PROTECT, "--format", name, folder=tmp_path)
    assert "cannot hold every label" not in done.stderr + done.stdout
    assert described(data_of(tmp_path / "out")) == (codes, column)


# What a format refuses ----------------------------------------------------------------

WORDS = [
    "_all", "_b", "byte", "_coef", "_cons", "double", "float", "if", "in", "int", "long", "_n",
    "_N", "_pi", "_pred", "_rc", "_skip", "str1", "str5", "str2045", "strL", "using", "with",
]  # fmt: skip


def refused(folder, frame, name):
    """Say how a table is refused in a format, of which nothing is left."""
    asked = {"method": "mdav", "k": 5, "attributes": ["AGE"]}
    kept = [column for column in frame.columns if column != "AGE"]
    release = mv.protect(frame, keep=kept, **asked)
    with pytest.raises(mv.FileError) as caught:
        release.write(folder / "out", format=name)
    assert list(folder.iterdir()) == []
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "column", "rule"),
    [
        *(("dta", word, "no word of its language") for word in WORDS),
        ("sav", "ä" * 40, "64 bytes"),
        ("sav", "ä" * 32 + "x", "64 bytes"),
        ("zsav", "名" * 22, "64 bytes"),
        ("dta", "x" * 33, "32 letters"),
    ],
)
def test_a_name_that_a_format_refuses_is_named_with_the_rule(tmp_path, name, column, rule):
    """The error says which column it is, what the format takes, and to rename it."""
    frame = pl.DataFrame({"AGE": range(N), "B": range(N), column: range(N)})
    said = refused(tmp_path, frame, name)
    assert f"column '{column}'" in said
    assert rule in said
    assert "rename it" in said


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("sav", "x" * 32_768, "32,767 bytes"),
        ("zsav", "ä" * 16_384, "32,767 bytes"),
        ("sav", "a\0b", "zero character"),
        ("dta", "a\0b", "zero character"),
    ],
)
def test_text_that_a_format_would_cut_is_refused(tmp_path, name, text, rule):
    """By its column, without the text; as much of it as the format takes comes back whole."""
    frame = pl.DataFrame({"AGE": range(N), "B": [text, "y"] * (N // 2)})
    said = refused(tmp_path, frame, name)
    assert "column 'B'" in said
    assert rule in said
    assert text not in said
    longest = pl.DataFrame({"AGE": range(N), "B": ["x" * 32_767, "y"] * (N // 2)})
    release = mv.protect(longest, method="mdav", k=5, attributes=["AGE"], keep=["B"])
    folder, _ = release.write(tmp_path / "out", format=name)
    assert mv.read(data_of(folder)).frame["B"].to_list() == longest["B"].to_list()


def test_a_missing_code_of_text_that_spss_cannot_declare_is_refused(tmp_path):
    """It takes eight bytes: without the code its cells would be values."""
    pl.DataFrame({"AGE": range(N), "V": ["n", "not asked"] * (N // 2)}).write_csv(
        tmp_path / "t.csv"
    )
    fields = [{"name": "AGE", "type": "integer"},
              {"name": "V", "type": "string", "missingValues": ["not asked"]}]  # fmt: skip
    (tmp_path / "schema.json").write_text(json.dumps({"fields": fields}), encoding="utf-8")
    done = run("protect", "t.csv", *PROTECT, "--format", "sav", folder=tmp_path)
    assert done.returncode != 0
    assert "column 'V': SPSS takes missing codes of text of up to 8 bytes" in done.stderr
    assert not (tmp_path / "out").exists()
