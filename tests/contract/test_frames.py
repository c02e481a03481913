"""Every kind of frame goes in and comes out as the same kind, and leaves nothing else behind."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.naive_bayes import GaussianNB

import microveil as mv

N = 12
REQUEST = {
    "method": "dp-um",
    "k": 3,
    "epsilon": 1,
    "attributes": ["whole", "decimal", "yes", "day"],
    "keep": ["place"],
    "bounds": {"whole": (0, 100), "decimal": (0, 10), "day": ("2000-01-01", "2030-12-31")},
    "resolution": {"decimal": 0.01},
}
WHOLE = [(7 * i) % 23 for i in range(N)]
DECIMAL = [i / 4 for i in range(N)]
YES = [i % 3 == 0 for i in range(N)]
DAY = [datetime.date(2020, 1, 1) + datetime.timedelta(days=31 * i) for i in range(N)]
PLACE = ["north", "south"] * (N // 2)


def pandas_frame(**types):
    frame = pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(N)],
            "whole": WHOLE,
            "decimal": DECIMAL,
            "yes": YES,
            "day": pd.to_datetime(DAY),
            "place": pd.Categorical(PLACE, categories=["north", "SECRET", "south"]),
        },
        index=[f"person {i}" for i in range(N)],
    )
    frame.attrs["owner"] = "SECRET"
    return frame.astype(types)


def polars_frame():
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(N)],
            "whole": pl.Series(WHOLE, dtype=pl.UInt8),
            "decimal": pl.Series(DECIMAL, dtype=pl.Float32),
            "yes": YES,
            "day": DAY,
            "place": pl.Series(PLACE, dtype=pl.Enum(["north", "SECRET", "south"])),
        }
    )


def arrow_table():
    indices = pa.array([0 if place == "north" else 2 for place in PLACE], pa.int8())
    dictionary = pa.DictionaryArray.from_arrays(indices, pa.array(["north", "SECRET", "south"]))
    fields = {
        "name": pa.array([f"person {i}" for i in range(N)]),
        "whole": pa.array(WHOLE, pa.int16()),
        "decimal": pa.array(DECIMAL, pa.float32()),
        "yes": pa.array(YES),
        "day": pa.array(DAY),
        "place": dictionary,
    }
    return pa.table(fields, metadata={"owner": "SECRET"})


def arrays():
    return {
        "name": np.array([f"person {i}" for i in range(N)]),
        "whole": np.array(WHOLE, np.int8),
        "decimal": np.array(DECIMAL, np.float32),
        "yes": np.array(YES),
        "day": np.array(DAY, "datetime64[D]"),
        "place": np.array(PLACE),
    }


def test_pandas_frames_come_back_with_their_types_and_without_their_index():
    """Numpy, nullable and pyarrow-backed columns alike; index, attrs, categories are gone."""
    for types in (
        {},
        {"whole": "Int16", "decimal": "Float32", "yes": "boolean"},
        {"whole": "uint8", "decimal": "float32"},
        {
            "whole": "int32[pyarrow]",
            "decimal": "double[pyarrow]",
            "yes": "bool[pyarrow]",
            "day": "date32[pyarrow]",
        },
    ):
        frame = pandas_frame(**types)
        data = mv.protect(frame, **REQUEST).data
        assert isinstance(data, pd.DataFrame)
        assert list(data.columns) == ["whole", "decimal", "yes", "day", "place"]
        for name in ("whole", "decimal", "yes", "day"):
            assert data[name].dtype == frame[name].dtype
        assert data.index.equals(pd.RangeIndex(N))
        assert data.attrs == {}
        assert list(data["place"].cat.categories) == ["north", "south"]
        assert data["place"].astype(str).tolist() == PLACE


def test_an_index_that_is_left_out_is_noted():
    """One that but counts the rows is not worth a note; no label of it is shown."""
    frame = pandas_frame()
    counted = frame.reset_index(drop=True)
    named = counted.rename_axis("nr")
    noted = {}
    for title, table in (("labels", frame), ("counted", counted), ("named", named)):
        notes = mv.protect(table, **REQUEST).notes
        noted[title] = any("The index of the data frame" in note for note in notes)
        assert not any("person" in note and "index" in note for note in notes)
    assert noted == {"labels": True, "counted": False, "named": True}
    assert not any("index" in note for note in mv.protect(polars_frame(), **REQUEST).notes)


def test_polars_frames_come_back_with_their_types():
    """Column types are restored; categories that no record has are gone."""
    data = mv.protect(polars_frame(), **REQUEST).data
    assert isinstance(data, pl.DataFrame)
    assert data.schema == {
        "whole": pl.UInt8,
        "decimal": pl.Float32,
        "yes": pl.Boolean,
        "day": pl.Date,
        "place": pl.Enum(["north", "south"]),
    }
    assert data["place"].to_list() == PLACE


def test_arrow_tables_come_back_with_their_types_and_without_metadata():
    """Types are restored; metadata and unused dictionary entries are gone."""
    table = arrow_table()
    data = mv.protect(table, **REQUEST).data
    assert isinstance(data, pa.Table)
    assert data.schema.equals(table.select(["whole", "decimal", "yes", "day", "place"]).schema)
    assert not data.schema.metadata
    assert data["place"].combine_chunks().dictionary.to_pylist() == ["north", "south"]


def test_arrays_come_back_as_arrays():
    """A dict of numpy arrays in, a dict of arrays of the same types out."""
    table = arrays()
    data = mv.protect(table, **REQUEST).data
    assert list(data) == ["whole", "decimal", "yes", "day", "place"]
    assert all(data[name].dtype == table[name].dtype for name in data)
    assert not np.shares_memory(data["place"], table["place"])


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table, arrays])
def test_every_kind_of_frame_holds_the_same_numbers(make):
    """The same people with the same seed come out alike, whatever held them."""
    data = mv.protect(make(), **REQUEST, seed=5).data
    expected = mv.protect(arrays(), **REQUEST, seed=5).data
    for name in ("whole", "decimal", "yes"):
        assert np.allclose(np.array(data[name]).astype(float), expected[name].astype(float))
    days = np.array(data["day"], dtype="datetime64[D]")
    assert np.array_equal(days, expected["day"])


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table, arrays])
def test_values_stay_on_the_grid_and_within_bounds(make):
    """Two decimals where 0.01 was declared, dates between the dates declared."""
    data = mv.protect(make(), **REQUEST | {"epsilon": 0.01}).data
    cents = np.array(data["decimal"], dtype=float) * 100
    assert np.allclose(cents, np.rint(cents), atol=1e-3)
    assert cents.min() >= 0
    assert cents.max() <= 1000
    days = np.array(data["day"], dtype="datetime64[D]")
    assert days.min() >= np.datetime64("2000-01-01")
    assert days.max() <= np.datetime64("2030-12-31")


def test_missing_cells_keep_their_places_in_every_kind_of_frame():
    """missing="keep": nulls come back where they were, others are protected."""
    gaps = [None if i in (2, 5) else float(i % 4) for i in range(N)]
    holes = [i in (2, 5) for i in range(N)]
    request = {
        "method": "dp-um",
        "k": 3,
        "epsilon": 1,
        "attributes": ["x"],
        "bounds": {"x": (0, 9)},
        "missing": "keep",
    }
    whole = [None if gap is None else int(gap) for gap in gaps]
    frames = [
        pd.DataFrame({"x": pd.array(whole, dtype="Int64")}),
        pd.DataFrame({"x": pd.array(whole, dtype="int64[pyarrow]")}),
        pl.DataFrame({"x": whole}),
        pa.table({"x": whole}),
    ]
    for frame in frames:
        data = mv.protect(frame, **request).data
        cells = data["x"].to_pylist() if isinstance(data, pa.Table) else list(data["x"])
        assert [cell is None or cell is pd.NA for cell in cells] == holes
    data = mv.protect({"x": np.array(gaps, dtype=float)}, **request, resolution={"x": 1}).data
    assert np.isnan(data["x"]).tolist() == holes


def test_permuting_the_rows_permutes_the_plan():
    """Sums, scales and clusters belong to the people, not to their places."""
    values = np.array([7 * i % 31 for i in range(24)])
    order = np.random.Generator(np.random.PCG64(3)).permutation(24)
    request = {"method": "idp-cbls", "k": 4, "epsilon": 1, "attributes": ["x"]}
    (one,) = mv.plan({"x": values}, **request).attributes
    (other,) = mv.plan({"x": values[order]}, **request).attributes
    assert np.array_equal(one.sums, other.sums)
    assert np.array_equal(one.scales, other.scales)
    assert np.array_equal(one.partition.labels[order], other.partition.labels)
    released = mv.protect({"x": values}, **request, seed=1).data["x"]
    permuted = mv.protect({"x": values[order]}, **request, seed=1).data["x"]
    assert np.array_equal(released[order], permuted)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_shuffling_permutes_whole_rows(make):
    """Protected, missing and kept cells of a record stay together; orders differ."""
    count = 300
    values = np.arange(count, dtype=float)
    values[::7] = np.nan
    kept = np.arange(count)
    # A budget so large that values come out as they are shows which row is whose.
    request = {"method": "laplace", "epsilon": 1e9, "attributes": ["x"], "keep": ["y"],
               "bounds": {"x": (0, count)}, "resolution": {"x": 1}, "missing": "keep",
               "shuffle": True}  # fmt: skip
    orders = []
    for _ in range(2):
        data = mv.protect(make({"x": values, "y": kept}), **request).data
        x = np.array(pd.Series(data["x"].to_pylist() if make is pa.table else data["x"]), float)
        y = np.array(data["y"])
        assert np.array_equal(x, values[y], equal_nan=True)
        assert sorted(y.tolist()) == kept.tolist()
        orders.append(y.tolist())
    assert orders[0] != orders[1]
    assert orders[0] != kept.tolist()


def test_what_a_mask_or_a_structure_hides_does_not_come_along():
    """Masked arrays, lists and nested columns are refused; values under a mask are gone."""
    request = {
        "method": "dp-um",
        "k": 3,
        "epsilon": 1,
        "attributes": ["x"],
        "bounds": {"x": (0, 20)},
    }
    x = np.arange(N) % 5
    for column in (list(x), np.ma.MaskedArray(x, mask=x == 3)):
        with pytest.raises(mv.RequestError, match="plain numpy arrays"):
            mv.protect({"x": x, "y": column}, **request, keep=["y"])
    with pytest.raises(mv.DataError, match="lists and structures"):
        mv.protect(pl.DataFrame({"x": x, "y": [[1]] * N}), **request, keep=["y"])
    hidden = pd.arrays.IntegerArray(np.full(N, 98765), np.arange(N) % 2 == 0)
    data = mv.protect(pd.DataFrame({"x": x, "y": hidden}), **request, keep=["y"]).data
    assert data["y"].isna().sum() == N / 2
    assert not (data["y"].array._data[data["y"].isna()] == 98765).any()


class Word(str):
    """Text that may have attributes."""

    __slots__ = ("owner",)


def objects(cell):
    column = np.empty(30_000, dtype=np.object_)
    column[:-1] = "x"  # the odd one comes last, behind what a library looks at
    column[-1] = cell
    return column


HIDING = {
    "a list": ["SECRET"],
    "a tuple": ("SECRET",),
    "a dict": {"SECRET": 1},
    "a set": {"SECRET"},
    "an array": np.array(["SECRET"]),
    "a structure of numpy": np.array([("SECRET",)], dtype=[("a", "U6")])[0],
    "bytes": b"SECRET",
    "an object": object(),
    "text with attributes": Word("SECRET"),
}
MAKERS = {
    "numpy": lambda x, y: {"x": x, "y": y},
    "pandas": lambda x, y: pd.DataFrame({"x": x, "y": pd.Series(y, dtype=object)}),
    "polars": lambda x, y: pl.DataFrame({"x": x, "y": pl.Series(y.tolist(), dtype=pl.Object)}),
}
MEANS = {"method": "ranking", "k": 3, "attributes": ["x"]}


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("hiding", HIDING)
def test_objects_that_may_hold_more_than_they_show_are_not_kept(make, hiding):
    """Among plain cells too: the column is named, and no cell is shown."""
    column = objects(HIDING[hiding])
    table = MAKERS[make](np.arange(len(column)) % 50, column)
    with pytest.raises(mv.DataError, match="column 'y': lists and structures") as caught:
        mv.protect(table, **MEANS, keep=["y"])
    assert "SECRET" not in str(caught.value)
    assert "leave the column out" in caught.value.remedy
    left = mv.protect(table, **MEANS).data
    assert list(getattr(left, "columns", left)) == ["x"]


def test_categories_of_pandas_that_may_hold_more_than_they_show_are_not_kept():
    """A tuple as a category is a structure too."""
    odd = pd.Categorical.from_codes([0, 1] * 6, pd.Index([("a", 1), ("b", 2)], tupleize_cols=False))
    for column, fits in ((odd, False), (pd.Categorical(["a", "b"] * 6), True)):
        table = pd.DataFrame({"x": range(12), "y": column})
        if fits:
            assert list(mv.protect(table, **MEANS, keep=["y"]).data["y"]) == ["a", "b"] * 6
        else:
            with pytest.raises(mv.DataError, match="column 'y'"):
                mv.protect(table, **MEANS, keep=["y"])


@pytest.mark.parametrize("make", MAKERS)
def test_objects_that_are_plain_are_kept(make):
    """Text, numbers, dates, yes/no and missing cells are kept, whatever class they are of."""
    plain = [
        *("word", np.str_("word"), 1, 1.5, np.float32(2), np.int8(3), True, np.True_),
        *(None, float("nan"), np.nan, pd.NA, pd.NaT, Decimal("1.5"), Fraction(1, 3)),
        *(datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 12), datetime.time(12)),  # noqa: DTZ001
        *(pd.Timestamp("2020"), pd.Timedelta(1), np.datetime64("2020"), np.timedelta64(1, "D")),
    ]
    column = np.empty(len(plain), dtype=np.object_)
    column[:] = plain
    data = mv.protect(MAKERS[make](np.arange(len(plain)), column), **MEANS, keep=["y"]).data
    assert [str(cell) for cell in data["y"]] == [str(cell) for cell in plain]


def test_clusters_share_one_draw():
    """Every record of a cluster carries the same released value."""
    table = {"x": np.arange(100) % 37}
    request = {
        "method": "dp-um",
        "k": 5,
        "epsilon": 1,
        "attributes": ["x"],
        "bounds": {"x": (0, 100)},
        "resolution": {"x": 1},
    }
    labels = mv.plan(table, **request).attributes[0].partition.labels
    released = mv.protect(table, **request).data["x"]
    for cluster in range(labels.max() + 1):
        assert len(set(released[labels == cluster].tolist())) == 1


def test_missing_text_in_arrays_is_missing():
    """None and NaN among objects are no categories called "None" and "nan"."""
    before = {"AGE": np.array([20, 30, 40, 50]), "SEX": np.array(["f", None, np.nan, "m"])}
    after = {"AGE": before["AGE"], "SEX": np.array(["f", None, np.nan, "f"])}
    told = mv.assess(before, after).to_dict()["categories"]["SEX"]
    assert told["share_kept"] == 0.75
    assert set(told["categories"]) == {"", "f", "m"}


@pytest.mark.parametrize("kind", ["polars", "pandas", "numpy"])
def test_columns_of_python_objects_are_told_apart_by_their_text(kind):
    """Dates as objects can be classes and categories of a model, whatever holds them."""
    days = np.array(DAY[:3] * 20, dtype=np.object_)
    numbers = np.arange(60) % 7
    table = {
        "polars": pl.DataFrame({"A": numbers, "day": pl.Series(days, dtype=pl.Object)}),
        "pandas": pd.DataFrame({"A": numbers, "day": days}),
        "numpy": {"A": numbers, "day": days},
    }[kind]
    found = mv.assess(
        table, table, ["A"], classes="day", estimator=GaussianNB(), formula="A ~ day"
    ).to_dict()
    classes = [told["class"] for told in found["classification"]["classes"]]
    assert classes == [str(day) for day in DAY[:3]]
    terms = [told["term"] for told in found["regression"]["coefficients"]]
    assert terms == ["Intercept", *(f"day={day}" for day in DAY[1:3])]


def _arrow_columns():
    """Arrow columns whose types hold more than plain cells, and some that do not."""
    structure = pa.struct([("shown", pa.int64()), ("secret", pa.int64())])

    class Wrapped(pa.ExtensionType):
        def __init__(self):
            super().__init__(structure, "somebody.wrapped")

        def __arrow_ext_serialize__(self):
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage_type, serialized):
            del storage_type, serialized
            return cls()

    cells = pa.array([{"shown": 1, "secret": 2}] * 9, structure)
    lists = pa.array([[1, 2]], pa.list_(pa.int64()))
    codes = pa.array([0] * 9)
    return {
        "extension": (pa.ExtensionArray.from_storage(Wrapped(), cells), False),
        "dictionary of lists": (pa.DictionaryArray.from_arrays(codes, lists), False),
        "text": (pa.array(list("aabbccdde")), True),
        "dictionary": (pa.array(list("aabbccdde")).dictionary_encode(), True),
    }


@pytest.mark.parametrize("kind", ["extension", "dictionary of lists", "text", "dictionary"])
def test_arrow_types_that_hold_more_than_they_show_cannot_be_kept(kind):
    """Extensions and dictionaries of nested values are refused, in Arrow tables and in pd."""
    column, plain = _arrow_columns()[kind]
    arrow = pa.table({"x": pa.array(range(9)), "kept": column})
    extension = pd.arrays.ArrowExtensionArray(pa.chunked_array([column]))
    frame = pd.DataFrame({"x": np.arange(9), "kept": pd.Series(extension)})
    for table in (arrow, frame):
        asked = {"method": "mdav", "k": 3, "attributes": ["x"], "keep": ["kept"]}
        if plain:
            assert "kept" in list(map(str, mv.protect(table, **asked).guarantee.kept))
            continue
        with pytest.raises(mv.DataError, match="column 'kept'"):
            mv.protect(table, **asked)
