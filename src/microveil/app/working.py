"""Work in the background of a draft: started, looked after, shown and cancelled."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from microveil.app.columns import with_values
from microveil.app.drafts import Draft, Proposal, Proposed, SeenValues
from microveil.app.site import Site, site_of
from microveil.app.tasks import text_of
from microveil.app.work import State, Work
from microveil.errors import MicroveilError
from microveil.files.reading import outline_of
from microveil.protect.recipe import file_of_recipe

# The page of each kind of work, to which a cancelled one goes back.
PAGES = {
    "inspect": "data",
    "list": "data",
    "advise": "trade-off",
    "compare": "trade-off",
    "protect": "release",
}
# Seconds that a page waits for what a file declares; a database that takes longer is read first.
LONGEST = 3.0


def started(site: Site, draft: Draft, task: Mapping[str, Any]) -> Draft:
    """Start work of a draft; if the same is under way, as after a double click, it goes on."""
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
    return site.works.get(draft.works.get(kind, ""))


def is_under_way(work: Work | None) -> bool:
    """Whether something will still become of work."""
    return work is not None and not work.state.is_end


def found_of(work: Work | None) -> Mapping[str, Any] | None:
    """Return what work found, once it is done."""
    return work.result if work is not None and work.state is State.DONE else None


async def inspected(site: Site, draft: Draft) -> Draft:
    """Start to find out about a table; show at once what its file declares, if it can be told."""
    looking = asyncio.get_running_loop().create_task(_outline(site, draft))
    site.looking.add(looking)  # a loop keeps no hold of its tasks
    looking.add_done_callback(site.looking.discard)
    await asyncio.wait({looking}, timeout=LONGEST)
    return _inspect(site, draft)


def _inspect(site: Site, draft: Draft) -> Draft:
    written = {} if draft.opened is None else file_of_recipe(draft.opened[1])
    return started(site, draft, {"task": "inspect", "path": draft.path, "file": written})


async def _outline(site: Site, draft: Draft) -> None:
    written = draft.recipe.get("file", {}) if draft.opened is None else draft.opened[1].get("file")
    try:
        found = await run_in_threadpool(outline_of, draft.path, text=text_of(written))
    except MicroveilError:
        return
    if found is not None and site.drafts.get(draft.id) is not None:
        site.drafts.note(draft.id, lambda one: replace(one, outline=found))


def looked_at(site: Site, draft: Draft) -> Draft:
    """Take in what was found out about a table; if that was forgotten, look at it once more."""
    if draft.proposal is None:
        work = work_of(site, draft, "inspect")
        if work is None:
            return _inspect(site, draft)
        draft = _proposed(site, draft, found_of(work))
    found = found_of(work_of(site, draft, "list"))
    if found is None:
        return draft
    seen = SeenValues(values=tuple(found["values"]), n_values=found["n_values"])
    works = {kind: work for kind, work in draft.works.items() if kind != "list"}
    return site.drafts.note(
        draft.id, lambda one: replace(with_values(one, found["column"], seen), works=works)
    )


def _proposed(site: Site, draft: Draft, found: Mapping[str, Any] | None) -> Draft:
    if found is None:
        return draft
    columns = {name: Proposed(**own) for name, own in found["columns"].items()}
    proposal = Proposal(columns=columns, n_records=found["n_records"], unit=found["unit"])
    # A recipe that was opened is its owner's: it says of the file what it said.
    with_file = {} if draft.opened is not None else {"file": found["file"]}
    return site.drafts.note(
        draft.id, lambda one: replace(one.asking(**with_file), proposal=proposal)
    )


def _asked_for(request: Request) -> tuple[Site, Draft, str, Work]:
    """Return the work that an address names; no page is there where there is none."""
    site, kind = site_of(request), request.path_params["kind"]
    draft = site.draft(request)
    work = work_of(site, draft, kind)
    if work is None or kind not in PAGES:
        raise HTTPException(404)
    return site, draft, kind, work


async def _progress(request: Request) -> Response:
    site, _, kind, work = _asked_for(request)
    answer = site.page("progress.html", work=work, kind=kind)
    if work.state.is_end:
        answer.headers["HX-Refresh"] = "true"
    return answer


async def _cancel(request: Request) -> Response:
    site, draft, kind, work = _asked_for(request)
    site.works.cancel(work.id)
    await site.works.wait(work.id)
    return site.to(draft, PAGES[kind])


ROUTES = (
    Route("/drafts/{draft}/progress/{kind}", _progress),
    Route("/drafts/{draft}/cancel/{kind}", _cancel, methods=["POST"]),
)
