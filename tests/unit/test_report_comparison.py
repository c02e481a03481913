"""The page on a comparison: nothing is mixed, nothing is left out, and many stay readable."""

import json
import math
import re
from html.parser import HTMLParser

import numpy as np
import polars
import pytest

from compared import made
from microveil.compare import Comparison, compare
from microveil.compare.answer import method_words
from microveil.guarantee.condition import condition_of
from microveil.report import comparison_report

IS_DRAWN = True  # pictures are looked at here
HOSTILE = '<script>alert("1")</script>'
METHODS = "laplace,dp-um,idp-vector,idp-cbls,idp-ls,mdav,k-noise"


class Texts(HTMLParser):
    """Reads the text of every element of one kind, what is inside included."""

    def __init__(self, tag):
        super().__init__()
        self.tag, self.depth, self.found = tag, 0, []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 -- as the parser calls it
        if tag == self.tag:
            self.depth += 1
            self.found.append("")

    def handle_endtag(self, tag):
        self.depth -= tag == self.tag

    def handle_data(self, data):
        if self.depth:
            self.found[-1] += data


def texts(html, tag):
    reader = Texts(tag)
    reader.feed(html)
    return [" ".join(text.split()) for text in reader.found]


def shown(page):
    """The page without its programs and its charts' data."""
    return re.sub(r"<script.*?</script>|<style>.*?</style>", "", page, flags=re.DOTALL)


def table_of(page):
    """The table of all configurations, its heads and its rows."""
    table = re.search(r'<section id="all">.*?</section>', page, re.DOTALL)[0]
    heads, *rows = re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
    return texts(heads, "th"), [[*texts(row, "th"), *texts(row, "td")] for row in rows]


@pytest.fixture(scope="module")
def found():
    ages = np.random.Generator(np.random.PCG64(2)).integers(18, 90, 60)
    return compare(
        {HOSTILE: ages},
        methods=METHODS,
        k=[3, 6, 12, 99],
        epsilon=[0.5, 2],
        runs=4,
        seed=3,
        attributes=[HOSTILE],
        bounds={HOSTILE: (0, 120)},
        exact_cells="allow",
    )


@pytest.fixture(scope="module")
def html(found):
    return comparison_report(found)


def test_the_page_opens_with_its_warning_the_map_and_the_answer(found, html):
    """Who must not see it, the map, what does best in the words of the answer, then all else."""
    page = shown(html)
    assert "For the custodian only" in page.split("<main")[0]
    assert texts(page, "h2")[:2] == [
        "Loss against record linkage, standardised",
        "What does best",
    ]
    told = " ".join([*texts(page, "td"), *texts(page, "li")])
    for line in found.answer.splitlines():
        if line.startswith("- "):
            assert " ".join(line[2:].replace("\\", "").split()) in told
    assert texts(page, "summary") == [
        "How to read the scopes, and what epsilons are conditional on",
        "What was compared",
    ]


def test_what_was_compared_is_told_whole(found, html):
    """Digest, attributes, methods, k, epsilon, runs, seed, version and arguments are there."""
    told = " ".join(texts(shown(html).split("What was compared")[1], "td"))
    description = found.description
    for entry in (
        description["table"], HOSTILE, "idp-vector", "3, 6, 12, 99", "1/2, 2", "4", "3",
        description["microveil"], "[0, 120]", "allow",
    ):  # fmt: skip
        assert entry in told


def test_the_measures_are_told_with_what_was_compared():
    """Class attribute, threshold, classifier, formula and propensity stand in the table."""
    measures = {
        "classes": "PAY", "threshold": 100.0, "labels": ["<= 100", "> 100"],
        "estimator": "Forest(n=3)", "scikit_learn": "1.5", "formula": "PAY ~ AGE",
        "logistic": True, "propensity": True, "linkage": False,
    }  # fmt: skip
    page = comparison_report(
        made(("mdav", 5, None, "none", "k-anonymity", 20.0, 3.0), measures=measures)
    )
    part = shown(page).split("What was compared")[1]
    told = dict(zip(texts(part, "th")[2:], texts(part, "td"), strict=True))
    assert told["measures classes"] == "PAY"
    assert told["measures threshold"] == "100.0"
    assert told["measures labels"] == "<= 100, > 100"
    assert told["measures estimator"] == "Forest(n=3)"
    assert told["measures formula"] == "PAY ~ AGE"
    assert told["measures propensity"] == "true"
    assert told["measures linkage"] == "false"


