"""From a request and a column to the attribute that it is: its domain, grid and categories."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from microveil.errors import DataError, Problems, RequestError, gap
from microveil.methods import METHODS, Method
from microveil.protect.domains import interval_kind, read_bounds, read_categories, read_resolution
from microveil.protect.request import Request
from microveil.schema import (
    FINEST,
    YES_NO,
    Attribute,
    Bounds,
    Categories,
    Code,
    Kind,
    Ordered,
    Source,
)
from microveil.table import Table, code_for, numeric_look_of
from microveil.table.numeric_text import LEADING_ZEROS, N_LOOKED_AT, are_dates, numeric_look
from microveil.table.table import listed_categories, narrow_float, whole_limits

# The dates that there are names for: 0001-01-01 to 9999-12-31.
CALENDAR = Bounds(lower=Fraction(-719_162), upper=Fraction(2_932_896), source=Source.TYPE)
# Beyond this many grid units nothing of a domain fits 64 bits.
WIDEST = 1 << 61


def attribute_of(table: Table, name: str, request: Request) -> Attribute:
    """Make the attribute that a request declares of a column, or that its type says."""
    kind, is_untyped = table.kind(name), name in table.untyped and request.learns
    never_missing, reasons = name in request.never_missing, tuple[Code, ...]()
    if kind is Kind.OTHER and not is_untyped:
        _refuse_numeric_look(table, name, request)
    if is_untyped:
        attribute = _untyped(name, request)
    elif (categories := declared_categories(table, name, request)) is not None:
        attribute = Attribute(name=name, kind=categories.kind, domain=categories)
        if not attribute.kind.is_ranked and "categories" not in request.method.can:
            _refuse_in_no_order(table, name, request.method)
    elif kind.is_numeric:
        attribute = _of_numbers(name, kind, request)
    else:
        attribute = _of_text(table, name, request)
    _check_grid(attribute)
    # A whole number that may be missing is a float to numpy.
    are_floats = kind is Kind.DECIMAL or request.isotonic or request.missing != "error"
    if (are_floats or "new table" in request.method.can) and not attribute.fits_floats:
        raise RequestError(
            f"domain of '{name}'",
            "64-bit floats do not tell its values apart: whole numbers go to 2**53, and decimals "
            "have 15 digits at most, those behind the point included",
            "declare tighter bounds or a coarser resolution",
        )
    if attribute.bounds is not None:
        _check_type(table, attribute)
    if request.missing_codes or request.missing_values:
        reasons = _reasons(attribute, kind, request, never_missing=never_missing)
    of_unit = name in request.unit_attributes
    return replace(attribute, of_unit=of_unit, never_missing=never_missing, reasons=reasons)


def _of_numbers(name: str, kind: Kind, request: Request) -> Attribute:
    """Make the attribute of a column of numbers: decimals need a resolution."""
    problems, step, source, bounds = Problems(), Fraction(1), Source.TYPE, None
    with problems.noted():
        if name in request.resolution:
            step, source = read_resolution(name, kind, request.resolution[name])
        elif kind is Kind.DECIMAL and request.learns:
            step, source = FINEST, Source.LEARNT
        elif kind is Kind.DECIMAL:
            raise gap(
                "resolution",
                name,
                f"attribute '{name}'",
                "decimals need a declared resolution, the step to which values are rounded",
                f"add --resolution {name}=0.01 (resolution={{{name!r}: 0.01}}) for hundredths, "
                f"{name}=1 for whole numbers{_or_learn(request)}; to take the decimals seen in the "
                "data, which reveals them, ask for --resolution-from-data",
            )
    with problems.noted():
        bounds = _bounds_of(name, kind, request)
    problems.refuse()
    return Attribute(
        name=name,
        kind=kind,
        resolution=step,
        resolution_source=source,
        domain=bounds,
        is_learnt=bounds is None and request.learns,
    )


def _of_text(table: Table, name: str, request: Request) -> Attribute:
    """Make the attribute of text without a list of categories, which is learnt."""
    if request.learns:
        refuse_moments(table, name)
        return Attribute(name=name, kind=table.kind(name), is_learnt=True)
    if "categories" not in request.method.can:
        table.numbers(name)  # says why, in the words that fit
    raise gap(
        "categories",
        name,
        f"attribute '{name}'",
        f"{request.method.id} needs the list of categories that there are",
        f"add --categories {name}=North,South (categories={{{name!r}: ['North', 'South']}})"
        + _or_learn(request),
    )


def _untyped(name: str, request: Request) -> Attribute:
    """Make the attribute of a column whose kind is learnt: of one with bounds, a number's."""
    if request.missing != "protect" or name in request.never_missing:
        raise RequestError(
            f"attribute '{name}'",
            "what kind of values it holds is learnt, and cells of another kind count as missing",
            'state its type in a recipe, or pass missing="protect" and leave it out of '
            "never_missing",
        )
    bounds = _bounds_of(name, Kind.DECIMAL, request)
    attribute = Attribute(
        name=name,
        kind=Kind.OTHER,
        domain=bounds,
        is_learnt=bounds is None,
        kind_source=Source.LEARNT,
    )
    return attribute if bounds is None else attribute.of_kind(Kind.DECIMAL)


