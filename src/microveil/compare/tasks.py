"""From configurations to tasks: requests checked, tables read once for all that read them alike."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.compare.grid import Configuration
from microveil.compare.measuring import Records, records_of
from microveil.errors import DataError, MicroveilError
from microveil.protect.columns import Prepared, prepare
from microveil.protect.request import Request
from microveil.protect.settling import settle
from microveil.schema import Attribute
from microveil.table import GridColumn, Numbers, Table, numbers_of_attribute

__all__ = ["Reading", "Task", "all_refused", "digest_of", "ready_of", "tasks_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """A table on its grids, and what runs are measured by.

    Attributes
    ----------
    prepared : Prepared
    names : tuple of str
        The attributes to protect that are numbers, or categories in an order.
    original : Records
        The values as they are in the table.
    """

    prepared: Prepared
    names: tuple[str, ...]
    original: Records

    @classmethod
    def of(cls, prepared: Prepared, *, needs_numbers: bool = True) -> "Reading":
        """Read the values of a prepared table.

        Parameters
        ----------
        prepared : Prepared
        needs_numbers : bool
            Whether runs are measured by numbers alone: not where rows of some method follow nobody.

        Raises
        ------
        DataError
            If no attribute is numeric and one is needed.
        """
        attributes = [column.attribute for column in prepared.columns]
        names = tuple(attribute.name for attribute in attributes if attribute.kind.is_ranked)
        if needs_numbers and not names:
            raise DataError(
                "attributes",
                "there is no numeric attribute among them to measure by",
                "name one among the attributes to protect",
            )
        cells = {column.attribute: _as_read(prepared.table, column) for column in prepared.columns}
        return cls(prepared=prepared, names=names, original=records_of(cells, has_pairs=True))

    @property
    def listed(self) -> dict[str, tuple[str, ...]]:
        """The categories of the attributes in no order; the last is that of missing cells."""
        return {
            attribute.name: (*map(str, attribute.categories.values), "")
            for attribute in (column.attribute for column in self.prepared.columns)
            if not attribute.kind.is_ranked and attribute.categories is not None
        }

    def released(self, drawn: Mapping[str, Numbers], *, has_pairs: bool) -> Records:
        """Return what was drawn in the form of the original's records."""
        attributes = [column.attribute for column in self.prepared.columns]
        cells = {
            attribute: _positions(attribute, drawn[attribute.name]) for attribute in attributes
        }
        records = records_of(cells, has_pairs=has_pairs)
        return records if has_pairs else replace(records, columns=drawn)

    @property
    def fewest_values(self) -> int:
        """Of any attribute: the largest k there can be."""
        return min(len(column.values) for column in self.prepared.columns)


def _as_read(table: Table, column: GridColumn) -> Numbers:
    """Return a column of the original, without the values that a release takes for missing."""
    numbers, missing = numbers_of_attribute(table, column.attribute), column.missing
    if column.attribute.of_unit:
        # The column's own cells are those of each unit's first record.
        missing = ~np.isfinite(numbers.values)
        if numbers.missing is not None:
            missing |= numbers.missing
    return Numbers(values=numbers.values, missing=missing)


