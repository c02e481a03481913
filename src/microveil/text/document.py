"""A document as a value: headings, sentences, lists, tables, charts, and parts that fold.

What is said of a guarantee, an assessment or a comparison is built once. The terminal, Markdown,
JSON and the page are ways to write it.
"""

import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from microveil.text.aligned import aligned, lines_of_heads, wrapped
from microveil.text.readable import one_line, readable

# What has a meaning in a line: an underscore not within a word, < only before a tag.
MARKS = re.compile(r"[\\`*|\[\]#~]|<(?=[A-Za-z/!?])|&(?=#?\w)|(?<!\w)_|_(?!\w)")
# What begins a list, or underlines a heading, where a line begins with it.
DASHES = re.compile(r"(?<!\S)[-+=]+(?!\S)")
# At the beginning alone: the number of an item, a quotation. Within a paragraph only 1 begins a
# list.
STARTS = re.compile(r"^(\d+(?=[.)](\s|$))|(?=>))")
# A figure, as it is set to the right: with its sign, its unit, its interval.
FIGURE = re.compile(
    r"[-\u2212+]?[\d.,]+(e[-+]?\d+)?\W*( (to|±|\().*)?|nan|inf|-|\u2013|", re.IGNORECASE
)
NEXT_STARTS = re.compile(r"^(\s*0*1(?=[.)]\s)|\s*(?=>))")
SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A name as it is typed."""

    text: str


Part: TypeAlias = str | Strong | Code
# Each part on one line and readable; spaces between parts belong to them.
Text: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the document's own."""

    level: int
    text: Text


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences."""

    text: Text


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Tabulated:
    """A table; the first cell of each row heads it."""

    heads: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """A chart as Vega-Lite knows it, its data inside."""

    spec: dict[str, Any]
    says: str  # to whoever does not see it


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks under a title, which a page shows once they are asked for."""

    title: Text
    blocks: "tuple[Block, ...]"


Block: TypeAlias = Heading | Paragraph | Items | Tabulated | Chart | Fold
KINDS: dict[type, str] = {
    Heading: "heading", Paragraph: "paragraph", Items: "items", Tabulated: "table", Fold: "fold",
}  # fmt: skip
LOOKS: dict[type, str] = {Strong: "strong", Code: "code"}
# What is given for a text: one part, or several.
Given: TypeAlias = Part | Iterable[Part]


def heading(level: int, text: Given) -> Heading:
    """Make a heading."""
    return Heading(level, _text(text))


def paragraph(*parts: Part) -> Paragraph:
    """Make a paragraph."""
    return Paragraph(_text(parts))


def items(entries: Iterable[Given]) -> Items:
    """Make a list."""
    return Items(tuple(map(_text, entries)))


def tabulated(heads: Iterable[Given], rows: Iterable[Iterable[Given]]) -> Tabulated:
    """Make a table."""
    return Tabulated(tuple(map(_text, heads)), tuple(tuple(map(_text, row)) for row in rows))


def fold(title: Given, blocks: Iterable[Block]) -> Fold:
    """Make a part that folds."""
    return Fold(_text(title), tuple(blocks))


