"""Charts of a whole release: how its columns and their pairs moved, and what is found again."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.base import Figure
from microveil.measures.column_moves import ColumnMove
from microveil.measures.distributions import TOTAL_VARIATION
from microveil.report.drawing import SERIES, var
from microveil.report.wording import NOTHING, number, percent
from microveil.text import shortened
from microveil.text.document import Chart
from microveil.text.figures import figure, signed_percent

Encoded = dict[str, Any]
# Changes of mean, spread or the commonest value's share from which a chart marks them.
MARKED = 0.1
MOST_COLUMNS = 40
SHADES_FROM = [0.01, 0.03, 0.1, 0.2, 0.4]
MOST_WRITTEN = 9  # columns whose pairs have room for their figures
BEYOND, WITHIN, UNKNOWN = "farther than by sampling", "no farther", "sampling not known"
LOOKS = {
    BEYOND: ("diamond", "protected"), WITHIN: ("circle", "quiet"), UNKNOWN: ("cross", "quiet"),
}  # fmt: skip
LEFT = 0.3  # from here on words stand to the left of their mark
LOOKS_OF_SIDES = [("circle", SERIES["color"][0]), ("square", SERIES["color"][1])]
DRAWN_FROM = 0.05  # percent: a smaller share of the records is in no circle


def numbers(field: str, **more: Any) -> Encoded:
    """Encode a field of numbers."""
    return {"field": field, "type": "quantitative", **more}


def names(field: str, **more: Any) -> Encoded:
    """Encode a field of names, of which nothing but the names is said."""
    return {"field": field, "type": "nominal", "title": None, **more}


def tip(field: str, title: str | None = None, form: str | None = None) -> Encoded:
    """Describe a line of what is shown under the mouse; a form is that of a number."""
    described = {"field": field, "title": field if title is None else title}
    return described if form is None else numbers(format=form, **described)


def figure_tips(**titles: str) -> list[Encoded]:
    """Describe lines with a figure each."""
    return [tip(field, title, ".3~r") for field, title in titles.items()]


def layer(mark: str, encoding: Encoded, **looks: Any) -> Encoded:
    """Describe marks of a kind and of these looks."""
    return {"mark": {"type": mark, **looks}, "encoding": encoding}


def told_apart(field: str, looks: Mapping[str, tuple[str, str]], fill: str) -> Encoded:
    """Tell names apart by shape and colour, in the order in which they are listed."""
    shapes, colours = zip(*looks.values(), strict=True)
    return {
        what: names(field, scale={"domain": list(looks), "range": list(own)})
        for what, own in (("shape", shapes), (fill, colours))
    }


def columns_chart(moves: Mapping[str, ColumnMove], by_sampling: Mapping[str, float]) -> Chart:
    """Chart how far each distribution moved, beside what sampling does 95 % of the time."""
    worst = sorted(moves, key=lambda name: moves[name].score, reverse=True)[:MOST_COLUMNS]
    rows = [_row(name, moves[name], by_sampling.get(name)) for name in worst]
    present = {row["beyond"] for row in rows}
    looks = {name: (shape, var(own)) for name, (shape, own) in LOOKS.items() if name in present}
    title = "distance of the distributions: 0 alike, 1 apart"
    scale = {"scale": {"domain": [0, 1], "type": "sqrt"}, "title": title}
    axis = {"values": [0, 0.01, 0.05, 0.1, 0.2, 0.5, 1], "format": "~g"}
    across = numbers("distance", axis=axis, **scale)
    tips = [
        tip("column"),
        *figure_tips(distance="distance", sampling="by sampling up to"),
        *map(tip, ("mean", "spread", "commonest value")),
    ]
    words = [
        layer("text", {"x": across, "text": {"field": "marks"}}, align=align, dx=dx)
        | {"transform": [{"filter": f"datum.distance {where}"}]}
        for where, align, dx in ((f"< {LEFT}", "left", 9), (f">= {LEFT}", "right", -9))
    ]
    band = {"x": numbers("sampling", **scale), "x2": {"datum": 0}, "tooltip": tips}
    dots = {"x": across, "tooltip": tips} | (told_apart("beyond", looks, "stroke") if rows else {})
    spec = {
        "data": {"values": rows},
        "width": 330,
        "height": {"step": 20},
        "encoding": {"y": _listed("column", worst)},
        "layer": [
            layer("bar", band, color=var("faint"), height=18),
            layer("point", dots, size=60, strokeWidth=2, opacity=1),
            *words,
        ],
    }
    return Chart(spec, _columns_in_words(rows, len(moves)))


def _listed(field: str, order: Sequence[str]) -> Encoded:
    """Encode names in their order from the top."""
    axis = {"domain": False, "ticks": False, "grid": True, "labelLimit": 130}
    return names(field, sort=[shortened(name) for name in order], axis=axis)


def _row(name: str, move: ColumnMove, sampling: float | None) -> Encoded:
    beyond = UNKNOWN if sampling is None else BEYOND if move.distance > sampling else WITHIN
    value = "zeros" if move.is_zero else "commonest"
    points = signed_percent(move.share_change).replace("%", "points")
    said = {
        "mean": (abs(move.mean_change), _change("mean", move.mean)),
        "spread": (abs(move.spread_change), _change("spread", move.spread)),
        "commonest value": (abs(move.share_change), f"{value} {points}"),
    }
    # The two largest: a third would run into the names.
    largest = sorted(said, key=lambda what: said[what][0], reverse=True)[:2]
    marked = [words for what, (size, words) in said.items() if what in largest and size >= MARKED]
    return {
        "column": shortened(name),
        "distance": move.distance,
        "sampling": sampling,
        "beyond": beyond,
        "marks": ", ".join(marked),
        **{what: words for what, (_, words) in said.items()},
        **({} if move.commonest else {"commonest value": NOTHING}),
    }


def _change(what: str, sides: tuple[float, float] | None) -> str:
    if sides is None:
        return NOTHING
    before, after = sides
    if not before:
        return f"{what} {figure(before)} to {figure(after)}"
    return f"{what} {signed_percent((after - before) / abs(before))}"


def _columns_in_words(rows: Sequence[Mapping[str, Any]], n_columns: int) -> str:
    if not rows:
        return "No column could be compared."
    worst = ", ".join(f"{row['column']} {number(row['distance'], 3)}" for row in rows[:3])
    beyond = sum(row["beyond"] == BEYOND for row in rows)
    return (
        f"Distances of the distributions of {n_columns} columns from 0, alike, to 1, apart. "
        f"The largest: {worst}. {beyond} are farther than sampling alone would explain."
    )


def pairs_chart(columns: Sequence[str], moved: NDArray[np.float64]) -> Chart:
    """Chart the total variation of each pair of columns, original to release, as shades."""
    short = [shortened(name, 22) for name in columns[:MOST_COLUMNS]]
    values: list[Encoded] = [
        {"one": one, "other": short[column], "moved": float(moved[row, column])}
        for row, one in enumerate(short)
        for column in range(row)
    ]
    worst = max(values, key=lambda one: one["moved"], default=None)
    axis = {"domain": False, "ticks": False, "labelLimit": 110, "title": None}
    is_written = len(short) <= MOST_WRITTEN
    step = {"step": 34 if is_written else max(10, min(22, 300 // len(short)))}
    shades = [var(f"h{place}") for place in range(len(SHADES_FROM) + 1)]
    tips = [tip("one", "pair"), tip("other", "and"), *figure_tips(moved=TOTAL_VARIATION.label)]
    fill = numbers(
        "moved",
        scale={"type": "threshold", "domain": SHADES_FROM, "range": shades},
        legend={"title": "share that would have to move", "format": "~g"},
    )
    cells = layer("rect", {"fill": fill, "tooltip": tips}, stroke=var("page"))
    is_dark = {"test": f"datum.moved >= {SHADES_FROM[-1]}", "value": var("page")}
    colour = {"condition": is_dark, "value": var("text")}
    words = layer("text", {"text": numbers("moved", format=".2f"), "color": colour}, fontSize=10)
    spec = {
        "data": {"values": values},
        "width": step,
        "height": step,
        "encoding": {
            "x": names("other", sort=short, axis=axis | {"labelAngle": -90}),
            "y": names("one", sort=short, axis=axis),
        },
        "layer": [cells, words] if is_written else [cells],
    }
    said = f"Total variation of {len(values)} pairs of columns, 0 alike to 1 apart."
    if worst is not None:
        largest = number(worst["moved"], 3)
        said += f" The largest: {worst['one']} and {worst['other']} with {largest}."
    return Chart(spec, said)


def found_chart(name: str, found: Figure, title: str, *, most: float | None = 100.0) -> Chart:
    """Chart what was found, its interval as a line, and beside it what is to be expected."""
    low, high = found.interval or (found.value, found.value)
    end = max(found.value, high, found.beside or 0.0)
    row = {"name": name, "found": found.value, "low": low, "high": high, "chance": found.beside}
    row |= {"end": end, "said": number(found.value, 3)}
    furthest = high if found.beside is None else max(high, found.beside)
    scale = {"domain": [0, furthest if most is None else most], "nice": most is None}
    more = figure_tips(found="found", low="from", high="to", chance="beside it")
    tips = [tip("name", "what"), *more]

    def at(field: str, **more: Any) -> Encoded:
        return {"x": numbers(field, scale=scale, title=title), **more}

    found_at = at("found", tooltip=tips)
    bar = layer("bar", found_at, fill=var("protected"), fillOpacity=0.35, height=12)
    interval = at("low", x2={"field": "high"}, tooltip=tips)
    rule = layer("rule", interval, stroke=var("protected"), strokeWidth=3)
    tick = layer("tick", at("chance", tooltip=tips), color=var("text"), thickness=2, height=20)
    words = layer("text", at("end", text={"field": "said"}), align="left", dx=6)
    spec = {
        "data": {"values": [row]},
        "width": 190,
        "height": {"step": 26},
        "encoding": {"y": _listed("name", [name])},
        "layer": [bar, rule, tick, words],
    }
    beside = "" if found.beside is None else f", beside {number(found.beside, 3)}"
    return Chart(spec, f"{title}. {name}: {row['said']}{beside}.")


def cells_chart(
    columns: tuple[str, str],
    levels: tuple[Sequence[str], Sequence[str]],
    shares: Mapping[str, NDArray[np.float64]],
) -> Chart:
    """Chart the shares of records in the cells of two columns: a mark to each cell and side."""
    one, other = map(shortened, columns)
    across, upward = ([shortened(name, 24) for name in own] for own in levels)
    rows = [
        {"one": across[a], "other": upward[b], "side": side, "share": 100 * float(own[a, b])}
        for side, own in shares.items()
        for a, b in zip(*np.nonzero(100 * own >= DRAWN_FROM), strict=True)
    ]
    # The last is the release, whichever others there are.
    looks = dict(zip(shares, LOOKS_OF_SIDES[-len(shares) :], strict=True))
    axis, shares_tip = {"axis": {"labelLimit": 120, "grid": True}}, figure_tips(share="records, %")
    scale = {"type": "linear", "range": [0, 400], "domainMin": 0}
    spec = {
        "data": {"values": rows},
        "width": {"step": 24},
        "height": {"step": 24},
        "mark": {"type": "point", "strokeWidth": 2},
        "encoding": {
            "x": names("one", sort=across, **axis) | {"title": one},
            "y": names("other", sort=upward[::-1], **axis) | {"title": other},
            "size": numbers("share", title="records, %", scale=scale),
            **told_apart("side", looks, "color"),
            "tooltip": [tip("one", one), tip("other", other), tip("side"), *shares_tip],
        },
    }
    own = next(iter(shares.values()))
    a, b = map(int, np.unravel_index(int(np.argmax(own)), own.shape))
    cell = shortened(f"{levels[0][a]} and {levels[1][b]}", 60)
    said = f"Records by {one} and {other}. The fullest cell is {cell} with {percent(own.max())} %."
    if len(shares) > 1:
        gap = float(np.abs(np.subtract(*shares.values())).sum() / 2)
        said += f" The total variation between the sides is {percent(gap)} %."
    return Chart(spec, said)
