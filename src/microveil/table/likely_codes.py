"""Values of a column that look like codes for missing values: for a person to confirm."""

from dataclasses import dataclass

import numpy as np

from microveil.errors import DataError
from microveil.schema import Cells
from microveil.table.protocol import Table

__all__ = ["MissingSeen", "missing_seen"]

# As questionnaires have them: -9, and as many nines, eights or sevens as fill a field, or such a
# number less one or two: 99999998.
NEGATIVE = tuple(-int(digit * n) for n in (1, 2, 3, 4) for digit in "123456789") + tuple(
    -(10**n - less) for n in (2, 3, 4) for less in (2, 3)
)
POSITIVE = tuple(int(digit * n) for n in range(2, 10) for digit in "789") + tuple(
    10**n - less for n in range(2, 10) for less in (2, 3)
)
# So many times larger than any other value: 99 among ages is one.
FAR = 2
WORDS = frozenset(
    {
        "na", "n/a", "#n/a", "n.a.", "<na>", "nan", "null", "none", "nil", "missing", ".", "..",
        "?", "-", "--", "*", "refused", "refusal", "no answer", "not answered", "don't know",
        "does not know", "do not know", "unknown", "not known", "does not apply", "not applicable",
        "inapplicable", "not stated", "keine angabe", "k. a.", "weiß nicht", "trifft nicht zu",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingSeen:
    """What can be seen of missing values in a column.

    Attributes
    ----------
    n_missing : int
        Cells without a value.
    likely_codes : tuple of int or str
        Values that look like codes for missing ones, numbers in ascending order.
    """

    n_missing: int
    likely_codes: tuple[int | str, ...]


def missing_seen(table: Table, name: str) -> MissingSeen | None:
    """Look for missing values in a column, and for what may stand for them.

    A number is a code by its looks, -9 or 9999, if it is negative where no other value is, or
    more than twice as large as every other one. Text is one that says so: "refused", "NA".

    Returns
    -------
    MissingSeen or None
        None of a column that holds neither numbers nor text.

    Examples
    --------
    >>> from microveil.table.frames import open_table
    >>> hours = np.array([38.0, -9.0, 40.0, np.nan, 20.0])
    >>> missing_seen(open_table({"HOURS": hours}), "HOURS")
    MissingSeen(n_missing=1, likely_codes=(-9,))
    """
    if table.kind(name).is_numeric:
        numbers = table.numbers(name)
        missing, values = numbers.missing, numbers.values
        found: tuple[int | str, ...] = _numbers(values if missing is None else values[~missing])
    else:
        try:
            missing, words = table.codes(name, ()).missing, table.words(name)
        except DataError:
            return None
        seen = np.unique(words).tolist()
        found = tuple(word for word in seen if word.strip().casefold() in WORDS)
    return MissingSeen(n_missing=0 if missing is None else int(missing.sum()), likely_codes=found)


def _numbers(values: Cells) -> tuple[int, ...]:
    typical = np.isin(values, (*NEGATIVE, *POSITIVE))
    rest = values[~typical & np.isfinite(values)]
    if not len(rest):
        return ()
    lowest, highest = rest.min(), rest.max()
    codes = (int(value) for value in np.unique(values[typical]))
    return tuple(
        code for code in codes if (lowest >= 0 if code < 0 else code > FAR * max(highest, 1))
    )
