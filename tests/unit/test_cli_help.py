"""The help of the command line: what is shown can be typed as it stands."""

import re

import pytest
import typer

from command import run
from microveil.cli import app

COMMANDS = ("", *typer.main.get_command(app).commands)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_the_text_as_it_was_written(command, tmp_path):
    """No command's help holds an emoji, or a summary that is cut off."""
    told = run(*command.split(), "--help", folder=tmp_path, COLUMNS="80").stdout
    assert "--help" in told
    assert max(told) < "\U0001f000"
    assert not re.search(r"\.\.\.|…", told.replace("[ARGS]...", ""))


def test_ranges_are_shown_as_they_are_typed(tmp_path):
    """The help of compare has a range of k that can be copied into a command."""
    told = run("compare", "--help", folder=tmp_path, COLUMNS="80").stdout
    assert "3,5,10:100:10" in told


def test_compare_takes_methods_and_refuses_one(tmp_path):
    """A flag that compare has no use for is refused, and names the one that it has."""
    given = ["--methods", "dp-um", "--method", "laplace", "--k", "5", "--epsilon", "1"]
    done = run("compare", "people.csv", *given, "-o", "out", folder=tmp_path)
    assert done.returncode == 2
    assert "--methods" in done.stderr


def test_the_help_of_compare_speaks_of_comparing(tmp_path):
    """It offers no advice, which compare does not take, and says what its seed is for."""
    told = run("compare", "--help", folder=tmp_path, COLUMNS="80").stdout
    assert not re.search(r"--method\b|\bauto\b|protects nobody", told)
    assert "3,5,10:100:10" in re.search(r"--k <(.*?)--epsilon", told, re.DOTALL)[1]
    assert "protects nobody" in run("protect", "--help", folder=tmp_path, COLUMNS="80").stdout
