"""Records of CSV that the kernel writes: byte by byte what polars writes of them, or nothing."""

import datetime
import io
from decimal import Decimal
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microveil.files import csv_format
from microveil.files.plain_records import plain_records
from microveil.kernels import csv_records as kernel

N = 6
LARGEST = 10**15 - 1


def by_polars(frame, separator=",", missing=b""):
    buffer = io.BytesIO()
    frame.write_csv(
        buffer, include_header=False, separator=separator, null_value=missing.decode() or None
    )
    return buffer.getvalue()


def as_written(whole, decimals):
    """A number over a power of ten, by the digits of a decimal number."""
    number = Decimal(whole).scaleb(-decimals)
    return f"{number.normalize():f}" if number % 1 else f"{number:.1f}"


on_grid = st.integers(0, 4).flatmap(
    lambda decimals: st.lists(
        st.none() | st.integers(-LARGEST, LARGEST).map(lambda whole: whole / 10**decimals),
        min_size=N,
        max_size=N,
    )
)
small = st.lists(st.none() | st.integers(-99_999, 99_999).map(lambda cents: cents / 100),
                 min_size=N, max_size=N)  # fmt: skip
any_float = st.lists(st.none() | st.floats(), min_size=N, max_size=N)
decimal_columns = st.one_of(on_grid, small, any_float).map(lambda v: pl.Series(v, dtype=pl.Float64))
words = st.sampled_from(
    ["", "Lyon", "é" * 9, "it's", "a b", " x", "1.5", 'say "no"', "a,b", "a\nb"]
)
texts = st.lists(st.none() | words, min_size=N, max_size=N).map(
    lambda v: pl.Series(v, dtype=pl.String)
)
INTEGERS = pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64


def whole_column(dtype):
    ends = np.iinfo(str(dtype).lower())
    cells = st.none() | st.integers(ends.min, ends.max) | st.sampled_from([ends.min, ends.max])
    return st.lists(cells, min_size=N, max_size=N).map(lambda v: pl.Series(v, dtype=dtype))


whole_numbers = st.sampled_from(INTEGERS).flatmap(whole_column)
others = st.one_of(
    st.lists(st.none() | st.booleans(), min_size=N, max_size=N).map(
        lambda v: pl.Series(v, dtype=pl.Boolean)
    ),
    st.lists(st.none() | st.dates(), min_size=N, max_size=N).map(
        lambda v: pl.Series(v, dtype=pl.Date)
    ),
    texts.map(lambda column: column.cast(pl.Categorical)),
)


def framed(columns):
    return pl.DataFrame({f"C{number}": column for number, column in enumerate(columns)})


@settings(max_examples=400, deadline=None)
@given(
    st.lists(decimal_columns, min_size=1, max_size=4),
    st.lists(st.one_of(texts, whole_numbers, others), max_size=4),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from([b"", b'""']),
    st.randoms(),
)
def test_records_are_those_of_polars_or_are_left_to_it(decimals, beside, separator, missing, mix):
    """Any cells, in any order of the columns: the same bytes wherever there are any."""
    columns = [*decimals, *beside]
    mix.shuffle(columns)
    frame = framed(columns)
    found = plain_records(frame, separator, missing)
    assert found is None or bytes(found) == by_polars(frame, separator, missing)


@settings(max_examples=100, deadline=None)
@given(st.lists(on_grid, min_size=1, max_size=3))
def test_decimals_on_a_grid_are_written_by_the_kernel(columns):
    """Up to fifteen digits and four of them behind the point: none is left to polars."""
    frame = framed(pl.Series(values, dtype=pl.Float64) for values in columns)
    frame = frame.with_columns(pl.all() + 0.0)  # no number is negative zero
    assert bytes(plain_records(frame, ",", b"")) == by_polars(frame)


@pytest.mark.parametrize("decimals", [kernel.WHOLE, 0, 1, 2, 4])
@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_have_the_digits_of_decimal_numbers(decimals, sign):
    """About every power of ten and of two, which is where a digit more begins."""
    limit = 1 << 63 if decimals == kernel.WHOLE else 10**15
    sizes = {
        power + off
        for power in [10**e for e in range(19)] + [1 << e for e in range(64)]
        for off in (-1, 0, 1)
    }
    given = [sign * size for size in sorted(sizes) if 0 <= size < limit]
    found = np.empty(len(given) * (kernel.LONGEST + 1) + kernel.SLACK, dtype=np.uint8)
    numbers = np.array([given], dtype=np.int64)
    end = kernel.write_records(
        numbers, np.array([decimals]), np.empty(0, dtype=np.uint8),
        np.empty((0, len(given) + 1), dtype=np.int64), np.ones(numbers.shape, dtype=np.bool_),
        ord(","), 0, found,
    )  # fmt: skip
    written = str if decimals == kernel.WHOLE else partial(as_written, decimals=decimals)
    due = [written(whole) for whole in given]
    assert bytes(found[:end]).decode().split() == due


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([1 / 3, 1.0], "more digits than four"),
        ([1e-5, 1.0], "an exponent, or five digits"),
        ([1e15, 1.0], "sixteen digits"),
        ([-0.0, 1.0], "a sign that a whole number has not"),
        ([float("nan"), 1.0], "no number"),
        ([float("inf"), 1.0], "no number"),
        ([0.1 + 0.2, 1.0], "not the nearest to 0.3"),
    ],
)
def test_other_decimals_are_left_to_polars(cells, reason):
    """One such cell is enough."""
    for values in (cells, cells[::-1], [2.5] * 500 + cells):
        assert plain_records(pl.DataFrame({"A": values}), ",", b"") is None, reason


@pytest.mark.parametrize("word", ["a,b", 'a"b', "a\nb", "a\rb"])
def test_text_that_needs_quotes_is_left_to_polars(word):
    """Another separator may stand in it."""
    frame = pl.DataFrame({"A": [1.5, 2.5], "B": ["plain", word]})
    assert plain_records(frame, ",", b"") is None
    if word == "a,b":
        assert bytes(plain_records(frame, ";", b"")) == b"1.5;plain\n2.5;a,b\n"


def test_where_text_prevails_polars_writes():
    """The kernel copies it letter by letter."""
    frame = pl.DataFrame({"A": [1.5], "B": ["x"], "C": [datetime.date(2020, 1, 1)]})
    assert plain_records(frame.drop("C"), ",", b"") is not None
    assert plain_records(frame, ",", b"") is None
    assert plain_records(frame.drop("A"), ",", b"") is None
    assert plain_records(frame.clear(), ",", b"") is None


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("width", [1, 3])
def test_a_file_of_many_batches_is_the_one_that_polars_writes(width, separator, monkeypatch):
    """Its header, and missing cells, of a file of one column too."""
    monkeypatch.setattr(csv_format, "_BATCH", 7)
    cells = [None if n % 5 == 0 else n / 4 for n in range(100)]
    frame = pl.DataFrame({f"C{n}": cells for n in range(width)})
    quickly, seen = csv_format.plain_records, []

    def watched(*asked):
        seen.append(quickly(*asked))
        return seen[-1]

    monkeypatch.setattr(csv_format, "plain_records", watched)
    text = csv_format.TextFormat(separator=separator)
    parts = csv_format.batches(frame, text, escape_formulas=False, labels={})
    header = separator.join(frame.columns).encode() + b"\n"
    missing = b'""' if width == 1 else b""
    assert b"".join(map(bytes, parts)) == header + by_polars(frame, separator, missing)
    assert len(seen) == 14
    assert all(part is not None for part in seen)
