"""Attributes shuffled each by itself: what is promised of them, and what is released."""

import numpy as np
import pytest

import microveil as mv

N = 60
NAMES = ["x", "y", "z"]
BOUNDS = dict.fromkeys(NAMES, (0, 1000))
ASKED = {"k": 5, "epsilon": 1, "attributes": NAMES, "bounds": BOUNDS, "exact_cells": "allow"}


def people():
    random = np.random.Generator(np.random.PCG64(5))
    return {name: random.integers(0, 900, N) for name in NAMES} | {"place": np.arange(N) % 3}


@pytest.mark.parametrize(
    ("method", "more", "model", "row"),
    [
        ("laplace", {}, "dp", 1),
        ("dp-um", {}, "dp", 1),
        ("idp-ls", {}, "idp", 1.6931471805599454),
        ("idp-cbls", {}, "idp", 12),
        ("idp-vector", {"partition": "noise-aware"}, "idp", 1),
        ("kanon-dp", {}, "dp", 1),
        ("kanon-dp", {"blocks": [["x"], ["y", "z"]]}, "dp", 1),
        ("kanon-dp", {"composition": "parallel"}, "dp", 12),
        ("record-dp", {"partition": "mdav"}, "idp", None),
        ("record-dp", {"partition": "optimal"}, "idp", 1),
        ("mdav", {}, "none", None),
        ("ranking", {}, "none", None),
    ],
)
def test_row_scope_is_vector_scope(method, more, model, row):
    """No row joins what two attributes show, so the wider scope costs nothing more."""
    guarantee = mv.plan(people(), method=method, shuffle="columns", **ASKED | more).guarantee
    assert guarantee.model == model
    assert guarantee.scopes.row.epsilon == pytest.approx(row)
    assert guarantee.scopes.row == guarantee.scopes.vector
    assert any("random order of its own" in note for note in guarantee.notes)


def test_each_attribute_has_an_order_of_its_own():
    """The same cells as unshuffled under one seed, each column in another order."""
    plain = mv.protect(people(), method="dp-um", seed=7, **ASKED).data
    found = mv.protect(people(), method="dp-um", seed=7, shuffle="columns", **ASKED).data
    for name in NAMES:
        assert sorted(plain[name]) == sorted(found[name])
    # Two attributes with the same values: in one common order they would stay alike.
    same = {"x": np.arange(2000), "y": np.arange(2000)}
    moved = mv.protect(same, method="ranking", k=3, attributes=["x", "y"], shuffle="columns").data
    for one, other in ((moved["x"], moved["y"]), (moved["x"], same["x"]), (moved["y"], same["y"])):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.15


def test_missing_cells_are_shuffled_with_their_attribute():
    """Where a cell is missing shows nobody's row."""
    table = {name: people()[name].astype(float) for name in NAMES}
    table["x"][:20] = np.nan
    found = mv.protect(table, method="laplace", shuffle="columns", missing="keep",
                       resolution=dict.fromkeys(NAMES, 1), **ASKED).data  # fmt: skip
    places = np.flatnonzero(np.isnan(found["x"]))
    assert len(places) == 20
    assert places.tolist() != list(range(20))
    assert not np.isnan(found["y"]).any()


def test_kept_columns_are_refused_beside_it():
    """A kept column would stand beside values of other people."""
    with pytest.raises(mv.RequestError, match="leave out keep"):
        mv.plan(people(), method="dp-um", shuffle="columns", keep=["place"], **ASKED)


@pytest.mark.parametrize("given", ["cells", 1, ["x"]])
def test_anything_else_is_refused(given):
    """True, False, rows and columns are what there is."""
    with pytest.raises(mv.RequestError, match="'rows' or 'columns'"):
        mv.plan(people(), method="dp-um", shuffle=given, **ASKED)


def test_rows_is_what_true_means():
    """The two ways of asking draw the same release."""
    one, other = (
        mv.protect(people(), method="dp-um", shuffle=given, seed=1, **ASKED).data
        for given in (True, "rows")
    )
    assert all(np.array_equal(one[name], other[name]) for name in NAMES)


@pytest.mark.parametrize("columns", [NAMES, ["x"]])
def test_an_attack_finds_no_more_at_row_scope_than_is_claimed(columns):
    """The empirical audit of what is seen in any order stays below the claim."""
    found = mv.empirical_audit(
        people(), method="dp-um", shuffle="columns", runs=4000, **ASKED | {"attributes": columns}
    )
    assert found.contradicted == ()
    assert found.scopes["row"].claimed == pytest.approx(1 / len(columns))
