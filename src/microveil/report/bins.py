"""The bins that an attribute has in measured tables: what they are called, and who is in them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.report.margins import MISSING
from microveil.report.wording import number, shown
from microveil.schema import Attribute, Kind, written
from microveil.synthesis.one_way import AttributeMeasured
from microveil.synthesis.tables import Axis
from microveil.table import Table, numbers_of

__all__ = ["FROM", "AttributeBins", "bins_of"]

Float = NDArray[np.float64]
# Before the value at which a bin of cuts begins.
FROM = "≥ "
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttributeBins:
    """The bins of one attribute, in the order of its tables.

    Attributes
    ----------
    attribute : Attribute
    labels : tuple of str
    is_ordered : bool
        Whether the bins but that of missing values lie in an order.
    starts : float64 array or None
        Of cuts: where bins begin, but the first, half a step of the grid below their least value.
    groups : int64 array or None
        Of counted values: the bin of each, and last that of missing values where it has one.
    has_missing : bool
        Whether missing values have a bin.
    places : dict of int or None
        Of counted categories: the bin of each, by its name.
    """

    attribute: Attribute
    labels: tuple[str, ...]
    is_ordered: bool
    has_missing: bool
    starts: Float | None = None
    groups: Whole | None = None
    places: Mapping[str, int] | None = None

    def codes(self, table: Table) -> Whole:
        """Return the bin of each record of a table; -1 where it has none."""
        name = self.attribute.name
        if self.places is not None:
            words = np.asarray(_words(table, name))
            found, inverse = np.unique(words, return_inverse=True)
            known = [self.places.get(str(word), -1) for word in found]
            return np.array(known, dtype=np.int64)[inverse]
        values = numbers_of(table, name)
        missing = np.isnan(values)
        known_values = np.where(missing, 0.0, values)
        last = len(self.labels) - 1 if self.has_missing else -1
        if self.starts is not None:
            codes = np.searchsorted(self.starts, known_values, side="right")
        else:
            assert self.groups is not None  # noqa: S101 -- one of the two is there
            lower, upper = self.attribute.grid_bounds or (0, 0)
            units = np.rint(known_values / float(self.attribute.resolution)).astype(np.int64)
            codes = self.groups[np.clip(units, lower, upper) - lower]
        return np.where(missing, last, codes).astype(np.int64)


def bins_of(measured: AttributeMeasured, axis: Axis) -> AttributeBins:
    """Name the bins of an attribute.

    A cut inside a grid value, which is drawn with jitter, is taken to lie at its beginning.
    """
    attribute = measured.attribute
    if measured.distribution is not None:
        assert axis.edges is not None  # noqa: S101 -- made of cuts
        step = float(attribute.resolution)
        starts = np.floor(measured.distribution.candidates.positions(axis.edges)) * step
        return AttributeBins(
            attribute=attribute,
            labels=(*_stretches(starts, attribute.kind), *([MISSING] if axis.has_missing else [])),
            is_ordered=True,
            has_missing=axis.has_missing,
            starts=starts - step / 2,
        )
    assert axis.groups is not None  # noqa: S101 -- made of counts
    names = _value_names(attribute)
    if measured.has_missing:
        names.append(MISSING)
    members: list[list[str]] = [[] for _ in range(axis.n_bins)]
    for name, group in zip(names, axis.groups.tolist(), strict=True):
        members[group].append(name)
    is_text = attribute.categories is not None
    is_ordered = attribute.kind is not Kind.NOMINAL
    places = dict(zip(names, axis.groups.tolist(), strict=True)) if is_text else None
    return AttributeBins(
        attribute=attribute,
        labels=tuple(_joined(own, ordered=is_ordered) for own in members),
        is_ordered=is_ordered,
        has_missing=measured.has_missing,
        groups=axis.groups,
        places=places,
    )


def _stretches(starts: Float, kind: Kind) -> list[str]:
    """Name stretches between cuts by where they begin; the first by where it ends."""
    if not len(starts):
        return ["all values"]

    def name(value: float) -> str:
        return shown(value, kind) if kind is Kind.DATE else number(value, 5)

    names = [f"{FROM}{name(float(start))}" for start in starts]
    return [f"< {name(float(starts[0]))}", *names]


def _value_names(attribute: Attribute) -> list[str]:
    if attribute.categories is not None:
        return [str(value) or MISSING for value in attribute.categories.values]
    lower, upper = attribute.grid_bounds or (0, 0)
    if attribute.kind is Kind.BOOLEAN:
        return ["no", "yes"][lower : upper + 1]
    return [
        str(written(unit * attribute.resolution, attribute.kind))
        for unit in range(lower, upper + 1)
    ]


def _joined(names: list[str], *, ordered: bool) -> str:
    """Name a bin of several values."""
    if ordered and len(names) > 1:
        return f"{names[0]} to {names[-1]}"
    return ", ".join(names)


def _words(table: Table, name: str) -> NDArray[np.str_]:
    """Return categories as a page names them."""
    if table.kind(name).is_numeric:
        numbers = numbers_of(table, name)
        missing = np.isnan(numbers)
        words = np.where(missing, 0.0, numbers).astype(np.int64).astype(np.str_)
        return np.where(missing, MISSING, words)
    words = np.asarray(table.words(name), dtype=np.str_)
    return np.where(words == "", MISSING, words)
