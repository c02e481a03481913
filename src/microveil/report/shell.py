"""Pages from templates: they escape whatever is put into them, and need no network and no file.

A policy in the head of a page forbids browsers to load anything, and to run anything but the
programs that the page came with.
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from itertools import count
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from microveil.report.drawing import (
    can_draw,
    colour_rules,
    digest,
    of_page,
    own_file,
    programs,
    svg_of,
)
from microveil.text.document import FIGURE, LOOKS, Chart, Text, plain
from microveil.text.readable import readable

PROGRAM = re.compile(r"<script>.*?</script>\n?", re.DOTALL)


def page(
    template: str,
    *,
    interactive: bool,
    own: Sequence[str] = (),
    package: str = "microveil.report",
    **values: Any,
) -> str:
    """Write a page."""
    environment, numbers = _environment(package), count()

    def figure(chart: Chart, caption: str = "") -> Markup:
        if not can_draw():
            return Markup()
        drawn = Markup(svg_of(chart, f"c{next(numbers)}"))  # noqa: S704 -- Vega escapes names
        spec = of_page(chart) if interactive else None
        shown = {"caption": caption, "drawn": drawn, "says": chart.says, "spec": spec}
        return Markup(environment.get_template("figure.html").render(shown))  # noqa: S704

    run = (*own, *programs()) if interactive and can_draw() else ()
    allowed = " ".join(f"'{digest(program)}'" for program in run) or "'none'"
    return environment.get_template(template).render(
        can_draw=can_draw(),
        figure=figure,
        made_by=f"microveil {version('microveil')}",
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}",
        programs=[Markup(program) for program in run],  # noqa: S704 -- as the policy names them
        style=Markup(colour_rules() + own_file("page.css")),  # noqa: S704 -- our own
        **values,
    )


def still(page: str) -> str:
    """Return a page without its programs, for a place that lets none run: charts stay as SVG."""
    return PROGRAM.sub("", page)


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=ChoiceLoader(list(map(PackageLoader, dict.fromkeys((package, "microveil.report"))))),
        autoescape=True,
        finalize=lambda value: readable(value) if type(value) is str else value,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "inline": _inline,
        "kind": lambda block: type(block).__name__,
        "sides": _sides,
    }
    return environment


def _sides(rows: Sequence[Sequence[str | Text]]) -> list[str]:
    """Return the class of each column but the first: words, or else figures."""
    columns = zip(*rows, strict=True)
    written = [[c if isinstance(c, str) else plain(c) for c in column] for column in columns]
    return ["" if all(map(FIGURE.fullmatch, own)) else "words" for own in written]


def _inline(text: str | Text) -> Markup:
    """Write a text with its looks."""
    parts = (text,) if isinstance(text, str) else text
    return Markup().join(
        escape(readable(part))
        if isinstance(part, str)
        else Markup("<{0}>{1}</{0}>").format(LOOKS[type(part)], readable(part.text))
        for part in parts
    )
