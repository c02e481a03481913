"""Bias, MSE and RMSE by attribute."""

import math

import numpy as np
import pytest

from microveil.errors import DataError
from microveil.utility.mean_errors import mean_errors


def test_errors_are_protected_less_original():
    """By hand: errors 3, -1 and 0, 0."""
    errors = mean_errors([[20.0, 5.0], [30.0, 6.0]], [[23.0, 5.0], [29.0, 6.0]])
    assert errors.bias.tolist() == [1.0, 0.0]
    assert errors.mse.tolist() == [5.0, 0.0]
    assert errors.rmse.tolist() == [math.sqrt(5.0), 0.0]
    assert errors.n_cells.tolist() == [2, 2]


def test_only_cells_present_in_both_count():
    """A missing cell on either side is no error; an attribute without any cell has none."""
    errors = mean_errors(
        [[1.0, math.nan], [2.0, 7.0], [math.nan, 1.0]],
        [[2.0, 3.0], [math.nan, math.nan], [9.0, math.nan]],
    )
    assert errors.n_cells.tolist() == [1, 0]
    assert errors.bias[0] == errors.mse[0] == errors.rmse[0] == 1.0
    assert np.isnan([errors.bias[1], errors.mse[1], errors.rmse[1]]).all()


def test_tables_of_different_shape_are_refused():
    """Errors are by record and attribute, so both tables have the same."""
    with pytest.raises(DataError, match="same shape"):
        mean_errors([[1.0], [2.0]], [[1.0]])
