"""Survey weights: left out by their role, used by no release, and by the custodian to assess."""

import json
import re
import tomllib

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from command import run
from html_page import read
from microveil.commands.proposal import proposed_recipe
from microveil.measures.weighted import Weights, compare_weighted_shares, weighted_moments
from microveil.report import custodian_report
from microveil.table import likely_weights, open_table
from reference import weighted as plain

N = 60


def sample(seed=1):
    """A small survey: whom a record stands for hangs on its region."""
    random = np.random.Generator(np.random.PCG64(seed))
    region = random.choice(["north", "south"], N, p=[0.7, 0.3])
    return pl.DataFrame(
        {
            "WEIGHT": np.round(np.where(region == "north", 20, 90) * random.gamma(9, 1 / 9, N), 2),
            "AGE": random.integers(18, 90, N),
            "INCOME": np.round(random.lognormal(10, 0.6, N)).astype(np.int64),
            "REGION": region,
        }
    )


SAMPLE = sample()
NUMBER = {"role": "confidential", "type": "whole number"}
ENTRIES = {
    "WEIGHT": {"role": "weight", "type": "decimal", "resolution": 0.01, "bounds": [0, 1000]},
    "AGE": {**NUMBER, "bounds": [0, 120]},
    "INCOME": {**NUMBER, "bounds": [0, 500_000]},
}
TEXT = {"role": "quasi-identifier", "type": "text", "categories": ["north", "south"]}
METHODS = {
    "laplace": {"epsilon": 1},
    "dp-um": {"epsilon": 1, "k": 5},
    "idp-cbls": {"epsilon": 1, "k": 5, "exact_cells": "widen"},
    "mdav": {"k": 5},
    "kanon-dp": {"epsilon": 1, "k": 5},
    "k-noise": {"k": 5},
    "pram": {"epsilon": 1, "attributes": ["REGION"]},
    "dp-synthetic": {"epsilon": 30},
}


def asked(method, **entries):
    """Return a recipe of all columns; text is left out by methods for numbers alone."""
    return {"method": method, "attributes": {**ENTRIES, "REGION": TEXT, **entries}}


