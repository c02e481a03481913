"""Tables that are read well, also aloud: a caption, and heads that say what they head."""

from collections.abc import Iterable, Sequence

from microveil_papers.html.markup import Child, Markup, element

__all__ = ["definitions", "hidden_table", "table"]

SENTENCE = 48  # letters from which a cell is given room on a narrow page


def table(
    caption: Child,
    heads: Sequence[str],
    rows: Iterable[Sequence[Child]],
    *,
    identifier: str,
    words: bool = False,
    class_: str | None = None,
    captioned: bool = True,
) -> Markup:
    """Write a table in a region of its own that scrolls where it is wider than the page.

    Parameters
    ----------
    caption : str or Markup
    heads : sequence of str
        Of the columns.
    rows : iterable of sequences
        The first cell of each heads its row; a cell may be markup that is a cell already.
    identifier : str
        Its own on the page.
    words : bool
        Set cells to the left, as words are, rather than to the right, as numbers are.
    class_ : str, optional
    captioned : bool
        Whether the caption is seen; where not, it is read aloud all the same.
    """
    classes = " ".join(name for name in ("words" if words else None, class_) if name) or None
    inner = element(
        "table",
        element("caption", caption, id=identifier, class_=None if captioned else "unseen"),
        element("thead", element("tr", (element("th", head, scope="col") for head in heads))),
        element("tbody", (_row(row) for row in rows)),
        class_=classes,
    )
    return element(
        "div", inner, class_="scroll", role="group", tabindex="0", aria_labelledby=identifier
    )


def hidden_table(
    summary: str,
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[Child]],
    *,
    identifier: str,
) -> Markup:
    """Write the numbers behind a picture, to be opened by who wants them."""
    return element(
        "details",
        element("summary", summary),
        table(caption, heads, rows, identifier=identifier),
    )


def definitions(
    caption: str, rows: Iterable[tuple[Child, Child]], *, heads: tuple[str, str], identifier: str
) -> Markup:
    """Write names and what they stand for as a table of two columns."""
    return table(caption, heads, rows, identifier=identifier, words=True, class_="pairs")


def _row(cells: Sequence[Child]) -> Markup:
    first, *rest = cells
    return element("tr", element("th", first, scope="row"), (_cell(cell) for cell in rest))


def _cell(cell: Child) -> Markup:
    if isinstance(cell, Markup) and cell.startswith("<td"):
        return cell
    is_sentence = isinstance(cell, str) and len(cell) > SENTENCE
    return element("td", cell, class_="sentence" if is_sentence else None)
