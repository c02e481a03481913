"""k-anonymity of any table: how many records share their values of given attributes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["EquivalenceClasses", "equivalence_classes"]

SIZES = (2, 3, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceClasses:
    """Records that are alike in quasi-identifiers (Sweeney 2002), counted.

    Attributes
    ----------
    n_records, n_classes : int
    smallest : int
        Records of the smallest class, or different units: the k of k-anonymity; 0 of no record.
    below : tuple of (int, int)
        For each size of 2, 3 and 5, how many records are in smaller classes.
    counts_units : bool
        Whether the size of a class is the number of its units, not of its records.
    """

    n_records: int
    n_classes: int
    smallest: int
    below: tuple[tuple[int, int], ...]
    counts_units: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {
            "n_records": self.n_records,
            "n_classes": self.n_classes,
            "smallest": self.smallest,
            "records_in_classes_under": {str(size): count for size, count in self.below},
            **({"counts_units": True} if self.counts_units else {}),
        }


def equivalence_classes(
    columns: Sequence[NDArray[Any]], units: NDArray[np.integer] | None = None
) -> EquivalenceClasses:
    """Count the classes of records that are equal in every column.

    Parameters
    ----------
    columns : sequence of arrays (n_records,)
        Numbers, NaN where missing, or text, "" where missing. Being without a value is a value
        like another: two records that lack the same one are alike in it.
    units : integer array (n_records,), optional
        Whose records they are: a class is then as large as it has different units.

    Notes
    -----
    O(n log n) for each column.

    Examples
    --------
    >>> equivalence_classes([np.array([30, 30, 41]), np.array(["f", "f", "m"])]).to_dict()
    ... # doctest: +NORMALIZE_WHITESPACE
    {'n_records': 3, 'n_classes': 2, 'smallest': 1,
     'records_in_classes_under': {'2': 1, '3': 3, '5': 3}}
    """
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        # NaN is equal to itself here.
        values, codes = np.unique(column, return_inverse=True)
        # Numbered anew after each column, so that no product outgrows 64 bits.
        _, joint = np.unique(joint * len(values) + codes, return_inverse=True)
    records = np.bincount(joint)
    sizes = records
    if units is not None:
        sizes = np.bincount(np.unique(np.stack([joint, units]), axis=1)[0])
    return EquivalenceClasses(
        n_records=len(joint),
        n_classes=len(sizes),
        smallest=int(sizes.min(initial=len(joint))),
        below=tuple((size, int(records[sizes < size].sum())) for size in SIZES),
        counts_units=units is not None,
    )
