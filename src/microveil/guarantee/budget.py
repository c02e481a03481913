"""The budget epsilon as an exact fraction, and its split over attributes."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from microveil.errors import RequestError

__all__ = ["as_fraction", "exact_number", "split"]


def as_fraction(value: Any, place: str, rule: str, remedy: str) -> Fraction:
    """Take a number above 0 as the exact decimal it is written as; else refuse in the words given.

    >>> as_fraction(0.1, "epsilon", "epsilon must be above 0", "pass epsilon=1")
    Fraction(1, 10)
    """
    try:
        number = value if isinstance(value, Fraction) else exact_number(value)
    except ValueError:
        raise RequestError(place, rule, remedy) from None
    if number <= 0:
        raise RequestError(place, rule, remedy)
    return number


def exact_number(value: Any) -> Fraction:
    """Take a number, or the text of one, as the exact decimal it is written as.

    >>> exact_number("1e-3"), exact_number(0.5)
    (Fraction(1, 1000), Fraction(1, 2))
    """
    text = str(value)
    # Names of infinities, underscores, fractions and exponents without end are refused.
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", text):
        raise ValueError
    return Fraction(text)


def split(
    epsilon: Fraction, names: Sequence[str], weights: Mapping[str, Any] | None = None
) -> dict[str, Fraction]:
    """Split epsilon over attributes in proportion to weights, 1 where not given: exact fractions.

    >>> split(Fraction(1), ["AGI", "FEDTAX"], {"AGI": 2})
    {'AGI': Fraction(2, 3), 'FEDTAX': Fraction(1, 3)}
    """
    weights = weights or {}
    for name in weights:
        if name not in names:
            place = f"budget of '{name}'"
            raise RequestError(place, "it is no protected attribute", "leave it out")
    each = {
        name: as_fraction(
            weights.get(name, 1),
            f"budget of '{name}'",
            "a weight must be a finite number above 0",
            "pass for example 2",
        )
        for name in names
    }
    total = sum(each.values())
    return {name: epsilon * weight / total for name, weight in each.items()}
