"""From a request and a table to a plan: everything about a release short of its noise."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from microveil.arguments.steps import MATRIX
from microveil.engines.base import Engine
from microveil.errors import ExactCellsError, RequestError
from microveil.methods import Choices, Promise, Setting
from microveil.plans import AttributePlan, SyntheticPlan, TransitionPlan
from microveil.privacy import (
    EVERY_SCOPE,
    AttributeTerms,
    Condition,
    Cover,
    Guarantee,
    Model,
    Scope,
    split,
)
from microveil.privacy import condition as conditions
from microveil.privacy.notes import Circumstances, remarks
from microveil.privacy.terms import RESPONSE, Transition
from microveil.release.columns import Prepared
from microveil.release.notes import plan_notes
from microveil.release.release import Plan
from microveil.release.request import Advised, Request
from microveil.table import Table

__all__ = [
    "Decided",
    "circumstances",
    "conditions_of",
    "decide",
    "draws_at_random",
    "named_method",
    "plan_decided",
    "plan_prepared",
    "refuse_exact",
    "refuse_unnamed",
    "terms_of",
]

# A guarantee is to be read by people too: of more categories it states no matrix.
MOST_STATED = 100


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decided:
    """A request decided on, short of a guarantee in words.

    Attributes
    ----------
    request : Request
    prepared : Prepared
    attributes : tuple of AttributePlan
    synthetic : SyntheticPlan or None
    promise : Promise
        Of the method, as asked for.
    """

    request: Request
    prepared: Prepared
    attributes: tuple[AttributePlan, ...]
    synthetic: SyntheticPlan | None
    promise: Promise


def plan_prepared(
    prepared: Prepared,
    request: Request,
    engine: Engine,
    progress: Callable[[str], None] = lambda _step: None,
) -> Plan:
    """Plan a request on columns that are on their grids, whatever cells come out exactly."""
    decided = decide(prepared, request, engine, progress)
    _check_scope(decided.promise, request)
    return plan_decided(decided)


def decide(
    prepared: Prepared,
    request: Request,
    engine: Engine,
    progress: Callable[[str], None] = lambda _step: None,
    *,
    joined: bool = False,
) -> Decided:
    """Decide on a request: its partitions, its scales and what they promise.

    Parameters
    ----------
    prepared : Prepared
    request : Request
    engine : Engine
    progress : callable
        Gets the name of each step.
    joined : bool
        Whether other columns than the request's will stand in its rows.
    """
    if request.scope == Scope.ROW or request.method.is_synthetic:
        refuse_unnamed(request, prepared.names)
    choices = _choices(prepared, request)
    progress("partitioning")
    columns = [engine.column(column) for column in prepared.columns]
    made = request.method.plan(columns, choices, engine)
    synthetic = made if isinstance(made, SyntheticPlan) else None
    parts: tuple[AttributePlan, ...] = (
        made.attributes if isinstance(made, SyntheticPlan) else tuple(made)
    )
    return Decided(
        request=request,
        prepared=prepared,
        attributes=parts,
        synthetic=synthetic,
        promise=_promise(prepared.table, request, parts, choices, joined=joined),
    )


def plan_decided(decided: Decided) -> Plan:
    """Make the plan of what was decided, with its guarantee in words."""
    request, prepared, parts = decided.request, decided.prepared, decided.attributes
    claim = _guarantee(decided)
    return Plan(
        table=prepared.table,
        attributes=parts,
        synthetic=decided.synthetic,
        guarantee=_in_force(claim, request, parts, decided.promise),
        claim=claim,
        notes=plan_notes(request, parts, prepared, claim),
        parameters=request.parameters(),
        unused=request.unused,
        isotonic=request.isotonic,
        shuffle=_shuffled(request),
        seed=request.seed,
        reasons={
            column.attribute.name: column.reasons
            for column in prepared.columns
            if column.reasons is not None and request.missing == "keep"
        },
        units=prepared.units,
    )


def refuse_unnamed(request: Request, names: Sequence[str]) -> None:
    """Refuse a request at row scope that leaves the choice of columns to the table.

    Raises
    ------
    RequestError
        With the columns to name.
    """
    if request.attributes is None:
        raise RequestError(
            "attributes",
            "at row scope they must be named: which columns are released would hang on the data",
            f"name those to protect, for example --attributes {','.join(names)} "
            f"(attributes={list(names)!r})",
        )


def _check_scope(promise: Promise, request: Request) -> None:
    if request.scope is None:
        return
    # A matrix of the user's own spends what it spends, without a budget.
    budget = request.epsilon or promise.epsilon
    if budget is None or not promise.scopes[request.scope].keeps(budget, request.delta):
        raise RequestError(
            "scope",
            f"{request.method.id} does not keep this epsilon at {request.scope} scope as asked",
            "choose another method (method='auto' finds one) or a weaker scope",
        )


def _shuffled(request: Request) -> str | None:
    return request.shuffle if request.method.uses("shuffle") else None


def _choices(prepared: Prepared, request: Request) -> Choices:
    names = prepared.names
    own: dict[str, Any] = {}
    for argument in request.method.arguments:
        value = argument.default if argument.name in request.unused else request[argument]
        own[argument.name] = value if argument.fit is None else argument.fit(value, names)
    return Choices(
        k=request.k,
        shares=_shares(names, request),
        exact_cells=request.exact_cells,
        own=own,
        n_records=prepared.table.n_records,
        epsilon=request.epsilon,
        delta=request.delta,
        max_rows=request.protected_unit.max_rows,
        budget=request.budget,
        protects_missing=request.missing == "protect",
    )


def _shares(names: list[str], request: Request) -> dict[str, Fraction]:
    """Split epsilon over the attributes that have no transition matrix of their own.

    What may be spent on one record: a unit's so many times (group privacy of pure epsilons).
    """
    if request.epsilon is None or not request.method.needs_epsilon:
        return {}
    matrices = request[MATRIX] if request.method.uses("matrix") else None
    own = {name for name, given in (matrices or {}).items() if not isinstance(given, str)}
    sharing = [name for name in names if name not in own]
    of_record = request.epsilon / request.protected_unit.max_rows
    return split(of_record, sharing, request.budget) if sharing else {}


def refuse_exact(planned: Plan, request: Request) -> None:
    """Refuse a plan by which cells come out exactly, unless that was allowed.

    Raises
    ------
    ExactCellsError
        With the attributes and how many of their cells.
    """
    if request.exact_cells == "allow" or not request.method.may_be_exact:
        return
    found = [part for part in planned.attributes if part.exact_cells]
    if not found:
        return
    counted = ", ".join(
        f"'{part.attribute.name}' {part.exact_cells} of {part.n_cells}" for part in found
    )
    if request.exact_cells == "widen" or all(part.n_clusters == 1 for part in found):
        raise ExactCellsError(
            f"cells of {counted}",
            "all values are equal: there is nothing to merge them with, and they would be "
            "published exactly as they are",
            "leave the attribute out, choose another method, or allow it with "
            "exact_cells='allow' (--exact-cells allow)",
        )
    raise ExactCellsError(
        f"cells of {counted}",
        "their clusters hold equal values, need no noise by the method's rule and would be "
        "published exactly as they are",
        "merge them with their neighbours by exact_cells='widen' (--exact-cells widen), choose a "
        "larger k or another method, or allow it with exact_cells='allow' (--exact-cells allow)",
    )


def _promise(
    table: Table,
    request: Request,
    parts: tuple[AttributePlan, ...],
    choices: Choices,
    *,
    joined: bool,
) -> Promise:
    """Ask the method what it promises, and take off what a choice by a look at the data costs."""
    attributes = [part.attribute for part in parts]
    promise = request.method.promise(
        Setting(
            shares=tuple(
                (
                    (part.share or Fraction(0)) * choices.max_rows,
                    max(1, table.n_records // request.k),
                )
                for part in parts
            ),
            spends_epsilon=all(part.share is not None for part in parts),
            choices=choices,
            bounds_from_data=any(a.bounds_from_data for a in attributes),
            categories_from_data=any(a.categories_from_data for a in attributes),
            resolution_from_data=any(a.resolution_from_data for a in attributes),
            keeps_missing=request.missing == "keep",
            shuffle=request.shuffle,
            keeps=bool(request.keep) or joined,
            kinds=frozenset(a.kind for a in attributes),
        )
    )
    listed_by_a_look = any(a.categories_from_data for a in attributes)
    if promise.epsilon is None or not (_chosen_by_a_look(request) or listed_by_a_look):
        return promise
    # What was chosen or listed is released too, and one record can change it: no row scope.
    return replace(
        promise,
        model=promise.model.at_most(Model.INDIVIDUAL),
        scopes=replace(promise.scopes, row=Cover.none()),
    )


def _chosen_by_a_look(request: Request) -> bool:
    return request.attributes is None or request.advised is Advised.DATA


def _guarantee(decided: Decided) -> Guarantee:
    """Say what is promised of a release drawn with the operating system's randomness."""
    request, parts, promise = decided.request, decided.attributes, decided.promise
    table, method = decided.prepared.table, request.method
    kept = tuple(name for name in table.names if name in request.keep)
    return Guarantee(
        method=method.id,
        title=promise.title or method.title,
        source=promise.source or method.source,
        deed=(promise.deed or method.deed).format(k=request.k),
        model=promise.model,
        epsilon=promise.epsilon,
        delta=promise.delta,
        rho=promise.rho,
        k=request.k if method.needs_k and "k" not in request.unused else None,
        n_records=table.n_records,
        unit=request.protected_unit,
        scopes=promise.scopes,
        conditions=tuple(conditions_of([decided], promise.epsilon, kept)),
        attributes=terms_of(decided),
        randomness="os",
        kept=kept,
        shuffle=_shuffled(request),
        is_synthetic=method.is_synthetic,
        remarks=_remarks(request, parts, promise, seeded=False),
    )


