"""Lower bounds of the expected error, against the error that a plan would have."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil._kernels import error_floor as kernel
from microveil.engines.local import summarised
from microveil.mechanism.sensitivity import (
    cluster_local_sensitivity,
    local_sensitivity,
    winsorised_sum,
)
from microveil.mechanism.shifts import least_vector_scales, winsorised_shifts
from microveil.partition.ranking import ranking_sizes
from microveil.utility.error_floor import SensitivityRule, error_floor
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
