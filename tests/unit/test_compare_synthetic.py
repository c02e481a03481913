"""Comparisons with a method whose rows follow nobody: what is measured, and where it stands."""

import math
import re
from unittest.mock import patch

import numpy as np
import polars
import pytest
from sklearn.naive_bayes import GaussianNB

import microveil as mv
from microveil.compare import compare, running
from microveil.compare.columns import Measures, loss_of
from microveil.measures.base import NUMBERS as ALL_NUMBERS
from microveil.measures.base import Better, Compared, Measure
from microveil.measures.registry import MEASURES
from microveil.report import comparison_report
from microveil.report.comparison import comparison_chart

PAIRED = [
    measure.id
    for measure in MEASURES.values()
    if measure.compared is not None and measure.needs_pairs and not measure.compared.counted
]
UNPAIRED = [
    "sorted_error", "one_way_total_variation", "two_way_total_variation", "mean_absolute_change",
    "rank_mean_absolute_change", "closest_record",
]  # fmt: skip
REQUEST = {
    "attributes": ["AGE", "FEE", "PLACE"],
    "bounds": {"AGE": (0, 120), "FEE": (0, 500)},
    "resolution": {"FEE": 0.01},
    "categories": {"PLACE": ["north", "south", "east"]},
}
NUMBERS = {**REQUEST, "attributes": ["AGE", "FEE"], "categories": None}
GRID = {"epsilon": [3], "runs": 3, "seed": 11, "jobs": 1}
ROW = "dp-synthetic,dp-synthetic:structure=tree,laplace"


def people(n=300):
    random = np.random.Generator(np.random.PCG64(5))
    age = random.integers(18, 90, n)
    return {
        "AGE": age,
        "FEE": np.round(random.lognormal(3, 1, n).clip(0, 499), 2),
        "PLACE": np.where(age < 40, "north", random.choice(["south", "east"], n)),
    }


@pytest.fixture(scope="module")
def mixed():
    return compare(people(), methods="dp-synthetic", **GRID, **REQUEST)


@pytest.fixture(scope="module")
def numbers():
    return compare(people(), methods=f"{ROW},dp-um", k=[20], delta=1e-9, **GRID, **NUMBERS)


def of_method(table, method):
    return table.filter(polars.col("method") == method).to_dicts()


def test_every_run_measures_the_table_of_its_seed(mixed):
    """With categories too: the table drawn with a run's seed has the very figures of the run."""
    for row in mixed.table.to_dicts():
        release = mv.protect(
            people(), method="dp-synthetic", epsilon=3, seed=row["seed"], **REQUEST
        )
        found = mv.assess(people(), release).to_dict()
        assert row["sorted_error"] == pytest.approx(found["sorted_error"])
        assert row["one_way_total_variation"] == pytest.approx(found["total_variation"]["one_way"])
        assert row["two_way_total_variation"] == pytest.approx(found["total_variation"]["two_way"])
        assert row["mean_absolute_change"] == pytest.approx(
            found["correlations"]["mean_absolute_change"]
        )
        assert row["closest_record"] == pytest.approx(
            found["closest_records"]["released"]["median"]
        )


def test_nothing_is_measured_row_by_row_where_rows_follow_nobody(numbers):
    """What needs pairs has no figure of it; what needs none has one, of every method alike."""
    for row in numbers.table.to_dicts():
        assert all((row[name] is None) == (row["method"] == "dp-synthetic") for name in PAIRED)
        assert all(row[name] is not None for name in UNPAIRED)
        assert row["is_synthetic"] == (row["method"] == "dp-synthetic")


def test_without_such_a_method_a_comparison_is_as_it_was():
    """No figure is added, and information loss is what all are held against."""
    found = compare(people(), methods="laplace", **GRID, **NUMBERS)
    assert not set(UNPAIRED) & set(found.table.columns)
    assert "unpaired" not in found.description["measures"]
    assert loss_of(found.summary).id == "information_loss"


