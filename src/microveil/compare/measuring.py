"""The figures of a run: of the original and what was drawn, the user's own analyses among them.

They are those of `assess` under the same names. What a run does not allow is None in that run and
says nothing of others.
"""

import math
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil.compare.columns import UNPAIRED, Measures, of_class, without_pairs
from microveil.errors import DataError, MicroveilError, RequestError
from microveil.measures.analyses import Analyses
from microveil.measures.base import By, Measure
from microveil.measures.learning import (
    F_MAJORITY,
    F_MEASURE,
    F_ORIGINAL,
    ClassificationTask,
    classification_task,
    text_of_estimator,
)
from microveil.measures.registry import Attempt, measured
from microveil.measures.tables import OF_NUMBERS, Codes, Tables
from microveil.protect.columns import Prepared
from microveil.schema import Attribute
from microveil.table import (
    GridColumn,
    Numbers,
    Table,
    check_columns,
    column_of,
    numbers_of_attribute,
    open_table,
)
from microveil.table.table import assembled, restored

Figures = dict[str, float | None]
Columns = dict[str, NDArray[Any]]
Found = TypeVar("Found")

# What the digest of a classifier begins with that no other one is equal to.
UNKNOWN = "cannot be known again: "


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Records:
    """The records of a table as runs are measured by them: the original's, or a release's."""

    # Of numbers, or categories in an order, (n_records, n_attributes); NaN where missing.
    numbers: NDArray[np.float64]
    # Of those in no order positions in their lists; the one behind the last where missing.
    codes: Mapping[str, NDArray[np.intp]]
    has_pairs: bool = True  # whether each record stands where its person does
    columns: Mapping[str, Numbers] = field(default_factory=dict)  # as released without pairs

    @classmethod
    def of(cls, cells: Mapping[Attribute, Numbers]) -> "Records":
        """Divide columns into those that are numbers or ranks, and those that are codes."""
        ranked = [_floats(column) for one, column in cells.items() if one.kind.is_ranked]
        n_records = len(next(iter(cells.values())).values)
        return cls(
            numbers=np.column_stack(ranked) if ranked else np.empty((n_records, 0)),
            codes={one.name: _codes(one, c) for one, c in cells.items() if not one.kind.is_ranked},
        )


def _floats(column: Numbers) -> NDArray[np.float64]:
    values = column.values.astype(np.float64)
    if column.missing is not None:
        values[column.missing] = np.nan
    return values


