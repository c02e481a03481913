"""The recipe as a file: beside the tables, new each time, whole or not at all."""

import html
import os
import re
import shlex
import tomllib

import pytest

from command import run
from microveil.app.places import Folder
from microveil.errors import FileError
from visited import PROMISED, declared, on, opened, saved, version

pytestmark = pytest.mark.usefixtures("instantly")


async def save(ask, draft, name, **fields):
    """Save the recipe of a draft under a name."""
    shown = await ask("GET", f"{draft}/release")
    return await ask("POST", f"{draft}/save", {"version": version(shown), "file": name, **fields})


def left(folder):
    """What stands in a folder, hidden or not."""
    return sorted(path.name for path in folder.iterdir())


def test_a_recipe_that_is_saved_is_the_one_that_is_downloaded(folder):
    """At any step, and it is offered among the recipes of the folder."""

    async def visit(ask):
        draft = await opened(ask)
        await declared(ask, draft)
        answer = await save(ask, draft, "ours.toml")
        downloaded = await ask("GET", f"{draft}/recipe.toml")
        return answer, await ask("GET", f"{draft}/release"), downloaded, await ask("GET", "/")

    answer, shown, downloaded, files = on(folder, visit)
    assert answer.status == 303
    assert f"It is saved: {folder / 'ours.toml'}" in shown.text
    assert (folder / "ours.toml").read_text() == downloaded.text
    assert 'value="ours.toml"' in files.text
    assert left(folder) == ["ours.toml", "people.csv"]


@pytest.mark.parametrize("no_linkage", [False, True])
def test_the_command_names_the_recipe_that_was_saved_from_the_result(folder, no_linkage):
    """And does from anywhere what was done, with the recipe that the release was drawn with."""

    async def visit(ask):
        draft = await opened(ask)
        await declared(ask, draft)
        await save(ask, draft, "early.toml")  # which asks for something else
        await saved(ask, draft, "promise", PROMISED)
        chosen = {"no_linkage": "yes"} if no_linkage else {}
        await saved(ask, draft, "release", {"folder": "out", **chosen})
        before = await ask("GET", f"{draft}/release")
        await saved(ask, draft, "promise", {**PROMISED, "epsilon": "7"})
        of = re.search(r'name="of" value="(\w+)"', before.text)[1]
        form = {"version": version(before), "file": "monthly.toml", "of": of}
        answer = await ask("POST", f"{draft}/save", form)
        assert answer.location == f"{draft}/release#recipe"
        return before.text, (await ask("GET", f"{draft}/release")).text

    before, after = on(folder, visit)
    assert "--recipe recipe.toml" in before
    command = html.unescape(re.search(r"<pre>(microveil protect .*?)</pre>", after)[1])
    assert f"--recipe {folder / 'monthly.toml'}" in command
    assert tomllib.loads((folder / "monthly.toml").read_text())["epsilon"] == 1
    (folder / "elsewhere").mkdir()
    done = run(*shlex.split(command)[1:], folder=folder / "elsewhere")
    assert done.returncode == 0, done.stderr
    ours, again = ((folder / name / "guarantee.json").read_text() for name in ("out", "out-2"))
    assert ours == again


@pytest.mark.parametrize(
    "name",
    ["", "recipe", "people.csv", "../up.toml", "out/recipe.toml", "taken.toml",
     "<img src=x>/r.toml"],
)  # fmt: skip
def test_a_name_that_breaks_a_rule_is_refused_beside_its_field(folder, tmp_path_factory, name):
    """Nothing is overwritten, no link followed out of the folder, and nothing left half written."""
    outside = tmp_path_factory.mktemp("outside")
    (folder / "out").symlink_to(outside)
    (folder / "broken.toml").symlink_to(outside / "new.toml")
    (folder / "taken.toml").write_text("k = 1\n")
    before = left(folder)

    async def visit(ask):
        return await save(ask, await opened(ask), name)

    answer = on(folder, visit)
    assert answer.status == 422
    assert 'id="file-wrong"' in answer.text
    assert "<img" not in answer.text
    assert left(folder) == before
    assert not left(outside)
    assert (folder / "taken.toml").read_text() == "k = 1\n"


def test_of_two_tabs_the_second_saves_nothing(folder):
    """What is written is what was shown: a recipe that was changed since is not."""

    async def visit(ask):
        draft = await opened(ask)
        stale = version(await ask("GET", f"{draft}/release"))
        await declared(ask, draft)
        form = {"version": stale, "file": "ours.toml"}
        changed = await ask("POST", f"{draft}/save", form)
        return changed, await ask("POST", f"{draft}/save", {**form, "of": "forged"})

    assert [answer.status for answer in on(folder, visit)] == [409, 409]
    assert left(folder) == ["people.csv"]


@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_what_cannot_be_written_whole_is_not_there(folder, monkeypatch, call):
    """A disk that is full, or a name taken in the meantime: a sentence, and no file."""

    def full(*_):
        if call == "rename":
            raise FileExistsError(17, "File exists")
        raise OSError(28, "No space left on device")

    if call == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr("microveil.files.disk.rename_new", full)
    with pytest.raises(FileError, match="No space left" if call == "fsync" else "overwritten"):
        Folder(folder).write_new("ours.toml", "k = 5\n")
    assert left(folder) == ["people.csv"]
