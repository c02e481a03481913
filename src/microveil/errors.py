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
several rules is refused once, with all of them, and so is a file: a line for each.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

__all__ = [
    "DataError",
    "EngineError",
    "ExactCellsError",
    "FileError",
    "MicroveilError",
    "Problems",
    "RequestError",
    "one_error",
    "stands_alone",
]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


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

    def __init__(self, place: str, rule: str, remedy: str) -> None:
        super().__init__(place, rule, remedy)
        self.place = place
        self.rule = rule
        self.remedy = remedy

    @property
    def problems(self) -> "tuple[MicroveilError, ...]":
        """Itself, or each of what is refused together."""
        return self._several or (self,)

    def __str__(self) -> str:
        alone = f"{self.place}: {self.rule}; {self.remedy}."
        return "\n".join(map(str, self._several)) or alone


class RequestError(MicroveilError):
    """What was asked for cannot be carried out."""


def one_error(problems: Sequence[MicroveilError]) -> MicroveilError:
    """Make one error of all problems of a request or a file; of one alone that one.

    >>> print(one_error([RequestError("k", "a", "b"), RequestError("seed", "c", "d")]))
    k: a; b.
    seed: c; d.
    """
    first = problems[0]
    if len(problems) == 1:
        return first
    kind = FileError if isinstance(first, FileError) else RequestError
    error = kind(first.place, first.rule, first.remedy)
    error._several = tuple(problems)  # noqa: SLF001 -- made here
    return error


class Problems(list[MicroveilError]):
    """The problems of a request: collected, and refused together.

    >>> problems = Problems()
    >>> for place in ("k", "seed"):
    ...     with problems.noted():
    ...         raise RequestError(place, "it is odd", "pass 4")
    >>> [problem.place for problem in problems]
    ['k', 'seed']
    """

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Take down what is refused inside, and go on behind it."""
        try:
            yield
        except RequestError as error:
            error.__context__ = None
            self += error.problems

    def add(self, place: str, rule: str, remedy: str) -> None:
        """Take down a problem."""
        self.append(RequestError(place, rule, remedy))

    def refuse(self) -> None:
        """Raise what was taken down, if anything."""
        if self:
            raise one_error(self)


class EngineError(RequestError):
    """The engine has no such step: another engine, or another method, will do.

    >>> print(
    ...     EngineError(
    ...         "partition",
    ...         "this engine does not form clusters by distance",
    ...         "pass partition='ranking'",
    ...     )
    ... )
    partition: this engine does not form clusters by distance; pass partition='ranking'.
    """


class DataError(MicroveilError):
    """The table breaks a rule."""


class ExactCellsError(DataError):
    """Clusters of equal values would be published as they are."""


class FileError(MicroveilError):
    """A file or folder cannot be read or written."""


def stands_alone(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let no other error hang on those that a public function raises.

    ``raise ... from None`` hides the error of a library, but it stays attached, and with it
    the bytes or values it complains of; whatever reports crashes would carry them along. Memory
    that runs out becomes one of them, too.

    >>> @stands_alone
    ... def read() -> None:
    ...     try:
    ...         int("a value")
    ...     except ValueError:
    ...         raise DataError("record 1", "it must be a number", "correct it") from None
    >>> try:
    ...     read()
    ... except DataError as error:
    ...     print(error.__context__)
    None
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
