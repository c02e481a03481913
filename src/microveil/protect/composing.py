"""From parts that are decided on to one plan, under one guarantee.

Parts draw their noise apart, so that at each scope their epsilons add up; but what other parts
put into a row stands beside a part's values, as a column that is kept does. Each is therefore
asked for its promise with the columns of the others counted as kept, unless its own rows are in a
random order of their own.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from microveil.errors import RequestError
from microveil.guarantee import Cover, Guarantee, Model, PartTerms, Scope, Scopes
from microveil.guarantee.condition import without_draws
from microveil.methods import Promise
from microveil.protect.arguments import arguments
from microveil.protect.claims import (
    conditions_of,
    described,
    draws_at_random,
    labelled,
    terms_of,
)
from microveil.protect.columns import Prepared
from microveil.protect.notes import handling, notes_of_parts, remarks_of_method, remarks_of_release
from microveil.protect.parts import Whole
from microveil.protect.plan import PartPlan, Plan
from microveil.protect.request import Request

__all__ = ["plan_together"]

SEVERAL = "several methods, each for attributes of its own"
ONE_METHOD = "one method, for parts of the attributes by themselves"


def plan_together(prepared: Prepared, whole: Whole, parts: Sequence[PartPlan]) -> Plan:
    """Make one plan of the plans of all parts, whose columns are prepared together.

    Raises
    ------
    RequestError
        If a scope was asked for that they do not cover together.
    """
    requests = [one.request for one in parts]
    claim = guarantee = _claim(whole, parts)
    if whole.scope is not None:
        _check_scope(claim, whole.scope, parts)
    named = {part.named: one for part, one in zip(whole.parts, parts, strict=True)}
    is_seeded = whole.seed is not None
    if is_seeded and (whole.shuffle is not None or any(map(draws_at_random, requests))):
        caveats = (f"{name}: {own}" for name, one in named.items() for own in one.promise.caveats)
        guarantee = claim.drawn_from_seed(without_draws(claim.remarks, tuple(caveats)))
    wanted = whole.scope is not None or bool(whole.keep) or is_seeded
    return Plan(
        prepared=prepared,
        parts=tuple(parts),
        claim=claim,
        guarantee=guarantee,
        notes=notes_of_parts(named, prepared, claim, wanted=wanted),
        parameters=_parameters(whole, requests),
    )


def _claim(whole: Whole, decided: Sequence[PartPlan]) -> Guarantee:
    """Say what is promised of a release of several parts, drawn by the system's randomness."""
    promises, methods = [one.promise for one in decided], [one.request.method.id for one in decided]
    epsilons = [promise.epsilon for promise in promises if promise.epsilon is not None]
    epsilon = sum(epsilons, Fraction(0)) if len(epsilons) == len(promises) else None
    model = min((promise.model for promise in promises), key=lambda model: model.strength)
    if model is Model.K_ANONYMITY:
        # Together with others' values nobody of a cluster is like the rest of it.
        model = Model.NONE
    orders = [one.request.shuffle for one in decided]
    shuffle = whole.shuffle or ("parts" if any(orders) else None)
    if set(orders) == {"columns"}:
        shuffle = "columns"
    beside = labelled(decided, whole.keep)
    return Guarantee(
        method=" + ".join(dict.fromkeys(methods)),
        title=SEVERAL if len(set(methods)) > 1 else ONE_METHOD,
        source="",
        deed="",
        model=model,
        epsilon=epsilon,
        delta=sum((promise.delta for promise in promises), Fraction(0)),
        k=None,
        n_records=decided[0].prepared.table.n_records,
        unit=decided[0].request.protected_unit,
        scopes=Scopes(**{scope.value: _added(promises, scope) for scope in Scope}),
        conditions=tuple(conditions_of(decided, epsilon, whole.keep, labelled=beside)),
        attributes=tuple(terms for one in decided for terms in terms_of(one)),
        parts=tuple(
            PartTerms(
                **described(one),
                attributes=tuple(attribute.name for attribute in one.protected),
                shuffle=one.request.shuffle,
            )
            for one in decided
        ),
        randomness="os",
        kept=whole.keep,
        shuffle=shuffle,
        remarks=(
            *_remarks_of_parts(whole, decided),
            *remarks_of_release(decided, model, shuffle, spends=epsilon is not None),
        ),
    )


def _added(promises: Sequence[Promise], scope: Scope) -> Cover:
    """Add up what each part spends at a scope; one that a part leaves out is not covered."""
    covers = [promise.scopes[scope] for promise in promises]
    epsilons = [cover.exact_epsilon for cover in covers if cover.exact_epsilon is not None]
    if len(epsilons) < len(covers):
        return Cover()
    deltas = (cover.exact_delta for cover in covers)
    return Cover.of(sum(epsilons, Fraction(0)), sum(deltas, Fraction(0)))


def _remarks_of_parts(whole: Whole, decided: Sequence[PartPlan]) -> Iterator[str]:
    """Yield what each part's method did, then what all did to cells and rows, then what some."""
    handled = []
    for one, part in zip(decided, whole.parts, strict=True):
        apart, order = one.request.shuffle is not None, one.request.order or whole.shuffle
        yield from (f"{part.named}: {own}" for own in remarks_of_method(one, apart=apart))
        handled.append((part.named, [*handling(one, order, apart=apart)]))
    common = [own for own in handled[0][1] if all(own in others for _, others in handled)]
    yield from common
    for named, remarks in handled:
        yield from (f"{named}: {own}" for own in remarks if own not in common)


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