def terms_of(decided: Decided) -> tuple[AttributeTerms, ...]:
    """Return what is said of each attribute."""
    request = decided.request
    return tuple(
        AttributeTerms.of(
            part.attribute,
            request.protected_unit.spends(part.share),
            request.method.id,
            _stated(part),
        )
        for part in decided.attributes
    )


def _stated(part: AttributePlan) -> Transition | None:
    """Return a public transition matrix, or that share and domain say it; None of a huge one."""
    if not isinstance(part, TransitionPlan) or not part.matrix_is_public:
        return None
    if part.follows_from_share:
        return RESPONSE
    if len(part.weights) > MOST_STATED:
        return None
    return tuple(tuple(row) for row in part.weights.tolist())


def _in_force(
    claim: Guarantee, request: Request, parts: tuple[AttributePlan, ...], promise: Promise
) -> Guarantee:
    """Return what is promised of the release as it is drawn: nothing where a seed draws it."""
    if request.seed is None or not draws_at_random(request):
        return claim
    return claim.drawn_from_seed(_remarks(request, parts, promise, seeded=True))


def draws_at_random(request: Request) -> bool:
    """Whether anything of a release is left to chance."""
    return request.method.randomness is not None or request.shuffle is not None


def conditions_of(
    decided: Sequence[Decided], epsilon: Fraction | None, kept: tuple[str, ...]
) -> Iterator[Condition]:
    """Yield what a claim takes as given and leaves out, the methods' own first.

    Parameters
    ----------
    decided : sequence of Decided
        The release's parts: often one alone.
    epsilon : Fraction or None
        Of the whole.
    kept : tuple of str
        Columns that are released unprotected.
    """
    scopes: tuple[Scope, ...] = EVERY_SCOPE if epsilon is not None else ()
    requests = [one.request for one in decided]
    attributes = [part.attribute for one in decided for part in one.attributes]
    yield from _of_methods(decided, scopes)
    if names := [a.name for a in attributes if a.bounds_from_data]:
        yield conditions.bounds(names).at(scopes)
    if names := [a.name for a in attributes if a.categories_from_data]:
        yield conditions.categories(names).at(scopes)
    if names := [a.name for a in attributes if a.resolution_from_data]:
        yield conditions.resolution(names).at(scopes)
    if any(request.attributes is None for request in requests) and scopes:
        yield conditions.columns_chosen()
    if any(request.advised is Advised.DATA for request in requests):
        yield conditions.parameters_chosen().at(scopes)
    keeping = [one for one in decided if one.request.missing == "keep"]
    if keeping:
        found = [part.attribute for one in keeping for part in one.attributes]
        yield conditions.missing_cells([a.name for a in found if a.reasons]).at(scopes)
    yield from (condition.at(scopes) for condition in _of_unit(requests[0]))
    if any(r.method.may_be_exact and r.exact_cells == "allow" for r in requests):
        yield conditions.exact_cells().at(scopes)
    if kept:
        yield conditions.kept_columns(kept).at(scopes)


