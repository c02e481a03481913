"""What a classifier that was trained on the release still knows of the original.

The protocol of IDP-2025, section 4.2: a classifier is trained on the first 66 % of the
protected records and tested on the other records of the original; classes come from the
original, but for a table without pairs, which is trained on with its own. For every class the
F-measure is reported, the harmonic mean of precision and recall. Beside it stand the same
classifier trained on the original, and the one guess for everybody that was right most often in
training: a figure near the first has lost nothing, a figure near the second has learnt nothing.
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
    Better,
    By,
    Compared,
    Entry,
    Figure,
    Group,
    Measure,
    Measured,
    Takes,
    as_json,
)
from microveil.measures.classification import classification_task
from microveil.measures.estimates import mean_with_reach
from microveil.measures.showing import figures
from microveil.text.document import Block

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanOverSeeds:
    """A mean over seeds, and how sure it is."""

    value: float  # the mean; NaN where a value is undefined
    # Student's confidence interval of the mean; NaN with one seed. It covers the luck of masking
    # and forest, not that of the sample of people nor of the split.
    interval: tuple[float, float]
    standard_deviation: float  # of single seeds; NaN with one


def mean_over_seeds(values: ArrayLike) -> MeanOverSeeds:
    """Average values that differ by their seeds."""
    mean, reach, deviation = mean_with_reach(values, CONFIDENCE)
    return MeanOverSeeds(
        value=mean, interval=(mean - reach, mean + reach), standard_deviation=deviation
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
    """The F-measure of one class, 0 to 1, over the seeds."""

    label: str  # name of the class
    n_test: int  # records of the class among those tested
    protected: MeanOverSeeds  # trained on the protected and on the original records
    original: MeanOverSeeds
    loss: MeanOverSeeds  # original less protected, seed by seed
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
    protected: NDArray[np.float64]  # (n_seeds, n_classes): F-measures seed by seed
    original: NDArray[np.float64]

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
    """Train a classifier on protected and on original records, and test both on the original.

    Both tables are attributes to learn from, numbers or text, without the class attribute; there
    may be a protected one to each seed. With ``protected_classes`` its records are in no common
    order with the original's. By default the classifier is a random forest of 100 trees. To compare
    many releases of one table make one `classification_task`, and train its baseline once.
    """
    if not original:
        raise DataError(
            "classes",
            "there is nothing to learn from beside the class attribute",
            "compare other attributes too",
        )
    chosen = tuple(seeds)
    tables = [protected] * len(chosen) if isinstance(protected, Mapping) else list(protected)
    if not chosen or len(tables) != len(chosen):
        raise RequestError(
            "seeds", "there must be one or more, as many as tables", "pass a seed to each table"
        )
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
                protected=mean_over_seeds(after[:, c]),
                original=mean_over_seeds(before[:, c]),
                loss=mean_over_seeds(before[:, c] - after[:, c]),
                majority=float(majority[c]),
            )
            for c, label in enumerate(task.labels)
        ),
        protected=after,
        original=before,
    )


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show figures by class, and what was trained on how many records."""
    results = (one.result for one in found)
    compared = next((own for own in results if isinstance(own, ClassificationComparison)), None)
    if compared is None:
        return figures(found)
    seeds = "one seed" if len(compared.seeds) == 1 else f"{len(compared.seeds)} seeds"
    said = (
        f"Classes of {compared.attribute}; {compared.n_train:,} records trained on, "
        f"{compared.n_test:,} tested, mean over {seeds}."
    )
    return figures(found, said)


LEARNING = Group(title="Classification", beside="original", show=_show)


def _protected(found: ClassificationComparison) -> dict[str, Figure]:
    return {
        compared.label: Figure(
            value=compared.protected.value,
            interval=compared.protected.interval,
            beside=compared.original.value,
        )
        for compared in found.classes
    }


_measure = partial(
    Measure,
    function=compare_classification,
    takes=Takes.PREDICTORS,
    needs_pairs=False,  # without pairs a release is learnt from with classes of its own
    by=By.CLASS,
    highest=1.0,
    better=Better.HIGHER,
    group=LEARNING,
    entry=Entry(name="classification"),
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
