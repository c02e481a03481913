"""The screen on the promise."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from microveil.app.drafts import Draft
from microveil.app.forms import Errors, Form
from microveil.app.promise import (
    best_method,
    in_other_words,
    methods_by_scope,
    promise,
    promise_fields,
)
from microveil.app.site import Site, site_of
from microveil.methods import METHODS
from microveil.protect.recipe import read_recipe

__all__ = ["ROUTES"]

# Where the curve of a budget has its points, and those that the table names.
CURVE, NAMED = [number / 10 for number in range(61)], (0.1, 0.5, 1.0, 2.0, 5.0)


async def _page(
    site: Site, draft: Draft, form: Form | None = None, errors: Errors | None = None
) -> Response:
    fields = promise_fields(draft, form)
    # Of thousands of attributes it takes seconds, in which other pages are answered.
    found = await run_in_threadpool(methods_by_scope, draft, Form(fields))
    best = {scope: best_method(kept, fields["method"]) for scope, kept in found.items()}
    method = best.get(fields["scope"], fields["method"])
    return site.page(
        "promise.html",
        status=422 if errors else 200,
        draft=draft,
        step="promise",
        errors=errors or Errors(),
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
    site = site_of(request)
    form, draft = await site.form(request), site.draft(request)
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
