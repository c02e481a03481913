"""The parts of a page: markup, numbers, axes and the figures that matter."""

import html
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

import microveil as mv
from microveil.compare import compare
from microveil.guarantee.guarantee import statement_of
from microveil.report import key_figures
from microveil.report.axes import LETTER_WIDTH, bent_axis, linear_axis, share_axis
from microveil.report.columns import columns_of
from microveil.report.documents import written
from microveil.report.markup import Markup, element, fragment
from microveil.report.wording import number, percent, rounded_up, shown
from microveil.schema import Kind
from microveil.table import open_table
from microveil.text import one_line, readable
from microveil.text.document import (
    Code,
    Document,
    Strong,
    heading,
    items,
    paragraph,
    tabulated,
)

FINITE = st.floats(-1e9, 1e9, allow_subnormal=False)
WHOLE = st.integers(-10_000, 10_000)


@given(st.text(), st.text())
def test_text_comes_out_of_markup_as_it_went_in(text, value):
    """Whatever the text, its element holds no other element, and reads as the text did."""
    written = element("td", text, title=value)
    inner = written.removeprefix("<td").removesuffix("</td>")
    attribute, _, told = inner.partition('">')
    assert html.unescape(told) == readable(text)
    assert html.unescape(attribute.removeprefix(' title="')) == readable(value)
    assert not set("<>") & set(told)
    assert not set('<>"') & set(attribute.removeprefix(' title="'))


def test_markup_is_not_escaped_twice():
    """Markup goes in as it stands; text beside it is escaped."""
    assert fragment(Markup("<b>"), "&", [None, "<", 3]) == "<b>&amp;&lt;3"


MARKED = st.text(alphabet="ab 1.-+=#*`|\\_<>[]~&\n\u202e", min_size=1).filter(one_line)


@given(MARKED)
def test_a_name_is_shown_on_the_page_as_it_is(name):
    """As text, as strong words and as code, in a list, a cell and a heading, on one line."""
    shown = html.escape(one_line(name))
    page = Document(
        (heading(1, name), paragraph(name), items([Strong(name)]), tabulated(["a"], [[Code(name)]]))
    )
    told = written(page, level=2, prefix="g")
    assert told.startswith(f'<h2 id="g1">{shown}</h2><p>{shown}</p>')
    assert f"<li><strong>{shown}</strong></li>" in told
    assert f'<th scope="row"><code>{shown}</code></th>' in told


@given(st.text(st.characters() | st.sampled_from("*`|#-&;\n<> ")).map(lambda text: f"a{text}z"))
def test_what_a_statement_is_given_is_shown_as_it_is(words):
    """Marks, line ends and numbers of letters in a value do nothing to the template around it."""
    guarantee = mv.plan({"AGE": np.arange(9)}, method="mdav", k=3, attributes=["AGE"]).guarantee
    own = replace(guarantee, title=words, kept=(words, "CITY"), remarks=(words, "Last."))
    told = written(statement_of(own.to_dict()), level=2, prefix="g")
    shown = html.escape(one_line(words))
    assert f"</code>: {shown} (" in told
    assert f"<p>{shown}, CITY. They are" in told
    assert f"<ul><li>{shown}</li><li>Last.</li></ul>" in told


def test_names_on_the_page_and_in_the_answer_are_those_of_the_columns():
    """Marks of Markdown in a column's name, or in a class, neither vanish nor do anything."""
    name = "**bold** `code` | pipe"
    people = {name: np.arange(40), "kind": np.array([name, "<b>"] * 20)}
    release = mv.protect(people, method="mdav", k=5, attributes=[name], keep=["kind"])
    told = written(statement_of(release.guarantee.to_dict()), level=2, prefix="g")
    assert f'<th scope="row">{name}</th>' in told
    found = compare(people, methods="mdav", k=5, runs=2, attributes=[name], classes="kind",
                    estimator=GaussianNB())  # fmt: skip
    told = written(found.document, level=2, prefix="g")
    assert f"of class {name}" in told
    assert "of class &lt;b&gt;, " in told


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=1e-300, max_value=1e300))
def test_numbers_are_written_near_their_value(value):
    """Four significant digits, whichever form they take."""
    told = number(value).replace(",", "").replace("\u2212", "-")
    if "×" in told:
        mantissa, power = told.split("×10")
        digits = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
        told = f"{mantissa}e{digits}"
    assert float(told) == pytest.approx(value, rel=6e-4)


@given(st.floats(1e-4, 9e6))
def test_an_epsilon_is_never_understated(epsilon):
    """What is written is at least the number, and at most a millionth part above it."""
    told = float(rounded_up(epsilon).replace(",", ""))
    assert epsilon <= told <= epsilon * (1 + 1.1e-5)


