"""Exact decimals of databases: read as numbers, to the last cent, and written back as they came."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microveil as mv
from command import run
from microveil.errors import DataError
from microveil.table import open_table

CENTS = [*range(24), 99_999_999, -7]
VALUES = [Decimal(units) / 100 for units in CENTS]
VALUES[3] = None


def in_polars(values, precision=12, places=2):
    return pl.DataFrame({"X": pl.Series(values, dtype=pl.Decimal(precision, places))})


def in_arrow(values, precision=12, places=2):
    return pa.table({"X": pa.array(values, pa.decimal128(precision, places))})


def in_pandas(values, precision=12, places=2):
    kind = pd.ArrowDtype(pa.decimal128(precision, places))
    return pd.DataFrame({"X": pd.array(values, dtype=kind)})


def of_objects(values, precision=12, places=2):
    del precision, places
    return pd.DataFrame({"X": pd.Series(values, dtype=object)})


MAKERS = [in_polars, in_arrow, in_pandas, of_objects]


def written(data):
    return data["X"].to_pylist() if isinstance(data, pa.Table) else list(data["X"])


@pytest.mark.parametrize(("precision", "places"), [(12, 2), (38, 18)])
@pytest.mark.parametrize("make", MAKERS)
def test_a_release_has_the_decimals_of_its_table(make, precision, places):
    """The type comes back, every value is whole cents, and a missing cell stays missing."""
    frame = make(VALUES, precision, places)
    data = mv.protect(
        frame, method="dp-um", k=5, epsilon=1000, attributes=["X"], missing="keep",
        bounds={"X": (-10, 1_000_000)}, resolution={"X": 0.01},
    ).data  # fmt: skip
    assert type(data) is type(frame)
    if isinstance(frame, pa.Table):
        assert data.schema.field("X").type == frame.schema.field("X").type
    else:
        assert data["X"].dtype == frame["X"].dtype
    cells = written(data)
    assert pd.isna(cells.pop(3))
    assert all(isinstance(cell, Decimal) and cell * 100 % 1 == 0 for cell in cells)
    assert len(set(cells)) > 1


@pytest.mark.parametrize("make", [in_polars, in_arrow, in_pandas])
def test_noise_beyond_what_the_type_holds_is_clipped_to_it(make):
    """Decimals of four digits hold 99.99 at most: what noise makes larger becomes that."""
    frame = make([Decimal(units) / 100 for units in range(30)], 4, 2)
    data = mv.protect(
        frame, method="laplace", epsilon=0.001, attributes=["X"],
        bounds={"X": (-9000, 9000)}, resolution={"X": 0.01},
    ).data  # fmt: skip
    assert max(map(abs, written(data))) == Decimal("99.99")


TOO_LONG = {
    "too many digits": ["0.12", "12345678901234.56"],
    "together too many": ["1234567890", "0.000001"],
    "too many decimals": ["0.1234567890123456", "0.5"],
}


@pytest.mark.parametrize("values", TOO_LONG.values(), ids=TOO_LONG)
@pytest.mark.parametrize("make", MAKERS)
def test_what_floats_do_not_tell_apart_is_refused_with_what_would_do(make, values):
    """No digit is lost in silence, and no value is quoted."""
    frame = make([Decimal(value) for value in values] * 5, 38, 16)
    with pytest.raises(DataError) as caught:
        mv.protect(
            frame, method="dp-um", k=2, epsilon=1, attributes=["X"], bounds={"X": (0, 10)},
            resolution={"X": 0.01},
        )  # fmt: skip
    assert "15 digits" in str(caught.value)
    assert not any(value in str(caught.value) for value in values)


@pytest.mark.parametrize(
    "values", [["999999999999.999", "-0.001"], ["100000000000000", "7"], ["0.000000000000001", "0"]]
)
@pytest.mark.parametrize("make", MAKERS)
def test_fifteen_digits_are_told_apart(make, values):
    """Up to 15 digits, decimals among them, every value is exact, and its decimals are seen."""
    frame = make([Decimal(value) for value in values], 38, 15)
    numbers = open_table(frame).numbers("X")
    np.testing.assert_array_equal(numbers.values, [float(value) for value in values])
    seen = max(len(value.partition(".")[2]) for value in values)
    assert mv.resolution_from_data(frame) == {"X": 10.0**-seen}


def test_a_file_with_decimals_is_inspected_protected_and_assessed(tmp_path):
    """The recipe that inspect writes of a Parquet file says decimal, and its columns are used."""
    in_polars(VALUES * 4).write_parquet(tmp_path / "people.parquet")
    said = ["--method", "idp-cbls", "--show-values", "-o", "r.toml"]
    run("inspect", "people.parquet", *said, folder=tmp_path)
    recipe = (tmp_path / "r.toml").read_text()
    assert 'type = "decimal"' in recipe
    assert "resolution = 0.01" in recipe
    asked = ["--recipe", "r.toml", "--bounds", "X=-10:1000000", "--missing", "keep"]
    done = run("protect", "people.parquet", *asked, "-o", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert pl.read_parquet(tmp_path / "out" / "data.parquet")["X"].dtype == pl.Decimal(12, 2)
    assessed = run("assess", "people.parquet", "out/data.parquet", folder=tmp_path)
    assert assessed.returncode == 0, assessed.stderr


def test_what_is_too_long_is_named_where_a_recipe_is_proposed(tmp_path):
    """The custodian is told what stands in the way; the recipe holds nothing that was seen."""
    frame = in_polars([Decimal("0.12"), Decimal("12345678901234.56")] * 5, 38, 16)
    frame.write_parquet(tmp_path / "people.parquet")
    said = run("inspect", "people.parquet", folder=tmp_path)
    assert "more than 15 digits" in " ".join(said.stderr.split())
    assert "digits" not in said.stdout.partition("[attributes.")[2]
