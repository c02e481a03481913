"""How long a comparison will still take."""

import time
from collections.abc import Mapping

__all__ = ["Clock"]


class Clock:
    """Says how many seconds are left, by what runs have taken so far.

    Methods differ in cost, so each choice has a mean of its own, or the mean over all while it
    has none yet. Seconds of work become seconds of waiting by how much work has been done a
    second, whatever the number of threads.

    Parameters
    ----------
    runs : dict of int
        By choice, those to do.

    Examples
    --------
    >>> clock = Clock({"dp-um": 2})
    >>> clock.seconds_left() is None
    True
    >>> clock.took("dp-um", 1, 0.5)
    >>> clock.seconds_left() > 0
    True
    """

    def __init__(self, runs: Mapping[str, int]) -> None:
        self._left = dict(runs)
        self._done = dict.fromkeys(runs, 0)
        self._seconds = dict.fromkeys(runs, 0.0)
        self._start = time.perf_counter()

    def took(self, choice: str, runs: int, seconds: float) -> None:
        """Book runs of a choice that are done, and the seconds of work they took."""
        self._left[choice] -= runs
        self._done[choice] += runs
        self._seconds[choice] += seconds

    def seconds_left(self) -> float | None:
        """Return the seconds until all is done; None before the first run is."""
        done, worked = sum(self._done.values()), sum(self._seconds.values())
        if not done or not worked:
            return None
        work = 0.0
        for choice, left in self._left.items():
            mine = self._done[choice]
            work += left * (self._seconds[choice] / mine if mine else worked / done)
        return work * (time.perf_counter() - self._start) / worked
