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

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.table.blocks import AttributeMatrix, Matrix, is_large, over_blocks, summed
from microveil.utility.mean_errors import error_sums
from microveil.utility.moments import checked_pair, constant_attributes, means_and_variances

__all__ = [
    "SquaredErrors",
    "information_loss",
    "mean_sse",
    "mean_sse_published",
    "squared_errors",
    "sum_of_squared_errors",
]


def sum_of_squared_errors(original: Matrix, protected: Matrix) -> float:
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
    return squared_errors(original, protected).sse


def mean_sse(original: Matrix, protected: Matrix) -> float:
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
    return squared_errors(original, protected).mean_sse


def mean_sse_published(original: Matrix, protected: Matrix) -> float:
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
    return squared_errors(original, protected).mean_sse_published


def information_loss(original: Matrix, protected: Matrix) -> float:
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
    return squared_errors(original, protected).information_loss


@dataclass(frozen=True, slots=True, kw_only=True)
class SquaredErrors:
    """Every measure of information loss, of two tables gone through once.

    Attributes
    ----------
    sse : float
        As `sum_of_squared_errors`.
    mean_sse, mean_sse_published, information_loss : float
        As the functions of these names.
    """

    sse: float
    mean_sse: float
    mean_sse_published: float
    information_loss: float


def squared_errors(original: Matrix, protected: Matrix) -> SquaredErrors:
    """Take every measure of information loss, a block of records at a time.

    Parameters
    ----------
    original, protected : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        The same records in the same order; NaN is a missing cell.

    Returns
    -------
    SquaredErrors

    Raises
    ------
    DataError
        If the shapes differ, a table is empty or holds an infinite value.

    Examples
    --------
    >>> import numpy as np
    >>> found = squared_errors(np.array([[1.0], [3.0]]), np.array([[1.0], [5.0]]))
    >>> found.sse, found.mean_sse, found.information_loss
    (4.0, 1.0, 200.0)
    """
    original, protected = checked_pair(original, protected)
    varying = ~constant_attributes(original)
    if is_large(original) and is_large(protected):
        return _of_columns(original, protected, varying)
    means, variances = _means_and_variances(original, varying)

    def of_block(rows: slice) -> tuple[Any, ...]:
        before, errors = original[rows], protected[rows] - original[rows]
        present, of_varying = ~np.isnan(errors), errors[:, varying]
        compared = ~np.isnan(of_varying)
        deviations = before[:, varying] - means
        with np.errstate(over="ignore"):
            return (
                np.sum(errors**2, where=present),
                present.sum(),
                compared.sum(axis=0),
                np.nansum(of_varying**2 / variances, axis=0),
                np.nansum((of_varying / variances) ** 2, axis=0),
                np.sum(of_varying**2, axis=0, where=compared),
                np.sum(deviations**2, axis=0, where=compared),
            )

    parts = over_blocks(of_block, len(original))
    return _measured(variances, *(summed(sums) for sums in zip(*parts, strict=True)))


def _of_columns(
    original: AttributeMatrix, protected: AttributeMatrix, varying: NDArray[np.bool_]
) -> SquaredErrors:
    """Take the measures of large tables, column by column."""
    means, variances = means_and_variances(original)
    n_cells, _, squares, deviations = error_sums(original, protected, means)
    lost, variances = squares[varying], variances[varying]
    with np.errstate(over="ignore"):
        return _measured(
            variances,
            np.sum(squares),
            n_cells.sum(),
            n_cells[varying],
            lost / variances,
            lost / variances / variances,
            lost,
            deviations[varying],
        )


def _measured(
    variances: NDArray[np.float64],
    sse: np.float64,
    n_present: np.int64,
    counts: NDArray[np.int64],
    weighted: NDArray[np.float64],
    published: NDArray[np.float64],
    lost: NDArray[np.float64],
    total: NDArray[np.float64],
) -> SquaredErrors:
    """Return the measures from sums over cells, of the attributes that vary."""
    nan, has_all = float("nan"), counts.shape[0] > 0 and bool(counts.all())
    if not has_all:
        return SquaredErrors(
            sse=float(sse) if n_present else nan,
            mean_sse=nan,
            mean_sse_published=nan,
            information_loss=nan,
        )
    of_total = np.sum(total / variances)
    with np.errstate(over="ignore"):
        percent = 100.0 * np.sum(lost / variances) / of_total if of_total > 0 else nan
    return SquaredErrors(
        sse=float(sse),
        mean_sse=float(np.mean(weighted / counts)),
        mean_sse_published=float(np.mean(published / counts)) / len(counts),
        information_loss=float(percent),
    )


def _means_and_variances(
    original: Matrix, varying: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means and sample variances of the attributes that vary."""
    sums = over_blocks(lambda rows: np.nansum(original[rows][:, varying], axis=0), len(original))
    present = over_blocks(
        lambda rows: np.sum(~np.isnan(original[rows][:, varying]), axis=0), len(original)
    )
    counts = summed(present)
    means = summed(sums) / counts
    squares = over_blocks(
        lambda rows: np.nansum((original[rows][:, varying] - means) ** 2, axis=0), len(original)
    )
    return means, summed(squares) / (counts - 1)
