"""The promise: who is protected, what may be looked at, what it costs, and by which method."""

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from microveil.app.drafts import Draft
from microveil.app.forms import Errors, Form
from microveil.commands.coverage import Coverage, coverage, refusal
from microveil.commands.request_lines import request_for
from microveil.errors import MicroveilError
from microveil.guarantee import Scope
from microveil.methods import METHODS
from microveil.protect.arguments import DECLARED
from microveil.protect.recipe import read_recipe
from microveil.protect.rules import refused_looked_at

__all__ = ["best_method", "in_other_words", "methods_by_scope", "promise", "promise_fields"]

OF_RECORDS, OF_UNITS = "record", "unit"
# What is asked for of a scope is that of `inspect`; another method may not have these steps.
REQUESTED = ("method", "k", "partition", "delta", "exact_cells", "outside", "missing")
STEPS = ("sensitivity", "composition", "isotonic")
# From here on a factor is shown as a power of 10; ln 10, rounded down.
LARGE, LN_10 = 14.0, 2.302585
_UP, _DOWN = (Context(prec=60, rounding=way) for way in (ROUND_CEILING, ROUND_FLOOR))


def promise_fields(draft: Draft, form: Form | None = None) -> dict[str, str]:
    """Return the fields: as sent, else as the recipe has them, else as `inspect` proposes.

    Who is protected is nowhere proposed: a person says it.
    """
    recipe = draft.recipe
    is_new = not {"scope", "method", "parts"} & recipe.keys()
    scope = str(recipe.get("scope", Scope.ROW.value if is_new else ""))
    both = {**(request_for(Scope(scope)) if is_new else {}), **recipe}
    method, missing = both.get("method"), recipe.get("missing")
    if scope and method in METHODS and missing == _requested(Scope(scope), method).get("missing"):
        missing = None  # as it is proposed
    who = OF_UNITS if recipe.get("unit") else OF_RECORDS
    fields = {
        "who": who if "scope" in recipe else "",
        **{name: _written(recipe.get(name)) for name in ("unit", "max_rows", "population")},
        "scope": scope,
        **{name: _written(both.get(name)) for name in ("method", "k", "epsilon", "delta")},
        "missing": _written(missing),
    }
    if form is None:
        return fields
    return {name: form.fields.get(name, said).strip() for name, said in fields.items()}


def _written(said: Any) -> str:
    if not said:
        return ""
    short = f"{said:g}" if isinstance(said, float) else f"{said}"
    return short if not isinstance(said, float) or float(short) == said else f"{said}"


def _requested(scope: Scope, method: str) -> dict[str, Any]:
    """Return what is proposed of a method at a scope, as `inspect` does."""
    proposed = request_for(scope)
    return proposed if proposed["method"] == method else request_for(scope, method=method)


def methods_by_scope(draft: Draft, form: Form) -> dict[str, Coverage]:
    """Say of each scope which methods keep what is asked for: by public figures alone.

    Of a recipe in parts, each of which has a method of its own, nothing is said.
    """
    n_records = 0 if draft.proposal is None else draft.proposal.n_records
    if "parts" in draft.recipe or not n_records:
        return {}
    errors = Errors()
    asked = {**_who(draft, form, errors), **_budget(form, errors), "missing": None}
    if form["missing"] in ("keep", "protect", "error"):
        asked["missing"] = form["missing"]
    try:
        found = coverage(read_recipe(draft.asking(**asked).recipe), n_records)
    except MicroveilError:
        return {}
    return {scope.value: kept for scope, kept in found.items()}


def best_method(found: Coverage, chosen: str = "") -> str:
    """Name the method that goes with a scope: the one that was chosen, if it keeps it."""
    proposed = str(request_for(found.scope)["method"])
    offered = (chosen, proposed, *found.methods)
    return next((name for name in offered if name in found.methods), "")


def promise(draft: Draft, form: Form) -> tuple[Draft, Errors]:
    """Take the promise into the recipe, with what its method needs.

    Steps of a method stay where method, scope and units do. Parts have methods and budgets of their
    own.
    """
    errors, recipe = Errors(), draft.recipe
    asked = {**_who(draft, form, errors), "population": form["population"] or None}
    if form["epsilon"] or "parts" not in recipe:
        asked |= _budget(form, errors)
    if form["missing"]:
        with errors.beside("missing"):
            asked["missing"] = DECLARED["missing"].checked(form["missing"])
    if form["scope"] not in list(Scope):
        errors.add("scope", "Say what may be looked at.")
    if errors:
        return draft, errors
    asked["scope"] = form["scope"]
    looked_at = draft.choosing(**asked).recipe.get("looked_at")
    for problem in refused_looked_at(asked["scope"], looked_at):
        errors.add("scope", f"{problem}")
    if "parts" not in recipe and not errors:
        asked = _with_method(draft, form, asked, errors)
    if not recipe.get("delta") and not asked.get("delta"):
        asked.pop("delta", None)  # 0 in so many words stays
    return (draft if errors else draft.choosing(**asked)), errors


