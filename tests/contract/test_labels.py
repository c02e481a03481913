"""Labels, code lists and codes of missing answers: in with a table, out with its release."""

import datetime
import json
import pickle
import traceback

import numpy as np
import polars as pl
import pyreadstat
import pytest

import microveil as mv
from command import run
from microveil.commands.files import inspect_file, protect_file
from microveil.files import written_formats
from microveil.files.reading import read_file
from microveil.files.writing import write_data
from microveil.protect.recipe import read_recipe
from microveil.schema import Kind, Source
from microveil.table import ColumnSchema, Labels
from sas_files import write_sas7bdat, write_xpt

SECRET = "SECRET77"
FRAME = pl.DataFrame(
    {
        "AGE": range(20, 60),
        "SEX": [1, 2, 9, 1] * 10,
        "REGION": ["n", "s", None, "n"] * 10,
        "INCOME": [100, -9, 5000, None] * 10,
    }
)
LABELS = {
    "AGE": Labels(column="Age in years"),
    "SEX": Labels(column="Sex", codes={1: "male", 2: "female", 9: "refused"}, missing_codes=(9,)),
    "REGION": Labels(codes={"n": "North", "s": "South"}),
    "INCOME": Labels(column=SECRET, codes={-9: SECRET}, missing_codes=(-9,)),
}
ASKED = {
    "method": "dp-um", "k": 5, "epsilon": 1, "attributes": ["AGE"], "bounds": {"AGE": (0, 99)},
    "keep": ["SEX", "REGION"],
}  # fmt: skip


@pytest.fixture
def people(tmp_path):
    """The table as an SPSS file."""
    write_data(FRAME, tmp_path / "people.sav", text=None, labels=LABELS)
    return tmp_path / "people.sav"


def said(table):
    return {name: column.labels for name, column in table.schema.items()}


def test_a_file_brings_its_labels(people):
    """As another library wrote them and reads them; codes are values of their own type."""
    read = mv.read(people)
    assert read.frame.equals(FRAME)
    assert said(read) == LABELS
    assert read.missing_codes == {"SEX": [9], "INCOME": [-9]}
    assert read.schema["SEX"].categories is None  # a list of the file declares no domain
    _, meta = pyreadstat.read_sav(str(people), user_missing=True)
    assert meta.variable_value_labels["SEX"] == {1.0: "male", 2.0: "female", 9.0: "refused"}
    assert meta.missing_ranges["INCOME"] == [{"lo": -9.0, "hi": -9.0}]


@pytest.mark.parametrize("name", written_formats())
def test_a_release_of_any_format_opens_with_its_labels(people, name):
    """In the file or in schema.json beside it; and what is not released is in neither."""
    folder = people.parent / "out"
    release = protect_file(people, folder, **ASKED, format=name)
    data = next(folder.glob("data.*"))
    again = mv.read(data)
    assert said(again) == said(release) == {n: LABELS[n] for n in ("AGE", "SEX", "REGION")}
    assert again.frame.select("SEX", "REGION").equals(FRAME.select("SEX", "REGION"))
    assert (folder / "schema.json").exists() == (name not in {"sav", "zsav"})
    for file in folder.iterdir():
        assert SECRET.encode() not in file.read_bytes()
    assert "read through them" in release.notes[-1]
    protect_file(people, folder, **ASKED, format=name, overwrite=True)


def test_the_schema_of_a_release_says_what_is_known_of_its_columns(people):
    """Kinds, declared categories and labels, of released columns alone; in a pickled one too."""
    release = mv.protect(
        mv.read(people), method="pram", epsilon=1, attributes=["REGION"], missing="keep",
        categories={"REGION": ["n", "s"]}, keep=["SEX"],
    )  # fmt: skip
    assert {name: column.kind for name, column in release.schema.items()} == {
        "SEX": Kind.WHOLE,
        "REGION": Kind.NOMINAL,
    }
    assert release.schema["REGION"].categories.values == ("n", "s")
    assert release.schema["REGION"].categories.source is Source.DECLARED
    assert pickle.loads(pickle.dumps(release)).schema == release.schema  # noqa: S301
    plain = mv.protect({"AGE": np.arange(40)}, **{**ASKED, "keep": []})
    assert plain.schema["AGE"].labels == Labels()
    assert not any("Labels" in note for note in plain.notes)


