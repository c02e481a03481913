"""Which figures the runs of a comparison have: the columns of its tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars

from microveil.measures.information_loss import LOSS
from microveil.measures.registry import MEASURES, Better, By, Compared, Measure, Takes

__all__ = [
    "RISK",
    "Column",
    "Measures",
    "baseline_of",
    "in_answer",
    "loss_of",
    "of_class",
    "risks_of",
    "without_pairs",
]

# The risk that frontiers and maps show first.
RISK = "record_linkage_standardised"
# What measures for the sake of releases without pairs are asked by, that look for records.
UNPAIRED = "unpaired"
# What the name of a learner hangs on, beside the attribute and the threshold.
OF_CLASSES = ("threshold", "labels", "estimator", "estimator_digest", "scikit_learn")


def of_class(measure: str, label: str) -> str:
    """Name the column of a class.

    >>> of_class("f_measure", "> 30000")
    'f_measure[> 30000]'
    """
    return f"{measure}[{label}]"


def risks_of(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the risks among some columns that information loss is held against.

    >>> risks_of(["sse", "record_linkage_by_rank"])
    ('record_linkage_by_rank',)
    """
    known = set(columns)
    return tuple(
        measure.id
        for measure in MEASURES.values()
        if measure.compared is not None and measure.compared.on_frontier and measure.id in known
    )


def loss_of(summary: polars.DataFrame) -> Measure:
    """Return the loss that frontiers and maps show, and by which the answer ranks.

    It is the information loss, or what stands for it where rows of some method follow nobody:
    nothing of these can be lost row by row.

    Parameters
    ----------
    summary : polars.DataFrame
        See `Comparison`.
    """
    if not summary["is_synthetic"].any():
        return LOSS
    stand_ins = (
        measure
        for measure in reversed(MEASURES.values())
        if measure.compared is not None and measure.compared.stands_for_loss
    )
    known = (one for one in stand_ins if one.id in summary.columns and summary[one.id].count())
    return next(known, LOSS)


def without_pairs(measure: Measure) -> bool:
    """Say whether a measure is taken for the sake of methods whose rows follow nobody."""
    use = measure.compared
    return (
        (use is None or use.stands_for_loss)
        and measure.by is By.TABLE
        and not measure.needs_pairs
        and measure.asked_by in {"", UNPAIRED}
        and measure.takes is not Takes.RELEASE
        and measure.better is not Better.UNCHANGED
    )


def baseline_of(risk: str, row: Mapping[str, Any]) -> float | None:
    """Return what a risk is held against in a row of a summary, where there is something.

    >>> baseline_of("record_linkage", {"record_linkage_by_chance": 2.5})
    2.5
    """
    use = MEASURES[risk].compared
    found: float | None = None if use is None or use.baseline is None else row.get(use.baseline)
    return found


def in_answer() -> tuple[Measure, ...]:
    """Return the measures by which the answer says what does best."""
    return tuple(
        measure
        for measure in MEASURES.values()
        if measure.compared is not None and measure.compared.in_answer
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One figure of a run.

    Attributes
    ----------
    name : str
    measure : Measure
        What its figures are.
    label : str
        The class that they are of; empty where they are of the table.
    """

    name: str
    measure: Measure
    label: str = ""

    @property
    def title(self) -> str:
        """The measure in words, and of which class."""
        return self.measure.title + (f", class {self.label}" if self.label else "")

    @property
    def use(self) -> Compared:
        """How a comparison uses it."""
        return self.measure.compared or Compared()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What is measured, by default loss and linkage.

    Attributes
    ----------
    linkage : bool
        Whether records are looked for: linked, or where there are no pairs the closest found.
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
    unpaired : bool
        Whether rows of some method follow nobody, so that what needs no pairs is measured too.
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
    unpaired: bool = False

    @classmethod
    def of(cls, description: Mapping[str, Any]) -> "Measures":
        """Read the measures off the description of a comparison.

        >>> Measures.of({"measures": {"linkage": False}}).linkage
        False
        """
        written = dict(description.get("measures", {}))
        return cls(**{**written, "labels": tuple(written.get("labels", ()))})

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as plain values; only those that are asked for, and linkage."""
        written: dict[str, Any] = {"linkage": self.linkage}
        if self.classes is not None:
            written["classes"] = self.classes
            written |= {name: getattr(self, name) for name in OF_CLASSES}
            written["labels"] = list(self.labels)
        if self.formula is not None:
            written |= {"formula": self.formula, "logistic": self.logistic}
        extra = {"propensity": self.propensity, "unpaired": self.unpaired}
        return written | {name: True for name, asked in extra.items() if asked}

    def asks(self, measure: Measure) -> bool:
        """Whether a measure is asked for, or needs no asking."""
        if without_pairs(measure):
            return self.unpaired and (self.linkage or measure.asked_by != UNPAIRED)
        asked = not measure.asked_by or bool(getattr(self, measure.asked_by, None))
        return asked and measure.compared is not None

    @property
    def measured(self) -> tuple[Measure, ...]:
        """The measures of every run."""
        return tuple(filter(self.asks, MEASURES.values()))

    @property
    def all(self) -> tuple[Column, ...]:
        """Every figure of a run, in the order of the columns: those of a class stand together."""
        of_classes = [measure for measure in self.measured if measure.by is By.CLASS]
        found = []
        for measure in self.measured:
            if measure.by is not By.CLASS:
                found.append(Column(name=measure.id, measure=measure))
            elif measure is of_classes[0]:
                found += [
                    Column(name=of_class(one.id, label), measure=one, label=label)
                    for label in self.labels
                    for one in of_classes
                ]
        return tuple(found)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all figures."""
        return tuple(column.name for column in self.all)

    @property
    def risks(self) -> tuple[str, ...]:
        """The risks that information loss is held against."""
        return risks_of(self.names)
