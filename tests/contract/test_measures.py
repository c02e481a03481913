"""Measures: what each declares is what every place shows, and what is obeyed."""

import ast
import json
import math
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars
import pytest
from sklearn.naive_bayes import GaussianNB

import made
import microveil as mv
from microveil.compare.columns import Measures
from microveil.errors import RequestError
from microveil.measures.base import (
    COMPLETE,
    NUMBER,
    NUMBERS,
    RELEASE,
    TEXT,
    Better,
    By,
    Compared,
    Figure,
    Group,
    Measure,
)
from microveil.measures.information_loss import INFORMATION_LOSS
from microveil.measures.linkage import RECORD_LINKAGE
from microveil.measures.registry import MEASURES
from microveil.report import comparison_report, custodian_report, publishable_report
from microveil.report.comparison import comparison_chart
from microveil.text.figures import figure

N = 60
NAMES = ["x", "y"]
REQUEST = {"attributes": NAMES, "bounds": {"x": (0, 200), "y": (0, 1000)}}
OWN = Group(title="Measures of a plugin")


def largest(original, protected):
    return float(np.nanmax(np.abs(original - protected)))


def off_by_ten(original, protected):
    share = 100 * float(np.mean(np.abs(original - protected).max(axis=1) > 10))
    return Figure(value=share, interval=(0.0, 100.0), beside=50.0)


# A loss and a risk of record pairs, one of each attribute without pairs, one that is ranked by,
# and two of the release alone: the custodian's and the public's.
LOSS = Measure(
    id="largest_error",
    label="largest error of any cell",
    explanation="0 = nothing was moved",
    function=largest,
    takes=NUMBERS,
    needs_pairs=True,
    group=INFORMATION_LOSS,
    compared=Compared(in_answer=True, level=("an error of one", 1.0)),
)
RISK = Measure(
    id="far_records",
    label="records off by ten",
    short="by ten",
    explanation="none = safe",
    unit="%",
    highest=100.0,
    function=off_by_ten,
    takes=COMPLETE,
    needs_pairs=True,
    group=RECORD_LINKAGE,
    compared=Compared(on_frontier=True),
)
SHIFT = Measure(
    id="median_change",
    label="change of the median",
    explanation="0 = the median stayed",
    function=lambda before, after: float(np.nanmedian(after) - np.nanmedian(before)),
    takes=NUMBER,
    needs_pairs=False,
    by=By.ATTRIBUTE,
    better=Better.ZERO,
    lowest=-math.inf,
    group=OWN,
)
HELD = Measure(
    id="held_values",
    label="values that the plugin holds back",
    explanation="they stay with the custodian",
    function=lambda columns: float(len(columns)),
    takes=RELEASE,
    needs_pairs=False,
    group=OWN,
)
SHOWN = replace(
    HELD,
    id="shown_values",
    label="values that the plugin shows",
    explanation="anybody may count them",
    custodian=False,
)
EVERY = (LOSS, RISK, SHIFT, HELD, SHOWN)


@pytest.fixture
def registered(monkeypatch):
    """Measures registered from outside of the package, a line each."""
    for measure in EVERY:
        monkeypatch.setitem(MEASURES, measure.id, measure)


def people(seed=1):
    random = np.random.Generator(np.random.PCG64(seed))
    return {
        "x": random.integers(0, 90, N) + np.arange(N),
        "y": random.integers(0, 900, N),
        "place": random.choice(["north", "south"], N),
    }


def released(**more):
    return mv.protect(people(), **{"method": "dp-um", "k": 5, "epsilon": 40, **REQUEST, **more})


def words(text):
    return " ".join(text.split())


class Text(HTMLParser):
    """Reads what a page says."""

    def __init__(self):
        super().__init__()
        self.parts = []

    def handle_data(self, data):
        self.parts.append(data)


def said(page):
    reader = Text()
    reader.feed(page)
    return words(" ".join(reader.parts))


