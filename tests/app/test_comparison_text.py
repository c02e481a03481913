"""What a comparison says on the page: the sentences themselves, and no marks of Markdown."""

import html
import re

import polars as pl
import pytest

from microveil.app import tasks
from microveil.app.tasks import compared
from microveil.text.document import Document, Strong, items, paragraph, tabulated
from visited import AGE, PROMISED, on, opened, posted, saved

pytestmark = pytest.mark.usefixtures("instantly")
HOSTILE = "**AGE** | `x` <b>_y_</b> {{7*7}}"


def visited(folder):
    """Compare on a table; return the page that says what was found."""
    columns = {HOSTILE: [20 + n % 50 for n in range(200)], "PAY": [n % 70 for n in range(200)]}
    pl.DataFrame(columns).write_csv(folder / "people.csv")

    async def visit(ask):
        draft = await opened(ask)
        for number in "01":
            answer = await posted(ask, draft, "column", {**AGE, "column": number})
            assert answer.status == 303
        await saved(ask, draft, "promise", PROMISED)
        await ask("POST", f"{draft}/advice", {})
        await ask("POST", f"{draft}/comparison", {})
        return await ask("GET", f"{draft}/trade-off")

    return on(folder, visit).text


def test_the_page_says_the_sentences_of_the_answer_without_marks_of_markdown(tmp_path, monkeypatch):
    """Every text of the document stands on the page as it is, in an element of its own kind."""
    found = {}

    def noted(task, say):
        found.update(compared(task, say))
        return found

    monkeypatch.setitem(tasks.TASKS, "compare", noted)
    page = visited(tmp_path)
    section = page.partition('aria-label="The comparison"')[2].partition("</section>")[0]
    words = " ".join(html.unescape(re.sub(r"<[^>]*>", "", section)).split())
    blocks = found["answer"]["blocks"]
    assert len(blocks) > 3
    for block in blocks:
        texts = [block["text"]] if "text" in block else block.get("items", [])
        for text in texts:
            said = " ".join("".join(part["words"] for part in text).split())
            assert said in words
    assert "<h4>What does best</h4>" in section or "<h3>What does best</h3>" in section
    for mark in ("**", "`", "\\|", "|---|", "## "):
        assert mark not in words.replace(HOSTILE, "")
    assert "<b>_y_" not in page


def test_marks_in_a_text_are_shown_as_they_are(tmp_path, monkeypatch):
    """A method or column may be called anything: nothing of it becomes an element or a template."""
    hostile = Document(
        (
            paragraph(Strong(HOSTILE), f" of {HOSTILE}"),
            items([HOSTILE]),
            tabulated(["Name", HOSTILE], [[HOSTILE, "1"]]),
        )
    )

    def answered(task, say):
        return {**compared(task, say), "answer": hostile.to_dict()}

    monkeypatch.setitem(tasks.TASKS, "compare", answered)
    page = visited(tmp_path)
    section = page.partition('aria-label="The comparison"')[2].partition("</section>")[0]
    shown = html.escape(HOSTILE, quote=False)
    assert section.count(shown) == 5
    assert f"<strong>{shown}</strong>" in section
    assert f'<th scope="row">{shown}</th>' in section
    assert "<b>" not in section
