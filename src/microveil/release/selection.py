"""Weighing: the error to expect of a plan, and of the plans that might be made instead.

The expected error is known in closed form before any noise is drawn; see
`utility.expected_error`. Here requests are weighed by it, and what a request leaves to advice
is chosen: on a stand-in that knows public figures alone where the method is differential
privacy, else on the table itself, which the guarantee then says. Of a method whose rows follow
nobody it is the error of its distributions, drawn on a stand-in.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from microveil.arguments.steps import N_RECORDS, STRUCTURE, TARGET
from microveil.errors import MicroveilError, RequestError
from microveil.guarantee import Model, Scope
from microveil.methods import METHODS, Method
from microveil.release.attributes import able_to_take_categories
from microveil.release.columns import (
    Prepared,
    categories_in_no_order,
    check_enough,
    chosen_names,
    outlined,
    prepare,
)
from microveil.release.option import Option
from microveil.release.planning import plan_prepared, refuse_unnamed
from microveil.release.request import Advised, Request
from microveil.release.stand_in import stand_in, stood_in
from microveil.release.weighing import Candidate, Search, weigh
from microveil.schema import Attribute, Kind, Source
from microveil.table import GridColumn

__all__ = [
    "AUTO",
    "STEPS_CHOSEN",
    "options",
    "settle",
]

AUTO = "auto"
# Least to greatest k on offer, each so many times the one before; the second for methods whose
# plans take long.
STEP, LONG_STEP = 1.4, 3.0
# What may be best for some table: (method, its choices).
CANDIDATES: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("laplace", {}),
    ("dp-um", {}),
    ("record-dp", {"partition": "noise-aware"}),
    ("idp-vector", {"partition": "ranking"}),
    ("idp-vector", {"partition": "noise-aware"}),
    ("kanon-dp", {"composition": "sequential", "sensitivity": "global"}),
    ("kanon-dp", {"sensitivity": "vector"}),
    ("idp-ls", {}),
    ("idp-cbls", {}),
)
# And where rows are to be covered: the first takes any table, and all refusals speak of it.
SYNTHETIC = "dp-synthetic"
OF_ROWS: tuple[tuple[str, Mapping[str, str]], ...] = ((SYNTHETIC, {}), ("pram", {}))
NONE_KEEPS = "no method at hand keeps this epsilon at {scope} scope for this request"
# Steps by which they differ: no option may pass over one that a request chooses.
STEPS_CHOSEN = (
    *dict.fromkeys(step for _, steps in CANDIDATES for step in steps),
    *(argument.name for argument in (TARGET, STRUCTURE, N_RECORDS)),
)


def settle(
    table: Any,
    asked: Mapping[str, Any],
    progress: Callable[[str], None] = lambda _step: None,
) -> tuple[Request, Prepared]:
    """Make a request of arguments, choosing what they leave to advice."""
    if asked.get("method") == AUTO:
        return _settle_method(table, asked, progress)
    if asked.get("k") != AUTO:
        request = Request.of(asked)
        return request, prepare(table, request, progress)
    method = METHODS.get(str(asked.get("method")))
    if method is not None and "k" in method.needs and "epsilon" not in method.needs:
        raise RequestError(
            "k",
            f"{method.id} draws no noise for a budget, and so loses least at the least k, where "
            "it hides nothing",
            "choose k yourself",
        )
    probe = Request.of({**asked, "k": method.smallest_k if method else None, "scope": None})
    prepared = prepare(table, probe, progress)
    if "k" not in probe.method.needs or "k" in probe.unused:
        return Request.of({**asked, "k": None}), prepared
    if asked.get("scope") == Scope.ROW:
        refuse_unnamed(probe, prepared.names)
    # What was left to a look before does not open the table to a method that needs no look.
    named = replace(probe, attributes=tuple(prepared.names), looked_at=None)
    public = plan_prepared(prepared, named).claim.model is Model.DIFFERENTIAL_PRIVACY
    grounds = stood_in(prepared) if public else prepared
    sizes = _sizes(grounds, probe.method.smallest_k)
    search = _search(grounds, asked.get("scope"))
    best = weigh(
        [Candidate(method=probe.method, steps={}, asked=asked, sizes=sizes, search=search)]
    )
    if not best:
        raise RequestError(
            "k", "no k at hand suits this request", "pass k, and read what is refused about it"
        )
    request = _advised({**asked, "k": best[0].k}, prepared, public=public)
    return request, prepared


def _advised(asked: Mapping[str, Any], prepared: Prepared, *, public: bool) -> Request:
    """Make the request that was chosen, and say on what grounds."""
    request = Request.of(asked)
    check_enough(prepared.columns, request)
    return replace(request, advised=Advised.PUBLIC if public else Advised.DATA)


def _settle_method(
    table: Any, asked: Mapping[str, Any], progress: Callable[[str], None]
) -> tuple[Request, Prepared]:
    """Choose a method: at row scope by public figures alone, elsewhere by the table."""
    scope = asked.get("scope")
    if scope is None:
        raise RequestError(
            "scope",
            "method='auto' needs to know what the epsilon must cover",
            "pass scope='cluster', 'vector' or 'row' (--scope vector)",
        )
    if asked.get("k") == AUTO:
        asked = {**asked, "k": None}
    if scope == Scope.ROW:
        chosen = _chosen_for_rows(table, asked)
        prepared = prepare(table, Request.of(chosen), progress)
        return _advised(chosen, prepared, public=True), prepared
    # Of all candidates this one asks for least; of those that take units there is one alone.
    least = METHODS["idp-cbls" if asked.get("unit") is None else "laplace"]
    if asked.get("missing") == "protect":
        raise _for_rows_alone("missing", "hide which cells are missing", str(scope))
    probe = Request.of(_fitted(least, {**asked, "method": least.id, "k": least.smallest_k}))
    for name in categories_in_no_order(table, probe):
        place = f"attribute '{name}'"
        raise _for_rows_alone(place, "take categories in no order", str(scope), name)
    prepared = prepare(table, probe, progress)
    search = _search(prepared, str(scope))
    found = _weighed(search, asked, count=1)
    if not found:
        raise _none_at(str(scope))
    request = _advised(_as_chosen(found[0], asked), prepared, public=False)
    return request, prepared


def _as_chosen(best: Option, asked: Mapping[str, Any]) -> dict[str, Any]:
    chosen = {**asked, "method": best.method, **best.choices, "k": best.k}
    return _fitted(METHODS[best.method], chosen)


def _fitted(method: Method, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out a delta that a method does without: what is asked for is at most so much."""
    return {**asked, **({} if "delta" in method.can else {"delta": None})}


