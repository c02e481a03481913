"""The figures of a run, as `assess` has them; what it does not allow is None in that run."""

import math
import secrets
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil.compare.columns import UNPAIRED, Measures, of_class, without_pairs
from microveil.errors import DataError, MicroveilError, RequestError
from microveil.measures.analyses import Analyses
from microveil.measures.base import COMPLETE, NUMBER, NUMBERS, By, Measure
from microveil.measures.learning import (
    F_MAJORITY,
    F_MEASURE,
    F_ORIGINAL,
    ClassificationTask,
    classification_task,
    text_of_estimator,
)
from microveil.measures.opening import Codes, Tables
from microveil.measures.registry import measured
from microveil.protect.columns import Prepared
from microveil.schema import Attribute, Kind
from microveil.table import (
    GridColumn,
    Numbers,
    Table,
    check_columns,
    column_of,
    numbers_of_attribute,
    open_table,
)
from microveil.table.blocks import AttributeMatrix
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
        ranked = [column for one, column in cells.items() if one.kind.is_ranked]
        n_records, codes = len(next(iter(cells.values())).values), {}
        for one, column in cells.items():
            if not one.kind.is_ranked:
                codes[one.name] = own = column.values.astype(np.intp)
                if column.missing is not None and one.categories is not None:
                    own[column.missing] = len(one.categories.values)
        numbers = AttributeMatrix(numbers=ranked)[:] if ranked else np.empty((n_records, 0))
        return cls(numbers=numbers, codes=codes)

    @classmethod
    def released(
        cls, attributes: Iterable[Attribute], drawn: Mapping[str, Numbers], *, paired: bool = True
    ) -> "Records":
        """Take what was drawn in the form of the original's records."""
        cells = {}
        for one in attributes:
            cells[one], categories = drawn[one.name], one.categories
            if categories is not None and categories.words is None:  # of text they are positions
                positions = categories.positions(cells[one].values)
                cells[one] = replace(cells[one], values=positions)
        records = cls.of(cells)
        return records if paired else replace(records, has_pairs=False, columns=drawn)


def _as_read(table: Table, column: GridColumn) -> Numbers:
    """Return a column of the original, without the values that a release takes for missing."""
    numbers, missing = numbers_of_attribute(table, column.attribute), column.missing
    if column.attribute.of_unit:
        # The column's own cells are those of each unit's first record.
        missing = ~np.isfinite(numbers.values)
        if numbers.missing is not None:
            missing |= numbers.missing
    return Numbers(values=numbers.values, missing=missing)


