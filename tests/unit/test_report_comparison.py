"""The page on a comparison: nothing is mixed, nothing is left out, and many cells stay readable."""

import math
import re
from html.parser import HTMLParser

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compared import RISKS, made
from microveil.compare import Comparison, compare
from microveil.compare.measures import Measures
from microveil.guarantee.condition import condition_of
from microveil.measures.linkage import CHANCE
from microveil.report import MapPoint, Spread, comparison_report, risk_utility_section
from microveil.report.axes import log_axis
from microveil.report.chart import LEFT, room_across
from microveil.report.configurations import method_words
from microveil.report.marks import SHAPES, marks
from microveil.report.risk_utility import loss_axis

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
    return reader.found


def pictures(html, kind):
    """Return the pictures whose identifiers begin so, by their titles."""
    found = {}
    for drawn in re.findall(rf'<svg(?=[^>]*aria-labelledby="{kind}).*?</svg>', html, re.DOTALL):
        found[texts(drawn, "title")[0]] = drawn
    return found


def section(page, kind):
    """Return the one section of a page that has this identifier."""
    (found,) = re.findall(rf'<section aria-labelledby="{kind}".*?</section>', page, re.DOTALL)
    return found


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


def test_the_page_opens_with_its_warning_and_the_answer(found, html):
    """Who must not see it, then what does best, in the words of the answer, then all else."""
    text = html.split("<main")[1]
    assert "For the custodian only" in html.split("<main")[0]
    headings = texts(text, "h2")
    assert headings == [
        "What does best",
        "What was compared",
        "How to read the scopes",
        "Risk-utility maps",
        "Information loss against k",
        "All configurations",
        "Refused configurations",
    ]
    told = " ".join(" ".join([*texts(text, "p"), *texts(text, "li")]).split())
    answer = found.answer.partition("\n## Refused")[0]
    for part in re.split(r"\n\n(?:- )?|\n- ", answer.strip()):
        if not part.startswith("#"):
            assert " ".join(part.split()) in told


def test_what_was_compared_is_told_whole(found, html):
    """Digest, attributes, methods, k, epsilon, runs, seed, version and arguments are there."""
    part = section(html, "compared")
    told = " ".join(texts(part, "td"))
    description = found.description
    for entry in (
        description["table"], HOSTILE, "idp-vector", "3, 6, 12, 99", "0.5, 2", "4", "3",
        description["microveil"], "[0, 120]", "allow",
    ):  # fmt: skip
        assert entry in told


def test_the_measures_are_told_with_what_was_compared():
    """Class attribute, threshold, classifier, formula and propensity stand in the table."""
    measures = Measures(
        classes="PAY", threshold=100.0, labels=("<= 100", "> 100"), estimator="Forest(n=3)",
        scikit_learn="1.5", formula="PAY ~ AGE", logistic=True, propensity=True, linkage=False,
    )  # fmt: skip
    page = comparison_report(
        made(("mdav", 5, None, "none", "k-anonymity", 20.0, 3.0), measures=measures.to_dict())
    )
    part = section(page, "compared")
    told = dict(zip(texts(part, "th")[2:], texts(part, "td"), strict=True))
    assert told["class attribute"] == "PAY"
    assert told["threshold of its classes"] == "100"
    assert told["classes"] == "<= 100, > 100"
    assert told["classifier"] == "Forest(n=3)"
    assert told["scikit-learn"] == "1.5"
    assert told["logistic regression"] == "PAY ~ AGE"
    assert told["pMSE ratio"] == "measured"
    assert told["record linkage"] == "not measured"


