"""A classification task: which classifier is trained on which records, and tested on which.

The records to test on come from the original, and their classes. So do the classes to train with,
but for a table without pairs, which has classes of its own. Any classifier of scikit-learn will
do; without one it is a random forest of 100 trees.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError, RequestError
from microveil.measures.models import (
    Attributes,
    checked_attributes,
    complete_records,
    indicators,
)

# Of records without a missing cell the first so many in a hundred are trained on, as in IDP-2025.
TRAINED_ON = 66


def threshold_classes(
    values: ArrayLike, threshold: float, *, named: str | None = None
) -> NDArray[np.str_]:
    """Make two classes of numbers: up to a threshold, itself included, and above; "" where missing.

    ``named`` is what the names of the classes call the threshold, by default its 15 digits.
    """
    column = checked_attributes({"class attribute": values}, "original data")["class attribute"]
    if column.dtype.kind == "U":
        raise DataError(
            "class attribute",
            "a threshold needs numbers",
            "leave the threshold out: every category is a class then",
        )
    called = f"{threshold:.15g}" if named is None else named
    names = np.where(column > threshold, f"> {called}", f"<= {called}")
    return np.where(np.isnan(column), "", names)


def f_measures(
    actual: NDArray[np.int64], predicted: NDArray[np.int64], n_classes: int
) -> NDArray[np.float64]:
    """Return 2 TP / (2 TP + FP + FN) of every class, counted from 0; NaN where no record has it."""
    from sklearn.metrics import f1_score

    # A column to each class: many classes of few records would be taken for a regression.
    of_class = [np.equal.outer(classes, np.arange(n_classes)) for classes in (actual, predicted)]
    # scikit-learn says 0 of a class that no record has as soon as some record is taken for it.
    measures = f1_score(*of_class, average=None, zero_division=0)
    return np.where(of_class[0].any(axis=0), measures, np.nan)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassificationTask:
    """What is learnt and tested: everything but the records to train on and the seed."""

    estimator: Any  # a classifier of scikit-learn, cloned for every training
    labels: tuple[str, ...]  # names of the classes
    values: NDArray[Any]  # what the classes are in the data, in the order of their labels
    # (n_records,): of every record of the original, counted from 0; -1 for a record that takes no
    # part.
    classes: NDArray[np.int64]
    train: NDArray[np.int64]  # positions of the first records that take part, and of the others
    test: NDArray[np.int64]
    original: Attributes  # the attributes to learn from
    # Of those that are text: what occurs in the original.
    categories: Mapping[str, NDArray[np.str_]]

    def predicted(
        self, table: Mapping[str, ArrayLike], seed: int, classes: ArrayLike | None = None
    ) -> NDArray[np.int64]:
        """Train on the first records of a table, and predict the others of the original.

        The table is the release, or the original for the baseline; a record to train on that has a
        missing cell is left out. The seed is for every ``random_state`` that the classifier has.
        With ``classes`` of its own a table has other records than the original: its first ones
        are trained on, as large a share; classes that the original does not have take no part.
        """
        columns = self._columns(table, as_long=classes is None)
        complete = complete_records(columns)
        if classes is None:
            own, train = self.classes, self.train[complete[self.train]]
        else:
            own = self._own_classes(classes, len(complete))
            usable = np.flatnonzero(complete & (own >= 0))
            train = usable[: len(usable) * TRAINED_ON // 100]
        if not len(train):
            raise DataError(
                "protected data",
                "no record to train on is without a missing cell",
                "leave attributes with many missing cells out",
            )
        trained, tested = self._matrix(columns, train), self._matrix(self.original, self.test)
        try:
            model = _seeded(self.estimator, seed).fit(trained, own[train])
            predicted = np.asarray(model.predict(tested)).astype(np.int64)
            if np.array_equal(predicted.clip(0, len(self.labels) - 1), predicted):
                return predicted.reshape(self.test.shape)
        except Exception:  # noqa: BLE001, S110 -- any class may be passed, which may raise anything
            pass
        # The message of a library may hold values, so it is not passed on.
        raise RequestError(
            "estimator",
            "the classifier cannot be trained on these records",
            "pass one that takes numbers, or scale them in a scikit-learn pipeline",
        )

    def majority(self) -> NDArray[np.int64]:
        """Return the most frequent class of training as the guess for every record to test on."""
        return np.full(len(self.test), np.bincount(self.classes[self.train]).argmax())

    def f_measures(self, predicted: NDArray[np.int64]) -> NDArray[np.float64]:
        """Hold predictions against the original, class by class."""
        return f_measures(self.classes[self.test], predicted, len(self.labels))

    def _own_classes(self, classes: ArrayLike, n_records: int) -> NDArray[np.int64]:
        """Return the classes of another table as those of the original, -1 for what is none."""
        (column,) = checked_attributes({"class": classes}, "protected data").values()
        if (column.dtype.kind, len(column)) != (self.values.dtype.kind, n_records):
            raise DataError(
                "protected data, class attribute",
                "every record must have a class, as text or as a number as in the original",
                "write it the same way in both tables",
            )
        place = np.minimum(np.searchsorted(self.values, column), len(self.values) - 1)
        return np.where(self.values[place] == column, place, -1).astype(np.int64)

    def _columns(self, table: Mapping[str, ArrayLike], *, as_long: bool) -> Attributes:
        columns = checked_attributes(
            {name: table[name] for name in self.original if name in table}, "protected data"
        )
        for name, column in self.original.items():
            found = columns.get(name, np.empty(0, dtype=np.bool_))
            if found.dtype.kind != column.dtype.kind or (as_long and len(found) != len(column)):
                raise DataError(
                    f"protected data, '{name}'",
                    "it must be there as in the original, as numbers or as text, record by record",
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
) -> ClassificationTask:
    """Set up what is learnt from attributes of the original, and on which records it is tested.

    The class attribute is none of them; each value of ``classes``, text or numbers, is a class. The
    first 66 % of the records without a missing cell are trained on: where their order goes with the
    class, put both tables into one random order before. The default estimator is
    ``RandomForestClassifier(n_estimators=100)``.
    """
    columns = checked_attributes({**original}, "original data")
    wanted = checked_attributes({"class attribute": classes}, "original data")
    if len(wanted["class attribute"]) != len(next(iter(columns.values()))):
        raise DataError(
            "classes", "every record of the original must have one", "pass one array of its length"
        )
    taking_part = np.flatnonzero(complete_records(columns) & complete_records(wanted))
    values, codes = np.unique(wanted["class attribute"][taking_part], return_inverse=True)
    n_train = len(taking_part) * TRAINED_ON // 100
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
        labels=_labels(values.tolist()),
        values=values,
        classes=all_codes,
        train=taking_part[:n_train],
        test=taking_part[n_train:],
        original=columns,
        categories={
            name: np.unique(column) for name, column in columns.items() if column.dtype.kind == "U"
        },
    )


def _scikit_learn(module: str) -> Any:
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError:
        raise RequestError(
            "classification",
            "it needs scikit-learn, which is not installed",
            "install it with: pip install 'microveil[report]'",
        ) from None


def _classifier(estimator: Any) -> Any:
    """Return the default classifier, or the one asked for if it is one."""
    base = _scikit_learn("base")
    if estimator is None:
        return _scikit_learn("ensemble").RandomForestClassifier(n_estimators=100)
    try:
        is_one = isinstance(estimator, base.BaseEstimator) and base.is_classifier(estimator)
    except Exception:  # noqa: BLE001 -- any class may be passed, which may raise anything
        is_one = False
    if not is_one:
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


def _labels(classes: Sequence[Any]) -> tuple[str, ...]:
    """Name classes: numbers in 15 digits, or in all where two would have one name."""
    short = [label if isinstance(label, str) else format(label, ".15g") for label in classes]
    return tuple(
        name if short.count(name) == 1 else repr(label)
        for name, label in zip(short, classes, strict=True)
    )
