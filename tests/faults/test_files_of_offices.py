"""Files as offices have them: what is refused is refused once, with all that reads the file."""

import re
import shlex

import polars as pl
import pytest
import xlsxwriter

import microveil as mv
from command import run
from microveil.errors import FileError
from microveil.report.subject import columns_of
from microveil.table import open_table

HOSPITAL = (
    "Fall;Name;Geburt;Kosten;Herz\r\n"
    "1;Müller;31.12.1980;1.234,56;71\r\n"
    "2;Weiß;01.02.1975;987,10;64\r\n"
    "3;Schmid;11.07.1990;12,00;80\r\n"
)
HEADERS = (["Income of the year", "Tax paid", "Region"], ["INCOME", "TAX", "REGION"])
RECORDS = [(45_000, 9_000, "north"), (38_000, 7_000, "south"), (61_000, 15_000, "north")] * 10


def test_one_refusal_of_a_file_from_a_spreadsheet_names_all_flags_that_read_it(tmp_path):
    path, recipe = tmp_path / "list.csv", tmp_path / "recipe.toml"
    path.write_bytes(HOSPITAL.encode("cp1252"))
    refused = run("inspect", path, "--scope", "row", "-o", recipe, folder=tmp_path)
    assert refused.returncode == 2
    flags = shlex.split(re.search(r"pass (--separator.*)\.$", refused.stderr.strip())[1])
    assert flags == shlex.split(
        "--separator ';' --decimal , --thousands . --dates DMY --encoding cp1252"
    )
    done = run("inspect", path, "--scope", "row", "-o", recipe, *flags, folder=tmp_path)
    assert done.returncode == 0
    # Kinds are learnt: those that are likely stand there as comments.
    entries = re.compile(
        r'^\[attributes\.(\w+)\]\nrole.*\n(?:#.*\n)*?(?:# )?type = "([a-z /]+)"', re.MULTILINE
    )
    kinds = dict(entries.findall(recipe.read_text(encoding="utf-8")))
    assert kinds == {
        "Fall": "whole number",
        "Name": "text",
        "Geburt": "date",
        "Kosten": "decimal",
        "Herz": "whole number",
    }


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_second_line_of_names_is_refused_once_and_as_what_it_is(tmp_path, ending):
    path = tmp_path / f"two.{ending}"
    rows = [*HEADERS, *RECORDS]
    if ending == "csv":
        path.write_text("\n".join(",".join(map(str, row)) for row in rows), encoding="utf-8")
    else:
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet()
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    with pytest.raises(FileError) as refused:
        mv.read(path)
    assert len(refused.value.problems) == 1
    assert refused.value.place == f"{path}, line 2"
    assert refused.value.remedy.startswith("pass --header 2 if line 2 has the names")
    assert "INCOME" not in str(refused.value)


def test_one_word_among_numbers_is_no_second_line_of_names(tmp_path):
    path = tmp_path / "word.csv"
    path.write_text("AGE,TAX\nNA,1\n30,2\n31,3\n", encoding="utf-8")
    with pytest.raises(FileError, match="line 2, column 1") as refused:
        mv.read(path)
    assert "--missing-values" in refused.value.remedy


def test_codes_that_a_type_lists_are_not_called_numbers_to_be_converted(tmp_path):
    path = tmp_path / "codes.parquet"
    words = pl.Series("SEX", ["1", "2"] * 20, dtype=pl.Enum(["1", "2"]))
    pl.DataFrame([words, pl.Series("AGE", range(40))]).write_parquet(path)
    told = run("inspect", path, "--scope", "row", folder=tmp_path)
    assert "2 codes" in told.stderr
    assert "looks like numbers" not in told.stderr


def test_a_report_shows_missing_codes_without_a_warning_of_numpy():
    table = pl.DataFrame({"CLASS": [1, 2, 3, None] * 300})
    release = mv.protect(
        table, method="dp-synthetic", epsilon=5, delta=1e-6, missing="protect",
        attributes=["CLASS"], categories={"CLASS": [1, 2, 3]},
    )  # fmt: skip
    (column,) = columns_of(release, open_table(release.data))
    assert {"1", "2", "3"} < {*column.categories}
    assert len(column.categories) == 4