def _chosen_for_rows(table: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Choose a method that covers rows, by the outline of a table and none of its values.

    Raises
    ------
    MicroveilError
        If none does: with what the one that takes any table would need.
    """
    found, refusals = list[tuple[int, Option]](), dict[str, MicroveilError]()
    grounds = dict[tuple[Attribute, ...], Search]()
    for name, steps in _candidates(asked, str(Scope.ROW)):
        method = METHODS[name]
        least = asked.get("k") or (method.smallest_k if "k" in method.needs else None)
        try:
            probe = Request.of(_fitted(method, {**asked, "method": name, **steps, "k": least}))
            refuse_unnamed(probe, chosen_names(table, probe))
            opened, attributes, _ = outlined(table, probe)
        except MicroveilError as error:
            refusals[name] = error
            continue
        # Those of the same attributes are weighed on the same columns, ranked once.
        known = tuple(attributes)
        if known not in grounds:
            grounds[known] = replace(
                _search(stand_in(opened, attributes, probe), str(Scope.ROW)),
                least=Model.DIFFERENTIAL_PRIVACY,
                refusals=refusals,
            )
        search = grounds[known]
        best = weigh([_candidate(search.prepared, name, steps, asked, search)])
        found += [(len(known), option) for option in best]
    if found:
        # Methods that rank leave out a recipe's categories in no order, and lose nothing by these.
        most = max(size for size, _ in found)
        whole = (option for size, option in found if size == most)
        return _as_chosen(min(whole, key=lambda option: option.over_variance), asked)
    raise _none_for_rows(refusals)


def _none_for_rows(refusals: Mapping[str, MicroveilError]) -> MicroveilError:
    """Make one error of the refusals of all candidates: theirs, if it is one and the same."""
    if len(set(map(str, refusals.values()))) == 1:
        return next(iter(refusals.values()))
    refused = refusals.get(SYNTHETIC)
    if refused is None or refused.place == "scope":
        return _none_at(Scope.ROW)
    rule = f"{NONE_KEEPS.format(scope=Scope.ROW)}; of {SYNTHETIC}, which takes any table: "
    return RequestError("method", f"{rule}{refused.place}, {refused.rule}", refused.remedy)


def _none_at(scope: str) -> RequestError:
    return RequestError(
        "method",
        NONE_KEEPS.format(scope=scope),
        "declare bounds for every attribute, shuffle the rows, or ask for a weaker scope",
    )


def _for_rows_alone(
    place: str, what: str, scope: str, unordered: str | None = None
) -> RequestError:
    """Refuse what only candidates at row scope can do."""
    remedies = [f"ask for scope='row' (--scope row), where {SYNTHETIC} can"]
    if unordered is None:
        remedies.append("pass missing='keep' (--missing keep)")
    else:
        remedies.append(f"choose a method yourself: {able_to_take_categories()}")
        remedies.append(f"if they have an order, declare it: --ordered {unordered}=low,middle,high")
    return RequestError(
        place,
        f"the methods that method='auto' weighs at {scope} scope cannot {what}",
        ", or ".join(remedies),
    )


def _candidates(asked: Mapping[str, Any], scope: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield what may be best at a scope, but for what a request has chosen otherwise."""
    for name, steps in (*CANDIDATES, *(OF_ROWS if scope == Scope.ROW else ())):
        if all(asked.get(step) in (None, value) for step, value in steps.items()):
            yield name, steps


def options(
    prepared: Prepared,
    asked: Mapping[str, Any],
    scope: str,
    *,
    count: int | None = None,
) -> list[Option]:
    """Weigh the candidates that keep epsilon at a scope: each with its best k, best first.

    As many of them as are asked for, by default all.
    """
    search = _search(prepared, scope)
    return _weighed(search, asked, count)


def _search(prepared: Prepared, scope: str | None) -> Search:
    return Search(prepared=prepared, scope=scope, chosen=STEPS_CHOSEN)


def _weighed(search: Search, asked: Mapping[str, Any], count: int | None) -> list[Option]:
    """Weigh the candidates that suit a search."""
    prepared = search.prepared
    candidates = [
        _candidate(prepared, name, steps, asked, search)
        for name, steps in _candidates(asked, str(search.scope))
        if _suits(METHODS[name], prepared)
    ]
    return weigh(candidates, count)


def _suits(method: Method, prepared: Prepared) -> bool:
    """Whether a method can take the attributes that were prepared, perhaps for another."""
    in_order = all(column.attribute.kind.is_ranked for column in prepared.columns)
    bounded = all(_bounded(column) for column in prepared.columns)
    return (in_order or "categories" in method.can) and (bounded or "bounds" not in method.needs)


def _candidate(
    prepared: Prepared,
    name: str,
    steps: Mapping[str, str],
    asked: Mapping[str, Any],
    search: Search,
) -> Candidate:
    """Make a candidate of a method at every k on offer."""
    method = METHODS[name]
    sizes: Sequence[int | None] = [None]
    if "k" in method.needs and asked.get("k") is not None:
        sizes = [asked["k"]]
    elif "k" in method.needs:
        long = steps.get("sensitivity") == "vector"
        sizes = _sizes(prepared, method.smallest_k, LONG_STEP if long else STEP)
        # There k is only the least size, so a larger one can but cost.
        sizes = sizes[:1] if steps.get("partition") == "noise-aware" else sizes
    # Without isotonic regression: it would have to be simulated for each of them.
    fixed = {"method": name, "isotonic": False, "scope": search.scope, "seed": None}
    own = _fitted(method, {**asked, **fixed})
    return Candidate(method=method, steps=steps, asked=own, sizes=sizes, search=search)


def _sizes(prepared: Prepared, smallest: int, step: float = STEP) -> list[int | None]:
    """Each k on offer: from the least allowed to one single cluster.

    By the number of records, which is public, and not by that of present values.
    """
    most = prepared.table.n_records
    sizes: list[int | None] = []
    size = smallest
    while size < most:
        sizes.append(size)
        size = max(size + 1, round(size * step))
    return [*sizes, most] if most >= smallest else sizes


def _bounded(column: GridColumn) -> bool:
    """Whether a domain was declared (or read): the calendar alone is none."""
    domain, kind = column.attribute.domain, column.attribute.kind
    return domain is not None and not (kind is Kind.DATE and domain.source is Source.TYPE)
