"""Two neighbouring tables under equal randomness: nothing of a new table but its cells differs.

The randomness is put in, not seeded, so that the guarantee stays in force. What a table holds
decides neither whether there is a release nor which columns, types, words and files it has.
"""

import datetime
import itertools
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from microveil.commands.files import protect_file
from microveil.errors import DataError
from microveil.noise.noise import RandomSource
from microveil.protect.draw import draw
from microveil.protect.planning import plan_of
from microveil.protect.releasing import released
from microveil.protect.settling import settle

N = 120
BOUNDS = {"AGE": (0, 100), "PAY": (-1000, 50_000), "BORN": ("1900-01-01", "2020-12-31"),
          "ROOMS": (1, 9)}  # fmt: skip
CATEGORIES = {"PLACE": ["n", "s", "w", "never"]}
ATTRIBUTES = ["AGE", "PAY", "BORN", "ROOMS", "PLACE", "SMOKES"]
ASKED = {"method": "dp-synthetic", "attributes": ATTRIBUTES, "bounds": BOUNDS,
         "categories": CATEGORIES, "resolution": {"PAY": 0.01}, "missing": "protect",
         "epsilon": 60}  # fmt: skip
SCHEMA = {"AGE": pl.Int64, "PAY": pl.Float64, "BORN": pl.Date, "ROOMS": pl.Int16,
          "PLACE": pl.String, "SMOKES": pl.Boolean}  # fmt: skip


def day(year, month=1, number=1):
    return datetime.date(year, month, number)


def people(n_records=N):
    random = np.random.Generator(np.random.PCG64(9))
    return pl.DataFrame(
        {
            "AGE": random.integers(0, 100, n_records),
            "PAY": np.round(random.lognormal(8, 1, n_records), 2),
            "BORN": [day(1930 + int(year)) for year in random.integers(0, 80, n_records)],
            "ROOMS": random.integers(1, 7, n_records),
            "PLACE": random.choice(["n", "s"], n_records),
            "SMOKES": random.integers(0, 2, n_records).astype(bool),
        },
        schema=SCHEMA,
    )


def with_record(table, **cells):
    """The same table with the cells of one record replaced."""
    columns = {name: table[name].to_list() for name in table.columns}
    for name, cell in cells.items():
        columns[name][7] = cell
    return pl.DataFrame(columns, schema=SCHEMA)


def every(**cells):
    """A table in which all people have these cells."""
    return people().with_columns(
        **{name: pl.lit(cell, dtype=SCHEMA[name]) for name, cell in cells.items()}
    )


ABSENT = dict.fromkeys(ATTRIBUTES)
EXTREME = {"AGE": 100, "PAY": 50_000.0, "BORN": day(2020, 12, 31), "ROOMS": 9, "PLACE": "never",
           "SMOKES": True}  # fmt: skip
OUTSIDE = {"AGE": -(10**15), "PAY": 1e120, "BORN": day(9999, 12, 31), "ROOMS": 30_000}
ALIKE = {"AGE": 40, "PAY": 5_000.0, "BORN": day(1960), "ROOMS": 3, "PLACE": "s", "SMOKES": False}
PAIRS = {
    "another record": (people(), with_record(people(), **EXTREME)),
    "a category never seen, and seen once": (people(), with_record(people(), PLACE="never")),
    "a record without values": (people(), with_record(people(), **ABSENT)),
    "values far outside": (people(), with_record(people(), **OUTSIDE)),
    "no number": (people(), with_record(people(), PAY=float("inf"))),
    "all equal, and all but one": (every(**ALIKE), with_record(every(**ALIKE), **EXTREME)),
    "no values, and one": (every(**ABSENT), with_record(every(**ABSENT), **EXTREME)),
    "all at an end": (every(**EXTREME), with_record(every(**EXTREME), **ALIKE)),
}


def release_of(table, *, source=3, **more):
    planned = plan_of(settle(table, {**ASKED, **more}))
    return released(planned, draw(planned, seed=source))


