"""Verdicts on KNOISE follow from the numbers, and each figure means what it says.

Ages are invented; releases are made to the paper's words, or against.
"""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil import DataError, RequestError
from microveil.files.reading import read_file
from microveil.measures.goodness_of_fit import compare_distributions
from microveil.partition import intervals
from microveil.protect.protecting import plan
from microveil_papers import PAPERS, reproduce
from microveil_papers.knoise.ages import Ages, ages_of
from microveil_papers.knoise.error_claims import PUBLISHED, error_claims
from microveil_papers.knoise.experiments import (
    EPSILONS,
    GUARANTEED,
    K_NOISE,
    K_PRAM,
    VARIANTS,
    Measured,
)
from microveil_papers.knoise.listings import epsilon_at, expected_mse
from microveil_papers.knoise.measures import (
    best_guesses,
    distances_of_laws,
    errors_by_place,
    expected_within,
    linked,
    rises,
    roughness,
    slopes,
    within,
)
from microveil_papers.knoise.risk_claims import risk_claims
from microveil_papers.knoise.spread import spread_of
from microveil_papers.paper import Experiment, Verdict
from reproduced import check_conditions, page_without_charts

RUNS = 100


def invented(values):
    """Ages cut into intervals of 5 years."""
    column = np.asarray(values, dtype=np.float64)
    return Ages(values=column, intervals=intervals(column, width=5))


@pytest.fixture(scope="module")
def ages():
    """Twelve people of every age from 20 to 44, and one of 45 that closes the last interval."""
    return invented([*np.repeat(np.arange(20.0, 45.0), 12), 45.0])


def drawn_inside(ages, generator, runs=RUNS):
    """Draw each age anew from its interval."""
    released = np.empty((runs, len(ages.values)))
    for label in np.unique(ages.intervals.labels):
        own = ages.intervals.labels == label
        released[:, own] = generator.choice(ages.values[own], size=(runs, own.sum()))
    return released


