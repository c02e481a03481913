"""The model of all attributes, and tables of two, against their definitions cell by cell."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microveil.synthesis.model import junction_tree, nearest_model
from microveil.synthesis.tables import (
    copula_table,
    fitted_correlation,
    nearest_table,
    shrunk,
)
from reference import joint_distributions as plain


@st.composite
def graphs(draw):
    """Sizes of a few attributes, and which tables of two or three of them are measured."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=2, max_size=5))
    members = st.lists(
        st.integers(0, len(sizes) - 1), min_size=2, max_size=min(3, len(sizes)), unique=True
    )
    return sizes, [tuple(one) for one in draw(st.lists(members, max_size=5))]


def distribution(random, n_outcomes):
    masses = random.random(n_outcomes) + 0.05
    return masses / masses.sum()


@given(graphs())
def test_a_junction_tree_holds_every_table_and_meets_itself_in_one_clique(graph):
    """Whichever pairs and triples are measured, also none, and counts its cells."""
    sizes, scopes = graph
    tree = junction_tree(sizes, scopes)
    assert plain.meets_earlier_in_one(tree.cliques, tree.parents)
    assert set().union(*tree.cliques) == set(range(len(sizes)))
    for scope in scopes:
        assert set(scope) <= set(tree.cliques[tree.host(scope)])
    cells = [np.prod([sizes[one] for one in clique]) for clique in tree.cliques]
    assert tree.cells == cells
    for number, clique in enumerate(tree.cliques):
        others = [set(other) for place, other in enumerate(tree.cliques) if place != number]
        assert not any(set(clique) <= other for other in others)


@given(graphs(), st.integers(0, 2**32), st.booleans())
def test_a_calibrated_model_is_the_product_of_its_potentials(graph, seed, with_zeros):
    """Each clique, each part of one in any order, and every pair however far apart."""
    sizes, scopes = graph
    random = np.random.Generator(np.random.PCG64(seed))
    tree = junction_tree(sizes, scopes)
    potentials = [random.random([sizes[one] for one in clique]) for clique in tree.cliques]
    if with_zeros and potentials[0].size > 1:
        potentials[0].flat[0] = 0.0
    model = tree.calibrated([one.copy() for one in potentials])
    whole = plain.joint(sizes, list(zip(tree.cliques, potentials, strict=True)))
    for number, clique in enumerate(tree.cliques):
        turned = clique[::-1]
        assert np.allclose(model.clique_margin(number, turned), plain.margin(whole, turned))
        for one in clique:
            assert np.allclose(model.margin((one,)), plain.margin(whole, (one,)))
    scopes = list(permutations(range(len(sizes)), 2))
    tables = model.pairs(scopes)
    assert list(tables) == scopes
    for scope, table in tables.items():
        assert np.allclose(table, plain.margin(whole, scope))


@pytest.mark.parametrize(
    "scopes", [[(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (0, 2), (2, 3)], [(3, 0, 1), (3, 1, 2)]]
)
def test_tables_that_agree_have_a_model_that_has_them(scopes):
    """Of a tree, of a circle and of triples, from a start that is nothing special."""
    sizes = [2, 3, 2, 3]
    random = np.random.Generator(np.random.PCG64(4))
    factors = [(scope, 0.3 + random.random([sizes[one] for one in scope])) for scope in scopes]
    whole = plain.joint(sizes, factors)
    targets = {scope: plain.margin(whole, scope) for scope in scopes}
    start = {scope: np.zeros_like(table) for scope, table in targets.items()}
    model, _ = nearest_model(sizes, targets, start, steps=2000, tolerance=1e-12)
    for scope, table in targets.items():
        assert np.abs(model.margin(scope) - table).max() < 1e-4


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.integers(0, 2**32), st.sampled_from([(2, 3), (3, 3), (2, 4)]), st.floats(0.01, 0.1))
def test_the_nearest_table_is_that_of_a_quadratic_programme(seed, shape, noise):
    """Among all tables without negative cells and with the margins."""
    random = np.random.Generator(np.random.PCG64(seed))
    rows, columns = (distribution(random, size) for size in shape)
    noisy = np.outer(rows, columns) + noise * random.standard_normal(shape)
    found = nearest_table(noisy, rows, columns, steps=3000)
    due = plain.nearest_table(noisy, rows, columns)
    assert found.min() >= 0
    assert np.abs(found.sum(axis=1) - rows).max() < 1e-6
    assert np.abs(found.sum(axis=0) - columns).max() < 1e-6
    assert np.abs(found - due).max() < 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_a_table_of_which_most_cells_are_empty_stays_near_itself(seed):
    """Margins that do not quite fit each other are no reason to mix it with independence.

    Two attributes that say the same, as schooling and its number of years do, and noise.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    true = np.diag(np.sort(random.dirichlet(np.full(16, 0.5)) + 0.001))[:, random.permutation(16)]
    true /= true.sum()
    noise = 0.0016
    rows, columns = (
        np.abs(true.sum(axis=axis) + random.normal(0, noise / 3, 16)) + 1e-5 for axis in (1, 0)
    )
    rows, columns = rows / rows.sum(), columns / columns.sum()
    noisy = true + random.normal(0, noise, true.shape)
    found = nearest_table(noisy, rows, columns)
    assert np.abs(found.sum(axis=1) - rows).max() < 2e-5
    assert np.abs(found.sum(axis=0) - columns).max() < 2e-5
    assert np.abs(found - true).sum() < 0.5 * np.abs(noisy - true).sum()


@pytest.mark.parametrize("correlation", [-0.97, -0.3, 0.0, 0.5, 0.985])
def test_cells_of_a_copula_are_those_of_the_normal_distribution(correlation):
    """By scipy's distribution function of two dimensions; the margins are kept exactly."""
    rows, columns = np.array([0.5, 0.25, 0.125, 0.125]), np.array([0.1, 0.6, 0.3])
    found = copula_table(rows, columns, correlation)
    assert np.abs(found - plain.copula(rows, columns, correlation)).max() < 2e-6
    assert np.allclose(found.sum(axis=1), rows, atol=1e-9)
    assert np.allclose(found.sum(axis=0), columns, atol=1e-9)
    if abs(correlation) > 0:
        assert fitted_correlation(found, rows, columns) == pytest.approx(correlation, abs=2e-3)


def test_a_table_is_shrunk_by_what_of_its_distance_is_noise():
    """All of it where it does not stand out, half where noise makes half, none without noise."""
    towards = np.full((2, 2), 0.25)
    apart = np.array([[0.1, -0.1], [-0.1, 0.1]])
    squares = float((apart**2).sum())
    assert np.allclose(shrunk(towards + apart, towards, squares / 4), towards)
    assert np.allclose(shrunk(towards + apart, towards, squares), towards)
    assert np.allclose(shrunk(towards + apart, towards, squares / 8), towards + apart / 2)
    assert np.allclose(shrunk(towards + apart, towards, 0.0), towards + apart)
    assert np.allclose(shrunk(towards, towards, 1.0), towards)
