"""Distance to the closest record: whether released rows lie nearer to people than to strangers.

After the holdout-based distances of Platzer and Reutterer (2021). Rows that were made from people
of the original lie nearer to them than to people drawn alike who were held out.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.risk.attacks.nearest import Rows, standard_weights
from microveil.risk.attacks.outcome import AttackOutcome, Estimate, success_rate
from microveil.risk.attacks.records import Setting
from microveil.risk.medians import median_of

__all__ = ["closest_record"]


def closest_record(setting: Setting, known: Sequence[str]) -> AttackOutcome:
    """Take each released row to the closest of all people, of the original or held out.

    Parameters
    ----------
    setting : Setting
        With a control group: people drawn like those of the original, who are not in it. The
        records need not correspond.
    known : sequence of str
        The attributes by which people and rows are compared.

    Returns
    -------
    AttackOutcome
        Success is that the closest person is of the original; among equally close ones the share
        of them that is. The baseline is the original's share of all people: where rows have
        nothing of these very people, each is as likely to be the closest. ``distances`` holds the
        median distances to the closest record of the original, of rows and of the control group.

    Raises
    ------
    RequestError
        Without a control group.

    Notes
    -----
    O(n log n) time to arrange the people, for up to ten or so attributes O(log n) or so for each
    row; at most ``n_attacks`` rows and as many of the control group are asked.

    Examples
    --------
    >>> from microveil.risk.attacks import Records
    >>> def people(ages):
    ...     values = np.array([[age] for age in ages])
    ...     return Records(names=("AGE",), values=values, is_category=np.array([False]))
    >>> before = people([20.0, 30.0, 40.0])
    >>> others = people([24.0, 33.0, 45.0])
    >>> outcome = closest_record(
    ...     Setting(original=before, protected=before, control=others), ["AGE"]
    ... )
    >>> outcome.successes, outcome.baseline.value
    (3.0, 0.5)
    """
    if setting.control is None:
        raise RequestError(
            "control",
            "how near rows are can only be told beside people who were not in the original",
            "pass a table of such people as control",
        )
    generator = setting.generator("closest record")
    original, others, released = (
        records.complete_columns(known)
        for records in (setting.original, setting.control, setting.protected)
    )
    rows, strangers = (
        table[np.sort(generator.permutation(len(table))[: setting.n_attacks])]
        for table in (released, others)
    )
    n_people = len(original) + len(others)
    success = success_rate(0.0, 0, setting.confidence)
    to_row, to_stranger = np.empty(0), np.empty(0)
    if len(original) and len(others) and len(rows):
        is_category = setting.original.categorical(known)
        weights = standard_weights(original, is_category)
        members = Rows.arrange(original, weights, is_category)
        to_row, to_stranger = (members.distances(table) for table in (rows, strangers))
        people = Rows.arrange(np.vstack([original, others]), weights, is_category)
        is_member = np.repeat([1.0, 0.0], [len(original), len(others)])
        success = _success(rows, people, is_member, setting.confidence)
    return AttackOutcome(
        attack="distance to the closest record",
        known=tuple(known),
        secret=None,
        rule="the person closest to a released row is of the original, not held out",
        n_left_out=setting.protected.n_records - len(released),
        success=success,
        baseline=Estimate.exact(len(original) / n_people if n_people else np.nan),
        baseline_is="takes anybody of the original and of the control group",
        control=None,
        control_is="the control group is what the people are to be told from",
        confidence=setting.confidence,
        distances={
            "released rows": median_of(np.sqrt(to_row), setting.confidence),
            "control group": median_of(np.sqrt(to_stranger), setting.confidence),
        },
    )


def _success(
    rows: NDArray[np.float64],
    people: Rows,
    is_member: NDArray[np.float64],
    confidence: float,
) -> Estimate:
    """Estimate how often the closest person is of the original.

    Where rows have nothing of these people, it is by chance who was held out, once for each
    person however many rows lie closest to that one. So the interval is that of the effective
    number of rows: their square over the sum of the squares of how many have one person closest.
    """
    distances = people.distances(rows)
    counts = people.count_at(rows, distances, is_member, np.ones((len(rows), 2)))
    share = float(np.mean(counts[:, 1] / counts[:, 0]))
    of_person = np.unique(people.first_at(rows, distances), return_counts=True)[1]
    effective = len(rows) ** 2 // int(np.sum(of_person**2))
    interval = success_rate(share * effective, effective, confidence).interval
    return Estimate(value=share, interval=interval, n=len(rows))
