"""Charts of a whole release: how its columns and their pairs moved, and what is found again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.column_moves import ColumnMove
from microveil.measures.distributions import TOTAL_VARIATION
from microveil.report.drawing import var
from microveil.report.wording import NOTHING, number
from microveil.text import shortened
from microveil.text.document import Chart

# Changes of mean, spread or the commonest value's share from which a chart marks them.
MARKED = 0.1
MOST_COLUMNS = 40
SHADES_FROM = [0.01, 0.03, 0.1, 0.2, 0.4]
MOST_WRITTEN = 9  # columns whose pairs have room for their figures
BEYOND, WITHIN, UNKNOWN = "farther than by sampling", "no farther", "sampling not known"
LEFT = 0.3  # from here on words stand to the left of their mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What an intruder found, beside what is to be expected of chance; shares or distances."""

    name: str
    value: float
    interval: tuple[float, float] | None
    beside: float | None


def tip(field: str, title: str, form: str | None = None) -> dict[str, str]:
    """Describe a line of what is shown under the mouse; a form is that of a number."""
    described = {"field": field, "title": title}
    return described if form is None else described | {"format": form, "type": "quantitative"}


# What charts of columns have in common.
SCALE = {
    "type": "quantitative",
    "scale": {"domain": [0, 1], "type": "sqrt"},
    "title": "distance of the distributions: 0 alike, 1 apart",
}
AXIS = {"values": [0, 0.01, 0.05, 0.1, 0.2, 0.5, 1], "format": "~g"}
BAND = {"type": "bar", "color": var("faint"), "height": 18}
TIPS = [
    tip("column", "column"),
    tip("distance", "distance", ".3~r"),
    tip("sampling", "by sampling up to", ".3~r"),
    *(tip(change, change) for change in ("mean", "spread", "commonest value")),
]


def columns_chart(
    moves: Mapping[str, ColumnMove], by_sampling: Mapping[str, float], *, width: int = 330
) -> Chart:
    """Chart how far the distribution of each column moved, the worst first."""
    worst = sorted(moves, key=lambda name: moves[name].score, reverse=True)[:MOST_COLUMNS]
    rows = [_row(name, moves[name], by_sampling.get(name)) for name in worst]
    across = {"field": "distance", **SCALE, "axis": AXIS}
    looks = {"field": "beyond", "type": "nominal", "title": None}
    drawn = {BEYOND: ("diamond", "protected"), WITHIN: ("circle", "quiet")}
    drawn |= {UNKNOWN: ("cross", "quiet")}
    order = [name for name in drawn if any(row["beyond"] == name for row in rows)]
    shapes = {"domain": order, "range": [drawn[name][0] for name in order]}
    strokes = {"domain": order, "range": [var(drawn[name][1]) for name in order]}
    dots = {
        "x": across,
        "shape": looks | {"scale": shapes},
        "stroke": looks | {"scale": strokes},
        "tooltip": TIPS,
    }
    words: list[dict[str, Any]] = [
        {
            "transform": [{"filter": f"datum.distance {where}"}],
            "mark": {"type": "text", "align": align, "dx": dx},
            "encoding": {"x": across, "text": {"field": "marks"}},
        }
        for where, align, dx in ((f"< {LEFT}", "left", 9), (f">= {LEFT}", "right", -9))
    ]
    band = {"x": {"field": "sampling", **SCALE}, "x2": {"datum": 0}, "tooltip": TIPS}
    spec = {
        "data": {"values": rows},
        "width": width,
        "height": {"step": 20},
        "encoding": {"y": _names("column", worst)},
        "layer": [
            {"mark": BAND, "encoding": band},
            {
                "mark": {"type": "point", "size": 60, "strokeWidth": 2, "opacity": 1},
                "encoding": dots,
            },
            *words,
        ],
    }
    return Chart(spec, _columns_in_words(rows, len(moves)))


def _names(field: str, order: Sequence[str]) -> dict[str, Any]:
    """Describe an axis of names, in their order from the top."""
    axis = {"domain": False, "ticks": False, "grid": True, "labelLimit": 130}
    sort = [shortened(name) for name in order]
    return {"field": field, "type": "nominal", "sort": sort, "title": None, "axis": axis}


def _row(name: str, move: ColumnMove, sampling: float | None) -> dict[str, Any]:
    beyond = UNKNOWN if sampling is None else BEYOND if move.distance > sampling else WITHIN
    changes = changes_in_words(move)
    sizes = {
        "mean": abs(move.mean_change),
        "spread": abs(move.spread_change),
        "commonest value": abs(move.share_change),
    }
    # The two largest: a third would run into the names.
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:2]
    marked = [changes[what] for what in sizes if what in largest and sizes[what] >= MARKED]
    return {
        "column": shortened(name),
        "distance": move.distance,
        "sampling": sampling,
        "beyond": beyond,
        "marks": ", ".join(marked).replace("commonest value", "commonest"),
        **changes,
    }


def changes_in_words(move: ColumnMove) -> dict[str, str]:
    """Say how mean, spread and the commonest value's share moved, each with its sign.

    >>> changes_in_words(ColumnMove(distance=0.1, mean=(1000.0, 640.0)))["mean"]
    'mean −36 %'
    """
    zero = "zeros" if move.is_zero else "commonest value"
    said = {
        "mean": _change("mean", move.mean),
        "spread": _change("spread", move.spread),
        "commonest value": NOTHING,
    }
    if move.commonest is not None:
        said["commonest value"] = f"{zero} {_signed(100 * move.share_change)} points"
    return said


