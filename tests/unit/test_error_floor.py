"""Lower bounds of the expected error, against the error that a plan would have."""

import math
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from microveil.engines.local import summarised
from microveil.kernels import error_floor as kernel
from microveil.noise.sensitivity import (
    cluster_local_sensitivity,
    local_sensitivity,
    winsorised_sum,
)
from microveil.noise.shifts import least_vector_scales, winsorised_shifts
from microveil.partition.optimal import noise_aware_sizes
from microveil.partition.ranking import ranking_sizes
from microveil.utility.error_floor import (
    SensitivityRule,
    error_floor,
    error_floor_of_any_runs,
    error_floor_of_ends,
    vector_loss,
)
from microveil.utility.expected_error import expected_centroid_error

ENDS_COUNT = (SensitivityRule.CLUSTER_LOCAL, SensitivityRule.VECTOR)


def planned_error(values, k, rule, domain, share):
    """Squared error to expect of the clusters, each step by the function that plans call."""
    sizes = ranking_sizes(len(values), k)
    clusters = summarised(values, sizes)
    smallest, largest = clusters.smallest, clusters.largest
    sums = clusters.sums
    if rule is SensitivityRule.NONE:
        return float(clusters.squares.sum())
    if rule is SensitivityRule.GLOBAL:
        scales = np.full(len(sizes), (domain[1] - domain[0]) / share)
    elif rule is SensitivityRule.LOCAL:
        ends = np.cumsum(sizes)
        runs = [values[end - size : end] for end, size in zip(ends, sizes, strict=True)]
        extremes = (np.array([pick(run) for run in runs]) for pick in (np.min, np.max))
        scales = local_sensitivity(*extremes, *domain) / share
    else:
        sums = winsorised_sum(sums, smallest, largest)
        scales = cluster_local_sensitivity(smallest, largest) / share
        if rule is SensitivityRule.VECTOR:
            scales = least_vector_scales(winsorised_shifts(smallest, largest), sizes, share)
    remainder = (clusters.sums - sums).astype(float)
    within = clusters.squares + remainder**2 / sizes
    return float(
        expected_centroid_error(
            within, remainder, sizes, sums / sizes, scales / sizes, *domain
        ).sum()
    )


@st.composite
def runs(draw):
    """Values of some domain in an order, a k and a share, and a rule that takes them."""
    rule = draw(st.sampled_from(SensitivityRule))
    lower = draw(st.integers(-(10**6), 10**6))
    width = draw(st.sampled_from([1, 4, 120, 10**4, 10**8]))
    values = draw(st.lists(st.integers(lower, lower + width), min_size=3, max_size=40))
    k = draw(st.integers(3, len(values)))
    share = 10.0 ** draw(st.integers(-6, 3))
    ordered = np.array(sorted(values) if rule in ENDS_COUNT else values)
    return ordered, k, rule, (lower, lower + width), share


@given(runs())
def test_the_kernel_has_the_error_that_a_plan_has(case):
    """To the last digits: what a bound takes off it is the margin alone."""
    values, k, rule, domain, share = case
    found = kernel.error_floor(values, k, int(rule), *domain, 1 / share, math.inf)
    expected = planned_error(*case)
    assert math.isclose(found, expected, rel_tol=1e-8, abs_tol=1e-8 * len(values))


@given(runs())
def test_a_bound_is_below_and_close(case):
    """Never above the error, and within a thousandth of it where sums fit 64 bits."""
    bound, error = error_floor(*case, math.inf), planned_error(*case)
    assert bound <= error + 1e-9 * len(case[0])
    assert bound >= (1 - 1e-3) * error - 1e-6


@given(runs(), st.floats(0, 1))
def test_beyond_its_limit_a_bound_is_given_up(case, part):
    """At most the limit it is what it would be without one; beyond it so is the error."""
    whole = error_floor(*case, math.inf)
    bound = error_floor(*case, part * whole)
    if bound <= part * whole:
        assert bound == whole
    else:
        assert part * whole < bound <= whole


@given(runs(), st.floats(0, 0.25), st.floats(0, 0.25), st.floats(0, 1))
def test_of_the_ends_alone_a_bound_is_below_too(case, first, last, part):
    """Whichever runs they hold whole, in part or not at all, and wherever it is given up."""
    values, k, rule, domain, share = case
    n = len(values)
    ends = values[: int(first * n)], values[n - int(last * n) :]
    loss = vector_loss(values, k) if rule is SensitivityRule.VECTOR else 0.0
    error = planned_error(*case)
    for limit in (math.inf, part * error):
        bound = error_floor_of_ends(*ends, n, k, rule, domain, share, limit, loss=loss)
        assert bound <= error * (1 + 1e-9) + 1e-9 * n