def _of_methods(decided: Sequence[Decided], scopes: Sequence[Scope]) -> Iterator[Condition]:
    """Yield the conditions of methods, each once, at every scope that some method has it at."""
    found: dict[tuple[str, str], Condition] = {}
    for condition in (condition for one in decided for condition in one.promise.conditions):
        key = condition.id, condition.text
        known = found.get(key, condition).scopes
        found[key] = condition.at(s for s in Scope if s in known or s in condition.scopes)
    alone = len(decided) == 1
    for condition in found.values():
        yield condition if alone else condition.at(s for s in condition.scopes if s in scopes)


def _of_unit(request: Request) -> Iterator[Condition]:
    """Yield what is taken as given of units, and that a table was not refused by a check."""
    unit, is_synthetic = request.protected_unit, request.method.is_synthetic
    if unit.column is not None:
        yield conditions.unit_sizes(unit)
    if request.outside == "error" and (is_synthetic or unit.column is not None):
        yield conditions.outside_checked(unit, bounds=is_synthetic)


def _remarks(
    request: Request, parts: tuple[AttributePlan, ...], promise: Promise, *, seeded: bool
) -> tuple[str, ...]:
    given = circumstances(request, parts, promise, seeded=seeded)
    return remarks(named_method(request, promise), given, promise.caveats)


def named_method(request: Request, promise: Promise) -> str:
    """Return a method's id and its name as chosen."""
    return f"{request.method.id}, {promise.title or request.method.title}"


def circumstances(
    request: Request, parts: tuple[AttributePlan, ...], promise: Promise, *, seeded: bool
) -> Circumstances:
    """Return what of a request bears on its guarantee, beside the method."""
    method = request.method
    bounded = any(part.attribute.bounds is not None for part in parts)
    return Circumstances(
        seeded=seeded,
        model=promise.model,
        shuffle=_shuffled(request),
        is_synthetic=method.is_synthetic,
        isotonic=request.isotonic,
        missing=request.missing,
        clamps=request.outside == "clamp" and bounded,
        drops=request.outside == "clamp" and request.unit is not None,
        unit=request.protected_unit,
        chosen_from_data=request.attributes is None,
        exact_cells=request.exact_cells if method.may_be_exact else None,
        randomness=() if method.randomness is None else (method.randomness,),
        spends_epsilon=promise.epsilon is not None,
        advised_publicly=request.advised is Advised.PUBLIC,
    )
