"""The registry of measures: what is measured of a release, each declared once."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from microveil.measures import (
    categories,
    closest_records,
    column_moves,
    distributions,
    goodness_of_fit,
    information_loss,
    learning,
    linkage,
    moments,
    neighbourhoods,
    propensity,
    regression,
    relations,
    rules,
    subgroups,
    weighted,
)
from microveil.measures.base import Measure, Measured
from microveil.measures.opening import Tables
from microveil.table import Table, column_of

# In the order of the entries of an assessment.
_DECLARED = (
    *information_loss.MEASURES,
    *linkage.MEASURES,
    *closest_records.MEASURES,
    *categories.MEASURES,
    *moments.OF_ATTRIBUTES,
    *information_loss.OF_ATTRIBUTES,
    *goodness_of_fit.MEASURES,
    *distributions.MEASURES,
    *column_moves.MEASURES,
    *relations.MEASURES,
    *neighbourhoods.MEASURES,
    *moments.OF_PAIRS,
    *weighted.MEASURES,
    *subgroups.MEASURES,
    *rules.MEASURES,
    *learning.MEASURES,
    *regression.MEASURES,
    *propensity.MEASURES,
)
MEASURES: dict[str, Measure] = {measure.id: measure for measure in _DECLARED}


Attempt = Callable[[Measure, Callable[[], Any]], Any]


def measured(
    tables: Tables, measures: Iterable[Measure] | None = None, attempt: Attempt | None = None
) -> dict[str, Measured]:
    """Take measures of two tables that these allow, by default of all, and return them by id.

    ``attempt`` is given a measure and the work of its function.
    """
    found = {}
    for measure in MEASURES.values() if measures is None else measures:
        if tables.takes_part(measure):
            work = partial(tables.result_of, measure)
            result = work() if attempt is None else attempt(measure, work)
            found[measure.id] = Measured(
                measure=measure, result=result, names=tables.names, dates=tables.dates
            )
    return found


def measured_publicly(release: Table, names: Iterable[str]) -> dict[str, Measured]:
    """Take the measures that may be published with a release, of its protected attributes."""
    columns = {name: column_of(release, name) for name in names}
    return {
        measure.id: Measured(measure=measure, result=measure.function(columns), names=())
        for measure in MEASURES.values()
        if measure.is_public
    }
