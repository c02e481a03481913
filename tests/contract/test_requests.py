"""What bad requests and bad tables get: an error that says rule, place and remedy, no value."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import microveil as mv

SECRET = 987654321
N = 12
GOOD = {"method": "dp-um", "k": 3, "epsilon": 1, "attributes": ["x"], "bounds": {"x": (0, 10**9)}}


def table(**columns):
    """A table whose every cell is marked."""
    return {
        "x": np.full(N, SECRET) + np.arange(N) % 3,
        "t": np.array([f"SECRET{i}" for i in range(N)]),
        **columns,
    }


def floats(*values):
    """A float column of marked values, some replaced."""
    column = np.full(N, float(SECRET))
    column[: len(values)] = values
    return column


BAD = {
    "unknown method": (table(), GOOD | {"method": "dp"}, "no such method"),
    "no k": (table(), GOOD | {"k": None}, "needs k"),
    "k of 0": (table(), GOOD | {"k": 0}, "whole number"),
    "k negative": (table(), GOOD | {"k": -3}, "whole number"),
    "k a fraction": (table(), GOOD | {"k": 2.5}, "whole number"),
    "k true": (table(), GOOD | {"k": True}, "whole number"),
    "k of 2 where ends are set aside": (
        table(),
        GOOD | {"method": "idp-cbls", "k": 2},
        "3 or more",
    ),
    "k above n": (table(), GOOD | {"k": N + 1}, "fewer records"),
    "no epsilon": (table(), GOOD | {"epsilon": None}, "epsilon"),
    "epsilon of 0": (table(), GOOD | {"epsilon": 0}, "above 0"),
    "epsilon negative": (table(), GOOD | {"epsilon": -1}, "above 0"),
    "epsilon infinite": (table(), GOOD | {"epsilon": float("inf")}, "finite"),
    "epsilon not a number": (table(), GOOD | {"epsilon": float("nan")}, "finite"),
    "epsilon of text": (table(), GOOD | {"epsilon": "much"}, "finite"),
    "epsilon true": (table(), GOOD | {"epsilon": True}, "finite"),
    "unknown attribute": (table(), GOOD | {"attributes": ["z"]}, "no such column"),
    "unknown column kept": (table(), GOOD | {"keep": ["z"]}, "no such column"),
    "unknown column bounded": (table(), GOOD | {"bounds": {"z": (0, 1)}}, "no such column"),
    "attribute named twice": (table(), GOOD | {"attributes": ["x", "x"]}, "twice"),
    "protected and kept": (table(), GOOD | {"keep": ["x"]}, "both"),
    "text named as numeric": (table(), GOOD | {"attributes": ["t"]}, "numbers"),
    "bounds missing": (table(), GOOD | {"bounds": None}, "bounds={'x'"),
    "bounds reversed": (table(), GOOD | {"bounds": {"x": (5, 1)}}, "below"),
    "bounds equal": (table(), GOOD | {"bounds": {"x": (5, 5)}}, "below"),
    "bounds not finite": (table(), GOOD | {"bounds": {"x": (0, float("inf"))}}, "finite"),
    "bounds of one number": (table(), GOOD | {"bounds": {"x": (0,)}}, "two"),
    "bounds no mapping": (table(), GOOD | {"bounds": (0, 1)}, "maps"),
    "outside the bounds": (table(), GOOD | {"bounds": {"x": (0, 5)}}, "outside the declared"),
    "a float without resolution": (table(x=floats()), GOOD, "resolution={'x'"),
    "resolution of 0": (table(x=floats()), GOOD | {"resolution": {"x": 0}}, "above 0"),
    "resolution of a whole number": (table(), GOOD | {"resolution": {"x": 0.5}}, "whole number"),
    "a missing value": (table(x=floats(np.nan)), GOOD | {"resolution": {"x": 1}}, "missing"),
    "an infinite value": (table(x=floats(np.inf)), GOOD | {"resolution": {"x": 1}}, "infinite"),
    "only missing values": (
        table(x=np.full(N, np.nan)),
        GOOD | {"resolution": {"x": 1}, "missing": "keep"},
        "every value is missing",
    ),
    "too few values": (
        table(x=floats(*[np.nan] * (N - 2))),
        GOOD | {"resolution": {"x": 1}, "missing": "keep"},
        "fewer values than k",
    ),
    "bounds beyond 64 bits": (table(), GOOD | {"bounds": {"x": (0, 1e30)}}, "64 bits"),
    "bounds beyond 64 bits to clamp to": (
        table(),
        GOOD | {"bounds": {"x": (0, 10**25)}, "outside": "clamp"},
        "64 bits",
    ),
    "sums beyond 64 bits": (
        table(),
        GOOD | {"bounds": {"x": (0, 10**18)}},
        "64 bits",
    ),
    "values beyond 64 bits": (
        table(x=floats(1e300)),
        GOOD | {"resolution": {"x": 1}, "bounds": {"x": (0, 1e9)}},
        "64 bits",
    ),
    "exact cells": (table(), GOOD | {"method": "idp-cbls"}, "exactly as they are"),
    "isotonic regression of single rows": (
        table(),
        GOOD | {"method": "laplace", "isotonic": True},
        "order",
    ),
    "weight of 0": (table(), GOOD | {"budget": {"x": 0}}, "above 0"),
    "weight of another column": (table(), GOOD | {"budget": {"t": 1}}, "no protected"),
    "unknown way with outside values": (table(), GOOD | {"outside": "drop"}, "one of"),
    "unknown way with missing values": (table(), GOOD | {"missing": "drop"}, "one of"),
    "unknown way with exact cells": (table(), GOOD | {"exact_cells": "hide"}, "one of"),
    "unknown partition": (table(), GOOD | {"partition": "kmeans"}, "one of"),
    "unknown argument": (table(), GOOD | {"gamma": 0.1}, "no such argument"),
    "a delta for none": (table(), GOOD | {"delta": 0.1}, "without a delta"),
    "a delta of one": (table(), GOOD | {"delta": 1.0}, "below 1"),
    "attributes a number": (table(), GOOD | {"attributes": 5}, "named by text"),
    "method a list": (table(), GOOD | {"method": ["dp-um"]}, "no such method"),
    "a resolution beyond all": (table(), GOOD | {"resolution": {"x": 10**30}}, "64 bits"),
    "a resolution below all": (
        table(x=floats()),
        GOOD | {"resolution": {"x": "1e-400"}},
        "64 bits",
    ),
    "an epsilon beyond all": (
        {"x": np.full(N, SECRET)},
        GOOD | {"method": "idp-cbls", "epsilon": 1e-30, "exact_cells": "allow"},
        "64 bits",
    ),
    "seed of text": (table(), GOOD | {"seed": "one"}, "whole number"),
    "no record": ({"x": np.array([], dtype=int)}, GOOD, "no records"),
    "one record": ({"x": np.array([SECRET])}, GOOD, "one record"),
    "no column": ({}, GOOD, "no records"),
    "columns of two lengths": ({"x": np.arange(3), "y": np.arange(4)}, GOOD, "one length"),
    "no table": ([1, 2, 3], GOOD, "data frame"),
    "duplicate names": (
        pd.DataFrame([[SECRET, SECRET]] * N, columns=["x", "x"]),
        GOOD,
        "two columns",
    ),
    "names of numbers": (pd.DataFrame({1: [SECRET] * N}), GOOD, "names must be text"),
    "only a likely identifier": (
        {"x": SECRET + np.arange(N)},
        GOOD | {"attributes": None},
        "all-different whole numbers",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_words_without_a_value(case):
    """The error is ours, names rule, place and remedy, and holds no value of the table."""
    data, request, words = BAD[case]
    with pytest.raises(mv.MicroveilError, match=words) as caught:
        mv.protect(data, **request)
    error = caught.value
    assert error.place
    assert error.rule
    assert error.remedy
    chain = [error, error.__cause__, None if error.__suppress_context__ else error.__context__]
    for link in chain:
        assert str(SECRET)[:6] not in str(link)
        assert "SECRET" not in str(link)


def test_outside_values_can_be_clamped():
    """outside="clamp" moves them to the bound; the guarantee says so."""
    release = mv.protect(table(), **GOOD | {"bounds": {"x": (0, 5)}, "outside": "clamp"})
    assert release.data["x"].max() <= 5
    assert any("moved to the nearer bound" in note for note in release.guarantee.notes)


def test_bounds_off_the_grid_are_widened_outwards():
    """A domain of 0.5 to 9.5 on whole numbers is 0 to 10."""
    plan = mv.plan({"x": np.arange(N) % 10}, **GOOD | {"bounds": {"x": (0.5, 9.5)}})
    assert plan.attributes[0].attribute.grid_bounds == (0, 10)


def test_one_recipe_serves_every_method():
    """Arguments that a method has no step for are accepted and listed as unused."""
    release = mv.protect(
        table(), **GOOD | {"method": "laplace", "partition": "mdav", "every": "average"}
    )
    unused = release.manifest.to_dict()["unused_parameters"]
    assert unused == ["partition", "every", "k"]
    assert release.guarantee.k is None


def test_identifiers_and_text_are_left_out_and_said():
    """By default numeric attributes are protected; what is left out is listed in the notes."""
    people = {"id": SECRET + np.arange(N), "x": np.arange(N) % 4, "t": np.array(["a"] * N)}
    release = mv.protect(people, method="dp-um", k=3, epsilon=1, bounds={"x": (0, 9)})
    assert list(release.data) == ["x"]
    said = "Not released: id (named like a person's number); t (no numbers)."
    assert release.notes[0].startswith(said)


def test_exact_cells_of_one_attribute_among_others_are_refused():
    """The others do not hide them."""
    people = {"x": np.repeat([3, 8], 6), "y": np.arange(N) ** 2}
    request = {"method": "idp-cbls", "k": 6, "epsilon": 1, "attributes": ["x", "y"]}
    with pytest.raises(mv.ExactCellsError, match="'x' 12 of 12"):
        mv.protect(people, **request)


def test_exact_cells_are_counted_when_allowed():
    """Allowed, they are published as they are, and the custodian's notes say how many."""
    people = {"x": np.repeat([3, 8], 6)}
    release = mv.protect(
        people, method="idp-cbls", k=6, epsilon=1, exact_cells="allow", attributes=["x"]
    )
    assert release.data["x"].tolist() == people["x"].tolist()
    told = release.manifest.custodian_notes
    assert "12 of 12 cells are published exactly as they are." in told
    assert release.manifest.to_dict()["attributes"]["x"]["exact_cells"] == 12


