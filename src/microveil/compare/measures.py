"""Which figures the runs of a comparison have: the columns of its tables."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microveil.compare.measuring import CHANCE, LOSSES, RISKS

__all__ = [
    "F_MAJORITY",
    "F_MEASURE",
    "F_ORIGINAL",
    "OVERLAP",
    "PROPENSITY",
    "Measure",
    "Measures",
    "of_class",
]

# Of a class: trained on the release, trained on the original, and the majority as the guess.
F_MEASURE, F_ORIGINAL, F_MAJORITY = "f_measure", "f_measure_original", "f_measure_majority"
OVERLAP, PROPENSITY = "coefficient_overlap", "propensity_ratio"
# What the name of a learner hangs on, beside the attribute and the threshold.
OF_CLASSES = ("threshold", "labels", "estimator", "estimator_digest", "scikit_learn")


def of_class(figure: str, label: str) -> str:
    """Name the column of a class.

    >>> of_class("f_measure", "> 30000")
    'f_measure[> 30000]'
    """
    return f"{figure}[{label}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One figure of a run.

    Attributes
    ----------
    name : str
        Of its column.
    lowest, highest : float
        What it cannot be beyond.
    varies : bool
        Whether it differs from run to run, so that there is a mean with an interval.
    seeded : bool
        Whether each run has a seed of its own for it, also where the method draws nothing.
    counted : bool
        Whether a release may leave it undefined, so that the runs that have it are counted.
    """

    name: str
    lowest: float = 0.0
    highest: float = math.inf
    varies: bool = True
    seeded: bool = False
    counted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What is measured, by default loss and linkage.

    Attributes
    ----------
    linkage : bool
    classes : str or None
        The class attribute.
    threshold : float or None
    labels : tuple of str
        Names of the classes.
    estimator, estimator_digest, scikit_learn : str or None
        The classifier with its settings to read, a digest of all of them, and the version of
        its library.
    formula : str or None
        The regression.
    logistic : bool
    propensity : bool
    """

    linkage: bool = True
    classes: str | None = None
    threshold: float | None = None
    labels: tuple[str, ...] = ()
    estimator: str | None = None
    estimator_digest: str | None = None
    scikit_learn: str | None = None
    formula: str | None = None
    logistic: bool = False
    propensity: bool = False

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> "Measures":
        """Read the measures off the description of a comparison.

        >>> Measures.of({"measures": {"linkage": False}}).linkage
        False
        """
        told = dict(description.get("measures", {}))
        return cls(**{**told, "labels": tuple(told.get("labels", ()))})

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as plain values; only those that are asked for, and linkage."""
        told: dict[str, Any] = {"linkage": self.linkage}
        if self.classes is not None:
            told["classes"] = self.classes
            told |= {name: getattr(self, name) for name in OF_CLASSES}
            told["labels"] = list(self.labels)
        if self.formula is not None:
            told |= {"formula": self.formula, "logistic": self.logistic}
        return told | ({"propensity": True} if self.propensity else {})

    @property
    def all(self) -> tuple[Measure, ...]:
        """Every figure of a run, in the order of the columns."""
        found = [Measure(name=name) for name in LOSSES]
        if self.linkage:
            found += [Measure(name=name, highest=100.0) for name in RISKS]
            found.append(Measure(name=CHANCE, varies=False))
        for label in self.labels:
            found += [
                Measure(name=of_class(figure, label), highest=1.0, seeded=True, counted=True)
                for figure in (F_MEASURE, F_ORIGINAL)
            ]
            found.append(Measure(name=of_class(F_MAJORITY, label), varies=False))
        if self.formula is not None:
            # Intervals that are apart overlap by less than nothing, without limit.
            found.append(Measure(name=OVERLAP, lowest=-math.inf, highest=1.0, counted=True))
        if self.propensity:
            found.append(Measure(name=PROPENSITY, counted=True))
        return tuple(found)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all figures."""
        return tuple(measure.name for measure in self.all)
