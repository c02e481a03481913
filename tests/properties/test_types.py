"""What everybody sees of a release beside its cells is the same for neighbouring tables.

Neighbouring tables differ in one record. Where attributes are named and an epsilon is spent,
either both are released with the same columns, types, formats and guarantee, or one of them is
refused, in words that hold none of its values.
"""

import datetime as dt
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

import microveil as mv
from microveil.commands import files
from microveil.files import text_columns

N_SAMPLE = 5  # records that types are read off in these tests: the others are late
THEMES = {
    "whole": ["0", "1", "2", "7", "12", "40", "-3"],
    "decimal": ["0.5", "1.25", "7.0", "40.75"],
    "truth": ["true", "false"],
    "date": ["2020-01-01", "2020-02-29", "1999-12-31"],
    "codes": ["007", "012", "98101", "+49"],
    "words": ["a", "b", "12a"],
    "missing": [""],
}
DAYS = ("1900-01-01", "2020-12-31")
CATEGORIES = ["a", "b", "12a", "007", "012", "98101", "+49", "x", "7", "12", "true"]
LIKELY = {
    "whole": [{"bounds": (-5, 100)}],
    "decimal": [{"bounds": (-5, 100), "resolution": step} for step in ("1", "0.01")],
    "truth": [{}],
    "date": [{"bounds": DAYS}],
    "codes": [{"bounds": CATEGORIES, "method": "pram"}],
    "words": [{"bounds": CATEGORIES, "method": "pram"}],
    "missing": [{"bounds": (-5, 100)}],
}
ODD = [
    *(word for words in THEMES.values() for word in words),
    *('"7"', '"007"', '" 7"', '""', " 7", "7 ", " ", "+5", "5.", "1.0", "1e3", ".5", "-007", "00"),
    *("01", "True", "FALSE", "2020-1-1", "20200102", "0999-12-31", "2020-01-01 00:00:00", "12:30"),
    *("x", "NA", "-", '"1,5"', "99999999999999999999", "1e400", "inf", "nan"),
]
ODD_BOUNDS = [None, ("0", "01"), ("1", "2.0"), ("2020-01-01", "20200102"), ["true", "false"], DAYS]
METHODS = [
    {"method": "laplace"},
    {"method": "pram"},
    {"method": "dp-um", "k": 2},
    {"method": "idp-cbls", "k": 3, "exact_cells": "allow"},
]
KINDS = ["whole number", "decimal", "yes/no", "date", "text"]
FORMATS = {
    pl.Int64: r"-?[0-9]+",
    pl.Float64: r"-?[0-9]+\.[0-9]+|-?[0-9.]+e-?[0-9]+",
    pl.Boolean: r"true|false",
    pl.Date: r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    pl.String: r"(?s).*",
}


@pytest.fixture
def quick(monkeypatch):
    """Leave reports out, and read types off a few records."""
    monkeypatch.setattr(files, "REPORTED_RECORDS", 0)
    monkeypatch.setattr(text_columns, "N_SAMPLE", N_SAMPLE)


def csv_of(folder, cells, kept):
    """Write a CSV file of a column X and a column KEPT."""
    path = folder / "people.csv"
    rows = [f"{cell},{other}" for cell, other in zip(cells, kept, strict=True)]
    path.write_text("\n".join(["X,KEPT", *rows]) + "\n")
    return path


def seen_of_file(folder, cells, kept, **request):
    """Return what everybody sees of a release beside its cells; None where it is refused."""
    to = folder / "release"
    try:
        release = files.protect_file(csv_of(folder, cells, kept), to, overwrite=True, **request)
    except mv.MicroveilError:
        return None
    schema = dict(release.data.schema)
    text = (to / "data.csv").read_bytes()
    for column in pl.read_csv(text, infer_schema=False):
        shape = FORMATS[schema[column.name]]
        assert all(re.fullmatch(shape, word) for word in column.drop_nulls() if word)
    return {
        "schema": schema,
        "header": text.split(b"\n")[0],
        "guarantee": release.guarantee.to_dict(),
        "statement": release.guarantee.statement(),
    }


SEEN = {}


def seen_once(folder, cells, kept, **request):
    """The same, found once for all cases whose neighbour it is."""
    asked = repr((cells, kept, request))
    if asked not in SEEN:
        SEEN[asked] = seen_of_file(folder, cells, kept, **request)
    return SEEN[asked]


