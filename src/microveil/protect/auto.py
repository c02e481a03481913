"""What a request leaves to advice, chosen by the error to expect of plans: k, or method and k.

Candidates are planned by the ordinary way and the one of least expected error is taken: on a
stand-in that knows public figures alone where the method is differential privacy, else on the
table itself, which the guarantee then says.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from microveil.errors import DataError, MicroveilError, RequestError
from microveil.guarantee import Model, Scope
from microveil.methods import METHODS, Method
from microveil.protect.attributes import able_to_take_categories
from microveil.protect.columns import Prepared, check_enough
from microveil.protect.expectation import Option, all_expected, average, stand_in
from microveil.protect.opening import categories_in_no_order, chosen_names, prepare
from microveil.protect.parts import AUTO
from microveil.protect.planning import (
    check_scope,
    plan_of,
    promise_of,
    refuse_exact_cells,
    refuse_unnamed,
)
from microveil.protect.request import Advised, Request
from microveil.schema import Kind, Source

Steps = Mapping[str, str]
SEARCHED: Steps = {"partition": "noise-aware"}
# What may be best for some table: (method, its choices). Of equal errors the first is taken.
CANDIDATES: tuple[tuple[str, Steps], ...] = (
    ("laplace", {}),
    ("dp-um", {}),
    ("record-dp", SEARCHED),
    ("idp-vector", {"partition": "ranking"}),
    ("idp-vector", SEARCHED),
    ("kanon-dp", {"composition": "sequential", "sensitivity": "global"}),
    ("kanon-dp", {"sensitivity": "vector"}),
    ("idp-ls", {}),
    ("idp-cbls", {}),
)
# And where rows are to be covered: the first takes any table, and all refusals speak of it.
SYNTHETIC = "dp-synthetic"
OF_ROWS: tuple[tuple[str, Steps], ...] = ((SYNTHETIC, {}), ("pram", {}))
# At cluster and vector scope none is better by much than the first two here or the noise-aware
# partitions. These take a search: of more than a few records that of `record-dp` is weighed where
# `laplace`, whose noise it takes, loses at most so many times the least, and that of `idp-vector`
# where its noise on clusters by rank loses so many times what `idp-cbls` does by the same k.
BEST = ("laplace", "idp-cbls")
FEW, FAR, NEAR = 2_000, 1e4, 1.5
# Each k on offer is so many times the one before; first every eighth is weighed, from the largest
# on until one loses so many times the least, then those nearer and nearer to the best.
STEP, EVERY, GIVEN_UP, NEARER = 1.4, 8, 3.0, (4, 2, 1)
NONE_KEEPS = "no method at hand keeps this epsilon at {scope} scope for this request"
# Steps by which they differ: no option may pass over one that a request chooses.
STEPS_CHOSEN = (
    *dict.fromkeys(step for _, steps in CANDIDATES for step in steps),
    "target",
    "structure",
    "n_records",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What candidates are weighed for: columns, the scope to be covered and the least model."""

    prepared: Prepared
    scope: str | None
    least: Model = Model.INDIVIDUAL
    refusals: dict[str, MicroveilError] = field(default_factory=dict)  # the last of each method


def k_chosen(table: Any, asked: Mapping[str, Any], progress: Callable[[str], None]) -> Prepared:
    """Open a table with the best k: of differential privacy by public figures alone."""
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
        return prepared.for_request(Request.of({**asked, "k": None}))
    if asked.get("scope") == Scope.ROW:
        refuse_unnamed(probe, prepared.names)
    # What was left to a look before does not open the table to a method that needs no look.
    named = replace(probe, attributes=tuple(prepared.names), looked_at=None)
    public = _promised(prepared, named) is Model.DIFFERENTIAL_PRIVACY
    grounds = prepared
    if public:
        grounds = replace(prepared, held=stand_in(prepared.attributes, prepared.table.n_records))
    search = Search(prepared=grounds, scope=asked.get("scope"))
    best = _best(search, probe.method, {}, {**asked, "k": None})
    if best is None:
        plan_of(prepared.for_request(named))  # for what it is refused whatever k
        raise RequestError(
            "k", "no k at hand suits this request", "pass k, and read what is refused about it"
        )
    return _advised({**asked, "k": best.k}, prepared, public=public)


def _advised(asked: Mapping[str, Any], prepared: Prepared, *, public: bool) -> Prepared:
    """Make the request that was chosen, and say on what grounds."""
    request = Request.of(asked)
    check_enough(prepared.columns, request)
    grounds = Advised.PUBLIC if public else Advised.DATA
    return prepared.for_request(replace(request, advised=grounds))