def test_row_scope_has_inhabitants(numbers):
    """Frontier and map hold it, by a loss that needs no pairs; its linkage is not made up."""
    kept = numbers.frontier.filter(polars.col("scope") == "row")
    assert "dp-synthetic" in kept["method"].to_list()
    assert of_method(kept, "dp-synthetic")[0]["linkage"] is None
    assert kept["two_way_total_variation"].null_count() == 0
    chart = comparison_chart(numbers)
    points = {p["method"]: p for p in chart.spec["data"]["values"] if p["scope"] == "row"}
    assert len(points) == len(ROW.split(","))
    assert "against two-way total variation" in chart.says
    for name, point in points.items():
        assert (point["risk"] == point["risk_high"] == 0) == name.startswith("dp-synthetic")
    assert points["dp-synthetic (delta 1e-09)"]["loss"] < points["laplace"]["loss"]


def test_it_is_said_why_it_stands_at_0(numbers):
    """In the answer and on the page: by what linkage is, unmeasured."""
    told = "their linkage is 0 by what it is, and not by a measurement"
    answer = " ".join(numbers.answer.split())
    assert "Two-way total variation, lowest" in answer
    assert "Rows of dp-synthetic follow nobody, so that all are ranked by the two-way" in answer
    assert told in answer
    # Its two structures are hardly told apart.
    assert re.search(r"row DP \| 3 \| dp-synthetic \((tree, )?delta 1e-09\) ", answer)
    assert told in " ".join(re.sub("<[^>]+>", " ", comparison_report(numbers)).split())


def test_a_delta_is_an_allowance(numbers):
    """Methods that need none keep epsilon without: they are not refused, and not beaten by it."""
    assert numbers.summary["refused"].null_count() == numbers.summary.height
    deltas = dict(numbers.summary.select("method", "delta").iter_rows())
    assert deltas == {"dp-synthetic": 1e-9, "laplace": 0.0, "dp-um": 0.0}
    (laplace,) = of_method(numbers.summary, "laplace")
    synthetic = of_method(numbers.summary, "dp-synthetic")[0]
    assert synthetic["scope"] == laplace["scope"] == "row"
    assert synthetic["two_way_total_variation_high"] < laplace["two_way_total_variation_low"]
    assert not laplace["excluded[record_linkage]"]
    assert "laplace" in numbers.frontier["method"].to_list()
    pure = compare(people(), methods=ROW, **GRID, **NUMBERS)
    assert of_method(pure.summary, "laplace")[0]["excluded[record_linkage]"]
    assert "laplace" not in pure.frontier["method"].to_list()


@pytest.mark.parametrize("n_records", [40, 900])
def test_there_may_be_more_records_or_fewer(n_records):
    """Whatever needs no pairs is measured all the same, analyses too."""
    found = compare(
        people(), methods=ROW, n_records=n_records, propensity=True, formula="FEE ~ AGE",
        classes="AGE", threshold=50, estimator=GaussianNB(), **GRID, **NUMBERS,
    )  # fmt: skip
    for row in of_method(found.table, "dp-synthetic"):
        names = [*UNPAIRED, "propensity_ratio", "coefficient_overlap", "f_measure[> 50]"]
        # A median of the distances of fewer than 100 rows is left out.
        missing = [] if n_records >= 100 else ["closest_record"]
        assert [name for name in names if row[name] is None] == missing


def test_a_classifier_learns_from_it_with_classes_of_its_own():
    """Of a column that is protected, a category too; where it is not, nothing can be learnt."""
    asked = {**REQUEST, "attributes": ["AGE", "FEE", "PLACE"]}
    own = {"methods": "dp-synthetic", "classes": "PLACE", "estimator": GaussianNB(), **GRID}
    learnt = compare(people(), target="PLACE", **own, **asked).summary
    name = "f_measure[north]"
    assert learnt[name][0] > learnt["f_measure_majority[north]"][0] + 0.1
    assert learnt["f_measure_original[north]"][0] >= learnt[name][0]
    nothing = compare(people(), **own, **NUMBERS).summary
    assert nothing[name].null_count() == 1
    assert nothing["f_measure_original[north]"].null_count() == 0


def test_a_single_attribute_is_ranked_by_its_own_distribution():
    """There is no pair of attributes: one-way total variation stands for the loss."""
    found = compare(
        people(), methods="dp-synthetic,laplace", **GRID, **{**NUMBERS, "attributes": "AGE"}
    )
    assert loss_of(found.summary).id == "one_way_total_variation"
    assert found.frontier.height


