"""From what was given for an argument to its checked value.

What these need of others is imported where it is needed: the command line shows its flags
without it.
"""

import contextlib
import numbers
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from microveil.errors import RequestError

if TYPE_CHECKING:
    from fractions import Fraction

    from microveil.schema import GivenCode, Kind

__all__ = [
    "LARGEST_STEP",
    "above_0",
    "blocks",
    "by_column",
    "cluster_size",
    "column_kinds",
    "column_name",
    "column_names",
    "delta",
    "epsilon",
    "max_rows",
    "memory",
    "missing_codes",
    "missing_values",
    "never_missing",
    "population",
    "record_count",
    "scratch",
    "seed",
    "shuffled",
    "target",
    "whole_number",
    "yes_or_no",
]

# A resolution or width beyond this, or below one part of it, leaves no values between.
LARGEST_STEP = 10**18
# Far beyond any meaning, within what is computed without overflow.
LARGEST_EPSILON = 10**100
# Of a population's name.
LONGEST_NAME = 200
LARGEST_TABLE = 10**12


def epsilon(given: Any) -> "Fraction":
    """Read a budget as the exact decimal it is written as.

    >>> epsilon(0.1)
    Fraction(1, 10)
    """
    from microveil.guarantee import as_fraction

    remedy = "pass for example epsilon=1"
    read = as_fraction(given, "epsilon", "epsilon must be a finite number above 0", remedy)
    if read > LARGEST_EPSILON or read * LARGEST_EPSILON < 1:
        raise RequestError("epsilon", "epsilon must be between 1e-100 and 1e100", remedy)
    return read


def above_0(place: str) -> "Callable[[Any], Fraction]":
    """Make what reads a number above 0, on a scale that 64 bits can hold.

    >>> above_0("width")("2.5")
    Fraction(5, 2)
    """

    def read(given: Any) -> "Fraction":
        from microveil.guarantee import as_fraction

        rule = f"{place} must be a finite number above 0"
        number = as_fraction(given, place, rule, f"pass {place}=5")
        if number > LARGEST_STEP:
            raise RequestError(place, "no value would fit 64 bits", f"pass for example {place}=5")
        return number

    return read


def whole_number(given: Any) -> bool:
    """Whether a value is a whole number, of Python or numpy; yes and no are none."""
    return isinstance(given, numbers.Integral) and not isinstance(given, bool)


def cluster_size(given: Any) -> int:
    """Read k: a whole number of 1 or more."""
    if not whole_number(given) or given < 1:
        raise RequestError("k", "k must be a whole number of 1 or more", "pass for example k=10")
    return int(given)


def delta(given: Any) -> "Fraction":
    """Read the chance left to events that epsilon does not bound: 0, or a number below 1.

    >>> delta("0"), delta("1e-9")
    (Fraction(0, 1), Fraction(1, 1000000000))
    """
    from fractions import Fraction

    from microveil.guarantee import as_fraction, exact_number

    rule, remedy = "delta must be a number from 0 to below 1", "pass for example delta=1e-9"
    with contextlib.suppress(ValueError):
        if exact_number(given) == 0:  # as text too: on a command line it overrides a recipe's
            return Fraction(0)
    read = as_fraction(given, "delta", rule, remedy)
    if read >= 1 or read * LARGEST_EPSILON < 1:
        raise RequestError("delta", f"{rule}, and not below 1e-100", remedy)
    return read


def record_count(given: Any) -> int:
    """Read how many records to draw."""
    if not whole_number(given) or not 1 <= given <= LARGEST_TABLE:
        raise RequestError(
            "n_records",
            f"it is a whole number of records, from 1 to {LARGEST_TABLE:,}",
            "pass for example n_records=1000",
        )
    return int(given)


def max_rows(given: Any) -> int:
    """Read how many records a unit may have."""
    if not whole_number(given) or not 1 <= given <= LARGEST_TABLE:
        raise RequestError(
            "max_rows",
            "it is a whole number of 1 or more: how many records one unit may have",
            "pass for example max_rows=8",
        )
    return int(given)


def target(given: Any) -> tuple[str, Any]:
    """Read the attribute that a release is to predict well, and where a number is cut in two.

    >>> target("INCOME"), target({"INCOME": 50_000})
    (('INCOME', None), ('INCOME', 50000))
    """
    if isinstance(given, str):
        return given, None
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, threshold),) = given.items()
        is_number = isinstance(threshold, numbers.Real) and not isinstance(threshold, bool)
        if isinstance(name, str) and (is_number or hasattr(threshold, "toordinal")):
            return name, threshold
    raise RequestError(
        "target",
        "it is the name of a column, or one name with the number at which it is cut in two",
        "pass target='INCOME' or target={'INCOME': 50_000}",
    )


def seed(given: Any) -> int:
    """Read a seed."""
    if not whole_number(given):
        raise RequestError("seed", "a seed is a whole number", "pass seed=1, for experiments only")
    return int(given)


def yes_or_no(place: str) -> Callable[[Any], bool]:
    """Make what reads True or False."""

    def read(given: Any) -> bool:
        if not isinstance(given, bool):
            raise RequestError(place, "it is either True or False", f"pass {place}=True")
        return given

    return read


