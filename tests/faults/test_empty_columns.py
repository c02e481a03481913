"""Whether one record has a value does not show in what else is published."""

import datetime
import json
import re
import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microveil as mv
from command import run

N = 40
DAY = datetime.date(2001, 2, 3)
# What is declared of a column, one value that it may hold, and what its cells look like in text.
DECLARED = {
    "whole numbers": (["--bounds", "A=0:9"], 5, r"[0-9]"),
    "decimals": (["--bounds", "A=0:9", "--resolution", "A=0.5"], 5.5, r"[0-9]\.[05]"),
    "whole steps": (["--bounds", "A=0:9", "--resolution", "A=1"], 5, r"[0-9]"),
    "dates": (["--bounds", "A=2001-01-30:2001-02-07"], DAY, r"2001-0[12]-[0-9]{2}"),
    "categories": (["--categories", "A=north,south"], "north", r"north|south"),
    "numbers as categories": (["--categories", "A=1,5"], 5, r"1|5"),
    "an order": (["--ordered", "A=low,high"], "low", r"low|high"),
}


def write(path, value, place):
    """Write a table whose column A has one value, at a place, or none."""
    cells = [value if record == place else None for record in range(N)]
    other = [record % 3 for record in range(N)]
    if path.suffix in (".csv", ".tsv"):
        rows = [("ID", "A", "B"), *zip(range(N), cells, other, strict=True)]
        mark = "," if path.suffix == ".csv" else "\t"
        words = [["" if cell is None else str(cell) for cell in row] for row in rows]
        path.write_text("\n".join(map(mark.join, words)) + "\n")
    elif path.suffix == ".db":
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE people (A, B INTEGER)")
            texts = [str(cell) if cell == DAY else cell for cell in cells]
            rows = list(zip(texts, other, strict=True))
            database.executemany("INSERT INTO people VALUES (?, ?)", rows)
        database.close()
    else:
        frame = pl.DataFrame({"ID": range(N), "A": cells, "B": other})
        if path.suffix == ".xlsx":
            frame.write_excel(path)
        else:
            frame.write_parquet(path)


def published(folder, name, method, declared):
    """Return all that a release shows beside what was drawn; None where it was refused."""
    asked = ("--method", method, "--epsilon", "0.1" if method == "pram" else "40")
    done = run(
        *("protect", name, *asked, "--scope", "row", "--missing", "protect"),
        *(
            "--attributes",
            "A,B",
            "--bounds",
            "B=0:2",
            "--never-missing",
            "B",
            *declared,
            "-o",
            "out",
        ),
        folder=folder,
    )
    if done.returncode:
        assert "Traceback" not in done.stderr
        return None
    out = folder / "out"
    shown = {path.name: path.read_text() for path in out.iterdir() if not path.match("data.*")}
    (data,) = out.glob("data.*")
    # What is drawn may be empty all through: then the types of some files cannot be read off them.
    shown["columns"] = str(
        {".db": ddl, ".parquet": pl.read_parquet_schema}.get(data.suffix, names)(data)
    )
    if data.suffix in (".csv", ".tsv"):
        shown["cells"] = {re.split("[,\t]", line)[0] for line in data.read_text().split("\n")[1:]}
    return shown


def names(path):
    """Return the names of a file's columns."""
    return mv.read(path).frame.columns


def ddl(path):
    """Return how the columns of a SQLite file are declared."""
    with sqlite3.connect(path) as database:
        found = database.execute("SELECT sql FROM sqlite_schema").fetchall()
    database.close()
    return found


@pytest.mark.parametrize(
    ("method", "suffix", "holds"),
    [*(("pram", "csv", holds) for holds in DECLARED),
     *(("pram", "parquet", holds) for holds in ("decimals", "dates", "numbers as categories")),
     *(("pram", "db", holds) for holds in ("whole steps", "dates", "an order")),
     ("pram", "xlsx", "dates"), ("pram", "xlsx", "whole steps"), ("pram", "tsv", "decimals"),
     ("dp-synthetic", "csv", "decimals"), ("dp-synthetic", "csv", "an order")],
)  # fmt: skip
def test_a_file_says_the_same_whether_one_record_has_a_value(tmp_path, method, suffix, holds):
    """A column without any value is released as one with a value: certificate, type, format."""
    declared, value, look = DECLARED[holds]
    found = []
    for place, cell in ((0, None), (0, value), (N - 1, value)):
        folder = tmp_path / f"{len(found)}"
        folder.mkdir()
        write(folder / f"people.{suffix}", cell, place)
        found.append(published(folder, f"people.{suffix}", method, declared))
    assert found[0] is not None
    cells = [one.pop("cells", set()) - {""} for one in found if one is not None]
    assert all(one in (found[0], None) for one in found)
    assert all(re.fullmatch(look, cell) for cell in set().union(*cells))
    # Of a file of text both are released; a type of its own may be refused for one value.
    if suffix in ("csv", "tsv", "xlsx"):
        assert None not in found


VALUES = {
    "whole": 5, "decimal": 1.5, "text": "5", "word": "x", "truth": True, "date": DAY,
    "moment": datetime.datetime.combine(DAY, datetime.time()),
}  # fmt: skip
DOMAINS = (
    {"bounds": {"A": (0, 120)}},
    {"bounds": {"A": (0, 1)}},
    {"bounds": {"A": (0, 120)}, "resolution": {"A": 1}},
    {"bounds": {"A": (0, 120)}, "resolution": {"A": 0.5}},
    {"bounds": {"A": ("2001-01-01", "2001-03-01")}},
    {"categories": {"A": ["5", "x"]}},
    {"categories": {"A": ["1", "5"]}},
    {"categories": {"A": [1, 5]}},
    {"categories": {"A": [True, False]}},
    {"categories": {"A": mv.ordered("5", "x")}},
)


