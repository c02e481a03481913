"""What a classifier that was trained on the release still knows of the original.

The protocol of IDP-2025, section 4.2: it is trained on the first 66 % of the protected records,
with the original's classes (without pairs its own), and tested on the others of the original. Its
F-measures, the harmonic mean of precision and recall, stand beside those of the same classifier
trained on the original, and of the one guess for everybody that was right most often in training.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError, RequestError
from microveil.measures.base import (
    COLUMNS,
    Better,
    By,
    Compared,
    Figure,
    Group,
    Measure,
    Measured,
    figures,
    result_in,
)
from microveil.measures.models import Attributes, checked_attributes, complete_records, indicators
from microveil.measures.values import Floats, Mean, Whole, as_json, library, mean_of
from microveil.text.document import Block

CONFIDENCE = 0.95
# Of records without a missing cell the first so many in a hundred are trained on, as in IDP-2025.
TRAINED_ON = 66


def threshold_classes(
    values: ArrayLike, threshold: float, *, named: str | None = None
) -> NDArray[np.str_]:
    """Make two classes of numbers, the lower with the threshold in it; "" is missing."""
    column = checked_attributes({"class attribute": values}, "original data")["class attribute"]
    if column.dtype.kind == "U":
        rule = "a threshold needs numbers"
        remedy = "leave the threshold out: every category is a class then"
        raise DataError("class attribute", rule, remedy)
    called = f"{threshold:.15g}" if named is None else named
    names = np.where(column > threshold, f"> {called}", f"<= {called}")
    return np.where(np.isnan(column), "", names)


def f_measures(actual: Whole, predicted: Whole, n_classes: int) -> Floats:
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
    classes: Whole  # of every record of the original, counted from 0; -1 where it takes no part
    train: Whole  # positions of the first records that take part, and of the others
    test: Whole
    original: Attributes  # the attributes to learn from
    categories: Mapping[str, NDArray[np.str_]]  # of those that are text: what the original has

    def predicted(
        self, table: Mapping[str, ArrayLike], seed: int, classes: ArrayLike | None = None
    ) -> Whole:
        """Train on the first records of a table, and predict the others of the original.

        With ``classes`` of its own a table has other records than the original, as large a share of
        which is trained on; classes that the original does not have take no part.
        """
        columns = checked_attributes(
            {name: table[name] for name in self.original}, "protected data"
        )
        complete = complete_records(columns)
        if classes is None:
            own, train = self.classes, self.train[complete[self.train]]
        else:
            own = self._own_classes(classes, len(complete))
            usable = np.flatnonzero(complete & (own >= 0))
            train = usable[: len(usable) * TRAINED_ON // 100]
        if not len(train):
            rule = "no record to train on is without a missing cell"
            raise DataError("protected data", rule, "leave attributes with many missing cells out")
        trained, tested = self._matrix(columns, train), self._matrix(self.original, self.test)
        try:
            model = _seeded(self.estimator, seed).fit(trained, own[train])
            predicted = np.asarray(model.predict(tested)).astype(np.int64)
            if np.array_equal(predicted.clip(0, len(self.labels) - 1), predicted):
                return predicted.reshape(self.test.shape)
        except Exception:  # noqa: BLE001, S110 -- any class may be passed, which may raise anything
            pass
        # The message of a library may hold values, so it is not passed on.
        rule = "the classifier cannot be trained on these records"
        remedy = "pass one that takes numbers, or scale them in a scikit-learn pipeline"
        raise RequestError("estimator", rule, remedy)

    def majority(self) -> Whole:
        """Return the most frequent class of training as the guess for every record to test on."""
        return np.full(len(self.test), np.bincount(self.classes[self.train]).argmax())

    def f_measures(self, predicted: Whole) -> Floats:
        """Hold predictions against the original, class by class."""
        return f_measures(self.classes[self.test], predicted, len(self.labels))

    def _own_classes(self, classes: ArrayLike, n_records: int) -> Whole:
        """Return the classes of another table as those of the original, -1 for what is none."""
        (column,) = checked_attributes({"class": classes}, "protected data").values()
        if (column.dtype.kind, len(column)) != (self.values.dtype.kind, n_records):
            rule = "every record must have a class, as text or as a number as in the original"
            remedy = "write it the same way in both tables"
            raise DataError("protected data, class attribute", rule, remedy)
        place = np.minimum(np.searchsorted(self.values, column), len(self.values) - 1)
        return np.where(self.values[place] == column, place, -1).astype(np.int64)

    def _matrix(self, columns: Attributes, records: Whole) -> Floats:
        """Return attributes as numbers; categories as a column of 0 and 1 each."""
        known = self.categories
        return np.column_stack(
            [
                indicators(own[records], known[name]) if name in known else own[records]
                for name, own in columns.items()
            ]
        )


def classification_task(
    original: Mapping[str, ArrayLike], classes: ArrayLike, *, estimator: Any = None
) -> ClassificationTask:
    """Set up what is learnt of which records; put both tables into one random order before."""
    if not original:
        rule = "there is nothing to learn from beside the class attribute"
        raise DataError("classes", rule, "compare, or protect, other attributes too")
    columns = checked_attributes({**original}, "original data")
    wanted = checked_attributes({"class attribute": classes}, "original data")
    (column,) = wanted.values()
    taking_part = np.flatnonzero(complete_records(columns) & complete_records(wanted))
    values, codes = np.unique(column[taking_part], return_inverse=True)
    n_train = len(taking_part) * TRAINED_ON // 100
    if len(np.unique(codes[:n_train])) < 2 or n_train == len(taking_part):
        rule = "the records to train on must be of two classes or more, and some be left to test"
        remedy = "put both tables into one random order, or set another threshold"
        raise DataError("classes", rule, remedy)
    all_codes = np.full(len(column), -1, dtype=np.int64)
    all_codes[taking_part] = codes
    return ClassificationTask(
        estimator=_classifier(estimator),
        labels=_labels(values.tolist()),
        values=values,
        classes=all_codes,
        train=taking_part[:n_train],
        test=taking_part[n_train:],
        original=columns,
        categories={name: np.unique(own) for name, own in columns.items() if own.dtype.kind == "U"},
    )


def _classifier(estimator: Any) -> Any:
    """Return the default classifier, or the one asked for if it is one."""
    base = library("sklearn.base", "classification")
    if estimator is None:
        return library("sklearn.ensemble", "classification").RandomForestClassifier(
            n_estimators=100
        )
    try:
        is_one = isinstance(estimator, base.BaseEstimator) and base.is_classifier(estimator)
    except Exception:  # noqa: BLE001 -- any class may be passed, which may raise anything
        is_one = False
    if not is_one:
        rule = "it must be a classifier of scikit-learn"
        remedy = "pass one such as RandomForestClassifier(n_estimators=100)"
        raise RequestError("estimator", rule, remedy)
    return estimator


def _seeded(estimator: Any, seed: int) -> Any:
    """Return a fresh copy of an estimator with every random state in it set."""
    model = library("sklearn.base", "classification").clone(estimator)
    names = [name for name in model.get_params() if f"__{name}".endswith("__random_state")]
    return model.set_params(**dict.fromkeys(names, seed))


def _labels(classes: Sequence[Any]) -> tuple[str, ...]:
    """Name classes: numbers in 15 digits, or in all where two would have one name."""
    short = [label if isinstance(label, str) else format(label, ".15g") for label in classes]
    return tuple(
        name if short.count(name) == 1 else repr(label)
        for name, label in zip(short, classes, strict=True)
    )


def text_of_estimator(estimator: object) -> str:
    """Name an estimator as scikit-learn shows it, on one line, without places in memory."""
    try:
        shown = " ".join(repr(estimator).split())
    except Exception:  # noqa: BLE001 -- a class of the user's may raise anything
        return type(estimator).__name__
    return re.sub(r" at 0x[0-9a-fA-F]+", "", shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassComparison:
    """The F-measure of one class, 0 to 1, over the seeds.

    Intervals cover the luck of masking and forest, not that of the sample of people nor of the
    split.
    """

    label: str  # name of the class
    n_test: int  # records of the class among those tested
    protected: Mean  # trained on the protected and on the original records
    original: Mean
    loss: Mean  # original less protected, seed by seed
    majority: float  # of the most frequent class as the guess for everybody

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON knows them."""
        figures = as_json(self)
        return {"class": figures.pop("label"), **figures}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassificationComparison:
    """What was learnt from protected records; for the custodian, as it shows the original's."""

    attribute: str  # whose classes, where it has a name
    estimator: str  # the classifier, with its settings
    seeds: tuple[int, ...]  # of classifier and, where there is a table to each, masking
    n_train: int  # records trained on and tested
    n_test: int
    n_left_out: int  # records of the original with a missing cell or class
    classes: tuple[ClassComparison, ...]  # in the order of their names
    protected: Floats  # (n_seeds, n_classes): F-measures seed by seed
    original: Floats

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON knows it, without the figures of single seeds."""
        figures = as_json(self) | {"confidence": CONFIDENCE}
        return {name: figures[name] for name in figures if name not in {"protected", "original"}}


def compare_classification(
    original: Mapping[str, ArrayLike],
    protected: Mapping[str, ArrayLike] | Sequence[Mapping[str, ArrayLike]],
    classes: ArrayLike,
    *,
    protected_classes: ArrayLike | None = None,
    class_attribute: str = "",
    estimator: Any = None,
    seeds: Iterable[int] = range(10),
) -> ClassificationComparison:
    """Train on protected records, of one table or one a seed, and on original ones; test both."""
    chosen = tuple(seeds)
    original = {name: column for name, column in original.items() if name != class_attribute}
    tables = [protected] * len(chosen) if isinstance(protected, Mapping) else list(protected)
    task = classification_task(original, classes, estimator=estimator)
    after, before = (
        np.stack(
            [
                task.f_measures(task.predicted(table, seed, own))
                for table, seed in zip(trained, chosen, strict=True)
            ]
        )
        for trained, own in ((tables, protected_classes), ([original] * len(chosen), None))
    )
    majority = task.f_measures(task.majority())
    n_tested = np.bincount(task.classes[task.test], minlength=len(task.labels))
    return ClassificationComparison(
        attribute=class_attribute,
        estimator=text_of_estimator(task.estimator),
        seeds=chosen,
        n_train=len(task.train),
        n_test=len(task.test),
        n_left_out=len(task.classes) - len(task.train) - len(task.test),
        classes=tuple(
            ClassComparison(
                label=label,
                n_test=int(n_tested[c]),
                protected=mean_of(after[:, c]),
                original=mean_of(before[:, c]),
                loss=mean_of(before[:, c] - after[:, c]),
                majority=float(majority[c]),
            )
            for c, label in enumerate(task.labels)
        ),
        protected=after,
        original=before,
    )


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show figures by class, and what was trained on how many records."""
    own = result_in(found, ClassificationComparison)
    if own is None:
        return figures(found)
    seeds = "one seed" if len(own.seeds) == 1 else f"{len(own.seeds)} seeds"
    said = (
        f"Classes of {own.attribute}; {own.n_train:,} records trained on, "
        f"{own.n_test:,} tested, mean over {seeds}."
    )
    return figures(found, said)


