"""Classification: F-measures by hand and by scikit-learn, the protocol against a plain one."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import f1_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from microveil.errors import DataError, RequestError
from microveil.measures.learning import (
    classification_task,
    compare_classification,
    f_measures,
    threshold_classes,
)
from microveil.measures.values import mean_of, plain

TREE = DecisionTreeClassifier(max_features=1)


def people(n=300, seed=0):
    """Two attributes, and classes that both decide, with some luck."""
    generator = np.random.default_rng(seed)
    table = {"A": generator.normal(size=n), "B": generator.normal(size=n)}
    score = table["A"] + table["B"] + 0.3 * generator.normal(size=n)
    return table, threshold_classes(score, 0.5)


def noised(table, spread, seed=1):
    generator = np.random.default_rng(seed)
    return {
        name: column + spread * generator.normal(size=len(column)) for name, column in table.items()
    }


def test_f_measures_are_those_of_hand_counted_confusion():
    """Class 0: 5 right, 2 missed, 1 wrongly taken; precision 5/6, recall 5/7, F 10/13."""
    actual = np.array([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
    predicted = np.array([0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1])
    measures = f_measures(actual, predicted, 2)
    assert measures == pytest.approx([10 / 13, 2 / 3])
    precision, recall = 5 / 6, 5 / 7
    assert measures[0] == pytest.approx(2 / (1 / precision + 1 / recall))


def test_a_class_never_predicted_has_f_0():
    """And one that is not there to be predicted has none."""
    measures = f_measures(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0]), 3)
    assert measures[:2].tolist() == [pytest.approx(2 / 3), 0.0]
    assert math.isnan(measures[2])


@given(st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), min_size=1, max_size=60))
def test_f_measures_are_those_of_the_definition(pairs):
    """For every class that occurs, however many: 2 TP / (2 TP + FP + FN)."""
    actual, predicted = np.array(pairs).T
    measures = f_measures(actual, predicted, 30)
    for c in range(30):
        right = sum(a == c == p for a, p in pairs)
        wrong = sum((a == c) != (p == c) for a, p in pairs)
        if c in actual:
            assert measures[c] == pytest.approx(2 * right / (2 * right + wrong))
        else:
            assert math.isnan(measures[c])


def plain_protocol(original, protected, classes, model, seed):
    """IDP-2025 4.2: train on the first 66 % of the masked, test on the other original ones."""
    before, after = (np.column_stack([t["A"], t["B"]]) for t in (original, protected))
    n = len(classes) * 66 // 100
    trained = model.set_params(random_state=seed).fit(after[:n], classes[:n])
    predicted = trained.predict(before[n:])
    return f1_score(classes[n:], predicted, average=None, zero_division=0)


def test_the_protocol_is_that_of_the_paper():
    """Seed by seed as a plain rendering of it, with a random forest of 100 trees by default."""
    original, classes = people(200)
    protected = noised(original, 1)
    few = RandomForestClassifier(n_estimators=5)
    found = compare_classification(original, protected, classes, estimator=few, seeds=(3, 4))
    for i, seed in enumerate((3, 4)):
        for table, measures in ((protected, found.protected), (original, found.original)):
            expected = plain_protocol(original, table, classes, few, seed)
            assert measures[i] == pytest.approx(expected)
    found = compare_classification(original, protected, classes, seeds=(3,))
    forest = RandomForestClassifier(n_estimators=100)
    expected = plain_protocol(original, protected, classes, forest, 3)
    assert found.protected[0] == pytest.approx(expected)
    assert (found.n_train, found.n_test, found.n_left_out) == (132, 68, 0)
    assert found.estimator == "RandomForestClassifier()"


def test_figures_are_means_over_seeds():
    """Of protected, original and their differences, seed by seed, with Student's intervals."""
    original, classes = people()
    found = compare_classification(original, noised(original, 1), classes, estimator=TREE)
    assert found.seeds == tuple(range(10))
    for c, compared in enumerate(found.classes):
        for mean, values in (
            (compared.protected, found.protected[:, c]),
            (compared.original, found.original[:, c]),
            (compared.loss, found.original[:, c] - found.protected[:, c]),
        ):
            assert mean.value == pytest.approx(np.mean(values))
            assert mean.standard_deviation == pytest.approx(np.std(values, ddof=1))
            interval = stats.t.interval(0.95, 9, np.mean(values), stats.sem(values))
            assert mean.interval == pytest.approx(interval)
            assert mean.standard_deviation > 0