def method_chosen(
    table: Any, asked: Mapping[str, Any], progress: Callable[[str], None]
) -> Prepared:
    """Open a table with the best method and k: at row scope by public figures alone."""
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
        best_of_rows = _as_chosen(_best_for_rows(table, asked), asked)
        prepared = prepare(table, Request.of(best_of_rows), progress)
        return _advised(best_of_rows, prepared, public=True)
    # Of all candidates this one asks for least; of those that take units there is one alone.
    least = METHODS["idp-cbls" if asked.get("unit") is None else "laplace"]
    if asked.get("missing") == "protect":
        raise _for_rows_alone("missing", "hide which cells are missing", str(scope))
    probe = Request.of(_fitted(least, {**asked, "method": least.id, "k": least.smallest_k}))
    for name in categories_in_no_order(table, probe):
        place = f"attribute '{name}'"
        raise _for_rows_alone(place, "take categories in no order", str(scope), name)
    prepared = prepare(table, probe, progress)
    best = _chosen(Search(prepared=prepared, scope=str(scope)), asked)
    if best is None:
        raise _none_at(str(scope))
    return _advised(_as_chosen(best, asked), prepared, public=False)


def _as_chosen(best: Option, asked: Mapping[str, Any]) -> dict[str, Any]:
    chosen = {**asked, "method": best.method, **best.choices, "k": best.k}
    return _fitted(METHODS[best.method], chosen)


