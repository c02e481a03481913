"""A document as HTML, with headings that can be linked to and tables that scroll."""

from collections.abc import Iterator

from microveil.report.markup import Markup, element, fragment
from microveil.report.tables import table
from microveil.text.document import (
    Block,
    Chart,
    Code,
    Document,
    Fold,
    Heading,
    Items,
    Paragraph,
    Part,
    Strong,
    Text,
)

__all__ = ["written"]


def written(document: Document, *, level: int, prefix: str) -> Markup:
    """Write a document as HTML.

    Parameters
    ----------
    document : Document
    level : int
        Of the document's own heading; those below follow it.
    prefix : str
        Of identifiers, so that they are their own on the page.

    Examples
    --------
    >>> from microveil.text.document import heading, paragraph
    >>> page = Document((heading(1, "What holds"), paragraph(Strong("Nothing"), " of <b>")))
    >>> written(page, level=2, prefix="g")
    '<h2 id="g1">What holds</h2><p><strong>Nothing</strong> of &lt;b&gt;</p>'
    """
    return fragment(*_parts(document, level, prefix))


def _parts(document: Document, level: int, prefix: str) -> Iterator[Markup]:
    caption, count = Markup(), 0
    for block in document.blocks:
        if isinstance(block, Heading):
            caption, count = _inline(block.text), count + 1
            depth = min(6, level + block.level - 1)
            yield element(f"h{depth}", caption, id=f"{prefix}{count}")
        else:
            yield _block(block, caption, f"{prefix}{count}-table")


def _block(block: Block, caption: Markup, identifier: str) -> Markup:
    if isinstance(block, Paragraph):
        return element("p", _inline(block.text))
    if isinstance(block, Chart):
        return element("p", block.says)
    if isinstance(block, Fold | Heading):  # a document has headings between its blocks alone
        blocks = block.blocks if isinstance(block, Fold) else ()
        within = Document(blocks)
        title = block.title if isinstance(block, Fold) else block.text
        return element(
            "details", element("summary", _inline(title)), *_parts(within, 4, f"{identifier}-")
        )
    if isinstance(block, Items):
        return element("ul", (element("li", _inline(item)) for item in block.items))
    return table(
        caption,
        [_inline(head) for head in block.heads],
        [[_inline(cell) for cell in row] for row in block.rows],
        identifier=identifier,
        words=True,
        captioned=False,
    )


def _inline(text: Text) -> Markup:
    return fragment(*map(_part, text))


def _part(part: Part) -> Markup | str:
    if isinstance(part, Strong):
        return element("strong", part.text)
    return element("code", part.text) if isinstance(part, Code) else part