def _or_learn(request: Request) -> str:
    """Say how a domain would be learnt, of a request that could."""
    if "new table" not in request.method.can or request["domains"] != "learn":
        return ""
    return ", or allow a delta, and it is learnt: --delta 1e-9 (delta=1e-9)"


def _bounds_of(name: str, kind: Kind, request: Request) -> Bounds | None:
    """Return the bounds of a column of numbers, which some methods need declared."""
    if name in request.bounds:
        may_be_one = "new table" in request.method.can
        return read_bounds(name, kind, request.bounds[name], may_be_one=may_be_one)
    if kind is Kind.BOOLEAN:
        return YES_NO
    if request.learns:
        return None
    if "bounds" not in request.method.needs:
        return CALENDAR if kind is Kind.DATE else None
    example = f"--bounds {name}=0:100000 (bounds={{{name!r}: (0, 100_000)}})"
    if kind is Kind.DATE:
        pair = ("1900-01-01", "2020-12-31")
        example = f"--bounds {name}={pair[0]}:{pair[1]} (bounds={{{name!r}: {pair}}})"
    raise gap(
        "bounds",
        name,
        f"attribute '{name}'",
        f"{request.method.id} needs its bounds, the domain of its values as publicly known",
        f"add {example}{_or_learn(request)}; reading them from the data "
        "(--bounds-from-data 1.5) shows the largest value to everybody, and gives none where all "
        "values are 0",
    )


def _check_grid(attribute: Attribute) -> None:
    """Refuse bounds whose ends on the grid are no 64-bit numbers, or no days of the calendar."""
    if attribute.bounds is None:
        return
    place, ends = f"bounds of '{attribute.name}'", attribute.grid_bounds or ()
    if max(map(abs, ends)) > WIDEST:
        raise RequestError(
            place,
            "they would not fit 64 bits at this resolution",
            "declare tighter bounds or a coarser resolution",
        )
    if attribute.kind is not Kind.DATE or attribute.domain_source is not Source.DECLARED:
        return
    days = [end * attribute.resolution for end in ends]
    if not all(CALENDAR.lower <= day <= CALENDAR.upper for day in days):
        raise RequestError(
            place,
            "they are widened to whole steps of the resolution, here to before the year 1 or "
            "after 9999, where no dates are",
            "declare tighter bounds or a finer resolution",
        )


def _check_type(table: Table, attribute: Attribute) -> None:
    """Refuse bounds that the column's own type cannot hold: values would be cut off at its end."""
    name, step, ends = attribute.name, attribute.resolution, attribute.grid_bounds or (0, 0)
    limits, narrow = whole_limits(table, name), narrow_float(table, name)
    if limits is not None and not limits[0] <= ends[0] * step <= ends[1] * step <= limits[1]:
        raise RequestError(
            f"bounds of '{name}'",
            f"the column's type holds whole numbers from {limits[0]} to {limits[1]}, and the "
            "bounds go beyond",
            "convert the column to 64-bit whole numbers, or declare bounds within its type",
        )
    if narrow is None:
        return
    with np.errstate(over="ignore"):  # what the type cannot hold is infinite
        held = [float(narrow(float(end * step))) for end in ends]
    if not np.isfinite(held).all() or not (
        ends[0] <= round(Fraction(held[0]) / step) <= round(Fraction(held[1]) / step) <= ends[1]
    ):
        raise RequestError(
            f"bounds of '{name}'",
            f"the column holds {np.finfo(narrow).bits}-bit floats, and the nearest of them "
            "lies outside the bounds",
            "round the bounds to fewer digits, or convert the column to 64-bit floats",
        )


