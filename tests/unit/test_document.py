"""A document as Markdown, held to another reader of Markdown."""

import html

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from html_page import written
from microveil.text import one_line
from microveil.text.document import (
    Chart,
    Code,
    Document,
    Strong,
    fold,
    heading,
    items,
    paragraph,
    tabulated,
)

WIDTH = 20
MARKED = st.text(alphabet="ab 1.-+=#*`|\\_<>[]~&\n\u202e", min_size=1).filter(one_line)


def read(page, width=None):
    """Return the HTML that a reader of CommonMark with tables makes of a document."""
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return reader.render(page.to_markdown(width)).replace("\n", " ")


@given(MARKED)
def test_a_name_is_shown_as_it_is_wherever_it_stands(name):
    """In a heading, a paragraph, a list and a cell, marks of Markdown do nothing."""
    shown = html.escape(one_line(name), quote=False)
    page = Document(
        (
            heading(2, name),
            paragraph(name),
            items([name, (Strong(name), " x")]),
            tabulated([name], [[name]]),
        )
    )
    told = html.unescape(read(page))
    for element in (
        f"h2>{shown}</h2",
        f"p>{shown}</p",
        f"li>{shown}</li",
        f"li><strong>{shown}</strong> x</li",
    ):
        assert f"<{html.unescape(element)}>" in told
    assert f"<th>{html.unescape(shown)}</th>" in told
    assert f"<td>{html.unescape(shown)}</td>" in told


@given(st.lists(MARKED, min_size=1, max_size=5))
def test_lines_of_a_width_say_the_same(names):
    """Wrapped, a paragraph and a list read as they do on one line each."""
    page = Document((paragraph(" x ".join(names)), items(names)))
    assert " ".join(read(page, WIDTH).split()) == " ".join(read(page).split())
    # A mark that keeps a line from being an item may stand beyond the width.
    longest = max(len(word) for word in page.to_markdown().split())
    assert max(map(len, page.to_markdown(WIDTH).split("\n"))) <= 1 + max(WIDTH, longest + 2)


def test_words_stand_out_and_names_are_code():
    """Strong words and code are that, whatever marks they hold."""
    page = Document((paragraph(Strong("not *so*."), " But ", Code("dp-um"), Code("a`b")),))
    assert read(page) == "<p><strong>not *so*.</strong> But <code>dp-um</code>a`b</p> "


def test_a_table_keeps_its_pipes():
    """A cell with a pipe stays one cell, and an empty one is there."""
    page = Document((tabulated(["a", "b"], [["x|y", Strong("no")], ["", "z"]]),))
    told = read(page).replace(" ", "")
    assert "<tr><td>x|y</td><td><strong>no</strong></td></tr>" in told
    assert "<tr><td></td><td>z</td></tr>" in told


def test_a_document_as_values_has_every_block_with_its_parts():
    """In their order, with what stands out, for a program that writes it in its own way."""
    page = Document(
        (
            heading(2, "What holds"),
            paragraph(Strong("all"), " of ", Code("k")),
            items(["one", "two"]),
            tabulated(["a", "b"], [["c", "d"]]),
        )
    )

    def plain(words):
        return [{"look": "plain", "words": words}]

    assert page.to_dict() == {
        "blocks": [
            {"kind": "heading", "level": 2, "text": plain("What holds")},
            {
                "kind": "paragraph",
                "text": [
                    {"look": "strong", "words": "all"},
                    *plain(" of "),
                    {"look": "code", "words": "k"},
                ],
            },
            {"kind": "items", "items": [plain("one"), plain("two")]},
            {
                "kind": "table",
                "heads": [plain("a"), plain("b")],
                "rows": [[plain("c"), plain("d")]],
            },
        ]
    }


def test_a_fold_and_a_chart_are_written_in_every_form():
    chart = Chart({"mark": "point"}, "AGE moved most")
    page = Document((fold("More", [paragraph("Of AGE."), chart]),))
    assert page.to_markdown() == "**More**\n\nOf AGE.\n\nAGE moved most\n"
    assert page.to_text() == "More\n  Of AGE.\n"
    (block,) = page.to_dict()["blocks"]
    assert [own["kind"] for own in block["blocks"]] == ["paragraph", "chart"]
    assert block["blocks"][1]["spec"] == {"mark": "point"}
    assert "AGE moved most" in written(page)