def _positions(attribute: Attribute, column: Numbers) -> Numbers:
    """Return positions of categories that are numbers: of text they are released as such."""
    categories = attribute.categories
    if categories is None or categories.words is not None:
        return column
    return Numbers(values=categories.positions(column.values), missing=column.missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A configuration, with what it needs to be planned, or why it cannot be."""

    configuration: Configuration
    ready: tuple[Prepared, Reading] | MicroveilError


# By what of a request decides how its table is read: see `_read`.
Needs = tuple[bool, bool, str]
Readings = dict[tuple[bool, Needs], Reading | MicroveilError]


def tasks_of(
    table: Any,
    configurations: Sequence[Configuration],
    arguments: Mapping[str, Any],
    seed: int,
) -> list[Task]:
    """Check every configuration's request and read the table for it.

    The seed decides which records of a unit stay, the same ones for every configuration.

    Raises
    ------
    MicroveilError
        If no configuration can be planned: the first refusal. Where all are the same, the request
        itself is at fault, and it is raised as it is.
    """
    readings: Readings = {}
    paired = not any(configuration.choice.is_synthetic for configuration in configurations)
    # What needs bounds comes first: what it reads serves the others too.
    order = sorted(configurations, key=lambda configuration: not configuration.choice.needs_bounds)
    found = {
        configuration.number: _task(table, configuration, arguments, seed, readings, paired=paired)
        for configuration in order
    }
    tasks = [found[configuration.number] for configuration in configurations]
    refusals = [task.ready for task in tasks if isinstance(task.ready, MicroveilError)]
    if len(refusals) == len(tasks):
        same = len(set(map(str, refusals))) == 1
        raise refusals[0] if same else all_refused(refusals)
    return tasks


def all_refused(refusals: Sequence[MicroveilError]) -> MicroveilError:
    """Make one error of the refusals of all configurations: the first, and how many there are.

    >>> print(all_refused([DataError("k", "k must be 3 or more", "pass k=3")] * 2))
    k: all 2 configurations are refused, the first because k must be 3 or more; pass k=3.
    """
    first = refusals[0]
    if len(refusals) == 1:
        return first
    rule = f"all {len(refusals)} configurations are refused, the first because {first.rule}"
    return type(first)(first.place, rule, first.remedy)


def ready_of(tasks: Iterable[Task]) -> tuple[Prepared, Reading]:
    """Return the first request that can be planned, of those that protect most attributes.

    A recipe may name categories that only some methods protect: others leave them out.
    """
    ready = (task.ready for task in tasks if not isinstance(task.ready, MicroveilError))
    return max(ready, key=lambda found: len(found[1].prepared.columns))


def digest_of(tasks: Iterable[Task], columns: Mapping[str, NDArray[Any]]) -> str:
    """Return a SHA-256 of all that is read: values, domains and grids, and other columns."""
    digest = hashlib.sha256()
    seen: set[int] = set()
    for task in tasks:
        if isinstance(task.ready, MicroveilError) or id(task.ready[1]) in seen:
            continue
        reading = task.ready[1]
        seen.add(id(reading))
        for column in reading.prepared.columns:
            digest.update(repr(column.attribute).encode())
            digest.update(np.ascontiguousarray(column.values).data)
            if column.missing is not None:
                digest.update(np.packbits(column.missing).data)
        digest.update(np.ascontiguousarray(reading.original.numbers).data)
    for name, values in columns.items():
        digest.update(repr((name, values.dtype.str)).encode())
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def _task(
    table: Any,
    configuration: Configuration,
    arguments: Mapping[str, Any],
    seed: int,
    readings: Readings,
    *,
    paired: bool,
) -> Task:
    asked = {**arguments, **configuration.arguments()}
    try:
        if asked.get("parts") is not None:
            return Task(
                configuration=configuration,
                ready=_of_parts(table, {**asked, "seed": seed}, paired=paired),
            )
        request = Request.of(asked)
        reading = _read(table, request, seed, readings, paired=paired)
        if request.k > reading.fewest_values:
            prepare(table, request)  # says why, in the words that fit
    except MicroveilError as error:
        return Task(configuration=configuration, ready=error)
    prepared = reading.prepared.for_request(request)
    return Task(configuration=configuration, ready=(prepared, reading))


def _of_parts(table: Any, asked: Mapping[str, Any], *, paired: bool) -> tuple[Prepared, Reading]:
    """Settle several parts, which read the table for themselves."""
    prepared = settle(table, asked)
    return prepared, Reading.of(prepared, needs_numbers=paired)


def _read(table: Any, request: Request, seed: int, readings: Readings, *, paired: bool) -> Reading:
    """Read a table as a method needs it, unless that was done, or done for stricter needs."""
    method = request.method
    needs = ("categories" in method.can, "new table" in method.can, request.outside)
    stricter = readings.get((True, needs))
    if isinstance(stricter, Reading):
        return stricter
    key = ("bounds" in method.needs, needs)
    if key not in readings:
        try:
            prepared = prepare(table, replace(request, k=1, seed=seed))
            readings[key] = Reading.of(prepared, needs_numbers=paired)
        except MicroveilError as error:
            readings[key] = error
    found = readings[key]
    if isinstance(found, MicroveilError):
        raise found.with_traceback(
            None
        )  # else it grew with every configuration that is refused for it
    return found