def test_codes_of_missing_answers_that_are_protected_as_values_are_named(people):
    """Those of protected attributes, not of kept ones: nobody finds -9 averaged in silence."""
    asked = {**ASKED, "attributes": ["AGE", "INCOME"], "missing": "keep"}
    asked["bounds"] = {"AGE": (0, 99), "INCOME": (-9, 10_000)}
    release = mv.protect(mv.read(people), **asked)
    assert "codes of missing answers in INCOME that the request does not" in release.notes[-1]
    assert "--missing-codes" in release.notes[-1]
    assert not any("protected as values" in n for n in mv.protect(mv.read(people), **ASKED).notes)


IN_NUMBERS = {"method": "dp-um", "k": 5, "attributes": ["A"], "bounds": {"A": (-9, 99)}}
IN_WORDS = {"method": "pram", "attributes": ["B"], "categories": {"B": ["n", "s", "x", "y"]}}


@pytest.mark.parametrize(
    ("asked", "declared", "is_named"),
    [
        (IN_NUMBERS, {}, True),
        (IN_NUMBERS, {"missing_codes": {"A": [-9, -8]}}, False),
        (IN_NUMBERS, {"missing_codes": {"A": ["-9.0", "-8"]}}, False),
        (IN_NUMBERS, {"missing_codes": {"A": [-9]}}, True),
        (IN_NUMBERS, {"missing_codes": {"B": [-9, -8]}}, True),
        (IN_NUMBERS, {"missing_values": ["-9", "-8"]}, True),  # of text alone
        (IN_WORDS, {}, False),  # a category like the others
        (IN_WORDS, {"categories": {"B": ["n", "s", "x"]}}, True),
        (IN_WORDS, {"categories": {"B": ["n", "s"]}, "missing_codes": {"B": ["x", "y"]}}, False),
        (IN_WORDS, {"categories": {"B": ["n", "s"]}, "missing_values": ["x", "y"]}, False),
        (IN_WORDS, {"categories": {"B": ["n", "s"]}, "missing_values": ["x"]}, True),
    ],
)
def test_codes_that_the_request_declares_are_named_no_more(asked, declared, is_named):
    """As missing ones, each of them, however it is written; or as categories of their own."""
    frame = pl.DataFrame({"A": [1, -9, 5, 7] * 10, "B": ["n", "s", "x", "n"] * 10})
    labels = {"A": Labels(missing_codes=(-9, -8)), "B": Labels(missing_codes=("x", "y"))}
    kinds = {"A": Kind.WHOLE, "B": Kind.OTHER}
    schema = {
        name: ColumnSchema(kind=kinds[name], categories=None, labels=labels[name]) for name in kinds
    }
    table = mv.LabelledTable(frame, schema)
    release = mv.protect(table, epsilon=1, missing="keep", **(asked | declared))
    assert any("does not declare" in note for note in release.notes) == is_named


def test_a_code_list_is_proposed_and_never_taken(people):
    """Inspect says what it is in a comment; a request declares it, and is held to it."""
    recipe = inspect_file(people, None, None)[1].text
    assert "# by the file: 1 male, 2 female\n" in recipe
    assert "# of missing answers by the file: 9" in recipe
    assert '# accept = "file" ' in recipe
    assert "# Age in years" in recipe
    assert "lacks" not in recipe
    assert "categories" not in read_recipe(_parsed(recipe))
    write_data(FRAME, people.with_name("few.sav"), text=None, labels={
        "SEX": Labels(codes={1: "male", 2: "female"}), "REGION": LABELS["REGION"],
    })  # fmt: skip
    shown = inspect_file(people.with_name("few.sav"), None, None, show_values=True)[1].text
    assert shown.count("# the column has values that this list lacks") == 1
    found = inspect_file(people.with_name("few.sav"), None, None)[1]
    assert "lacks" not in found.text
    assert any("lacks" in sentence for sentence in found.remarks["SEX"])
    with pytest.raises(mv.DataError, match="none of the declared categories") as caught:
        mv.protect(
            mv.read(people), method="pram", epsilon=1, attributes=["SEX"],
            categories={"SEX": list(LABELS["SEX"].valid)},
        )  # fmt: skip
    assert "9" not in caught.value.rule


