"""Which methods keep a promise, why the others do not, and what is proposed of each.

It is worked out of what a request declares and of the number of records, all of it public: what a
method would find in the table is not looked at.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from microveil.errors import RequestError
from microveil.guarantee import Condition, Model, Scope
from microveil.guarantee.budget import six_digits
from microveil.methods import METHODS, Method
from microveil.protect.arguments import arguments
from microveil.protect.claims import conditions_of
from microveil.protect.domains import read_categories
from microveil.protect.notes import Foreseen
from microveil.protect.parts import AUTO
from microveil.protect.planning import NOT_KEPT, promise_of
from microveil.protect.request import Request, of_methods, offered
from microveil.schema import Attribute, Kind, Source

# Arguments of the method that was chosen, which another may have no step for.
OF_METHOD = ("method", "k", "delta", "isotonic", "scope", "seed")
# In place of attributes that are not declared yet: several, as a table has.
UNDECLARED = ("one", "another")
# And of an epsilon: whether it is kept hangs on no epsilon.
ONE = Fraction(1)
# What is proposed by scope where no method was named, beside epsilon; where no scope was, what
# covers most.
BY_SCOPE: Mapping[Scope, Mapping[str, Any]] = {
    Scope.CLUSTER: {"method": "idp-cbls", "k": 10},
    Scope.VECTOR: {"method": "idp-vector", "partition": "noise-aware", "k": 3},
    Scope.ROW: {"method": "dp-synthetic"},
}
# Of these alone all records of a person are protected together, whatever is covered.
OF_UNITS = {"method": "laplace"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A method, with what may be chosen of its steps, that keeps a promise."""

    method: str
    steps: tuple[str, ...]  # the choices that keep it, in words; empty where all do
    model: Model
    conditions: tuple[Condition, ...]  # what its epsilon takes as given, or leaves out


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The methods that keep a promise at a scope, in the registry's order; why others do not."""

    scope: Scope
    ways: tuple[Way, ...]
    reasons: Mapping[str, str]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that keep it."""
        return tuple(dict.fromkeys(way.method for way in self.ways))


def coverage(asked: Mapping[str, Any], n_records: int) -> dict[Scope, Coverage]:
    """Say of each scope which methods keep what is asked for, whichever method was chosen.

    What is not declared yet is taken for an epsilon of 1, two attributes, and the least k.
    """
    made = {name: _by_steps(method, asked, n_records) for name, method in METHODS.items()}
    found = {}
    for scope in Scope:
        ways, reasons = list[Way](), dict[str, str]()
        for name, by_steps in made.items():
            alike: dict[Way, list[str]] = {}
            for steps, kept in by_steps.items():
                own = kept[scope]
                if isinstance(own, str):
                    reasons.setdefault(name, own)
                else:
                    alike.setdefault(own, []).append(steps)
            if alike:
                reasons.pop(name, None)  # of some of its steps alone
            for one, named in alike.items():
                ways.append(replace(one, steps=() if len(named) == len(by_steps) else (*named,)))
        found[scope] = Coverage(scope=scope, ways=tuple(ways), reasons=reasons)
    return found


def refusal(asked: Mapping[str, Any], n_records: int) -> str | None:
    """Say why the method that is asked for does not keep the scope that is; None where it does."""
    found = way(asked, n_records)
    return found if isinstance(found, str) else None


def way(asked: Mapping[str, Any], n_records: int) -> Way | str:
    """Return how the method that is asked for keeps the scope that is, or why it does not."""
    method = METHODS[asked["method"]]
    if asked.get("delta") and "delta" not in method.can:
        return f"{method.id} keeps its epsilon without a delta"
    given = {name: said for name, said in asked.items() if name not in OF_METHOD}
    return _kept(method, given, asked, n_records)[Scope(asked["scope"])]


def _by_steps(
    method: Method, asked: Mapping[str, Any], n_records: int
) -> dict[str, Mapping[Scope, Way | str]]:
    """Return what each choice of a method's steps keeps, by the choice in words."""
    general = {
        name: given for name, given in asked.items() if name not in {*OF_METHOD, *of_methods()}
    }
    offers, found = [step for step in offered(method) if step.choices], {}
    for values in product(*(step.choices for step in offers)):
        chosen = dict(zip((step.name for step in offers), values, strict=True))
        aside = method.set_aside(chosen)
        chosen = {name: value for name, value in chosen.items() if name not in aside}
        named = ", ".join(f"{name} {value}" for name, value in chosen.items())
        if named not in found:
            found[named] = _kept(method, {**general, **chosen}, asked, n_records)
    return found


