"""Information loss: how far the protected records lie from their originals.

x are the original and y the protected values, n the records, m the attributes and var_a
the sample variance (with n - 1) of attribute a in the original.

An attribute that is constant in the original has no variance to measure a change by,
whether or not it was changed: the measures that divide by the variance leave it out, and
m counts those that remain. The raw `sum_of_squared_errors` includes it.

Cells may be missing (NaN). A cell counts where it is present in both tables; a mean over
records is then, attribute by attribute, a mean over such cells. With nothing to measure
(no attribute that varies, or one of them without any cell to compare) the result is NaN:
a suppressed attribute must not look like one that was left as it was.
"""

import numpy as np
from numpy.typing import NDArray

from microveil.utility.moments import checked_pair, constant_attributes

__all__ = [
    "information_loss",
    "mean_sse",
    "mean_sse_published",
    "sum_of_squared_errors",
]


def sum_of_squared_errors(original: NDArray[np.float64], protected: NDArray[np.float64]) -> float:
    """Add the squared differences of all cells, in raw units (KANON-2013, section V).

    Formula: sum over records of sum_a (x_a - y_a)^2.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_records, n_attributes)
        The same records in the same order; NaN is a missing cell.

    Returns
    -------
    float
        0 where nothing changed; lower keeps more information.

    Raises
    ------
    DataError
        If the shapes differ, a table is empty or holds an infinite value.

    Examples
    --------
    >>> import numpy as np
    >>> sum_of_squared_errors(
    ...     np.array([[1.0, 5.0], [2.0, 7.0]]), np.array([[1.0, 8.0], [4.0, 7.0]])
    ... )
    13.0
    """
    original, protected = checked_pair(original, protected)
    errors = protected - original
    present = ~np.isnan(errors)
    if not present.any():
        return float("nan")
    return float(np.sum(errors**2, where=present))


def mean_sse(original: NDArray[np.float64], protected: NDArray[np.float64]) -> float:
    """Average the squared differences in units of the attributes' variances.

    Formula: (1/n) sum over records of (1/m) sum_a (x_a - y_a)^2 / var_a. Publishing the
    original's mean in every cell gives (n - 1)/n: at 1 and above the data are worth
    no more than their means.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_records, n_attributes)
        The same records in the same order; NaN is a missing cell.

    Returns
    -------
    float
        0 where nothing changed; lower keeps more information; NaN with nothing to measure.

    Raises
    ------
    DataError
        If the shapes differ, a table is empty or holds an infinite value.

    Examples
    --------
    >>> import numpy as np
    >>> original = np.array([[1.0, 10.0], [3.0, 30.0]])
    >>> mean_sse(original, np.array([[1.0, 10.0], [3.0, 50.0]]))
    0.5
    """
    original, protected = checked_pair(original, protected)
    varying, variances = _varying(original)
    with np.errstate(over="ignore"):
        errors = (protected - original)[:, varying] ** 2 / variances
        return _mean_of_means(errors)


def mean_sse_published(original: NDArray[np.float64], protected: NDArray[np.float64]) -> float:
    """Average the squared distances of IDP-2025, Equations 4 and 5, as printed.

    Formula: (1/n) sum over records of (1/m^2) sum_a ((x_a - y_a) / var_a)^2. The
    published distance divides by the variance, not by the standard deviation, so the
    figure depends on the attributes' units: compare it with the paper's figures, and use
    `mean_sse` for everything else.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_records, n_attributes)
        The same records in the same order; NaN is a missing cell.

    Returns
    -------
    float
        0 where nothing changed; lower keeps more information; NaN with nothing to measure.

    Raises
    ------
    DataError
        If the shapes differ, a table is empty or holds an infinite value.

    Examples
    --------
    >>> import numpy as np
    >>> original = np.array([[1.0, 10.0], [3.0, 30.0]])
    >>> mean_sse_published(original, np.array([[1.0, 10.0], [3.0, 130.0]]))
    0.03125
    """
    original, protected = checked_pair(original, protected)
    varying, variances = _varying(original)
    with np.errstate(over="ignore"):
        errors = ((protected - original)[:, varying] / variances) ** 2
        return _mean_of_means(errors) / max(1, int(varying.sum()))


def information_loss(original: NDArray[np.float64], protected: NDArray[np.float64]) -> float:
    """Measure the squared error as a percentage of the original's total sum of squares.

    Formula: 100 SSE/SST on data standardised by the original's mean and standard
    deviation (with n - 1); SST is the squared distance of the originals to their mean.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_records, n_attributes)
        The same records in the same order; NaN is a missing cell.

    Returns
    -------
    float
        0 where nothing changed, 100 where every value became its attribute's mean, above
        100 where noise outweighs that; NaN with nothing to measure.

    Raises
    ------
    DataError
        If the shapes differ, a table is empty or holds an infinite value.

    Examples
    --------
    >>> import numpy as np
    >>> original = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> information_loss(original, np.array([[1.5], [1.5], [3.5], [3.5]]))
    20.0
    """
    original, protected = checked_pair(original, protected)
    varying, variances = _varying(original)
    errors = (protected - original)[:, varying]
    compared = ~np.isnan(errors)
    if variances.shape[0] == 0 or not compared.any(axis=0).all():
        return float("nan")
    deviations = original[:, varying] - np.nanmean(original[:, varying], axis=0)
    with np.errstate(over="ignore"):
        lost = np.sum(np.sum(errors**2, axis=0, where=compared) / variances)
    total = np.sum(np.sum(deviations**2, axis=0, where=compared) / variances)
    return float(100.0 * lost / total) if total > 0 else float("nan")


def _varying(
    original: NDArray[np.float64],
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which attributes vary in the original, and the variances of those."""
    varying = ~constant_attributes(original)
    return varying, np.nanvar(original[:, varying], axis=0, ddof=1)


def _mean_of_means(errors: NDArray[np.float64]) -> float:
    """Average over the cells present in each attribute, then over the attributes.

    Without missing cells that is the mean over all cells.
    """
    counts = np.sum(~np.isnan(errors), axis=0)
    if counts.shape[0] == 0 or not counts.all():
        return float("nan")
    return float(np.mean(np.nansum(errors, axis=0) / counts))
