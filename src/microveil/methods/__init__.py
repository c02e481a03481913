"""The papers' methods, their plans and promises, and the registry; arrays in, no frames, no files.

>>> [method.id for method in METHODS.values()][:4]
['laplace', 'dp-um', 'idp-ls', 'idp-cbls']
"""

from typing import Any

from microveil.methods import (
    idp2025,
    kanon2013,
    knoise,
    microaggregation,
    record2018,
    synthetic,
    vector,
)
from microveil.methods.base import METHODS, Choices, Method, Promise, Setting

__all__ = ["METHODS", "Choices", "Method", "Promise", "Setting", "methods", "register"]

_MODULES = (idp2025, vector, kanon2013, record2018, microaggregation, knoise, synthetic)


# By the id of a method, the arguments that it brings along from outside the package.
BROUGHT: dict[str, tuple[Any, ...]] = {}


def register(method: Method, *arguments: Any) -> None:
    """Add a method: flags, entries of recipes, checks and help follow from what it declares.

    Parameters
    ----------
    method : Method
    *arguments : protect.arguments.Argument
        Those of its arguments that no method of the package has.

    Raises
    ------
    ValueError
        If there is another method of its id, or an argument of it is not its own to declare.
    """
    if METHODS.get(method.id, method) != method:
        raise ValueError(f"there is another method of the id {method.id}")
    for argument in arguments:
        argument.check_new()
    METHODS[method.id], BROUGHT[method.id] = method, arguments


for _module in _MODULES:
    for _method in _module.METHODS:
        register(_method)


def methods() -> list[dict[str, Any]]:
    """Return the registry: id, title, source, needs and choices of every method.

    >>> methods()[0]["id"], methods()[0]["needs"]
    ('laplace', ['epsilon', 'bounds'])
    """
    return [method.to_dict() for method in METHODS.values()]