@pytest.mark.parametrize("form", ["sav", "csv"])
def test_an_ordinal_measure_is_proposed_as_an_order_to_confirm(tmp_path, form):
    """The codes by their size, whatever the file's order; of other code lists nothing is said."""
    listed = {3: "degree", -8: "refused", 1: "none", 2: "school"}
    measured = Labels(codes=listed, missing_codes=(-8,), is_ordinal=True)
    frame = pl.DataFrame({"LEVEL": [1, 2, 3, -8] * 9, "SEX": [1, 2] * 18, "AGE": range(36)})
    source, labels = tmp_path / "people.sav", {"LEVEL": measured, "SEX": LABELS["SEX"]}
    write_data(frame, source, text=None, labels=labels)
    assert pyreadstat.read_sav(source)[1].variable_measure["LEVEL"] == "ordinal"
    asked = {"method": "laplace", "epsilon": 1, "attributes": ["AGE"], "bounds": {"AGE": (0, 99)}}
    protect_file(source, tmp_path / "out", **asked, keep=["LEVEL", "SEX"], format=form)
    for path in (source, tmp_path / "out" / f"data.{form}"):
        again = mv.read(path).schema["LEVEL"].labels
        assert again == measured
        assert list(again.valid) == [1, 2, 3]
        recipe = inspect_file(path, None, None)[1].text
        assert recipe.count("by the file its order means something") == 1
        (_, own) = recipe.split("[attributes.LEVEL]\n")
        assert "# by the file: 1 none, 2 school, 3 degree\n" in own.partition("[attributes")[0]


def _parsed(recipe):
    import tomllib

    return tomllib.loads(recipe)


def test_a_label_of_several_lines_stays_in_its_comment(people):
    """What a file says in words cannot write entries of a recipe."""
    said = Labels(column='x"\nrole = "identifier"', codes={1: "a\nb = 1", 2: "c"})
    write_data(FRAME, people.with_name("odd.sav"), text=None, labels={"SEX": said})
    recipe = inspect_file(people.with_name("odd.sav"), None, None)[1].text
    entry = _parsed(recipe)["attributes"]["SEX"]
    assert entry == {"role": "confidential", "type": "whole number"}


# Statistical packages ----------------------------------------------------------------


def test_missing_codes_stay_what_they_are(tmp_path):
    """Discrete ones and short ranges are listed; what lies in a range without an end is missing."""
    frame = pl.DataFrame({"A": [1.0, -9.0, -3.0, None], "B": [1.0, -99.0, -90.0, 3.0]})
    pyreadstat.write_sav(
        frame, str(tmp_path / "t.sav"),
        missing_ranges={"A": [{"lo": -1e300, "hi": -5}], "B": [{"lo": -99, "hi": -97}, -90]},
        variable_format={"A": "F8.0", "B": "F8.0"},
    )  # fmt: skip
    read = mv.read(tmp_path / "t.sav")
    assert read.frame["A"].to_list() == [1, None, -3, None]
    assert read.frame["B"].to_list() == [1, -99, -90, 3]
    assert read.missing_codes == {"B": [-99, -98, -97, -90]}


def test_too_many_missing_codes_for_spss_are_refused(tmp_path):
    """With the column and what may be."""
    said = {"A": Labels(missing_codes=(1, 3, 5, 7))}
    with pytest.raises(mv.FileError, match=r"column 'A': SPSS takes three missing codes"):
        write_data(pl.DataFrame({"A": [1, 2]}), tmp_path / "t.sav", text=None, labels=said)
    assert not (tmp_path / "t.sav").exists()


def test_what_a_column_is_comes_from_its_format_and_not_from_a_record(tmp_path):
    """Shown without decimals it holds whole numbers, or a release is refused."""
    path = tmp_path / "t.sav"
    formats = {"A": "F8.0", "B": "F8.2"}
    whole = {"A": [float(n) for n in range(40)], "B": [float(n) for n in range(40)]}
    pyreadstat.write_sav(pl.DataFrame(whole), str(path), variable_format=formats)
    assert mv.read(path).frame.dtypes == [pl.Int64, pl.Float64]
    broken = {**whole, "A": [0.5, *whole["A"][1:]]}
    pyreadstat.write_sav(pl.DataFrame(broken), str(path), variable_format=formats)
    assert mv.read(path).frame["A"].dtype == pl.Float64
    asked = {"method": "dp-um", "k": 5, "epsilon": 1, "attributes": ["A"], "bounds": {"A": (0, 99)}}
    with pytest.raises(mv.FileError, match=r"column 1: .* without decimals") as caught:
        protect_file(path, tmp_path / "out", **asked)
    assert "--resolution" in caught.value.remedy
    protect_file(path, tmp_path / "out", **asked, resolution={"A": 0.5})
    kept = read_file(path, as_text=lambda _: True, of_one_kind=lambda _: True).frame
    assert kept["A"].dtype == pl.Float64


