"""How many records share their values of quasi-identifiers, before and after."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.opening import Opened
from microveil.measures.values import as_json
from microveil.table import Table, check_columns
from microveil.table.table import numbered_alike
from microveil.text import listed
from microveil.text.document import Block
from microveil.text.figures import figure
from microveil.text.templates import document_of

SIZES = (2, 3, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceClasses:
    """Records that are alike in quasi-identifiers (Sweeney 2002), counted."""

    n_records: int
    n_classes: int
    # Records of the smallest class, or different units: the k of k-anonymity; 0 of no record.
    smallest: int
    # For each size of 2, 3 and 5, how many records are in smaller classes.
    below: tuple[tuple[int, int], ...]
    # Whether the size of a class is the number of its units, not of its records.
    counts_units: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        found = as_json(self) | {"below": {str(size): count for size, count in self.below}}
        found["records_in_classes_under"] = found.pop("below")
        return {name: own for name, own in found.items() if own is not False}


def equivalence_classes(
    columns: Sequence[NDArray[Any]], units: NDArray[np.integer] | None = None
) -> EquivalenceClasses:
    """Count classes of equal records, missing being a value; their sizes in units if given."""
    joint = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        # NaN is equal to itself here.
        values, codes = np.unique(column, return_inverse=True)
        # Numbered anew after each column, so that no product outgrows 64 bits.
        _, joint = np.unique(joint * len(values) + codes, return_inverse=True)
    records = sizes = np.bincount(joint)
    if units is not None:
        sizes = np.bincount(np.unique(np.stack([joint, units]), axis=1)[0])
    return EquivalenceClasses(
        n_records=len(joint),
        n_classes=len(sizes),
        smallest=int(sizes.min(initial=len(joint))),
        below=tuple((size, int(records[sizes < size].sum())) for size in SIZES),
        counts_units=units is not None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Anonymity:
    """How many records share their values of quasi-identifiers, before and after."""

    quasi_identifiers: tuple[str, ...]  # those asked for, and those of them that the release has
    released: tuple[str, ...]
    original: EquivalenceClasses  # by all of them
    # Of the original and of the release, by those that the release has.
    original_in_released: EquivalenceClasses
    protected: EquivalenceClasses
    # The column whose values are counted in place of records, where it is known which records of
    # the table have which.
    unit: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {name: own for name, own in as_json(self).items() if own is not None}

    def show(self) -> tuple[Block, ...]:
        """Tabulate the counts, and say what is counted."""
        tables = {"original": self.original, "release": self.protected}
        missing = [name for name in self.quasi_identifiers if name not in self.released]
        if missing:
            tables["original, by what is released"] = self.original_in_released
        words = {"missing": missing, "figure": figure, "listed": listed}
        return document_of("measures/anonymity.jinja", found=self, tables=tables, **words).blocks


def compare_anonymity(both: Opened, quasi_identifiers: Iterable[str]) -> Anonymity | None:
    """Count records alike in quasi-identifiers, in units where the guarantee names one."""
    original, protected, guarantee = both.original, both.protected, both.guarantee
    names = tuple(dict.fromkeys(quasi_identifiers))
    if not names:
        return None
    check_columns(original, names, "original")
    there = tuple(name for name in names if name in protected.names)
    if not there:
        check_columns(protected, names, "protected")
    unit = None if guarantee is None else guarantee.unit.column
    units = None
    if unit is not None and unit in original.names:
        units = numbered_alike(original, unit)[0]

    def classes(
        table: Table, names: Iterable[str], *, has_units: bool = True
    ) -> EquivalenceClasses:
        known = [_as_known(table, name) for name in names]
        return equivalence_classes(known, units if has_units else None)

    return Anonymity(
        unit=None if units is None else unit,
        quasi_identifiers=names,
        released=there,
        original=classes(original, names),
        original_in_released=classes(original, there),
        protected=classes(protected, there, has_units=both.paired),
    )


def _as_known(table: Table, name: str) -> NDArray[Any]:
    """Return a column as an intruder compares it: exactly, and missing as a value of its own."""
    if not table.kind(name).is_numeric:
        return table.words(name)
    numbers = table.numbers(name)
    if numbers.missing is None:
        return numbers.values
    values, codes = np.unique(numbers.values, return_inverse=True)
    return np.where(numbers.missing, len(values), codes)
