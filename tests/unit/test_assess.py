"""Assessments of tables: what an analyst would find, beside losses and risks."""

import json
import sys

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import microveil as mv
from command import run
from microveil.commands.measuring import assess_files
from microveil.errors import DataError, RequestError
from microveil.measures.analyses import named_classifier
from microveil.measures.learning import compare_classification, threshold_classes
from microveil.measures.linkage import RECORD_LINKAGE
from microveil.measures.opening import guarantee_beside
from microveil.measures.propensity import propensity
from microveil.measures.regression import compare_regressions
from microveil.report import custodian_report
from microveil.table import Numbers, blocks
from microveil.text.figures import figure

NUMBERS = ("AGE", "INCOME", "TAX")
TREE = DecisionTreeClassifier()


@pytest.fixture(scope="module")
def tables():
    """A table and its release, which keeps regions and protects numbers."""
    people = mv.invented_people(200, seed=3)
    release = mv.protect(
        people, method="idp-cbls", k=10, epsilon=1, attributes=NUMBERS, keep=["REGION"], seed=1,
        resolution={"INCOME": 0.01, "TAX": 0.01}, exact_cells="allow",
    )  # fmt: skip
    return people, release.data


def columns(table, names):
    return {name: table[name].to_numpy() for name in names}


def test_analyses_are_those_of_the_functions(tables):
    """F-measures by ten seeds, coefficients and pMSE stand under their names, all attributes in."""
    before, after = tables
    figures = mv.assess(
        before, after, classes="SAVINGS", threshold=5000, estimator=TREE,
        formula="TAX ~ INCOME + REGION", propensity=True,
    ).to_dict()  # fmt: skip
    names = (*NUMBERS, "REGION")
    learnt = compare_classification(
        columns(before, names), columns(after, names),
        threshold_classes(before["SAVINGS"].to_numpy(), 5000),
        class_attribute="SAVINGS", estimator=TREE,
    )  # fmt: skip
    assert figures["classification"] == learnt.to_dict()
    assert figures["classification"]["seeds"] == list(range(10))
    formula = "TAX ~ INCOME + REGION"
    regression = compare_regressions(columns(before, names), columns(after, names), formula)
    assert figures["regression"] == regression.to_dict()
    apart = propensity(columns(before, names), columns(after, names))
    assert figures["propensity"] == apart.to_dict()
    assert json.loads(json.dumps(figures, allow_nan=False))


def test_what_was_not_asked_for_is_no_entry(tables):
    """Without analyses the figures are those with them, less their entries."""
    plain = mv.assess(*tables).to_dict()
    asked = mv.assess(*tables, formula="TAX ~ AGE", propensity=True).to_dict()
    assert {name: asked[name] for name in plain} == plain
    assert set(asked) - set(plain) == {"regression", "propensity"}


def test_the_class_attribute_is_not_learnt_from(tables):
    """Its classes are the original's, whether it is released or not, and it is no feature."""
    before, after = tables
    found = mv.assess(before, after, NUMBERS, classes="TAX", threshold=8000, estimator=TREE)
    names = ("AGE", "INCOME")
    expected = compare_classification(
        columns(before, names), columns(after, names),
        threshold_classes(before["TAX"].to_numpy(), 8000),
        class_attribute="TAX", estimator=TREE,
    )  # fmt: skip
    assert found.classification.to_dict() == expected.to_dict()
    regions = mv.assess(before, after, NUMBERS, classes="REGION", estimator=TREE).classification
    assert [compared.label for compared in regions.classes] == ["East", "North", "South", "West"]


def test_shuffled_releases_have_what_needs_no_pairing(tables):
    """A regression and the propensity are the same in any order, and records are not linked."""
    before, after = tables
    asked = {"formula": "TAX ~ INCOME", "propensity": True, "paired": False}
    shuffled = mv.assess(before, after.sample(fraction=1.0, shuffle=True, seed=1), **asked)
    ordered = mv.assess(before, after, **asked)
    assert shuffled.regression.mean_overlap == pytest.approx(ordered.regression.mean_overlap)
    assert shuffled.propensity.pmse == pytest.approx(ordered.propensity.pmse)
    assert shuffled.attributes == NUMBERS
    assert not shuffled.of(RECORD_LINKAGE)
    assert ordered.to_dict()["total_variation"] == shuffled.to_dict()["total_variation"]


