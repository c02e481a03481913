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
