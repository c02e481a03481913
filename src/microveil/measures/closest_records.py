"""How near released rows come to records of the original, where they follow nobody in order."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from microveil.measures.base import Better, Entry, Figure, Group, Measure, Takes
from microveil.risk.closest_records import ClosestRecords, closest_records

__all__ = ["CLOSEST", "CLOSEST_RECORDS", "MEASURES"]

CLOSEST_RECORDS = Group(
    title="Distance to the closest record, beside that of a person left out", beside="left out"
)


def _median(found: ClosestRecords) -> Figure:
    if not found.is_enough:
        return Figure(value=math.nan)
    median = found.released
    return Figure(value=median.value, interval=median.interval, beside=found.left_out.value)


def _equal(found: ClosestRecords) -> Figure:
    low, high = found.equal.interval
    return Figure(
        value=100 * found.equal.value,
        interval=(100 * low, 100 * high),
        beside=100 * found.equal_left_out.value,
    )


def _write(found: ClosestRecords | None, _: Sequence[str]) -> dict[str, Any] | None:
    return None if found is None else found.to_dict()


_measure = partial(
    Measure,
    function=closest_records,
    takes=Takes.RECORDS,
    needs_pairs=False,
    group=CLOSEST_RECORDS,
    entry=Entry(name="closest_records", write=_write),
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
        figure=_equal,
    ),
)
