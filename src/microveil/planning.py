"""From a request and a table to a plan: everything about a release short of its noise."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from microveil.engines import Engine
from microveil.errors import ExactCellsError, RequestError
from microveil.methods import Choices, Promise, Setting
from microveil.notes import plan_notes
from microveil.plans import AttributePlan
from microveil.preparation import Prepared
from microveil.privacy import AttributeTerms, Guarantee, Model, Scope, Scopes, split
from microveil.privacy.conditions import Circumstances, conditions
from microveil.release import Plan
from microveil.request import Advised, Request
from microveil.table import Table

__all__ = ["keeps", "plan_prepared", "refuse_exact"]


def plan_prepared(
    prepared: Prepared,
    request: Request,
    engine: Engine,
    progress: Callable[[str], None] = lambda _step: None,
) -> Plan:
    """Plan a request on columns that are on their grids, whatever cells come out exactly."""
    opened, columns = prepared.table, prepared.columns
    choices = _choices(prepared.names, request)
    progress("partitioning")
    parts = tuple(request.method.plan(columns, choices, engine))
    promise = _promise(opened, request, parts, choices)
    _check_scope(promise, request)
    return Plan(
        table=opened,
        attributes=parts,
        guarantee=_guarantee(opened, request, parts, promise),
        promised=promise.scopes,
        notes=plan_notes(request, parts, prepared.left_out),
        parameters=request.parameters(),
        unused=request.unused,
        isotonic=request.isotonic,
        shuffle=request.shuffle,
        seed=request.seed,
    )


def keeps(scopes: Scopes, name: str, epsilon: Fraction) -> bool:
    """Tell whether a scope is covered by no more than epsilon."""
    scope: Scope = getattr(scopes, name)
    most = Scope.of(epsilon).epsilon
    return scope.epsilon is not None and most is not None and scope.epsilon <= most


def _check_scope(promise: Promise, request: Request) -> None:
    if request.scope is None:
        return
    if request.epsilon is None or not keeps(promise.scopes, request.scope, request.epsilon):
        raise RequestError(
            "scope",
            f"{request.method.id} does not keep this epsilon at {request.scope} scope as asked",
            "choose another method (method='auto' finds one) or a weaker scope",
        )


def _choices(names: list[str], request: Request) -> Choices:
    blocks: tuple[tuple[str, ...], ...] = (tuple(names),)
    if request.blocks is not None and "blocks" not in request.unused:
        blocks = request.blocks
    members = {name for block in blocks for name in block}
    if "blocks" in request.method.offers and members != set(names):
        odd = min(members ^ set(names))
        raise RequestError(
            f"column '{odd}'",
            "blocks must hold every protected attribute and no other column",
            "name it in one block, or leave it out of all",
        )
    for name in request.matrix:
        if name not in names:
            raise RequestError(
                f"matrix of '{name}'", "it is no protected attribute", "leave it out"
            )
    epsilon = request.epsilon if request.method.needs_epsilon else None
    return Choices(
        k=request.k,
        shares=_shares(epsilon, names, request),
        partition=request.partition,
        composition=request.composition,
        sensitivity=request.sensitivity,
        exact_cells=request.exact_cells,
        every=request.every,
        noise=request.noise,
        blocks=blocks,
        width=request.width,
        matrices=request.matrix,
    )


def _shares(epsilon: Fraction | None, names: list[str], request: Request) -> dict[str, Fraction]:
    """Split epsilon over the attributes that have no transition matrix of their own."""
    own = {n for n, given in request.matrix.items() if not isinstance(given, str)}
    sharing = [name for name in names if name not in own or "matrix" not in request.method.offers]
    return {} if epsilon is None or not sharing else split(epsilon, sharing, request.budget)


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
    told = ", ".join(
        f"'{part.attribute.name}' {part.exact_cells} of {part.n_cells}" for part in found
    )
    if request.exact_cells == "widen" or all(part.n_clusters == 1 for part in found):
        raise ExactCellsError(
            f"cells of {told}",
            "all values are equal: there is nothing to merge them with, and they would be "
            "published exactly as they are",
            "leave the attribute out, choose another method, or allow it with "
            "exact_cells='allow' (--exact-cells allow)",
        )
    raise ExactCellsError(
        f"cells of {told}",
        "their clusters hold equal values, need no noise by the method's rule and would be "
        "published exactly as they are",
        "merge them with their neighbours by exact_cells='widen' (--exact-cells widen), choose a "
        "larger k or another method, or allow it with exact_cells='allow' (--exact-cells allow)",
    )


def _promise(
    table: Table, request: Request, parts: tuple[AttributePlan, ...], choices: Choices
) -> Promise:
    attributes = [part.attribute for part in parts]
    promise = request.method.promise(
        Setting(
            shares=tuple(
                (part.share or Fraction(0), max(1, table.n_records // request.k)) for part in parts
            ),
            spends_epsilon=all(part.share is not None for part in parts),
            choices=choices,
            bounds_from_data=any(a.bounds_from_data for a in attributes),
            resolution_from_data=any(a.resolution_from_data for a in attributes),
            keeps_missing=request.missing == "keep",
            shuffled=request.shuffle,
            keeps=bool(request.keep),
        )
    )
    if request.advised is Advised.DATA and promise.model is Model.DIFFERENTIAL_PRIVACY:
        return replace(promise, model=Model.INDIVIDUAL)
    return promise


def _guarantee(
    table: Table, request: Request, parts: tuple[AttributePlan, ...], promise: Promise
) -> Guarantee:
    method = request.method
    title = promise.title or method.title
    attributes = [part.attribute for part in parts]
    kept = tuple(name for name in table.names if name in request.keep)
    seeded = request.seed is not None and (method.randomness is not None or request.shuffle)
    given = Circumstances(
        seeded=seeded,
        shuffled=request.shuffle,
        isotonic=request.isotonic,
        keeps_missing=request.missing == "keep",
        clamps=request.outside == "clamp" and any(a.bounds is not None for a in attributes),
        chosen_from_data=request.attributes is None,
        exact_cells=request.exact_cells if method.may_be_exact else None,
        randomness=method.randomness,
        spends_epsilon=promise.epsilon is not None,
        kept=kept,
        advised=request.advised,
    )
    nothing = Scope.none()
    held = (
        promise.held,
        "the bounds" if any(a.bounds_from_data for a in attributes) else None,
        "the resolutions" if any(a.resolution_from_data for a in attributes) else None,
    )
    return Guarantee(
        method=method.id,
        title=title,
        source=promise.source or method.source,
        deed=method.deed.format(k=request.k),
        model=promise.model,
        epsilon=promise.epsilon,
        k=request.k if method.needs_k and "k" not in request.unused else None,
        n_records=table.n_records,
        scopes=Scopes(cluster=nothing, vector=nothing, row=nothing) if seeded else promise.scopes,
        attributes=tuple(AttributeTerms(attribute=p.attribute, share=p.share) for p in parts),
        randomness="seeded" if seeded else "os",
        kept=kept,
        held=() if seeded else tuple(what for what in held if what is not None),
        notes=conditions(f"{method.id}, {title}", attributes, given, promise.caveats),
    )
