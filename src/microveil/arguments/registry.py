"""Every argument there is, in one order: the general ones, and those that methods declare."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from microveil.arguments.argument import Argument
from microveil.arguments.general import FIRST, LAST
from microveil.arguments.steps import STEPS

__all__ = ["DECLARED", "arguments", "declare", "general", "steps"]

# Those of methods, by name: the shared ones, and what registered methods declare besides.
DECLARED: dict[str, Argument[Any]] = {argument.name: argument for argument in STEPS}


def declare(declared: Iterable[Argument[Any]]) -> None:
    """Make the arguments of a method known; of one that is known already, its choices."""
    for argument in declared:
        known = DECLARED.setdefault(argument.name, argument)
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
    ['method', 'k', 'epsilon', 'scope']
    """
    return (*FIRST, *steps(), *LAST)
