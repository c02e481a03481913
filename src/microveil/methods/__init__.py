"""The registry of methods: what each is called, needs and promises.

>>> [method.id for method in METHODS.values()]
['laplace', 'dp-um', 'idp-ls', 'idp-cbls']
"""

from typing import Any

from microveil.methods import idp2025
from microveil.methods.base import Method

__all__ = ["METHODS", "Method", "methods"]

METHODS: dict[str, Method] = {method.id: method for method in idp2025.METHODS}


def methods() -> list[dict[str, Any]]:
    """Return the registry: id, title, source, model and needs of every method.

    >>> methods()[0]["id"], methods()[0]["needs"]
    ('laplace', ['epsilon', 'bounds'])
    """
    return [method.to_dict() for method in METHODS.values()]
