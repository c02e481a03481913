"""What every picture has: a frame with two axes, and words for those who do not see it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.report.axes import LETTER_WIDTH, Axis
from microveil.report.markup import Child, Markup, element, fragment

__all__ = ["LEGEND_HEIGHT", "WIDTH", "Frame", "legend", "path", "picture", "stairs"]

Float = NDArray[np.float64]
WIDTH = 360.0
LEGEND_HEIGHT = 22.0
SWATCH = 22.0


def picture(
    identifier: str, title: str, description: str, height: float, *content: Child
) -> Markup:
    """Draw a picture 360 wide that says in words what it shows.

    Parameters
    ----------
    identifier : str
        Its own on the page, without spaces.
    title, description : str
        Read aloud in place of the picture.
    height : float
    *content : Markup, None, or an iterable of these
    """
    return element(
        "svg",
        element("title", title, id=f"{identifier}-t"),
        element("desc", description, id=f"{identifier}-d"),
        *content,
        role="img",
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        aria_labelledby=f"{identifier}-t {identifier}-d",
    )


def path(points: Iterable[Sequence[float]], class_: str, *, closed: bool = False) -> Markup:
    """Draw a line through points."""
    placed = "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
    return element("path", d=f"M{placed}{'Z' if closed else ''}", class_=class_)


def stairs(
    xs: Float, ys: Float, start: float, class_: str | None, identifier: str | None = None
) -> Markup:
    """Draw a line that goes up or down to each height at its place, and level to the next.

    Parameters
    ----------
    xs, ys : float64 arrays (n_steps,)
        Places and heights in the picture.
    start : float
        The height before the first step.
    class_ : str or None
    identifier : str, optional
        For a line that is drawn where it is referred to.
    """
    turns = "".join(f"V{_short(y)}H{_short(x)}" for y, x in zip(ys[:-1], xs[1:], strict=True))
    line = f"M{_short(xs[0])} {_short(start)}{turns}V{_short(ys[-1])}"
    return element("path", d=line, class_=class_, id=identifier)


def _short(length: float) -> str:
    return f"{length:.1f}".removesuffix(".0")


def legend(entries: Sequence[tuple[str, str]], left: float) -> Markup:
    """Draw a key above the frame: a swatch of each class, and its name beside it."""
    drawn, x = [], left
    for class_, name in entries:
        drawn.append(_swatch(class_, x))
        drawn.append(element("text", name, x=x + SWATCH + 5, y=14.0))
        x += SWATCH + 5 + LETTER_WIDTH * len(name) + 16
    return fragment(*drawn)


def _swatch(class_: str, x: float) -> Markup:
    if "dot" in class_:
        return element("circle", cx=x + SWATCH / 2, cy=10.0, r=3.0, class_=class_)
    if "bubble" in class_:
        return element("circle", cx=x + SWATCH / 2, cy=10.0, r=5.0, class_=class_)
    if "line" in class_:
        return path([(x, 10), (x + SWATCH, 10)], class_)
    return element("rect", x=x, y=4.0, width=SWATCH, height=11.0, class_=class_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The room between two axes.

    Attributes
    ----------
    left, top, width, height : float
        In units of the picture.
    across, upward : Axis
    """

    left: float
    top: float
    width: float
    height: float
    across: Axis
    upward: Axis

    @property
    def bottom(self) -> float:
        """Where the axis across lies."""
        return self.top + self.height

    def xs(self, values: Float) -> Float:
        """Return places along the axis across."""
        return self.across.places(values, self.left, self.left + self.width)

    def ys(self, values: Float) -> Float:
        """Return places along the axis upward."""
        return self.upward.places(values, self.bottom, self.top)

    def x(self, value: float) -> float:
        """Return one place along the axis across."""
        return self.across.place(value, self.left, self.left + self.width)

    def y(self, value: float) -> float:
        """Return one place along the axis upward."""
        return self.upward.place(value, self.bottom, self.top)

    def axes(self) -> Markup:
        """Draw both axes with ticks, labels and names, and faint lines across at the ticks."""
        right = self.left + self.width
        rows = [(self.y(value), label) for value, label in self.upward.ticks]
        stops = [(self.x(value), label) for value, label in self.across.ticks]
        return fragment(
            (path([(self.left, y), (right, y)], "grid") for y, _ in rows),
            path([(self.left, self.top), (self.left, self.bottom), (right, self.bottom)], "axis"),
            (path([(x, self.bottom), (x, self.bottom + 4)], "axis") for x, _ in stops),
            (_text(label, self.left - 6, y + 4, "end") for y, label in rows),
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
                _text(line, across, self.bottom + 36 + 15 * place, "middle")
                for place, line in enumerate(lines)
            ),
            upward if self.upward.title else None,
        )


def _stop(label: str, x: float, y: float) -> Markup:
    """Write a label under its tick, or up to the edge of the picture where it would pass it."""
    if x + LETTER_WIDTH * len(label) / 2 > WIDTH:
        return _text(label, WIDTH, y, "end")
    return _text(label, x, y, "middle")


def _text(words: str, x: float, y: float, class_: str) -> Markup:
    return element("text", words, x=x, y=y, class_=class_)
