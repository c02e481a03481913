"""What an empirical audit found, as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microveil.audit.empirical.bounds import most_shown
from microveil.guarantee import Condition
from microveil.guarantee.condition import in_short
from microveil.text import aligned


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
        """The bound that a difference as plain as can be would give."""
        return most_shown(self.runs, self.confidence)

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
        out_of_reach = [
            name for name, found in self.scopes.items() if found.claimed and found.claimed >= most
        ]
        lines = [
            f"'{self.attribute}': {self.runs} runs, and as many on a neighbour built to hurt it.",
            f"Lower bounds on epsilon, each at {100 * self.confidence:g} % confidence:",
            "",
            *aligned(
                [
                    ("scope", "claimed", "exact audit", "shown"),
                    *(_row(name, finding) for name, finding in self.scopes.items()),
                ],
                widths=(8, 11),
                left=(0, 3),
            ),
            *(f"Claimed {proviso}." for proviso in in_short(self.conditions)),
            *([""] if self.remarks else []),
            *self.remarks,
            "",
            f"So many runs can show {most:.4g} at most, however plain the difference.",
        ]
        if out_of_reach:
            lines.append(
                f"At {' and '.join(out_of_reach)} scope that is not above the claim, which more "
                "runs would have to test."
            )
        if self.contradicted:
            lines.append(f"CONTRADICTED: the claim at {' and '.join(self.contradicted)} scope.")
        else:
            lines.append("No claim is contradicted. That proves none.")
        return "\n".join(lines) + "\n"


def _row(name: str, finding: ScopeFinding) -> tuple[str, ...]:
    claimed = "not covered" if finding.claimed is None else f"{finding.claimed:.6g}"
    exact = "no bound" if finding.exact is None else f"{finding.exact:.6g}"
    return name, claimed, exact, f"at least {finding.lower_bound:.4g}"
