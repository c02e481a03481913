"""Records in a k-d tree with a tight box around every node (Bentley 1975).

The box of a node gives a lower bound of the squared distance of a query to any record in it,
computed in the order of the distances from differences that are nowhere larger; as rounding never
turns a smaller number into a larger one, the computed bound never exceeds the computed distance of
a record inside the box. Pruning therefore needs no tolerance, and ties are found to the last bit.

Nodes are numbered as in a heap: 1 is the root, 2 i and 2 i + 1 are the children of i,
the last half are the leaves. Leaf l holds the records from ``leaf_starts[l]`` up to
``leaf_starts[l + 1]``, one after the other in ``blocks``, attribute by attribute, so
that a whole leaf is measured with vector instructions.
"""

import numba
import numpy as np

# Park and Miller's generator, without overflow in 64 bits. Pivots at random positions
# select in expected linear time whatever order the table is in.
_MULTIPLIER = 48271
_MODULUS = 2147483647


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _split(column, members, middle):
    """Reorder the members so that their values in the column are split at ``middle``.

    What comes before ``middle`` is at most, what follows is at least the value there.
    """
    low, high = 0, members.shape[0] - 1
    state = 1
    while low < high:
        state = state * _MULTIPLIER % _MODULUS
        pivot = column[members[low + state % (high - low + 1)]]
        i, j = low, high
        while i <= j:
            while column[members[i]] < pivot:
                i += 1
            while column[members[j]] > pivot:
                j -= 1
            if i <= j:
                members[i], members[j] = members[j], members[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _enclose(values, members, weights, box):
    """Set the box around the members; return the attribute along which it is widest."""
    widest, spread = 0, -1.0
    for a in range(values.shape[1]):
        lowest = highest = values[members[0], a]
        for record in members[1:]:
            lowest = min(lowest, values[record, a])
            highest = max(highest, values[record, a])
        box[0, a] = lowest
        box[1, a] = highest
        difference = highest - lowest
        if difference * difference * weights[a] > spread:
            widest, spread = a, difference * difference * weights[a]
    return widest


@numba.njit(cache=True, nogil=True, error_model="numpy")
def build_tree(values, weights, leaf_size):
    """Arrange distinct records in a k-d tree with at most ``leaf_size`` to a leaf.

    The leaf size is 2 or more: with 1 some leaves would be empty. Returns the order of
    the records in the tree, their values in blocks, where each leaf starts, and the
    lowest and highest value per node and attribute.
    """
    n, m = values.shape
    n_leaves = 1
    while n_leaves * leaf_size < n:
        n_leaves *= 2
    leaf_starts = np.empty(n_leaves + 1, np.int64)
    for leaf in range(n_leaves + 1):
        leaf_starts[leaf] = leaf * n // n_leaves
    boxes = np.empty((2 * n_leaves, 2, m))
    order = np.arange(n)
    width = n_leaves  # leaves under each node of the level
    first = 1  # the level's first node
    while width >= 1:
        for node in range(first, 2 * first):
            leaf = (node - first) * width
            start, end = leaf_starts[leaf], leaf_starts[leaf + width]
            members = order[start:end]
            widest = _enclose(values, members, weights, boxes[node])
            if width > 1:
                _split(values[:, widest], members, leaf_starts[leaf + width // 2] - start)
        width //= 2
        first *= 2
    blocks = np.empty(n * m)
    for leaf in range(n_leaves):
        start, end = leaf_starts[leaf], leaf_starts[leaf + 1]
        for a in range(m):
            for i in range(start, end):
                blocks[start * m + a * (end - start) + i - start] = values[order[i], a]
    return order, blocks, leaf_starts, boxes