def _with_method(draft: Draft, form: Form, asked: dict[str, Any], errors: Errors) -> dict[str, Any]:
    """Return what is asked for with the method that is chosen, or with the best of its scope."""
    recipe = draft.recipe
    scope, said = Scope(asked["scope"]), {n: v for n, v in asked.items() if v is not None}
    found = methods_by_scope(draft, form).get(scope.value)
    method = form["method"] or (recipe.get("method") if recipe.get("scope", scope) == scope else "")
    if method not in METHODS:
        method = "" if found is None else best_method(found)
    if not method:
        reasons = [] if found is None else [*found.reasons.values()]
        errors.add("scope", f"No method can do that: {reasons[0] if reasons else 'see below'}.")
        return asked
    before = recipe.get("method"), recipe.get("scope", scope), recipe.get("unit")
    is_another = (method, scope, asked.get("unit")) != before
    if is_another:
        named = _requested(scope, method)
        fresh = {name: named[name] for name in REQUESTED if name in named}
        asked = {**dict.fromkeys((*REQUESTED, *STEPS)), **fresh, **said, **_none_of(asked, said)}
    if "delta" not in METHODS[method].can:
        asked["delta"] = None
    if "k" in METHODS[method].needs and form["k"]:
        with errors.beside("k"):
            given = form["k"]
            asked["k"] = DECLARED["k"].checked(int(given) if given.isdecimal() else given)
    # Of a recipe that stands all that is wrong is said beside it.
    if is_another or asked.get("missing", recipe.get("missing")) != recipe.get("missing"):
        n_records = 0 if draft.proposal is None else draft.proposal.n_records
        with errors.beside("method"):
            reason = refusal(read_recipe(draft.asking(**asked).recipe), n_records)
            if reason is not None:
                errors.add("method", f"{reason}.")
    return asked


def _none_of(asked: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, None]:
    """Return what was emptied in so many words: units, a population, a delta."""
    return dict.fromkeys(asked.keys() - said.keys())


def _who(draft: Draft, form: Form, errors: Errors) -> dict[str, Any]:
    """Read who is protected: each record, or the records of a unit together."""
    if form["who"] == OF_RECORDS:
        return {"unit": None, "max_rows": None}
    if form["who"] != OF_UNITS:
        errors.add("who", "Say who is protected.")
        return {"unit": None}
    if form["unit"] not in draft.columns:
        errors.add("unit", "Say which column tells whose a record is.")
    if not form["max_rows"]:
        errors.add("max_rows", "Say how many records one has at most, as publicly known.")
        return {"unit": None}
    with errors.beside("max_rows"):
        return {"unit": form["unit"], "max_rows": DECLARED["max_rows"].from_text(form["max_rows"])}
    return {"unit": None}


def _budget(form: Form, errors: Errors) -> dict[str, Any]:
    """Read epsilon, and delta where there is one."""
    if not form["epsilon"]:
        errors.add("epsilon", "Write the budget, 1 for example.")
        return {}
    found: dict[str, Any] = {"delta": None}
    for name in ("epsilon", "delta"):
        if form[name]:
            with errors.beside(name):
                found[name] = _plain(DECLARED[name].from_text(form[name]))
    return {**found, "delta": found["delta"] or None}


def _plain(number: Fraction | int | None) -> int | float | None:
    """Return a number as TOML holds it."""
    if number is None:
        return None
    return int(number) if number == int(number) else float(number)


def in_other_words(epsilon: float) -> dict[str, str]:
    """Say what an epsilon means for one person, in odds.

    Somebody who thought a thing about a person as likely as not thinks it by so much more likely
    after the release, at most: both figures are rounded up, since they are bounds.

    Examples
    --------
    >>> in_other_words(1.0)
    {'factor': '2.72', 'percent': '73.2'}
    """
    if epsilon > LARGE:
        return {"factor": f"10^{math.ceil(epsilon / LN_10)}", "percent": "100"}
    # The library's exp is rounded to the nearest, which may be below.
    factor = Decimal(epsilon).exp(_UP).next_plus(_UP) if epsilon > 0 else Decimal(1)
    # 100 f / (1 + f), in a form in which it is known which way each step is rounded.
    percent = _UP.subtract(Decimal(100), _DOWN.divide(Decimal(100), _UP.add(factor, Decimal(1))))
    shown = _up(percent, -1 if percent < 99 else -2)
    return {"factor": f"{_up(factor, factor.adjusted() - 2):f}", "percent": f"{shown:f}"}


def _up(number: Decimal, place: int) -> Decimal:
    """Round up at a decimal place, 0 that of ones, and leave out noughts behind the point."""
    rounded = number.quantize(Decimal((0, (1,), place)), context=_UP)
    return rounded.quantize(Decimal(1)) if rounded == int(rounded) else rounded.normalize()
