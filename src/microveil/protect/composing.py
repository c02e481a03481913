"""From parts that are planned to one plan, under one guarantee: see `claims`."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from microveil.errors import RequestError
from microveil.guarantee import Guarantee
from microveil.protect.arguments import arguments
from microveil.protect.claims import guarantee_of, in_force
from microveil.protect.columns import Prepared
from microveil.protect.notes import notes_of_parts
from microveil.protect.parts import Whole
from microveil.protect.plan import PartPlan, Plan
from microveil.protect.request import Request

__all__ = ["plan_together"]


def plan_together(prepared: Prepared, whole: Whole, parts: Sequence[PartPlan]) -> Plan:
    """Make one plan of the plans of all parts, whose columns are prepared together."""
    claim = guarantee_of(parts, whole)
    if whole.scope is not None:
        _check_scope(claim, whole.scope, parts)
    named = {part.named: one for part, one in zip(whole.parts, parts, strict=True)}
    wanted = whole.scope is not None or bool(whole.keep) or whole.seed is not None
    return Plan(
        prepared=prepared,
        parts=tuple(parts),
        claim=claim,
        guarantee=in_force(claim, parts, whole),
        notes=notes_of_parts(named, prepared, claim, wanted=wanted),
        parameters=_parameters(whole, [one.request for one in parts]),
    )


def _check_scope(claim: Guarantee, scope: str, decided: Sequence[PartPlan]) -> None:
    # A matrix of the user's own spends what it spends, beside a budget or without one.
    budgets = [one.request.epsilon or one.promise.epsilon for one in decided]
    known = [budget for budget in budgets if budget is not None]
    whole = sum(known, Fraction(0))
    if len(known) == len(budgets) and claim.scopes[scope].keeps(whole, claim.delta):
        return
    raise RequestError(
        "scope",
        f"these parts together do not keep their epsilon at {scope} scope",
        "choose other methods, shuffle=True for a part whose rows must be in random order, "
        "shuffle='columns', or a weaker scope",
    )


def _parameters(whole: Whole, requests: Sequence[Request]) -> dict[str, Any]:
    """Return what was asked for as plain values: what is said of the table, and by part."""
    of_each = [request.parameters() for request in requests]
    written: dict[str, Any] = {}
    for argument in arguments():
        if argument.by_column:
            merged: dict[str, Any] = {}
            for own in of_each:
                merged |= own.get(argument.name) or {}
            written[argument.name] = merged
        elif not argument.of_part:
            written[argument.name] = of_each[0].get(argument.name)
    del written["attributes"]  # the parts name them
    written |= {
        "keep": list(whole.keep),
        "scope": whole.scope,
        "shuffle": whole.shuffle,
        "unit_attributes": list(whole.unit_attributes),
    }
    own_names = [*(argument.name for argument in arguments() if argument.of_part), "advised"]
    written["parts"] = [
        {
            "attributes": list(part.attributes),
            **{name: own.get(name) for name in own_names},
            "shuffle": None if whole.shuffle else own.get("shuffle"),
        }
        for part, own in zip(whole.parts, of_each, strict=True)
    ]
    return written
