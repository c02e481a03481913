"""Every argument there is, in one order: the general ones, and those that methods declare."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from microveil.arguments.argument import Argument
from microveil.arguments.general import FIRST, LAST
from microveil.arguments.steps import STEPS

__all__ = ["DECLARED", "arguments", "declare", "general", "steps"]

# What commands and recipes call something of their own.
RESERVED = {
    "data", "output", "overwrite", "public_report", "custodian_report", "ledger", "format",
    "escape_formulas", "linkage", "json", "request", "recipe", "bounds_from_data",
    "resolution_from_data", "separator", "decimal", "encoding", "runs", "jobs", "methods",
    "analyses", "show_values", "role", "type", "ordered", "microveil", "text", "progress",
    "with_measurements", "parts",
}  # fmt: skip
# Those of methods, by name: the shared ones, and what registered methods declare besides.
DECLARED: dict[str, Argument[Any]] = {argument.name: argument for argument in STEPS}


def declare(declared: Iterable[Argument[Any]]) -> None:
    """Make the arguments of a method known; of one that is known already, its choices.

    Raises
    ------
    ValueError
        If one has the name of another that is read, or written, in another way, or has choices
        and none of them for its default (see `Argument.of`).
    """
    given = tuple(declared)
    for argument in given:
        known = DECLARED.get(argument.name, argument)
        alike = (known.read, known.flags, known.entry) == (
            argument.read,
            argument.flags,
            argument.entry,
        )
        taken = {other.name for other in general()} | RESERVED
        taken |= {flag.name for other in arguments() if other is not known for flag in other.flags}
        own = {argument.name, *(flag.name for flag in argument.flags if flag.name)}
        if not alike or own & taken:
            raise ValueError(f"there is another argument of the name {argument.name}")
        if argument.choices and argument.default not in argument.choices:
            raise ValueError(f"no choice of {argument.name} is the default of the method")
    for argument in given:
        known = DECLARED.get(argument.name, argument)
        DECLARED[argument.name] = known
        choices = tuple(dict.fromkeys((*known.choices, *argument.choices)))
        if choices != known.choices:
            DECLARED[argument.name] = replace(known, choices=choices)


def general() -> tuple[Argument[Any], ...]:
    """Return the arguments that any request may have."""
    return (*FIRST, *LAST)


def steps() -> tuple[Argument[Any], ...]:
    """Return the arguments that only some methods have a step for."""
    return tuple(DECLARED.values())


def arguments() -> tuple[Argument[Any], ...]:
    """Return every argument, in the order in which a person is shown them.

    >>> [argument.name for argument in arguments()][:4]
    ['method', 'k', 'epsilon', 'delta']
    """
    return (*FIRST, *steps(), *LAST)