def test_an_identical_table_loses_nothing():
    """Every difference is 0, for every seed."""
    original, classes = people()
    found = compare_classification(original, {**original}, classes, estimator=TREE)
    assert (found.protected == found.original).all()
    assert [compared.loss.interval for compared in found.classes] == [(0, 0), (0, 0)]


def test_the_majority_class_is_the_baseline():
    """By hand: the class most frequent in training as the guess for everybody."""
    table = {"A": np.arange(100.0)}
    classes = np.array((["x", "x", "y"] * 34)[:100])
    found = compare_classification(table, table, classes, estimator=TREE, seeds=[0])
    n_x = int((classes[66:] == "x").sum())
    assert [compared.label for compared in found.classes] == ["x", "y"]
    assert [compared.n_test for compared in found.classes] == [n_x, 34 - n_x]
    assert found.classes[0].majority == pytest.approx(2 * n_x / (34 + n_x))
    assert found.classes[1].majority == 0
    late = np.array(["x"] * 50 + ["y"] * 50)
    task = classification_task(table, late, estimator=TREE)
    assert task.majority().tolist() == [0] * 34
    assert task.f_measures(task.majority())[1] == 0


def test_protected_records_are_only_trained_on_and_original_ones_tested():
    """What stands in the last third of the protected table does not matter; nor do classes."""
    original, classes = people()
    protected = noised(original, 0.5)
    wild = {name: np.concatenate([c[:198], c[198:] * 1e6]) for name, c in protected.items()}
    found = [
        compare_classification(original, table, classes, estimator=TREE, seeds=[1]).protected
        for table in (protected, wild)
    ]
    assert (found[0] == found[1]).all()
    task = classification_task(original, classes, estimator=TREE)
    assert task.train.tolist() == list(range(198))
    assert task.test.tolist() == list(range(198, 300))


def test_a_table_to_each_seed_is_trained_with_that_seed():
    """Runs of a masking method: the second table with the second seed."""
    original, classes = people()
    tables = [noised(original, 1, seed=seed) for seed in (5, 6)]
    both = compare_classification(original, tables, classes, estimator=TREE, seeds=(5, 6))
    single = compare_classification(original, tables[1], classes, estimator=TREE, seeds=[6])
    assert both.protected[1].tolist() == single.protected[0].tolist()
    assert both.original[1].tolist() == single.original[0].tolist()
    task = classification_task(original, classes, estimator=TREE)
    assert task.f_measures(task.predicted(tables[1], 6)).tolist() == single.protected[0].tolist()
    assert np.isnan(single.classes[0].loss.interval).all()


def test_every_random_state_is_set_and_the_estimator_left_as_it_was():
    """Within a pipeline too: equal seeds give equal figures, others give others."""
    original, classes = people(150)
    model = make_pipeline(StandardScaler(), MLPClassifier(hidden_layer_sizes=(3,), tol=1e3))
    task = classification_task(original, classes, estimator=model)
    first, again, other = (task.predicted(original, seed).tolist() for seed in (1, 1, 2))
    assert first == again != other
    assert not hasattr(model[-1], "classes_")
    assert model[-1].random_state is None


def test_a_classifier_in_a_pipeline_gets_the_seed_that_it_gets_alone():
    """With nothing before it, a forest in a pipeline learns the same, seed by seed."""
    original, classes = people(150)
    forest = RandomForestClassifier(n_estimators=2, max_features=1)
    alone, within = (
        classification_task(original, classes, estimator=model)
        for model in (forest, make_pipeline("passthrough", forest))
    )
    found = [alone.predicted(original, seed).tolist() for seed in range(8)]
    assert [within.predicted(original, seed).tolist() for seed in range(8)] == found
    assert any(one != found[0] for one in found)


def test_categories_are_learnt_from():
    """Text becomes columns of 0 and 1; a category that the original does not have is none."""
    generator = np.random.default_rng(0)
    job = generator.choice(["clerk", "nurse", "smith"], 300)
    classes = np.where(job == "nurse", "yes", "no")
    found = compare_classification(
        {"JOB": job}, {"JOB": job}, classes, estimator=TREE, seeds=range(2)
    )
    assert (found.protected == 1).all()
    strange = np.where(generator.random(300) < 0.5, "welder", job)
    task = classification_task({"JOB": job}, classes, estimator=TREE)
    by_hand = classification_task(
        {name: (job == name).astype(float) for name in ("clerk", "nurse", "smith")},
        classes, estimator=TREE,
    )  # fmt: skip
    columns = {name: (strange == name).astype(float) for name in ("clerk", "nurse", "smith")}
    for seed in range(3):
        expected = by_hand.predicted(columns, seed).tolist()
        assert task.predicted({"JOB": strange}, seed).tolist() == expected


