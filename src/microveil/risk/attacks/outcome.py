"""What came of an attack: success, baseline, control and interval, never one without the others.

A success rate by itself says nothing about a release: a coin is right half the time, and who
knows the population guesses well about anybody. Giomi, Boenisch, Wehmeyer and Tasnadi (2023)
therefore set beside the attack a baseline, which does without the release, and a control,
the same attack on people who were not in the original. What the release itself gives away is
the excess (success - base)/(1 - base): of what the base leaves unknown, the part that the
attack finds.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import scipy  # which loads its parts when they are used

from microveil.risk.medians import Median
from microveil.text import aligned

__all__ = ["AttackOutcome", "Estimate", "excess", "success_rate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A rate with its confidence interval.

    Parameters
    ----------
    value : float
        Between 0 and 1; NaN where nothing was tried.
    interval : tuple[float, float]
        Confidence interval; of no width where the rate was not estimated but counted out.
    n : int or None
        Number of attacks it rests on; None where it was not estimated but counted out.
    """

    value: float
    interval: tuple[float, float]
    n: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as JSON knows it: None instead of NaN.

        >>> Estimate(value=0.5, interval=(0.25, 0.75), n=14).to_dict()
        {'rate': 0.5, 'interval': [0.25, 0.75], 'n': 14}
        """
        return {
            "rate": None if math.isnan(self.value) else self.value,
            "interval": list(self.interval),
            "n": self.n,
        }

    @classmethod
    def exact(cls, value: float) -> "Estimate":
        """Return a rate that was counted out, which has no sampling error.

        >>> Estimate.exact(0.25).interval
        (0.25, 0.25)
        """
        return cls(value=value, interval=(0.0, 1.0) if math.isnan(value) else (value, value))


def success_rate(successes: float, n_attacks: int, confidence: float) -> Estimate:
    """Estimate a success rate with the interval of Clopper and Pearson (1934).

    Parameters
    ----------
    successes : float
        Between 0 and n_attacks; guesses among ties count as fractions.
    n_attacks : int
        Independent attacks, 0 or more.
    confidence : float
        Between 0 and 1.

    Returns
    -------
    Estimate
        NaN with the interval from 0 to 1 where there was no attack.

    Notes
    -----
    The interval holds the true rate with at least the confidence stated, also for rates
    close to 0 or 1, where most risks and baselines lie and approximate intervals fall short.
    Fractions vary no more than zeros and ones of the same mean, for which it is meant.

    Examples
    --------
    >>> estimate = success_rate(10, 100, 0.95)
    >>> estimate.value, [round(end, 4) for end in estimate.interval]
    (0.1, [0.049, 0.1762])
    """
    if n_attacks == 0:
        return Estimate(value=math.nan, interval=(0.0, 1.0), n=0)
    successes = min(max(successes, 0.0), float(n_attacks))
    failures = n_attacks - successes
    tail = (1 - confidence) / 2
    lower = float(scipy.special.betaincinv(successes, failures + 1, tail)) if successes > 0 else 0.0
    upper = (
        float(scipy.special.betaincinv(successes + 1, failures, 1 - tail)) if failures > 0 else 1.0
    )
    return Estimate(value=successes / n_attacks, interval=(lower, upper), n=n_attacks)


def excess(success: Estimate, base: Estimate) -> Estimate:
    """Estimate what an attack finds of that which its base leaves unknown.

    Parameters
    ----------
    success, base : Estimate
        Of the attack, and of its control or baseline, with intervals of one confidence.

    Returns
    -------
    Estimate
        (success - base)/(1 - base), 0 where that is negative, with its interval, within 0
        and 1. Undetermined (0, from 0 to 1) where the base leaves nothing unknown.

    Notes
    -----
    The excess is 1 less a ratio of failure rates. Its interval is Donner and Zou's (2012),
    for ratios, from the intervals of both rates taken as independent: each end of the one is
    combined with the opposite end of the other as their distances from the estimates ask.
    Where attack and baseline had the same people as targets they go up and down together,
    and the interval is wider than it need be.

    Examples
    --------
    >>> found = excess(success_rate(60, 100, 0.95), Estimate.exact(0.5))
    >>> round(found.value, 4), [round(end, 4) for end in found.interval]
    (0.2, [0.0, 0.3934])
    """
    if math.isnan(success.value) or math.isnan(base.value):
        return Estimate(value=math.nan, interval=(0.0, 1.0), n=success.n)
    if base.value >= 1:
        return Estimate(value=0.0, interval=(0.0, 1.0), n=success.n)
    missed, left = 1 - success.value, 1 - base.value
    missed_low, missed_high = 1 - success.interval[1], 1 - success.interval[0]
    left_low, left_high = 1 - base.interval[1], 1 - base.interval[0]
    product = missed * left

    def root(missed_end: float, left_end: float) -> float:
        swing = missed_end * (2 * missed - missed_end) * left_end * (2 * left - left_end)
        return math.sqrt(max(0.0, product**2 - swing))

    low = 0.0
    if missed_low > 0:
        low = missed_low * (2 * missed - missed_low) / (product + root(missed_low, left_high))
    high = math.inf
    if left_low > 0:
        high = (product + root(missed_high, left_low)) / (left_low * (2 * left - left_low))
    return Estimate(
        value=_within_0_and_1(1 - missed / left),
        interval=(_within_0_and_1(1 - high), _within_0_and_1(1 - low)),
        n=success.n,
    )


def _within_0_and_1(value: float) -> float:
    return min(1.0, max(0.0, value))


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackOutcome:
    """What came of one attack: a figure about risk with all that it must not stand without.

    Parameters
    ----------
    attack : str
        Which attack.
    known : tuple[str, ...]
        What the intruder knows of the people attacked.
    secret : str or None
        What the intruder wants to know, where that is an attribute.
    rule : str
        When an attack counts as a success.
    n_left_out : int
        Records that could not take part for a missing value.
    success : Estimate
        Of the attack on people of the original.
    baseline : Estimate
        Of an intruder who does without the attack.
    baseline_is : str
        What that intruder does.
    control : Estimate or None
        Of the same attack on people who were not in the original.
    control_is : str
        Who they were, or why there is none.
    confidence : float
        Of every interval.
    details : Mapping[str, Estimate]
        Further figures of the attack, by name.
    distances : Mapping[str, Median]
        Median distances to the closest record of the original in standard deviations, by whose
        they are.
    """

    attack: str
    known: tuple[str, ...]
    secret: str | None
    rule: str
    n_left_out: int
    success: Estimate
    baseline: Estimate
    baseline_is: str
    control: Estimate | None
    control_is: str
    confidence: float
    details: Mapping[str, Estimate] = field(default_factory=dict)
    distances: Mapping[str, Median] = field(default_factory=dict)

    @property
    def n_attacks(self) -> int:
        """How many attacks were carried out."""
        return self.success.n or 0

    @property
    def successes(self) -> float:
        """How many attacks succeeded; guesses among ties count as fractions."""
        return 0.0 if math.isnan(self.success.value) else self.success.value * self.n_attacks

    @property
    def beyond(self) -> str:
        """What the risk is in excess of: "control", or "baseline" where there is none."""
        return "baseline" if self.control is None else "control"

    @property
    def risk(self) -> Estimate:
        """What the release gives away beyond control or baseline, as `excess`."""
        return excess(self.success, self.baseline if self.control is None else self.control)

    @property
    def beats_baseline(self) -> bool:
        """Whether the whole interval of the success lies above that of the baseline.

        Where it does not, the attack was no better than guessing, and a low risk speaks of
        a weak attack as much as of a safe release.
        """
        return self.success.interval[0] > self.baseline.interval[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON knows it: no NaN, None instead.

        Returns
        -------
        dict
            Every figure as ``rate``, ``interval`` and ``n``; ``control`` may be None, and
            ``control_is`` then says why.
        """
        return {
            "attack": self.attack,
            "known": list(self.known),
            "secret": self.secret,
            "rule": self.rule,
            "n_attacks": self.n_attacks,
            "n_left_out": self.n_left_out,
            "successes": self.successes,
            "success": self.success.to_dict(),
            "baseline": self.baseline.to_dict(),
            "baseline_is": self.baseline_is,
            "control": None if self.control is None else self.control.to_dict(),
            "control_is": self.control_is,
            "risk": {**self.risk.to_dict(), "beyond": self.beyond},
            "beats_baseline": self.beats_baseline,
            "confidence": self.confidence,
            "details": {name: estimate.to_dict() for name, estimate in self.details.items()},
            "distances": {name: median.to_dict() for name, median in self.distances.items()},
        }

    def to_text(self) -> str:
        """Write the outcome in words, with all its figures in percent.

        Returns
        -------
        str
            A few lines for a terminal.
        """
        about = "" if self.secret is None else f" of {self.secret}"
        figures = {
            "success": self.success,
            "baseline": self.baseline,
            "control": self.control,
            f"risk beyond {self.beyond}": self.risk,
            **self.details,
        }
        title = f"{self.attack}{about}: {self.n_attacks} attacks"
        rows = [
            (name, self.control_is if estimate is None else percent(estimate))
            for name, estimate in figures.items()
        ]
        rows += [
            (f"distance, {whose}", f"{median} standard deviations, the median")
            for whose, median in self.distances.items()
        ]
        table = aligned(rows, widths=(21,), left=(0, 1), indent="  ")
        return "\n".join([f"{title}, percent with {100 * self.confidence:g} % intervals", *table])


def percent(estimate: Estimate) -> str:
    """Write a rate in percent with its interval; an exact one without.

    >>> percent(Estimate(value=0.123, interval=(0.101, 1.0), n=80)), percent(Estimate.exact(0.001))
    ('12.3 (10.1-100)', '0.10')
    """
    if math.isnan(estimate.value):
        return "-"
    low, high = estimate.interval
    if estimate.n is None:
        return _shown(estimate.value)
    return f"{_shown(estimate.value)} ({_shown(low)}-{_shown(high)})"


def _shown(rate: float) -> str:
    """Write a rate in percent, with three figures or so."""
    hundredths = 100 * rate
    if rate in {0, 1}:
        return str(int(hundredths))
    if hundredths >= 10:
        return f"{hundredths:.1f}"
    return f"{hundredths:.2f}" if hundredths >= 0.1 else f"{hundredths:.2g}"
