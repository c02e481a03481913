"""From what was given for an argument to its checked value: whatever is refused says so in words.

Each takes what was given and the argument's name. What these need of others is imported where it
is needed: the command line shows its flags without it.
"""

import contextlib
import math
import numbers
import os
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from microveil.errors import RequestError, gap

if TYPE_CHECKING:
    from fractions import Fraction

    from microveil.schema import GivenCode, Kind


# A resolution or width beyond this, or below one part of it, leaves no values between.
LARGEST_STEP = 10**18
# Far beyond any meaning, within what is computed without overflow.
LARGEST_EPSILON = 10**100
# Of a population's name.
LONGEST_NAME = 200
LARGEST_TABLE = 10**12
ENGINES = ("memory", "disk", "spark")
# What gaps are closed by; see `microveil.errors`.
OF_COLUMNS, OF_ALL = ("bounds", "resolution", "categories"), ("epsilon", "k")

Reader = Callable[[Any, str], Any]


def whole_number(
    rule: str, remedy: str, least: float = -math.inf, most: float = math.inf
) -> Reader:
    """Make what reads a whole number, of Python or numpy; yes and no are none."""

    def read(given: Any, name: str) -> int:
        is_whole = isinstance(given, numbers.Integral) and not isinstance(given, bool)
        if not is_whole or not least <= given <= most:
            raise RequestError(name, rule, remedy)
        return int(given)

    return read


cluster_size = whole_number("k must be a whole number of 1 or more", "pass for example k=10", 1)
max_rows = whole_number(
    "it is a whole number of 1 or more: how many records one unit may have",
    "pass for example max_rows=8",
    1,
    LARGEST_TABLE,
)
n_records = whole_number(
    f"it is a whole number of records, from 1 to {LARGEST_TABLE:,}",
    "pass for example n_records=1000",
    1,
    LARGEST_TABLE,
)
seed = whole_number("a seed is a whole number", "pass seed=1, for experiments only")


def method(given: Any, _name: str) -> str:
    """Read the id of a method."""
    from microveil.methods import METHODS

    if not isinstance(given, str) or given not in METHODS:
        raise RequestError(
            f"method '{given}'", "there is no such method", f"choose from {', '.join(METHODS)}"
        )
    return given


def epsilon(given: Any, name: str) -> "Fraction":
    """Read a budget as the exact decimal it is written as."""
    from microveil.guarantee import as_fraction

    remedy = "pass for example epsilon=1"
    read = as_fraction(given, name, "epsilon must be a finite number above 0", remedy)
    if read > LARGEST_EPSILON or read * LARGEST_EPSILON < 1:
        raise RequestError(name, "epsilon must be between 1e-100 and 1e100", remedy)
    return read


def delta(given: Any, name: str) -> "Fraction":
    """Read the chance left to events that epsilon does not bound: 0, or a number below 1."""
    from fractions import Fraction

    from microveil.guarantee import as_fraction, exact_number

    rule, remedy = "delta must be a number from 0 to below 1", "pass for example delta=1e-9"
    with contextlib.suppress(ValueError):
        if exact_number(given) == 0:  # as text too: on a command line it overrides a recipe's
            return Fraction(0)
    read = as_fraction(given, name, rule, remedy)
    if read >= 1 or read * LARGEST_EPSILON < 1:
        raise RequestError(name, f"{rule}, and not below 1e-100", remedy)
    return read


def width(given: Any, name: str) -> "Fraction":
    """Read a number above 0, on a scale that 64 bits can hold."""
    from microveil.guarantee import as_fraction

    rule = f"{name} must be a finite number above 0"
    number = as_fraction(given, name, rule, f"pass {name}=5")
    if number > LARGEST_STEP:
        raise RequestError(name, "no value would fit 64 bits", f"pass for example {name}=5")
    return number


def target(given: Any, name: str) -> tuple[str, Any]:
    """Read the attribute that a release is to predict well, and where a number is cut in two."""
    if isinstance(given, str):
        return given, None
    if isinstance(given, Mapping) and len(given) == 1:
        ((column, threshold),) = given.items()
        is_number = isinstance(threshold, numbers.Real) and not isinstance(threshold, bool)
        if isinstance(column, str) and (is_number or hasattr(threshold, "toordinal")):
            return column, threshold
    raise RequestError(
        name,
        "it is the name of a column, or one name with the number at which it is cut in two",
        "pass target='INCOME' or target={'INCOME': 50_000}",
    )


def yes_or_no(given: Any, name: str) -> bool:
    """Read True or False."""
    if not isinstance(given, bool):
        raise RequestError(name, "it is either True or False", f"pass {name}=True")
    return given


def column_name(given: Any, name: str) -> str:
    """Read the name of one column."""
    if not isinstance(given, str) or not given:
        raise RequestError(name, "it is the name of a column", f"pass {name}='HOUSEHOLD'")
    return given


def column_names(given: Any, name: str) -> tuple[str, ...]:
    """Read names of columns, each once; one name is a list of one."""
    read = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    for column in read:
        if not isinstance(column, str):
            raise RequestError(name, "columns are named by text", f'pass {name}=["AGE"]')
        if read.count(column) > 1:
            raise RequestError(f"column '{column}'", f"{name} names it twice", "name it once")
    return read


