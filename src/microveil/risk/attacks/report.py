"""What came of all attacks on a release, for its custodian."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microveil.risk.attacks.outcome import AttackOutcome, percent
from microveil.risk.attacks.records import NO_CONTROL
from microveil.text import aligned, one_line

__all__ = ["AttackReport"]

TEXT_WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttackReport:
    """The outcomes of all attacks, and which were not carried out.

    It depends on the original, so it is for the custodian, not for publication.

    Parameters
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
