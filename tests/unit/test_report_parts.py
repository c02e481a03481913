"""The parts of a page: documents, numbers and the figures that matter."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape
from sklearn.naive_bayes import GaussianNB

import microveil as mv
from html_page import written
from microveil.compare import compare
from microveil.guarantee.guarantee import statement_of
from microveil.report.subject import columns_of
from microveil.report.wording import number, percent, rounded_up, shown
from microveil.schema import Kind
from microveil.table import open_table
from microveil.text import one_line
from microveil.text.document import (
    Code,
    Document,
    Strong,
    heading,
    items,
    paragraph,
    tabulated,
)
from microveil.text.figures import figure

MARKED = st.text(alphabet="ab 1.-+=#*`|\\_<>[]~&\n\u202e", min_size=1).filter(one_line)


@given(MARKED)
def test_a_name_is_shown_on_the_page_as_it_is(name):
    """As text, as strong words and as code, in a list, a cell and a heading, on one line."""
    shown = escape(one_line(name))
    page = Document(
        (heading(1, name), paragraph(name), items([Strong(name)]), tabulated(["a"], [[Code(name)]]))
    )
    told = written(page)
    assert told.startswith(f"<h2>{shown}</h2><p>{shown}</p>")
    assert f"<li><strong>{shown}</strong></li>" in told
    assert f'<th scope="row"><code>{shown}</code></th>' in told


@given(st.text(st.characters() | st.sampled_from("*`|#-&;\n<> ")).map(lambda text: f"a{text}z"))
def test_what_a_statement_is_given_is_shown_as_it_is(words):
    """Marks, line ends and numbers of letters in a value do nothing to the template around it."""
    guarantee = mv.plan({"AGE": np.arange(9)}, method="mdav", k=3, attributes=["AGE"]).guarantee
    own = replace(guarantee, title=words, kept=(words, "CITY"), remarks=(words, "Last."))
    told = written(statement_of(own.to_dict()))
    shown = escape(one_line(words))
    assert f"Method: {shown} (" in told
    assert f"<p>{shown}, CITY. They are" in told
    assert f"<ul><li>{shown}</li><li>Last.</li></ul>" in told


def test_names_on_the_page_and_in_the_answer_are_those_of_the_columns():
    """Marks of Markdown in a column's name, or in a class, neither vanish nor do anything."""
    name = "**bold** `code` | pipe"
    people = {name: np.arange(40), "kind": np.array([name, "<b>"] * 20)}
    release = mv.protect(people, method="mdav", k=5, attributes=[name], keep=["kind"])
    told = written(statement_of(release.guarantee.to_dict()))
    assert f'<th scope="row">{name}</th>' in told
    found = compare(people, methods="mdav", k=5, runs=2, attributes=[name], classes="kind",
                    estimator=GaussianNB())  # fmt: skip
    told = written(found.document)
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


def protected(method, **asked):
    people = mv.invented_people(200)
    release = mv.protect(people, method=method, attributes=["AGE", "VISITS"], **asked)
    return release, mv.assess(people, release, ["AGE", "VISITS"])


BOUNDS = {"AGE": (16, 110), "VISITS": (0, 100)}


@pytest.mark.parametrize(
    ("method", "asked", "value"),
    [
        ("laplace", {"epsilon": 0.1, "bounds": BOUNDS}, "epsilon 0.1 at cluster, vector and row"),
        (
            "idp-cbls",
            {"epsilon": 1, "k": 10, "bounds": BOUNDS, "exact_cells": "allow"},
            "epsilon 1 at cluster scope; epsilon 20 at vector scope; row scope not covered",
        ),
        (
            "idp-vector",
            {"epsilon": 1, "k": 10, "bounds": BOUNDS, "exact_cells": "widen", "keep": ["REGION"]},
            "held; not for several rows of one person together; not for what is released",
        ),
        ("laplace", {"epsilon": 1, "bounds": BOUNDS, "seed": 1}, "nothing: drawn from a seed"),
        ("mdav", {"k": 5}, "k-anonymity with k = 5; no epsilon"),
        ("ranking", {"k": 5}, "no epsilon"),
    ],
)
def test_the_promise_is_that_of_the_guarantee(method, asked, value):
    """The first key figure names each scope's epsilon, and what conditions there are."""
    _, assessment = protected(method, **asked)
    promised, *_ = assessment.key_figures
    assert promised.name == "promised"
    assert value in promised.value
    assert replace(assessment, guarantee=None).key_figures[0].value == "not known"