@pytest.mark.usefixtures("registered")
def test_a_registered_measure_is_an_entry_of_an_assessment():
    """Each is under its id, of the table or by attribute, and JSON can hold it."""
    release = released()
    figures = mv.assess(people(), release).to_dict()
    moved = np.abs(people()["y"] - release.data["y"]).max()
    assert figures["largest_error"] == max(moved, np.abs(people()["x"] - release.data["x"]).max())
    assert 0 <= figures["far_records"] <= 100
    assert figures["median_change"] == {
        name: np.median(release.data[name]) - np.median(people()[name]) for name in NAMES
    }
    assert figures["held_values"] == figures["shown_values"] == 2
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    # With the others of its group, so that what stands after them stays where it was.
    entries = list(figures)
    assert entries.index("information_loss") + 1 == entries.index("largest_error")


@pytest.mark.usefixtures("registered")
def test_a_registered_measure_is_in_the_text_of_an_assessment():
    """Label, figure and how it is read stand in its group's section, or in one of its own."""
    found = mv.assess(people(), released())
    text = words(found.to_text())
    sections = {
        section.splitlines()[0]: words(section) for section in found.to_text().split("\n\n")
    }
    figures = found.to_dict()
    told = sections[INFORMATION_LOSS.title]
    assert f"{LOSS.label} {figure(figures[LOSS.id])} {LOSS.explanation}" in told
    assert f"{RISK.label} {figure(figures[RISK.id])} % 0 to 100 50 {RISK.explanation}" in text
    told = f"{SHIFT.explanation}. attribute {SHIFT.label} x {figure(figures[SHIFT.id]['x'])} y"
    assert told in text
    assert f"{HELD.label} 2 {HELD.explanation}" in sections[OWN.title]


@pytest.mark.usefixtures("registered")
def test_a_registered_risk_that_is_the_largest_is_no_linkage():
    """The records found again are those of a linkage, and the risk stands in its section alone."""
    found = mv.assess(people(), people(seed=2))
    assert found.to_dict()[RISK.id] > 50 > found.strongest_linkage.value
    assert "records found again" in found.to_text()


@pytest.mark.parametrize("shuffle", ["rows", "columns"])
@pytest.mark.usefixtures("registered")
def test_what_needs_pairs_is_left_out_where_there_are_none(shuffle):
    """By the declaration: every measure that needs pairs, ours or not, and no other one."""
    found = mv.assess(people(), released(shuffle=shuffle), k=5)
    unpaired = {
        measure.id
        for measure in MEASURES.values()
        if not measure.needs_pairs and measure.asked_by in {"", "k", "unpaired"}
    }
    assert set(found.measured) == unpaired
    assert {SHIFT.id, HELD.id} <= unpaired
    for measure in (LOSS, RISK):
        assert measure.id not in found.to_dict()
        assert measure.head not in found.to_text()


def test_pairs_go_by_the_declaration_alone(monkeypatch):
    """A measure of ours that is declared otherwise is taken otherwise."""
    table = people()
    for name in ("information_loss", "kolmogorov_smirnov"):
        turned = replace(MEASURES[name], needs_pairs=not MEASURES[name].needs_pairs)
        monkeypatch.setitem(MEASURES, name, turned)
    found = mv.assess(table, table, ["x"], paired=False)
    assert "information_loss" in found.measured
    assert "kolmogorov_smirnov" not in found.measured


def test_what_is_asked_for_and_needs_pairs_is_refused_without_them(monkeypatch):
    """Where a measure that an argument asks for has come to need them."""
    table = people()
    assert mv.assess(table, table, paired=False, propensity=True).propensity is not None
    monkeypatch.setitem(MEASURES, "pmse", replace(MEASURES["pmse"], needs_pairs=True))
    with pytest.raises(RequestError, match="pMSE, needs records in the same order"):
        mv.assess(table, table, paired=False, propensity=True)


