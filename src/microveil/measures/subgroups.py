"""Counts and means in subgroups, before and after."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.base import Entry, Group, Measure, Takes
from microveil.utility.subgroups import Subgroups, compare_subgroups

__all__ = ["MEASURES", "SUBGROUPS"]

SUBGROUPS = Group(title="Subgroups")


def _compared(
    original: NDArray[np.float64],
    protected: NDArray[np.float64],
    *,
    by: Mapping[str, tuple[NDArray[Any], NDArray[Any]]],
    margins: Callable[[Subgroups], Subgroups],
) -> Subgroups:
    return margins(compare_subgroups(original, protected, by=by))


def _write(found: Subgroups, names: Sequence[str]) -> dict[str, Any]:
    return found.to_dict(names)


MEASURES = (
    Measure(
        id="largest_share_change",
        label="largest change of a subgroup's share",
        explanation="0 = unchanged",
        function=_compared,
        figure=attrgetter("largest_change"),
        takes=Takes.SUBGROUPS,
        needs_pairs=False,
        highest=1.0,
        group=SUBGROUPS,
        entry=Entry(name="subgroups", write=_write),
        asked_by="by",
        arguments=("by", "margins"),
    ),
)
