"""The measured pairs of attributes, with the shares of each side in their bins."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from microveil.report.bins import AttributeBins, bins_of
from microveil.report.margins import Known, is_declared
from microveil.synthesis.fitting import MeasuredPair, measured_pairs
from microveil.synthesis.tables import axes_of
from microveil.table import Table

__all__ = ["Edge", "MeasuredTables", "PairTable", "measured_tables"]

Float = NDArray[np.float64]
Side = Literal["original", "protected"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Edge:
    """Two attributes whose dependence was measured.

    Attributes
    ----------
    names : (str, str)
    strength : float
        From 0, independent, to 1.
    shape : (int, int)
        How many bins each has.
    half_width : float
        Of the interval of the share of records in one cell.
    """

    names: tuple[str, str]
    strength: float
    shape: tuple[int, int]
    half_width: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairTable:
    """The table of two attributes.

    Attributes
    ----------
    bins : (AttributeBins, AttributeBins)
    half_width : float
    measured : float64 array (n_first, n_second)
        Shares as they were measured, with their noise.
    shares : dict of float64 array (n_first, n_second)
        Of the records of each side: "original", where it may be shown, and "protected".
    """

    bins: tuple[AttributeBins, AttributeBins]
    half_width: float
    measured: Float
    shares: Mapping[Side, Float]

    @property
    def names(self) -> tuple[str, str]:
        """The two attributes."""
        first, second = self.bins
        return first.attribute.name, second.attribute.name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredTables:
    """The graph of the pairs that were measured, and the tables of the strongest.

    Attributes
    ----------
    confidence : float
        Of intervals.
    attributes : tuple of str
        Those with an edge, in the order of the guarantee.
    edges : tuple of Edge
        The strongest first.
    tables : tuple of PairTable
        Of as many of these as are drawn.
    """

    confidence: float
    attributes: tuple[str, ...]
    edges: tuple[Edge, ...]
    tables: tuple[PairTable, ...]


def measured_tables(
    known: Known | None, protected: Table, original: Table | None, most: int
) -> MeasuredTables | None:
    """Return the measured pairs of a new table; None where no pair was measured.

    Parameters
    ----------
    known : Known or None
    protected : Table
    original : Table or None
        None for a page to be published: then pairs alone of attributes are there whose domain
        and grid were declared.
    most : int
        How many tables to draw.
    """
    if known is None:
        return None
    measurements, margins = known.measurements, known.margins
    attributes = [measured.attribute for measured in measurements.attributes]
    pairs = [
        pair
        for pair in measured_pairs(measurements)
        if original is not None or all(is_declared(attributes[one]) for one in pair.positions)
    ]
    if not pairs:
        return None
    names = [attribute.name for attribute in attributes]
    half_widths = [
        margins.pairs[tuple(names[one] for one in pair.scope)] * math.sqrt(pair.n_summed)
        for pair in pairs
    ]
    axes = axes_of(measurements)
    bins = [bins_of(*both) for both in zip(measurements.attributes, axes, strict=True)]
    sides: dict[Side, Table] = {} if original is None else {"original": original}
    sides["protected"] = protected
    return MeasuredTables(
        confidence=margins.confidence,
        attributes=tuple(
            names[one] for one in sorted({one for pair in pairs for one in pair.positions})
        ),
        edges=tuple(
            Edge(
                names=(names[pair.positions[0]], names[pair.positions[1]]),
                strength=pair.strength,
                shape=(pair.shares.shape[0], pair.shares.shape[1]),
                half_width=half_width,
            )
            for pair, half_width in zip(pairs, half_widths, strict=True)
        ),
        tables=tuple(
            _table(pair, half_width, bins, sides)
            for pair, half_width in zip(pairs[:most], half_widths, strict=False)
        ),
    )


def _table(
    pair: MeasuredPair,
    half_width: float,
    bins: Sequence[AttributeBins],
    sides: Mapping[Side, Table],
) -> PairTable:
    first, second = (bins[one] for one in pair.positions)
    return PairTable(
        bins=(first, second),
        half_width=half_width,
        measured=pair.noisy,
        shares={side: _counted(first, second, table) for side, table in sides.items()},
    )


def _counted(first: AttributeBins, second: AttributeBins, table: Table) -> Float:
    """Return the shares of a table's records in the bins of two attributes."""
    shape = len(first.labels), len(second.labels)
    rows, columns = first.codes(table), second.codes(table)
    inside = (rows >= 0) & (columns >= 0)
    counts = np.bincount(
        rows[inside] * shape[1] + columns[inside], minlength=shape[0] * shape[1]
    ).reshape(shape)
    return np.asarray(counts / max(1, table.n_records), dtype=np.float64)
