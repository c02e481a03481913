"""The risk-utility map of a comparison: panels of a page, and a picture in a file."""

import textwrap
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

from microveil.compare import Comparison, risk_utility_map
from microveil.compare.measures import loss_of
from microveil.compare.pareto import unlinked_words
from microveil.compare.rows import CONDITIONAL
from microveil.compare.store import written_whole
from microveil.errors import RequestError, stands_alone
from microveil.measures.registry import MEASURES
from microveil.report.axes import LETTER_WIDTH
from microveil.report.chart import WIDTH, Panel, Spread
from microveil.report.colours import in_light
from microveil.report.configurations import MODEL_WORDS, groups_of
from microveil.report.markup import Markup, element, fragment
from microveil.report.risk_utility import MapPoint, map_panels
from microveil.report.shapes import text
from microveil.report.svg import height_of, picture, with_room_for_keys

__all__ = ["NOBODYS", "comparison_panels", "draw_map", "drawable"]

MARGIN, GAP, CAPTION, LINE = 16.0, 24.0, 22.0, 17.0
FONT = "system-ui, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"
HOW_TO_READ = "Filled marks are Pareto-optimal by means; bars are 95 % intervals over runs."
NOBODYS = (
    "At 0 by what linkage is, and not by a measurement: {methods}. Rows of these follow nobody, "
    "and there is no record of theirs to be found again."
)
CENTROIDS = "Where rows follow individuals a model is that of the centroids."
CONDITIONS = f"{CONDITIONAL} its epsilon takes something as given: see the answer."


def comparison_panels(comparison: Comparison, risk: str) -> tuple[Panel, ...]:
    """Chart the map of a comparison, a panel to each scope and epsilon.

    Parameters
    ----------
    comparison : Comparison
    risk : str
        See `risk_utility_map`.

    Returns
    -------
    tuple of Panel
        Empty where no configuration has both a finite loss and a risk.
    """
    rows = [row for group in groups_of(comparison) for row in group.rows]
    named = {row["configuration"]: row["named"] for row in rows}
    panels = risk_utility_map(comparison, risk)
    points = [
        MapPoint(
            panel=panel.title,
            method=named[point.configuration],
            label="" if point.k is None else f"k {point.k}",
            loss=_spread(point.loss, point.loss_interval),
            risk=_spread(point.risk, point.risk_interval),
            on_frontier=point.on_frontier,
            row=panel.scope,
        )
        for panel in panels
        for series in panel.series
        for point in series.points
    ]
    finite = [point for point in points if point.loss.upper < float("inf")]
    if not finite:
        return ()
    return map_panels(
        finite,
        loss_title=loss_of(comparison.summary).title,
        risk_title=MEASURES[risk].title,
        chance=max((p.chance for p in panels if p.chance is not None), default=None),
        methods=tuple(dict.fromkeys(row["named"] for row in rows)),
    )


def _spread(value: float, interval: tuple[float, float] | None) -> Spread:
    lower, upper = (value, value) if interval is None else interval
    return Spread(value=value, lower=lower, upper=upper)


def drawable(comparison: Comparison, risk: str = "record_linkage_standardised") -> bool:
    """Say whether there is a map to be drawn."""
    measured = risk in comparison.summary.columns
    return measured and bool(comparison_panels(comparison, risk))


@stands_alone
def draw_map(
    comparison: Comparison, path: str | Path, *, risk: str = "record_linkage_standardised"
) -> Path:
    """Draw loss against a risk: a row of panels for each scope, one for each epsilon.

    The panels are those of the page. Equal comparisons give equal files. Only the file's owner
    can read it.

    Parameters
    ----------
    comparison : Comparison
    path : str or Path
        Ends in .svg.
    risk : str
        See `risk_utility_map`.

    Returns
    -------
    Path

    Raises
    ------
    RequestError
        If there is nothing to draw, or no such format or risk.
    FileError
        If the file cannot be written.
    """
    target = Path(path)
    if target.suffix.lower() != ".svg":
        raise RequestError(
            f"file '{target.name}'", "a map is drawn as SVG", "let its name end in .svg"
        )
    panels = comparison_panels(comparison, risk)
    if not panels:
        raise RequestError(
            "map",
            "no configuration has both a finite loss and a risk",
            "see why in the comparison's answer",
        )
    loss = loss_of(comparison.summary).label
    title = f"Risk-utility map: share of records linked against {loss}"
    drawn = _sheet(panels, title, (f"Risk: {MEASURES[risk].label}.", *_notes(comparison, risk)))

    def save(part: Path) -> None:
        part.write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{drawn}\n', encoding="utf-8")

    written_whole(target, save, private=True)
    return target


def _notes(comparison: Comparison, risk: str) -> Iterator[str]:
    """Say how the map is read, and which model each method keeps."""
    yield HOW_TO_READ
    rows = [row for group in groups_of(comparison) for row in group.rows]
    of_model = {
        words: dict.fromkeys(row["named"] for row in rows if row["model"] == model)
        for model, words in MODEL_WORDS.items()
    }
    shown = (f"{words} for {', '.join(names)}" for words, names in of_model.items() if names)
    yield f"Models: {'; '.join(shown)}."
    if nobodys := list(dict.fromkeys(row["named"] for row in rows if row["is_synthetic"])):
        yield NOBODYS.format(methods=", ".join(nobodys))
    if unlinked := unlinked_words(comparison.summary, risk):
        yield unlinked
    if any(row["scope"] in ("vector", "cluster") for row in rows):
        yield CENTROIDS
    if any(CONDITIONAL in row["named"] for row in rows):
        yield CONDITIONS


def _sheet(panels: Sequence[Panel], title: str, notes: Sequence[str]) -> Markup:
    """Lay panels out in rows, those of one row beside each other, with notes below."""
    placed, rows = [], list(dict.fromkeys(panel.row for panel in panels))
    top, most = MARGIN, 0
    for row in rows:
        own = [panel for panel in with_room_for_keys(panels) if panel.row == row]
        for place, panel in enumerate(own):
            x = MARGIN + place * (WIDTH + GAP)
            placed += [
                text(panel.caption, x, top + LINE, "caption"),
                picture(
                    f"map-{rows.index(row)}-{place}", panel.chart,
                    x=x, y=top + CAPTION, width=WIDTH, height=height_of(panel.chart),
                ),
            ]  # fmt: skip
        top += CAPTION + max(height_of(panel.chart) for panel in own) + GAP
        most = max(most, len(own))
    width = 2 * MARGIN + most * (WIDTH + GAP) - GAP
    letters = int((width - 2 * MARGIN) / LETTER_WIDTH)
    lines = [line for note in notes for line in textwrap.wrap(note, letters)]
    height = top + LINE * len(lines) + MARGIN
    rules = resources.files("microveil.report").joinpath("chart.css").read_text(encoding="utf-8")
    return element(
        "svg",
        element("title", title, id="map-t"),
        Markup(f"<style>{in_light(rules)}</style>"),
        element("rect", width=width, height=height, class_="sheet"),
        fragment(placed),
        (text(line, MARGIN, top + LINE * (n + 0.5)) for n, line in enumerate(lines)),
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=f"0 0 {width:g} {height:g}",
        font_family=FONT,
        role="group",
        aria_labelledby="map-t",
    )  # fmt: skip
