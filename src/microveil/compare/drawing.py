"""The risk-utility map as a picture, by matplotlib (the extra `report`)."""

import importlib
import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from microveil.compare.map import Panel, Point, Series, risk_utility_map
from microveil.compare.measures import RISK
from microveil.compare.results import Comparison
from microveil.compare.rows import CONDITIONAL
from microveil.compare.store import written_whole
from microveil.errors import RequestError
from microveil.evaluation.measures import MEASURES

__all__ = ["draw_map", "drawable", "has_matplotlib"]

# Okabe and Ito's colours, told apart by all; marks differ as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
FORMATS = ("svg", "png", "pdf")
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
# Beyond this ratio of largest to smallest loss the axis is logarithmic.
WIDE = 20.0
PANEL_INCHES = (3.4, 2.9)
# Where the names of the least and the largest k stand, so that they seldom meet.
LABELS = (((5, 4), "left"), ((-5, -9), "right"))
TOP = 150
TICKS = (0.001, 0.01, 0.1, 1, 10, 100)
UNDER_CONDITIONS = f"{CONDITIONAL} its epsilon takes something as given: see the answer"
MODEL_WORDS = {"dp": "DP", "idp": "iDP", "k-anonymity": "k-anonymity", "none": "no model"}


def drawable(comparison: Comparison) -> bool:
    """Tell whether there is a map to be drawn, and matplotlib to draw it."""
    linked = RISK in comparison.summary.columns
    return has_matplotlib() and linked and bool(risk_utility_map(comparison))


def has_matplotlib() -> bool:
    """Tell whether matplotlib is installed, without loading it."""
    return importlib.util.find_spec("matplotlib") is not None


def draw_map(comparison: Comparison, path: str | Path, *, risk: str = RISK) -> Path:
    """Draw information loss against a risk: a row of panels for each scope, one for each epsilon.

    Filled marks are on the frontier of means, bars are 95 % intervals over runs, the dotted line is
    blind guessing. All panels have the same axes; that of the risk is even below guessing and
    logarithmic above. Only the file's owner can read it.

    Parameters
    ----------
    comparison : Comparison
    path : str or Path
        Ends in .svg, .png or .pdf.
    risk : str
        See `risk_utility_map`.

    Returns
    -------
    Path

    Raises
    ------
    RequestError
        If there is nothing to draw, no such format or risk, or no matplotlib.
    FileError
        If the file cannot be written.
    """
    target = Path(path)
    kind = target.suffix[1:].lower()
    if kind not in FORMATS:
        raise RequestError(
            f"file '{target.name}'", "the ending says the format", "use .svg, .png or .pdf"
        )
    panels = risk_utility_map(comparison, risk)
    if not panels:
        raise RequestError(
            "map",
            "every cell was refused",
            "see why in the comparison's answer",
        )
    figure = _figure(panels)
    matplotlib = _matplotlib("matplotlib")

    def save(part: Path) -> None:
        # Without a date, and with names that follow from the contents: equal maps, equal files.
        with matplotlib.rc_context({"svg.hashsalt": "microveil"}):
            figure.savefig(part, format=kind, dpi=150, metadata=UNDATED.get(kind))

    written_whole(target, save, private=True)
    return target


