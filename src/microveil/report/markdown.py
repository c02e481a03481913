"""The statement of a guarantee, which is Markdown, as HTML: one wording for both."""

import re
from collections.abc import Iterator

from microveil.report.markup import Markup, element, fragment
from microveil.report.tables import table

__all__ = ["from_markdown"]

HEADING = re.compile(r"(#{1,3}) (.*)")
CELL = re.compile(r"\|((?:[^|\\]|\\.)*)(?=\|)")
# A mark behind a backslash is text; so is what begins and does not end.
MARKS = re.compile(r"\\([!-/:-@\[-`{-~])|`([^`]+)`|\*\*((?:[^*\\]|\\.)+)\*\*")


def from_markdown(text: str, *, level: int, prefix: str) -> Markup:
    r"""Turn a statement into HTML.

    Knows what statements are made of: headings, paragraphs, lists, tables, code and strong
    words. Everything else is text.

    Parameters
    ----------
    text : str
    level : int
        Of the first heading; those below follow it.
    prefix : str
        Of identifiers, so that they are their own on the page.

    Examples
    --------
    >>> from_markdown("# What holds\n\n**Nothing** of <b>\n", level=2, prefix="g")
    '<h2 id="g1">What holds</h2><p><strong>Nothing</strong> of &lt;b&gt;</p>'
    """
    parts: list[Markup] = []
    heading, count = "", 0
    for lines in _blocks(text):
        found = HEADING.fullmatch(lines[0])
        if found and len(lines) == 1:
            heading, count = found[2], count + 1
            depth = min(6, level + len(found[1]) - 1)
            parts.append(element(f"h{depth}", _inline(heading), id=f"{prefix}{count}"))
        elif lines[0].startswith("| ") and len(lines) > 2:
            parts.append(_table(heading, lines, f"{prefix}{count}-table"))
        elif lines[0].startswith("- ") and all(line.startswith(("- ", "  ")) for line in lines):
            parts.append(element("ul", (element("li", _inline(item)) for item in _items(lines))))
        else:
            parts.append(element("p", _inline(" ".join(lines))))
    return fragment(*parts)


def _blocks(text: str) -> Iterator[list[str]]:
    """Tell apart what blank lines part; a heading stands for itself."""
    block: list[str] = []
    for line in [*text.split("\n"), ""]:
        alone = HEADING.fullmatch(line) is not None
        if block and (alone or not line.strip()):
            yield block
            block = []
        if alone:
            yield [line]
        elif line.strip():
            block.append(line)


def _items(lines: list[str]) -> list[str]:
    """Join the lines of every item; those that go on are indented."""
    items: list[str] = []
    for line in lines:
        if line.startswith("- "):
            items.append(line[2:])
        else:
            items[-1] += f" {line.strip()}"
    return items


def _table(caption: str, lines: list[str], identifier: str) -> Markup:
    heads, *rows = [_cells(line) for line in (lines[0], *lines[2:])]
    return table(
        caption,
        heads,
        [[_inline(cell) for cell in row] for row in rows],
        identifier=identifier,
        words=True,
        captioned=False,
    )


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in CELL.findall(line)]


def _inline(text: str) -> Markup:
    parts: list[Markup | str] = []
    end = 0
    for mark in MARKS.finditer(text):
        literal, code, strong = mark.groups()
        parts.append(text[end : mark.start()])
        if literal:
            parts.append(literal)
        else:
            parts.append(element("code", code) if code else element("strong", _inline(strong)))
        end = mark.end()
    return fragment(*parts, text[end:])
