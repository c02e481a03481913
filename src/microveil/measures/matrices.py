"""Two matrices, before and after, assessed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from microveil.errors import DataError, RequestError
from microveil.measures.assessment import Assessment
from microveil.measures.measuring import measured
from microveil.measures.tables import Tables
from microveil.table.blocks import (
    LARGEST_VALUE,
    AttributeMatrix,
    Matrix,
    lacks_some,
    largest_of,
    over_blocks,
    varying,
)

__all__ = ["assess_matrices"]


def assess_matrices(
    original: ArrayLike | AttributeMatrix,
    protected: ArrayLike | AttributeMatrix,
    names: Sequence[str],
    *,
    paired: bool = True,
    **more: Any,
) -> Assessment:
    """Take every measure that two matrices allow.

    Parameters
    ----------
    original, protected : array_like or AttributeMatrix, shape (n_records, n_attributes)
        The two tables; NaN is a missing cell. Without pairs they may differ in their records'
        number; without attributes there must be some of text among ``more``.
    names : sequence of str
        Names of the attributes, in the order of the columns.
    paired : bool, default True
        Whether a record is in the same position in both. Where it is not, as in a
        shuffled or synthetic release, what needs that is left out.
    **more
        What else there is of the tables, as `Tables` takes it; record linkage is asked for if
        nothing else is said.

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
    if not names and not more.get("texts"):
        raise DataError(
            "tables",
            "they have no attribute in common to compare",
            "pass a table and its release, whose columns have the same names",
        )
    before, after = (
        _checked(matrix, place) if names else np.asarray(matrix, dtype=np.float64)
        for matrix, place in ((original, "original data"), (protected, "protected data"))
    )
    if before.shape[1] != after.shape[1] or (paired and len(before) != len(after)):
        raise DataError(
            "original and protected data",
            "both must have the same attributes, and the same records if they are paired",
            "pass tables of the same shape",
        )
    if len(names) != before.shape[1] or len(set(names)) != len(names):
        raise RequestError(
            "names",
            "every attribute must have one name of its own",
            "pass as many different names as the data have columns",
        )
    more["asked"] = {"linkage": True, "unpaired": not paired, **more.get("asked", {})}
    tables = Tables(names=tuple(names), original=before, protected=after, paired=paired, **more)
    n_cells, n_complete = _present(before, after) if paired else (0, 0)
    constant = ~varying(before) if names else np.empty(0, dtype=np.bool_)
    return Assessment(
        n_records=len(before),
        n_protected=len(after),
        attributes=tuple(names),
        text_attributes=tuple(more.get("texts", ())),
        constant_attributes=tuple(np.asarray(names, dtype=object)[constant]),
        paired=paired,
        n_cells_compared=n_cells,
        n_records_complete=n_complete,
        measured=measured(tables),
    )


def _checked(matrix: ArrayLike | AttributeMatrix, place: str) -> Matrix:
    """Return a matrix that the measures can work with."""
    checked: Matrix
    if isinstance(matrix, AttributeMatrix):
        checked = matrix
    else:
        checked = np.asarray(matrix, dtype=np.float64)
    if len(checked.shape) != 2 or 0 in checked.shape:
        raise DataError(
            place,
            "the data must be a matrix with at least one record and one attribute",
            "pass an array of shape (n_records, n_attributes)",
        )
    if largest_of(checked) > LARGEST_VALUE:
        raise DataError(
            place,
            "values must be finite and at most 1e140 in size",
            "leave such records out, or mark the cells as missing",
        )
    return checked


def _present(before: Matrix, after: Matrix) -> tuple[int, int]:
    """Count the cells that both have, and the records of which both have every cell."""
    if not (lacks_some(before) or lacks_some(after)):
        return before.size, len(before)

    def of_block(rows: slice) -> tuple[int, int]:
        cells = ~(np.isnan(before[rows]) | np.isnan(after[rows]))
        return int(cells.sum()), int(cells.all(axis=1).sum())

    n_cells, n_complete = zip(*over_blocks(of_block, len(before)), strict=True)
    return sum(n_cells), sum(n_complete)
