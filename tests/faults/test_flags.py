"""Every flag of a request is taken by every command that takes requests, as a recipe is."""

import shutil

import polars as pl
import pytest

from command import run

READ = ("--bounds-from-data=1.5", "--resolution-from-data")
COMMANDS = ("protect", "inspect", "audit", "compare")
PEOPLE = pl.DataFrame(
    {
        "HH": [i // 2 for i in range(120)],
        "AGE": [20 + i * i % 61 for i in range(120)],
        "PAY": [1000 + i * i % 97 * 10.25 for i in range(120)],
        "TOWN": ["a", "b", "c", "a"] * 30,
        "LEVEL": ["low", "mid", "high"] * 40,
        "KIND": [i // 2 % 3 for i in range(120)],
    }
)
WHOLE, TEXT = 'type = "whole number"\n', 'type = "text"\n'
AGE = f'[attributes.AGE]\nrole = "confidential"\n{WHOLE}bounds = [0, 120]\n'
PAY = '[attributes.PAY]\nrole = "confidential"\ntype = "decimal"\nbounds = [0, 9999]\n'
PAY += "resolution = 0.01\n"
OF_PAY = "--bounds=PAY=0:9999 --resolution=PAY=0.01"
# What is asked for by flags, and the same by a recipe.
REQUESTS = {
    "clusters": (
        (
            f"--method=dp-um --k=5 --epsilon=2 --scope=vector --attributes=AGE,PAY --keep=KIND {OF_PAY}"
            " --bounds=AGE=0:120 --budget=AGE=2 --isotonic --shuffle --looked-at=public --missing=keep"
            " --outside=clamp --seed=1"
        ),
        (
            'method = "dp-um"\nk = 5\nepsilon = 2\nscope = "vector"\nisotonic = true\nshuffle = true\n'
            'looked_at = "public"\nmissing = "keep"\noutside = "clamp"\nseed = 1\n'
            f'{AGE}budget = 2\n{PAY}[attributes.KIND]\nrole = "non-confidential"\n{WHOLE}'
        ),
    ),
    "blocks": (
        (
            f"--method=record-dp --k=5 --epsilon=2 --attributes=AGE,PAY --bounds=AGE=0:120 {OF_PAY}"
            " --blocks=AGE,PAY --partition=mdav --no-shuffle --seed=1"
        ),
        (
            'method = "record-dp"\nk = 5\nepsilon = 2\nblocks = [["AGE", "PAY"]]\npartition = "mdav"\n'
            f"shuffle = false\nseed = 1\n{AGE}{PAY}"
        ),
    ),
    "records": (
        (
            f"--method=kanon-dp --k=5 --epsilon=2 --attributes=AGE,PAY --bounds=AGE=0:120 {OF_PAY}"
            " --composition=parallel --sensitivity=vector --shuffle-columns --seed=1"
        ),
        (
            'method = "kanon-dp"\nk = 5\nepsilon = 2\ncomposition = "parallel"\nseed = 1\n'
            f'sensitivity = "vector"\nshuffle = "columns"\n{AGE}{PAY}'
        ),
    ),
    "intervals": (
        (
            "--method=k-noise --k=5 --attributes=AGE --bounds=AGE=0:120 --width=9 --every=average"
            " --noise=laplace --seed=1"
        ),
        (
            'method = "k-noise"\nk = 5\nwidth = 9\nevery = "average"\nnoise = "laplace"\nseed = 1\n'
            f"{AGE}"
        ),
    ),
    "units": (
        (
            "--method=laplace --epsilon=2 --attributes=AGE,KIND --bounds=AGE=0:120 --bounds=KIND=0:2"
            " --unit=HH --max-rows=2 --unit-attributes=KIND --seed=1"
        ),
        (
            'method = "laplace"\nepsilon = 2\nunit = "HH"\nmax_rows = 2\nunit_attributes = ["KIND"]\n'
            f'seed = 1\n{AGE}[attributes.KIND]\nrole = "confidential"\n{WHOLE}bounds = [0, 2]\n'
        ),
    ),
    "synthetic": (
        (
            "--method=dp-synthetic --epsilon=40 --delta=1e-9 --attributes=AGE,TOWN,LEVEL"
            " --bounds=AGE=0:120 --categories=TOWN=a,b,c --ordered=LEVEL=low,mid,high --target=AGE=50"
            " --structure=tree --n-records=50 --missing=protect --seed=1"
        ),
        (
            'method = "dp-synthetic"\nepsilon = 40\ndelta = 1e-9\nstructure = "tree"\nn_records = 50\n'
            f'target = "AGE=50"\nmissing = "protect"\nseed = 1\n{AGE}[attributes.TOWN]\n'
            f'role = "confidential"\n{TEXT}categories = ["a", "b", "c"]\n[attributes.LEVEL]\n'
            f'role = "confidential"\n{TEXT}categories = ["low", "mid", "high"]\nordered = true\n'
        ),
    ),
    "reasons": (
        (
            "--method=pram --epsilon=4 --attributes=LEVEL --categories=LEVEL=low,mid --missing=protect"
            " --missing-codes=LEVEL=high --missing-values=NA --missing-reasons --seed=1"
        ),
        (
            'method = "pram"\nepsilon = 4\nmissing = "protect"\nmissing_values = ["NA"]\nseed = 1\n'
            f'missing_reasons = true\n[attributes.LEVEL]\nrole = "confidential"\n{TEXT}'
            'categories = ["low", "mid"]\nmissing_codes = ["high"]\n'
        ),
    ),
    "exact": (
        (
            "--method=idp-cbls --k=5 --epsilon=2 --attributes=AGE --bounds=AGE=0:120"
            " --exact-cells=allow --no-isotonic --no-missing-reasons --seed=1"
        ),
        (
            'method = "idp-cbls"\nk = 5\nepsilon = 2\nexact_cells = "allow"\nisotonic = false\n'
            f"missing_reasons = false\nseed = 1\n{AGE}"
        ),
    ),
}


def told(command, asked, folder):
    """Return all that a command says, and the table that it writes."""
    more = ("-o", "out", "--overwrite") if command == "protect" else ()
    if command == "compare":
        shutil.rmtree(folder / "compared", ignore_errors=True)
        more = ("-o", "compared", "--runs=1", "--no-linkage", "--jobs=1")
        asked = [flag.replace("--method=", "--methods=") for flag in asked]
    done = run(command, "people.csv", *asked, *more, folder=folder)
    assert "No such option" not in done.stderr
    written = folder / "out" / "data.csv"
    table = written.read_text() if written.exists() else ""
    return done.returncode, done.stdout, done.stderr, table


@pytest.mark.parametrize("request_name", REQUESTS)
@pytest.mark.parametrize("command", COMMANDS)
def test_flags_ask_for_what_the_entries_of_a_recipe_do(tmp_path, command, request_name):
    """With one seed a command says, and releases, the same by flags and by a recipe."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    flags, recipe = REQUESTS[request_name]
    (tmp_path / "recipe.toml").write_text(recipe)
    by_recipe = ["--recipe=recipe.toml"]
    if command == "compare":
        by_recipe.append(flags.split()[0])
    by_flags = told(command, flags.split(), tmp_path)
    assert by_flags[0] == 0, by_flags
    assert by_flags == told(command, by_recipe, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_flags_read_off_the_data_needs_no_other_flag(tmp_path, command):
    """Bounds and steps are refused where nobody declares them, and read where that is asked for."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    asked = ["--method=dp-um", "--k=5", "--epsilon=2", "--attributes=PAY"]
    told_less = [told("inspect", [*asked, flag], tmp_path)[0] for flag in READ]
    assert told_less == [2, 2]
    code, *_, table = told(command, [*asked, *READ], tmp_path)
    assert code == 0
    assert command != "protect" or table.startswith("PAY\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_machine_changes_nothing_of_what_is_asked(tmp_path, command):
    """Engine, memory and scratch folder are taken, and leave what is said as it is."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    asked = REQUESTS["exact"][0].split()
    machine = ["--engine=disk", "--memory=2GB", "--scratch=."]
    plain, on_disk = told(command, asked, tmp_path), told(command, [*asked, *machine], tmp_path)
    assert (on_disk[0], on_disk[3]) == (0, plain[3])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_record_id_is_for_spark(tmp_path, command):
    """Where no engine has a use for it, the refusal names the one that has."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    code, _, refusal = told(command, [*REQUESTS["exact"][0].split(), "--record-id=HH"], tmp_path)[
        :3
    ]
    assert code == 2
    assert "--engine spark" in refusal


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_said_how_a_file_is_written(tmp_path, command):
    """Separator, decimal mark and encoding: the same is said of the same table written so."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    asked = REQUESTS["clusters"][0].split()
    plain = told(command, asked, tmp_path)
    text = PEOPLE.with_columns(TOWN=pl.lit("\u00e9")).write_csv(separator="|", decimal_comma=True)
    (tmp_path / "people.csv").write_bytes(text.encode("latin-1"))
    so = told(command, [*asked, "--separator=|", "--decimal=,", "--encoding=latin-1"], tmp_path)
    assert (plain[0], so[0]) == (0, 0)
    assert so[3].replace("|", ";").replace(",", ".").replace(";", ",") == plain[3]
