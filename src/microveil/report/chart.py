"""Charts as values: what is drawn, in the units of the data, and in which words.

A chart is series on two axes. Each page makes its charts; `svg` renders them, all in one manner:
what series are there is the vocabulary of every picture of this project.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from microveil.report.axes import Axis

__all__ = [
    "LEFT",
    "OPEN_GAP",
    "Bars",
    "Bins",
    "Chart",
    "Discs",
    "Dots",
    "Level",
    "Line",
    "Look",
    "Mark",
    "Marks",
    "Panel",
    "Ranges",
    "Rows",
    "Series",
    "Side",
    "Spread",
    "Steps",
    "Ticks",
    "room_across",
]

Float = NDArray[np.float64]
Side: TypeAlias = Literal["original", "protected"]
# A side of a release, or the place of a method among all that the page draws.
Look: TypeAlias = Side | int

# Units of a picture, which is 360 wide.
WIDTH = 360.0
LEFT, RIGHT = 48.0, 22.0
OPEN_BIN, OPEN_GAP = 14.0, 8.0
LARGEST_DISC = 11.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A value with its interval; a mean over runs, for example.

    Attributes
    ----------
    value, lower, upper : float
        lower <= value <= upper.
    """

    value: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bins:
    """A histogram: one outline over all of its bins.

    Attributes
    ----------
    name : str
    look : Side
    edges : float64 array (n_bins + 1,)
    shares : float64 array (n_bins,)
    below, above : float or None
        Shares beyond the edges, in a bin without a far edge at either end.
    """

    name: str
    look: Side
    edges: Float
    shares: Float
    below: float | None = None
    above: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Steps:
    """A function that changes at some places and is level between them, up to the right end.

    Attributes
    ----------
    name : str or None
        None has no entry in the key.
    look : Side or None
        None is a thin line.
    xs, ys : float64 arrays (n_steps,)
        Where it changes, and to what.
    start : float
        Its value before the first step.
    """

    name: str | None
    look: Side | None
    xs: Float
    ys: Float
    start: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A thin straight line from point to point; without a name it has no entry in the key."""

    name: str | None
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A value that others are held against: a line across.

    Attributes
    ----------
    name : str
    value : float
    dashed : bool
    beside : bool
        Whether its name stands at the line, not in the key.
    """

    name: str
    value: float
    dashed: bool
    beside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dots:
    """Many points, each a dot."""

    name: str
    look: Side
    xs: Float
    ys: Float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Discs:
    """Points with sizes: the area of each disc is in proportion to its size.

    Attributes
    ----------
    name : str
    look : Side
    xs, ys, sizes : float64 arrays (n_discs,)
    most : float or None
        The size of the largest disc that there may be; by default of the largest there is.
    radius : float
        Of that disc.
    """

    name: str
    look: Side
    xs: Float
    ys: Float
    sizes: Float
    most: float | None = None
    radius: float = LARGEST_DISC


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A point of a method, with its intervals.

    Attributes
    ----------
    x : Spread, float or None
        None where the method has no use for what is measured across: in the middle.
    y : Spread
    full : bool
        Filled, or an outline.
    """

    x: Spread | float | None
    y: Spread
    full: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """The points of one method: marks of a shape and a colour of its own, with intervals.

    Attributes
    ----------
    name : str
    look : int
    marks : tuple of Mark
    joined : bool
        By lines that lead the eye; a method of one mark in the middle has a line all across.
    """

    name: str
    look: int
    marks: tuple[Mark, ...]
    joined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A bar from 0 in each row."""

    name: str
    look: Side
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """A value with its interval in each row."""

    name: str
    look: Side
    spreads: tuple[Spread, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticks:
    """A value in each row that another is held against."""

    name: str
    look: Side
    values: tuple[float, ...]


Series: TypeAlias = Bins | Steps | Line | Level | Dots | Discs | Marks | Bars | Ranges | Ticks


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Names in place of an axis upward: a row to each, from the top.

    Attributes
    ----------
    labels : tuple of str
    height : float
        Of each row.
    """

    labels: tuple[str, ...]
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What one picture shows.

    Attributes
    ----------
    title, description : str
        Read aloud in place of the picture.
    across : Axis
    upward : Axis or Rows
    series : tuple of Series
        Those drawn over others last; the key has their names in this order.
    height : float
        Of the room between the axes; of rows it is theirs.
    left : float
        Room for the labels of what is upward.
    top : float or None
        Room for the key; by default what it needs.
    below : float or None
        Room for the labels of the axis across; by default what they need.
    square : bool
        Whether both axes are of one length.
    """

    title: str
    description: str
    across: Axis
    upward: Axis | Rows
    series: tuple[Series, ...]
    height: float = 0.0
    left: float = LEFT
    top: float | None = None
    below: float | None = None
    square: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A chart among others of its kind.

    Attributes
    ----------
    row : str
        Panels of one row follow each other, and are drawn beside each other.
    caption : str
    chart : Chart
    """

    row: str
    caption: str
    chart: Chart


def room_across(left: float = LEFT, *, open_ends: int = 0) -> float:
    """Return how long the axis across is, beside bins that are open at some ends.

    >>> room_across(), room_across(open_ends=1)
    (290.0, 268.0)
    """
    return WIDTH - left - RIGHT - open_ends * (OPEN_BIN + OPEN_GAP)
