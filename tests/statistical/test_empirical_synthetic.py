"""The empirical audit of a new table: nothing above what is accounted, too little noise found."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import microveil as mv
from microveil.audit.empirical import empirical_audit
from microveil.audit.empirical.audit import Attack, measured
from microveil.audit.empirical.bounds import lower_bound
from microveil.audit.empirical.measurements import (
    _Codes,
    _neighbours,
    _scoring,
    _Weights,
    measurement_experiment,
)
from microveil.noise.counts import gaussian_noise, laplace_noise
from microveil.noise.exponential import draw_weighted, median_weights
from microveil.noise.noise import RandomSource
from microveil.protect.opening import prepare
from microveil.protect.planning import plan_of
from microveil.protect.request import Request
from microveil.synthesis.cuts import Candidates, recursive_medians
from microveil.synthesis.measuring import Counter as RecordCounter

N = 104
# Half of the people below a gap, and half above it: what one record can change is seen best.
GAP = np.r_[np.linspace(0, 425, N // 2 - 1), np.linspace(575, 1000, N // 2 + 1)].astype(int)
RANDOM = np.random.default_rng(2)
TABLES = {
    "a gap": GAP,
    "a canary in the tail": np.r_[RANDOM.integers(0, 60, N - 1), 1000],
    "one value": np.full(N, 500),
    "heavy tail": np.minimum(RANDOM.lognormal(3, 1.5, N), 1000).astype(int),
    "two tails": np.repeat([0, 1000], N // 2),
}
LEVELS = ["a", "b", "c"]
WORDS = RANDOM.choice(LEVELS, N, p=[0.9, 0.1, 0])
OF_NUMBERS = {"attributes": ["X"], "bounds": {"X": (0, 1000)}}
OF_WORDS = {"attributes": ["X"], "categories": {"X": LEVELS}}


def made(values, **arguments):
    """Everything that `measured` takes of a request, its own plan first."""
    request = Request.of({"method": "dp-synthetic", "epsilon": 1, **arguments})
    prepared = prepare({"X": values}, request)
    planned = plan_of(prepared)
    return planned.attributes[0], planned


def attacked(part, *rest, runs=300, confidence=0.9999, audit_seed=0):
    settings = {"runs": runs, "confidence": confidence, "audit_seed": audit_seed}
    return measured(part, *rest, Attack(**settings))


@pytest.mark.parametrize(
    ("table", "delta", "runs"),
    [
        ("a gap", 0, 1200),  # so many that six times the rates of the plan would be found
        ("heavy tail", 0.01, 300),
        *(
            pytest.param(table, delta, 300, marks=pytest.mark.slow)
            for table in TABLES
            for delta in (0, 0.01)
        ),
    ],
)
def test_cuts_lose_no_more_than_is_accounted(table, delta, runs):
    """Worst neighbours and canaries in the tails, at 99.99 %: nothing above the share."""
    found = attacked(*made(TABLES[table], delta=delta, **OF_NUMBERS), runs=runs)
    assert found.contradicted == ()
    assert len({finding.lower_bound for finding in found.scopes.values()}) == 1
    for finding in found.scopes.values():
        assert finding.lower_bound <= finding.exact == finding.claimed


@pytest.mark.parametrize(
    ("runs", "shown"), [(1500, 0.2), pytest.param(4000, 0.6, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "own", [OF_WORDS, {**OF_WORDS, "delta": 0.01}, {**OF_WORDS, "missing": "protect"}]
)
def test_counts_lose_no_more_than_is_accounted(own, runs, shown):
    """Of categories, a level becomes another; of 4000 runs most of what is accounted is shown."""
    found = attacked(*made(WORDS, **own), runs=runs)
    assert found.contradicted == ()
    assert found.scopes["row"].lower_bound > (0 if "delta" in own else shown)


def test_a_missing_value_is_hidden_as_well_as_any():
    """Where missing is protected a record may lose its value, or get one."""
    values = np.where(np.arange(N) < 30, np.nan, GAP.astype(float))
    own = {**OF_NUMBERS, "missing": "protect", "epsilon": 6, "resolution": {"X": 1}}
    found = attacked(*made(values, **own), runs=400)
    assert found.contradicted == ()


def too_little(part, times):
    """The same plan with so many times less noise."""
    if part.depths:
        depths = (tuple(times * rate for rate in depth.rates) for depth in part.depths)
        own = zip(part.depths, depths, strict=True)
        return replace(part, depths=tuple(replace(depth, rates=rates) for depth, rates in own))
    noise = part.noise
    share = 3 / noise.scale if noise.is_gaussian else 2 * (1 << noise.bits) / noise.scale
    share *= times
    return replace(part, noise=(gaussian_noise if noise.is_gaussian else laplace_noise)(share))


@pytest.mark.parametrize(
    ("values", "own", "times", "runs"),
    [
        pytest.param(GAP, OF_NUMBERS, 6, 800, id="cuts, a sixth"),
        pytest.param(GAP, OF_NUMBERS, 3, 4000, id="cuts, a third", marks=pytest.mark.slow),
        pytest.param(WORDS, OF_WORDS, 3, 400, id="counts, a third"),
        pytest.param(WORDS, {**OF_WORDS, "delta": 0.05}, 3, 1000, id="counts, Gaussian, a third"),
    ],
)
def test_too_little_noise_is_found(values, own, times, runs):
    """More than the accounted epsilon is shown, which contradicts the claim at every scope."""
    part, *rest = made(values, **own)
    found = attacked(too_little(part, times), *rest, runs=runs, confidence=0.99)
    assert found.contradicted == ("cluster", "vector", "row")
    assert "CONTRADICTED" in found.to_text()


def test_the_verb_attacks_one_attribute_and_says_what_that_is():
    """Its own share of a release of several, the delta, and that pairs have other budgets."""
    table = {"X": GAP, "PLACE": WORDS}
    asked = {**OF_NUMBERS, "attributes": ["X", "PLACE"], "categories": {"PLACE": LEVELS}}
    request = {"method": "dp-synthetic", "epsilon": 5, "delta": 1e-9, **asked}
    found = empirical_audit(table, attribute="PLACE", runs=100, **request)
    accounted = mv.audit(table, **request).accounted
    assert found.scopes["row"].claimed == float(accounted.epsilon(accounted.attributes["PLACE"]))
    text = found.to_text()
    for words in ("'PLACE': 100 runs", "tables of pairs have budgets", "a delta of 1e-09"):
        assert words in text
    again = empirical_audit(table, attribute="PLACE", runs=100, **request)
    assert again.to_dict() == found.to_dict()


@pytest.mark.parametrize(
    "own", [OF_NUMBERS, OF_WORDS, {**OF_NUMBERS, "missing": "protect", "epsilon": 6}]
)
def test_neighbours_differ_in_one_record_within_the_domain(own):
    """Which one is replaced, and by what: a value, or none; tails go to the other end."""
    values = WORDS if "categories" in own else GAP
    part, whole = made(values, **own)
    (column,) = whole.prepared.columns
    lower, upper = column.attribute.grid_bounds

    def counted(one):
        return Counter([*one.values.tolist(), *[None] * one.n_missing])

    found = [counted(neighbour) for neighbour in _neighbours(part, column)]
    for other in found:
        gone, come = counted(column) - other, other - counted(column)
        assert gone.total() == come.total() == 1
        assert all(value is None or lower <= value <= upper for value in come)
    if values is GAP:
        assert counted(column) - Counter([0]) + Counter([upper]) in found
        assert any(other[None] for other in found) == ("missing" in own)


def test_scores_of_cuts_are_the_logarithm_of_their_chance():
    """Over all cuts that there can be chances sum to 1, and draws come as often as they say."""
    part, whole = made(GAP, **OF_NUMBERS)
    candidates = Candidates(lower=0, upper=1000, count=7)
    weights = {len(part.rates): [_Weights.of(rate, N) for rate in part.rates]}
    codes = _Codes.of(part, whole.prepared.columns[0], weights, candidates.count)
    cuts = [
        chosen
        for middle in range(1, 8)
        for chosen in itertools.product(
            range(1, middle) if middle > 1 else [None],
            [middle],
            range(middle + 1, 8) if middle < 7 else [None],
        )
    ]

    def chance(chosen):
        numbers = [n for n, code in enumerate(chosen, 1) if code is not None]
        found = drawn(0)
        return math.exp(
            codes.log_probability(
                replace(
                    found,
                    numbers=np.array(numbers),
                    codes=np.array([code for code in chosen if code is not None]),
                ),
                None,
            )
        )

    def drawn(seed):
        source = RandomSource.seeded(seed)
        given = [median_weights(rate, N) for rate in part.rates]
        return recursive_medians(
            _Held(codes.codes), candidates, given,
            partial(draw_weighted, source=source), source.integer_below,
        )  # fmt: skip

    chances = {chosen: chance(chosen) for chosen in cuts}
    assert sum(chances.values()) == pytest.approx(1)
    seen = Counter()
    for seed in range(1000):
        found = dict(zip(drawn(seed).numbers.tolist(), drawn(seed).codes.tolist(), strict=True))
        seen[tuple(found.get(number) for number in (1, 2, 3))] += 1
    assert set(seen) <= set(cuts)
    for chosen, expected in chances.items():
        assert abs(seen[chosen] / 1000 - expected) < 4.5 * math.sqrt(expected / 1000) + 1e-9


class _Held:
    """Codes as an engine keeps them."""

    def __init__(self, codes):
        self.codes = codes

    def below(self, code):
        return int(np.searchsorted(self.codes, code))

    def ranked(self, start, stop):
        return self.codes[start:stop]


@pytest.mark.parametrize("delta", [0, 0.01])
def test_scores_of_counts_never_exceed_what_laplace_noise_allows(delta):
    """A ratio of likelihoods: of Laplace noise at most the share, of Gaussian without bound."""
    part, whole = made(WORDS, delta=delta, **OF_WORDS)
    (column,) = whole.prepared.columns
    (neighbour,) = _neighbours(part, column)
    score, counter = _scoring(part, column)(neighbour), RecordCounter([column])
    source = RandomSource.seeded(1)
    scores = [score(part.measured(counter, 0, source)[0]) for _ in range(300)]
    most = max(map(abs, scores))
    assert most <= 1 + 1e-6 if delta == 0 else most > 1
    # Under the table's own law the mean of the inverse ratio is 1.
    assert np.mean(np.exp(np.negative(scores))) == pytest.approx(1, abs=0.15)


def test_the_neighbour_that_is_attacked_is_one_that_is_told_apart():
    """Of several the one by whose scores the two laws are farthest apart, in trial runs."""
    part, whole = made(TABLES["a canary in the tail"], **OF_NUMBERS)
    chosen = measurement_experiment(part, whole.prepared.columns[0], RandomSource.seeded(1))
    scores = chosen(200, RandomSource.seeded(2), of_neighbour=False)
    assert np.abs(scores).max() > 0.1


def test_a_delta_is_taken_off_what_is_shown():
    """The bound is never above the one without it, and nothing where all is within the delta."""
    table, neighbour = np.tile([1.0, 1.0, 1.0, 0.0], 500), np.tile([0.0, 0.0, 0.0, 1.0], 500)
    bounds = [lower_bound(table, neighbour, 0.99, delta) for delta in (0.0, 1e-9, 0.1, 0.5, 1.0)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] == pytest.approx(bounds[1])
    assert bounds[-1] == 0
