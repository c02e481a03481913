"""What is asked of a release, checked before the table is touched."""

import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any, Literal, TypeVar, cast

import numpy as np

from microveil.arguments import Argument, arguments, general, steps
from microveil.arguments.engines import SPARK
from microveil.arguments.general import K
from microveil.errors import RequestError
from microveil.guarantee import Unit
from microveil.methods import METHODS, Method
from microveil.protect.domains import stated_kinds
from microveil.protect.parts import Part, PartArguments, refuse_looked_at, with_never_apart
from microveil.schema import GivenCode, Kind, Ordered
from microveil.table import MissingCodes

__all__ = ["Advised", "Arguments", "Request"]

Value = TypeVar("Value")
# Clusters that count units take all records of one.
NO_LIMIT = sys.maxsize


class Advised(StrEnum):
    """On what grounds k or the method was chosen."""

    DATA = "data"  # the expected error on this table
    PUBLIC = "public"  # public figures alone


class Arguments(PartArguments, total=False):
    """The arguments of `protect` and `plan`, beside the table; see `protect`."""

    delta: float | Fraction
    target: str | Mapping[str, Any] | None
    structure: Literal["graph", "tree", "independent"] | None
    n_records: int | None
    attributes: Iterable[str] | None
    keep: Iterable[str]
    unit: str | None
    max_rows: int | None
    unit_attributes: Iterable[str] | None
    bounds: Mapping[str, tuple[Any, Any]] | None
    categories: Mapping[str, Any] | None
    resolution: Mapping[str, Any] | None
    outside: Literal["error", "clamp"]
    matrix: Any
    budget: Mapping[str, float] | None
    never_missing: Iterable[str] | Mapping[str, Literal["never"]] | None
    missing_codes: Mapping[str, Any] | None
    missing_values: Iterable[str] | None
    missing_reasons: bool
    looked_at: Literal["data", "public"] | None
    seed: int | None
    types: Mapping[str, str]
    scope: str | None
    population: str | None
    engine: str
    memory: int | str | None
    scratch: str | None
    record_id: str | None
    parts: Iterable[Part | Mapping[str, Any]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A checked request: what does not need the table to be judged is in order.

    Attributes are the arguments that every request may have (see `arguments.general`), and

    own : dict
        Values of the arguments that methods declare, by name: those of this method as chosen or
        at their defaults. The argument itself is the key to its value.
    unused : tuple of str
        Arguments that were given and that the method has no use for.
    advised : Advised or None
        On what grounds parameters left to advice were chosen.
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
    unused: tuple[str, ...]
    scope: str | None
    population: str | None
    engine: str
    memory: int | None
    scratch: str | None
    record_id: str | None
    advised: Advised | None = None

    def __getitem__(self, argument: Argument[Value]) -> Value | None:
        """Return the value of an argument of methods, None where there is none."""
        return cast("Value | None", self.own.get(argument.name))

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> "Request":
        """Check arguments and make a request of them.

        Raises
        ------
        RequestError
            On an argument that is missing, unknown, of the wrong kind or out of range.
        """
        given = with_never_apart(asked)
        if unknown := [name for name in given if name not in {a.name for a in arguments()}]:
            raise RequestError(
                f"argument '{unknown[0]}'",
                "there is no such argument",
                "see help(microveil.protect)",
            )
        known = [argument for argument in arguments() if argument.name in given]
        read = {a.name: a.checked(given[a.name]) for a in known if a.choices}
        method = _method(given.get("method"))
        # A method that forms no clusters takes any k, "auto" too: one recipe serves every method.
        rest = (a for a in known if not a.choices and a.name not in ("method", "k"))
        read |= {argument.name: argument.checked(given[argument.name]) for argument in rest}
        own = {step.name: _chosen(step, read.get(step.name), method) for step in steps()}
        aside = method.set_aside(own)
        needs_k = "k" in method.needs and "k" not in aside
        values = {
            argument.name: read.get(argument.name, _default(argument, method))
            for argument in general()
        }
        values |= {
            "method": method,
            "epsilon": _epsilon(read.get("epsilon"), method),
            "delta": Fraction(values["delta"]),
            "k": _k(given.get("k"), method) if needs_k else 1,
        }
        unused = _unused(given, method, own, aside)
        request = cls(**values, own=own, unused=unused)
        request._check_together()
        request._check_unit()
        request._check_shuffle()
        request._check_synthetic()
        request._check_missing()
        return request

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

    def _check_together(self) -> None:
        if self.isotonic and "isotonic" not in self.method.can:
            raise RequestError(
                "isotonic",
                f"{self.method.id} has no noisy clusters in ascending order to put in order",
                "leave it out, or choose a method that clusters by rank and draws noise",
            )
        refuse_looked_at(self.scope, self.looked_at)
        if self.record_id is not None and self.engine != SPARK:
            raise RequestError(
                "record_id",
                "records of a table in this process stand in an order, which decides between equal "
                "values",
                "leave it out, or pass engine='spark' (--engine spark)",
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

    def _check_unit(self) -> None:
        beside = [name for name in ("max_rows", "unit_attributes") if getattr(self, name)]
        if self.unit is None and not beside:
            return
        if self.unit is None:
            raise RequestError(
                beside[0],
                "it says what the records of one unit are, and no unit is named",
                "name its column, for example unit='HOUSEHOLD' (--unit HOUSEHOLD), or leave it out",
            )
        if self.method.refuses_unit is not None:
            able = ", ".join(method.id for method in METHODS.values() if method.uses("max_rows"))
            raise RequestError(
                "unit",
                f"{self.method.id} cannot protect all records of a unit together: "
                f"{self.method.refuses_unit}",
                f"choose {able}, or leave out unit, and a record is what is protected",
            )
        if "units" in self.method.can and beside:
            raise RequestError(
                beside[0],
                f"{self.method.id} counts the people of a cluster, however many records each has, "
                "and has no epsilon to share out among these",
                "leave it out",
            )
        if self.max_rows is None and "units" not in self.method.can:
            raise RequestError(
                "max_rows",
                "how many records a unit may have is a public fact, which is never read from the "
                "data",
                "pass for example max_rows=8 (--max-rows 8)",
            )
        if self.unit in (*(self.attributes or ()), *self.keep):
            raise RequestError(
                f"column '{self.unit}'",
                "it says which records are one unit's, and is not released"
                + (
                    ""
                    if "units" in self.method.can
                    else ": new numbers take its place where rows are kept"
                ),
                "leave it out of attributes and keep",
            )
        if self.unit_attributes and "new table" in self.method.can:
            raise RequestError(
                "unit_attributes",
                f"records of {self.method.id} are no unit's, to which its value could be copied",
                "leave it out, or choose laplace or pram",
            )

    def _check_shuffle(self) -> None:
        if self.shuffle == "columns" and self.keep:
            raise RequestError(
                "shuffle",
                "columns that are kept would stand beside values of other people once each "
                "attribute is shuffled by itself",
                "leave out keep, or shuffle the rows",
            )

    def _check_synthetic(self) -> None:
        """Refuse what only a new table can have, and what it cannot."""
        if self.delta and "delta" not in self.method.can:
            able = ", ".join(method.id for method in METHODS.values() if "delta" in method.can)
            raise RequestError(
                "delta",
                f"{self.method.id} keeps its epsilon without a delta",
                f"leave it out, or choose {able}",
            )
        if "new table" not in self.method.can:
            return
        if self.missing == "keep":
            raise RequestError(
                "missing",
                f"rows of {self.method.id} are nobody's: no cell of theirs could be kept missing",
                "pass missing='protect' (--missing protect)",
            )
        if self.keep:
            raise RequestError(
                f"column '{self.keep[0]}'",
                f"rows of {self.method.id} are nobody's: no column can be kept beside them",
                "name it among the attributes, or leave it out",
            )

    def _check_missing(self) -> None:
        """Refuse what a method cannot do with missing cells, and reasons that cannot be."""
        if self.missing == "protect" and "missing" not in self.method.can:
            able = ", ".join(method.id for method in METHODS.values() if "missing" in method.can)
            raise RequestError(
                "missing",
                f"{self.method.id} cannot hide which cells are missing",
                f"choose {able}, or pass missing='keep' (--missing keep)",
            )
        if self.never_missing and self.missing == "keep" and self.method.uses("blocks"):
            raise RequestError(
                "never_missing",
                f"{self.method.id} releases all cells of a record that lacks a value as missing, "
                "those of other columns too",
                "leave it out, or choose a method that takes attributes one by one",
            )
        if not self.missing_reasons:
            return
        if not self.missing_codes or self.missing == "error":
            raise RequestError(
                "missing_reasons",
                "reasons are codes of cells that are missing, and there are none to write: "
                + ("no cell may be missing" if self.missing_codes else "no codes are declared"),
                "pass missing_codes={'INCOME': [-9]} (--missing-codes INCOME=-9) and "
                "missing='keep' (--missing keep)",
            )
        if self.missing == "protect" and "reasons" not in self.method.can:
            able = ", ".join(method.id for method in METHODS.values() if "reasons" in method.can)
            raise RequestError(
                "missing_reasons",
                f"{self.method.id} hides which cells are missing, and cannot keep apart why",
                f"leave it out, or choose {able}; the code of an attribute with categories can be "
                "listed among them instead",
            )

    @property
    def protected_unit(self) -> Unit:
        """Who is protected: a record, or all records of a unit."""
        most = NO_LIMIT if self.unit is not None and "units" in self.method.can else 1
        return Unit(column=self.unit, max_rows=self.max_rows or most)

    @property
    def counted(self) -> Unit:
        """What a cluster holds k of: records, or units where the method counts them."""
        return self.protected_unit if "units" in self.method.can else Unit()

    @property
    def steps(self) -> dict[str, str]:
        """What was chosen of the steps that the method offers, at their defaults too."""
        used = (a for a in self.method.arguments if a.is_step and a.name not in self.unused)
        chosen = {argument.name: self[argument] for argument in used}
        return {name: str(value) for name, value in chosen.items() if value is not None}

    def parameters(self) -> dict[str, Any]:
        """Return the request as plain values, for the manifest."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        written: dict[str, Any] = {}
        for name, value in values.items():
            if name == "own":
                listed_first = sorted(steps(), key=lambda step: not step.choices)
                written |= {step.name: _written(self[step], step) for step in listed_first}
            elif name != "unused":
                written[name] = _written(value)
        return written


def _plain(value: Any) -> Any:
    if isinstance(value, Ordered):
        return {"ordered": _plain(value.values)}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, int | float) else str(value)


def _written(value: Any, argument: Argument[Any] | None = None) -> Any:
    if isinstance(value, Method):
        return value.id
    if value is not None and argument is not None and argument.write is not None:
        return argument.write(value)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping) or (argument is not None and argument.by_column):
        return {name: _plain(entry) for name, entry in (value or {}).items()}
    return None if value is None else _plain(value)


def _chosen(step: Argument[Any], value: Any, method: Method) -> Any:
    """Return the value of an argument of methods, as this one takes it: the default unless given.

    Where it has no step for it: what was given, but for choices, which are those of others.
    """
    own = next((argument for argument in method.arguments if argument.name == step.name), None)
    if own is None:
        return None if step.choices else value
    if value is None:
        return own.default
    if own.choices and value not in own.choices:
        if own.passes_over:
            return own.default
        raise RequestError(
            own.name,
            f"{method.id} offers {', '.join(own.choices)}",
            f"pass {own.name}={own.choices[0]!r}",
        )
    return value


def _unused(
    given: Mapping[str, Any], method: Method, own: Mapping[str, Any], aside: Collection[str]
) -> tuple[str, ...]:
    """Arguments that were given and that the method has no step for, or no use beside others."""
    without = [step.name for step in steps() if step.name in given and not method.uses(step.name)]
    idle = {*aside, *(name for name in ("k", "seed", "shuffle") if not method.uses(name))}
    if "new table" in method.can:
        idle.add("exact_cells")  # no cell of a record is there to come out exactly
    # A choice that only another method offers was passed over.
    idle |= {
        step.name for step in steps() if step.choices and own[step.name] != given.get(step.name)
    }
    beside = [a.name for a in arguments() if a.name in given and a.name in idle]
    return (*without, *(name for name in beside if name not in without))


def _default(argument: Argument[Any], method: Method) -> Any:
    """Return what an argument is where it is not given: values of a new table may be clamped."""
    is_clamped = argument.name == "outside" and "new table" in method.can
    return "clamp" if is_clamped else argument.default


def _method(name: Any) -> Method:
    if name is None:
        raise RequestError("method", "a method is needed", f"pass one of {', '.join(METHODS)}")
    if not isinstance(name, str) or name not in METHODS:
        raise RequestError(
            f"method '{name}'", "there is no such method", f"choose from {', '.join(METHODS)}"
        )
    return METHODS[name]


def _epsilon(value: Fraction | None, method: Method) -> Fraction | None:
    if value is None and "epsilon" in method.needs and not method.may_lack_epsilon:
        raise RequestError(
            "epsilon", "this method draws noise and needs a budget", "pass epsilon=1"
        )
    return value


def _k(given: Any, method: Method) -> int:
    if given is None:
        raise RequestError("k", f"{method.id} forms clusters and needs k", "pass for example k=10")
    value = K.checked(given)
    if value < method.smallest_k:
        raise RequestError(
            "k",
            f"{method.id} sets the smallest and largest value of a cluster aside and needs "
            f"k of {method.smallest_k} or more",
            f"pass k={method.smallest_k} or more",
        )
    return value
