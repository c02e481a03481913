"""The bins that peers are given, and values for the bins that they draw."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

import microveil as mv
from microveil.noise.noise import RandomSource
from microveil.protect.exact_audit import accounted_of
from microveil.protect.plan import Plan
from microveil.schema import Attribute
from microveil.synthesis.generation import masses_inside, systematic
from microveil.synthesis.measuring import Counter
from microveil.synthesis.one_way import AttributeMeasured
from microveil.synthesis.tables import Axis, axis_at, bin_masses
from microveil.table import Numbers
from microveil.table.table import rebuilt, restored

BINS = 10

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# From the bin of each record to its value, in grid units, and to whether it has none.
Values = tuple[Whole, NDArray[np.bool_] | None]
Writer = Callable[[Whole, np.random.Generator], Values]


@dataclass(frozen=True, kw_only=True)
class Bins:
    """A table in bins.

    Attributes
    ----------
    planned : Plan
        Of `dp-synthetic`, for its columns on their grids.
    codes : dict of int64 array (n_records,)
        By attribute the bin of each record.
    sizes : dict of int
        By attribute the number of bins.
    writers : dict of Writer
    share : Fraction
        Of the budget: what is left for the peer.
    known : dict of (list of float, list of float)
        By attribute counts that are measured, and the standard deviations of their noise.
    attributes : list of Attribute
        With the domains that were learnt.
    """

    planned: Plan
    codes: Mapping[str, Whole]
    sizes: Mapping[str, int]
    writers: Mapping[str, Writer]
    share: Fraction = Fraction(1)
    known: Mapping[str, tuple[list[float], list[float]]] = field(default_factory=dict)
    attributes: Sequence[Attribute] = ()

    def table(self, drawn: polars.DataFrame) -> polars.DataFrame:
        """Give the bins that a peer drew values."""
        generator = np.random.default_rng()
        columns, own = {}, self.planned.table
        for attribute in self.attributes:
            name, categories = attribute.name, attribute.categories
            codes = drawn[name].to_numpy().astype(np.int64)
            units, missing = self.writers[name](codes, generator)
            values = attribute.from_grid(units)
            words = None if categories is None else categories.words
            numbers = Numbers(values=values, missing=missing, categories=words)
            columns[name] = restored(own, name, numbers)
        return rebuilt(own, columns, ())


def equal_width(table: polars.DataFrame, asked: dict[str, Any]) -> Bins:
    """Put numbers into bins of equal width over their domains; categories stay as they are."""
    planned = mv.plan(table, **asked)
    codes, sizes, writers = {}, {}, {}
    for part, column in zip(planned.synthetic.attributes, planned.prepared.columns, strict=True):
        lower, upper = part.attribute.grid_bounds
        number = BINS if part.attribute.categories is None else upper - lower + 1
        ends = np.linspace(lower, upper + 1, number + 1)
        name = part.attribute.name
        codes[name] = np.searchsorted(ends[1:-1], column.values, side="right")
        sizes[name], writers[name] = number, partial(_uniform, ends)
    attributes = [part.attribute for part in planned.synthetic.attributes]
    return Bins(planned=planned, codes=codes, sizes=sizes, writers=writers, attributes=attributes)


def own_cuts(table: polars.DataFrame, asked: dict[str, Any]) -> Bins:
    """Spend the shares of the attributes by themselves, and take the bins of our own tables."""
    planned = mv.plan(table, **asked)
    counter = Counter([*planned.prepared.columns])
    codes, sizes, writers, known, attributes = {}, {}, {}, {}, []
    streams = RandomSource.system().spawn(len(planned.synthetic.attributes))
    for number, part in enumerate(planned.synthetic.attributes):
        measured, places = part.measured(counter, number, streams[number])
        axis = axis_at(number, measured, planned.synthetic.tables.parts, {})
        name = part.attribute.name
        attributes.append(measured.attribute)
        counter.set_bins(number, axis, places)
        codes[name], _ = counter.bins[number]
        sizes[name] = axis.n_bins
        counts = bin_masses(number, axis, measured, {}, len(table)) * len(table)
        known[name] = counts.tolist(), _deviations(measured, axis).tolist()
        writers[name] = partial(_by_rank if axis.groups is None else _by_counts, measured, axis)
    accounted = accounted_of(planned)
    return Bins(
        planned=planned,
        codes=codes,
        sizes=sizes,
        writers=writers,
        share=(accounted.choices + accounted.tables) / accounted.total,
        known=known,
        attributes=attributes,
    )


def _deviations(measured: AttributeMeasured, axis: Axis) -> Real:
    """Say how far the counts of bins may be off, in standard deviations.

    The rank of a cut is off by a two-sided geometric law whose rate is that of its level.
    """
    if measured.cells is not None:
        return np.full(axis.n_bins, math.sqrt(measured.cells.counts.variance))
    if measured.cuts is not None:
        return np.full(axis.n_bins, math.sqrt(2) / measured.rates[-1])
    return np.sqrt(measured.levels.variance * np.bincount(axis.groups))


def _uniform(ends: Real, codes: Whole, generator: np.random.Generator) -> Values:
    """Draw values evenly between the ends of each record's bin."""
    return np.floor(generator.uniform(ends[codes], ends[codes + 1])).astype(np.int64), None


def _by_rank(
    measured: AttributeMeasured, axis: Axis, codes: Whole, generator: np.random.Generator
) -> Values:
    """Spread ranks evenly and map them by the quantile function, as those of our records are."""
    missing = codes == axis.n_bins - 1 if axis.has_missing else np.zeros(len(codes), np.bool_)
    units, own = np.zeros(len(codes), np.int64), codes[~missing]
    ranks = np.argsort(np.argsort(generator.uniform(axis.ends[own], axis.ends[own + 1])))
    units[~missing] = measured.distribution.quantiles.at((ranks + 0.5) / max(len(ranks), 1))
    return units, missing if axis.has_missing else None


def _by_counts(
    measured: AttributeMeasured, axis: Axis, codes: Whole, generator: np.random.Generator
) -> Values:
    """Draw the values in a bin by their shares of it, as ours are."""
    masses = masses_inside(measured.levels.counts, axis.groups, axis.tail)
    places = systematic(masses, axis.groups, codes, generator)
    missing = places == len(masses) - 1 if measured.has_missing else np.zeros(len(codes), np.bool_)
    units = np.where(missing, 0, places) + measured.attribute.grid_bounds[0]
    return units, missing if measured.has_missing else None
