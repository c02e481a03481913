"""Budgets as exact fractions: their split, how they are shown, and what they allow in zCDP."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

from microveil.errors import RequestError

# Halvings of the interval that holds the best order. The budget's loss is quadratic in its length.
HALVINGS = 40
SIGNIFICANT_BITS = 64
# Halvings of the interval in which an epsilon is sought, a whole number of such parts.
STEPS, PARTS = 16, 10**12
# Floating-point numbers in these ranges are off by far less than this part of their terms.
WELL_WITHIN, DOUBT = 1e100, 1e-12


def as_fraction(value: Any, place: str, rule: str, remedy: str) -> Fraction:
    """Take a number above 0 as the exact decimal it is written as, or refuse it in these words."""
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


def added_up(epsilons: Iterable[Fraction | None]) -> Fraction | None:
    """Add up epsilons; None where one of them is."""
    found = [*epsilons]
    known = [epsilon for epsilon in found if epsilon is not None]
    return sum(known, Fraction(0)) if len(known) == len(found) else None


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


def exact_text(number: Fraction | None) -> str | None:
    """Write what floating point would round, as a fraction: 1/3."""
    return None if number is None else str(number)


def shown(number: Fraction | None) -> float | None:
    """Return what is shown of a number: a float that does not understate it."""
    return None if number is None else rounded_up(number)


def six_digits(number: Fraction) -> str:
    """Write six digits, rounded up: a promise must not be understated.

    >>> six_digits(Fraction(1, 3)), six_digits(Fraction(30))
    ('0.333334', '30')
    """
    with localcontext() as context:
        context.prec, context.rounding = 6, ROUND_CEILING
        return f"{float(+Decimal(repr(rounded_up(number)))):.6g}"


def rounded_up(number: Fraction) -> float:
    """Return the nearest float, or the next above it where it would understate the number.

    >>> rounded_up(Fraction(1, 10)), Fraction(rounded_up(Fraction(1, 3))) >= Fraction(1, 3)
    (0.1, True)
    """
    nearest = float(number)
    # 0.1 is meant by the float that is written so, though that lies a little off.
    if Fraction(nearest) < number and number != exact_number(repr(nearest)):
        return math.nextafter(nearest, math.inf)
    return nearest


def concentrated_budget(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho whose conversion is (epsilon, delta), rounded down.

    Whatever is rho-zCDP (Bun and Steinke 2016) is (epsilon, delta)-DP with, at any order
    alpha > 1 (Canonne, Kamath and Steinke 2020),

        delta = exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) * (1 - 1/alpha)**alpha.

    Solved for rho, with s = alpha - 1,

        rho = (epsilon + (ln(delta) + ln(1 + s) + s ln(1 + 1/s)) / s) / (1 + s),

    which rises in s to one maximum and falls, since ln(delta) above is convex in alpha. Every
    s gives a budget that holds, in arithmetic rounded against it: where the maximum is found
    bears on its size alone, by less than a part in 2**60.

    >>> round(float(concentrated_budget(Fraction(1), Fraction(1, 10**9))), 5)
    0.01497
    """
    if epsilon <= 0 or not 0 < delta < 1:
        raise ValueError("epsilon must be above 0, delta between 0 and 1")
    figures = (epsilon.numerator, epsilon.denominator, delta.denominator)
    # As many digits as tell these figures from 0 and from 1, and some more.
    digits = 50 + sum(len(str(figure)) for figure in figures)
    order = _best_order(epsilon, delta, digits)
    down = Context(prec=digits, rounding=ROUND_FLOOR)
    one = Decimal(1)
    terms = [
        _logarithm_below(down.divide(Decimal(delta.numerator), Decimal(delta.denominator)), down),
        _logarithm_below(down.add(one, order), down),
        down.multiply(order, _logarithm_below(down.add(one, down.divide(one, order)), down)),
    ]
    excess = Fraction(order)
    budget = (epsilon + sum(map(Fraction, terms)) / excess) / (1 + excess)
    shift = Fraction(2) ** (SIGNIFICANT_BITS - _magnitude(budget))
    return math.floor(budget * shift) / shift


def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon whose `concentrated_budget` with a delta is at least rho, nearly the least.

    Sought below rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke 2016), which always does: it is
    off by less than a part in 2**16 of that.

    >>> round(float(epsilon_of(Fraction(1, 100), Fraction(1, 10**9))), 3)
    0.81
    """
    most = float(rho) + 2 * math.sqrt(float(rho) * -math.log(delta))
    low, high = 0, math.ceil(most * (1 + 1e-9) * PARTS)
    for _ in range(STEPS):
        middle = (low + high) // 2
        if middle and concentrated_budget(Fraction(middle, PARTS), delta) >= rho:
            high = middle
        else:
            low = middle
    return Fraction(high, PARTS)


def root(value: Fraction, bits: int = SIGNIFICANT_BITS) -> Fraction:
    """Return the square root of a value of at least 0, rounded down to so many significant bits.

    >>> root(Fraction(1, 4)), float(root(Fraction(2))), root(Fraction(2)) ** 2 < 2
    (Fraction(1, 2), 1.4142135623730951, True)
    """
    places = bits - _magnitude(value) // 2
    return math.isqrt(math.floor(value * Fraction(4) ** places)) / Fraction(2) ** places


def _magnitude(value: Fraction) -> int:
    """Return an m with value >= 2**m, and below 2**(m + 2), of a value above 0."""
    return value.numerator.bit_length() - value.denominator.bit_length() - 1


def _logarithm_below(value: Decimal, context: Context) -> Decimal:
    # `decimal` rounds logarithms correctly to the nearest: the number before is below.
    return context.next_minus(context.ln(value))


def _best_order(epsilon: Fraction, delta: Fraction, digits: int) -> Decimal:
    """Return nearly the s at which the budget is largest, by the sign of its derivative."""
    with localcontext(Context(prec=digits)):
        logarithm = -(Decimal(delta.numerator) / Decimal(delta.denominator)).ln()
        target = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        roughly = float(logarithm), float(target)

        def falls(order: Decimal) -> bool:
            clearly = _clearly_falls(float(order), *roughly)
            if clearly is not None:
                return clearly
            rise = (1 + 2 * order) * (logarithm - (1 + order).ln())
            return rise < order**2 * (target + (1 + 1 / order).ln())

        low = Decimal(1)
        while falls(low):
            low /= 2
        while not falls(2 * low):
            low *= 2
        high = 2 * low
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if falls(middle) else (middle, high)
        return low


def _clearly_falls(order: float, logarithm: float, target: float) -> bool | None:
    """Decide the sign of the derivative in floating point; None where that is too near to 0."""
    if not all(1 / WELL_WITHIN < figure < WELL_WITHIN for figure in (order, logarithm, target)):
        return None
    rise = (1 + 2 * order) * (logarithm - math.log1p(order))
    fall = order**2 * (target + math.log1p(1 / order))
    doubt = DOUBT * ((1 + 2 * order) * (logarithm + math.log1p(order)) + fall)
    return rise < fall if abs(rise - fall) > doubt else None
