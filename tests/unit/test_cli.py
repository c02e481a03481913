"""The command line as a user meets it: folders, exit codes, streams, and no value in a message."""

import errno
import hashlib
import json
import os
import re
import stat
import subprocess
import sys
from functools import partial
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.cli.console import command_line
from microveil.commands import demo, files
from microveil.errors import FileError
from microveil.files.disk import written_whole

REQUEST = [
    "--method", "dp-um", "--k", "5", "--epsilon", "1", "--attributes", "AGE,INCOME",
    "--bounds", "AGE=0:120", "--bounds", "INCOME=0:400000", "--resolution", "INCOME=0.01",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A folder with people.csv."""
    mv.invented_people(300, seed=1).write_csv(tmp_path / "people.csv")
    return tmp_path


@pytest.fixture(scope="module")
def invented(tmp_path_factory):
    """A demo of a few invented people, run once: what it prints, and the folder around it."""
    home = tmp_path_factory.mktemp("invented")
    with patch.object(demo, "invented_people", partial(mv.invented_people, 900)):
        done = run("demo", "-o", "shown", folder=home)
    assert done.returncode == 0, done.stderr
    return done.stdout, home


@pytest.mark.usefixtures("reported")
def test_protect_writes_two_folders_and_says_so(folder):
    """What may be published, and beside it what may not, for its owner alone."""
    done = run("protect", "people.csv", *REQUEST, "--keep", "REGION", "-o", "out", folder=folder)
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(folder)) == ["out", "out-custodian", "people.csv"]
    assert sorted(os.listdir(folder / "out")) == ["data.csv", "guarantee.json", "guarantee.md"]
    assert sorted(os.listdir(folder / "out-custodian")) == ["manifest.json", "report.html"]
    assert stat.S_IMODE((folder / "out-custodian").stat().st_mode) == 0o700
    data = pl.read_csv(folder / "out" / "data.csv")
    assert data.columns == ["REGION", "AGE", "INCOME"]
    assert data.height == 300
    guarantee = json.loads((folder / "out" / "guarantee.json").read_text())
    assert guarantee["scopes"]["vector"] == {"covered": True, "epsilon": 1.0, "delta": 0.0}
    assert (folder / "out" / "guarantee.md").read_text().startswith("# What this release")
    manifest = json.loads((folder / "out-custodian" / "manifest.json").read_text())
    assert manifest["input"]["name"] == "people.csv"
    for name, digest in (
        ("people.csv", manifest["input"]["sha256"]),
        ("out/data.csv", manifest["output"]["sha256"]),
    ):
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert "note: Not released: ID" in done.stderr
    assert all(line.startswith("note: ") for line in done.stderr.splitlines())
    assert "vector scope: epsilon 1" in done.stdout


def test_json_goes_alone_to_standard_output(folder):
    """--json prints one object there; warnings go to standard error."""
    done = run("protect", "people.csv", *REQUEST, "--json", "-o", "out", folder=folder)
    told = json.loads(done.stdout)
    assert told["guarantee"]["epsilon"] == 1.0
    assert told["notes"]
    done = run("assess", "people.csv", "out/data.csv", "--json", folder=folder)
    assert json.loads(done.stdout)["n_records"] == 300
    assert not done.stderr


def test_flags_may_be_repeated_and_names_may_hold_commas_and_equals(folder):
    """--attributes takes lists and repetition; --bounds splits at the last equals sign."""
    table = pl.DataFrame({"a,b": [1, 2, 3, 1] * 5, "c=d": [4, 5, 6, 4] * 5, "e": [7, 8, 9, 7] * 5})
    table.write_csv(folder / "odd.csv")
    done = run(
        "protect", "odd.csv", "--method", "dp-um", "--k", "3", "--epsilon", "1",
        "--attributes", "a,b", "--attributes", "c=d,e",
        "--bounds", "a,b=0:9", "--bounds", "c=d=-9:9", "--bounds", "e=0:9", "--budget", "c=d=2",
        "-o", "out", folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert pl.read_csv(folder / "out" / "data.csv").columns == ["a,b", "c=d", "e"]
    guarantee = json.loads((folder / "out" / "guarantee.json").read_text())
    assert guarantee["attributes"]["c=d"]["domain"] == [-9, 9]
    assert guarantee["exact"]["shares"] == {"a,b": "1/4", "c=d": "1/2", "e": "1/4"}


def test_dates_in_bounds_are_iso(folder):
    """A date attribute is bounded by dates, and comes back as dates between them."""
    done = run(
        "protect", "people.csv", "--method", "dp-um", "--k", "5", "--epsilon", "1",
        "--attributes", "SINCE", "--bounds", "SINCE=1980-01-01:2030-12-31", "-o", "out",
        folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    days = pl.read_csv(folder / "out" / "data.csv", try_parse_dates=True)["SINCE"]
    assert days.dtype == pl.Date
    assert days.min().year >= 1980


def test_semicolons_and_decimal_commas_go_in_and_come_out(folder):
    """The release is written as the input was."""
    text = "AGE;NET\n" + "".join(f"{i % 40};{i},25\n" for i in range(100))
    (folder / "euro.csv").write_text(text)
    done = run(
        "protect", "euro.csv", "--separator", ";", "--decimal", ",", "--method", "dp-um",
        "--k", "5", "--epsilon", "1", "--attributes", "AGE,NET", "--bounds", "AGE=0:120",
        "--bounds", "NET=0:1000", "--resolution", "NET=0.01", "-o", "out", folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = (folder / "out" / "data.csv").read_text().splitlines()
    assert lines[0] == "AGE;NET"
    assert all("." not in line for line in lines)
    assert any("," in line for line in lines)


def test_a_recipe_and_flags_make_a_request(folder):
    """What inspect proposes, a person fills in, protect follows; flags stand above the recipe."""
    done = run(
        "inspect", "people.csv", "--method", "dp-um", "--show-values", "--missing", "keep",
        "-o", "recipe.toml", folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    recipe = (folder / "recipe.toml").read_text()
    for name, pair in (
        ("AGE", "[0, 120]"), ("HOUSEHOLD", "[1, 15]"), ("SINCE", "[1980-01-01, 2030-12-31]"),
        ("INCOME", "[0, 400000]"), ("TAX", "[0, 200000]"), ("SAVINGS", "[0, 2000000]"),
        ("VISITS", "[0, 100]"),
    ):  # fmt: skip
        before, after = recipe.split(f"[attributes.{name}]")
        head, bounds, tail = after.partition("# bounds = ")
        rest = tail[tail.index("\n") :]
        recipe = f"{before}[attributes.{name}]{head}bounds = {pair}{rest}"
        assert bounds
    (folder / "recipe.toml").write_text(recipe)
    done = run("protect", "people.csv", "--recipe", "recipe.toml", "--k", "7", "-o", "out",
               folder=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    guarantee = json.loads((folder / "out" / "guarantee.json").read_text())
    assert guarantee["k"] == 7
    assert len(guarantee["attributes"]) == 8


def test_a_recipe_for_row_scope_needs_no_entry(folder):
    """What inspect writes is a request as it stands, and what one record holds decides no type."""
    done = run("inspect", "people.csv", "--scope", "row", "-o", "row.toml", folder=folder)
    assert "No entry is left to type." in done.stdout
    done = run("protect", "people.csv", "--recipe", "row.toml", "--epsilon", "9", "-o", "out",
               folder=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    schema = pl.read_csv(folder / "out" / "data.csv").schema
    assert (schema["AGE"], schema["REGION"]) == (pl.Int64, pl.String)
    with (folder / "people.csv").open("a") as file:
        file.write("1,North,40.5,1,true,2020-01-01,1.5,1.5,1.5,1\n")
    done = run("protect", "people.csv", "--recipe", "row.toml", "--epsilon", "9", "-o", "more",
               folder=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    again = pl.read_csv(folder / "more" / "data.csv").schema
    # Not which numbers are decimals: where drawn amounts are all whole, the file shows none.
    assert {name: own.is_numeric() for name, own in again.items()} == {
        name: own.is_numeric() for name, own in schema.items()
    }


def test_every_command_that_the_demo_names_works(invented, tmp_path):
    """The one that it ran makes a release again, and the last one compares other methods."""
    shown, home = invented
    protecting, comparing = re.findall(r"(?:^  |: )microveil (.+) -o \S+$", shown, re.MULTILINE)
    for command, made in ((protecting, "data.csv"), (comparing, "report.html")):
        done = run(*command.split(), "-o", tmp_path / command[:7], folder=home)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / command[:7] / made).exists()


def test_a_program_that_no_shell_finds_is_named_with_its_path(tmp_path):
    """As `make demo` installs it; one that is found, or was called by Python, as it was called."""
    hidden, found = tmp_path / "hidden" / "microveil", tmp_path / "found" / "microveil"
    for program in (hidden, found):
        program.parent.mkdir()
        program.touch(mode=0o755)
    cases = {
        f"{hidden}": f"{hidden}",
        f"{found}": "microveil",
        "/lib/microveil/__main__.py": f"{sys.executable} -m microveil",
    }
    with patch.dict(os.environ, {"PATH": f"{found.parent}"}):
        for called, named in cases.items():
            with patch.object(sys, "argv", [called]):
                assert command_line("inspect", Path("a b.csv")) == f"{named} inspect 'a b.csv'"


def test_inspect_does_not_overwrite(folder):
    """A recipe that a person filled in is not lost."""
    (folder / "recipe.toml").write_text("mine")
    done = run("inspect", "people.csv", "-o", "recipe.toml", folder=folder)
    assert done.returncode == 2
    assert (folder / "recipe.toml").read_text() == "mine"


def test_isotonic_regression_warns_of_linkage(folder):
    """The command says what it invites."""
    done = run("protect", "people.csv", *REQUEST, "--isotonic", "-o", "out", folder=folder)
    assert done.returncode == 0
    assert "invites linkage" in done.stderr


BAD = {
    "empty": ("", "people.csv"),
    "header only": ("AGE,INCOME\n", "people.csv"),
    "one record": ("AGE,INCOME\n987654,987654.25\n", "people.csv"),
    "short row": ("AGE,INCOME\n987654,987654.25\n987654\n", "people.csv"),
    "long row": ("AGE,INCOME\n987654,987654.25,1\n", "people.csv"),
    "duplicate header": ("AGE,AGE\n987654,987654\n", "people.csv"),
    "late change": ("AGE,INCOME\n" + "40,1.25\n" * 11_000 + "987654x,1.25\n", "people.csv"),
    "text as number": ("AGE,INCOME\nSECRET77,1.25\nSECRET78,1.25\n", "people.csv"),
    "missing": ("AGE,INCOME\n,1.25\n" + "40,987654.25\n" * 9, "people.csv"),
    "outside": ("AGE,INCOME\n" + "98765,1.25\n" * 9, "people.csv"),
    "fewer than k": ("AGE,INCOME\n" + "41,1.25\n" * 4, "people.csv"),
    "not a table": ("\x00\x01\x02SECRET77", "people.csv"),
    "parquet that is none": ("SECRET77", "people.parquet"),
    "unknown kind of file": ("SECRET77", "people.xlsx"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_without_a_value_and_nothing_is_written(case, tmp_path):
    """Exit code 2, one message on standard error, no traceback, no value, no folder."""
    content, name = BAD[case]
    (tmp_path / name).write_bytes(content.encode())
    done = run("protect", name, *REQUEST, "-o", "out", folder=tmp_path)
    assert done.returncode == 2
    assert not done.stdout
    assert done.stderr.startswith("microveil: ")
    assert "Traceback" not in done.stderr
    for marked in ("98765", "SECRET", "1.25"):
        assert marked not in done.stderr
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize(
    "flags",
    [
        ["--k", "0"], ["--epsilon", "0"], ["--epsilon", "much"], ["--epsilon", "inf"],
        ["--method", "unknown"], ["--attributes", "NONE"], ["--attributes", "REGION"],
        ["--keep", "NONE"], ["--bounds", "AGE"], ["--bounds", "AGE=1"], ["--bounds", "AGE=9:1"],
        ["--bounds", "AGE=a:b"], ["--resolution", "INCOME=0"], ["--outside", "drop"],
        ["--missing", "drop"], ["--exact-cells", "hide"], ["--budget", "AGE=-1"],
        ["--separator", ",,"], ["--decimal", ";"], ["--encoding", "unknown"],
        ["--bounds-from-data", "0.5"], ["--recipe", "none.toml"], ["--partition", "kmeans"],
        ["--k", "ten"], ["--nothing"], ["-o", "no/such/folder"],
    ],
)  # fmt: skip
def test_bad_flags_are_refused(flags, folder):
    """Exit code 2, a message on standard error, and nothing written."""
    done = run("protect", "people.csv", *REQUEST, "-o", "out", *flags, folder=folder)
    assert done.returncode == 2
    assert done.stderr
    assert "Traceback" not in done.stderr
    assert os.listdir(folder) == ["people.csv"]


def test_an_existing_folder_is_not_replaced_unless_asked(folder):
    """Neither of the two folders; --overwrite replaces both."""
    assert run("protect", "people.csv", *REQUEST, "-o", "out", folder=folder).returncode == 0
    before = (folder / "out" / "data.csv").read_bytes()
    done = run("protect", "people.csv", *REQUEST, "-o", "out", folder=folder)
    assert done.returncode == 2
    assert "--overwrite" in done.stderr
    assert (folder / "out" / "data.csv").read_bytes() == before
    done = run("protect", "people.csv", *REQUEST, "-o", "out", "--overwrite", folder=folder)
    assert done.returncode == 0
    assert (folder / "out" / "data.csv").read_bytes() != before
    assert sorted(os.listdir(folder)) == ["out", "out-custodian", "people.csv"]


def test_a_process_ends_with_the_code_of_its_command(folder):
    """What it prints comes on the stream it belongs to."""
    # What is refused before anything is loaded costs a process least.
    asked = ["protect", "people.csv", "--method", "ranking", "--k", "5", "--separator", "ab"]
    done = subprocess.run(
        [sys.executable, "-m", "microveil", *asked, "-o", "out"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "--separator" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_error_of_ours_shows_no_value(folder, monkeypatch):
    """Exit code 1; the message of an unforeseen error is not passed on."""

    def broken(*_arguments, **_named):
        raise RuntimeError("SECRET77")

    monkeypatch.setattr(files, "protect_file", broken)
    done = run("protect", "people.csv", "-o", "out", folder=folder)
    assert done.returncode == 1
    assert "RuntimeError" in done.stderr
    assert "SECRET77" not in done.stderr


def test_the_demo_protects_invented_people_by_one_command(invented):
    """It prints what that command prints, the relations that were kept, and where the report is."""
    shown, home = invented
    folder = home / "shown"
    assert set(os.listdir(folder)) == {"people.csv", "release", "release-custodian"}
    assert pl.read_csv(folder / "people.csv").height == 900
    guarantee = json.loads((folder / "release" / "guarantee.json").read_text())
    assert (guarantee["method"], guarantee["kept"]) == ("dp-synthetic", [])
    assert guarantee["scopes"]["row"] == {"covered": True, "epsilon": 3.0, "delta": 1e-09}
    assert "Pairs kept: " in shown
    assert "Strongest relations: " in shown
    assert "The report: shown/release-custodian/report.html" in shown.splitlines()
    assert len(shown.splitlines()) <= 30  # a screen


def test_the_demo_touches_no_folder_that_holds_something(folder):
    """Whatever is in it stays alone there; what the system refuses is told with exit 2."""
    (folder / "shown").mkdir()
    (folder / "shown" / "thesis.txt").write_text("mine")
    done = run("demo", "-o", "shown", folder=folder)
    assert done.returncode == 2
    assert "a demo needs a new or empty folder" in done.stderr
    assert os.listdir(folder / "shown") == ["thesis.txt"]
    for place in ("people.csv", "/proc/microveil"):
        done = run("demo", "-o", place, folder=folder)
        assert done.returncode == 2
        assert place in done.stderr


def test_a_file_is_whole_or_not_there(folder):
    """A disk that is full leaves no part of it."""

    def full(part):
        part.write_bytes(b"<html>")
        raise OSError(errno.ENOSPC, "no space")

    with pytest.raises(FileError, match="No space left"):
        written_whole(folder / "page.html", full)
    assert not [name for name in os.listdir(folder) if "page" in name]


def test_help_and_methods(folder):
    """Every command of the contract is there, and the registry is listed."""
    told = run("--help", folder=folder, COLUMNS="100").stdout
    for command in ("demo", "inspect", "protect", "assess", "methods"):
        assert command in told
    listed = run("methods", folder=folder).stdout
    for method in mv.methods():
        assert method["id"] in listed


def test_one_record_does_not_decide_the_type_of_a_released_column(folder):
    """With a declared whole resolution, whole numbers come out whatever went in."""
    request = ["--method", "laplace", "--epsilon", "1", "--attributes", "AGE", "--bounds",
               "AGE=0:120", "--resolution", "AGE=1"]  # fmt: skip
    for last in ("41", "41.5"):
        (folder / "ages.csv").write_text("AGE\n" + "30\n" * 50 + f"{last}\n")
        done = run("protect", "ages.csv", *request, "--overwrite", "-o", "out", folder=folder)
        assert done.returncode == 0, done.stderr
        assert "." not in (folder / "out" / "data.csv").read_text()


def test_declared_bounds_stand_above_those_read_from_the_data(folder):
    """--bounds with --bounds-from-data: the declared one is told, the other is not."""
    done = run("protect", "people.csv", "--method", "dp-um", "--k", "5", "--epsilon", "1",
               "--attributes", "AGE,VISITS", "--bounds", "AGE=0:120", "--bounds-from-data", "1.5",
               "-o", "out", folder=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads((folder / "out" / "guarantee.json").read_text())["attributes"]
    assert told["AGE"]["domain"] == [0, 120]
    assert told["VISITS"]["domain"] is None


def test_flags_switch_off_what_a_recipe_asks_for(folder):
    """--no-isotonic and --no-shuffle stand above the recipe, as does every other flag."""
    (folder / "r.toml").write_text(
        'method = "dp-um"\nk = 5\nepsilon = 1\nisotonic = true\nshuffle = true\n'
        '[attributes.AGE]\nrole = "confidential"\ntype = "whole number"\nbounds = [0, 120]\n'
        'budget = 2\n[attributes.VISITS]\nrole = "confidential"\ntype = "whole number"\n'
        "bounds = [0, 100]\nbudget = 3\n"
    )
    done = run("protect", "people.csv", "--recipe", "r.toml", "--no-isotonic", "--no-shuffle",
               "--attributes", "AGE", "-o", "out", folder=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "invites linkage" not in done.stderr
    statement = (folder / "out" / "guarantee.md").read_text()
    assert "order of the original table" in statement
    done = run("protect", "people.csv", "--recipe", "r.toml", "--budget", "AGE=1", "-o", "two",
               folder=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads((folder / "two" / "guarantee.json").read_text())["attributes"]
    assert told["VISITS"]["share"] == 0.75


def test_a_recipes_types_hold_for_every_column_it_names(folder):
    """A kept or dropped column that is not what the recipe says is noticed."""
    entry = '[attributes.AGE]\nrole = "confidential"\ntype = "whole number"\nbounds = [0, 120]\n'
    head = 'method = "dp-um"\nk = 5\nepsilon = 1\n'
    for name, kind in (("REGION", "whole number"), ("GONE", "text")):
        (folder / "r.toml").write_text(
            f'{head}{entry}[attributes.{name}]\nrole = "non-confidential"\ntype = "{kind}"\n'
        )
        done = run("protect", "people.csv", "--recipe", "r.toml", "-o", "out", folder=folder)
        assert done.returncode == 2
        assert name in done.stderr
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    "flags", [["--epsilon", "1e99999999"], ["--bounds", "AGE=0:1/0"], ["--epsilon", "1_000"],
              ["--resolution", "INCOME=1e-99999999"], ["--budget", "AGE=1e99999999"]],
)  # fmt: skip
def test_numbers_without_end_are_refused_at_once(flags, folder):
    """Neither a hang nor an error of ours."""
    done = run("protect", "people.csv", *REQUEST, *flags, "-o", "out", folder=folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_kernels_compile_where_nothing_can_be_written(folder):
    """A service account without a home in a read-only place still gets its release."""
    code = (
        "import os, microveil.kernels as k\n"
        "os.environ.pop('NUMBA_CACHE_DIR', None)\n"
        "k.os.access = lambda path, mode: False\n"
        "k._ensure_cache()\n"
        "print(os.path.isdir(os.environ['NUMBA_CACHE_DIR']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"


def test_assess_says_what_it_left_out(folder):
    """A suppressed column must not look like one that was kept as it was."""
    frame = pl.read_csv(folder / "people.csv")
    frame.with_columns(INCOME=pl.lit(None, dtype=pl.String)).write_csv(folder / "holes.csv")
    done = run("assess", "people.csv", "holes.csv", "--json", folder=folder)
    assert "INCOME" in json.loads(done.stdout)["left_out"]
    done = run("assess", "people.csv", "holes.csv", "--k", "5", folder=folder)
    assert "not compared: " in done.stdout


def test_blocks_are_lists_that_may_be_repeated(folder):
    """Each --blocks is one block."""
    done = run("protect", "people.csv", "--method", "mdav", "--k", "5", "--attributes",
               "AGE,HOUSEHOLD,VISITS", "--blocks", "AGE,HOUSEHOLD", "--blocks", "VISITS", "-o",
               "out", folder=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    data = pl.read_csv(folder / "out" / "data.csv")
    assert data.group_by("AGE", "HOUSEHOLD").len()["len"].min() >= 5
    assert "microaggregated in blocks" in (folder / "out" / "guarantee.md").read_text()
