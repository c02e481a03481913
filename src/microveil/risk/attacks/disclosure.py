"""Interval disclosure: how closely a person's own released value reveals the original one.

The intruder knows which row is the person's, and takes the released value as a guess.
Disclosed is an original value that lies in an interval around it: so many standard
deviations to either side, or so many ranks (Domingo-Ferrer and Torra 2001; Mateo-Sanz, Sebé
and Domingo-Ferrer 2004).
"""

import math

import numpy as np
from numpy.typing import NDArray

from microveil.risk.attacks.outcome import AttackOutcome, Estimate, success_rate
from microveil.risk.attacks.records import Setting

__all__ = ["interval_disclosure"]

# A share of n that is a whole number on paper may miss it by a rounding.
ROUNDING = 1e-9


def interval_disclosure(setting: Setting, secret: str, *, by_rank: bool = False) -> AttackOutcome:
    """Count the people whose value lies close to the one released for them.

    Parameters
    ----------
    setting : Setting
        Tables whose records correspond, position by position. With its tolerance t the
        interval reaches t standard deviations of the original to either side, or t n ranks.
    secret : str
        A numeric attribute.
    by_rank : bool
        Let the interval reach from the released value that many ranks below the lowest that
        is equal to the person's, to the one that many ranks above the highest.

    Returns
    -------
    AttackOutcome
        The baseline, a row of somebody at random instead of the person's own, is counted out
        over all pairs of persons and rows.

    Notes
    -----
    O(n log n) time.

    Examples
    --------
    >>> from microveil.risk.attacks import Records
    >>> numbers = np.array([False])
    >>> before = Records(names=("AGE",), values=np.array([[20.0], [40.0]]), is_category=numbers)
    >>> after = Records(names=("AGE",), values=np.array([[30.0], [40.0]]), is_category=numbers)
    >>> outcome = interval_disclosure(Setting(original=before, protected=after), "AGE")
    >>> outcome.success.value, outcome.baseline.value
    (0.5, 0.25)
    """
    original, protected = setting.original, setting.protected
    present = original.complete([secret]) & protected.complete([secret])
    values = original.columns([secret])[present, 0]
    released = protected.columns([secret])[present, 0]
    n = len(values)
    ends = _rank_intervals if by_rank else _deviation_intervals
    lower, upper = ends(values, released, setting.tolerance)
    in_order = np.sort(values)
    pairs = np.searchsorted(in_order, upper, side="right") - np.searchsorted(in_order, lower)
    share = f"{100 * setting.tolerance:g} % of"
    near = f"at most {share} the original's standard deviation away from the released one"
    if by_rank:
        near = f"between the released values {share} all ranks below and above the person's"
    return AttackOutcome(
        attack=f"interval disclosure by {'rank' if by_rank else 'value'}",
        known=("which row is the person's",),
        secret=secret,
        rule=f"the value is {near}",
        n_left_out=int((~present).sum()),
        success=success_rate(
            float(np.sum((lower <= values) & (values <= upper))), n, setting.confidence
        ),
        baseline=Estimate.exact(float(pairs.sum()) / n**2 if n else np.nan),
        baseline_is="takes the row of somebody at random",
        control=None,
        control_is="none: people who were not in the original have no row",
        confidence=setting.confidence,
    )


def _deviation_intervals(
    values: NDArray[np.float64], released: NDArray[np.float64], tolerance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of the intervals of so many standard deviations to either side."""
    reach = tolerance * values.std(ddof=1) if len(values) > 1 else 0.0
    return released - reach, released + reach


def _rank_intervals(
    values: NDArray[np.float64], released: NDArray[np.float64], tolerance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of the intervals of so many ranks to either side, among the released."""
    n = len(values)
    if n == 0:
        return released, released
    in_order = np.sort(released)
    reach = math.floor(tolerance * n + ROUNDING)
    lowest = np.searchsorted(in_order, released) - reach
    highest = np.searchsorted(in_order, released, side="right") - 1 + reach
    return in_order[np.maximum(lowest, 0)], in_order[np.minimum(highest, n - 1)]