def test_a_registered_measure_of_text_is_taken_in_any_order(monkeypatch):
    """Where it needs no pairs: columns of text are compared with them and without."""
    table = people()
    north = Measure(
        id="first_share",
        label="change of the first category",
        explanation="0 = unchanged",
        function=lambda before, after, _: float(np.mean(after == 0) - np.mean(before == 0)),
        takes=TEXT,
        needs_pairs=False,
        by=By.ATTRIBUTE,
    )
    monkeypatch.setitem(MEASURES, north.id, north)
    for paired in (True, False):
        found = mv.assess(table, table, paired=paired).to_dict()
        assert (found["left_out"], found["first_share"]) == ([], {"place": 0.0})


@pytest.mark.usefixtures("registered")
def test_a_registered_measure_is_on_the_custodians_page():
    """Label, figure and explanation of each."""
    release = released()
    page = said(custodian_report(release, people()))
    figures = mv.assess(people(), release, NAMES).to_dict()
    assert f"{LOSS.label} {figures[LOSS.id]:.3g} {LOSS.explanation}" in page
    assert f"{RISK.label} {figures[RISK.id]:.3g} % 0 to 100 50" in page
    assert SHIFT.label in page
    assert SHIFT.explanation in page
    for measure in (HELD, SHOWN):
        assert f"{measure.label} 2 {measure.explanation}" in page


@pytest.mark.usefixtures("registered")
def test_the_page_to_be_published_shows_public_measures_alone():
    """What is the custodian's stays out of it, also where it sees nothing but the release."""
    page = said(publishable_report(released()))
    assert f"{SHOWN.label} 2 {SHOWN.explanation}" in page
    for measure in MEASURES.values():
        if measure.custodian:
            assert measure.meaning not in page, measure.id
    assert HELD.label not in page


def test_no_measure_of_ours_is_public():
    """All of them see the original, and none is on the page to be published."""
    assert all(measure.custodian for measure in MEASURES.values())
    assert "measures" not in said(publishable_report(released()))


def test_what_sees_the_original_cannot_be_declared_public():
    """A declaration that would let the original out is refused."""
    for takes in (NUMBERS, COMPLETE, NUMBER, TEXT):
        with pytest.raises(ValueError, match="custodian"):
            replace(LOSS, takes=takes, custodian=False)


@pytest.mark.parametrize(
    ("turned", "why"),
    [
        ({"by": By.ATTRIBUTE}, "one figure"),
        ({"better": Better.HIGHER}, "lower is better"),
        ({"lowest": -1.0}, "0 or more"),
        ({"better": Better.UNCHANGED, "compared": Compared(in_answer=True)}, "a best"),
    ],
)
def test_what_a_comparison_cannot_use_is_refused_when_it_is_declared(turned, why):
    """Frontiers, maps and the answer are sure of one figure, its zero and its direction."""
    with pytest.raises(ValueError, match=why):
        replace(RISK, **turned)


@pytest.fixture(scope="module")
def compared():
    with pytest.MonkeyPatch.context() as patch:
        for measure in EVERY:
            patch.setitem(MEASURES, measure.id, measure)
        found = mv.compare(
            people(), methods="dp-um,mdav", k=[3, 9], epsilon=1, runs=3, seed=1, **REQUEST
        )
        return found, comparison_report(found), comparison_chart(found, RISK.id)


def test_a_registered_measure_is_a_column_of_a_comparison(compared):
    """Every run has the figure of its release, and every configuration a mean within the range."""
    found, _, _ = compared
    asked = {"k": 3, "epsilon": 1, "method": "dp-um", **REQUEST}
    for row in found.table.filter(method="dp-um", k=3).to_dicts():
        release = mv.protect(people(), seed=row["seed"], **asked)
        original, drawn = (
            np.column_stack([table[name] for name in NAMES]) for table in (people(), release.data)
        )
        assert row[LOSS.id] == largest(original, drawn)
        assert row[RISK.id] == off_by_ten(original, drawn).value
    for row in found.summary.to_dicts():
        assert row["largest_error_low"] >= 0
        assert row["far_records_high"] <= 100
    for measure in (SHIFT, HELD, SHOWN):
        assert measure.id not in found.table.columns


