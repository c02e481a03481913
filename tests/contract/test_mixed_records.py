"""Records of numbers, ordered categories and others, protected together by their clusters."""

import itertools
import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import microveil as mv
from microveil.commands.files import protect_file
from microveil.methods.category_plans import ClusterValuePlan, HistogramPlan, noisy_weights
from microveil.methods.centroids import CentroidPlan
from microveil.noise.noise import RandomSource, discrete_laplace
from microveil.protect.draw import draw
from microveil.protect.expectation import all_expected
from reference import mdav as plain
from reference import mixed_linkage, redraw
from reference.record_linkage import linked_percent

LEVELS = ("none", "school", "degree", "doctorate")
REGIONS = ("north", "south", "east", "west", "abroad")
N = 150
CATEGORIES = {"EDUCATION": mv.ordered(*LEVELS), "REGION": list(REGIONS)}
ASKED = {
    "k": 6,
    "attributes": ["AGE", "TAX", "BORN", "WED", "EDUCATION", "REGION"],
    "bounds": {"AGE": (0, 100), "TAX": (0, 1000), "BORN": ("1900-01-01", "2020-12-31")},
    "resolution": {"TAX": 0.01},
    "categories": CATEGORIES,
}
TOGETHER = ("mdav", "v-mdav", "mdav-insensitive")


def people():
    random = np.random.Generator(np.random.PCG64(8))
    ages = random.integers(18, 90, N)
    return pl.DataFrame(
        {
            "AGE": ages,
            "TAX": random.lognormal(3, 1, N).round(2),
            "BORN": (np.datetime64("2020-01-01") - 365 * ages).astype("datetime64[D]"),
            "WED": random.integers(0, 2, N).astype(bool),
            "EDUCATION": np.array(LEVELS)[np.minimum(random.poisson(1.2, N), 3)],
            "REGION": np.array(REGIONS)[random.choice(5, N, p=[0.5, 0.3, 0.1, 0.06, 0.04])],
        }
    )


@pytest.fixture(scope="module")
def releases():
    table = people()
    return table, {name: mv.protect(table, method=name, **ASKED) for name in TOGETHER}


@pytest.mark.parametrize("method", TOGETHER)
def test_every_combination_of_values_is_shared_by_k_records(releases, method):
    """Numbers, dates, yes/no and categories together, counted by another library."""
    _, found = releases
    release = found[method]
    assert release.guarantee.to_dict()["model"] == "k-anonymity"
    shared = release.data.group_by(ASKED["attributes"]).len()
    assert shared["len"].min() >= ASKED["k"]
    assert len(shared) > 10  # and not by making all alike
    assert release.data.schema == people().schema


@pytest.mark.parametrize("method", TOGETHER)
def test_each_kind_is_represented_in_its_own_way(releases, method):
    """Mean, median, commonest of the cluster; ties go to what the release lacks most."""
    table, _ = releases
    planned = mv.plan(table, method=method, **ASKED)
    kinds = {part.attribute.name: type(part) for part in planned.attributes}
    assert kinds.pop("EDUCATION") is kinds.pop("REGION") is ClusterValuePlan
    assert set(kinds.values()) == {CentroidPlan}
    *_, education, region = planned.attributes
    for part, words, typical in (
        (education, LEVELS, lambda values: plain.medians(values, LEVELS)),
        (region, REGIONS, plain.commonest),
    ):
        own = list(table[part.attribute.name])
        codes = [words.index(word) for word in own]
        ends = np.cumsum(part.partition.sizes)
        members = np.split(part.partition.order, ends[:-1])
        clusters = [[own[record] for record in cluster] for cluster in members]
        assert [words[place] for place in part.units] == plain.settled(
            list(map(typical, clusters)), clusters
        )
        assert part.figures.differing == pytest.approx(
            np.mean(
                np.repeat(part.units, part.partition.sizes) != np.array(codes)[part.partition.order]
            )
        )


