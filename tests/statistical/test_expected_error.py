"""Advice before noise against what then happens: the mean error of seeded releases."""

import numpy as np
import pytest

import microveil as mv
from microveil.audit.advice import expectations
from microveil.protect.draw import draw

N = 240
FEW, MANY = 24, 100
BOUNDS = {"wide": (0, 4000), "narrow": (0, 60), "yes": (0, 1), "same": (0, 50), "price": (0, 90)}
# An error so small that the runs may well never see it.
RARE = 1e-3
VARIED = ["wide", "narrow", "price"]
CASES = [
    ("laplace", {}),
    ("laplace", {"epsilon": 20}),
    ("dp-um", {}),
    ("dp-um", {"k": 60}),
    ("dp-um", {"epsilon": 0.01}),
    ("idp-ls", {}),
    ("idp-cbls", {}),
    ("idp-cbls", {"exact_cells": "widen", "attributes": VARIED}),
    ("idp-vector", {}),
    ("idp-vector", {"partition": "noise-aware", "k": 3}),
    ("kanon-dp", {}),
    ("kanon-dp", {"composition": "parallel"}),
    ("kanon-dp", {"sensitivity": "vector", "k": 40}),
    ("record-dp", {}),
    ("record-dp", {"partition": "optimal"}),
    ("record-dp", {"partition": "noise-aware"}),
    ("mdav", {}),
    ("mdav-insensitive", {}),
    ("v-mdav", {}),
    ("ranking", {}),
    ("optimal", {}),
    ("pram", {"attributes": ["narrow", "yes", "same"]}),
    ("k-pram", {"attributes": VARIED}),
    ("k-pram", {"noise": "permutation", "attributes": VARIED}),
    ("k-noise", {"attributes": VARIED}),
    ("k-noise", {"noise": "laplace", "attributes": VARIED}),
    ("k-noise", {"noise": "gaussian", "attributes": VARIED}),
    ("k-noise", {"noise": "triangular", "width": 40, "attributes": ["wide", "price"]}),
    ("dp-um", {"isotonic": True}),
    ("idp-ls", {"isotonic": True, "k": 20}),
    ("idp-vector", {"isotonic": True, "attributes": VARIED}),
]


def people():
    """Skewed, narrow, yes/no, constant and decimal attributes."""
    random = np.random.Generator(np.random.PCG64(5))
    return {
        "wide": np.minimum(random.lognormal(5, 1, N), 2500).astype(np.int64),
        "narrow": random.integers(18, 55, N),
        "yes": random.random(N) < 0.3,
        "same": np.full(N, 7),
        "price": np.round(random.gamma(3, 8, N).clip(0, 89), 1),
    }


def squared_errors(table, planned, runs):
    """Mean squared error of each attribute in each seeded run: (n_runs, n_attributes)."""
    names = [part.attribute.name for part in planned.attributes]
    errors = np.empty((len(runs), len(names)))
    for row, run in enumerate(runs):
        released = draw(planned, seed=run).data
        for place, name in enumerate(names):
            change = released[name].astype(float) - table[name].astype(float)
            errors[row, place] = np.mean(change**2)
    return errors


def means_of(errors):
    """Means over runs, and their standard errors."""
    return errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(len(errors))


def are_known(means, doubts, most):
    """Whether the runs can tell: their own doubt stays well below what they measure."""
    return np.all((doubts <= most * means) | (means < RARE))


@pytest.mark.parametrize(
    ("few", "most"), [(FEW, 0.3), pytest.param(MANY, 0.2, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("method", "steps"), CASES)
def test_the_expected_error_is_that_of_seeded_releases(method, steps, few, most):
    """Within 10 percent of their mean, or four of its standard errors, for every attribute.

    Four, as 140 attributes are compared: the chance that one of them fails is under 1 percent.
    Where a few releases cannot tell, a hundred are drawn.
    """
    table = people()
    request = {
        "method": method, "k": 8, "epsilon": 2, "attributes": list(BOUNDS),
        "resolution": {"price": 0.1}, "exact_cells": "allow", **steps,
    }  # fmt: skip
    planned = mv.plan(table, bounds=BOUNDS, **request)
    expected = expectations(planned)
    errors = squared_errors(table, planned, range(few))
    if not are_known(*means_of(errors), most):
        errors = np.vstack([errors, squared_errors(table, planned, range(few, MANY))])
    means, doubts = means_of(errors)
    assert are_known(means, doubts, most)
    for part, mean, doubt in zip(planned.attributes, means, doubts, strict=True):
        told = expected[part.attribute.name].mean_squared_error
        assert abs(told - mean) <= max(0.1 * mean, 4 * doubt, RARE)