def alike(one, two, ignored=()):
    """Whether two releases look alike, or one of them was refused."""
    event(f"released: {one is not None}, {two is not None}")
    if one is None or two is None:
        return True
    return all(one[key] == two[key] for key in one if key not in ignored)


@st.composite
def file_cases(draw):
    """A column of text, that of a neighbouring table, kept cells, and a request that names X."""
    theme = draw(st.sampled_from(sorted(THEMES)))
    n = draw(st.integers(2, 12))
    cells = draw(st.lists(st.sampled_from(THEMES[theme]), min_size=n, max_size=n))
    odd = st.sampled_from(ODD) | st.sampled_from(THEMES[theme])
    if draw(st.integers(0, 5)) == 0:
        cells[draw(st.integers(0, n - 1))] = draw(odd)
    other = list(cells)
    other[draw(st.integers(0, n - 1))] = draw(odd)
    kept = draw(st.lists(st.sampled_from(ODD), min_size=n, max_size=n))
    given = {**draw(st.sampled_from(METHODS)), **draw(st.sampled_from(LIKELY[theme]))}
    if draw(st.integers(0, 4)) == 0:
        given["bounds"] = draw(st.sampled_from(ODD_BOUNDS))
    if draw(st.integers(0, 4)) == 0:
        given["resolution"] = draw(st.sampled_from([None, "1", "0.01", "5"]))
    if draw(st.integers(0, 9)) == 0:
        given["types"] = draw(st.sampled_from(KINDS))
    columns = ("bounds", "resolution", "types")
    request = {
        "attributes": ["X"],
        "keep": ["KEPT"],
        "epsilon": 1,
        "outside": draw(st.sampled_from(["clamp", "clamp", "error"])),
        "missing": draw(st.sampled_from(["keep", "keep", "error"])),
        **{key: {"X": value} if key in columns else value for key, value in given.items() if value},
    }
    if draw(st.integers(0, 4)) == 0:
        request["decimals_from_data"] = True
    if draw(st.integers(0, 4)) == 0:
        request["bounds_alpha"] = 1.5
    return cells, other, kept, request


NAMED = {"attributes": ["X"], "keep": ["KEPT"], "epsilon": 1, "missing": "keep"}
EXAMPLES = {
    "a whole column whose neighbour has decimals": (
        ["0", "1", "2"], ["0.5", "1", "2"],
        {"method": "laplace", "bounds": {"X": (-5, 100)}, "decimals_from_data": True},
    ),
    "numbers within bounds, and words that are the bounds": (
        ["0", "0", "0"], ["0", "0", "01"], {"method": "pram", "bounds": {"X": ("0", "01")}},
    ),
    "one value, of one type or another": (
        ["7", "", ""], ["true", "", ""], {"method": "dp-um", "k": 1, "bounds_alpha": 1.5},
    ),
    "zeros without bounds to be read": (
        ["0", "0", "0"], ["0", "0", "7"],
        {"method": "idp-cbls", "k": 3, "exact_cells": "allow", "bounds_alpha": 1.5},
    ),
}  # fmt: skip


def with_examples(test):
    """Add the examples above to those that are drawn."""
    for cells, other, request in EXAMPLES.values():
        test = example(case=(cells, other, cells, {**NAMED, **request}))(test)
    return test