def test_what_is_not_there_is_told():
    """Missing figures are a dash, dates and yes or no are words."""
    assert number(math.nan) == percent(None) == shown(None, Kind.WHOLE) == "–"
    assert shown(-1, Kind.DATE) == "1969-12-31"
    assert shown(1e9, Kind.DATE).startswith("day ")
    assert shown(0, Kind.BOOLEAN) == "no"


@given(FINITE, FINITE, st.sampled_from([Kind.DECIMAL, Kind.WHOLE, Kind.DATE]))
def test_ticks_lie_within_the_range_and_apart(low, high, kind):
    """Every tick is in the range, in order, and no label runs into the next."""
    if kind is Kind.DATE:
        low, high = max(low, -700_000), min(high, 2_000_000)
    assume(high - low > 1e-6 * max(abs(low), abs(high)) and high - low > 1e-3)
    axis = linear_axis("a", low, high, kind, 280.0)
    places = [axis.place(value, 0, 280) for value, _ in axis.ticks]
    assert places == sorted(places)
    assert all(-1e-6 <= place <= 280 + 1e-6 for place in places)
    if len(places) > 3:
        room = LETTER_WIDTH * max(len(label) for _, label in axis.ticks)
        assert min(np.diff(places)) >= room * 0.98


@pytest.mark.parametrize("low", [2.0**62, -(2.0**62), 2.0**53, 1e300, 1e-300, 5e-324, 0.0, -7.5])
@pytest.mark.parametrize("apart", [0, 1, 2, 7, 8, 9, 20])
def test_ends_that_floats_hardly_tell_apart_have_an_axis(low, apart):
    """Whatever is between them, both ends are on it, and ticks within it."""
    high = low
    for _ in range(apart):
        high = math.nextafter(high, math.inf)
    axis = linear_axis("a", low, high, Kind.DECIMAL, 280.0)
    assert axis.lower <= low <= high <= axis.upper
    assert axis.ticks
    beside = 1e-6 * (axis.upper - axis.lower)
    assert all(axis.lower - beside <= value <= axis.upper + beside for value, _ in axis.ticks)


@given(st.floats(1e-9, 1.0))
def test_an_axis_of_shares_begins_at_nought_and_holds_the_most(most):
    """Bars are compared by their length, so the axis starts at 0; its last tick is its end."""
    axis = share_axis("%", most)
    assert axis.lower == 0 == axis.ticks[0][0]
    assert axis.upper >= most * (1 - 1e-6)
    assert axis.ticks[-1][0] == pytest.approx(axis.upper)


@given(st.lists(FINITE, min_size=2, max_size=30), st.sampled_from([0.01, 1.0, 1000.0]))
def test_a_bent_axis_keeps_the_order(values, threshold):
    """Larger values lie farther along, on either side of 0."""
    ordered = np.sort(np.array(values))
    assume(ordered[-1] > ordered[0])
    axis = bent_axis("a", ordered[0], ordered[-1], threshold, Kind.DECIMAL, 280.0)
    assert np.all(np.diff(axis.places(ordered, 0, 280)) >= 0)
    assert all(axis.lower <= value <= axis.upper for value, _ in axis.ticks)


def test_what_lies_beyond_an_axis_is_drawn_at_its_end():
    """No mark leaves the frame."""
    axis = linear_axis("a", 0.0, 10.0, Kind.DECIMAL, 280.0)
    assert axis.places(np.array([-5.0, 5.0, 99.0]), 0, 100).tolist() == [0, 50, 100]


def protected(method, **asked):
    people = mv.invented_people(200)
    release = mv.protect(people, method=method, attributes=["AGE", "VISITS"], **asked)
    return release, mv.assess(people, release.data, ["AGE", "VISITS"])


BOUNDS = {"AGE": (16, 110), "VISITS": (0, 100)}


