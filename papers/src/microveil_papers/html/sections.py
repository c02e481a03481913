"""Sections of the page."""

from dataclasses import dataclass

from microveil_papers.html.markup import Markup

__all__ = ["Section"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A section of the page.

    Attributes
    ----------
    identifier : str
    title : str
    body : Markup
        All but its heading.
    """

    identifier: str
    title: str
    body: Markup
