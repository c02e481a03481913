"""The situations in which claims of KANON-2013 are checked, and lines read at a k."""

from collections.abc import Callable, Sequence

from microveil.reproduce.cells import Cell, cells_of
from microveil.reproduce.kanon2013.experiments import (
    EPSILONS,
    INSENSITIVE,
    MDAV,
    READINGS,
    Measured,
    Reading,
)
from microveil.reproduce.paper import Case

__all__ = ["Lines", "alike", "at", "cases_by_epsilon", "cases_by_reading"]


class Lines:
    """A figure of every line of the paper's pictures, by k ascending.

    Parameters
    ----------
    found : Measured
    figure : str
        A column: "sse".
    """

    def __init__(self, found: Measured, figure: str) -> None:
        self._found = found
        self._figure = figure

    def noisy(self, reading: Reading, epsilon: float) -> list[Cell]:
        """Return the line of the paper's method at its epsilon."""
        chosen = {"reading": reading.name, "paper_epsilon": epsilon}
        return cells_of(self._found.published, self._figure, **chosen)

    @property
    def mdav(self) -> list[Cell]:
        """The line of MDAV without noise, from k 2 on."""
        return cells_of(self._found.baselines, self._figure, name=MDAV)

    @property
    def insensitive(self) -> list[Cell]:
        """The line of insensitive MDAV without noise, from k 2 on."""
        return cells_of(self._found.baselines, self._figure, name=INSENSITIVE)


def at(line: Sequence[Cell], k: int) -> Cell:
    """Return the cell of a k.

    >>> line = [Cell(k=k, mean=1.0 / k, low=0, high=1) for k in (1, 2)]
    >>> str(at(line, 2))
    '0.5 [0, 1]'
    """
    return next(cell for cell in line if cell.k == k)


def alike(one: float, other: float, factor: float) -> bool:
    """Tell whether two figures of 0 or more are within a factor of each other.

    >>> alike(2, 3, 1.5), alike(2, 0, 1.5)
    (True, False)
    """
    return one <= factor * other and other <= factor * one


def cases_by_reading(check: Callable[[Reading], tuple[bool, str]]) -> tuple[Case, ...]:
    """Check a claim in every reading of the paper's epsilon."""
    cases = []
    for reading in READINGS:
        holds, measured = check(reading)
        cases.append(Case(where=reading.title, holds=holds, measured=measured))
    return tuple(cases)


def cases_by_epsilon(
    check: Callable[[Reading, float], tuple[bool, str]],
    epsilons: Sequence[float] = EPSILONS,
) -> tuple[Case, ...]:
    """Check a claim in every reading and at each epsilon."""
    cases = []
    for reading in READINGS:
        for epsilon in epsilons:
            holds, measured = check(reading, epsilon)
            where = f"epsilon {epsilon:g}, {reading.title.removeprefix('epsilon ')}"
            cases.append(Case(where=where, holds=holds, measured=measured))
    return tuple(cases)
