"""Files with a title, or several lines of names, above their table."""

import polars as pl
import pytest

from command import run

ROWS = "1,30,f\n2,40,m\n"


@pytest.mark.parametrize(
    "above", ["Survey of 2024\n\n", "Survey of 2024,,\n", "Survey of 2024,,\nPerson,,\n"]
)
def test_all_lines_above_the_names_are_deleted_in_one_edit(above, tmp_path):
    """It was said line by line, the same words again after the first was gone."""
    file = tmp_path / "people.csv"
    file.write_text(f"{above}NUMBER,AGE,SEX\n{ROWS * 30}")
    done = run("inspect", "people.csv", folder=tmp_path)
    assert done.returncode == 2
    assert "if a later line has the names, delete all lines above it" in done.stderr
    file.write_text(f"NUMBER,AGE,SEX\n{ROWS * 30}")
    done = run("inspect", "people.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr


def test_an_excel_file_says_the_same(tmp_path):
    """Its first line is the title's as well."""
    table = pl.DataFrame({"A": ["Title", "Name", "Kim"], "B": [None, "Age", "30"]})
    table.write_excel(tmp_path / "titled.xlsx", include_header=False)
    done = run("inspect", "titled.xlsx", folder=tmp_path)
    assert "if a later line has the names, delete all lines above it" in done.stderr
