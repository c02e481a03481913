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


def test_the_help_of_compare_speaks_of_comparing(tmp_path):
    """It offers no advice, which compare does not take, and says what its seed is for."""
    told = run("compare", "--help", folder=tmp_path, COLUMNS="80").stdout
    assert not re.search(r"--method\b|\bauto\b|protects nobody", told)
    assert "3,5,10:100:10" in re.search(r"--k <(.*?)--epsilon", told, re.DOTALL)[1]
    assert "protects nobody" in run("protect", "--help", folder=tmp_path, COLUMNS="80").stdout
