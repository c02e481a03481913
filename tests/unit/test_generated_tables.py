"""Records drawn from measurements: their distributions are those that were measured."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microveil as mv
from microveil.noise.counts import CountNoise
from microveil.protect.draw import draw
from microveil.schema import Attribute, Bounds, Categories, Kind, Source
from microveil.synthesis.cuts import Candidates, Cuts
from microveil.synthesis.distribution import Counted, of_cuts
from microveil.synthesis.generation import (
    Drawing,
    drawn_bins,
    drawn_scores,
    systematic,
    value_masses,
)
from microveil.synthesis.measurements import (
    AttributeMeasured,
    Measurements,
    NoisyCounts,
)
from microveil.synthesis.model import junction_tree
from microveil.synthesis.tables import axis_of, bin_masses
from reference.systematic import systematic as plainly_systematic

COUNT = 1 << 40


def generator(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


@st.composite
def cuts_of_a_domain(draw_from):
    """Released cuts of some domain, some of them missing, some beside each other."""
    lower = draw_from(st.integers(-(10**6), 10**6))
    upper = lower + draw_from(st.integers(33, 10**8))
    depth = draw_from(st.integers(2, 6))
    numbers = draw_from(st.sets(st.integers(1, 2**depth - 1)))
    near = st.integers(1, COUNT)
    if draw_from(st.booleans()):
        near = draw_from(near).__add__
        near = st.integers(0, 3000).map(near)
    codes = draw_from(st.sets(near, min_size=len(numbers), max_size=len(numbers)))
    return Cuts(
        candidates=Candidates(lower=lower, upper=upper, count=COUNT + 3000), depth=depth,
        numbers=np.array(sorted(numbers), dtype=np.int64),
        codes=np.array(sorted(codes), dtype=np.int64),
    )  # fmt: skip


def quantile_function(cuts, n_records=1000.0):
    """That of cuts alone."""
    nothing = np.zeros(0, dtype=np.int64)
    atoms = Counted(nothing, nothing, np.zeros(0), np.zeros(0))
    return of_cuts(cuts, (1.0,) * cuts.depth, cuts.candidates, atoms, n_records).quantiles


@settings(max_examples=40, deadline=None, derandomize=True)
@given(cuts_of_a_domain())
def test_a_quantile_function_rises_inside_the_domain_and_goes_through_its_cuts(cuts):
    """Wherever the cuts lie: beside each other, at an end, or one alone, or none."""
    candidates, function = cuts.candidates, quantile_function(cuts)
    shares = np.concatenate([np.linspace(1e-13, 1 - 1e-13, 401), cuts.shares])
    values = function.at(np.sort(shares))
    assert values.dtype == np.int64
    assert (np.diff(values) >= 0).all()
    assert candidates.lower <= values[0] <= values[-1] <= candidates.upper
    places = cuts.positions
    width = candidates.upper + 1 - candidates.lower
    found = np.interp(cuts.shares, function.shares, function.values)
    assert np.abs(found - places).max(initial=0) <= 1e-9 * width


def test_behind_a_point_mass_values_lie_no_farther_than_twice_an_exponential_tail():
    """Half the records are 0, the last cut is at 100: hardly anybody has 100,000, or -100,000."""
    candidates = Candidates(lower=-500_000, upper=500_000, count=COUNT)
    numbers, shares = np.array([1, 2, 3]), np.array([0.9, 0.99, 0.999])
    for positions, sign in ([0, 0, 100], 1), ([-100, 0, 0], -1):
        units = np.add(positions, [0.1, 0.5, 0.9])
        codes = np.floor(candidates.scale(units) * (COUNT + 1)).astype(np.int64)
        cuts = Cuts(candidates=candidates, depth=2, numbers=numbers, codes=codes)
        values = quantile_function(cuts).at(shares if sign > 0 else 1 - shares)
        steps = abs(cuts.positions[2 if sign > 0 else 0] - cuts.positions[1])
        bound = 100.9 + 2 * steps / np.log(2) * np.log(0.25 / (1 - shares))
        assert (sign * values <= bound + 1).all()
        assert (sign * values > 100).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_a_heavy_tail_goes_on_and_a_light_one_does_not(sign):
    """By exact cuts at all thirty-seconds: a Pareto's of index 1/2, and an exponential's."""
    candidates = Candidates(lower=-(1 << 30), upper=1 << 30, count=COUNT)
    above = 1 - np.arange(1, 32) / 32
    shares = np.array([0.99, 0.999, 0.9999])
    for values, due in (
        (1000 * above**-0.5, 1000 * (1 - shares) ** -0.5),
        (1000 * np.log(1 / above), 1000 * np.log(1 / (1 - shares))),
    ):
        units = np.sort(sign * values)
        codes = np.floor(candidates.scale(units) * (COUNT + 1)).astype(np.int64)
        cuts = Cuts(candidates=candidates, depth=5, numbers=np.arange(1, 32), codes=codes)
        certain, doubtful = (
            sign * quantile_function(cuts, n_records).at(shares if sign > 0 else 1 - shares)
            for n_records in (1e9, 100)
        )
        is_heavy = due[-1] > 50_000
        assert np.abs(certain / due - 1).max() < (0.01 if is_heavy else 0.35)
        # Of so few records cuts lie far off: what they show of a tail is in doubt.
        assert (doubtful < 0.7 * due).any() == is_heavy


def test_a_heavy_tail_adds_nothing_beyond_the_outermost_value_that_many_share():
    """A top code, beyond which an exponential tail alone goes on."""
    candidates = Candidates(lower=0, upper=1 << 30, count=COUNT)
    units = 1000 * (1 - np.arange(1, 32) / 32) ** -0.5
    codes = np.floor(candidates.scale(units) * (COUNT + 1)).astype(np.int64)
    cuts = Cuts(candidates=candidates, depth=5, numbers=np.arange(1, 32), codes=codes)
    top = np.array([20_000])
    atoms = Counted(top, top + 1, np.array([1e6]), np.ones(1))
    values = of_cuts(cuts, (1.0,) * 5, candidates, atoms, 1e9).quantiles
    farthest = np.array([1 - 1e-6])
    assert 20_000 < values.at(farthest)[0] < 60_000
    assert quantile_function(cuts, 1e9).at(farthest)[0] > 500_000


def test_evenly_spread_values_end_where_the_cuts_say():
    """By exact cuts at all sixteenths: none beyond the last, where a tail would go on for long."""
    candidates = Candidates(lower=-(1 << 30), upper=1 << 30, count=COUNT)
    units = np.linspace(20_000, 90_000, 17)[1:-1]
    codes = np.floor(candidates.scale(units) * (COUNT + 1)).astype(np.int64)
    cuts = Cuts(candidates=candidates, depth=4, numbers=np.arange(1, 16), codes=codes)
    ends = quantile_function(cuts, 1e9).at(np.array([1e-6, 1 - 1e-6]))
    assert ends == pytest.approx([20_000, 90_000], abs=700)


def attribute(name, domain):
    kind = domain.kind if isinstance(domain, Categories) else Kind.WHOLE
    return Attribute(name=name, kind=kind, resolution=Fraction(1), resolution_source=Source.TYPE,
                     domain=domain)  # fmt: skip


def bounds(lower, upper):
    return Bounds(lower=Fraction(lower), upper=Fraction(upper), source=Source.DECLARED)


def noisy(counts, variance=1.0):
    law = CountNoise(is_gaussian=True, scale=Fraction(variance), bits=0)
    return NoisyCounts(steps=np.array(counts), noise=law)


def cuts_measured(codes, candidates, present=None):
    depth = (len(codes) + 1).bit_length() - 1
    numbers = np.arange(1, len(codes) + 1)
    return AttributeMeasured(
        attribute=attribute("X", bounds(candidates.lower, candidates.upper)),
        cuts=Cuts(candidates=candidates, depth=depth, numbers=numbers, codes=np.array(codes)),
        rates=(1e6,) * depth, has_missing=present is not None, candidates=candidates,
        n_records=1000,
        counts=None if present is None else noisy(present),
    )  # fmt: skip


def counts_measured(name, counts, *, ordered=False, has_missing=False, variance=1.0):
    values = tuple(f"v{place}" for place in range(len(counts) - has_missing))
    domain = Categories(values=values, ordered=ordered, source=Source.DECLARED)
    return AttributeMeasured(attribute=attribute(name, domain), counts=noisy(counts, variance),
                             has_missing=has_missing)  # fmt: skip


class InTurn:
    """A generator that puts records in a given order."""

    def __init__(self, order, inner):
        self.order, self.random = order, inner.random

    def permutation(self, count):
        assert count == len(self.order)
        return self.order


def table_of(*attributes, tables=None, parts=4, n_records=1000, n_drawn=1000, halves=None):
    measured = Measurements(n_records=n_records, attributes=attributes, tables=tables or {},
                            parts=parts, halves=halves or {})  # fmt: skip
    return Drawing.of(measured).drawn(n_drawn, generator())[0]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.sets(st.integers(1, COUNT), min_size=7, max_size=7).map(sorted),
    st.integers(1, 400),
    st.sampled_from([None, (700, 300), (0, 1000), (1000, -40)]),
)
def test_as_many_values_lie_between_two_cuts_as_their_mass_says(codes, n_drawn, present):
    """Of the records with a value: to the record, but for those in the cut's own grid step."""
    candidates = Candidates(lower=-500, upper=10**6, count=COUNT)
    cut, other = cuts_measured(codes, candidates, present), counts_measured("Y", [600, 400])
    pair = noisy(np.arange(2 * axis_of(cut, 4).n_bins).reshape(-1, 2) * 50)
    first, _ = table_of(cut, other, tables={(0, 1): pair}, n_drawn=n_drawn)
    values, missing = first
    assert len(values) == n_drawn
    assert (missing is None) == (present is None)
    own = values if missing is None else values[~missing]
    shares, places = np.arange(1, 8) / 8, candidates.positions(np.array(codes))
    for share, place in zip(shares, places, strict=True):
        due = round(share * len(own) + 1e-9)
        below, up_to = (int((own < np.floor(place)).sum()), int((own <= np.floor(place)).sum()))
        assert below - 1 <= due <= up_to + 1


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=12),
    st.lists(st.integers(0, 3), min_size=12, max_size=12),
    st.lists(st.integers(0, 3), max_size=60),
    st.integers(0, 99),
)
def test_systematic_sampling_is_what_it_is_record_by_record(masses, groups, of_records, seed):
    """Records in any order, groups without a record or a mass: as the plain algorithm has them."""
    groups = np.array(groups[: len(masses)])
    of_records = np.array([one for one in of_records if one in groups], dtype=np.int64)
    mixed = generator(seed).permutation(len(of_records))
    turns = InTurn(mixed, generator(seed + 1))
    found = systematic(np.array(masses, float), groups, of_records, turns)
    starts = generator(seed + 1).random(len(np.unique(of_records)))
    assert found.tolist() == plainly_systematic(masses, groups, of_records, mixed, starts)


