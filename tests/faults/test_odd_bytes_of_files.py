"""What a program, a copy or an error may put into a file, and what becomes of it."""

import re
import zipfile

import polars as pl
import pyreadstat
import pytest
import xlsxwriter

import microveil as mv


@pytest.mark.parametrize("n_bytes", [1, 7, 79])
@pytest.mark.parametrize("version", [5, 8])
def test_a_data_set_behind_a_gap_is_refused(tmp_path, version, n_bytes):
    """A second data set never becomes records, also where it begins at an odd byte."""
    table = pl.DataFrame({"N": [1.0, 2.0, 3.0], "A": ["ab", "cde", "f"]})
    pyreadstat.write_xport(table, f"{tmp_path}/t.xpt", file_format_version=version)
    whole = (tmp_path / "t.xpt").read_bytes()
    member = whole[whole.index(b"HEADER RECORD*******MEM") :]
    (tmp_path / "t.xpt").write_bytes(whole + b" " * n_bytes + member)
    with pytest.raises(mv.FileError, match="blocks of 80 bytes"):
        mv.read(tmp_path / "t.xpt")


@pytest.mark.parametrize("version", [5, 8])
def test_a_transport_file_that_is_cut_off_is_refused(tmp_path, version):
    """Records that a broken copy has lost are not lost without a word."""
    table = pl.DataFrame({"N": [1.0, 2.0, 3.0], "A": ["ab", "cde", "f"]})
    pyreadstat.write_xport(table, f"{tmp_path}/t.xpt", file_format_version=version)
    (tmp_path / "t.xpt").write_bytes((tmp_path / "t.xpt").read_bytes()[:-37])
    with pytest.raises(mv.FileError, match="blocks of 80 bytes"):
        mv.read(tmp_path / "t.xpt")


TIMES = {
    "a time of SPSS": ("write_sav", "t.sav", "TIME8"),
    "a month of Stata": ("write_dta", "t.dta", "%tm"),
    "a week of Stata": ("write_dta", "t.dta", "%tw"),
    "a time of SAS": ("write_xport", "t.xpt", "TIME8."),
}


@pytest.mark.parametrize(("writer", "name", "shown"), TIMES.values(), ids=TIMES)
def test_a_time_beyond_all_calendars_is_refused_without_it(tmp_path, writer, name, shown):
    """The message names the column and the record, never the number that stands there."""
    table = pl.DataFrame({"N": [1.0, 2.0], "A": [60.0, 7.25e60]})
    getattr(pyreadstat, writer)(table, f"{tmp_path}/{name}", variable_format={"A": shown})
    with pytest.raises(mv.FileError, match=r"record 2, column 2: .* must lie") as refused:
        mv.read(tmp_path / name)
    assert "7.25" not in str(refused.value)


FIRST_DAY = 12_219_379_200.0  # 1970-01-01 as SPSS counts seconds


@pytest.mark.parametrize(
    ("shown", "code"),
    [("DATETIME20", FIRST_DAY), ("DATETIME20", FIRST_DAY + 60), ("TIME8", -5.0)],
)
def test_moments_and_times_declared_missing_are_missing(tmp_path, shown, code):
    """A moment or a time that the file declares missing is never a value."""
    table = pl.DataFrame({"N": [1.0, 2.0], "A": [FIRST_DAY + 3_601, code]})
    pyreadstat.write_sav(
        table,
        f"{tmp_path}/t.sav",
        variable_format={"A": shown},
        missing_ranges={"A": [code]},
    )
    assert mv.read(tmp_path / "t.sav").frame["A"].is_null().to_list() == [False, True]


def _quoted(sheet):
    return sheet.replace(b'<c r="B2">', b"<c r='B2' t = 'e'>")


def _prefixed(sheet):
    """Write the elements as the Open XML SDK does: x:c."""
    named = re.sub(rb"<(/?)([a-z])", rb"<\1x:\2", sheet.replace(b'<c r="B2">', b'<c r="B2" t="e">'))
    return named.replace(b'xmlns="', b'xmlns:x="')


@pytest.mark.parametrize("change", [_quoted, _prefixed])
@pytest.mark.parametrize("folder", [b"worksheets", b"other"])
def test_an_error_in_a_cell_is_refused_however_it_is_written(tmp_path, change, folder):
    """A cell that shows an error is never a missing value, whichever program wrote the sheet."""
    with xlsxwriter.Workbook(f"{tmp_path}/t.xlsx") as book:
        sheet = book.add_worksheet()
        for row, cells in enumerate([("N", "A"), (1, 5), (2, 6)]):
            sheet.write_row(row, 0, cells)
    with (
        zipfile.ZipFile(tmp_path / "t.xlsx") as read,
        zipfile.ZipFile(tmp_path / "u.xlsx", "w") as written,
    ):
        for name in read.namelist():
            part = read.read(name)
            if name.endswith("sheet1.xml"):
                part = change(part.replace(b"<v>5</v>", b"<v>#N/A</v>"))
                name = f"xl/{folder.decode()}/sheet1.xml"  # noqa: PLW2901
            part = part.replace(b"worksheets/sheet1", folder + b"/sheet1")
            written.writestr(name, part)
    with pytest.raises(mv.FileError, match="shows an error"):
        mv.read(tmp_path / "u.xlsx")
