"""The second verb: what a protected table lost, and what an intruder could still link."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.assessment import Assessment, assess_matrices
from microveil.errors import DataError, RequestError, stands_alone
from microveil.table import Table, open_table

__all__ = ["assess"]


@stands_alone
def assess(
    original: Any,
    protected: Any,
    attributes: Iterable[str] | None = None,
    *,
    paired: bool = True,
    k: int | None = None,
) -> Assessment:
    """Measure what protecting a table cost and what an intruder could still link.

    Works on any two tables of the same people, also another tool's output.

    Parameters
    ----------
    original, protected : pandas.DataFrame, polars.DataFrame, pyarrow.Table or dict of arrays
        The table before and after, record by record.
    attributes : sequence of str, optional
        By default every numeric attribute that both tables have.
    paired : bool
        False for a shuffled release: only what needs no pairing is measured.
    k : int, optional
        Count neighbours too, within the intervals that hold k originals (KNOISE).

    Returns
    -------
    Assessment
        For the custodian: it shows means and variances of the original.

    Raises
    ------
    MicroveilError
        If the tables have different lengths, or an attribute is missing or not numeric.

    Notes
    -----
    O(n log n) time for up to ten or so attributes, O(n) memory.

    Examples
    --------
    >>> before = {"AGE": np.array([20, 30, 40, 50])}
    >>> assess(before, {"AGE": np.array([25, 25, 45, 45])}).to_dict()["sse"]
    100.0
    """
    tables = open_table(original), open_table(protected)
    names = _common(*tables) if attributes is None else _named(attributes)
    left_out = [name for name in tables[0].names if name not in names]
    before, after = (
        np.column_stack([_column(table, name, side) for name in names])
        for table, side in zip(tables, ("original", "protected"), strict=True)
    )
    measured = assess_matrices(before, after, names, paired=paired, k=k)
    return replace(measured, left_out=tuple(left_out))


def _common(original: Table, protected: Table) -> list[str]:
    names = [
        name
        for name in original.names
        if name in protected.names
        and original.kind(name).is_numeric
        and protected.kind(name).is_numeric
    ]
    if not names:
        raise DataError(
            "tables", "they have no numeric attribute in common", "pass a table and its release"
        )
    return names


def _named(attributes: Iterable[str]) -> list[str]:
    return [attributes] if isinstance(attributes, str) else list(attributes)


def _column(table: Table, name: str, side: str) -> NDArray[np.float64]:
    if name not in table.names:
        raise RequestError(
            f"column '{name}'",
            f"the {side} table has no such column",
            f"choose from {', '.join(table.names)}",
        )
    numbers = table.numbers(name)
    values = numbers.values.astype(np.float64)
    if numbers.missing is not None:
        values[numbers.missing] = np.nan
    return values
