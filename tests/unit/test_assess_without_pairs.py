"""Releases without pairs, of as many records or not: assessed and attacked by what needs none."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import f1_score
from sklearn.tree import DecisionTreeClassifier

import microveil as mv
from command import run
from microveil.commands.measuring import assess_files, attack_files
from microveil.errors import DataError, RequestError
from microveil.measures.attack import attack
from microveil.measures.opening import has_pairs
from microveil.schema import Kind
from reference import distributions as oracle

SIZES = ("small", "medium", "large")
NAMES = ["AGE", "INCOME", "REGION", "SIZE", "EMPLOYED", "SINCE"]
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


def table(n, seed):
    """People with numbers, a date, yes/no and categories; of income one cell in ten is missing."""
    people = mv.invented_people(n, seed=seed)
    generator = np.random.default_rng(seed)
    income = people["INCOME"].to_numpy()
    size = np.array(SIZES)[np.searchsorted([15_000, 40_000], income)]
    gone = generator.random(n) < 0.1
    return people.select(
        "AGE",
        pl.Series("INCOME", np.where(gone, np.nan, income)).fill_nan(None),
        "REGION",
        pl.Series("SIZE", size),
        "EMPLOYED",
        "SINCE",
    )


@pytest.fixture(scope="module")
def tables():
    """A table, and another one of people who are nobody in it, of other many records."""
    return table(300, 1), table(220, 2)


@pytest.fixture(scope="module")
def guarantee(tables):
    """The guarantee of a synthetic release of all columns."""
    plan = mv.plan(
        tables[0], method="laplace", epsilon=1, attributes=["AGE"], bounds={"AGE": (0, 120)}
    )
    (terms,) = plan.guarantee.attributes
    kinds = {"REGION": Kind.NOMINAL, "SIZE": Kind.ORDINAL}
    lists = {"REGION": ("East", "North", "South", "West"), "SIZE": SIZES}
    attributes = tuple(
        replace(
            terms,
            name=name,
            method="dp-synthetic",
            kind=kinds.get(name, terms.kind),
            share=Fraction(1, 8),
            domain=lists.get(name, terms.domain),
        )
        for name in NAMES
    )
    return replace(
        plan.guarantee, method="dp-synthetic", title="a new table", attributes=attributes,
        n_records=220, is_synthetic=True, remarks=("Of this release no record is a person.",),
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tables, guarantee, tmp_path_factory):
    """Both tables as files, the second as a release with its guarantee."""
    path = tmp_path_factory.mktemp("synthetic")
    tables[0].write_csv(path / "people.csv")
    table(100, 3).write_csv(path / "others.csv")
    (path / "out").mkdir()
    tables[1].write_csv(path / "out" / "data.csv")
    (path / "out" / "guarantee.json").write_text(json.dumps(guarantee.to_dict()))
    return path


def test_tables_of_different_lengths_need_to_be_said_to_have_no_pairs(tables, guarantee):
    """By the argument or by what the guarantee says; else the error names the way."""
    with pytest.raises(DataError, match="paired=False \\(--shuffled\\)"):
        mv.assess(*tables)
    found = mv.assess(*tables, paired=False)
    assert (found.n_records, found.n_protected, found.paired) == (300, 220, False)
    assert not has_pairs(guarantee)
    assert mv.assess(*tables, guarantee=guarantee).to_dict()["paired"] is False
    assert "Assessment of 220 released records against 300 records" in found.to_text()
    assert "4 attributes of numbers, 2 of text" in " ".join(found.to_text().split())
    with pytest.raises(DataError, match="as many in both"):
        mv.assess(*tables, guarantee=replace(guarantee, is_synthetic=False))


def test_as_many_records_are_no_pairs_where_they_are_nobodys(tables, guarantee):
    """A synthetic table of the original's length is not compared row by row."""
    original, release = tables[0].head(220), tables[1]
    found = mv.assess(original, release, guarantee=guarantee)
    assert not found.paired
    assert "information_loss" not in found.to_dict()
    assert "record_linkage" not in found.to_dict()


