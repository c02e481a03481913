"""Every flag of a request is taken by every command that takes requests, as a recipe is."""

import re
import shutil

import polars as pl
import pytest

from command import run

READ = ("--bounds-from-data=1.5", "--resolution-from-data")
COMMANDS = ("protect", "advise", "audit", "compare")
PEOPLE = pl.DataFrame(
    {
        "HH": [i // 2 for i in range(60)],
        "AGE": [20 + i * i % 61 for i in range(60)],
        "PAY": [1000 + i * i % 97 * 10.25 for i in range(60)],
        "TOWN": ["a", "b", "c", "a"] * 15,
        "LEVEL": ["low", "mid", "high"] * 20,
        "KIND": [i // 2 % 3 for i in range(60)],
    }
)
AGE = """
[attributes.AGE]
role = "confidential"
type = "whole number"
bounds = [0, 120]
"""
# Where kinds are learnt, bounds alone say that it is a number.
AGE_OF_ANY_TYPE = AGE.replace('type = "whole number"', "")
PAY = """
[attributes.PAY]
role = "confidential"
type = "decimal"
bounds = [0, 9999]
resolution = 0.01
"""
KIND = """
[attributes.KIND]
type = "whole number"
"""
TOWN_AND_LEVEL = """
[attributes.TOWN]
role = "confidential"
type = "text"
categories = ["a", "b", "c"]
[attributes.LEVEL]
role = "confidential"
type = "text"
categories = ["low", "mid", "high"]
ordered = true
"""
REASONED = """
[attributes.LEVEL]
role = "confidential"
type = "text"
categories = ["low", "mid"]
missing_codes = ["high"]
"""
OF_AGE, OF_PAY = "--bounds=AGE=0:120", "--bounds=PAY=0:9999 --resolution=PAY=0.01"
# What is asked for by flags, and the same by a recipe.
CLUSTERS = f"""
--method=dp-um --k=5 --epsilon=2 --scope=vector --attributes=AGE,PAY --keep=KIND {OF_AGE} {OF_PAY}
--budget=AGE=2 --isotonic --shuffle --looked-at=public --missing=keep --outside=clamp --seed=1
"""
EXACT = f"""
--method=idp-cbls --k=5 --epsilon=2 --attributes=AGE {OF_AGE} --exact-cells=allow --no-isotonic
--no-missing-reasons --seed=1
"""
REQUESTS = {
    CLUSTERS: f"""
method = "dp-um"
k = 5
epsilon = 2
scope = "vector"
isotonic = true
shuffle = true
looked_at = "public"
missing = "keep"
outside = "clamp"
seed = 1
{AGE}
budget = 2
{PAY}
{KIND}
role = "non-confidential"
""",
    f"""
--method=record-dp --k=5 --epsilon=2 --attributes=AGE,PAY {OF_AGE} {OF_PAY} --blocks=AGE,PAY
--partition=mdav --no-shuffle --seed=1
""": f"""
method = "record-dp"
k = 5
epsilon = 2
blocks = [["AGE", "PAY"]]
partition = "mdav"
shuffle = false
seed = 1
{AGE}
{PAY}
""",
    f"""
--method=kanon-dp --k=5 --epsilon=2 --attributes=AGE,PAY {OF_AGE} {OF_PAY} --composition=parallel
--sensitivity=vector --shuffle-columns --seed=1
""": f"""
method = "kanon-dp"
k = 5
epsilon = 2
composition = "parallel"
sensitivity = "vector"
shuffle = "columns"
seed = 1
{AGE}
{PAY}
""",
    f"""
--method=k-noise --k=5 --attributes=AGE {OF_AGE} --width=9 --every=average --noise=laplace --seed=1
""": f"""
method = "k-noise"
k = 5
width = 9
every = "average"
noise = "laplace"
seed = 1
{AGE}
""",
    f"""
--method=laplace --epsilon=2 --attributes=AGE,KIND {OF_AGE} --bounds=KIND=0:2 --unit=HH
--max-rows=2 --unit-attributes=KIND --seed=1
""": f"""
method = "laplace"
epsilon = 2
unit = "HH"
max_rows = 2
unit_attributes = ["KIND"]
seed = 1
{AGE}
{KIND}
role = "confidential"
bounds = [0, 2]
""",
    f"""
--method=dp-synthetic --epsilon=40 --delta=1e-9 --attributes=AGE,TOWN,LEVEL {OF_AGE}
--categories=TOWN=a,b,c --ordered=LEVEL=low,mid,high --target=AGE=50 --structure=tree
--n-records=50 --missing=protect --seed=1
""": f"""
method = "dp-synthetic"
epsilon = 40
delta = 1e-9
structure = "tree"
n_records = 50
target = "AGE=50"
missing = "protect"
seed = 1
{AGE_OF_ANY_TYPE}
{TOWN_AND_LEVEL}
""",
    """
--method=pram --epsilon=4 --attributes=KIND,LEVEL --bounds=KIND=0:2 --categories=LEVEL=low,mid
--missing=protect --never-missing=KIND --missing-codes=LEVEL=high --missing-values=NA
--missing-reasons --seed=1
""": f"""
method = "pram"
epsilon = 4
missing = "protect"
missing_values = ["NA"]
missing_reasons = true
seed = 1
{KIND}
role = "confidential"
bounds = [0, 2]
missing = "never"
{REASONED}
""",
    EXACT: f"""
method = "idp-cbls"
k = 5
epsilon = 2
exact_cells = "allow"
isotonic = false
missing_reasons = false
seed = 1
{AGE}
""",
}


def told(command, asked, folder):
    """Return how a command ended, what it refused, and what it wrote: a table or an answer."""
    more = ("-o", "out", "--overwrite") if command == "protect" else ()
    if command == "compare":
        shutil.rmtree(folder / "compared", ignore_errors=True)
        more = ("-o", "compared", "--runs=1", "--no-linkage", "--jobs=1")
        asked = [flag.replace("--method=", "--methods=") for flag in asked]
    done = run(command, "people.csv", *asked, *more, folder=folder)
    assert "No such option" not in done.stderr
    written = folder / "out" / "data.csv"
    if command in ("advise", "audit"):  # trial draws are other ones each time
        answer = "".join(
            re.findall(r"^(?!.*Measured on trial draws).*\n", done.stdout, re.MULTILINE)
        )
        return done.returncode, done.stderr, answer
    return done.returncode, done.stderr, written.read_text() if written.exists() else ""


@pytest.mark.parametrize("flags", REQUESTS, ids=lambda flags: flags.split()[0])
@pytest.mark.parametrize("command", COMMANDS)
def test_flags_ask_for_what_the_entries_of_a_recipe_do(tmp_path, command, flags):
    """Each command takes both, and with one seed both release the same."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "recipe.toml").write_text(REQUESTS[flags])
    by_recipe = ["--recipe=recipe.toml"]
    if command == "compare":
        by_recipe.append(flags.split()[0])
    by_flags = told(command, flags.split(), tmp_path)
    assert by_flags[0] == 0, by_flags
    assert told(command, by_recipe, tmp_path) == by_flags


@pytest.mark.parametrize("flags", REQUESTS, ids=lambda flags: flags.split()[0])
def test_inspect_writes_a_recipe_that_asks_for_what_its_flags_do(tmp_path, flags):
    """For any method: nothing is left to type, and with one seed both release the same."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    done = run("inspect", "people.csv", *flags.split(), "-o", "own.toml", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "No entry is left to type" in done.stdout
    by_flags = told("protect", flags.split(), tmp_path)
    assert told("protect", ["--recipe=own.toml"], tmp_path) == by_flags


def test_inspect_says_what_to_expect_of_a_recipe_and_takes_none_of_what_is_read_off(tmp_path):
    """A recipe has no place for it; the refusal names the flag."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "recipe.toml").write_text(REQUESTS[EXACT])
    told_of, advised = (
        run(command, "people.csv", "--recipe=recipe.toml", folder=tmp_path).stdout
        for command in ("inspect", "advise")
    )
    assert told_of == advised
    for flag in READ:
        done = run("inspect", "people.csv", flag, folder=tmp_path)
        assert done.returncode == 2
        assert flag.partition("=")[0] in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_what_flags_read_off_the_data_needs_no_other_flag(tmp_path, command):
    """Bounds and steps are refused where nobody declares them, and read where that is asked for."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    asked = ["--method=dp-um", "--k=5", "--epsilon=2", "--attributes=PAY"]
    told_less = [told("advise", [*asked, flag], tmp_path)[0] for flag in READ]
    assert told_less == [2, 2]
    code, _, table = told(command, [*asked, *READ], tmp_path)
    assert code == 0
    assert command != "protect" or table.startswith("PAY\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_machine_changes_nothing_of_what_is_asked(tmp_path, command):
    """Engine, memory and scratch folder are taken, with a warning where data is protected."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    asked = EXACT.split()
    machine = ["--engine=disk", "--memory=2GB", "--scratch=."]
    plain, on_disk = told(command, asked, tmp_path), told(command, [*asked, *machine], tmp_path)
    assert (on_disk[0], on_disk[2]) == (0, plain[2])
    assert on_disk[1].count("warning: engine and scratch") == (command == "protect")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_record_id_is_for_spark(tmp_path, command):
    """Where no engine has a use for it, the refusal names the one that has."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    code, refusal, _ = told(command, [*EXACT.split(), "--record-id=HH"], tmp_path)
    assert code == 2
    assert "--spark" in refusal


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_said_how_a_file_is_written(tmp_path, command):
    """Separator, decimal mark and encoding: the same is said of the same table written so."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    asked = CLUSTERS.split()
    plain = told(command, asked, tmp_path)
    text = PEOPLE.with_columns(TOWN=pl.lit("\u00e9")).write_csv(separator="|", decimal_comma=True)
    (tmp_path / "people.csv").write_bytes(text.encode("latin-1"))
    so = told(command, [*asked, "--separator=|", "--decimal=,", "--encoding=latin-1"], tmp_path)
    assert (plain[0], so[0]) == (0, 0)
    table = so[2].replace(",", ".").replace("|", ",")
    assert plain[2] == (table if command == "protect" else so[2])
