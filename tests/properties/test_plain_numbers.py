"""Numbers of CSV that the kernel reads: bit by bit what Python reads of them, or nothing."""

import struct

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microveil.files import csv_format, plain_numbers
from microveil.files.plain_numbers import plain_numbers as numbers_of
from microveil.files.reading import open_file
from microveil.files.text import TextFormat
from microveil.kernels import csv_numbers as kernel
from microveil.table.scratch import Scratch

KINDS = {pl.Float64: float, pl.Int64: int}
digits = st.text("0123456789", min_size=1, max_size=15)
signs = st.sampled_from(["", "-"])
plain_whole = st.builds("{}{}".format, signs, st.text("0123456789", min_size=1, max_size=18))
plain_decimals = st.one_of(
    st.builds("{}{}".format, signs, digits),
    st.builds("{}{}.{}".format, signs, st.text("0123456789", min_size=1, max_size=7),
              st.text("0123456789", min_size=1, max_size=8)),
)  # fmt: skip
NOT_PLAIN = ["+5", ".5", "5.", "1e3", "1.5.2", "--5", "-", ".", " 5", "5 ", "nan", "inf", "x", "é",
             "1" * 20, "1" * 30, "1,5", "0x1", "1_0", "-.5"]  # fmt: skip
any_cell = st.one_of(
    plain_whole,
    plain_decimals,
    st.just(""),
    st.sampled_from([cell for cell in NOT_PLAIN if "," not in cell]),
    st.floats(allow_nan=False).map(repr),
    st.integers(-(2**70), 2**70).map(str),
)


def bits(value):
    return struct.pack("<d", value) if isinstance(value, float) else value


def by_python(rows, dtypes):
    """Columns of cells as Python reads them; None where one is no number of its column's type."""
    try:
        return [
            [None if cell == "" else KINDS[dtype](cell) for cell in cells]
            for cells, dtype in zip(zip(*rows, strict=True), dtypes, strict=True)
        ]
    except ValueError:
        return None


def as_text(rows, separator=",", end="\n", *, is_closed=True):
    lines = [separator.join(row) for row in rows]
    return (end.join(lines) + (end if is_closed else "")).encode()


def schema_of(dtypes):
    return {f"C{number}": dtype() for number, dtype in enumerate(dtypes)}


tables = st.lists(st.sampled_from(list(KINDS)), min_size=2, max_size=4).flatmap(
    lambda dtypes: st.tuples(
        st.just(dtypes),
        st.lists(st.tuples(*[any_cell] * len(dtypes)), min_size=1, max_size=5),
    )
)


@settings(max_examples=600, deadline=None)
@given(
    tables, st.sampled_from([",", ";", "\t"]), st.sampled_from(["\n", "\r\n"]), st.booleans(),
    st.sampled_from(["", "A,B\n"]),
)  # fmt: skip
def test_numbers_are_those_of_python_or_nothing(table, separator, end, is_closed, header):
    """Any cells: each value to the last bit, and what is empty is missing."""
    dtypes, rows = table
    data = header.encode() + as_text(rows, separator, end, is_closed=is_closed)
    found = numbers_of(data, len(header), schema_of(dtypes), separator)
    if found is None:
        return
    due = by_python(rows, dtypes)
    assert [column.dtype for column in found.values()] == dtypes
    assert [[bits(value) for value in column] for column in found.values()] == [
        [bits(value) for value in column] for column in due
    ]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(plain_decimals | st.just(""), plain_whole), min_size=1, max_size=6))
def test_plain_numbers_are_always_read(rows):
    """Up to fifteen digits, eighteen of whole numbers, and cells without any."""
    assert numbers_of(as_text(rows), 0, schema_of([pl.Float64, pl.Int64]), ",") is not None


@pytest.mark.parametrize("cell", [*NOT_PLAIN, "1" * 16, "0." + "1" * 15])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_other_cells_are_left_to_polars(cell, place):
    """Wherever one stands: digits that float64 may not hold, signs, exponents, words."""
    rows = [["1.5", "2"], ["3", "4"], ["5.25", "6"]]
    rows[place][0] = cell
    assert numbers_of(as_text(rows), 0, schema_of([pl.Float64, pl.Int64]), ",") is None