def test_ends_hold_the_error_of_the_runs_in_them():
    """Whole runs count with their noise, the rest of an end as squares about its own mean."""
    values = np.arange(64) ** 3
    rule, domain = SensitivityRule.GLOBAL, (0, 64**3)
    ends = values[:10], values[-10:]
    whole = [
        error_floor(part, 4, rule, domain, 1.0, math.inf) for part in (values[:8], values[-8:])
    ]
    rest = sum(2 * np.var(part) for part in (values[8:10], values[-10:-8]))
    found = error_floor_of_ends(*ends, 64, 4, rule, domain, 1.0, math.inf)
    assert math.isclose(found, sum(whole) + rest, rel_tol=1e-6)


def test_what_would_not_fit_has_no_bound():
    """Where the noise grid is coarse, by how much scales are rounded up nobody knows here."""
    values = np.array([0, 1 << 50, 1 << 51])
    assert error_floor(values, 3, SensitivityRule.GLOBAL, (0, 1 << 51), 1e6, math.inf) == 0


@pytest.mark.parametrize("rule", SensitivityRule)
def test_without_a_domain_the_noise_is_left_out(rule):
    """Its squares about the means are below any error."""
    values = np.array([1, 2, 3, 7, 8, 9])
    assert math.isclose(error_floor(values, 3, rule, None, 1.0, math.inf), 4, rel_tol=1e-4)


def test_no_run_more_is_looked_at_beyond_the_limit():
    """Of ten runs that cost alike, a limit of a quarter ends with the third."""
    values = np.repeat(np.arange(10) * 100, 3) + np.tile([0, 10, 50], 10)
    case = values, 3, SensitivityRule.NONE, (0, 1000), 1.0
    whole = error_floor(*case, math.inf)
    assert math.isclose(error_floor(*case, whole / 4), 0.3 * whole)


def error_of_runs(values, sizes, domain, share):
    """Squared error to expect of noisy means of runs, by the function that plans call."""
    clusters, n_runs = summarised(values, sizes), len(sizes)
    scales = np.full(n_runs, (domain[1] - domain[0]) / share)
    means = clusters.sums / sizes
    return float(
        expected_centroid_error(
            clusters.squares, np.zeros(n_runs), sizes, means, scales / sizes, *domain
        ).sum()
    )


@st.composite
def partitions(draw):
    """Values of some domain in order, sizes of runs, and a share."""
    lower = draw(st.integers(-(10**6), 10**6))
    width = draw(st.sampled_from([1, 4, 120, 10**4, 10**8]))
    values = draw(st.lists(st.integers(lower, lower + width), min_size=1, max_size=60))
    cuts = draw(st.sets(st.integers(1, len(values)), max_size=12)) | {len(values)}
    sizes = np.diff([0, *sorted(cuts)])
    return np.array(sorted(values)), sizes, (lower, lower + width), 10.0 ** draw(st.integers(-6, 3))


@pytest.mark.parametrize("groups", [2, 6, 16, 256])
def test_no_partition_into_runs_has_less_than_the_bound_of_any(groups, monkeypatch):
    """Whatever it was chosen by, wherever values lie in the domain, however much noise is cut."""
    monkeypatch.setattr(sys.modules[error_floor.__module__], "GROUPS", groups)

    @given(partitions())
    @example((np.arange(40), np.full(4, 10), (0, 39), 100.0))
    @example((np.arange(40), np.full(4, 10), (0, 39), 0.01))
    @example((np.zeros(40, dtype=int), np.full(2, 20), (0, 10**4), 1e-3))
    @example((np.full(40, 10**4), np.full(2, 20), (0, 10**4), 1e-3))
    @example((np.repeat([0, 10**4], 20), np.full(2, 20), (0, 10**4), 1.0))
    def holds(case):
        values, sizes, domain, share = case
        for k in {1, int(sizes.min())}:
            bound = error_floor_of_any_runs(values, k, domain, share)
            assert bound <= error_of_runs(values, sizes, domain, share) * (1 + 1e-9) + 1e-9

    holds()


@pytest.mark.parametrize(("share", "part"), [(0.01, 0.7), (0.25, 0.6), (2.0, 0.35)])
def test_the_bound_of_any_runs_is_near_where_runs_are_long(share, part):
    """A part of the error of the partition with the least."""
    values = np.sort(np.random.Generator(np.random.PCG64(3)).integers(0, 10**6, 20_000))
    domain = 0, 10**6
    penalty = 2 * (10**6 / share) ** 2
    least = error_of_runs(values, noise_aware_sizes(values, 1, penalty), domain, share)
    assert part * least < error_floor_of_any_runs(values, 1, domain, share) <= least


def test_no_run_is_shorter_than_its_k():
    """The longer runs must be the more they lose."""
    values = np.arange(1000)
    short, long = (error_floor_of_any_runs(values, k, (0, 999), 1e6) for k in (1, 500))
    assert short < 1
    assert long > 0.9 * 1000**3 / 12 / 4
