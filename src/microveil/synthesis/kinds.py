"""What a column of a file without types holds, learnt of a noisy histogram of its cells.

METHODS section 11, kinds: the least general kind beyond which nothing stands out.
"""

from collections.abc import Sequence

import numpy as np

from microveil.noise.counts import NoisyCounts
from microveil.schema import Kind
from microveil.table.untyped import CELLS, HOLDS, KINDS

# Deviations of the noise from which on cells of a kind are taken to be there: others beside the
# most frequent kind, and that kind.
STANDS_OUT, IS_THERE = 4, 3


def kind_shown(cells: NoisyCounts, kinds: Sequence[Kind] = KINDS) -> Kind:
    """Return the least general of some kinds beyond which nothing stands out of noisy counts.

    The last of them is the most general; it is that of a column in which nothing stands out.

    >>> from fractions import Fraction
    >>> from microveil.noise.counts import gaussian_noise
    >>> noise = gaussian_noise(Fraction(1, 100))
    >>> found = NoisyCounts(steps=np.array([9, -4, 700, 12, 3, -8, 38]), noise=noise)
    >>> kind_shown(found)
    <Kind.WHOLE: 'whole number'>
    """
    counts = dict(zip(CELLS, cells.counts.tolist(), strict=True))
    every = [kind for kind in KINDS if kind in HOLDS[kinds[-1]]]
    own = {kind: counts[kind] / np.sqrt(cells.variance) for kind in every}
    first = max(own, key=lambda kind: own[kind])
    there = {kind for kind, deviations in own.items() if deviations >= STANDS_OUT}
    there |= {first} if own[first] >= IS_THERE else set()
    return next((kind for kind in kinds if there and there <= HOLDS[kind]), kinds[-1])


def are_words_there(cells: NoisyCounts) -> bool:
    """Whether cells that hold a word for nothing stand out of the noise."""
    count = float(cells.counts[CELLS.index("word for nothing")])
    return count >= STANDS_OUT * float(np.sqrt(cells.variance))


def share_of_cells(cells: NoisyCounts, *kinds: Kind) -> float:
    """Return which share of the cells with something in them are of some kinds, as measured."""
    counts = {
        kind: max(count, 0.0)
        for kind, count in zip(CELLS, cells.counts.tolist(), strict=True)
        if isinstance(kind, Kind)
    }
    return float(sum(counts[kind] for kind in kinds) / max(sum(counts.values()), 1.0))
