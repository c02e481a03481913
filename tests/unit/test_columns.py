"""What is read off columns when asked, and how it is marked."""

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from microveil.table import (
    BoundsFromData,
    Numbers,
    ResolutionFromData,
    decimals_seen,
    likely_identifier,
    open_table,
)


@given(st.integers(0, 6), st.lists(st.integers(-(10**6), 10**6), min_size=1))
def test_decimals_are_seen_exactly(decimals, units):
    """The least number of decimals that tells every value, in float64 and float32."""
    values = np.array(units) / 10.0**decimals
    seen = decimals_seen(Numbers(values=values, missing=None))
    least = next(d for d in range(7) if all(u * 10**d % 10**decimals == 0 for u in units))
    assert seen == least
    small = np.array([unit % 1000 for unit in units]) / 10.0 ** min(decimals, 3)
    single = small.astype(np.float32).astype(np.float64)
    assert decimals_seen(Numbers(values=single, missing=None)) <= 3


def test_bounds_are_read_as_in_the_papers_experiments():
    """Lower min(0, alpha min), upper max(0, alpha max); marked; equal bounds left out."""
    table = {
        "up": np.array([10, 40]),
        "both": np.array([-2, 8]),
        "zero": np.array([0, 0]),
        "gap": np.array([np.nan, 4.0]),
        "yes": np.array([True, False]),
    }
    bounds = mv.bounds_from_data(table, alpha=1.5)
    assert bounds == {"up": (0, 60), "both": (-3, 12), "gap": (0, 6)}
    assert all(isinstance(pair, BoundsFromData) for pair in bounds.values())


def test_bounds_of_dates_are_dates():
    """Days since 1970 stretched, given back as dates."""
    days = [datetime.date(1970, 1, 11), datetime.date(1970, 1, 21)]
    bounds = mv.bounds_from_data(pl.DataFrame({"day": days}), alpha=3)
    assert bounds["day"] == (datetime.date(1970, 1, 1), datetime.date(1970, 3, 2))


def test_resolutions_are_read_for_floats_only():
    """Whole numbers have theirs from their type."""
    table = {
        "cents": np.array([1.25, 3.0]),
        "whole": np.array([1, 2]),
        "halves": np.array([1.5, 2]),
    }
    resolution = mv.resolution_from_data(table)
    assert resolution == {"cents": 0.01, "halves": 0.1}
    assert all(isinstance(step, ResolutionFromData) for step in resolution.values())


@pytest.mark.parametrize(
    ("values", "likely"),
    [
        (np.arange(2000) * 3, True),
        (np.arange(2000.0), True),
        (np.append(np.arange(1999), 5), False),
        (np.arange(2000) / 8, False),
        (np.append(np.arange(1999.0), 0.5), False),
        (np.append(np.full(1500, np.nan), np.arange(500.0)), True),
        (np.append(np.full(1500, np.nan), np.zeros(500)), False),
        (np.append(np.full(1999, np.nan), 7.0), False),
        (np.zeros(5, dtype=int), False),
    ],
)
def test_all_different_whole_numbers_are_likely_identifiers(values, likely):
    """Whole and all different, in whichever type; a repetition or a decimal ends it."""
    assert likely_identifier(open_table({"x": values}), "x") is likely