def noised(ages, generator, runs=RUNS, reach=2.5):
    """Add uniform noise, in thousandths of a year."""
    noise = np.round(generator.uniform(-reach, reach, size=(runs // 2, len(ages.values))), 3)
    # Each run with its mirror image: no bias is left to luck.
    return ages.values + np.concatenate([noise, -noise])


def world(ages, pram, noise):
    """Releases by both methods, whoever made them."""
    released = {variant.name: noise for variant in VARIANTS}
    released |= {variant.name: pram for variant in VARIANTS if variant.stays_inside}
    return Measured(
        ages=ages,
        released=released,
        links={name: linked(ages, drawn) for name, drawn in released.items()},
        fresh=np.full(len(pram), 0.03),
        costs={v.name: [np.array([1 / e, 1.1 / e]) for e in EPSILONS] for v in GUARANTEED},
    )


@pytest.fixture(scope="module")
def as_told(ages):
    """What both methods really do."""
    generator = np.random.default_rng(1)
    return world(ages, drawn_inside(ages, generator), noised(ages, generator))


@pytest.fixture(scope="module")
def against(ages):
    """k-pram that leaves nearly all as it is, and k-noise that is far off, biased and stepped."""
    generator = np.random.default_rng(2)
    pram = np.tile(ages.values, (RUNS, 1))
    pram[:, 0] += 7
    far = np.round(drawn_inside(ages, generator) + 60 + 40 * (ages.intervals.labels > 2), 0)
    return world(ages, pram, far)


def of(found, beginning):
    """The one claim that begins so."""
    claims = (*error_claims(found), *risk_claims(found))
    (claim,) = [claim for claim in claims if claim.text.startswith(beginning)]
    return claim


TOLD = (
    "k-PRAM leaves the number",
    "k-noise introduces no bias",
    "With k-noise the resulting ages are smoother",
    "k-noise has a lower error",
    "Theorem 1:",
)


@pytest.mark.parametrize("beginning", TOLD)
def test_a_claim_holds_in_a_world_made_to_its_words(as_told, beginning):
    """What both methods really do to evenly spread ages is what the paper says of it."""
    assert of(as_told, beginning).verdict is Verdict.HOLDS


@pytest.mark.parametrize("beginning", [*TOLD[:-1], "The empirical distributions"])
def test_a_claim_fails_where_the_numbers_are_against_it(against, beginning):
    """No verdict is written down by hand."""
    assert of(against, beginning).verdict is not Verdict.HOLDS


def test_intervals_bias_by_place_only(as_told, against):
    """Drawing from an interval pulls to its mean and shifts nothing as a whole."""
    claim = of(as_told, "Randomising within fixed intervals")
    assert [case.holds for case in claim.cases] == [False, True]
    assert not of(against, "Randomising within fixed intervals").cases[1].holds


def test_a_distribution_is_kept_only_if_nearly_all_runs_keep_it(as_told, ages):
    """Half of the runs being perfect does not help where the other half is far off."""
    shifts = np.repeat([0.0, 10.0], RUNS // 2)[:, None]
    mixed = replace(as_told, released=as_told.released | {K_NOISE: ages.values + shifts})
    assert of(mixed, "The empirical distributions").verdict is Verdict.FAILS
    same = replace(as_told, released=as_told.released | {K_NOISE: ages.values + 0 * shifts})
    assert of(same, "The empirical distributions").verdict is Verdict.HOLDS


def test_a_lower_bias_of_single_runs_is_not_taken_for_one_of_the_method(ages):
    """Two methods with the same luck differ in no case, though single runs do."""
    generator = np.random.default_rng(3)
    both = [ages.values + generator.uniform(-2.5, 2.5, (RUNS, len(ages.values))) for _ in range(2)]
    for pram, noise in (both, both[::-1]):
        found = world(ages, pram, noise)
        assert of(found, "k-noise has a lower bias").verdict is Verdict.FAILS
    shifted = world(ages, noised(ages, generator) + 1, noised(ages, generator))
    assert of(shifted, "k-noise has a lower bias").verdict is Verdict.HOLDS


def test_the_papers_numbers_are_held_against_single_runs(ages):
    """A printed number holds where single runs lie on both sides of it."""
    errors = [np.full(len(ages.values), PUBLISHED[K_NOISE]["RMSE"] + shift) for shift in (-1, 1)]
    found = world(ages, np.tile(ages.values, (2, 1)), ages.values + np.array(errors))
    cases = {case.where: case.holds for case in of(found, "Bias, MSE and RMSE").cases}
    assert cases["k-noise, RMSE"]
    assert not cases["k-noise, bias"]
    assert not cases["k-pram, RMSE"]


def test_the_bound_of_one_in_k_fails_where_groups_are_smaller(ages):
    """Risk follows the own interval's size, not the average."""
    even = world(ages, *(drawn_inside(ages, np.random.default_rng(4)),) * 2)
    assert of(even, "As the intervals").verdict is Verdict.HOLDS
    values = [*np.repeat(np.arange(20.0, 25.0), 40), 25.0, 30.0]
    skewed = invented(values)
    found = world(skewed, *(drawn_inside(skewed, np.random.default_rng(5), 200),) * 2)
    assert [case.holds for case in of(found, "As the intervals").cases] == [False, True]


def test_comparable_risk_needs_the_record_most_at_risk_too(as_told, ages):
    """Ends of the range are told apart more easily; equal releases are at equal risk."""
    cases = of(as_told, "The disclosure risk of k-noise").cases
    assert [case.holds for case in cases] == [True, False, True]
    exposed = replace(as_told, links=as_told.links | {K_NOISE: 2 * as_told.links[K_PRAM]})
    assert not any(c.holds for c in of(exposed, "The disclosure risk of k-noise").cases[:2])
    same = world(ages, *(noised(ages, np.random.default_rng(8)),) * 2)
    assert all(c.holds for c in of(same, "The disclosure risk of k-noise").cases[:2])


def test_premise_of_neighbourhoods_is_counted():
    """Sparse ages have fewer than the average k around them; dense ones more."""
    sparse = invented([*np.repeat(np.arange(20.0, 25.0), 40), 25.0, 33.0, 40.0])
    generator = np.random.default_rng(6)
    found = world(sparse, drawn_inside(sparse, generator), noised(sparse, generator))
    claim = of(found, "Within 2 delta of every record")
    cases = {case.where.split(",")[0]: case.holds for case in claim.cases}
    assert not cases[f"k = {sparse.average_size}"]
    halves = {case.where: case.holds for case in of(found, "Uniform noise of reach").cases}
    average = f"k = {sparse.average_size}, the average interval's size"
    assert not halves[f"in expectation, {average}"]
    assert halves["in expectation, k the size of the record's own interval"]


def test_expected_neighbours_come_near_k_within_delta_and_twice_within_two(as_told):
    """On evenly spread ages the figure's radius gives k and the theorem's 2 k."""
    cases = of(as_told, "Theorem 1's bound").cases
    assert [case.holds for case in cases] == [True, True, False]
    assert all(case.holds for case in of(as_told, "By simulation").cases)
    halved = replace(as_told, released=as_told.released | {K_NOISE: as_told.released[K_NOISE] + 99})
    assert not any(case.holds for case in of(halved, "By simulation").cases)
    effective = of(as_told, "k-noise is effective").cases
    assert [case.holds for case in effective] == [False, True]


def test_an_intruder_is_misled_by_what_is_far_off(as_told, against):
    """Links and best guesses decide, each by itself."""
    assert of(as_told, "k-noise misleads").verdict is not Verdict.HOLDS
    near = replace(as_told, links=as_told.links | {K_PRAM: as_told.links[K_PRAM] + 0.5})
    assert of(near, "k-noise misleads").cases[0].holds
    assert of(against, "k-noise misleads").cases[0].holds


def same_in_all_runs(ages, pram, noise):
    """Two runs of the same, whose intervals have no width."""
    return world(ages, *(np.tile(released, (2, 1)) for released in (pram, noise)))


def verdict(found, beginning, case):
    claims = (*error_claims(found), *risk_claims(found))
    return next(c for c in claims if c.text.startswith(beginning)).cases[case].holds


# Each claim and case, and how the releases follow from the ages by a number: just inside, outside.
@pytest.mark.parametrize(
    ("beginning", "case", "pram", "noise", "inside", "outside"),
    [
        ("k-noise introduces", 0, 0, lambda a, x: a.values + x, 0.0249, 0.0251),
        ("k-noise introduces", 1, 0, lambda a, x: a.values + x * a.deviations, 0.049, 0.051),
        ("Randomising", 0, lambda a, x: a.values + x, 0, 0.0251, 0.0249),
        ("Randomising", 1, lambda a, x: a.values + x * a.deviations, 0, -0.051, -0.049),
        ("The empirical", 0, 0, lambda a, x: a.values + 5 * (np.arange(301) < x), 33, 34),
        ("The empirical", 1, 0, lambda a, x: a.values + 5 * (np.arange(301) < x), 15, 16),
        ("With k-noise", 1, lambda a, x: a.values + x * a.intervals.labels, 0, 0.251, 0.249),
        ("With k-noise", 1, lambda a, _: a.values + a.intervals.labels,
         lambda a, x: a.values + x * a.intervals.labels, 0.249, 0.251),
    ],
)  # fmt: skip
def test_thresholds_of_errors_lie_where_the_criteria_say(
    ages, beginning, case, pram, noise, inside, outside
):
    """A release just inside meets the case, one just outside does not."""
    for number, told in ((inside, True), (outside, False)):
        sides = [made(ages, number) if made else ages.values for made in (pram, noise)]
        assert verdict(same_in_all_runs(ages, *sides), beginning, case) == told


def test_single_runs_are_lower_in_95_of_100(ages):
    """One run fewer is not most of them."""
    for lower, told in ((95, True), (94, False)):
        errors = np.where(np.arange(RUNS) < lower, 0.5, 1.1)[:, None]
        found = world(ages, np.tile(ages.values + 1, (RUNS, 1)), ages.values + errors)
        assert verdict(found, "k-noise has a lower error", 1) == told
        assert verdict(found, "k-noise has a lower bias", 1) == told


def test_comparable_is_a_quarter_more(as_told, ages):
    """Links of 1.25 times as many records, and guesses as much nearer."""
    links = as_told.links[K_PRAM]
    for times, told in ((1.249, True), (1.251, False)):
        found = replace(as_told, links=as_told.links | {K_NOISE: times * links})
        assert [verdict(found, "The disclosure risk", case) for case in (0, 1)] == [told] * 2
    near, far = (best_guesses(ages, ages.values[None, :] + shift, stays_inside=False)[0]
                 for shift in (0, 99))  # fmt: skip
    inside = best_guesses(ages, ages.values[None, :], stays_inside=True)[0]
    least = math.ceil(RUNS * (inside / 1.25 - near) / (far - near))
    for runs, told in ((least, True), (least - 1, False)):
        found = replace(
            as_told, released=as_told.released | {K_NOISE: kept(ages.values, RUNS - runs)}
        )
        assert verdict(found, "The disclosure risk", 2) == told


def kept(released, runs):
    """So many runs of a release, and all others where nobody is near."""
    return released + 99.0 * (np.arange(RUNS) >= runs)[:, None]


def middles(ages):
    """The middle of each interval: all of its ages are within delta."""
    return (ages.intervals.edges[:-1] + 2.5)[ages.intervals.labels]


@pytest.mark.parametrize(
    ("beginning", "case", "runs"),
    # Near the middles are 72 of 60, and 61 of the last 61: 2.319 times k/2 on average.
    [("By simulation", 0, 65), ("Theorem 1's bound", 1, 69)],
)
def test_far_and_close_are_factors_of_the_mean(as_told, ages, beginning, case, runs):
    """1.5 times k/2 is far, four fifths of k is close; one run of a hundred fewer is neither."""
    for number, told in ((runs, True), (runs - 1, False)):
        released = as_told.released | {K_NOISE: kept(middles(ages), number)}
        assert verdict(replace(as_told, released=released), beginning, case) == told


def test_close_ends_at_a_quarter_more(as_told, ages):
    """Counted within 2 delta of the originals."""
    values = ages.values
    near = (np.abs(values[:, None] - values) <= 5).sum(axis=1) / ages.own_sizes
    most = int(RUNS * 1.25 / near.mean())
    for number, told in ((most, True), (most + 1, False)):
        released = as_told.released | {K_NOISE: kept(values, number)}
        assert verdict(replace(as_told, released=released), "Theorem 1's bound", 2) == told


def test_most_records_are_95_of_100(as_told, ages):
    """15 of 301 may be missed, 16 may not."""
    for missed, told in ((15, True), (16, False)):
        released = middles(ages) + 99.0 * (np.arange(301) < missed)
        found = replace(
            as_told, released=as_told.released | {K_NOISE: np.tile(released, (RUNS, 1))}
        )
        assert verdict(found, "By simulation", 0) == told
        assert verdict(found, "k-noise is effective", 0) == told


def test_a_bound_is_conservative_from_half_as_much_again_on():
    """Two groups just within 2 delta of each other are expected at 1.502 the bound, three below."""
    generator = np.random.default_rng(9)
    for groups, told in ((2, True), (3, False)):
        far = invented([*np.repeat(20 + 4.99 * np.arange(groups), 40), 50.0])
        found = world(far, *(noised(far, generator, 2),) * 2)
        claim = next(c for c in risk_claims(found) if c.text.startswith("Theorem 1's bound"))
        assert claim.cases[0].holds == told, claim.cases[0].measured


def test_one_run_says_nothing_of_the_spread(as_told):
    """What holds by an interval, or in most runs, does not hold by one run."""
    one = {name: released[:1] for name, released in as_told.released.items()}
    links = {name: shares[:1] for name, shares in as_told.links.items()}
    found = replace(as_told, released=one, links=links, fresh=as_told.fresh[:1])
    for beginning in (
        "k-noise introduces", "Randomising", "The empirical", "With k-noise", "k-noise has a lower",
        "As the intervals", "k-noise misleads",
    ):  # fmt: skip
        claims = (*error_claims(found), *risk_claims(found))
        cases = [case for c in claims if c.text.startswith(beginning) for case in c.cases]
        assert not any(case.holds for case in cases)
    assert str(spread_of([2.0])) == "2 (one run)"


def test_ages_without_steps_of_a_year_are_refused():
    """Neither across a border nor within an interval can a rise be read off."""
    for values in ([20, 21, 22, 30, 31], [20, 22, 24, 25, 30]):
        ages = invented(values)
        with pytest.raises(DataError, match="one year apart"):
            rises(ages, ages.values[None, :])


@given(st.lists(st.integers(20, 60), min_size=2, max_size=40).filter(lambda v: len(set(v)) > 1))
def test_expected_numbers_within_delta_are_those_of_a_fine_integral(values):
    """The closed form is the mean over all places of the noise."""
    column = np.array(values, dtype=np.float64)
    places = (np.arange(2000) + 0.5) / 2000 * 5 - 2.5
    near = np.abs(column[:, None, None] + places[None, :, None] - column[None, None, :]) <= 2.5
    integral = near.sum(axis=2).mean(axis=1)
    assert expected_within(column, 2.5) == pytest.approx(integral, abs=0.001 * len(values))


@given(
    st.lists(st.integers(0, 9_999), min_size=1, max_size=20),
    st.lists(st.integers(0, 9_999), min_size=1, max_size=20),
)
def test_counts_within_reach_are_exact_at_the_ends(centres, values):
    """Thousandths are counted as whole numbers: 2.5 years is near, 2.501 is not."""
    counted = within(np.array(centres) / 1000, np.array([values]) / 1000, 2.5)
    assert within(np.array([0.1]), np.array([[2.6, 2.601, -2.4]]), 2.5).tolist() == [[2]]
    assert counted.tolist() == [[sum(abs(c - v) <= 2500 for v in values) for c in centres]]


@given(st.lists(st.integers(20, 60), min_size=4, max_size=40).filter(lambda v: len(set(v)) > 1))
def test_distances_are_those_of_the_goodness_of_fit(values):
    """The quick distance is the public one."""
    column = np.array(values, dtype=np.float64)
    moved = column + np.linspace(-3, 3, len(column))
    test = compare_distributions(column, moved).kolmogorov_smirnov
    assert distances_of_laws(column, moved[None, :])[0] == pytest.approx(test.statistic)


def test_slopes_rises_and_places_tell_a_pull_to_the_mean(ages):
    """Means of intervals: slope -1, no rise inside, the width across; as they are: 0, 1, 1."""
    means = (ages.values - ages.deviations)[None, :]
    same = ages.values[None, :]
    assert slopes(ages, means)[0] == pytest.approx(-1)
    assert slopes(ages, same + 3)[0] == pytest.approx(0)
    assert rises(ages, means).inside[0] == pytest.approx(0)
    assert rises(ages, means).across[0] == pytest.approx(5, rel=0.02)
    assert rises(ages, same).inside[0] == pytest.approx(1)
    assert rises(ages, same).across[0] == pytest.approx(1)
    places, errors = errors_by_place(ages, same + 3)
    assert places.tolist() == [0, 1, 2, 3, 4, 5]
    assert errors.tolist() == [[3] * 6]


def test_roughness_grows_with_spikes():
    """A flat histogram is smoother than one with every other year empty."""
    flat, spiked = np.repeat(np.arange(20.0, 40.0), 2), np.repeat(np.arange(20.0, 40.0, 2), 4)
    assert roughness(flat[None, :])[0] < roughness(spiked[None, :])[0]


def test_best_guesses_are_means_of_what_may_have_been(ages):
    """Of an interval its mean; of a noised value the mean of the originals within delta."""
    few = invented([20, 22, 30, 31])
    guess = best_guesses(few, np.array([[21.0, 21.0, 30.5, 30.5]]), stays_inside=False)
    assert guess[0] == pytest.approx(math.sqrt((1 + 1 + 0.25 + 0.25) / 4))
    inside = best_guesses(ages, np.tile(ages.values, (2, 1)), stays_inside=True)
    assert inside == pytest.approx(np.sqrt([np.mean(ages.deviations**2)] * 2))


def test_links_are_shares_of_those_that_cannot_be_told_apart():
    """A value released as it is is found among its equals; one moved beyond another is not."""
    few = invented([20, 20, 25, 31])
    shares = linked(few, np.array([[20.0, 20.4, 29.0, 31.0]]))
    assert shares.tolist() == [[0.5, 0.5, 0.0, 1.0]]


def test_expected_errors_are_those_of_theory(ages):
    """delta^2/3 for noise; twice the variance within intervals for draws."""
    assert expected_mse(ages, VARIANTS[1]) == pytest.approx(25 / 12)
    assert expected_mse(ages, VARIANTS[0]) == pytest.approx(4, abs=0.05)


def test_spread_has_interval_and_runs():
    """One run has no interval; many have one narrower than their own spread."""
    assert (spread_of([2.0]).low, spread_of([2.0]).high) == (2.0, 2.0)
    spread = spread_of(np.arange(1000.0))
    assert spread.least < spread.low < spread.mean < spread.high < spread.greatest
    assert spread.holds(30)
    assert not spread.holds(10)
    assert spread.is_beyond(400)
    assert not spread.is_beyond(490)
    assert spread_of([-3.0, -3.0]).is_beyond(2)


def test_epsilon_of_equal_error_is_read_between():
    """Outside what was measured there is none."""
    errors = [1 / epsilon for epsilon in EPSILONS]
    assert epsilon_at(errors, 1 / 3) == pytest.approx(3)
    assert epsilon_at(errors, 100) is None
    assert epsilon_at(errors, 0.01) is None
    assert epsilon_at([2.0] * len(EPSILONS), 2.0) == EPSILONS[0]


@pytest.fixture
def file(tmp_path):
    """A file with 700 ages, some of them out of range."""
    generator = np.random.default_rng(7)
    column = np.concatenate([[5, 90], generator.integers(24, 80, 700)])
    path = tmp_path / "adult.csv"
    pl.DataFrame({"age": column, "sex": ["x"] * len(column)}).write_csv(path)
    return path


def test_the_whole_reproduction_is_written(file, tmp_path):
    """Two runs, from file to page, with every figure and table; equal arguments, equal claims."""
    done = []
    found = reproduce(
        "knoise",
        {"adult": file},
        tmp_path / "out",
        runs=2,
        progress=lambda *told: done.append(told),
    )
    again = reproduce("knoise", {"adult": file}, tmp_path / "again", runs=2)
    assert found.claims == again.claims
    assert [claim.section for claim in found.claims] == sorted(c.section for c in found.claims)
    assert len({claim.text for claim in found.claims}) == len(found.claims) == 17
    assert done[-1][1] == done[-1][2]
    out = tmp_path / "out"
    for figure in found.figures:
        for kind in ("csv", "svg", "png"):
            assert (out / f"{figure.identifier}.{kind}").stat().st_size
    for listing in found.listings:
        assert (out / f"{listing.identifier}.csv").exists()
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "keep no epsilon at any scope" in page
    assert PAPERS["knoise"].citation in page


def test_the_page_shows_what_each_epsilon_takes_as_given(file, tmp_path):
    """The clause of each condition of the plans, by method, each text once, and no other."""
    source = read_file(file)
    asked = Experiment(
        tables={"adult": source}, runs=2, quick=True, folder=tmp_path, progress=lambda *_: None
    )
    found = PAPERS["knoise"].reproduce(asked)
    held = conditions_of_plans(ages_of(source))
    check_conditions(page_without_charts(PAPERS["knoise"], found), held)
    ids = {name: {condition.id for condition in conditions} for name, conditions in held.items()}
    assert ids.pop("laplace") == {"repeated-people"}
    for own in ids.values():
        assert own == {"noise-scales", "cluster-sizes", "repeated-people"}
    assert [one.scope for one in found.given] == ["row", "vector", "vector"]
    prices = next(figure.table for figure in found.figures if figure.identifier == "epsilon-error")
    for name, ids in prices.drop_nulls("epsilon").select("method", "conditions").iter_rows():
        assert set(ids.split()) == {condition.id for condition in held.get(name, ())}


def conditions_of_plans(ages):
    """What the methods that keep an epsilon take as given, by the plans of their requests."""
    table = pl.DataFrame({"age": ages.values})
    return {
        variant.name: {
            *plan(table, attributes=["age"], epsilon=1, **variant.request).guarantee.conditions
        }
        for variant in GUARANTEED
    }


def test_the_first_records_of_the_range_are_taken(file):
    """As many as asked for, none beyond 24 and 79."""
    ages = ages_of(read_file(file), 650)
    given_ages = pl.read_csv(file)["age"].to_numpy()
    assert ages.values.tolist() == given_ages[2:652].tolist()


def test_too_few_or_broken_ages_are_refused(tmp_path):
    """With a remedy, and without a value of the data."""
    with pytest.raises(DataError, match="659 records"):
        reproduce("knoise", {"adult": short(tmp_path)}, tmp_path / "out", runs=1)
    with pytest.raises(DataError, match="whole years"):
        ages_of(read_file(halves(tmp_path)), 10)
    with pytest.raises(RequestError, match="needs"):
        reproduce("knoise", {}, tmp_path / "out", runs=1)


def short(folder):
    """A file with too few records."""
    path = folder / "short.csv"
    pl.DataFrame({"age": [30] * 658 + [10] * 5}).write_csv(path)
    return path


def halves(folder):
    """A file with half years."""
    path = folder / "halves.csv"
    pl.DataFrame({"age": [30.5] * 20}).write_csv(path)
    return path
