"""An argument of a request, declared once: what it takes, and how it is written where."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from microveil.errors import RequestError

__all__ = ["Argument", "Entry", "Flag"]

Value = TypeVar("Value")
TRUTH = {"true": True, "false": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """How an argument is written on the command line.

    Attributes
    ----------
    name : str
        As the program spells it; by default the argument's own.
    help : str
        By default the argument's.
    kind : type
        What its words are read as, which its help shows: str, int, float or bool.
    repeated : bool
        Whether it may be given several times.
    by_column : bool
        Whether it is written NAME=VALUES, of one column each time.
    denied : bool
        Whether there is a --no-NAME too.
    """

    name: str = ""
    help: str = ""
    kind: type = str
    repeated: bool = False
    by_column: bool = False
    denied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """How an argument is written in a recipe.

    Attributes
    ----------
    type : type or None
        What TOML may hold there; None where the recipe's reader makes the argument of others.
    name : str
        The key of an entry by column; by default the argument's name.
    by_column : bool
        Whether it stands in the tables of the attributes, and not at the top.
    needed : bool
        Whether a recipe has to have it there.
    """

    type: Any
    name: str = ""
    by_column: bool = False
    needed: bool = False


# Without slots: what is generic notes its type on a value, which frozen slots refuse by a crash.
@dataclass(frozen=True, kw_only=True, eq=False)
class Argument(Generic[Value]):
    """What may be asked of a release, or of one method.

    Attributes
    ----------
    name : str
    help : str
        In one sentence, as the command line shows it.
    read : callable
        From what was given to the checked value; raises `RequestError`.
    choices : tuple of str
        The values that it may have, where they are listed.
    takes : str
        What it takes, in words, where they are not.
    default : object
        Its value where none is given.
    flags : tuple of Flag
        The first is its own; others say a part of it.
    entry : Entry or None
    fit : callable or None
        From its value and the names of the protected attributes to the value that a method sees.
    sets_aside : tuple of str, or dict of them by choice
        Arguments that have no use beside it.
    passes_over : bool
        Whether a choice that another method offers is passed over, and not refused.
    write : callable or None
        From its value to what stands for it in a manifest, where that is not the value itself.
    of_table : bool
        Whether it is said of the table, and never of some of its attributes alone, where a
        release has several parts: as whatever goes by column is.

    Examples
    --------
    >>> speed = Argument[str](name="speed", help="slow or fast.", choices=("slow", "fast"))
    >>> speed.checked("fast"), speed.of("fast").default
    ('fast', 'fast')
    >>> speed.checked("faster")
    Traceback (most recent call last):
    microveil.errors.RequestError: speed: it must be one of slow, fast; pass speed='slow'.
    """

    name: str
    help: str
    read: Callable[[Any], Value] = lambda given: given
    choices: tuple[str, ...] = ()
    takes: str = ""
    default: Any = None
    flags: tuple[Flag, ...] = ()
    entry: Entry | None = None
    fit: Callable[[Any, Sequence[str]], Value] | None = None
    sets_aside: tuple[str, ...] | Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    passes_over: bool = False
    write: Callable[[Value], Any] | None = None
    of_table: bool = False

    @property
    def of_part(self) -> bool:
        """Whether a part of a release says it, for its own attributes."""
        return not self.of_table and not self.by_column

    @property
    def by_column(self) -> bool:
        """Whether it maps column names to values."""
        return self.entry is not None and self.entry.by_column

    @property
    def is_step(self) -> bool:
        """Whether one word says it, so that it can be written behind a method's id."""
        return bool(self.flags) and not self.flags[0].repeated

    def of(
        self, *choices: str, sets_aside: Mapping[str, tuple[str, ...]] | None = None
    ) -> "Argument[Value]":
        """Return the argument as a method offers it: with its own choices, the default first."""
        default = choices[0] if choices else self.default
        aside = self.sets_aside if sets_aside is None else sets_aside
        return replace(self, choices=choices, default=default, sets_aside=aside)

    def checked(self, given: Any) -> Value:
        """Return the value of what was given.

        Raises
        ------
        RequestError
            If it is of the wrong kind, out of range or none of the choices.
        """
        if self.choices and (not isinstance(given, str) or given not in self.choices):
            raise RequestError(
                self.name,
                f"it must be one of {', '.join(self.choices)}",
                f"pass {self.name}={self.choices[0]!r}",
            )
        return self.read(given)

    def from_text(self, text: str) -> Value:
        """Return the value of one word, as behind a method's id.

        Raises
        ------
        RequestError
            As `checked` does.
        """
        kind = self.flags[0].kind
        if kind is bool:
            return self.checked(TRUTH.get(text, text))
        is_whole = kind is int and re.fullmatch(r"-?[0-9]+", text) is not None
        return self.checked(int(text) if is_whole else text)

    def beside(self, value: Any) -> tuple[str, ...]:
        """Return the arguments that have no use beside a value of this one."""
        if isinstance(self.sets_aside, tuple):
            return () if value is None else self.sets_aside
        return self.sets_aside.get(value, ()) if isinstance(value, str) else ()

    def written_choices(self) -> tuple[str, ...]:
        """Return what may be written for it in one word: its choices, or in words what it takes."""
        own = bool(self.flags) and self.flags[0].kind is bool
        return self.choices or (tuple(TRUTH) if own else (self.takes,))
