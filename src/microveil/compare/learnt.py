"""What analyses find in the configurations of a comparison, in words."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from microveil.compare.measures import in_answer, of_class
from microveil.measures.learning import F_MAJORITY, F_MEASURE, F_ORIGINAL
from microveil.measures.registry import Better, Measure
from microveil.text.figures import figure, figures_to

__all__ = ["analysed_words", "learnt_words"]

# How many classes are named.
MOST_NAMED = 4
# By what the best is known: highest, lowest or nearest to 0, for a minimum.
PLACES: Mapping[Better, tuple[str, Callable[[float], float]]] = {
    Better.HIGHER: ("highest", operator.neg),
    Better.LOWER: ("lowest", float),
    Better.ZERO: ("nearest to 0", abs),
}

Row = Mapping[str, Any]


def learnt_words(
    configurations: Sequence[Row], labels: Sequence[str], named: Mapping[int, str]
) -> str:
    """Say which of some configurations has the highest F-measure, and which cannot be told from it.

    Parameters
    ----------
    configurations : sequence of dict
        Rows of a summary, of one scope and epsilon.
    labels : sequence of str
        Names of the classes.
    named : mapping of int to str
        What to call each configuration, by its number.

    Returns
    -------
    str
        The best is that of the highest mean over the classes that were tested.
    """
    tested = [name for name in labels if any(_tested(row, name) for row in configurations)]
    known = [row for row in configurations if all(_f(row, label) is not None for label in tested)]
    if not tested or not known:
        return "What a classifier learns from them is not defined."
    best = max(
        known, key=lambda row: (sum(_f(row, label) for label in tested), -row["configuration"])
    )
    classes = [_class_words(best, label) for label in tested[:MOST_NAMED]]
    if len(tested) > MOST_NAMED:
        classes.append(f"and {len(tested) - MOST_NAMED} other classes")
    others = [row for row in known if row is not best]
    place = "highest with" if others else "with"
    first = f"F-measure {place} {named[best['configuration']]}: {'; '.join(classes)}."
    measures = [of_class(F_MEASURE.id, label) for label in tested]
    return " ".join([first, *_beside(best, others, measures), *_undefined(configurations, known)])


def analysed_words(configurations: Sequence[Row], named: Mapping[int, str]) -> str:
    """Say which of some configurations is best by each measure of the answer.

    Parameters
    ----------
    configurations : sequence of dict
        Rows of a summary, of one scope and epsilon.
    named : mapping of int to str
        What to call each configuration, by its number.

    Returns
    -------
    str
        For each the best configuration, how many others cannot be told from it, and how many have
        a run that leaves the figure undefined. Empty where none was measured.

    Examples
    --------
    >>> row = {"configuration": 0, "propensity_ratio": 2.0}
    >>> row |= {"propensity_ratio_low": None, "propensity_ratio_high": None}
    >>> analysed_words([row], {0: "mdav, k 5"})
    'pMSE ratio with mdav, k 5: 2, beside 1 for the same law.'
    """
    sentences = []
    for measure in in_answer():
        name, words = measure.id, _beginning(measure.label)
        measured = [row for row in configurations if name in row]
        found = [row for row in measured if row[name] is not None]
        if not found:
            sentences += (
                [f"{words}: undefined in some run of every configuration."] if measured else []
            )
            continue
        place, rank = PLACES[measure.better]
        best = min(found, key=lambda row: (rank(row[name]), row["configuration"]))
        others = [row for row in found if row is not best]
        which = f"{words} {place} with" if others else f"{words} with"
        sentences += [
            (
                f"{which} {named[best['configuration']]}: {_with_spread(best, name)}"
                f"{_level_words(measure)}."
            ),
            *_beside(best, others, [name]),
            *_undefined(measured, found),
        ]
    return " ".join(sentences)


def _beginning(label: str) -> str:
    """Return a label as a sentence begins with it: a symbol (pMSE) stays as it is."""
    return label[0].upper() + label[1:] if label.split(" ", 1)[0].islower() else label


def _level_words(measure: Measure) -> str:
    """Say what one value of a measure stands for, where that is known."""
    level = None if measure.compared is None else measure.compared.level
    return "" if level is None else f", beside {level[1]:g} for {level[0]}"


def _beside(best: Row, others: Sequence[Row], measures: Sequence[str]) -> list[str]:
    """Say how many of some configurations cannot be told from the best by any of the measures."""
    if not others:
        return []
    if best[f"{measures[0]}_low"] is None:
        return ["One run says nothing of its spread."]
    near = sum(all(_overlap(best, row, measure) for measure in measures) for row in others)
    return [f"Not told apart: {near} of {len(others)} other configurations."]


def _undefined(configurations: Sequence[Row], known: Sequence[Row]) -> list[str]:
    """Say how many configurations are passed over."""
    left = len(configurations) - len(known)
    return (
        [f"Undefined in some run of {left} of {len(configurations)} configurations."]
        if left
        else []
    )


def _with_spread(row: Row, measure: str) -> str:
    low, high = row[f"{measure}_low"], row[f"{measure}_high"]
    spread = "" if low is None or low == high else f" ({figures_to((low, high))})"
    return f"{figure(row[measure])}{spread}"


def _tested(row: Row, label: str) -> bool:
    return row[of_class(F_ORIGINAL.id, label)] is not None


def _f(row: Row, label: str, end: str = "") -> Any:
    return row[of_class(F_MEASURE.id, label) + end]


def _class_words(row: Row, label: str) -> str:
    """Say how well one class is predicted, beside the original and the guess for everybody."""
    low, high = _f(row, label, "_low"), _f(row, label, "_high")
    spread = "" if low is None else f"{figures_to((low, high))}; "
    original, majority = (row[of_class(f.id, label)] for f in (F_ORIGINAL, F_MAJORITY))
    beside = f"original {figure(original)}, majority {figure(majority)}"
    return f"class {label} {figure(_f(row, label))} ({spread}{beside})"


def _overlap(best: Row, other: Row, measure: str) -> bool:
    """Whether the intervals overlap; where one has none, nothing tells them apart."""
    ends = [row[measure + end] for row in (best, other) for end in ("_low", "_high")]
    return None in ends or bool(ends[0] <= ends[3] and ends[2] <= ends[1])
