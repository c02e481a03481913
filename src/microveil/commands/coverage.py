"""Which methods keep a promise, and why the others do not: before a table is opened.

It is worked out of what a request declares and of the number of records, all of it public: what a
method would find in the table is not looked at.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from microveil.errors import RequestError
from microveil.guarantee import Condition, Model, Scope
from microveil.guarantee.budget import six_digits
from microveil.methods import METHODS, Method, Promise
from microveil.protect.claims import conditions_of
from microveil.protect.domains import read_categories
from microveil.protect.planning import NOT_KEPT, promise_of
from microveil.protect.request import Request, of_methods, offered
from microveil.schema import Attribute, Kind, Source

# Arguments of the method that was chosen, which another may have no step for.
OF_METHOD = ("method", "k", "delta", "isotonic", "scope", "seed")
# In place of attributes that are not declared yet: several, as a table has.
UNDECLARED = ("one", "another")
# And of an epsilon: whether it is kept hangs on no epsilon.
ONE = Fraction(1)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """What a request promises, by public figures alone, and the budget that it is to keep."""

    request: Request
    protected: list[Attribute]
    promise: Promise

    def refused(self, scope: Scope) -> str | None:
        """Say why a scope is not kept; None where it is."""
        cover, epsilon = self.promise.scopes[scope], self.request.epsilon or self.promise.epsilon
        if epsilon is not None and cover.keeps(epsilon, self.request.delta):
            return None
        own = cover.exact_epsilon
        by = "it is not covered" if own is None else f"it is covered by epsilon {six_digits(own)}"
        return f"{NOT_KEPT.format(method=self.request.method.id, scope=scope)}: {by}"

    def conditions(self, scope: Scope) -> tuple[Condition, ...]:
        """Return what the guarantee will take as given or leave out at a scope."""
        found = conditions_of([self], self.promise.epsilon, self.request.keep, labelled=False)
        return tuple(condition for condition in found if scope in condition.scopes)


def coverage(asked: Mapping[str, Any], n_records: int) -> dict[Scope, Coverage]:
    """Say of each scope which methods keep what is asked for, whichever method was chosen.

    What is not declared yet is taken for an epsilon of 1, two attributes, and the least k.
    """
    made = {name: dict(_made(method, asked, n_records)) for name, method in METHODS.items()}
    return {scope: _at(scope, made) for scope in Scope}


def refusal(asked: Mapping[str, Any], n_records: int) -> str | None:
    """Say why the method that is asked for does not keep the scope that is; None where it does."""
    found = way(asked, n_records)
    return found if isinstance(found, str) else None


def way(asked: Mapping[str, Any], n_records: int) -> Way | str:
    """Return how the method that is asked for keeps the scope that is, or why it does not."""
    method, scope = METHODS[asked["method"]], Scope(asked["scope"])
    if asked.get("delta") and "delta" not in method.can:
        return f"{method.id} keeps its epsilon without a delta"
    given = {name: said for name, said in asked.items() if name not in OF_METHOD}
    found = _promised(method, given, asked, n_records)
    why = found if isinstance(found, str) else found.refused(scope)
    if isinstance(found, str) or why is not None:
        return why or ""
    return Way(
        method=method.id, steps=(), model=found.promise.model, conditions=found.conditions(scope)
    )


def _at(scope: Scope, made: Mapping[str, Mapping[str, _Made | str]]) -> Coverage:
    """Divide the methods into those that keep a scope and those that do not."""
    ways, reasons = list[Way](), dict[str, str]()
    for name, found in made.items():
        alike: dict[tuple[Model, tuple[Condition, ...]], list[str]] = {}
        for chosen, one in found.items():
            why = one if isinstance(one, str) else one.refused(scope)
            if why is not None:
                reasons.setdefault(name, why)
            elif isinstance(one, _Made):
                alike.setdefault((one.promise.model, one.conditions(scope)), []).append(chosen)
        if alike:
            reasons.pop(name, None)  # of some of its steps alone
        for (model, conditions), named in alike.items():
            said = () if len(named) == len(found) else tuple(named)
            ways.append(Way(method=name, steps=said, model=model, conditions=conditions))
    return Coverage(scope=scope, ways=tuple(ways), reasons=reasons)


def _made(
    method: Method, asked: Mapping[str, Any], n_records: int
) -> Iterator[tuple[str, _Made | str]]:
    """Yield what each choice of a method's steps promises, or why it promises nothing."""
    general = {
        name: given for name, given in asked.items() if name not in {*OF_METHOD, *of_methods()}
    }
    offers = [step for step in offered(method) if step.choices]
    seen = set[str]()
    for values in product(*(step.choices for step in offers)):
        chosen = dict(zip((step.name for step in offers), values, strict=True))
        aside = method.set_aside(chosen)
        chosen = {name: value for name, value in chosen.items() if name not in aside}
        named = ", ".join(f"{name} {value}" for name, value in chosen.items())
        if named not in seen:
            seen.add(named)
            yield named, _promised(method, {**general, **chosen}, asked, n_records)


def _promised(
    method: Method, given: Mapping[str, Any], asked: Mapping[str, Any], n_records: int
) -> _Made | str:
    """Return what a request of this method promises by an epsilon, or why it promises nothing."""
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
        return error.rule
    if not protected:
        return (
            f"{method.id} ranks values or calculates with them, and all categories are in no order"
        )
    if promise.epsilon is None:
        return f"{method.id} has no epsilon: it bounds nothing for one record"
    return _Made(request=request, protected=protected, promise=promise)


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
