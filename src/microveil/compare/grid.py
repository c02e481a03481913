"""What is compared: methods with their steps, or the parts of a recipe, times k, epsilon and runs.

Seeds follow from a configuration's name alone, whatever else is in the grid.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from microveil.errors import RequestError
from microveil.guarantee import as_fraction
from microveil.methods import METHODS, Method
from microveil.protect.arguments import DECLARED, TRUTH, Argument
from microveil.protect.parts import Part, read_parts
from microveil.protect.reading import whole_number
from microveil.protect.request import offered

# What stands for several parts among methods.
PARTS = "parts"
# A grid beyond this is a slip of the keyboard.
MOST_VALUES = 10_000
# No k or epsilon beyond this, or below one part of it, is meant.
LARGEST = Fraction(10**15)
SEED_BITS = 63

read_runs = whole_number("runs must be a whole number of 1 or more", "pass runs=10", 1)
read_jobs = whole_number("jobs must be a whole number of 1 or more", "pass jobs=2", 1)
read_seed = whole_number("a seed is a whole number", "pass seed=1, or leave it out")

Epsilon = Fraction | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A method with the steps that were chosen for it, or several parts as they were asked for."""

    method: Method | None = None
    steps: tuple[tuple[str, str], ...] = ()
    parts: tuple[Part, ...] = ()

    @property
    def methods(self) -> list[Method]:
        """The method, or those of the parts as far as there are such."""
        named = (METHODS.get(str(one.asked["method"])) for one in self.parts)
        return [one for one in (self.method, *named) if one is not None]

    @property
    def name(self) -> str:
        """The method's id."""
        return PARTS if self.method is None else self.method.id

    @property
    def written_steps(self) -> str:
        """The steps as they are written behind a method's id: "partition=optimal"."""
        return ":".join(f"{name}={value}" for name, value in self.steps)

    @property
    def is_random(self) -> bool:
        """Whether a run differs from the next."""
        return any(method.randomness is not None for method in self.methods)

    @property
    def is_synthetic(self) -> bool:
        """Whether rows follow nobody: never those of a part."""
        return self.method is not None and "new table" in self.method.can

    def __str__(self) -> str:
        """Write the choice as it is asked for."""
        return ":".join(filter(None, [self.name, self.written_steps]))

    def arguments(self, k: int | None, epsilon: Epsilon) -> dict[str, Any]:
        """Return what `protect` is asked for; a delta for all is an allowance, not a demand."""
        if self.method is None:
            return {"parts": self._divided(epsilon), "attributes": None, "delta": None}
        known = _steps(self.method)
        given = {name: known[name].from_text(value) for name, value in self.steps}
        own = {"method": self.method.id, **given, "k": k, "epsilon": epsilon}
        return own if "delta" in self.method.can else {**own, "delta": None}

    def _divided(self, epsilon: Epsilon) -> tuple[Part, ...]:
        """Divide an epsilon among the parts as their own epsilons are."""
        if epsilon is None:
            return self.parts
        whole = sum(map(_epsilon_of, self.parts))
        return tuple(
            replace(one, asked={**one.asked, "epsilon": epsilon * _epsilon_of(one) / whole})
            if _epsilon_of(one)
            else one
            for one in self.parts
        )

    def requests(
        self, sizes: Sequence[int], epsilons: Sequence[Fraction], arguments: Mapping[str, Any]
    ) -> Iterator[tuple[int | None, Epsilon]]:
        """Return each k and epsilon to be tried: None where there is no use for it."""
        method, given = self.method, {**arguments, **dict(self.steps)}
        if method is None:  # parts have a k of their own, and keep their epsilon without another
            spends, clusters = bool(epsilons) and any(map(_epsilon_of, self.parts)), False
        else:
            spends = "epsilon" in method.needs and (bool(epsilons) or not method.may_lack_epsilon)
            clusters = "k" in method.needs and "k" not in method.set_aside(given)
        if clusters and not sizes:
            rule = f"{self.name} forms clusters and needs k"
            raise RequestError("k", rule, "pass k=[3, 10, 100]")
        if spends and not epsilons:
            rule = f"{self.name} draws noise and needs a budget"
            raise RequestError("epsilon", rule, "pass epsilon=[0.1, 1]")
        return product(sizes if clusters else [None], epsilons if spends else [None])

    def chosen(self, arguments: Mapping[str, Any]) -> tuple[str, frozenset[Any]]:
        """Return its name with the value of every step, named or not."""
        given = {**arguments, **dict(self.steps)}
        steps = {} if self.method is None else _steps(self.method)
        return self.name, frozenset(
            (name, _value(argument, str(given.get(name, argument.default)).lower()))
            for name, argument in steps.items()
        )


