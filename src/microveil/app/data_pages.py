"""The screen on the data: a grid of columns, and the one column that is open."""

from dataclasses import replace
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from microveil.app.columns import (
    Column,
    as_sent,
    columns_of,
    declare_column,
    declare_rest,
    entering,
    lines_in,
    set_many,
    without_column,
)
from microveil.app.drafts import Draft, recipe_text
from microveil.app.rail import problems_of_draft
from microveil.app.site import STEPS, Errors, Form, Site, recipe_file, sent, site_of
from microveil.app.working import looked_at, started, work_of
from microveil.errors import RequestError
from microveil.protect.recipe import file_of_recipe


def _page(
    site: Site,
    draft: Draft,
    column: Column | None = None,
    errors: Errors | None = None,
    search: str = "",
) -> Response:
    columns = list(columns_of(draft))
    wanted = search.casefold()
    return site.step(
        "data",
        draft,
        errors,
        open=column,
        columns=[
            one
            for one in columns
            if any(wanted in said.casefold() for said in (one.name, one.proposed.title, one.status))
        ],
        n_columns=len(columns),
        search=search,
        n_by_file=sum(bool(one.proposed.by_file) for one in columns),
        work=work_of(site, draft, "list") or work_of(site, draft, "inspect"),
    )


def _column(draft: Draft, number: str, form: Form | None = None) -> Column:
    """Return the column of a number, with what was sent of its fields."""
    found = next((one for one in columns_of(draft) if f"{one.number}" == number), None)
    if found is None:
        rule = "the table has no column of this number"
        raise RequestError("column", rule, "go back to the data, and choose one of those shown")
    return found if form is None else as_sent(found, form)


async def _show(request: Request) -> Response:
    site, asked = site_of(request), request.query_params
    draft = looked_at(site, site.draft(request))
    entered = Form(draft.entered or {})
    column, number = None, asked.get("open", "")
    if number and draft.proposal is not None:
        column = _column(draft, number, entered if entered["column"] == number else None)
    return _page(site, draft, column, search=asked.get("search", ""))


async def _change(request: Request) -> Response:
    """Go on with what is proposed, accept what the file declares, or set several columns."""
    site, draft, form = await sent(request)
    if form["accept"]:
        site.saved(draft, form, lambda one: one.choosing(accept="file"))
    elif form["set"]:
        shown = form["set"] == "shown"
        chosen = {
            int(name.partition("-")[2])
            for name in form.fields
            if name.startswith("shown-" if shown else "pick-") and name[5:].strip("-").isdecimal()
        }
        site.saved(draft, form, lambda one: set_many(one, chosen, form["role"], form["type"]))
    else:
        draft = site.saved(draft, form, declare_rest)
        return site.to(draft, "data" if draft.proposal is None else "promise")
    search = f"?search={quote(form['search'])}" if form["search"] else ""
    return site.to(draft, f"data{search}")


async def _change_column(request: Request) -> Response:
    site, draft, form = await sent(request)
    column = _column(draft, form["column"], form)
    _, errors = declare_column(draft, column)
    if errors:
        return _page(site, draft, column, errors)
    draft = site.saved(draft, form, lambda one: declare_column(one, column)[0])
    site.drafts.note(draft.id, lambda one: replace(one, entered=None))
    is_another = any(column.values[name] != column.stood.get(name) for name in ("role", "type"))
    opened = f"?open={column.number}" if is_another else ""  # for the fields that it needs now
    return site.to(draft, f"data{opened}#column-{column.number}")


async def _list_values(request: Request) -> Response:
    """Show the values of one column of text, where a person asks for them."""
    site, draft, form = await sent(request)
    column = _column(draft, form["column"], form)
    if column.proposed.entry["type"] != "text":
        rule = "values are listed of columns of text alone"
        raise RequestError("column", rule, "go back to the data, and choose a column of text")
    site.drafts.check(draft.id, site.version(form))
    draft = site.drafts.note(draft.id, lambda one: entering(one, form))
    codes = lines_in(column.values["codes"])
    task = {
        "task": "list",
        "path": draft.path,
        "file": file_of_recipe(draft.recipe),
        "column": column.name,
        "missing_codes": {column.name: codes} if codes else None,
        "missing_values": draft.recipe.get("missing_values"),
    }
    return site.to(started(site, draft, task), f"data?open={column.number}")


async def _take_out(request: Request) -> Response:
    """Take a column out of the recipe that the table lacks, and go back to where that was said."""
    site, draft, form = await sent(request)
    lines = form.fields.get("column", "").splitlines()  # browsers end them in their own way
    lost = problems_of_draft(draft)[0]
    name = next((one for one in lost if one.splitlines() == lines), None)
    if name is not None:  # else the form was sent twice
        draft = site.saved(draft, form, lambda one: without_column(one, name))
    return site.to(draft, form["step"] if form["step"] in STEPS else "data")


async def _undo(request: Request) -> Response:
    site, draft, form = await sent(request)
    draft = site.drafts.change(draft.id, site.version(form), Draft.undone, undoes=True)
    return site.to(draft, form["step"] if form["step"] in STEPS else "data")


async def _recipe(request: Request) -> Response:
    draft = site_of(request).draft(request)
    return recipe_file(recipe_text(draft.recipe, draft.opened))


ROUTES = (
    Route("/drafts/{draft}/data", _show),
    Route("/drafts/{draft}/data", _change, methods=["POST"]),
    Route("/drafts/{draft}/column", _change_column, methods=["POST"]),
    Route("/drafts/{draft}/values", _list_values, methods=["POST"]),
    Route("/drafts/{draft}/lacking", _take_out, methods=["POST"]),
    Route("/drafts/{draft}/undo", _undo, methods=["POST"]),
    Route("/drafts/{draft}/recipe.toml", _recipe),
)