def column_name(place: str) -> Callable[[Any], str]:
    """Make what reads the name of one column.

    >>> column_name("unit")("HOUSEHOLD")
    'HOUSEHOLD'
    """

    def read(given: Any) -> str:
        if not isinstance(given, str) or not given:
            raise RequestError(place, "it is the name of a column", f"pass {place}='HOUSEHOLD'")
        return given

    return read


def column_names(place: str) -> Callable[[Any], tuple[str, ...]]:
    """Make what reads names of columns, each once.

    >>> column_names("keep")("AGE")
    ('AGE',)
    """

    def read(given: Any) -> tuple[str, ...]:
        named_by_text = RequestError(place, "columns are named by text", f'pass {place}=["AGE"]')
        if not isinstance(given, Iterable):
            raise named_by_text
        names = (given,) if isinstance(given, str) else tuple(given)
        for name in names:
            if not isinstance(name, str):
                raise named_by_text
            if names.count(name) > 1:
                raise RequestError(f"column '{name}'", f"{place} names it twice", "name it once")
        return names

    return read


def by_column(place: str) -> Callable[[Any], Mapping[str, Any]]:
    """Make what reads a mapping of column names to values."""

    def read(given: Any) -> Mapping[str, Any]:
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            remedy = f"pass {place}={{'AGE': ...}}"
            raise RequestError(place, "it maps column names to values", remedy)
        return dict(given)

    return read


def missing_codes(given: Any) -> "Mapping[str, tuple[GivenCode, ...]]":
    """Read the codes that stand for missing values, by column; see `MissingCodes.of`."""
    from microveil.table import MissingCodes

    return MissingCodes.of(given, None).by_column


def missing_values(given: Any) -> tuple[str, ...]:
    """Read the text that stands for missing values everywhere; see `MissingCodes.of`."""
    from microveil.table import MissingCodes

    return MissingCodes.of(None, given).of_text


def never_missing(given: Any) -> "Mapping[str, str]":
    """Read which columns never lack a value.

    >>> never_missing(["WAGE"])
    {'WAGE': 'never'}
    """
    if not isinstance(given, Mapping):
        return dict.fromkeys(column_names("never_missing")(given), "never")
    if not all(isinstance(name, str) and said == "never" for name, said in given.items()):
        raise RequestError(
            "missing",
            "by column it says that a value is never missing",
            "pass missing={'WAGE': 'never'}, or one word for all columns: missing='protect'; both "
            "together are missing='protect', never_missing=['WAGE']",
        )
    return dict(given)


def column_kinds(given: Any) -> "Mapping[str, Kind]":
    """Read the types that columns must have."""
    from microveil.schema import COLUMN_KINDS, Kind

    kinds = by_column("types")(given)
    for name, kind in kinds.items():
        if kind not in COLUMN_KINDS:
            rule = f"it must be one of {', '.join(COLUMN_KINDS)}"
            raise RequestError(f"type of '{name}'", rule, "correct it")
    return {name: Kind(kind) for name, kind in kinds.items()}


def blocks(given: Any) -> tuple[tuple[str, ...], ...]:
    """Read lists of columns, none of which stands in two.

    >>> blocks([["AGE"], ["TAX", "INCOME"]])
    (('AGE',), ('TAX', 'INCOME'))
    """
    remedy = 'pass blocks=[["A", "B"]]'
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise RequestError("blocks", "blocks are lists of columns", remedy)
    listed = list(given)
    if not listed or any(isinstance(block, str) or not block for block in listed):
        raise RequestError("blocks", "each block is a list of one column or more", remedy)
    read = tuple(column_names("blocks")(block) for block in listed)
    members = [name for block in read for name in block]
    for name in members:
        if members.count(name) > 1:
            raise RequestError(f"column '{name}'", "it stands in two blocks", "name it once")
    return read


def shuffled(given: Any) -> str | None:
    """Read what is put in random order: True means rows."""
    if isinstance(given, bool):
        return "rows" if given else None
    if isinstance(given, str) and given in ("rows", "columns"):
        return given
    raise RequestError(
        "shuffle", "it must be True, False, 'rows' or 'columns'", "pass shuffle='columns'"
    )


def memory(given: Any) -> int:
    """Read how much memory may be taken."""
    from microveil.table.memory import bytes_of

    return bytes_of(given)


def scratch(given: Any) -> str:
    """Read the folder for scratch files."""
    if not isinstance(given, str | os.PathLike) or not os.fspath(given):
        raise RequestError(
            "scratch", "it is the path of a folder", "pass for example scratch='/data/scratch'"
        )
    return str(os.fspath(given))


def population(given: Any) -> str:
    """Read the name of a population."""
    import unicodedata

    # One name must not be two populations because an accent can be written in two ways.
    name = unicodedata.normalize("NFC", given) if isinstance(given, str) else ""
    if not (1 <= len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()):
        raise RequestError(
            "population",
            f"it is a name of 1 to {LONGEST_NAME} printable characters, with no space at its ends",
            "pass for example population='households 2025'",
        )
    return name