def test_ties_do_not_hang_on_the_order_of_the_list():
    """Of two commonest, and of two middle ranks, the first by its text."""
    table = {"R": np.array(["b", "a"] * 3), "E": np.array(["low", "high"] * 3)}
    asked = {"method": "mdav", "k": 6, "attributes": ["R", "E"]}
    for listed in (["a", "b"], ["b", "a"]):
        for order in (["low", "high"], ["high", "low"]):
            data = mv.protect(
                table, categories={"R": listed, "E": mv.ordered(*order)}, **asked
            ).data
            assert set(data["R"]) == {"a"}
            assert set(data["E"]) == {"high"}


@pytest.mark.parametrize("method", TOGETHER)
def test_records_that_lack_a_category_stand_outside(method):
    """Kept missing, they are released without any value of the block, as with numbers."""
    table = people().with_columns(
        REGION=pl.when(pl.int_range(N) % 10 == 0).then(None).otherwise("REGION")
    )
    release = mv.protect(table, method=method, missing="keep", **ASKED)
    absent = release.data.filter(pl.int_range(N) % 10 == 0)
    assert absent.null_count().row(0) == (len(absent),) * len(ASKED["attributes"])
    shared = release.data.filter(pl.int_range(N) % 10 != 0).group_by(pl.all()).len()
    assert shared["len"].min() >= ASKED["k"]


# kanon-dp

RELEASED = {**ASKED, "method": "kanon-dp", "k": 15, "epsilon": 3, "shuffle": "rows"}
COMPOSITIONS = ("sequential", "parallel")


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_counts_get_noise_for_two_of_them_in_each_cluster_that_is_paid_for(composition):
    """Scale 2 J / epsilon_a sequentially, 2 / epsilon_a for a cluster taken alone, never less."""
    planned = mv.plan(people(), composition=composition, **RELEASED)
    clusters = N // 15 if composition == "sequential" else 1
    redrawn = [part for part in planned.attributes if isinstance(part, HistogramPlan)]
    assert [part.attribute.name for part in redrawn] == ["EDUCATION", "REGION"]
    for part in redrawn:
        due = 2 * clusters / part.share
        scale = Fraction(part.scale, 1 << part.grid.bits)
        assert due <= scale <= due * (1 + Fraction(1, 10**4))
        assert part.figures.vector_loss <= part.share * (
            1 if composition == "sequential" else N // 15
        )


