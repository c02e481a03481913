"""Linkability: join two lists of the same people through the release.

After the linkability attack of Giomi, Boenisch, Wehmeyer and Tasnadi (2023). The intruder
has two lists without names, say of a bank and of a clinic, that know different attributes of
the same people. Two entries whose nearest released rows coincide are taken for one person.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import attacks as kernel
from microveil.risk.attacks.combinatorics import chance_of_sharing
from microveil.risk.attacks.nearest import Rows, in_threads, standard_weights
from microveil.risk.attacks.outcome import AttackOutcome, Estimate, success_rate
from microveil.risk.attacks.records import Setting

__all__ = ["linkability"]


def linkability(setting: Setting, one: Sequence[str], other: Sequence[str]) -> AttackOutcome:
    """Join what two lists know of a person through the rows nearest to either part.

    Parameters
    ----------
    setting : Setting
        The records need not correspond. Its ``neighbours`` says how many nearest rows of
        either part are compared.
    one, other : sequence of str
        What each list knows of everybody, exactly; disjoint.

    Returns
    -------
    AttackOutcome
        Success is that the nearest rows of both parts of a person have a row in common;
        equally near rows are drawn at random, and success is the chance of it. The baseline
        takes rows at random for either part.

    Notes
    -----
    O(n log n) time to arrange the release twice, for up to ten or so attributes O(log n) or
    so for each person attacked; up to O(n) where all rows are equally near.

    Examples
    --------
    >>> from microveil.risk.attacks import Records
    >>> before = Records(
    ...     names=("AGE", "INCOME"),
    ...     values=np.array([[20.0, 9.0], [30.0, 6.0], [40.0, 3.0]]),
    ...     is_category=np.array([False, False]),
    ... )
    >>> linkability(Setting(original=before, protected=before), ["AGE"], ["INCOME"]).successes
    3.0
    """
    original = setting.original
    needed = [*one, *other]
    complete = original.complete_columns(needed)
    rows = setting.protected.complete_columns(needed)
    linker = _Linker(
        rows, complete, original.categorical(needed), n_one=len(one), neighbours=setting.neighbours
    )
    generator = setting.generator("linkability")
    chosen, compared = setting.people(needed, generator)

    def rate(people: NDArray[np.float64]) -> Estimate:
        chances = linker.chances(people)
        return success_rate(float(chances.sum()), len(chances), setting.confidence)

    nearest = "row" if setting.neighbours == 1 else f"{setting.neighbours} rows"
    return AttackOutcome(
        attack="linkability",
        known=(*one, *other),
        secret=None,
        rule=f"the {nearest} nearest by {', '.join(one)} and by {', '.join(other)} coincide"
        + ("" if setting.neighbours == 1 else " in one or more"),
        n_left_out=original.n_records - len(complete),
        success=rate(chosen),
        baseline=Estimate.exact(linker.chance_at_random()),
        baseline_is="takes rows at random for either part",
        control=None if compared is None else rate(compared),
        control_is=setting.control_is,
        confidence=setting.confidence,
    )


class _Linker:
    """An intruder who holds the release and two lists of attributes."""

    def __init__(
        self,
        rows: NDArray[np.float64],
        original: NDArray[np.float64],
        is_category: NDArray[np.bool_],
        *,
        n_one: int,
        neighbours: int,
    ) -> None:
        self._n_rows = len(rows)
        self._neighbours = min(neighbours, len(rows))
        self._parts = slice(0, n_one), slice(n_one, None)
        self._searches = []
        if len(rows):
            weights = standard_weights(original, is_category)
            self._searches = [
                Rows.arrange(rows[:, part], weights[part], is_category[part])
                for part in self._parts
            ]

    def chances(self, people: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each person the chance that the nearest rows share one."""
        if not self._searches:
            return np.empty(0)
        known = [np.ascontiguousarray(people[:, part]) for part in self._parts]
        radii = [
            search.distances(part, neighbours=self._neighbours)
            for search, part in zip(self._searches, known, strict=True)
        ]
        one, other = (
            (search.tree, search.is_category, search.members, search.starts)
            for search in self._searches
        )
        counts = in_threads(
            lambda task: kernel.common_neighbours(
                one, other, known[0][task], known[1][task], radii[0][task], radii[1][task]
            ),
            len(people),
        )
        return chance_of_sharing(counts, self._neighbours)

    def chance_at_random(self) -> float:
        """Return the chance that as many rows drawn at random twice share one."""
        if not self._searches:
            return np.nan
        everywhere_tied = np.zeros((1, 3, 3), dtype=np.int64)
        everywhere_tied[0, 2, 2] = self._n_rows
        return float(chance_of_sharing(everywhere_tied, self._neighbours)[0])
