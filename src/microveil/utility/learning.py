"""Classification: what a model learnt from protected records still knows of original ones.

The protocol of IDP-2025, section 4.2: a classifier is trained on the first 66 % of the
protected records and tested on the other records of the original; classes come from the
original, but for a table without pairs, which is trained on with its own. For every class the
F-measure is reported, the harmonic mean of precision and recall. Beside it stand the same
classifier trained on the original, and the one guess for everybody that was right most often in
training: a figure near the first has lost nothing, a figure near the second has learnt nothing.

Any classifier of scikit-learn will do; without one it is a random forest of 100 trees, as
in the paper. scikit-learn is optional: ``pip install 'microveil[evaluate]'``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import RequestError
from microveil.utility.classification import (
    TRAIN_SHARE,
    ClassificationTask,
    classification_task,
    threshold_classes,
)
from microveil.utility.estimators import text_of_estimator
from microveil.utility.f_measure import MeanOverSeeds, mean_over_seeds
from microveil.utility.undefined import none_if_undefined

# With what a caller needs to set a comparison up and to read it.
__all__ = [
    "ClassComparison",
    "ClassificationComparison",
    "ClassificationTask",
    "classification_task",
    "compare_classification",
    "threshold_classes",
]

SEEDS = tuple(range(10))


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
            "majority": none_if_undefined(self.majority),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassificationComparison:
    """What was learnt from protected records; for the custodian, as it shows the original's.

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
    protected_classes: ArrayLike | None = None,
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
    protected_classes : array_like, shape (n_protected,), optional
        The protected table's own classes, where its records are in no common order with the
        original's: there may then be more or fewer of them.
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
    The baseline is trained on the first 66 % of the original's records whatever is protected.
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
        np.stack(
            [
                task.f_measures(task.predicted(table, seed, own))
                for table, seed in zip(trained, chosen, strict=True)
            ]
        )
        for trained, own in ((tables, protected_classes), ([original] * len(chosen), None))
    )
    for array in (after, before):
        array.setflags(write=False)
    majority = task.f_measures(task.majority())
    n_tested = np.bincount(task.classes[task.test], minlength=len(task.labels))
    return ClassificationComparison(
        estimator=text_of_estimator(task.estimator),
        seeds=chosen,
        confidence=confidence,
        n_train=len(task.train),
        n_test=len(task.test),
        n_left_out=len(task.classes) - len(task.train) - len(task.test),
        classes=tuple(
            ClassComparison(
                label=label,
                n_test=int(n_tested[c]),
                protected=mean_over_seeds(after[:, c], confidence),
                original=mean_over_seeds(before[:, c], confidence),
                loss=mean_over_seeds(before[:, c] - after[:, c], confidence),
                majority=float(majority[c]),
            )
            for c, label in enumerate(task.labels)
        ),
        protected=after,
        original=before,
    )
