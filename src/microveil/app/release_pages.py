"""The screen on the release: one button that says what it spends, then what came of it."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from os.path import isfile
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from microveil.app.drafts import Draft, StaleDraftError, recipe_text
from microveil.app.rail import epsilon_of
from microveil.app.site import Errors, Form, Site, recipe_file, sent, site_of
from microveil.app.working import found_of, is_under_way, started, work_of
from microveil.errors import FileError
from microveil.files.address import shown
from microveil.files.disk import free_name
from microveil.text import typed

# Pages that a release has, by the folder they lie in, and what they may do: nothing but be seen.
DOCUMENTS = {"public": ("folder", "report.html"), "custodian": ("custodian", "report.html")}
ALONE = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


def _page(
    site: Site, draft: Draft, errors: Errors | None = None, form: Form | None = None
) -> Response:
    work = work_of(site, draft, "protect")
    found = found_of(work)
    if found is not None:  # the custodian's figures are shown
        draft = site.drafts.show(draft.id, "data")
    # What was drawn: the draft may say something else by now.
    drawn_with = recipe_text(draft.worked_on.get("protect", draft.recipe), draft.opened)
    spent, form = site.drawn(draft), form or Form()
    return site.step(
        "release",
        draft,
        errors,
        work=work,
        result=found,
        n_drawn=len(spent),
        costs=epsilon_of([draft.recipe]),
        total=epsilon_of([*spent, draft.recipe]),
        folder=form["folder"] or free_name(site.folder.root, "release"),
        place=f"{site.folder.root}",
        recipe=drawn_with,
        command="" if found is None else _command(draft, found),
        of=draft.works.get("protect", "") if found is not None else "",
        file=form["file"] or free_name(site.folder.root, "recipe", ".toml"),
        saved=[path for path, text in draft.saved.items() if text == drawn_with],
    )


def _command(draft: Draft, found: Mapping[str, Any]) -> str:
    """Write the command that does what was done here, into a folder that is free."""
    has_report = "report.html" in found["files"]["folder"]
    flags = [
        *(["--public-report"] if has_report else []),
        *([] if found["linkage"] else ["--no-linkage"]),
    ]
    drawn_with = recipe_text(draft.worked_on["protect"], draft.opened)
    saved = next((path for path, text in draft.saved.items() if text == drawn_with), "recipe.toml")
    folder = Path(found["folder"])
    free = folder.with_name(free_name(folder.parent, folder.name))
    words = ["microveil", "protect", shown(draft.path), "--recipe", saved, *flags]
    return typed([*words, "-o", f"{free}"])


async def _show(request: Request) -> Response:
    site = site_of(request)
    return _page(site, site.draft(request))


async def _draw(request: Request) -> Response:
    site, draft, form = await sent(request)
    site.drafts.check(draft.id, site.version(form))  # what is drawn is what was shown
    if _lost_its_unit(draft):
        return site.to(draft, "promise")
    if is_under_way(work_of(site, draft, "protect")):  # the form was sent twice
        return site.to(draft, "release")
    errors = Errors()
    n_drawn = len(site.drawn(draft))
    if n_drawn and form["again"] != f"{n_drawn}":
        errors.add("again", "A release of this table was drawn already: tick this to draw another.")
    with errors.beside("folder"):
        folder = site.folder.place_for(form["folder"])
    if errors:
        return _page(site, draft, errors, form)
    options = {"public_report": bool(form["public_report"]), "linkage": not form["no_linkage"]}
    task = {"task": "protect", "path": draft.path, "recipe": dict(draft.recipe),
            "folder": str(folder), "options": options}  # fmt: skip
    return site.to(started(site, draft, task), "release")


def _lost_its_unit(draft: Draft) -> bool:
    """Whether a recipe lost its unit and nobody said whom it protects: it would be each record."""
    protected_units = draft.opened is not None and "unit" in draft.opened[1]
    return protected_units and not {"unit", "scope"} & draft.recipe.keys()


def _released(site: Site, draft: Draft) -> Mapping[str, Any]:
    """Return what a draft's release found out; no page is there before one was drawn."""
    found = found_of(work_of(site, draft, "protect"))
    if found is None:
        raise HTTPException(404)
    return found


async def _document(request: Request) -> Response:
    """Show a page that a release or a comparison has, by itself: nothing in it can do anything."""
    site = site_of(request)
    draft, which = site.draft(request), request.path_params["which"]
    text: str | None = None
    if which == "recipe.toml":
        _released(site, draft)
        return recipe_file(recipe_text(draft.worked_on["protect"], draft.opened))
    if which in ("comparison", "picture"):
        compared = found_of(work_of(site, draft, "compare"))
        site.drafts.show(draft.id, *(["data"] if compared is not None else []))
        text = None if compared is None else compared["report" if which == "comparison" else which]
    elif which in DOCUMENTS:
        released, (folder, name) = _released(site, draft), DOCUMENTS[which]
        if name in released["files"][folder]:
            site.drafts.show(draft.id, *(["data"] if which == "custodian" else []))
            path = Path(released[folder], name)
            with suppress(OSError):
                text = await run_in_threadpool(path.read_text, "utf-8")
    if text is None:
        raise HTTPException(404)
    from microveil.report.shell import still  # the room of pages, loaded where one is shown

    kind = "image/svg+xml" if which == "picture" else "text/html"
    return Response(still(text), media_type=kind, headers={"Content-Security-Policy": ALONE})


async def _download(request: Request) -> Response:
    """Hand out a file of the folder for publication."""
    site = site_of(request)
    draft, name = site.draft(request), request.path_params["name"]
    released = _released(site, draft)
    path = f"{released['folder']}/{name}"
    if name not in released["files"]["folder"] or not await run_in_threadpool(isfile, path):
        raise HTTPException(404)
    return FileResponse(path, filename=name, media_type="application/octet-stream")


def _text(draft: Draft, of: str) -> str:
    """Return the recipe as it is declared by now, or the one that a release was drawn with."""
    if not of:
        return recipe_text(draft.recipe, draft.opened)
    if of != draft.works.get("protect"):
        raise StaleDraftError(
            "page",
            "another release was made since this page was shown",
            "look at its result, and save the recipe from there",
        )
    return recipe_text(draft.worked_on["protect"], draft.opened)


def _stands(site: Site, draft: Draft, name: str, text: str) -> bool:
    """Whether just this was saved under the name, and is there."""
    path = f"{site.folder.root / name}"
    return draft.saved.get(path) == text and os.path.lexists(path)


async def _save(request: Request) -> Response:
    """Write the recipe that was shown as a new file: a form sent once more writes no second one."""
    site, draft, form = await sent(request)
    name, of, errors = form["file"], form["of"], Errors()
    if not of:
        site.drafts.check(draft.id, site.version(form))
    text = _text(draft, of)
    if not _stands(site, draft, name, text):
        with errors.beside("file"):
            if not name.casefold().endswith(".toml"):
                rule = "the name of a recipe must end in .toml"
                raise FileError("name", rule, "write for example recipe.toml")
            path = f"{site.folder.write_new(name, text)}"
            draft = site.drafts.note(
                draft.id, lambda one: replace(one, saved={**one.saved, path: text})
            )
    return _page(site, draft, errors, form) if errors else site.to(draft, "release#recipe")


ROUTES = (
    Route("/drafts/{draft}/documents/{which}", _document),
    Route("/drafts/{draft}/files/{name}", _download),
    Route("/drafts/{draft}/release", _show),
    Route("/drafts/{draft}/release", _draw, methods=["POST"]),
    Route("/drafts/{draft}/save", _save, methods=["POST"]),
)