def csv_of(cells):
    return (
        "A,B\n" + "".join(f"{'' if c is None else c},{i % 3}\n" for i, c in enumerate(cells))
    ).encode()


def with_b(column):
    return pd.DataFrame({"A": column, "B": np.arange(N) % 3})


FRAMES = {
    "polars from CSV": lambda cells: pl.read_csv(csv_of(cells)),
    "polars from CSV with dates": lambda cells: pl.read_csv(csv_of(cells), try_parse_dates=True),
    "polars": lambda cells: pl.DataFrame({"A": cells, "B": np.arange(N) % 3}),
    "pandas": with_b,
    "pandas of objects": lambda cells: with_b(pd.Series(cells, dtype=object)),
    "pandas of its own types": lambda cells: with_b(cells).convert_dtypes(),
    "pandas category": lambda cells: with_b(pd.Series(cells).astype("category")),
    "pandas category of objects": lambda cells: with_b(
        pd.Series(cells, dtype=object).astype("category")
    ),
    "pyarrow": lambda cells: pa.table({"A": cells, "B": np.arange(N) % 3}),
    "arrays": lambda cells: {"A": np.array(cells), "B": np.arange(N) % 3},
}


def type_of(data):
    """Return the type of a released column; of categories of what they are."""
    column = data["A"]
    dtype = column.type if isinstance(data, pa.Table) else column.dtype
    categories = getattr(dtype, "categories", None)
    if isinstance(dtype, pd.CategoricalDtype):
        return f"category of {categories.dtype}, {dtype.ordered}"
    # An array of whole numbers has no place for a missing one: what is drawn decides.
    return "number" if isinstance(data, dict) and dtype.kind in "iuf" else str(dtype)


# A type is given back by one way for all methods: a new table need not show it of each frame.
@pytest.mark.parametrize(
    ("method", "frame"),
    [*(("pram", frame) for frame in FRAMES), ("dp-synthetic", "polars"),
     ("dp-synthetic", "pandas category of objects")],
)  # fmt: skip
def test_a_frame_says_the_same_whatever_its_one_value_is(frame, method):
    """Tables that differ in one record are released in one type, or but one of them is released."""
    for declared in DOMAINS:
        asked = {"method": method, "epsilon": 40, "missing": "protect", "scope": "row"}
        bounds = {**declared.get("bounds", {}), "B": (0, 2)}
        found = {}
        for name, value in {"none": None, **VALUES}.items():
            try:
                table = FRAMES[frame]([None] * 7 + [value] + [None] * (N - 8))
                release = mv.protect(
                    table, attributes=["A", "B"], **{**declared, "bounds": bounds}, **asked
                )
            except (mv.MicroveilError, pa.ArrowInvalid):
                continue
            schema = json.dumps(release.guarantee.to_dict(), default=str), str(release.schema)
            found.setdefault((type_of(release.data), *schema, *release.notes), []).append(name)
        assert len(found) <= 1, (declared, [(kind[0], names) for kind, names in found.items()])


def test_bounds_say_what_an_empty_column_holds():
    """They are an interval and no two categories: numbers come out, and none but empty cells."""
    table = pl.DataFrame(
        {"A": [None] * N, "B": np.arange(N) % 3}, schema_overrides={"A": pl.String}
    )
    for ends in ((0, 120), ("0", "120")):
        asked = {"bounds": {"A": ends, "B": (0, 2)}, "attributes": ["A", "B"], "epsilon": 60}
        data = mv.protect(table, method="pram", missing="protect", **asked).data
        assert data["A"].dtype == pl.Int64
    data = mv.protect(table, method="dp-synthetic", missing="protect", **asked).data
    assert data["A"].null_count() > N / 2


def test_values_of_one_unit_alone_do_not_say_it_either():
    """The values of a household are few, too: where they alone make a type, it is refused."""
    table = pl.DataFrame(
        {"HOME": np.arange(N) // 2, "A": [True, True, *[None] * (N - 2)], "B": np.arange(N) % 3}
    )
    asked = {"bounds": {"A": (0, 1), "B": (0, 2)}, "attributes": ["A", "B"], "epsilon": 9}
    asked |= {"method": "pram", "missing": "protect"}
    assert mv.protect(table, **asked).data["A"].dtype == pl.Boolean
    with pytest.raises(mv.DataError, match="attribute 'A': it has a value in one record at most"):
        mv.protect(table, **asked, unit="HOME", max_rows=2)


def test_sqlite_reads_columns_of_nulls(tmp_path):
    """Whatever is declared of them, they are there, and every cell of theirs is missing."""
    kinds = ["", "INTEGER", "REAL", "NUMERIC", "TEXT", "DATE", "TIMESTAMP", "BOOLEAN"]
    with sqlite3.connect(tmp_path / "people.db") as database:
        columns = ", ".join(f"C{place} {kind}" for place, kind in enumerate(kinds))
        database.execute(f"CREATE TABLE people ({columns}, ID INTEGER)")
        for record in range(5):
            database.execute("INSERT INTO people (ID) VALUES (?)", (record,))
    database.close()
    frame = mv.read(tmp_path / "people.db").frame
    assert [frame[f"C{place}"].null_count() for place in range(len(kinds))] == [5] * len(kinds)
    assert (frame.schema["C1"], frame.schema["C5"]) == (pl.Int64, pl.Date)
