"""Columns of polars that are released as they are, without what hangs on."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from microveil.table.keeping import Keeper
from microveil.table.ordering import Order

if TYPE_CHECKING:
    import polars

__all__ = ["kept_polars"]


def kept_polars(column: "polars.Series", order: Order | None, keeper: Keeper) -> "polars.Series":
    """Return the cells of a column as they are kept, without what is under missing ones.

    Where the type lists categories only those stay that some record has.

    Parameters
    ----------
    column : polars.Series
    order : Order or None
        In which records are released; None where that is the table's.
    keeper : Keeper

    Examples
    --------
    >>> import polars
    >>> from microveil.table.keeping import IN_MEMORY
    >>> places = polars.Series(["b", "a"], dtype=polars.Enum(["b", "c", "a"]))
    >>> kept_polars(places, None, IN_MEMORY).dtype
    Enum(categories=['a', 'b'])
    """
    if _has_list(column):
        codes, written = _listed_anew(column)
        arranged = codes if order is None else order.arranged(codes)
        return keeper.joined(len(column), lambda records: written(arranged[records]))
    if order is not None:
        return order.arranged(column)
    return keeper.joined(
        len(column), lambda records: column.gather(np.arange(records.start, records.stop))
    )


def _has_list(column: "polars.Series") -> bool:
    """Whether the type of a column lists the categories that the column may hold."""
    return str(column.dtype).startswith(("Enum", "Categorical"))


def _listed_anew(
    column: "polars.Series",
) -> "tuple[polars.Series, Callable[[polars.Series], polars.Series]]":
    """Return the codes of a column, and what makes cells of them that list no others.

    Cells are taken from a column of one cell for each category: words may be long.
    """
    import polars

    # In the order of words: that in which they come would say something of the table's order.
    words = column.unique().drop_nulls().cast(polars.String).sort()
    listed = isinstance(column.dtype, polars.Enum)
    kind = polars.Enum(words) if listed else polars.Categorical
    cells = words.cast(kind).alias(column.name)
    old = words.cast(column.dtype).to_physical().to_numpy()
    places = np.zeros(int(old.max(initial=0)) + 1, dtype=np.uint32)
    places[old] = np.arange(len(old))
    to_place = polars.Series(places)

    def written(codes: "polars.Series") -> "polars.Series":
        if not len(words):
            return polars.Series(column.name, [None] * len(codes), dtype=kind)
        return cells.gather(to_place.gather(codes.cast(polars.UInt32)))

    return column.to_physical(), written
