"""Promises of the core, seen from outside: what a release shows, claims and refuses."""

import numpy as np
import pytest

import microveil as mv
from microveil.noise.noise import RandomSource, uniform

N = 61
VALUES = np.random.Generator(np.random.PCG64(5)).permutation(10 * np.arange(N))
BOUNDS = {"A": (0, 10 * N), "B": (0, 10 * N)}


def table():
    return {"A": VALUES, "B": VALUES[::-1].copy(), "K": np.arange(N) % 3}


def asked(method, names=("A", "B"), **more):
    """Ask for a method with the arguments that it may need."""
    return {
        "method": method, "k": 5, "epsilon": 1, "attributes": list(names),
        "bounds": {name: BOUNDS[name] for name in names}, **more,
    }  # fmt: skip


def test_numbers_below_a_large_bound_are_uniform():
    """Three residues of numbers below 3 x 2^61 are equally likely: no word is taken as it comes."""
    drawn = uniform(np.full(60_000, 3 << 61), RandomSource.seeded(3))
    seen = np.bincount(drawn % 3, minlength=3) / len(drawn)
    assert np.abs(seen - 1 / 3).max() < 0.015


def test_two_equal_attributes_get_noise_of_their_own():
    """Else their difference would show that they are equal, and their noise how large it is."""
    given = {"A": VALUES, "B": VALUES.copy()}
    for seed in (None, 1):
        data = mv.protect(given, **asked("laplace"), seed=seed).data
        assert np.mean(data["A"] == data["B"]) < 0.5


@pytest.mark.parametrize("seed", range(5))
def test_no_unit_keeps_more_records_than_declared(seed):
    """What is beyond is left out; every unit of few enough keeps all of its records."""
    people = {"A": VALUES, "H": np.repeat([1, 2, 3, 4], (40, 2, 1, N - 43))}
    more = {"unit": "H", "max_rows": 3, "outside": "clamp", "seed": seed}
    data = mv.protect(people, **asked("laplace", ["A"]), **more).data
    assert sorted(np.unique(data["H"], return_counts=True)[1].tolist()) == [1, 2, 3, 3]


@pytest.mark.parametrize("method", ["ranking", "optimal", "mdav", "v-mdav", "mdav-insensitive"])
@pytest.mark.parametrize("k", [2, 3, 5, 7, 20, 30, 31, 61])
def test_every_released_value_is_shared_by_k_records(method, k):
    """And by fewer than 2k, where values are all different."""
    data = mv.protect(table(), **asked(method, ["A"], k=k)).data
    counts = np.unique(data["A"], return_counts=True)[1]
    assert counts.min() >= k
    assert counts.max() < 2 * k


def test_every_interval_holds_k_records():
    """Also where values are uneven: so many intervals are made as leave k records in each."""
    skewed = {"A": np.concatenate([np.arange(50), [1000, 1001, 1002]])}
    plan = mv.plan(skewed, method="k-pram", k=5, attributes=["A"])
    assert plan.attributes[0].figures.written["smallest_interval"] >= 5


def test_kept_columns_leave_rows_of_clusters_uncovered():
    """Rows in random order are covered alone, and not beside a column that is as it was."""
    alone = mv.plan(table(), **asked("dp-um", ["A"], shuffle=True)).guarantee
    beside = mv.plan(table(), **asked("dp-um", ["A"], shuffle=True, keep=["K"])).guarantee
    assert alone.scopes["row"].covered
    assert not beside.scopes["row"].covered
    assert [one.id for one in beside.conditions] == ["repeated-people", "kept-columns"]
    assert beside.conditions[1].text.startswith("Released unprotected: K.")


def test_missing_cells_that_stay_are_a_condition():
    """Everybody sees whose they are, and the guarantee says so."""
    said = {
        missing: [one.id for one in mv.plan(table(), **request).guarantee.conditions]
        for missing in ("keep", "error")
        for request in [asked("dp-um", ["A"], missing=missing, max_rows=1)]
    }
    assert said == {"keep": ["missing-cells"], "error": []}


