"""The steps with work in the background: trade-off, release and result."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from microveil.app.columns_step import undeclared
from microveil.app.command_line import command_of
from microveil.app.drafts import Draft, Proposal, StaleDraftError
from microveil.app.draws import drawn_recipes, epsilon_of
from microveil.app.forms import Errors, Form
from microveil.app.recipes import recipe_text
from microveil.app.site import Site, free_folder, free_recipe, recipe_file, site_of
from microveil.app.texts import texts
from microveil.app.work import State, Work
from microveil.errors import MicroveilError, RequestError
from microveil.protect.recipe import file_of_recipe

__all__ = ["ROUTES", "found_of", "inspected", "looked_at_table", "started", "work_of"]

# The page of each kind of work, to which a cancelled one goes back.
PAGES = {
    "inspect": "columns",
    "list": "columns",
    "advise": "trade-off",
    "compare": "trade-off",
    "protect": "release",
}
STEPS_OF_METHODS = ("partition", "sensitivity", "composition")
# What an option says in place of what was asked for.
CHOICES = ("method", "k", *STEPS_OF_METHODS, "delta")
# So many options are compared at most, each so many times.
MOST_COMPARED, RUNS = 4, 3
# Beyond its double the mean itself is the better table: bars of errors end there.
MOST_ERROR = 2.0
# Pages that a release has, by the folder they lie in, and what they may do: nothing but be seen.
DOCUMENTS = {"public": ("folder", "report.html"), "custodian": ("custodian", "report.html")}
ALONE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


def started(site: Site, draft: Draft, task: Mapping[str, Any]) -> Draft:
    """Start work of a draft in the background; the same that is under way already goes on.

    A form that was sent twice, by a double click, starts one task: of two releases into one folder
    the second would be refused, and hide the first.
    """
    kind = str(task["task"])
    under_way = work_of(site, draft, kind)
    if under_way is not None and not under_way.state.is_end and not under_way.is_stopping:
        if kind == "protect" or draft.worked_on.get(kind) == _asked(task):
            return draft
        site.works.cancel(under_way.id)
    work = site.works.start(task)
    if kind == "protect":
        site.drafts.draw(draft.id, work.id, _asked(task))

    def noted(one: Draft) -> Draft:
        worked_on = {**one.worked_on, kind: _asked(task)}
        return replace(one, works={**one.works, kind: work.id}, worked_on=worked_on)

    return site.drafts.note(draft.id, noted)


def _asked(task: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a task is for: its recipe, or the column that is asked for."""
    column = {"column": task["column"]} if "column" in task else {}
    asked: Mapping[str, Any] = task.get("recipe", column)
    return asked


def work_of(site: Site, draft: Draft, kind: str) -> Work | None:
    """Return the work of a kind that was started last for a draft, while it is remembered."""
    try:
        return site.works[draft.works[kind]]
    except KeyError:
        return None


def found_of(work: Work | None) -> Mapping[str, Any] | None:
    """Return what work found, once it is done."""
    return work.result if work is not None and work.state is State.DONE else None


def looked_at_table(site: Site, draft: Draft) -> Draft:
    """Take into a draft what was found out about its table, once it was.

    Where that was forgotten, among much else, the table is looked at once more.
    """
    if draft.proposal is not None:
        return draft
    work = work_of(site, draft, "inspect")
    if work is None:
        return inspected(site, draft)
    found = found_of(work)
    if found is None:
        return draft
    columns = found["columns"]
    proposal = Proposal(
        kinds={name: column["kind"] for name, column in columns.items()},
        entries={name: column["entry"] for name, column in columns.items()},
        remarks={name: tuple(column["notes"]) for name, column in columns.items()},
        request=found["request"],
        n_records=found["n_records"],
        unit=found["unit"],
    )
    # A recipe that was opened is its owner's: it says of the file what it said.
    with_file = {} if draft.opened is not None else {"file": found["file"]}
    return site.drafts.note(
        draft.id, lambda one: replace(one.asking(**with_file), proposal=proposal)
    )