def test_every_figure_of_a_table_held_against_itself_is_at_its_best(tables):
    """Distributions, pairs and correlations are where they were; rows are equal to records."""
    original = tables[0]
    figures = mv.assess(original, original.sample(fraction=1.0, shuffle=True, seed=1),
                        paired=False).to_dict()  # fmt: skip
    varied = figures["total_variation"]
    assert varied["one_way"] == varied["two_way"] == 0.0
    assert set(varied["attributes"]) == set(NAMES)
    assert figures["sorted_error"] == 0.0
    assert (
        set(figures["wasserstein"].values()) == set(figures["kolmogorov_smirnov"].values()) == {0}
    )
    for name in ("correlations", "rank_correlations"):
        assert figures[name]["largest_absolute_change"] == pytest.approx(0.0, abs=1e-12)
    assert figures["closest_records"]["equal"]["rate"] == 1.0
    assert figures["closest_records"]["released"]["median"] == 0.0
    assert 0.0 in figures["worst_attribute"].values()


def test_figures_are_those_of_counting_the_columns_as_they_stand(tables, guarantee):
    """Numbers by the original's deciles, text by category, missing cells a level of their own."""
    original, release = tables
    found = mv.assess(original, release, guarantee=guarantee).to_dict()
    levels = []
    for side in tables:
        of_side = []
        for name in ["AGE", "INCOME", "EMPLOYED", "SINCE"]:
            values = [side[name], original[name]]
            numbers, reference = (
                [None if v is None else float(v) for v in column.to_physical().to_list()]
                for column in values
            )
            of_side.append(oracle.decile_levels(reference, numbers))
        of_side += [side[name].to_list() for name in ("REGION", "SIZE")]
        levels.append(dict(zip(["AGE", "INCOME", "EMPLOYED", "SINCE", "REGION", "SIZE"], of_side,
                               strict=True)))  # fmt: skip
    for name, distance in found["total_variation"]["attributes"].items():
        expected = oracle.total_variation(levels[0][name], levels[1][name])
        assert distance == pytest.approx(float(expected)), name
    pair = found["total_variation"]["worst_pair"]
    one, other = pair["attributes"]
    expected = oracle.total_variation(
        *(list(zip(side[one], side[other], strict=True)) for side in levels)
    )
    assert pair["distance"] == pytest.approx(float(expected))


def test_categories_with_an_order_are_compared_by_rank(tables, guarantee):
    """Their largest distance of the distribution functions; those without one by their shares."""
    found = mv.assess(*tables, guarantee=guarantee).to_dict()
    ranks = [[SIZES.index(size) for size in side["SIZE"]] for side in tables]
    expected = float(oracle.kolmogorov_smirnov_distance(*ranks))
    assert found["kolmogorov_smirnov"]["SIZE"] == pytest.approx(expected)
    assert found["goodness_of_fit"]["SIZE"]["ks"]["statistic"] == pytest.approx(expected)
    assert "REGION" not in found["kolmogorov_smirnov"]
    unknown = mv.assess(*tables, paired=False).to_dict()
    assert "SIZE" not in unknown["kolmogorov_smirnov"]
    assert "SIZE" in unknown["total_variation"]["attributes"]


def test_the_worst_attribute_is_named_whatever_it_holds(tables):
    """Text by total variation, numbers by their distribution functions, also one that is gone."""
    original, release = tables
    moved = release.with_columns(REGION=pl.lit("East"))
    worst = mv.assess(original, moved, paired=False).worst_attribute
    shares = float(oracle.total_variation(original["REGION"].to_list(), ["East"]))
    assert (worst.attribute, worst.measure.id) == ("REGION", "total_variation")
    assert worst.distance == pytest.approx(shares)
    assert repr(worst) == "WorstAttribute(REGION)"
    far = mv.assess(original, release.with_columns(pl.col("AGE") + 500), paired=False)
    assert far.worst_attribute.attribute == "AGE"
    assert far.worst_attribute.distance == 1.0
    assert (
        "'AGE': distribution moved by 1 (largest distance of the distribution functions; "
        in " ".join(far.to_text().split())
    )
    gone = mv.assess(original, release.with_columns(AGE=pl.lit(None, dtype=pl.Int64)), paired=False)
    assert gone.to_dict()["worst_attribute"] == {"attribute": "AGE", "total_variation": 1.0}


def test_columns_shuffled_each_by_itself_lose_their_pairs_alone():
    """One-way figures are those of the ordered release; two-way ones and correlations are not."""
    people = mv.invented_people(400, seed=5)
    asked = {"method": "mdav", "k": 4, "attributes": ["AGE", "INCOME", "TAX"],
             "resolution": {"INCOME": 0.01, "TAX": 0.01}}  # fmt: skip
    ordered, apart = (
        mv.assess(people, mv.protect(people, shuffle=shuffle, **asked)).to_dict()
        for shuffle in (False, "columns")
    )
    assert apart["sorted_error"] == pytest.approx(ordered["sorted_error"])
    one_way = [side["total_variation"]["one_way"] for side in (ordered, apart)]
    assert one_way[0] == pytest.approx(one_way[1])
    assert apart["total_variation"]["two_way"] > 2 * ordered["total_variation"]["two_way"]
    assert set(apart["total_variation"]["worst_pair"]["attributes"]) == {"INCOME", "TAX"}
    for name in ("correlations", "rank_correlations"):
        assert apart[name]["mean_absolute_change"] > 2 * ordered[name]["mean_absolute_change"]