@pytest.mark.parametrize(
    ("method", "asked", "value", "meaning"),
    [
        ("laplace", {"epsilon": 0.1, "bounds": BOUNDS}, "epsilon 0.1 at row scope", "widest"),
        (
            "idp-cbls",
            {"epsilon": 1, "k": 10, "bounds": BOUNDS, "exact_cells": "allow"},
            "epsilon 1 at cluster scope",
            "vector scope: epsilon 20; row scope: not covered",
        ),
        (
            "idp-vector",
            {"epsilon": 1, "k": 10, "bounds": BOUNDS, "exact_cells": "widen", "keep": ["REGION"]},
            "epsilon 1 at vector scope",
            "held; not for what is released as it is: REGION; row scope: not covered",
        ),
        ("laplace", {"epsilon": 1, "bounds": BOUNDS, "seed": 1}, "nothing", "seed"),
        ("mdav", {"k": 5}, "k = 5, no epsilon", "4 others"),
        ("ranking", {"k": 5}, "nothing formal", "no epsilon, no k-anonymity"),
    ],
)
def test_the_promise_is_that_of_the_widest_scope(method, asked, value, meaning):
    """The first key figure names the widest scope that keeps epsilon, and what lies beyond."""
    promised, *_ = key_figures(*protected(method, **asked))
    assert promised.value == value
    assert meaning in promised.meaning


def test_loss_and_linkage_are_those_of_the_assessment():
    """The worst of the three linkages is shown, with its chance; so is the worst attribute."""
    release, assessment = protected("ranking", k=5)
    _, lost, moved, found = key_figures(release, assessment)
    figures = assessment.to_dict()
    forms = ("record_linkage", "record_linkage_standardised", "record_linkage_by_rank")
    assert lost.value == f"{number(figures['information_loss'], 3)} %"
    assert found.value == f"{number(max(figures[form] for form in forms), 3)} %"
    assert "by chance 0.5 %" in found.meaning
    worst = figures["worst_attribute"]
    distance = number(worst["kolmogorov_smirnov"], 3)
    assert moved.value.endswith(f"; {worst['attribute']}, moved by {distance}")
    assert str(lost).startswith("information loss: ")


def test_without_pairs_loss_and_linkage_are_not_made_up():
    """Of a shuffled release distributions and distances to the closest record stand for them."""
    release, _ = protected("ranking", k=5)
    people = mv.invented_people(200)
    unpaired = mv.assess(people, release.data, ["AGE"], paired=False)
    _, lost, moved, found = key_figures(release, unpaired)
    figures = unpaired.to_dict()
    assert lost.name == "one-way total variation"
    assert lost.value == number(figures["total_variation"]["one_way"], 3)
    near = figures["closest_records"]
    assert found.name == "closest record"
    assert found.value.startswith(f"{number(near['released']['median'], 3)} standard deviations")
    assert f"left out {number(near['left_out']['median'], 3)}" in found.meaning
    assert "; AGE, moved by " in moved.value
    assert [figure.value for figure in key_figures(release, None)[1:]] == ["not measured"] * 3


def test_missing_cells_are_no_values():
    """A missing whole number is not drawn as 0."""
    people = polars.DataFrame({"A": [5, None, 7, 8, 9, 9, None, 6]})
    release = mv.protect(people, method="ranking", k=3, attributes=["A"], missing="keep")
    (drawn,) = columns_of(
        release.guarantee.attributes, open_table(release.data), open_table(people), {}
    )
    assert [values.min() for _, values in drawn.sides] == [5, 6]
    assert [len(values) for _, values in drawn.sides] == [6, 6]


def test_categories_are_drawn_by_how_common_they_are_in_the_original():
    """The commonest of the original come first, whatever the release has; alone it decides."""
    before = polars.DataFrame({"G": ["a"] * 5 + ["b"] * 3 + ["c"]})
    after = polars.DataFrame({"G": ["c"] * 6 + ["b"] * 2 + ["a"]})
    terms = mv.protect(
        before, method="pram", epsilon=1, attributes=["G"], bounds={"G": ["a", "b", "c"]}
    ).guarantee.attributes
    (both,) = columns_of(terms, open_table(after), open_table(before), {})
    assert both.categories == ("a", "b", "c")
    assert both.original.tolist() == [5 / 9, 3 / 9, 1 / 9]
    assert both.protected.tolist() == [1 / 9, 2 / 9, 6 / 9]
    (alone,) = columns_of(terms, open_table(after), None, {})
    assert alone.original is None
    assert alone.categories == ("c", "b", "a")
    assert alone.protected.tolist() == [6 / 9, 2 / 9, 1 / 9]


def test_fractions_become_steps():
    """The step of the grid is the attribute's resolution."""
    people = {"A": np.array([0.25, 0.5, 1.0, 2.0, 2.25, 3.0])}
    release = mv.protect(people, method="ranking", k=3, resolution={"A": 0.25})
    (drawn,) = columns_of(
        release.guarantee.attributes, open_table(release.data), open_table(people), {"A": "m"}
    )
    assert Fraction(drawn.step) == Fraction(1, 4)
    assert drawn.axis_title == "A (m)"
    assert drawn.original.tolist() == people["A"].tolist()
