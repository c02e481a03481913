"""The linkage that isotonic regression invites, measured before anything is released.

Putting noisy means in order gives every row its cluster's rank block back. Two trial draws of
a plan, with and without the regression, are linked with the originals by value and by rank:
what an intruder who holds the originals would find. The trials are thrown away.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.linkage import record_linkage_by_rank, record_linkage_standardised
from microveil.methods.centroids import CentroidPlan
from microveil.methods.planned import SinglePlan
from microveil.noise.noise import RandomSource
from microveil.protect.draw import drawn_cells
from microveil.protect.plan import PartPlan, Plan
from microveil.table import Table, numbers_of_attribute
from microveil.table.threads import in_threads
from microveil.text.figures import figure


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitedLinkage:
    """Percent of records linked to their originals, in one trial draw each.

    By value the nearest original is taken, attributes in units of their standard deviation; by rank
    values are replaced by their ranks in either table.
    """

    by_value: float
    by_value_isotonic: float
    by_rank: float
    by_rank_isotonic: float
    by_chance: float
    n_records: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __str__(self) -> str:
        """Say the figures in a sentence."""
        return (
            "Measured on trial draws, an intruder who holds the originals finds "
            f"{figure(self.by_value_isotonic)} % of {self.n_records} rows by value and "
            f"{figure(self.by_rank_isotonic)} % by rank with isotonic regression, "
            f"{figure(self.by_value)} % and {figure(self.by_rank)} % without it "
            f"(by chance {figure(self.by_chance)} %)."
        )


def strongest_linkage(planned: Plan) -> InvitedLinkage:
    """Measure the linkage that isotonic regression invites, of parts where it is strongest."""
    parts = [part for part in planned.parts if part.request.isotonic]
    return max(map(invited_linkage, parts), key=lambda found: found.by_rank_isotonic)


def invited_linkage(planned: PartPlan) -> InvitedLinkage:
    """Measure how many rows are found with isotonic regression and without it, in one draw each."""
    parts, table = planned.singles, planned.prepared.table
    complete = ~np.logical_or.reduce(
        [np.zeros(table.n_records, dtype=bool)]
        + [
            part.missing
            for part in parts
            if isinstance(part, CentroidPlan) and part.missing is not None
        ]
    )
    rows = np.flatnonzero(complete)
    original = np.column_stack([_values(table, part, rows) for part in parts])
    without, with_it = (_trial(planned, rows, isotonic=own) for own in (False, True))
    by_value, by_value_isotonic = (
        record_linkage_standardised(original, trial) for trial in (without, with_it)
    )
    by_rank, by_rank_isotonic = (
        record_linkage_by_rank(original, trial) for trial in (without, with_it)
    )
    return InvitedLinkage(
        by_value=by_value.percent,
        by_value_isotonic=by_value_isotonic.percent,
        by_rank=by_rank.percent,
        by_rank_isotonic=by_rank_isotonic.percent,
        by_chance=by_value.baseline_by_chance,
        n_records=by_value.n_records,
    )


def _values(table: Table, part: SinglePlan, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    numbers = numbers_of_attribute(table, part.attribute)
    return numbers.values[rows].astype(np.float64)


def _trial(planned: PartPlan, rows: NDArray[np.int64], *, isotonic: bool) -> NDArray[np.float64]:
    parts = planned.singles
    streams = RandomSource.system().spawn(len(parts))

    def drawn(task: tuple[SinglePlan, RandomSource]) -> NDArray[np.float64]:
        part, stream = task
        if isinstance(part, CentroidPlan):
            part = replace(part, isotonic=isotonic)
        numbers = drawn_cells(part, planned.prepared.units, stream)
        return numbers.values[rows].astype(np.float64)

    return np.column_stack(in_threads(drawn, list(zip(parts, streams, strict=True))))
