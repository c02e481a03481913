"""What is asked of a release, checked before the table is touched."""

import datetime
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any, Literal, TypedDict

import numpy as np

from microveil.errors import RequestError
from microveil.methods import METHODS, Method
from microveil.privacy import as_fraction, exact_number
from microveil.schema import COLUMN_KINDS, EPOCH, Bounds, Categories, Kind, Ordered, Source
from microveil.table import BoundsFromData, CategoriesFromData, ResolutionFromData

__all__ = ["Advised", "Arguments", "Request", "read_bounds", "read_categories", "read_resolution"]

PARTITIONS = ("ranking", "optimal", "noise-aware", "mdav", "mdav-insensitive", "v-mdav")
CHOICES: dict[str, tuple[str, ...]] = {
    "outside": ("error", "clamp"),
    "missing": ("error", "keep"),
    "exact_cells": ("refuse", "allow", "widen"),
    "partition": PARTITIONS,
    "composition": ("parallel", "sequential"),
    "sensitivity": ("global", "local", "cluster-local", "vector"),
    "every": ("group", "average"),
    "scope": ("cluster", "vector", "row"),
    "noise": ("uniform", "laplace", "gaussian", "triangular", "draw", "permutation"),
}
# Steps that only some methods have: accepted by all, so that one recipe serves every method.
STEPS = (
    "partition",
    "composition",
    "sensitivity",
    "blocks",
    "width",
    "every",
    "noise",
    "matrix",
)


# A resolution beyond this, or below one part of it, leaves no values between.
LARGEST_STEP = 10**18
# Far beyond any meaning, within what is computed without overflow.
LARGEST_EPSILON = Fraction(10**100)
# Of a population's name.
LONGEST_NAME = 200


class Advised(StrEnum):
    """On what grounds k or the method was chosen."""

    DATA = "data"  # the expected error on this table
    PUBLIC = "public"  # public figures alone


