"""The figures that matter, said once: what is promised, what it cost, what could be found."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microveil.guarantee import Guarantee
from microveil.measures.base import Measure, Measured, result_in
from microveil.measures.closest_records import CLOSEST, ClosestRecords
from microveil.measures.column_moves import LARGEST_MOVE, ColumnMove, moved_most
from microveil.measures.distributions import ONE_WAY, TOTAL_VARIATION, TWO_WAY
from microveil.measures.goodness_of_fit import DISTANCE
from microveil.measures.information_loss import LOSS
from microveil.measures.linkage import (
    RECORD_LINKAGE,
    RecordLinkage,
    looked_for,
    n_linked_at_most,
)
from microveil.measures.relations import PAIRS_KEPT, Relations
from microveil.text import enumerated, shortened
from microveil.text.figures import figure, figures_to

FOUND_AGAIN = "records found again"
# Of fewer records, where others lack a value, no share is told.
FEWEST = 30

Taken = Mapping[str, Measured]


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A figure that never stands without its meaning."""

    # Plain text. A figure that was not measured says why in its value, and has no meaning.
    name: str
    value: str
    meaning: str = ""

    @property
    def words(self) -> str:
        """The value and what it means."""
        return f"{self.value} ({self.meaning})" if self.meaning else self.value

    @property
    def sentence(self) -> str:
        """Name, value and meaning as a sentence."""
        return f"{self.name[0].upper()}{self.name[1:]}: {self.words}."

    def __str__(self) -> str:
        """Write the figure as a line."""
        return f"{self.name}: {self.words}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstAttribute:
    """The attribute whose distribution moved most."""

    attribute: str
    distance: float  # 0, alike, to 1, apart
    # What the distance is: of the distribution functions, or of text that has no order, and where
    # there is no value on one side, of the shares.
    measure: Measure

    def __repr__(self) -> str:
        """Name the attribute without its figure: notebooks print it."""
        return f"WorstAttribute({self.attribute})"


def key_figures(
    measured: Taken, guarantee: Guarantee | None, *, paired: bool
) -> tuple[KeyFigure, ...]:
    """Return what is promised, the loss, the worst attribute, who is found again, pairs kept."""
    relations = result_in(measured.values(), Relations)
    kept = () if relations is None else (relations.lines[0].partition(": ")[2].rstrip("."),)
    return (
        KeyFigure("promised", promised(guarantee) or "not known"),
        _lost(measured) if paired else _varied(measured),
        _worst(measured),
        _found(measured) if paired else _closest(measured),
        *(KeyFigure(PAIRS_KEPT.label, words) for words in kept),
    )


def strongest_linkage(measured: Taken) -> Measured | None:
    """Return the linkage of records that finds the most: the choice is not ours.

    One by numbers alone knows the records that have every value. Where hardly any has, what is
    found of them says nothing about the others, and the linkage that takes gaps stands.
    """
    linked = [one for one in measured.values() if isinstance(one.result, RecordLinkage)]
    found = [one for one in linked if one.measure.tabulated and one.value is not None]
    least = min(FEWEST, n_linked_at_most(found))
    enough = [one for one in found if one.result.n_compared >= least]
    return max(enough, key=lambda one: one.value or 0.0, default=None)


def linkage_of(measured: Taken) -> dict[str, Any] | None:
    """Return what the strongest linkage found as plain values, as findings have it."""
    strongest = strongest_linkage(measured)
    if strongest is None:
        return None
    own: RecordLinkage = strongest.result
    return {
        # In raw units, standardised, by rank, over all attributes.
        "distances": strongest.measure.label.removeprefix("record linkage").lstrip(", "),
        "percent": own.percent,
        "interval": list(own.interval),
        "by_chance": own.baseline_by_chance,
        "n_sampled": own.n_records,
        "n_records": own.n_compared,
        "n_all": n_linked_at_most(measured.values()),
    }


def worst_attribute(measured: Taken) -> WorstAttribute | None:
    """Return the attribute whose distribution moved most: a mean over all would hide it."""
    known: dict[str, WorstAttribute] = {}
    for measure in (TOTAL_VARIATION, DISTANCE):  # the second stands, where it is defined
        taken = measured.get(measure.id)
        for name, found in ({} if taken is None else taken.figures).items():
            if math.isfinite(found.value):
                known[name] = WorstAttribute(attribute=name, distance=found.value, measure=measure)
    return max(known.values(), key=lambda worst: worst.distance, default=None)


