"""The figures of every run, the user's own analyses among them.

What is learnt and tested is set up once. The classifier that is trained on the original, for
each seed, is trained once, by the first run that asks for it. What a run does not allow is
None in that run and says nothing of others.
"""

import math
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.compare.estimators import digest_of_estimator
from microveil.compare.measures import UNPAIRED, Measures, of_class, without_pairs
from microveil.compare.measuring import Figures, Matrix, Records, figures_of
from microveil.compare.tasks import Reading
from microveil.errors import DataError, MicroveilError, RequestError
from microveil.measures.analyses import Analyses
from microveil.measures.classification import ClassificationTask, classification_task
from microveil.measures.learning import F_MAJORITY, F_MEASURE, F_ORIGINAL, text_of_estimator
from microveil.measures.registry import Measure
from microveil.measures.tables import OF_NUMBERS, Codes, Tables
from microveil.table import check_columns, column_of, open_table
from microveil.table.table import assembled, restored

__all__ = ["Analyst"]

Columns = dict[str, NDArray[Any]]
# By what measures are asked for that look for records in a release.
SOUGHT = ("linkage", UNPAIRED)


class Analyst:
    """Measures the runs of a comparison, of one table.

    Threads may share it: who asks for what another is at work on waits for that.

    Parameters
    ----------
    asked : Analyses
    reading : Reading
        The table: what is protected is numeric, and is learnt from but for the class attribute.
    kept : iterable of str
        Columns that a release holds as they are: a regression may take them.
    linkage : bool
        Whether linkage is measured beside.
    unpaired : bool
        Whether rows of some method follow nobody.

    Raises
    ------
    MicroveilError
        If the table does not have what the analyses need.
    """

    def __init__(
        self,
        asked: Analyses,
        reading: Reading,
        kept: Iterable[str],
        *,
        linkage: bool,
        unpaired: bool = False,
    ) -> None:
        self._asked = asked
        self._names = reading.names
        if asked.propensity and not reading.names:
            raise RequestError(
                "propensity",
                "a comparison measures it by numbers, and no protected attribute is one",
                "leave it out, or protect a numeric attribute too",
            )
        self._records, self._listed = reading.original, reading.listed
        self._table = reading.prepared.table
        self._original = self._columns(reading.original.numbers)
        self._kept = _variables(asked, reading, set(kept))
        self._classes = (
            None if asked.classes is None else asked.class_column(reading.prepared.table)
        )
        self._task = None if self._classes is None else self._set_up(self._classes)
        self._baselines: dict[int, Future[NDArray[np.float64]]] = {}
        self._lock = threading.Lock()
        self.measures = self._measures(linkage=linkage, unpaired=unpaired)

    @property
    def columns(self) -> Columns:
        """What was read of the table beside the attributes to protect."""
        return self._kept | ({} if self._classes is None else {"classes": self._classes})

    def check(self) -> None:
        """Make every analysis of the original, so that what cannot be done is reported at once.

        Raises
        ------
        MicroveilError
            If one cannot be made.
        """
        if self._task is not None:
            self._baseline(self._task, 0)
        analyses = [one for one in self.measures.measured if _may_fail(one)]
        figures_of(self._tables(self._records), analyses)

    def measured(self, protected: Records) -> Figures:
        """Compare one release with the original by what needs no seed.

        Parameters
        ----------
        protected : Records
            Without pairs what needs them is left out.

        Returns
        -------
        dict
            None where the release does not allow an analysis, or leaves a figure undefined.

        Raises
        ------
        DataError
            If a value is beyond what can be measured.

        Notes
        -----
        Mostly that of record linkage: near O(n log n) for up to ten or so attributes.
        """
        asked = self.measures.measured
        figures = figures_of(
            self._tables(protected), [one for one in asked if not without_pairs(one)], _attempted
        )
        unpaired = [one for one in asked if without_pairs(one)]
        texts = {}
        if unpaired and set(protected.codes) == set(self._listed):
            texts = self._texts(protected)
        elif unpaired:  # what leaves an attribute out is held against nothing that has it
            unpaired = [one for one in unpaired if one.takes in OF_NUMBERS]
        whole = self._tables(protected, texts)
        return figures | figures_of(whole, unpaired, lambda _, work: _or_none(work))

    def learnt(self, protected: Records, run: int) -> Figures:
        """Measure what a classifier learns from one release.

        Parameters
        ----------
        protected : Records
            Without pairs they are learnt from with classes of their own, where they have some;
            else classes are the original's.
        run : int
            From 1; the classifier's seed is one less: 0 to 9 in IDP-2025.

        Returns
        -------
        dict
            None where the classifier cannot be trained with this seed, or where a class is
            not tested; empty where none is asked for.

        Notes
        -----
        A training, and of each seed another.
        """
        if self._task is None:
            return {}
        task, released = self._task, self._columns(protected.numbers)
        majority = task.f_measures(task.majority())
        undefined = np.full_like(majority, np.nan)
        learnt = _or_none(
            lambda: task.f_measures(task.predicted(released, run - 1, self._own_classes(protected)))
        )
        baseline = _or_none(lambda: self._baseline(task, run - 1))
        measured = (
            (F_MEASURE, undefined if learnt is None else learnt),
            (F_ORIGINAL, undefined if baseline is None else baseline),
            (F_MAJORITY, majority),
        )
        return {
            of_class(measure.id, label): _defined(figures[c])
            for c, label in enumerate(task.labels)
            for measure, figures in measured
        }

    def _columns(self, matrix: Matrix) -> Columns:
        return dict(zip(self._names, matrix.T, strict=True))

    def _own_classes(self, protected: Records) -> NDArray[Any] | None:
        """Read the classes of records that follow nobody; None where the original's are theirs.

        Raises
        ------
        DataError
            If they have none.
        """
        if protected.has_pairs:
            return None
        name = str(self._asked.classes)
        if name not in protected.columns:
            raise DataError("classes", "a release without pairs must have them", "protect them too")
        column = replace(protected.columns[name], reasons=None)  # a code is no class
        drawn = assembled(self._table, {name: restored(self._table, name, column)})
        return self._asked.class_column(open_table(drawn))

    def _set_up(self, classes: NDArray[Any]) -> ClassificationTask:
        learnt = {n: column for n, column in self._original.items() if n != self._asked.classes}
        if not learnt:
            raise DataError(
                "classes",
                "there is nothing to learn from beside the class attribute",
                "protect another numeric attribute too",
            )
        return classification_task(learnt, classes, estimator=self._asked.estimator)

    def _measures(self, *, linkage: bool, unpaired: bool) -> Measures:
        asked, task = self._asked, self._task
        return Measures(
            linkage=linkage,
            unpaired=unpaired,
            classes=asked.classes,
            threshold=asked.threshold,
            labels=() if task is None else task.labels,
            estimator=None if task is None else text_of_estimator(task.estimator),
            estimator_digest=None if task is None else digest_of_estimator(task.estimator),
            scikit_learn=None if task is None else version("scikit-learn"),
            formula=asked.formula,
            logistic=asked.logistic,
            propensity=asked.propensity,
        )

    def _tables(self, protected: Records, texts: Mapping[str, Codes] | None = None) -> Tables:
        """Set a release beside the original."""
        sides = [self._original | self._kept, self._columns(protected.numbers) | self._kept]
        for name, (before, after, categories) in (texts or {}).items():
            words = np.array(categories)
            sides[0][name], sides[1][name] = words[before], words[after]

        def columns(names: Iterable[str]) -> tuple[Columns, Columns]:
            wanted = list(names)
            return {n: sides[0][n] for n in wanted}, {n: sides[1][n] for n in wanted}

        return Tables(
            names=self._names,
            original=self._records.numbers,
            protected=protected.numbers,
            paired=protected.has_pairs,
            texts=texts or {},
            columns=columns,
            asked={**self._asked.to_dict(), **dict.fromkeys(SOUGHT, self.measures.linkage)},
        )

    def _texts(self, protected: Records) -> dict[str, Codes]:
        """Set the categories of a release beside the original's."""
        return {
            name: (self._records.codes[name], protected.codes[name], categories)
            for name, categories in self._listed.items()
        }

    def _baseline(self, task: ClassificationTask, seed: int) -> NDArray[np.float64]:
        """Return the F-measures of a classifier that is trained on the original."""
        with self._lock:
            future = self._baselines.get(seed)
            mine = future is None
            if future is None:
                future = self._baselines[seed] = Future()
        if mine:
            try:
                future.set_result(task.f_measures(task.predicted(self._original, seed)))
            except BaseException as error:
                future.set_exception(error)
                raise
        return future.result()


def _variables(asked: Analyses, reading: Reading, kept: set[str]) -> Columns:
    """Return the columns of the formula that a release would hold as they are."""
    table = reading.prepared.table
    check_columns(table, asked.variables, "original")
    for name in asked.variables:
        if name not in reading.names and name not in kept:
            raise RequestError(
                f"formula, column '{name}'",
                "a release has only what is protected, as numbers, and what is kept",
                f"protect '{name}', or pass it in keep",
            )
    return {n: column_of(table, n) for n in asked.variables if n not in reading.names}


def _may_fail(measure: Measure) -> bool:
    return measure.compared is not None and measure.compared.counted


def _attempted(measure: Measure, work: Callable[[], Any]) -> Any:
    return _or_none(work) if _may_fail(measure) else work()


def _or_none(work: Callable[[], Any]) -> Any:
    """Do what a release may not allow: a model of too few different values, for example."""
    try:
        return work()
    except MicroveilError:
        return None


def _defined(figure: float) -> float | None:
    return float(figure) if math.isfinite(figure) else None
