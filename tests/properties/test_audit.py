"""The exact audit against brute force over every neighbour, with the real scales.

Rational arithmetic on the one side, the audit's closed forms on the other.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from microveil.noise.sensitivity import RankedShifts, least_vector_scales, winsorised_shifts
from reference.vector_scope import largest_loss, real_scales, representative

LOWER, UPPER = 0, 12
tables = st.lists(st.integers(LOWER, UPPER), min_size=6, max_size=13)
budgets = st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(7, 10), Fraction(1, 1000)])
RANKED = [
    ("dp-um", {}),
    ("idp-ls", {}),
    ("idp-cbls", {}),
    ("idp-cbls", {"exact_cells": "widen"}),
    ("idp-vector", {}),
    ("idp-vector", {"exact_cells": "widen"}),
    ("idp-vector", {"partition": "noise-aware"}),
    ("record-dp", {"partition": "ranking"}),
    ("record-dp", {"partition": "optimal"}),
    ("record-dp", {"partition": "noise-aware"}),
]


def asked(method, epsilon, **steps):
    """A request on the one attribute A."""
    return {
        "method": method, "k": 3, "epsilon": epsilon, "attributes": "A",
        "bounds": {"A": (LOWER, UPPER)}, "exact_cells": "allow", **steps,
    }  # fmt: skip


@pytest.mark.parametrize(("method", "steps"), RANKED)
@given(values=tables, epsilon=budgets)
def test_the_audit_is_the_loss_of_the_worst_neighbour(method, steps, values, epsilon):
    """To 1e-9, over every record, every value of the domain, clusters formed anew."""
    table, request = {"A": np.array(values)}, asked(method, epsilon, **steps)
    if steps.get("exact_cells") == "widen" and len(set(values)) == 1:
        return
    (part,) = mv.plan(table, **request).attributes
    found = mv.audit(table, **request).to_dict()["attributes"]["A"]["vector_scope"]
    loss = largest_loss(
        values,
        part.partition.sizes.tolist(),
        real_scales(part),
        representative(method),
        range(LOWER, UPPER + 1),
    )
    assert abs(found - loss) <= 1e-9 * max(1, loss)


@pytest.mark.parametrize("steps", [steps for method, steps in RANKED if method == "idp-vector"])
@given(values=tables, epsilon=budgets)
def test_idp_vector_never_exceeds_its_share(steps, values, epsilon):
    """In rational arithmetic, not to a tolerance; and it spends the share nearly whole."""
    table, request = {"A": np.array(values)}, asked("idp-vector", epsilon, **steps)
    if len(set(values)) == 1:
        return
    (part,) = mv.plan(table, **request).attributes
    # Values beyond the domain too: the method knows of none.
    loss = largest_loss(
        values,
        part.partition.sizes.tolist(),
        real_scales(part),
        representative("idp-vector"),
        range(LOWER - 2, UPPER + 3),
    )
    assert loss <= epsilon
    assert loss >= epsilon * (1 - Fraction(1, 2**12)) or not part.scales.any()


@given(tables, budgets)
def test_laplace_loses_what_its_largest_change_costs(values, epsilon):
    """Every record alone: the one value that is replaced, by the farther end of the domain."""
    table, request = {"A": np.array(values)}, asked("laplace", epsilon)
    (part,) = mv.plan(table, **request).attributes
    farthest = max(max(UPPER - value, value - LOWER) for value in values)
    expected = Fraction(farthest * 2**part.grid.bits, int(part.scales[0]))
    assert abs(mv.audit(table, **request).vector_scope - expected) <= 1e-9


shift_lists = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(3, 50)),
    min_size=1,
    max_size=30,
).filter(lambda rows: any(up or down for up, down, _ in rows))


@given(shift_lists, st.floats(1e-6, 1e3), st.integers(0, 2**32))
def test_no_other_scales_of_the_same_loss_have_less_noise(rows, share, seed):
    """METHODS section 5: under sum of M/t <= share the closed form is the minimum."""
    upwards, downwards, sizes = (np.array(column) for column in zip(*rows, strict=True))
    largest = np.maximum(upwards, downwards)
    moved = largest > 0
    both = RankedShifts(upwards=largest, downwards=largest)
    ours = least_vector_scales(both, sizes, share)
    assert both.loss(ours) == pytest.approx(share, rel=1e-12)
    least = (2 * ours**2 / sizes).sum()
    random = np.random.Generator(np.random.PCG64(seed))
    for spread in (0.01, 0.3, 2.0):
        other = np.where(moved, ours * np.exp(random.normal(0, spread, len(ours))), 0.0)
        other *= both.loss(other) / share
        assert (2 * other**2 / sizes).sum() >= least * (1 - 1e-12)


@given(shift_lists, st.floats(1e-6, 1e3))
def test_the_exact_loss_is_taken_back(rows, share):
    """Where not all shifts of one direction are the larger, noise is saved, epsilon kept."""
    upwards, downwards, sizes = (np.array(column) for column in zip(*rows, strict=True))
    largest = np.maximum(upwards, downwards)
    shifts = RankedShifts(upwards=upwards, downwards=downwards)
    both = RankedShifts(upwards=largest, downwards=largest)
    ours = least_vector_scales(shifts, sizes, share)
    assert shifts.loss(ours) == pytest.approx(share, rel=1e-12)
    assert (ours <= least_vector_scales(both, sizes, share) * (1 + 1e-12)).all()


def test_a_broken_scale_is_noticed_by_the_audit():
    """A scale a tenth too small shows: the audit can find a broken promise."""
    values = np.array([1, 4, 6, 20, 30, 31, 35, 50])
    shifts = winsorised_shifts(
        np.array([[1, 30], [4, 31], [6, 35]]), np.array([[20, 50], [6, 35], [4, 31]])
    )
    scales = least_vector_scales(shifts, np.array([4, 4]), 1.0)
    assert shifts.loss(scales) == pytest.approx(1.0)
    assert shifts.loss(scales * np.array([0.9, 1.0])) > 1.04
    assert len(values) == 8


@pytest.mark.parametrize(
    ("method", "steps"),
    [("record-dp", {"partition": "mdav"}), ("mdav", {}), ("k-noise", {}), ("ranking", {})],
)
def test_where_nothing_bounds_the_loss_the_audit_says_so(method, steps):
    """None, not a number that looks like a promise."""
    table = {"A": np.arange(12) % 7, "B": np.arange(12)[::-1] // 2}
    found = mv.audit(
        table, method=method, k=3, epsilon=1, attributes=["A", "B"],
        bounds={"A": (0, 12), "B": (0, 12)}, **steps,
    ).to_dict()  # fmt: skip
    assert found["vector_scope"] is None
    assert {entry["vector_scope"] for entry in found["attributes"].values()} == {None}


def test_the_total_adds_the_attributes_and_cells_are_counted():
    """Keys of the contract; exact cells are counted, not refused."""
    table = {"A": np.array([1, 1, 1, 5, 6, 9]), "B": np.arange(6)}
    found = mv.audit(table, method="idp-cbls", k=3, epsilon=1, attributes=["A", "B"]).to_dict()
    assert set(found) == {"attributes", "vector_scope"}
    assert found["attributes"]["A"] == {
        "share": 0.5, "vector_scope": pytest.approx(0.5, rel=1e-6), "exact_cells": 3, "clusters": 2,
    }  # fmt: skip
    losses = [entry["vector_scope"] for entry in found["attributes"].values()]
    assert found["vector_scope"] == pytest.approx(sum(losses))
