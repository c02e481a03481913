"""The four figures that matter: what is promised, what it cost, what could still be found."""

from dataclasses import dataclass

from microveil.guarantee import Guarantee, Model, Scope, Scopes
from microveil.measures import Assessment
from microveil.measures.closest_records import CLOSEST, ClosestRecords
from microveil.measures.column_moves import moved_most
from microveil.measures.distributions import ONE_WAY, TWO_WAY
from microveil.measures.goodness_of_fit import SORTED_ERROR
from microveil.measures.information_loss import LOSS
from microveil.protect.release import Release
from microveil.report.wording import named, number, rounded_up
from microveil.text import one_line

__all__ = ["KeyFigure", "key_figures", "unpaired_figures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFigure:
    """A figure that never stands without its meaning.

    Attributes
    ----------
    name, value, meaning : str
        Plain text.
    """

    name: str
    value: str
    meaning: str

    def __str__(self) -> str:
        """Write the figure as a line for a terminal."""
        return f"{self.name}: {self.value} ({self.meaning})"


def key_figures(
    release: Release, assessment: Assessment | None
) -> tuple[KeyFigure, KeyFigure, KeyFigure, KeyFigure]:
    """Return guarantee, information loss, worst attribute and record linkage of a release.

    Without pairs the two-way total variation stands for the information loss, and the distance
    to the closest record for the records found again.

    Parameters
    ----------
    release : Release
    assessment : Assessment or None
        Of this release. They depend on the original: figures for the custodian.

    Examples
    --------
    >>> import numpy as np
    >>> import microveil as mv
    >>> people = {"AGE": np.array([23, 35, 31, 62, 58, 47])}
    >>> release = mv.protect(people, method="mdav", k=3, attributes="AGE")
    >>> figures = key_figures(release, mv.assess(people, release.data))
    >>> for figure in figures[:2]:
    ...     print(figure.name, figure.value)
    promised k = 3, no epsilon
    information loss 16.2 %
    >>> figures[2].value.endswith("commonest value 16.7 % to 0 %; AGE, moved by 0.333")
    True
    """
    if assessment is None or assessment.paired:
        lost, found = _lost(assessment), _found(assessment)
    else:
        lost, found = _varied(assessment), _closest(assessment)
    return _promised(release.guarantee), lost, _moved(assessment), found


def unpaired_figures(assessment: Assessment | None) -> tuple[KeyFigure, ...]:
    """Return what every release can be compared by, pairs or none: distributions alone.

    Parameters
    ----------
    assessment : Assessment or None
    """
    return _varied(assessment), _sorted(assessment), _moved(assessment)


def _others(guarantee: Guarantee) -> str:
    others = guarantee.k - 1 if guarantee.k else 0
    if guarantee.unit.column is None:
        return f"{others} others"
    return f"records of {others} other people ({one_line(guarantee.unit.column)})"


def _promised(guarantee: Guarantee) -> KeyFigure:
    name = "promised"
    if guarantee.randomness == "seeded":
        return KeyFigure(name=name, value="nothing", meaning="drawn from a seed: protects nobody")
    if guarantee.epsilon is None:
        if guarantee.model is Model.K_ANONYMITY:
            return KeyFigure(
                name=name,
                value=f"k = {guarantee.unit.least(guarantee.k or 0)}, no epsilon",
                meaning="; ".join(
                    [
                        f"every record is like {_others(guarantee)}",
                        *guarantee.provisos,
                    ]
                ),
            )
        return KeyFigure(name=name, value="nothing formal", meaning="no epsilon, no k-anonymity")
    widest = guarantee.scopes.strongest_at(guarantee.epsilon, guarantee.delta)
    rest = _rest(guarantee.scopes, widest)
    if widest is None:
        return KeyFigure(name=name, value="no scope at the epsilon asked for", meaning=rest)
    budget = f"epsilon {rounded_up(float(guarantee.epsilon))}"
    if guarantee.delta:
        budget += f", delta {rounded_up(float(guarantee.delta))}"
    return KeyFigure(
        name=name,
        value=f"{budget} at {widest} scope",
        meaning="; ".join([*guarantee.provisos, rest or "the widest scope"]),
    )


def _rest(scopes: Scopes, widest: Scope | None) -> str:
    """Say what holds at the scopes wider than the one named."""
    return "; ".join(
        f"{scope} scope: not covered"
        if cover.epsilon is None
        else f"{scope} scope: epsilon {rounded_up(cover.epsilon)}"
        for scope, cover in scopes.by_scope.items()
        if widest is None or scope.order > widest.order
    )


def _varied(assessment: Assessment | None) -> KeyFigure:
    """Say how far pairs of attributes moved, or single ones where there is one alone."""
    measured = {} if assessment is None else assessment.measured
    taken = (measured.get(measure.id) for measure in (TWO_WAY, ONE_WAY))
    found = next((one for one in taken if one is not None and one.value is not None), None)
    if found is None:
        return KeyFigure(name=TWO_WAY.label, value="not measured", meaning="needs values")
    return KeyFigure(
        name=found.measure.label, value=number(found.value, 3), meaning=found.measure.meaning
    )


def _sorted(assessment: Assessment | None) -> KeyFigure:
    found = None if assessment is None else assessment.measured.get(SORTED_ERROR.id)
    if found is None or found.value is None:
        return KeyFigure(
            name=SORTED_ERROR.label, value="not measured", meaning="needs numbers that vary"
        )
    return KeyFigure(
        name=SORTED_ERROR.label, value=number(found.value, 3), meaning=SORTED_ERROR.meaning
    )


def _closest(assessment: Assessment) -> KeyFigure:
    """Say how near rows come to records, beside how near people who were left out come."""
    found: ClosestRecords | None = assessment.result(CLOSEST.id)
    if found is None or not found.is_enough:
        why = "no row, or not even two records, are without a gap" if found is None else found.basis
        return KeyFigure(name=CLOSEST.head, value="not measured", meaning=why)
    return KeyFigure(
        name=CLOSEST.head,
        value=f"{number(found.released.value, 3)} standard deviations away",
        meaning=(
            f"the median of {found.basis} released rows without gaps; of a person left out "
            f"{number(found.left_out.value, 3)}; {CLOSEST.explanation}"
        ),
    )


def _lost(assessment: Assessment | None) -> KeyFigure:
    name = LOSS.label
    if assessment is None or LOSS.id not in assessment.measured:
        without = assessment is None or not assessment.attributes
        why = "needs numbers" if without else "needs records in the order of the original"
        return KeyFigure(name=name, value="not measured", meaning=why)
    loss = number(assessment.measured[LOSS.id].value, 3)
    return KeyFigure(name=name, value=f"{loss} {LOSS.unit}", meaning=LOSS.explanation)


def _moved(assessment: Assessment | None) -> KeyFigure:
    """Take the attribute that fares worst: a mean over all of them would hide it."""
    name = "worst attribute"
    worst = None if assessment is None else assessment.worst_attribute
    if assessment is None or worst is None:
        return KeyFigure(name=name, value="not measured", meaning="needs numbers")
    distance = f"{named(one_line(worst.attribute))}, moved by {number(worst.distance, 3)}"
    return KeyFigure(
        name=name,
        value="; ".join(filter(None, (moved_most(assessment.column_moves), distance))),
        meaning=f"{worst.measure.label}; {worst.measure.explanation}",
    )


def _found(assessment: Assessment | None) -> KeyFigure:
    name = "records found again"
    linked = None if assessment is None else assessment.strongest_linkage
    if linked is None or linked.figure is None:
        why = "needs complete records of numbers in the same order"
        return KeyFigure(name=name, value="not measured", meaning=why)
    chance, interval = linked.figure.beside, linked.figure.interval
    sampled = ""
    n_sampled = None if assessment is None else assessment.n_sampled.get(linked.measure.id)
    if n_sampled is not None and interval:
        low, high = (number(end, 4) for end in interval)
        sampled = f"of {n_sampled:,} drawn at random, 95 % interval {low} to {high} %; "
    return KeyFigure(
        name=name,
        value=f"{number(linked.value, 3)} %",
        meaning=(
            f"{sampled}by who knows all original values of the protected attributes; "
            f"{linked.measure.label}"
            + ("" if chance is None else f"; by chance {number(chance, 2)} %")
        ),
    )
