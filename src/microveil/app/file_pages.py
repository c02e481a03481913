"""The list of files: which table, and which recipe if there is one; or invented people."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from microveil.app.site import Site, begin_loading, form_of, loaded, site_of
from microveil.errors import FileError, MicroveilError
from microveil.files.address import address_of, in_file

# Of a recipe's file; the longest that was seen has a tenth of it.
LARGEST_RECIPE = 10_000_000
# Where the table of invented people is written.
INVENTED = "invented-people"


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
    from microveil.app.recipes import parsed_recipe

    path = site.folder.resolve(given)
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_RECIPE + 1)
    except OSError:
        raise FileError(given, "the recipe cannot be read", "check path and rights") from None
    if len(text) > LARGEST_RECIPE:
        raise FileError(given, "it is too large for a recipe", "choose another file")
    return parsed_recipe(given, text)


async def _show(request: Request) -> Response:
    begin_loading()
    return _page(site_of(request), request.query_params.get("in", ""))


async def _choose(request: Request) -> Response:
    await loaded()
    from microveil.app.recipes import new_recipe
    from microveil.app.working import inspected

    site = site_of(request)
    form = await form_of(request)
    try:
        path = _table(site, _invented(site) if form["invented"] else form["table"])
        opened = _recipe(site, form["recipe"]) if form["recipe"] else None
    except MicroveilError as error:
        return _page(site, form["in"], error=error)
    draft = site.drafts.new(path, opened)
    if opened is None:
        draft = site.drafts.note(draft.id, lambda one: one.asking(**new_recipe()))
    return site.to(await inspected(site, draft), "data")


ROUTES = (
    Route("/", _show),
    Route("/", _choose, methods=["POST"]),
)
