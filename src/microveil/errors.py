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
Records are counted from 1, lines of a file as an editor counts them.
"""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = [
    "DataError",
    "EngineError",
    "ExactCellsError",
    "FileError",
    "MicroveilError",
    "RequestError",
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

    Examples
    --------
    >>> print(MicroveilError("k", "k must be a whole number of 1 or more", "pass k=10"))
    k: k must be a whole number of 1 or more; pass k=10.
    """

    def __init__(self, place: str, rule: str, remedy: str) -> None:
        super().__init__(place, rule, remedy)
        self.place = place
        self.rule = rule
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.place}: {self.rule}; {self.remedy}."


class RequestError(MicroveilError):
    """What was asked for cannot be carried out."""


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
