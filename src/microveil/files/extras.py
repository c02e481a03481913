"""Libraries that an extra brings: imported where they are needed, named where they are missing."""

import importlib
from typing import Any

from microveil.errors import FileError


def of_extra(module: str, *, extra: str, place: str, purpose: str) -> Any:
    """Import a library that not every installation has."""
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        rule = f"{purpose} by {name}, which is not installed"
        raise FileError(place, rule, f"install it with: pip install 'microveil[{extra}]'") from None
