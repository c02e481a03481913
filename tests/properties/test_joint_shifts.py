"""How far one record moves jointly formed clusters, against brute force over all neighbours."""

import math
import random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize

import microveil as mv
from microveil.kernels import joint_shifts as kernel
from microveil.noise import joint_shifts as module
from microveil.noise.joint_shifts import joint_shifts, least_scales, worst_loss
from microveil.partition import insensitive_mdav
from microveil.protect.exact_audit import audit_of
from reference import joint_shifts as plain


@st.composite
def domains(draw, n_attributes, widths):
    """Bounds of some attributes, here and there below 0."""
    count = draw(n_attributes)
    lowers = [draw(st.integers(-3, 3)) for _ in range(count)]
    return [(lower, lower + draw(widths)) for lower in lowers]


@st.composite
def tables(draw, n_attributes, widths, most=12):
    """Records with many ties, cluster sizes, and bounds."""
    bounds = draw(domains(n_attributes, widths))
    record = st.tuples(*(st.integers(lower, upper) for lower, upper in bounds))
    pool = draw(st.lists(record, min_size=1, max_size=most))
    records = draw(st.lists(st.sampled_from(pool) | record, min_size=2, max_size=most))
    cuts = draw(st.sets(st.integers(1, len(records) - 1)))
    edges = [0, *sorted(cuts), len(records)]
    return records, np.diff(edges), bounds


small = tables(st.integers(2, 3), st.integers(0, 5), most=9)
single = tables(st.just(1), st.integers(1, 40))
searched = pytest.mark.parametrize("enumerable", [200_000, 0], ids=["enumerated", "searched"])


def shifts_of(records, sizes, bounds):
    """The shifts, with the order that the partition itself makes."""
    matrix = np.array(records, dtype=np.int64)
    order = insensitive_mdav(matrix, 1, bounds).order
    return joint_shifts(list(matrix.T), order, np.asarray(sizes), bounds)


def scales_for(sizes, seed):
    """Scales of noise of several orders of magnitude."""
    return np.exp(np.random.default_rng(seed).normal(0, 2, len(sizes)))


