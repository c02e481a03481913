"""Inference and linkability: what the released rows nearest to a person tell of it.

After the attacks of Giomi, Boenisch, Wehmeyer and Tasnadi (2023). For inference the intruder reads
a secret off the nearest row. The release says something about everybody, also about people who are
not in it: that is what it is published for. What it says about its own people beyond that is the
excess over a control group. For linkability there are two lists without names, say of a bank and of
a clinic, that know different attributes of the same people: two entries whose nearest released rows
coincide are taken for one person.
"""

from collections.abc import Sequence

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike, NDArray

from microveil.kernels import attacks as kernel
from microveil.measures.attacks.outcome import AttackOutcome, Setting
from microveil.measures.estimates import Estimate
from microveil.measures.nearest import in_threads


def inference(setting: Setting, known: Sequence[str], secret: str) -> AttackOutcome:
    """Guess the secret of people by the released row nearest in what is known of them.

    With a tolerance t a number counts as right when the guess is within t standard deviations of
    the original; a category, when equal. Among equally near rows the intruder guesses: success is
    the share of them with the right secret.
    """
    original = setting.original
    needed = [*known, secret]
    rows = setting.protected.complete_columns(needed)
    complete = original.complete_columns(needed)
    is_category = bool(original.categorical([secret])[0])
    reach = 0.0
    if len(complete) > 1 and not is_category:
        reach = setting.tolerance * float(complete[:, -1].std(ddof=1))
    search = setting.search(rows[:, :-1], complete[:, :-1], known)
    secrets = rows[:, -1]

    def by_nearest(people: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of the nearest rows that show each person's secret."""
        if search is None:
            return np.empty(0)
        distances = search.distances(people[:, :-1])
        right = people[:, -1:] + [-reach, reach]
        counts = search.count_at(people[:, :-1], distances, secrets, right)
        share: NDArray[np.float64] = counts[:, 1] / counts[:, 0]
        return share

    chosen, compared = setting.people(needed, setting.generator(f"inference of {secret}"))
    near = f"within {100 * setting.tolerance:g} % of the original's standard deviation"
    return AttackOutcome(
        attack="inference",
        known=tuple(known),
        secret=secret,
        rule="the guess is the category" if is_category else f"the guess is {near}",
        n_left_out=original.n_records - len(complete),
        success=setting.rate(by_nearest(chosen)),
        baseline=setting.rate(_by_constant(chosen[:, -1], secrets, reach)),
        baseline_is="guesses for everybody what is right for most released rows",
        control=None if compared is None else setting.rate(by_nearest(compared)),
        control_is=setting.control_is,
        confidence=setting.confidence,
    )


def _by_constant(
    values: NDArray[np.float64], secrets: NDArray[np.float64], reach: float
) -> NDArray[np.float64]:
    """Return for whom the one best guess is right: the middle of the fullest interval."""
    if not len(secrets):
        return np.empty(0)
    in_order = np.sort(secrets)
    near = np.searchsorted(in_order, in_order + reach, side="right")
    near -= np.searchsorted(in_order, in_order - reach)
    guess = in_order[np.argmax(near)]
    right: NDArray[np.bool_] = (values - reach <= guess) & (guess <= values + reach)
    return right.astype(np.float64)


def linkability(setting: Setting, one: Sequence[str], other: Sequence[str]) -> AttackOutcome:
    """Join what two lists know of a person through the rows nearest to either part.

    Success is that the nearest rows of both parts, ``neighbours`` of either, have a row in common;
    equally near rows are drawn at random, and success is the chance of it.
    """
    original = setting.original
    needed = [*one, *other]
    complete = original.complete_columns(needed)
    rows = setting.protected.complete_columns(needed)
    neighbours = min(setting.neighbours, len(rows))
    parts = (slice(0, len(one)), one), (slice(len(one), None), other)
    searches = [setting.search(rows[:, part], complete[:, part], named) for part, named in parts]

    def chances(people: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each person the chance that the nearest rows share one."""
        if not len(rows):
            return np.empty(0)
        found = [search for search in searches if search is not None]
        known = [np.ascontiguousarray(people[:, part]) for part, _ in parts]
        radii = [
            search.distances(own, neighbours=neighbours)
            for search, own in zip(found, known, strict=True)
        ]
        trees = [(own.tree, own.is_category, own.members, own.starts) for own in found]
        counts = in_threads(
            lambda task: kernel.common_neighbours(
                trees[0], trees[1], known[0][task], known[1][task], radii[0][task], radii[1][task]
            ),
            len(people),
        )
        return chance_of_sharing(counts, neighbours)

    everywhere_tied = np.zeros((1, 3, 3), dtype=np.int64)
    everywhere_tied[0, 2, 2] = len(rows)
    by_chance = float(chance_of_sharing(everywhere_tied, neighbours)[0]) if len(rows) else np.nan
    chosen, compared = setting.people(needed, setting.generator("linkability"))
    nearest = "row" if setting.neighbours == 1 else f"{setting.neighbours} rows"
    return AttackOutcome(
        attack="linkability",
        known=(*one, *other),
        rule=f"the {nearest} nearest by {', '.join(one)} and by {', '.join(other)} coincide"
        + ("" if setting.neighbours == 1 else " in one or more"),
        n_left_out=original.n_records - len(complete),
        success=setting.rate(chances(chosen)),
        baseline=Estimate.exact(by_chance),
        baseline_is="takes rows at random for either part",
        control=None if compared is None else setting.rate(chances(compared)),
        control_is=setting.control_is,
        confidence=setting.confidence,
    )


def chance_of_sharing(counts: NDArray[np.int64], neighbours: int) -> NDArray[np.float64]:
    """Return the chance that two sets of nearest rows share a row, ties drawn at random.

    Each set holds the rows inside its radius, and of those at it as many, drawn without
    replacement, as make up ``neighbours``. ``counts``, shape (n_people, 3, 3), are of rows by where
    they lie: beyond (0), inside (1) or at (2) the first radius, by the second likewise; those
    beyond both are not used.

    Unless a row lies inside both, the sets are disjoint if, for some number j of rows that lie at
    both radii, the first set draws j of these and none inside the second radius, and the second set
    draws none inside the first radius and none of those j.
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


def _log_binomial(n: NDArray[np.int64], k: ArrayLike) -> NDArray[np.float64]:
    """Return ln C(n, k), -inf where there is no way to choose k of n.

    Factor by factor for small k: of two chances that are nearly equal the difference is
    wanted, which the gamma function of large numbers would blur.
    """
    chosen = np.broadcast_to(np.asarray(k, dtype=np.int64), n.shape)
    possible = (chosen >= 0) & (chosen <= n)
    logs: NDArray[np.float64] = np.where(
        possible, -scipy.special.gammaln(np.maximum(chosen, 0) + 1.0), -np.inf
    )
    for i in range(int(chosen.max(initial=0))):
        logs += np.log(np.where(i < chosen, np.maximum(n - i, 1), 1))
    return logs