def test_conditions_stand_where_their_method_is_named():
    """A mark in every key and table leads to the condition; other methods have none."""
    page = comparison_report(
        made(
            ("record-dp:partition=noise-aware", 5, 1.0, "vector", "idp", 20.0, 3.0),
            ("record-dp:partition=ranking", 5, 1.0, "vector", "dp", 30.0, 3.0),
        )
    )
    marked, plain = "record-dp (noise-aware) †", "record-dp (ranking)"
    part = section(page, "scopes")
    assert marked in texts(part, "th")
    assert plain not in part
    assert "chosen anew from the neighbour, nothing would be promised" in part
    for kind in ("maps", "loss", "configurations"):
        part = section(page, kind)
        assert marked in part
        assert "record-dp (noise-aware)" not in part.replace(marked, "")
        assert f"{plain} †" not in part


def test_bounds_read_from_the_data_are_never_shown_as_declared():
    """The answer, the scopes and the argument itself say where they came from."""
    read = {"attributes": ["AGE"], "arguments": {"bounds": {"AGE": [0, 90]}},
            "read_from_data": {"bounds": ["AGE"]}}  # fmt: skip
    cell = ("dp-um", 5, 1.0, "vector", "idp", 20.0, 3.0)
    page = comparison_report(made(cell, conditions=[condition_of("bounds", names=["AGE"])], **read))
    assert "argument bounds, read from the data for AGE" in page
    for kind in ("answer1", "scopes"):
        part = section(page, kind)
        assert "Bounds were read from the data for AGE" in part
    assert "read from the data" not in comparison_report(made(cell))


def test_what_is_kept_is_named_and_covered_by_no_claim():
    """The answer and the scopes name the columns that are released as they are."""
    for cell in (
        ("laplace", None, 1.0, "row", "dp", 20.0, 3.0),
        ("mdav", 5, None, "none", "k-anonymity", 20.0, 3.0),
    ):
        page = comparison_report(
            made(cell, conditions=[condition_of("kept-columns", names=["CITY"])])
        )
        for kind in ("answer1", "scopes"):
            part = section(page, kind)
            assert "Released unprotected: CITY. No claim covers these columns" in part
            assert "everything that is released" not in part
        assert "unprotected" not in comparison_report(made(cell))


def test_all_maps_reach_paper(html):
    """No map is folded away, and the style keeps them on paper."""
    part = section(html, "maps")
    folded = [tag for tag in re.findall(r"<details[^>]*>", part) if "printed" in tag]
    assert len(folded) == 2
    assert all(" open" in tag for tag in folded)
    assert "details:not(.printed), .part > summary { display: none; }" in html


def test_every_scope_is_explained_and_no_other():
    """The scopes of the comparison's cells have their sentences."""
    only = comparison_report(made(("mdav", 5, None, "none", "k-anonymity", 20.0, 3.0)))
    part = section(only, "scopes")
    assert texts(part, "th") == ["scope", "what it means", "No epsilon"]


def test_no_panel_and_no_table_mixes_guarantees(found, html):
    """Scope and epsilon name each panel and table, and each holds its own cells alone."""
    groups = found.summary.filter(polars.col("refused").is_null()).partition_by(
        "scope", "epsilon", as_dict=True
    )
    words = {"row": "Row scope", "vector": "Vector scope", "cluster": "Cluster scope"}
    titles = {
        f"{words[scope]}, epsilon {epsilon:g}" if epsilon is not None else "No epsilon": group
        for (scope, epsilon), group in groups.items()
    }
    assert len(titles) == len(groups)
    part = html.split('id="configurations"')[1].split("</section>")[0]
    tables = part.split("<h3>")[1:]
    assert len(tables) == len(titles)
    for table in tables:
        title = re.sub(r" \([a-zA-Z-]+\)$", "", texts(f"<h3>{table}", "h3")[0])
        rows = re.findall(r"<tr><th scope=\"row\">(.*?)(?: †)?</th><td>(.*?)</td>", table)
        assert sorted(rows) == sorted(
            (row["method"], "–" if row["k"] is None else str(row["k"]))
            for row in titles[title].to_dicts()
        )
    start = "Risk against loss: "
    kept = {
        f"map-{risk.replace('_', '-')}-": found.frontier.filter(risk=risk)[
            "configuration"
        ].to_list()
        for risk in RISKS
    }
    for kind, cells in kept.items():
        drawn = pictures(html, kind + r"\d")
        assert set(drawn) == {start + title for title in titles}
        for title, picture in drawn.items():
            own = titles[title.removeprefix(start)]
            keys = set(own["method"])
            named = {text.removesuffix(" †") for text in texts(picture, "text")}
            assert named & set(METHODS.split(",")) == keys
            assert drawn_marks(picture) == own.height + len(keys)
            filled = own.filter(polars.col("configuration").is_in(cells))
            assert drawn_marks(picture, "full") == filled.height + len(keys)
    drawn = pictures(html, r"loss-\d")
    assert {title.partition(": ")[2] for title in drawn} == set(titles)
    for title, picture in drawn.items():
        own = titles[title.partition(": ")[2]]
        assert drawn_marks(picture) == own.height + own["method"].n_unique()


