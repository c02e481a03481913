"""What is asked of a release, checked before the table is touched: all its problems in one error.

What an argument may be is declared in `arguments`; the rules between arguments, and between them
and the method, are in `rules`.
"""

import datetime
import numbers
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, cast

import numpy as np

from microveil.errors import Problems, RequestError, gap
from microveil.guarantee import Unit
from microveil.methods import METHODS, Method
from microveil.protect.arguments import DECLARED, Argument, arguments
from microveil.protect.domains import stated_kinds
from microveil.protect.rules import broken_rules
from microveil.schema import GivenCode, Kind, Ordered
from microveil.table import MissingCodes

# What is taken where no method is named: it releases the most for what it promises.
BEST = "dp-synthetic"
# Clusters that count units take all records of one.
NO_LIMIT = sys.maxsize


class Advised(StrEnum):
    """On what grounds k or the method was chosen."""

    DATA = "data"  # the expected error on this table
    PUBLIC = "public"  # public figures alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A checked request: what does not need the table to be judged is in order.

    Attributes are the arguments that every request may have (see `Arguments`). Those that methods
    have a step for are in ``own``, as chosen or by default: ``request["partition"]``.
    """

    method: Method
    epsilon: Fraction | None
    delta: Fraction
    k: int
    attributes: tuple[str, ...] | None
    keep: tuple[str, ...]
    unit: str | None
    max_rows: int | None
    unit_attributes: tuple[str, ...]
    bounds: Mapping[str, tuple[Any, Any]]
    categories: Mapping[str, Any]
    resolution: Mapping[str, Any]
    outside: str
    exact_cells: str
    budget: Mapping[str, Any]
    types: Mapping[str, Kind]
    isotonic: bool
    missing: str
    never_missing: Mapping[str, str]
    missing_codes: Mapping[str, tuple[GivenCode, ...]]
    missing_values: tuple[str, ...]
    missing_reasons: bool
    shuffle: str | None
    looked_at: str | None
    seed: int | None
    own: Mapping[str, Any]
    unused: tuple[str, ...]  # arguments that were given and that the method has no use for
    scope: str | None
    population: str | None
    engine: str
    memory: int | None
    scratch: str | None
    record_id: str | None
    advised: Advised | None = None  # on what grounds parameters left to advice were chosen

    def __getitem__(self, name: str) -> Any:
        """Return the value of an argument of methods, None where there is none."""
        return self.own.get(name)

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> "Request":
        """Check arguments and make a request of them."""
        request, problems = cls.judged(asked)
        problems.refuse()
        return cast("Request", request)

    @classmethod
    def judged(cls, asked: Mapping[str, Any]) -> "tuple[Request | None, Problems]":
        """Make a request of arguments as far as they are in order, and say what is not.

        There is none where the method is none of ours.
        """
        given, problems = {"method": BEST, **said(asked)}, Problems()
        # A method that forms no clusters takes any k, "auto" too: one recipe serves every method.
        read = read_each({name: given[name] for name in given if name != "k"}, problems)
        if "method" not in read:
            return None, problems
        method = METHODS[read["method"]]
        own = _of_method(method, read, problems)
        aside = method.set_aside(own)
        # What is wrong by itself is at its default. What is accepted is filled in before: a
        # request has the lists themselves.
        elsewhere = {*own, "accept", "codebook"}
        values = {n: read.get(n, a.default) for n, a in arguments().items() if n not in elsewhere}
        if "new table" in method.can:  # whose rows are nobody's: values may be clamped
            values["outside"] = read.get("outside", "clamp")
            if own["domains"] == "learn" and values["delta"]:
                values["missing"] = read.get("missing", "protect")  # one more value that is learnt
        if "units" in method.can and "unit" in given:  # whatever their records are
            values |= {"max_rows": None, "unit_attributes": ()}
            aside |= {"max_rows", "unit_attributes"}
        if "epsilon" not in given and "epsilon" in method.needs and not method.may_lack_epsilon:
            rule, remedy = "this method draws noise and needs a budget", "pass epsilon=1"
            problems.append(gap("epsilon", "", "epsilon", rule, remedy))
        values |= {"method": method, "delta": Fraction(values["delta"]), "k": 1, "own": own}
        bad = given.keys() - read.keys()
        # What is wrong by itself may be what sets k aside.
        is_open = "k" not in given and not own.keys().isdisjoint(bad)
        if "k" in method.needs and "k" not in aside and not is_open:
            with problems.noted():
                values["k"] = _k(given.get("k"), method)
        request = cls(**values, unused=_unused(given, method, own, aside))
        problems += broken_rules(request, bad)
        if any(problem.place in ("unit", "max_rows") for problem in problems):
            request = replace(request, max_rows=NO_LIMIT)  # nobody said how many records one has
        return request, problems

    @property
    def order(self) -> str | None:
        """What is released in random order: rows, or each column."""
        return self.shuffle if self.method.uses("shuffle") else None

    @property
    def learns(self) -> bool:
        """Whether domains that are not declared are learnt within the budget."""
        return "new table" in self.method.can and self["domains"] == "learn" and self.delta > 0

    @property
    def chosen_by_data(self) -> bool:
        """Whether method, k or epsilon were chosen by the data: by advice, or before asking."""
        return Advised.DATA in (self.advised, self.looked_at)

    @property
    def chosen_publicly(self) -> bool:
        """Whether advice chose by public figures, and nothing was chosen by the data."""
        return self.advised is Advised.PUBLIC and not self.chosen_by_data

    @property
    def codes(self) -> MissingCodes:
        """What stands for a missing value."""
        return MissingCodes(by_column=self.missing_codes, of_text=self.missing_values)

    @property
    def stated(self) -> dict[str, Kind]:
        """What columns hold by what is declared of them."""
        return stated_kinds(self.types, self.bounds, self.categories, self.resolution)

    @property
    def protected_unit(self) -> Unit:
        """Who is protected: a record, or all records of a unit."""
        most = NO_LIMIT if self.unit is not None and "units" in self.method.can else 1
        return Unit(column=self.unit, max_rows=self.max_rows or most)

    @property
    def says_whose(self) -> bool:
        """Whether it is declared whose records are: a unit's, or each another person's."""
        return self.unit is not None or self.max_rows == 1

    @property
    def counted(self) -> Unit:
        """What a cluster holds k of: records, or units where the method counts them."""
        return self.protected_unit if "units" in self.method.can else Unit()

    @property
    def steps(self) -> dict[str, str]:
        """What was chosen of the steps that the method offers, at their defaults too."""
        return {
            one.name: str(self[one.name])
            for one in offered(self.method)
            if one.is_step and one.name not in self.unused and self[one.name] is not None
        }

    def choices(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the values of the method's own arguments as it sees them, for some attributes."""
        values = {}
        for argument in offered(self.method):
            name = argument.name
            value = argument.default if name in self.unused else self[name]
            values[name] = _FITTING[name](value, names) if name in _FITTING else value
        return values

    def parameters(self) -> dict[str, Any]:
        """Return the request as plain values, for the manifest."""
        written: dict[str, Any] = {}
        for part in fields(self):
            if part.name == "own":
                written |= _plain(self.own)
            elif part.name != "unused":
                written[part.name] = _plain(getattr(self, part.name))
        if self["target"] is not None:
            name, cut = self["target"]  # with the number or date at which it is cut, if any
            if isinstance(cut, datetime.date):
                cut = f"{cut:%Y-%m-%d}"
            elif cut is not None:
                cut = int(cut) if isinstance(cut, numbers.Integral) else float(cut)
            written["target"] = name if cut is None else {name: cut}
        return written


