"""The command reproduce without the package that does its work, and with one that does."""

import pytest

from command import run
from microveil.cli import measuring

ASKED = ("reproduce", "a-paper", "--data", "a=a.csv", "--data", "b=b.csv", "-o", "out")
PACKAGE = """
def run(paper, data, folder, *, runs, quick, progress):
    progress("drawing", 1, 2)
    return f"{paper} {data} {folder} {runs} {quick}\\nThe page: nowhere"
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A package outside of microveil that brings the command's work along."""
    (tmp_path / "stand_in.py").write_text(PACKAGE)
    about = tmp_path / "stand_in-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stand-in\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[microveil.commands]\nreproduce = stand_in:run\n")
    monkeypatch.syspath_prepend(tmp_path)


def test_without_the_papers_the_command_says_what_is_missing(tmp_path, monkeypatch):
    """It names the package, how to install it, from a clone too, and writes nothing."""
    monkeypatch.setattr(measuring, "entry_points", lambda **_: ())
    done = run(*ASKED, folder=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    for words in (
        "microveil-papers, which is not installed;",
        "pip install microveil-papers",
        "pip install ./papers",
    ):
        assert words in done.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.usefixtures("stand_in")
def test_the_papers_are_found_by_their_entry_point(tmp_path):
    """Flags go to the installed package as they were typed, and what it returns is shown."""
    done = run(*ASKED, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "a-paper ['a=a.csv', 'b=b.csv'] out None False\nThe page: nowhere\n"
    more = run(*ASKED, "--runs", "3", "--quick", folder=tmp_path).stdout
    assert more.splitlines()[0].endswith("out 3 True")