def test_intervals_end_where_a_measure_is_declared_to_end(monkeypatch):
    """A coin of 0 and 1, tossed three times, has a mean with an interval from 0 to 1."""
    coin = replace(
        LOSS,
        id="coin",
        function=lambda _, protected: float(protected.sum() % 2),
        highest=1.0,
        compared=Compared(),
    )
    monkeypatch.setitem(MEASURES, coin.id, coin)
    found = mv.compare(
        people(), methods="laplace", k=[3], epsilon=[1, 2, 3, 4, 5, 6], runs=3, seed=1, **REQUEST
    )
    mixed = found.summary.filter(polars.col("coin").is_between(0, 1, closed="none"))
    assert mixed.height
    assert set(mixed.select("coin_low", "coin_high").iter_rows()) == {(0.0, 1.0)}


def test_a_registered_risk_has_a_frontier_and_a_map(compared):
    """Where it is declared a risk: rows of the frontier, a column of what is excluded, a map."""
    found, page, chart = compared
    assert RISK.id in set(found.frontier["risk"])
    assert f"excluded[{RISK.id}]" in found.summary.columns
    assert f"Map of {RISK.label} against" in chart.says
    assert "by chance" not in str(chart.spec)
    assert f"{RISK.label}, %" in said(page)
    assert LOSS.id not in set(found.frontier["risk"])


def test_a_registered_risk_stands_where_linkage_was_not_measured(monkeypatch):
    """Then it is the one that the answer tells the frontier of, without any chance beside it."""
    monkeypatch.setitem(MEASURES, RISK.id, RISK)
    found = mv.compare(
        people(), methods="dp-um", k=[3, 9], epsilon=1, runs=3, seed=1, linkage=False, **REQUEST
    )
    assert set(found.frontier["risk"]) == {RISK.id}
    assert found.frontier["record_linkage_by_chance"].null_count() == found.frontier.height
    assert f"Pareto-optimal with {RISK.label}: " in words(found.answer)
    assert said(comparison_report(found))


def test_a_registered_measure_is_in_the_answer_if_it_asks_for_it(compared, monkeypatch):
    """What does best by it, beside what its level stands for, in the direction that is better."""
    found, page, _ = compared
    for measure in EVERY:
        monkeypatch.setitem(MEASURES, measure.id, measure)
    answer = words(found.answer)
    head = "Largest error of any cell, lowest; 1 is an error of one"
    best = found.summary.filter(epsilon=1.0).sort(LOSS.id).row(0, named=True)
    assert f"| {best['method']} | {best['k']} |" in answer.partition(head)[2]
    assert LOSS.title in said(page)
    assert f"{RISK.label}, %" in said(page)


def test_the_better_direction_decides_what_does_best(compared, monkeypatch):
    """Declared the other way round, the worst is named."""
    found, _, _ = compared
    monkeypatch.setitem(MEASURES, LOSS.id, replace(LOSS, better=Better.HIGHER))
    again = mv.compare(
        people(), methods="dp-um,mdav", k=[3, 9], epsilon=1, runs=3, seed=1, **REQUEST
    )
    worst = found.summary.filter(epsilon=1.0).sort(LOSS.id).row(-1, named=True)
    told = words(again.answer).partition("Largest error of any cell, highest")[2]
    assert f"| {worst['method']} | {worst['k']} |" in told


@pytest.mark.usefixtures("registered")
def test_a_registered_measure_is_a_row_of_the_docs():
    """Its id, its label, how it is read and its range."""
    rows = {row.split("|")[1].strip("`"): row.split("|")[2:-1] for row in made.measures()}
    assert rows[RISK.id] == ["records off by ten", "none = safe", "0 to 100 %"]
    assert rows[SHIFT.id][2] == "any"
    assert set(MEASURES) <= set(rows)


