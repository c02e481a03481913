"""What a user gave as an attribute's domain and step, checked for the kind of its column."""

import datetime
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np

from microveil.errors import RequestError
from microveil.guarantee import as_fraction, exact_number
from microveil.protect.arguments import TRUTH
from microveil.protect.reading import LARGEST_STEP
from microveil.schema import EPOCH, Bounds, Categories, Kind, Ordered, Source
from microveil.table import BoundsFromData, CategoriesFromData, ResolutionFromData


def read_bounds(name: str, kind: Kind, given: Any, *, may_be_one: bool = False) -> Bounds:
    """Make bounds of what a user gave: numbers, or dates (or ISO text) for a date."""
    place = f"bounds of '{name}'"
    remedy = "('1900-01-01', '2020-12-31')" if kind is Kind.DATE else "(0, 100)"
    try:
        lower, upper = (_number(part, kind) for part in given)
    except (TypeError, ValueError):
        wanted = "dates" if kind is Kind.DATE else "finite numbers"
        raise RequestError(place, f"bounds are two {wanted}", f"pass {remedy}") from None
    if lower > upper or (lower == upper and not may_be_one):
        raise RequestError(place, "the lower bound must be below the upper", f"pass {remedy}")
    source = Source.DATA if isinstance(given, BoundsFromData) else Source.DECLARED
    return Bounds(lower=lower, upper=upper, source=source)


def read_categories(
    name: str, kind: Kind, given: Any, argument: str = "categories", *, may_be_one: bool = False
) -> Categories:
    """Make categories of the list that a user gave: of whole numbers or yes/no as text too.

    ``argument`` says which one it came by.
    """
    place = f"{argument} of '{name}'"
    remedy = "pass every category that there is, for example ['North', 'South']"
    if kind is Kind.DATE:
        raise RequestError(place, "a date has bounds and no categories", "declare its bounds")
    listed = given.values if isinstance(given, Ordered) else given
    rule = f"the categories of a column are a list, of {_LISTED[kind]}"
    if argument == "bounds":
        rule = "the bounds of a text column are its categories"
    if not isinstance(listed, Iterable) or isinstance(listed, str | Mapping):
        raise RequestError(place, rule, remedy)
    found = [_category(value, kind) for value in listed]
    values = tuple(value for value in found if value is not None)
    if len(values) < len(found):
        raise RequestError(place, rule, remedy)
    if len(values) < (1 if may_be_one else 2) or len(set(values)) < len(values):
        raise RequestError(place, "there must be two categories or more, all different", remedy)
    source = Source.DATA if isinstance(given, CategoriesFromData) else Source.DECLARED
    return Categories(values=values, ordered=isinstance(given, Ordered), source=source)


def interval_kind(given: Any) -> Kind | None:
    """Tell whether bounds are two numbers or two dates; None where they are neither."""
    if not isinstance(given, list | tuple | BoundsFromData) or len(given) != 2:
        return None
    for kind in (Kind.WHOLE, Kind.DATE):
        with suppress(TypeError, ValueError):
            for part in given:
                _number(part, kind)
            return kind
    return None


def stated_kinds(
    types: Mapping[str, Kind],
    bounds: Mapping[str, Any],
    categories: Mapping[str, Any],
    resolution: Mapping[str, Any],
) -> dict[str, Kind]:
    """Say what columns hold by what is declared of them: the type of one without any value."""
    found: dict[str, Kind] = {}
    for name, given in categories.items():
        listed = given.values if isinstance(given, Ordered) else given
        are = {type(value) for value in listed} if isinstance(listed, Iterable) else set()
        found[name] = Kind.BOOLEAN if are == {bool} else Kind.WHOLE if are == {int} else Kind.OTHER
    for name, given in bounds.items():
        kind = interval_kind(given) or Kind.OTHER
        # As in a file of text: a step, whole or not, says that there may be decimals.
        found[name] = Kind.DECIMAL if kind is Kind.WHOLE and name in resolution else kind
    return found | dict(types)


_LISTED = {
    Kind.OTHER: "text",
    Kind.WHOLE: "whole numbers",
    # A whole number that may be missing is a float to some libraries.
    Kind.DECIMAL: "whole numbers",
    Kind.BOOLEAN: "true and false",
}


def _category(value: Any, kind: Kind) -> str | int | None:
    """Read one category of a column of a kind; None where it is none."""
    if kind is Kind.OTHER:
        return str(value) if isinstance(value, str) else None
    if kind is Kind.BOOLEAN:
        value = TRUTH.get(value.lower()) if isinstance(value, str) else value
        return bool(value) if isinstance(value, bool | np.bool_) else None
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,19}", value):
        value = int(value)
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return int(value) if is_whole and -(1 << 63) <= value < 1 << 63 else None


def read_resolution(name: str, kind: Kind, given: Any) -> tuple[Fraction, Source]:
    """Make a resolution of what a user gave: a number above 0, whole but for decimals."""
    place = f"resolution of '{name}'"
    step = as_fraction(given, place, "it must be a finite number above 0", "pass for example 0.01")
    if not Fraction(1, LARGEST_STEP) <= step <= LARGEST_STEP:
        raise RequestError(place, "no value would fit 64 bits at it", "pass for example 0.01")
    if kind is not Kind.DECIMAL and step.denominator != 1:
        raise RequestError(place, f"the column holds {kind.value}s", "pass a whole number")
    source = Source.DATA if isinstance(given, ResolutionFromData) else Source.DECLARED
    return step, source


def _number(value: Any, kind: Kind) -> Fraction:
    if kind is Kind.DATE:
        if isinstance(value, str):
            value = datetime.date.fromisoformat(value)
        if isinstance(value, datetime.datetime):
            value = value.date()
        if not isinstance(value, datetime.date):
            raise TypeError
        return Fraction((value - EPOCH).days)
    return value if isinstance(value, Fraction) else exact_number(value)
