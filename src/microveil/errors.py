"""The errors a user can meet.

::

    MicroveilError (ValueError)
    ├── RequestError      what was asked for cannot be carried out
    │   └── EngineError       not by this engine
    ├── DataError         the table breaks a rule
    │   └── ExactCellsError   cells would be published as they are
    └── FileError         a file or folder cannot be read or written

Every message has three parts: the place, the rule that is broken there, and the
remedy. None ever holds a value of the data: messages end up in logs and tickets.
Records are counted from 1, lines of a file as an editor counts them. A request that breaks
several rules is refused once, with all of them, and so is a file: columns that break the same rule
share a line, which names the first of many, and what is still to be said of columns stands below,
as it is to be written.
"""

import copy
import functools
import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
# How a request is written: keyword arguments, flags of a command, a recipe, fields of a form.
Written = Literal["arguments", "flags", "recipe", "fields"]

# Of more columns the first are named.
MOST_NAMED, FIRST_NAMED = 10, 5
# What columns need, by the argument that says it: in words, what else would do, and what stands for
# it in each form until it is filled in. Dots are refused as values.
_NEEDS = {
    "bounds": (
        "bounds, the domain of their values as publicly known",
        "Reading them from the data (--bounds-from-data 1.5) shows the largest value to everybody.",
        ("(..., ...)", "...:...", '["...", "..."]'),
    ),
    "resolution": (
        "a resolution, the step to which values are rounded",
        "It is 0.01 for hundredths, 1 for whole ones; --resolution-from-data reveals the decimals.",
        ("...", "...", '"..."'),
    ),
    "categories": ("a list of all their categories", "", ("[...]", "...", '["..."]')),
}
_FILL_IN = {
    "arguments": "Fill in the dots, and pass:",
    "flags": "Fill in the dots, and add to the command:",
    "recipe": "Fill in the dots, and put these lines at the top of the recipe:",
}
# A place that is about one column: what is said of it, its name, and in how many records.
_OF_COLUMN = re.compile(r"(?P<of>[^']*) '(?P<name>.*)'(?:, (?P<where>[^']*))?", re.DOTALL)


class MicroveilError(ValueError):
    """What microveil raises when a request, a table or a file breaks a rule.

    Parameters
    ----------
    place : str
        Where: an argument, an attribute and record, a file and line.
    rule : str
        What must hold there.
    remedy : str
        What the user can do.

    Attributes
    ----------
    problems : tuple of MicroveilError
        All of them, where there are several: place, rule and remedy are the first one's, and the
        message has a line for each.

    Examples
    --------
    >>> print(MicroveilError("k", "k must be a whole number of 1 or more", "pass k=10"))
    k: k must be a whole number of 1 or more; pass k=10.
    """

    _several: "tuple[MicroveilError, ...]" = ()
    _written: Written = "arguments"
    _lacks: tuple[str, str] | None = None

    def __init__(self, place: str, rule: str, remedy: str) -> None:
        super().__init__(place, rule, remedy)
        self.place, self.rule, self.remedy = place, rule, remedy

    @property
    def problems(self) -> "tuple[MicroveilError, ...]":
        """Itself, or each of what is refused together."""
        return self._several or (self,)

    def __str__(self) -> str:
        return "\n".join(lines_of(self, self._written))


class RequestError(MicroveilError):
    """What was asked for cannot be carried out."""


def one_error(problems: Sequence[MicroveilError]) -> MicroveilError:
    """Make one error of all problems of a request or a file; of one alone that one."""
    first = problems[0]
    if len(problems) == 1:
        return first
    of_one = (kind for kind in (FileError, DataError) if all(isinstance(p, kind) for p in problems))
    error = next(of_one, RequestError)(first.place, first.rule, first.remedy)
    error._several = tuple(problems)  # noqa: SLF001 -- made here
    return error


def gap(argument: str, column: str, place: str, rule: str, remedy: str) -> RequestError:
    """Make the error about what a person has to say: of a column, or without one of all.

    Of a column these are bounds, resolution and categories, of all epsilon and k.
    """
    error = RequestError(place, rule, remedy)
    error._lacks = argument, column  # noqa: SLF001 -- made here
    return error


def lacked(problem: MicroveilError) -> tuple[str, str] | None:
    """Return the argument and the column that a problem is a gap of; None of other problems."""
    return problem._lacks  # noqa: SLF001 -- made here


def moved(problem: MicroveilError, place: str) -> MicroveilError:
    """Return the same error, for another place."""
    own = copy.copy(problem)
    own.place, own.args = place, (place, own.rule, own.remedy)
    return own


@contextmanager
def written_as(written: Written) -> Iterator[None]:
    """Say of an error in which form its request is written, so that it says how to go on."""
    try:
        yield
    except MicroveilError as error:
        error._written = written  # noqa: SLF001 -- as its message is made here
        raise


def lines_of(error: MicroveilError, written: Written) -> list[str]:
    """Return a message line by line, for a request that is written in one of the forms."""
    lacks = lacked(error)
    if len(error.problems) == 1 and (lacks is None or not lacks[1]):
        return [f"{error.place}: {error.rule}; {error.remedy}."]
    return _grouped(error.problems, written)