def test_figures_of_ours_keep_to_their_declared_ranges():
    """None is beyond them, before and after noise that changes everything."""
    table = people() | {"w": np.arange(N) % 5}
    noisy = {name: table[name] * 3 - 40 for name in NAMES} | {"place": table["place"][::-1]}
    asked = {"k": 5, "classes": "place", "estimator": GaussianNB(), "formula": "y ~ x",
             "propensity": True, "by": ["place"], "rules": ["x <= y"], "weights": "w"}  # fmt: skip
    found = mv.assess(table, noisy, **asked)
    apart = mv.assess(table, noisy, paired=False, **asked)
    measured = dict(apart.measured) | dict(found.measured)
    assert set(measured) == set(MEASURES)
    assert set(apart.measured) == {
        measure.id for measure in MEASURES.values() if not measure.needs_pairs
    }
    for one in (*measured.values(), *apart.measured.values()):
        if one.measure.by is By.PAIR:
            continue
        figures = [one.figure] if one.measure.by is By.TABLE else list(one.figures.values())
        assert figures, one.measure.id
        for one_of_them in figures:
            value = one_of_them.value
            assert math.isnan(value) or one.measure.lowest <= value <= one.measure.highest + 1e-9


def test_a_function_is_called_once_for_all_its_measures(monkeypatch):
    """Bias, MSE and RMSE come of one call; so do moments and correlations."""
    calls = []
    for function in ("errors_of", "compare_moments"):
        own = [one for one in MEASURES.values() if one.function.__name__ == function]
        assert len(own) > 2

        def counted(*given, plain=own[0].function):
            calls.append(plain)
            return plain(*given)

        for measure in own:
            monkeypatch.setitem(MEASURES, measure.id, replace(measure, function=counted))
    mv.assess(people(), people(), NAMES)
    assert len(calls) == 2


def test_a_comparison_continued_without_a_measure_is_refused(tmp_path, monkeypatch):
    """Results with other columns are not mixed with those of what is registered now."""
    asked = {"methods": "mdav", "k": 5, "seed": 1, "folder": tmp_path / "out", **REQUEST}
    mv.compare(people(), **asked)
    monkeypatch.setitem(MEASURES, LOSS.id, LOSS)
    with pytest.raises(mv.FileError, match="hold the results"):
        mv.compare(people(), **asked)


def test_labels_and_explanations_are_spelled_once():
    """No module but a measure's own has its label, its explanation or its id as a text."""
    root = Path(mv.__file__).parent
    spelled = {measure.label for measure in MEASURES.values() if len(measure.label) > 8}
    spelled |= {measure.explanation for measure in MEASURES.values()}
    for room in ("measures", "compare", "report"):
        for path in (root / room).rglob("*.py"):
            if "\nMEASURES = " in path.read_text("utf-8") or path.name == "moments.py":
                continue  # it declares measures
            tree = ast.parse(path.read_text("utf-8"))
            texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
            assert not spelled & {text for text in texts if isinstance(text, str)}, path


def test_columns_of_a_comparison_are_the_measures_that_are_asked_for():
    """Without linkage its measures are no columns; with a class every one has a figure of it."""
    plain = Measures({"linkage": False})
    assert not plain.risks
    assert all(MEASURES[name].asked_by == "" for name in plain.names)
    asked = {"linkage": True, "classes": "place", "labels": ["north"], "propensity": True}
    learnt = Measures(asked).names
    assert learnt[-2:] == ("f_measure_majority[north]", "propensity_ratio")


def test_measures_of_one_function_with_other_arguments_are_measured_apart(monkeypatch):
    """What one was given is not taken for the other."""
    ours = replace(LOSS, id="own_k", compared=None, function=lambda _x, _y, k=0: float(k or 0))
    for measure in (ours, replace(ours, id="own_k_given", arguments=("k",))):
        monkeypatch.setitem(MEASURES, measure.id, measure)
    found = mv.assess(people(), released().data, NAMES, k=3).to_dict()
    assert (found["own_k"], found["own_k_given"]) == (0.0, 3.0)
