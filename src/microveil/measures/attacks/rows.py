"""What released rows tell of people: whose they are, what they disclose, and what may be inferred.

Record linkage takes every person to the released row at the least distance (Domingo-Ferrer and
Torra 2001), the other way than `measures.linkage`. For interval disclosure the intruder knows which
row is the person's: disclosed is an original value in an interval around the released one, of
standard deviations or of ranks (Domingo-Ferrer and Torra 2001; Mateo-Sanz, Sebé and Domingo-Ferrer
2004). Inference and linkability are after Giomi, Boenisch, Wehmeyer and Tasnadi (2023): a secret is
read off the nearest row, and what that says of the release's own people beyond others is the excess
over a control group; two entries of lists without names, that know different attributes, are taken
for one person if their nearest rows coincide.
"""

import math
from collections.abc import Sequence

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from microveil.measures.attacks.outcome import AttackOutcome, Setting, arranged
from microveil.measures.linkage import candidates, sampled
from microveil.measures.nearest import Scale, standard_weights
from microveil.measures.values import Estimate, Flags, Floats, Whole, success_rate
from microveil.table.blocks import average_ranks

# A share of n that is a whole number on paper may miss it by a rounding.
ROUNDING = 1e-9


def linkage(setting: Setting, known: Sequence[str], *, by_rank: bool = False) -> AttackOutcome:
    """Link people to the nearest released row: success is 1/|G| where their own is in G."""
    own = setting.pairs(known)
    people, rows, is_category = own.original, own.protected, own.is_category
    chosen = sampled(len(people), setting.sample, setting.seed)
    found = 0.0
    if len(people):
        if by_rank:
            people, rows = (
                np.where(is_category, matrix, average_ranks(matrix)[:]) for matrix in (people, rows)
            )
        scale = _scale(people, is_category, by_rank=by_rank)
        counts = candidates(rows, people, chosen, scale)
        found = float(np.sum(1 / counts[counts > 0]))
    return setting.outcome(
        f"record linkage by {'rank' if by_rank else 'distance'}",
        known,
        rule="the person's own row is the nearest; among equally near ones it is guessed",
        n_left_out=len(setting.original) - len(people),
        success=success_rate(found, len(chosen), setting.confidence),
        baseline=Estimate.exact(1 / len(people) if len(people) else np.nan),
        baseline_is="names any row at random",
        control_is="none: people who were not in the original have no row to find",
    )


def _scale(people: Floats, is_category: Flags, *, by_rank: bool) -> Scale:
    """Weigh differences of people: in standard deviations, or of ranks."""
    weights = standard_weights(people, is_category)
    if by_rank:
        # Ranks are compared as they are, so that they tie as on paper; their variance weighs
        # the categories.
        of_ranks = max((len(people) ** 2 - 1) / 12, 1.0)
        weights = np.where(is_category, of_ranks * weights, 1.0)
    return Scale(is_category=is_category, weights=weights, gaps=np.zeros(len(weights)))


def interval_disclosure(setting: Setting, secret: str, *, by_rank: bool = False) -> AttackOutcome:
    """Count the people whose value lies close to the one released for them.

    Within t standard deviations; or from the value t n ranks below the lowest equal one to that
    above.
    """
    own = setting.pairs([secret])
    values, released, n = own.original[:, 0], own.protected[:, 0], len(own.original)
    share = f"{100 * setting.tolerance:g} % of"
    if by_rank:
        lower, upper = _rank_intervals(released, setting.tolerance)
        near = f"between the released values {share} all ranks below and above the person's"
    else:
        reach = setting.tolerance * values.std(ddof=1) if n > 1 else 0.0
        lower, upper = released - reach, released + reach
        near = f"at most {share} the original's standard deviation away from the released one"
    in_order = np.sort(values)
    # The baseline is counted out over all pairs of persons and rows.
    pairs = np.searchsorted(in_order, upper, side="right") - np.searchsorted(in_order, lower)
    return setting.outcome(
        f"interval disclosure by {'rank' if by_rank else 'value'}",
        ["which row is the person's"],
        secret=secret,
        rule=f"the value is {near}",
        n_left_out=len(setting.original) - n,
        success=setting.rate((lower <= values) & (values <= upper)),
        baseline=Estimate.exact(float(pairs.sum()) / n**2 if n else np.nan),
        baseline_is="takes the row of somebody at random",
        control_is="none: people who were not in the original have no row",
    )