def published(table, folder, **more):
    """All that a release shows but its cells and its measurements."""
    release = release_of(table, **more)
    public, custodian = release.write(folder, with_measurements=True)
    files = {path.name: path.read_bytes() for path in public.iterdir()}
    header, *rows = files.pop("data.csv").decode().splitlines()
    measured = json.loads(files.pop("measurements.json"))
    files.pop("margins.json")  # of the measurements alone
    assert sorted(path.name for path in custodian.iterdir()) == ["manifest.json"]
    return {
        "files": files,
        "header": header,
        "n_rows": len(rows),
        "spelling": [spelling(cells) for cells in zip(*(row.split(",") for row in rows),
                                                      strict=True)],
        "types": dict(release.data.schema),
        "notes": release.notes,
        "repr": repr(release),
        "summary": release.guarantee.summary(),
        "measured": (
            {name: value for name, value in measured.items() if name not in ("attributes",
                                                                             "tables")},
            {name: sorted(own) for name, own in measured["attributes"].items()},
        ),
    }, (rows, measured)  # fmt: skip


def spelling(cells):
    """How the cells of a column are written: whole, with decimals, as dates or as words."""
    return {
        "".join("9" if sign.isdigit() else sign for sign in cell if sign in "0123456789.")[:1]
        + ("." if "." in cell else "")
        for cell in cells
        if cell
    }


GRAPH, ALONE = {}, {"structure": "independent"}
TARGET = {"target": {"AGE": 50}, "delta": 1e-3}
TREE = {"structure": "tree", "n_records": 50, "budget": {"AGE": 3}}
CASES = [
    *itertools.product(list(PAIRS)[1::2], [ALONE]),
    *itertools.product(list(PAIRS)[2::2], [TARGET]),
    ("another record", GRAPH), ("a record without values", TREE),
]  # fmt: skip


@pytest.mark.parametrize(("pair", "more"), CASES, ids=str)
def test_neighbours_differ_in_cells_and_measurements_alone(pair, more, tmp_path):
    """Files, order and types of columns, words and notes are the same, byte for byte."""
    (one, drawn), (other, drawn_of_other) = (
        published(table, tmp_path / name, **more)
        for name, table in zip(("one", "other"), PAIRS[pair], strict=True)
    )
    guarantee = json.loads(one["files"]["guarantee.json"])
    assert guarantee["model"] == "dp"
    assert guarantee["scopes"]["row"]["covered"]
    assert [own["id"] for own in guarantee["conditions"]] == ["repeated-people"]
    assert sorted(one["files"]) == ["guarantee.json", "guarantee.md"]
    spelt = one.pop("spelling"), other.pop("spelling")
    assert one == other
    # A column that happens to have no value is spelt in no way.
    assert all(mine == theirs or not (mine and theirs) for mine, theirs in zip(*spelt, strict=True))
    # Else the pair would show nothing.
    assert drawn != drawn_of_other


def test_what_is_put_in_is_what_decides():
    """Equal randomness gives an equal table, other randomness another: the comparison can fail."""
    drawn = (release_of(people(), source=source, **ALONE).data for source in (3, 3, 4))
    one, again, other = drawn
    assert one.equals(again)
    assert not one.equals(other)


def as_pandas(table):
    return pd.DataFrame({
        "AGE": pd.array(table["AGE"].to_list(), dtype="Int64"),
        "PAY": table["PAY"].to_numpy(),
        "BORN": pd.to_datetime(pd.Series(table["BORN"].to_list())).astype("datetime64[s]"),
        "ROOMS": pd.array(table["ROOMS"].to_list(), dtype="Int16"),
        "PLACE": table["PLACE"].to_list(),
        "SMOKES": pd.array(table["SMOKES"].to_list(), dtype="boolean"),
    })  # fmt: skip


def as_arrow(table):
    kinds = (pa.int64(), pa.float64(), pa.date32(), pa.int16(), pa.string(), pa.bool_())
    return pa.table(
        {name: pa.array(table[name].to_list(), type=kind)
         for name, kind in zip(table.columns, kinds, strict=True)}
    )  # fmt: skip


def as_arrays(table):
    """Whole numbers that may be missing are floats there."""
    made = {name: table[name].to_numpy().astype(float) for name in ("AGE", "PAY", "ROOMS")}
    made["BORN"] = table["BORN"].to_numpy().astype("datetime64[D]")
    made["PLACE"] = np.array(table["PLACE"].to_list(), dtype=object)
    made["SMOKES"] = np.array([np.nan if own is None else float(own)
                               for own in table["SMOKES"].to_list()])  # fmt: skip
    return made


