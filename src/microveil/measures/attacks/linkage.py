"""What an intruder finds who holds the originals, where row i is person i's.

Record linkage with chosen attributes takes every person to the released row at the least distance
(Domingo-Ferrer and Torra 2001), guessing among the set G of rows at exactly that distance.
(`microveil.measures.linkage` goes the other way, from released rows to originals, on all protected
attributes, as KANON-2013 does.)

For interval disclosure the intruder knows which row is the person's, and takes the released value
as a guess. Disclosed is an original value that lies in an interval around it: so many standard
deviations to either side, or so many ranks (Domingo-Ferrer and Torra 2001; Mateo-Sanz, Sebé and
Domingo-Ferrer 2004).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microveil.measures.attacks.outcome import AttackOutcome, Setting
from microveil.measures.estimates import Estimate, success_rate
from microveil.measures.linkage import Positions, Sample
from microveil.measures.nearest import Rows, Scale, own_distances, standard_weights
from microveil.table.blocks import average_ranks

# A share of n that is a whole number on paper may miss it by a rounding.
ROUNDING = 1e-9


def linkage(setting: Setting, known: Sequence[str], *, by_rank: bool = False) -> AttackOutcome:
    """Link people to the nearest released row by what is known of them, or by its ranks.

    Success is 1/|G| where the person's own row is in G. Of up to 50,000 people everybody is
    attacked, of more 10,000.
    """
    original, protected = setting.original, setting.protected
    present = original.complete(known) & protected.complete(known)
    people, rows = original.columns(known)[present], protected.columns(known)[present]
    n = len(people)
    chosen = Sample(size=setting.sample, seed=setting.seed).positions(n)
    found = 0.0
    if n:
        is_category = original.categorical(known)
        candidates = _candidates(people, rows, is_category, chosen, by_rank=by_rank)
        found = float(np.sum(1 / candidates[candidates > 0]))
    return AttackOutcome(
        attack=f"record linkage by {'rank' if by_rank else 'distance'}",
        known=tuple(known),
        rule="the person's own row is the nearest; among equally near ones it is guessed",
        n_left_out=int((~present).sum()),
        success=success_rate(found, len(chosen), setting.confidence),
        baseline=Estimate.exact(1 / n if n else np.nan),
        baseline_is="names any row at random",
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
    people = people[chosen]
    scale = Scale(is_category=is_category, weights=weights, gaps=np.zeros(len(weights)))
    own = own_distances(people, rows[chosen], scale)
    found = search.distances(people, limits=own) == own
    counts = np.zeros(len(people), dtype=np.int64)
    counts[found] = search.count_at(people[found], own[found])[:, 0]
    return counts


def interval_disclosure(setting: Setting, secret: str, *, by_rank: bool = False) -> AttackOutcome:
    """Count the people whose value lies close to the one released for them.

    With a tolerance t the interval reaches t standard deviations of the original to either side;
    or from the released value that t n ranks below the lowest that is equal to the person's, to the
    one that many ranks above the highest.
    """
    original, protected = setting.original, setting.protected
    present = original.complete([secret]) & protected.complete([secret])
    values = original.columns([secret])[present, 0]
    released = protected.columns([secret])[present, 0]
    n = len(values)
    share = f"{100 * setting.tolerance:g} % of"
    if by_rank:
        lower, upper = _rank_intervals(released, setting.tolerance)
        near = f"between the released values {share} all ranks below and above the person's"
    else:
        reach = setting.tolerance * values.std(ddof=1) if n > 1 else 0.0
        lower, upper = released - reach, released + reach
        near = f"at most {share} the original's standard deviation away from the released one"
    in_order = np.sort(values)
    pairs = np.searchsorted(in_order, upper, side="right") - np.searchsorted(in_order, lower)
    return AttackOutcome(
        attack=f"interval disclosure by {'rank' if by_rank else 'value'}",
        known=("which row is the person's",),
        secret=secret,
        rule=f"the value is {near}",
        n_left_out=int((~present).sum()),
        success=setting.rate(((lower <= values) & (values <= upper)).astype(np.float64)),
        # Counted out over all pairs of persons and rows.
        baseline=Estimate.exact(float(pairs.sum()) / n**2 if n else np.nan),
        baseline_is="takes the row of somebody at random",
        control_is="none: people who were not in the original have no row",
        confidence=setting.confidence,
    )


def _rank_intervals(
    released: NDArray[np.float64], tolerance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of the intervals of so many ranks to either side, among the released."""
    n = len(released)
    if n == 0:
        return released, released
    in_order = np.sort(released)
    reach = math.floor(tolerance * n + ROUNDING)
    lowest = np.searchsorted(in_order, released) - reach
    highest = np.searchsorted(in_order, released, side="right") - 1 + reach
    return in_order[np.maximum(lowest, 0)], in_order[np.minimum(highest, n - 1)]
