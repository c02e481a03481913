"""Every attack gives what comparing everybody with every row gives."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from microveil.measures.attacks.membership import area_under_curve, closest_record
from microveil.measures.attacks.outcome import Setting
from microveil.measures.attacks.rows import (
    chance_of_sharing,
    inference,
    interval_disclosure,
    linkability,
    linkage,
)
from microveil.measures.attacks.singling_out import Predicates, chance_of_one, singling_out
from microveil.measures.nearest import Rows, standard_weights
from microveil.measures.values import success_rate
from reference import attacks as oracle
from reference import mixed_linkage
from reference.record_linkage import average_ranks, reciprocal_variances


@st.composite
def pairs_of_tables(draw, most_records=9, most_attributes=4, least_attributes=1):
    """Small tables of one size with many ties, some attributes categories."""
    largest = draw(st.sampled_from([1, 3, 30]))
    n_attributes = draw(st.integers(least_attributes, most_attributes))
    shape = draw(st.integers(2, most_records)), n_attributes
    cells = st.integers(0, largest).map(float)
    original, protected = (draw(hnp.arrays(np.float64, shape, elements=cells)) for _ in range(2))
    if draw(st.booleans()):  # lightly perturbed instead of unrelated
        protected = original + np.sign(protected - largest / 2) * (protected == largest)
    categories = draw(st.lists(st.booleans(), min_size=n_attributes, max_size=n_attributes))
    return original, protected, np.array(categories)


def setting_of(original, protected, is_category, **terms):
    names = tuple("ABCDEFGHIJ"[: original.shape[1]])
    return Setting(
        names=names, is_category=is_category, original=original, protected=protected, **terms
    )


def weights_of(original, is_category):
    """Weights as the attack computes them, held against the oracle's."""
    weights = standard_weights(original, is_category)
    by_hand = reciprocal_variances(original.tolist())
    by_pairs = mixed_linkage.scales(original.tolist(), is_category)
    expected = [
        of_category if category else weight
        for weight, (of_category, _), category in zip(by_hand, by_pairs, is_category, strict=True)
    ]
    assert weights == pytest.approx(expected, rel=1e-12)
    return weights.tolist()


@given(pairs_of_tables())
def test_linkage_by_distance_is_that_of_comparing_everybody_with_every_row(tables):
    """The intruder goes from people to rows, and shares success among ties."""
    original, protected, is_category = tables
    setting = setting_of(*tables)
    outcome = linkage(setting, setting.names)
    expected = oracle.link_successes(
        original.tolist(), protected.tolist(), weights_of(original, is_category), is_category
    )
    assert outcome.successes == pytest.approx(float(expected), rel=1e-12)
    assert outcome.baseline.value == 1 / len(original)


@given(pairs_of_tables())
def test_linkage_by_rank_compares_ranks_and_categories(tables):
    """Numbers become average ranks of their own table; categories stay equal or not."""
    original, protected, is_category = tables
    setting = setting_of(*tables)
    outcome = linkage(setting, setting.names, by_rank=True)
    ranked = [
        [
            [x if c else r for x, r, c in zip(row, ranks, is_category, strict=True)]
            for row, ranks in zip(table.tolist(), average_ranks(table.tolist()), strict=True)
        ]
        for table in (original, protected)
    ]
    n = len(original)
    of_ranks = max((n * n - 1) / 12, 1.0)
    weights = [
        of_ranks * weight if category else 1.0
        for weight, category in zip(weights_of(original, is_category), is_category, strict=True)
    ]
    expected = oracle.link_successes(*ranked, weights, is_category)
    assert outcome.successes == pytest.approx(float(expected), rel=1e-12)