def _reasons(
    attribute: Attribute, kind: Kind, request: Request, *, never_missing: bool
) -> tuple[Code, ...]:
    """Hold the codes of a column against its domain; return them where reasons are kept apart."""
    name, place = attribute.name, f"missing codes of '{attribute.name}'"
    found = [code_for(code, name, kind) for code in request.missing_codes.get(name, ())]
    codes = tuple(dict.fromkeys(code for code in found if code is not None))
    listed = () if attribute.categories is None else attribute.written_domain or ()
    if {*codes, *request.missing_values} & {*listed}:
        raise RequestError(
            place,
            "a code is among its categories too, and would be both missing and a value",
            "take it out of one of the two",
        )
    if not codes or not (never_missing or request.missing_reasons):
        return ()
    is_inside = False
    if attribute.bounds is not None:  # widened to its grid
        lower, upper = attribute.grid_bounds or (0, 0)
        counted = [code / attribute.resolution for code in codes if not isinstance(code, str)]
        is_inside = any(lower <= code <= upper for code in counted)
    if never_missing and is_inside:
        raise RequestError(
            place,
            "a code lies inside the bounds, and the column is declared never to lack a value: a "
            "value of the release would be read as missing",
            f"declare bounds without it (--bounds {name}=...), or leave out the code",
        )
    if never_missing:
        return ()
    whole = attribute.kind is Kind.DECIMAL and attribute.resolution.denominator == 1
    if whole and not all(isinstance(code, int) for code in codes):
        raise RequestError(
            place, "at a whole resolution codes must be whole numbers", "leave out missing_reasons"
        )
    if attribute.domain is None or "bounds" in attribute.from_data or is_inside:
        raise RequestError(
            place,
            "codes that are written into the release must lie outside declared bounds: else a "
            "value of it could be taken for one",
            f"declare bounds without them (--bounds {name}=...), or leave out missing_reasons",
        )
    return codes


def _refuse_numeric_look(table: Table, name: str, request: Request) -> None:
    """Refuse text that looks like numbers, unless its categories are listed.

    Codes with leading zeros are text for a method that learns categories.
    """
    given: Any = request.bounds.get(name)
    if name in request.categories or listed_categories(table, name) or isinstance(given, Ordered):
        return
    is_interval = given is not None and interval_kind(given) is not None
    look, may_learn = numeric_look_of(table, name), "new table" in request.method.can
    if not is_interval and (look is None or (may_learn and LEADING_ZEROS in look)):
        return
    is_list = isinstance(given, list | tuple) and all(isinstance(word, str) for word in given)
    if is_list and not is_interval:
        if len(given) != 2 or (numeric_look(given) is None and not are_dates(given)):
            return
        is_interval = True
    # Two numbers or dates are an interval, but for text that holds just these.
    with suppress(DataError):
        if is_interval and {*map(str, given)} <= {*table.words(name, first=N_LOOKED_AT).tolist()}:
            return
    table.numbers(name)  # says what it holds, or looks like


def is_ordered(name: str, request: Request) -> bool:
    """Whether a request declares an order of the categories of a column."""
    return isinstance(request.categories.get(name, request.bounds.get(name)), Ordered)


def declared_categories(table: Table, name: str, request: Request) -> Categories | None:
    """Return the list of its values that an attribute has been declared, if one was."""
    kind, may_be_one = table.kind(name), "new table" in request.method.can
    if name in request.categories:
        return read_categories(name, kind, request.categories[name], may_be_one=may_be_one)
    given = request.bounds.get(name)
    if kind is not Kind.OTHER and not isinstance(given, Ordered):
        return None
    if given is not None:
        return read_categories(name, kind, given, "bounds", may_be_one=may_be_one)
    listed = listed_categories(table, name) or ()
    if len(listed) < (1 if may_be_one else 2):
        return None
    return Categories(values=listed, ordered=False, source=Source.TYPE)


def _refuse_in_no_order(table: Table, name: str, method: Method) -> NoReturn:
    refuse_moments(table, name)
    raise RequestError(
        f"attribute '{name}'",
        f"{method.id} ranks values or calculates with them, and its categories are in no order",
        f"choose {able_to_take_categories()}; or, if they have an order, declare it: --ordered "
        f"{name}=low,middle,high (categories={{{name!r}: ordered('low', 'middle', 'high')}})",
    )


def able_to_take_categories() -> str:
    """Name the methods that take categories in no order, those over records apart."""
    able = [method for method in METHODS.values() if "categories" in method.can]
    together = [method.id for method in able if method.uses("blocks")]
    others = [method.id for method in able if method.id not in together]
    return f"{', '.join(others)}, or over whole records {', '.join(together)}"


def refuse_moments(table: Table, name: str) -> None:
    """Refuse what is neither numbers nor text in the words that fit it, whatever was declared."""
    if table.kind(name) is Kind.OTHER:
        try:
            table.codes(name, ("",))
        except DataError:
            table.numbers(name)


def check_types(table: Table, types: Mapping[str, Kind]) -> None:
    """Refuse columns that do not hold what a recipe expects, all in one error."""
    problems = Problems()
    for name, kind in types.items():
        found = table.kind(name).value if name in table.names else "no such column"
        if found != kind.value:
            problems.append(
                DataError(
                    f"column '{name}'",
                    f"the recipe expects a {kind.value} column, the table has: {found}",
                    "mend the table or the recipe",
                )
            )
    problems.refuse()