def test_what_leaves_an_attribute_out_is_held_against_nothing_that_has_it(tmp_path):
    """A recipe's categories in no order are left out by laplace: its pairs are not those of all."""
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        """
        [attributes.AGE]
        role = "confidential"
        type = "whole number"
        bounds = [0, 120]

        [attributes.PLACE]
        role = "quasi-identifier"
        type = "text"
        categories = ["north", "south", "east"]
        """
    )
    table = {name: people()[name] for name in ("AGE", "PLACE")}
    for methods in ("laplace,dp-synthetic", "dp-synthetic,laplace"):
        found = compare(table, methods=methods, recipe=recipe, **GRID).summary
        (laplace,), (synthetic,) = (of_method(found, m) for m in ("laplace", "dp-synthetic"))
        assert laplace["two_way_total_variation"] is None
        assert laplace["sorted_error"] is not None
        assert synthetic["two_way_total_variation"] is not None


WORDS = {
    "attributes": ["PLACE", "PAID"],
    "categories": {"PLACE": ["north", "south", "east"], "PAID": ["no", "yes"]},
}


def words(n=300):
    """A table of categories in no order alone."""
    place = people(n)["PLACE"]
    return {"PLACE": place, "PAID": np.where(place == "north", "no", "yes")}


@pytest.fixture(scope="module")
def of_words():
    return compare(words(), methods="dp-synthetic,pram,laplace,ranking", k=[5], **GRID, **WORDS)


def test_a_table_of_categories_alone_is_compared(of_words):
    """By what needs neither numbers nor pairs; figures are those of the release of each seed."""
    assert loss_of(of_words.summary).id == "two_way_total_variation"
    for row in of_words.table.to_dicts():
        if row["refused"] is not None:
            continue
        release = mv.protect(words(), method=row["method"], epsilon=3, seed=row["seed"], **WORDS)
        found = mv.assess(words(), release).to_dict()
        expected = pytest.approx(found["total_variation"]["two_way"], rel=1e-12)
        assert row["two_way_total_variation"] == expected
        assert row["closest_record"] is not None
        assert row["sorted_error"] is row["information_loss"] is row["record_linkage"] is None
    assert of_words.description["attributes"] == ["PLACE", "PAID"]
    assert of_words.description["n_records"] == 300


def test_of_categories_alone_what_cannot_run_is_listed_with_its_reason(of_words):
    """In the summary and in the answer, by the place that it concerns."""
    refused = dict(of_words.summary.select("method", "refused").iter_rows())
    assert refused["dp-synthetic"] is refused["pram"] is None
    for method in ("laplace", "ranking"):
        assert f"attributes 'PLACE', 'PAID': {method} ranks values" in refused[method]
    answer = " ".join(of_words.answer.split())
    both = "attributes 'PLACE', 'PAID'"
    assert f"Refused: 2 of 4 configurations - laplace, epsilon 3: {both}" in answer
    assert "| row DP | 3 | dp-synthetic |" in answer


def test_of_categories_alone_it_is_said_who_stands_on_no_map(of_words):
    """Linkage takes numbers: a method whose rows follow people is not put at 0."""
    assert set(of_words.frontier["method"]) == {"dp-synthetic"}
    points = comparison_chart(of_words).spec["data"]["values"]
    assert [point["method"] for point in points] == ["dp-synthetic"]
    for page in (of_words.answer, comparison_report(of_words)):
        shown = " ".join(re.sub("<[^>]+>", " ", page).split())
        assert "Records of pram were not linked, which takes numbers" in shown


def test_where_linkage_was_measured_nobody_is_said_to_stand_on_no_map(numbers):
    """The sentence is of those that have a loss and no linkage."""
    assert "were not linked" not in " ".join(numbers.answer.split())


def test_analyses_that_need_numbers_are_refused_of_categories_alone():
    """Before anything is drawn, each with its own place."""
    for asked, place in (
        ({"propensity": True}, "propensity"),
        ({"classes": "PAID"}, "classes"),
        ({"formula": "PAID ~ PLACE"}, "formula, column 'PAID'"),
    ):
        with pytest.raises(mv.MicroveilError) as refused:
            compare(words(), methods="dp-synthetic", **asked, **GRID, **WORDS)
        assert refused.value.place == place


