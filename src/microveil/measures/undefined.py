"""Figures that may be undefined, as JSON knows them."""

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["as_json", "none_if_undefined", "plain"]


def none_if_undefined(value: float) -> float | None:
    """Return a figure, or None where it is NaN or infinite, which JSON does not know.

    >>> none_if_undefined(0.5), none_if_undefined(math.nan)
    (0.5, None)
    """
    return value if math.isfinite(value) else None


def as_json(found: Any, *properties: str) -> dict[str, Any]:
    """Return the fields of a dataclass, and properties by their names, as JSON knows them."""
    names = (*found.__dataclass_fields__, *properties)
    return {name: plain(getattr(found, name)) for name in names}


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: a number that is undefined as None, parts by `to_dict`.

    >>> plain({"AGE": (1.5, math.nan)})
    {'AGE': [1.5, None]}
    """
    if isinstance(value, float):
        return none_if_undefined(value)
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value.to_dict() if hasattr(value, "to_dict") else value
