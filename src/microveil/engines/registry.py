"""The registry of engines: what each is called, and where its class is.

>>> list(ENGINES)
['memory', 'disk']
"""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from microveil.errors import RequestError

if TYPE_CHECKING:  # the command line lists the engines without loading what they compute with
    from microveil.engines.base import Engine

__all__ = ["DEFAULT", "DISK", "ENGINES", "checked", "engine_named", "engine_of"]

DEFAULT, DISK = "memory", "disk"
# A name, and the module and class that carry it out: imported when it is asked for.
ENGINES: dict[str, tuple[str, str]] = {
    DEFAULT: ("microveil.engines.local", "LocalEngine"),
    DISK: ("microveil.engines.disk", "DiskEngine"),
}


def engine_named(name: str, **settings: Any) -> "Engine":
    """Make an engine.

    Parameters
    ----------
    name : str
    **settings
        What the machine gives it, by name; None for what is not said.

    Raises
    ------
    RequestError
        If there is none of that name, or it has no use for a setting.

    Examples
    --------
    >>> type(engine_named("memory")).__name__
    'LocalEngine'
    """
    module, made = ENGINES[checked(name)]
    said = {key: value for key, value in settings.items() if value is not None}
    kind = getattr(importlib.import_module(module), made)
    known = getattr(kind.__init__, "__kwdefaults__", None) or {}
    if alien := [key for key in said if key not in known]:
        raise RequestError(
            alien[0],
            f"the engine {name!r} has no use for it",
            f"leave it out, or pass engine={DISK!r} (--engine {DISK})",
        )
    return cast("Engine", kind(**said))


def engine_of(asked: Mapping[str, Any]) -> "Engine":
    """Make the engine that arguments of `protect` name.

    By default the one in memory, but where it is said how much of that may be taken.
    """
    name, memory = asked.get("engine"), asked.get("memory")
    if memory is not None:
        from microveil.table.memory import bytes_of  # with what it imports, which others do without

        memory = bytes_of(memory)
    by_default = DEFAULT if memory is None else DISK
    return engine_named(
        by_default if name is None else name, memory=memory, scratch=asked.get("scratch")
    )


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
