"""Libraries that an extra brings: imported where they are needed, named where they are missing."""

import importlib
from typing import Any

from microveil.errors import FileError

__all__ = ["of_extra"]


def of_extra(module: str, *, extra: str, place: str, purpose: str) -> Any:
    """Import a library that not every installation has.

    >>> of_extra("no_such", extra="files", place="people.sav", purpose="SPSS files are read")
    Traceback (most recent call last):
    microveil.errors.FileError: people.sav: SPSS files are read by no_such, which is not installed;
    install it with: pip install 'microveil[files]'.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        rule = f"{purpose} by {name}, which is not installed"
        raise FileError(place, rule, f"install it with: pip install 'microveil[{extra}]'") from None
