"""Counts of records by pairs of bins, and systematic sampling of outcomes by their masses."""

import numba
import numpy as np

__all__ = ["cross_counts", "sample"]

# No place is the end of a line: rounding would put it behind the last outcome.
_BELOW = 1 - 1e-9


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