@pytest.mark.parametrize("write", [write_xpt, write_sas7bdat])
def test_sas_files_are_read_and_never_written(tmp_path, write):
    """Labels, dates and moments of both forms; a release names what it can be written as."""
    path = tmp_path / ("t.xpt" if write is write_xpt else "t.sas7bdat")
    days = [-200_000.0 + n for n in range(39)]
    frame = pl.DataFrame({
        "AGE": [float(n) for n in range(40)], "BORN": [*days, None], "SEEN": [0.5] * 40,
    })  # fmt: skip
    shown = {"AGE": "F8", "BORN": "DATE9", "SEEN": "DATETIME"}
    write(frame, path, labels={"AGE": "Age"}, formats=shown)
    read = mv.read(path)
    assert [column.kind for column in read.schema.values()] == [Kind.WHOLE, Kind.DATE, Kind.OTHER]
    first = datetime.date(1960, 1, 1) - datetime.timedelta(days=200_000)
    assert read.frame["BORN"].to_list()[::39] == [first, None]
    assert str(read.frame["SEEN"][0]) == "1960-01-01 00:00:00.500000"
    assert read.schema["AGE"].labels.column == "Age"
    asked = {**ASKED, "keep": []}
    with pytest.raises(mv.RequestError, match=r"SAS files are read alone; choose from csv.*dta"):
        protect_file(path, tmp_path / "out", **asked)
    assert not (tmp_path / "out").exists()
    protect_file(path, tmp_path / "out", **asked, format="sav")
    assert mv.read(tmp_path / "out" / "data.sav").schema["AGE"].labels.column == "Age"


@pytest.mark.parametrize("name", ["sav", "zsav", "dta"])
@pytest.mark.parametrize(
    ("column", "rule"),
    [
        (pl.Series("A B", [1, 2]), "a column's name in S"),
        (pl.Series("A", [2**53 + 1, 1]), "within 2\\^53"),
        (pl.Series("A", [1.7976931348623157e308, 1]), "would be missing"),
        (pl.Series("A", [float("inf"), 1]), "would be missing"),
        (pl.Series("A", [[1], [2]]), "numbers, text, dates or truth values"),
        (pl.Series("A", [1, 2]).cast(pl.Datetime("us")), "whole milliseconds"),
    ],
)
def test_what_a_statistical_package_cannot_hold_is_refused(tmp_path, name, column, rule):
    """By the column, never changed in silence; nothing is left behind."""
    path = tmp_path / f"t.{name}"
    with pytest.raises(mv.FileError, match=rf"column '{column.name}': .*{rule}"):
        write_data(pl.DataFrame({"B": [1, 2], column.name: column}), path, text=None)
    assert not path.exists()


# schema.json -------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    """A file of text with a schema beside it."""
    pl.DataFrame({"ZIP": ["12", "34"], "TAX": [1, 2], "SEX": [1, 2]}).write_csv(tmp_path / "t.csv")
    _schema(tmp_path, FIELDS)
    return tmp_path / "t.csv"


FIELDS = [
    {"name": "ZIP", "type": "string", "categories": ["12", {"value": "34", "label": "Town"}]},
    {"name": "TAX", "type": "number", "missingValues": ["", "-1.5", "-9"]},
    {"name": "SEX", "type": "integer", "title": "Sex",
     "categories": [{"value": 1, "label": "male"}],
     "missingValues": [{"value": "2", "label": "refused"}]},
]  # fmt: skip


def _schema(folder, fields):
    (folder / "schema.json").write_text(json.dumps({"fields": fields}), encoding="utf-8")


