"""Figures by matplotlib: files of SVG and PNG, and charts for the page.

One drawing serves both. On the page every chart stands alone, so that it fits a telephone,
and its colours are exchanged for those of the reader's light or dark scheme.
"""

import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from markupsafe import Markup

from microveil.files.disk import written_whole
from microveil_papers.paper import Chart, Figure, Series

__all__ = ["chart_markup", "draw_figure"]

# Those of microveil's pages, which have a lighter set for the dark.
COLOURS = ("#0072b2", "#d55e00", "#007a5a", "#a8478a", "#8a6100", "#000099", "#9955ff", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)))
INK, FAINT = "#1a1c1f", "#dcdfe3"
CHART_INCHES, MARGIN_INCHES = (4.4, 3.3), 0.1
# Beyond so many points a cloud is drawn without outlines.
MANY = 200


def draw_figure(figure: Figure, folder: Path) -> tuple[Path, Path]:
    """Write a figure as SVG and as PNG, each whole or not at all.

    Parameters
    ----------
    figure : Figure
    folder : Path

    Returns
    -------
    tuple of Path
    """
    paths = folder / f"{figure.identifier}.svg", folder / f"{figure.identifier}.png"
    n_columns = max(len(row) for row in figure.charts)
    with _settings(figure.identifier):
        drawn = _canvas(n_columns, len(figure.charts), room=0.9)
        grid = drawn.subplots(len(figure.charts), n_columns, squeeze=False)
        looks = _looks([chart for row in figure.charts for chart in row])
        for row, places in zip(figure.charts, grid, strict=True):
            for chart, axes in zip(row, places, strict=False):
                _draw(axes, chart, looks)
            for axes in places[len(row) :]:
                axes.set_visible(False)
        drawn.suptitle(figure.title, fontsize=11, color=INK)
        _legend(drawn, grid.flat)
        for path in paths:
            written_whole(path, partial(_save, drawn, path.suffix[1:]))
    return paths


def _save(drawn: Any, kind: str, part: Path) -> None:
    drawn.savefig(part, format=kind, dpi=150, facecolor="white", metadata=_undated(kind))


def chart_markup(identifier: str, chart: Chart, among: Sequence[Chart]) -> Markup:
    """Draw one chart for the page.

    Parameters
    ----------
    identifier : str
        Its own on the page, without spaces.
    chart : Chart
    among : sequence of Chart
        Those of the same figure: a name looks alike in all of them.
    """
    with _settings(identifier):
        drawn = _canvas(1, 1, room=0.55)
        axes = drawn.subplots()
        _draw(axes, chart, _looks(among))
        axes.set_title("")
        _legend(drawn, [axes])
        written = io.StringIO()
        drawn.savefig(written, format="svg", transparent=True, metadata=_undated("svg"))
    return _inlined(written.getvalue(), identifier, chart)


def _inlined(svg: str, identifier: str, chart: Chart) -> Markup:
    """Make a picture of a file part of a page: names of its own, and the page's colours."""
    box = re.search(r'viewBox="([^"]+)"', svg)
    content = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    content = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", content, flags=re.DOTALL)
    content = re.sub(r'id="', f'id="{identifier}-', content)
    content = re.sub(r'(href="#|url\(#)', rf"\g<1>{identifier}-", content)
    content = content.replace("xlink:href", "href")
    exchanged = {c: f"var(--s{place})" for place, c in enumerate(COLOURS)}
    exchanged |= {INK: "var(--text)", FAINT: "var(--faint)", "#ffffff": "var(--page)"}
    content = re.sub(r"#[0-9a-f]{6}\b", lambda found: exchanged.get(found[0], found[0]), content)
    drawn = Markup(content)  # noqa: S704 -- matplotlib escapes names
    return Markup(
        '<svg role="img" viewBox="{0}" aria-labelledby="{1}-t {1}-d"><title id="{1}-t">{2}</title>'
        '<desc id="{1}-d">{3}</desc>{4}</svg>'
    ).format(
        "0 0 100 100" if box is None else box[1],
        identifier,
        chart.title,
        chart.description or _description(chart),
        drawn,
    )


