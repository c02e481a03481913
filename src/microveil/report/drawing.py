"""Charts as SVG, as Altair's, and as what a page holds: by the libraries of the extra `report`.

They name colours as variables of CSS: one drawing follows its page into the dark and onto paper.
What stands alone, as in a notebook, has those of the light scheme.
"""

import base64
import hashlib
import importlib
import json
import re
from functools import cache
from importlib.util import find_spec
from typing import Any

from microveil.errors import RequestError
from microveil.text.document import Chart
from microveil.text.readable import readable

# Okabe and Ito's, darkened or lightened where words or lines would stand out too little.
_LIGHT = {
    "page": "#ffffff",
    "raised": "#f4f5f7",
    "text": "#1a1c1f",
    "quiet": "#52565c",
    "rule": "#84888e",
    "faint": "#dcdfe3",
    "link": "#0a5796",
    "warning": "#8a1c00",
    "focus": "#0a5796",
    "original": "#0072b2",
    "original-fill": "#b3d5e8",
    "protected": "#d55e00",
    "s0": "#0072b2",
    "s1": "#d55e00",
    "s2": "#007a5a",
    "s3": "#a8478a",
    "s4": "#8a6100",
    "s5": "#000099",
    "s6": "#9955ff",
    "s7": "#000000",
}
_DARK = {
    "page": "#131518",
    "raised": "#1d2024",
    "text": "#e9e8e5",
    "quiet": "#b9bbbe",
    "rule": "#82878e",
    "faint": "#33373c",
    "link": "#7cc4f2",
    "warning": "#ffb59e",
    "focus": "#7cc4f2",
    "original": "#56b4e9",
    "original-fill": "#1f4a63",
    "protected": "#e69f00",
    "s0": "#56b4e9",
    "s1": "#e69f00",
    "s2": "#1fc497",
    "s3": "#d98cbc",
    "s4": "#f0e442",
    "s5": "#8855ff",
    "s6": "#cc2233",
    "s7": "#e9e8e5",
}


def _shades(colours: dict[str, str]) -> dict[str, str]:
    """Return the colours with six shades of the release's, the ground's first."""
    ends = [bytes.fromhex(colours[name][1:]) for name in ("page", "protected")]
    mixed = {
        f"h{place}": "#"
        + bytes(round(a + (b - a) * share) for a, b in zip(*ends, strict=True)).hex()
        for place, share in enumerate((0.05, 0.18, 0.34, 0.52, 0.75, 1))
    }
    return colours | mixed


LIGHT, DARK = _shades(_LIGHT), _shades(_DARK)
PAPER = LIGHT | {
    "raised": "#ffffff",
    "text": "#000000",
    "quiet": "#333333",
    "rule": "#666666",
    "faint": "#cccccc",
    "link": "#000000",
}


def var(name: str) -> str:
    """Name a colour for CSS."""
    return f"var(--{name})"


# Methods of a comparison, or releases beside one another: never told apart by colour alone.
SERIES: dict[str, list[Any]] = {
    "color": [var(f"s{place}") for place in range(8)],
    "shape": ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "wedge"],
    "strokeDash": [[1, 0], [7, 3], [2, 2.5], [8, 2.5, 2, 2.5], [12, 4], [4, 1.5], [1, 3], [5, 5]],
}
CONFIG: dict[str, Any] = {
    "aria": False,  # the page says in words what a chart shows
    "background": "transparent",
    "font": "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif",
    "view": {"stroke": None},
    "text": {"fill": var("text"), "fontSize": 11},
    "axis": {
        "domainColor": var("rule"),
        "gridColor": var("faint"),
        "tickColor": var("rule"),
        "labelColor": var("text"),
        "labelFontSize": 11,
        "labelLimit": 150,
        "titleColor": var("text"),
        "titleFontSize": 11,
        "titleFontWeight": "normal",
    },
    "legend": {
        "labelColor": var("text"),
        "labelFontSize": 11,
        "labelLimit": 220,
        "titleColor": var("text"),
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "orient": "top",
    },
    "header": {"labelColor": var("text"), "titleColor": var("text"), "labelFontSize": 11},
    "title": {"color": var("text"), "fontSize": 12, "anchor": "start"},
}

# About a picture that stands alone: letters are up to 17 pixels wider in a browser than measured.
ROOM = {"left": 24, "right": 24, "top": 8, "bottom": 14}
# Each mark's own, which says nothing: the page says what the whole chart shows.
ROLES = re.compile(r' (role|aria-[a-z]+)="[^"]*"')
NAMES = re.compile(r'(\bid="|url\(#|href="#)([\w-]+)')
# Shown once a reader comes to it: a chart that answers to the mouse takes the place of its SVG.
START = """
const seen = new IntersectionObserver((entries) => entries.forEach((entry) => {
  if (!entry.isIntersecting) return;
  seen.unobserve(entry.target);
  const still = entry.target.querySelector('svg');
  const spec = JSON.parse(entry.target.querySelector('script').textContent);
  if (spec.width > 0) {
    const beside = still.viewBox.baseVal.width - spec.width;
    spec.width = Math.max(120, entry.target.clientWidth - beside - 4);
  }
  const live = document.createElement('div');
  const tooltip = {disableDefaultStyle: true};
  const asked = {actions: false, ast: true, defaultStyle: false, renderer: 'svg', tooltip};
  vegaEmbed(live, spec, asked).then((drawn) => {
    live.querySelectorAll('[role]').forEach((mark) => mark.removeAttribute('role'));
    still.replaceWith(live);
    entry.target.dispatchEvent(new CustomEvent('drawn', {detail: drawn.view}));
  });
}), {rootMargin: '200px'});
document.querySelectorAll('.chart').forEach((chart) => seen.observe(chart));
"""


def can_draw() -> bool:
    """Whether the libraries are installed."""
    return find_spec("vl_convert") is not None


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise RequestError(
            "report",
            f"charts are drawn by {name}, which is not installed",
            "install it with: pip install 'microveil[report]'",
        ) from None


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


def svg_of(chart: Chart, prefix: str) -> str:
    """Draw a chart for a page, in whose colours it is."""
    return _numbered(ROLES.sub("", _library("vl_convert").vegalite_to_svg(of_page(chart))), prefix)


def file_of(chart: Chart) -> str:
    """Draw a chart as an SVG that stands alone, and is no wider than where it stands."""
    drawn = _numbered(_library("vl_convert").vegalite_to_svg(in_light(_drawable(chart.spec))), "c")
    return drawn.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)


def _numbered(drawn: str, prefix: str) -> str:
    """Give identifiers numbers of their own: Vega counts them through all that it draws."""
    known: dict[str, int] = {}
    return NAMES.sub(lambda m: f"{m[1]}{prefix}-{known.setdefault(m[2], len(known))}", drawn)


def altair_chart(chart: Chart) -> Any:
    """Return a chart as Altair's, for notebooks."""
    return _library("altair").Chart.from_dict(in_light(_drawable(chart.spec)))


@cache
def programs() -> tuple[str, str]:
    """Return what a page runs: Vega, and what puts its charts in place."""
    return _library("vl_convert").javascript_bundle(), START


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


def in_light(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a chart in the colours of the light scheme, on its ground."""
    alone = {"background": var("page"), "padding": ROOM}
    written = json.dumps({"config": CONFIG | alone, **spec})
    for name, colour in LIGHT.items():
        written = written.replace(var(name), colour)
    coloured: dict[str, Any] = json.loads(written)
    return coloured


def _declared(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
