"""Charts as SVG, as Altair's, and as what a page holds: by the libraries of the extra `report`.

They name colours as variables of CSS: one drawing follows its page into the dark and onto paper.
What stands alone, as in a notebook, has those of the light scheme.
"""

import base64
import hashlib
import json
import re
import tomllib
from functools import cache
from importlib import resources
from importlib.util import find_spec
from typing import Any

from microveil.measures.values import library
from microveil.text.document import Chart
from microveil.text.readable import readable


@cache
def own_file(name: str) -> str:
    """Read a file of this package: a style, a program."""
    return resources.files("microveil.report").joinpath(name).read_text(encoding="utf-8")


LOOKS = tomllib.loads(own_file("looks.toml"))
SERIES: dict[str, list[Any]] = LOOKS["series"]
# TOML knows no null: nothing is drawn around a chart.
CONFIG: dict[str, Any] = LOOKS["vega"] | {"view": {"stroke": None}}


def _shades(colours: dict[str, str]) -> dict[str, str]:
    """Return the colours with six shades of the release's, the ground's first."""
    ends = [bytes.fromhex(colours[name][1:]) for name in ("page", "protected")]
    mixed = {
        f"h{place}": "#"
        + bytes(round(a + (b - a) * share) for a, b in zip(*ends, strict=True)).hex()
        for place, share in enumerate((0.05, 0.18, 0.34, 0.52, 0.75, 1))
    }
    return colours | mixed


LIGHT, DARK = (
    _shades({name: both[scheme] for name, both in LOOKS["colours"].items()}) for scheme in (0, 1)
)
PAPER = LIGHT | LOOKS["paper"]


# About a picture that stands alone: letters are up to 17 pixels wider in a browser than measured.
ROOM = {"left": 24, "right": 24, "top": 8, "bottom": 14}
# Each mark's own, which says nothing: the page says what the whole chart shows.
ROLES = re.compile(r' (role|aria-[a-z]+)="[^"]*"')
NAMES = re.compile(r'(\bid="|url\(#|href="#)([\w-]+)')


def can_draw() -> bool:
    """Whether the libraries are installed."""
    return find_spec("vl_convert") is not None


def of_page(chart: Chart) -> dict[str, Any]:
    """Return what Vega-Lite is to draw in the colours of a page, six digits to a figure."""
    spec: dict[str, Any] = _drawable({"config": CONFIG, **chart.spec})
    return spec


def _drawable(value: Any) -> Any:
    """Round figures, and make text readable: a control in it would end the process that draws."""
    if isinstance(value, dict):
        return {name: _drawable(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [_drawable(own) for own in value]
    if isinstance(value, str):
        return readable(value)
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _svg(spec: dict[str, Any], prefix: str) -> str:
    """Draw, with numbers of their own as identifiers: Vega counts them through all it draws."""
    known: dict[str, int] = {}
    drawn = str(library("vl_convert", "report").vegalite_to_svg(spec))
    return NAMES.sub(lambda m: f"{m[1]}{prefix}-{known.setdefault(m[2], len(known))}", drawn)


def svg_of(chart: Chart, prefix: str) -> str:
    """Draw a chart for a page, in whose colours it is."""
    return ROLES.sub("", _svg(of_page(chart), prefix))


def file_of(chart: Chart) -> str:
    """Draw a chart as an SVG that stands alone, and is no wider than where it stands."""
    style = '<svg style="max-width:100%;height:auto" '
    return _svg(_in_light(chart), "c").replace("<svg ", style, 1)


def altair_chart(chart: Chart) -> Any:
    """Return a chart as Altair's, for notebooks."""
    return library("altair", "report").Chart.from_dict(_in_light(chart))


def _in_light(chart: Chart) -> dict[str, Any]:
    """Return what Vega-Lite is to draw in the colours of the light scheme, on its ground."""
    alone = {"background": "var(--page)", "padding": ROOM}
    written = json.dumps({"config": CONFIG | alone, **_drawable(chart.spec)})
    for name, colour in LIGHT.items():
        written = written.replace(f"var(--{name})", colour)
    coloured: dict[str, Any] = json.loads(written)
    return coloured


@cache
def programs() -> tuple[str, str]:
    """Return what a page runs: Vega, and what puts its charts in place."""
    return library("vl_convert", "report").javascript_bundle(), own_file("start.js")


@cache
def digest(program: str) -> str:
    """Return a program's digest as a policy on content names it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()}"


def colour_rules() -> str:
    """Return the rules by which a page has the colours of its reader's scheme."""
    return (
        f":root {{ color-scheme: light dark; {_declared(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {_declared(DARK)} }} }}\n"
        f"@media print {{ :root {{ {_declared(PAPER)} }} }}\n"
    )


def _declared(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
