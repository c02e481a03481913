"""Every shell command in README and docs runs, in the order of its page."""

import re
import shlex
import subprocess
import sys
from functools import partial

import pytest
from sklearn.ensemble import RandomForestClassifier

import made
import microveil as mv
from command import run
from docs_commands import COMMANDS, PAGES, ROOT
from microveil.commands import demo

IS_REPORTED = True  # commands run as they are documented


@pytest.fixture
def small(monkeypatch):
    """Fewer invented people and smaller forests: how a command ends hangs on no size."""
    monkeypatch.setattr(demo, "invented_people", partial(mv.invented_people, 400))
    monkeypatch.setattr(
        "sklearn.ensemble.RandomForestClassifier",
        lambda n_estimators: RandomForestClassifier(n_estimators=n_estimators // 25),
    )


def of_make_demo():
    """What `make demo` runs, as the Makefile has it."""
    targets = (ROOT / "Makefile").read_text()
    return re.search(r"^demo:.*\n(?:\t.*\n)*?\t\$\(BIN\)/(.*)", targets, flags=re.MULTILINE)[1]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if COMMANDS[page]], ids=lambda page: page.name
)
@pytest.mark.usefixtures("small")
def test_documented_commands_run(page, tmp_path):
    """In an empty folder, for pages of docs one with people.csv, each command ends well."""
    if page.parent != ROOT:
        mv.invented_people(400, seed=7).write_csv(tmp_path / "people.csv")
    for command in COMMANDS[page]:
        program, *arguments = shlex.split(command)
        if command == "make demo":
            program, *arguments = shlex.split(of_make_demo())
        if program in {"make", "pip", "."}:
            continue  # make runs this test; installing is not ours to test
        if program == "microveil":
            done = run(*arguments, folder=tmp_path)
        else:
            program = sys.executable if program == "python" else program
            done = subprocess.run(
                [program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
            )
        assert done.returncode == 0, f"{command}\n{done.stderr}"


def test_what_is_made_of_the_code_is_as_the_code_has_it():
    """`make docs` has nothing left to write, and what it writes is there."""
    parts = [name for page in PAGES for name, *_ in made.PART.findall(page.read_text("utf-8"))]
    assert sorted(parts) == sorted(made.PARTS)
    for page in PAGES:
        assert made.made(page) == page.read_text("utf-8"), f"{page.name}: run make docs"


def test_links_between_pages_lead_somewhere():
    """Every relative link names a file that exists."""
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_changelog_stays_short_enough_to_be_read():
    """At most 1,500 words: what somebody who upgrades needs besides stands in Upgrading."""
    assert len((ROOT / "CHANGELOG.md").read_text("utf-8").split()) <= 1500
