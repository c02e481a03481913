"""The first screen of a document, as a notebook shows a value."""

from collections.abc import Iterable
from html import escape
from importlib import import_module
from typing import Any

from microveil.text.document import Block, Heading, Items, Paragraph, Tabulated, Text, plain


def as_html(blocks: Iterable[Block], picture: str = "") -> str:
    """Write blocks as HTML of a few tags, with a picture under the title; charts are left out."""
    first, *others = (_written(block) for block in blocks)
    return first + picture + "".join(others)


def _written(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<p><strong>{_words(block.text)}</strong></p>"
    if isinstance(block, Paragraph):
        return f"<p>{_words(block.text)}</p>"
    if isinstance(block, Items):
        return f"<ul>{''.join(f'<li>{_words(item)}</li>' for item in block.items)}</ul>"
    if not isinstance(block, Tabulated):
        return ""
    rows = [_row(block.heads, "th"), *(_row(row, "td") for row in block.rows)]
    return f"<table>{''.join(rows)}</table>"


def _row(cells: Iterable[Text], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{_words(cell)}</{tag}>' for cell in cells)}</tr>"


def _words(text: Text) -> str:
    return escape(plain(text))


def pictured(what: str, *given: Any) -> Any:
    """Call a function of `report.plots`, which is loaded when it is asked for."""
    return getattr(import_module("microveil.report.plots"), what)(*given)
