"""HTML that cannot be broken by what is put into it: text is escaped unless it is markup.

A few lines do what the page needs of a template engine. In a template escaping is switched
on, or forgotten; here text can only get in escaped, and the checker of types sees the rest.
"""

import html
from collections.abc import Iterable
from typing import TypeAlias

from microveil.text import readable

__all__ = ["Child", "Markup", "element", "fragment"]

# Elements that hold nothing: those of HTML, and shapes of SVG.
EMPTY = frozenset({"meta", "circle", "line", "path", "rect", "use"})


class Markup(str):
    """Text that is HTML already, and goes into a page as it stands."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"


def fragment(*children: Child) -> Markup:
    """Join text and markup, with the text escaped.

    >>> fragment("1 < 2", Markup("<br>"))
    '1 &lt; 2<br>'
    """
    return Markup("".join(_written(child) for child in children))


def element(tag: str, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """Write an element.

    Parameters
    ----------
    tag : str
    *children : str, int, Markup, None, or an iterable of these
        Text is escaped; None is left out.
    **attributes : str, float or bool
        ``class_`` is class and ``aria_label`` is aria-label; None and False are left out. Numbers
        are lengths in a picture and get one decimal.

    Examples
    --------
    >>> element("td", "<script>", class_="name")
    '<td class="name">&lt;script&gt;</td>'
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    if tag in EMPTY:
        return Markup(f"<{tag}{given}/>")
    return Markup(f"<{tag}{given}>{fragment(*children)}</{tag}>")


def _written(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return html.escape(readable(child))
    if isinstance(child, int):
        return str(child)
    return "".join(_written(part) for part in child)


def _attribute(value: str | float) -> str:
    if value is True:
        return ""
    if isinstance(value, str):
        return html.escape(readable(value))
    return f"{value:.1f}".removesuffix(".0")
