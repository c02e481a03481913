"""The help of the command line: what is shown can be typed as it stands."""

import re
from pathlib import Path

import pytest
import typer

from command import run
from microveil.cli import app

ARGUMENTS = Path(__file__).parents[2] / "docs" / "arguments.md"
COMMANDS = ("", *typer.main.get_command(app).commands)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_the_text_as_it_was_written(command, tmp_path):
    """No command's help holds an emoji, or a summary that is cut off."""
    told = run(*command.split(), "--help", folder=tmp_path, COLUMNS="80").stdout
    assert "--help" in told
    assert max(told) < "\U0001f000"
    assert not re.search(r"\.\.\.|…", told.replace("[ARGS]...", ""))


def test_the_help_of_compare_speaks_of_comparing(tmp_path):
    """It offers no advice, which compare does not take, and says what its seed is for."""
    told = run("compare", "--help", folder=tmp_path, COLUMNS="80").stdout
    assert not re.search(r"--method\b|\bauto\b|protects nobody", told)
    assert "3,5,10:100:10" in re.search(r"--k TEXT(.*?)--epsilon", told, re.DOTALL)[1]


@pytest.mark.parametrize("command", ["assess", "attack"])
def test_a_flag_of_what_is_measured_is_explained_in_one_line(command, tmp_path):
    """At 80 columns no line goes on below."""
    told = run(command, "--help", folder=tmp_path, COLUMNS="80").stdout
    assert "--sample N" in told
    assert [line for line in told.splitlines() if line.startswith(" " * 20)] == []


def test_a_flag_of_protect_is_explained_in_one_line(tmp_path):
    """At 80 columns, in groups, the commonest ten first."""
    told = run("protect", "--help", folder=tmp_path, COLUMNS="80").stdout
    flags = [line for line in told.splitlines() if line.startswith("  -")]
    first, _, rest = told.partition("Most used:\n")[2].partition("\n\n")
    assert (len(first.splitlines()), len(flags)) == (10, told.count("\n  -"))
    wrapped = [line for line in rest.splitlines() if line.startswith(" " * 20)]
    assert len(wrapped) <= 4  # the formats, and flags too long for their column
    assert "Other" not in told


def test_the_docs_have_the_arguments_in_the_groups_of_the_help(tmp_path):
    """Each flag of the table stands under the title that it has in the terminal."""
    groups = {}
    told = run("protect", "--help", folder=tmp_path, COLUMNS="80").stdout
    for line in (*told.splitlines(), *ARGUMENTS.read_text("utf-8").splitlines()):
        if title := re.fullmatch(r"\|\*\*(.+)\*\*\|+|([A-Z].*):", line):
            group, is_of_docs = title[1] or title[2], title[1] is not None
        elif flag := re.match(r"(?:  |\|`\w+`\|`)(--[\w-]+)", line):
            groups.setdefault(flag[1], {})[is_of_docs] = group
    both = [own for own in groups.values() if len(own) == 2]
    assert len(both) > 30
    assert all(own[True] == own[False] for own in both)
    assert len({own[True] for own in both}) == 9
