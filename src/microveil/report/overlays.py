"""Charts of one column: its distribution in the original and in releases, over each other.

Axes hold all values of every side, and are logarithmic where straight ones would hide the bulk.
"""

import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microveil.measures.values import Floats
from microveil.report.charts import chart_of
from microveil.report.drawing import SERIES
from microveil.report.subject import CategoryColumn, Column, NumberColumn
from microveil.report.wording import number, percent, shown
from microveil.schema import Kind
from microveil.text import shortened
from microveil.text.document import Chart

FEWEST_BINS, MOST_BINS, MOST_CATEGORIES, MOST_STEPS = 6, 36, 20, 81
BULK = (0.01, 0.99)
# Where all values take more than this many times the room of the bulk, the axis is logarithmic.
ROOM_BEFORE_BENDING = 5.0
FINEST_BEND = 1e-6
COLOURS = dict(zip(("original", "release"), SERIES["color"], strict=False))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ground:
    """What the charts of a column of numbers have in common."""

    edges: Floats
    step: float | None
    threshold: float | None
    axis: str


def distribution_charts(column: Column) -> list[Chart]:
    """Chart a column: bins or categories, and measured quantiles of a new table with margins."""
    if isinstance(column, CategoryColumn):
        return [_categories_chart(column)]
    sides = _sides(column)
    if not sides:
        return []
    ground = _ground(column, sides)
    charts = [_bins_chart(column, sides, ground)]
    if column.margins is not None and column.margins.quantiles:
        charts.append(_cumulative_chart(column, sides, ground))
    return charts


def bins_of_release(column: NumberColumn) -> tuple[Floats, float]:
    """Return where the bins of a column that has values begin, and half its step beyond."""
    ground = _ground(column, _sides(column))
    return ground.edges[:-1], 0.0 if ground.step is None else ground.step / 2


def _sides(column: NumberColumn) -> dict[str, Floats]:
    """Return the values of each side that has some."""
    return {title: values for title, values in column.sides.items() if len(values)}


def quantiles(values: Floats, levels: Sequence[float]) -> tuple[float, ...]:
    """Return quantiles that are values of the data: the least with that share at or below it."""
    if not len(values):
        return (math.nan,) * len(levels)
    found = np.quantile(values, np.array(levels), method="inverted_cdf")
    return tuple(float(value) for value in found)


def _ground(column: NumberColumn, sides: Mapping[str, Floats]) -> Ground:
    """Choose bins and axis by the first side: the original where there is one."""
    reference = next(iter(sides.values()))
    lower = float(min(values.min() for values in sides.values()))
    upper = float(max(values.max() for values in sides.values()))
    step = 1.0 if column.kind in {Kind.WHOLE, Kind.DATE} else column.step
    threshold = None if column.kind is Kind.DATE else _threshold(reference, lower, upper)
    if step is not None and upper - lower < MOST_BINS * step:
        threshold = None
    most = min(MOST_BINS, max(FEWEST_BINS, math.ceil(2 * len(reference) ** (1 / 3))))
    edges = _edges(lower, upper, step, threshold, most)
    scale: dict[str, Any] = {"domain": [edges[0], edges[-1]], "nice": False, "zero": False}
    # Each label with a prefix of its own: one for all would write 50 as 0M beside a million.
    label = "format(datum.value, '~s')"
    marks: dict[str, Any] = {"labelOverlap": True, "labelExpr": label, "tickCount": 6}
    measure = "quantitative"
    if column.kind is Kind.DATE:
        measure, marks = "temporal", {"labelOverlap": True, "tickCount": 6}
        scale |= {"domain": [_placed(column, edge) for edge in edges[[0, -1]]], "type": "utc"}
    elif threshold is not None:
        scale |= {"type": "symlog", "constant": threshold}
        marks["values"] = _decades(edges[0], edges[-1], threshold)
    axis = {"type": measure, "scale": scale, "title": column.axis_title, "axis": marks}
    # What Vega-Lite says of an axis beside its field.
    written = json.dumps(axis)[1:-1]
    return Ground(edges=edges, step=step, threshold=threshold, axis=written)


