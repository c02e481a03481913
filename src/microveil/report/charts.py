"""Charts of a whole release: how its columns and their pairs moved, and what is found again."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from numpy.typing import NDArray

from microveil.measures.base import Figure
from microveil.measures.column_moves import MARKED, ColumnMove, worst_first
from microveil.measures.distributions import TOTAL_VARIATION
from microveil.report.drawing import SERIES
from microveil.report.wording import NOTHING, number, percent
from microveil.text import shortened
from microveil.text.document import Chart
from microveil.text.figures import figure, signed_percent

Row = dict[str, Any]
MOST_COLUMNS = 40
MOST_WRITTEN = 9  # columns whose pairs have room for their figures
BEYOND, WITHIN, UNKNOWN = "farther than by sampling", "no farther", "sampling not known"
LOOKS = {
    BEYOND: ("diamond", "var(--protected)"),
    WITHIN: ("circle", "var(--quiet)"),
    UNKNOWN: ("cross", "var(--quiet)"),
}
LOOKS_OF_SIDES = [("circle", SERIES["color"][0]), ("square", SERIES["color"][1])]
DRAWN_FROM = 0.05  # percent: a smaller share of the records is in no circle


@cache
def _specs() -> Environment:
    loader = PackageLoader("microveil.report")
    environment = Environment(  # noqa: S701 -- JSON, into which values are written as such
        loader=loader, lstrip_blocks=True, trim_blocks=True, undefined=StrictUndefined
    )
    environment.policies["json.dumps_kwargs"] = {}  # in the order of the data
    return environment


def chart_of(template: str, says: str, **values: Any) -> Chart:
    """Make a chart of a template: what Vega-Lite is to draw, in colours of CSS."""
    written = _specs().get_template(f"charts/{template}.json").render(values)
    return Chart(json.loads(written), says)


def columns_chart(moves: Mapping[str, ColumnMove], by_sampling: Mapping[str, float]) -> Chart:
    """Chart how far each distribution moved, beside what sampling does 95 % of the time."""
    worst = worst_first(moves)[:MOST_COLUMNS]
    rows = [_row(name, moves[name], by_sampling.get(name)) for name in worst]
    present = {row["beyond"] for row in rows}
    return chart_of(
        "columns",
        _columns_in_words(rows, len(moves)),
        rows=rows,
        order=[shortened(name) for name in worst],
        looks={name: look for name, look in LOOKS.items() if name in present},
    )


def _row(name: str, move: ColumnMove, sampling: float | None) -> Row:
    beyond = UNKNOWN if sampling is None else BEYOND if move.distance > sampling else WITHIN
    value = "zeros" if move.is_zero else "commonest"
    points = signed_percent(move.share_change).replace("%", "points")
    said = {
        "mean": (abs(move.mean_change), _change("mean", move.mean, move)),
        "spread": (abs(move.spread_change), _change("spread", move.spread, move)),
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


def _change(what: str, sides: tuple[float, float] | None, move: ColumnMove) -> str:
    if sides is None:
        return NOTHING
    before, after = sides
    if what == "mean" and move.is_date:
        return f"mean {round(after - before):+,} days"
    if not before:
        return f"{what} {figure(before)} to {figure(after)}"
    return f"{what} {signed_percent((after - before) / abs(before))}"


def _columns_in_words(rows: Sequence[Mapping[str, Any]], n_columns: int) -> str:
    if not rows:
        return "No column could be compared."
    farthest = sorted(rows, key=lambda row: -row["distance"])[:3]
    worst = ", ".join(f"{row['column']} {number(row['distance'], 3)}" for row in farthest)
    beyond = sum(row["beyond"] == BEYOND for row in rows)
    return (
        f"Distances of the distributions of {n_columns} columns from 0, alike, to 1, apart. "
        f"The largest: {worst}. {beyond} are farther than sampling alone would explain."
    )


def pairs_chart(columns: Sequence[str], moved: NDArray[np.float64]) -> Chart:
    """Chart the total variation of each pair of columns, original to release, as shades."""
    short = [shortened(name, 22) for name in columns[:MOST_COLUMNS]]
    values: list[Row] = [
        {"one": one, "other": short[column], "moved": float(moved[row, column])}
        for row, one in enumerate(short)
        for column in range(row)
    ]
    said = f"Total variation of {len(values)} pairs of columns, 0 alike to 1 apart."
    if values:
        worst = max(values, key=lambda one: one["moved"])
        largest = number(worst["moved"], 3)
        said += f" The largest: {worst['one']} and {worst['other']} with {largest}."
    is_written = len(short) <= MOST_WRITTEN
    return chart_of(
        "pairs",
        said,
        values=values,
        columns=short,
        is_written=is_written,
        step=34 if is_written else max(10, min(22, 300 // len(short))),
        moved=TOTAL_VARIATION.label,
    )


def found_chart(name: str, found: Figure, title: str, *, most: float | None = 100.0) -> Chart:
    """Chart what was found, its interval as a line, and beside it what is to be expected."""
    low, high = found.interval or (found.value, found.value)
    chance, said = found.beside, number(found.value, 3)
    row = {"name": name, "found": found.value, "low": low, "high": high, "chance": chance}
    row |= {"end": max(found.value, high, chance or 0.0), "said": said}
    beside = "" if chance is None else f", beside {number(chance, 3)}"
    return chart_of(
        "found",
        f"{title}. {name}: {said}{beside}.",
        row=row,
        name=name,
        title=title,
        most=max(high, chance or high) if most is None else most,
        is_nice=most is None,
    )


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
    own = next(iter(shares.values()))
    a, b = map(int, np.unravel_index(int(np.argmax(own)), own.shape))
    cell = shortened(f"{levels[0][a]} and {levels[1][b]}", 60)
    said = f"Records by {one} and {other}. The fullest cell is {cell} with {percent(own.max())} %."
    if len(shares) > 1:
        gap = float(np.abs(np.subtract(*shares.values())).sum() / 2)
        said += f" The total variation between the sides is {percent(gap)} %."
    # The last is the release, whichever others there are.
    looks = dict(zip(shares, LOOKS_OF_SIDES[-len(shares) :], strict=True))
    sides = {"one": one, "other": other, "across": across, "upward": upward}
    return chart_of("cells", said, rows=rows, looks=looks, **sides)
