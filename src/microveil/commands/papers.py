"""Reproducing papers, which a package of its own does: found by its entry point."""

from collections.abc import Callable
from importlib.metadata import entry_points

from microveil.errors import RequestError

__all__ = ["installed_reproduce"]

GROUP, NAME = "microveil.commands", "reproduce"


def installed_reproduce() -> Callable[..., str]:
    """Return what an installed package has for ``microveil reproduce``; it is imported only now.

    It takes the paper, entries NAME=FILE, a folder for what comes out, and by name ``runs`` (None
    for as often as in the paper), ``quick`` and ``progress``, which takes what is being done, the
    runs done and the runs in all. It returns what is to be shown.
    """
    for found in entry_points(group=GROUP, name=NAME):
        reproduce: Callable[..., str] = found.load()
        return reproduce
    raise RequestError(
        NAME,
        "the papers' experiments are in the package microveil-papers, which is not installed",
        "pip install ./papers in a clone of microveil, or pip install microveil-papers",
    )
