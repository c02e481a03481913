"""What all pages of the site share: the folder, drafts and work, forms, and how a page is made."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from microveil.app.drafts import WORDS, Draft, Drafts
from microveil.app.places import Folder
from microveil.app.work import State, Works
from microveil.errors import MicroveilError
from microveil.files.address import shown

# In their order; each is a page with an address of its own.
STEPS = {"data": "Data", "promise": "Promise", "trade-off": "Trade-off", "release": "Release"}
# Of a table of thousands of columns, each with its fields.
MOST_FIELDS = 100_000


@dataclass(frozen=True, slots=True)
class Form:
    """Text by field, without spaces around it; a field that was not sent is empty."""

    fields: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.fields.get(name, "").strip()

    def __contains__(self, name: str) -> bool:
        return name in self.fields


class Errors:
    """Sentences of ours, each beside the field that it is about."""

    def __init__(self) -> None:
        self._sentences: dict[str, str] = {}

    def add(self, name: str, sentence: str) -> None:
        """Put a sentence beside a field: the first stays."""
        self._sentences.setdefault(name, sentence)

    @contextmanager
    def beside(self, name: str) -> Iterator[None]:
        """Catch what breaks a rule, and put its sentence beside a field."""
        try:
            yield
        except MicroveilError as error:
            self.add(name, f"{error}")

    def __getitem__(self, name: str) -> str:
        return self._sentences.get(name, "")

    def __iter__(self) -> Iterator[str]:
        return iter(self._sentences)

    def __len__(self) -> int:
        return len(self._sentences)


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("microveil.app"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["words"] = WORDS
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
        """Return the recipes by which a draft's table was drawn, or is being drawn.

        A draw that was refused or cancelled before a release stood is none.
        """

        def is_spent(name: str) -> bool:
            work = self.works.get(name)
            if work is None:  # forgotten since: taken to have been written
                return True
            return work.released or not work.state.is_end or work.state is State.DONE

        return [recipe for work, recipe in self.drafts.drawn(draft.id) if is_spent(work)]

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
    """Read what a form sent, of a field that is there twice the last; refuse what is none."""
    try:
        body = (await request.body()).decode("ascii")
        pairs = parse_qsl(body, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
        return Form(dict(pairs))
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
