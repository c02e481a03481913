"""A stand-in for a table, which knows public figures alone, and what to expect of releases of it.

Of a method whose rows follow nobody no error of rows can be expected. What can be is how far its
distributions lie from those of the table, and that is drawn, of a table with as many records
whose values lie evenly over their declared domains.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.noise.noise import RandomSource
from microveil.release.columns import Prepared
from microveil.release.request import Request
from microveil.schema import Attribute
from microveil.synthesis.axes import axis_of, bin_masses
from microveil.synthesis.counter import Counter
from microveil.synthesis.cuts import quantile_function
from microveil.synthesis.generation import value_masses
from microveil.synthesis.measurements import CountsMeasured
from microveil.synthesis.plan import CutsPlan, LevelsPlan, SyntheticPlan
from microveil.table import GridColumn, Table
from microveil.table.threads import in_threads

__all__ = ["Distance", "differing", "distances", "stand_in", "stood_in"]

Whole = NDArray[np.int64]
# Draws of an attribute over which the mean is taken, and of tables beyond so many records.
DRAWS, LARGE, DRAWS_OF_LARGE = 8, 100_000, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """How far a distribution is expected to lie from its original.

    Attributes
    ----------
    squares : float
        Squared difference of the values, sorted, a record: in squared grid units. Of categories
        in no order the share of records that would have to change theirs.
    variance : float
        Of the original by the same differences: half of what two of its records differ by.
    of_mean : float
        The squares of publishing the mean, or the commonest category, in every row.
    """

    squares: float
    variance: float
    of_mean: float


def stand_in(table: Table, attributes: Sequence[Attribute], request: Request) -> Prepared:
    """Make columns that know public figures alone: a value a record, evenly over the domain.

    Each in an order of its own, so that clusters of several attributes are not those of one.

    Parameters
    ----------
    table : Table
        Whose number of records is taken, which is public.
    attributes : sequence of Attribute
    request : Request
        That they are for.
    """
    random = np.random.Generator(np.random.PCG64(0))
    columns = []
    for attribute in attributes:
        values = random.permutation(_spread(attribute, table.n_records))
        columns.append(GridColumn(attribute=attribute, values=values, missing=None))
    return Prepared(
        table=table,
        request=request,
        attributes=tuple(attributes),
        held=tuple(columns),
        left_out=(),
    )


def _spread(attribute: Attribute, n_records: int) -> Whole:
    lower, upper = attribute.grid_bounds or (0, 0)
    if not attribute.kind.is_ranked:
        return np.arange(n_records) * (upper - lower + 1) // n_records
    spread = np.rint(np.linspace(lower, upper, n_records)).astype(np.int64)
    return np.asarray(np.clip(spread, lower, upper))


def stood_in(prepared: Prepared) -> Prepared:
    """Put a stand-in in the place of a prepared table's columns."""
    found = stand_in(prepared.table, prepared.attributes, prepared.request)
    return replace(prepared, held=found.held)


def distances(plan: SyntheticPlan, columns: Sequence[GridColumn]) -> list[Distance]:
    """Find how far the distributions of a new table are expected to lie from a table's.

    An attribute's distribution hangs on what is measured of it by itself: that is drawn, by seeds
    of its own, and tables of pairs are not.

    Parameters
    ----------
    plan : SyntheticPlan
        Of these columns.
    columns : sequence of GridColumn
        Of a stand-in: figures of a table would be the custodian's.
    """
    draws = DRAWS if plan.n_records <= LARGE else DRAWS_OF_LARGE

    def distance(task: tuple[CutsPlan | LevelsPlan, GridColumn]) -> Distance:
        part, column = task
        found = [_once(part, column, RandomSource.seeded(number)) for number in range(draws)]
        return replace(found[0], squares=math.fsum(one.squares for one in found) / draws)

    return in_threads(distance, list(zip(plan.attributes, columns, strict=True)))


def differing(plan: Any) -> Distance:
    """Find how many records are expected to change a category that is in no order."""
    counts = plan.category_counts
    assert counts is not None  # noqa: S101 -- asked of categories alone
    return replace(_of_counts(counts, np.zeros(len(counts))), squares=plan.differing)


def _once(part: CutsPlan | LevelsPlan, column: GridColumn, source: RandomSource) -> Distance:
    measured, _ = part.measured(Counter([column]), 0, source)
    if isinstance(measured, CountsMeasured):
        axis = axis_of(measured, 1)
        masses = value_masses(measured, axis, bin_masses(0, axis, measured, {}, len(column.values)))
        shares = masses[: len(masses) - measured.has_missing]
        shares = shares / shares.sum()
        if not column.attribute.kind.is_ranked:
            return _of_categories(column.values, shares)
        lower, _ = column.attribute.grid_bounds or (0, 0)
        below = np.cumsum(shares)
        released = lower + np.searchsorted(below, _evenly(len(column.values)) * below[-1])
    else:
        by_share = quantile_function(measured.cuts, measured.candidates)
        released = by_share.at(_evenly(len(column.values)))
    return _of_numbers(np.sort(column.values), released)


def _evenly(n: int) -> NDArray[np.float64]:
    return np.asarray((np.arange(n) + 0.5) / n)


def _of_numbers(values: Whole, released: Whole) -> Distance:
    n, centred = len(values), values - values.mean()
    squares = float(centred @ centred)
    return Distance(
        squares=float(((released - values).astype(np.float64) ** 2).mean()),
        variance=squares / max(n - 1, 1),
        of_mean=squares / n,
    )


def _of_categories(codes: Whole, shares: NDArray[np.float64]) -> Distance:
    return _of_counts(np.bincount(codes, minlength=len(shares)), shares)


def _of_counts(counts: Whole, shares: NDArray[np.float64]) -> Distance:
    n, own = int(counts.sum()), counts / counts.sum()
    return Distance(
        squares=float(np.abs(shares - own).sum() / 2),
        variance=float(1 - own @ own) / 2 * n / max(n - 1, 1),
        of_mean=float(1 - own.max()),
    )