def said(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said: None is nothing, and ``missing`` by column is ``never_missing``."""
    given = {name: value for name, value in asked.items() if value is not None}
    if isinstance(given.get("missing"), Mapping):
        read = DECLARED["never_missing"].checked
        given["never_missing"] = {**read(given.get("never_missing", {})), **read(given["missing"])}
        del given["missing"]
    return given


def offered(method: Method) -> list[Argument]:
    """Return the arguments that a method has a step for, with its own choices and default."""
    known = arguments()
    return [
        replace(known[name], choices=choices, default=choices[0]) if choices else known[name]
        for name, choices in method.arguments.items()
    ]


def read_each(given: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """Read what was given, argument by argument; what is wrong is noted and left out."""
    known = arguments()
    for name in given:
        if name not in known:
            rule = "there is no such argument"
            problems.add(f"argument '{name}'", rule, "see help(microveil.protect)")
    read: dict[str, Any] = {}
    for name, argument in known.items():
        if name in given:
            with problems.noted():
                read[name] = argument.checked(given[name])
    return read


def of_methods() -> set[str]:
    """Name the arguments that only some methods have a step for."""
    return {name for method in METHODS.values() for name in method.arguments}


def _of_method(method: Method, read: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """Return the arguments of methods as one takes them: those of listed choices come first.

    Where it has no step for one it is what was given, but for choices, which are those of others.
    """
    listed, others, names = dict[str, Any](), dict[str, Any](), of_methods()
    for name, argument in arguments().items():
        if name not in names:
            continue
        choices, value = method.arguments.get(name), read.get(name)
        values = listed if argument.choices else others
        if choices is None:
            values[name] = None if argument.choices else value
        elif value is None or (argument.passes_over and value not in choices):
            values[name] = choices[0] if choices else argument.default
        elif choices and value not in choices:
            rule = f"{method.id} offers {', '.join(choices)}"
            problems.add(name, rule, f"pass {name}={choices[0]!r}")
            values[name] = choices[0]
        else:
            values[name] = value
        if argument.by_column and value is None:
            values[name] = {}
    return listed | others


def _k(given: Any, method: Method) -> int:
    if given is None:
        raise gap("k", "", "k", f"{method.id} forms clusters and needs k", "pass for example k=10")
    value: int = DECLARED["k"].checked(given)
    if value < method.smallest_k:
        raise RequestError(
            "k",
            f"{method.id} sets the smallest and largest value of a cluster aside and needs "
            f"k of {method.smallest_k} or more",
            f"pass k={method.smallest_k} or more",
        )
    return value


def _unused(
    given: Mapping[str, Any], method: Method, own: Mapping[str, Any], aside: Collection[str]
) -> tuple[str, ...]:
    """Arguments that were given and that the method has no step for, or no use beside others."""
    without, beside = list[str](), list[str]()
    for name, argument in arguments().items():
        if name not in given:
            continue
        if name in own and name not in method.arguments:
            without.append(name)
        elif name in aside or (name in ("k", "seed", "shuffle") and not method.uses(name)):
            beside.append(name)
        elif name == "exact_cells" and "new table" in method.can:
            beside.append(name)  # no cell of a record is there to come out exactly
        elif name in own and argument.choices and str(own[name]) != str(given[name]):
            beside.append(name)  # a choice that only another method offers was passed over
    return (*without, *beside)


# What a method sees of its own arguments, where that hangs on the attributes that it protects.


def _fitting_blocks(
    given: tuple[tuple[str, ...], ...] | None, names: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """Return one block of all attributes, or the blocks that hold each of them."""
    if given is None:
        return (tuple(names),)
    members = {name for block in given for name in block}
    if members != set(names):
        odd = min(members ^ set(names))
        raise RequestError(
            f"column '{odd}'",
            "blocks must hold every protected attribute and no other column",
            "name it in one block, or leave it out of all",
        )
    return given


def _fitting_matrices(given: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    for name in given:
        if name not in names:
            raise RequestError(
                f"matrix of '{name}'", "it is no protected attribute", "leave it out"
            )
    return given


def _fitting_target(given: tuple[str, Any] | None, names: Sequence[str]) -> tuple[str, Any] | None:
    """Find the target among the protected attributes; a threshold may be written behind it."""
    if given is None or given[0] in names:
        return given
    cut = max((n for n in names if given[0].startswith(f"{n}=")), key=len, default=None)
    text = "" if cut is None else given[0][len(cut) + 1 :]
    try:
        threshold = datetime.date.fromisoformat(text) if "-" in text[1:] else float(text)
    except ValueError:
        threshold = None
    if cut is None or given[1] is not None or threshold is None:
        raise RequestError(
            f"target '{given[0]}'",
            "it is no protected attribute",
            f"name one of {', '.join(names)}",
        )
    return cut, threshold


_FITTING: Mapping[str, Callable[[Any, Sequence[str]], Any]] = {
    "blocks": _fitting_blocks,
    "matrix": _fitting_matrices,
    "target": _fitting_target,
}


def _plain(value: Any) -> Any:
    if isinstance(value, Method):
        return value.id
    if isinstance(value, Ordered):
        return {"ordered": _plain(value.values)}
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, int | float) else str(value)
