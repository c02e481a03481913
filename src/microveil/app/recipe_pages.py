"""The steps that write the recipe: columns and promise; and the recipe itself."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from microveil.app.columns_step import (
    column_fields,
    declare_columns,
    entering,
    undeclared,
    without_entered,
)
from microveil.app.drafts import Draft, StaleDraftError
from microveil.app.forms import Errors, Form
from microveil.app.lacking import lacking, without
from microveil.app.promise_step import (
    in_other_words,
    methods_by_scope,
    promise,
    promise_fields,
    proposed_method,
    refusing_units,
)
from microveil.app.recipes import recipe_text
from microveil.app.site import STEPS, Site, recipe_file, site_of
from microveil.app.values_shown import listed, looked_at_values
from microveil.app.work_pages import looked_at_table, work_of
from microveil.errors import RequestError
from microveil.guarantee import Scope
from microveil.methods import METHODS
from microveil.protect.recipe import read_recipe
from microveil.schema import COLUMN_KINDS, Role

__all__ = ["ROUTES"]


def _columns(
    site: Site,
    draft: Draft,
    form: Form | None = None,
    errors: Errors | None = None,
    *,
    was_saved: bool = False,
) -> Response:
    columns = list(column_fields(draft, form))
    return site.page(
        "columns.html",
        status=422 if errors else 200,
        names={column.field(field): column.name for column in columns for field in column.values},
        draft=draft,
        step="columns",
        errors=errors or Errors(),
        columns=columns,
        left=undeclared(draft) if was_saved and not errors else [],
        roles=list(Role),
        kinds=list(COLUMN_KINDS),
        work=work_of(site, draft, "list") or work_of(site, draft, "inspect"),
    )


async def _promise(
    site: Site, draft: Draft, form: Form | None = None, errors: Errors | None = None
) -> Response:
    fields = promise_fields(draft, form)
    scopes = [Scope.ROW, Scope.VECTOR, Scope.CLUSTER]
    return site.page(
        "promise.html",
        status=422 if errors else 200,
        draft=draft,
        step="promise",
        errors=errors or Errors(),
        left=undeclared(draft),
        fields=fields,
        scopes=scopes,
        # Of thousands of attributes it takes seconds, in which other pages are answered.
        coverage=await run_in_threadpool(methods_by_scope, draft),
        proposed={scope.value: proposed_method(draft, scope) for scope in scopes},
        methods=METHODS.values(),
        alone=refusing_units(),
        meanings=[(budget, in_other_words(budget)) for budget in (0.1, 0.5, 1.0, 2.0, 5.0)],
    )


async def _show_columns(request: Request) -> Response:
    site = site_of(request)
    draft = looked_at_values(site, looked_at_table(site, site.draft(request)))
    return _columns(site, draft, None if draft.entered is None else Form(draft.entered))


async def _change_columns(request: Request) -> Response:
    site = site_of(request)
    form, draft = await site.form(request), site.draft(request)
    if draft.proposal is None:
        return site.to(draft, "columns")
    _, errors = declare_columns(draft, form)
    try:
        draft = site.drafts.change(
            draft.id, site.version(form), lambda one: declare_columns(one, form)[0]
        )
    except StaleDraftError as error:
        return site.stale(draft, "columns", error)
    draft = site.drafts.note(draft.id, without_entered)
    if errors or undeclared(draft):
        return _columns(site, draft, form, errors, was_saved=True)
    return site.to(draft, "promise")


async def _list_values(request: Request) -> Response:
    """Show the values of one column of text, where a person asks for them."""
    site = site_of(request)
    form, draft = await site.form(request), site.draft(request)
    texts = (column for column in column_fields(draft, form) if column.has_text)
    column = next((one for one in texts if f"{one.number}" == form["values"]), None)
    if column is None:
        rule = "values are listed of columns of text, and the table has none of this number"
        raise RequestError("column", rule, "go back to the columns, and choose one of those shown")
    try:
        site.drafts.check(draft.id, site.version(form))
    except StaleDraftError as error:
        return site.stale(draft, "columns", error)
    draft = site.drafts.note(draft.id, lambda one: entering(one, form))
    listed(site, draft, column.name, Form({"codes": column.values["codes"]}).lines("codes"))
    return site.to(draft, "columns")


async def _show_promise(request: Request) -> Response:
    site = site_of(request)
    return await _promise(site, site.draft(request))


async def _change_promise(request: Request) -> Response:
    site = site_of(request)
    form, draft = await site.form(request), site.draft(request)
    changed, errors = promise(draft, form)
    if not errors:
        with errors.beside("page"):
            read_recipe(changed.recipe)
    if errors:
        return await _promise(site, draft, form, errors)
    try:
        draft = site.drafts.change(draft.id, site.version(form), lambda one: promise(one, form)[0])
    except StaleDraftError as error:
        return site.stale(draft, "promise", error)
    return site.to(draft, "trade-off")


async def _take_out(request: Request) -> Response:
    """Take a column out of the recipe that the table lacks, and go back to where that was said."""
    site = site_of(request)
    form, draft = await site.form(request), site.draft(request)
    step = form["step"] if form["step"] in STEPS else "columns"
    lines = form.fields.get("column", "").splitlines()  # browsers end them in their own way
    name = next((one for one in lacking(draft) if one.splitlines() == lines), None)
    if name is None:  # the form was sent twice
        return site.to(draft, step)
    try:
        draft = site.drafts.change(draft.id, site.version(form), lambda one: without(one, name))
    except StaleDraftError as error:
        return site.stale(draft, step, error)
    return site.to(draft, step)


async def _recipe(request: Request) -> Response:
    site = site_of(request)
    draft = site.draft(request)
    return recipe_file(recipe_text(draft.recipe, draft.opened))


ROUTES = (
    Route("/drafts/{draft}/columns", _show_columns),
    Route("/drafts/{draft}/columns", _change_columns, methods=["POST"]),
    Route("/drafts/{draft}/values", _list_values, methods=["POST"]),
    Route("/drafts/{draft}/lacking", _take_out, methods=["POST"]),
    Route("/drafts/{draft}/promise", _show_promise),
    Route("/drafts/{draft}/promise", _change_promise, methods=["POST"]),
    Route("/drafts/{draft}/recipe.toml", _recipe),
)
