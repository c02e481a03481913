"""What repeated runs show: lower confidence bounds on epsilon by samples of scores, as values.

If no set of outcomes is more than e^epsilon times as likely on a table as on its neighbour, or
the other way round, then neither is any event that an attacker picks. Two proportions that
differ by more contradict that epsilon, and how far they differ for certain bounds it from below.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.guarantee import Condition
from microveil.guarantee.condition import in_short
from microveil.text.templates import document_of

Scores = NDArray[np.float64]

# Thresholds that are tried from either end of the scores, ever denser towards that end.
THRESHOLDS = 500


def least_proportion(successes: NDArray[np.int64], runs: int, error: float) -> Scores:
    """Bound proportions from below, exactly: Clopper and Pearson 1934, by quantiles of beta laws.

    ``error`` is the largest chance that the true proportion is below its bound. The upper bound of
    as many failures is 1 less this.
    """
    some = np.maximum(successes, 1)
    return np.where(successes == 0, 0.0, scipy.special.betaincinv(some, runs - some + 1, error))


def lower_bound(
    of_table: Scores, of_neighbour: Scores, confidence: float, delta: float = 0.0
) -> float:
    """Bound epsilon from below by scores of as many independent runs on a table and on a neighbour.

    A score is any function of the outcome; the higher, the more it speaks for the table.
    ``confidence`` is the least chance that the true epsilon reaches the bound, ``delta`` what the
    epsilon leaves out.

    The first half of the runs chooses the attack: a threshold, and whether the scores from it
    upwards are counted, which speak for the table, or those below it, for the neighbour. The
    second half, which had no part in that choice, gives the bound: ln of the lower bound of the
    one proportion over the upper bound of the other, each with half of the allowed error.
    Source: Jagielski, Ullman and Oprea 2020.
    """
    half = len(of_table) // 2
    error = (1 - confidence) / 2
    # Cuts midway between neighbouring scores, so that none lies on an outcome.
    ordered = np.unique(np.concatenate([of_table[:half], of_neighbour[:half]]))
    cuts: Scores = (ordered[1:] + ordered[:-1]) / 2 if len(ordered) > 1 else ordered
    ranks = np.geomspace(1, len(cuts), THRESHOLDS).astype(np.int64)
    tried = cuts[np.unique(np.concatenate([ranks - 1, len(cuts) - ranks]))]
    bounds = _bounds(of_table[:half], of_neighbour[:half], tried, error, delta)
    side, place = np.unravel_index(bounds.argmax(), bounds.shape)
    chosen = tried[place : place + 1]
    found = _bounds(of_table[half:], of_neighbour[half:], chosen, error, delta)[side, 0]
    return max(0.0, float(found))


def _bounds(
    of_table: Scores, of_neighbour: Scores, thresholds: Scores, error: float, delta: float
) -> Scores:
    """Bounds by the scores from each threshold upwards, and by those below: (2, n_thresholds)."""
    runs = len(of_table)
    table_from = runs - np.searchsorted(np.sort(of_table), thresholds)
    neighbour_below = np.searchsorted(np.sort(of_neighbour), thresholds)
    table = least_proportion(table_from, runs, error)
    neighbour = least_proportion(neighbour_below, runs, error)
    with np.errstate(divide="ignore"):
        least = np.maximum(np.stack([table, neighbour]) - delta, 0.0)
        return np.log(least / np.stack([1 - neighbour, 1 - table]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeFinding:
    """What was found at one scope.

    Attributes
    ----------
    claimed : float or None
        What the guarantee covers for the attribute; None where it covers nothing.
    lower_bound : float
        What the runs show: the true loss is at least this, at the confidence stated.
    exact : float or None
        What the exact audit says; None where nothing bounds the loss.
    """

    claimed: float | None
    lower_bound: float
    exact: float | None

    @property
    def contradicts(self) -> bool:
        """Whether more was shown than is claimed."""
        return self.claimed is not None and self.lower_bound > self.claimed

    def to_dict(self) -> dict[str, float | None]:
        """Return the finding as plain values."""
        return {"claimed": self.claimed, "lower_bound": self.lower_bound, "exact": self.exact}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmpiricalAudit:
    """Lower confidence bounds on what one attribute of a release loses, for its custodian.

    Attributes
    ----------
    attribute : str
    runs : int
        On the table, and as many on a neighbour, at each scope.
    confidence : float
        Of each scope's bound by itself.
    scopes : dict of ScopeFinding
        "cluster", "vector" and "row".
    conditions : tuple of Condition
        What the claims take as given and leave out, as the guarantee says it.
    remarks : tuple of str
        What else is to be known of claims and of what is attacked, in sentences.
    """

    attribute: str
    runs: int
    confidence: float
    scopes: Mapping[str, ScopeFinding]
    conditions: tuple[Condition, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def most_that_runs_can_show(self) -> float:
        """The bound that a difference as plain as can be would give.

        It is that where an event always happens on the one table and never on the other.
        """
        deciding = self.runs - self.runs // 2
        low = float(least_proportion(np.array(deciding), deciding, (1 - self.confidence) / 2))
        return max(0.0, float(np.log(low / (1 - low))))

    @property
    def contradicted(self) -> tuple[str, ...]:
        """Scopes whose claim the runs contradict."""
        return tuple(name for name, finding in self.scopes.items() if finding.contradicts)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain values."""
        return {
            "attribute": self.attribute,
            "runs": self.runs,
            "confidence": self.confidence,
            "most_that_runs_can_show": self.most_that_runs_can_show,
            "scopes": {name: finding.to_dict() for name, finding in self.scopes.items()},
        }

    def to_text(self) -> str:
        """Return the audit for a terminal."""
        most = self.most_that_runs_can_show
        return document_of(
            "audit/empirical/findings.jinja",
            audit=self,
            provisos=in_short(self.conditions),
            most=most,
            out_of_reach=[
                n for n, own in self.scopes.items() if own.claimed and own.claimed >= most
            ],
        ).to_text()
