"""Documents from jinja2 templates: whatever a value holds, it is shown as it is."""

import html
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from microveil.text.document import (
    Block,
    Code,
    Document,
    Part,
    Strong,
    heading,
    items,
    paragraph,
    tabulated,
)

# What has a meaning in a template's text. In a value it is written as a number until it is read.
MARKS = re.compile(r"[&*`|#\n-]")
LOOKS = re.compile(r"(\*\*.*?\*\*|`.*?`)", re.DOTALL)
BLANK_LINES = re.compile(r"\n[ \n]*\n")


def document_of(template: str, **values: Any) -> Document:
    """Render a template of the package, in which blank lines stand between blocks.

    A block is a heading ("#"), a list ("- "), a table ("|", its heads first) or a paragraph, over
    as many lines as it likes; in it stand **strong words** and `names as they are typed`.
    """
    written = _environment(_marked).get_template(template).render(values)
    return Document(tuple(_block(own) for own in BLANK_LINES.split(written.strip("\n")) if own))


def text_of(template: str, **values: Any) -> str:
    """Render a template of the package as the text that it is."""
    return _environment(str).get_template(template).render(values)


def _marked(value: Any) -> str:
    return MARKS.sub(lambda mark: f"&#{ord(mark[0])};", str(value))


@cache
def _environment(finalize: Callable[[Any], str]) -> Environment:
    return Environment(
        loader=PackageLoader("microveil", ""),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 -- marks are escaped below, HTML where it is written
        finalize=finalize,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _block(text: str) -> Block:
    text = text.strip("\n")
    if text.startswith("#"):
        marks, _, words = text.partition(" ")
        return heading(len(marks), _parts(words))
    if text.startswith("- "):
        return items(map(_parts, text.removeprefix("- ").split("\n- ")))
    if text.startswith("|"):
        lines = ([*map(_parts, line[1:-1].split("|"))] for line in text.split("\n"))
        return tabulated(next(lines), lines)
    return paragraph(*_parts(text))


def _parts(text: str) -> list[Part]:
    return [_part(part) for part in LOOKS.split(text.strip())]


def _part(text: str) -> Part:
    if text.startswith("**"):
        return Strong(html.unescape(text[2:-2]))
    return Code(html.unescape(text[1:-1])) if text.startswith("`") else html.unescape(text)
