"""The room of a picture between its axes: from values to places."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.report.axes import LETTER_WIDTH, Axis
from microveil.report.chart import OPEN_BIN, OPEN_GAP, WIDTH, Bars, Bins, Chart, Rows, room_across
from microveil.report.keys import key_height
from microveil.report.markup import Markup, element, fragment
from microveil.report.shapes import path, text

__all__ = ["LINE_HEIGHT", "Frame", "is_open"]

Float = NDArray[np.float64]
LINE_HEIGHT = 15.0
NO_AXIS = Axis(title="", lower=0.0, upper=1.0, ticks=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The room between two axes.

    Attributes
    ----------
    left, top, width, height : float
        In units of the picture.
    across, upward : Axis
    row : float
        Height of each row, where there are rows.
    n_bars : int
        How many bars stand in a row.
    labels : float
        Where the labels of the axis upward end: beside a bin that is open below, where one is.
    """

    left: float
    top: float
    width: float
    height: float
    across: Axis
    upward: Axis
    row: float
    n_bars: int
    labels: float

    @classmethod
    def of(cls, chart: Chart) -> "Frame":
        """Return the frame of a chart."""
        below, above = is_open(chart)
        left = chart.left + below * (OPEN_BIN + OPEN_GAP)
        width = room_across(chart.left, open_ends=below + above)
        height, row, upward = chart.height, 0.0, chart.upward
        if isinstance(upward, Rows):
            row, height = upward.height, upward.height * len(upward.labels)
            upward = NO_AXIS
        if chart.square:
            left, width = left + (width - height) / 2, height
        return cls(
            left=left,
            top=key_height(chart) if chart.top is None else chart.top,
            width=width,
            height=height,
            across=chart.across,
            upward=upward,
            row=row,
            n_bars=sum(isinstance(series, Bars) for series in chart.series),
            labels=left - below * (OPEN_BIN + OPEN_GAP) - 6,
        )

    @property
    def bottom(self) -> float:
        """Where the axis across lies."""
        return self.top + self.height

    @property
    def below(self) -> float:
        """Where a bin begins that is open below."""
        return self.left - OPEN_GAP - OPEN_BIN

    @property
    def above(self) -> float:
        """Where a bin begins that is open above."""
        return self.right + OPEN_GAP

    @property
    def right(self) -> float:
        """Where the axis across ends."""
        return self.left + self.width

    def xs(self, values: Float) -> Float:
        """Return places along the axis across."""
        return self.across.places(values, self.left, self.right)

    def ys(self, values: Float) -> Float:
        """Return places along the axis upward."""
        return self.upward.places(values, self.bottom, self.top)

    def x(self, value: float) -> float:
        """Return one place along the axis across."""
        return self.across.place(value, self.left, self.right)

    def y(self, value: float) -> float:
        """Return one place along the axis upward."""
        return self.upward.place(value, self.bottom, self.top)

    def middles(self, count: int) -> list[float]:
        """Return the middles of the first rows."""
        return [self.top + self.row * (place + 0.5) for place in range(count)]

    def axes(self) -> Markup:
        """Draw both axes with ticks, labels and names, and faint lines across at the ticks."""
        rows = [(self.y(value), label) for value, label in self.upward.ticks]
        stops = [(self.x(value), label) for value, label in self.across.ticks]
        corner = [(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)]
        return fragment(
            (path([(self.left, y), (self.right, y)], "grid") for y, _ in rows),
            path(corner, "axis"),
            (path([(x, self.bottom), (x, self.bottom + 4)], "axis") for x, _ in stops),
            (text(label, self.labels, y + 4, "end") for y, label in rows),
            (_stop(label, x, self.bottom + 18) for x, label in stops),
            self._names(),
        )

    def _names(self) -> Markup:
        across, middle = self.left + self.width / 2, self.top + self.height / 2
        notes = (self.across.note, self.upward.note and f"upward: {self.upward.note}")
        lines = [self.across.title, *filter(None, notes)]
        upward = element(
            "text",
            self.upward.title,
            class_="middle",
            transform=f"translate(12 {middle:.1f}) rotate(-90)",
        )
        return fragment(
            (
                text(line, across, self.bottom + 36 + LINE_HEIGHT * place, "middle")
                for place, line in enumerate(lines)
            ),
            upward if self.upward.title else None,
        )


def _stop(label: str, x: float, y: float) -> Markup:
    """Write a label under its tick, or up to the edge of the picture where it would pass it."""
    if x + LETTER_WIDTH * len(label) / 2 > WIDTH:
        return text(label, WIDTH, y, "end")
    return text(label, x, y, "middle")


def is_open(chart: Chart) -> tuple[bool, bool]:
    """Say whether bins have no far edge, below and above."""
    bins = [series for series in chart.series if isinstance(series, Bins)]
    return (
        any(series.below is not None for series in bins),
        any(series.above is not None for series in bins),
    )
