"""How many released values lie near each original one, within the intervals of KNOISE."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.base import Better, By, Entry, Group, Measure, Takes
from microveil.partition import intervals
from microveil.risk.neighbourhoods import Neighbourhoods, neighbourhoods

__all__ = ["MEASURES", "NEIGHBOURHOODS"]

NEIGHBOURHOODS = Group(
    title="Neighbours within an interval of half width delta: the fewest that any record has"
)


def _counted(
    original: NDArray[np.float64], protected: NDArray[np.float64], *, k: int
) -> Neighbourhoods | None:
    """Count an attribute's neighbours; None where it does not vary or has fewer than k values."""
    values = original[~np.isnan(original)]
    if len(values) < k or not np.ptp(values) > 0:
        return None
    return neighbourhoods(
        values,
        delta=intervals(values, k=k).delta,
        k=k,
        protected=protected[~np.isnan(protected)],
    )


def _fewest(found: Neighbourhoods) -> float:
    return float(found.to_dict()["observed"]["min"])


def _write(found: Mapping[str, Neighbourhoods], _: Sequence[str]) -> dict[str, Any]:
    return {name: counts.to_dict() for name, counts in found.items()}


MEASURES = (
    Measure(
        id="fewest_neighbours",
        label="fewest neighbours of any record",
        explanation="k or more are asked for",
        function=_counted,
        figure=_fewest,
        takes=Takes.NUMBER,
        needs_pairs=False,
        by=By.ATTRIBUTE,
        better=Better.HIGHER,
        group=NEIGHBOURHOODS,
        tabulated=False,
        entry=Entry(name="neighbourhoods", write=_write),
        asked_by="k",
        arguments=("k",),
    ),
)