def _threshold(reference: Floats, lower: float, upper: float) -> float | None:
    """Return the power of ten up to which a bent axis is straight; None where all of it may be."""
    low, high = quantiles(reference, BULK)
    sizes = np.abs(reference[reference != 0])
    if upper / 2 - lower / 2 <= ROOM_BEFORE_BENDING * (high / 2 - low / 2) or not len(sizes):
        return None
    largest = max(abs(lower), abs(upper))
    least = max(quantiles(sizes, (0.1,))[0], largest * FINEST_BEND)
    return float(10.0 ** math.floor(math.log10(least)))


def _edges(
    lower: float, upper: float, step: float | None, threshold: float | None, most: int
) -> Floats:
    """Return edges of bins: between the values of a grid, so that bins hold equally many."""
    if upper - lower <= 8 * np.spacing(max(abs(lower), abs(upper))):
        margin = max(0.5 * (step or 1.0), 1e-6 * abs(upper))
        return np.array([lower - margin, lower + margin])
    if threshold is not None:
        low, high = (math.copysign(math.log1p(abs(x) / threshold), x) for x in (lower, upper))
        bent = np.linspace(low, high, most + 1)
        edges = np.sign(bent) * threshold * np.expm1(np.abs(bent))
        edges[0], edges[-1] = lower, upper
        if step is None:
            return np.asarray(edges, dtype=np.float64)
        inner = (np.round(edges[1:-1] / step - 0.5) + 0.5) * step
        return np.unique(
            [(round(lower / step) - 0.5) * step, *inner, (round(upper / step) + 0.5) * step]
        )
    if step is None:
        return np.linspace(lower, upper, most + 1)
    count = round((upper - lower) / step) + 1
    few = count <= MOST_BINS
    width = 1 if few else math.ceil(count / most)
    steps = round(lower / step) - 0.5 + width * np.arange(math.ceil(count / width) + 1)
    return np.asarray(step * steps, dtype=np.float64)


def _decades(lower: float, upper: float, threshold: float) -> list[float]:
    """Return 0 and the powers of ten from a threshold on, within a range."""
    sizes = [threshold * 10.0**power for power in range(40)]
    marks = [-size for size in sizes] + [0.0, *sizes]
    return sorted(mark for mark in marks if lower <= mark <= upper)


def _placed(column: NumberColumn, value: float) -> float:
    """Return where a value stands on the axis: days as milliseconds."""
    return round(value * 86_400_000) if column.kind is Kind.DATE else value


def _bins_chart(column: NumberColumn, sides: Mapping[str, Floats], ground: Ground) -> Chart:
    edges, half = ground.edges, 0.0 if ground.step is None else ground.step / 2
    shares = {t: 100 * np.histogram(own, edges)[0] / len(own) for t, own in sides.items()}
    measured = _counted_margins(column, ground)
    bins = [
        {
            "from": _placed(column, low),
            "to": _placed(column, high),
            "values": " to ".join(
                dict.fromkeys(shown(float(x), column.kind) for x in (low + half, high - half))
            ),
            **{end: 100 * own[place] for end, own in measured.items()},
        }
        for place, (low, high) in enumerate(itertools.pairwise(edges))
    ]
    last = {**bins[-1], "from": bins[-1]["to"]}  # where the line of steps ends
    rows = _by_side([*bins, last], {t: [*own, own[-1]] for t, own in shares.items()})
    fullest = [
        f"in {title} the fullest bin holds {percent(float(own.max()) / 100)} % of the records"
        for title, own in shares.items()
    ]
    bent = "" if ground.threshold is None else " The scale is logarithmic."
    said = f"Distribution of {shortened(column.name)}: {'; '.join(fullest)}.{bent}"
    own = {"sides": _coloured(sides), "has_margins": bool(measured), "axis": ground.axis}
    return chart_of("bins", said, rows=rows, **own)


