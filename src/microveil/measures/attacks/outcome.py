"""What came of attacks: success, baseline, control and interval, never one without the others.

A success rate by itself says nothing about a release: a coin is right half the time, and who
knows the population guesses well about anybody. Giomi, Boenisch, Wehmeyer and Tasnadi (2023)
therefore set beside the attack a baseline, which does without the release, and a control,
the same attack on people who were not in the original. What the release itself gives away is
the excess (success - base)/(1 - base): of what the base leaves unknown, the part that the
attack finds.
"""

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from microveil.measures.estimates import Estimate, Median, excess, percent
from microveil.text import aligned, one_line

__all__ = ["NO_CONTROL", "AttackOutcome", "AttackReport"]

NO_CONTROL = (
    "no control group: success beyond the baseline includes what the population reveals about "
    "anybody"
)
TEXT_WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackOutcome:
    """What came of one attack: a figure about risk with all that it must not stand without.

    Attributes
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
    success, baseline : Estimate
        Of the attack on people of the original, and of an intruder who does without it.
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
    secret: str | None = None
    rule: str
    n_left_out: int
    success: Estimate
    baseline: Estimate
    baseline_is: str
    control: Estimate | None = None
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

        Every figure has its ``rate``, ``interval`` and ``n``; ``control`` may be None, and
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttackReport:
    """The outcomes of all attacks, and which were not carried out.

    It depends on the original, so it is for the custodian, not for publication.

    Attributes
    ----------
    n_original, n_protected : int
        Records of the tables.
    n_control : int or None
        People of the control group, where there is one.
    paired : bool
        Whether records were taken to be in the same order.
    tolerance : float
        How near a guess had to come, in standard deviations or as a share of all ranks.
    confidence : float
        Of every interval.
    seed : int
        What decided who was attacked.
    outcomes : tuple[AttackOutcome, ...]
        One to each attack, and to each attribute where it is about one.
    not_carried_out : Mapping[str, str]
        Why, by attack.
    left_out : tuple[str, ...]
        Columns of the original that took no part.
    """

    n_original: int
    n_protected: int
    n_control: int | None
    paired: bool
    tolerance: float
    confidence: float
    seed: int
    outcomes: tuple[AttackOutcome, ...]
    not_carried_out: Mapping[str, str]
    left_out: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What to bear in mind when reading the figures."""
        if self.n_control is not None:
            return ()
        return (NO_CONTROL,)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON knows it: no NaN, None instead.

        Returns
        -------
        dict
            The ``outcomes`` as `AttackOutcome.to_dict`, and under which terms they came about.
        """
        return {
            "schema": 1,
            "n_original": self.n_original,
            "n_protected": self.n_protected,
            "n_control": self.n_control,
            "paired": self.paired,
            "tolerance": self.tolerance,
            "confidence": self.confidence,
            "interval": "Clopper-Pearson; of the risk, Donner-Zou's from both rates",
            "seed": self.seed,
            "notes": list(self.notes),
            "left_out": list(self.left_out),
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
            "not_carried_out": dict(self.not_carried_out),
        }

    def to_text(self) -> str:
        """Write the report as an aligned table of at most 100 columns.

        Returns
        -------
        str
            Lines for a terminal, each risk with what it must not stand without.
        """
        base = "baseline" if self.n_control is None else "control where there is one, else baseline"
        head, *rows = aligned(
            [
                ("tried", "success", "baseline", "control", "risk"),
                *(_figures(outcome) for outcome in self.outcomes),
            ],
            widths=(8, 20, 20, 20, 20),
            left=(),
            indent="  ",
        )
        lines = [
            f"Attacks on a release of {self.n_protected} records of {self.n_original} people",
            f"  in percent, with {100 * self.confidence:g} % intervals",
            f"  risk = (success - base)/(100 - base), base = {base}",
            "",
            head,
        ]
        for outcome, row in zip(self.outcomes, rows, strict=True):
            lines += _outcome_lines(outcome, row)
        notes = [
            *self.notes,
            *(f"not carried out: {name}: {why}" for name, why in self.not_carried_out.items()),
        ]
        if self.left_out:
            notes.append(f"took no part: {', '.join(self.left_out)}")
        if notes:
            lines.append("")
        for note in notes:
            lines += textwrap.wrap(one_line(note), TEXT_WIDTH, subsequent_indent="  ")
        return "\n".join(lines) + "\n"


def _figures(outcome: AttackOutcome) -> list[str]:
    rates = (outcome.success, outcome.baseline, outcome.control, outcome.risk)
    return [str(outcome.n_attacks), *("-" if rate is None else percent(rate) for rate in rates)]


def _outcome_lines(outcome: AttackOutcome, figures: str) -> list[str]:
    """Write which attack it was, and its figures below."""
    about = "" if outcome.secret is None else f" of {outcome.secret}"
    weak = "" if outcome.beats_baseline else " (no better than the baseline)"
    lines = [
        f"  {one_line(outcome.attack + about)[: TEXT_WIDTH - 2 - len(weak)]}{weak}",
        figures,
    ]
    if outcome.n_left_out:
        lines.append(f"          ({outcome.n_left_out} records left out for a missing value)")
    lines += [
        f"          {label}: {percent(estimate)}" for label, estimate in outcome.details.items()
    ]
    lines += [
        f"          median distance, {whose}: {median} standard deviations"
        for whose, median in outcome.distances.items()
    ]
    return lines