def test_conditions_stand_where_their_method_is_named():
    """A mark in every key and table leads to the condition; other methods have none."""
    page = comparison_report(
        made(
            ("record-dp:partition=noise-aware", 5, 1.0, "vector", "idp", 20.0, 3.0),
            ("record-dp:partition=ranking", 5, 1.0, "vector", "dp", 30.0, 3.0),
        )
    )
    marked, plain = "record-dp (noise-aware) †", "record-dp (ranking)"
    part = shown(page).split("How to read the scopes")[1]
    assert marked in texts(part, "th")
    assert plain not in part
    assert "chosen anew on a neighbour, nothing would be promised" in part
    assert "record-dp (noise-aware)" not in page.replace("\\u2020", "†").replace(marked, "")
    assert f"{plain} †" not in page


def test_bounds_read_from_the_data_are_never_shown_as_declared():
    """The answer and the argument itself say where they came from."""
    read = {"attributes": ["AGE"], "arguments": {"bounds": {"AGE": [0, 90]}},
            "read_from_data": {"bounds": ["AGE"]}}  # fmt: skip
    cell = ("dp-um", 5, 1.0, "vector", "idp", 20.0, 3.0)
    page = comparison_report(made(cell, conditions=[condition_of("bounds", names=["AGE"])], **read))
    assert "arguments bounds, read from the data for AGE" in page
    assert shown(page).count("Bounds were read from the data for AGE") == 2
    assert "read from the data" not in comparison_report(made(cell))


def test_every_scope_is_explained_and_no_other():
    """The scopes of the comparison's configurations have their sentences."""
    only = comparison_report(made(("mdav", 5, None, "none", "k-anonymity", 20.0, 3.0)))
    part = shown(only).split("How to read the scopes")[1].split("</details>")[0]
    assert texts(part, "th") == ["scope", "what it means", "No epsilon"]


def test_every_configuration_has_a_row_with_its_guarantee(found, html):
    """Scope, epsilon, model and k of all that were not refused, the strongest scope first."""
    heads, rows = table_of(html)
    assert heads[:5] == ["method", "scope", "epsilon", "model", "k"]
    ready = found.summary.filter(polars.col("refused").is_null()).to_dicts()
    told = sorted((row[0].removesuffix(" †"), *row[1:3], row[4]) for row in rows)
    assert told == sorted(
        (
            row["method"],
            row["scope"],
            "-" if row["epsilon"] is None else f"{row['epsilon']:g}",
            "-" if row["k"] is None else str(row["k"]),
        )
        for row in ready
    )
    scopes = [row[1] for row in rows]
    assert scopes == sorted(scopes, key=["row", "vector", "cluster", "none"].index)


