"""Record linkage over numbers and categories at once, being without a value among them.

As `record_linkage`, but every attribute takes part and so does every record. An attribute's
squared difference counts by its mean over all pairs of originals: numbers in standard deviations of
the original, categories equal or not. Records that lack a value are alike in it; one that lacks it
lies as far from every value as two originals' values lie from each other on average; of
categories being without one is one more category. By the same distance MDAV clusters mixed records
(Domingo-Ferrer and Torra 2005).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.risk.distances import category_weight, reciprocal_variances
from microveil.risk.record_linkage import RecordLinkage, Scale, linked
from microveil.risk.sampling import Sample
from microveil.table.blocks import AttributeMatrix
from microveil.table.restore import Numbers

__all__ = ["record_linkage_mixed"]


def record_linkage_mixed(
    original: Sequence[NDArray[np.float64]] | AttributeMatrix,
    protected: Sequence[NDArray[np.float64]] | AttributeMatrix,
    is_category: Sequence[bool] | NDArray[np.bool_],
    *,
    sample: Sample | None = None,
) -> RecordLinkage:
    """Measure record linkage over records of numbers, ranks and categories.

    Parameters
    ----------
    original, protected : sequence of float64 arrays (n_records,), or AttributeMatrix
        By attribute, the same records in the same order; NaN where a value is missing. Categories
        are whole numbers, the same for the same category in both.
    is_category : sequence of bool
        Which attributes are equal or not.
    sample : Sample, optional
        The protected records to link, each against all originals; by default all of up to 50,000,
        and of more 10,000, always the same.

    Returns
    -------
    RecordLinkage
        Percentage of right links, with its baseline and interval.

    Raises
    ------
    DataError
        If the tables have not the same attributes and records, or none.

    Notes
    -----
    Memory of a sample beyond the tables is that of blocks of originals. Time is near O(n log n)
    where the true originals are near, or few are sampled; where noise puts many originals within
    the distance of the true one, up to O(n_sampled n_records) vectorised steps, of which most look
    at an attribute or two.

    Examples
    --------
    >>> ages, regions = np.array([20.0, 40.0, np.nan]), np.array([0.0, 0.0, 1.0])
    >>> record_linkage_mixed([ages, regions], [ages, regions], [False, True]).percent
    100.0
    >>> record_linkage_mixed([ages, regions], [ages * 0, regions], [False, True]).percent
    66.66666666666667
    """
    before, after = _as_matrix(original), _as_matrix(protected)
    if before is None or after is None or before.shape != after.shape or 0 in before.shape:
        raise DataError(
            "original and protected data",
            "both must have the same attributes and records, and some of each",
            "pass the same records and attributes in the same order",
        )
    categorical = np.asarray(is_category, dtype=np.bool_)
    scale = _scale(before, categorical)
    chosen = (sample or Sample()).positions(len(before))
    return linked(before, after, chosen, scale)


def _as_matrix(
    table: Sequence[NDArray[np.float64]] | AttributeMatrix,
) -> AttributeMatrix | None:
    """Return columns side by side; None where they are not of one length, or there are none."""
    if isinstance(table, AttributeMatrix):
        return table
    if len({len(column) for column in table}) != 1:
        return None
    return AttributeMatrix(numbers=[Numbers(values=column, missing=None) for column in table])


def _scale(original: AttributeMatrix, is_category: NDArray[np.bool_]) -> Scale:
    """Weigh differences by the original's figures; a constant attribute counts as nothing."""
    weights, gaps = np.zeros(len(is_category)), np.zeros(len(is_category))
    for a, values in enumerate(original.T):
        missing = np.isnan(values)
        if is_category[a]:
            weights[a] = category_weight(np.where(missing, -1.0, values))
            continue
        present = values[~missing, np.newaxis]
        if len(present):
            weights[a] = reciprocal_variances(present)[0]
            gaps[a] = 2 * ((len(present) - 1) / len(present))
    return Scale(is_category=is_category, weights=weights, gaps=gaps)
