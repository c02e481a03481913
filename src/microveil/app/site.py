"""What all pages of the site share: the folder, drafts and work, and how a page is made.

The first page does without most of microveil, which takes a while to load: see `begin_loading`.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from microveil.app import words
from microveil.app.drafts import Draft, Drafts
from microveil.app.forms import Errors, Form, read_form
from microveil.app.places import Folder
from microveil.app.work import Works
from microveil.files.address import shown

# In their order; each is a page with an address of its own.
STEPS = {"data": "Data", "promise": "Promise", "trade-off": "Trade-off", "release": "Release"}


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("microveil.app"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["words"] = words
    environment.filters["shown"] = shown
    return environment


@dataclass(frozen=True, kw_only=True)
class Site:
    """One person's pages on one folder; `looking` are looks at what files declare, under way."""

    folder: Folder
    works: Works
    drafts: Drafts = field(default_factory=Drafts)
    looking: set[asyncio.Task[None]] = field(default_factory=set)
    environment: Environment = field(default_factory=_environment)

    def page(self, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
        """Fill in a template: all that it shows is escaped."""
        shown = {"draft": None, "step": "", "errors": Errors(), "error": None, **context}
        rail = {} if shown["draft"] is None else self._rail(shown["draft"])
        made = self.environment.get_template(template).render(steps=STEPS, rail=rail, **shown)
        return HTMLResponse(made, status_code=status)

    def step(
        self, step: str, draft: Draft, errors: Errors | None = None, **context: Any
    ) -> HTMLResponse:
        """Show the screen of a step, with what is wrong beside its fields or above them."""
        status = 422 if errors or context.get("error") else 200
        shown = {"draft": draft, "step": step, "errors": errors or Errors(), **context}
        return self.page(f"{step}.html", status=status, **shown)

    def _rail(self, draft: Draft) -> Mapping[str, Any]:
        """Return what stands beside each page of a draft, and what is wrong with its recipe."""
        from microveil.app.rail import problems_of_draft, promised, spent

        lost, refused = problems_of_draft(draft)
        said = spent(self.folder.root, draft, self.drawn(draft))
        return {"promised": promised(draft), "spent": said, "lost": lost, "refused": refused}

    def drawn(self, draft: Draft) -> list[Mapping[str, Any]]:
        """Return the recipes by which a draft's table was drawn, or is being drawn."""
        from microveil.app.rail import drawn_recipes

        return drawn_recipes(self.works, self.drafts.drawn(draft.id))

    def draft(self, request: Request) -> Draft:
        """Return the draft that an address names; no page is there where there is none."""
        draft = self.drafts.get(request.path_params["draft"])
        if draft is None:
            raise HTTPException(404)
        return draft

    def version(self, form: Form) -> int:
        """Return the version that a form was shown for: one that says none is out of date."""
        written = form["version"]
        return int(written) if written.isdecimal() and len(written) < 20 else -1

    def to(self, draft: Draft, step: str) -> Response:
        """Go to a step, by an address that a reload does not send a form to."""
        return RedirectResponse(f"/drafts/{draft.id}/{step}", status_code=303)

    def saved(self, draft: Draft, form: Form, change: Callable[[Draft], Draft]) -> Draft:
        """Change a draft as a form says that was shown for this version of it."""
        return self.drafts.change(draft.id, self.version(form), change)


async def form_of(request: Request) -> Form:
    """Read what a form sent, and refuse what is none."""
    try:
        return read_form(await request.body())
    except ValueError:
        raise HTTPException(400) from None


async def sent(request: Request) -> tuple[Site, Draft, Form]:
    """Return the site, the draft and the form of a request that changes something."""
    form, site = await form_of(request), site_of(request)
    return site, site.draft(request), form


def site_of(request: Request) -> Site:
    """Return the site that a request is for."""
    site: Site = request.app.state.site
    return site


def recipe_file(text: str) -> Response:
    """Hand out a recipe as a file to save."""
    return Response(
        text,
        media_type="application/toml",
        headers={"Content-Disposition": 'attachment; filename="recipe.toml"'},
    )


_REST = ("microveil.files.outline", "microveil.app.trade_off_pages", "microveil.app.release_pages")
_is_loaded = threading.Event()
# One after the other: two threads must not meet in the middle of modules that import each other.
_lock = threading.Lock()
_loading: set[asyncio.Task[None]] = set()


async def loaded() -> None:
    """Load the rest, or wait until that is done; other requests are answered meanwhile."""
    if not _is_loaded.is_set():
        await run_in_threadpool(_load)


def begin_loading() -> None:
    """Load the rest while a person looks at a page that does without."""
    if _is_loaded.is_set() or _loading:
        return
    task = asyncio.get_running_loop().create_task(loaded())
    _loading.add(task)
    task.add_done_callback(_loading.discard)


def _load() -> None:
    with _lock:
        for name in _REST:
            import_module(name)
        _is_loaded.set()
