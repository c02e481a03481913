"""The figures of a run: every measure that is compared, of the original and what was drawn.

The same figures as those of `assess` under the same names.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from microveil.measures.measuring import Attempt, measured
from microveil.measures.registry import By, Measure
from microveil.measures.tables import Tables
from microveil.schema import Attribute
from microveil.table import Numbers

__all__ = ["Figures", "Matrix", "Records", "figures_of", "matrix_of", "records_of"]

Matrix = NDArray[np.float64]
Figures = dict[str, float | None]
Codes = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Records:
    """The records of a table as runs are measured by them: the original's, or a release's.

    Attributes
    ----------
    numbers : float64 array (n_records, n_attributes)
        Of the attributes that are numbers, or categories in an order; NaN where missing.
    codes : dict of intp arrays (n_records,)
        Of those in no order: positions in their lists, the one behind the last where missing.
    has_pairs : bool
        Whether each record stands where its person does in the original.
    columns : dict of Numbers
        As released, where there are no pairs.
    """

    numbers: Matrix
    codes: Mapping[str, Codes]
    has_pairs: bool
    columns: Mapping[str, Numbers] = field(default_factory=dict)


def figures_of(
    tables: Tables, measures: Iterable[Measure], attempt: Attempt | None = None
) -> Figures:
    """Measure one run by what there is one figure of.

    Parameters
    ----------
    tables : Tables
        The original, and what was drawn.
    measures : iterable of Measure
    attempt : callable, optional
        As for `microveil.measures.measuring.measured`.

    Returns
    -------
    dict
        By id; None where there is nothing to measure.

    Raises
    ------
    DataError
        If a value is beyond 1e140 in size.

    Examples
    --------
    >>> from microveil.measures.registry import MEASURES
    >>> before, after = np.array([[1.0], [2.0], [3.0]]), np.array([[1.5], [1.5], [3.0]])
    >>> tables = Tables(names=("AGE",), original=before, protected=after)
    >>> figures_of(tables, [MEASURES["information_loss"]])
    {'information_loss': 25.0}
    """
    found = measured(tables, [one for one in measures if one.by is By.TABLE], attempt)
    return {
        name: None if one.figure is None else _defined(one.measure, one.figure.value)
        for name, one in found.items()
    }


def matrix_of(columns: Sequence[Numbers]) -> Matrix:
    """Return columns side by side, (n_records, n_attributes), NaN where missing."""
    matrix = np.column_stack([column.values.astype(np.float64) for column in columns])
    for a, column in enumerate(columns):
        if column.missing is not None:
            matrix[column.missing, a] = np.nan
    return matrix


def records_of(cells: Mapping[Attribute, Numbers], *, has_pairs: bool) -> Records:
    """Divide columns into those that are numbers or ranks, and those that are codes.

    Parameters
    ----------
    cells : dict of Numbers
        By attribute; of categories their positions.
    has_pairs : bool
    """
    numbers = [column for one, column in cells.items() if one.kind.is_ranked]
    n_records = len(next(iter(cells.values())).values)
    return Records(
        numbers=matrix_of(numbers) if numbers else np.empty((n_records, 0)),
        codes={
            one.name: _codes(one, column) for one, column in cells.items() if not one.kind.is_ranked
        },
        has_pairs=has_pairs,
    )


def _codes(attribute: Attribute, column: Numbers) -> Codes:
    """Give records without a value the code behind the last."""
    codes = column.values.astype(np.intp)
    if column.missing is None or attribute.categories is None:
        return codes
    return np.where(column.missing, attribute.categories.n_categories, codes)


def _defined(measure: Measure, value: float) -> float | None:
    may_be_infinite = measure.compared is not None and not measure.compared.counted
    return value if math.isfinite(value) or (may_be_infinite and not math.isnan(value)) else None
