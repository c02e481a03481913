"""The site as a whole: its addresses, what is said where something goes wrong, the first page.

That one lists files: a table, and a recipe if there is one; or invented people. It does without
most of microveil, which takes a while to load and is loaded behind it.
"""

import threading
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from microveil.app.drafts import StaleDraftError
from microveil.app.places import Folder
from microveil.app.site import STEPS, Site, form_of, site_of
from microveil.app.work import Works
from microveil.errors import FileError, MicroveilError
from microveil.files.address import address_of, in_file

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# Of a recipe's file; the longest that was seen has a tenth of it.
LARGEST_RECIPE = 10_000_000
# Where the table of invented people is written.
INVENTED = "invented-people"
# One after the other: two threads must not meet in modules that import each other.
_loading = threading.Lock()


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
            Route("/", _show),
            Route("/", _choose, methods=["POST"]),
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
    router = await run_in_threadpool(_loaded)
    await router(scope, receive, send)


def _loaded() -> Router:
    with _loading:
        return _rest()


@cache
def _rest() -> Router:
    from microveil.app import data_pages, promise, release_pages, trade_off_pages, working

    rooms = (data_pages, promise, trade_off_pages, release_pages, working)
    return Router([route for room in rooms for route in room.ROUTES])


def _page(site: Site, inside: str, *, error: MicroveilError | None = None) -> Response:
    try:
        listing = site.folder.listing(inside)
    except MicroveilError as refused:
        error, inside = error or refused, ""
        listing = site.folder.listing("")
    recipes = [name for name in listing.files if name.casefold().endswith(".toml")]
    return site.page(
        "file.html",
        status=200 if error is None else 422,
        error=error,
        inside=inside,
        above=str(PurePosixPath(inside).parent) if inside else None,
        place=f"{site.folder.root}",
        folders=_places(inside, listing.folders),
        recipes=_places(inside, recipes),
        tables=_places(inside, [name for name in listing.files if name not in recipes]),
        n_unshowable=listing.n_unshowable,
        drafts=site.drafts.all(),
    )


def _places(inside: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Return each name with its path below the folder that the page was started for."""
    return [(name, str(PurePosixPath(inside, name))) for name in names]


def _table(site: Site, given: str) -> str:
    """Return the address of a table: a file below the folder, or a database's."""
    if not given:
        raise FileError("table", "no table is chosen", "choose one of the files, or write a path")
    address = address_of(given)
    if address.is_web:
        rule = "this page asks nothing of other machines"
        raise FileError("table", rule, "download the table into the folder first")
    if address.scheme != "file":
        return given
    return in_file(site.folder.resolve(f"{address.path}"), address.table, address.query)


def _invented(site: Site) -> str:
    """Write a table of invented people below the folder, once; return its path there."""
    from microveil.commands.demo import write_people

    name = f"{INVENTED}/people.csv"
    if not (site.folder.root / name).exists():
        write_people(site.folder.root / INVENTED)
    return name


def _recipe(site: Site, given: str) -> tuple[str, Mapping[str, Any]]:
    path = site.folder.resolve(given)
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_RECIPE + 1)
    except OSError:
        raise FileError(given, "the recipe cannot be read", "check path and rights") from None
    if len(text) > LARGEST_RECIPE:
        raise FileError(given, "it is too large for a recipe", "choose another file")
    return parsed_recipe(given, text)


def parsed_recipe(place: str, text: bytes) -> tuple[str, dict[str, Any]]:
    """Read the text of a recipe's file and what it says; refuse what is no recipe."""
    try:
        written = text.decode("utf-8-sig")
        contents = tomllib.loads(written)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise FileError(
            place,
            "a recipe must be a TOML file",
            "open one that microveil wrote or inspect proposed",
        ) from None
    from microveil.protect.recipe import read_recipe

    read_recipe(contents)
    return written, contents


async def _show(request: Request) -> Response:
    page = _page(site_of(request), request.query_params.get("in", ""))
    page.background = BackgroundTask(_loaded)
    return page


async def _choose(request: Request) -> Response:
    await run_in_threadpool(_loaded)
    from microveil.app.working import inspected
    from microveil.protect.recipe import VERSION

    site = site_of(request)
    form = await form_of(request)
    try:
        path = _table(site, _invented(site) if form["invented"] else form["table"])
        opened = _recipe(site, form["recipe"]) if form["recipe"] else None
    except MicroveilError as error:
        return _page(site, form["in"], error=error)
    draft = site.drafts.new(path, opened)
    if opened is None:
        version = ".".join(map(str, VERSION))
        draft = site.drafts.note(draft.id, lambda one: one.asking(microveil=version))
    return site.to(await inspected(site, draft), "data")
