"""The site as a whole: its addresses, and what is said where something goes wrong."""

from contextlib import aclosing, asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Router
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from microveil.app import file_pages
from microveil.app.drafts import StaleDraftError
from microveil.app.places import Folder
from microveil.app.site import STEPS, Site, loaded
from microveil.app.work import Works
from microveil.errors import MicroveilError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def application(folder: Folder) -> Starlette:
    """Make the site on a folder; whoever serves it guards it (see `access`)."""
    site = Site(folder=folder, works=Works(folder.root))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> "AsyncIterator[None]":
        async with aclosing(site.works):
            yield

    async def refused(request: Request, error: Exception) -> Response:
        status = 409 if isinstance(error, StaleDraftError) else 422
        parts = request.url.path.strip("/").split("/")
        draft = site.drafts.get(parts[1]) if parts[0] == "drafts" and len(parts) > 1 else None
        step = parts[-1] if parts[-1] in STEPS else "data"
        return site.page("error.html", status=status, error=error, draft=draft, step=step)

    async def not_found(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 -- it is called for these alone
        return site.page("error.html", status=error.status_code, missing=True)

    async def failed(_request: Request, error: Exception) -> Response:
        # The message of an unforeseen error may hold a value of the table.
        return site.page("error.html", status=500, failure=type(error).__name__)

    site_itself = Starlette(
        routes=[
            *file_pages.ROUTES,
            Mount("/static", StaticFiles(directory=str(files("microveil.app") / "static"))),
            Mount("", _pages_of_drafts),
        ],
        exception_handlers={MicroveilError: refused, HTTPException: not_found, Exception: failed},
        lifespan=lifespan,
    )
    site_itself.state.site = site
    return site_itself


async def _pages_of_drafts(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for a page of a draft: what it needs is loaded by then, or is now."""
    await loaded()
    await _router()(scope, receive, send)


@cache
def _router() -> Router:
    from microveil.app import data_pages, promise, release_pages, trade_off_pages, working

    rooms = (data_pages, promise, trade_off_pages, release_pages, working)
    return Router([route for room in rooms for route in room.ROUTES])