def test_categories_alone_need_a_method_whose_rows_follow_nobody():
    """Else there is nothing that all could be measured by."""
    with pytest.raises(mv.DataError, match="there is no numeric attribute among them"):
        compare(words(), methods="pram", **GRID, **WORDS)


def test_values_outside_their_bounds_are_read_as_each_method_has_it():
    """Moved to the bound for a new table; refused by a method that is not asked to move them."""
    table = people()
    table["AGE"][0] = 130
    found = compare(
        table, methods="laplace,pram,dp-synthetic", **GRID, **{**NUMBERS, "attributes": "AGE"}
    )
    refused = dict(found.summary.select("method", "refused").iter_rows())
    assert refused["dp-synthetic"] is None
    for method in ("laplace", "pram"):
        assert "outside the declared bounds" in refused[method]


def test_its_plan_is_made_once_for_each_configuration():
    """Each epsilon and each structure is planned once, however many runs are drawn."""
    plans = []
    real = running.plan_of

    def counted(settled):
        request = settled.request
        plans.append((str(request.epsilon), request.steps["structure"]))
        return real(settled)

    with patch.object(running, "plan_of", counted):
        compare(
            people(), methods="dp-synthetic,dp-synthetic:structure=tree", delta=1e-9,
            **{**GRID, "epsilon": [3, 4]}, **REQUEST,
        )  # fmt: skip
    assert sorted(plans) == [("3", "graph"), ("3", "tree"), ("4", "graph"), ("4", "tree")]


def test_a_comparison_in_a_folder_goes_on(tmp_path, mixed):
    """The very rows come out that come out at once; what is asked of new tables is the same."""
    folder = tmp_path / "found"
    asked = {"methods": "dp-synthetic", **GRID, **REQUEST}

    def stopped(done, _total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(people(), folder=folder, progress=stopped, **asked)
    found = compare(people(), folder=folder, **asked)
    assert found.table.equals(mixed.table)


def test_codes_in_an_order_are_measured_as_the_ranks_they_are():
    """A release that keeps nearly all of them has nearly no loss, whatever numbers they are."""
    codes = np.random.default_rng(0).choice([1, 50, 1000], 200)
    found = compare(
        {"CODE": codes}, methods="dp-um", k=[3], epsilon=[1000], runs=1, seed=1,
        attributes="CODE", categories={"CODE": mv.ordered(1, 50, 1000)},
    )  # fmt: skip
    assert found.summary["information_loss"][0] < 5


MOVED = Measure(
    id="moved_median",
    label="change of the first median",
    explanation="0 = the median stayed",
    function=lambda before, after: abs(float(np.median(after[:, 0]) - np.median(before[:, 0]))),
    takes=ALL_NUMBERS,
    needs_pairs=False,
)


def test_a_measure_of_a_plugin_that_needs_no_pairs_is_taken(monkeypatch):
    """As a column; where it says so, as the loss that all are held against."""
    monkeypatch.setitem(MEASURES, MOVED.id, MOVED)
    asked = {"methods": ROW, **GRID, **NUMBERS}
    assert compare(people(), **asked).summary[MOVED.id].null_count() == 0
    loss = Measure(
        **{name: getattr(MOVED, name) for name in MOVED.__dataclass_fields__ if name != "compared"},
        compared=Compared(stands_for_loss=True),
    )
    monkeypatch.setitem(MEASURES, MOVED.id, loss)
    found = compare(people(), **asked)
    assert loss_of(found.summary) is loss
    assert "Change of the first median, lowest" in found.answer
    assert MOVED.id not in Measures().names


@pytest.mark.parametrize(
    "own", [{"better": Better.HIGHER}, {"lowest": -math.inf}, {"needs_pairs": True}]
)
def test_what_stands_for_the_loss_is_one_without_pairs(own):
    """What is no loss, or needs pairs, cannot stand for it."""
    fields = {name: getattr(MOVED, name) for name in MOVED.__dataclass_fields__}
    with pytest.raises(ValueError, match="a loss without pairs"):
        Measure(**{**fields, **own, "compared": Compared(stands_for_loss=True)})
