"""What a classifier that was trained on the release knows of the original."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from microveil.errors import DataError
from microveil.measures.base import (
    Better,
    By,
    Compared,
    Entry,
    Figure,
    Group,
    Measure,
    Takes,
)
from microveil.utility.learning import ClassificationComparison, compare_classification

__all__ = ["F_MAJORITY", "F_MEASURE", "F_ORIGINAL", "LEARNING", "MEASURES", "Learnt"]

LEARNING = Group(title="Classification")


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """What was learnt of which attribute's classes.

    Attributes
    ----------
    attribute : str
    comparison : ClassificationComparison
    """

    attribute: str
    comparison: ClassificationComparison


def _learnt(
    original: dict[str, Any],
    protected: dict[str, Any],
    *,
    classes: Any,
    protected_classes: Any,
    class_attribute: str,
    estimator: Any,
) -> Learnt:
    if not original:
        raise DataError(
            "classes",
            "there is nothing to learn from beside the class attribute",
            "compare other attributes too",
        )
    found = compare_classification(
        original, protected, classes, protected_classes=protected_classes, estimator=estimator
    )
    return Learnt(attribute=class_attribute, comparison=found)


def _protected(found: Learnt) -> dict[str, Figure]:
    return {
        compared.label: Figure(
            value=compared.protected.value,
            interval=compared.protected.interval,
            beside=compared.original.value,
        )
        for compared in found.comparison.classes
    }


def _original(found: Learnt) -> dict[str, float]:
    return {compared.label: compared.original.value for compared in found.comparison.classes}


def _majority(found: Learnt) -> dict[str, float]:
    return {compared.label: compared.majority for compared in found.comparison.classes}


def _write(found: Learnt, _: Sequence[str]) -> dict[str, Any]:
    return {"attribute": found.attribute, **found.comparison.to_dict()}


_measure = partial(
    Measure,
    function=_learnt,
    takes=Takes.PREDICTORS,
    needs_pairs=False,  # without pairs a release is learnt from with classes of its own
    by=By.CLASS,
    highest=1.0,
    better=Better.HIGHER,
    group=LEARNING,
    entry=Entry(name="classification", write=_write),
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
    figure=_original,
    compared=Compared(seeded=True, counted=True, tabulated=False),
)
F_MAJORITY = _measure(
    id="f_measure_majority",
    label="F-measure of the most frequent class",
    short="majority",
    explanation="the guess of who learnt nothing",
    figure=_majority,
    compared=Compared(varies=False, tabulated=False),
)

MEASURES = (F_MEASURE, F_ORIGINAL, F_MAJORITY)
