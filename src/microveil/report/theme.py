"""Colours of pages and charts, by what they are for, and how Vega-Lite draws with them.

Charts name colours as variables of CSS: one drawing follows its page into the dark and onto paper.
What stands alone, as in a notebook, has those of the light scheme.
"""

import json
from typing import Any

__all__ = ["CONFIG", "DARK", "LIGHT", "PAPER", "SERIES", "colour_rules", "in_light", "var"]

# Okabe and Ito's, darkened or lightened where words or lines would stand out too little.
LIGHT = {
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
DARK = {
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


LIGHT, DARK = _shades(LIGHT), _shades(DARK)
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


def colour_rules() -> str:
    """Return the rules by which a page has the colours of its reader's scheme."""
    return (
        f":root {{ color-scheme: light dark; {_declared(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {_declared(DARK)} }} }}\n"
        f"@media print {{ :root {{ {_declared(PAPER)} }} }}\n"
    )


def in_light(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a chart in the colours of the light scheme, on its ground.

    >>> in_light({"mark": {"type": "point", "fill": var("original")}})["mark"]["fill"]
    '#0072b2'
    """
    alone = {"background": var("page"), "padding": ROOM}
    written = json.dumps({"config": CONFIG | alone, **spec})
    for name, colour in LIGHT.items():
        written = written.replace(var(name), colour)
    coloured: dict[str, Any] = json.loads(written)
    return coloured


def _declared(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
