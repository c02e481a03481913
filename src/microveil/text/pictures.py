"""Pictures of values, which a notebook asks these for: they are drawn in a room far above."""

from importlib import import_module
from typing import Any

__all__ = ["pictured"]


def pictured(what: str, *given: Any) -> Any:
    """Call a function of `report.plots`, which is loaded when it is asked for."""
    return getattr(import_module("microveil.report.plots"), what)(*given)