@pytest.mark.usefixtures("quick")
@settings(
    max_examples=2 * settings.default.max_examples,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@with_examples
@given(case=file_cases())
def test_files_of_neighbours_are_released_alike(tmp_path, case):
    """However a cell of a CSV file is written, columns, types and guarantee do not show it."""
    cells, other, kept, request = case
    one, two = (seen_of_file(tmp_path, words, kept, **request) for words in (cells, other))
    # A resolution read from the data shows whether there are decimals; the guarantee says so.
    ignored = ("schema",) if request.get("decimals_from_data") else ()
    assert alike(one, two, ignored), (one, two)


WHOLE = {"method": "laplace", "epsilon": 1, "bounds": {"X": (-9, 2000)}, "missing": "keep"}
NUMBERS = [str(3 * i % 11) for i in range(12)]
EARLY, LATE = 2, 10
TEXT = ["a", "b"] * 6


def neighbour(cells, place, cell):
    """Return the cells with one replaced."""
    return [cell if i == place else old for i, old in enumerate(cells)]


AS_WHOLE = [" 7", "7 ", '" 7"', '"7"', "-007", '""', " ", ""]
AS_DECIMAL = ["007", "+5", "00", "1.0", "5.", "1e3", "1.5", '"007"', " ", ""]
DECLARED = [{"resolution": {"X": 1}}, {"types": {"X": "decimal"}, "resolution": {"X": 0.01}}]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("declared", "place", "cell"),
    [*(({}, (EARLY, LATE)[i % 2], cell) for i, cell in enumerate(AS_WHOLE)),
     *((d, (EARLY, LATE)[(i + j) % 2], cell) for j, d in enumerate(DECLARED)
       for i, cell in enumerate(AS_DECIMAL))],
)  # fmt: skip
def test_a_number_however_written_changes_no_type(tmp_path, place, declared, cell):
    """Spaces, quotes and missing cells among whole numbers; any number where decimals are said."""
    request = {**WHOLE, **declared, "attributes": ["X"]}
    plain = seen_once(tmp_path, NUMBERS, NUMBERS, **request)
    assert plain is not None
    assert plain == seen_of_file(tmp_path, neighbour(NUMBERS, place, cell), NUMBERS, **request)


ODD_AMONG_NUMBERS = [
    *("007", "+5", "00", '"007"', " 007", "1.0", "5.", "1e3", "1.5", "x", "true", "2020-01-01"),
    *("12:30", "inf", "99999999999999999999"),
]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("cell", "place", "named"),
    [(cell, place, {"attributes": ["X"]} if (i + place) % 4 else {})
     for i, cell in enumerate(ODD_AMONG_NUMBERS) for place in (EARLY, LATE)],
)  # fmt: skip
def test_what_would_change_the_type_of_whole_numbers_is_refused(tmp_path, place, cell, named):
    """One 007, 1.0 or word among whole numbers is an error, early and late, named or not."""
    cells = neighbour(NUMBERS, place, cell)
    assert seen_once(tmp_path, NUMBERS, TEXT, **WHOLE, **named) is not None
    with pytest.raises(mv.MicroveilError) as caught:
        files.protect_file(csv_of(tmp_path, cells, TEXT), tmp_path / "new", **WHOLE, **named)
    message = str(caught.value).replace(str(tmp_path), "")
    assert "column 1:" in message or "'X'" in message
    if cell not in ("x", "true", "inf"):  # words of our sentences, too
        assert cell.strip(' "') not in message
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("place", [EARLY, LATE])
@pytest.mark.parametrize(
    ("base", "cell"),
    [
        (["true", "false"], "007"),
        (["true", "false"], "True"),
        (["true", "false"], " "),
        (["2020-01-01", "2020-01-02"], "12:30"),
        (["2020-01-01", "2020-01-02"], "2020-01-02 12:30:00"),
        (["2020-01-01", "2020-01-02"], " "),
        (["2020-01-01", "2020-01-02"], "007"),
    ],
)
def test_columns_left_to_the_program_do_not_become_text_by_one_value(tmp_path, place, base, cell):
    """Truth values and dates with one value of another kind are refused with its line."""
    cells = neighbour(base * 6, place, cell)
    with pytest.raises(mv.FileError, match=f"line {place + 2}, column 1:"):
        files.protect_file(csv_of(tmp_path, cells, NUMBERS), tmp_path / "new", **WHOLE)


@pytest.mark.usefixtures("quick")
def test_declared_categories_are_text_whatever_they_look_like(tmp_path):
    """Categories that are digits are read as text, whether or not a word stands among them."""
    request = {
        "method": "pram",
        "epsilon": 1,
        "attributes": ["X"],
        "bounds": {"X": ["1", "2", "x"]},
    }
    seen = [
        seen_of_file(tmp_path, cells, TEXT, **request)
        for cells in (["1", "2"] * 6, neighbour(["1", "2"] * 6, EARLY, "x"))
    ]
    assert seen[0] is not None
    assert seen[0] == seen[1]
    assert seen[0]["schema"] == {"X": pl.String}


