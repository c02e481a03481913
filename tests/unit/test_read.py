"""Reading files from Python."""

import traceback

import polars as pl
import pytest

import microveil as mv
from microveil.files import FORMATS, written_formats
from microveil.files.reading import read_file
from microveil.files.text import TextFormat
from microveil.files.writing import write_data
from microveil.schema import Kind

SECRET = "SECRET77"
ASKED = {"method": "mdav", "k": 5, "attributes": ["AGE", "TAX"], "resolution": {"TAX": 0.5}}


@pytest.fixture
def people(tmp_path):
    frame = pl.DataFrame({"AGE": range(20, 60), "TAX": [0.5, 1.5] * 20, "SEX": ["f", SECRET] * 20})
    write_data(frame, tmp_path / "people.csv", text=TextFormat())
    return tmp_path / "people.csv"


@pytest.mark.parametrize("name", written_formats())
def test_python_reads_what_the_command_line_reads(people, name):
    """The same table of each format, by a path or its text."""
    separator = FORMATS[name].separator
    path = people.with_name(f"again{FORMATS[name].suffixes[0]}")
    frame = pl.read_csv(people)
    write_data(frame, path, text=separator and TextFormat(separator=separator))
    read = mv.read(path)
    assert isinstance(read, mv.LabelledTable)
    assert read.frame.equals(read_file(path).frame)
    assert mv.read(str(path)).frame.equals(frame)
    assert {name: column.kind for name, column in read.schema.items()} == {
        "AGE": Kind.WHOLE,
        "TAX": Kind.DECIMAL,
        "SEX": Kind.OTHER,
    }


def test_it_is_said_how_text_is_written(tmp_path):
    """By separator, decimal mark and encoding, as for the command line."""
    path = tmp_path / "t.csv"
    path.write_bytes("NAME;A\nJosé;1,5\nEve;2,5\n".encode("latin-1"))
    read = mv.read(path, separator=";", decimal=",", encoding="latin-1").frame
    assert read.to_dict(as_series=False) == {"NAME": ["José", "Eve"], "A": [1.5, 2.5]}
    with pytest.raises(mv.RequestError, match="separator"):
        mv.read(path, separator="ab")


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_a_list_of_values_that_the_file_has_is_in_the_schema(tmp_path, name):
    """Those that a type lists, in its order; a column without a list has none."""
    path = tmp_path / f"t{FORMATS[name].suffixes[0]}"
    frame = pl.DataFrame(
        {"A": pl.Series(["y", "x", None], dtype=pl.Enum(["y", "x"])), "B": ["p", "q", "q"]}
    )
    write_data(frame, path, text=None)
    schema = mv.read(path).schema
    assert schema["A"].categories.values == ("y", "x")
    assert not schema["A"].categories.ordered
    assert schema["B"].categories is None


def test_every_verb_takes_what_was_read(people):
    """And does with it what it does with its frame."""
    read = mv.read(people)
    release = mv.protect(read, **ASKED)
    assert release.data.equals(mv.protect(read.frame, **ASKED).data)
    assert mv.plan(read, **ASKED).guarantee == mv.plan(read.frame, **ASKED).guarantee
    assert mv.bounds_from_data(read) == mv.bounds_from_data(read.frame)
    assert mv.resolution_from_data(read) == mv.resolution_from_data(read.frame)
    assert mv.categories_from_data(read) == mv.categories_from_data(read.frame)
    assert str(mv.assess(read, release.data)) == str(mv.assess(read.frame, release.data))
    attacked = [
        mv.attack(table, release.data, known=["AGE"], secret=["TAX"], seed=1)
        for table in (read, read.frame)
    ]
    assert str(attacked[0]) == str(attacked[1])
    noisy = {"attributes": ["AGE"], "bounds": {"AGE": (0, 99)}, "epsilon": 1, "k": 5}
    assert mv.audit(read, method="dp-um", **noisy) == mv.audit(read.frame, method="dp-um", **noisy)
    compared = mv.compare(
        read, methods=["mdav"], k=[5], runs=1, attributes=["AGE"], linkage=False, seed=1
    )
    assert isinstance(compared, mv.Comparison)


def test_what_was_read_shows_no_value(people):
    """Neither printed nor in an error."""
    assert repr(mv.read(people)) == "<LabelledTable of 40 records and 3 columns>"
    people.write_text(f"A,B\n1,{SECRET}\n2\n")
    with pytest.raises(mv.FileError, match="line 3") as caught:
        mv.read(people)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    people.write_text(f"A\n{SECRET}\n")
    with pytest.raises(mv.DataError, match="at least two") as alone:
        mv.read(people)
    assert SECRET not in str(alone.value)
