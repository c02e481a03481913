"""Measures taken of two tables: what the registry declares, as far as the tables allow it."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from microveil.measures.base import Measure, Measured, Takes
from microveil.measures.registry import MEASURES
from microveil.measures.tables import Tables
from microveil.table import Table, column_of

__all__ = ["Attempt", "measured", "measured_publicly"]

Attempt = Callable[[Measure, Callable[[], Any]], Any]


def measured(
    tables: Tables,
    measures: Iterable[Measure] | None = None,
    attempt: Attempt | None = None,
) -> dict[str, Measured]:
    """Take measures of two tables, by default all that are registered, and return them by id.

    Those that need pairs that there are not, or that nobody asked for, are left out; those that
    share a function share its result. ``attempt`` is given a measure and the work of its function,
    and returns what that returns, or what stands for it where it fails.

    Examples
    --------
    >>> import numpy as np
    >>> before, after = np.array([[1.0], [2.0]]), np.array([[2.0], [1.0]])
    >>> tables = Tables(names=("AGE",), original=before, protected=after, paired=False)
    >>> found = measured(tables)
    >>> "sse" in found, found["mean"].figures["AGE"]
    (False, Figure(value=1.5, interval=None, beside=1.5))
    """
    known: dict[tuple[Callable[..., Any], Takes, tuple[str, ...]], Any] = {}
    found = {}
    for measure in MEASURES.values() if measures is None else measures:
        if not tables.takes_part(measure):
            continue
        key = measure.function, measure.takes, measure.arguments
        if key not in known:
            work = partial(tables.result_of, measure)
            known[key] = work() if attempt is None else attempt(measure, work)
        found[measure.id] = Measured(measure=measure, result=known[key], names=tables.names)
    return found


def measured_publicly(release: Table, names: Iterable[str]) -> dict[str, Measured]:
    """Take the measures that may be published with a release, of its protected attributes."""
    columns = {name: column_of(release, name) for name in names}
    return {
        measure.id: Measured(measure=measure, result=measure.function(columns), names=())
        for measure in MEASURES.values()
        if measure.is_public
    }