def most_moved(
    moves: Mapping[str, ColumnMove], farthest: tuple[str, float, str] | None
) -> KeyFigure:
    """Say which columns moved most, and how far by what which distribution did."""
    parts, meaning = [moved_most(moves)], ""
    if farthest is not None:
        name, distance, measure = farthest
        parts.append(f"'{shortened(name)}': distribution moved by {figure(distance)}")
        meaning = f"{measure}; {DISTANCE.explanation}"
    value = "; ".join(filter(None, parts))
    return _figure("worst attribute", value, meaning, "there are no values to compare")


def linkage_found(found: Mapping[str, Any]) -> KeyFigure:
    """Say how many records were found again, beside the interval and chance; of plain values."""
    linked = found["linkage"]
    if linked is None:
        return KeyFigure(FOUND_AGAIN, f"not measured: {found['not_linked']}")
    n_records = linked["n_records"]
    # Which manifests of version 0.2 lack.
    who = looked_for(linked["n_sampled"], n_records, linked.get("n_all", n_records))
    low, high = linked["interval"]
    share, interval = figure(linked["percent"]), figures_to((low, high))
    return KeyFigure(
        FOUND_AGAIN,
        f"{share} % of {who}, 95 % interval {interval} %",
        f"by who knows all original values of {linked.get('known', 'the protected attributes')}; "
        f"distances {linked['distances']}; by chance {figure(linked['by_chance'])} %",
    )


def _figure(name: str, value: str | None, meaning: str, why: str) -> KeyFigure:
    """Return a figure, or say why it was not measured."""
    return KeyFigure(name, value, meaning) if value else KeyFigure(name, f"not measured: {why}")


def _known(measured: Taken, *measures: Measure) -> Measured | None:
    """Return the first of these measures that has a figure of the table."""
    taken = (measured.get(measure.id) for measure in measures)
    return next((one for one in taken if one is not None and one.value is not None), None)


def _lost(measured: Taken) -> KeyFigure:
    found = _known(measured, LOSS)
    value = None if found is None else f"{figure(found.value)} {LOSS.unit}"
    varies = "is nothing that varies" if LOSS.id in measured else "are no numbers"
    return _figure(LOSS.label, value, LOSS.explanation, f"there {varies} to compare")


def _varied(measured: Taken) -> KeyFigure:
    """Say how far pairs of attributes moved, or single ones where there is one alone."""
    found = _known(measured, TWO_WAY, ONE_WAY)
    measure, value = (TWO_WAY, None) if found is None else (found.measure, figure(found.value))
    return _figure(measure.label, value, measure.meaning, "there are no values to compare")


def _worst(measured: Taken) -> KeyFigure:
    moves, worst = measured.get(LARGEST_MOVE.id), worst_attribute(measured)
    return most_moved(
        (None if moves is None else moves.result) or {},
        None if worst is None else (worst.attribute, worst.distance, worst.measure.label),
    )


def _found(measured: Taken) -> KeyFigure:
    asked = any(one.measure.group == RECORD_LINKAGE for one in measured.values())
    why_not = "no record is complete in both tables" if asked else "it was not asked for"
    return linkage_found({"linkage": linkage_of(measured), "not_linked": why_not})


def _closest(measured: Taken) -> KeyFigure:
    """Say how near rows come to records, beside how near people who were left out come."""
    near = result_in(measured.values(), ClosestRecords)
    if near is None or not near.is_enough:
        why = "no row, or not even two records, are without a gap" if near is None else near.basis
        return _figure(CLOSEST.head, None, "", why)
    return KeyFigure(
        CLOSEST.head,
        f"{figure(near.released.value)} standard deviations from a released row to a person",
        f"half of {near.basis} released rows without gaps are nearer; from one person to the "
        f"nearest other it is {figure(near.left_out.value)}; where rows are much nearer than that, "
        "they follow people",
    )


def promised(guarantee: Guarantee | None) -> str | None:
    """Say in a line what a guarantee promises and under which conditions, None without one."""
    if guarantee is None:
        return None
    if guarantee.randomness == "seeded":
        return "nothing: drawn from a seed, it protects nobody"
    if guarantee.epsilon is None:
        first = f"{guarantee.model_with_k}; no epsilon"
        return "; ".join([first, *guarantee.provisos])
    covered: dict[str, list[str]] = {}
    for name, cover in guarantee.scopes.by_scope.items():
        # All digits: a figure cut short might promise more than is kept.
        held = "" if cover.epsilon is None else repr(cover.epsilon).removesuffix(".0")
        covered.setdefault(held, []).append(name.value)
    shown = [
        f"epsilon {held} at {enumerated(names)} scope"
        if held
        else f"{enumerated(names)} scope not covered"
        for held, names in covered.items()
    ]
    if guarantee.delta:
        shown.append(f"delta {guarantee.to_dict()['delta']:g}")
    return "; ".join([f"{guarantee.model_in_words}, {'; '.join(shown)}", *guarantee.provisos])
