"""What is compared: methods with their steps, times k, times epsilon, times runs.

A configuration is one request. Its seeds follow from its name and from nothing else, so that it
comes out the same whatever else is in the grid, in whatever order and on however many threads.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from microveil.compare.choices import Choice, PartsChoice, check_different, read_choice
from microveil.errors import RequestError
from microveil.guarantee import as_fraction

__all__ = [
    "Configuration",
    "Grid",
    "read_epsilons",
    "read_grid",
    "read_sizes",
]

# A grid beyond this is a slip of the keyboard.
MOST_VALUES = 10_000
# No k or epsilon beyond this, or below one part of it, is meant.
LARGEST = Fraction(10**15)
SEED_BITS = 63


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One request of the grid.

    Attributes
    ----------
    number : int
        Its place in the grid, from 0.
    choice : Choice or PartsChoice
    k : int or None
        None where the method has no use for it.
    epsilon : Fraction or None
        None where the method spends none.
    runs : int
        How often it is drawn: once where nothing is random, in method or analyses.
    """

    number: int
    choice: Choice | PartsChoice
    k: int | None
    epsilon: Fraction | None
    runs: int

    def arguments(self) -> dict[str, Any]:
        """Return the configuration as arguments of `protect`, which go before those of all."""
        return self.choice.arguments(self.k, self.epsilon)

    def seed(self, seed: int, run: int) -> int | None:
        """Return the seed of a run, from 1, below 2**63; None where nothing is drawn.

        `protect` with this seed draws the very table that the run measured.
        """
        if not self.choice.is_random:
            return None
        epsilon = None if self.epsilon is None else str(self.epsilon)
        method, steps = self.choice.name, self.choice.steps
        name = json.dumps(["microveil compare", seed, method, steps, self.k, epsilon, run])
        digest = hashlib.sha256(name.encode()).digest()
        return int.from_bytes(digest[:8]) >> (64 - SEED_BITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Everything that is to be compared.

    Attributes
    ----------
    choices : tuple of Choice and PartsChoice
    sizes : tuple of int
        Each k, ascending.
    epsilons : tuple of Fraction
        Ascending.
    runs : int
    configurations : tuple of Configuration
        By choice, then k, then epsilon.
    """

    choices: tuple[Choice | PartsChoice, ...]
    sizes: tuple[int, ...]
    epsilons: tuple[Fraction, ...]
    runs: int
    configurations: tuple[Configuration, ...]

    @property
    def total(self) -> int:
        """How many runs there are in all."""
        return sum(configuration.runs for configuration in self.configurations)

    def to_dict(self) -> dict[str, Any]:
        """Return the grid as plain values."""
        return {
            "methods": [str(choice) for choice in self.choices],
            "k": list(self.sizes),
            "epsilon": [str(epsilon) for epsilon in self.epsilons],
            "runs": self.runs,
        }


def read_grid(
    methods: Any,
    k: Any,
    epsilon: Any,
    runs: Any,
    arguments: Mapping[str, Any] | None = None,
    *,
    seeded: bool = False,
    parts: Any = None,
) -> Grid:
    """Make a grid of what a user gave.

    Parameters
    ----------
    methods : str or sequence of str
        Ids, with steps where wanted: "idp-vector:partition=noise-aware". Text is split at commas.
    k : int, str or sequence of int
        Text may hold inclusive ranges: "3,5,10:100:10".
    epsilon : float, str or sequence of float
        Likewise; 0.1 is taken as exactly 1/10.
    runs : int
    arguments : dict, optional
        Those that hold for every configuration: a width makes k idle.
    parts : sequence of Part, optional
        What the word "parts" among the methods stands for.
    seeded : bool
        Whether an analysis has a seed of its own in each run, so that all are needed also
        where the method draws nothing.

    Raises
    ------
    RequestError
        If a method, step or number is not one, one that is needed is missing, or two choices
        are the same, one of them with a step named that is the default.

    Examples
    --------
    >>> grid = read_grid("laplace,dp-um", "3,10:20:5", [0.1, 1], 10)
    >>> [
    ...     (str(configuration.choice), configuration.k, str(configuration.epsilon))
    ...     for configuration in grid.configurations
    ... ][:3]
    [('laplace', None, '1/10'), ('laplace', None, '1'), ('dp-um', 3, '1/10')]
    >>> grid.sizes, grid.total
    ((3, 10, 15, 20), 100)
    """
    texts = methods.split(",") if isinstance(methods, str) else _listed(methods, "methods")
    choices = tuple(
        {str(choice): choice for choice in (read_choice(text, parts) for text in texts)}.values()
    )
    if not choices:
        raise RequestError("methods", "there is nothing to compare", "pass methods=['dp-um']")
    check_different(choices, arguments or {})
    sizes, epsilons = read_sizes(k), read_epsilons(epsilon)
    if isinstance(runs, bool) or not isinstance(runs, int | np.integer) or runs < 1:
        raise RequestError("runs", "runs must be a whole number of 1 or more", "pass runs=10")
    configurations: list[Configuration] = []
    for choice in choices:
        repeats = 1 if not choice.is_random and not seeded else int(runs)
        for size in choice.sizes(sizes, arguments or {}):
            for budget in choice.epsilons(epsilons):
                configurations.append(
                    Configuration(
                        number=len(configurations),
                        choice=choice,
                        k=size,
                        epsilon=budget,
                        runs=repeats,
                    )
                )
    return Grid(
        choices=choices,
        sizes=sizes,
        epsilons=epsilons,
        runs=int(runs),
        configurations=tuple(configurations),
    )


def read_sizes(given: Any) -> tuple[int, ...]:
    """Read every k: whole numbers, or text with inclusive ranges; ascending, each once.

    Raises
    ------
    RequestError
        If one is no whole number of 1 or more, or a range has no end.

    Examples
    --------
    >>> read_sizes("3,5,10:40:10")
    (3, 5, 10, 20, 30, 40)
    """
    rule, remedy = "k must be a whole number of 1 or more", "pass for example k='3,5,10:100:10'"
    numbers = _numbers(given, "k", rule, remedy)
    if any(number.denominator != 1 for number in numbers):
        raise RequestError("k", rule, remedy)
    return tuple(int(number) for number in numbers)


def read_epsilons(given: Any) -> tuple[Fraction, ...]:
    """Read every epsilon as the exact decimal it is written as; ascending, each once.

    Raises
    ------
    RequestError
        If one is no finite number above 0, or a range has no end.

    Examples
    --------
    >>> [str(epsilon) for epsilon in read_epsilons("0.1:0.3:0.1,1")]
    ['1/10', '1/5', '3/10', '1']
    """
    return _numbers(
        given,
        "epsilon",
        "epsilon must be a finite number above 0",
        "pass for example epsilon='0.01,0.1,1'",
    )


def _numbers(given: Any, place: str, rule: str, remedy: str) -> tuple[Fraction, ...]:
    def read(value: Any) -> Fraction:
        number = as_fraction(value, place, rule, remedy)
        if not 1 / LARGEST <= number <= LARGEST:
            rule_of_size = f"it must lie between {float(1 / LARGEST):g} and {float(LARGEST):g}"
            raise RequestError(place, rule_of_size, remedy)
        return number

    if isinstance(given, str):
        parts = [part.strip() for part in given.split(",")]
        numbers = [number for part in parts for number in _range(part, place, read)]
    else:
        numbers = [read(value) for value in _listed(given, place)]
    return tuple(sorted(set(numbers)))


def _range(text: str, place: str, read: Callable[[str], Fraction]) -> list[Fraction]:
    """Read "5", "3:5" in steps of 1, or "10:100:10": the end belongs to it where it is met."""
    start, *rest = (read(part) for part in text.split(":"))
    if not rest:
        return [start]
    end, step = (*rest, Fraction(1))[:2]
    if len(rest) > 2 or end < start or (end - start) / step >= MOST_VALUES:
        raise RequestError(
            place,
            "a range is START:END or START:END:STEP, END is not below START, and it holds at most "
            f"{MOST_VALUES} values",
            "pass for example 10:100:10",
        )
    return [start + i * step for i in range((end - start) // step + 1)]


def _listed(given: Any, place: str) -> list[Any]:
    if given is None:
        return []
    if isinstance(given, Iterable):
        return list(given)
    if place == "methods":
        raise RequestError(place, "methods are named by text", "pass methods=['dp-um']")
    return [given]