def drawn_marks(picture, state="full|hollow"):
    """Count marks: each begins with a move of its own."""
    found = re.findall(rf'<path d="([^"]*)" class="mark (?:{state})', picture)
    return sum(path.count("M") for path in found)


def test_chance_is_drawn_where_it_is(found, html):
    """The line of blind guessing lies between the ticks that it lies between, in every panel."""
    chance = found.summary[CHANCE].drop_nulls()[0]
    for kind in (rf"map-{risk.replace('_', '-')}-\d" for risk in RISKS):
        for drawn in pictures(html, kind).values():
            assert "by chance" in texts(drawn, "text")
            ((start, end),) = re.findall(
                r'd="M\S+ (\S+)L\S+ (\S+)" class="line thin dashed"', drawn
            )
            labels = re.findall(r'y="(\S+)" class="end">([\d.]+)</text>', drawn)
            ticks = sorted((float(label), float(y) - 4) for y, label in labels)
            below = max(tick for tick in ticks if tick[0] <= chance)
            above = min(tick for tick in ticks if tick[0] > chance)
            assert start == end
            assert above[1] <= float(start) <= below[1]


def test_the_line_is_the_least_risk_to_be_had():
    """At each loss the staircase is as low as the lowest mark at or left of it, model or not."""
    cells = [
        MapPoint(
            panel="p", method=f"m{i % 2}", label="", on_frontier=i == 0,
            loss=Spread(value=x, lower=x, upper=x), risk=Spread(value=y, lower=y, upper=y),
        )
        for i, (x, y) in enumerate([(10, 8), (20, 9), (30, 4), (40, 6), (50, 4), (60, 1)])
    ]  # fmt: skip
    body = risk_utility_section(cells, loss_title="loss", risk_title="risk").body
    (line,) = re.findall(r'<path d="([^"]*)" class="line thin"', body)
    axis = loss_axis("loss", [cell.loss for cell in cells], room_across())
    steps = [float(x) for x in re.findall(r"[MH](\d[\d.]*)", line)]
    expected = [axis.place(x, LEFT, LEFT + room_across()) for x in (10, 30, 60)]
    assert steps == pytest.approx([*expected, LEFT + room_across()], abs=0.06)
    heights = [float(y) for y in re.findall(r"V(\d[\d.]*)", line)]
    assert heights == sorted(heights)
    assert len(set(heights)) == 3


def test_every_figure_stands_in_a_table_with_its_interval():
    """Mean and interval, share of exact cells, loss at vector scope, model and frontier."""
    page = comparison_report(
        made(
            ("dp-um:isotonic=true", 5, 1.0, "vector", "dp", 20.0, 3.0),
            ("idp-vector", 5, 1.0, "vector", "idp", 40.0, 30.0),
            exact_cells=7,
        )
    )
    half = 4.302652729749464 / math.sqrt(3)
    table = page.split('id="configurations"')[1]
    rows = [texts(row, "td") for row in re.findall(r"<tr><th scope=\"row\".*?</tr>", table)]
    assert rows[0] == ["5", "DP", f"20 ({20 - half:.1f} to {20 + half:.1f})", "3", "3", "3", "14",
                       "9", "all"]  # fmt: skip
    assert rows[1][1] == "iDP"
    assert rows[1][-1] == "–"
    assert 'scope="row">dp-um (isotonic)<' in table


