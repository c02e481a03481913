"""Plan: everything about a release that is decided before any noise is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from microveil.guarantee import Guarantee, Scopes
from microveil.methods import Promise
from microveil.methods.expected_pairs import ExpectedPairs
from microveil.methods.planned import AttributePlan, Figures, SinglePlan, figures_of
from microveil.protect.columns import Prepared, Units
from microveil.protect.request import Request
from microveil.schema import Attribute
from microveil.synthesis.plan import SyntheticPlan
from microveil.table import Table
from microveil.table.threads import in_threads


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartPlan:
    """What one method does and promises: of the whole release, or of its part."""

    prepared: Prepared
    request: Request
    attributes: tuple[AttributePlan, ...]
    protected: tuple[Attribute, ...]  # that are planned
    synthetic: SyntheticPlan | None  # of a new table, whose attributes are drawn together
    promise: Promise  # of the method, as asked for
    pairs: ExpectedPairs | None = None  # how many pairs of attributes a new table can measure

    @property
    def singles(self) -> tuple[SinglePlan, ...]:
        """The attributes that are drawn each by itself: all, or of a new table none."""
        return () if self.synthetic is not None else cast("tuple[SinglePlan, ...]", self.attributes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything about a release that is decided before noise is drawn: deterministic.

    It holds the original and figures of it. A pickled plan, unlike a pickled release, holds
    all of that too: it is the custodian's.

    Attributes
    ----------
    prepared : Prepared
        The table, and the columns of all parts.
    parts : tuple of PartPlan
        One, or of several methods the plan of each.
    attributes : tuple of SinglePlan, Figures or OneWayPlan
        The plans of the attributes of all parts, or what is left of them.
    claim : Guarantee
        What holds with the operating system's randomness: with a seed nothing is covered.
    guarantee : Guarantee
    notes : tuple of str
        Warnings in words that hold nothing of the data.
    parameters : dict
        What was asked for, as plain values.
    """

    prepared: Prepared
    parts: tuple[PartPlan, ...]
    attributes: tuple[AttributePlan, ...]
    claim: Guarantee
    guarantee: Guarantee
    notes: tuple[str, ...]
    parameters: Mapping[str, Any]

    @property
    def table(self) -> Table:
        """The original."""
        return self.prepared.table

    @property
    def units(self) -> Units | None:
        """Whose records they are, where all of a unit are protected together."""
        return self.prepared.units

    @property
    def synthetic(self) -> SyntheticPlan | None:
        """Of a new table, whose attributes are drawn together."""
        return self.parts[0].synthetic

    @property
    def isotonic(self) -> bool:
        """Whether noisy means are put back in order, in some part at least."""
        return any(part.request.isotonic for part in self.parts)

    @property
    def unused(self) -> tuple[str, ...]:
        """Arguments that were given and that the method has no step for."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.request.unused))

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


def all_figures(planned: Plan) -> list[Figures]:
    """Return what is known of the plan of each attribute, side by side where it is to be found."""
    to_find = [own for own in planned.attributes if isinstance(own, SinglePlan)]
    return in_threads(figures_of, planned.attributes, len(to_find) * planned.table.n_records)


def kept_scope(planned: Plan) -> str | None:
    """Find the most demanding scope at which a plan keeps its epsilon."""
    epsilon = planned.guarantee.epsilon
    if epsilon is None:
        return None
    scope = planned.promised.strongest_at(epsilon, planned.guarantee.delta)
    return None if scope is None else scope.value