def _fitted(method: Method, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out a delta that a method does without: what is asked for is at most so much."""
    return {**asked, **({} if "delta" in method.can else {"delta": None})}


def _chosen(search: Search, asked: Mapping[str, Any]) -> Option | None:
    """Choose among what may be best for a table at hand; None if all of it is refused."""
    listed = list(_candidates(asked, str(search.scope)))
    if any(asked.get(step) is not None for step in STEPS_CHOSEN):
        return next(iter(weigh(search, asked, listed)), None)
    found = weigh(search, asked, [one for one in listed if one[0] in BEST])
    if found:
        others = list(_worth_a_search(search, asked, found))
    else:
        others = [one for one in listed if one[0] not in BEST]
    found += weigh(search, asked, others)
    return min(found, key=lambda option: option.over_variance, default=None)


def _worth_a_search(
    search: Search, asked: Mapping[str, Any], found: Sequence[Option]
) -> Iterator[tuple[str, Steps]]:
    """Yield the noise-aware partitions that may lose less than what was found."""
    is_small = search.prepared.table.n_records <= FEW
    by_method = {option.method: option for option in found}
    alone, clustered = (by_method.get(name) for name in BEST)
    least = min(option.over_variance for option in found)
    if is_small or alone is None or alone.over_variance <= FAR * least:
        yield "record-dp", SEARCHED
    if clustered is not None and not is_small and asked.get("exact_cells") != "allow":
        ranked = ("idp-vector", {"partition": "ranking"})
        by_rank = weigh(search, {**asked, "k": clustered.k}, [ranked])
        if by_rank and by_rank[0].over_variance > NEAR * clustered.over_variance:
            return
    yield "idp-vector", SEARCHED


def _best_for_rows(table: Any, asked: Mapping[str, Any]) -> Option:
    """Choose a method that covers rows, by the outline of a table and none of its values."""
    found, refusals = list[tuple[int, Option]](), dict[str, MicroveilError]()
    for name, steps in _candidates(asked, Scope.ROW):
        method = METHODS[name]
        least = asked.get("k") or (method.smallest_k if "k" in method.needs else None)
        try:
            probe = Request.of(_fitted(method, {**asked, "method": name, **steps, "k": least}))
            refuse_unnamed(probe, chosen_names(table, probe))
            prepared = prepare(table, probe)
        except MicroveilError as error:
            refusals[name] = error
            continue
        columns = stand_in(prepared.attributes, prepared.table.n_records)
        search = Search(
            prepared=replace(prepared, held=columns),
            scope=Scope.ROW,
            least=Model.DIFFERENTIAL_PRIVACY,
            refusals=refusals,
        )
        best = _best(search, method, steps, _own(search, method, asked))
        found += [] if best is None else [(len(columns), best)]
    if not found:
        refused = refusals.get(SYNTHETIC)
        if len(set(map(str, refusals.values()))) == 1:  # theirs, if it is one and the same
            raise next(iter(refusals.values()))
        if refused is None or refused.place == "scope":
            raise _none_at(Scope.ROW)
        rule = f"{NONE_KEEPS.format(scope=Scope.ROW)}; of {SYNTHETIC}, which takes any table: "
        rule += f"{refused.place}, {refused.rule}"
        raise RequestError("method", rule, refused.remedy)
    # Methods that rank leave out a recipe's categories in no order, and lose nothing by these.
    most = max(size for size, _ in found)
    whole = (option for size, option in found if size == most)
    return min(whole, key=lambda option: option.over_variance)


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


def _candidates(asked: Mapping[str, Any], scope: str) -> Iterator[tuple[str, Steps]]:
    """Yield what may be best at a scope, but for what a request has chosen otherwise."""
    for name, steps in (*CANDIDATES, *(OF_ROWS if scope == Scope.ROW else ())):
        if all(asked.get(step) in (None, value) for step, value in steps.items()):
            yield name, steps


def weigh(
    search: Search, asked: Mapping[str, Any], candidates: Iterable[tuple[str, Steps]] | None = None
) -> list[Option]:
    """Weigh candidates that keep epsilon at a scope, by default all: each with its best k.

    The best first; those that do not suit the columns, perhaps prepared for another, are left out.
    """
    listed = _candidates(asked, str(search.scope)) if candidates is None else candidates
    methods = [(METHODS[name], steps) for name, steps in listed]
    attributes = search.prepared.attributes
    in_order = all(own.kind.is_ranked for own in attributes)
    # A domain was declared, or read: the calendar alone is none.
    calendar = Kind.DATE, Source.TYPE
    bounded = all(
        own.domain is not None and (own.kind, own.domain_source) != calendar for own in attributes
    )
    found = [
        _best(search, method, steps, _own(search, method, asked))
        for method, steps in methods
        if (in_order or "categories" in method.can) and (bounded or "bounds" not in method.needs)
    ]
    return sorted(
        (option for option in found if option is not None), key=lambda option: option.over_variance
    )


def _own(search: Search, method: Method, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Ask for a method: without isotonic regression, which would have to be simulated."""
    fixed = {"method": method.id, "isotonic": False, "scope": search.scope, "seed": None}
    return _fitted(method, {**asked, **fixed})


def _best(search: Search, method: Method, steps: Steps, asked: Mapping[str, Any]) -> Option | None:
    """Weigh a method at few of the k on offer: the least error, the least k where it is equal."""
    sizes = _sizes(method, {**asked, **steps}, search.prepared.table.n_records)
    tried: dict[int, Option | None] = {}

    def error(place: int) -> float:
        if place not in tried:
            tried[place] = _weighed(search, steps, {**asked, "k": sizes[place]})
        option = tried[place]
        return math.inf if option is None else option.over_variance

    best = len(sizes) - 1
    for place in dict.fromkeys((*range(best, 0, -EVERY), 0)):
        best = min(best, place, key=lambda one: (error(one), one))
        if GIVEN_UP * error(best) < error(place) < math.inf:
            break
    for step in NEARER:
        near = (place for place in (best - step, best, best + step) if 0 <= place < len(sizes))
        best = min(near, key=lambda one: (error(one), one))
    return tried[best]


def _sizes(method: Method, asked: Mapping[str, Any], n_records: int) -> Sequence[int | None]:
    """Each k on offer: from the least allowed to one single cluster, by a public figure."""
    if "k" not in method.needs:
        return [None]
    if asked.get("k") is not None:
        return [asked["k"]]
    # There k is only the least size, so a larger one can but cost.
    if asked.get("partition") == "noise-aware" or n_records <= method.smallest_k:
        return [method.smallest_k]
    sizes = []
    size = method.smallest_k
    while size < n_records:
        sizes.append(size)
        size = max(size + 1, round(size * STEP))
    return [*sizes, n_records]


def _promised(prepared: Prepared, request: Request) -> Model:
    """Return the model that a method would promise, or refuse the scope."""
    promise = promise_of(prepared.attributes, prepared.table.n_records, request)
    check_scope(promise, request)
    return promise.model


def _weighed(search: Search, steps: Steps, asked: Mapping[str, Any]) -> Option | None:
    """Plan a request and weigh it; None if it is refused, or its model too weak."""
    prepared = search.prepared
    try:
        request = Request.of({**asked, **steps})
        check_enough(prepared.columns, request)
        if any(asked.get(step) and step in request.unused for step in STEPS_CHOSEN):
            return None  # a step that was asked for is not to be passed over
        if _promised(prepared, request).strength < search.least.strength:
            return None
        planned = plan_of(prepared.for_request(request))
        refuse_exact_cells(planned)
    except (RequestError, DataError) as error:
        search.refusals[str(asked["method"])] = error
        return None
    expected = all_expected(planned)
    if not expected or planned.claim.model.strength < search.least.strength:
        return None
    k = request.k if "k" in request.method.needs else None
    return Option.of(planned, steps, k, average(expected))
