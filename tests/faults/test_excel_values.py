"""What an Excel cell can hold and a table cannot, and workbooks that lie about their sizes."""

import datetime
import struct
import subprocess
import sys
import zipfile

import pytest
import xlsxwriter

import microveil as mv

DAY, TIME, SPAN = "yyyy-mm-dd", "hh:mm", "[h]:mm:ss"
TWELVE = 0.5


def book(path, cells, **options):
    """Write cells (value, format) below the name A, beside a column of numbers."""
    with xlsxwriter.Workbook(str(path), options) as made:
        sheet = made.add_worksheet()
        sheet.write_row(0, 0, ["N", "A"])
        for row, (value, shown) in enumerate(cells, start=1):
            form = () if shown is None else (made.add_format({"num_format": shown}),)
            sheet.write(row, 0, row)
            sheet.write(row, 1, value, *form)
    return path


REFUSED = {
    "a time of day": ([(40_000, DAY), (TWELVE, TIME)], {}, "line 3, column 2: .* time of day"),
    "times of day alone": ([(TWELVE, TIME), (0, TIME)], {}, "line 2, column 2: .* time of day"),
    "a time of day among words": ([("no", None), (TWELVE, TIME)], {}, "line 3, column 2"),
    "a time of day in a book of 1904": ([(TWELVE, TIME)], {"date_1904": True}, "line 2, column 2"),
    "day 0": ([(40_000, DAY), (0, DAY)], {}, "line 3, column 2"),
    "a negative day": ([(40_000, DAY), (-3, DAY)], {}, "line 3, column 2"),
    "a negative day of 1904": ([(-3, DAY)], {"date_1904": True}, "line 2, column 2"),
    "1900-02-29": ([(59, DAY), (60, DAY)], {}, "line 3, column 2: .* 1900-02-29"),
    "a moment of 1900-02-29": ([(60.25, "yyyy-mm-dd hh:mm")], {}, "1900-02-29"),
    "the year 10000": ([(40_000, DAY), (2_958_466, DAY)], {}, "line 3, column 2: .* 9999"),
    "a day beyond all calendars": ([(40_000, DAY), (1e10, DAY)], {}, "line 3, column 2: .* 9999"),
    "durations": ([(1.5, SPAN), (30, SPAN)], {}, "column 2: .* durations"),
    "a duration among dates": ([(40_000, DAY), (30, SPAN)], {}, "column 2: .* durations"),
    "a duration among words": ([("no", None), (30, SPAN)], {}, "column 2: .* durations"),
    "a duration among numbers": ([(5, None), (30, SPAN)], {}, "column 2: .* durations"),
}


@pytest.mark.parametrize(("cells", "options", "where"), REFUSED.values(), ids=REFUSED)
def test_a_cell_that_no_date_can_be_is_refused(tmp_path, cells, options, where):
    """Times of day, durations and dates that do not exist never become other dates or nothing."""
    with pytest.raises(mv.FileError, match=where):
        mv.read(book(tmp_path / "t.xlsx", cells, **options))


def test_every_date_that_exists_is_read(tmp_path):
    """The days around the one that Excel invents are right, and those of a book of 1904."""
    days = [(1, DAY), (59, DAY), (61, DAY), (2_958_465, DAY)]
    assert mv.read(book(tmp_path / "t.xlsx", days)).frame["A"].to_list() == [
        datetime.date(1900, 1, 1),
        datetime.date(1900, 2, 28),
        datetime.date(1900, 3, 1),
        datetime.date(9999, 12, 31),
    ]
    book(tmp_path / "u.xlsx", [(0, DAY), (60, DAY)], date_1904=True)
    assert mv.read(tmp_path / "u.xlsx").frame["A"].to_list() == [
        datetime.date(1904, 1, 1),
        datetime.date(1904, 3, 1),
    ]


def test_numbers_and_truth_values_among_others_are_kept(tmp_path):
    """A number beside text keeps its digits, and TRUE beside numbers does not become 1."""
    book(tmp_path / "t.xlsx", [("x", None), (1 / 3, None), (1e-12, None), ("007", None)])
    read = mv.read(tmp_path / "t.xlsx").frame["A"].to_list()
    assert read == ["x", "0.3333333333333333", "1e-12", "007"]
    book(tmp_path / "u.xlsx", [(True, None), (5, None)])
    assert mv.read(tmp_path / "u.xlsx").frame["A"].to_list() == ["true", "5"]


READ = """
import sys, resource
import microveil as mv
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    mv.read(sys.argv[1])
except mv.FileError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_a_workbook_that_lies_about_its_size_is_not_unpacked(tmp_path):
    """A small workbook whose header hides how large it is takes no more memory than it says."""
    path = book(tmp_path / "t.xlsx", [(1, None)])
    part = "xl/theme/theme1.xml"
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in parts.items():
            new.writestr(name, content + b" " * 250_000_000 if name == part else content)
        at, start = new.getinfo(part).header_offset, new.start_dir
    raw = bytearray(path.read_bytes())
    entry = raw.index(part.encode(), start) - 46
    for place in (at + 22, entry + 24):
        raw[place : place + 4] = struct.pack("<I", 100)
    path.write_bytes(raw)
    assert len(raw) < 1_000_000
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], check=True, capture_output=True, text=True
    )
    said, megabytes = done.stdout.splitlines()
    assert "must be a whole Excel workbook" in said
    assert int(megabytes) < 200