def test_tables_of_categories_alone_are_assessed(tables):
    """Without a number there are shares, pairs and distances; what needs numbers is left out."""
    for paired in (True, False):
        original, release = (side.select("REGION", "SIZE").head(200) for side in tables)
        found = mv.assess(original, release, paired=paired, by=["SIZE"], rules=["SIZE != large"])
        figures = found.to_dict()
        assert (figures["attributes"], figures["text_attributes"]) == ([], ["REGION", "SIZE"])
        assert figures["worst_attribute"]["attribute"] in {"REGION", "SIZE"}
        assert figures["total_variation"]["two_way"] > 0
        assert ("closest_records" in figures) != paired
        assert bool(figures["categories"]) == paired
        assert "correlations" not in figures
        assert json.loads(json.dumps(figures, allow_nan=False)) == figures
        assert len(found.subgroups.levels) == 3
        text = found.to_text()
        assert "nan" not in text
        assert ("there are no numbers to compare" in text) == paired
    with pytest.raises(DataError, match="no attribute in common"):
        mv.assess(tables[0].select("AGE"), tables[1].select("REGION"), paired=False)


def test_a_classifier_learns_from_the_release_with_its_own_classes(tables):
    """Trained on the first 66 % of its records, tested on the last 34 % of the original's."""
    original, release = (side.drop("SIZE").drop_nulls() for side in tables)
    attributes = ["AGE", "INCOME"]
    found = mv.assess(original, release, [*attributes, "EMPLOYED"], paired=False,
                      classes="EMPLOYED", estimator=TREE).classification  # fmt: skip
    (x, classes), (y, own) = (
        (side.select(attributes).to_numpy(), np.where(side["EMPLOYED"], "true", "false"))
        for side in (original, release)
    )
    cut, own_cut = len(x) * 66 // 100, len(y) * 66 // 100
    for seed in (0, 7):
        learnt = DecisionTreeClassifier(max_depth=3, random_state=seed).fit(
            y[:own_cut], own[:own_cut]
        )
        expected = f1_score(
            classes[cut:], learnt.predict(x[cut:]), average=None, labels=["false", "true"],
            zero_division=0,
        )  # fmt: skip
        assert found.protected[seed] == pytest.approx(expected)
    same = mv.assess(original, original, [*attributes, "EMPLOYED"], paired=False,
                     classes="EMPLOYED", estimator=TREE).classification  # fmt: skip
    assert same.protected == pytest.approx(same.original)
    threshold = mv.assess(original, release, attributes, paired=False, classes="INCOME",
                          threshold=30_000, estimator=TREE).classification  # fmt: skip
    assert [one.label for one in threshold.classes] == ["<= 30000", "> 30000"]


def test_classes_of_the_release_that_the_original_has_not_are_not_learnt(tables):
    """Their records take no part; a class attribute that was not released is refused."""
    original, release = tables
    strange = release.with_columns(
        REGION=pl.when(pl.int_range(pl.len()) < 40).then(pl.lit("Moon")).otherwise(pl.col("REGION"))
    )
    asked = {"paired": False, "classes": "REGION", "estimator": TREE}
    found = mv.assess(original, strange, ["AGE"], **asked).classification
    without = mv.assess(original, strange[40:], ["AGE"], **asked).classification
    assert np.array_equal(found.protected, without.protected, equal_nan=True)
    assert "Moon" not in [one.label for one in found.classes]
    with pytest.raises(RequestError, match="'REGION': the protected table has no such column"):
        mv.assess(original, release.drop("REGION"), ["AGE"], **asked)
    text = release.with_columns(REGION=pl.int_range(pl.len()) % 4)
    with pytest.raises(DataError, match="class attribute"):
        mv.assess(original, text, ["AGE"], **asked)


