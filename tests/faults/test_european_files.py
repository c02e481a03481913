"""Dates and numbers as European offices write them: `inspect` names the flag that reads them."""

import datetime

import polars as pl
import pytest

import microveil as mv
from command import run

BORN = [datetime.date(1950 + i % 40, 1 + i % 12, 1 + i % 28) for i in range(60)]
PAY = [1000 + i * i % 97 * 1010.25 for i in range(60)]
WAYS = {"DMY": "%d{0}%m{0}%Y", "MDY": "%m{0}%d{0}%Y", "YMD": "%Y{0}%m{0}%d"}


def of_europe(dates=None, thousands=".", decimal=","):
    dates = [day.strftime("%d.%m.%Y") for day in BORN] if dates is None else dates

    def number(value):
        return f"{value:,.2f}".translate({ord(","): thousands, ord("."): decimal})

    lines = [f"{day};{number(pay)};A" for day, pay in zip(dates, PAY, strict=True)]
    return "\n".join(["BORN;PAY;T", *lines, ""])


@pytest.mark.parametrize("mark", [".", "/", "-"])
@pytest.mark.parametrize("order", WAYS)
def test_dates_are_read_in_the_order_that_is_said(tmp_path, order, mark):
    """Day, month and year stand in any order, with one of three marks; a zero may be left out."""
    path = tmp_path / "p.csv"
    way = WAYS[order].format(mark)
    bare = [day.strftime(way).replace(f"{mark}0", mark) for day in BORN]
    path.write_text(of_europe(bare), "utf-8")
    read = mv.read(path, separator=";", decimal=",", thousands=".", dates=order)
    assert read.frame["BORN"].to_list() == BORN
    assert read.frame["PAY"].to_list() == PAY


@pytest.mark.parametrize(
    "mark", [",", "'", " ", "\N{NO-BREAK SPACE}", "\N{RIGHT SINGLE QUOTATION MARK}"]
)
def test_thousands_are_separated_as_is_said(tmp_path, mark):
    """A mark between thousands is no part of a number, nor its printed sister."""
    said = {"\N{NO-BREAK SPACE}": " ", "\N{RIGHT SINGLE QUOTATION MARK}": "'"}.get(mark, mark)
    path = tmp_path / "p.csv"
    path.write_text(of_europe(thousands=mark, decimal="."), "utf-8")
    assert mv.read(path, separator=";", thousands=said).frame["PAY"].to_list() == PAY
    whole = "\n".join(["N;T", *(f"{n:,};A".replace(",", mark) for n in range(900, 1100)), ""])
    path.write_text(whole, "utf-8")
    frame = mv.read(path, separator=";", thousands=said).frame
    assert frame["N"].to_list() == [*range(900, 1100)]
    assert frame["N"].dtype == pl.Int64


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("BORN", "31.02.1990"),
        ("BORN", "12.31.1990"),
        ("BORN", "1.1.90"),
        ("BORN", "1.1-1990"),
        ("PAY", "0.123"),
        ("PAY", "1.23"),
        ("PAY", "1.2345,5"),
        ("PAY", "1,234,5"),
    ],
)
def test_what_is_written_otherwise_is_refused_by_its_line(tmp_path, column, value):
    """A value of another form is never read as another date or number."""
    lines = of_europe().splitlines()
    old = lines[40].split(";")[column == "PAY"]
    (tmp_path / "p.csv").write_text(
        "\n".join(lines).replace(lines[40], lines[40].replace(old, value))
    )
    (tmp_path / "r.toml").write_text(
        '[file]\nseparator = ";"\ndecimal = ","\nthousands = "."\ndates = "DMY"\n'
    )
    asked = ["--method", "mdav", "--k", "5", "--attributes", f"{column}", "--recipe", "r.toml"]
    done = run("protect", "p.csv", *asked, "--resolution", "PAY=0.01", "-o", "out", folder=tmp_path)
    assert (done.returncode, (tmp_path / "out").exists()) == (2, False)
    assert "line 41" in done.stderr
    assert value not in done.stderr


def test_inspect_names_the_flags_and_a_recipe_keeps_them(tmp_path):
    """From the first look to a release that is read again, each flag is typed once."""
    (tmp_path / "p.csv").write_text(of_europe(), "utf-8")
    done = run("inspect", "p.csv", "--separator", ";", folder=tmp_path)
    look = " ".join((done.stdout + done.stderr).split())
    assert "--dates DMY" in look
    assert "--thousands . --decimal ," in look
    said = ["--separator", ";", "--decimal", ",", "--thousands", ".", "--dates", "DMY"]
    done = run("inspect", "p.csv", *said, "-o", "r.toml", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    recipe = (tmp_path / "r.toml").read_text("utf-8")
    assert 'dates = "DMY"\nthousands = "."\n' in recipe
    assert 'type = "date"' in recipe
    asked = ["--method", "mdav", "--k", "5", "--attributes", "BORN,PAY", "--resolution", "PAY=0.01"]
    done = run("protect", "p.csv", *asked, *said, "-o", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run("assess", "p.csv", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "said",
    [{"dates": "YDM"}, {"dates": ""}, {"thousands": "."}, {"thousands": "_"}, {"thousands": ""}],
)
def test_what_no_file_is_written_like_is_refused(tmp_path, said):
    """An order of dates is one of three, and thousands are not separated by the decimal mark."""
    (tmp_path / "p.csv").write_text("A\n1\n2\n")
    with pytest.raises(mv.RequestError, match="pass for example"):
        mv.read(tmp_path / "p.csv", **said)


@pytest.mark.parametrize("command", ["advise", "audit", "compare", "assess", "attack"])
def test_every_command_reads_a_file_as_is_said(tmp_path, command):
    """Dates and numbers are found with both flags, and refused or not found without either."""
    (tmp_path / "p.csv").write_text(of_europe(), "utf-8")
    said = ["--separator=;", "--decimal=,"]
    asked = ["--method=laplace", "--epsilon=1", "--attributes=BORN,PAY", "--resolution=PAY=0.01"]
    asked += ["--bounds=BORN=1900-01-01:2020-12-31", "--bounds=PAY=0:999999"]
    given = {
        "assess": ["p.csv", "p.csv"],
        "attack": ["p.csv", "p.csv"],
        "compare": ["p.csv", *asked[1:], "--methods=laplace", "--runs=1"],
    }.get(command, ["p.csv", *asked])
    both = ["--dates=DMY", "--thousands=."]
    done = []
    for n, one in enumerate((both[:1], both[1:], both)):
        more = [f"--output=out{n}"] if command == "compare" else []
        done.append(run(command, *given, *said, *one, *more, folder=tmp_path))
    assert done[-1].returncode == 0, done[-1].stderr
    assert all(other.returncode == 2 or other.stdout != done[-1].stdout for other in done[:-1])
    assert not any("1.1.19" in one.stderr for one in done)
