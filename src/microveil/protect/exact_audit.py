"""The exact audit: what a plan really guarantees on this table at vector scope.

The published guarantee carries a bound that needs no data; the audit carries the loss itself,
for the custodian: it depends on the data. For every attribute it is the largest, over every
record replaced by any value of the domain and the clusters formed anew, of the sum over
clusters of |change of the sum| / scale of its noise, with the scales that the release really
draws with, rounding included. No search is needed: see `shifts` for clusters by rank,
`joint_shifts` for those of several attributes; the proofs are in docs/methods. Of a new table
nothing is computed on the original: what is accounted bounds the loss, whatever is looked at.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from microveil.guarantee import Condition, Unit
from microveil.guarantee.budget import rounded_up
from microveil.guarantee.condition import in_short
from microveil.methods.planned import AttributePlan
from microveil.protect.accounted import Accounted, accounted_of
from microveil.protect.plan import Plan
from microveil.table.threads import SideBySide, in_threads
from microveil.text import aligned, one_line

__all__ = ["AttributeAudit", "Audit", "audit_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeAudit:
    """What one attribute of a plan really spends.

    Attributes
    ----------
    share : Fraction or None
        Its part of epsilon; None where it has none.
    vector_scope : float or None
        The loss at vector scope; None where nothing bounds it.
    exact_cells : int
        Cells that noise was due for and that would come out as they are.
    clusters : int
    """

    share: Fraction | None
    vector_scope: float | None
    exact_cells: int
    clusters: int

    @classmethod
    def of(cls, part: AttributePlan, unit: Unit) -> "AttributeAudit":
        """Audit the plan of one attribute; of a unit by its worst record, so many times."""
        loss = part.vector_loss
        return cls(
            share=unit.spends(part.share, of_unit=part.attribute.of_unit),
            vector_scope=(
                None if loss is None else loss * unit.draws(of_unit=part.attribute.of_unit)
            ),
            exact_cells=part.exact_cells,
            clusters=part.n_clusters,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What a plan really guarantees at vector scope, for its custodian.

    Attributes
    ----------
    attributes : dict of AttributeAudit
    conditions : tuple of Condition
        What the shares of epsilon take as given and leave out, as the guarantee says it.
    unit : Unit
        Who is protected.
    methods : dict of str
        Of several parts the method of each attribute; else empty.
    accounted : Accounted or None
        Of a new table what its steps spend: the losses are then what is accounted, at every
        scope, and were not computed on this table.
    """

    attributes: Mapping[str, AttributeAudit]
    conditions: tuple[Condition, ...] = ()
    unit: Unit = field(default_factory=Unit)
    methods: Mapping[str, str] = field(default_factory=dict)
    accounted: Accounted | None = None

    @property
    def vector_scope(self) -> float | None:
        """The losses of all attributes together; None where one of them is unbounded.

        One person's record may be the worst in one attribute and not in another, so this
        is at least what any one person risks.
        """
        if self.accounted is not None:
            # Beside a delta no loss is certain.
            return None if self.accounted.is_concentrated else rounded_up(self.accounted.total)
        losses = [entry.vector_scope for entry in self.attributes.values()]
        known = [loss for loss in losses if loss is not None]
        return math.fsum(known) if len(known) == len(losses) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain values."""
        return {
            "attributes": {
                name: {
                    "share": None if entry.share is None else float(entry.share),
                    "vector_scope": entry.vector_scope,
                    "exact_cells": entry.exact_cells,
                    "clusters": entry.clusters,
                    **({"method": self.methods[name]} if self.methods else {}),
                }
                for name, entry in self.attributes.items()
            },
            "vector_scope": self.vector_scope,
            **({} if self.accounted is None else {"accounted": self.accounted.to_dict()}),
        }

    def to_text(self) -> str:
        """Return the audit as a table for a terminal."""
        if self.accounted is not None:
            return self._accounted_text(self.accounted)
        header = ("attribute", "share", "true loss", "clusters", "exact cells")
        rows: list[tuple[str, ...]] = [(*header, *(("method",) if self.methods else ()))]
        for name, entry in self.attributes.items():
            share = "none" if entry.share is None else f"{float(entry.share):.6g}"
            loss = _shown(entry.vector_scope)
            figures = (share, loss, str(entry.clusters), str(entry.exact_cells))
            method = (self.methods[name],) if self.methods else ()
            rows.append((one_line(name), *figures, *method))
        shares = [entry.share for entry in self.attributes.values() if entry.share is not None]
        # What one part spends is no bound on a release whose other parts spend none.
        whole = len(shares) == len(self.attributes) or not self.methods
        total = f"{float(sum(shares)):.6g}" if shares and whole else "none"
        bound = "what one record can change, its clusters formed anew"
        if self.unit.column is not None:
            bound = f"at most what {self.unit.in_words} can change"
        lines = [
            f"The loss at vector scope: {bound}.",
            "",
            *aligned(
                [*rows, ("all together", total, _shown(self.vector_scope))],
                widths=(0, 10, 10, 9),
                left=(0, 5),
            ),
        ]
        if self.conditions:
            lines += ["", *in_short(self.conditions)]
        return "\n".join(lines) + "\n"

    def _accounted_text(self, accounted: Accounted) -> str:
        """Say what is accounted, step by step: nothing of it was computed on the table."""
        rows = [
            ("attribute", "share", f"spent, {accounted.unit}"),
            *(
                (one_line(name), _figure(entry.share), _figure(accounted.attributes[name]))
                for name, entry in self.attributes.items()
            ),
        ]
        if accounted.tables:
            rows += [
                ("choice of pairs", "", _figure(accounted.choices)),
                ("tables of pairs", "", _figure(accounted.tables)),
            ]
        total = _figure(accounted.promised)
        rows.append(("all together", "", _figure(accounted.total)))
        delta = f", delta {float(accounted.delta):g}" if accounted.delta else ""
        lines = [
            *(_BOUND if self.unit.column is None else (_BOUND_OF_UNIT.format(self.unit.in_words),)),
            "",
            *aligned(rows, widths=(0, 10, 14)),
            "",
            f"That is epsilon {total}{delta}, whatever is looked at.",
        ]
        if self.conditions:
            lines += ["", *in_short(self.conditions)]
        return "\n".join(lines) + "\n"


def audit_of(planned: Plan, side_by_side: SideBySide = in_threads) -> Audit:
    """Audit a plan, its attributes side by side."""
    parts, unit = planned.attributes, planned.claim.unit
    n_clusters = sum(part.n_clusters for part in parts)
    entries = side_by_side(lambda part: AttributeAudit.of(part, unit), parts, 0, n_clusters)
    return Audit(
        attributes={part.attribute.name: entry for part, entry in zip(parts, entries, strict=True)},
        conditions=planned.claim.conditions,
        unit=Unit() if planned.claim.has_clusters else planned.claim.unit,
        methods=(
            {terms.name: terms.method for terms in planned.claim.attributes}
            if planned.parts
            else {}
        ),
        accounted=accounted_of(planned),
    )


_BOUND = (
    "The loss that is accounted: a bound, at every scope and for every table, on what one",
    "record can change. It is not computed on this table.",
)
_BOUND_OF_UNIT = (
    "The loss that is accounted: a bound, at every scope and for every table, on what {} can "
    "change. It is not computed on this table."
)


def _shown(loss: float | None) -> str:
    return "no bound" if loss is None else f"{loss:.6g}"


def _figure(number: Fraction | int | None) -> str:
    return "none" if number is None else f"{float(number):.6g}"
