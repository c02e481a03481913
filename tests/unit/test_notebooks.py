"""What a notebook shows: a promise without a value, and tables whose names run nowhere."""

import html
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import microveil as mv
from microveil.guarantee import Guarantee
from microveil.text.figures import figure

NAME = '<script>alert("A&B")</script>'
# Values found nowhere else: seven digits that no figure of a promise has.
VALUES = 4_711_000 + np.arange(60) % 30 * 37
REQUESTS = {
    "idp-cbls": {"k": 5, "epsilon": 1},
    "dp-um": {"k": 5, "epsilon": 1, "bounds": {NAME: (0, 10_000_000)}},
    "dp-synthetic": {"epsilon": 4, "bounds": {NAME: (0, 10_000_000)}},
    "mdav": {"k": 5},
}


@pytest.fixture(params=REQUESTS)
def made(request):
    """A plan and a release of a table whose columns have names that a page would run."""
    method, asked = request.param, REQUESTS[request.param]
    table = {NAME: VALUES, "<b>": np.arange(60) % 7}
    kept = {} if method == "dp-synthetic" else {"keep": ["<b>"]}
    asked = {"method": method, "attributes": [NAME], "exact_cells": "allow", **kept, **asked}
    return mv.plan(table, **asked), mv.protect(table, **asked)


def test_a_repr_states_the_promise(made):
    """Method, model, every scope and every condition stand in one line of print."""
    for shown in map(repr, (made[1], made[1].guarantee)):
        guarantee = made[1].guarantee
        assert "\n" not in shown
        assert len(shown) < 700
        assert guarantee.method in shown
        for line in guarantee.summary().splitlines():
            assert line.strip().removesuffix(":") in shown


def test_no_value_of_the_data_is_printed(made):
    """Neither values nor figures of them stand in what a notebook prints."""
    plan, release = made
    released = np.asarray(release.data[NAME]).astype(np.int64).astype(str)
    cells = {cell for cell in (*VALUES.astype(str), *released) if len(cell) > 4}
    for value in (release, plan, release.guarantee):
        shown = repr(value) + value._repr_html_()
        assert not any(cell in shown for cell in cells)


def test_a_page_runs_no_name(made):
    """What is shown as HTML is of our own few tags, whatever the columns are called."""
    plan, release = made
    tags = set()
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, given: tags.add((tag, *given))
    for value in (release, plan, release.guarantee):
        parser.feed(value._repr_html_())
    assert tags <= {("p",), ("strong",), ("ul",), ("li",)}
    words = html.unescape(re.sub(r"<[^>]*>", " ", release._repr_html_()))
    for line in release.guarantee.summary().splitlines():
        assert " ".join(line.split()) in " ".join(words.split())


def test_a_guarantee_that_was_read_is_escaped_too():
    """Of a file from elsewhere nothing reaches the page as it is."""
    table = {"AGE": np.arange(60) % 30}
    contents = mv.protect(table, method="mdav", k=5, attributes="AGE").guarantee.to_dict()
    contents |= {"method": "<i>m</i>", "title": "<script>t</script>"}
    assert not re.search("<i>|<script>", Guarantee.from_dict(contents)._repr_html_())


def test_a_comparison_and_an_advice_are_tables_that_run_no_name():
    """The first table with its figures, the sentences, and of all names and values the names."""
    table = {NAME: VALUES, "<b>": np.arange(60) % 7}
    asked = {"attributes": [NAME], "bounds": {NAME: (0, 10_000_000)}}
    found = mv.compare(table, methods=["dp-um", "mdav"], k=5, epsilon=[1, 3], runs=2, **asked)
    advice = mv.advise(table, method="dp-um", k=5, epsilon=0.1, **asked)
    tags = set()
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, given: tags.add((tag, *given))
    for value in (found, advice):
        shown = value._repr_html_()
        parser.feed(shown)
        assert shown.count("<table>") == 1 + (value is advice)
        assert not any(cell in shown for cell in VALUES.astype(str))
    assert tags <= {(tag,) for tag in ("p", "strong", "ul", "li", "table", "tr", "th", "td")}
    best = found.summary.filter(method="mdav")["information_loss"].item()
    assert f"<td>{figure(best)}" in found._repr_html_()
    assert html.escape(NAME) in advice._repr_html_()
    assert f"<td>{figure(advice.asked.over_variance)}</td>" in advice._repr_html_()
    assert f"{found.summary.height} configurations, 5 runs" in found._repr_html_()