def _protected(found: ClassificationComparison) -> dict[str, Figure]:
    return {
        one.label: Figure(
            value=one.protected.value, interval=one.protected.interval, beside=one.original.value
        )
        for one in found.classes
    }


_measure = partial(
    Measure,
    function=compare_classification,
    takes=COLUMNS,
    needs_pairs=False,  # without pairs a release is learnt from with classes of its own
    by=By.CLASS,
    highest=1.0,
    better=Better.HIGHER,
    group=Group(title="Classification", beside="original", show=_show),
    entry="classification",
    asked_by="classes",
    arguments=("classes", "protected_classes", "class_attribute", "estimator"),
)

F_MEASURE = _measure(
    id="f_measure",
    label="F-measure",
    short="protected",
    explanation="0 = never right, 1 = always; the original's is what there was to learn",
    figure=_protected,
    compared=Compared(seeded=True, counted=True),
)
F_ORIGINAL = _measure(
    id="f_measure_original",
    label="F-measure, trained on the original",
    short="original",
    explanation="what there was to learn",
    figure=lambda found: {own.label: own.original.value for own in found.classes},
    compared=Compared(seeded=True, counted=True, tabulated=False),
)
F_MAJORITY = _measure(
    id="f_measure_majority",
    label="F-measure of the most frequent class",
    short="majority",
    explanation="the guess of who learnt nothing",
    figure=lambda found: {own.label: own.majority for own in found.classes},
    compared=Compared(varies=False, tabulated=False),
)

MEASURES = (F_MEASURE, F_ORIGINAL, F_MAJORITY)
