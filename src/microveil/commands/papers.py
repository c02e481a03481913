"""Reproducing papers, which a package of its own does: found by its entry point."""

from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol, cast

from microveil.errors import RequestError

__all__ = ["Reproduce", "installed_reproduce"]

GROUP, NAME = "microveil.commands", "reproduce"


class Reproduce(Protocol):
    """What the entry point leads to."""

    def __call__(
        self,
        paper: str,
        data: Sequence[str],
        folder: Path,
        *,
        runs: int | None,
        quick: bool,
        progress: Callable[[str, int, int], None],
    ) -> str:
        """Carry a paper's experiments out, and return what is to be shown.

        Parameters
        ----------
        paper : str
        data : sequence of str
            Entries NAME=FILE.
        folder : Path
            For what comes out.
        runs : int or None
            How often whatever is random is drawn; None for as often as in the paper.
        quick : bool
        progress : callable
            Takes what is being done, the runs done and the runs in all.
        """


def installed_reproduce() -> Reproduce:
    """Return what an installed package has for ``microveil reproduce``; it is imported only now.

    Raises
    ------
    RequestError
        If no package has it.
    """
    for found in entry_points(group=GROUP, name=NAME):
        return cast("Reproduce", found.load())
    raise RequestError(
        NAME,
        "the papers' experiments are in the package microveil-papers, which is not installed",
        "pip install ./papers in a clone of microveil, or pip install microveil-papers",
    )