def inspected(site: Site, draft: Draft) -> Draft:
    """Start to find out about the table of a draft."""
    written = {} if draft.opened is None else file_of_recipe(draft.opened[1])
    return started(site, draft, {"task": "inspect", "path": draft.path, "file": written})


def _advice(site: Site, draft: Draft) -> Mapping[str, Any] | None:
    """Return the advice on a draft, unless it was on another promise or other columns."""

    def given(recipe: Mapping[str, Any]) -> dict[str, Any]:
        return {name: said for name, said in recipe.items() if name not in (*CHOICES, "looked_at")}

    found = found_of(work_of(site, draft, "advise"))
    is_of_draft = given(draft.worked_on.get("advise", {})) == given(draft.recipe)
    return found if is_of_draft else None


def _chosen(draft: Draft, found: Mapping[str, Any] | None, form: Form) -> dict[str, Any]:
    """Return what a person chose of the options: their own request, or one that was shown."""
    if form["option"] == "" or found is None:
        return {}
    if form["option"] == "own":  # as it was shown: another may have been chosen since
        return {name: draft.worked_on["advise"].get(name) for name in CHOICES}
    if "parts" in draft.recipe:
        raise RequestError(
            "option",
            "each part has a method of its own, and an option is one for the whole table",
            "change the part in the recipe's file, and open it anew",
        )
    options = found["advice"]["options"]
    option = next((one for n, one in enumerate(options) if f"{n}" == form["option"]), None)
    if option is None:
        raise RequestError("option", "there is no such option", "choose one of those shown")
    steps = {name: option.get(name) for name in STEPS_OF_METHODS}
    delta = {} if option["method"] == "dp-synthetic" else {"delta": None}
    return {"method": option["method"], "k": option["k"], **steps, **delta}


def _trade_off(site: Site, draft: Draft, error: MicroveilError | None = None) -> Response:
    work, comparing = (work_of(site, draft, kind) for kind in ("advise", "compare"))
    found = _advice(site, draft)
    if found is not None:  # put down before it is shown, whichever request it is that shows it
        is_public = found["is_public"] and found_of(comparing) is None
        draft = site.drafts.show(draft.id, "public" if is_public else "data")
    own = {} if found is None else found["advice"]["asked"]
    all_others = [] if found is None else found["advice"]["options"]
    others = [
        (str(n), option)
        for n, option in enumerate(all_others)
        if _asked_for(option) != _asked_for(own)
    ]
    options = [("own", own), *others]
    return site.page(
        "trade-off.html",
        status=422 if error else 200,
        draft=draft,
        step="trade-off",
        error=error,
        work=work,
        found=found,
        options=options if own else [],
        conditions={
            condition["id"]: condition["text"]
            for _, option in (options if own else [])
            for condition in option["conditions"]
        },
        most=MOST_ERROR,
        left=undeclared(draft),
        comparing=comparing,
        compared=found_of(comparing),
    )