def test_bins_are_drawn_given_those_before_them():
    """Pairs of neighbours in the tree come out as the model has them, to a record a group."""
    sizes, random = [3, 2, 4], generator(5)
    tree = junction_tree(sizes, [(0, 1), (1, 2)])
    potentials = [random.random([sizes[one] for one in clique]) for clique in tree.cliques]
    model = tree.calibrated(potentials)
    bins = drawn_bins(model, 5000, generator(2))
    for pair in ((0, 1), (1, 2)):
        found = np.zeros([sizes[one] for one in pair])
        np.add.at(found, tuple(bins[one] for one in pair), 1)
        assert np.abs(found - 5000 * model.margin(pair)).max() <= 1 + sizes[pair[0]]
    # Attributes that are independent given a third are so in the records: siblings are shuffled.
    within = [bins[0][bins[1] == 0], bins[2][bins[1] == 0]]
    assert abs(np.corrcoef(within)[0, 1]) < 0.06


def test_scores_stay_in_their_bins_and_follow_their_parent():
    """By the copula that ties them: its correlation over all bins is the one asked for."""
    random = generator(7)
    parent = random.standard_normal(20_000)
    score = 0.8 * parent + 0.6 * random.standard_normal(20_000)
    ends = np.array([-np.inf, -0.7, 0.0, 0.7, np.inf])
    bins = np.searchsorted(ends[1:-1], score, side="right")
    made = drawn_scores(ends[bins], ends[bins + 1], parent, 0.8, random)
    assert (made >= ends[bins]).all()
    assert (made <= ends[bins + 1]).all()
    everywhere = np.full(20_000, np.inf)
    whole = drawn_scores(-everywhere, everywhere, parent, 0.8, random)
    assert np.corrcoef(whole, parent)[0, 1] == pytest.approx(0.8, abs=0.02)