@given(pairs_of_tables(least_attributes=2), st.sampled_from([0.0, 0.05, 0.5]))
def test_inference_is_the_share_of_nearest_rows_that_tell_the_secret(tables, tolerance):
    """Among equally near rows each is as likely to be the guess."""
    original, protected, is_category = tables
    setting = setting_of(*tables, tolerance=tolerance)
    *known, secret = setting.names
    reach = 0.0
    if not is_category[-1]:
        reach = tolerance * original[:, -1].std(ddof=1)
    weights = weights_of(original[:, :-1], is_category[:-1])
    expected = sum(
        oracle.inferred_share(
            person[:-1], person[-1], protected[:, :-1].tolist(), protected[:, -1].tolist(),
            weights, is_category[:-1], reach,
        )
        for person in original.tolist()
    )  # fmt: skip
    outcome = inference(setting, known, secret)
    assert outcome.successes == pytest.approx(float(expected), rel=1e-12)
    right = [
        sum(x - reach <= guess <= x + reach for x in original[:, -1])
        for guess in protected[:, -1]
        if sum(abs(y - guess) <= reach for y in protected[:, -1])
        == max(sum(abs(y - other) <= reach for y in protected[:, -1]) for other in protected[:, -1])
    ]
    assert round(outcome.baseline.value * len(original)) in right


@given(pairs_of_tables(most_records=6, least_attributes=2), st.data())
def test_linkability_is_the_chance_over_all_ways_to_break_ties(tables, data):
    """Both sets of nearest rows are drawn independently; success is to have a row in common."""
    original, protected, is_category = tables
    cut = data.draw(st.integers(1, original.shape[1] - 1))
    neighbours = data.draw(st.integers(1, len(original)))
    setting = setting_of(*tables, neighbours=neighbours)
    names = setting.names
    weights = weights_of(original, is_category)
    expected = Fraction(0)
    for person in original.tolist():
        sets = [
            oracle.nearest_sets(
                person[part], protected[:, part].tolist(), weights[part], is_category[part],
                neighbours,
            )
            for part in (slice(0, cut), slice(cut, None))
        ]  # fmt: skip
        expected += oracle.sharing_chance(*sets)
    outcome = linkability(setting, names[:cut], names[cut:])
    assert outcome.successes == pytest.approx(float(expected), rel=1e-9)
    anything = oracle.nearest_sets([0.0], [[0.0]] * len(original), [1.0], [False], neighbours)
    at_random = oracle.sharing_chance(anything, anything)
    assert outcome.baseline.value == pytest.approx(float(at_random), rel=1e-9)


@given(pairs_of_tables(), st.integers(1, 8))
def test_the_closest_person_is_that_of_comparing_a_row_with_everybody(tables, n_control):
    """Of the people closest to a row success is the share that is of the original."""
    original, protected, is_category = tables
    control, names = protected[::-1][:n_control] + 1.0, tuple("ABCDEFGHIJ"[: original.shape[1]])
    weights = weights_of(original, is_category)
    everybody = [*original.tolist(), *control.tolist()]
    shares, persons = [], []
    for row in protected.tolist():
        near = oracle.nearest_rows(row, everybody, weights, is_category)
        shares.append(Fraction(sum(i < len(original) for i in near), len(near)))
        persons.append([everybody[i] for i in near])
    outcome = closest_record(setting_of(*tables, control=control), names)
    assert outcome.success.value == pytest.approx(float(sum(shares) / len(shares)), rel=1e-12)
    assert outcome.success.n == len(protected)
    assert outcome.baseline.value == len(original) / len(everybody)
    closest = [{tuple(person) for person in near} for near in persons]
    if all(len(near) == 1 for near in closest):
        of_person = Counter(person for near in closest for person in near)
        effective = len(protected) ** 2 // sum(count**2 for count in of_person.values())
        interval = success_rate(outcome.success.value * effective, effective, 0.95).interval
        assert outcome.success.interval == pytest.approx(interval)
    for whose, table in (("released rows", protected), ("control group", control)):
        to_original = sorted(
            min(oracle.distances(row, original.tolist(), weights, is_category)) ** 0.5
            for row in table.tolist()
        )
        assert outcome.distances[whose].value == pytest.approx(np.median(to_original), rel=1e-12)