@pytest.mark.parametrize("method", METHODS)
def test_a_seeded_release_is_the_same_whatever_weights_that_are_left_out_hold(method):
    """Every cell, the guarantee and the notes; weights that are all 0, missing or huge as well."""
    more = {**METHODS[method], "seed": 7}
    others = (
        pl.Series("WEIGHT", np.arange(N)[::-1] * 1e9 + 0.5),
        pl.Series("WEIGHT", np.zeros(N)),
        pl.Series("WEIGHT", [None, -1.0] * (N // 2)),
    )
    one = mv.protect(SAMPLE, recipe=asked(method), **more)
    assert "WEIGHT" not in one.data.columns
    for weights in others:
        other = mv.protect(SAMPLE.with_columns(weights), recipe=asked(method), **more)
        assert other.data.equals(one.data)
        assert other.guarantee == one.guarantee
        assert other.notes == one.notes
    # What is protected is not the same: the comparison can fail.
    ages = pl.Series("AGE", [20, 80] * (N // 2))
    regions = pl.Series("REGION", ["north", "south"] * (N // 2))
    assert not mv.protect(
        SAMPLE.with_columns(ages, regions), recipe=asked(method), **more
    ).data.equals(one.data)


def test_weights_are_left_out_and_the_notes_say_so():
    """By their role alone, whatever the column is called."""
    people = SAMPLE.rename({"WEIGHT": "X1"})
    recipe = {**asked("mdav", X1=ENTRIES["WEIGHT"]), "k": 5}
    del recipe["attributes"]["WEIGHT"]
    release = mv.protect(people, recipe=recipe)
    assert release.data.columns == ["AGE", "INCOME", "REGION"]
    assert "Not released: X1." in release.notes


def test_weights_are_protected_like_any_number_where_their_role_is_confidential():
    """They then have terms of their own in the guarantee, and bounds are asked for."""
    entry = {**ENTRIES["WEIGHT"], "role": "confidential"}
    recipe = {**asked("laplace", WEIGHT=entry), "epsilon": 1}
    release = mv.protect(SAMPLE, recipe=recipe)
    assert [terms.name for terms in release.guarantee.attributes] == ["WEIGHT", "AGE", "INCOME"]
    assert release.data["WEIGHT"].is_between(0, 1000).all()
    del entry["bounds"]
    with pytest.raises(mv.RequestError, match=r"1 column needs bounds.*: WEIGHT"):
        mv.protect(SAMPLE, recipe=recipe)


def test_public_weights_are_released_as_they_are_and_the_guarantee_names_them():
    """Among the columns kept, a condition of every epsilon beside them."""
    entry = {**ENTRIES["WEIGHT"], "role": "non-confidential"}
    release = mv.protect(SAMPLE, recipe={**asked("laplace", WEIGHT=entry), "epsilon": 1})
    assert release.data["WEIGHT"].equals(SAMPLE["WEIGHT"])
    assert release.guarantee.kept == ("WEIGHT",)
    assert "kept-columns" in {condition.id for condition in release.guarantee.conditions}


def test_a_part_does_not_protect_what_the_recipe_leaves_out_as_weights():
    """The two contradict one another."""
    part = {"attributes": ["WEIGHT"], "method": "mdav", "k": 5}
    with pytest.raises(mv.RequestError, match="part of 'WEIGHT': its role is weight: it is left o"):
        mv.protect(SAMPLE, recipe={"parts": [part], "attributes": ENTRIES})


@pytest.mark.parametrize("scope", ["cluster", None])
def test_weights_of_the_survey_are_proposed_as_weights(scope):
    """Whole ones that differ in every record too, and ones that repeat as households do."""
    survey = mv.invented_people(300, seed=2, kind="survey").with_columns(
        fnlwgt=np.random.Generator(np.random.PCG64(1)).permutation(300) + 1000,
        HHWGT=pl.col("HOUSEHOLD") * 3,
    )
    text = proposed_recipe(survey.select("HHWGT", pl.exclude("HHWGT")), scope=scope).text
    roles = {name: entry["role"] for name, entry in tomllib.loads(text)["attributes"].items()}
    assert [name for name, role in roles.items() if role == "weight"] == [
        "HHWGT", "WEIGHT", "fnlwgt",
    ]  # fmt: skip
    assert roles["HOUSEHOLD"] == "identifier"
    assert '# unit = "HOUSEHOLD"' in text
    assert "# bounds = " in text.partition("[attributes.fnlwgt]")[2]  # for who would protect them
    assert ("weights too, if they are declared public" in text) == (scope is not None)


@pytest.mark.parametrize(
    ("name", "called_so"),
    [
        ("WEIGHT", True), ("weights", True), ("fnlwgt", True), ("PWGTP12", True), ("W_POND", True),
        ("ponderation", True), ("SampleWeight", True), ("hh_wght_2013", True), ("wt", True),
        ("AGE", False), ("overweight", False), ("birth_weight", False), ("BODYWEIGHT", False),
        ("weight_kg", False), ("weightless", False), ("newt", False),
    ],
)  # fmt: skip
def test_weights_are_known_by_the_words_of_their_name(name, called_so):
    """A body's weight is none where the name says so; letters within another word count nothing."""
    assert likely_weights(open_table({name: np.array([1.5, 0.0])}), name) == called_so


@pytest.mark.parametrize(
    "values",
    [np.array([1.5, -2.0]), np.array([0, 0]), np.array(["a", "b"]), np.array([True, False])],
)
def test_what_cannot_weigh_a_record_is_not_proposed_as_weights(values):
    """Numbers below 0, nothing but 0, text, yes/no."""
    assert not likely_weights(open_table({"WEIGHT": values}), "WEIGHT")


@given(
    st.lists(
        st.tuples(st.none() | st.integers(-50, 50), st.integers(0, 40), st.sampled_from("abc")),
        min_size=1,
        max_size=12,
    ).filter(lambda rows: any(weight for _, weight, _ in rows)),
    st.sampled_from([1, 1000, 2.0**-1000, 2.0**1018]),
)
def test_weighted_figures_are_those_of_rationals(rows, unit):
    """Means, variances, totals, shares, whatever the weights are counted in."""
    values, weights, words = zip(*rows, strict=True)
    column = np.array([[np.nan if value is None else value] for value in values], dtype=float)
    own = np.array(weights) * float(unit)
    found = weighted_moments(column, own)
    mean, variance, total = plain.moments(values, weights)
    for of, expected in ((found.means, mean), (found.variances, variance)):
        assert of[0] == pytest.approx(np.nan if expected is None else float(expected), nan_ok=True)
    expected = np.nan if total is None else float(total) * unit  # infinite beyond all floats
    assert found.totals[0] == pytest.approx(expected, nan_ok=True, abs=1e-9 * float(unit))
    codes = np.array(["abc".index(word) for word in words])
    both = Weights(column="W", original=own, protected=own[::-1])
    shares = compare_weighted_shares(codes, codes[::-1].copy(), "abc", weights=both)
    exact = [float(share) for share in plain.shares("abc", words, weights)]
    for side in shares.of_weights:
        assert side == pytest.approx(exact)


def test_equal_weights_give_the_figures_of_the_records():
    """Of 1, or any other number, missing cells among them: those that an assessment has anyhow."""
    before = SAMPLE.with_columns(
        WEIGHT=pl.lit(2.5), AGE=pl.when(pl.col("AGE") > 30).then(pl.col("AGE"))
    )
    after = before.with_columns(INCOME=pl.col("INCOME").reverse() + 7, REGION=pl.lit("south"))
    figures = mv.assess(before, after.drop("WEIGHT"), weights="WEIGHT").to_dict()
    for name, found in figures["weighted_moments"].items():
        for moment in ("mean", "variance"):
            assert found[moment] == pytest.approx(figures["moments"][name][moment])
    shares = figures["weighted_shares"]["REGION"]
    assert shares["unweighted"]["original"] == pytest.approx(shares["weighted"]["original"])
    assert shares["weighted"]["total_variation"] == pytest.approx(
        figures["total_variation"]["attributes"]["REGION"]
    )


PROTECTED = SAMPLE.with_columns(
    AGE=pl.col("AGE") + 5, INCOME=pl.col("INCOME").reverse(), REGION=pl.lit("south")
)


def weighted_mean(column, weights):
    return np.average(column.to_numpy(), weights=weights.to_numpy())


@pytest.mark.parametrize("paired", [True, False])
def test_a_release_with_weights_of_its_own_is_weighted_by_them(paired):
    """As its readers weigh it; the original by its own, in pairs and without."""
    own = PROTECTED.with_columns(WEIGHT=pl.col("WEIGHT").reverse())
    found = mv.assess(SAMPLE, own, weights="WEIGHT", paired=paired).to_dict()
    assert found["weights"] == {
        "column": "WEIGHT", "release_weighted_by": "release", "reason": None,
    }  # fmt: skip
    mean = found["weighted_moments"]["INCOME"]["mean"]
    assert mean["original"] == pytest.approx(weighted_mean(SAMPLE["INCOME"], SAMPLE["WEIGHT"]))
    assert mean["protected"] == pytest.approx(weighted_mean(own["INCOME"], own["WEIGHT"]))
    # All incomes moved together with their weights: nothing is lost.
    assert mean["protected"] == pytest.approx(mean["original"])
    total = found["weighted_moments"]["AGE"]["total"]
    before, after = (table["WEIGHT"] @ table["AGE"] for table in (SAMPLE, own))
    assert total["relative_error"] == pytest.approx((after - before) / before)


def test_a_release_without_weights_is_weighted_by_the_originals_in_pairs():
    """A constant added to each age is added to their weighted mean."""
    found = mv.assess(SAMPLE, PROTECTED.drop("WEIGHT"), weights="WEIGHT").to_dict()
    assert found["weights"]["release_weighted_by"] == "original"
    mean = found["weighted_moments"]["AGE"]["mean"]
    assert mean["protected"] == pytest.approx(mean["original"] + 5)
    weights = SAMPLE["WEIGHT"]
    share = weights.filter(SAMPLE["REGION"] == "south").sum() / weights.sum()
    shares = found["weighted_shares"]["REGION"]["weighted"]
    assert shares["original"] == pytest.approx([1 - share, share])
    assert shares["total_variation"] == pytest.approx(1 - share)


def test_without_weights_and_pairs_the_release_is_said_to_have_no_weighted_figures():
    """The original's stand alone, and text and values say why."""
    assessed = mv.assess(SAMPLE, PROTECTED.drop("WEIGHT"), weights="WEIGHT", paired=False)
    found = assessed.to_dict()
    assert found["weights"]["release_weighted_by"] is None
    assert "no common order" in found["weights"]["reason"]
    for moment in found["weighted_moments"]["AGE"].values():
        assert moment["original"] > 0
        assert moment["protected"] is None
    assert found["weighted_moments"]["AGE"]["total"]["relative_error"] is None
    assert found["weighted_shares"]["REGION"]["weighted"]["protected"] is None
    assert "the release cannot be weighted" in " ".join(assessed.to_text().split())
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    "weights",
    [pl.lit(-1.0), pl.lit(0), pl.lit("x"), pl.lit(None, dtype=pl.Float64), pl.lit(np.inf)],
)
def test_weights_of_a_release_that_weigh_nothing_are_a_reason_and_no_error(weights):
    """Noise without bounds takes some below 0: an assessment is there to show it."""
    own = PROTECTED.with_columns(WEIGHT=weights)
    found = mv.assess(SAMPLE, own, ["AGE"], weights="WEIGHT").to_dict()
    assert found["weights"]["release_weighted_by"] is None
    assert found["weights"]["reason"] == "its own WEIGHT is no number of 0 or more for every record"
    assert found["weighted_moments"]["AGE"]["mean"]["protected"] is None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.where(np.arange(N) == 7, -813.25, 5.5), "1 records, the first is record 8: a weight"),
        (np.where(np.arange(N) > 7, np.nan, 813.25), "52 records, the first is record 9: every r"),
        (np.where(np.arange(N) > 7, np.inf, 813.25), "52 records, the first is record 9: every r"),
        (np.zeros(N), "they are all 0"),
        (np.repeat("813.25 kg", N), "they are numbers, and the original has: text"),
        (np.repeat(np.datetime64("1987-06-05"), N), "they are numbers, and the original has: date"),
    ],
)
def test_what_is_no_weight_is_refused_without_a_value(weights, message):
    """Where, which rule and what to do; nothing of the column."""
    table = {name: SAMPLE[name].to_numpy() for name in ("AGE", "REGION")} | {"W": weights}
    with pytest.raises(mv.DataError, match=f"weights 'W'.*{re.escape(message)}") as raised:
        mv.assess(table, PROTECTED.select("AGE"), weights="W")
    assert not {"813", "1987", "5.5"} & set(re.findall(r"[\d.]+", str(raised.value)))


def test_weights_that_are_no_column_of_the_original_are_refused():
    """Also where the release has them; and what is no name."""
    with pytest.raises(mv.RequestError, match="weights: it is the name of a column"):
        mv.assess(SAMPLE, PROTECTED, weights=["WEIGHT"])
    with pytest.raises(mv.RequestError, match="the original table has no such column"):
        mv.assess(SAMPLE.drop("WEIGHT"), PROTECTED, weights="WEIGHT")


def test_missing_codes_of_weights_are_no_weights():
    """A -1 declared to be missing is a missing weight."""
    table = SAMPLE.with_columns(WEIGHT=pl.Series([-1.0] + [3.0] * (N - 1)))
    with pytest.raises(mv.DataError, match="1 records, the first is record 1: every record needs"):
        mv.assess(table, PROTECTED, weights="WEIGHT", missing_codes={"WEIGHT": [-1]})


def test_without_weights_an_assessment_has_nothing_of_them():
    """No entry, no section."""
    assessed = mv.assess(SAMPLE, PROTECTED)
    assert not [entry for entry in assessed.to_dict() if "weight" in entry]
    assert "eighted" not in assessed.to_text()


def test_the_text_sets_weighted_figures_beside_those_of_the_records():
    """A line to each attribute and category."""
    own = SAMPLE.with_columns(
        AGE=pl.Series([20, 40] * (N // 2)), WEIGHT=pl.Series([1.0, 3.0] * (N // 2)),
        REGION=pl.Series(["north", ""] * (N // 2)),
    )  # fmt: skip
    after = own.with_columns(AGE=pl.lit(40), REGION=pl.lit("north")).drop("WEIGHT")
    text = mv.assess(own, after, weights="WEIGHT").to_text()
    assert "weights: WEIGHT (the release, which has no such column, by the original's" in text
    section = text.partition("Weighted figures")[2].partition("\n\nCorr")[0]
    rows = {line.split()[0]: line.split()[1:] for line in section.splitlines()[1:] if line.strip()}
    assert [rows["AGE"][place] for place in (0, 1, 4)] == ["35", "40", "0.143"]
    assert rows["north"] == ["50", "100", "25", "100"]
    assert rows["missing"] == ["50", "0", "75", "0"]
    assert rows["REGION"][-1] == "0.75"


def test_the_custodians_page_shows_what_an_assessment_weighted():
    """Where it was weighted, and nowhere else."""
    release = mv.protect(SAMPLE, method="mdav", k=5, attributes=["AGE"], keep=["REGION"])
    weighted = mv.assess(SAMPLE, release, weights="WEIGHT")
    page = custodian_report(release, SAMPLE, weighted)
    mean = weighted.to_dict()["weighted_moments"]["AGE"]["mean"]["original"]
    assert f"{mean:.3g}" in page
    assert page.count("eighted figures</summary>") == 1
    assert "eighted" not in custodian_report(release, SAMPLE)


def test_the_command_weighs_by_a_column(tmp_path):
    """A protected file, or the folder of a release."""
    SAMPLE.write_csv(tmp_path / "survey.csv")
    PROTECTED.drop("WEIGHT").write_csv(tmp_path / "after.csv")
    asked = ("assess", "survey.csv", "after.csv", "--weights", "WEIGHT", "--json")
    done = run(*asked, folder=tmp_path)
    found = json.loads(done.stdout)["weighted_moments"]
    expected = mv.assess(SAMPLE, PROTECTED.drop("WEIGHT"), weights="WEIGHT").to_dict()
    assert found == expected["weighted_moments"]
    done = run("assess", "survey.csv", "after.csv", "--weights", "WEIGHTS", folder=tmp_path)
    assert done.returncode == 2
    assert "no such column" in done.stderr


def test_a_recipe_says_by_its_role_what_weighs():
    """The first of several, unless another is named; a role of another kind weighs nothing."""
    roles = {"weight": ("X", "WEIGHT"), "confidential": ("AGE",)}
    entries = {
        name: {"role": role, "type": "decimal"} for role, names in roles.items() for name in names
    }
    table = SAMPLE.with_columns(X=pl.lit(1))
    asked = {"recipe": {"attributes": entries}, "attributes": ["AGE"]}
    by_role = mv.assess(table, PROTECTED, **asked)
    assert by_role.weights.column == "WEIGHT"
    assert by_role.to_dict() == mv.assess(table, PROTECTED, ["AGE"], weights="WEIGHT").to_dict()
    assert mv.assess(table, PROTECTED, **asked, weights="X").weights.column == "X"
    del entries["WEIGHT"], entries["X"]
    assert mv.assess(table, PROTECTED, **asked).weights is None


def test_a_column_that_a_recipe_calls_weights_and_that_holds_none_is_a_reason_and_no_error():
    """Nobody asked for it in this assessment; the text and the page say why nothing is weighted."""
    table = SAMPLE.with_columns(WEIGHT=pl.Series([-813.25] + [3.0] * (N - 1)))
    release = mv.protect(table, method="mdav", k=5, attributes=["AGE"])
    recipe = {"attributes": {"WEIGHT": {"role": "weight", "type": "decimal"}}}
    assessed = mv.assess(table, release, recipe=recipe)
    reason = "weights 'WEIGHT', 1 records, the first is record 1: a weight is 0 or more"
    assert assessed.to_dict()["weights"] == {
        "column": "WEIGHT", "release_weighted_by": None, "reason": reason,
    }  # fmt: skip
    assert "weighted_moments" not in assessed.to_dict()
    assert f"weights: none ({reason})" in " ".join(assessed.to_text().split())
    assert f"weights: none ({reason})" in read(custodian_report(release, table, assessed)).text


def test_a_release_is_weighted_as_its_own_recipe_says(tmp_path):
    """From file to file, without a flag."""
    SAMPLE.write_csv(tmp_path / "survey.csv")
    entry = 'role = "{}"\ntype = "{}"\n'
    (tmp_path / "recipe.toml").write_text(
        'method = "mdav"\nk = 5\n'
        f"[attributes.WEIGHT]\n{entry.format('weight', 'decimal')}"
        f"[attributes.AGE]\n{entry.format('confidential', 'whole number')}"
    )
    asked = ("protect", "survey.csv", "--recipe", "recipe.toml", "-o", "out", "--no-linkage")
    assert run(*asked, folder=tmp_path).returncode == 0
    done = run("assess", "survey.csv", "out", "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    assert found["weights"]["release_weighted_by"] == "original"
    expected = weighted_mean(SAMPLE["AGE"], SAMPLE["WEIGHT"])
    assert found["weighted_moments"]["AGE"]["mean"]["original"] == pytest.approx(expected)
