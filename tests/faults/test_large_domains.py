"""Domains beyond what 64-bit floats tell apart: values stay inside and on the grid, or are refused.

Floats tell whole numbers apart up to 2**53, and 15 digits of a decimal.
"""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import microveil as mv
from microveil.errors import RequestError

FAR = 2**55 + 1, 2**55 + 999
SPEND = {"epsilon": 1}
CLUSTERED = {"k": 5}
METHODS = {
    "laplace": SPEND,
    "dp-um": {**SPEND, **CLUSTERED},
    "idp-ls": {**SPEND, **CLUSTERED},
    "idp-cbls": {**SPEND, **CLUSTERED},
    "idp-vector": {**SPEND, **CLUSTERED},
    "kanon-dp": {**SPEND, **CLUSTERED},
    "record-dp": {**SPEND, **CLUSTERED},
    "pram": SPEND,
    "mdav": CLUSTERED,
    "v-mdav": CLUSTERED,
    "optimal": CLUSTERED,
    "k-noise": CLUSTERED,
    "k-pram": CLUSTERED,
}
FRAMES = {
    "int64": lambda cells: {"X": np.array(cells)},
    "uint64": lambda cells: {"X": np.array(cells, dtype=np.uint64)},
    "pandas": lambda cells: pd.DataFrame({"X": pd.array(cells, dtype="Int64")}),
    "polars": lambda cells: pl.DataFrame({"X": cells}, schema={"X": pl.UInt64}),
    "pyarrow": lambda cells: pl.DataFrame({"X": cells}).to_arrow(),
}


def cells(lower, upper, n=300):
    """Return whole numbers spread over a domain, both ends among them."""
    return [lower + (upper - lower) * place // (n - 1) for place in range(n)]


def released(table, **asked):
    """Return the cells of the released column as Python's numbers."""
    column = mv.protect(table, attributes=["X"], **asked).data["X"]
    return (column if isinstance(column, np.ndarray) else column.to_numpy()).tolist()


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("method", ["laplace", "dp-um", "k-noise"])
def test_whole_numbers_of_every_frame_stay_exact_beyond_floats(frame, method):
    """No cell leaves the declared bounds, and they stay as different as they were."""
    found = released(
        FRAMES[frame](cells(*FAR)), method=method, bounds={"X": FAR}, **METHODS[method]
    )
    assert all(FAR[0] <= value <= FAR[1] for value in found)
    assert len(set(found)) > 5
    assert any(value % 2 == 0 for value in found)
    assert any(value % 2 for value in found)


@pytest.mark.parametrize("far", [FAR, (-FAR[1], -FAR[0])], ids=["positive", "negative"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_whole_numbers_inside_bounds_beyond_floats(method, far):
    """Whatever a method does to whole numbers, it does it exactly."""
    found = released(
        {"X": np.array(cells(*far))}, method=method, bounds={"X": far}, **METHODS[method]
    )
    assert all(far[0] <= value <= far[1] for value in found)
    assert len(set(found)) > 5


@pytest.mark.parametrize(
    ("bounds", "more"),
    [
        ((-(2**60) - 1, 2**60 + 1), {}),
        (FAR, {}),
        ((0, 2**53 + 1), {"target": {"X": 5}}),
        ((0, 10**16), {"missing": "protect"}),
    ],
)
def test_a_new_table_refuses_whole_numbers_beyond_floats(bounds, more):
    """It draws values by floats: outside the bounds, or a few values alone, is no release."""
    table = {"X": np.array(cells(*bounds)), "Y": np.arange(300) % 7}
    with pytest.raises(RequestError, match=r"domain of 'X'.*2\*\*53.*tighter bounds"):
        mv.protect(
            table,
            method="dp-synthetic",
            epsilon=50,
            attributes=["X", "Y"],
            bounds={"X": bounds, "Y": (0, 6)},
            **more,
        )


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "dp-um", "k": 5, "epsilon": 1, "isotonic": True},
        {"method": "laplace", "epsilon": 1, "missing": "keep", "missing_codes": {"X": [-1]}},
    ],
    ids=["isotonic", "missing"],
)
def test_whole_numbers_beyond_floats_are_refused_where_they_would_become_floats(asked):
    """Isotonic regression is of floats, and so are columns of numpy with a missing cell."""
    with pytest.raises(RequestError, match="domain of 'X'"):
        mv.protect({"X": np.array(cells(*FAR))}, attributes=["X"], bounds={"X": FAR}, **asked)


