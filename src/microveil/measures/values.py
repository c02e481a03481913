"""Kinds of arrays, samples of records, and values as JSON knows them."""

import importlib
import math
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]


def library(module: str, place: str) -> Any:
    """Import a library that not every installation has."""
    try:
        return importlib.import_module(module)
    except ImportError:
        name = "scikit-learn" if module.startswith("sklearn") else module
        rule = f"it needs {name}, which is not installed"
        remedy = "install it with: pip install 'microveil[report]'"
        raise RequestError(place, rule, remedy) from None


def drawn(n_records: int, most: int, random: np.random.Generator) -> Whole:
    """Return at most so many positions of records, drawn at random, ascending."""
    if n_records <= most:
        return np.arange(n_records)
    return np.sort(random.choice(n_records, most, replace=False)).astype(np.int64)


def as_json(found: Any, *properties: str) -> dict[str, Any]:
    """Return the fields of a dataclass, and properties by their names, as JSON knows them."""
    names = (*found.__dataclass_fields__, *properties)
    return {name: plain(getattr(found, name)) for name in names}


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: undefined numbers as None, parts by `to_dict` or fields."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return as_json(value) if is_dataclass(value) else value
