"""Noise scales in rational arithmetic: never below what is due, hardly above."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import microveil as mv
from microveil.noise.noise import noise_grid

shares = st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(10**3))
METHODS = ("laplace", "dp-um", "idp-ls", "idp-cbls")


@given(shares, st.integers(1, 10**6), st.integers(1, 10**9))
def test_a_scale_is_what_is_due_rounded_up(share, size, width):
    """The scale in grid units is at least 1/share and exceeds it by less than 1 in 2**12."""
    grid = noise_grid("A", share, size, (0, width), (0, width))
    scale = Fraction(grid.unit, 2**grid.bits)
    assert scale >= 1 / share
    if size * width < 2**38:
        assert scale * share < 1 + Fraction(1, 2**12)


@given(shares, shares, st.integers(3, 1000), st.integers(1, 10**9))
def test_less_epsilon_never_means_less_noise(one, other, size, width):
    """Scales do not fall when epsilon falls, whatever grid each lives on."""
    smaller, larger = sorted((one, other))
    scale = {
        share: Fraction(grid.unit, 2**grid.bits)
        for share in (smaller, larger)
        for grid in [noise_grid("A", share, size, (0, width), (0, width))]
    }
    # A grid coarser by less than a millionth of the scale separates equal shares.
    assert scale[smaller] >= scale[larger] or smaller / larger > 1 - Fraction(1, 2**12)


@given(
    st.lists(st.integers(0, 100), min_size=12, max_size=40),
    st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(50)),
    st.sampled_from(METHODS),
)
def test_planned_scales_follow_the_published_formulas(values, epsilon, method):
    """t_j is the table's formula of sensitivity over share, rounded up on the noise grid."""
    plan = mv.plan(
        {"A": np.array(values)},
        method=method,
        k=4,
        epsilon=epsilon,
        attributes="A",
        bounds={"A": (0, 100)},
        exact_cells="allow",
    )
    (part,) = plan.attributes
    step = 2**part.grid.bits
    ordered = np.sort(values)
    edges = np.cumsum(part.partition.sizes)
    for cluster, scale in enumerate(part.scales.tolist()):
        run = ordered[edges[cluster] - part.partition.sizes[cluster] : edges[cluster]].tolist()
        due = _sensitivity(method, run) * step / epsilon
        assert due <= scale < due + max(1, _sensitivity(method, run))


def _sensitivity(method, run):
    if method in ("laplace", "dp-um"):
        return 100
    if method == "idp-ls":
        return max(100 - run[0], run[-1])
    upwards = (run[-1] - run[1]) + (run[2] - run[1]) + (run[-1] - run[-2])
    downwards = (run[-2] - run[0]) + (run[-2] - run[-3]) + (run[1] - run[0])
    return max(upwards, downwards)


@given(st.lists(st.integers(1, 50), min_size=2, max_size=5), shares)
def test_shares_are_exact_and_sum_to_epsilon(weights, epsilon):
    """No rounding loses or makes budget."""
    names = [f"A{place}" for place in range(len(weights))]
    split = mv.plan(
        {name: np.arange(9) % 4 for name in names},
        method="dp-um",
        k=3,
        epsilon=epsilon,
        attributes=names,
        bounds=dict.fromkeys(names, (0, 9)),
        budget=dict(zip(names, weights, strict=True)),
    )
    shares_of = [part.share for part in split.attributes]
    assert sum(shares_of) == epsilon
    assert shares_of == [epsilon * weight / sum(weights) for weight in weights]


@given(st.integers(1, 2**62), st.integers(1, 2**30), shares)
def test_what_does_not_fit_64_bits_is_refused(width, size, share):
    """Either sums, noise and scales fit, by a wide margin, or the request is refused."""
    try:
        grid = noise_grid("A", share, size, (0, width), (0, width))
    except mv.RequestError:
        # Refused only where a quarter of the room is not enough.
        assert size * width * 8 > 2**60 or 3 * width * (1 / share + 1) * 8 > 2**62
        return
    assert size * width * 2**grid.bits <= 2**60
    assert 3 * width * grid.unit <= 2**62
    assume(share >= Fraction(1, 1000))
    assert grid.unit >= math.floor(1 / share)


@pytest.mark.parametrize("values", [(0, 2**60), (-(2**55), 5)])
def test_values_beyond_the_grid_are_refused_without_bounds(values):
    """A method without bounds refuses values whose sums would not fit."""
    with pytest.raises(mv.RequestError, match="64 bits"):
        noise_grid("A", Fraction(1), 1000, None, values)