@pytest.mark.parametrize(
    ("risk", "words"),
    [
        ("record_linkage", "raw units"),
        ("record_linkage_standardised", "standardised"),
        ("record_linkage_by_rank", "by rank"),
    ],
)
def test_a_frontier_is_named_by_its_distance(risk, words):
    """A cell that is on the frontier by one way of linking alone is told with that one."""
    both = made(
        ("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0),
        ("dp-um", 9, 1.0, "vector", "dp", 40.0, 5.0),
    )
    rows = both.table.with_columns(polars.when(k=9).then(2.0).otherwise(risk).alias(risk))
    page = comparison_report(Comparison.of(rows.to_dicts(), both.description))
    table = page.split('id="configurations"')[1]
    told = [texts(row, "td")[-1] for row in re.findall(r"<tr><th scope=\"row\".*?</tr>", table)]
    assert told == ["all", words]


def test_a_loss_at_vector_scope_is_never_understated():
    """What a table tells of it is rounded up, as every epsilon is."""
    cell = made(("idp-cbls", 5, 1.0, "cluster", "idp", 20.0, 3.0))
    rows = cell.table.with_columns(vector_loss=polars.lit(1.0000001))
    page = comparison_report(Comparison.of(rows.to_dicts(), cell.description))
    assert texts(page.split('id="configurations"')[1], "td")[-2] == "1.00001"


def test_bars_reach_from_end_to_end_of_their_intervals():
    """In each picture of means the interval lies on both sides of its mark."""
    page = comparison_report(made(("laplace", 5, 1.0, "row", "dp", 20.0, 3.0)))
    (loss,) = pictures(page, r"loss-\d").values()
    ((x, low, high),) = re.findall(r'<path d="M(\S+) (\S+)V(\S+)" class="bar', loss)
    ((left, middle),) = re.findall(r'd="M(\S+) (\S+?)a5[^"M]*" class="mark', loss.split("bar")[-1])
    assert float(left) + 5 == pytest.approx(float(x), abs=0.11)
    assert float(low) - float(high) > 4
    assert (float(low) + float(high)) / 2 == pytest.approx(float(middle), abs=0.11)
    for drawn in pictures(page, r"map-record-linkage-\d").values():
        ((start, y, end),) = re.findall(r'<path d="M(\S+) (\S+)H(\S+)" class="bar', drawn)
        ((left, middle),) = re.findall(
            r'd="M(\S+) (\S+?)a5[^"M]*" class="mark', drawn.split("bar")[-1]
        )
        assert y == middle
        assert float(end) - float(start) > 4
        assert (float(start) + float(end)) / 2 == pytest.approx(float(left) + 5, abs=0.11)


def test_curves_are_told_with_the_k_of_their_ends():
    """Who does not see the picture hears where a method loses least, and where most."""
    page = comparison_report(
        made(
            ("dp-um", 3, 1.0, "vector", "dp", 40.0, 3.0),
            ("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0),
        )
    )
    (drawn,) = pictures(page, r"loss-\d").values()
    assert texts(drawn, "desc") == ["dp-um: between 20 at k 5 and 40 at k 3."]


def test_a_table_of_points_says_which_are_on_the_frontier():
    """Yes where nothing is better in both, no elsewhere."""
    points = [
        MapPoint(
            panel="p", method=method, label="", on_frontier=method == "kept",
            loss=Spread(value=x, lower=x, upper=x), risk=Spread(value=x, lower=x, upper=x),
        )
        for method, x in (("kept", 1.0), ("beaten", 2.0))
    ]  # fmt: skip
    body = risk_utility_section(points, loss_title="loss", risk_title="risk").body
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</th>(.*?)</tr>", body)
    assert [(name, texts(row, "td")[-1]) for name, row in rows] == [
        ("kept", "yes"),
        ("beaten", "no"),
    ]


def test_a_single_run_has_no_interval():
    """A figure of one run stands alone."""
    page = comparison_report(made(("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0), runs=(0.0,)))
    cells = texts(page.split('id="configurations"')[1], "td")
    assert cells[1] == "20"
    assert 'class="bar' not in page


def test_refused_cells_are_told_with_their_reasons(found, html):
    """Each reason has a row that names the cells; nothing refused, no section."""
    refused = found.summary.filter(polars.col("refused").is_not_null())
    assert refused.height
    part = html.split('id="refused"')[1]
    reasons = texts(part, "th")[3:]
    assert reasons == refused["refused"].unique(maintain_order=True).to_list()
    counts = [int(cell) for cell in texts(part, "td")[::2]]
    assert sum(counts) == refused.height
    assert "idp-ls k 99 epsilon 0.5" in part
    assert "Refused" not in comparison_report(made(("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0)))


def test_names_are_text(html):
    """A column named as a script is a name."""
    assert "<script" not in html


def test_without_linkage_there_is_no_map_and_the_page_says_so():
    """Loss is drawn all the same, and no column of linkage is left."""
    people = {"AGE": np.arange(20, 80)}
    found = compare(people, methods="mdav,ranking", k=[3, 5], attributes="AGE", linkage=False)
    page = comparison_report(found)
    assert "Record linkage was not measured, so" in page
    assert not pictures(page, "map")
    assert len(pictures(page, "loss")) == 1
    assert "linked" not in " ".join(texts(page.split('id="configurations"')[1], "th"))
    assert "Pareto-optimal" not in page.split('id="configurations"')[1]


def test_where_there_is_no_map_the_page_says_why():
    """Linkage that was measured is not denied: nothing varies, all is refused, or none linked."""
    people = {"AGE": np.full(6, 50)}
    asked = {"attributes": "AGE", "bounds": {"AGE": (0, 120)}, "exact_cells": "allow"}
    constant = compare(people, methods="dp-um", k=3, epsilon=1, runs=2, **asked)
    named = {"configuration": 0, "method": "idp-ls", "steps": "", "k": 2}
    refused = Comparison.of([{**named, "refused": "why"}], {"runs": 3, "seed": 1})
    unlinked, endless = (
        made(("mdav", 5, None, "none", "k-anonymity", loss, risk))
        for loss, risk in ((20.0, None), (math.inf, 3.0))
    )
    for found, why in (
        (constant, "no protected attribute varies"),
        (refused, "every one was refused"),
        (unlinked, "has both a finite loss and records that could be linked"),
        (endless, "has both a finite loss and records that could be linked"),
    ):
        page = comparison_report(found)
        part = section(page, "maps")
        assert why in part
        assert "not measured" not in page


def test_the_f_measure_of_every_class_is_drawn_beside_its_levels():
    """A picture to a class, with what the original and the majority give as lines across."""
    naive_bayes = pytest.importorskip("sklearn.naive_bayes")
    random = np.random.default_rng(3)
    age = random.integers(18, 90, 80)
    people = {"AGE": age, "TAX": 10 * age + random.integers(0, 50, 80)}
    found = compare(
        people, methods="mdav,ranking", k=[3, 9], runs=2, seed=1, attributes=["AGE"],
        classes="TAX", threshold=500, estimator=naive_bayes.GaussianNB(), linkage=False,
        propensity=True,
    )  # fmt: skip
    page = comparison_report(found)
    labels = [name[10:-1] for name in found.summary.columns if re.match(r"f_measure\[.*\]$", name)]
    assert len(labels) == 2
    for place, label in enumerate(labels):
        (drawn,) = pictures(page, f"learning-{place}-").values()
        assert {"majority class", "original"} <= set(texts(drawn, "text"))
        assert label in texts(drawn, "title")[0]
        row = found.summary.row(0, named=True)
        across = {
            dashes: float(y)
            for x, y, end, dashes in re.findall(
                r'd="M(\S+) (\S+)L(\S+) \S+" class="line thin( dashed|)"', drawn
            )
            if float(end) - float(x) > 100
        }
        # The section says: whole is the original, dashed the commonest class.
        keys = re.findall(r'class="line thin( dashed|)"/><text[^>]*>([^<]*)<', drawn)
        assert keys == [(" dashed", "majority class"), ("", "original")]
        assert row[f"f_measure_original[{label}]"] > row[f"f_measure_majority[{label}]"]
        assert across[""] < across[" dashed"]
        assert f"{row[f'f_measure[{label}]']:.3g}" in page.split('id="configurations"')[1]
    heads = texts(page.split('id="configurations"')[1], "th")
    assert "pMSE ratio" in heads


def page_of_grid(n_k):
    """The page of four methods, so many k and ten epsilons."""
    cells = [
        (method, k, epsilon, scope, "dp", 9.0 * k * (m + 1) / epsilon, 90.0 / k)
        for m, (method, scope) in enumerate(
            [("k-pram", "row"), ("dp-um", "vector"), ("kanon-dp", "vector"), ("idp-ls", "cluster")]
        )
        for k in range(2, 2 + 2 * n_k, 2)
        for epsilon in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
    ]  # fmt: skip
    page = comparison_report(made(*cells))
    rows = re.findall(r"<th scope=\"row\">", page.split('id="configurations"')[1])
    assert len(rows) == 40 * n_k
    return page.encode()


def test_a_thousand_configurations_would_stay_below_a_megabyte():
    """By what 80 of them take more than 40 do: a page that a browser opens at once."""
    one, two = (len(page_of_grid(n_k)) for n_k in (1, 2))
    assert two + 23 * (two - one) < 1_000_000


def test_infinite_losses_do_not_break_the_page():
    """What is beyond measure is left out of the pictures and told as nothing."""
    page = comparison_report(
        made(
            ("dp-um", 5, 1.0, "vector", "dp", float("inf"), 3.0),
            ("dp-um", 9, 1.0, "vector", "dp", 3.0, 3.0),
        )
    )
    assert "inf" not in re.sub(r"<style>.*?</style>|information", "", page, flags=re.DOTALL)
    assert "nan" not in "".join(pictures(page, "map").values())


@given(
    st.floats(1e-6, 1e9), st.floats(1, 1e12), st.booleans(),
    st.lists(st.integers(1, 10_000), max_size=30, unique=True),
)  # fmt: skip
def test_a_logarithmic_axis_holds_its_range_in_order(lower, ratio, upright, stops):
    """Both ends and all ticks lie within it, equal ratios are equally long, some tick is there."""
    low, high = (min(stops), max(stops)) if stops else (lower, lower * ratio)
    axis = log_axis("x", low, high, 280, stops=stops, upright=upright)
    assert axis.lower < low <= high < axis.upper
    places = axis.places(np.array([axis.lower, axis.upper, *(v for v, _ in axis.ticks)]), 0, 280)
    assert places[:2].tolist() == pytest.approx([0, 280])
    assert (np.diff(places[2:]) > 5).all()
    middle = math.sqrt(axis.lower) * math.sqrt(axis.upper)
    assert axis.place(middle, 0, 280) == pytest.approx(140)
    if stops:
        assert {low, high} & {value for value, _ in axis.ticks}
    elif ratio > 10:
        assert axis.ticks


def test_marks_of_many_methods_differ():
    """Up to 64 methods no two share both shape and colour."""
    drawn = [marks([(0.0, 0.0)], index, full=True) for index in range(len(SHAPES) ** 2)]
    assert len(set(drawn)) == len(drawn)


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
