"""Estimators of scikit-learn as values: whether two of them are the same.

Two estimators are the same if their classes and all their settings are, those of what is
nested in them too, every float to its last digit. What `repr` shows is not enough for that: it
is cut in the middle, rounds arrays, and names functions by where they lie in memory.
"""

import hashlib
import pickle
import secrets
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any

import numpy as np

__all__ = ["UNKNOWN", "digest_of_estimator"]

# What a digest begins with that no other one is equal to.
UNKNOWN = "cannot be known again: "
MOST_NESTED = 40
PLAIN = {bool, int, float, complex, str, bytes, range, slice}


def digest_of_estimator(estimator: object) -> str:
    """Return a SHA-256 of an estimator's class and of all its settings, those of nested ones too.

    Where something in it cannot be described, for example an open file, a text that begins with
    `UNKNOWN` and is another one each time.

    >>> digest_of_estimator(0.3) == digest_of_estimator(0.1 + 0.2)
    False
    """
    try:
        described = _described(estimator, 0)
    except Exception:  # noqa: BLE001 -- objects of the user's may raise anything
        return UNKNOWN + secrets.token_hex(16)
    return hashlib.sha256(described.encode("utf-8", "surrogatepass")).hexdigest()


def _described(value: Any, depth: int) -> str:
    """Write a value so that no other one is written alike."""
    if depth > MOST_NESTED:
        raise RecursionError
    kind = type(value)

    def inner(part: Any) -> str:
        return _described(part, depth + 1)

    if value is None or kind in PLAIN:
        written = repr(value)
    elif isinstance(value, np.ndarray):
        written = f"{value.dtype.str}{value.shape}{_contents(value, inner)}"
    elif kind in {list, tuple}:
        written = ",".join(map(inner, value))
    elif kind in {set, frozenset}:
        written = ",".join(sorted(map(inner, value)))
    elif kind is dict:
        # In its own order: that of steps or classes may mean something.
        written = ",".join(f"{inner(key)}={inner(part)}" for key, part in value.items())
    elif isinstance(value, type | BuiltinFunctionType | np.ufunc):
        written = _name(value)
    elif isinstance(value, FunctionType):
        written = _function(value, inner)
    else:
        written = _object(value, inner)
    return f"{_name(kind)}({written})"


def _name(value: Any) -> str:
    module = getattr(value, "__module__", None)
    return f"{module}.{getattr(value, '__qualname__', None) or value.__name__}"


def _contents(array: np.ndarray[Any, Any], inner: Callable[[Any], str]) -> str:
    if array.dtype.hasobject:
        return inner(array.tolist())
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def _function(value: FunctionType, inner: Callable[[Any], str]) -> str:
    """Write a function of Python: its name, its code, its defaults and what it closes over."""
    closed = [cell.cell_contents for cell in value.__closure__ or ()]
    beside = inner([value.__defaults__, value.__kwdefaults__, closed])
    return f"{_name(value)}({_code(value.__code__, inner)},{beside})"


def _code(code: CodeType, inner: Callable[[Any], str]) -> str:
    constants = [
        _code(part, inner) if isinstance(part, CodeType) else inner(part) for part in code.co_consts
    ]
    return inner([code.co_code, code.co_names, code.co_varnames, constants])


def _object(value: Any, inner: Callable[[Any], str]) -> str:
    settings = getattr(value, "get_params", None)
    if not callable(settings):
        return hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()
    given: Mapping[str, Any] = settings(deep=False)
    written = ",".join(f"{name}={inner(part)}" for name, part in sorted(given.items()))
    if _clones_itself(value):
        # Such as a frozen estimator: what it has learnt already is part of it.
        written += f",{hashlib.sha256(pickle.dumps(value, protocol=5)).hexdigest()}"
    return f"({written})"


def _clones_itself(value: Any) -> bool:
    """Say whether a copy of an estimator holds more than its settings."""
    own = getattr(type(value), "__sklearn_clone__", None)
    return own is not None and not getattr(own, "__module__", "").startswith("sklearn.base")