def test_a_schema_beside_a_table_says_what_its_columns_are(table):
    """Text and decimals whatever they look like, and labels in any spelling of the standard."""
    read = mv.read(table)
    assert read.frame.to_dict(as_series=False) == {
        "ZIP": ["12", "34"], "TAX": [1.0, 2.0], "SEX": [1, 2],
    }  # fmt: skip
    assert read.frame["TAX"].dtype == pl.Float64
    assert said(read) == {
        "ZIP": Labels(codes={"12": "12", "34": "Town"}),
        "TAX": Labels(missing_codes=(-1.5, -9)),
        "SEX": Labels(column="Sex", codes={1: "male", 2: "refused"}, missing_codes=(2,)),
    }
    done = run("inspect", "t.csv", folder=table.parent)
    assert "# by the file: 12 12, 34 Town" in done.stdout


@pytest.mark.parametrize(
    "fields",
    [
        FIELDS[:2],
        [*FIELDS, {"name": SECRET}],
        [FIELDS[0], *FIELDS],
        [*FIELDS[:2], {"type": "integer"}],
        [*FIELDS[:2], SECRET],
        [*FIELDS[:2], {**FIELDS[2], "categories": [{"label": SECRET}]}],
        [*FIELDS[:2], {**FIELDS[2], "categories": [SECRET]}],
        [*FIELDS[:2], {**FIELDS[2], "title": 5}],
        [*FIELDS[:2], {**FIELDS[2], "missingValues": 5}],
    ],
)
def test_a_schema_that_does_not_fit_is_refused(table, fields):
    """One of other columns, of a column twice, or broken: by its file, without what it holds."""
    _schema(table.parent, fields)
    with pytest.raises(mv.FileError, match=r"schema\.json") as caught:
        mv.read(table)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("contents", ["{}", "[]", '{"properties": {}}'])
def test_a_json_file_that_is_no_table_schema_is_left_alone(table, contents):
    """It belongs to something else."""
    (table.parent / "schema.json").write_text(contents)
    assert mv.read(table).frame["ZIP"].dtype == pl.Int64


def test_names_are_escaped_in_the_schema_as_in_the_file(tmp_path):
    """So that what was written is read again."""
    frame = pl.DataFrame({"@A": range(40), "SEX": [1, 2] * 20})
    labels = {"@A": Labels(column="A label"), "SEX": Labels()}
    schema = {n: ColumnSchema(kind=Kind.WHOLE, categories=None, labels=labels[n]) for n in labels}
    labelled = mv.LabelledTable(frame, schema)
    release = mv.protect(labelled, method="mdav", k=5, attributes=["@A"], keep=["SEX"])
    release.write(tmp_path / "out", escape_formulas=True)
    again = mv.read(tmp_path / "out" / "data.csv")
    assert said(again)["'@A"].column == "A label"


def test_a_release_keeps_the_measure_of_spss(tmp_path):
    """Of columns with labels: what goes along without any would be no condition of labels."""
    frame = pl.DataFrame(
        {
            "AGE": [1.0, 2.0] * 9,
            "TAX": [1.0, 2.0] * 9,
            "LEVEL": [1.0, 2.0] * 9,
            "SEX": [1.0, 2.0] * 9,
        }
    )
    measures = {"AGE": "scale", "TAX": "scale", "LEVEL": "ordinal", "SEX": "nominal"}
    listed = {1.0: "low", 2.0: "high"}
    pyreadstat.write_sav(
        frame, f"{tmp_path / 'in.sav'}", variable_measure=measures,
        column_labels={"AGE": "Age in years"},
        variable_value_labels={"LEVEL": listed, "SEX": listed},
        variable_format=dict.fromkeys(frame.columns, "F8.0"),
    )  # fmt: skip
    people = mv.read(tmp_path / "in.sav")
    release = mv.protect(people, method="mdav", k=3, attributes=frame.columns,
                         categories={"SEX": [1, 2]})  # fmt: skip
    release.write(tmp_path / "out", format="sav")
    _, meta = pyreadstat.read_sav(
        f"{tmp_path / 'out' / 'data.sav'}", metadataonly=True, output_format="polars"
    )
    kept = {name: measure for name, measure in meta.variable_measure.items() if name != "SEX"}
    assert kept == {"AGE": "scale", "TAX": "unknown", "LEVEL": "ordinal"}