def _codes(attribute: Attribute, column: Numbers) -> NDArray[np.intp]:
    codes = column.values.astype(np.intp)
    if column.missing is None or attribute.categories is None:
        return codes
    return np.where(column.missing, attribute.categories.n_categories, codes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """A table on its grids, and what runs are measured by: names of numbers and of ranks."""

    prepared: Prepared
    names: tuple[str, ...]
    original: Records

    @classmethod
    def of(cls, prepared: Prepared, *, needs_numbers: bool = True) -> "Reading":
        """Read the values of a prepared table, in which some must be numbers if they are needed."""
        attributes = [column.attribute for column in prepared.columns]
        names = tuple(attribute.name for attribute in attributes if attribute.kind.is_ranked)
        if needs_numbers and not names:
            raise DataError(
                "attributes",
                "there is no numeric attribute among them to measure by",
                "name one among the attributes to protect",
            )
        cells = {column.attribute: _as_read(prepared.table, column) for column in prepared.columns}
        return cls(prepared=prepared, names=names, original=Records.of(cells))

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
        records = Records.of({one: _positions(one, drawn[one.name]) for one in attributes})
        return records if has_pairs else replace(records, has_pairs=False, columns=drawn)


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


class Analyst:
    """Measures the runs of a comparison, of one table; threads may share it."""

    def __init__(
        self,
        asked: Analyses,
        reading: Reading,
        *,
        linkage: bool,
        unpaired: bool,
    ) -> None:
        self._asked, self._reading, self._names = asked, reading, reading.names
        if asked.propensity and not reading.names:
            raise RequestError(
                "propensity",
                "a comparison measures it by numbers, and no protected attribute is one",
                "leave it out, or protect a numeric attribute too",
            )
        self._original = self._columns(reading.original)
        self._kept = _variables(asked, reading)
        classes = None if asked.classes is None else asked.class_column(reading.prepared.table)
        self._task = task = None if classes is None else self._set_up(classes)
        #: What was read of the table beside the attributes to protect.
        self.columns = self._kept | ({} if classes is None else {"classes": classes})
        self._baselines: dict[int, NDArray[np.float64] | MicroveilError] = {}
        self._lock = threading.Lock()
        learnt = {} if task is None else _known_by(task)
        names = ("classes", "threshold", "formula", "logistic", "propensity")
        own = {name: getattr(asked, name) for name in names}
        self.measures = Measures(linkage=linkage, unpaired=unpaired, **own, **learnt)

    def check(self) -> None:
        """Make every analysis of the original, so that what cannot be done is said at once."""
        if self._task is not None:
            self._baseline(self._task, 0)
        analyses = [one for one in self.measures.measured if one.use.counted]
        figures_of(self._tables(self._reading.original), analyses)

    def measured(self, protected: Records) -> Figures:
        """Compare one release with the original by what needs no seed."""
        asked = self.measures.measured
        paired = [one for one in asked if not without_pairs(one)]
        figures = figures_of(
            self._tables(protected),
            paired,
            lambda one, work: _or_none(work) if one.use.counted else work(),
        )
        unpaired = [one for one in asked if without_pairs(one)]
        texts: dict[str, Codes] = {}
        if unpaired and set(protected.codes) == set(self._reading.listed):
            before = self._reading.original.codes
            texts = {
                name: (before[name], protected.codes[name], categories)
                for name, categories in self._reading.listed.items()
            }
        elif unpaired:  # what leaves an attribute out is held against nothing that has it
            unpaired = [one for one in unpaired if one.takes in OF_NUMBERS]
        whole = self._tables(protected, texts)
        return figures | figures_of(whole, unpaired, lambda _, work: _or_none(work))

    def learnt(self, protected: Records, run: int) -> Figures:
        """Measure what a classifier, seeded with the run less 1, learns from one release.

        Rows that follow nobody are learnt from with classes of their own, where they have some.
        """
        if self._task is None:
            return {}
        task, released = self._task, self._columns(protected)
        majority = task.f_measures(task.majority())
        undefined = np.full_like(majority, np.nan)
        learnt = _or_none(
            lambda: task.f_measures(task.predicted(released, run - 1, self._own_classes(protected)))
        )
        baseline = _or_none(lambda: self._baseline(task, run - 1))
        found = (
            (F_MEASURE, undefined if learnt is None else learnt),
            (F_ORIGINAL, undefined if baseline is None else baseline),
            (F_MAJORITY, majority),
        )
        return {
            of_class(measure.id, label): float(value) if math.isfinite(value) else None
            for measure, figures in found
            for label, value in zip(task.labels, figures, strict=True)
        }

    def _columns(self, records: Records) -> Columns:
        return dict(zip(self._names, records.numbers.T, strict=True))

    def _own_classes(self, protected: Records) -> NDArray[Any] | None:
        """Read the classes of records that follow nobody; None where the original's are theirs."""
        if protected.has_pairs:
            return None
        name, table = str(self._asked.classes), self._reading.prepared.table
        if name not in protected.columns:
            raise DataError("classes", "a release without pairs must have them", "protect them too")
        column = replace(protected.columns[name], reasons=None)  # a code is no class
        return self._asked.class_column(
            open_table(assembled(table, {name: restored(table, name, column)}))
        )

    def _set_up(self, classes: NDArray[Any]) -> ClassificationTask:
        learnt = {n: column for n, column in self._original.items() if n != self._asked.classes}
        if not learnt:
            raise DataError(
                "classes",
                "there is nothing to learn from beside the class attribute",
                "protect another numeric attribute too",
            )
        return classification_task(learnt, classes, estimator=self._asked.estimator)

    def _tables(self, protected: Records, texts: Mapping[str, Codes] | None = None) -> Tables:
        """Set a release beside the original."""
        sides = [self._original | self._kept, self._columns(protected) | self._kept]
        for name, (before, after, categories) in (texts or {}).items():
            words = np.array(categories)
            sides[0][name], sides[1][name] = words[before], words[after]

        def columns(names: Iterable[str]) -> tuple[Columns, Columns]:
            wanted = list(names)
            return {n: sides[0][n] for n in wanted}, {n: sides[1][n] for n in wanted}

        linkage = self.measures.linkage
        return Tables(
            names=self._names,
            original=self._reading.original.numbers,
            protected=protected.numbers,
            paired=protected.has_pairs,
            texts=texts or {},
            columns=columns,
            asked={**self._asked.to_dict(), "linkage": linkage, UNPAIRED: linkage},
        )

    def _baseline(self, task: ClassificationTask, seed: int) -> NDArray[np.float64]:
        """Return the F-measures of a classifier that was trained on the original, once a seed."""
        with self._lock:
            if seed not in self._baselines:
                try:
                    learnt = task.predicted(self._original, seed)
                    self._baselines[seed] = task.f_measures(learnt)
                except MicroveilError as error:
                    self._baselines[seed] = error
        found = self._baselines[seed]
        if isinstance(found, MicroveilError):
            raise found.with_traceback(None)
        return found


def figures_of(
    tables: Tables, measures: Iterable[Measure], attempt: Attempt | None = None
) -> Figures:
    """Measure one run by what there is one figure of; None where there is nothing to measure."""
    found = measured(tables, [one for one in measures if one.by is By.TABLE], attempt)
    return {
        name: None if one.figure is None else _defined(one.measure, one.figure.value)
        for name, one in found.items()
    }


def _defined(measure: Measure, value: float) -> float | None:
    may_be_infinite = measure.compared is not None and not measure.compared.counted
    return value if math.isfinite(value) or (may_be_infinite and not math.isnan(value)) else None


def _variables(asked: Analyses, reading: Reading) -> Columns:
    """Return the columns of the formula that a release would hold as they are."""
    table, kept = reading.prepared.table, set(reading.prepared.keep)
    check_columns(table, asked.variables, "original")
    for name in asked.variables:
        if name not in reading.names and name not in kept:
            raise RequestError(
                f"formula, column '{name}'",
                "a release has only what is protected, as numbers, and what is kept",
                f"protect '{name}', or pass it in keep",
            )
    return {n: column_of(table, n) for n in asked.variables if n not in reading.names}


def _known_by(task: ClassificationTask) -> dict[str, Any]:
    """Say what a classifier is known again by."""
    return {
        "labels": task.labels,
        "estimator": text_of_estimator(task.estimator),
        "estimator_digest": digest_of_estimator(task.estimator),
        "scikit_learn": version("scikit-learn"),
    }


def digest_of_estimator(estimator: object) -> str:
    """Digest all settings of an estimator; what cannot be pickled is another one each time."""
    try:
        return str(import_module("joblib").hash(estimator))  # it comes with scikit-learn
    except Exception:  # noqa: BLE001 -- objects of the user's may raise anything
        return UNKNOWN + secrets.token_hex(16)


def _or_none(work: Callable[[], Found]) -> Found | None:
    """Do what a release may not allow: a model of too few different values, for example."""
    try:
        return work()
    except MicroveilError:
        return None
