"""The situations in which claims of KANON-2013 are checked, and lines read at a k."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from microveil_papers.estimates import Estimate, estimates_of
from microveil_papers.kanon2013.experiments import (
    INSENSITIVE,
    MDAV,
    READINGS,
    Measured,
    Reading,
)

__all__ = [
    "LARGE",
    "MEDIUM",
    "Lines",
    "alike",
    "at",
    "by_epsilon",
    "of_sizes",
    "ratio",
]

# The epsilons that the text takes up one by one, and the k that its "large k" is taken for.
MEDIUM, LARGE = 1.0, 10.0
LARGE_SIZES = (50, 100)


def by_epsilon(*epsilons: float) -> Iterator[tuple[str, Reading, float]]:
    """Go through the readings of the paper's epsilon and through epsilons in each, with a name.

    Examples
    --------
    >>> [where for where, _, _ in by_epsilon(0.1)]
    ['epsilon 0.1, split over the four attributes', 'epsilon 0.1, for each of the four attributes']
    """
    for reading, epsilon in product(READINGS, epsilons):
        yield f"epsilon {epsilon:g}, {reading.title.removeprefix('epsilon ')}", reading, epsilon


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

    def noisy(self, reading: Reading, epsilon: float) -> list[Estimate]:
        """Return the line of the paper's method at its epsilon."""
        chosen = {"reading": reading.name, "paper_epsilon": epsilon}
        return estimates_of(self._found.published, self._figure, **chosen)

    def noisy_at(self, *epsilons: float) -> Iterator[tuple[str, list[Estimate]]]:
        """Go through the lines of the paper's method at its epsilons, by reading, with a name."""
        for where, reading, epsilon in by_epsilon(*epsilons):
            yield where, self.noisy(reading, epsilon)

    def single(self, reading: Reading, epsilon: float) -> Estimate:
        """Return such a line's point at k 1 and a small epsilon, of more runs than on the line."""
        chosen = {"reading": reading.name, "paper_epsilon": epsilon}
        (estimate,) = estimates_of(self._found.single, self._figure, **chosen)
        return estimate

    @property
    def mdav(self) -> list[Estimate]:
        """The line of MDAV without noise, from k 2 on."""
        return self._without_noise(MDAV)

    @property
    def insensitive(self) -> list[Estimate]:
        """The line of insensitive MDAV without noise, from k 2 on."""
        return self._without_noise(INSENSITIVE)

    def beside_plain(self, epsilon: float) -> Iterator[tuple[str, Estimate, Estimate]]:
        """Go through large k: the name, the paper's method, and clusters without noise."""
        plain = (("MDAV", self.mdav), ("insensitive MDAV", self.insensitive))
        for (title, line), reading, k in product(plain, READINGS, LARGE_SIZES):
            where = f"{title}, k {k}, {reading.title}"
            yield where, at(self.noisy(reading, epsilon), k), at(line, k)

    def _without_noise(self, name: str) -> list[Estimate]:
        """Return figures that one run gives exactly, as nothing is drawn."""
        line = estimates_of(self._found.baselines, self._figure, name=name)
        return [replace(estimate, has_interval=True) for estimate in line]


def at(line: Sequence[Estimate], k: int) -> Estimate:
    """Return the estimate of a k.

    >>> line = [Estimate(k=k, mean=1.0 / k, low=0, high=1) for k in (1, 2)]
    >>> str(at(line, 2))
    '0.5 [0, 1]'
    """
    return next(estimate for estimate in line if estimate.k == k)


def of_sizes(line: Sequence[Estimate], least: int, most: float = math.inf) -> list[Estimate]:
    """Return the estimates of every k from the least to the most, included.

    >>> line = [Estimate(k=k, mean=1.0 / k, low=0, high=1) for k in (1, 2, 5)]
    >>> (
    ...     [estimate.k for estimate in of_sizes(line, 2)],
    ...     [estimate.k for estimate in of_sizes(line, 1, 2)],
    ... )
    ([2, 5], [1, 2])
    """
    return [estimate for estimate in line if least <= (estimate.k or 0) <= most]


def alike(one: float, other: float, factor: float) -> bool:
    """Say whether two figures of 0 or more are within a factor of each other.

    >>> alike(2, 3, 1.5), alike(2, 0, 1.5)
    (True, False)
    """
    return one <= factor * other and other <= factor * one


def ratio(after: Estimate, before: Estimate) -> Estimate | None:
    """Divide one by another one of other runs; None where one of them is not above 0.

    The interval is that of the logarithm, whose standard error is the relative one.

    Examples
    --------
    >>> one = Estimate(k=None, mean=4.0, low=3.0, high=5.0)
    >>> str(ratio(one, Estimate(k=None, mean=2.0, low=2.0, high=2.0)))
    '2 [1.56, 2.57]'
    """
    if min(after.mean, before.mean) <= 0:
        return None
    mean = after.mean / before.mean
    reach = math.exp(
        math.hypot(*(estimate.high / estimate.mean - 1 for estimate in (after, before)))
    )
    known = after.has_interval and before.has_interval
    return Estimate(k=None, mean=mean, low=mean / reach, high=mean * reach, has_interval=known)
