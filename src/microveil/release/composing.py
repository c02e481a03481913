"""From parts that are decided on to one plan, under one guarantee.

Parts draw their noise apart, so that at each scope their epsilons add up; but what other parts
put into a row stands beside a part's values, as a column that is kept does. Each is therefore
asked for its promise with the columns of the others counted as kept, unless its own rows are in a
random order of their own.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from microveil.arguments import arguments
from microveil.errors import RequestError
from microveil.guarantee import Cover, Guarantee, Model, PartTerms, Scope, Scopes
from microveil.guarantee.notes import (
    Circumstances,
    handling,
    remarks_of_method,
    remarks_of_release,
    united,
)
from microveil.release.claims import (
    Decided,
    circumstances,
    conditions_of,
    draws_at_random,
    labelled,
    named_method,
    terms_of,
)
from microveil.release.columns import Prepared
from microveil.release.notes import notes_of_parts
from microveil.release.parts import Whole
from microveil.release.plan import Plan
from microveil.release.planning import plan_decided
from microveil.release.request import Request

__all__ = ["united_plan"]

SEVERAL = "several methods, each for attributes of its own"
ONE_METHOD = "one method, for parts of the attributes by themselves"


def united_plan(whole: Whole, prepared: Prepared, decided: Sequence[Decided]) -> Plan:
    """Make one plan of the plans of all parts.

    Parameters
    ----------
    whole : Whole
    prepared : Prepared
        The columns of all parts.
    decided : sequence of Decided

    Raises
    ------
    RequestError
        If a scope was asked for that they do not cover together.
    """
    requests = [one.request for one in decided]
    claim = _claim(whole, decided)
    if whole.scope is not None:
        _check_scope(claim, whole.scope, decided)
    plans = tuple(plan_decided(one) for one in decided)
    is_seeded = requests[0].seed is not None
    at_random = any(map(draws_at_random, requests)) or whole.shuffle is not None
    return Plan(
        table=prepared.table,
        attributes=tuple(part for plan in plans for part in plan.attributes),
        synthetic=None,
        guarantee=(
            claim.drawn_from_seed(_remarks(whole, decided, claim, seeded=True))
            if is_seeded and at_random
            else claim
        ),
        claim=claim,
        notes=notes_of_parts(
            [
                (part.named, one.request, one.attributes)
                for part, one in zip(whole.parts, decided, strict=True)
            ],
            prepared,
            claim,
            wanted=whole.scope is not None or bool(whole.keep) or is_seeded,
        ),
        parameters=_parameters(whole, requests),
        unused=tuple(dict.fromkeys(name for plan in plans for name in plan.unused)),
        isotonic=any(plan.isotonic for plan in plans),
        shuffle="rows" if whole.shuffle == "rows" else None,
        seed=requests[0].seed,
        reasons={name: codes for plan in plans for name, codes in plan.reasons.items()},
        units=prepared.units,
        parts=plans,
    )


def _claim(whole: Whole, decided: Sequence[Decided]) -> Guarantee:
    """Say what is promised of a release of several parts, drawn by the system's randomness."""
    promises = [one.promise for one in decided]
    first = decided[0].request
    epsilons = [promise.epsilon for promise in promises]
    known = [epsilon for epsilon in epsilons if epsilon is not None]
    epsilon = sum(known, Fraction(0)) if len(known) == len(epsilons) else None
    model = min((promise.model for promise in promises), key=lambda model: model.strength)
    if model is Model.K_ANONYMITY:
        # Together with others' values nobody of a cluster is like the rest of it.
        model = Model.NONE
    apart = [one.request.shuffle for one in decided]
    shuffle = whole.shuffle or ("parts" if any(apart) else None)
    if all(order == "columns" for order in apart):
        shuffle = "columns"
    claim = Guarantee(
        method=" + ".join(dict.fromkeys(one.request.method.id for one in decided)),
        title=SEVERAL if len({one.request.method.id for one in decided}) > 1 else ONE_METHOD,
        source="",
        deed="",
        model=model,
        epsilon=epsilon,
        delta=sum((promise.delta for promise in promises), Fraction(0)),
        k=None,
        n_records=decided[0].prepared.table.n_records,
        unit=first.protected_unit,
        scopes=_added([promise.scopes for promise in promises]),
        conditions=tuple(
            conditions_of(decided, epsilon, whole.keep, labelled=labelled(decided, whole.keep))
        ),
        attributes=tuple(terms for one in decided for terms in terms_of(one)),
        parts=tuple(map(_terms_of_part, decided)),
        randomness="os",
        kept=whole.keep,
        shuffle=shuffle,
        remarks=(),
    )
    return replace(claim, remarks=_remarks(whole, decided, claim, seeded=False))


def _added(scopes: Sequence[Scopes]) -> Scopes:
    """Add up what each part spends at each scope; a scope that one leaves out is not covered."""

    def together(scope: Scope) -> Cover:
        covers = [own[scope] for own in scopes]
        epsilons = [cover.exact_epsilon for cover in covers if cover.exact_epsilon is not None]
        if len(epsilons) < len(covers):
            return Cover.none()
        deltas = (cover.exact_delta for cover in covers)
        return Cover.of(sum(epsilons, Fraction(0)), sum(deltas, Fraction(0)))

    return Scopes(**{scope.value: together(scope) for scope in Scope})


def _terms_of_part(decided: Decided) -> PartTerms:
    request, promise = decided.request, decided.promise
    uses_k = "k" in request.method.needs and "k" not in request.unused
    return PartTerms(
        attributes=tuple(part.attribute.name for part in decided.attributes),
        method=request.method.id,
        title=promise.title or request.method.title,
        source=promise.source or request.method.source,
        deed=(promise.deed or request.method.deed).format(k=request.counted.least(request.k)),
        model=promise.model,
        epsilon=promise.epsilon,
        k=request.k if uses_k else None,
        scopes=promise.scopes,
        shuffle=request.shuffle,
    )


def _remarks(
    whole: Whole, decided: Sequence[Decided], claim: Guarantee, *, seeded: bool
) -> tuple[str, ...]:
    """Return what else is to be known: of each part, and of the release that they make."""
    found: list[Circumstances] = []
    of_parts, handled = [], []
    for one, part in zip(decided, whole.parts, strict=True):
        own = circumstances(one.request, one.attributes, one.promise, seeded=seeded)
        given = replace(
            own, apart=one.request.shuffle is not None, shuffle=own.shuffle or whole.shuffle
        )
        named = named_method(one.request, one.promise)
        of_parts += [
            f"{part.named}: {remark}"
            for remark in remarks_of_method(named, given, one.promise.caveats)
        ]
        handled.append((part.named, handling(given)))
        found.append(given)
    laws = dict.fromkeys(law for given in found for law in given.randomness)
    looked_at = {given.looked_at for given in found}
    together = replace(
        found[0],
        looked_at=looked_at.pop() if len(looked_at) == 1 else None,
        model=claim.model,
        shuffle=claim.shuffle,
        of_unit=tuple(name for given in found for name in given.of_unit),
        randomness=tuple(laws),
        spends_epsilon=claim.epsilon is not None,
    )
    return (*of_parts, *united(handled), *remarks_of_release(together))


def _check_scope(claim: Guarantee, scope: str, decided: Sequence[Decided]) -> None:
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
        elif argument.of_table:
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