def _figure(panels: Sequence[Panel]) -> Any:
    """Lay the panels out; nothing here touches a screen or another figure."""
    figures = _matplotlib("matplotlib.figure")
    scopes = list(dict.fromkeys(panel.scope for panel in panels))
    rows = [[panel for panel in panels if panel.scope == scope] for scope in scopes]
    n_columns = max(len(row) for row in rows)
    width, height = PANEL_INCHES
    figure = figures.Figure(
        figsize=(width * n_columns, height * len(rows) + 0.6), layout="constrained"
    )
    grid = figure.subplots(len(rows), n_columns, sharex=True, sharey=True, squeeze=False)
    names = list(dict.fromkeys(series.name for panel in panels for series in panel.series))
    # With more than seven the colours come again, with other marks.
    look = {
        name: (COLOURS[i % len(COLOURS)], MARKS[(i + i // len(COLOURS)) % len(MARKS)])
        for i, name in enumerate(names)
    }
    for row, places in zip(rows, grid, strict=True):
        for panel, axes in zip(row, places, strict=False):
            _draw_panel(axes, panel, look)
        for axes in places[len(row) :]:
            axes.set_visible(False)
    _share_axes(grid[0][0], panels)
    for row, places in zip(rows, grid, strict=True):
        for axes in places[: len(row)]:
            axes.tick_params(labelbottom=True, labelleft=True)
            axes.set_xlabel("information loss, % of SST")
        places[0].set_ylabel(MEASURES[row[0].risk].title)
    handles: dict[str, Any] = {}
    for axes in grid.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        handles.values(),
        handles,
        loc="outside lower center",
        ncols=min(4, len(handles)),
        frameon=False,
        fontsize=8,
        title="filled marks: on the frontier of means; bars: 95 % intervals over runs"
        + ("\n" + UNDER_CONDITIONS if any(CONDITIONAL in label for label in handles) else ""),
        title_fontsize=8,
    )
    return figure


def _draw_panel(axes: Any, panel: Panel, look: dict[str, tuple[str, str]]) -> None:
    axes.set_title(panel.title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    if panel.chance is not None:
        axes.axhline(panel.chance, linestyle=":", linewidth=1, color="#555555", label="by chance")
    for series in panel.series:
        colour, mark = look[series.name]
        _draw_series(axes, series, panel.scope, colour, mark)


def _draw_series(axes: Any, series: Series, scope: str, colour: str, mark: str) -> None:
    loss, risk = [p.loss for p in series.points], [p.risk for p in series.points]
    axes.plot(loss, risk, linewidth=0.6, alpha=0.5, color=colour)
    axes.errorbar(
        loss,
        risk,
        xerr=_bars((point.loss, point.loss_interval) for point in series.points),
        yerr=_bars((point.risk, point.risk_interval) for point in series.points),
        fmt="none",
        linewidth=0.8,
        color=colour,
    )
    for kept in (False, True):
        some = [point for point in series.points if point.on_frontier is kept]
        axes.plot(
            [point.loss for point in some],
            [point.risk for point in some],
            linestyle="none",
            marker=mark,
            markersize=5,
            color=colour,
            markerfacecolor=colour if kept else "white",
            label=_legend(series, scope) if kept else None,
        )
    for point, (offset, side) in zip(_ends(series.points), LABELS, strict=False):
        axes.annotate(
            f"k {point.k}",
            (point.loss, point.risk),
            offset,
            textcoords="offset points",
            horizontalalignment=side,
            fontsize=7,
        )


def _legend(series: Series, scope: str) -> str:
    # Where rows follow individuals the model is that of the centroids.
    centroids = " of the centroids" if scope in ("vector", "cluster") else ""
    conditional = f" {CONDITIONAL}" if series.conditions else ""
    return f"{series.name} ({MODEL_WORDS[series.model]}{centroids}){conditional}"


def _ends(points: Sequence[Point]) -> list[Point]:
    """Return the points of the least and the largest k, which show which way k grows."""
    sized = [point for point in points if point.k is not None]
    return [sized[0], sized[-1]] if len(sized) > 1 else sized


def _bars(
    points: Iterable[tuple[float, tuple[float, float] | None]],
) -> list[list[float]]:
    """Return lengths of the intervals below and above their means."""
    lengths = [
        (0.0, 0.0) if interval is None else (mean - interval[0], interval[1] - mean)
        for mean, interval in points
    ]
    return [[below for below, _ in lengths], [above for _, above in lengths]]


def _share_axes(axes: Any, panels: Sequence[Panel]) -> None:
    points = [p for panel in panels for series in panel.series for p in series.points]
    losses = [point.loss for point in points]
    if min(losses) > 0 and max(losses) > WIDE * min(losses):
        axes.set_xscale("log")
    else:
        axes.set_xlim(left=0)
    chances = [panel.chance for panel in panels if panel.chance]
    if chances:
        # Even below guessing, logarithmic above: what tells releases apart is often small.
        axes.set_yscale("symlog", linthresh=max(chances), linscale=0.5)
        axes.set_yticks([0, *(tick for tick in TICKS if tick > max(chances))])
        axes.yaxis.set_major_formatter("{x:g}")
    # A little above 100 %, so that marks there are whole.
    axes.set_ylim(0, TOP)


def _matplotlib(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise RequestError(
            "map", "drawing needs matplotlib", "pip install 'microveil[report]'"
        ) from None