@given(pairs_of_tables(most_attributes=1), st.sampled_from([0.0, 0.125, 0.25, 0.5]))
def test_interval_disclosure_is_that_of_looking_at_every_pair(tables, tolerance):
    """Own rows give the success, all pairs of persons and rows the baseline."""
    original, protected, _ = tables
    setting = setting_of(original, protected, np.array([False]), tolerance=tolerance)
    values, released = original[:, 0].tolist(), protected[:, 0].tolist()
    for by_rank, intervals in (
        (False, oracle.deviation_intervals(released, tolerance * original[:, 0].std(ddof=1))),
        (True, oracle.rank_intervals(released, tolerance)),
    ):
        outcome = interval_disclosure(setting, "A", by_rank=by_rank)
        expected = oracle.disclosed_share(values, intervals)
        at_random = oracle.disclosed_share_at_random(values, intervals)
        assert outcome.success.value == pytest.approx(float(expected), rel=1e-12)
        assert outcome.baseline.value == pytest.approx(float(at_random), rel=1e-12)


@given(pairs_of_tables(), st.data())
def test_predicates_select_what_satisfies_all_their_comparisons(tables, data):
    """Whichever comparison is looked up first, the count is that of trying every record."""
    rows, values, _ = tables
    comparisons = data.draw(hnp.arrays(np.int8, values.shape, elements=st.integers(0, 3)))
    comparisons[:, 0] = np.maximum(comparisons[:, 0], 1)
    missing = data.draw(hnp.arrays(np.bool_, rows.shape))
    rows = np.where(missing, np.nan, rows)
    expected = [
        oracle.count_selected(rows.tolist(), *predicate)
        for predicate in zip(comparisons.tolist(), values.tolist(), strict=True)
    ]
    found = Predicates(comparisons=comparisons, values=values).counts(rows)
    assert found.tolist() == expected


@pytest.mark.parametrize(("n_records", "n_drawn"), [(1, 1), (5, 1), (5, 3), (6, 6), (8, 5)])
def test_the_chance_of_one_is_that_over_all_subsets(n_records, n_drawn):
    """Counted out, not drawn."""
    counts = list(range(n_records + 1))
    expected = [float(oracle.chance_of_one(count, n_records, n_drawn)) for count in counts]
    assert chance_of_one(counts, n_records, n_drawn) == pytest.approx(expected, rel=1e-12)


def test_the_chance_of_one_approaches_that_of_independent_people():
    """Of very many records the law is binomial: n w (1 - w)^(n - 1)."""
    chance = chance_of_one([3000], 3_000_000, 1000)[0]
    assert chance == pytest.approx(1000 * 0.001 * 0.999**999, rel=1e-3)


def test_small_chances_of_sharing_stay_exact_in_large_releases():
    """Two rows at random among a million coincide once in a million times."""
    counts = np.zeros((1, 3, 3), dtype=np.int64)
    counts[0, 2, 2] = 1_000_000
    assert chance_of_sharing(counts, 1)[0] == pytest.approx(1e-6, rel=1e-8)


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
)
def test_the_area_under_the_curve_is_that_over_all_pairs(members, others):
    """A member nearer than another person counts 1, as near counts a half."""
    area = area_under_curve(np.array(members, float), np.array(others, float), confidence=0.95)
    assert area.value == pytest.approx(float(oracle.area_under_curve(members, others)), rel=1e-12)
    low, high = area.interval
    assert 0 <= low <= area.value <= high <= 1
    assert low < high


