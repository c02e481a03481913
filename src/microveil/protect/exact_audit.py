"""The exact audit: what a plan really guarantees on this table at vector scope.

The published guarantee carries a bound that needs no data; the audit carries the loss itself,
for the custodian: it depends on the data. For every attribute it is the largest, over every
record replaced by any value of the domain and the clusters formed anew, of the sum over
clusters of |change of the sum| / scale of its noise, with the scales that the release really
draws with, rounding included. No search is needed: see `shifts` for clusters by rank,
`joint_shifts` for those of several attributes; the proofs are in docs/methods.

For a new table nothing is computed on the original. Counts with noise and choices by the
exponential mechanism have a bound that no table exceeds, and bounds add up: what its steps spend
bounds the loss, whatever is looked at.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

from microveil.guarantee import Condition, Unit
from microveil.guarantee.budget import epsilon_of, rounded_up
from microveil.guarantee.condition import in_short
from microveil.noise.counts import CountNoise
from microveil.protect.plan import Plan, all_figures
from microveil.synthesis.one_way_plan import OneWayPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeAudit:
    """What one attribute of a plan really spends."""

    share: Fraction | None  # its part of epsilon; None where it has none
    vector_scope: float | None  # the loss at vector scope; None where nothing bounds it
    exact_cells: int  # those that noise was due for and that would come out as they are
    clusters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounted:
    """The budget that the steps of a new table spend, as they are carried out."""

    is_concentrated: bool  # whether budgets are those of rho, else of epsilon
    promised: Fraction  # the epsilon of the whole, which all steps together stay within
    delta: Fraction
    learnt: Fraction  # of delta, the chance that a value which only one unit has is shown
    # What is asked of each attribute by itself, of whoever is protected: a record or a unit.
    attributes: Mapping[str, Fraction]
    choices: Fraction  # which pairs are measured
    tables: Fraction  # and their tables

    @property
    def unit(self) -> str:
        """In what budgets are counted."""
        return "rho" if self.is_concentrated else "epsilon"

    @property
    def total(self) -> Fraction:
        """All steps together."""
        return sum(self.attributes.values(), self.choices + self.tables)

    def epsilon(self, budget: Fraction) -> Fraction:
        """Return the epsilon that a part of the budget comes to by itself, beside the delta."""
        return epsilon_of(budget, self.delta - self.learnt) if self.is_concentrated else budget

    def to_dict(self) -> dict[str, Any]:
        """Return the budgets as plain values."""
        return {
            "unit": self.unit,
            "attributes": {name: float(spent) for name, spent in self.attributes.items()},
            "choices": float(self.choices),
            "tables": float(self.tables),
            "total": float(self.total),
        }


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
        What the steps of a new table spend: the losses are then what is accounted, at every
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
        losses = []
        for entry in self.attributes.values():
            if entry.vector_scope is None:
                return None
            losses.append(entry.vector_scope)
        return math.fsum(losses)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain values."""
        attributes: dict[str, dict[str, Any]] = {}
        for name, entry in self.attributes.items():
            attributes[name] = asdict(entry)
            attributes[name]["share"] = None if entry.share is None else float(entry.share)
            if self.methods:
                attributes[name]["method"] = self.methods[name]
        plain = {"attributes": attributes, "vector_scope": self.vector_scope}
        return plain if self.accounted is None else plain | {"accounted": self.accounted.to_dict()}

    def to_text(self) -> str:
        """Return the audit as a table for a terminal."""
        from microveil.text.templates import document_of  # a release is made without templates

        shares = [entry.share for entry in self.attributes.values() if entry.share is not None]
        # What one part spends is no bound on a release whose other parts spend none.
        is_whole = shares and (len(shares) == len(self.attributes) or not self.methods)
        return document_of(
            "protect/audit.jinja",
            audit=self,
            whole=sum(shares) if is_whole else None,
            in_short=in_short(self.conditions),
            figure=lambda own, absent="none": absent if own is None else f"{float(own):.6g}",
        ).to_text()


def audit_of(planned: Plan) -> Audit:
    """Audit a plan: of a unit by its worst record, so many times."""
    claim, entries = planned.claim, dict[str, AttributeAudit]()
    for part in all_figures(planned):
        loss, of_unit = part.vector_loss, part.attribute.of_unit
        entries[part.attribute.name] = AttributeAudit(
            share=claim.unit.spends(part.share, of_unit=of_unit),
            vector_scope=None if loss is None else loss * claim.unit.draws(of_unit=of_unit),
            exact_cells=part.exact_cells,
            clusters=part.n_clusters,
        )
    return Audit(
        attributes=entries,
        conditions=claim.conditions,
        unit=Unit() if claim.has_clusters else claim.unit,
        methods={terms.name: terms.method for terms in claim.attributes} if claim.parts else {},
        accounted=accounted_of(planned),
    )


def accounted_of(planned: Plan) -> Accounted | None:
    """Add up what a plan of a new table spends; None of a plan whose rows follow the original's."""
    plan = planned.synthetic
    if plan is None:
        return None
    assert planned.claim.epsilon is not None  # noqa: S101 -- a new table always spends one
    is_concentrated = planned.claim.rho is not None
    choices = tables = Fraction(0)
    if (of_pairs := plan.tables) is not None:
        rate = of_pairs.rate
        choices = of_pairs.n_tables * (rate**2 / 8 if is_concentrated else rate)
        tables = of_pairs.n_tables * _noise(of_pairs.noise)
    # Steps are carried out with what one record may spend: group privacy.
    times = planned.claim.unit.max_rows ** (2 if is_concentrated else 1)
    return Accounted(
        is_concentrated=is_concentrated,
        promised=planned.claim.epsilon,
        delta=planned.claim.delta,
        learnt=sum(map(_delta, plan.attributes), Fraction(0)),
        attributes={
            part.attribute.name: times * _own(part, is_concentrated=is_concentrated)
            for part in plan.attributes
        },
        choices=times * choices,
        tables=times * tables,
    )


def _delta(part: OneWayPlan) -> Fraction:
    learning = [own.learning for own in part.each if own.learning is not None]
    return max((own.delta for own in learning), default=Fraction(0))


def _own(part: OneWayPlan, *, is_concentrated: bool) -> Fraction:
    if part.kinds is not None:  # one kind is taken
        of_kinds = [_own(own, is_concentrated=is_concentrated) for own in part.each]
        return _noise(part.kinds) + max(of_kinds)
    # A level of cuts costs 2 rate of epsilon, rate**2 / 2 of rho; one depth is taken, or cells.
    ways = [
        sum((rate**2 / 2 if is_concentrated else 2 * rate) for rate in depth.rates)
        for depth in part.depths
    ]
    ways += [] if part.cells is None else [_noise(part.cells)]
    always = [_noise(one) for one in (part.noise, part.decimals) if one is not None]
    return sum(always, Fraction(max(ways, default=0)))


def _noise(noise: CountNoise) -> Fraction:
    """Return the cost of noise on counts where one record changes two counts by 1 each."""
    return 1 / noise.scale if noise.is_gaussian else 2 * (1 << noise.bits) / noise.scale
