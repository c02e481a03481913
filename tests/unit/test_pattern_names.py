"""Columns whose names a library takes for patterns."""

import polars as pl
import pytest

import microveil as mv
from microveil.files.reading import open_file

RULE = "column 2: no name may be an asterisk, or begin with"


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow", "folder"])
@pytest.mark.parametrize("name", ["^A$", "^.*A$"])
def test_a_file_with_such_a_name_is_refused(ending, name, tmp_path):
    """By the number of the column: another would be read in its place, or none."""
    table, place = pl.DataFrame({"A": ["a", "b"], name: ["c", "d"]}), tmp_path / f"people.{ending}"
    if ending == "folder":
        place.mkdir()
        table.write_parquet(place / "1.parquet")
    elif ending == "arrow":
        table.write_ipc(place)
    else:
        getattr(table, f"write_{ending}")(place)
    with pytest.raises(mv.FileError, match=RULE) as caught:
        open_file(place)
    assert name not in str(caught.value)


@pytest.mark.parametrize(
    "make", [dict, pl.DataFrame, lambda columns: pl.DataFrame(columns).to_pandas()]
)
def test_a_frame_with_such_a_name_is_refused(make):
    """Of every library, with an asterisk too."""
    columns = {"A": pl.Series([1, 2]).to_numpy(), "*": pl.Series([3, 4]).to_numpy()}
    with pytest.raises(mv.DataError, match=RULE):
        mv.protect(make(columns), method="dp-um", k=2, epsilon=1, bounds={"A": (0, 9)})


@pytest.mark.parametrize("name", ["^A", "A$", "A*", "$A^", "a ^b$"])
def test_names_with_such_signs_are_names(name, tmp_path):
    """Only what is taken for a pattern is refused."""
    pl.DataFrame({name: ["a", "b"]}).write_parquet(tmp_path / "people.parquet")
    read = open_file(tmp_path / "people.parquet").read()
    assert read.frame.columns == [name]