def test_every_figure_stands_in_the_table_with_its_interval():
    """Mean and interval, share of exact cells, loss at vector scope, model and frontier."""
    page = comparison_report(
        made(
            ("dp-um:isotonic=true", 5, 1.0, "vector", "dp", 20.0, 3.0),
            ("idp-vector", 5, 1.0, "vector", "idp", 40.0, 30.0),
            exact_cells=7,
        )
    )
    half = 4.302652729749464 / math.sqrt(3)
    _, (first, second) = table_of(page)
    assert first == ["dp-um (isotonic)", "vector", "1", "DP", "5", f"20 ± {half:.2g}", "3", "3",
                     "3", "14", "9", "all"]  # fmt: skip
    assert (second[3], second[-1]) == ("iDP", "")
    alone = made(("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0), runs=(0.0,))
    assert table_of(comparison_report(alone))[1][0][5] == "20"


@pytest.mark.parametrize(
    ("risk", "words"),
    [
        ("record_linkage", "raw units"),
        ("record_linkage_standardised", "standardised"),
        ("record_linkage_by_rank", "by rank"),
    ],
)
def test_a_frontier_is_named_by_its_distance(risk, words):
    """What is on the frontier by one way of linking alone is told with that one."""
    both = made(
        ("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0),
        ("dp-um", 9, 1.0, "vector", "dp", 40.0, 5.0),
    )
    rows = both.table.with_columns(polars.when(k=9).then(2.0).otherwise(risk).alias(risk))
    page = comparison_report(Comparison.of(rows.to_dicts(), both.description))
    assert [row[-1] for row in table_of(page)[1]] == ["all", words]


def test_a_loss_at_vector_scope_is_never_understated():
    """What the table tells of it is rounded up, as every epsilon is."""
    cell = made(("idp-cbls", 5, 1.0, "cluster", "idp", 20.0, 3.0))
    rows = cell.table.with_columns(vector_loss=polars.lit(1.0000001))
    page = comparison_report(Comparison.of(rows.to_dicts(), cell.description))
    assert table_of(page)[1][0][-2] == "1.00001"


def test_what_was_refused_is_told_with_its_reasons(found, html):
    """Each reason names the first of its configurations; nothing refused, nothing told."""
    refused = found.summary.filter(polars.col("refused").is_not_null())
    assert f"Refused: {refused.height} of {found.summary.height} configurations" in html
    for reason in refused["refused"].unique():
        assert any(reason in told for told in texts(shown(html), "li"))
    assert "Refused" not in comparison_report(made(("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0)))


def test_names_are_text(html):
    """A column named as a script is a name; programs are those that the page's policy names."""
    assert HOSTILE not in html
    n_programs = len(re.findall("<script>", html))
    assert html.count("sha256-") == n_programs == 3


def test_the_table_follows_what_is_chosen_below_the_map(html):
    """By the scope and the methods that the chart knows, and by columns of these contents."""
    data = re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)[1]
    spec = json.loads(data)
    assert [one["name"] for one in spec["params"]] == ["scope", "methods"]
    assert "view.signal('scope', scope).signal('methods', methods)" in html
    values = spec["data"]["values"]
    told = {(row[0], row[1]) for row in table_of(html)[1]}
    assert {(point["method"], point["scope"]) for point in values} == told
    controls = re.findall(r'<input type="\w+" name="(\w+)" value="([^"]+)"', html)
    assert {*controls} == {
        ("scope", "all"),
        *(("scope", scope) for _, scope in told),
        *(("method", method) for method, _ in told),
    }


def test_where_there_is_no_map_the_page_says_why():
    """Linkage not measured, nothing varies, all is refused, or none linked."""
    people = {"AGE": np.full(6, 50)}
    asked = {"attributes": "AGE", "bounds": {"AGE": (0, 120)}, "exact_cells": "allow"}
    constant = compare(people, methods="dp-um", k=3, epsilon=1, runs=2, **asked)
    bare = compare({"AGE": np.arange(20, 80)}, methods="mdav", k=[3, 5], attributes="AGE",
                   linkage=False)  # fmt: skip
    named = {"configuration": 0, "method": "idp-ls", "steps": "", "k": 2}
    refused = Comparison.of([{**named, "refused": "why"}], {"runs": 3, "seed": 1})
    unlinked, endless = (
        made(("mdav", 5, None, "none", "k-anonymity", loss, risk))
        for loss, risk in ((20.0, None), (math.inf, 3.0))
    )
    for found, why in (
        (bare, "Record linkage was not measured, so"),
        (constant, "no protected attribute varies"),
        (refused, "every one was refused"),
        (unlinked, "has both a finite loss and records that could be linked"),
        (endless, "has both a finite loss and records that could be linked"),
    ):
        page = comparison_report(found)
        assert "<svg" not in shown(page)
        assert why in page.split("What does best")[0]
        assert ("not measured" in page.split("What does best")[0]) == (found is bare)
    assert "linked" not in " ".join(table_of(comparison_report(bare))[0])
    assert not re.search(r"\b(inf|nan)\b", shown(comparison_report(endless)))


def test_a_thousand_configurations_stay_readable():
    """By what 80 of them take more than 40 do: little more than a megabyte, beside programs."""

    def size(n_k):
        cells = [
            (method, k, epsilon, scope, "dp", 9.0 * k * (m + 1) / epsilon, 90.0 / k)
            for m, (method, scope) in enumerate(
                [("k-pram", "row"), ("dp-um", "vector"), ("kanon-dp", "vector"),
                 ("idp-ls", "cluster")]
            )
            for k in range(2, 2 + 2 * n_k, 2)
            for epsilon in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
        ]  # fmt: skip
        page = comparison_report(made(*cells))
        assert len(table_of(page)[1]) == 40 * n_k
        return len(page.encode())

    one, two = size(1), size(2)
    assert 24 * (two - one) < 1_200_000


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("exact_cells=widen:isotonic=false", "m (exact cells widen, not isotonic)"),
        ("composition=sequential:sensitivity=global", "m (sequential, global)"),
        ("width=5", "m (width 5)"),
    ],
)
def test_steps_are_named_by_what_was_chosen(steps, words):
    """Values say which steps they are of, but for those that do not."""
    assert method_words({"method": "m", "steps": steps}) == words