@pytest.mark.parametrize("cell", ["1.0", "1" * 19, "-"])
def test_whole_numbers_have_no_point_and_fit_64_bits(cell):
    """Of a column of whole numbers."""
    for rows in ([["1", cell]], [[cell, "1"]]):
        assert numbers_of(as_text(rows), 0, schema_of([pl.Int64, pl.Int64]), ",") is None


def test_no_bytes_behind_the_last_record_are_read():
    """A number that ends the file ends there, whatever is in memory behind it."""
    data = np.frombuffer(b"12345678912345", dtype=np.uint8)
    for size in range(1, len(data)):
        found, valid = np.zeros(1, dtype=np.int64), np.zeros((1, 1), dtype=np.bool_)
        places = np.array([found.ctypes.data], dtype=np.uint64)
        kinds = np.array([kernel.WHOLE])
        assert kernel.read_numbers(data[:size], ord(","), kinds, places, valid, 0) == 1
        assert found.tolist() == [int(bytes(data[:size]))]
    assert numbers_of(b"", 0, schema_of([pl.Int64]), ",")["C0"].to_list() == []


def test_a_file_that_loses_fields_meanwhile_gives_nothing():
    """Fewer records than lines would leave cells that nobody wrote."""
    schema = schema_of([pl.String, pl.Int64])
    assert numbers_of(b"a,1\nb,2\nc,3\n", 0, schema, ",")["C1"].to_list() == [1, 2, 3]
    assert numbers_of(b"a,1\nb\nc,3\n", 0, schema, ",") is None


@pytest.mark.parametrize("few", [1, 10, 100, 1 << 20])
@pytest.mark.parametrize("processors", [1, 2, 7])
def test_parts_make_one_table(few, processors, monkeypatch):
    """However many there are, and where their borders fall."""
    monkeypatch.setattr(plain_numbers, "FEW", few)
    monkeypatch.setattr(plain_numbers.os, "cpu_count", lambda: processors)
    rows = [[str(n * 7 % 1000), "" if n % 3 else f"{n}.5"] for n in range(200)]
    found = numbers_of(as_text(rows), 0, schema_of([pl.Int64, pl.Float64]), ",")
    assert [column.to_list() for column in found.values()] == by_python(
        rows, [pl.Int64, pl.Float64]
    )


@pytest.fixture
def used(monkeypatch):
    """What came of each look for plain numbers."""
    seen = []

    def watched(*asked):
        seen.append(numbers_of(*asked))
        return seen[-1]

    monkeypatch.setattr(csv_format, "plain_numbers", watched)
    return seen


WORDS = ["12", "é", "a b", "-"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("n_texts", [0, 1, 3])
def test_a_file_is_read_as_polars_reads_it(tmp_path, used, monkeypatch, end, on_disk, n_texts):
    """With columns of text among the numbers too; where these prevail polars reads it alone."""
    monkeypatch.setattr(csv_format, "_BYTES", 500)
    rows = [
        [f"{n / 8:.3f}", *[WORDS[(n + own) % 4] for own in range(n_texts)], "" if n % 5 else str(n)]
        for n in range(300)
    ]
    names = [f"C{number}" for number in range(n_texts + 2)]
    path = tmp_path / "t.csv"
    path.write_bytes(as_text([names, *rows], end=end))
    read = open_file(path, scratch=Scratch(tmp_path) if on_disk else None).read().frame
    assert read.equals(pl.read_csv(path, schema_overrides={"C0": pl.Float64, names[-1]: pl.Int64}))
    assert any(found is not None for found in used) == (n_texts < 2)
    assert np.all([len(found) == 2 for found in used if found is not None])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'A,B\n1.5,"2"\n', None),
        (b"A;B\n1,5;2\n", TextFormat(separator=";", decimal=",")),
    ],
)
def test_quotes_and_decimal_commas_are_polars_own(tmp_path, used, data, text):
    """The kernel is not asked at all: a separator may stand in quotes."""
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    assert open_file(path, text=text).read().frame.rows() == [(1.5, 2)]
    assert not used
