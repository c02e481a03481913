"""Charts as SVG, as Altair's, and as what a page holds: by the libraries of the extra `report`."""

import base64
import hashlib
import importlib
import re
from functools import cache
from importlib.util import find_spec
from typing import Any

from microveil.errors import RequestError
from microveil.report.theme import CONFIG, in_light
from microveil.text.document import Chart
from microveil.text.readable import readable

__all__ = ["altair_chart", "can_draw", "digest", "file_of", "of_page", "programs", "svg_of"]

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
    """Draw a chart for a page, in whose colours it is.

    Parameters
    ----------
    chart : Chart
    prefix : str
        Of identifiers, so that they are their own on the page.
    """
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