def tiny_tables():
    """Every table of four records of a number, a rank and a category, but for their order."""
    records = list(itertools.product((0, 1, 2), (0, 1), (0, 1)))
    picked = np.random.Generator(np.random.PCG64(3)).permutation(len(records) ** 4)[:60]
    for number in picked.tolist():
        yield (
            [records[number // len(records) ** place % len(records)] for place in range(4)],
            records,
        )


def counted(rows, labels, n_clusters):
    """By cluster the sum of the number, the counts of ranks and those of categories."""
    found = []
    for cluster in range(n_clusters):
        members = [row for row, label in zip(rows, labels, strict=True) if label == cluster]
        found.append(
            [sum(row[0] for row in members)]
            + [sum(row[1] == code for row in members) for code in (0, 1)]
            + [sum(row[2] == code for row in members) for code in (0, 1)]
        )
    return np.array(found)


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_no_neighbour_costs_more_than_is_claimed_at_any_scope(composition):
    """Every neighbour of small tables, in rationals, clusters held and formed anew.

    What is seen at row scope, rows shuffled, is drawn from what is seen at vector scope.
    """
    table = {"x": np.array([0, 1, 2, 2]), "e": np.array([0, 1, 1, 0]), "r": np.array([0, 1, 0, 0])}
    asked = {"method": "kanon-dp", "k": 2, "epsilon": 3, "composition": composition,
             "attributes": ["x", "e", "r"], "bounds": {"x": (0, 2)}, "shuffle": "rows",
             "categories": {"e": mv.ordered(0, 1), "r": [0, 1]}}  # fmt: skip
    planned = mv.plan(table, **asked)
    number, *others = planned.attributes
    scales = [Fraction(int(number.scales[0]), 1 << number.grid.bits)]
    for part in others:
        scales += [Fraction(part.scale, 1 << part.grid.bits)] * 2
    bounds = [(0, 2), (0, 1)]
    worst = {"cluster": Fraction(0), "vector": Fraction(0)}
    for rows, records in tiny_tables():
        labels = plain.insensitive_mdav([row[:2] for row in rows], 2, bounds)
        before = counted(rows, labels, 2)
        for place, record in itertools.product(range(4), records):
            after = [*rows[:place], record, *rows[place + 1 :]]
            anew = plain.insensitive_mdav([row[:2] for row in after], 2, bounds)
            for scope, seen in (("cluster", labels), ("vector", anew)):
                change = np.abs(counted(after, seen, 2) - before).sum(axis=0).tolist()
                loss = sum(moved / scale for moved, scale in zip(change, scales, strict=True))
                worst[scope] = max(worst[scope], loss)
    claimed = planned.claim.scopes
    for scope in ("cluster", "vector"):
        assert worst[scope] <= Fraction(claimed[scope].epsilon)
    assert claimed.row.epsilon == claimed.vector.epsilon
    # The claims of clusters held are attained, those formed anew come near: the check can fail.
    assert worst["cluster"] > Fraction(claimed.cluster.epsilon) * Fraction(9, 10)
    assert worst["vector"] > Fraction(claimed.vector.epsilon) * Fraction(6, 10)


def test_rows_drawn_from_noisy_counts_keep_the_epsilon_of_the_counts():
    """The released rows of two clusters themselves, shuffled: every outcome, in chances."""
    scale, size = 2.0, 2  # two counts in each of two clusters: epsilon 4 / 2

    def rows_of(clusters):
        one, other = (redraw.chances_of_cluster(counts, size, scale, 14) for counts in clusters)
        found = Counter()
        for (mine, chance), (theirs, another) in itertools.product(one.items(), other.items()):
            found[tuple(sorted(mine + theirs))] += chance * another
        return found

    worst = 0.0
    tables = [[(0, 2), (0, 2)], [(1, 1), (1, 1)], [(2, 0), (1, 1)]]
    for table in tables:
        for moved in itertools.product((-1, 0, 1), repeat=2):
            after = [(a + step, b - step) for (a, b), step in zip(table, moved, strict=True)]
            if min(min(counts) for counts in after) < 0:
                continue
            before, now = rows_of(table), rows_of(after)
            worst = max(worst, *(abs(math.log(before[seen] / now[seen])) for seen in before))
    assert 0.2 < worst <= 2.0


def test_weights_are_those_of_the_plain_redraw():
    """The same noise on the same counts: below 0 becomes 0, nothing above becomes all alike."""
    counts, scale, bits = np.array([[3, 0, 1], [0, 0, 1], [2, 2, 0]] * 40), 9, 2
    made = noisy_weights(counts, scale, bits, RandomSource.seeded(5))
    noise = discrete_laplace(np.full(counts.size, scale), RandomSource.seeded(5))
    noisy = (counts * 2**bits + noise.reshape(counts.shape)).tolist()
    assert made.tolist() == [redraw.weights(one) for one in noisy]
    assert any(max(one) <= 0 for one in noisy)  # the case is among them


def test_draws_follow_the_noisy_counts_exactly():
    """With the noise held, each category as often as its weight says."""
    table = {"x": np.arange(4000), "r": np.array(["a", "b", "c", "b"] * 1000)}
    planned = mv.plan(table, method="kanon-dp", k=4000, epsilon=1000, bounds={"x": (0, 4000)},
                      attributes=["x", "r"], categories={"r": ["a", "b", "c", "d"]})  # fmt: skip
    part = planned.attributes[1]
    weights = noisy_weights(part.counts, part.scale, part.grid.bits, RandomSource.seeded(2))[0]
    drawn = part.draw(RandomSource.seeded(2)).values
    seen = np.bincount(drawn, minlength=4)
    expected = 4000 * weights / weights.sum()
    there = expected > 5
    assert ((seen - expected)[there] ** 2 / expected[there]).sum() < 16  # 1 in 1000 at 3 degrees
    assert seen[~there].sum() <= 10
    # Which record of the cluster has which is gone.
    assert 0.2 < np.mean(drawn == np.array([0, 1, 2, 1] * 1000)) < 0.55


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"sensitivity": "vector"}, r"'REGION'.*sensitivity='global'.*pram or dp-synthetic"),
        ({"attributes": ["REGION"]}, "ordered by numbers and ordered categories.*choose pram"),
        ({"blocks": [["AGE", "TAX", "BORN", "WED", "EDUCATION"], ["REGION"]]}, "a block has none"),
        ({"attributes": ["REGION"], "method": "mdav-insensitive"}, "ordered by numbers"),
    ],
)
def test_what_has_no_order_or_no_sensitivity_is_refused(more, message):
    """With what would do; a commonest category under an individual epsilon would come out."""
    with pytest.raises(mv.RequestError, match=message):
        mv.protect(people(), **{**RELEASED, **more})


