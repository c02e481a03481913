"""Who carries out a request, by name."""

from typing import Any

from microveil.errors import RequestError

__all__ = ["DEFAULT", "ENGINES", "SPARK", "checked"]

DEFAULT, SPARK = "memory", "spark"
ENGINES = (DEFAULT, "disk", SPARK)


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