def _kept(
    method: Method, given: Mapping[str, Any], asked: Mapping[str, Any], n_records: int
) -> Mapping[Scope, Way | str]:
    """Return how a request of this method keeps each scope by an epsilon, or why it does not."""
    k, delta = asked.get("k"), asked.get("delta") if "delta" in method.can else None
    is_size = isinstance(k, int) and k >= method.smallest_k
    names = given.get("attributes") or UNDECLARED
    probe = {
        **given,
        "method": method.id,
        "attributes": names,
        "epsilon": given.get("epsilon") or ONE,
        "delta": delta,
        "k": (k if is_size else method.smallest_k) if "k" in method.needs else None,
    }
    try:
        request = Request.of(probe)
        attributes = [_attribute(name, request) for name in names]
        protected = [one for one in attributes if "categories" in method.can or one.kind.is_ranked]
        promise = promise_of(protected, n_records, request)
    except RequestError as error:
        return dict.fromkeys(Scope, error.rule)
    why = ""
    if not protected:
        why = "ranks values or calculates with them, and all categories are in no order"
    elif promise.epsilon is None:
        why = "has no epsilon: it bounds nothing for one record"
    if why:
        return dict.fromkeys(Scope, f"{method.id} {why}")
    made = Foreseen(request, protected, promise)
    return {scope: _at(scope, made) for scope in Scope}


def _at(scope: Scope, made: Foreseen) -> Way | str:
    """Return how a request keeps a scope, or say why it does not."""
    request, promise, cover = made.request, made.promise, made.promise.scopes[scope]
    epsilon, own = request.epsilon or promise.epsilon, cover.exact_epsilon
    if epsilon is None or not cover.keeps(epsilon, request.delta):
        by = "it is not covered" if own is None else f"it is covered by epsilon {six_digits(own)}"
        return f"{NOT_KEPT.format(method=request.method.id, scope=scope)}: {by}"
    conditions = conditions_of([made], promise.epsilon, request.keep, labelled=False)
    return Way(
        method=request.method.id,
        steps=(),
        model=promise.model,
        conditions=tuple(condition for condition in conditions if scope in condition.scopes),
    )


def _attribute(name: str, request: Request) -> Attribute:
    """Make an attribute of what is declared of it: what a promise hangs on is its kind."""
    kind = request.types.get(name, Kind.WHOLE)
    domain = None
    if name in request.categories:
        domain = read_categories(name, kind, request.categories[name])
    return Attribute(
        name=name,
        kind=kind if domain is None else domain.kind,
        resolution=Fraction(1),
        resolution_source=Source.TYPE,
        domain=domain,
        of_unit=name in request.unit_attributes,
    )


def method_asked(asked: Mapping[str, Any]) -> Method | None:
    """Return the method asked for, or the one proposed; None where advice chooses."""
    named = asked.get("method") or _proposed(asked)["method"]
    return None if named == AUTO else METHODS[named]


def _proposed(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    scope = Scope(asked.get("scope") or Scope.ROW)
    return OF_UNITS if asked.get("unit") is not None and scope != Scope.ROW else BY_SCOPE[scope]


def check_scope(asked: Mapping[str, Any], n_records: int) -> None:
    """Refuse a method that does not cover the scope that is asked for, and name those that do."""
    method, scope = asked.get("method"), asked.get("scope")
    if method is None or scope is None or method == AUTO:
        return
    why = refusal({**asked}, n_records)
    if why is not None:
        able = ", ".join(coverage({**asked, "method": None}, n_records)[Scope(scope)].methods)
        raise RequestError("scope", why, f"leave out --scope, or choose {able}")


def request_for(scope: Scope | None, **asked: Any) -> dict[str, Any]:
    """Return what a proposed recipe asks for at a scope, with what else is asked."""
    asked = {name: value for name, value in asked.items() if value is not None}
    if scope is not None:
        asked["scope"] = f"{scope}"
    own = arguments()
    flat = {n: v for n, v in asked.items() if n in own and not own[n].column}
    method = method_asked(asked)
    start = {"method": asked["method"]} if asked.get("method") else {**_proposed(asked)}
    found = {**start, **({} if method is None else _of_method(method)), **start}
    if method is not None and "units" in method.can and "unit" in flat:
        found["shuffle"] = "rows"  # a sorted table would show whose they are
    found |= flat
    if not found.get("delta") or found.get("domains") == "declared":
        return found
    # Being missing is one more value that is learnt.
    return {**found, "missing": flat.get("missing", "protect")}


def _of_method(method: Method) -> dict[str, Any]:
    """Return what a method needs or has a step for, and a person is shown, at its default."""
    found: dict[str, Any] = {"k": 10} if "k" in method.needs else {}
    if "epsilon" in method.needs:
        found["epsilon"] = 1.0
    if "delta" in method.can:
        found["delta"] = 1e-9
    found["outside"] = "clamp" if "new table" in method.can else "error"
    found["missing"] = "error"
    if "exact cells" in method.can:
        found["exact_cells"] = "widen"
    if "isotonic" in method.can:
        found["isotonic"] = False
    if method.uses("shuffle"):
        found["shuffle"] = False
    return found
