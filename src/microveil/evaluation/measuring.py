"""Two matrices of the same people, measured."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError, RequestError
from microveil.evaluation.assessment import Assessment, PairedMeasures
from microveil.partition import intervals
from microveil.risk.neighbourhoods import Neighbourhoods, neighbourhoods
from microveil.risk.record_linkage import (
    RecordLinkage,
    record_linkage,
    record_linkage_by_rank,
    record_linkage_standardised,
)
from microveil.utility.goodness_of_fit import goodness_of_fit
from microveil.utility.information_loss import (
    information_loss,
    mean_sse,
    mean_sse_published,
    sum_of_squared_errors,
)
from microveil.utility.mean_errors import mean_errors
from microveil.utility.moments import checked_matrix, compare_moments, constant_attributes

__all__ = ["assess_matrices"]


def assess_matrices(
    original: ArrayLike,
    protected: ArrayLike,
    names: Sequence[str],
    *,
    paired: bool = True,
    k: int | None = None,
) -> Assessment:
    """Measure information loss and record linkage of a protected matrix.

    Parameters
    ----------
    original, protected : array_like, shape (n_records, n_attributes)
        The two tables; NaN is a missing cell.
    names : sequence of str
        Names of the attributes, in the order of the columns.
    paired : bool, default True
        Whether a record is in the same position in both. Where it is not, as in a
        shuffled release, only moments and correlations are compared.
    k : int, optional
        Count neighbours within the intervals that hold k originals.

    Returns
    -------
    Assessment
        Measures that pair cells use the cells present in both tables; linkage uses the
        records complete in both, their ranks and standard deviations included.

    Raises
    ------
    DataError
        If the shapes differ, a table is empty or holds an infinite value.
    RequestError
        If there is not one different name for each attribute.

    Examples
    --------
    >>> import numpy as np
    >>> original = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> figures = assess_matrices(original, [[1.5], [1.5], [3.5], [3.5]], ["age"]).to_dict()
    >>> figures["information_loss"], figures["record_linkage"]
    (20.0, 50.0)
    """
    before = checked_matrix(original, "original data")
    after = checked_matrix(protected, "protected data")
    if before.shape != after.shape:
        raise DataError(
            "original and protected data",
            "both must have the same records and attributes",
            "pass tables of the same shape",
        )
    if len(names) != before.shape[1] or len(set(names)) != len(names):
        raise RequestError(
            "names",
            "every attribute must have one name of its own",
            "pass as many different names as the data have columns",
        )
    constant = constant_attributes(before)
    return Assessment(
        n_records=before.shape[0],
        attributes=tuple(names),
        constant_attributes=tuple(np.asarray(names, dtype=object)[constant]),
        moments=compare_moments(before, after),
        fits=tuple(goodness_of_fit(x, y) for x, y in zip(before.T, after.T, strict=True)),
        paired=_paired_measures(before, after) if paired else None,
        neighbourhoods=None if k is None else _neighbourhoods(before, after, names, k),
    )


def _neighbourhoods(
    original: NDArray[np.float64], protected: NDArray[np.float64], names: Sequence[str], k: int
) -> dict[str, Neighbourhoods]:
    """Count neighbours of each attribute that varies, within the intervals of KNOISE."""
    counted = {}
    for name, before, after in zip(names, original.T, protected.T, strict=True):
        values = before[~np.isnan(before)]
        if len(values) >= k and np.ptp(values) > 0:
            counted[name] = neighbourhoods(
                values,
                delta=intervals(values, k=k).delta,
                k=k,
                protected=after[~np.isnan(after)],
            )
    return counted


def _paired_measures(
    original: NDArray[np.float64], protected: NDArray[np.float64]
) -> PairedMeasures:
    """Measure what needs records in the same order."""
    present = ~(np.isnan(original) | np.isnan(protected))
    complete = present.all(axis=1)
    linkage_forms: dict[str, Callable[..., RecordLinkage]] = {
        "record_linkage": record_linkage,
        "record_linkage_standardised": record_linkage_standardised,
        "record_linkage_by_rank": record_linkage_by_rank,
    }
    originals, protecteds = original[complete], protected[complete]
    return PairedMeasures(
        sse=sum_of_squared_errors(original, protected),
        mean_sse=mean_sse(original, protected),
        mean_sse_published=mean_sse_published(original, protected),
        information_loss=information_loss(original, protected),
        n_cells_compared=int(present.sum()),
        n_records_complete=int(complete.sum()),
        errors=mean_errors(original, protected),
        linkage={
            name: link(originals, protecteds) if complete.any() else None
            for name, link in linkage_forms.items()
        },
    )