def test_halves_of_a_coarse_grid_go_to_the_even_point():
    """Small or far beyond 2**53, as halves of decimals do."""
    far = 20 * (2**57 // 20)
    halves = [-25, -15, -5, 5, 15, 25, far + 5, far + 15]
    found = released(
        {"X": np.array([value for value in halves for _ in range(2)])}, method="mdav", k=2,
        resolution={"X": 10},
    )  # fmt: skip
    even = [-20, -20, 0, 0, 20, 20, far, far + 20]
    assert found == [value for value in even for _ in range(2)]


@pytest.mark.parametrize("width", [10**17, 10**18])
def test_noise_at_the_limits_of_64_bits_does_not_come_out_at_the_other_end(width):
    """A sum beyond the greatest whole number is that number."""
    own = [-(2**63)] * 150 + [2**63 - 1] * 150
    found = released({"X": np.array(own)}, method="k-noise", width=width, noise="laplace")
    assert all((value > 0) == (true > 0) for value, true in zip(found, own, strict=True))


TOO_FINE = [
    ((0, 1e9), 1e-7),
    ((0, 1e9), 1e-12),
    ((-1e9, 1), 1e-7),
    ((2**53, 2**53 + 1000), 1),
    ((0, 2**53 + 2), 1),
    ((1e15, 1e15 + 1), 0.1),
    ((0, 1), 1e-17),
    ((0, 100), 1 / 3),
]


@pytest.mark.parametrize(("bounds", "resolution"), TOO_FINE)
@pytest.mark.parametrize("method", ["laplace", "mdav", "k-noise", "dp-synthetic"])
def test_grids_that_floats_do_not_tell_apart_are_refused(method, bounds, resolution):
    """Their points would fall together, or come out beyond the bounds."""
    asked = {**METHODS, "dp-synthetic": SPEND}[method]
    spread = np.linspace(*map(float, bounds), 300)
    with pytest.raises(RequestError, match=r"'X'.*tighter bounds or a coarser resolution"):
        released(
            {"X": spread},
            method=method,
            bounds={"X": bounds},
            resolution={"X": resolution},
            **asked,
        )


@pytest.mark.parametrize(
    ("bounds", "resolution"),
    [((0, 10**9), "1e-6"), ((-(2**53), 2**53), "1"), ((0, 1), "1e-15"), ((-(10**13), 0), "0.25")],
)
@pytest.mark.parametrize("method", ["laplace", "dp-um", "k-pram", "mdav", "k-noise"])
def test_the_finest_grids_that_are_taken_are_kept_exactly(method, bounds, resolution):
    """Every cell is the float nearest to a point of the grid between the bounds."""
    step = Fraction(resolution)
    units = cells(int(bounds[0] / step), int(bounds[1] / step))
    own = [float(unit * step) for unit in units]
    found = released(
        {"X": np.array(own)}, method=method, bounds={"X": bounds},
        resolution={"X": float(step)}, **METHODS[method],
    )  # fmt: skip
    assert all(bounds[0] <= value <= bounds[1] for value in found)
    assert found == [float(round(Fraction(value) / step) * step) for value in found]
    assert len(set(found)) > 5
    if method == "k-pram":
        assert set(found) <= set(own)  # nothing moved on the way to the grid and back


def test_exact_decimals_stay_on_their_grid_up_to_the_bound():
    """A release that holds the bound itself has all its decimals, as one without it has."""
    units = cells(0, 10**15)
    own = [Decimal(unit).scaleb(-9) for unit in units]
    table = pl.DataFrame({"X": pl.Series(own, dtype=pl.Decimal(38, 9))})
    release = mv.protect(
        table, method="k-pram", k=150, attributes=["X"], bounds={"X": (0, 10**6)},
        resolution={"X": 1e-9}, noise="permutation",
    )  # fmt: skip
    assert sorted(release.data["X"].to_list()) == own


@pytest.mark.parametrize(
    ("bits", "beyond", "held"), [(32, 2**25 + 3, 2**25 + 4), (16, 100_000, 65_504)]
)
def test_bounds_that_a_column_of_few_bits_would_leave_are_refused(bits, beyond, held):
    """The float32 nearest to 2**25 + 3 lies above it; of float16 the largest is 65504."""
    table = {"X": np.linspace(0, held, 300).astype(f"float{bits}")}
    asked = {"method": "laplace", "epsilon": 0.01, "resolution": {"X": 1}}
    with pytest.raises(RequestError, match=rf"bounds of 'X'.*{bits}-bit"):
        released(table, bounds={"X": (0, beyond)}, **asked)
    assert max(released(table, bounds={"X": (0, held)}, **asked)) == held


@pytest.mark.parametrize("made", [dict, pl.DataFrame, pd.DataFrame])
@pytest.mark.parametrize(("kind", "held"), [("int8", (-128, 127)), ("uint16", (0, 65_535))])
def test_bounds_that_a_column_of_whole_numbers_cannot_hold_are_refused(made, kind, held):
    """Draws beyond the type would be cut off at its end, and the error to expect would be wrong."""
    table = made({"X": np.arange(300).clip(0, 100).astype(kind)})
    asked = {"method": "laplace", "epsilon": 0.01}
    for bounds in ((held[0] - 1, 100), (0, held[1] + 1)):
        with pytest.raises(RequestError, match=rf"bounds of 'X'.*from {held[0]} to {held[1]}"):
            released(table, bounds={"X": bounds}, **asked)
    drawn = released(table, bounds={"X": held}, **asked)
    assert (min(drawn), max(drawn)) == held


def test_categories_that_floats_do_not_tell_apart_are_refused():
    """In a column of floats 2**53 + 1 would be published as its neighbour."""
    table = {"X": np.array([2.0**53, math.nan, 5.0] * 100)}
    with pytest.raises(RequestError, match="domain of 'X'"):
        released(table, method="pram", epsilon=1, missing="keep", categories={"X": [5, 2**53 + 1]})
