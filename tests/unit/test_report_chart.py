"""Charts as values, and the one renderer of them."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from microveil.report.axes import LETTER_WIDTH, Axis
from microveil.report.chart import (
    WIDTH,
    Bars,
    Bins,
    Chart,
    Discs,
    Dots,
    Level,
    Line,
    Mark,
    Marks,
    Panel,
    Ranges,
    Rows,
    Spread,
    Steps,
    Ticks,
)
from microveil.report.svg import height_of, in_rows, picture, with_room_for_keys

AXIS = Axis(title="x, %", lower=0.0, upper=100.0, ticks=((0.0, "0"), (100.0, "100")))
HALF = np.array([25.0, 50.0])
EDGES = np.array([0.0, 50.0, 100.0])
SPREAD = Spread(value=50.0, lower=25.0, upper=75.0)
ROWS = Rows(labels=("one", "two"), height=30.0)
POINT = Mark(x=SPREAD, y=SPREAD)
ON_AXES = {
    "bins": Bins(name="s", look="original", edges=EDGES, shares=HALF),
    "steps": Steps(name="s", look="protected", xs=HALF, ys=HALF, start=0.0),
    "line": Line(name="s", points=((0.0, 0.0), (100.0, 100.0))),
    "level": Level(name="s", value=50.0, dashed=True),
    "dots": Dots(name="s", look="protected", xs=HALF, ys=HALF),
    "discs": Discs(name="s", look="protected", xs=HALF, ys=HALF, sizes=HALF),
    "marks": Marks(name="s", look=3, marks=(POINT,)),
}
IN_ROWS = {
    "bars": Bars(name="s", look="original", values=(25.0, 50.0)),
    "ranges": Ranges(name="s", look="protected", spreads=(SPREAD, SPREAD)),
    "ticks": Ticks(name="s", look="original", values=(25.0, 50.0)),
}


def chart(*series, upward=AXIS, **more):
    return Chart(
        title="Title", description="Words.", across=AXIS, upward=upward, series=series, height=100,
        **more,
    )  # fmt: skip


def drawn(one):
    return ElementTree.fromstring(picture("p", one))  # noqa: S314 -- our own text


def shapes(root):
    """Return what is drawn, without words."""
    kinds = ("path", "rect", "circle", "use")
    return [ElementTree.tostring(node) for node in root.iter() if node.tag in kinds]


@pytest.mark.parametrize("kind", [*ON_AXES, *IN_ROWS])
def test_every_kind_of_series_is_drawn_and_named_in_the_key(kind):
    """With the series there is more than axes, its name stands above the frame, words are said."""
    series = (ON_AXES | IN_ROWS)[kind]
    upward = AXIS if kind in ON_AXES else ROWS
    with_it, bare = drawn(chart(series, upward=upward)), drawn(chart(upward=upward))
    assert len(shapes(with_it)) >= len(shapes(bare)) + 2
    (name,) = [node for node in with_it.iter("text") if node.text == "s"]
    assert float(name.get("y")) < 26
    title, description = list(with_it)[:2]
    assert (title.text, description.text) == ("Title", "Words.")
    assert with_it.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert with_it.get("role") == "img"


def test_intervals_reach_from_end_to_end():
    """The bars of a mark and of a row lie at the ends of their spreads."""
    root = drawn(chart(ON_AXES["marks"]))
    (bar,) = [node for node in root.iter("path") if "bar" in node.get("class")]
    across = re.match(r"M([\d.]+) [\d.]+H([\d.]+)", bar.get("d"))
    assert [float(end) for end in across.groups()] == pytest.approx([48 + 72.5, 48 + 217.5])
    root = drawn(chart(IN_ROWS["ranges"], upward=ROWS))
    lines = [node.get("d") for node in root.iter("path") if node.get("class") == "line protected"]
    assert lines == ["M120.5 41L265.5 41", "M120.5 71L265.5 71"]
    (label,) = [node for node in root.iter("text") if node.text == "one"]
    assert float(label.get("y")) == 45


def test_bins_without_a_far_edge_stand_apart_with_one_sign_each():
    """Beyond the axis at either end, for both sides in the same place."""
    sides = [
        Bins(name=side, look=side, edges=EDGES, shares=HALF, below=10.0, above=20.0)
        for side in ("original", "protected")
    ]
    root = drawn(chart(*sides))
    signs = {node.text: float(node.get("x")) for node in root.iter("text") if node.text in "<>"}
    assert [node.text for node in root.iter("text") if node.text in "<>"] == ["<", ">"]
    axis = next(n.get("d") for n in root.iter("path") if n.get("class") == "axis")
    left, right = float(axis.split()[0][1:]), float(axis.split("L")[-1].split()[0])
    assert signs["<"] < left < right < signs[">"]
    labels = [n for n in root.iter("text") if n.get("class") == "end" and n.text not in "<>"]
    assert labels
    assert all(float(label.get("x")) < signs["<"] - 4 for label in labels)  # none under a bin
    assert "<" not in {node.text for node in drawn(chart(ON_AXES["bins"])).iter("text")}


def test_pictures_of_a_row_begin_at_one_height():
    """The largest key decides; other rows have their own."""
    few, many = (
        chart(*(Marks(name=f"m{i}", look=i, marks=(POINT,)) for i in range(n))) for n in (1, 7)
    )
    panels = [
        Panel(row=row, caption="c", chart=one) for row, one in (("a", few), ("a", many), ("b", few))
    ]
    first, second, third = (panel.chart for panel in with_room_for_keys(panels))
    assert first.top == second.top > third.top
    assert height_of(first) == height_of(second) > height_of(third) == height_of(few)
    markup = in_rows(panels, "m-")
    assert markup.count('<div class="pictures">') == 2
    assert [i for i in range(3) if f'id="m-{i}-t"' in markup] == [0, 1, 2]


def test_discs_of_two_charts_have_one_scale():
    """A disc of the most there may be has the radius given, and another an area in proportion."""
    sizes = np.array([0.25, 0.0625])
    one = Discs(name="s", look="original", xs=HALF, ys=HALF, sizes=sizes, most=1.0, radius=8.0)
    circles = [node for node in drawn(chart(one)).iter() if node.tag.endswith("circle")]
    assert sorted(float(node.get("r")) for node in circles)[:2] == [2.0, 4.0]


def test_a_key_longer_than_its_frame_begins_left_of_it():
    """Names of three series stay within a picture whose rows have room for names."""
    series = [
        replace(IN_ROWS["bars"], name="original"),
        replace(IN_ROWS["bars"], name="protected", look="protected"),
        replace(IN_ROWS["ranges"], name="95 % margin"),
    ]
    root = drawn(chart(*series, upward=ROWS, left=118.0))
    (last,) = (node for node in root.iter() if node.text == "95 % margin")
    assert float(last.get("x")) + LETTER_WIDTH * len(last.text) <= WIDTH


def test_a_line_without_a_name_is_not_in_the_key():
    """The second of two lines that hold one margin has no entry."""
    line = ON_AXES["line"]
    entries = [
        [node.text for node in drawn(chart(line, replace(line, name=name))).iter() if node.text]
        for name in (None, "t")
    ]
    assert len(entries[1]) == len(entries[0]) + 1
