"""What a new table is measured and drawn by: counts of pairs, whole weights, systematic samples.

Whole weights have more than 64 bits: rows of limbs of 32, the least limb first.
"""

import numba
import numpy as np
from numpy.typing import NDArray

# No place is the end of a line: rounding would put it behind the last outcome.
_BELOW = 1 - 1e-9
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ZERO = np.uint64(0)


@numba.njit(cache=True, error_model="numpy", nogil=True)
def cross_counts(first, second, counts):
    """Add records to the int64 counts (n_first, n_second) of their pairs of bins."""
    for record in range(first.shape[0]):
        counts[first[record], second[record]] += 1


@numba.njit(cache=True, error_model="numpy", nogil=True)
def sample(records, groups, lines, upper, ends, counts, starts, outcomes, found):
    """Give each record an outcome of its group: the next record of a group takes the next place.

    Records come in the order in which they take places. ``lines`` says of each group where it is
    among those that hold records, as all that follows has them: ``ends`` where its outcomes end,
    ``counts`` how many records it has, ``starts`` where its first place is, in parts of the way
    from one place to the next. ``upper`` is where an outcome ends on the line of its group, which
    is 1 long.
    """
    n_groups = ends.shape[0]
    taken = np.zeros(n_groups, dtype=np.int64)
    at = np.zeros(n_groups, dtype=np.int64)
    at[1:] = ends[:-1]
    for record in records:
        group = lines[groups[record]]
        place = group + min((taken[group] + starts[group]) / counts[group], _BELOW)
        taken[group] += 1
        now, last = at[group], ends[group] - 1
        while now < last and upper[now] + group <= place:
            now += 1
        at[group] = now
        found[record] = outcomes[now]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def stretch_sums(sizes, weights, length, sums):
    """Write the sums of sizes by weights over stretches of so many, the last one perhaps shorter.

    ``sizes`` is int64 (n,), none below 0, and ``weights`` uint32 (n, n_limbs); ``sums`` is uint32
    (n_stretches, n_limbs + 2), and a sum must have room in it. A length of 2**28 at most.
    """
    n_limbs = weights.shape[1]
    # Of each limb the sum of terms below 2**32, four of a run at most.
    terms = np.empty(n_limbs + 2, dtype=np.uint64)
    for stretch in range(sums.shape[0]):
        terms[:] = _ZERO
        start = stretch * length
        for n in range(start, min(start + length, sizes.shape[0])):
            size = np.uint64(sizes[n])
            low, high = size & _LOW, size >> _HALF
            for limb in range(n_limbs):
                own = np.uint64(weights[n, limb])
                part = own * low
                terms[limb] += part & _LOW
                terms[limb + 1] += part >> _HALF
                if high:
                    part = own * high
                    terms[limb + 1] += part & _LOW
                    terms[limb + 2] += part >> _HALF
        carry = _ZERO
        for limb in range(n_limbs + 2):
            part = terms[limb] + carry
            carry = part >> _HALF
            sums[stretch, limb] = np.uint32(part & _LOW)


def whole_numbers(limbs: NDArray[np.uint32]) -> list[int]:
    """Return the numbers that rows of limbs are: uint32 (n, n_limbs) to a list of n.

    >>> whole_numbers(np.array([[7, 0], [0, 1]], dtype=np.uint32))
    [7, 4294967296]
    """
    size = 4 * limbs.shape[1]
    data = limbs.astype("<u4").tobytes()
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]
