"""Membership inference: infer from the release whether a person was in the original.

The intruder knows all attributes of a person and asks how far the nearest released row is:
people of the original should be nearer than others (Shokri, Stronati, Song and Shmatikov
2017 asked this of models, Stadler, Oprisanu and Troncoso 2022 of synthetic data).
"""

from collections.abc import Sequence

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.risk.attacks.nearest import Rows, standard_weights
from microveil.risk.attacks.outcome import AttackOutcome, Estimate, success_rate
from microveil.risk.attacks.records import Setting

__all__ = ["area_under_curve", "membership"]

SMALLEST = 1e-12


def membership(setting: Setting, known: Sequence[str]) -> AttackOutcome:
    """Tell members from others by the distance to the nearest released row.

    Parameters
    ----------
    setting : Setting
        With a control group: people drawn like those of the original, who are not in it.
    known : sequence of str
        What the intruder knows of the people attacked, exactly.

    Returns
    -------
    AttackOutcome
        As many members as others are attacked. On half of them the intruder learns at which
        distance the two are told apart best; success is to tell one of the other half
        rightly, the baseline a toss. The risk is then the share of members rightly taken
        for such less the share of others wrongly: the advantage of Yeom, Giacomelli,
        Fredrikson and Jha (2018). ``details`` holds the area under the curve over all
        thresholds (0.5 by chance), from everybody attacked, and both shares.

    Raises
    ------
    RequestError
        Without a control group.

    Examples
    --------
    >>> from microveil.risk.attacks import Records
    >>> def people(ages):
    ...     values = np.array([[age] for age in ages])
    ...     return Records(names=("AGE",), values=values, is_category=np.array([False]))
    >>> before = people([20.0, 30.0, 40.0, 50.0])
    >>> outcome = membership(
    ...     Setting(original=before, protected=before, control=people([24.0, 33.0, 45.0, 56.0])),
    ...     ["AGE"],
    ... )
    >>> outcome.successes, outcome.details["area under the curve"].value
    (4.0, 1.0)
    """
    if setting.control is None:
        raise RequestError(
            "control",
            "membership can only be told from people who were not in the original",
            "pass a table of such people as control",
        )
    original, confidence = setting.original, setting.confidence
    complete = original.complete_columns(known)
    rows = setting.protected.complete_columns(known)
    generator = setting.generator("membership")
    people = [group for group in setting.people(known, generator) if group is not None]
    n = min(len(group) for group in people) if len(rows) else 0
    distances = np.empty((2, 0))
    if n > 1:
        is_category = original.categorical(known)
        weights = standard_weights(complete, is_category)
        search = Rows.arrange(rows, weights, is_category)
        # In random order, so that the halves are, and neither group exceeds the other.
        distances = np.stack(
            [search.distances(generator.permutation(group)[:n]) for group in people]
        )
    half = distances.shape[1] // 2
    threshold = _best_threshold(*distances[:, :half]) if half else np.nan
    members, others = (distances[:, half:] <= threshold).astype(np.float64)
    n_judged = len(members)
    return AttackOutcome(
        attack="membership inference",
        known=tuple(known),
        secret=None,
        rule="a person is rightly said to have been in the original, or not to have been",
        n_left_out=original.n_records - len(complete),
        success=success_rate(float(members.sum() + np.sum(1 - others)), 2 * n_judged, confidence),
        baseline=Estimate.exact(0.5),
        baseline_is="tosses a coin",
        control=None,
        control_is="the control group is what the members are to be told from",
        confidence=confidence,
        details={
            "area under the curve": area_under_curve(*distances, confidence=confidence),
            "members found": success_rate(float(members.sum()), n_judged, confidence),
            "others taken for such": success_rate(float(others.sum()), n_judged, confidence),
        },
    )


def _best_threshold(members: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return the distance up to which people are best taken for members, -1 for never."""
    thresholds = np.concatenate([[-1.0], np.unique(np.concatenate([members, others]))])
    found, mistaken = (
        np.searchsorted(np.sort(group), thresholds, side="right") for group in (members, others)
    )
    return float(thresholds[np.argmax(found - mistaken)])


def area_under_curve(
    members: NDArray[np.float64], others: NDArray[np.float64], *, confidence: float
) -> Estimate:
    """Estimate the chance that a member is nearer than another person, ties counting half.

    Parameters
    ----------
    members, others : ndarray of float64
        Distances, of independent people.
    confidence : float
        Of the interval.

    Returns
    -------
    Estimate
        Newcombe's (2006) interval: the areas whose own standard deviation, as Hanley and
        McNeil (1982) approximate it, explains the difference. It keeps to 0 and 1, and has
        a width at either.

    Examples
    --------
    >>> estimate = area_under_curve(np.arange(50.0), np.arange(50.0) + 25, confidence=0.95)
    >>> round(estimate.value, 3), [round(end, 3) for end in estimate.interval]
    (0.875, [0.785, 0.928])
    """
    n, n_others = len(members), len(others)
    if n == 0 or n_others == 0:
        return Estimate(value=np.nan, interval=(0.0, 1.0), n=0)
    in_order = np.sort(others)
    nearer = n_others - np.searchsorted(in_order, members, side="right")
    tied = n_others - np.searchsorted(in_order, members) - nearer
    area = float(np.sum(nearer + tied / 2)) / (n * n_others)
    quantile = float(scipy.special.ndtri((1 + confidence) / 2))

    def beyond(candidate: float) -> float:
        middle = (n + n_others) / 2 - 1
        variance = candidate * (1 - candidate)
        variance *= 1 + middle * ((1 - candidate) / (2 - candidate) + candidate / (1 + candidate))
        return (area - candidate) ** 2 - quantile**2 * variance / (n * n_others)

    # At an area of 0 or 1 the function is 0 as well: that is not the end that is wanted.
    root = scipy.optimize.brentq
    lower = root(beyond, 0.0, min(area, 1 - SMALLEST)) if area > 0 else 0.0
    upper = root(beyond, max(area, SMALLEST), 1.0) if area < 1 else 1.0
    return Estimate(value=area, interval=(float(lower), float(upper)), n=n + n_others)
