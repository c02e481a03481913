"""Excel workbooks: what of them is read, what is refused, and what is written."""

import datetime
import traceback
import zipfile

import fastexcel
import polars as pl
import pytest
import xlsxwriter

import microveil as mv
from microveil.commands.files import protect_file
from microveil.files.writing import write_data
from microveil.table import memory

SECRET = "SECRET77"
ASKED = {"method": "dp-um", "k": 5, "epsilon": 1, "attributes": ["A"], "bounds": {"A": (0, 99)}}


def book(path, sheets, **options):
    """Write sheets cell by cell: formulas as pairs (formula, value)."""
    with xlsxwriter.Workbook(str(path), options) as made:
        day = made.add_format({"num_format": "yyyy-mm-dd"})
        for name, rows in sheets.items():
            sheet = made.add_worksheet(name)
            for row, cells in enumerate(rows):
                for place, cell in enumerate(cells):
                    if isinstance(cell, tuple):
                        sheet.write_formula(row, place, cell[0], None, cell[1])
                    elif isinstance(cell, datetime.date):
                        sheet.write_datetime(row, place, cell, day)
                    elif cell is not None:
                        sheet.write(row, place, cell)
    return path


def test_a_sheet_is_read_as_a_file_of_text_is(tmp_path, capfd):
    """Types come from the first values; dates of early 1900 are right, empty cells missing."""
    rows = [
        ["AGE", "BORN", "SHARE", "ZIP", "EVER", "SUM", "NONE"],
        [20, datetime.date(1900, 2, 28), 0.1, "007", True, ("=A2+1", 21)],
        [None, datetime.date(1900, 3, 1), None, None, False, ("=A3+1", 1)],
        [30, None, 3, "x", None, ("=A4+1", 31)],
    ]
    frame = mv.read(book(tmp_path / "t.xlsx", {"one": rows, "empty": []})).frame
    assert frame.to_dict(as_series=False) == {
        "AGE": [20, None, 30],
        "BORN": [datetime.date(1900, 2, 28), datetime.date(1900, 3, 1), None],
        "SHARE": [0.1, None, 3.0],
        "ZIP": ["007", None, "x"],
        "EVER": [True, False, None],
        "SUM": [21, 1, 31],
        "NONE": [None] * 3,
    }
    assert capfd.readouterr().err == ""  # its library warns of a column without values by its name


@pytest.mark.parametrize(
    ("sheets", "rule"),
    [
        ({"a": [["A"], [1], [2]], "b": [["B"], [1], [2]], "c": [["B"], [1]]}, "has 3 with"),
        ({"a": []}, "there are none"),
        ({"a": [["A"]]}, "there are none"),
        ({"a": [["A"], [1], [("=1/0", "#DIV/0!")]]}, "every formula must have a value"),
        ({"a": [["A"], [1], [("=1+1", "")]]}, "every formula must have a value"),
        ({"a": [["A"], [1], [2.0**53 + 2]]}, r"column 1: whole numbers must lie within 2\^53"),
        ({"a": [[SECRET, SECRET], [1, 2], [3, 4]]}, "line 1"),
        ({"a": [["A", None], [1, SECRET], [3, 4]]}, "line 1"),
        ({"a": [["A"], *[[n] for n in range(50)], [SECRET]]}, "line 52, column 1"),
    ],
)
def test_what_a_sheet_must_not_hold_is_refused(tmp_path, sheets, rule):
    """Several tables, none, errors and formulas that would be missing, numbers that changed."""
    with pytest.raises(mv.FileError, match=rule) as caught:
        mv.read(book(tmp_path / "t.xlsx", sheets))
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_one_value_of_another_kind_makes_no_column_text(tmp_path):
    """In a release, as of a file of text: its type would show that there is such a record."""
    rows = [["A"], *[[n] for n in range(50)], ["007"]]
    path = book(tmp_path / "t.xlsx", {"a": rows})
    with pytest.raises(mv.FileError, match="line 52, column 1"):
        protect_file(path, tmp_path / "out", **ASKED)
    assert not (tmp_path / "out").exists()


def test_a_release_of_a_workbook_is_one(tmp_path):
    """Decimals of a whole resolution are whole numbers, and a label lies beside."""
    rows = [["A", "T"], *[[float(n), "=1+1"] for n in range(40)]]
    path = tmp_path / "t.xlsx"
    book(path, {"a": rows}, strings_to_formulas=False)
    release = protect_file(path, tmp_path / "out", **ASKED, resolution={"A": 1}, keep=["T"])
    assert release.data["A"].dtype == pl.Int64
    again = mv.read(tmp_path / "out" / "data.xlsx").frame
    assert again.equals(release.data)
    assert fastexcel.read_excel(tmp_path / "out" / "data.xlsx").sheet_names == ["data"]
    with zipfile.ZipFile(tmp_path / "out" / "data.xlsx") as parts:
        assert b"<f" not in parts.read("xl/worksheets/sheet1.xml")


@pytest.mark.parametrize(
    ("column", "rule"),
    [
        (pl.Series("A", [2**53 + 1, 1]), r"column 'A': whole numbers must lie within 2\^53"),
        (pl.Series("A", [1e308, 1.0]), "column 'A': numbers must lie within"),
        (pl.Series("A", [float("inf"), 1.0]), "column 'A': numbers must lie within"),
        (
            pl.Series("A", [None, datetime.date(1899, 12, 31)]),
            "column 'A': dates must lie in the years 1900",
        ),
        (pl.Series("A", ["x" * 32_768, "y"]), "column 'A': text must have at most 32,767"),
        (pl.Series("A", ["a\0b", "y"]), "column 'A': text must have .* no zero character"),
        (pl.Series("A", [10**15 + 1] * 2).cast(pl.Datetime("us")), "column 'A': .* whole milli"),
        (pl.Series("A", [[1], [2]]), "column 'A': columns must hold numbers"),
        (pl.Series("A", [1, None]), "the last record must have a value"),
        (pl.Series("A", ["x", ""]), "the last record must have a value"),
    ],
)
def test_what_a_sheet_cannot_hold_is_refused(tmp_path, column, rule):
    """Never changed in silence; nothing is left behind."""
    with pytest.raises(mv.FileError, match=rule):
        write_data(column.to_frame(), tmp_path / "t.xlsx", text=None)
    assert not (tmp_path / "t.xlsx").exists()


def test_equal_tables_give_equal_workbooks(tmp_path):
    """No time of their making, and no name of who made them."""
    frame = pl.DataFrame({"A": [1, 2], "T": ["x", "y"]})
    for name in ("a.xlsx", "b.xlsx"):
        write_data(frame, tmp_path / name, text=None)
    assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


def test_a_workbook_that_unpacks_beyond_memory_is_refused(tmp_path, monkeypatch):
    """Before it is unpacked."""
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w", zipfile.ZIP_DEFLATED) as parts:
        parts.writestr("xl/worksheets/sheet1.xml", bytes(20_000_000))
    monkeypatch.setattr(memory, "free_memory", lambda: 20_000_000)
    with pytest.raises(mv.FileError, match="more than 10 MB"):
        mv.read(tmp_path / "t.xlsx")
