"""Squared distances from a corner of the domain, attribute by attribute."""

import numba


@numba.njit(cache=True, nogil=True, error_model="numpy")
def add_squares(values, lower, width, squares):
    """Add to each record's squared distance what one attribute has, in widths of its domain.

    Parameters
    ----------
    values : int64 array (n_records,)
    lower, width : float
    squares : float64 array (n_records,)
    """
    for record in range(values.shape[0]):
        distance = (values[record] - lower) / width
        squares[record] += distance * distance
