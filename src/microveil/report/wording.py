"""Numbers and names as the page shows them."""

import datetime
import math
from decimal import ROUND_CEILING, Decimal, localcontext

from microveil.schema import EPOCH, Kind

NOTHING = "–"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
LARGEST_WRITTEN_OUT = 1e7
SMALLEST_WRITTEN_OUT = 1e-4


def number(value: float | None, digits: int = 4) -> str:
    """Write a figure with so many significant digits."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "0"
    size = abs(value)
    if size >= LARGEST_WRITTEN_OUT or size < SMALLEST_WRITTEN_OUT:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        if "." in mantissa:
            mantissa = mantissa.rstrip("0").rstrip(".")
        return _signed(f"{mantissa}×10{str(int(exponent)).translate(SUPERSCRIPTS)}")
    decimals = digits - 1 - math.floor(math.log10(size))
    rounded = round(value, decimals)
    text = f"{rounded:,.{max(decimals, 0)}f}"
    return _signed(text.rstrip("0").rstrip(".") if "." in text else text)


def rounded_up(value: float | None) -> str:
    """Write an epsilon or a loss with six digits, never less than it is."""
    if value is None or not math.isfinite(value):
        return NOTHING
    with localcontext() as context:
        context.prec, context.rounding = 6, ROUND_CEILING
        return number(float(+Decimal(repr(value))), 6)


def percent(share: float | None) -> str:
    """Write a share between 0 and 1 in percent, with one decimal or three digits."""
    return number(None if share is None else 100 * share, digits=3)


def shown(value: float | None, kind: Kind) -> str:
    """Write a value of an attribute."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if kind is Kind.BOOLEAN and value in {0, 1}:
        return "yes" if value else "no"
    if kind is Kind.DATE:
        return _date(value)
    if value == round(value) and abs(value) < 1e15:
        return _signed(f"{round(value):,}")
    return number(value, digits=7)


def plural(count: int, noun: str) -> str:
    """Write a count and its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _date(days: float) -> str:
    try:
        return (EPOCH + datetime.timedelta(days=round(days))).isoformat()
    except OverflowError:  # beyond the year 9999
        return f"day {round(days):,}"


def _signed(text: str) -> str:
    """Use the minus sign, which is as wide as a digit and read aloud as one."""
    return text.replace("-", "\u2212")
