"""The tables of an attack as matrices, and what all its attacks have in common."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.measures.attacks.outcome import NO_CONTROL
from microveil.measures.estimates import Estimate, success_rate
from microveil.measures.nearest import Rows, standard_weights

__all__ = ["Records", "Setting"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Records:
    """A table of numbers and categories as a matrix."""

    names: tuple[str, ...]  # of the attributes
    # (n_records, n_attributes): categories as positions in one list for all tables of an attack;
    # NaN where missing.
    values: NDArray[np.float64]
    # (n_attributes,): categories are equal or not; numbers are near or far.
    is_category: NDArray[np.bool_]

    @property
    def n_records(self) -> int:
        """Number of records."""
        return len(self.values)

    def columns(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return the values of attributes, shape (n_records, len(names))."""
        return self.values[:, [self.names.index(name) for name in names]]

    def categorical(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return which of the named attributes are categories."""
        return self.is_category[[self.names.index(name) for name in names]]

    def complete(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return which records miss none of the named attributes."""
        absent: NDArray[np.bool_] = np.isnan(self.columns(names))
        present: NDArray[np.bool_] = np.logical_not(np.any(absent, axis=1))
        return present

    def complete_columns(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return the values of attributes in the records that miss none of them."""
        return self.columns(names)[self.complete(names)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setting:
    """The tables under attack, and what all attacks on them have in common."""

    original: Records  # with the same attributes
    protected: Records
    control: Records | None = None  # people drawn like those of the original, who are not in it
    # How many people, at most, an attack is tried on where it is not tried on all.
    n_attacks: int = 2000
    # How near a guess has to come: in standard deviations of the original, or as a share of all
    # ranks.
    tolerance: float = 0.05
    neighbours: int = 1  # how many nearest rows an intruder takes into account for linkability
    confidence: float = 0.95  # of all intervals
    seed: int = 0  # decides who is attacked, and the baselines that draw
    # How many people record linkage is tried on; by default as `Sample` has it.
    sample: int | None = None

    def generator(self, label: str) -> np.random.Generator:
        """Return the randomness of one attack, whichever others are carried out."""
        return np.random.default_rng([self.seed, zlib.crc32(label.encode())])

    def rate(self, successes: NDArray[np.float64]) -> Estimate:
        """Estimate a success rate from what came of each attack."""
        return success_rate(float(successes.sum()), len(successes), self.confidence)

    @property
    def control_is(self) -> str:
        """Who the control group is, or what it means that there is none."""
        if self.control is None:
            return NO_CONTROL
        return "the same attack on people of the control group"

    def people(
        self, needed: Sequence[str], generator: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Choose whom to attack, of the original and of the control group if there is one.

        At most ``n_attacks`` of either, of those who miss nothing of what is needed: their values.
        """
        chosen = self._chosen(self.original, needed, generator)
        if self.control is None:
            return chosen, None
        return chosen, self._chosen(self.control, needed, generator)

    def _chosen(
        self, records: Records, needed: Sequence[str], generator: np.random.Generator
    ) -> NDArray[np.float64]:
        candidates = records.complete_columns(needed)
        if len(candidates) <= self.n_attacks:
            return candidates
        return candidates[np.sort(generator.choice(len(candidates), self.n_attacks, replace=False))]

    def search(
        self, rows: NDArray[np.float64], people: NDArray[np.float64], names: Sequence[str]
    ) -> Rows | None:
        """Arrange rows to be compared with people, in whose deviations; None without either."""
        if not len(rows) or not len(people):
            return None
        is_category = self.original.categorical(names)
        return Rows.arrange(rows, standard_weights(people, is_category), is_category)
