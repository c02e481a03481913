"""Classification: what a model learnt from protected records still knows of original ones.

The protocol of IDP-2025, section 4.2: a classifier is trained on the first 66 % of the
protected records and tested on the other records of the original; classes always come from
the original. For every class the F-measure is told, the harmonic mean of precision and
recall. Beside it stand the same classifier trained on the original, and the one guess for
everybody that was right most often in training: a figure near the first has lost nothing,
a figure near the second has learnt nothing.

Any classifier of scikit-learn will do; without one it is a random forest of 100 trees, as
in the paper. scikit-learn is optional: ``pip install 'microveil[evaluate]'``.
"""

import importlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from microveil.errors import DataError, RequestError
from microveil.utility.propensity import (
    Attributes,
    checked_attributes,
    complete_records,
    indicators,
)

__all__ = [
    "ClassComparison",
    "ClassificationComparison",
    "ClassificationTask",
    "MeanOverSeeds",
    "classification_task",
    "compare_classification",
    "confusion_matrix",
    "f_measures",
    "mean_over_seeds",
    "threshold_classes",
]

TRAIN_SHARE = 0.66
SEEDS = tuple(range(10))


def threshold_classes(values: ArrayLike, threshold: float) -> NDArray[np.str_]:
    """Make two classes of a numeric attribute.

    Parameters
    ----------
    values : array_like, shape (n_records,)
        Numbers; NaN or None is missing.
    threshold : float
        The first class reaches up to it, itself included; the second lies above.

    Returns
    -------
    ndarray of str, shape (n_records,)
        Names of the classes, empty where missing.

    Raises
    ------
    DataError
        If the attribute is not numeric.

    Examples
    --------
    >>> threshold_classes([5, 6, 7, None], 6)
    array(['<= 6', '<= 6', '> 6', ''], dtype='<U4')
    """
    column = checked_attributes({"class attribute": values}, "original data")["class attribute"]
    if column.dtype.kind == "U":
        raise DataError(
            "class attribute",
            "a threshold needs numbers",
            "leave the threshold out: every category is a class then",
        )
    names = np.where(column > threshold, f"> {threshold:.15g}", f"<= {threshold:.15g}")
    return np.where(np.isnan(column), "", names)


def confusion_matrix(
    actual: NDArray[np.int64], predicted: NDArray[np.int64], n_classes: int
) -> NDArray[np.int64]:
    """Count the records of each class that were taken for each.

    Parameters
    ----------
    actual, predicted : ndarray of int64, shape (n_records,)
        Classes, counted from 0.
    n_classes : int

    Returns
    -------
    ndarray of int64, shape (n_classes, n_classes)
        Rows are actual, columns predicted classes.

    Examples
    --------
    >>> confusion_matrix(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    array([[1, 1],
           [0, 1]])
    """
    counts = np.bincount(actual * n_classes + predicted, minlength=n_classes * n_classes)
    return counts.reshape(n_classes, n_classes)