def _asked_for(option: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what choosing an option would write into the recipe."""
    return tuple(option.get(name) for name in ("method", "k", *STEPS_OF_METHODS))


def _release(
    site: Site,
    draft: Draft,
    work: Work | None,
    errors: Errors | None = None,
    form: Form | None = None,
) -> Response:
    spent = drawn_recipes(site, draft)
    return site.page(
        "release.html",
        status=422 if errors else 200,
        n_drawn=len(spent),
        again=epsilon_of([draft.recipe]),
        total=epsilon_of([*spent, draft.recipe]),
        draft=draft,
        step="release",
        errors=errors or Errors(),
        work=work,
        left=undeclared(draft),
        folder=free_folder(site.folder) if form is None else form["folder"],
        place=site.place,
    )


async def _show_trade_off(request: Request) -> Response:
    site = site_of(request)
    return _trade_off(site, site.draft(request))


async def _advise(request: Request) -> Response:
    site = site_of(request)
    draft = site.draft(request)
    if "scope" not in draft.recipe:  # nobody has said what may be looked at
        return site.to(draft, "promise")
    started(site, draft, {"task": "advise", "path": draft.path, "recipe": dict(draft.recipe)})
    return site.to(draft, "trade-off")


async def _choose(request: Request) -> Response:
    site = site_of(request)
    form, draft = await site.form(request), site.draft(request)
    try:
        chosen = _chosen(draft, _advice(site, draft), form)
        draft = site.drafts.change(draft.id, site.version(form), lambda one: one.choosing(**chosen))
    except StaleDraftError as error:
        return site.stale(draft, "trade-off", error)
    except MicroveilError as error:
        return _trade_off(site, draft, error)
    return site.to(draft, "release")


async def _compare(request: Request) -> Response:
    """Compare what is asked for and what is better on the table itself, by drawing."""
    site = site_of(request)
    draft = site.draft(request)
    found = _advice(site, draft)
    if found is None:
        return site.to(draft, "trade-off")
    if "parts" in draft.recipe:
        rule = "methods are compared on the whole table, and each part has one of its own"
        remedy = "leave parts out of the recipe, or choose by the advice on each"
        return _trade_off(site, draft, RequestError("comparison", rule, remedy))
    epsilon = draft.recipe.get("epsilon")
    options = [found["advice"]["asked"], *found["advice"]["options"]][:MOST_COMPARED]
    task = {
        "task": "compare",
        "path": draft.path,
        "recipe": dict(draft.recipe),
        "methods": list(dict.fromkeys(map(_in_words, options))),
        "ks": sorted({option["k"] for option in options if option["k"] is not None}),
        "epsilons": None if epsilon is None else [epsilon],
        "runs": RUNS,
    }
    started(site, draft, task)
    return site.to(draft, "trade-off")


def _in_words(option: Mapping[str, Any]) -> str:
    """Name a method with its steps as `compare` has them: behind its id."""
    steps = [f"{name}={option[name]}" for name in STEPS_OF_METHODS if option.get(name)]
    return ":".join([option["method"], *steps])


async def _document(request: Request) -> Response:
    """Show a page that a release or a comparison has, by itself: nothing in it can do anything."""
    site = site_of(request)
    draft, which = site.draft(request), request.path_params["which"]
    text: str | None = None
    if which in ("comparison", "picture"):
        compared = found_of(work_of(site, draft, "compare"))
        site.drafts.show(draft.id, *(["data"] if compared is not None else []))
        text = None if compared is None else compared["report" if which == "comparison" else which]
    elif which in DOCUMENTS:
        released = found_of(work_of(site, draft, "protect"))
        folder, name = DOCUMENTS[which]
        if released is not None and name in released["files"][folder]:
            site.drafts.show(draft.id, *(["data"] if which == "custodian" else []))
            path = Path(released[folder], name)
            with suppress(OSError):
                text = await run_in_threadpool(path.read_text, "utf-8")
    if text is None:
        raise HTTPException(404)
    from microveil.report.shell import still  # the room of pages, loaded where one is shown

    kind = "image/svg+xml" if which == "picture" else "text/html"
    return Response(still(text), media_type=kind, headers={"Content-Security-Policy": ALONE})


async def _recipe_of_release(request: Request) -> Response:
    """Hand out the recipe that the release was drawn with, whatever the draft says by now."""
    site = site_of(request)
    draft = site.draft(request)
    if found_of(work_of(site, draft, "protect")) is None:
        raise HTTPException(404)
    return recipe_file(recipe_text(draft.worked_on["protect"], draft.opened))


async def _show_release(request: Request) -> Response:
    site = site_of(request)
    draft = site.draft(request)
    work = work_of(site, draft, "protect")
    if work is not None and not work.state.is_end:
        return site.to(draft, "result")
    return _release(site, draft, work)


async def _draw(request: Request) -> Response:
    site = site_of(request)
    form, draft = await site.form(request), site.draft(request)
    try:  # what is drawn is what was shown
        site.drafts.check(draft.id, site.version(form))
    except StaleDraftError as error:
        return site.stale(draft, "release", error)
    if _lost_its_unit(draft):
        return site.to(draft, "promise")
    under_way = work_of(site, draft, "protect")
    if under_way is not None and not under_way.state.is_end:  # the form was sent twice
        return site.to(draft, "result")
    errors = Errors()
    n_drawn = len(drawn_recipes(site, draft))
    if n_drawn and form["again"] != f"{n_drawn}":
        errors.add("again", texts()("release.ask"))
    with errors.beside("folder"):
        folder = site.folder.place_for(form["folder"])
    if errors:
        return _release(site, draft, None, errors, form)
    options = {"public_report": bool(form["public_report"]), "linkage": not form["no_linkage"]}
    task = {"task": "protect", "path": draft.path, "recipe": dict(draft.recipe),
            "folder": str(folder), "options": options}  # fmt: skip
    started(site, draft, task)
    return site.to(draft, "result")


def _lost_its_unit(draft: Draft) -> bool:
    """Whether a recipe protected units, its unit was taken out, and nobody said whom it protects.

    Drawn as it stands it would protect each record by itself.
    """
    protected_units = draft.opened is not None and "unit" in draft.opened[1]
    return protected_units and not {"unit", "scope"} & draft.recipe.keys()


async def _show_result(request: Request) -> Response:
    site = site_of(request)
    draft = site.draft(request)
    work = work_of(site, draft, "protect")
    found = found_of(work)
    if work is not None and work.state.is_end and found is None:  # which says why
        return site.to(draft, "release")
    if found is not None:  # the custodian's figures are shown
        draft = site.drafts.show(draft.id, "data")
    return site.page(
        "result.html",
        draft=draft,
        step="result",
        work=work,
        result=found,
        # The one that it was drawn with: the draft may say something else by now.
        recipe=recipe_text(draft.worked_on.get("protect", draft.recipe), draft.opened),
        command="" if found is None else command_of(draft, found),
        of=draft.works.get("protect", ""),
        place=site.place,
        file=free_recipe(site.folder),
    )


async def _progress(request: Request) -> Response:
    site = site_of(request)
    draft, kind = site.draft(request), request.path_params["kind"]
    work = work_of(site, draft, kind)
    if work is None:
        raise HTTPException(404)
    answer = site.page("progress.html", draft=draft, work=work, kind=kind)
    if work.state.is_end:
        answer.headers["HX-Refresh"] = "true"
    return answer


async def _cancel(request: Request) -> Response:
    site = site_of(request)
    draft, kind = site.draft(request), request.path_params["kind"]
    work = work_of(site, draft, kind)
    if work is None or kind not in PAGES:
        raise HTTPException(404)
    site.works.cancel(work.id)
    await site.works.wait(work.id)
    return RedirectResponse(f"/drafts/{draft.id}/{PAGES[kind]}", status_code=303)


ROUTES = (
    Route("/drafts/{draft}/trade-off", _show_trade_off),
    Route("/drafts/{draft}/trade-off", _choose, methods=["POST"]),
    Route("/drafts/{draft}/advice", _advise, methods=["POST"]),
    Route("/drafts/{draft}/comparison", _compare, methods=["POST"]),
    Route("/drafts/{draft}/documents/recipe.toml", _recipe_of_release),
    Route("/drafts/{draft}/documents/{which}", _document),
    Route("/drafts/{draft}/release", _show_release),
    Route("/drafts/{draft}/release", _draw, methods=["POST"]),
    Route("/drafts/{draft}/result", _show_result),
    Route("/drafts/{draft}/progress/{kind}", _progress),
    Route("/drafts/{draft}/cancel/{kind}", _cancel, methods=["POST"]),
)
