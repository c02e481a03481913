"""Inference: read a person's secret off the released row that is nearest to what is known.

After the inference attack of Giomi, Boenisch, Wehmeyer and Tasnadi (2023). The release says
something about everybody, also about people who are not in it: that is what it is published
for. What it says about its own people beyond that is the excess over a control group.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microveil.risk.attacks.nearest import Rows, standard_weights
from microveil.risk.attacks.outcome import AttackOutcome, Estimate, success_rate
from microveil.risk.attacks.records import Setting

__all__ = ["inference"]


def inference(setting: Setting, known: Sequence[str], secret: str) -> AttackOutcome:
    """Guess the secret of people by the released row nearest in what is known of them.

    Parameters
    ----------
    setting : Setting
        The records need not correspond. With its tolerance t a number counts as right when
        the guess is within t standard deviations of the original; a category, when equal.
    known : sequence of str
        What the intruder knows of the people attacked, exactly.
    secret : str
        What the intruder wants to know; not among the known.

    Returns
    -------
    AttackOutcome
        Among equally near rows the intruder guesses: success is the share of them with the
        right secret. The baseline is the one guess for everybody that is right for most
        released rows.

    Notes
    -----
    O(n log n) time to arrange the release, for up to ten or so attributes O(log n) or so for
    each person attacked.

    Examples
    --------
    >>> from microveil.risk.attacks import Records
    >>> before = Records(
    ...     names=("AGE", "INCOME"),
    ...     values=np.array([[20.0, 9.0], [30.0, 5.0], [40.0, 5.0]]),
    ...     is_category=np.array([False, False]),
    ... )
    >>> inference(Setting(original=before, protected=before), ["AGE"], "INCOME").successes
    3.0
    """
    original = setting.original
    needed = [*known, secret]
    rows = setting.protected.complete_columns(needed)
    complete = original.complete_columns(needed)
    reach = 0.0
    if len(complete) > 1 and not original.categorical([secret])[0]:
        reach = setting.tolerance * float(complete[:, -1].std(ddof=1))
    guesser = _Guesser(rows, complete, original.categorical(known), reach)
    generator = setting.generator(f"inference of {secret}")
    chosen, compared = setting.people(needed, generator)

    def rate(successes: NDArray[np.float64]) -> Estimate:
        return success_rate(float(successes.sum()), len(successes), setting.confidence)

    return AttackOutcome(
        attack="inference",
        known=tuple(known),
        secret=secret,
        rule="the guess is the category"
        if original.categorical([secret])[0]
        else f"the guess is within {100 * setting.tolerance:g} % of the original's standard"
        " deviation",
        n_left_out=original.n_records - len(complete),
        success=rate(guesser.by_nearest(chosen)),
        baseline=rate(guesser.by_constant(chosen)),
        baseline_is="guesses for everybody what is right for most released rows",
        control=None if compared is None else rate(guesser.by_nearest(compared)),
        control_is=setting.control_is,
        confidence=setting.confidence,
    )


class _Guesser:
    """An intruder who holds the release, whose last column is the secret."""

    def __init__(
        self,
        rows: NDArray[np.float64],
        original: NDArray[np.float64],
        is_category: NDArray[np.bool_],
        reach: float,
    ) -> None:
        self._secrets = rows[:, -1]
        self._reach = reach
        self._search = None
        if len(rows):
            weights = standard_weights(original[:, :-1], is_category)
            self._search = Rows.arrange(rows[:, :-1], weights, is_category)

    def _intervals(self, people: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return within which ends a guess counts as right."""
        return np.column_stack([people[:, -1] - self._reach, people[:, -1] + self._reach])

    def by_nearest(self, people: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of the nearest rows that show each person's secret."""
        if self._search is None:
            return np.empty(0)
        known = np.ascontiguousarray(people[:, :-1])
        distances = self._search.distances(known)
        counts = self._search.count_at(known, distances, self._secrets, self._intervals(people))
        share: NDArray[np.float64] = counts[:, 1] / counts[:, 0]
        return share

    def by_constant(self, people: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for whom the one best guess is right: the middle of the fullest interval."""
        if self._search is None:
            return np.empty(0)
        in_order = np.sort(self._secrets)
        near = np.searchsorted(in_order, in_order + self._reach, side="right")
        near -= np.searchsorted(in_order, in_order - self._reach)
        guess = in_order[np.argmax(near)]
        lower, upper = self._intervals(people).T
        right: NDArray[np.bool_] = (lower <= guess) & (guess <= upper)
        return right.astype(np.float64)