def f_measures(confusion: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute the F-measure of every class: 2 TP / (2 TP + FP + FN).

    Parameters
    ----------
    confusion : ndarray of int64, shape (n_classes, n_classes)
        As `confusion_matrix`.

    Returns
    -------
    ndarray of float64, shape (n_classes,)
        0 to 1; 0 where a class is never predicted, NaN where no record has it.

    Examples
    --------
    >>> f_measures(np.array([[6, 2], [2, 0]]))
    array([0.75, 0.  ])
    """
    actual, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    measures = np.full(len(confusion), np.nan)
    np.divide(2.0 * confusion.diagonal(), actual + predicted, out=measures, where=actual > 0)
    return measures


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanOverSeeds:
    """A mean over seeds, and how sure it is.

    Parameters
    ----------
    value : float
        The mean; NaN where a value is undefined.
    interval : tuple[float, float]
        Student's confidence interval of the mean; NaN with one seed. It covers the luck of
        masking and forest, not that of the sample of people nor of the split.
    standard_deviation : float
        Of single seeds; NaN with one.
    """

    value: float
    interval: tuple[float, float]
    standard_deviation: float

    def to_dict(self) -> dict[str, Any]:
        """Return the mean as JSON knows it: None instead of NaN.

        >>> mean_over_seeds([0.5, 0.5]).to_dict()
        {'value': 0.5, 'interval': [0.5, 0.5], 'standard_deviation': 0.0}
        """
        return {
            "value": _plain(self.value),
            "interval": [_plain(end) for end in self.interval],
            "standard_deviation": _plain(self.standard_deviation),
        }


def mean_over_seeds(values: ArrayLike, confidence: float = 0.95) -> MeanOverSeeds:
    """Average values that differ by their seeds.

    Parameters
    ----------
    values : array_like, shape (n_seeds,)
    confidence : float
        Between 0 and 1.

    Returns
    -------
    MeanOverSeeds

    Examples
    --------
    >>> mean = mean_over_seeds([0.8, 0.9, 1.0])
    >>> round(mean.value, 3), [round(end, 3) for end in mean.interval]
    (0.9, [0.652, 1.148])
    """
    array = np.asarray(values, dtype=np.float64)
    mean, deviation, reach = float(array.mean()), math.nan, math.nan
    if len(array) > 1:
        deviation = float(array.std(ddof=1))
        quantile = float(stdtrit(len(array) - 1, (1 + confidence) / 2))
        reach = quantile * deviation / math.sqrt(len(array))
    return MeanOverSeeds(
        value=mean, interval=(mean - reach, mean + reach), standard_deviation=deviation
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassificationTask:
    """What is learnt and tested: everything but the records to train on and the seed.

    Parameters
    ----------
    estimator : object
        A classifier of scikit-learn, cloned for every training.
    labels : tuple of str
        Names of the classes.
    classes : ndarray of int64, shape (n_records,)
        Of every record of the original, counted from 0; -1 for a record that takes no part.
    train : ndarray of int64, shape (n_train,)
        Positions of the first records that take part.
    test : ndarray of int64, shape (n_test,)
        Positions of the others.
    original : dict of ndarray
        The attributes to learn from.
    categories : dict of ndarray
        Of those that are text: what occurs in the original.
    """

    estimator: Any
    labels: tuple[str, ...]
    classes: NDArray[np.int64]
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    original: Attributes
    categories: Mapping[str, NDArray[np.str_]]

    def confusion(self, table: Mapping[str, ArrayLike], seed: int) -> NDArray[np.int64]:
        """Train on the first records of a table, and test on the others of the original.

        Parameters
        ----------
        table : mapping of array_like, each of shape (n_records,)
            The protected table, or the original for the baseline; a record to train on
            that has a missing cell is left out.
        seed : int
            For every ``random_state`` that the classifier has.

        Returns
        -------
        ndarray of int64, shape (n_classes, n_classes)
            As `confusion_matrix`.

        Raises
        ------
        DataError
            If the table does not have the attributes or the length of the original, or no
            complete record to train on.
        RequestError
            If the classifier cannot be trained.
        """
        columns = self._columns(table)
        train = self.train[complete_records(columns)[self.train]]
        if not len(train):
            raise DataError(
                "protected data",
                "no record to train on is without a missing cell",
                "leave attributes with many missing cells out",
            )
        model = _seeded(self.estimator, seed)
        try:
            model.fit(self._matrix(columns, train), self.classes[train])
            predicted = np.asarray(model.predict(self._matrix(self.original, self.test)))
        except (TypeError, ValueError):
            # A library's message may hold values, so it is not passed on.
            raise RequestError(
                "estimator",
                "the classifier cannot be trained on these records",
                "pass one that takes numbers, or scale them in a scikit-learn pipeline",
            ) from None
        return confusion_matrix(
            self.classes[self.test], predicted.astype(np.int64), len(self.labels)
        )

    def majority(self) -> NDArray[np.int64]:
        """Return the confusion of guessing the most frequent class of training always.

        Returns
        -------
        ndarray of int64, shape (n_classes, n_classes)
        """
        most = np.bincount(self.classes[self.train], minlength=len(self.labels)).argmax()
        guessed = np.full(len(self.test), most, dtype=np.int64)
        return confusion_matrix(self.classes[self.test], guessed, len(self.labels))

    def _columns(self, table: Mapping[str, ArrayLike]) -> Attributes:
        columns = checked_attributes(
            {name: table[name] for name in self.original if name in table}, "protected data"
        )
        for name, column in self.original.items():
            found = columns.get(name)
            if found is None or (found.dtype.kind, len(found)) != (column.dtype.kind, len(column)):
                raise DataError(
                    f"protected data, '{name}'",
                    "it must be there as in the original, record by record",
                    "pass the same records in the same order, numbers as numbers",
                )
        return columns

    def _matrix(self, columns: Attributes, records: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return attributes as numbers; categories as a column of 0 and 1 each."""
        return np.column_stack(
            [
                indicators(column[records], self.categories[name])
                if name in self.categories
                else column[records]
                for name, column in columns.items()
            ]
        )


def classification_task(
    original: Mapping[str, ArrayLike],
    classes: ArrayLike,
    *,
    estimator: Any = None,
    train_share: float = TRAIN_SHARE,
) -> ClassificationTask:
    """Set up what is learnt and tested.

    Parameters
    ----------
    original : mapping of array_like, each of shape (n_records,)
        The attributes to learn from, without the class attribute: numbers or text.
    classes : array_like, shape (n_records,)
        The original's classes: text or numbers, each value a class. See `threshold_classes`.
    estimator : object, optional
        A classifier of scikit-learn; by default ``RandomForestClassifier(n_estimators=100)``.
    train_share : float
        Between 0 and 1: the first floor(share n) of the n records without a missing cell
        are trained on.

    Returns
    -------
    ClassificationTask

    Raises
    ------
    RequestError
        If scikit-learn is not installed, the estimator is no classifier, or the share is
        not between 0 and 1.
    DataError
        If there are fewer than two classes to train on, or nothing to test on.

    Notes
    -----
    The order of the records decides which are trained on, as in IDP-2025. Where it goes with
    the class, put both tables into one random order before.
    """
    if not 0 < train_share < 1:
        raise RequestError(
            "train_share", "it must lie between 0 and 1", f"pass train_share={TRAIN_SHARE}"
        )
    columns = checked_attributes({**original}, "original data")
    wanted = checked_attributes({"class attribute": classes}, "original data")
    if len(wanted["class attribute"]) != len(next(iter(columns.values()))):
        raise DataError(
            "classes", "every record of the original must have one", "pass one array of its length"
        )
    taking_part = np.flatnonzero(complete_records(columns) & complete_records(wanted))
    labels, codes = np.unique(wanted["class attribute"][taking_part], return_inverse=True)
    # As a fraction: 0.66 x 150 in floating point can fall just short of 99.
    n_train = math.floor(Fraction(str(train_share)) * len(taking_part))
    if len(np.unique(codes[:n_train])) < 2 or n_train == len(taking_part):
        raise DataError(
            "classes",
            "the records to train on must be of two classes or more, and some be left to test",
            "put both tables into one random order, or set another threshold",
        )
    all_codes = np.full(len(wanted["class attribute"]), -1, dtype=np.int64)
    all_codes[taking_part] = codes
    return ClassificationTask(
        estimator=_classifier(estimator),
        labels=tuple(_label(label) for label in labels.tolist()),
        classes=all_codes,
        train=taking_part[:n_train],
        test=taking_part[n_train:],
        original=columns,
        categories={
            name: np.unique(column) for name, column in columns.items() if column.dtype.kind == "U"
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassComparison:
    """The F-measure of one class, 0 to 1, over the seeds.

    Parameters
    ----------
    label : str
        Name of the class.
    n_test : int
        Records of the class among those tested.
    protected, original : MeanOverSeeds
        Trained on the protected and on the original records.
    loss : MeanOverSeeds
        Original less protected, seed by seed.
    majority : float
        Of the most frequent class as the guess for everybody.
    """

    label: str
    n_test: int
    protected: MeanOverSeeds
    original: MeanOverSeeds
    loss: MeanOverSeeds
    majority: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON knows them; what is undefined is None."""
        return {
            "class": self.label,
            "n_test": self.n_test,
            "protected": self.protected.to_dict(),
            "original": self.original.to_dict(),
            "loss": self.loss.to_dict(),
            "majority": _plain(self.majority),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassificationComparison:
    """What was learnt from protected records; for the custodian, as it tells of the original.

    Parameters
    ----------
    estimator : str
        The classifier, with its settings.
    seeds : tuple of int
        Of classifier and, where there is a table to each, masking.
    confidence : float
        Of every interval.
    n_train, n_test : int
        Records trained on and tested.
    n_left_out : int
        Records of the original with a missing cell or class.
    classes : tuple of ClassComparison
        In the order of their names.
    protected, original : ndarray of float64, shape (n_seeds, n_classes)
        F-measures seed by seed; read-only.
    """

    estimator: str
    seeds: tuple[int, ...]
    confidence: float
    n_train: int
    n_test: int
    n_left_out: int
    classes: tuple[ClassComparison, ...]
    protected: NDArray[np.float64]
    original: NDArray[np.float64]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON knows it; what is undefined is None."""
        return {
            "estimator": self.estimator,
            "seeds": list(self.seeds),
            "confidence": self.confidence,
            "n_train": self.n_train,
            "n_test": self.n_test,
            "n_left_out": self.n_left_out,
            "classes": [compared.to_dict() for compared in self.classes],
        }


def compare_classification(
    original: Mapping[str, ArrayLike],
    protected: Mapping[str, ArrayLike] | Sequence[Mapping[str, ArrayLike]],
    classes: ArrayLike,
    *,
    estimator: Any = None,
    seeds: Iterable[int] = SEEDS,
    train_share: float = TRAIN_SHARE,
    confidence: float = 0.95,
) -> ClassificationComparison:
    """Train a classifier on protected and on original records, and test both on the original.

    Parameters
    ----------
    original : mapping of array_like, each of shape (n_records,)
        The attributes to learn from, without the class attribute: numbers or text.
    protected : mapping of array_like, or a sequence of them
        The same records in the same order; one table for all seeds, or one to each.
    classes : array_like, shape (n_records,)
        The original's classes, as `threshold_classes` makes them, or categories.
    estimator : object, optional
        A classifier of scikit-learn; by default a random forest of 100 trees.
    seeds : iterable of int
        The classifier's; 0 to 9 in the protocol.
    train_share : float
        Between 0 and 1; 0.66 in the protocol.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    ClassificationComparison
        F-measures by class, with both baselines.

    Raises
    ------
    RequestError
        If scikit-learn is not installed, the estimator is no classifier or cannot be
        trained, or there are not as many tables as seeds.
    DataError
        If the tables do not correspond, or the records do not have two classes to train on.

    Notes
    -----
    Two trainings for each seed. To compare many releases of one table make one
    `classification_task`: its baseline has to be trained once only.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> income = generator.normal(size=300)
    >>> noisy = income + generator.normal(size=300)
    >>> found = compare_classification(
    ...     {"INCOME": income}, {"INCOME": noisy}, threshold_classes(income, 0.5), seeds=range(3)
    ... )
    >>> [compared.original.value > 0.95 for compared in found.classes]
    [True, True]
    >>> found.classes[1].protected.value < 0.95, found.classes[1].majority
    (True, 0.0)
    """
    if not 0 < confidence < 1:
        raise RequestError("confidence", "it must lie between 0 and 1", "pass confidence=0.95")
    chosen = tuple(seeds)
    tables = [protected] * len(chosen) if isinstance(protected, Mapping) else list(protected)
    if not chosen or len(tables) != len(chosen) or not all(0 <= s < 1 << 32 for s in chosen):
        raise RequestError(
            "seeds",
            "there must be one or more, as many as tables, each from 0 to 4294967295",
            "pass a seed to each table",
        )
    task = classification_task(original, classes, estimator=estimator, train_share=train_share)
    after, before = (
        np.stack([f_measures(task.confusion(t, seed)) for t, seed in zip(ts, chosen, strict=True)])
        for ts in (tables, [original] * len(chosen))
    )
    for array in (after, before):
        array.setflags(write=False)
    majority = task.majority()
    return ClassificationComparison(
        estimator=" ".join(repr(task.estimator).split()),
        seeds=chosen,
        confidence=confidence,
        n_train=len(task.train),
        n_test=len(task.test),
        n_left_out=len(task.classes) - len(task.train) - len(task.test),
        classes=tuple(
            ClassComparison(
                label=label,
                n_test=int(majority[c].sum()),
                protected=mean_over_seeds(after[:, c], confidence),
                original=mean_over_seeds(before[:, c], confidence),
                loss=mean_over_seeds(before[:, c] - after[:, c], confidence),
                majority=float(f_measures(majority)[c]),
            )
            for c, label in enumerate(task.labels)
        ),
        protected=after,
        original=before,
    )


def _scikit_learn(module: str) -> Any:
    """Import a module of the optional scikit-learn."""
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError:
        raise RequestError(
            "classification",
            "it needs scikit-learn, which is not installed",
            "install it with: pip install 'microveil[evaluate]'",
        ) from None


def _classifier(estimator: Any) -> Any:
    """Return the default classifier, or the one asked for if it is one."""
    base = _scikit_learn("base")
    if estimator is None:
        return _scikit_learn("ensemble").RandomForestClassifier(n_estimators=100)
    if isinstance(estimator, type) or not (
        isinstance(estimator, base.BaseEstimator) and base.is_classifier(estimator)
    ):
        raise RequestError(
            "estimator",
            "it must be a classifier of scikit-learn",
            "pass one such as RandomForestClassifier(n_estimators=100)",
        )
    return estimator


def _seeded(estimator: Any, seed: int) -> Any:
    """Return a fresh copy of an estimator with every random state in it set."""
    model = _scikit_learn("base").clone(estimator)
    states = [
        name
        for name in model.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    ]
    return model.set_params(**dict.fromkeys(states, seed))


def _label(label: Any) -> str:
    return label if isinstance(label, str) else format(label, ".15g")


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