def by_column(given: Any, name: str) -> Mapping[str, Any]:
    """Read a mapping of column names to values."""
    if not isinstance(given, Mapping) or not all(isinstance(column, str) for column in given):
        remedy = f"pass {name}={{'AGE': ...}}"
        raise RequestError(name, "it maps column names to values", remedy)
    return dict(given)


def missing_codes(given: Any, _name: str) -> "Mapping[str, tuple[GivenCode, ...]]":
    """Read the codes that stand for missing values, by column; see `MissingCodes.of`."""
    from microveil.table import MissingCodes

    return MissingCodes.of(given, None).by_column


def missing_values(given: Any, _name: str) -> tuple[str, ...]:
    """Read the text that stands for missing values everywhere; see `MissingCodes.of`."""
    from microveil.table import MissingCodes

    return MissingCodes.of(None, given).of_text


def rules(given: Any, name: str) -> tuple[str, ...]:
    """Read rules between columns, each once; one is a list of one. What they say is read later."""
    read = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    if not all(isinstance(rule, str) and rule.strip() for rule in read):
        remedy = f'pass {name}=["TAX <= INCOME", "AGE < 16 implies WAGE == 0"]'
        raise RequestError(name, "each rule is text", remedy)
    return tuple(dict.fromkeys(rule.strip() for rule in read))


def never_missing(given: Any, name: str) -> Mapping[str, str]:
    """Read which columns never lack a value: names, or what `read` made of them."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(column_names(given, name), "never")
    if not all(isinstance(said, str) and said == "never" for said in given.values()):
        raise RequestError(
            "missing",
            "by column it says that a value is never missing",
            "pass missing={'WAGE': 'never'}, or one word for all columns: missing='protect'; both "
            "together are missing='protect', never_missing=['WAGE']",
        )
    return dict(given)


def column_kinds(given: Any, name: str) -> "Mapping[str, Kind]":
    """Read the types that columns must have."""
    from microveil.schema import COLUMN_KINDS, Kind

    kinds = by_column(given, name)
    for column, kind in kinds.items():
        if kind not in COLUMN_KINDS:
            rule = f"it must be one of {', '.join(COLUMN_KINDS)}"
            raise RequestError(f"type of '{column}'", rule, "correct it")
    return {column: Kind(kind) for column, kind in kinds.items()}


def blocks(given: Any, name: str) -> tuple[tuple[str, ...], ...]:
    """Read lists of columns, none of which stands in two."""
    remedy = 'pass blocks=[["A", "B"]]'
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise RequestError(name, "blocks are lists of columns", remedy)
    listed = list(given)
    if not listed or any(isinstance(block, str) or not block for block in listed):
        raise RequestError(name, "each block is a list of one column or more", remedy)
    read = tuple(column_names(block, name) for block in listed)
    members = [column for block in read for column in block]
    for column in members:
        if members.count(column) > 1:
            raise RequestError(f"column '{column}'", "it stands in two blocks", "name it once")
    return read


def shuffled(given: Any, name: str) -> str | None:
    """Read what is put in random order: True means rows."""
    if isinstance(given, bool):
        return "rows" if given else None
    if isinstance(given, str) and given in ("rows", "columns"):
        return given
    rule = "it must be True, False, 'rows' or 'columns'"
    raise RequestError(name, rule, "pass shuffle='columns'")


def memory(given: Any, _name: str) -> int:
    """Read how much memory may be taken."""
    from microveil.table.memory import bytes_of

    return bytes_of(given)


def path(what: str, remedy: str) -> Reader:
    """Make what reads a path."""

    def read(given: Any, name: str) -> str:
        if not isinstance(given, str | os.PathLike) or not os.fspath(given):
            raise RequestError(name, f"it is the path of a {what}", remedy)
        return str(os.fspath(given))

    return read


codebook = path("file", "pass codebook='codebook.csv'")
scratch = path("folder", "pass for example scratch='/data/scratch'")


def population(given: Any, place: str) -> str:
    """Read the name of a population."""
    # One name must not be two populations because an accent can be written in two ways.
    name = unicodedata.normalize("NFC", given) if isinstance(given, str) else ""
    if not (1 <= len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()):
        raise RequestError(
            place,
            f"it is a name of 1 to {LONGEST_NAME} printable characters, with no space at its ends",
            "pass for example population='households 2025'",
        )
    return name


def engine(given: Any, name: str) -> str:
    """Read who carries a request out; "disk" is what recipes of 0.2 may say."""
    if not isinstance(given, str) or given not in ENGINES:
        rule = f"it must be one of {', '.join(ENGINES)}"
        raise RequestError(name, rule, f"pass engine={ENGINES[0]!r}")
    return given


def is_open(value: Any) -> bool:
    """Tell whether a value is dots, or has some among its parts."""
    from microveil.schema import Ordered

    if isinstance(value, Ordered):
        value = value.values
    if isinstance(value, tuple | list):
        return any(map(is_open, value))
    return value is ... or (isinstance(value, str) and value == "...")


def to_fill_in(argument: str, name: str = "") -> RequestError:
    """Return the error about dots that were left as they are."""
    place = f"{argument} of '{name}'" if name else argument
    rule, remedy = "the dots stand for what you have to say", "fill them in, or leave it out"
    if argument in (*OF_COLUMNS, *OF_ALL):
        return gap(argument, name, place, rule, remedy)
    return RequestError(place, rule, remedy)
