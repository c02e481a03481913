"""Plan: everything about a release that is decided before any noise is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from microveil.guarantee import Guarantee, Scopes
from microveil.methods.planned import AttributePlan, SinglePlan
from microveil.noise.noise import RandomSource
from microveil.protect.units import Units
from microveil.synthesis.plan import SyntheticPlan
from microveil.table import GridColumn, Numbers, Reasons, Table

__all__ = ["Plan", "drawn_cells", "kept_scope"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything about a release that is decided before noise is drawn: deterministic.

    It holds the original and figures of it. A pickled plan, unlike a pickled release, holds
    all of that too: it is the custodian's.

    Attributes
    ----------
    table : Table
    attributes : tuple of AttributePlan
    synthetic : SyntheticPlan or None
        Of a new table, whose attributes are drawn together.
    columns : tuple of GridColumn
        What its draw counts.
    guarantee : Guarantee
    claim : Guarantee
        What holds with the operating system's randomness: with a seed nothing is covered.
    notes : tuple of str
        Warnings in words that hold nothing of the data.
    parameters : dict
        What was asked for, as plain values.
    unused : tuple of str
        Arguments that were given and that the method has no step for.
    isotonic : bool
    shuffle : {"rows", "columns"} or None
    seed : int or None
        None takes the operating system's randomness.
    reasons : dict of Reasons
        By attribute: of cells that are released as missing the codes that stand in them.
    units : Units or None
        Whose records they are, where all of a unit are protected together.
    parts : tuple of Plan
        Of a release of several parts the plan of each: `attributes` are those of all.
    """

    table: Table
    attributes: tuple[AttributePlan, ...]
    synthetic: SyntheticPlan | None
    guarantee: Guarantee
    claim: Guarantee
    notes: tuple[str, ...]
    parameters: Mapping[str, Any]
    unused: tuple[str, ...]
    isotonic: bool
    shuffle: str | None
    seed: int | None
    reasons: Mapping[str, Reasons] = field(default_factory=dict)
    units: Units | None = None
    columns: tuple[GridColumn, ...] = ()
    parts: "tuple[Plan, ...]" = ()

    @property
    def singles(self) -> tuple[SinglePlan, ...]:
        """The attributes that are drawn each by itself: all, or of a new table none."""
        return () if self.synthetic is not None else cast("tuple[SinglePlan, ...]", self.attributes)

    @property
    def promised(self) -> Scopes:
        """What the claim covers, scope by scope."""
        return self.claim.scopes

    def __repr__(self) -> str:
        """Name the plan without its figures, which are the custodian's."""
        names = ", ".join(part.attribute.name for part in self.attributes)
        return f"Plan({self.guarantee.method}, {self.table.n_records} records, {names})"

    def _repr_html_(self) -> str:
        """Say for a notebook what a release would promise."""
        return self.guarantee._repr_html_()


def drawn_cells(
    plan: SinglePlan, units: Units | None, source: RandomSource, *, isotonic: bool
) -> Numbers:
    """Draw the cells of an attribute: of what is one value a unit, one draw a unit, copied."""
    numbers = plan.draw(source, isotonic=isotonic)
    if plan.attribute.of_unit and units is not None:
        return numbers.in_order(units.first_records())
    return numbers


def kept_scope(planned: Plan) -> str | None:
    """Find the most demanding scope at which a plan keeps its epsilon."""
    epsilon = planned.guarantee.epsilon
    if epsilon is None:
        return None
    scope = planned.promised.strongest_at(epsilon, planned.guarantee.delta)
    return None if scope is None else scope.value
