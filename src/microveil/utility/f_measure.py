"""F-measures of a classifier, class by class, and their means over seeds."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike, NDArray

from microveil.utility.undefined import none_if_undefined

__all__ = ["MeanOverSeeds", "f_measures", "mean_over_seeds"]


def f_measures(
    actual: NDArray[np.int64], predicted: NDArray[np.int64], n_classes: int
) -> NDArray[np.float64]:
    """Compute the F-measure of every class: 2 TP / (2 TP + FP + FN).

    scikit-learn's, but for a class that no record has: there it says 0 as soon as some record
    is taken for it, and what it is asked to say otherwise.

    Parameters
    ----------
    actual, predicted : ndarray of int64, shape (n_records,)
        Classes, counted from 0.
    n_classes : int
        Two or more.

    Returns
    -------
    ndarray of float64, shape (n_classes,)
        0 to 1; 0 where a class is never predicted, NaN where no record has it.

    Examples
    --------
    >>> f_measures(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 0]), 3)
    array([0.66666667, 0.        ,        nan])
    """
    from sklearn.metrics import f1_score

    # A column to each class: many classes of few records would be taken for a regression.
    of_class = [np.equal.outer(classes, np.arange(n_classes)) for classes in (actual, predicted)]
    measures = f1_score(*of_class, average=None, zero_division=0)
    return np.where(of_class[0].any(axis=0), measures, np.nan)


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
            "value": none_if_undefined(self.value),
            "interval": [none_if_undefined(end) for end in self.interval],
            "standard_deviation": none_if_undefined(self.standard_deviation),
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
        quantile = float(scipy.special.stdtrit(len(array) - 1, (1 + confidence) / 2))
        reach = quantile * deviation / math.sqrt(len(array))
    return MeanOverSeeds(
        value=mean, interval=(mean - reach, mean + reach), standard_deviation=deviation
    )