def test_values_of_a_list_are_as_many_as_their_noisy_counts_say():
    """Those that do not stand out share what is left; what is below 0 is not drawn there."""
    counts = [500, 2, -3, 0, 300, 198, 3]
    values, missing = table_of(counts_measured("Y", counts, variance=4.0))[0]
    assert missing is None
    found = np.bincount(values, minlength=7)
    assert np.abs(found - np.maximum(counts, 0)).max() <= 4
    assert found[2] == found[3] == 0
    nothing, _ = table_of(counts_measured("Y", [-1, -2, -3, -1]))[0]
    assert (np.bincount(nothing, minlength=4) > 0).all()


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("has_missing", [False, True])
@settings(max_examples=30, deadline=None, derandomize=True)
@given(counts=st.lists(st.integers(-30, 60), min_size=3, max_size=9))
def test_every_value_of_a_list_is_in_one_bin(ordered, has_missing, counts):
    """Bins of an ordered list hold neighbours; what is missing is no neighbour of a value."""
    measured = counts_measured("Y", counts, ordered=ordered, has_missing=has_missing, variance=25.0)
    axis = axis_of(measured, 8)
    assert sorted(set(axis.groups.tolist())) == list(range(axis.n_bins))
    if ordered:
        values = axis.groups[: len(counts) - has_missing]
        assert (np.diff(values) >= 0).all()
        assert not has_missing or axis.groups[-1] not in values
    masses = bin_masses(0, axis, measured, {}, 1000)
    assert masses.min() > 0
    assert masses.sum() == pytest.approx(1)
    of_values = value_masses(measured, axis, masses)
    assert np.bincount(axis.groups, weights=of_values) == pytest.approx(masses)