def test_loss_and_linkage_are_those_of_the_assessment():
    """The worst of the three linkages is shown, with its chance; so is the worst attribute."""
    _, assessment = protected("ranking", k=5)
    _, lost, moved, found, kept = assessment.key_figures
    figures = assessment.to_dict()
    forms = ("record_linkage", "record_linkage_standardised", "record_linkage_by_rank")
    assert lost.value == f"{figure(figures['information_loss'])} %"
    assert found.value.startswith(f"{figure(max(figures[form] for form in forms))} % of all 200")
    assert "by chance 0.5 %" in found.meaning
    worst = figures["worst_attribute"]
    distance = figure(worst["kolmogorov_smirnov"])
    assert moved.value.endswith(f"; '{worst['attribute']}': distribution moved by {distance}")
    assert str(lost).startswith("information loss: ")
    assert kept.sentence == assessment.relations.lines[0]


def test_without_pairs_loss_and_linkage_are_not_made_up():
    """Of a shuffled release distributions and distances to the closest record stand for them."""
    release, _ = protected("ranking", k=5)
    people = mv.invented_people(200)
    unpaired = mv.assess(people, release.data, ["AGE"], paired=False)
    _, lost, moved, found, _ = unpaired.key_figures
    figures = unpaired.to_dict()
    assert lost.name == "one-way total variation"
    assert lost.value == figure(figures["total_variation"]["one_way"])
    near = figures["closest_records"]
    assert found.name == "closest record"
    assert found.value.startswith(f"{figure(near['released']['median'])} standard deviations")
    left_out = figure(near["left_out"]["median"])
    assert f"from one person to the nearest other it is {left_out};" in found.meaning
    assert "; 'AGE': distribution moved by " in moved.value


def test_figures_that_were_not_measured_say_why():
    """Nothing stands in for them, and nothing that was measured of others is shown."""
    _, assessment = protected("ranking", k=5)
    _, *others = replace(assessment, measured={}).key_figures
    assert [one.words for one in others] == [
        "not measured: there are no numbers to compare",
        "not measured: there are no values to compare",
        "not measured: it was not asked for",
    ]


def test_missing_cells_are_no_values():
    """A missing whole number is not drawn as 0."""
    people = polars.DataFrame({"A": [5, None, 7, 8, 9, 9, None, 6]})
    release = mv.protect(people, method="ranking", k=3, attributes=["A"], missing="keep")
    (drawn,) = columns_of(release, open_table(release.data), open_table(people))
    assert [values.min() for values in drawn.sides.values()] == [5, 6]
    assert [len(values) for values in drawn.sides.values()] == [6, 6]


def test_categories_are_drawn_by_how_common_they_are_in_the_original():
    """The commonest of the original come first, whatever the release has; alone it decides."""
    before = polars.DataFrame({"G": ["a"] * 5 + ["b"] * 3 + ["c"]})
    after = polars.DataFrame({"G": ["c"] * 6 + ["b"] * 2 + ["a"]})
    release = mv.protect(
        before, method="pram", epsilon=1, attributes=["G"], bounds={"G": ["a", "b", "c"]}
    )
    (both,) = columns_of(release, open_table(after), open_table(before))
    assert both.categories == ("a", "b", "c")
    assert both.original.tolist() == [5 / 9, 3 / 9, 1 / 9]
    assert both.protected.tolist() == [1 / 9, 2 / 9, 6 / 9]
    (alone,) = columns_of(release, open_table(after))
    assert alone.original is None
    assert alone.categories == ("c", "b", "a")
    assert alone.protected.tolist() == [6 / 9, 2 / 9, 1 / 9]


def test_fractions_become_steps():
    """The step of the grid is the attribute's resolution."""
    people = {"A": np.array([0.25, 0.5, 1.0, 2.0, 2.25, 3.0])}
    release = mv.protect(people, method="ranking", k=3, resolution={"A": 0.25})
    (drawn,) = columns_of(release, open_table(release.data), open_table(people), {"A": "m"})
    assert Fraction(drawn.step) == Fraction(1, 4)
    assert drawn.axis_title == "A (m)"
    assert drawn.original.tolist() == people["A"].tolist()
