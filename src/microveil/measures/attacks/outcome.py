"""What attacks have in common: their tables, and what came of them.

A success rate by itself says nothing: a coin is right half the time. Giomi, Boenisch, Wehmeyer and
Tasnadi (2023) set beside it a baseline, which does without the release, and a control, the same
attack on others. What the release gives away is the excess (success - base)/(1 - base).
"""

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.nearest import Rows, standard_weights
from microveil.measures.values import (
    Estimate,
    Flags,
    Floats,
    as_json,
    drawn,
    excess,
    percent,
    success_rate,
)
from microveil.text import shortened, some_of
from microveil.text.document import Document
from microveil.text.figures import NOTHING, figure, figures_to
from microveil.text.templates import document_of

NO_CONTROL = (
    "no control group: success beyond the baseline includes what the population reveals about "
    "anybody"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackOutcome:
    """What came of one attack: a figure about risk with all that it must not stand without."""

    attack: str  # which attack
    known: tuple[str, ...]  # what the intruder knows of the people attacked
    secret: str | None = None  # what the intruder wants to know, where that is an attribute
    rule: str  # when an attack counts as a success
    n_left_out: int  # records that could not take part for a missing value
    # Of the attack on people of the original, and of an intruder who does without it.
    success: Estimate
    baseline: Estimate
    baseline_is: str  # what that intruder does
    control: Estimate | None = None  # of the same attack on people who were not in the original
    control_is: str  # who they were, or why there is none
    confidence: float  # of every interval
    # Further figures of the attack, by name.
    details: Mapping[str, Estimate] = field(default_factory=dict)
    # Median distances to the closest record of the original in standard deviations, by whose they
    # are.
    distances: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Which attack, on what."""
        return self.attack + ("" if self.secret is None else f" of {shortened(self.secret)}")

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
        """Whether the interval of the success lies above the baseline's; else it is no attack."""
        return self.success.interval[0] > self.baseline.interval[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON knows it; what is undefined is None."""
        figures = as_json(self, "n_attacks", "successes", "beats_baseline")
        return figures | {"risk": {**self.risk.to_dict(), "beyond": self.beyond}}


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
        return () if self.n_control is not None else (NO_CONTROL,)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON knows it; what is undefined is None."""
        return {
            "schema": 1,
            **as_json(self, "notes"),
            "interval": "Clopper-Pearson; of the risk, Donner-Zou's from both rates",
        }

    def document(self) -> Document:
        """Say what came of each attack, each risk with what it must not stand without."""
        return document_of(
            "measures/attacks/report.jinja",
            report=self,
            rows=[row for outcome in self.outcomes for row in _rows(outcome)],
            weak=[outcome.name for outcome in self.outcomes if not outcome.beats_baseline],
            figure=figure,
            some_of=some_of,
        )

    def to_text(self) -> str:
        """Write the document for a terminal, as wide as that is; see `document`."""
        return self.document().to_text()


def _rows(outcome: AttackOutcome) -> list[tuple[str, ...]]:
    """Write the figures of an attack, and below them what else it found."""
    rates = (outcome.success, outcome.baseline, outcome.control, outcome.risk)
    rows = [(outcome.name, figure(outcome.n_attacks), *map(percent, rates))]
    further = {name: percent(rate) for name, rate in outcome.details.items()}
    for whose, median in outcome.distances.items():
        shown = f"{figure(median.value)} ({figures_to(median.interval)})" if median.n else NOTHING
        further[f"median distance, {whose}, in standard deviations"] = shown
    if outcome.n_left_out:
        further["records left out for a missing value"] = figure(outcome.n_left_out)
    return rows + [(f"- {name}", "", shown, "", "", "") for name, shown in further.items()]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """The tables under attack, and what all attacks on them have in common."""

    names: tuple[str, ...]  # of the attributes
    is_category: Flags  # (n_attributes,): categories are equal or not; numbers are near or far
    # (n_records, n_attributes): categories as positions in one list for all tables; NaN where
    # missing.
    original: Floats
    protected: Floats
    control: Floats | None = None  # people drawn like those of the original, who are not in it
    # As `attack` describes them.
    n_attacks: int = 2000
    tolerance: float = 0.05
    neighbours: int = 1
    confidence: float = 0.95
    seed: int = 0
    sample: int | None = None

    def of(self, names: Sequence[str]) -> "Setting":
        """Return the tables with some attributes alone."""
        at = [self.names.index(name) for name in names]
        return replace(
            self,
            names=tuple(names),
            is_category=self.is_category[at],
            original=self.original[:, at],
            protected=self.protected[:, at],
            control=None if self.control is None else self.control[:, at],
        )

    def complete(self, names: Sequence[str]) -> "Setting":
        """Return the records of each table that miss none of some attributes."""
        own = self.of(names)
        return replace(
            own,
            original=_complete(own.original),
            protected=_complete(own.protected),
            control=None if own.control is None else _complete(own.control),
        )

    def pairs(self, names: Sequence[str]) -> "Setting":
        """Return the people and their rows, where neither misses one of some attributes."""
        own = self.of(names)
        present = ~np.isnan(own.original + own.protected).any(axis=1)
        return replace(own, original=own.original[present], protected=own.protected[present])

    def generator(self, label: str) -> np.random.Generator:
        """Return the randomness of one attack, whichever others are carried out."""
        return np.random.default_rng([self.seed, zlib.crc32(label.encode())])

    def people(self, generator: np.random.Generator) -> tuple[Floats, Floats | None]:
        """Choose at most ``n_attacks`` people of the original, and of a control group."""

        def chosen(table: Floats) -> Floats:
            return table[drawn(len(table), self.n_attacks, generator)]

        return chosen(self.original), None if self.control is None else chosen(self.control)

    def rate(self, successes: NDArray[np.generic]) -> Estimate:
        """Estimate a success rate from what came of each attack."""
        return success_rate(float(successes.sum()), len(successes), self.confidence)

    def outcome(self, attack: str, known: Sequence[str], **found: Any) -> AttackOutcome:
        """Say what came of an attack; its control group, where nothing else is said, is ours."""
        whose = "the same attack on people of the control group"
        given = {"control_is": NO_CONTROL if self.control is None else whose, **found}
        return AttackOutcome(attack=attack, known=tuple(known), confidence=self.confidence, **given)


def _complete(records: Floats) -> Floats:
    return records[~np.isnan(records).any(axis=1)]


def arranged(rows: Floats, people: Floats, is_category: Flags) -> Rows | None:
    """Arrange rows to be compared with people, in whose deviations; None without either."""
    if not len(rows) or not len(people):
        return None
    return Rows.arrange(rows, standard_weights(people, is_category), is_category)