def types_of(data):
    if isinstance(data, dict):
        return {name: column.dtype for name, column in data.items()}
    if isinstance(data, pa.Table):
        return dict(zip(data.schema.names, data.schema.types, strict=True))
    return dict(data.dtypes) if isinstance(data, pd.DataFrame) else dict(data.schema)


@pytest.mark.parametrize("pair", ["a record without values", "another record"])
@pytest.mark.parametrize("frame", [as_pandas, as_arrow, as_arrays], ids=lambda one: one.__name__)
def test_types_are_those_of_the_declared_columns_in_every_frame(frame, pair):
    """Of two neighbours one of which lacks a value, the releases have the same types."""
    more = {"resolution": dict.fromkeys(("AGE", "ROOMS"), 1) | {"PAY": 0.01}, **ALONE}
    if frame is as_arrays:
        more["categories"] = {**CATEGORIES, "SMOKES": [0, 1]}
    one, other = (types_of(release_of(frame(table), **more).data) for table in PAIRS[pair])
    assert one == other
    assert sorted(one) == sorted(ATTRIBUTES)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("pair", ["a record without values", "values far outside"])
def test_neighbouring_files_give_files_that_differ_in_cells_alone(
    suffix, pair, tmp_path, monkeypatch
):
    """From file to file too, with the custodian's report made on the way."""
    monkeypatch.setattr(RandomSource, "system", lambda: RandomSource.seeded(3))
    shown = []
    for name, table in zip(("one", "other"), PAIRS[pair], strict=True):
        path = tmp_path / f"{name}.{suffix}"
        table.write_csv(path) if suffix == "csv" else table.write_parquet(path)
        protect_file(path, tmp_path / f"{name}-out", **ASKED, **ALONE)
        files = {file.name: file.read_bytes() for file in (tmp_path / f"{name}-out").iterdir()}
        data = files.pop(f"data.{suffix}")
        schema = (
            data.splitlines()[0]
            if suffix == "csv"
            else pa.parquet.read_schema(tmp_path / f"{name}-out" / "data.parquet")
        )
        shown.append((files, schema))
    assert shown[0] == shown[1]


# Shapes of tables that have tripped others.


@pytest.mark.parametrize(
    ("cells", "domain", "resolution"),
    [
        (np.full(N, 50_000), (0, 10**12), None),
        (np.full(N, 50_000.0), (0, 10**7), 0.01),
        (np.full(N, -3), (-(10**9), -1), None),
        (np.arange(N) % 2, (0, 1), None),
        (np.arange(N) % 2 * 10**6, (0, 10**6), None),
        (np.where(np.arange(N) % 20 == 0, np.arange(N) * 900, 0), (0, 10**5), None),
        (np.arange(N) - 60, (-100, 100), None),
        (np.full(N, 2**52), (-(2**53), 2**53), None),
        (np.full(N, 5.0), (0, 1), 1e-15),
    ],
    ids=["1e12", "cents", "negative", "two values", "two far values", "zeros", "signs", "widest",
         "fine"],
)  # fmt: skip
def test_columns_of_every_shape_are_released_inside_their_domain(cells, domain, resolution):
    """All equal, two-valued, mostly zero, negative, or lost in a domain of 1e12."""
    table = pl.DataFrame({"X": cells, "Y": np.arange(N) % 7})
    asked = {"attributes": ["X", "Y"], "bounds": {"X": domain, "Y": (0, 6)}, "categories": {},
             "resolution": {} if resolution is None else {"X": resolution},
             "missing": "error"}  # fmt: skip
    for more in ({}, {"target": "X"}, {"delta": 1e-3}):
        data = release_of(table, **asked, **more).data
        assert data.schema == table.schema
        assert data.null_count().sum_horizontal().item() == 0
        assert domain[0] <= data["X"].min() <= data["X"].max() <= domain[1]
        assert len(data) == N


def test_a_category_that_was_not_declared_is_refused_without_a_word_of_it():
    """No order says where it would have to be moved to."""
    table = with_record(people(), PLACE="SECRET")
    with pytest.raises(DataError, match="none of the declared categories") as refusal:
        release_of(table)
    assert "SECRET" not in str(refusal.value)
