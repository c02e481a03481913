"""How near released rows come to records of the original, where they follow nobody in order.

A row that lies nearer to somebody than people lie to one another may have been made from that
person. The yardstick is a person's distance to the closest of all others, as if the table had been
made without that person. Distances are those of `nearest`. A release whose values are less spread
than the original's lies nearer to people without showing any of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.base import Better, Figure, Group, Measure, Takes
from microveil.measures.nearest import Rows, standard_weights
from microveil.measures.opening import Tables
from microveil.measures.values import Estimate, Flags, Floats, drawn, median_of, success_rate
from microveil.table import Column

# Of more records than this a random sample stands for the original, and of more rows or people
# than this a random sample is asked.
MOST_RECORDS, MOST_ASKED = 50_000, 1000
CONFIDENCE = 0.95
# A median over fewer rows, or of distances to fewer records, says nothing about the release.
FEWEST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosestRecords:
    """How near released rows come to the closest record, and how near somebody left out comes."""

    # Medians of the distances from released rows to the closest record of the original, and from
    # people of the original to the closest of all others.
    released: Estimate
    left_out: Estimate
    equal: Estimate  # the share of released rows that are equal to a record
    equal_left_out: Estimate  # the share of people who are equal to another
    n_rows: int  # rows of the release and records of the original without a missing number
    n_records: int

    @property
    def is_enough(self) -> bool:
        """Whether there are enough rows and records without a gap to conclude anything."""
        return min(self.n_rows, self.n_records) >= FEWEST

    @property
    def basis(self) -> str:
        """Say how many rows and records the figures rest on."""
        if not self.is_enough:
            return (
                f"only {self.n_rows:,} released rows and {self.n_records:,} records have no gap, "
                f"and it takes {FEWEST} of each"
            )
        asked = f"{self.released.n:,}"
        return asked if self.released.n == self.n_rows else f"{asked} of {self.n_rows:,}"


def closest_records(
    original: Sequence[NDArray[Any]],
    protected: Sequence[NDArray[Any]],
    is_category: Flags,
    *,
    seed: int = 0,
) -> ClosestRecords | None:
    """Measure how near complete rows come to records; None of one record or no row."""
    random = np.random.Generator(np.random.PCG64(seed))
    records, n_records = _sample(original, is_category, MOST_RECORDS, random)
    rows, n_rows = _sample(protected, is_category, MOST_ASKED, random)
    if len(records) < 2 or not len(rows):
        return None
    tree = Rows.arrange(records, standard_weights(records, is_category), is_category)
    people = records[drawn(len(records), MOST_ASKED, random)]
    released = np.sqrt(tree.distances(rows))
    # The closest of all is the person's own record.
    left_out = np.sqrt(tree.distances(people, neighbours=2))
    equal, equal_left_out = (
        success_rate(float(np.sum(distances == 0)), len(distances), CONFIDENCE)
        for distances in (released, left_out)
    )
    return ClosestRecords(
        released=median_of(released, CONFIDENCE),
        left_out=median_of(left_out, CONFIDENCE),
        equal=equal,
        equal_left_out=equal_left_out,
        n_rows=n_rows,
        n_records=n_records,
    )


def _records(tables: Tables) -> tuple[list[Column], list[Column], Flags]:
    """Return the columns of numbers, and codes of text, and which are codes."""
    codes = [[both[side] for both in tables.texts.values()] for side in (0, 1)]
    before, after = [*tables.original.T, *codes[0]], [*tables.protected.T, *codes[1]]
    return before, after, np.repeat([False, True], [len(tables.names), len(tables.texts)])


def _sample(
    columns: Sequence[NDArray[Any]], is_category: Flags, most: int, random: np.random.Generator
) -> tuple[Floats, int]:
    """Return at most so many of the complete records, side by side, and how many there are."""
    complete = np.ones(len(columns[0]), dtype=np.bool_)
    for column, category in zip(columns, is_category, strict=True):
        if not category:
            complete &= ~np.isnan(column)
    present = np.flatnonzero(complete)
    chosen = present[drawn(len(present), most, random)]
    return np.column_stack([column[chosen].astype(np.float64) for column in columns]), len(present)


def _in_percent(found: Estimate, beside: Estimate) -> Figure:
    """Return a rate beside another in percent; one that is undefined is left out."""
    low, high = found.interval
    other = None if math.isnan(beside.value) else 100 * beside.value
    return Figure(value=100 * found.value, interval=(100 * low, 100 * high), beside=other)


CLOSEST_RECORDS = Group(
    title="Distance to the closest record, beside that of a person left out", beside="left out"
)


def _median(found: ClosestRecords) -> Figure:
    if not found.is_enough:
        return Figure(value=math.nan)
    own = found.released
    return Figure(value=own.value, interval=own.interval, beside=found.left_out.value)


_measure = partial(
    Measure,
    function=closest_records,
    takes=Takes(_records),
    needs_pairs=False,
    group=CLOSEST_RECORDS,
    entry="closest_records",
    asked_by="unpaired",
)

# What stands for the records found again where there are no pairs.
CLOSEST = _measure(
    id="closest_record",
    label="median distance to the closest record",
    short="closest record",
    scale="of released rows, in standard deviations",
    explanation="farther is safer",
    better=Better.HIGHER,
    figure=_median,
)

MEASURES = (
    CLOSEST,
    _measure(
        id="equal_to_a_record",
        label="rows equal to a record",
        explanation="lower is safer",
        unit="%",
        highest=100.0,
        figure=lambda found: _in_percent(found.equal, found.equal_left_out),
    ),
)
