"""The recipe as a file of the folder: a new one each time, beside the tables."""

import os
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from microveil.app.drafts import Draft, StaleDraftError
from microveil.app.forms import Errors, Form
from microveil.app.recipes import recipe_text
from microveil.app.site import Site, free_recipe, site_of
from microveil.errors import FileError

__all__ = ["ROUTES"]


def _text(draft: Draft, of: str) -> str:
    """Return the recipe as it is declared by now, or the one that a release was drawn with.

    Raises
    ------
    StaleDraftError
        If another release was drawn since.
    """
    if not of:
        return recipe_text(draft.recipe, draft.opened)
    if of != draft.works.get("protect"):
        raise StaleDraftError(
            "page",
            "another release was made since this page was shown",
            "look at its result, and save the recipe from there",
        )
    return recipe_text(draft.worked_on["protect"], draft.opened)


def _page(
    site: Site, draft: Draft, of: str, form: Form | None = None, errors: Errors | None = None
) -> Response:
    text = _text(draft, of)
    return site.page(
        "save.html",
        status=422 if errors else 200,
        draft=draft,
        errors=errors or Errors(),
        of=of,
        recipe=text,
        place=site.place,
        file=free_recipe(site.folder) if form is None else form["file"],
        saved=[path for path, saved in draft.saved.items() if saved == text],
    )


async def _show(request: Request) -> Response:
    site = site_of(request)
    draft, of = site.draft(request), request.query_params.get("of", "")
    try:
        return _page(site, draft, of)
    except StaleDraftError as error:
        return site.stale(draft, "", error)


async def _save(request: Request) -> Response:
    """Write the recipe that was shown: a form that is sent once more writes no second one."""
    site = site_of(request)
    form, draft = await site.form(request), site.draft(request)
    name, of = form["file"], form["of"]
    try:
        if not of:
            site.drafts.check(draft.id, site.version(form))
        text = _text(draft, of)
    except StaleDraftError as error:
        return site.stale(draft, "", error)
    errors = Errors()
    if not _stands(site, draft, name, text):
        with errors.beside("file"):
            if not name.casefold().endswith(".toml"):
                rule = "the name of a recipe must end in .toml"
                raise FileError("name", rule, "write for example recipe.toml")
            path = f"{site.folder.write_new(name, text)}"
            draft = site.drafts.note(
                draft.id, lambda one: replace(one, saved={**one.saved, path: text})
            )
    if errors:
        return _page(site, draft, of, form, errors)
    return site.to(draft, "result" if of else "save")


def _stands(site: Site, draft: Draft, name: str, text: str) -> bool:
    """Whether just this was saved under the name, and is there."""
    path = f"{site.folder.root / name}"
    return draft.saved.get(path) == text and os.path.lexists(path)


ROUTES = (
    Route("/drafts/{draft}/save", _show),
    Route("/drafts/{draft}/save", _save, methods=["POST"]),
)
