"""Files with a title, or several lines of names, above their table."""

import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.errors import FileError, RequestError
from microveil.files.reading import open_file
from microveil.files.text import text_format

ROWS = "1,30,f\n2,40,m\n"
TITLES = ("Survey of 2024\n\n", "Survey of 2024,,\n", "Survey of 2024,,\nPerson,,\n")
SAID = "if a later line has the names, pass its number, for example --header 3"


def sheet(path, rows):
    """Write rows of cells as the sheet of a workbook."""
    width = max(map(len, rows))
    columns = zip(*(row + [None] * (width - len(row)) for row in rows), strict=True)
    table = pl.DataFrame({f"column {n}": list(column) for n, column in enumerate(columns)})
    table.write_excel(path, include_header=False)


@pytest.mark.parametrize("above", TITLES)
def test_lines_above_the_names_are_passed_over_where_their_number_is_said(above, tmp_path):
    """The error says so; recipe and release are as of the table without those lines."""
    file, recipe = tmp_path / "people.csv", tmp_path / "recipe.toml"
    file.write_text(f"{above}NUMBER,AGE,SEX\n{ROWS * 30}")
    done = run("inspect", "people.csv", folder=tmp_path)
    assert done.returncode == 2
    assert SAID in done.stderr
    line = 1 + above.count("\n")
    asked = ("--header", str(line), "--method", "mdav", "--k", "3", "--attributes", "AGE")
    done = run("inspect", "people.csv", *asked, "-o", "recipe.toml", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"header = {line}" in recipe.read_text().splitlines()
    done = run("protect", "people.csv", "--recipe", "recipe.toml", "-o", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "data.csv").read_text().startswith("AGE\n30\n")
    for more in ((), ("--header", str(line))):
        done = run("assess", "people.csv", "out/data.csv", *more, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Assessment of 60 records" in done.stdout


def test_an_excel_file_says_the_same(tmp_path):
    """Empty lines at the top count where the line is said."""
    file = tmp_path / "titled.xlsx"
    sheet(file, [["Title"], ["Name", "Age"], ["Kim", "30"], ["Lee", "31"]])
    done = run("inspect", "titled.xlsx", folder=tmp_path)
    assert SAID in done.stderr
    assert mv.read(file, header=2).frame.rows() == [("Kim", 30), ("Lee", 31)]
    sheet(file, [[None], ["Title"], [None], ["Name", "Age"], ["Kim", "30"], ["Lee", "31"]])
    assert mv.read(file, header=4).frame.columns == ["Name", "Age"]


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_what_follows_the_names_is_held_to_the_same_rules(ending, tmp_path):
    """A line of units is refused by its number, with what to do; so is a line that is not there."""
    file = tmp_path / f"people.{ending}"
    rows = [["Title", ""], ["AGE", "TAX"], ["years", "EUR"], *[["30", "2"]] * 40]

    def written(these):
        if ending == "xlsx":
            return sheet(file, these)
        return file.write_text("\n".join(",".join(row) for row in these))

    written(rows)
    with pytest.raises(FileError, match="line 3: text stands above") as refused:
        mv.read(file, header=2)
    assert refused.value.remedy == (
        "pass --header 3 if line 3 has the names that you want, or delete it"
    )
    written([*rows[:2], *rows[3:]])
    assert mv.read(file, header=2).frame.columns == ["AGE", "TAX"]
    written([*rows[:2], *rows[3:], ["word", "2"]])
    with pytest.raises(FileError, match="line 43, column"):
        mv.read(file, header=2)
    for line in (43, 50):
        with pytest.raises(FileError):
            mv.read(file, header=line)


def test_a_line_of_names_that_cannot_be_is_refused(tmp_path):
    """No number of 1 or more, and a format whose files name their columns themselves."""
    (tmp_path / "people.csv").write_text("AGE\n1\n2\n")
    for wrong in (0, -1, True, "2"):
        with pytest.raises(RequestError, match="a whole number, 1 or more"):
            mv.read(tmp_path / "people.csv", header=wrong)
    pl.DataFrame({"AGE": [1, 2]}).write_parquet(tmp_path / "people.parquet")
    with pytest.raises(RequestError, match="only files of text and Excel have one"):
        mv.read(tmp_path / "people.parquet", header=2)


@pytest.mark.parametrize("command", ["advise", "audit", "compare", "assess", "attack"])
def test_every_command_passes_over_the_lines_above(command, tmp_path):
    """Without the number of the line it reads no table."""
    (tmp_path / "p.csv").write_text(f"Survey\n\nNUMBER,AGE,SEX\n{ROWS * 30}")
    asked = ["--epsilon=1", "--attributes=AGE", "--resolution=AGE=1", "--bounds=AGE=0:99"]
    given = {
        "assess": ["p.csv", "p.csv"],
        "attack": ["p.csv", "p.csv"],
        "compare": ["p.csv", *asked, "--methods=laplace", "--runs=1"],
    }.get(command, ["p.csv", "--method=laplace", *asked])
    done = []
    for number, said in enumerate(([], ["--header=3"])):
        more = [f"--output=out{number}"] if command == "compare" else []
        done.append(run(command, *given, *said, *more, folder=tmp_path))
    assert [one.returncode for one in done] == [2, 0], done[1].stderr


def test_a_file_that_is_read_some_records_at_a_time_has_its_names_there_too(tmp_path):
    """Lines are counted from the top of the file."""
    file = tmp_path / "p.csv"
    file.write_text(f"\ufeffSurvey\n\nNUMBER,AGE,SEX\n{ROWS * 30}", "utf-8")
    text = text_format(header=3)
    found = open_file(file, text=text, lazily=tmp_path).read().whole
    assert found.equals(mv.read(file, header=3).frame)
    file.write_text(f"Survey\n\nNUMBER,AGE,SEX\n{ROWS * 30}1,2\n", "utf-8")
    with pytest.raises(FileError, match="line 64: a record must have 3 fields"):
        open_file(file, text=text, lazily=tmp_path)