class Arguments(TypedDict, total=False):
    """The arguments of `protect` and `plan`, beside the table; see `protect`."""

    method: str
    k: int | Literal["auto"] | None
    epsilon: float | Fraction | None
    attributes: Iterable[str] | None
    keep: Iterable[str]
    bounds: Mapping[str, tuple[Any, Any]] | None
    categories: Mapping[str, Any] | None
    resolution: Mapping[str, Any] | None
    outside: Literal["error", "clamp"]
    partition: str | None
    composition: str | None
    sensitivity: str | None
    blocks: Any
    width: float | None
    every: str | None
    noise: str | None
    matrix: Any
    exact_cells: Literal["refuse", "allow", "widen"]
    budget: Mapping[str, float] | None
    isotonic: bool
    missing: Literal["error", "keep"]
    shuffle: bool | Literal["rows", "columns"]
    seed: int | None
    types: Mapping[str, str]
    scope: str | None
    population: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A checked request: what does not need the table to be judged is in order.

    Attributes are the arguments of `protect`; ``epsilon`` is an exact fraction, and
    ``advised`` says on what grounds parameters left to advice were chosen.
    """

    method: Method
    epsilon: Fraction | None
    k: int = 1
    attributes: tuple[str, ...] | None = None
    keep: tuple[str, ...] = ()
    bounds: Mapping[str, tuple[Any, Any]]
    categories: Mapping[str, Any]
    resolution: Mapping[str, Any]
    outside: str = "error"
    exact_cells: str = "refuse"
    budget: Mapping[str, Any]
    types: Mapping[str, Kind]
    isotonic: bool = False
    missing: str = "error"
    shuffle: str | None = None
    seed: int | None = None
    partition: str | None = None
    composition: str | None = None
    sensitivity: str | None = None
    every: str | None = None
    noise: str | None = None
    blocks: tuple[tuple[str, ...], ...] | None = None
    width: Fraction | None = None
    matrix: Mapping[str, Any]
    unused: tuple[str, ...] = ()
    scope: str | None = None
    population: str | None = None
    advised: Advised | None = None

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> "Request":
        """Check arguments and make a request of them.

        Raises
        ------
        RequestError
            On an argument that is missing, unknown, of the wrong kind or out of range.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        for name in given:
            if name not in Arguments.__annotations__:
                raise RequestError(
                    f"argument '{name}'", "there is no such argument", "see help(microveil.protect)"
                )
        for name, choices in CHOICES.items():
            if name in given and (not isinstance(given[name], str) or given[name] not in choices):
                raise RequestError(
                    name, f"it must be one of {', '.join(choices)}", f"pass {name}={choices[0]!r}"
                )
        method = _method(given.get("method"))
        # An interval's width makes k idle.
        needs_k = method.needs_k and not ("width" in method.offers and "width" in given)
        request = cls(
            method=method,
            epsilon=_epsilon(given.get("epsilon"), method),
            k=_k(given.get("k"), method) if needs_k else 1,
            attributes=_names(given["attributes"], "attributes") if "attributes" in given else None,
            keep=_names(given.get("keep", ()), "keep"),
            bounds=_mapping(given.get("bounds", {}), "bounds"),
            categories=_mapping(given.get("categories", {}), "categories"),
            resolution=_mapping(given.get("resolution", {}), "resolution"),
            outside=given.get("outside", "error"),
            exact_cells=given.get("exact_cells", "refuse"),
            budget=_mapping(given.get("budget", {}), "budget"),
            types=_types(given.get("types", {})),
            isotonic=_flag(given.get("isotonic", False), "isotonic"),
            missing=given.get("missing", "error"),
            shuffle=_shuffle(given.get("shuffle", False)),
            seed=_seed(given.get("seed")),
            partition=_step("partition", given, method),
            composition=_step("composition", given, method),
            sensitivity=_step("sensitivity", given, method),
            every=_step("every", given, method),
            noise=_step("noise", given, method),
            blocks=_blocks(given["blocks"]) if "blocks" in given else None,
            width=_width(given["width"]) if "width" in given else None,
            matrix=_mapping(given.get("matrix", {}), "matrix"),
            unused=_unused(given, method, needs_k=needs_k),
            scope=given.get("scope"),
            population=_population(given.get("population")),
        )
        request._check_together()
        request._check_shuffle()
        return request

    def _check_together(self) -> None:
        if self.isotonic and not self.method.orders_clusters:
            raise RequestError(
                "isotonic",
                f"{self.method.id} has no noisy clusters in ascending order to put in order",
                "leave it out, or choose a method that clusters by rank and draws noise",
            )
        both = sorted(set(self.attributes or ()) & set(self.keep))
        if both:
            raise RequestError(
                f"column '{both[0]}'", "it is both to be protected and to be kept", "name it once"
            )
        if twice := sorted(set(self.bounds) & set(self.categories)):
            raise RequestError(
                f"domain of '{twice[0]}'",
                "bounds and categories are both given, and an attribute has one domain",
                "leave one of them out",
            )

    def _check_shuffle(self) -> None:
        if self.shuffle == "columns" and self.keep:
            raise RequestError(
                "shuffle",
                "columns that are kept would stand beside values of other people once each "
                "attribute is shuffled by itself",
                "leave out keep, or shuffle the rows",
            )

    @property
    def steps(self) -> dict[str, str]:
        """The partition, composition and sensitivity chosen, of those the method has."""
        given = {
            name: getattr(self, name)
            for name in ("partition", "composition", "sensitivity")
            if name not in self.unused
        }
        return {name: value for name, value in given.items() if value is not None}

    def parameters(self) -> dict[str, Any]:
        """Return the request as plain values, for the manifest."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["method"] = self.method.id
        for name in ("epsilon", "width"):
            values[name] = None if values[name] is None else str(values[name])
        values["matrix"] = {key: _plain(value) for key, value in self.matrix.items()}
        for name in ("bounds", "categories", "resolution", "budget", "types"):
            values[name] = {key: _plain(value) for key, value in values[name].items()}
        del values["unused"]
        return {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Ordered):
        return {"ordered": _plain(value.values)}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value if isinstance(value, int | float) else str(value)


def _unused(given: Mapping[str, Any], method: Method, *, needs_k: bool) -> tuple[str, ...]:
    """Arguments that were given and that the method has no step for, or no use beside others."""
    laws = method.offers.get("noise", ())
    by_distance = given.get("partition", method.offers.get("partition", ("",))[0]) == "mdav"
    idle = {
        "noise": laws and given.get("noise", laws[0]) not in laws,
        "k": not needs_k,
        "seed": method.randomness is None,
        "every": "width" in method.offers and "width" in given,
        "blocks": "partition" in method.offers and not by_distance,
        "composition": "sensitivity" in method.offers and given.get("sensitivity") == "vector",
    }
    without = [name for name in STEPS if name in given and name not in method.offers]
    beside = [name for name, is_idle in idle.items() if name in given and is_idle]
    return (*without, *(name for name in beside if name not in without))


def _method(name: Any) -> Method:
    if name is None:
        raise RequestError("method", "a method is needed", f"pass one of {', '.join(METHODS)}")
    if not isinstance(name, str) or name not in METHODS:
        raise RequestError(
            f"method '{name}'", "there is no such method", f"choose from {', '.join(METHODS)}"
        )
    return METHODS[name]


def _epsilon(value: Any, method: Method) -> Fraction | None:
    if value is None:
        if not method.needs_epsilon or method.takes_categories:
            return None
        raise RequestError(
            "epsilon", "this method draws noise and needs a budget", "pass epsilon=1"
        )
    epsilon = as_fraction(
        value, "epsilon", "epsilon must be a finite number above 0", "pass for example epsilon=1"
    )
    if not 1 / LARGEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise RequestError(
            "epsilon", "epsilon must be between 1e-100 and 1e100", "pass for example epsilon=1"
        )
    return epsilon


def _step(name: str, given: Mapping[str, Any], method: Method) -> str | None:
    """Return the value of a step that the method offers: the first one by default."""
    offered = method.offers.get(name)
    if not offered:
        return None
    chosen = given.get(name, offered[0])
    if name == "noise" and chosen not in offered:
        return offered[0]  # a law of the other method with this argument: told as unused
    if chosen not in offered:
        raise RequestError(
            name, f"{method.id} offers {', '.join(offered)}", f"pass {name}={offered[0]!r}"
        )
    return str(chosen)


def _blocks(value: Any) -> tuple[tuple[str, ...], ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise RequestError("blocks", "blocks are lists of columns", 'pass blocks=[["A", "B"]]')
    given = list(value)
    if not given or any(isinstance(block, str) or not block for block in given):
        raise RequestError(
            "blocks", "each block is a list of one column or more", 'pass blocks=[["A", "B"]]'
        )
    blocks = tuple(_names(block, "blocks") for block in given)
    members = [name for block in blocks for name in block]
    for name in members:
        if members.count(name) > 1:
            raise RequestError(f"column '{name}'", "it stands in two blocks", "name it once")
    return blocks


def _width(value: Any) -> Fraction:
    width = as_fraction(value, "width", "width must be a finite number above 0", "pass width=5")
    if width > LARGEST_STEP:
        raise RequestError("width", "no value would fit 64 bits", "pass for example width=5")
    return width


def _k(value: Any, method: Method) -> int:
    if value is None:
        raise RequestError("k", f"{method.id} forms clusters and needs k", "pass for example k=10")
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise RequestError("k", "k must be a whole number of 1 or more", "pass for example k=10")
    if value < method.smallest_k:
        raise RequestError(
            "k",
            f"{method.id} sets the smallest and largest value of a cluster aside and needs "
            f"k of {method.smallest_k} or more",
            f"pass k={method.smallest_k} or more",
        )
    return int(value)


def _names(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, Iterable):
        raise RequestError(place, "columns are named by text", f'pass {place}=["AGE"]')
    names = (value,) if isinstance(value, str) else tuple(value)
    for name in names:
        if not isinstance(name, str):
            raise RequestError(place, "columns are named by text", f'pass {place}=["AGE"]')
        if names.count(name) > 1:
            raise RequestError(f"column '{name}'", f"{place} names it twice", "name it once")
    return names


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise RequestError(place, "it maps column names to values", f"pass {place}={{'AGE': ...}}")
    return dict(value)


def _types(value: Any) -> Mapping[str, Kind]:
    given = _mapping(value, "types")
    for name, kind in given.items():
        if kind not in COLUMN_KINDS:
            raise RequestError(
                f"type of '{name}'",
                f"it must be one of {', '.join(COLUMN_KINDS)}",
                "correct it",
            )
    return {name: Kind(kind) for name, kind in given.items()}


def _flag(value: Any, place: str) -> bool:
    if not isinstance(value, bool):
        raise RequestError(place, "it is either True or False", f"pass {place}=True")
    return value


def _shuffle(value: Any) -> str | None:
    """Read what is put in random order: True means rows."""
    if isinstance(value, bool):
        return "rows" if value else None
    if value in ("rows", "columns"):
        return str(value)
    raise RequestError(
        "shuffle", "it must be True, False, 'rows' or 'columns'", "pass shuffle='columns'"
    )


def _seed(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise RequestError("seed", "a seed is a whole number", "pass seed=1, for experiments only")
    return int(value)


def _population(value: Any) -> str | None:
    if value is None:
        return None
    # One name must not be two populations because an accent can be written in two ways.
    name = unicodedata.normalize("NFC", value) if isinstance(value, str) else ""
    if not (1 <= len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()):
        raise RequestError(
            "population",
            f"it is a name of 1 to {LONGEST_NAME} printable characters, with no space at its ends",
            "pass for example population='households 2025'",
        )
    return name


def read_bounds(name: str, kind: Kind, given: Any) -> Bounds:
    """Make bounds of what a user gave: numbers, or dates (or ISO text) for a date.

    Raises
    ------
    RequestError
        If they are no two finite numbers or dates, the lower below the upper.

    Examples
    --------
    >>> read_bounds("AGE", Kind.WHOLE, (0, 120)).width
    Fraction(120, 1)
    """
    place = f"bounds of '{name}'"
    remedy = "('1900-01-01', '2020-12-31')" if kind is Kind.DATE else "(0, 100)"
    try:
        lower, upper = (_number(part, kind) for part in given)
    except (TypeError, ValueError):
        wanted = "dates" if kind is Kind.DATE else "finite numbers"
        raise RequestError(place, f"bounds are two {wanted}", f"pass {remedy}") from None
    if lower >= upper:
        raise RequestError(place, "the lower bound must be below the upper", f"pass {remedy}")
    source = Source.DATA if isinstance(given, BoundsFromData) else Source.DECLARED
    return Bounds(lower=lower, upper=upper, source=source)


def read_categories(name: str, kind: Kind, given: Any, argument: str = "categories") -> Categories:
    """Make a declared list of categories of what a user gave.

    Parameters
    ----------
    name : str
    kind : Kind
        Of the column.
    given : list, `Ordered` or CategoriesFromData
        Text for a column of text; for one of whole numbers or yes/no their values, or these
        written as text.
    argument : str
        Which one it came by.

    Raises
    ------
    RequestError
        If it is no list of two different values or more of the column's kind.

    Examples
    --------
    >>> read_categories("REGION", Kind.OTHER, ["North", "South"]).values
    ('North', 'South')
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
    if len(values) < 2 or len(set(values)) < len(values):
        raise RequestError(place, "there must be two categories or more, all different", remedy)
    source = Source.DATA if isinstance(given, CategoriesFromData) else Source.DECLARED
    return Categories(values=values, ordered=isinstance(given, Ordered), source=source)


_LISTED = {
    Kind.OTHER: "text",
    Kind.WHOLE: "whole numbers",
    # A whole number that may be missing is a float to some libraries.
    Kind.DECIMAL: "whole numbers",
    Kind.BOOLEAN: "true and false",
}
_TRUTH = {"true": True, "false": False}


def _category(value: Any, kind: Kind) -> str | int | None:
    """Read one category of a column of a kind; None where it is none."""
    if kind is Kind.OTHER:
        return str(value) if isinstance(value, str) else None
    if kind is Kind.BOOLEAN:
        value = _TRUTH.get(value.lower()) if isinstance(value, str) else value
        return bool(value) if isinstance(value, bool | np.bool_) else None
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]{1,19}", value):
        value = int(value)
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return int(value) if is_whole and -(1 << 63) <= value < 1 << 63 else None


def read_resolution(name: str, kind: Kind, given: Any) -> tuple[Fraction, Source]:
    """Make a resolution of what a user gave: a number above 0, whole but for decimals.

    >>> read_resolution("TAX", Kind.DECIMAL, 0.01)
    (Fraction(1, 100), <Source.DECLARED: 'declared'>)
    """
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