def _by_side(
    places: Sequence[Mapping[str, Any]], shares: Mapping[str, Sequence[float]]
) -> list[dict[str, Any]]:
    """Return a row to each place and side, with the shares of all sides there."""
    return [
        {**place, "side": side, "share": own[at], **{s: v[at] for s, v in shares.items()}}
        for side, own in shares.items()
        for at, place in enumerate(places)
    ]


def _coloured(sides: Iterable[str]) -> dict[str, str]:
    """Return the colour of each side."""
    return {side: COLOURS[side] for side in sides}


def _counted_margins(column: NumberColumn, ground: Ground) -> dict[str, Floats]:
    """Return the margins of noise of counted values, where each has a bin of its own."""
    margins, step = column.margins, ground.step
    # Bins hold shares of the present values, and margins those of all.
    if margins is None or not margins.values or margins.categories or step is None:
        return {}
    if not np.allclose(np.diff(ground.edges), step):
        return {}
    known = dict(margins.values)
    found = [known.get(float(round(edge / step + 0.5) * step)) for edge in ground.edges[:-1]]
    if any(one is None for one in found):
        return {}
    return {end: np.array([getattr(one, end) for one in found]) for end in ("lower", "upper")}


def _cumulative_chart(column: NumberColumn, sides: Mapping[str, Floats], ground: Ground) -> Chart:
    """Chart the distribution functions, and where the original's lies but for the noise."""
    assert column.margins is not None  # noqa: S101 -- it is asked for where there are some
    levels = np.linspace(0, 1, MOST_STEPS)
    rows = [
        {"side": title, "value": _placed(column, value), "share": 100 * level}
        for title, own in sides.items()
        for level, value in zip(levels, quantiles(own, levels.tolist()), strict=True)
    ]
    highest = np.maximum.accumulate([[o.lower, o.upper] for _, o in column.margins.quantiles])
    inside = np.clip(highest, ground.edges[0], ground.edges[-1])
    band = [
        {
            "share": 100 * share,
            "lower": _placed(column, float(lower)),
            "upper": _placed(column, float(upper)),
            "from": shown(own.lower, column.kind),
            "to": shown(own.upper, column.kind),
        }
        for (share, own), (lower, upper) in zip(column.margins.quantiles, inside, strict=True)
    ]
    chance = percent(column.margins.confidence)
    said = (
        f"Distribution function of {shortened(column.name)}, with the {chance} % margin of noise "
        "of its measured quantiles."
    )
    dashes = SERIES["strokeDash"][: len(sides)]
    own = {"sides": _coloured(sides), "dashes": dashes, "axis": ground.axis}
    return chart_of("cumulative", said, rows=rows, band=band, **own)


def _categories_chart(column: CategoryColumn) -> Chart:
    """Chart the shares of the commonest categories."""
    margins = {} if column.margins is None else column.margins.categories
    called, sides = column.categories[:MOST_CATEGORIES], column.sides
    shares = {title: [100 * float(x) for x in own[: len(called)]] for title, own in sides.items()}
    places = [
        {"category": shortened(name, 40)}
        | {end: 100 * getattr(margins[name], end) for end in ("lower", "upper") if name in margins}
        for name in called
    ]
    which, n_all = "categories", len(column.categories)
    if n_all > len(called):
        which = f"the {len(called)} commonest of {n_all} categories"
    said = [f"{title} {number(own[0], 3)} %" for title, own in shares.items() if own]
    commonest = f" The commonest is {shortened(called[0])}: {', '.join(said)}." if called else ""
    return chart_of(
        "categories",
        f"Shares of {which} of {shortened(column.name)}.{commonest}",
        rows=_by_side(places, shares),
        sides=_coloured(sides),
        has_margins=bool(margins),
    )