@pytest.mark.usefixtures("quick")
def test_bounds_asked_from_the_data_are_read_or_refused(tmp_path):
    """A named column of zeros, from which no bounds can be read, is not released without them."""
    request = {"method": "idp-cbls", "k": 3, "epsilon": 1, "exact_cells": "allow",
               "attributes": ["X"], "bounds_alpha": 1.5}  # fmt: skip
    zeros = ["0"] * 12
    released = seen_of_file(tmp_path, neighbour(zeros, EARLY, "7"), NUMBERS, **request)
    assert released["guarantee"]["attributes"]["X"]["domain_source"] == "read from the data"
    with pytest.raises(mv.RequestError, match="bounds of 'X': none can be read"):
        files.protect_file(csv_of(tmp_path, zeros, NUMBERS), tmp_path / "new", **request)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("cell", ["7", "true", "2020-01-01"])
def test_one_value_alone_decides_no_type(tmp_path, cell):
    """An attribute that one record alone has a value of is refused, whatever the value."""
    request = {"method": "idp-cbls", "k": 3, "epsilon": 1, "exact_cells": "allow",
               "attributes": ["X"], "missing": "keep"}  # fmt: skip
    path = csv_of(tmp_path, neighbour([""] * 12, EARLY, cell), NUMBERS)
    with pytest.raises(mv.DataError):
        files.protect_file(path, tmp_path / "new", **request)
    with pytest.raises(mv.DataError, match="one value"):
        files.protect_file(
            path, tmp_path / "new", method="laplace", epsilon=1, attributes=["X"], missing="keep",
            bounds={"X": DAYS if "-" in cell else (0, 9)} if cell != "true" else {},
        )  # fmt: skip


# Frames ------------------------------------------------------------------------------

MIDNIGHT = [dt.datetime.fromisoformat(day) for day in ("2020-01-01", "2020-02-29")]
NOON = dt.datetime.fromisoformat("2020-01-01 12:30")
WORDS = ["a", "b", None, "7"]
CELLS = {
    "whole": [0, 1, 7, 40, -3],
    "unsigned": [0, 1, 7, 2**63 + 5],
    "float": [0.0, 1.0, 7.0, 0.5, float("nan"), float("inf")],
    "nullable": [0, 1, 7, None],
    "truth": [True, False],
    "nullable truth": [True, False, None],
    "moment": [*MIDNIGHT, *MIDNIGHT, NOON, None],
    "word": WORDS,
    "object": [1, 7, True, "a", None, 0.5, dt.date(2020, 1, 1)],
}


def _pandas(dtype):
    return lambda cells: pd.DataFrame({"X": pd.Series(cells, dtype=dtype)})


def _polars(dtype):
    return lambda cells: pl.DataFrame({"X": pl.Series(cells, dtype=dtype, strict=False)})


def _arrow(dtype):
    return lambda cells: pa.table({"X": pa.array(cells, dtype)})


def _array(dtype):
    return lambda cells: {"X": np.array(cells, dtype=dtype)}


FRAMES = {
    "whole": [_pandas("int64"), _pandas("Int16"), _polars(pl.Int8), _arrow(pa.int64()),
              _array("int32")],
    "unsigned": [_pandas("uint64"), _polars(pl.UInt64), _arrow(pa.uint64()), _array("uint64")],
    "float": [_pandas("float64"), _pandas("float32"), _polars(pl.Float64), _arrow(pa.float32()),
              _array("float64")],
    "nullable": [_pandas("Int64"), _pandas("int64[pyarrow]"), _polars(pl.Int64),
                 _arrow(pa.int32()), _pandas("float64"), _array("object")],
    "truth": [_pandas("bool"), _polars(pl.Boolean), _arrow(pa.bool_()), _array("bool")],
    "nullable truth": [_pandas("boolean"), _pandas("object"), _pandas("bool[pyarrow]"),
                       _polars(pl.Boolean), _arrow(pa.bool_())],
    "moment": [_pandas("datetime64[ns]"), _pandas("timestamp[us][pyarrow]"),
               _polars(pl.Datetime("us")), _arrow(pa.timestamp("ms")), _array("datetime64[m]")],
    "word": [_pandas("object"), _pandas("str"), _pandas("category"), _polars(pl.String),
             _polars(pl.Categorical), _polars(pl.Enum(["a", "b", "7"])), _arrow(pa.string()),
             _array("object")],
    "object": [_pandas("object"), _array("object")],
}  # fmt: skip