def _rank_intervals(released: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of so many ranks to either side, among the released."""
    n = len(released)
    if n == 0:
        return released, released
    in_order = np.sort(released)
    reach = math.floor(tolerance * n + ROUNDING)
    lowest = np.searchsorted(in_order, released) - reach
    highest = np.searchsorted(in_order, released, side="right") - 1 + reach
    return in_order[np.maximum(lowest, 0)], in_order[np.minimum(highest, n - 1)]


def inference(setting: Setting, known: Sequence[str], secret: str) -> AttackOutcome:
    """Guess secrets by the nearest row: right within t standard deviations, or the category."""
    own = setting.complete([*known, secret])
    everybody, secrets, is_category = own.original, own.protected[:, -1], own.is_category[-1]
    reach = 0.0
    if len(everybody) > 1 and not is_category:
        reach = setting.tolerance * float(everybody[:, -1].std(ddof=1))
    search = arranged(own.protected[:, :-1], everybody[:, :-1], own.is_category[:-1])

    def by_nearest(people: Floats) -> Floats:
        """Return the share of the nearest rows that show each person's secret."""
        if search is None:
            return np.empty(0)
        distances = search.distances(people[:, :-1])
        right = people[:, -1:] + [-reach, reach]
        counts = search.count_at(people[:, :-1], distances, secrets, right)
        return np.asarray(counts[:, 1] / counts[:, 0])

    chosen, compared = own.people(setting.generator(f"inference of {secret}"))
    near = f"within {100 * setting.tolerance:g} % of the original's standard deviation"
    return setting.outcome(
        "inference",
        known,
        secret=secret,
        rule="the guess is the category" if is_category else f"the guess is {near}",
        n_left_out=len(setting.original) - len(everybody),
        success=setting.rate(by_nearest(chosen)),
        baseline=setting.rate(_by_constant(chosen[:, -1], secrets, reach)),
        baseline_is="guesses for everybody what is right for most released rows",
        control=None if compared is None else setting.rate(by_nearest(compared)),
    )


def _by_constant(values: Floats, secrets: Floats, reach: float) -> Flags:
    """Return for whom the one best guess is right: the middle of the fullest interval."""
    if not len(secrets):
        return np.empty(0, dtype=np.bool_)
    in_order = np.sort(secrets)
    near = np.searchsorted(in_order, in_order + reach, side="right")
    near -= np.searchsorted(in_order, in_order - reach)
    guess = in_order[np.argmax(near)]
    return np.asarray((values - reach <= guess) & (guess <= values + reach))


def linkability(setting: Setting, one: Sequence[str], other: Sequence[str]) -> AttackOutcome:
    """Join two lists through the rows nearest to either part: the chance that one is in common."""
    own = setting.complete([*one, *other])
    everybody, rows = own.original, own.protected
    neighbours = min(setting.neighbours, len(rows))
    parts = slice(0, len(one)), slice(len(one), None)
    searches = [arranged(rows[:, p], everybody[:, p], own.is_category[p]) for p in parts]

    def chances(people: Floats) -> Floats:
        """Return for each person the chance that the nearest rows share one."""
        found = [search for search in searches if search is not None]
        known = [people[:, part] for part in parts]
        marks = (rows.marks(of, neighbours) for rows, of in zip(found, known, strict=False))
        counts = [
            np.bincount(3 * nearest[0] + nearest[1], minlength=9)
            for _, *nearest in zip(people, *marks, strict=False)
        ]
        return chance_of_sharing(np.reshape(counts, (-1, 3, 3)).astype(np.int64), neighbours)

    everywhere_tied = np.zeros((1, 3, 3), dtype=np.int64)
    everywhere_tied[0, 2, 2] = len(rows)
    by_chance = float(chance_of_sharing(everywhere_tied, neighbours)[0]) if len(rows) else np.nan
    chosen, compared = own.people(setting.generator("linkability"))
    several = setting.neighbours > 1
    nearest = f"{setting.neighbours} rows" if several else "row"
    return setting.outcome(
        "linkability",
        own.names,
        rule=f"the {nearest} nearest by {', '.join(one)} and by {', '.join(other)} coincide"
        + (" in one or more" if several else ""),
        n_left_out=len(setting.original) - len(everybody),
        success=setting.rate(chances(chosen)),
        baseline=Estimate.exact(by_chance),
        baseline_is="takes rows at random for either part",
        control=None if compared is None else setting.rate(chances(compared)),
    )


def chance_of_sharing(counts: Whole, neighbours: int) -> Floats:
    """Return the chance that two sets of nearest rows share a row, ties drawn at random.

    Each set holds the rows inside its radius, and of those at it so many, drawn without
    replacement, as make up ``neighbours``. ``counts`` (n_people, 3, 3) are of rows beyond (0),
    inside (1) or at (2) the first radius, by the second likewise. Unless a row is inside both, the
    sets are disjoint if, for some j, the first draws j rows at both radii and none inside the
    second, and the second draws none inside the first and none of those j.
    """
    first_at, second_at = counts[:, 2, :].sum(axis=1), counts[:, :, 2].sum(axis=1)
    first_draws = neighbours - counts[:, 1, :].sum(axis=1)
    second_draws = neighbours - counts[:, :, 1].sum(axis=1)
    at_both = counts[:, 2, 2]
    apart = np.zeros(len(counts))
    for j in range(neighbours + 1):
        logs = (
            _log_binomial(at_both, j)
            + _log_binomial(counts[:, 2, 0], first_draws - j)
            - _log_binomial(first_at, first_draws)
            + _log_binomial(second_at - counts[:, 1, 2] - j, second_draws)
            - _log_binomial(second_at, second_draws)
        )
        apart += np.exp(logs)
    return np.where(counts[:, 1, 1] > 0, 1.0, np.clip(1 - apart, 0.0, 1.0))


def _log_binomial(n: Whole, k: ArrayLike) -> Floats:
    """Return ln C(n, k), -inf of none, by factors: gamma functions blur small differences."""
    chosen = np.broadcast_to(np.asarray(k, dtype=np.int64), n.shape)
    of_orders = -scipy.special.gammaln(np.maximum(chosen, 0) + 1.0)
    logs = np.where((chosen >= 0) & (chosen <= n), of_orders, -np.inf)
    for i in range(int(chosen.max(initial=0))):
        logs += np.log(np.where(i < chosen, np.maximum(n - i, 1), 1))
    return logs
