"""Flags that several commands have, declared once: as the signature of a function."""

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["Command", "takes"]

Command = Callable[..., None]


def takes(name: str, flags: Callable[..., Any]) -> Callable[[Command], Command]:
    """Give a command the flags of a function; it gets what that makes of them as an argument.

    Parameters
    ----------
    name : str
        Of the command's argument.
    flags : callable
        Its keyword arguments are what the command line shows.

    Examples
    --------
    >>> def size(*, width: int = 2, height: int = 3) -> int:
    ...     return width * height
    >>> @takes("area", size)
    ... def paint(colour: str, area: int) -> None:
    ...     print(colour, area)
    >>> inspect.signature(paint)
    <Signature (*, colour: str, width: int = 2, height: int = 3)>
    >>> paint(colour="red", width=5, height=2)
    red 10
    """
    shared = list(inspect.signature(flags).parameters.values())

    def given(command: Command) -> Command:
        own = [p for p in inspect.signature(command).parameters.values() if p.name != name]

        def run(**arguments: Any) -> None:
            chosen = {flag.name: arguments.pop(flag.name) for flag in shared}
            command(**arguments, **{name: flags(**chosen)})

        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*own, *shared)]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__annotations__ = {}
        return run

    return given