def schema_of(data):
    """Return the columns and types of any frame, in words."""
    if isinstance(data, dict):
        return {name: str(array.dtype) for name, array in data.items()}
    if isinstance(data, pa.Table):
        return data.schema.to_string()
    if isinstance(data, pl.DataFrame):
        return repr(data.schema)
    return {name: repr(dtype) for name, dtype in data.dtypes.items()}


def seen_of_frame(table, **request):
    """Return what everybody sees of a release beside its cells; None where it is refused."""
    try:
        release = mv.protect(table, **request)
    except mv.MicroveilError:
        return None
    return {"schema": schema_of(release.data), "guarantee": release.guarantee.to_dict()}


@st.composite
def frame_cases(draw):
    """A frame, a neighbouring one of the same types, and a request that names its column."""
    theme = draw(st.sampled_from(sorted(CELLS)))
    n = draw(st.integers(2, 8))
    cells = draw(st.lists(st.sampled_from(CELLS[theme]), min_size=n, max_size=n))
    other = list(cells)
    other[draw(st.integers(0, n - 1))] = draw(st.sampled_from(CELLS[theme]))
    make = draw(st.sampled_from(FRAMES[theme]))
    bounds = {"moment": DAYS, "word": ["a", "b", "7"], "object": ["a", "1", "7", "True"]}
    request = {
        **draw(st.sampled_from(METHODS)),
        "epsilon": 1,
        "attributes": ["X"],
        "bounds": {"X": bounds.get(theme, (-5, 100))},
        "outside": "clamp",
        "missing": draw(st.sampled_from(["keep", "keep", "error"])),
    }
    if "truth" in theme:
        del request["bounds"]
    if theme in ("word", "object"):
        request["method"] = "pram"
    if "float" in theme or draw(st.integers(0, 3)) == 0:
        request["resolution"] = {"X": draw(st.sampled_from([1, 0.5]))}
    return make(cells), make(other), request


@settings(max_examples=2 * settings.default.max_examples)
@given(case=frame_cases())
def test_frames_of_neighbours_are_released_alike(case):
    """Whatever library holds a column and whatever its cells, its type and guarantee stay."""
    one, two, request = case
    assert alike(seen_of_frame(one, **request), seen_of_frame(two, **request))


@pytest.mark.parametrize("make", FRAMES["moment"])
def test_one_moment_among_midnights_is_refused_where_the_column_is_named(make):
    """Dates stay dates or are refused: a time of day makes no other type of a named column."""
    request = {"method": "laplace", "epsilon": 1, "attributes": ["X"], "bounds": {"X": DAYS}}
    assert seen_of_frame(make(MIDNIGHT * 4), **request) is not None
    with pytest.raises(mv.DataError, match=r"attribute 'X'.*time of day"):
        mv.protect(make([NOON, *(MIDNIGHT * 4)[1:]]), **request)
    with pytest.raises(mv.DataError, match="the recipe expects a date column"):
        mv.protect(make([NOON, *(MIDNIGHT * 4)[1:]]), types={"X": "date"}, **request)


@pytest.mark.parametrize("dtype", ["int64", "Int64", "float64"])
def test_a_frames_type_is_as_it_came_and_a_stated_one_holds_it(dtype):
    """A float column that one missing cell made stays float; a recipe's type refuses it."""
    cells = [1, 2, 3, 4, 5, 6]
    request = {"method": "laplace", "epsilon": 1, "attributes": ["X"], "bounds": {"X": (0, 9)},
               "resolution": {"X": 1}, "missing": "keep"}  # fmt: skip
    kind = "decimal" if dtype == "float64" else "whole number"
    frame = pd.DataFrame({"X": pd.Series(cells, dtype=dtype)})
    assert str(mv.protect(frame, types={"X": kind}, **request).data["X"].dtype) == dtype
    made = pd.DataFrame({"X": [None, *cells[1:]]})
    if kind == "decimal":
        assert str(mv.protect(made, types={"X": kind}, **request).data["X"].dtype) == dtype
    else:
        with pytest.raises(mv.DataError, match="the recipe expects a whole number column"):
            mv.protect(made, types={"X": kind}, **request)