@searched
@given(table=small | single, seed=st.integers(0, 99))
def test_the_worst_loss_is_that_of_the_worst_neighbour(enumerable, table, seed):
    """Whatever the scales: over all neighbours, clusters formed anew."""
    records, sizes, bounds = table
    scales = scales_for(sizes, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ENUMERABLE", enumerable)
        shifts = shifts_of(records, sizes, bounds)
    assert shifts.exact
    for attribute in range(len(bounds)):
        found = worst_loss(shifts, attribute, scales)
        expected = plain.worst_loss(records, sizes, bounds, attribute, scales)
        assert expected <= found
        assert math.isclose(found, expected, rel_tol=1e-14)


@given(
    domains(st.integers(1, 4), st.integers(0, 7)),
    st.randoms(use_true_random=False),
    st.integers(0, 3) | st.just(10**6),
)
def test_a_search_cut_short_never_understates(bounds, rng, budget):
    """What is left undecided is at least as extreme as is true; with time enough nothing is."""
    points = [tuple(rng.randint(*pair) for pair in bounds) for _ in range(8)]
    points = plain.in_order(points, bounds)
    found, undecided = sought(np.stack([points[:-1], points[1:]]), bounds, budget=budget)
    wide = 0
    for attribute in range(len(bounds)):
        for number in range(len(points) - 1):
            least, greatest = plain.extremes(points[number], points[number + 1], bounds, attribute)
            assert found[0, number, attribute] <= least
            assert found[1, number, attribute] >= greatest
            wide += found[0, number, attribute] < least
            wide += found[1, number, attribute] > greatest
    assert wide <= undecided
    assert budget < 10**6 or not undecided


def sought(ends, bounds, budget):
    """What the search finds, from what the ends themselves attain."""
    domain = np.array(bounds).T.copy()
    seen = np.stack([ends.min(0), ends.max(0)])
    found = np.empty_like(seen)
    by_width = np.argsort(domain[1] - domain[0], kind="stable")
    undecided = kernel.extreme_values(ends, seen, domain, by_width, budget, found)
    return found, undecided


@pytest.mark.parametrize("n_attributes", [2, 3, 5, 13])
@pytest.mark.parametrize("coarse", [False, True])
def test_no_neighbour_in_a_large_domain_costs_more(n_attributes, coarse):
    """Random neighbours, and ones that stand next to a record or far out, stay below it."""
    rng = random.Random(n_attributes)
    widths = [rng.choice([2, 5, 60]) if coarse else 10 ** rng.randint(3, 7) for _ in range(12)]
    widths = [*widths, 10**6][-n_attributes:]
    bounds = [(lower, lower + width) for width in widths for lower in [rng.randint(-9, 9)]]
    records = [
        tuple(lower + int((upper - lower) * rng.random() ** 3) for lower, upper in bounds)
        for _ in range(40)
    ]
    sizes = [7, 3, 11, 9, 10]
    shifts = shifts_of(records, sizes, bounds)
    for attribute in range(n_attributes):
        scales = scales_for(sizes, attribute)
        most = worst_loss(shifts, attribute, scales)
        worst = 0.0
        for _ in range(150):
            new = list(rng.choice(records))
            for position in rng.sample(range(n_attributes), rng.randint(1, n_attributes)):
                lower, upper = bounds[position]
                new[position] = rng.choice([lower, upper, rng.randint(lower, upper)])
            place = rng.randrange(len(records))
            other = [*records[:place], tuple(new), *records[place + 1 :]]
            worst = max(worst, plain.loss(records, other, sizes, bounds, attribute, scales))
        assert worst <= most


def test_values_beyond_what_float64_tells_apart_may_be_anything():
    """Where the order cannot tell records apart, an arrival has any value of the domain."""
    bounds = [(0, 2**54), (0, 5)]
    records = [(2**53 + step, 1) for step in range(6)]
    shifts = shifts_of(records, [3, 3], bounds)
    assert not shifts.exact
    assert shifts.staying[0].tolist() == [2**53 + 2, 2**53 + 5]


@given(small | single, st.floats(0.01, 10))
def test_least_scales_keep_the_share(table, share):
    """By brute force over all neighbours; and no less noise would, as some neighbour spends it."""
    records, sizes, bounds = table
    shifts = shifts_of(records, sizes, bounds)
    for attribute in range(len(bounds)):
        scales = least_scales(shifts, attribute, sizes, share)
        assert ((scales > 0) == (shifts.staying[attribute] > 0)).all()
        assert worst_loss(shifts, attribute, scales) <= share
        if scales.any():
            loss = plain.worst_loss(records, sizes, bounds, attribute, np.where(scales, scales, 1))
            assert share * (1 - 1e-13) <= loss <= share


@given(small | single)
def test_no_other_scales_have_less_noise(table):
    """The noise is the least that scipy finds over every path written out."""
    records, sizes, bounds = table
    shifts = shifts_of(records, sizes, bounds)
    for attribute in range(len(bounds)):
        kept = shifts.staying[attribute] > 0
        if not kept.any():
            continue
        scales = least_scales(shifts, attribute, sizes, 1.0)
        ours = plain.expected_noise(scales, sizes)
        assert ours <= least_noise(shifts, attribute, sizes, kept) * (1 + 1e-4)


def least_noise(shifts, attribute, sizes, kept):
    """The programme with all its paths, in the logarithms of the scales over our own."""
    upwards, downwards = shifts.upwards[:, attribute], shifts.downwards[:, attribute]
    costs = np.array(list(plain.paths(upwards, downwards, shifts.staying[attribute])))[:, kept]
    costs = costs[costs.any(axis=1)]
    start = np.log(shifts.staying[attribute][kept] * float(kept.sum()))
    weights = 2 / np.asarray(sizes)[kept]

    def objective(logs):
        return np.log((weights * np.exp(2 * logs)).sum())

    def gradient(logs):
        terms = weights * np.exp(2 * logs)
        return 2 * terms / terms.sum()

    best = minimize(
        objective,
        start,
        jac=gradient,
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda logs: 1 - costs @ np.exp(-logs),
            "jac": lambda logs: costs * np.exp(-logs),
        },
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    # Feasible to the last digit: scaled by its own loss.
    scales = np.exp(best.x) * (costs @ np.exp(-best.x)).max()
    return float((weights * scales**2).sum())


@given(small | single, st.floats(0.01, 10))
def test_scales_by_composition_cost_what_is_claimed(table, share):
    """Sequential scales at most the share, parallel ones up to the share for each cluster."""
    records, sizes, bounds = table
    shifts = shifts_of(records, sizes, bounds)
    for attribute, (lower, upper) in enumerate(bounds):
        n_clusters = len(sizes)
        parallel = np.full(n_clusters, max(upper - lower, 1) / share)
        rounding = 1 + 1e-14
        assert worst_loss(shifts, attribute, n_clusters * parallel) <= share * rounding
        assert worst_loss(shifts, attribute, parallel) <= n_clusters * share * rounding


def test_small_costs_are_not_lost_beside_large_ones():
    """Many changes of 1 on the way count, where adding each to 2**53 would not."""
    leaving, passing, arriving = np.zeros((3, 13))
    leaving[0], leaving[11], passing[1:12], arriving[12] = 2.0**53, 2.0**53 + 2, 1.0, 1.0
    assert kernel.worst_path(leaving, passing, arriving) == (0, 12)


def test_no_noise_costs_nothing_only_where_nothing_can_change():
    """Scale 0 is free inside a run of equal records and infinitely dear elsewhere."""
    column = np.array([0, 3, 3, 3, 3, 3, 9])
    shifts = joint_shifts([column], np.arange(7), np.array([2, 3, 2]), [(0, 9)])
    assert shifts.staying[0].tolist() == [3, 0, 6]
    assert worst_loss(shifts, 0, np.array([1.0, 0.0, 1.0])) < math.inf
    assert worst_loss(shifts, 0, np.array([0.0, 1.0, 1.0])) == math.inf
    scales = least_scales(shifts, 0, np.array([2, 3, 2]), 1.0)
    assert scales[1] == 0
    of_one_value = joint_shifts([np.full(4, 7)], np.arange(4), np.array([2, 2]), [(7, 7)])
    assert worst_loss(of_one_value, 0, np.zeros(2)) == 0
    assert least_scales(of_one_value, 0, np.array([2, 2]), 1.0).tolist() == [0, 0]


@pytest.mark.parametrize("n_clusters", [50, 2000])
def test_many_clusters_of_very_different_widths(n_clusters):
    """The loss of the scales is the share, and they beat those that ignore the order."""
    rng = np.random.default_rng(n_clusters)
    column = np.sort(np.exp(rng.normal(5, 3, 5 * n_clusters)).astype(np.int64))
    sizes = np.full(n_clusters, 5)
    shifts = joint_shifts([column], np.arange(len(column)), sizes, [(0, 2 * int(column[-1]))])
    scales = least_scales(shifts, 0, sizes, 0.1)
    assert 0.1 * (1 - 1e-12) < worst_loss(shifts, 0, scales) <= 0.1
    # Each cluster paid as if it stayed: feasible, as no role changes a sum by more.
    staying = shifts.staying[0].astype(float)
    alone = np.cbrt(staying**2 / sizes)
    plainly = np.where(staying > 0, alone.sum() * staying / np.maximum(alone, 1e-99), 0) / 0.1
    assert worst_loss(shifts, 0, plainly) <= 0.1
    assert plain.expected_noise(scales, sizes) < plain.expected_noise(plainly, sizes)


# Each example plans the table of every neighbour.
@given(st.lists(st.integers(0, 6), min_size=4, max_size=9), st.integers(2, 4), st.data())
def test_kanon_dp_of_one_attribute_keeps_its_share_with_noise_as_wide_as_the_domain(
    values, k, data
):
    """Ordered by its values the shifts telescope: by brute force over every neighbour."""
    assume(len(values) >= k)
    table = np.array(values)
    asked = {"method": "kanon-dp", "k": k, "epsilon": 1, "attributes": ["x"],
             "bounds": {"x": (0, 6)}}  # fmt: skip
    composition = data.draw(st.sampled_from(["sequential", "parallel"]))
    planned = mv.plan({"x": table}, composition=composition, **asked)
    (part,) = planned.attributes
    scales = part.scales / 2**part.grid.bits
    assert np.all(scales == scales[0])
    assert scales[0] == pytest.approx(6, rel=1e-6)
    assert planned.guarantee.scopes.vector.exact_epsilon == 1
    worst = 0.0
    for place in range(len(table)):
        for other in range(7):
            neighbour = table.copy()
            neighbour[place] = other
            (moved,) = mv.plan({"x": neighbour}, composition=composition, **asked).attributes
            worst = max(worst, float((np.abs(part.sums - moved.sums) / scales).sum()))
    assert worst <= 1 + 1e-9
    assert audit_of(planned).vector_scope >= worst - 1e-9
