"""Noisy counts become counts of records: none negative, and nobody in a tail that is noise."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import microveil as mv
from microveil.synthesis.nearest import falling_counts, nearest_counts

NOISY = arrays(float, st.integers(1, 8), elements=st.floats(-50, 50))


@given(NOISY, st.floats(0, 200), st.integers(0, 2**32))
def test_no_other_counts_of_that_sum_are_nearer(noisy, total, seed):
    """By a thousand random ones, and by the condition that the projection must meet."""
    found = nearest_counts(noisy, total)
    assert (found >= 0).all()
    assert np.isclose(found.sum(), total)
    others = np.random.default_rng(seed).dirichlet(np.full(len(noisy), 0.5), 1000) * total
    distance = ((found - noisy) ** 2).sum()
    assert (((others - noisy) ** 2).sum(axis=1) >= distance - 1e-6).all()
    # Moving towards any corner of what is allowed brings nothing nearer.
    slope = noisy - found
    assert total * slope.max() <= found @ slope + 1e-6


@given(NOISY, st.floats(0.001, 200))
def test_falling_counts_never_rise(noisy, total):
    """They sum to the total too, and are the counts themselves where these fall to that sum."""
    found = falling_counts(noisy, total)
    assert (np.diff(found) <= 1e-9).all()
    assert np.isclose(found.sum(), total)
    counts = np.sort(np.abs(noisy))[::-1]
    if counts.sum() > 0:
        assert np.allclose(falling_counts(counts, float(counts.sum())), counts)


def test_values_that_nobody_has_do_not_widen_a_number():
    """Households of one to six in a domain to twenty: the noise of fourteen counts is no record.

    Over twelve releases the mean standard deviation is near the original's; with the noise cut
    off at 0 alone it was 1.9 times that.
    """
    sizes = np.repeat(np.arange(1, 9), [1282, 1730, 1166, 566, 203, 38, 9, 6])
    deviations = [
        mv.protect(
            {"HOUSEHOLD": sizes}, method="dp-synthetic", epsilon=0.06, attributes=["HOUSEHOLD"],
            bounds={"HOUSEHOLD": (1, 20)}, seed=seed,
        ).data["HOUSEHOLD"].std()
        for seed in range(12)
    ]  # fmt: skip
    assert 0.9 < np.mean(deviations) / sizes.std() < 1.2
