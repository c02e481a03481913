"""A column that holds one value, as is publicly known, stands in a new table as it is."""

import numpy as np
import polars as pl
import pytest

import microveil as mv

N = 1500
PEOPLE = pl.DataFrame(
    {"YEAR": [2024] * N, "LAND": ["north"] * N, "AGE": np.random.default_rng(5).integers(0, 99, N)}
)
BOUNDS, LANDS = {"YEAR": (2024, 2024), "AGE": (0, 99)}, {"LAND": ["north"]}


@pytest.mark.parametrize("structure", ["graph", "tree", "independent"])
@pytest.mark.parametrize("delta", [0, 1e-9])
def test_a_domain_of_one_value_is_one(structure, delta):
    """Bounds that are equal, or a list of one category: every record of the new table has it."""
    asked = {"method": "dp-synthetic", "epsilon": 3, "delta": delta, "structure": structure}
    release = mv.protect(
        PEOPLE, attributes=PEOPLE.columns, bounds=BOUNDS, categories=LANDS, **asked
    )
    assert release.data["YEAR"].to_list() == [2024] * N
    assert release.data["LAND"].to_list() == ["north"] * N
    assert release.guarantee.scopes.row.epsilon == 3
    assert mv.assess(PEOPLE, release).to_dict()["constant_attributes"] == ["YEAR"]


def test_its_value_is_declared_and_not_read():
    """A category that is not listed is refused, a number is moved to the one that is declared."""
    other = PEOPLE.with_columns(YEAR=pl.Series([1999] + [2024] * (N - 1)))
    asked = {"method": "dp-synthetic", "epsilon": 3, "attributes": ["YEAR", "AGE"]}
    assert set(mv.protect(other, bounds=BOUNDS, **asked).data["YEAR"]) == {2024}
    asked["attributes"] = ["LAND"]
    with pytest.raises(mv.DataError, match="none of the declared categories"):
        mv.protect(PEOPLE, categories={"LAND": ["south"]}, **asked)


@pytest.mark.parametrize("method", ["pram", "laplace"])
def test_other_methods_refuse_it(method):
    """They would release it as it is under the name of noise."""
    asked = {"method": method, "epsilon": 1, "attributes": ["YEAR"], "bounds": BOUNDS}
    with pytest.raises(mv.RequestError, match="lower bound must be below the upper"):
        mv.protect(PEOPLE, **asked)
