"""What a new table is accounted to spend, step by step: public figures, the same for every table.

Counts with noise and choices by the exponential mechanism have a bound that no table exceeds, and
bounds add up (docs/methods): there is nothing to be computed on the table at hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from microveil.guarantee.budget import epsilon_of
from microveil.noise.counts import CountNoise
from microveil.protect.plan import Plan
from microveil.synthesis.plan import CutsPlan, LevelsPlan, SyntheticPlan

__all__ = ["Accounted", "accounted_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounted:
    """The budget that the steps of a new table spend, as they are carried out.

    Attributes
    ----------
    is_concentrated : bool
        Whether budgets are those of rho, else of epsilon.
    promised, delta : Fraction
        The epsilon of the whole, which all steps together stay within, and its delta.
    attributes : dict of Fraction
        What is asked of each attribute by itself, of whoever is protected: a record or a unit.
    choices, tables : Fraction
        Which pairs are measured, and their tables.
    """

    is_concentrated: bool
    promised: Fraction
    delta: Fraction
    attributes: Mapping[str, Fraction]
    choices: Fraction
    tables: Fraction

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
        return epsilon_of(budget, self.delta) if self.is_concentrated else budget

    def to_dict(self) -> dict[str, Any]:
        """Return the budgets as plain values."""
        return {
            "unit": self.unit,
            "attributes": {name: float(spent) for name, spent in self.attributes.items()},
            "choices": float(self.choices),
            "tables": float(self.tables),
            "total": float(self.total),
        }


def accounted_of(planned: Plan) -> Accounted | None:
    """Add up what a plan of a new table spends; None of a plan whose rows follow the original's.

    Examples
    --------
    >>> import numpy as np
    >>> import microveil as mv
    >>> ages = {"AGE": np.arange(300) % 90}
    >>> planned = mv.plan(
    ...     ages, method="dp-synthetic", epsilon=2, attributes="AGE", bounds={"AGE": (0, 120)}
    ... )
    >>> accounted_of(planned).total
    Fraction(2, 1)
    """
    plan = planned.synthetic
    if plan is None:
        return None
    assert planned.claim.epsilon is not None  # noqa: S101 -- a new table always spends one
    is_concentrated = planned.claim.rho is not None
    choices, tables = _pairs(plan, is_concentrated=is_concentrated)
    # Steps are carried out with what one record may spend: group privacy.
    times = planned.claim.unit.max_rows ** (2 if is_concentrated else 1)
    return Accounted(
        is_concentrated=is_concentrated,
        promised=planned.claim.epsilon,
        delta=planned.claim.delta,
        attributes={
            part.attribute.name: times * _own(part, is_concentrated=is_concentrated)
            for part in plan.attributes
        },
        choices=times * choices,
        tables=times * tables,
    )


def _own(part: CutsPlan | LevelsPlan, *, is_concentrated: bool) -> Fraction:
    if isinstance(part, LevelsPlan):
        return _noise(part.noise)
    # A level of cuts costs 2 rate of epsilon, rate**2 / 2 of rho.
    costs = [rate**2 / 2 if is_concentrated else 2 * rate for rate in part.rates]
    noises = [part.present]
    if part.learning is not None:
        noises += [part.learning.atoms, part.learning.decimals]
    return sum(costs + [_noise(one) for one in noises if one is not None], Fraction(0))


def _pairs(plan: SyntheticPlan, *, is_concentrated: bool) -> tuple[Fraction, Fraction]:
    tables = plan.tables
    if tables is None:
        return Fraction(0), Fraction(0)
    choice = tables.rate**2 / 8 if is_concentrated else tables.rate
    return tables.n_tables * choice, tables.n_tables * _noise(tables.noise)


def _noise(noise: CountNoise) -> Fraction:
    """Return what noise on counts costs of which one record changes two, by 1 each."""
    return 1 / noise.scale if noise.is_gaussian else 2 * (1 << noise.bits) / noise.scale