def test_propensity_regression_and_neighbours_need_no_pairs(tables):
    """Of tables of different lengths each says how many records it took."""
    found = mv.assess(*tables, ["AGE", "INCOME"], paired=False, propensity=True,
                      formula="INCOME ~ AGE", k=5)  # fmt: skip
    complete = [side["INCOME"].drop_nulls().len() for side in tables]
    assert [found.propensity.n_original, found.propensity.n_protected] == complete
    assert [found.regression.n_original, found.regression.n_protected] == complete
    assert found.to_dict()["neighbourhoods"]["AGE"]["n_records"] == 300


def test_files_are_assessed_by_the_guarantee_beside_the_release(folder, tables, guarantee):
    """No flag is needed; without the guarantee --shuffled says the same."""
    found = assess_files(folder / "people.csv", folder / "out" / "data.csv", None, text=None)
    assert not found.paired
    assert found.guarantee == guarantee
    assert (
        found.to_dict()["kolmogorov_smirnov"]
        == mv.assess(*tables, guarantee=guarantee).to_dict()["kolmogorov_smirnov"]
    )
    (folder / "other.csv").write_bytes((folder / "out" / "data.csv").read_bytes())
    refused = run("assess", "people.csv", "other.csv", folder=folder)
    assert refused.returncode == 2
    assert "--shuffled" in refused.stderr
    done = run("assess", "people.csv", "other.csv", "--shuffled", folder=folder)
    assert done.returncode == 0, done.stderr


def test_the_command_line_begins_with_the_four_figures_and_shows_groups_and_rules(folder):
    """Promised, two-way total variation, worst attribute, closest record; then what was asked."""
    asked = ("assess", "people.csv", "out/data.csv", "--by", "REGION,SIZE", "--rule",
             "AGE >= 18", "--rule", "REGION != North")  # fmt: skip
    done = run(*asked, folder=folder)
    assert done.returncode == 0, done.stderr
    figures = json.loads(run(*asked, "--json", folder=folder).stdout)
    first = done.stdout.split("\n\n")[0].splitlines()[1:]
    heads = [line.partition(": ")[0].removeprefix("  - ") for line in first]
    assert heads[:4] == [
        "promised", "two-way total variation", "worst attribute", "closest record",
    ]  # fmt: skip
    assert "  REGION, SIZE " in done.stdout
    assert len(figures["subgroups"]["groups"]) == 12
    assert [rule["rule"] for rule in figures["rules"]] == ["AGE >= 18", "REGION != North"]
    line = next(line for line in done.stdout.splitlines() if line.startswith("  REGION != North"))
    north = [
        rule["violations"] for rule in (figures["rules"][1][s] for s in ("original", "protected"))
    ]
    assert [line.split()[3], line.split()[5]] == [str(count) for count in north]
    assert line.split()[-2:] == ["0,", "0"]


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--by", "NOBODY"), "column 'NOBODY'"),
        (("--by", "INCOME"), "at most 100 different values"),
        (("--rule", "AGE"), "rule 'AGE': it must begin with a column's name and a comparison"),
        (("--rule", "AGE < North"), "rule 'AGE < North'"),
    ],
)
def test_groups_and_rules_that_cannot_be_are_refused_in_a_line(folder, flags, why):
    """With exit code 2, and nothing on standard output."""
    done = run("assess", "people.csv", "out/data.csv", *flags, folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


def test_attacks_go_by_the_guarantee_too(folder, tables):
    """Of a file beside it and of a Release: nobody is linked by position."""
    names = {"attributes": None, "known": None, "secret": None}
    report = attack_files(
        folder / "people.csv", folder / "out" / "data.csv", control=folder / "others.csv",
        **names, n_attacks=50,
    )  # fmt: skip
    assert not report.paired
    found = {outcome.attack for outcome in report.outcomes}
    assert {"distance to the closest record", "membership inference", "inference"} <= found
    assert "record linkage by distance" not in found
    done = run("attack", "people.csv", "out/data.csv", "--control", "others.csv", "--known", "AGE",
               "--secret", "REGION", folder=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "median distance, released rows, in standard deviations" in done.stdout
    assert "median distance, control group, in standard deviations" in done.stdout
    people = mv.invented_people(60, seed=1)
    shuffled = mv.protect(people, method="mdav", k=4, attributes=["AGE", "VISITS"], shuffle=True)
    assert not attack(people, shuffled, n_attacks=20).paired
    ordered = mv.protect(people, method="mdav", k=4, attributes=["AGE", "VISITS"])
    assert attack(people, ordered, n_attacks=20).paired
    with pytest.raises(DataError, match="--shuffled"):
        attack(*tables)
