"""What of a request needs a whole column in memory, and what would do with parts of it."""

from collections.abc import Iterator

from microveil.arguments.steps import PARTITION
from microveil.release.request import Request
from microveil.table import Table

__all__ = ["RANKING", "needs_whole_columns"]

RANKING = "ranking"


def needs_whole_columns(table: Table, request: Request) -> tuple[str, str] | None:
    """Say what of a request needs all of a column at once, and what would do instead.

    Clusters that are runs of k ranks do not: a column is then put in order, summarised and given
    its cells in parts. Nor do cells that are drawn one by one, each by its own value.

    Parameters
    ----------
    table : Table
    request : Request

    Returns
    -------
    (str, str) or None
        None where nothing does.
    """
    return next(_reasons(table, request), None)


def _reasons(table: Table, request: Request) -> Iterator[tuple[str, str]]:
    method, partition = request.method, request[PARTITION]
    if not method.ranks_each and not method.goes_in_parts:
        instead = (
            "choose a method that ranks each attribute by itself (dp-um, idp-vector), or draws "
            "each value by itself (laplace, pram, k-noise, k-pram)"
        )
        yield method.id, instead
    if partition not in (None, RANKING):
        yield f"the partition {partition}", "choose the partition ranking (--partition ranking)"
    if method.may_be_exact and request.exact_cells == "widen":
        instead = "choose a larger k, or dp-um, which draws noise for every cluster"
        yield "merging clusters of equal values (exact cells: widen)", instead
    if request.isotonic:
        yield "isotonic regression, which is held against trial draws,", "leave it out"
    if request.protected_unit.column is not None:
        yield "who the units are", "leave the unit out"
    if request.attributes is None:
        yield "the choice of attributes by a look", "name them (--attributes)"
    for name in request.attributes or ():
        if name in table.names and not (table.is_plain(name) or table.is_text(name)):
            what = f"column '{name}', which is exact decimals, moments or text with a list of it,"
            yield what, "write it as whole numbers, floats, dates or plain text"
