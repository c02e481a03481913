"""From a request and a table to a plan: everything about a release short of its noise."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
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

__all__ = ["plan_prepared", "refuse_exact", "refuse_unnamed"]

# A guarantee is to be read by people too: of more categories it states no matrix.
MOST_STATED = 100


def plan_prepared(
    prepared: Prepared,
    request: Request,
    engine: Engine,
    progress: Callable[[str], None] = lambda _step: None,
) -> Plan:
    """Plan a request on columns that are on their grids, whatever cells come out exactly."""
    opened = prepared.table
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
    promise = _promise(opened, request, parts, choices)
    _check_scope(promise, request)
    claim = _guarantee(opened, request, parts, promise)
    return Plan(
        table=opened,
        attributes=parts,
        synthetic=synthetic,
        guarantee=_in_force(claim, request, parts, promise),
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
    table: Table, request: Request, parts: tuple[AttributePlan, ...], choices: Choices
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
            keeps=bool(request.keep),
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


def _guarantee(
    table: Table, request: Request, parts: tuple[AttributePlan, ...], promise: Promise
) -> Guarantee:
    """Say what is promised of a release drawn with the operating system's randomness."""
    method = request.method
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
        conditions=tuple(_conditions(request, parts, promise, kept)),
        attributes=tuple(
            AttributeTerms.of(
                part.attribute,
                request.protected_unit.spends(part.share),
                method.id,
                _stated(part),
            )
            for part in parts
        ),
        randomness="os",
        kept=kept,
        shuffle=_shuffled(request),
        is_synthetic=method.is_synthetic,
        remarks=_remarks(request, parts, promise, seeded=False),
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
    draws = request.method.randomness is not None or request.shuffle is not None
    if request.seed is None or not draws:
        return claim
    return claim.drawn_from_seed(_remarks(request, parts, promise, seeded=True))


def _conditions(
    request: Request,
    parts: tuple[AttributePlan, ...],
    promise: Promise,
    kept: tuple[str, ...],
) -> Iterator[Condition]:
    """Yield what the claim takes as given and leaves out, the method's own first."""
    scopes: tuple[Scope, ...] = EVERY_SCOPE if promise.epsilon is not None else ()
    attributes = [part.attribute for part in parts]
    yield from promise.conditions
    if names := [a.name for a in attributes if a.bounds_from_data]:
        yield conditions.bounds(names).at(scopes)
    if names := [a.name for a in attributes if a.categories_from_data]:
        yield conditions.categories(names).at(scopes)
    if names := [a.name for a in attributes if a.resolution_from_data]:
        yield conditions.resolution(names).at(scopes)
    if request.attributes is None and scopes:
        yield conditions.columns_chosen()
    if request.advised is Advised.DATA:
        yield conditions.parameters_chosen().at(scopes)
    if request.missing == "keep":
        names = [a.name for a in attributes if a.reasons]
        yield conditions.missing_cells(names).at(scopes)
    yield from (condition.at(scopes) for condition in _of_unit(request))
    if request.method.may_be_exact and request.exact_cells == "allow":
        yield conditions.exact_cells().at(scopes)
    if kept:
        yield conditions.kept_columns(kept).at(scopes)


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
    method = request.method
    bounded = any(part.attribute.bounds is not None for part in parts)
    return remarks(
        f"{method.id}, {promise.title or method.title}",
        Circumstances(
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
            randomness=method.randomness,
            spends_epsilon=promise.epsilon is not None,
            advised_publicly=request.advised is Advised.PUBLIC,
        ),
        promise.caveats,
    )