@dataclass(frozen=True, slots=True)
class Document:
    r"""Blocks, one after the other.

    Parameters
    ----------
    blocks : tuple of Block

    Examples
    --------
    >>> page = Document((heading(1, "What holds"), paragraph(Strong("Nothing"), " of <b>")))
    >>> print(page.to_markdown(), end="")
    # What holds
    <BLANKLINE>
    **Nothing** of \<b>
    """

    blocks: tuple[Block, ...]

    def to_markdown(self, width: int | None = None) -> str:
        """Write the document as Markdown, in which every text is shown as it is.

        Of charts it has what they say.

        Parameters
        ----------
        width : int, optional
            Of the lines of paragraphs and lists; by default each is one line.
        """
        return "\n\n".join(_block(block, width) for block in self.blocks) + "\n"

    def to_text(self) -> str:
        r"""Write the document for a terminal, as wide as that is; charts are left out.

        Examples
        --------
        >>> parts = heading(2, "Errors"), tabulated(["attribute", "bias"], [["AGE", "0.25"]])
        >>> print(Document(parts).to_text(), end="")
        Errors
          attribute  bias
          AGE        0.25
        """
        return "\n\n".join(_sections(self.blocks)) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON knows values, for a program that writes it in its own way.

        Of each of the ``blocks`` the ``kind`` ("heading" with its ``level``, "paragraph", "items",
        "table", "chart" with its ``spec``, "fold" with its ``blocks``) and its texts; a text is a
        list of parts, each with its ``words`` and their ``look``: "plain", "strong" or "code".

        Examples
        --------
        >>> Document((paragraph(Code("k"), " is 5"),)).to_dict()["blocks"][0]["text"]
        [{'look': 'code', 'words': 'k'}, {'look': 'plain', 'words': ' is 5'}]
        """
        return {"blocks": _values(self.blocks)}


def _sections(blocks: Iterable[Block]) -> list[str]:
    """Write blocks for a terminal: a heading stands directly above what it heads."""
    written: list[str] = []
    is_headed = False
    for block in blocks:
        if isinstance(block, Chart):
            continue
        headed = isinstance(block, Heading)
        text = _plainly(block, "" if headed else "  ")
        if is_headed and not headed:
            written[-1] += f"\n{text}"
        else:
            written.append(text)
        is_headed = headed
    return written


def _plainly(block: Block, indent: str) -> str:
    if isinstance(block, Heading):
        return wrapped(plain(block.text))
    if isinstance(block, Paragraph):
        return wrapped(plain(block.text), indent)
    if isinstance(block, Items):
        return "\n".join(wrapped(f"- {plain(item)}", indent) for item in block.items)
    if isinstance(block, Fold):
        return "\n".join([wrapped(plain(block.title)), *_sections(block.blocks)])
    if isinstance(block, Chart):
        return ""
    heads, *rows = [tuple(map(plain, row)) for row in (block.heads, *block.rows)]
    words = {
        place
        for place in range(len(heads))
        if place == 0 or not all(FIGURE.fullmatch(row[place]) for row in rows)
    }
    return "\n".join(
        aligned([*lines_of_heads(heads, rows, indent), *rows], left=words, indent=indent)
    )


def plain(text: Text) -> str:
    """Return the words of a text without their looks."""
    return "".join(part if isinstance(part, str) else part.text for part in text)


def _text(given: Given) -> Text:
    """Put a text on one line: parts without words are left out, and spaces at its ends."""
    parts = (given,) if isinstance(given, str | Strong | Code) else tuple(given)
    plain = [
        SPACES.sub(" ", readable(part))
        if isinstance(part, str)
        else type(part)(one_line(part.text))
        for part in parts
    ]
    if plain and isinstance(plain[0], str):
        plain[0] = plain[0].lstrip()
    if plain and isinstance(plain[-1], str):
        plain[-1] = plain[-1].rstrip()
    return tuple(part for part in plain if part)


def _values(value: Any) -> Any:
    """Write blocks and their texts as plain values: of a block its kind and its fields."""
    if isinstance(value, tuple):
        return [_values(own) for own in value]
    if isinstance(value, str | Strong | Code):
        words = value if isinstance(value, str) else value.text
        return {"look": LOOKS.get(type(value), "plain"), "words": words}
    if isinstance(value, Chart):
        return {"kind": "chart", "says": value.says, "spec": value.spec}
    if type(value) in KINDS:
        fields = {name: _values(getattr(value, name)) for name in value.__dataclass_fields__}
        return {"kind": KINDS[type(value)], **fields}
    return value


def _block(block: Block, width: int | None) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_inline(block.text)}"
    if isinstance(block, Paragraph):
        return _wrapped(_inline(block.text), width)
    if isinstance(block, Items):
        return "\n".join(_wrapped(f"- {_inline(item)}", width, "  ") for item in block.items)
    if isinstance(block, Chart):
        return _wrapped(_escaped(block.says), width)
    if isinstance(block, Fold):
        title = f"**{_inline(block.title)}**"
        return "\n\n".join([title, *(_block(own, width) for own in block.blocks)])
    lines = [block.heads, *block.rows]
    rows = [f"| {' | '.join(map(_inline, cells))} |" for cells in lines]
    return "\n".join([rows[0], f"|{'---|' * len(block.heads)}", *rows[1:]])


def _wrapped(text: str, width: int | None, indent: str = "") -> str:
    if width is None:
        return text
    first, *others = textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join([first, *(NEXT_STARTS.sub(r"\1\\", line) for line in others)])


def _inline(text: Text) -> str:
    return STARTS.sub(r"\1\\", "".join(map(_part, text)))


def _part(part: Part) -> str:
    if isinstance(part, Strong):
        return f"**{_escaped(part.text)}**"
    if isinstance(part, Code) and "`" not in part.text:
        return f"`{part.text}`"
    return _escaped(part if isinstance(part, str) else part.text)


def _escaped(text: str) -> str:
    return DASHES.sub(r"\\\g<0>", MARKS.sub(r"\\\g<0>", text))