class Analyst:
    """Measures the runs of a comparison, of one table; threads may share it."""

    def __init__(
        self, asked: Analyses, prepared: Prepared, *, linkage: bool, unpaired: bool
    ) -> None:
        self._asked, self._table, attributes = asked, prepared.table, prepared.attributes
        self.names = tuple(own.name for own in attributes if own.kind.is_ranked)
        self._dates = frozenset(own.name for own in attributes if own.kind is Kind.DATE)
        # The categories of the attributes in no order; the last is that of missing cells.
        self.listed = {
            own.name: (*map(str, own.categories.values), "")
            for own in attributes
            if not own.kind.is_ranked and own.categories is not None
        }
        if asked.propensity and not self.names:
            rule = "a comparison measures it by numbers, and no protected attribute is one"
            remedy = "leave it out, or protect a numeric attribute too"
            raise RequestError("propensity", rule, remedy)
        self.original = Records.of(
            {column.attribute: _as_read(prepared.table, column) for column in prepared.columns}
        )
        self._original = self._columns(self.original)
        self._kept = _variables(asked, prepared, self.names)
        self._task, classes = None, dict[str, NDArray[Any]]()
        if asked.classes is not None:
            classes = {"classes": asked.class_column(prepared.table)}
            learnt = {n: column for n, column in self._original.items() if n != asked.classes}
            self._task = classification_task(learnt, classes["classes"], estimator=asked.estimator)
        #: What was read of the table beside the attributes to protect.
        self.columns = self._kept | classes
        self._baselines: dict[int, NDArray[np.float64] | None] = {}
        self._lock = threading.Lock()
        self.measures = Measures(_described(asked, self._task, linkage=linkage, unpaired=unpaired))

    def check(self) -> None:
        """Make every analysis of the original, so that what cannot be done is said at once."""
        if self._task is not None:
            learnt = self._task.predicted(self._original, 0)
            self._baselines[0] = self._task.f_measures(learnt)
        analyses = [one for one in self.measures.measured if one.use.counted]
        measured(self._tables(self.original), [one for one in analyses if one.by is By.TABLE])

    def measured(self, protected: Records) -> Figures:
        """Compare one release with the original by what needs no seed."""
        paired = [one for one in self.measures.measured if not without_pairs(one)]
        unpaired = [one for one in self.measures.measured if without_pairs(one)]
        texts: dict[str, Codes] = {}
        if unpaired and set(protected.codes) == set(self.listed):
            before = self.original.codes
            texts = {
                name: (before[name], protected.codes[name], categories)
                for name, categories in self.listed.items()
            }
        elif unpaired:  # what leaves an attribute out is held against nothing that has it
            unpaired = [one for one in unpaired if one.takes in (NUMBERS, COMPLETE, NUMBER)]
        of_numbers, whole = self._tables(protected), self._tables(protected, texts)
        return _figures(of_numbers, paired) | _figures(whole, unpaired)

    def learnt(self, protected: Records, run: int) -> Figures:
        """Measure what a classifier, seeded with the run less 1, learns from one release."""
        if self._task is None:
            return {}
        task = self._task
        found = (
            (F_MEASURE, _or_none(lambda: self._trained_on(protected, task, run - 1))),
            (F_ORIGINAL, self._baseline(task, run - 1)),
            (F_MAJORITY, task.f_measures(task.majority())),
        )
        return {
            of_class(measure.id, label): value if math.isfinite(value) else None
            for measure, figures in found
            for label, value in zip(
                task.labels,
                [math.nan] * len(task.labels) if figures is None else figures.tolist(),
                strict=True,
            )
        }

    def _trained_on(
        self, protected: Records, task: ClassificationTask, seed: int
    ) -> NDArray[np.float64]:
        classes = self._own_classes(protected)
        return task.f_measures(task.predicted(self._columns(protected), seed, classes))

    def _columns(self, records: Records) -> Columns:
        return dict(zip(self.names, records.numbers.T, strict=True))

    def _own_classes(self, protected: Records) -> NDArray[Any] | None:
        """Read the classes of records that follow nobody; None where the original's are theirs."""
        if protected.has_pairs:
            return None
        name, table = str(self._asked.classes), self._table
        if name not in protected.columns:
            raise DataError("classes", "a release without pairs must have them", "protect them too")
        column = replace(protected.columns[name], reasons=None)  # a code is no class
        return self._asked.class_column(
            open_table(assembled(table, {name: restored(table, name, column)}))
        )

    def _tables(self, protected: Records, texts: Mapping[str, Codes] | None = None) -> Tables:
        """Set a release beside the original."""
        sides = [self._original | self._kept, self._columns(protected) | self._kept]
        for name, (before, after, categories) in (texts or {}).items():
            words = np.array(categories)
            sides[0][name], sides[1][name] = words[before], words[after]

        def columns(names: Iterable[str]) -> tuple[Columns, Columns]:
            wanted = list(names)
            return {n: sides[0][n] for n in wanted}, {n: sides[1][n] for n in wanted}

        linkage = self.measures.asked["linkage"]
        return Tables(
            names=self.names,
            original=self.original.numbers,
            protected=protected.numbers,
            paired=protected.has_pairs,
            texts=texts or {},
            dates=self._dates,
            columns=columns,
            asked={**self._asked.to_dict(), "linkage": linkage, UNPAIRED: linkage},
        )

    def _baseline(self, task: ClassificationTask, seed: int) -> NDArray[np.float64] | None:
        """Return the F-measures of a classifier that was trained on the original, once a seed."""
        with self._lock:
            if seed not in self._baselines:
                self._baselines[seed] = _or_none(
                    lambda: task.f_measures(task.predicted(self._original, seed))
                )
            return self._baselines[seed]


def _figures(tables: Tables, measures: Iterable[Measure]) -> Figures:
    """Measure one run by what there is one figure of; None where a release does not allow it."""
    of_table = [one for one in measures if one.by is By.TABLE]
    figures: Figures = {}
    for name, one in measured(tables, of_table, lambda _, work: _or_none(work)).items():
        value = math.nan if one.figure is None else one.figure.value
        may_be_infinite = one.measure.compared is not None and not one.measure.use.counted
        is_told = math.isfinite(value) or (math.isinf(value) and may_be_infinite)
        figures[name] = value if is_told else None
    return figures


def _variables(asked: Analyses, prepared: Prepared, names: Collection[str]) -> Columns:
    """Return the columns of the formula that a release would hold as they are."""
    check_columns(prepared.table, asked.variables, "original")
    for name in asked.variables:
        if name not in names and name not in prepared.keep:
            rule = "a release has only what is protected, as numbers, and what is kept"
            remedy = f"protect '{name}', or pass it in keep"
            raise RequestError(f"formula, column '{name}'", rule, remedy)
    return {n: column_of(prepared.table, n) for n in asked.variables if n not in names}


def _described(
    asked: Analyses, task: ClassificationTask | None, *, linkage: bool, unpaired: bool
) -> dict[str, Any]:
    """Say what is measured, as a description has it: only what is asked for, and linkage."""
    found: dict[str, Any] = {"linkage": linkage}
    if task is not None:
        found |= {
            "classes": asked.classes,
            "threshold": asked.threshold,
            "labels": task.labels,
            "estimator": text_of_estimator(task.estimator),
            "estimator_digest": digest_of_estimator(task.estimator),
            "scikit_learn": version("scikit-learn"),
        }
    if asked.formula is not None:
        found |= {"formula": asked.formula, "logistic": asked.logistic}
    extra = {"propensity": asked.propensity, UNPAIRED: unpaired}
    return found | {name: True for name, given in extra.items() if given}


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