def _epsilon_of(part: Part) -> Fraction:
    """Return what a part spends: nothing by a method that needs no epsilon."""
    method = METHODS.get(str(part.asked["method"]))
    if "epsilon" not in part.asked or method is None or "epsilon" not in method.needs:
        return Fraction(0)
    return Fraction(DECLARED["epsilon"].checked(part.asked["epsilon"]))


def read_choice(text: Any, parts: Any = None) -> Choice:
    """Read a method with its steps, or the word that stands for given parts."""
    name, *steps = str(text).strip().split(":")
    if name == PARTS and not steps:
        if parts is None:
            rule = "it stands for the parts of a recipe, and there are none"
            remedy = "pass parts=[microveil.part(...), ...], or a recipe with [[parts]]"
            raise RequestError(f"method '{PARTS}'", rule, remedy)
        return Choice(parts=read_parts(parts))
    if name not in METHODS:
        raise RequestError(
            f"method '{name}'", "there is no such method", f"choose from {', '.join(METHODS)}"
        )
    known, read = _steps(METHODS[name]), dict[str, str]()
    for step in steps:
        key, _, value = step.partition("=")
        place, argument = f"step '{step}' of {name}", known.get(key)
        if key in read:
            raise RequestError(place, f"{key} is given twice", "give it once")
        if argument is None:
            offers = f"steps out of {', '.join(known)}" if known else "it without steps"
            raise RequestError(place, "the method does not offer it", f"pass {offers}")
        if _value(argument, value) is None:
            own = tuple(TRUTH) if argument.flag is bool else (argument.takes,)
            values = ", ".join(argument.choices or own)
            raise RequestError(place, "it has no such value", f"pass one of {values}")
        read[key] = value
    return Choice(method=METHODS[name], steps=tuple(sorted(read.items())))


def _steps(method: Method) -> dict[str, Argument]:
    """Return what may be chosen of a method in one word each, by name."""
    own = sorted((a for a in offered(method) if a.is_step), key=lambda a: not a.choices)
    general = (DECLARED[name] for name in ("exact_cells", "isotonic") if method.uses(name))
    return {argument.name: argument for argument in (*own, *general)}


