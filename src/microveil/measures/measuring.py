"""Measures taken of two tables: what the registry declares, as far as the tables allow it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from microveil.measures.registry import MEASURES, By, Figure, Measure, Takes
from microveil.measures.tables import Tables
from microveil.table import Table, column_of
from microveil.utility.undefined import none_if_undefined

__all__ = ["Attempt", "Measured", "measured", "measured_publicly"]

Attempt = Callable[[Measure, Callable[[], Any]], Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """A measure, and what it found.

    Attributes
    ----------
    measure : Measure
    result : object
        What its function returned; by attribute where it was called for each; None where there
        was nothing to measure.
    names : tuple of str
        The attributes of numbers.
    """

    measure: Measure
    result: Any
    names: tuple[str, ...]

    def __repr__(self) -> str:
        """Name the measure without its figures: notebooks print it."""
        return f"Measured({self.measure.id})"

    @property
    def figure(self) -> Figure | None:
        """The figure of the table; None where there was nothing to measure."""
        return None if self.result is None else _as_figure(self.measure.figure(self.result))

    @property
    def value(self) -> float | None:
        """The figure as a number, None where it is undefined."""
        return None if self.figure is None else none_if_undefined(self.figure.value)

    @property
    def figures(self) -> Mapping[str, Figure]:
        """The figures by attribute or class."""
        if self.result is None:
            return {}
        if self.measure.takes in {Takes.NUMBER, Takes.RANKED, Takes.TEXT, Takes.EACH}:
            found = {name: self.measure.figure(part) for name, part in self.result.items()}
        else:
            found = self.measure.figure(self.result)
        if not isinstance(found, Mapping):
            found = dict(zip(self.names, found, strict=True))
        return {name: _as_figure(figure) for name, figure in found.items()}

    def written(self) -> Any:
        """Return what was found as JSON knows it; what is undefined is None."""
        if self.measure.entry is not None:
            return self.measure.entry.write(self.result, self.names)
        if self.measure.by is By.TABLE:
            return self.value
        return {name: none_if_undefined(found.value) for name, found in self.figures.items()}


def measured(
    tables: Tables,
    measures: Iterable[Measure] | None = None,
    attempt: Attempt | None = None,
) -> dict[str, Measured]:
    """Take measures of two tables.

    Parameters
    ----------
    tables : Tables
    measures : iterable of Measure, optional
        By default all that are registered. Those that need pairs that there are not, or that
        nobody asked for, are left out.
    attempt : callable, optional
        Is given a measure and the work of its function, and returns what that returns, or what
        stands for it where it fails.

    Returns
    -------
    dict of Measured
        By id. Measures that share a function share its result.

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
    """Take the measures that may be published with a release: of the release alone.

    Parameters
    ----------
    release : Table
    names : iterable of str
        The attributes that were protected.

    Returns
    -------
    dict of Measured
        By id; without what is for the custodian only.
    """
    columns = {name: column_of(release, name) for name in names}
    return {
        measure.id: Measured(measure=measure, result=measure.function(columns), names=())
        for measure in MEASURES.values()
        if measure.is_public
    }


def _as_figure(found: Any) -> Figure:
    return found if isinstance(found, Figure) else Figure(value=float(found))
