"""Names and kinds before the table is read: at once, and never in the place of the reading."""

import asyncio
import gc
import html
import time

import polars as pl
import pytest

from command import run
from microveil.app.work import State, Work
from visited import AGE, ended, on

HOSTILE = '<img src=x onerror=alert(1)>"{{7*7}}'


class Never:
    """Work that never comes to an end."""

    def __init__(self, _folder):
        self._started = []

    def start(self, task):
        self._started.append(task)
        return self.get("work")

    def get(self, name):
        if not name:
            return None
        return Work(id=name, kind=self._started[-1]["task"], state=State.RUNNING)

    async def aclose(self):
        """End nothing."""


@pytest.fixture
def never(monkeypatch):
    """Have no table read."""
    monkeypatch.setattr("microveil.app.pages.Works", Never)


async def begun(ask, table, **form):
    """Choose a table; return the address of its draft and the page of its columns at once."""
    answer = await ask("POST", "/", {"table": table, **form})
    assert answer.status == 303
    return answer.location.rpartition("/")[0], await ask("GET", answer.location)


def rows(answer):
    """Return what a page shows of columns that are not read yet."""
    parts = answer.text.partition('aria-labelledby="outline"')[2].split('<th scope="row">')[1:]
    return {
        html.unescape(part.partition("</th>")[0]): part.partition("<td>")[2].partition("</td>")[0]
        for part in parts
    }


@pytest.mark.usefixtures("never")
def test_names_and_kinds_are_shown_before_the_table_is_read(tmp_path):
    """Of a file that declares them; with the records that it says it has, and with no value."""
    frame = pl.DataFrame({"AGE": [31, 44], "WAGE": [4711.5, 2.0], "NAME": ["Grimm", "Andersen"]})
    frame.write_parquet(tmp_path / "people.parquet")
    _, shown = on(tmp_path, lambda ask: begun(ask, "people.parquet"))
    assert rows(shown) == {"AGE": "whole numbers", "WAGE": "decimals", "NAME": "text"}
    assert "2 records, 3 columns" in shown.text
    assert "as the file declares them" in shown.text
    assert "The table is being read" in shown.text
    assert not any(value in shown.text for value in ("4711", "Grimm"))


@pytest.mark.usefixtures("never")
def test_names_that_a_file_declares_are_text_and_nothing_else(tmp_path):
    """Markup, script and a template's braces, in the list and where a unit is chosen."""
    pl.DataFrame({HOSTILE: [1, 2]}).write_parquet(tmp_path / "people.parquet")

    async def visit(ask):
        draft, shown = await begun(ask, "people.parquet")
        return shown, await ask("POST", f"{draft}/promise", {"look": "yes", "who": "unit"})

    for answer in on(tmp_path, visit):
        assert answer.status == 200
        assert "<img src=x" not in answer.text
        assert "&lt;img src=x onerror=alert(1)&gt;" in answer.text
        assert "{{7*7}}" in html.unescape(answer.text)


@pytest.mark.usefixtures("never")
def test_nothing_is_declared_before_the_table_is_read(tmp_path):
    """A form that is sent so early changes no recipe."""
    pl.DataFrame({"ID": [1, 2], "AGE": [31, 44]}).write_parquet(tmp_path / "people.parquet")

    async def visit(ask):
        draft, _ = await begun(ask, "people.parquet")
        for address, form in (
            ("data", {}),
            ("column", AGE),
            ("data", {"accept": "", "set": "shown"}),
        ):
            await ask("POST", f"{draft}/{address}", {"version": "0", **form})
        return await ask("GET", f"{draft}/recipe.toml")

    assert "attributes" not in on(tmp_path, visit).text


def test_a_file_that_is_broken_behind_its_beginning_is_refused_as_by_the_command_line(tmp_path):
    """Names and kinds were shown; the sentence comes when the table is read."""
    path = tmp_path / "people.parquet"
    pl.DataFrame({"AGE": list(range(9000))}).write_parquet(path)
    raw = bytearray(path.read_bytes())
    raw[4 : len(raw) // 2] = bytes(len(raw) // 2 - 4)
    path.write_bytes(raw)

    async def visit(ask):
        draft, first = await begun(ask, "people.parquet")
        await ended(ask, draft, "inspect")
        return first, await ask("GET", f"{draft}/data")

    first, last = on(tmp_path, visit)
    assert rows(first) in ({"AGE": "whole numbers"}, {})  # where it was not read by then
    assert not rows(last)
    said = html.unescape(last.text).partition("This cannot be done.</strong> ")[2].split("</p>")[0]
    done = run("inspect", path, folder=tmp_path)
    assert done.returncode == 2
    assert said
    assert " ".join(said.split()) in " ".join(done.stderr.split())


@pytest.mark.usefixtures("never")
@pytest.mark.parametrize("content", ["1,2\n3,4\n", "A,A\n1,2\n", ""])
def test_what_cannot_be_outlined_is_left_to_the_reading(tmp_path, content, caplog):
    """No second sentence for the same thing, neither on the page nor in the terminal."""
    (tmp_path / "people.csv").write_text(content)
    _, shown = on(tmp_path, lambda ask: begun(ask, "people.csv"))
    gc.collect()
    assert not caplog.records
    assert not rows(shown)
    assert "cannot be done" not in shown.text
    assert "The table is being read" in shown.text


@pytest.mark.usefixtures("never")
def test_a_file_that_takes_long_to_answer_does_not_hold_up_the_page(folder, monkeypatch):
    """What it declares is shown as soon as the page is looked at again."""
    from microveil.files.reading import outline_of

    def slow(*given, **how):
        time.sleep(1)
        return outline_of(*given, **how)

    monkeypatch.setattr("microveil.app.working.outline_of", slow)
    monkeypatch.setattr("microveil.app.working.LONGEST", 0.05)

    async def visit(ask):
        draft, first = await begun(ask, "people.csv")
        again = first
        for _ in range(1200):
            if rows(again):
                break
            await asyncio.sleep(0.05)
            again = await ask("GET", f"{draft}/data")
        return first, again

    first, again = on(folder, visit)
    assert not rows(first)
    assert list(rows(again)) == ["ID", "AGE", "SEX"]


@pytest.mark.usefixtures("never")
def test_an_error_of_a_library_is_no_end_of_the_page(folder, monkeypatch):
    """Nobody is shown its message."""

    def broken(*_given, **_how):
        raise RuntimeError("-4711 is no age")

    monkeypatch.setattr("microveil.app.working.outline_of", broken)
    _, shown = on(folder, lambda ask: begun(ask, "people.csv"))
    assert shown.status == 200
    assert "4711" not in shown.text
