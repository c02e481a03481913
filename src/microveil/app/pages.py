"""The site as a whole: its addresses, and what is said where something goes wrong."""

from contextlib import asynccontextmanager
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
from microveil.app.loading import loaded
from microveil.app.places import Folder
from microveil.app.site import Site
from microveil.app.work import Works
from microveil.errors import MicroveilError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["application"]


def application(folder: Folder) -> Starlette:
    """Make the site on a folder; whoever serves it guards it (see `access`)."""
    site = Site(folder=folder, works=Works(folder.root))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> "AsyncIterator[None]":
        try:
            yield
        finally:
            await site.works.close()

    async def refused(_request: Request, error: Exception) -> Response:
        return site.page("error.html", status=422, error=error)

    async def not_found(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 -- it is called for these alone
        return site.page("missing.html", status=error.status_code)

    async def failed(_request: Request, error: Exception) -> Response:
        # The message of an unforeseen error may hold a value of the table.
        return site.page("failed.html", status=500, kind=type(error).__name__)

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
    from microveil.app import recipe_pages, saving_pages, work_pages

    return Router([*recipe_pages.ROUTES, *saving_pages.ROUTES, *work_pages.ROUTES])
