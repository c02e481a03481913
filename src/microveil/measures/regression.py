"""Whether a regression comes out the same."""

import math
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from microveil.measures.base import Better, Compared, Entry, Group, Measure, Takes
from microveil.utility.regression import RegressionComparison, compare_regressions

__all__ = ["MEASURES", "REGRESSION"]

REGRESSION = Group(title="Regression")


def _write(found: RegressionComparison, _: Sequence[str]) -> dict[str, Any]:
    return found.to_dict()


MEASURES = (
    Measure(
        id="coefficient_overlap",
        label="confidence-interval overlap",
        explanation="1 = equal, below 0 = disjoint",
        scale="mean overlap of 95 % intervals",
        function=compare_regressions,
        figure=attrgetter("mean_overlap"),
        takes=Takes.VARIABLES,
        needs_pairs=False,
        # Intervals that are apart overlap by less than nothing, without limit.
        lowest=-math.inf,
        highest=1.0,
        better=Better.HIGHER,
        group=REGRESSION,
        entry=Entry(name="regression", write=_write),
        asked_by="formula",
        arguments=("formula", "logistic"),
        compared=Compared(in_answer=True, counted=True, level=("the original", 1.0)),
    ),
)