def test_an_audit_bounds_redrawn_categories_and_attacks_numbers_alone():
    """The bound is the claim; who asks to attack a redrawn category is sent to a number."""
    found = mv.audit(people(), **RELEASED).to_dict()
    assert found["attributes"]["REGION"]["vector_scope"] == pytest.approx(0.5, rel=1e-4)
    assert found["vector_scope"] <= 3
    attacked = mv.empirical_audit(people(), runs=50, **RELEASED)
    assert attacked.attribute not in CATEGORIES
    with pytest.raises(mv.RequestError, match=r"not attacked.*name an attribute of numbers"):
        mv.empirical_audit(people(), attribute="REGION", runs=50, **RELEASED)


def test_ranks_alone_are_taken_as_numbers_whose_shifts_telescope():
    """One ordered attribute needs no factor J: its noise is that of numbers."""
    asked = {**RELEASED, "attributes": ["EDUCATION"], "bounds": {}, "resolution": {}}
    (part,) = mv.plan(people(), **asked).attributes
    assert isinstance(part, CentroidPlan)


def test_assess_links_mixed_records_over_all_attributes():
    """Ranks by the declared order, categories equal or not: as comparing every pair finds."""
    table = people()
    release = mv.protect(table, method="mdav", **ASKED)
    found = mv.assess(table, release)
    names = ["AGE", "TAX", "BORN", "WED", "EDUCATION", "REGION"]
    kinds = [name == "REGION" for name in names]
    place = {word: float(at) for words in (LEVELS, REGIONS) for at, word in enumerate(words)}

    def rows(frame):
        days = frame.with_columns(pl.col("BORN").to_physical(), pl.col("WED").cast(int))
        return [
            tuple(place.get(value, value) for value in row) for row in days.select(names).rows()
        ]

    before, after = rows(table), rows(release.data)
    weighed = mixed_linkage.scales(before, kinds)
    counts = mixed_linkage.candidate_counts(before, after, kinds, weighed)
    figures = found.to_dict()
    assert figures["record_linkage_mixed"] == pytest.approx(linked_percent(counts))
    low, high = figures["record_linkage_intervals"]["record_linkage_mixed"]
    assert low < figures["record_linkage_mixed"] < high
    # Each combination stands for k records or more, so no record is found with more certainty.
    assert figures["record_linkage_mixed"] <= 100 / ASKED["k"]
    assert "all attributes" in found.to_text()


