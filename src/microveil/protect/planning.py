"""From prepared columns to a plan: everything about a release short of its noise."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from microveil.errors import ExactCellsError, RequestError
from microveil.guarantee import Cover, Model, Scope, split
from microveil.guarantee.budget import added_up
from microveil.methods import Choices, Promise, Setting
from microveil.methods.expected_pairs import ExpectedPairs, expected_pairs
from microveil.methods.planned import AttributePlan, SinglePlan, figures_of
from microveil.protect.arguments import arguments
from microveil.protect.claims import guarantee_of, in_force
from microveil.protect.columns import Prepared
from microveil.protect.notes import plan_notes
from microveil.protect.parts import Whole, in_part
from microveil.protect.plan import PartPlan, Plan
from microveil.protect.request import Request
from microveil.schema import Attribute
from microveil.synthesis.plan import SyntheticPlan
from microveil.table import GridColumn
from microveil.table.memory import check_protecting, columns_at_once
from microveil.table.threads import FEW_VALUES, in_threads

# Of cells that would come out exactly: the rule that they break, and what would do.
ALL_EQUAL = (
    (
        "all values are equal: there is nothing to merge them with, and they would be published "
        "exactly as they are"
    ),
    (
        "leave the attribute out, choose another method, or allow it with exact_cells='allow' "
        "(--exact-cells allow)"
    ),
)
EQUAL_IN_CLUSTERS = (
    (
        "their clusters hold equal values, need no noise by the method's rule and would be "
        "published exactly as they are"
    ),
    (
        "merge them with their neighbours by exact_cells='widen' (--exact-cells widen), choose a "
        "larger k or another method, or allow it with exact_cells='allow' (--exact-cells allow)"
    ),
)
NOT_KEPT = "{method} does not keep this epsilon at {scope} scope as asked"


Draw = Callable[[SinglePlan], None]
Plans = Callable[[Prepared, Choices, Draw | None], Sequence[AttributePlan]]


def plan_attributes(prepared: Prepared, choices: Choices, draw: Draw | None) -> list[AttributePlan]:
    """Plan each attribute, and perhaps draw it, side by side.

    Where a method takes attributes one by one, the column of each is forgotten before the next,
    and once it is drawn its plan but for the figures.
    """
    request, numbers = prepared.request, range(len(prepared.attributes))
    n_records = prepared.table.n_records
    n_values, at_once = len(numbers) * n_records, None
    if one_by_one := takes_one_by_one(request):
        columns = plans = None
        at_once = columns_at_once(n_records, request.memory) if n_values > FEW_VALUES else 1
    else:
        columns = prepared.columns
        prepared.progress("partitioning")
        plans = request.method.plan(columns, choices)

    def planned(number: int) -> AttributePlan:
        plan: SinglePlan
        column = prepared.column(number) if columns is None else columns[number]
        if plans is None:
            prepared.progress(f"partitioning {column.attribute.name}")
            (plan,) = request.method.plan([column], choices)
        else:
            plan = plans[number]
        if request.missing == "keep":
            plan = replace(plan, reasons=column.reasons)
        del column  # the plan holds what is drawn of
        if draw is None:
            return plan
        draw(plan)
        # What is said of isotonic regression, and of whole records, needs the plans themselves.
        return plan if request.isotonic or not one_by_one else plan.figures

    return in_threads(planned, numbers, n_values, at_once=at_once)


def takes_one_by_one(request: Request) -> bool:
    """Whether the method of a request takes each attribute by itself, as it is asked for."""
    return "one by one" in request.method.can and request["partition"] != "mdav"


def plan_of(prepared: Prepared, draw: Draw | None = None) -> Plan:
    """Plan a request; cells that come out exactly are refused by another step."""
    n_held, one_by_one = prepared.table.n_records, True
    for columns in prepared.each:
        one_by_one = one_by_one and takes_one_by_one(columns.request)
        if "new table" in columns.request.method.can:  # what is drawn is held as well
            n_held = max(n_held, columns.request["n_records"] or 0)
    check_protecting(
        n_held,
        len(prepared.attributes),
        prepared.request.memory,
        one_by_one=one_by_one,
        is_lazy=prepared.table.files is not None and prepared.held is None,
    )
    if prepared.whole is None:
        part = plan_part(prepared, draw)
        check_scope(part.promise, part.request)
        return plan_from([part], prepared)
    parts = []
    for number, (one, columns) in enumerate(
        zip(prepared.whole.parts, prepared.each, strict=True), 1
    ):
        # What was read from the data is seen of each part, beside those of the others.
        looked = any(own.from_data for own in columns.attributes)
        is_apart = columns.request.shuffle is not None and not looked
        with in_part(number, one):
            parts.append(plan_part(columns, draw, joined=not is_apart))
    return plan_from(parts, prepared)


def plan_part(
    prepared: Prepared,
    draw: Draw | None = None,
    *,
    joined: bool = False,
    plans: Plans = plan_attributes,
) -> PartPlan:
    """Plan what one method is asked for: its partitions, its scales and what they promise.

    ``draw`` draws each attribute once it is planned. ``joined`` says that other columns will stand
    in its rows.
    """
    request = prepared.request
    if request.scope == Scope.ROW or "new table" in request.method.can:
        refuse_unnamed(request, prepared.names)
    choices = choices_of(prepared.names, prepared.table.n_records, request)
    if prepared.units is not None and "units" in request.method.can:
        choices = replace(choices, units=prepared.units.of_record)
    synthetic, pairs = None, None
    attributes: Sequence[AttributePlan]
    if "new table" in request.method.can:
        synthetic = request.method.plan(prepared.columns, choices)
        attributes = (*synthetic.attributes, *synthetic.computed)
        pairs = expected_pairs([own.attribute for own in synthetic.attributes], choices)
    else:
        attributes = plans(prepared, choices, draw)
    shares = [(own.attribute, own.share) for own in attributes]
    return PartPlan(
        prepared=prepared,
        request=request,
        attributes=tuple(attributes),
        protected=tuple([own.attribute for own in attributes]),
        synthetic=synthetic,
        promise=_promise(request, shares, choices, joined=joined),
        pairs=pairs,
    )


def plan_from(parts: Sequence[PartPlan], prepared: Prepared) -> Plan:
    """Make the plan of a release of one method or several, with its guarantee in words."""
    whole = prepared.whole
    claim = guarantee_of(parts, whole)
    if whole is not None and whole.scope is not None:
        # A matrix of the user's own spends what it spends, beside a budget or without one.
        spent = added_up(one.request.epsilon or one.promise.epsilon for one in parts)
        if spent is None or not claim.scopes[whole.scope].keeps(spent, claim.delta):
            raise RequestError(
                "scope",
                f"these parts together do not keep their epsilon at {whole.scope} scope",
                "choose other methods, shuffle=True for a part whose rows must be in random order, "
                "shuffle='columns', or a weaker scope",
            )
    return Plan(
        prepared=prepared,
        parts=tuple(parts),
        attributes=tuple([own for one in parts for own in one.attributes]),
        claim=claim,
        guarantee=in_force(claim, parts, whole),
        notes=plan_notes(parts, prepared, claim),
        parameters=parts[0].request.parameters() if whole is None else _parameters(whole, parts),
    )


def _parameters(whole: Whole, parts: Sequence[PartPlan]) -> dict[str, Any]:
    """Return what was asked for as plain values: what is said of the table, and by part."""
    of_each, known = [one.request.parameters() for one in parts], arguments()
    written: dict[str, Any] = {}
    for name, argument in known.items():
        if argument.by_column:
            written[name] = {c: v for own in of_each for c, v in (own.get(name) or {}).items()}
        elif not argument.of_part and name != "attributes":  # the parts name them
            written[name] = of_each[0].get(name)
    written |= {
        "keep": list(whole.keep),
        "scope": whole.scope,
        "shuffle": whole.shuffle,
        "unit_attributes": list(whole.unit_attributes),
    }
    own_names = [*(name for name, one in known.items() if one.of_part), "advised"]
    written["parts"] = [
        {
            "attributes": list(part.attributes),
            **{name: own.get(name) for name in own_names},
            "shuffle": None if whole.shuffle else own.get("shuffle"),
        }
        for part, own in zip(whole.parts, of_each, strict=True)
    ]
    return written


def promise_of(attributes: Sequence[Attribute], n_records: int, request: Request) -> Promise:
    """Say what a method promises that spends what it is given: by public figures alone."""
    choices = choices_of([attribute.name for attribute in attributes], n_records, request)
    parts = [(attribute, choices.shares.get(attribute.name)) for attribute in attributes]
    return _promise(request, parts, choices, joined=False)


def refuse_unnamed(request: Request, names: Sequence[str]) -> None:
    """Refuse a request at row scope that leaves the choice of columns to the table."""
    if request.attributes is None:
        raise RequestError(
            "attributes",
            "at row scope they must be named: which columns are released would hang on the data",
            f"name those to protect, for example --attributes {','.join(names)} "
            f"(attributes={list(names)!r})",
        )


def check_scope(promise: Promise, request: Request) -> None:
    """Refuse a scope that was asked for and is not covered."""
    if request.scope is None:
        return
    # A matrix of the user's own spends what it spends, without a budget.
    budget = request.epsilon or promise.epsilon
    if budget is None or not promise.scopes[request.scope].keeps(budget, request.delta):
        raise RequestError(
            "scope",
            NOT_KEPT.format(method=request.method.id, scope=request.scope),
            "choose another method (method='auto' finds one) or a weaker scope",
        )


def choices_of(names: list[str], n_records: int, request: Request) -> Choices:
    """Return what a request leaves to its method, of the attributes that it protects."""
    unit, shares = request.protected_unit, dict[str, Fraction]()
    if request.epsilon is not None and "epsilon" in request.method.needs:
        # A matrix of the user's own spends what it spends. What may be spent on one draw is a
        # unit's so many times (group privacy of pure epsilons), but of an attribute that is one
        # value a unit, and drawn once.
        matrices = (request["matrix"] or {}) if "matrix" in request.method.arguments else {}
        sharing = [name for name in names if isinstance(matrices.get(name, ""), str)]
        of_epsilon = split(request.epsilon, sharing, request.budget) if sharing else {}
        for name, share in of_epsilon.items():
            shares[name] = share / unit.draws(of_unit=name in request.unit_attributes)
    return Choices(
        k=request.k,
        shares=shares,
        exact_cells=request.exact_cells,
        isotonic=request.isotonic,
        own=request.choices(names),
        n_records=n_records,
        epsilon=request.epsilon,
        delta=request.delta,
        max_rows=unit.max_rows,
        budget=request.budget,
        protects_missing=request.missing == "protect",
        unit=request.counted,
    )


def new_table(
    attributes: Sequence[Attribute], n_records: int, request: Request
) -> tuple[SyntheticPlan, ExpectedPairs | None]:
    """Plan a new table by public figures alone, without a column: also how many pairs it can keep.

    An error where the budget is not enough.
    """
    nobody, names = np.zeros(0, dtype=np.int64), [own.name for own in attributes]
    columns = [GridColumn(attribute=own, values=nobody, missing=None) for own in attributes]
    choices = choices_of(names, n_records, request)
    plan: SyntheticPlan = request.method.plan(columns, choices)
    return plan, expected_pairs([own.attribute for own in plan.attributes], choices)


def refuse_exact_cells(planned: Plan) -> None:
    """Refuse a plan by which cells come out exactly, unless that was allowed."""
    whole = planned.prepared.whole
    for number, part in enumerate(planned.parts):
        request = part.request
        if request.exact_cells == "allow" or "exact cells" not in request.method.can:
            continue
        found = [own for own in map(figures_of, part.attributes) if own.exact_cells]
        if not found:
            continue
        are_equal = request.exact_cells == "widen" or all(own.n_clusters == 1 for own in found)
        counted = (f"'{own.attribute.name}' {own.exact_cells} of {own.n_cells}" for own in found)
        place, why = f"cells of {', '.join(counted)}", ALL_EQUAL if are_equal else EQUAL_IN_CLUSTERS
        with nullcontext() if whole is None else in_part(number + 1, whole.parts[number]):
            raise ExactCellsError(place, *why)


def _promise(
    request: Request,
    parts: Sequence[tuple[Attribute, Fraction | None]],
    choices: Choices,
    *,
    joined: bool,
) -> Promise:
    """Ask the method what it promises, and take off what a choice by a look at the data costs."""
    unit, spends, attributes, shares = request.protected_unit, True, [], []
    looked = request.attributes is None or request.chosen_by_data
    for attribute, share in parts:
        spends = spends and share is not None
        looked = looked or "categories" in attribute.from_data
        attributes.append(attribute)
        shares.append((share or Fraction(0)) * unit.draws(of_unit=attribute.of_unit))
    promise = request.method.promise(
        Setting(
            attributes=(*attributes,),
            shares=(*shares,),
            spends_epsilon=spends,
            choices=choices,
            keeps_missing=request.missing == "keep",
            shuffle=request.shuffle,
            keeps=bool(request.keep) or joined,
        )
    )
    if promise.epsilon is None or not looked:
        return promise
    # What was chosen or listed is released too, and one record can change it: no row scope.
    return replace(
        promise,
        model=promise.model.at_most(Model.INDIVIDUAL),
        scopes=replace(promise.scopes, row=Cover()),
    )