@pytest.mark.parametrize("n_drawn", [1, 7, 250])
@pytest.mark.parametrize(
    "more", [{"structure": "independent"}, {"structure": "tree"}, {"target": "C"}], ids=str
)
def test_as_many_records_are_drawn_as_asked_for(n_drawn, more):
    """However few, whatever the structure."""
    random = generator(3)
    table = {
        "A": random.integers(0, 1000, 200), "B": random.integers(0, 5, 200),
        "C": random.choice(list("xy"), 200),
    }  # fmt: skip
    plan = mv.plan(
        table, method="dp-synthetic", attributes=list(table), epsilon=30, n_records=n_drawn,
        bounds={"A": (0, 1000), "B": (0, 4)}, categories={"C": list("xy")}, **more,
    )  # fmt: skip
    data = draw(plan, seed=1).data
    assert {len(column) for column in data.values()} == {n_drawn}
    assert plan.guarantee.n_records == 200


def test_a_value_that_many_share_has_a_bin_of_its_own():
    """Cuts inside one grid value part nothing: not of the lowest value, and of others one stays."""
    candidates = Candidates(lower=0, upper=1000, count=COUNT)

    def code(position):
        return int(candidates.scale(np.array([position]))[0] * (COUNT + 1))

    gains = cuts_measured([code(p) for p in (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 500.5)], candidates)
    axis = axis_of(gains, 4)
    assert axis.ends.tolist() == [0.0, 7 / 8, 1.0]
    hours = cuts_measured([code(p) for p in (20.5, 40.1, 40.3, 40.6, 40.8, 45.5, 60.5)], candidates)
    axis = axis_of(hours, 16)
    assert axis.ends.tolist() == [0.0, 1 / 8, 2 / 8, 6 / 8, 7 / 8, 1.0]
    assert len(axis_of(hours, 3).edges) == 2


def test_tables_correct_the_cuts_as_far_as_these_can_be_off():
    """A median that is off moves to where a table counts it; one that is known stays."""
    candidates = Candidates(lower=0, upper=1000, count=COUNT)
    codes = candidates.scale(np.array([200.0, 500.0, 800.0])) * (COUNT + 1)
    table = np.array([[400, 0], [250, 0], [150, 0], [200, 0]])
    other = counts_measured("Y", [500, 500])
    means = {}
    for rate in (0.01, 1e6):
        measured = replace(cuts_measured(codes.astype(np.int64), candidates), rates=(rate,) * 2)
        axis = axis_of(measured, 4)
        masses = bin_masses(0, axis, measured, {(0, 1): noisy(table)}, 1000)
        assert math.isclose(masses.sum(), 1.0)
        means[rate] = masses
        ends = {0: measured, 1: other}
        (values, _), _ = table_of(*ends.values(), tables={(0, 1): noisy(table)}, n_drawn=4000)
        below = [(values < edge).mean() for edge in (200, 500, 800)]
        assert np.abs(below - np.cumsum(masses)[:-1]).max() < 0.01
    assert np.abs(means[0.01] - table.sum(axis=1) / 1000).max() < 0.01
    assert np.abs(means[1e6] - 0.25).max() < 1e-6


def test_scores_of_a_bin_that_nobody_is_in_are_finite_and_so_are_those_tied_to_them():
    """A bin at the end of all, of no mass, ends where it begins: at minus infinity."""
    random = np.random.default_rng(1)
    nowhere = np.full(5, -np.inf)
    parent = drawn_scores(nowhere, nowhere, None, 0.0, random)
    with np.errstate(all="raise"):
        tied = drawn_scores(nowhere, np.zeros(5), parent, 0.9, random)
    assert np.isfinite(parent).all()
    assert np.isfinite(tied).all()
