"""From arguments to requests that fit a table, one or one for each part."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from microveil.errors import DataError, Problems, RequestError, one_error
from microveil.protect.attributes import check_types
from microveil.protect.auto import chosen
from microveil.protect.columns import Opened, Prepared, formulas_in, open_for, silent
from microveil.protect.parts import AUTO, Whole, in_part
from microveil.protect.problems import problems_of
from microveil.table import check_columns
from microveil.table.table import check_kept

__all__ = ["settle"]


def settle(
    table: Any, asked: Mapping[str, Any], progress: Callable[[str], None] = silent
) -> Prepared:
    """Make a request of arguments, or one for each part, choosing what is left to advice.

    What is refused is refused with all that is wrong beside it.
    """
    try:
        return _settled(table, asked, progress)
    except (RequestError, DataError) as error:
        found = problems_of(table, asked)
        # That no method suits says nothing as long as columns lack what all methods need.
        is_open = asked.get("method") == AUTO and bool(found)
        problems = Problems(p for p in error.problems if not (is_open and p.place == "method"))
        problems.extend(found)
        raise one_error(problems) from None


def _settled(table: Any, asked: Mapping[str, Any], progress: Callable[[str], None]) -> Prepared:
    whole = None if asked.get("parts") is None else Whole.of(asked)
    if whole is None:
        return chosen(table, {n: value for n, value in asked.items() if n != "parts"}, progress)
    if len(whole.parts) == 1:
        return chosen(table, whole.alone(), progress)
    opened = _opened(table, whole)
    parts = []
    for number, (one, own) in enumerate(zip(whole.parts, whole.requests(), strict=True), 1):
        with in_part(number, one):
            parts.append(chosen(opened, own, progress))
    return _together(opened, whole, parts)


def _opened(table: Any, whole: Whole) -> Opened:
    """Open the table once, for all parts: the same records of a unit stay in each."""
    opened = open_for(
        table, whole.codes, whole.unit, whole.stated, outside=whole.outside, seed=whole.seed
    )
    check_columns(opened.table, (*whole.attributes, *whole.keep))
    for name in ("bounds", "categories", "resolution", "missing_codes"):
        given = whole.asked.get(name)
        check_columns(opened.table, tuple(given) if isinstance(given, Mapping) else ())
    check_types(opened.table, whole.types)
    for name in whole.keep:
        check_kept(opened.table, name)
    return opened


def _together(opened: Opened, whole: Whole, parts: list[Prepared]) -> Prepared:
    """Put the columns of all parts together, in the table's order."""
    table = opened.table
    attributes = {own.name: own for part in parts for own in part.attributes}
    released = {*whole.attributes, *whole.keep, parts[0].request.unit}
    return replace(
        parts[0],
        attributes=tuple(attributes[name] for name in table.names if name in attributes),
        left_out=tuple(name for name in table.names if name not in released),
        formulas=tuple(formulas_in(table, attributes.values(), whole.keep)),
        held=None,
        whole=whole,
        parts=tuple(parts),
    )
