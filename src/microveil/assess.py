"""The second verb: what a protected table lost, and what an intruder could still link."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.assessment import Assessment, assess_matrices
from microveil.errors import DataError, RequestError, stands_alone
from microveil.table import Table, open_table
from microveil.utility.categories import CategoryComparison, compare_categories

__all__ = ["assess"]

MOST_CATEGORIES = 1000


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
        By default every numeric attribute that both tables have, and every text attribute
        of at most 1000 categories where the records correspond.
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
    for table, side in zip(tables, ("original", "protected"), strict=True):
        _check_columns(table, names, side)
    texts = [name for name in names if not tables[0].kind(name).is_numeric] if paired else []
    numeric = [name for name in names if name not in texts]
    if not numeric:
        raise DataError(
            "tables",
            "they have no numeric attribute in common to compare",
            "pass a table and its release, or keep a number to go with the categories",
        )
    before, after = (
        np.column_stack([_column(table, name) for name in numeric]) for table in tables
    )
    measured = assess_matrices(before, after, numeric, paired=paired, k=k)
    compared = {name: found for name in texts if (found := _categories(*tables, name)) is not None}
    left_out = [name for name in tables[0].names if name not in (*numeric, *compared)]
    return replace(measured, left_out=tuple(left_out), categories=compared)


def _categories(original: Table, protected: Table, name: str) -> CategoryComparison | None:
    """Compare a text attribute; None where it is no text or has too many categories."""
    try:
        words = [table.words(name) for table in (original, protected)]
    except DataError:
        return None
    if len(words[0]) != len(words[1]):
        return None  # told by the measures of the numeric attributes
    categories = sorted({*words[0].tolist(), *words[1].tolist()})
    if len(categories) > MOST_CATEGORIES:
        return None
    codes = [np.searchsorted(categories, column) for column in words]
    return compare_categories(codes[0], codes[1], categories)


def _common(original: Table, protected: Table) -> list[str]:
    return [
        name
        for name in original.names
        if name in protected.names
        and original.kind(name).is_numeric == protected.kind(name).is_numeric
    ]


def _named(attributes: Iterable[str]) -> list[str]:
    return [attributes] if isinstance(attributes, str) else list(attributes)


def _check_columns(table: Table, names: list[str], side: str) -> None:
    for name in names:
        if name not in table.names:
            raise RequestError(
                f"column '{name}'",
                f"the {side} table has no such column",
                f"choose from {', '.join(table.names)}",
            )


def _column(table: Table, name: str) -> NDArray[np.float64]:
    numbers = table.numbers(name)
    values = numbers.values.astype(np.float64)
    if numbers.missing is not None:
        values[numbers.missing] = np.nan
    return values