def test_seeded_releases_repeat_and_others_do_not():
    """A seed gives the same release, the operating system's randomness another each time."""
    people = {"x": np.arange(500) % 100}
    request = {
        "method": "dp-um",
        "k": 3,
        "epsilon": 0.1,
        "attributes": ["x"],
        "bounds": {"x": (0, 10**6)},
    }
    seeded = [mv.protect(people, **request, seed=4).data["x"] for _ in range(2)]
    assert np.array_equal(*seeded)
    fresh = [mv.protect(people, **request).data["x"] for _ in range(2)]
    assert not np.array_equal(*fresh)


@pytest.mark.parametrize("unit", ["D", "ms", "us", "ns"])
@pytest.mark.parametrize("epsilon", [1e-3, 1e-6, 1e-9])
def test_dates_without_bounds_stay_in_the_calendar(unit, epsilon):
    """idp-cbls needs no bounds; its dates are clamped to those that have names."""
    days = np.array(["2000-01-01", "2010-05-05", "2020-12-31"] * 4, dtype=f"datetime64[{unit}]")
    days += np.arange(N).astype("timedelta64[D]")
    request = {"method": "idp-cbls", "k": 3, "epsilon": epsilon, "attributes": ["d"]}
    for frame in ({"d": days}, pd.DataFrame({"d": days}), pl.DataFrame({"d": days})):
        data = mv.protect(frame, **request).data["d"]
        years = np.array(data).astype("datetime64[Y]").astype(int) + 1970
        assert years.min() >= (1677 if unit == "ns" else 1)
        assert years.max() <= (2263 if unit == "ns" else 9999)
        assert np.all(np.array(data).astype("datetime64[D]") == np.array(data))


def test_whole_numbers_at_a_coarse_resolution_do_not_overflow():
    """However large noise gets, values stay what 64 bits can hold, on the grid."""
    request = {"method": "idp-cbls", "k": 3, "epsilon": 1e-12, "attributes": ["x"]}
    values = np.arange(N) * 10**9
    data = mv.protect({"x": values}, **request, resolution={"x": 10**6}).data["x"]
    assert np.all(data % 10**6 == 0)
    assert np.abs(data).max() > 10**12


def test_columns_chosen_by_a_look_at_the_table_are_a_condition():
    """Without attributes the guarantee says that the choice depends on the data."""
    people = {"x": np.arange(N) % 4}
    request = {"method": "laplace", "epsilon": 1, "bounds": {"x": (0, 9)}}
    looked = mv.plan(people, **request).guarantee.statement()
    named = mv.plan(people, **request, attributes=["x"]).guarantee.statement()
    assert "chosen by a look at the table" in looked
    assert "chosen by a look at the table" not in named
