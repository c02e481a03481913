"""The screen on the promise: who is protected, what may be looked at, its cost, and the method."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from microveil.app.drafts import Draft
from microveil.app.site import Errors, Form, Site, sent, site_of
from microveil.commands.coverage import Coverage, coverage, refusal, request_for
from microveil.errors import MicroveilError
from microveil.guarantee import Scope
from microveil.methods import METHODS
from microveil.protect.arguments import DECLARED
from microveil.protect.recipe import read_recipe
from microveil.protect.rules import refused_for_all

OF_PEOPLE, OF_RECORDS, OF_UNITS = "person", "record", "unit"
# What is asked for of a scope is that of `inspect`; another method may not have these steps.
REQUESTED = ("method", "k", "partition", "delta", "exact_cells", "outside", "missing")
STEPS = ("sensitivity", "composition", "isotonic")
# From here on a factor is shown as a power of 10; ln 10, rounded down.
LARGE, LN_10 = 14.0, 2.302585
# Where the curve of a budget has its points, and those that the table names.
CURVE, NAMED = [number / 10 for number in range(61)], (0.1, 0.5, 1.0, 2.0, 5.0)
_UP, _DOWN = (Context(prec=60, rounding=way) for way in (ROUND_CEILING, ROUND_FLOOR))


def promise_fields(draft: Draft, form: Form | None = None) -> dict[str, str]:
    """Return the fields: as sent, as in the recipe, or as proposed; who is protected never is."""
    recipe = draft.recipe
    is_new = not {"scope", "method", "parts"} & recipe.keys()
    scope = str(recipe.get("scope", Scope.ROW.value if is_new else ""))
    both = {**(request_for(Scope(scope)) if is_new else {}), **recipe}
    method, missing = both.get("method"), recipe.get("missing")
    if scope and method in METHODS and missing == _requested(Scope(scope), method).get("missing"):
        missing = None  # as it is proposed
    alone = OF_PEOPLE if recipe.get("max_rows") == 1 else OF_RECORDS
    who = OF_UNITS if recipe.get("unit") else alone
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
    """Say of each scope which methods keep what is asked for, by public figures; not of parts."""
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
    """Take the promise into the recipe; steps of a method stay where method, scope and units do."""
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
    for problem in refused_for_all(asked["scope"], looked_at):
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
        asked = {
            **dict.fromkeys((*REQUESTED, *STEPS)),
            **fresh,
            **said,
            **dict.fromkeys(asked.keys() - said.keys()),
        }
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


def _who(draft: Draft, form: Form, errors: Errors) -> dict[str, Any]:
    """Read who is protected: each record, or the records of a unit together."""
    if form["who"] in (OF_PEOPLE, OF_RECORDS):
        return {"unit": None, "max_rows": 1 if form["who"] == OF_PEOPLE else None}
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
    """Say in odds what an epsilon means for one person; both figures are bounds, rounded up."""
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


async def _page(
    site: Site, draft: Draft, form: Form | None = None, errors: Errors | None = None
) -> Response:
    fields = promise_fields(draft, form)
    # Of thousands of attributes it takes seconds, in which other pages are answered.
    found = await run_in_threadpool(methods_by_scope, draft, Form(fields))
    best = {scope: best_method(kept, fields["method"]) for scope, kept in found.items()}
    method = best.get(fields["scope"], fields["method"])
    return site.step(
        "promise",
        draft,
        errors,
        fields={**fields, "method": method},
        coverage=found,
        best=best,
        methods=METHODS,
        chosen=METHODS.get(method),
        meanings=[(budget, in_other_words(budget)) for budget in NAMED],
        curve=[(budget, float(in_other_words(budget)["percent"])) for budget in CURVE],
        meaning=_meaning(fields["epsilon"]),
    )


def _meaning(epsilon: str) -> tuple[float, dict[str, str]] | None:
    """Say what the budget in the field means, where it is one."""
    try:
        number = float(epsilon)
    except ValueError:
        return None
    return (number, in_other_words(number)) if 0 < number < 1e6 else None


async def _show(request: Request) -> Response:
    site = site_of(request)
    return await _page(site, site.draft(request))


async def _change(request: Request) -> Response:
    """Save the promise; or show what goes with it, and save nothing."""
    site, draft, form = await sent(request)
    if form["look"]:
        return await _page(site, draft, form)
    changed, errors = promise(draft, form)
    if not errors:
        with errors.beside("page"):
            read_recipe(changed.recipe)
    if errors:
        return await _page(site, draft, form, errors)
    return site.to(site.saved(draft, form, lambda one: promise(one, form)[0]), "trade-off")


ROUTES = (
    Route("/drafts/{draft}/promise", _show),
    Route("/drafts/{draft}/promise", _change, methods=["POST"]),
)
