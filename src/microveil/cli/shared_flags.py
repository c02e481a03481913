"""Flags that several commands have: as the signature of a function, or declared by arguments."""

import copy
import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, get_args

import typer

__all__ = ["Command", "declared", "takes"]

Command = Callable[..., None]


def declared(name: str, taken: Any, words: str, *, denied: bool = False) -> inspect.Parameter:
    """Return a flag as a keyword argument of a command: what it takes, its help, if it has a no.

    >>> declared("seed", int, "Experiments only.").annotation.__args__
    (int | None,)
    """
    written = f"--{name.replace('_', '-')}"
    kind: Any = list[str] if taken in (list, dict) else taken
    if denied:
        written = f"{written}/--no-{written.removeprefix('--')}"
    option = typer.Option(written, help=words)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, option],
    )


def takes(
    name: str,
    flags: Callable[..., Any],
    *,
    without: Collection[str] = (),
    helps: Mapping[str, str] | None = None,
) -> Callable[[Command], Command]:
    """Give a command the flags of a function; it gets what that makes of them as an argument.

    Parameters
    ----------
    name : str
        Of the command's argument.
    flags : callable
        Its keyword arguments are what the command line shows.
    without : collection of str
        Flags that the command does not have: they keep their defaults.
    helps : mapping of str
        The help of flags that mean something else to the command, by their names.

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
    >>> @takes("area", size, without=("height",))
    ... def line(area: int) -> None:
    ...     print(area)
    >>> line(width=5)
    15
    """
    every = inspect.signature(flags).parameters.values()
    shared = [_with_help(flag, (helps or {}).get(flag.name)) for flag in every]
    shared = [flag for flag in shared if flag.name not in without]

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


def _with_help(flag: inspect.Parameter, words: str | None) -> inspect.Parameter:
    """Return a flag with another help."""
    if words is None:
        return flag
    kind, option = get_args(flag.annotation)
    option = copy.copy(option)
    option.help = words
    return flag.replace(annotation=Annotated[kind, option])
