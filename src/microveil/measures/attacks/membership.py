"""Whether a person was in the original, and whether rows lie nearer to people who were.

For membership inference the intruder knows a person and asks how far the nearest released row is
(Shokri, Stronati, Song and Shmatikov 2017; Stadler, Oprisanu and Troncoso 2022). The distance to
the closest record is after the holdout-based one of Platzer and Reutterer (2021): rows made from
people of the original lie nearer to them than to people drawn alike who were held out.
"""

from collections.abc import Sequence

import numpy as np
import scipy  # which loads its parts when they are used

from microveil.measures.attacks.outcome import AttackOutcome, Setting, arranged
from microveil.measures.nearest import Rows
from microveil.measures.values import Estimate, Floats, median_of, success_rate

SMALLEST = 1e-12


def membership(setting: Setting, known: Sequence[str]) -> AttackOutcome:
    """Tell members from others by the distance to the nearest released row.

    The best distance is learnt on half of as many members as others; the baseline is a toss. The
    risk is the advantage of Yeom, Giacomelli, Fredrikson and Jha (2018).
    """
    own, generator = setting.complete(known), setting.generator("membership")
    search = arranged(own.protected, own.original, own.is_category)
    people = [group for group in own.people(generator) if group is not None]
    n = min(len(group) for group in people)
    distances = np.empty((2, 0))
    if n > 1 and search is not None:
        # In random order, so that the halves are, and neither group exceeds the other.
        distances = np.stack(
            [search.distances(generator.permutation(group)[:n]) for group in people]
        )
    half = distances.shape[1] // 2
    threshold = _best_threshold(*distances[:, :half]) if half else np.nan
    members, others = distances[:, half:] <= threshold
    return setting.outcome(
        "membership inference",
        known,
        rule="a person is rightly said to have been in the original, or not to have been",
        n_left_out=len(setting.original) - len(own.original),
        success=setting.rate(np.concatenate([members, ~others])),
        baseline=Estimate.exact(0.5),
        baseline_is="tosses a coin",
        control_is="the control group is what the members are to be told from",
        details={
            "area under the curve": area_under_curve(*distances, confidence=setting.confidence),
            "members found": setting.rate(members),
            "others taken for such": setting.rate(others),
        },
    )


def _best_threshold(members: Floats, others: Floats) -> float:
    """Return the distance up to which people are best taken for members, -1 for never."""
    thresholds = np.concatenate([[-1.0], np.unique(np.concatenate([members, others]))])
    found, mistaken = (
        np.searchsorted(np.sort(group), thresholds, side="right") for group in (members, others)
    )
    return float(thresholds[np.argmax(found - mistaken)])


def area_under_curve(members: Floats, others: Floats, *, confidence: float) -> Estimate:
    """Estimate the chance that a member is nearer, ties half; its interval is Newcombe's (2006)."""
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


def closest_record(setting: Setting, known: Sequence[str]) -> AttackOutcome:
    """Take each released row to the closest of all people: of the original, or held out."""
    own, generator = setting.complete(known), setting.generator("closest record")
    original, released = own.original, own.protected
    others = original[:0] if own.control is None else own.control
    rows, strangers = (
        table[np.sort(generator.permutation(len(table))[: setting.n_attacks])]
        for table in (released, others)
    )
    n_people = len(original) + len(others)
    success = success_rate(0.0, 0, setting.confidence)
    to_row, to_stranger = np.empty(0), np.empty(0)
    members = arranged(original, original, own.is_category)
    people = arranged(np.vstack([original, others]), original, own.is_category)
    if members is not None and people is not None and len(others) and len(rows):
        to_row, to_stranger = (members.distances(table) for table in (rows, strangers))
        is_member = np.repeat([1.0, 0.0], [len(original), len(others)])
        success = _closest_of_original(rows, people, is_member, setting.confidence)
    return setting.outcome(
        "distance to the closest record",
        known,
        rule="the person closest to a released row is of the original, not held out",
        n_left_out=len(setting.protected) - len(released),
        success=success,
        baseline=Estimate.exact(len(original) / n_people if n_people else np.nan),
        baseline_is="takes anybody of the original and of the control group",
        control_is="the control group is what the people are to be told from",
        distances={
            "released rows": median_of(np.sqrt(to_row), setting.confidence),
            "control group": median_of(np.sqrt(to_stranger), setting.confidence),
        },
    )


def _closest_of_original(
    rows: Floats, people: Rows, is_member: Floats, confidence: float
) -> Estimate:
    """Estimate how often the closest person is of the original.

    Who was held out is by chance once for each person, however many rows are closest to that one:
    the interval is that of the square of the rows over the sum of the squares of rows of one
    person.
    """
    distances = people.distances(rows)
    counts = people.count_at(rows, distances, is_member, np.ones((len(rows), 2)))
    share = float(np.mean(counts[:, 1] / counts[:, 0]))
    # Of people as close the first in the tree.
    near = people.within(rows, distances)
    closest = near[np.unique(near[:, 0], return_index=True)[1], 1]
    of_person = np.unique(closest, return_counts=True)[1]
    effective = len(rows) ** 2 // int(np.sum(of_person**2))
    interval = success_rate(share * effective, effective, confidence).interval
    return Estimate(value=share, interval=interval, n=len(rows))
