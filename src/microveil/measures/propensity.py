"""Whether a model tells released records from original ones."""

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from microveil.measures.base import Compared, Entry, Group, Measure, Takes
from microveil.utility.propensity import Propensity, propensity

__all__ = ["MEASURES", "PROPENSITY"]

PROPENSITY = Group(
    title="Propensity: whether a logistic regression tells protected from original records"
)


def _write(found: Propensity, _: Sequence[str]) -> dict[str, Any]:
    return found.to_dict()


_measure = partial(
    Measure,
    function=propensity,
    takes=Takes.COLUMNS,
    needs_pairs=False,
    group=PROPENSITY,
    entry=Entry(name="propensity", write=_write),
    asked_by="propensity",
)

MEASURES = (
    _measure(
        id="pmse",
        label="pMSE",
        explanation="0 = it sees no difference",
        highest=0.25,
        figure=attrgetter("pmse"),
    ),
    _measure(
        id="propensity_ratio",
        label="pMSE ratio",
        short="ratio",
        explanation="pMSE over expected",
        figure=attrgetter("ratio"),
        compared=Compared(in_answer=True, counted=True, level=("the same law", 1.0)),
    ),
)