def _grouped(problems: Sequence[MicroveilError], written: Written) -> list[str]:
    """Say what is refused together: columns of one rule in a line, then what is to be said."""
    groups: dict[tuple[str, ...], list[MicroveilError]] = {}
    gaps: dict[str, list[str]] = {}
    for number, problem in enumerate(problems):
        found, lacks = _OF_COLUMN.fullmatch(problem.place), lacked(problem)
        key: tuple[str, ...] = (f"{number}",)
        if found is not None:
            # A remedy may name its column as an example.
            own_name = rf"(?<!\w){re.escape(found['name'])}(?!\w)"
            key = found["of"], problem.rule, re.sub(own_name, "", problem.remedy)
        # Without a column it is of all, but where one part has an entry of its own.
        if lacks is not None and (lacks[1] or problem.place == lacks[0]):
            key = (lacks[0],)
            columns = gaps.setdefault(lacks[0], [])
            columns += [] if lacks[1] in columns else [lacks[1]]
        groups.setdefault(key, []).append(problem)
    lines = [
        _needed(key[0], gaps[key[0]], written)
        if key[0] in _NEEDS
        else _together(group[:1] if key[0] in gaps else group)
        for key, group in groups.items()
    ]
    return [*lines, *_to_fill_in(gaps, written)] if gaps and written != "fields" else lines


def _key(name: str) -> str:
    """Write a column's name as a key of a recipe."""
    is_bare = re.fullmatch(r"[A-Za-z0-9_-]+", name) is not None
    return name if is_bare else json.dumps(name, ensure_ascii=False)


def _together(group: Sequence[MicroveilError]) -> str:
    """Say of several columns at once what breaks one rule in each of them."""
    first = group[0]
    if len(group) == 1:
        return str(first)
    found = [one for problem in group if (one := _OF_COLUMN.fullmatch(problem.place))]
    named = [
        f"'{one['name']}' ({one['where']})" if one["where"] else f"'{one['name']}'" for one in found
    ]
    names = ", ".join(named)
    if len(named) > MOST_NAMED:
        names = f"{', '.join(named[:FIRST_NAMED])} and {len(named) - FIRST_NAMED:,} more"
    plural = re.sub("entry$", "entries", re.sub("(attribute|column)$", r"\1s", found[0]["of"]))
    return f"{plural} {names}: {first.rule}; {first.remedy}."


def _needed(argument: str, columns: Sequence[str], written: Written) -> str:
    subject = "1 column needs" if len(columns) == 1 else f"{len(columns)} columns need"
    needs, instead, _ = _NEEDS[argument]
    # What is to be filled in names all of them below, but for fields of a form.
    is_short = len(columns) <= MOST_NAMED or written == "fields"
    named = ", ".join(columns if is_short else columns[:FIRST_NAMED])
    more = "" if is_short else f" and {len(columns) - FIRST_NAMED:,} more"
    line = f"{subject} {needs}: {named}{more}."
    return f"{line} {instead}" if instead and written != "fields" else line


def _to_fill_in(gaps: dict[str, list[str]], written: Written) -> list[str]:
    """Write down what closes the gaps, with dots for what a person has to know."""
    of_all = [argument for argument, columns in gaps.items() if columns == [""]]
    gaps = {argument: columns for argument, columns in gaps.items() if argument not in of_all}
    pairs = [(argument, name) for argument, columns in gaps.items() for name in columns]
    if written == "recipe":
        # Dotted keys stand above all headings, whatever tables of attributes there are below.
        lines = [f'  {argument} = "..."' for argument in of_all]
        lines += [f"  {a}.{_key(name)} = {_NEEDS[a][2][2]}" for a, name in pairs]
    elif written == "flags":
        flags = [f"--{argument} ..." for argument in of_all]
        flags += [f"--{a} {shlex.quote(f'{name}={_NEEDS[a][2][1]}')}" for a, name in pairs]
        lines = [f"  {' '.join(flags)}"]
    else:
        lines = [f"  {argument}=...," for argument in of_all]
        lines += [
            f"  {a}={{{', '.join(f'{name!r}: {_NEEDS[a][2][0]}' for name in columns)}}},"
            for a, columns in gaps.items()
        ]
    return [_FILL_IN[written], *lines]


class Problems(list[MicroveilError]):
    """The problems of a request: collected, and refused together."""

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Take down what is refused inside, and go on behind it."""
        try:
            yield
        except (RequestError, DataError) as error:
            error.__context__ = None
            self.extend(error.problems)

    def extend(self, problems: Iterable[MicroveilError]) -> None:
        """Take down more problems, each of them once."""
        known = [(problem.place, problem.rule) for problem in self]
        for problem in problems:
            if (problem.place, problem.rule) not in known:
                self.append(problem)

    def add(self, place: str, rule: str, remedy: str) -> None:
        """Take down a problem."""
        self.append(RequestError(place, rule, remedy))

    def refuse(self, *, into: "Problems | None" = None) -> None:
        """Raise what was taken down, if anything; or hand it on to other problems."""
        if into is not None:
            into.extend(self)
        elif self:
            raise one_error(self)


class EngineError(RequestError):
    """The engine has no such step: another engine, or another method, will do."""


class DataError(MicroveilError):
    """The table breaks a rule."""


class ExactCellsError(DataError):
    """Clusters of equal values would be published as they are."""


class FileError(MicroveilError):
    """A file or folder cannot be read or written."""


def refused_by_system(place: object, rule: str, error: OSError, remedy: str) -> FileError:
    """Return the error about a place that the system refuses, in its words."""
    reason = os.strerror(error.errno) if error.errno else "unknown reason"
    return FileError(f"{place}", f"{rule}, and the system says: {reason}", remedy)


def stands_alone(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let no other error hang on those that a public function raises.

    ``raise ... from None`` hides the error of a library, but it stays attached, and with it
    the bytes or values it complains of; whatever reports crashes would carry them along. Memory
    that runs out becomes one of them, too.
    """

    @functools.wraps(function)
    def alone(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except MicroveilError as error:
            error.__context__ = None
            raise
        except MemoryError:
            pass
        raise DataError(
            "memory",
            "the table and what is calculated of it must fit into it, and they do not",
            "name fewer columns (--attributes), or use a machine with more memory",
        )

    return alone
