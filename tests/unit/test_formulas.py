"""What a spreadsheet would run as a formula is warned of, and written so that it does not."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from command import run
from microveil.files.formulas import FORMULA_SIGNS, begins_like_formula, escaped
from microveil.files.reading import read_file
from microveil.files.text import TextFormat
from microveil.files.writing import write_data

N = 30_000
FRAMES = {
    "numpy": lambda columns: {name: np.array(cells) for name, cells in columns.items()},
    "objects": lambda columns: {
        name: np.array(cells, dtype=object if isinstance(cells[0], str) else None)
        for name, cells in columns.items()
    },
    "pandas": pd.DataFrame,
    "pandas categories": lambda columns: pd.DataFrame(columns).astype({"y": "category"}),
    "polars": pl.DataFrame,
    "polars categories": lambda columns: pl.DataFrame(columns).cast({"y": pl.Categorical}),
    "pyarrow": pa.table,
}
MEANS = {"method": "ranking", "k": 3, "attributes": ["x"]}
RUN = ["=1+1", "+cmd", "-cmd|x", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "-E5", "=", "+1-2"]


def warned(notes):
    return [note for note in notes if "A spreadsheet may run" in note]


@pytest.mark.parametrize("make", FRAMES)
def test_a_kept_cell_that_a_spreadsheet_would_run_is_warned_of(make):
    """Wherever it stands, with the column's name and without the cell."""
    columns = {"x": [i % 50 for i in range(N)], "y": ["-5", *["ok"] * (N - 2), "=SECRET"]}
    (note,) = warned(mv.protect(FRAMES[make](columns), **MEANS, keep=["y"]).notes)
    assert "does in: y." in note
    assert "SECRET" not in note
    assert not warned(mv.protect(FRAMES[make](columns), **MEANS).notes)
    columns["y"][-1] = "-6"
    assert not warned(mv.protect(FRAMES[make](columns), **MEANS, keep=["y"]).notes)


def test_names_and_categories_that_a_spreadsheet_would_run_are_warned_of():
    """Names of all released columns, and categories as declared, whether or not one has them."""
    table = pl.DataFrame({"=x": range(12), "+y": range(12), "@z": range(12)})
    asked = {"method": "ranking", "k": 3, "attributes": ["=x"], "keep": ["+y"]}
    (note,) = warned(mv.protect(table, **asked).notes)
    assert "does in: =x, +y." in note
    asked = {"method": "pram", "epsilon": 1, "attributes": ["p"], "bounds": {"p": ["a", "=b"]}}
    (note,) = warned(mv.protect({"p": np.array(["a"] * 9)}, **asked).notes)
    assert "does in: p." in note


@pytest.mark.parametrize("text", RUN)
def test_what_begins_like_a_formula_is_told(text):
    """By its first character."""
    assert begins_like_formula(text)


signs = st.sampled_from(["'", *FORMULA_SIGNS, "1", ".", ",", " ", "\u00a0", "e", "E", "A"])


@given(texts=st.lists(st.lists(signs, max_size=6).map("".join), min_size=1, max_size=20))
def test_escaping_is_the_same_for_cells_and_names_and_makes_nothing_alike(texts):
    """An apostrophe before what is a formula behind its apostrophes; what differs differs still."""
    texts = sorted(set(texts))
    expected = [f"'{t}" if begins_like_formula(t.lstrip("'")) else t for t in texts]
    assert escaped(pl.DataFrame({"A": texts}))["A"].to_list() == expected
    assert escaped(pl.DataFrame(dict.fromkeys(texts, 1))).columns == expected
    assert len(set(expected)) == len(texts)


def test_escaped_text_is_written_to_csv_and_nothing_else_changes(tmp_path):
    """Text cells and names get an apostrophe; numbers, dates and missing cells stay."""
    frame = pl.DataFrame(
        {
            "@T": ["=1+1", "-5", None, "ok"],
            "N": [-1, -2, None, 3],
            "C": pl.Series(["+a", "b", "+a", None], dtype=pl.Enum(["b", "+a"])),
        }
    )
    write_data(frame, tmp_path / "t.csv", text=TextFormat(), escape_formulas=True)
    assert (tmp_path / "t.csv").read_text() == "'@T,N,C\n'=1+1,-1,'+a\n-5,-2,b\n,,'+a\nok,3,\n"
    write_data(frame, tmp_path / "u.csv", text=TextFormat())
    assert (tmp_path / "u.csv").read_text() == "@T,N,C\n=1+1,-1,+a\n-5,-2,b\n,,+a\nok,3,\n"


def test_a_release_is_written_escaped_where_that_is_asked_for(tmp_path):
    """In CSV by whatever frame; Parquet is as it was, and the manifest says which it is."""
    table = {"x": np.arange(12) % 5, "=y": np.array(["=1", "-2"] * 6)}
    release = mv.protect(pd.DataFrame(table), **MEANS, keep=["=y"])
    for format, first, said in (("csv", "'=1", "escaped"), ("parquet", "=1", None)):  # noqa: A001
        public, custodian = release.write(tmp_path / format, format=format, escape_formulas=True)
        frame = read_file(public / f"data.{format}").frame
        assert frame.columns[1] == ("'=y" if said else "=y")
        assert frame.to_series(1).to_list() == [first, "-2"] * 6
        output = json.loads((custodian / "manifest.json").read_text())["output"]
        assert output.get("formulas") == said
    public, _ = release.write(tmp_path / "plain")
    assert read_file(public / "data.csv").frame.columns == ["x", "=y"]


def test_the_command_line_warns_and_escapes(tmp_path):
    """Without the flag a note names the column; with it the table is escaped, if it is text."""
    rows = "".join(f"{i % 5},=1+{i}\n" for i in range(12))
    (tmp_path / "t.csv").write_text(f"x,y\n{rows}")
    asked = ["--method", "ranking", "--k", "3", "--attributes", "x", "--keep", "y"]
    done = run("protect", "t.csv", *asked, "-o", "plain", folder=tmp_path)
    assert "does in: y." in done.stderr
    assert "1+" not in done.stderr + done.stdout
    assert ",=1+11" in (tmp_path / "plain" / "data.csv").read_text()
    done = run("protect", "t.csv", *asked, "-o", "out", "--escape-formulas", folder=tmp_path)
    assert done.returncode == 0
    assert ",'=1+11" in (tmp_path / "out" / "data.csv").read_text()
    read_file(tmp_path / "t.csv").frame.write_parquet(tmp_path / "t.parquet")
    done = run("protect", "t.parquet", *asked, "-o", "p", "--escape-formulas", folder=tmp_path)
    assert done.returncode == 2
    assert "Parquet file holds no formulas" in done.stderr
    assert not (tmp_path / "p").exists()
