"""The page around the sections: it needs no network, no script and no other file.

A policy in its head forbids every browser to load or run anything, should text ever get into
the page as more than text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from microveil_papers.html.colours import colour_rules
from microveil_papers.html.markup import Markup, element, fragment
from microveil_papers.html.sections import Section

__all__ = ["Part", "page"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Sections that belong together, under a heading of their own where there is one.

    Attributes
    ----------
    sections : tuple of Section
    title : str or None
        Where a page has several parts.
    identifier : str
    folded : str or None
        What opens them, where they are folded away.
    """

    sections: tuple[Section, ...]
    title: str | None = None
    identifier: str = ""
    folded: str | None = None


def page(
    title: str, *, warning: str | None, parts: Sequence[Part], closing: str, lead: str | None = None
) -> str:
    """Put a page together.

    Parameters
    ----------
    title : str
    warning : str or None
        Who must not see it.
    parts : sequence of Part
    closing : str
        Below everything.
    lead : str, optional
        A sentence or two below the title.

    Returns
    -------
    str
        HTML, with one heading of the first level and no reference to anything outside.
    """
    own = resources.files("microveil_papers.html")
    rules = [own.joinpath(name).read_text(encoding="utf-8") for name in ("chart.css", "style.css")]
    style = "".join([colour_rules(), *rules])
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        Markup(f"<style>{style}</style>"),
    )
    body = element(
        "body",
        element("a", "Skip to the contents", href="#main", class_="skip"),
        element(
            "header",
            element("h1", title),
            element("p", warning, class_="warning") if warning else None,
            element("p", lead) if lead else None,
        ),
        _navigation(parts),
        element("main", (_part(part) for part in parts), id="main", tabindex="-1"),
        element("footer", element("p", closing)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _navigation(parts: Sequence[Part]) -> Markup:
    entries = [
        element(
            "li",
            element("a", part.title, href=f"#{part.identifier}"),
            None if part.folded else element("ul", (_entry(section) for section in part.sections)),
        )
        if part.title
        else fragment(_entry(section) for section in part.sections)
        for part in parts
    ]
    return element("nav", element("ul", entries), aria_label="Contents")


def _entry(section: Section) -> Markup:
    return element("li", element("a", section.title, href=f"#{section.identifier}"))


def _part(part: Part) -> Markup:
    if part.title is None:
        return fragment(_section(section, 2, section.identifier) for section in part.sections)
    sections = [
        _section(section, 3, f"{part.identifier} {section.identifier}") for section in part.sections
    ]
    return element(
        "section",
        element("h2", part.title, id=part.identifier),
        # Class "printed": what is folded away reaches paper all the same.
        element("details", element("summary", part.folded), sections, class_="part printed")
        if part.folded
        else sections,
        aria_labelledby=part.identifier,
    )


def _section(section: Section, level: int, labels: str) -> Markup:
    """Write a section, a landmark with a name of its own: its heading's, after its part's."""
    heading = element(f"h{level}", section.title, id=section.identifier)
    return element(
        "section",
        heading,
        section.body,
        aria_labelledby=labels,
    )