def _change(what: str, sides: tuple[float, float] | None) -> str:
    if sides is None or not sides[0]:
        return (
            NOTHING if sides is None else f"{what} {number(sides[0], 3)} to {number(sides[1], 3)}"
        )
    return f"{what} {_signed(100 * (sides[1] - sides[0]) / abs(sides[0]))} %"


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{number(value, 2)}"


def _columns_in_words(rows: Sequence[Mapping[str, Any]], n_columns: int) -> str:
    if not rows:
        return "No column could be compared."
    worst = ", ".join(f"{row['column']} {number(row['distance'], 3)}" for row in rows[:3])
    beyond = sum(row["beyond"] == BEYOND for row in rows)
    return (
        f"Distances of the distributions of {n_columns} columns from 0, alike, to 1, apart. "
        f"The largest: {worst}. {beyond} are farther than sampling alone would explain."
    )


def pairs_chart(names: Sequence[str], moved: NDArray[np.float64]) -> Chart:
    """Chart the total variation of each pair of columns, original to release, as shades."""
    shown = list(names)[:MOST_COLUMNS]
    short = [shortened(name, 22) for name in shown]
    values: list[dict[str, Any]] = [
        {"one": short[row], "other": short[column], "moved": float(moved[row, column])}
        for row in range(len(shown))
        for column in range(row)
    ]
    worst = max(values, key=lambda one: one["moved"], default=None)
    axis = {"domain": False, "ticks": False, "labelLimit": 110, "title": None}
    place = {"type": "nominal", "sort": short, "axis": axis}
    is_written = len(shown) <= MOST_WRITTEN
    step = 34 if is_written else max(10, min(22, 300 // len(shown)))
    shades = [var(f"h{place}") for place in range(len(SHADES_FROM) + 1)]
    cells = {
        "mark": {"type": "rect", "stroke": var("page")},
        "encoding": {
            "fill": {
                "field": "moved",
                "type": "quantitative",
                "scale": {"type": "threshold", "domain": SHADES_FROM, "range": shades},
                "legend": {"title": "share that would have to move", "format": "~g"},
            },
            "tooltip": [
                tip("one", "pair"),
                tip("other", "and"),
                tip("moved", TOTAL_VARIATION.label, ".3~r"),
            ],
        },
    }
    is_dark = {"test": f"datum.moved >= {SHADES_FROM[-1]}", "value": var("page")}
    words = {
        "mark": {"type": "text", "fontSize": 10},
        "encoding": {
            "text": {"field": "moved", "type": "quantitative", "format": ".2f"},
            "color": {"condition": is_dark, "value": var("text")},
        },
    }
    spec = {
        "data": {"values": values},
        "width": {"step": step},
        "height": {"step": step},
        "encoding": {
            "x": {"field": "other", **place, "axis": axis | {"labelAngle": -90}},
            "y": {"field": "one", **place},
        },
        "layer": [cells, words] if is_written else [cells],
    }
    said = f"Total variation of {len(values)} pairs of columns, 0 alike to 1 apart."
    if worst is not None:
        largest = number(worst["moved"], 3)
        said += f" The largest: {worst['one']} and {worst['other']} with {largest}."
    return Chart(spec, said)


def found_chart(found: Sequence[Found], title: str, *, most: float | None = 100.0) -> Chart:
    """Chart what was found, its interval as a line, and beside it what is to be expected."""
    rows: list[dict[str, Any]] = [
        {
            "name": shortened(one.name, 60),
            "found": one.value,
            "low": (one.interval or (one.value,))[0],
            "high": (one.interval or (one.value,))[-1],
            "chance": one.beside,
            "end": max(one.value, *(one.interval or ()), one.beside or 0.0),
            "said": number(one.value, 3),
        }
        for one in found
    ]
    ends = [end for row in rows for end in (row["high"], row["chance"]) if end is not None]
    scale = {"domain": [0, max(ends, default=1.0) if most is None else most], "nice": most is None}
    across: dict[str, Any] = {"type": "quantitative", "scale": scale, "title": title}
    tooltip = [
        tip("name", "what"),
        tip("found", "found", ".3~r"),
        tip("low", "from", ".3~r"),
        tip("high", "to", ".3~r"),
        tip("chance", "beside it", ".3~r"),
    ]
    spec = {
        "data": {"values": rows},
        "width": 190,
        "height": {"step": 26},
        "encoding": {"y": _names("name", [one.name for one in found])},
        "layer": [
            {
                "mark": {
                    "type": "bar",
                    "fill": var("protected"),
                    "fillOpacity": 0.35,
                    "height": 12,
                },
                "encoding": {"x": {"field": "found", **across}, "tooltip": tooltip},
            },
            {
                "mark": {"type": "rule", "stroke": var("protected"), "strokeWidth": 3},
                "encoding": {
                    "x": {"field": "low", **across},
                    "x2": {"field": "high"},
                    "tooltip": tooltip,
                },
            },
            {
                "mark": {"type": "tick", "color": var("text"), "thickness": 2, "height": 20},
                "encoding": {"x": {"field": "chance", **across}, "tooltip": tooltip},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 6},
                "encoding": {"x": {"field": "end", **across}, "text": {"field": "said"}},
            },
        ],
    }
    said = [
        f"{row['name']}: {number(row['found'], 3)}"
        + ("" if row["chance"] is None else f", beside {number(row['chance'], 3)}")
        for row in rows
    ]
    return Chart(spec, f"{title}. {'; '.join(said)}.")
