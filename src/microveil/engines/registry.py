"""The registry of engines: what each is called, and where its class is.

>>> list(ENGINES)
['memory']
"""

import importlib
from typing import TYPE_CHECKING, Any, cast

from microveil.errors import RequestError

if TYPE_CHECKING:  # the command line lists the engines without loading what they compute with
    from microveil.engines.base import Engine

__all__ = ["DEFAULT", "ENGINES", "checked", "engine_named", "engine_of"]

DEFAULT = "memory"
# A name, and the module and class that carry it out: imported when it is asked for.
ENGINES: dict[str, tuple[str, str]] = {DEFAULT: ("microveil.engines.local", "LocalEngine")}


def engine_named(name: str) -> "Engine":
    """Make an engine.

    Raises
    ------
    RequestError
        If there is none of that name.

    Examples
    --------
    >>> type(engine_named("memory")).__name__
    'LocalEngine'
    """
    module, made = ENGINES[checked(name)]
    return cast("Engine", getattr(importlib.import_module(module), made)())


def engine_of(asked: Any) -> "Engine":
    """Make the engine that arguments of `protect` name, or the one in memory."""
    name = asked.get("engine")
    return engine_named(DEFAULT if name is None else name)


def checked(name: Any) -> str:
    """Return the name of an engine.

    Raises
    ------
    RequestError
        If there is none of that name.
    """
    if not isinstance(name, str) or name not in ENGINES:
        raise RequestError(
            "engine", f"it must be one of {', '.join(ENGINES)}", f"pass engine={DEFAULT!r}"
        )
    return name