@pytest.mark.parametrize("n_attributes", [1, 3, 8])
@pytest.mark.parametrize("neighbours", [1, 2, 7])
def test_many_leaves_hide_no_nearer_row(n_attributes, neighbours):
    """In a tree of many leaves, distances and ties are those of comparing every pair."""
    generator = np.random.default_rng(n_attributes)
    rows = np.round(generator.standard_normal((600, n_attributes)), 1)
    people = np.round(generator.standard_normal((20, n_attributes)), 1)
    is_category = np.arange(n_attributes) % 3 == 1
    rows[:, is_category] = generator.integers(0, 3, (600, is_category.sum()))
    people[:, is_category] = generator.integers(0, 4, (20, is_category.sum()))
    weights = standard_weights(rows, is_category)
    search = Rows.arrange(rows, weights, is_category)
    found = search.distances(people, neighbours=neighbours)
    counts = search.count_at(people, found, np.zeros(len(rows)), np.zeros((len(people), 2)))
    at = search.within(people, found)
    for number, (person, distance, count) in enumerate(
        zip(people.tolist(), found, counts[:, 0], strict=True)
    ):
        to_rows = oracle.distances(person, rows.tolist(), weights, is_category)
        assert distance == sorted(to_rows)[neighbours - 1]
        assert count == to_rows.count(distance)
        listed = {1: [], 2: []}
        for _, row, kind in at[at[:, 0] == number].tolist():
            listed[kind] += search.members[search.starts[row] : search.starts[row + 1]].tolist()
        assert {to_rows[row] for row in listed[2]} == {distance}
        nearer = [row for row, apart in enumerate(to_rows) if apart < distance]
        assert sorted(listed[1]) == nearer


def ages(*values):
    return np.array([values], float).T


def of_ages(original, protected, **terms):
    return Setting(
        names=("AGE",),
        is_category=np.array([False]),
        original=original,
        protected=protected,
        **terms,
    )


def test_rows_with_one_closest_person_speak_of_one_person():
    """A hundred rows beside one of three people are one toss; beside as many, a hundred."""
    original, control = ages(10, 20, *range(1000, 1098)), ages(30)
    together, apart = (
        closest_record(of_ages(original, rows, control=control), ["AGE"])
        for rows in (ages(*[9] * 100), original)
    )
    assert together.success.value == apart.success.value == 1.0
    assert together.success.interval[0] == pytest.approx(0.025)
    assert apart.success.interval[0] > 0.96
    assert together.baseline.value == apart.baseline.value == 100 / 101


def test_the_rate_of_a_small_control_group_is_scaled_to_the_size_of_the_original():
    """Six ages and three strangers, by hand.

    Of eight conditions, equal to 1 and at most 1 are met by one stranger, at least 6 by two.
    Of the six people each condition is met by one: in half of the draws of three people.
    """
    original = ages(1, 2, 3, 4, 5, 6)
    outcome = singling_out(of_ages(original, original, control=ages(1, 50, 60)), ["AGE"])
    assert outcome.n_attacks == outcome.successes == 8
    assert outcome.control.value == pytest.approx(2 / 8 * 2)


def test_a_large_control_group_counts_as_all_its_parts_of_the_originals_size():
    """Two ages and four strangers, by hand: conditions met by 1 of 4 and by 2 of 4.

    Equal to 1 and at most 1 are met by one: in half of the pairs of strangers. Equal to 2 is
    met by none, at least 2 by three: by exactly one in half of the pairs again.
    """
    original = ages(1, 2)
    outcome = singling_out(of_ages(original, original, control=ages(1, 50, 60, 70)), ["AGE"])
    assert outcome.n_attacks == outcome.successes == 4
    assert outcome.control.value == pytest.approx((1 / 2 + 1 / 2 + 0 + 1 / 2) / 4)


def test_random_conditions_are_drawn_from_the_whole_released_range():
    """Equal to one of eleven whole ages: one in eleven random ages is somebody's alone."""
    released = ages(10, 20, 20)  # equal to 10, at most 10, at least 20
    people = ages(15, 3, 3)
    setting = of_ages(people, released, n_attacks=60_000)
    # Equal to 15; at most 3 to 14 is none of the range from 10, at least 10 to 15 is one.
    equal, at_most, at_least = 1 / 11, 0, 6 / 11
    expected = (equal + at_most + at_least) / 3
    assert singling_out(setting, ["AGE"]).baseline.value == pytest.approx(expected, abs=0.008)
