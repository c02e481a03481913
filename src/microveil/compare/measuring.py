"""What every run is measured by: information loss and record linkage.

The same figures as those of `assess` under the same names, without what a comparison does not
show: see `microveil.utility.information_loss` and `microveil.risk.record_linkage`.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microveil.risk.record_linkage import (
    record_linkage,
    record_linkage_by_rank,
    record_linkage_standardised,
)
from microveil.table import Numbers
from microveil.utility.information_loss import (
    information_loss,
    mean_sse,
    mean_sse_published,
    sum_of_squared_errors,
)

__all__ = ["CHANCE", "LOSS", "LOSSES", "MEASURES", "RISKS", "matrix_of", "measured"]

Matrix = NDArray[np.float64]

LOSSES = {
    "sse": sum_of_squared_errors,
    "mean_sse": mean_sse,
    "mean_sse_published": mean_sse_published,
    "information_loss": information_loss,
}
LINKAGES = {
    "record_linkage": record_linkage,
    "record_linkage_standardised": record_linkage_standardised,
    "record_linkage_by_rank": record_linkage_by_rank,
}
CHANCE = "record_linkage_by_chance"
# The one loss that a map shows, and the risks it is held against; both in percent.
LOSS = "information_loss"
RISKS = tuple(LINKAGES)
MEASURES = (*LOSSES, *LINKAGES)


def measured(
    original: Matrix, protected: Matrix, *, linkage: bool = True
) -> dict[str, float | None]:
    """Measure one run.

    Parameters
    ----------
    original, protected : float64 arrays (n_records, n_attributes)
        NaN is a missing cell. Losses take the cells present in both, linkage the records
        complete in both.
    linkage : bool
        Whether records are linked.

    Returns
    -------
    dict
        Each measure, and the linkage by chance; None where there is nothing to measure.

    Raises
    ------
    DataError
        If a value is beyond 1e140 in size.

    Notes
    -----
    That of record linkage: near O(n log n) for up to ten or so attributes.

    Examples
    --------
    >>> before = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> figures = measured(before, np.array([[1.5], [1.5], [3.5], [3.5]]))
    >>> figures["information_loss"], figures["record_linkage"]
    (20.0, 50.0)
    """
    figures: dict[str, float | None] = {
        name: _defined(measure(original, protected)) for name, measure in LOSSES.items()
    }
    if not linkage:
        return figures
    missing = np.isnan(original) | np.isnan(protected)
    complete = np.asarray(~missing.any(axis=1))
    n_linked = int(np.count_nonzero(complete))
    whole = n_linked == len(complete)
    before, after = (m if whole else m[complete] for m in (original, protected))
    for name, measure in LINKAGES.items():
        figures[name] = measure(before, after).percent if n_linked else None
    figures[CHANCE] = 100.0 / n_linked if n_linked else None
    return figures


def matrix_of(columns: Sequence[Numbers]) -> Matrix:
    """Return columns side by side, (n_records, n_attributes), NaN where missing."""
    matrix = np.column_stack([column.values.astype(np.float64) for column in columns])
    for a, column in enumerate(columns):
        if column.missing is not None:
            matrix[column.missing, a] = np.nan
    return matrix


def _defined(figure: float) -> float | None:
    return None if math.isnan(figure) else figure
