"""The people on whom the record is made, as each kind of frame; none of them exists."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

__all__ = ["FRAMES", "N", "columns"]

N = 60


def columns(*, gaps: bool = False) -> dict[str, list]:
    """Return the columns as lists; with gaps some incomes, days and regions are missing."""
    random = np.random.Generator(np.random.PCG64(2025))
    age = random.integers(18, 95, N).tolist()
    income = (random.integers(100, 2_000, N) ** 2 / 100).tolist()
    since = [datetime.date(2000, 1, 1) + datetime.timedelta(days=7 * days)
             for days in random.integers(0, 900, N).tolist()]  # fmt: skip
    region = random.choice(["north", "south", "west"], N).tolist()
    if gaps:
        for index in range(0, N, 9):
            income[index] = since[index + 1] = region[index + 2] = None
    return {
        "ID": (1000 + random.permutation(N)).tolist(),
        "REGION": region,
        "AGE": age,
        "INCOME": income,
        "EMPLOYED": [years < 60 for years in age],
        "SINCE": since,
    }


def _arrays(table: dict[str, list]) -> dict[str, np.ndarray]:
    types = {"AGE": np.int16, "INCOME": np.float64, "SINCE": "datetime64[D]"}
    return {name: np.array(values, types.get(name)) for name, values in table.items()}


def _pandas(table: dict[str, list]) -> pd.DataFrame:
    frame = pd.DataFrame(table, index=[f"person {i}" for i in range(N)])
    frame["SINCE"] = pd.to_datetime(frame["SINCE"])
    frame["REGION"] = pd.Categorical(table["REGION"], categories=["north", "south", "west"])
    frame.attrs["owner"] = "somebody"
    return frame


def _polars(table: dict[str, list]) -> pl.DataFrame:
    regions = pl.Enum(["north", "south", "west"])
    return pl.DataFrame(table, schema_overrides={"AGE": pl.UInt8, "REGION": regions})


def _pyarrow(table: dict[str, list]) -> pa.Table:
    made = {name: pa.array(values) for name, values in table.items()}
    made["AGE"] = pa.array(table["AGE"], pa.int32())
    made["REGION"] = made["REGION"].dictionary_encode()
    return pa.table(made, metadata={"owner": "somebody"})


# By the library's name: what makes such a frame of columns.
FRAMES = {"numpy": _arrays, "pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}
