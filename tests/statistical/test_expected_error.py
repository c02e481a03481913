"""Advice before noise against what then happens: the mean error of 100 seeded releases."""

from dataclasses import replace

import numpy as np
import pytest

import microveil as mv
from microveil.audit.advice import expectations
from microveil.engines.local import LocalEngine
from microveil.protect import draw

N, RUNS = 240, 100
BOUNDS = {"wide": (0, 4000), "narrow": (0, 60), "yes": (0, 1), "same": (0, 50), "price": (0, 90)}
# An error so small that 100 runs may well never see it.
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
    """Mean squared error of each attribute in each seeded run: (runs, n_attributes)."""
    names = [part.attribute.name for part in planned.attributes]
    errors = np.empty((runs, len(names)))
    for run in range(runs):
        released = draw(replace(planned, seed=run), LocalEngine()).data
        for place, name in enumerate(names):
            change = released[name].astype(float) - table[name].astype(float)
            errors[run, place] = np.mean(change**2)
    return errors


@pytest.mark.parametrize(("method", "steps"), CASES)
def test_the_expected_error_is_that_of_100_releases(method, steps):
    """Within 10 percent of their mean, or four of its standard errors, for every attribute.

    Four, as 140 attributes are compared: the chance that one of them fails is under 1 percent.
    """
    table = people()
    request = {
        "method": method, "k": 8, "epsilon": 2, "attributes": list(BOUNDS),
        "resolution": {"price": 0.1}, "exact_cells": "allow", **steps,
    }  # fmt: skip
    planned = mv.plan(table, bounds=BOUNDS, **request)
    expected = expectations(planned)
    errors = squared_errors(table, planned, RUNS)
    means, doubts = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(RUNS)
    for part, mean, doubt in zip(planned.attributes, means, doubts, strict=True):
        told = expected[part.attribute.name].mean_squared_error
        assert abs(told - mean) <= max(0.1 * mean, 4 * doubt, RARE)
        # The runs must be able to tell: their own doubt stays well below what they measure.
        assert doubt <= 0.2 * mean or mean < RARE


def test_a_constant_attribute_is_hopeless_under_noise_and_fine_without():
    """Publishing its mean is perfect; noise can but spoil it."""
    request = {"k": 8, "epsilon": 1, "attributes": ["same"], "bounds": {"same": (0, 50)}}
    assert expectations(mv.plan(people(), method="dp-um", **request))["same"].hopeless
    exact = mv.plan(people(), method="idp-cbls", exact_cells="allow", **request)
    assert not expectations(exact)["same"].hopeless