def test_missing_cells_and_classes_take_no_part(tables):
    """Records with a missing cell or class are left out and counted."""
    before, after = (table.with_row_index("place") for table in tables)
    before = before.with_columns(
        pl.when(pl.col("place") == 4).then(None).otherwise(pl.col("AGE")).alias("AGE"),
        pl.when(pl.col("place") == 7).then(None).otherwise(pl.col("REGION")).alias("REGION"),
    )
    found = mv.assess(
        before, after, NUMBERS, classes="REGION", estimator=TREE, formula="TAX ~ AGE",
        propensity=True,
    )  # fmt: skip
    assert found.classification.n_left_out == 2
    assert found.regression.n_original == 199
    assert found.propensity.n_left_out == 1


def test_the_text_shows_every_analysis_in_its_lines(tables):
    """Each asked for has a section with baselines, none wider than the terminal."""
    before, after = tables
    text = mv.assess(
        before, after, NUMBERS, classes="SAVINGS", threshold=5000, estimator=TREE,
        formula="TAX ~ INCOME*AGE", propensity=True,
    ).to_text()  # fmt: skip
    for words in (
        "Classes of SAVINGS", "<= 5000", "majority", "10 seeds",
        "TAX ~ INCOME + AGE + INCOME:AGE; with", "mean overlap", "Propensity", "ratio",
    ):  # fmt: skip
        assert words in text
    assert "Classification" not in mv.assess(before, after).to_text()
    constant = {"A": np.array([1.0, 2.0, 3.0, 4.0]), "B": np.ones(4)}
    undefined = mv.assess(constant, constant, formula="A ~ B").to_text()
    assert "nan" not in undefined


@pytest.mark.parametrize(
    ("asked", "told"),
    [({"threshold": 3}, "class attribute"), ({"classes": "NONE"}, "no such column"),
     ({"classes": "ID"}, "at most 50 classes"), ({"formula": "TAX ~ VISITS"}, "protected table"),
     ({"classes": "SINCE", "threshold": "2000"}, "finite number"),
     ({"attributes": ["TAX"], "classes": "TAX", "threshold": 1}, "nothing to learn from")],
)  # fmt: skip
def test_what_cannot_be_analysed_is_refused(tables, asked, told):
    """Arguments that do not fit the tables say where and what to do."""
    with pytest.raises((RequestError, DataError), match=told):
        mv.assess(*tables, **asked)


def test_classifiers_go_by_the_full_name_of_scikit_learn():
    """A public classifier that needs no arguments, and nothing outside of scikit-learn."""
    assert isinstance(
        named_classifier("sklearn.linear_model.LogisticRegression"), LogisticRegression
    )
    for name in (
        "os.system", "sklearn", "sklearn.LogisticRegression", "LogisticRegression", "",
        "sklearn.linear_model.LinearRegression", "sklearn.ensemble.VotingClassifier",
        "sklearn.base.is_classifier", "sklearn.base.np.ndarray", "sklearn.nothing.Here",
        "sklearn.linear_model._logistic.LogisticRegression", "sklearn..tree", "sklearn.svm.",
        "sklearn.base.BaseEstimator", "sklearn.tree.__class__",
    ):  # fmt: skip
        with pytest.raises(RequestError, match="full name of a classifier"):
            named_classifier(name)


def test_without_scikit_learn_its_extra_is_named(tables, monkeypatch):
    """Where it is not installed, the message says what to install."""
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(RequestError, match=r"microveil\[report\]"):
        named_classifier("sklearn.tree.DecisionTreeClassifier")
    with pytest.raises(RequestError, match=r"microveil\[report\]"):
        mv.assess(*tables, classes="REGION", estimator=TREE)