@pytest.mark.parametrize(("n", "n_train"), [(150, 99), (1080, 712), (50, 33)])
def test_the_split_is_at_the_exact_share(n, n_train):
    """66 of a hundred: of 150 records 99, where 0.66 x 150 in floating point falls short."""
    task = classification_task({"A": np.arange(float(n))}, np.arange(n) % 2)
    assert (len(task.train), len(task.test)) == (n_train, n - n_train)


def test_records_with_a_missing_cell_or_class_take_no_part():
    """The split is of the others; missing in the protected table alone are not trained on."""
    original, classes = people(100)
    original["A"][[2, 70]] = math.nan
    classes[[3, 80]] = ""
    kept = np.delete(np.arange(100), [2, 3, 70, 80])
    protected = noised(original, 0.5)
    found = compare_classification(original, protected, classes, estimator=TREE, seeds=[0])
    expected = compare_classification(
        {name: column[kept] for name, column in original.items()},
        {name: column[kept] for name, column in protected.items()},
        classes[kept], estimator=TREE, seeds=[0],
    )  # fmt: skip
    assert (found.n_train, found.n_test, found.n_left_out) == (63, 33, 4)
    assert (found.protected == expected.protected).all()
    protected["B"][0] = math.nan
    holed = compare_classification(original, protected, classes, estimator=TREE, seeds=[0])
    assert (holed.original == found.original).all()
    protected["B"][:] = math.nan
    with pytest.raises(DataError, match="no record to train on"):
        compare_classification(original, protected, classes, estimator=TREE, seeds=[0])


def test_a_threshold_belongs_to_the_lower_class():
    """At most 6, and above; missing stays missing; classes stand in that order."""
    assert threshold_classes([6, 6.5, math.nan], 6).tolist() == ["<= 6", "> 6", ""]
    assert sorted(set(threshold_classes([1, 99], 30000.5))) == ["<= 30000.5"]
    with pytest.raises(DataError, match="needs numbers"):
        threshold_classes(["a"], 6)


def test_classes_may_be_numbers():
    """More than two, named by themselves."""
    table = {"A": np.arange(90.0)}
    found = compare_classification(
        table, table, np.arange(90) % 3, estimator=TREE, seeds=[0]
    ).to_dict()
    assert [compared["class"] for compared in found["classes"]] == ["0", "1", "2"]
    json.dumps(found, allow_nan=False)


def test_a_class_without_a_test_record_has_no_figure():
    """None rather than 0 or 1."""
    table = {"A": np.arange(60.0)}
    classes = np.array(["z"] * 3 + ["x", "y"] * 30)[:60]
    found = compare_classification(table, table, classes, estimator=TREE, seeds=[0, 1])
    assert [compared.n_test for compared in found.classes][2] == 0
    figures = found.to_dict()["classes"][2]
    assert figures["protected"]["value"] is figures["loss"]["value"] is figures["majority"] is None
    json.dumps(found.to_dict(), allow_nan=False)


def test_one_seed_has_no_interval():
    """And no spread."""
    assert plain(mean_of([0.5])) == {
        "value": 0.5, "interval": [None, None], "standard_deviation": None,
    }  # fmt: skip


class Talkative(ClassifierMixin, BaseEstimator):
    """A classifier that complains of a value."""

    def fit(self, attributes, classes):
        raise ValueError(f"I dislike {attributes[0, 0]} of class {classes[0]}")


def test_messages_of_a_library_are_not_passed_on():
    """They may hold values."""
    table, classes = {"A": np.full(60, 424242.0)}, np.array(["x", "y"] * 30)
    with pytest.raises(RequestError, match="cannot be trained") as refused:
        compare_classification(table, table, classes, estimator=Talkative())
    assert "424242" not in str(refused.value)


@pytest.mark.parametrize(
    "estimator", [LinearRegression(), "forest", RandomForestClassifier, StandardScaler(), 5]
)
def test_what_is_no_classifier_is_refused(estimator):
    """Regressions, names and classes of estimators."""
    original, classes = people()
    with pytest.raises(RequestError, match="classifier of scikit-learn"):
        compare_classification(original, original, classes, estimator=estimator)


@pytest.mark.parametrize(
    "classes", [["x"] * 300, [""] * 300, ["x"] * 200 + ["y"] * 100, ["x"] + [""] * 299]
)
def test_one_class_to_train_on_is_refused(classes):
    """Sorted by class too, where the first 66 % know one class alone."""
    with pytest.raises(DataError, match="two classes or more"):
        compare_classification(*[people()[0]] * 2, classes, estimator=TREE)
