"""What all pages of the site share: the folder, drafts and work, and how a page is made."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from microveil.app.drafts import Draft, Drafts, StaleDraftError
from microveil.app.forms import Errors, Form, read_form
from microveil.app.lacking import lacking
from microveil.app.places import Folder
from microveil.app.texts import texts
from microveil.app.work import Works
from microveil.files.address import shown

__all__ = ["STEPS", "Site", "free_folder", "free_recipe", "recipe_file", "site_of"]

# In their order; each is a page with an address of its own.
STEPS = ("file", "columns", "promise", "trade-off", "release", "result")


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("microveil.app"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["t"] = texts()
    environment.globals["lacking"] = lacking
    environment.filters["shown"] = shown
    return environment


@dataclass(frozen=True, kw_only=True)
class Site:
    """One person's pages on one folder.

    Attributes
    ----------
    folder : Folder
        What may be opened.
    works : Works
    drafts : Drafts
    looking : set of asyncio.Task
        Looks at what files declare, under way.
    """

    folder: Folder
    works: Works
    drafts: Drafts = field(default_factory=Drafts)
    looking: set[asyncio.Task[None]] = field(default_factory=set)
    environment: Environment = field(default_factory=_environment)

    def page(self, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
        """Fill in a template: all that it shows is escaped."""
        shown = {"draft": None, "step": "", "errors": Errors(), "error": None, **context}
        made = self.environment.get_template(template).render(steps=self.steps(shown), **shown)
        return HTMLResponse(made, status_code=status)

    def steps(self, shown: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the steps with their addresses, as far as a draft has come."""
        draft: Draft | None = shown["draft"]
        return [
            {
                "id": step,
                "number": number,
                "here": step == shown["step"],
                "address": None if draft is None else f"/drafts/{draft.id}/{step}",
            }
            for number, step in enumerate(STEPS, 1)
        ]

    def draft(self, request: Request) -> Draft:
        """Return the draft that an address names.

        Raises
        ------
        HTTPException
            If there is none.
        """
        draft = self.drafts.get(request.path_params["draft"])
        if draft is None:
            raise HTTPException(404)
        return draft

    async def form(self, request: Request) -> Form:
        """Read what a form sent.

        Raises
        ------
        HTTPException
            If it is none.
        """
        try:
            return read_form(await request.body())
        except ValueError:
            raise HTTPException(400) from None

    def version(self, form: Form) -> int:
        """Return the version that a form was shown for: one that says none is out of date."""
        written = form["version"]
        return int(written) if written.isdecimal() and len(written) < 20 else -1

    def to(self, draft: Draft, step: str) -> Response:
        """Go to a step, by an address that a reload does not send a form to."""
        return RedirectResponse(f"/drafts/{draft.id}/{step}", status_code=303)

    def stale(self, draft: Draft, step: str, error: StaleDraftError) -> Response:
        """Say that the draft was changed elsewhere."""
        return self.page("error.html", status=409, draft=draft, step=step, error=error)

    @property
    def place(self) -> str:
        """The folder, in words."""
        return str(Path(self.folder.root))


def site_of(request: Request) -> Site:
    """Return the site that a request is for."""
    site: Site = request.app.state.site
    return site


def free_recipe(folder: Folder) -> str:
    """Propose the name of a new recipe: one that is not taken."""
    names = chain(["recipe.toml"], (f"recipe-{number}.toml" for number in count(2)))
    return next(name for name in names if not os.path.lexists(folder.root / name))


def free_folder(folder: Folder) -> str:
    """Propose the name of a release's folder: one that is not taken, nor its custodian's."""
    names = chain(["release"], (f"release-{number}" for number in count(2)))
    taken = os.path.lexists
    root = folder.root
    return next(n for n in names if not (taken(root / n) or taken(root / f"{n}-custodian")))


def recipe_file(text: str) -> Response:
    """Hand out a recipe as a file to save."""
    return Response(
        text,
        media_type="application/toml",
        headers={"Content-Disposition": 'attachment; filename="recipe.toml"'},
    )