def test_numbers_that_are_declared_categories_are_equal_or_not():
    """Linkage by the guarantee's word: 1 is no nearer to 2 than to 9."""
    table = {"C": np.array([1, 2, 9, 2, 1, 9] * 4), "X": np.arange(24)}
    released = mv.protect(
        table, method="pram", epsilon=1, attributes=["C", "X"], seed=3,
        categories={"C": [1, 2, 9], "X": list(range(24))},
    )  # fmt: skip
    before, after = (
        list(zip(*(np.asarray(one[name], float).tolist() for name in ("C", "X")), strict=True))
        for one in (table, released.data)
    )
    kinds = [True, True]
    weighed = mixed_linkage.scales(before, kinds)
    counts = mixed_linkage.candidate_counts(before, after, kinds, weighed)
    found = mv.assess(table, released).to_dict()["record_linkage_mixed"]
    assert found == pytest.approx(linked_percent(counts))


def test_complete_numbers_alone_have_no_figure_of_their_own_for_all_attributes():
    """It would be that of standardised numbers."""
    table = people().select("AGE", "TAX")
    figures = mv.assess(table, table).to_dict()
    assert "record_linkage_mixed" not in figures
    assert figures["record_linkage_standardised"] > 90


def test_ordered_categories_are_linked_by_their_ranks(tmp_path):
    """A rank that nobody has is nearest to its neighbours', in assess and in what protect finds."""
    levels = [f"level {place}" for place in range(6)]
    codes = [0, 0, 5, 0, 4] * 8
    table = pl.DataFrame({"E": [levels[code] for code in codes]})
    table.write_csv(tmp_path / "people.csv")
    protect_file(tmp_path / "people.csv", tmp_path / "out", method="pram", epsilon=1, seed=5,
                 attributes=["E"], categories={"E": mv.ordered(*levels)})  # fmt: skip
    released = pl.read_csv(tmp_path / "out" / "data.csv")
    before, after = ([(float(word[-1]),) for word in frame["E"]] for frame in (table, released))
    assert {1.0, 2.0} <= {code for (code,) in after}
    counts = mixed_linkage.candidate_counts(
        before, after, [False], mixed_linkage.scales(before, [False])
    )
    manifest = json.loads((tmp_path / "out-custodian" / "manifest.json").read_text())
    guarantee = mv.Guarantee.read(tmp_path / "out" / "guarantee.json")
    assessed = mv.assess(table, released, guarantee=guarantee).to_dict()
    for found in (manifest["findings"]["linkage"]["percent"], assessed["record_linkage_mixed"]):
        assert found == pytest.approx(linked_percent(counts), rel=1e-9)


def test_what_is_expected_of_categories_drawn_anew_comes_out():
    """The mean over many draws: squared steps of an order, and else the share that differs."""
    table = people()
    asked = {**ASKED, "attributes": ["EDUCATION", "REGION"], "bounds": {}, "resolution": {}}
    planned = mv.plan(table, method="kanon-dp", **{**asked, "k": 70}, epsilon=40)
    assert all(isinstance(part, HistogramPlan) for part in planned.attributes)
    expected = all_expected(planned)
    ranks = {name: rank for rank, name in enumerate(LEVELS)}
    found = {"EDUCATION": [], "REGION": []}
    before = table["EDUCATION"].replace_strict(ranks)
    for seed in range(60):
        data = draw(planned, seed=seed).data
        after = data["EDUCATION"].replace_strict(ranks)
        found["EDUCATION"].append(((after - before) ** 2).mean())
        found["REGION"].append((data["REGION"] != table["REGION"]).mean())
    for name, figures in found.items():
        # What is expected is itself the mean of eight draws of the counts.
        doubt = np.std(figures) * (1 / math.sqrt(60) + 1 / math.sqrt(8))
        assert doubt < 0.1 * np.mean(figures)
        assert abs(np.mean(figures) - expected[name].mean_squared_error) < 3 * doubt