def _description(chart: Chart) -> str:
    """Say in words from where to where each series goes."""
    sentences = [f"{chart.y_title} against {chart.x_title}."]
    for series in chart.series:
        finite = [y for y in series.y if math.isfinite(y)]
        if not finite:
            continue
        if series.mark == "level":
            sentences.append(f"{series.name}: {finite[0]:.3g} throughout.")
        elif series.mark == "line":
            sentences.append(
                f"{series.name}: {finite[0]:.3g} at first, {finite[-1]:.3g} at last, "
                f"{min(finite):.3g} at least."
            )
    return " ".join(sentences)


def _looks(charts: Sequence[Chart]) -> dict[str, int]:
    names = dict.fromkeys(series.name for chart in charts for series in chart.series)
    return {name: place % len(COLOURS) for place, name in enumerate(names)}


def _canvas(n_columns: int, n_rows: int, *, room: float) -> Any:
    width, height = CHART_INCHES
    drawn = import_module("matplotlib.figure").Figure(
        figsize=(width * n_columns, height * n_rows + room), layout="constrained"
    )
    # Browsers set letters a little wider than they were measured.
    drawn.get_layout_engine().set(w_pad=MARGIN_INCHES)
    return drawn


def _draw(axes: Any, chart: Chart, looks: dict[str, int]) -> None:
    axes.set_title(chart.title, fontsize=9.5, color=INK)
    axes.set_xlabel(chart.x_title)
    axes.set_ylabel(chart.y_title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color=FAINT, linewidth=0.6)
    axes.set_axisbelow(b=True)
    for series in chart.series:
        _draw_series(axes, series, looks[series.name])
    if chart.logarithmic_across:
        axes.set_xscale("log")
    if chart.logarithmic:
        axes.set_yscale("log")
    elif chart.from_zero:
        axes.set_ylim(bottom=0)


def _draw_series(axes: Any, series: Series, look: int) -> None:
    colour, mark, dashes = COLOURS[look], MARKS[look], DASHES[look]
    line = {"color": colour, "label": series.name, "linewidth": 1.5}
    if series.mark == "level":
        axes.axhline(series.y[0], linestyle=dashes, **line)
        if series.low is not None and series.high is not None:
            axes.axhspan(series.low[0], series.high[0], color=colour, alpha=0.15, linewidth=0)
    elif series.mark == "steps":
        axes.stairs(series.y, series.x, linestyle=dashes, **line)
    elif series.mark == "points":
        size = 2.0 if len(series.x) > MANY else 4.0
        axes.plot(
            series.x, series.y, linestyle="none", marker=mark, markersize=size, color=colour,
            label=series.name, markeredgewidth=0,
        )  # fmt: skip
    else:
        axes.plot(
            series.x, series.y, linestyle=dashes, marker=mark, markersize=4, markeredgewidth=0,
            **line,
        )  # fmt: skip
        if series.low is not None and series.high is not None:
            axes.vlines(series.x, series.low, series.high, color=colour, linewidth=1)


def _legend(drawn: Any, places: Any) -> None:
    handles: dict[str, Any] = {}
    for axes in places:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    # A name of the longest kind must fit its column: in inches, at this size of letters.
    column = max(1.6, 0.55 + 0.06 * max(map(len, handles), default=0))
    drawn.legend(
        handles.values(), handles, loc="outside lower center", frameon=False, fontsize=8,
        ncols=max(1, min(len(handles), int(drawn.get_figwidth() // column))), labelcolor=INK,
    )  # fmt: skip


@contextmanager
def _settings(salt: str) -> Iterator[None]:
    """Set what matplotlib only takes as settings, and leave no trace of it."""
    chosen = {
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "font.size": 8.5,
        "font.family": "sans-serif",
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "text.color": INK,
    }
    with import_module("matplotlib").rc_context(chosen):
        yield


def _undated(kind: str) -> dict[str, str | None]:
    """Leave out the date, so that equal numbers make equal files."""
    return {"Date": None} if kind == "svg" else {}
