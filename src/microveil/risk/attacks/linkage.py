"""Record linkage with chosen attributes: find the released row of a person one knows.

The intruder knows some attributes of every person of the original and takes each person to
the released row at the least distance (Domingo-Ferrer and Torra 2001), guessing among the set
G of rows at exactly that distance. (`microveil.risk.record_linkage` goes the other way, from
released rows to originals, on all protected attributes, as KANON-2013 does.)
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microveil.risk.attacks.nearest import Rows, own_distances, standard_weights
from microveil.risk.attacks.outcome import AttackOutcome, Estimate, success_rate
from microveil.risk.attacks.records import Setting
from microveil.risk.sampling import Positions, Sample
from microveil.table.blocks import average_ranks

__all__ = ["linkage"]


def linkage(setting: Setting, known: Sequence[str], *, by_rank: bool = False) -> AttackOutcome:
    """Link every person of the original to the nearest released row.

    Parameters
    ----------
    setting : Setting
        Tables whose records correspond, position by position.
    known : sequence of str
        The attributes that the intruder knows, of everybody and exactly.
    by_rank : bool
        Compare ranks, of the person among all originals and of the row among all released
        rows, instead of values. Equal values share their average rank.

    Returns
    -------
    AttackOutcome
        Success is 1/|G| where the person's own row is in G. Chance is 1/n.

    Notes
    -----
    Of up to 50,000 people everybody is attacked, of more 10,000: O(n log n) time for up to ten or
    so attributes.

    Examples
    --------
    >>> from microveil.risk.attacks import Records
    >>> numbers = np.array([False])
    >>> before = Records(names=("AGE",), values=np.array([[20.0], [40.0]]), is_category=numbers)
    >>> after = Records(names=("AGE",), values=np.array([[30.0], [50.0]]), is_category=numbers)
    >>> linkage(Setting(original=before, protected=after), ["AGE"]).successes
    1.5
    """
    original, protected = setting.original, setting.protected
    present = original.complete(known) & protected.complete(known)
    people, rows = original.columns(known)[present], protected.columns(known)[present]
    n = len(people)
    is_category = original.categorical(known)
    chosen = Sample(size=setting.sample, seed=setting.seed).positions(n)
    found = 0.0
    if n:
        candidates = _candidates(people, rows, is_category, chosen, by_rank=by_rank)
        found = float(np.sum(1 / candidates[candidates > 0]))
    return AttackOutcome(
        attack=f"record linkage by {'rank' if by_rank else 'distance'}",
        known=tuple(known),
        secret=None,
        rule="the person's own row is the nearest; among equally near ones it is guessed",
        n_left_out=int((~present).sum()),
        success=success_rate(found, len(chosen), setting.confidence),
        baseline=Estimate.exact(1 / n if n else np.nan),
        baseline_is="names any row at random",
        control=None,
        control_is="none: people who were not in the original have no row to find",
        confidence=setting.confidence,
    )


def _candidates(
    people: NDArray[np.float64],
    rows: NDArray[np.float64],
    is_category: NDArray[np.bool_],
    chosen: Positions,
    *,
    by_rank: bool,
) -> NDArray[np.int64]:
    """Return |G| where the own row of a person who was chosen is in G, else 0."""
    if by_rank:
        people, rows = (
            np.where(is_category, matrix, average_ranks(matrix)[:]) for matrix in (people, rows)
        )
        # Ranks are compared as they are, so that they tie as on paper; their variance weighs
        # the categories.
        of_ranks = max((len(people) ** 2 - 1) / 12, 1.0)
        weights = np.where(is_category, of_ranks * standard_weights(people, is_category), 1.0)
    else:
        weights = standard_weights(people, is_category)
    search = Rows.arrange(rows, weights, is_category)
    own = own_distances(people[chosen], rows[chosen], weights, is_category)
    people = people[chosen]
    found = search.distances(people, limits=own) == own
    counts = np.zeros(len(people), dtype=np.int64)
    counts[found] = search.count_at(people[found], own[found])[:, 0]
    return counts
