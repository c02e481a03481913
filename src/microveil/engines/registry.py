"""The registry of engines: what each is called, and where its class is.

>>> list(ENGINES)
['memory', 'disk', 'spark']
"""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from microveil.errors import EngineError, RequestError

if TYPE_CHECKING:  # the command line lists the engines without loading what they compute with
    from microveil.engines.base import Engine

__all__ = [
    "DEFAULT",
    "DISK",
    "ENGINES",
    "SPARK",
    "checked",
    "engine_named",
    "engine_of",
    "is_of_spark",
    "with_engine",
]

DEFAULT, DISK, SPARK = "memory", "disk", "spark"
# A name, and the module and class that carry it out: imported when it is asked for.
ENGINES: dict[str, tuple[str, str]] = {
    DEFAULT: ("microveil.engines.local", "LocalEngine"),
    DISK: ("microveil.engines.disk", "DiskEngine"),
    SPARK: ("microveil.engines.spark", "SparkEngine"),
}
# Who has a use for what only one engine takes.
OF_ONE = {"memory": DISK, "record_id": SPARK}


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
    try:
        kind = getattr(importlib.import_module(module), made)
    except ImportError:
        raise EngineError(
            "engine",
            f"{name!r} needs libraries that are not installed",
            f"install them with: pip install 'microveil[{name}]'",
        ) from None
    known = getattr(kind.__init__, "__kwdefaults__", None) or {}
    if alien := [key for key in said if key not in known]:
        able = OF_ONE.get(alien[0], DISK)
        raise RequestError(
            alien[0],
            f"the engine {name!r} has no use for it",
            f"leave it out, or pass engine={able!r} (--engine {able})",
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
        by_default if name is None else name,
        memory=memory,
        scratch=asked.get("scratch"),
        record_id=asked.get("record_id"),
    )


def with_engine(asked: Mapping[str, Any], table: Any) -> Mapping[str, Any]:
    """Add to arguments the engine that a table or they themselves call for, unless they name one.

    >>> with_engine({"k": 3}, {}), with_engine({"memory": "2GB"}, {})["engine"]
    ({'k': 3}, 'disk')
    """
    if asked.get("engine"):
        return asked
    if is_of_spark(table):
        return {**asked, "engine": SPARK}
    return asked if asked.get("memory") is None else {**asked, "engine": DISK}


def is_of_spark(table: Any) -> bool:
    """Whether a table is a Spark frame: by its module, so that nothing heavy is imported."""
    return type(table).__module__.startswith("pyspark.sql.")


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
