"""How many released values lie near each original one, within the intervals of KNOISE.

Biswal, Arbuckle and Kulik, "Disclosure metrics born from statistical evaluations of data utility",
sections 2.4, 2.5 and 5: k-noise adds to each x a draw of its own from (-delta, delta), and the
neighbourhood of record i is everything within 2 delta of x_i. Counted are the originals there; how
many noised records to expect there, T_i = sum over j of w(|x_j - x_i|/delta), w(d) = 1 up to 1, (3
- d)/2 from 1 to 3, 0 beyond; and the released values that are there. Theorem 1: T_i is more than
half the original count, the record itself included in both, so more than k/2 only where that is k.
(The paper's Figure 5 counts within delta.) All of it is for the custodian alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from microveil.kernels import sorted_values as kernel
from microveil.measures.base import NUMBER, Better, By, Group, Measure
from microveil.measures.values import Floats, Whole
from microveil.partition import intervals

# A sum of weights that is k on paper may miss it by a rounding.
ROUNDING = 1e-9


def expected_neighbours(values: ArrayLike, delta: float) -> Floats:
    """Return T_i of each value; O(n log n), its relative error below 1e-9 of a million records."""
    column = np.asarray(values, dtype=np.float64)
    different, which, copies = np.unique(column, return_inverse=True, return_counts=True)
    up_to = np.concatenate([[0], np.cumsum(copies)])
    expected = copies.astype(np.float64)
    kernel.weighted_above(different, up_to, delta, expected)
    # What lies below a value lies above it in the mirror.
    mirrored = np.zeros(len(different))
    kernel.weighted_above(-different[::-1], len(column) - up_to[::-1], delta, mirrored)
    return (expected + mirrored[::-1])[which]


def original_neighbours(values: ArrayLike, delta: float) -> Whole:
    """Count the original values less than 2 delta away from each, itself included."""
    return _counts(values, values, delta, closed=False)


def observed_neighbours(original: ArrayLike, protected: ArrayLike, delta: float) -> Whole:
    """Count the protected values, in any order, at most 2 delta away from each original value."""
    return _counts(original, protected, delta, closed=True)


def _counts(centres: ArrayLike, values: ArrayLike, delta: float, *, closed: bool) -> Whole:
    """Count the values within 2 delta of each centre, each different centre once."""
    different, which = np.unique(np.asarray(centres, dtype=np.float64), return_inverse=True)
    counts = np.empty(len(different), dtype=np.int64)
    in_order = np.sort(np.asarray(values, dtype=np.float64))
    kernel.count_within(different, in_order, 2 * delta, closed=closed, out=counts)
    return counts[which]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Neighbourhoods:
    """Neighbourhood counts of every record: for the custodian alone."""

    delta: float  # half the width of the intervals; a neighbourhood reaches 2 delta to either side
    k: int  # the count that is asked for
    original: Whole  # (n_records,), as are the others
    expected: Floats
    observed: Whole | None  # where a protected attribute was given

    def to_dict(self) -> dict[str, Any]:
        """Summarise: the least, the mean, and shares of records of at least k, or above half."""
        counts = {"original": self.original, "expected": self.expected, "observed": self.observed}
        figures: dict[str, Any] = {
            "delta": self.delta,
            "k": self.k,
            "n_records": len(self.original),
        }
        for name, own in counts.items():
            figures[name] = (
                own
                if own is None
                else {
                    "min": own.min().item(),
                    "mean": own.mean().item(),
                    "share_at_least_k": float(np.mean(own >= self.k * (1 - ROUNDING))),
                    "share_above_half_of_original": float(np.mean(own > self.original / 2)),
                }
            )
        # Of the original counts it would say nothing.
        del figures["original"]["share_above_half_of_original"]
        return figures


def neighbourhoods(
    original: ArrayLike, *, delta: float, k: int, protected: ArrayLike | None = None
) -> Neighbourhoods:
    """Count each record's neighbours: before, expected under uniform noise, and as protected."""
    return Neighbourhoods(
        delta=float(delta),
        k=int(k),
        original=original_neighbours(original, delta),
        expected=expected_neighbours(original, delta),
        observed=None if protected is None else observed_neighbours(original, protected, delta),
    )


def _counted(original: Floats, protected: Floats, *, k: int) -> Neighbourhoods | None:
    """Count an attribute's neighbours; None where it does not vary or has fewer than k values."""
    values = original[~np.isnan(original)]
    if len(values) < k or not np.ptp(values) > 0:
        return None
    present = protected[~np.isnan(protected)]
    return neighbourhoods(values, delta=intervals(values, k=k).delta, k=k, protected=present)


NEIGHBOURHOODS = Group(
    title="Neighbours within an interval of half width delta: the fewest that any record has"
)
MEASURES = (
    Measure(
        id="fewest_neighbours",
        label="fewest neighbours of any record",
        explanation="k or more are asked for",
        function=_counted,
        figure=lambda found: float(found.observed.min()),
        takes=NUMBER,
        needs_pairs=False,
        by=By.ATTRIBUTE,
        better=Better.HIGHER,
        group=NEIGHBOURHOODS,
        tabulated=False,
        entry="neighbourhoods",
        asked_by="k",
        arguments=("k",),
    ),
)