def test_a_notebook_shows_no_figure_of_the_original():
    """What is printed by itself names an assessment, and no more."""
    found = mv.assess({"AGE": np.array([20, 30, 40, 51])}, {"AGE": np.array([25, 25, 45, 45])})
    assert repr(found) == "Assessment(4 records, AGE)"
    assert repr(found.measured["sse"]) == "Measured(sse)"


def beginning(text):
    """The lines of a text up to the first empty one, as one."""
    return " ".join(text.split("\n\n")[0].split())


def test_the_text_begins_with_the_four_figures_that_matter(tables):
    """Promise, information loss, worst attribute and records found again, before all else."""
    before, after = tables
    found = mv.assess(before, after, NUMBERS)
    figures = found.to_dict()
    told = beginning(found.to_text())
    name, distance = max(figures["kolmogorov_smirnov"].items(), key=lambda entry: entry[1])
    linked = max(figures[one.measure.id] for one in found.of(RECORD_LINKAGE))
    assert figures["worst_attribute"] == {"attribute": name, "kolmogorov_smirnov": distance}
    assert figures["kolmogorov_smirnov"] == {
        entry: fit["ks"]["statistic"] for entry, fit in figures["goodness_of_fit"].items()
    }
    places = [
        told.index(words)
        for words in (
            "promised: not known",
            f"information loss: {figure(figures['information_loss'])} %",
            "worst attribute",
            f"'{name}': distribution moved by {figure(distance)}",
            f"records found again: {figure(linked)} %",
            "released as they are: REGION",
        )
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("columns", [80, 120])
def test_an_assessment_is_a_document_that_fits_a_terminal(tables, columns, monkeypatch):
    """No line is wider than the terminal, and no word of the document is cut."""
    before, after = (side.rename({"AGE": "AGE_OF_THE_PERSON_IN_YEARS"}) for side in tables)
    names = ["AGE_OF_THE_PERSON_IN_YEARS", "INCOME"]
    found = mv.assess(before, after, names, by=["REGION"], rules=["INCOME >= 0"], weights="ID")
    whole = found.document().to_text()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    text = found.to_text()
    assert max(map(len, text.splitlines())) <= columns
    assert sorted(text.split()) == sorted(whole.split())


def test_a_release_is_assessed_with_what_it_promises():
    """Its guarantee, its order and its kept columns are known without being asked for."""
    people = mv.invented_people(200, seed=3)
    asked = {"method": "dp-um", "k": 10, "epsilon": 1, "attributes": ["AGE", "VISITS"],
             "bounds": {"AGE": (0, 120), "VISITS": (0, 100)}, "keep": ["REGION"]}  # fmt: skip
    found = mv.assess(people, mv.protect(people, **asked), ["AGE", "VISITS"])
    promised = found.to_dict()["promised"]
    assert promised.startswith("DP of the centroids, epsilon 1 at cluster and vector scope")
    assert "row scope not covered" in promised
    assert "promised: DP of the centroids" in beginning(found.to_text())
    assert found.kept == ("REGION",)
    shuffled = mv.assess(people, mv.protect(people, shuffle=True, **asked), ["AGE", "VISITS"])
    assert not shuffled.paired
    assert shuffled.kept == ("REGION",)
    seeded = mv.assess(people, mv.protect(people, seed=1, **asked), ["AGE"]).to_dict()
    assert seeded["promised"].startswith("nothing")
    clusters = mv.protect(people, method="mdav", k=5, attributes=["AGE", "VISITS"])
    assert mv.assess(people, clusters).to_dict()["promised"] == (
        "k-anonymity with k = 5; no epsilon; a person with several rows is counted several times"
    )


@pytest.mark.parametrize(
    ("name", "contents"),
    [("other.csv", None), ("data.csv", ""), ("data.csv", "[]"), ("data.csv", "{}"),
     ("data.csv", '{"schema": 1, "attributes": {"AGE": 1}, "kept": []}')],
)  # fmt: skip
def test_a_promise_is_read_for_its_own_table_only(tmp_path, name, contents):
    """Of another file in the folder, other columns, or what is no guarantee nothing is read."""
    people = mv.invented_people(50, seed=1)
    release = mv.protect(people, method="mdav", k=5, attributes=["AGE"])
    release.write(tmp_path / "out")
    assert guarantee_beside(tmp_path / "out" / "data.csv", ["AGE"]).k == 5
    assert guarantee_beside(tmp_path / "out" / "data.csv", ["AGE", "TAX"]) is None
    if contents is not None:
        (tmp_path / "out" / "guarantee.json").write_text(contents)
    assert guarantee_beside(tmp_path / "out" / name, ["AGE"]) is None


def test_a_file_whose_guarantee_says_shuffled_is_not_compared_row_by_row(tmp_path):
    """Rows and columns in random order have no pairs, and the guarantee beside them says so."""
    people = mv.invented_people(60, seed=1)
    people.write_parquet(tmp_path / "people.parquet")
    for shuffle in ("rows", "columns", None):
        release = mv.protect(people, method="ranking", k=5, attributes=["AGE", "VISITS"],
                             shuffle=shuffle or False)  # fmt: skip
        folder = tmp_path / str(shuffle)
        release.write(folder, format="parquet")
        found = assess_files(tmp_path / "people.parquet", folder / "data.parquet", None, text=None)
        assert found.paired == (shuffle is None)
        assert found.guarantee == release.guarantee


def test_a_sample_is_linked_and_said_to_be_one_wherever_its_figure_stands(tables):
    """Its size and interval stand in JSON, text and report; without one there is no such word."""
    before, after = tables
    found, whole = mv.assess(before, after, NUMBERS, sample=120), mv.assess(before, after, NUMBERS)
    figures = found.to_dict()
    linkages = [one.measure.id for one in found.of(RECORD_LINKAGE)]
    assert figures["record_linkage_sampled"] == dict.fromkeys(linkages, 120)
    assert figures == mv.assess(before, after, NUMBERS, sample=120).to_dict()
    strongest = found.strongest_linkage
    low, high = strongest.figure.interval
    assert low < whole.to_dict()[strongest.measure.id] < high
    first, ends = beginning(found.to_text()), f"{figure(low)} to {figure(high)} %"
    assert f"{figure(strongest.value)} % of 120 sampled records, 95 % interval {ends}" in first
    assert "of 120 sampled records" in found.to_text()
    release = mv.protect(before, method="laplace", epsilon=1, attributes=["AGE"],
                         bounds={"AGE": (0, 120)})  # fmt: skip
    for assessed, is_sample in ((found, True), (whole, False)):
        page = custodian_report(release, before, assessment=assessed)
        assert ("of 120 sampled records, 95 % interval" in page) is is_sample
        assert ("120 sampled records" in page) is is_sample
    assert "record_linkage_sampled" not in whole.to_dict()
    assert "120" not in beginning(whole.to_text())
    with pytest.raises(RequestError, match="sample"):
        mv.assess(before, after, NUMBERS, sample=0)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("paired", [False, True])
def test_a_table_in_many_blocks_has_the_figures_of_one(gaps, paired, monkeypatch):
    """Numbers, yes and no, words; whatever is measured, of complete cells or not."""
    people = mv.invented_people(300, seed=8).drop("ID")
    generator = np.random.default_rng(8)
    release = people.with_columns(
        INCOME=pl.Series(people["INCOME"] + generator.laplace(0, 900, 300)),
        AGE=pl.Series(people["AGE"] + generator.integers(-3, 4, 300)),
        REGION=people["REGION"].reverse(),
    )
    if gaps:
        release = release.with_columns(
            pl.when(pl.int_range(300) % 7 == 2).then(None).otherwise(pl.col(name)).alias(name)
            for name in ("INCOME", "AGE", "REGION")
        )
    asked = {"paired": paired, "by": ["REGION"], "k": 5, "propensity": True}

    def figures():
        return mv.assess(people, release, **asked).to_dict()

    whole = figures()
    monkeypatch.setattr(blocks, "BLOCK_RECORDS", 64)
    assert_near(figures(), whole)


def assert_near(found, expected):
    """Entry by entry, numbers but for the last digits."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name, entry in expected.items():
            assert_near(found[name], entry)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_near(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
    else:
        assert found == expected


def test_linkage_is_left_out_where_it_is_not_wanted(tables):
    """Nothing is linked, and the first lines say that it was not asked for."""
    found = mv.assess(*tables, NUMBERS, linkage=False)
    assert not [name for name in found.to_dict() if name.startswith("record_linkage")]
    assert "records found again: not measured: it was not asked for" in beginning(found.to_text())
    assert found.to_dict()["information_loss"] > 0


def test_the_command_links_as_many_records_as_asked_for_or_none(tables, tmp_path):
    """`--sample` says how many, `--no-linkage` none."""
    for name, table in zip(("before.csv", "after.csv"), tables, strict=True):
        table.select(NUMBERS).write_csv(tmp_path / name)
    files = ("before.csv", "after.csv", "--json")
    some = json.loads(run("assess", *files, "--sample", "40", folder=tmp_path).stdout)
    assert set(some["record_linkage_sampled"].values()) == {40}
    assert "record_linkage" not in json.loads(
        run("assess", *files, "--no-linkage", folder=tmp_path).stdout
    )
    attacked = json.loads(run("attack", *files, "--sample", "40", folder=tmp_path).stdout)
    linked = [one for one in attacked["outcomes"] if one["attack"].startswith("record linkage")]
    assert [one["success"]["n"] for one in linked] == [40, 40]


def test_the_folder_of_a_release_stands_for_its_table(tmp_path):
    """Both commands find the table in it, of any format, with the guarantee beside it."""
    people = mv.invented_people(60, seed=2).select("AGE", "VISITS")
    people.write_parquet(tmp_path / "people.parquet")
    asked = {"method": "dp-um", "k": 5, "epsilon": 1, "bounds": {"AGE": (0, 120)}}
    mv.protect(people, attributes=["AGE"], keep=["VISITS"], shuffle=True, **asked).write(
        tmp_path / "out", format="parquet"
    )
    for command in ("assess", "attack"):
        done, same = (
            run(command, "people.parquet", protected, folder=tmp_path)
            for protected in ("out", "out/data.parquet")
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == same.stdout
    assert "shuffled" in run("assess", "people.parquet", "out", folder=tmp_path).stdout
    (tmp_path / "out" / "data.csv").touch()
    for folder in ("out", "."):
        done = run("assess", "people.parquet", folder, folder=tmp_path)
        assert done.returncode == 2
        assert "a folder must be that of a release" in done.stderr


def test_files_with_missing_cells_are_assessed_as_frames_are(tmp_path):
    """Of floats, whole numbers and text in several pieces: what is read in one is the same."""
    random = np.random.default_rng(5)
    parts = [
        pl.DataFrame(
            {
                "INCOME": random.lognormal(8, 1, 40).round(2),
                "AGE": random.integers(0, 99, 40),
                "REGION": random.choice(["north", "south"], 40),
            }
        ).with_columns(
            pl.when(pl.Series(random.random(40) < 0.2)).then(None).otherwise(pl.all()).name.keep()
        )
        for _ in range(4)
    ]
    before, after = pl.concat(parts[:2], rechunk=False), pl.concat(parts[2:], rechunk=False)
    paths = tmp_path / "before.parquet", tmp_path / "after.parquet"
    for frame, path in zip((before, after), paths, strict=True):
        frame.write_parquet(path, row_group_size=30)
    found = assess_files(*paths, None, text=None).to_dict()
    assert found["record_linkage_mixed"] is not None
    assert json.dumps(found) == json.dumps(mv.assess(before, after).to_dict())


@pytest.mark.parametrize("hidden", [np.nan, 7.0])
def test_a_missing_number_is_read_as_one_whatever_stands_there(hidden):
    """A cell that the mask calls missing is NaN, by blocks and by columns."""
    values = np.array([1.0, hidden, 3.0])
    matrix = blocks.AttributeMatrix(
        numbers=[Numbers(values=values, missing=np.array([False, True, False]))]
    )
    assert np.isnan(matrix[:, 0]).tolist() == [False, True, False]
    assert np.isnan(matrix[0:2][:, 0]).tolist() == [False, True]
    assert matrix[2:, 0].tolist() == [3.0]