def _value(argument: Argument, text: str) -> Any:
    """Read the value of a step; None where it is none."""
    try:
        return argument.from_text(text)
    except RequestError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One request of the grid, and how often it is drawn: once where nothing is random."""

    number: int  # its place in the grid, from 0
    choice: Choice
    k: int | None
    epsilon: Epsilon
    runs: int

    def named(self) -> dict[str, Any]:
        """Return what names it in a table."""
        return {
            "configuration": self.number,
            "method": self.choice.name,
            "steps": self.choice.written_steps,
            "k": self.k,
            "epsilon": None if self.epsilon is None else float(self.epsilon),
        }

    def arguments(self) -> dict[str, Any]:
        """Return what `protect` is asked for."""
        return self.choice.arguments(self.k, self.epsilon)

    def seed(self, seed: int, run: int) -> int | None:
        """Return the seed with which `protect` draws a run; None where nothing is drawn."""
        if not self.choice.is_random:
            return None
        epsilon = None if self.epsilon is None else str(self.epsilon)
        method, steps = self.choice.name, self.choice.steps
        name = json.dumps(["microveil compare", seed, method, steps, self.k, epsilon, run])
        digest = hashlib.sha256(name.encode()).digest()
        return int.from_bytes(digest[:8]) >> (64 - SEED_BITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Everything that is to be compared; each k and epsilon ascending."""

    choices: tuple[Choice, ...]
    sizes: tuple[int, ...]
    epsilons: tuple[Fraction, ...]
    runs: int
    configurations: tuple[Configuration, ...]  # by choice, then k, then epsilon

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
    """Make a grid of what a user gave; ``seeded`` where each run has a seed whatever the method."""
    given = arguments or {}
    texts = methods.split(",") if isinstance(methods, str) else _listed(methods, "methods")
    choices = {str(choice): choice for choice in (read_choice(text, parts) for text in texts)}
    if not choices:
        raise RequestError("methods", "there is nothing to compare", "pass methods=['dp-um']")
    _check_different(choices.values(), given)
    sizes, epsilons = read_sizes(k), read_epsilons(epsilon)
    n_runs = read_runs(runs, "runs")
    each = [
        (choice, *request)
        for choice in choices.values()
        for request in choice.requests(sizes, epsilons, given)
    ]
    return Grid(
        choices=tuple(choices.values()),
        sizes=sizes,
        epsilons=epsilons,
        runs=n_runs,
        configurations=tuple(
            Configuration(
                number=number,
                choice=choice,
                k=size,
                epsilon=budget,
                runs=n_runs if choice.is_random or seeded else 1,
            )
            for number, (choice, size, budget) in enumerate(each)
        ),
    )


def _check_different(choices: Iterable[Choice], arguments: Mapping[str, Any]) -> None:
    """Refuse two names of one method: as two they would differ by the luck of their seeds."""
    known: dict[Any, Choice] = {}
    for choice in choices:
        other = known.setdefault(choice.chosen(arguments), choice)
        if other is not choice:
            rule = f"{other} and {choice} are the same: a step that is not named has its default"
            raise RequestError("methods", rule, "leave one of them out")


def read_sizes(given: Any) -> tuple[int, ...]:
    """Read every k: whole numbers, or text with inclusive ranges; ascending, each once."""
    rule, remedy = "k must be a whole number of 1 or more", "pass for example k='3,5,10:100:10'"
    numbers = _numbers(given, "k", rule, remedy)
    if any(number.denominator != 1 for number in numbers):
        raise RequestError("k", rule, remedy)
    return tuple(int(number) for number in numbers)


def read_epsilons(given: Any) -> tuple[Fraction, ...]:
    """Read every epsilon as the exact decimal it is written as; ascending, each once."""
    rule = "epsilon must be a finite number above 0"
    return _numbers(given, "epsilon", rule, "pass for example epsilon='0.01,0.1,1'")


def _numbers(given: Any, place: str, rule: str, remedy: str) -> tuple[Fraction, ...]:
    def read(value: Any) -> Fraction:
        number = as_fraction(value, place, rule, remedy)
        if not 1 / LARGEST <= number <= LARGEST:
            rule_of_size = f"it must lie between {float(1 / LARGEST):g} and {float(LARGEST):g}"
            raise RequestError(place, rule_of_size, remedy)
        return number

    if not isinstance(given, str):
        return tuple(sorted({*map(read, _listed(given, place))}))
    found: set[Fraction] = set()
    for part in given.split(","):
        start, *rest = (read(end) for end in part.strip().split(":"))
        # "5", "3:5" in steps of 1, or "10:100:10": the end belongs to it where it is met.
        end, step = (*rest, Fraction(1))[:2] if rest else (start, Fraction(1))
        if len(rest) > 2 or end < start or (end - start) / step >= MOST_VALUES:
            rule = (
                "a range is START:END or START:END:STEP, END is not below START, and it holds at "
                f"most {MOST_VALUES} values"
            )
            raise RequestError(place, rule, "pass for example 10:100:10")
        found |= {start + i * step for i in range((end - start) // step + 1)}
    return tuple(sorted(found))


def _listed(given: Any, place: str) -> list[Any]:
    if given is None:
        return []
    if isinstance(given, Iterable):
        return list(given)
    if place == "methods":
        raise RequestError(place, "methods are named by text", "pass methods=['dp-um']")
    return [given]