def test_what_was_read_from_the_data_leaves_rows_uncovered():
    """Bounds that the table gave show its extremes."""
    request = asked("dp-synthetic", ["A"], epsilon=100)
    read = {**request, "bounds": mv.bounds_from_data({"A": VALUES})}
    assert mv.plan(table(), **request).guarantee.scopes["row"].covered
    guarantee = mv.plan(table(), **read).guarantee
    assert not guarantee.scopes["row"].covered
    assert guarantee.model == "idp"


@pytest.mark.parametrize(
    ("method", "scope"),
    [("dp-um", "row"), ("idp-ls", "vector"), ("idp-cbls", "vector"), ("idp-cbls", "row"),
     ("record-dp", "vector"), ("kanon-dp", "row"), ("idp-vector", "row")],
)  # fmt: skip
def test_a_scope_that_is_not_kept_is_refused(method, scope):
    """Asked for, it is kept by the epsilon given, or nothing is released."""
    with pytest.raises(mv.RequestError, match="scope"):
        mv.plan(table(), **asked(method), scope=scope)


def test_k_anonymity_is_claimed_of_whole_records_alone():
    """Not of attributes grouped each by itself, nor of columns in an order of their own."""
    models = {
        (method, len(names), shuffle): mv.plan(
            table(), **asked(method, names), shuffle=shuffle
        ).guarantee.model.value
        for method in ("mdav", "ranking")
        for names in (["A"], ["A", "B"])
        for shuffle in ("rows", "columns")
    }
    claimed = {case for case, model in models.items() if model == "k-anonymity"}
    assert claimed == {
        ("mdav", 1, "rows"), ("mdav", 1, "columns"), ("mdav", 2, "rows"),
        ("ranking", 1, "rows"), ("ranking", 1, "columns"),
    }  # fmt: skip


def test_what_cannot_be_hidden_is_refused():
    """Too few records or values, one value alone, cells that come out exactly, missing cells."""
    few = np.full(N, np.nan)
    few[:4] = [1, 2, 3, 4]
    one = np.full(N, np.nan)
    one[3] = 7
    resolved = {"resolution": {"A": 1}}
    with pytest.raises(mv.DataError, match="fewer"):
        mv.plan({"A": np.arange(4)}, **asked("ranking", ["A"]))
    with pytest.raises(mv.DataError, match="fewer values than k"):
        mv.plan({"A": few}, **asked("dp-um", ["A"]), **resolved, missing="keep")
    with pytest.raises(mv.DataError, match="one value"):
        mv.plan({"A": one}, **asked("laplace", ["A"]), **resolved, missing="keep")
    for given in ({"A": few}, {"A": one}):
        with pytest.raises(mv.DataError, match="missing"):
            mv.plan(given, **asked("laplace", ["A"]), **resolved)
    for method in ("idp-cbls", "idp-vector"):
        with pytest.raises(mv.ExactCellsError):
            mv.protect({"A": np.repeat([3, 9], 30)}, **asked(method, ["A"]))


def test_a_target_that_is_not_protected_is_refused():
    """A table is made for what it is to predict, and that must be in it."""
    with pytest.raises(mv.RequestError, match="target"):
        mv.plan(table(), **asked("dp-synthetic", epsilon=100), target="K")


@pytest.mark.parametrize("method", ["ranking", "optimal", "mdav"])
def test_values_outside_the_bounds_count_as_the_bound(method):
    """A mean of theirs lies inside: without noise it is the bound itself."""
    given = {"A": np.concatenate([np.full(30, 5), np.full(30, 1000)])}
    request = {**asked(method, ["A"]), "bounds": {"A": (0, 10)}}
    data = mv.protect(given, **request, outside="clamp").data
    assert np.array_equal(np.unique(data["A"]), [5, 10])


@pytest.mark.parametrize("method", ["laplace", "dp-um", "idp-ls"])
def test_no_released_value_lies_outside_the_bounds(method):
    """Whatever the noise is: it is larger than the domain here."""
    given = {"A": np.tile([0, 10], 500)}
    request = {**asked(method, ["A"], epsilon=0.05), "bounds": {"A": (0, 10)}}
    data = mv.protect(given, **request, seed=1).data
    assert (data["A"].min(), data["A"].max()) == (0, 10)
