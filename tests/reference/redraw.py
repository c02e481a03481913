"""Categories drawn anew from a cluster's noisy counts, to be read rather than run fast.

The noise here is on whole counts, cut off where it is beyond counting; the product's lives on a
finer grid.
"""

import functools
import itertools
import math
from collections import Counter


def weights(noisy):
    """What a category is drawn by: counts below 0 count as 0; nothing above: all alike."""
    above = [max(count, 0) for count in noisy]
    return above if any(above) else [1] * len(above)


def chances_of_counts(counts, scale, reach):
    """Each outcome of the noisy counts within reach of the true ones, and its chance."""
    law = {noise: math.exp(-abs(noise) / scale) for noise in range(-reach, reach + 1)}
    whole = sum(law.values())
    for noise in itertools.product(law, repeat=len(counts)):
        noisy = [count + one for count, one in zip(counts, noise, strict=True)]
        yield noisy, math.prod(law[one] / whole for one in noise)


def chances_of_draws(noisy, size):
    """Each multiset of categories that a cluster's records can get, and its chance."""
    by = weights(noisy)
    found = Counter()
    for drawn in itertools.product(range(len(by)), repeat=size):
        found[tuple(sorted(drawn))] += math.prod(by[category] / sum(by) for category in drawn)
    return found


@functools.cache
def chances_of_cluster(counts, size, scale, reach):
    """Each multiset of categories that a cluster can be released with, and its chance."""
    found = Counter()
    for noisy, chance in chances_of_counts(counts, scale, reach):
        for drawn, one in chances_of_draws(noisy, size).items():
            found[drawn] += chance * one
    return found
