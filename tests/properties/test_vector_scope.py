"""The loss at vector scope over brute-forced neighbours, with the real scales, exactly.

Every record is replaced by every value, the partition recomputed by rank; the scales are
those the release would draw with, rounding included. All in rational arithmetic.
"""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from reference.ranking import clusters, winsorised

LOWER, UPPER = 0, 12
tables = st.lists(st.integers(LOWER, UPPER), min_size=6, max_size=13)
budgets = st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(7, 10), Fraction(1, 1000)])


def plan_of(values, method, epsilon):
    """The plan of one attribute at k = 3."""
    plan = mv.plan(
        {"A": np.array(values)},
        method=method,
        k=3,
        epsilon=epsilon,
        attributes="A",
        bounds=None if method == "idp-cbls" else {"A": (LOWER, UPPER)},
        exact_cells="allow",
    )
    return plan.attributes[0]


def largest_loss(values, part, represent, lower, upper):
    """The loss of the worst neighbour: sum of |change of the sum| over the scale."""
    before = [represent(cluster) for cluster in clusters(values, 3)]
    step = 2**part.grid.bits
    worst = Fraction(0)
    for record in range(len(values)):
        for value in range(lower, upper + 1):
            neighbour = [*values[:record], value, *values[record + 1 :]]
            loss = Fraction(0)
            after = [represent(cluster) for cluster in clusters(neighbour, 3)]
            for old, new, scale in zip(before, after, part.scales.tolist(), strict=True):
                if old != new:
                    loss += Fraction(abs(old - new) * step, scale)
            worst = max(worst, loss)
    return worst


@given(tables, budgets)
def test_dp_um_never_exceeds_its_share(values, epsilon):
    """The shifts of dp-um telescope: the epsilon holds with the partition recomputed."""
    part = plan_of(values, "dp-um", epsilon)
    assert largest_loss(values, part, sum, LOWER, UPPER) <= epsilon


@given(tables, budgets)
def test_idp_ls_stays_under_its_bound(values, epsilon):
    """idp-ls costs at most (1 + ln 2) shares with the partition recomputed."""
    part = plan_of(values, "idp-ls", epsilon)
    loss = largest_loss(values, part, sum, LOWER, UPPER)
    assert loss <= Fraction(1 + math.log(2)) * epsilon


@given(tables, budgets)
def test_idp_cbls_costs_what_the_closed_form_says(values, epsilon):
    """idp-cbls: max(sum A_j, sum B_j) over its scales, up to its number of clusters."""
    part = plan_of(values, "idp-cbls", epsilon)
    step = 2**part.grid.bits
    upwards = downwards = Fraction(0)
    for run, scale in zip(clusters(values, 3), part.scales.tolist(), strict=True):
        if scale:
            up = (run[-1] - run[1]) + (run[2] - run[1]) + (run[-1] - run[-2])
            down = (run[-2] - run[0]) + (run[-2] - run[-3]) + (run[1] - run[0])
            upwards += Fraction(up * step, scale)
            downwards += Fraction(down * step, scale)
    loss = largest_loss(values, part, winsorised, LOWER - 1, UPPER + 1)
    assert loss == max(upwards, downwards)
    assert loss <= epsilon * part.partition.n_clusters


@given(tables, budgets)
def test_every_method_keeps_its_share_at_cluster_scope(values, epsilon):
    """With the partition held, no single change costs more than the share."""
    for method, represent in (("dp-um", sum), ("idp-ls", sum), ("idp-cbls", winsorised)):
        part = plan_of(values, method, epsilon)
        step = 2**part.grid.bits
        beyond = 2 if method == "idp-cbls" else 0
        for run, scale in zip(clusters(values, 3), part.scales.tolist(), strict=True):
            for record in range(len(run)):
                for value in range(LOWER - beyond, UPPER + beyond + 1):
                    other = sorted([*run[:record], value, *run[record + 1 :]])
                    change = abs(represent(other) - represent(run))
                    assert change * step <= epsilon * scale
