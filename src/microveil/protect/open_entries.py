"""What is still to be filled in: dots in the place of what a person has to know."""

from collections.abc import Iterable, Mapping
from typing import Any

from microveil.errors import Problems, RequestError, gap
from microveil.schema import Ordered

__all__ = ["is_open", "to_fill_in", "without_dots"]

# What gaps are closed by; see `microveil.errors`.
_ARGUMENTS, _OF_ALL = ("bounds", "resolution", "categories"), ("epsilon", "k")


def is_open(value: Any) -> bool:
    """Tell whether a value is dots, or has some among its parts.

    >>> is_open((..., ...)), is_open("..."), is_open(["north", "..."]), is_open((0, 9))
    (True, True, True, False)
    """
    if isinstance(value, Ordered):
        value = value.values
    if isinstance(value, tuple | list):
        return any(map(is_open, value))
    return value is ... or (isinstance(value, str) and value == "...")


def to_fill_in(argument: str, name: str = "") -> RequestError:
    """Return the error about dots that were left as they are."""
    place = f"{argument} of '{name}'" if name else argument
    rule, remedy = "the dots stand for what you have to say", "fill them in, or leave it out"
    if argument in (*_ARGUMENTS, *_OF_ALL):
        return gap(argument, name, place, rule, remedy)
    return RequestError(place, rule, remedy)


def without_dots(asked: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """Leave out what arguments say in dots, and take down that it is to be filled in.

    >>> problems = Problems()
    >>> without_dots({"k": 3, "bounds": {"AGE": (..., ...), "TAX": (0, 9)}}, problems)
    {'k': 3, 'bounds': {'TAX': (0, 9)}}
    >>> print(problems[0])
    bounds of 'AGE': the dots stand for what you have to say; fill them in, or leave it out.
    """
    left = dict(asked)
    for argument in _OF_ALL:
        if is_open(asked.get(argument)):
            del left[argument]
            problems.append(to_fill_in(argument))
    for argument in _ARGUMENTS:
        given = asked.get(argument)
        if not isinstance(given, Mapping):
            continue
        open_: Iterable[Any] = [name for name, value in given.items() if is_open(value)]
        problems += [to_fill_in(argument, name) for name in open_]
        if open_:
            left[argument] = {name: v for name, v in given.items() if name not in open_}
    return left
