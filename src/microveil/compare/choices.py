"""What is compared: a method with its steps, or the parts of a recipe, at a k and an epsilon."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from microveil.errors import RequestError
from microveil.methods import METHODS, Method
from microveil.protect.arguments import DECLARED, TRUTH, Argument
from microveil.protect.parts import Part, read_parts
from microveil.protect.request import offered

__all__ = ["Choice", "PartsChoice", "check_different", "read_choice"]

# What stands for several parts among methods.
PARTS = "parts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A method, with the steps that were chosen for it.

    Attributes
    ----------
    method : Method
    steps : tuple of (str, str)
        Name and value of each, in the order of their names.
    """

    method: Method
    steps: tuple[tuple[str, str], ...] = ()

    @property
    def written_steps(self) -> str:
        """The steps as they are written behind a method's id: "partition=optimal"."""
        return ":".join(f"{name}={value}" for name, value in self.steps)

    @property
    def name(self) -> str:
        """The method's id."""
        return self.method.id

    @property
    def is_random(self) -> bool:
        """Whether a run differs from the next."""
        return self.method.randomness is not None

    @property
    def is_synthetic(self) -> bool:
        """Whether rows follow nobody."""
        return "new table" in self.method.can

    @property
    def needs_bounds(self) -> bool:
        """Whether attributes must have a declared domain."""
        return "bounds" in self.method.needs

    def __str__(self) -> str:
        """Write the choice as it is asked for."""
        return ":".join([self.name, *([self.written_steps] if self.steps else [])])

    def arguments(self, k: int | None, epsilon: Fraction | None) -> dict[str, Any]:
        """Return the arguments of `protect` that the choice stands for, at one k and epsilon.

        A delta given for all is an allowance: a method that needs none keeps epsilon without.
        """
        known = _steps(self.method)
        given = {name: known[name].from_text(value) for name, value in self.steps}
        own = {"method": self.method.id, **given, "k": k, "epsilon": epsilon}
        return own if "delta" in self.method.can else {**own, "delta": None}

    def sizes(self, sizes: tuple[int, ...], arguments: Mapping[str, Any]) -> tuple[int | None, ...]:
        """Return each k to be tried: none where the method has no use for it."""
        given = {**arguments, **dict(self.steps)}
        if "k" not in self.method.needs or "k" in self.method.set_aside(given):
            return (None,)
        if not sizes:
            raise RequestError(
                "k", f"{self.name} forms clusters and needs k", "pass k=[3, 10, 100]"
            )
        return sizes

    def epsilons(self, epsilons: tuple[Fraction, ...]) -> tuple[Fraction | None, ...]:
        """Return each epsilon to be tried: none where the method spends none."""
        method = self.method
        if "epsilon" not in method.needs or (method.may_lack_epsilon and not epsilons):
            return (None,)
        if not epsilons:
            raise RequestError(
                "epsilon", f"{method.id} draws noise and needs a budget", "pass epsilon=[0.1, 1]"
            )
        return epsilons

    def chosen(self, arguments: Mapping[str, Any]) -> tuple[str, frozenset[Any]]:
        """Return its name with the value of every step, named or not."""
        given = {**arguments, **dict(self.steps)}
        values: set[Any] = set()
        for name, argument in _steps(self.method).items():
            text = str(given.get(name, argument.default)).lower()
            values.add((name, _value(argument, text)))
        return self.name, frozenset(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsChoice:
    """Several parts, as they were asked for, beside methods that protect the whole.

    Attributes
    ----------
    parts : tuple of Part
    """

    parts: tuple[Part, ...]

    @property
    def written_steps(self) -> str:
        """None: the parts have theirs."""
        return ""

    @property
    def steps(self) -> tuple[tuple[str, str], ...]:
        """None: the parts have theirs."""
        return ()

    @property
    def name(self) -> str:
        """What stands for the parts in a table of methods."""
        return PARTS

    @property
    def is_random(self) -> bool:
        """Whether a run differs from the next."""
        return any(method.randomness is not None for method in self._methods())

    @property
    def is_synthetic(self) -> bool:
        """Whether rows follow nobody: never those of a part."""
        return False

    @property
    def needs_bounds(self) -> bool:
        """Whether attributes must have a declared domain."""
        return any("bounds" in method.needs for method in self._methods())

    def __str__(self) -> str:
        """Write the choice as it is asked for."""
        return self.name

    def arguments(self, k: int | None, epsilon: Fraction | None) -> dict[str, Any]:
        """Return the arguments of `protect`: epsilon is divided as the parts' own are."""
        del k  # each part has its own
        asked: Sequence[Part] = self.parts
        if epsilon is not None:
            times = epsilon / self._asked_for()
            asked = [
                replace(one, asked={**one.asked, "epsilon": times * _epsilon_of(one)})
                if _spends(one)
                else one
                for one in self.parts
            ]
        return {"parts": asked, "attributes": None, "delta": None}

    def sizes(self, sizes: tuple[int, ...], arguments: Mapping[str, Any]) -> tuple[int | None, ...]:
        """Return none: each part has a k of its own."""
        del sizes, arguments
        return (None,)

    def epsilons(self, epsilons: tuple[Fraction, ...]) -> tuple[Fraction | None, ...]:
        """Return each epsilon to be tried, by default the parts' own."""
        return epsilons if epsilons and self._asked_for() else (None,)

    def chosen(self, arguments: Mapping[str, Any]) -> tuple[str, frozenset[Any]]:
        """Return its name."""
        del arguments
        return self.name, frozenset()

    def _asked_for(self) -> Fraction:
        given = (_epsilon_of(one) for one in self.parts if _spends(one))
        return sum(given, Fraction(0))

    def _methods(self) -> list[Method]:
        named = (str(one.asked["method"]) for one in self.parts)
        return [METHODS[name] for name in named if name in METHODS]


def _spends(part: Part) -> bool:
    method = METHODS.get(str(part.asked["method"]))
    return "epsilon" in part.asked and method is not None and "epsilon" in method.needs


def _epsilon_of(part: Part) -> Fraction:
    return Fraction(DECLARED["epsilon"].checked(part.asked["epsilon"]))


def read_choice(text: Any, parts: Any = None) -> Choice | PartsChoice:
    """Read a method with its steps, or the word that stands for given parts.

    Raises
    ------
    RequestError
        If there is no such method, or it does not offer the step.

    Examples
    --------
    >>> str(read_choice("kanon-dp:sensitivity=vector"))
    'kanon-dp:sensitivity=vector'
    """
    name, *steps = str(text).strip().split(":")
    if name == PARTS and not steps:
        if parts is None:
            raise RequestError(
                f"method '{PARTS}'",
                "it stands for the parts of a recipe, and there are none",
                "pass parts=[microveil.part(...), ...], or a recipe with [[parts]]",
            )
        return PartsChoice(parts=read_parts(parts))
    if name not in METHODS:
        raise RequestError(
            f"method '{name}'", "there is no such method", f"choose from {', '.join(METHODS)}"
        )
    method = METHODS[name]
    read: dict[str, str] = {}
    for step in steps:
        key, _, value = step.partition("=")
        if key in read:
            raise RequestError(f"method '{text}'", f"{key} is given twice", "give it once")
        place, argument = f"step '{step}' of {name}", _steps(method).get(key)
        if argument is None:
            raise RequestError(place, "the method does not offer it", f"pass {_steps_of(method)}")
        if _value(argument, value) is None:
            own = tuple(TRUTH) if argument.flag is bool else (argument.takes,)
            values = ", ".join(argument.choices or own)
            raise RequestError(place, "it has no such value", f"pass one of {values}")
        read[key] = value
    return Choice(method=method, steps=tuple(sorted(read.items())))


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


def check_different(choices: Iterable[Choice | PartsChoice], arguments: Mapping[str, Any]) -> None:
    """Refuse two names of one method: as two they would differ by the luck of their seeds."""
    known: dict[Any, Choice | PartsChoice] = {}
    for choice in choices:
        other = known.setdefault(choice.chosen(arguments), choice)
        if other is not choice:
            raise RequestError(
                "methods",
                f"{other} and {choice} are the same: a step that is not named has its default",
                "leave one of them out",
            )


def _steps_of(method: Method) -> str:
    offered = list(_steps(method))
    return f"steps out of {', '.join(offered)}" if offered else "it without steps"
