"""Inference: read a person's secret off the released row that is nearest to what is known.

After the inference attack of Giomi, Boenisch, Wehmeyer and Tasnadi (2023). The release says
something about everybody, also about people who are not in it: that is what it is published
for. What it says about its own people beyond that is the excess over a control group.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microveil.measures.attacks.outcome import AttackOutcome
from microveil.measures.attacks.setting import Setting

__all__ = ["inference"]


def inference(setting: Setting, known: Sequence[str], secret: str) -> AttackOutcome:
    """Guess the secret of people by the released row nearest in what is known of them.

    With a tolerance t a number counts as right when the guess is within t standard deviations of
    the original; a category, when equal. Among equally near rows the intruder guesses: success is
    the share of them with the right secret. O(n log n) time to arrange the release, for up to ten
    or so attributes O(log n) or so for each person attacked.
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
