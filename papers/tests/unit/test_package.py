"""The package as microveil finds it, and what it has in common with microveil."""

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points, requires, version
from pathlib import Path

from microveil_papers import command

PAPERS, MAIN = (
    tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
    for folder in Path(__file__).parents[2:4]
)
HELP = """
import sys
from typer.testing import CliRunner
from microveil.cli import app
for asked in (["--help"], ["reproduce", "--help"]):
    assert CliRunner().invoke(app, asked).exit_code == 0
print([name for name in ("microveil_papers", "matplotlib", "polars") if name in sys.modules])
"""


def test_the_command_finds_this_package():
    """`microveil reproduce` is carried out here."""
    (found,) = entry_points(group="microveil.commands", name="reproduce")
    assert found.load() is command.run


def test_help_loads_nothing_of_the_package():
    """It is imported when a paper is reproduced, not before."""
    done = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_both_packages_are_of_one_version():
    """What is imported beyond the public names is that of this very microveil."""
    assert version("microveil-papers") == version("microveil") == MAIN["project"]["version"]
    assert f"microveil=={version('microveil')}" in requires("microveil-papers")


def test_tests_here_are_as_strict():
    """Warnings are errors, markers are declared, examples run: as for microveil itself."""
    here, there = (project["tool"]["pytest"]["ini_options"] for project in (PAPERS, MAIN))
    for name in ("addopts", "doctest_optionflags", "xfail_strict", "filterwarnings"):
        assert here[name] == there[name], name
    names, known = ({entry.partition(":")[0] for entry in one["markers"]} for one in (here, there))
    assert names <= known
