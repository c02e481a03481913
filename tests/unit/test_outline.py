"""What a file says of its columns before it is read: never another thing than reading finds."""

import datetime
import sqlite3
from contextlib import closing

import polars as pl
import pytest

import microveil as mv
from microveil.files import FORMATS
from microveil.files.reading import outline_of, read_file
from microveil.files.text import TextFormat
from microveil.files.writing import write_data
from microveil.schema import Kind
from microveil.table import open_table

PEOPLE = pl.DataFrame(
    {
        "AGE": [31, 44, None],
        "WAGE": [1200.5, None, 900.25],
        "BORN": [datetime.date(1990, 1, 2), None, datetime.date(1966, 5, 6)],
        "SEEN": [datetime.datetime(2026, 1, 2), datetime.datetime(2026, 1, 3), None],  # noqa: DTZ001
        "SEX": ["f", None, "m"],
    }
)
TYPED = {
    "AGE": Kind.WHOLE,
    "WAGE": Kind.DECIMAL,
    "BORN": Kind.DATE,
    "SEEN": None,
    "SEX": Kind.OTHER,
}


def file_of(folder, name, frame=PEOPLE):
    """Write a table in a format."""
    form = FORMATS[name]
    path = folder / f"people{form.suffixes[0]}"
    write_data(frame, path, text=form.text(None), form=form)
    return path


def refusal(look, path):
    """Return what is said of a file that is refused."""
    with pytest.raises(mv.FileError) as refused:
        look(path)
    return str(refused.value)


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.is_written])
def test_what_is_declared_is_what_is_read(tmp_path, name):
    """Of every format, all columns in their order; a kind that is named is the one that is read."""
    path = file_of(tmp_path, name)
    found, read = outline_of(path), open_table(read_file(path).frame)
    if name == "xlsx":
        assert found is None
        return
    assert tuple(found.kinds) == read.names
    assert found.n_records in (None, 3)
    assert dict(found.kinds) == (TYPED if FORMATS[name].has_types else dict.fromkeys(TYPED))
    for column, kind in found.kinds.items():
        assert kind in (None, read.kind(column))


@pytest.mark.parametrize(
    "dtype",
    [*(pl.Int8, pl.UInt32, pl.Int64, pl.UInt64, pl.Int128, pl.Float32, pl.Boolean, pl.String),
     *(pl.Date, pl.Datetime("us"), pl.Datetime("us", "UTC"), pl.Categorical, pl.Enum(["1", "2"])),
     *(pl.Decimal(9, 2), pl.Time, pl.Duration, pl.Binary, pl.List(pl.Int8), pl.Null)],
    ids=str,
)  # fmt: skip
def test_a_type_of_arrow_is_declared_as_it_is_read_or_not_at_all(tmp_path, dtype):
    """Whatever values a column has: a type whose kind they decide is none."""
    column = pl.Series("A", [None, None], dtype=pl.Null)
    path = tmp_path / "a.parquet"
    pl.DataFrame([column.cast(dtype), pl.Series("B", [1, 2])]).write_parquet(path)
    declared = outline_of(path).kinds["A"]
    assert declared in (None, open_table(read_file(path).frame).kind("A"))


def test_no_value_is_looked_at(tmp_path):
    """A file that is broken behind its beginning is outlined, and refused where it is read."""
    path = file_of(tmp_path, "parquet", pl.concat([PEOPLE] * 9000))
    raw = bytearray(path.read_bytes())
    raw[4 : len(raw) // 2] = bytes(len(raw) // 2 - 4)
    path.write_bytes(raw)
    assert outline_of(path).n_records == 27_000
    with pytest.raises(mv.FileError, match="broken"):
        read_file(path)


def test_a_folder_of_parts_is_one_table(tmp_path):
    """Names and kinds of the first, the records of all; parts that differ are refused."""
    for number in range(3):
        PEOPLE.write_parquet(tmp_path / f"part-{number}.parquet")
    assert outline_of(tmp_path).n_records == 9
    assert dict(outline_of(tmp_path).kinds) == TYPED
    PEOPLE.rename({"AGE": "YEARS"}).write_parquet(tmp_path / "part-9.parquet")
    with pytest.raises(mv.FileError, match="same columns"):
        outline_of(tmp_path)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (b'"two\nlines",B\n1,2\n', None),
        (b"A;B\n1;2\n", TextFormat(separator=";")),
        ("GRÖSSE,B\n1,2\n".encode("latin-1"), TextFormat(encoding="latin-1")),
        ("GRÖSSE,B\n1,2\n".encode("utf-16"), TextFormat(encoding="utf-16")),
        ("\ufeffA,B\n1,2\n".encode(), TextFormat(encoding="utf-8-sig")),
        (b"A,B\n1,2", None),
        (("A,é\n" + "1,é\n" * 500_000).encode(), None),
    ],
)
def test_names_of_a_file_of_text_are_those_that_are_read(tmp_path, written, text):
    """In any encoding, with names on several lines, and of more than the beginning."""
    path = tmp_path / "people.csv"
    path.write_bytes(written)
    found, read = outline_of(path, text=text), read_file(path, text=text).frame
    assert list(found.kinds) == read.columns
    assert set(found.kinds.values()) == {None}


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("people.csv", b"1,2\n3,4\n"),
        ("people.csv", b"A,A\n3,4\n"),
        ("people.csv", b"A;B\n1;2\n3;4\n"),
        ("people.csv", "A,A\n1,2\n".encode("utf-16")),
        ("people.csv", "É,B\n1,2\n".encode("latin-1")),
        ("people.csv", b""),
        ("people.csv", b"PAR1"),
        ("people.csv.gz", b"A,B\n1,2\n"),
        ("people.parquet", b"no Parquet"),
        ("people.arrow", b"no Arrow"),
        ("people.sav", b"no SPSS"),
        ("people.dta", b"no Stata"),
        ("people.sas7bdat", b"no SAS"),
        ("people.db", b"no SQLite"),
        ("people.doc", b"words"),
    ],
)
def test_what_the_beginning_shows_is_refused_as_by_reading(tmp_path, name, written):
    """Rule, place and remedy are the same."""
    path = tmp_path / name
    path.write_bytes(written)
    assert refusal(outline_of, path) == refusal(read_file, path)


@pytest.mark.parametrize("name", [name for name, form in FORMATS.items() if form.is_outlined])
@pytest.mark.parametrize("is_there", [False, True], ids=["absent", "empty"])
def test_no_file_and_an_empty_one_are_refused_as_by_reading(tmp_path, name, is_there):
    """By every format in the same words."""
    path = tmp_path / f"people{FORMATS[name].suffixes[0]}"
    if is_there:
        path.touch()
    assert refusal(outline_of, path) == refusal(read_file, path)


@pytest.fixture
def database(tmp_path):
    """Two tables, in a file whose name an address would take for something else."""
    path = tmp_path / "100% of #1.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (AGE INTEGER, WAGE REAL, FIT BOOLEAN, ANY_)")
        connection.execute("CREATE TABLE visits (DAY DATE, MOMENT TIMESTAMP, WORDS TEXT)")
        connection.execute("INSERT INTO people VALUES (31, 1.5, 1, 2)")
        connection.commit()
    return path


def test_of_several_tables_one_must_be_named(database):
    """With the sentence of reading."""
    with pytest.raises(mv.FileError, match="one table must be named"):
        outline_of(database)


def test_nothing_is_asked_of_another_machine():
    """What is to be downloaded is no outline."""
    assert outline_of("https://example.invalid/people.csv") is None
