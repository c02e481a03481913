"""The three sensitivities against brute force over every change of one record in a cluster."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from microveil.noise.sensitivity import (
    cluster_local_sensitivity,
    global_sensitivity,
    local_sensitivity,
    winsorised_shifts,
    winsorised_sum,
)
from reference.ranking import winsorised

LOWER, UPPER = -6, 6
clusters = st.lists(st.integers(LOWER, UPPER), min_size=3, max_size=8).map(sorted)


def changes(cluster, lower, upper):
    """Every cluster that differs in one record, sorted."""
    for record in range(len(cluster)):
        for value in range(lower, upper + 1):
            yield sorted([*cluster[:record], value, *cluster[record + 1 :]])


def ends(cluster):
    """The three smallest and three largest values as the functions take them."""
    column = np.array(cluster).reshape(-1, 1)
    return column[:3], column[::-1][:3]


@given(clusters)
def test_local_sensitivity_is_the_largest_change_of_the_sum(cluster):
    """Proposition 8 is attained and never exceeded."""
    largest = max(abs(sum(other) - sum(cluster)) for other in changes(cluster, LOWER, UPPER))
    told = local_sensitivity(np.array([cluster[0]]), np.array([cluster[-1]]), LOWER, UPPER)
    assert told.tolist() == [largest]


@given(clusters)
def test_cluster_local_sensitivity_is_the_largest_change_of_the_winsorised_sum(cluster):
    """Proposition 9 (Equation 1) is attained and never exceeded, whatever the new value."""
    beyond = 3
    largest = max(
        abs(winsorised(other) - winsorised(cluster))
        for other in changes(cluster, LOWER - beyond, UPPER + beyond)
    )
    smallest, greatest = ends(cluster)
    assert cluster_local_sensitivity(smallest, greatest).tolist() == [largest]
    # `idp-vector` takes it of the shifts, which it has at hand.
    assert winsorised_shifts(smallest, greatest).largest.tolist() == [largest]


@given(clusters)
def test_winsorised_sum_replaces_the_ends_by_their_neighbours(cluster):
    """Second smallest and second largest count copies."""
    smallest, greatest = ends(cluster)
    assert winsorised_sum(np.array([sum(cluster)]), smallest, greatest) == [winsorised(cluster)]


@given(clusters)
def test_global_sensitivity_is_the_largest_local_one(cluster):
    """No cluster of the domain has a larger local sensitivity, and one attains it."""
    told = local_sensitivity(np.array([cluster[0]]), np.array([cluster[-1]]), LOWER, UPPER)
    assert told[0] <= global_sensitivity(LOWER, UPPER)
    ends_of_domain = local_sensitivity(np.array([LOWER]), np.array([LOWER]), LOWER, UPPER)
    assert ends_of_domain[0] == global_sensitivity(LOWER, UPPER)


def test_the_papers_second_equation_is_a_misprint():
    """With the third largest value in its last term, Equation (2) misses the true change."""
    cluster = [0, 0, 0, 1, 9, 10]
    misprint = (10 - 0) + (0 - 0) + (10 - cluster[-3])
    smallest, greatest = ends(cluster)
    largest = max(abs(winsorised(o) - winsorised(cluster)) for o in changes(cluster, -20, 30))
    assert cluster_local_sensitivity(smallest, greatest)[0] == largest != misprint
