"""Nearest originals of protected records, by exact comparison of computed distances.

The squared distance of two records is one float64 computation, the same everywhere::

    total = 0.0
    for each attribute, in order:  total += (x - y) * (x - y) * weight

A k-d tree with a tight box around every node finds what lies within a radius. The box
of a node gives a lower bound that is computed in the same order from differences that
are nowhere larger; as rounding never turns a smaller number into a larger one, the
computed bound never exceeds the computed distance of a record inside the box. Pruning
therefore needs no tolerance, and ties are found to the last bit.

Nodes are numbered as in a heap: 1 is the root, 2 i and 2 i + 1 are the children of i,
the last half are the leaves. Leaf l holds the records from ``leaf_starts[l]`` up to
``leaf_starts[l + 1]``, one after the other in ``blocks``, attribute by attribute, so
that a whole leaf is measured with vector instructions.

Of many records of which few queries are made it takes longer to build a tree than to go down it.
Their nodes are divided where the halves of some of the records meet, each record goes down to its
leaf by itself, and leaves are filled by counting: O(n) for each level, in the table's order. What
is found does not hang on where nodes are divided, as every box is that of the records in it.
"""

import numba
import numpy as np

# Park and Miller's generator, without overflow in 64 bits. Pivots at random positions
# select in expected linear time whatever order the table is in.
_MULTIPLIER = 48271
_MODULUS = 2147483647

# After so many attributes a leaf is given up if every sum is beyond the radius already:
# squares only add.
CHECK_EVERY = 4
# Records that go down to their leaves together.
TOGETHER = 256


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


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _cut_at(column, members):
    """Return the value, at or below which come about half of the members; not all differ."""
    middle = members.shape[0] // 2
    _split(column, members, middle)
    value = column[members[middle]]
    n_below, n_up_to, before, highest = 0, 0, -np.inf, -np.inf
    for record in members:
        other = column[record]
        highest = max(highest, other)
        if other < value:
            n_below += 1
            before = max(before, other)
        n_up_to += other <= value
    if n_below > 0 and (value == highest or middle - n_below < n_up_to - middle):
        return before
    return value


@numba.njit(cache=True, nogil=True, error_model="numpy")
def cut(values, weights, n_cells):
    """Divide records in halves, and these again, until there are so many cells, a power of 2.

    Returns of each node but the leaves the attribute that divides it and the value at or below
    which records go to its first child. Where records are alike they all do.
    """
    n, m = values.shape
    attributes = np.zeros(n_cells, np.int64)
    cuts = np.full(n_cells, np.inf)
    ends = np.zeros((2 * n_cells, 2), np.int64)
    ends[1, 1] = n
    order = np.arange(n)
    box = np.empty((2, m))
    for node in range(1, n_cells):
        start, end = ends[node]
        middle = end
        if end > start:
            members = order[start:end]
            widest = _enclose(values, members, weights, box)
            if box[0, widest] < box[1, widest]:
                column = values[:, widest]
                attributes[node], cuts[node] = widest, _cut_at(column, members)
                middle = start
                for place in range(start, end):
                    if column[order[place]] <= cuts[node]:
                        order[place], order[middle] = order[middle], order[place]
                        middle += 1
        ends[2 * node, 0], ends[2 * node, 1] = start, middle
        ends[2 * node + 1, 0], ends[2 * node + 1, 1] = middle, end
    return attributes, cuts


@numba.njit(cache=True, nogil=True, error_model="numpy")
def arrange(columns, attributes, cuts, blocks):
    """Arrange records in the cells that `cut` made, of others than these as a rule.

    ``columns`` has an attribute to a row. Writes the blocks, and returns where each leaf starts and
    the boxes, as `build_tree` does. A leaf may be empty, then its box is nowhere, or hold many.
    """
    m, n = columns.shape
    n_cells = cuts.shape[0]
    cells = np.empty(n, np.int32)
    starts = np.zeros(n_cells + 1, np.int64)
    nodes = np.empty(TOGETHER, np.int64)
    for first in range(0, n, TOGETHER):
        # Some together, level by level: none waits for another.
        n_together = min(TOGETHER, n - first)
        nodes[:] = 1
        level = 1
        while level < n_cells:
            for i in range(n_together):
                node = nodes[i]
                nodes[i] = 2 * node + (columns[attributes[node], first + i] > cuts[node])
            level *= 2
        for i in range(n_together):
            cells[first + i] = nodes[i] - n_cells
            starts[nodes[i] - n_cells + 1] += 1
    for cell in range(n_cells):
        starts[cell + 1] += starts[cell]
    order = np.empty(n, np.int32)
    free = starts.copy()
    for i in range(n):
        order[free[cells[i]]] = i
        free[cells[i]] += 1
    boxes = np.empty((2 * n_cells, 2, m))
    for cell in range(n_cells):
        start, end = starts[cell], starts[cell + 1]
        for a in range(m):
            lowest, highest = np.inf, -np.inf
            at = start * m + a * (end - start)
            for place in range(start, end):
                value = columns[a, order[place]]
                blocks[at + place - start] = value
                lowest = min(lowest, value)
                highest = max(highest, value)
            boxes[n_cells + cell, 0, a] = lowest
            boxes[n_cells + cell, 1, a] = highest
    for node in range(n_cells - 1, 0, -1):
        for a in range(m):
            boxes[node, 0, a] = min(boxes[2 * node, 0, a], boxes[2 * node + 1, 0, a])
            boxes[node, 1, a] = max(boxes[2 * node, 1, a], boxes[2 * node + 1, 1, a])
    return starts, boxes


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _least_distance(boxes, node, query, weights):
    """Lower bound for the computed squared distance to any record of the node."""
    total = 0.0
    for a in range(query.shape[0]):
        difference = max(boxes[node, 0, a] - query[a], query[a] - boxes[node, 1, a], 0.0)
        total += difference * difference * weights[a]
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _scan_leaf(tree, leaf, query, radius, distances):
    """Count the originals at exactly the radius; -1 if one is strictly nearer.

    The loops over records run on vector instructions because their positions are
    unsigned: a position that might be negative would be tested each time.
    """
    blocks, multiplicities, leaf_starts, _, weights = tree
    start = leaf_starts[leaf]
    size = np.uint64(leaf_starts[leaf + 1] - start)
    at = np.uint64(start * query.shape[0])
    for p in range(size):
        distances[p] = 0.0
    for a in range(query.shape[0]):
        value, weight = query[a], weights[a]
        for p in range(size):
            difference = blocks[at + np.uint64(p)] - value
            distances[np.uint64(p)] += difference * difference * weight
        at += size
        if a % CHECK_EVERY == CHECK_EVERY - 1:
            within = 0
            for p in range(size):
                within += distances[np.uint64(p)] <= radius
            if within == 0:
                return 0
    nearer = 0
    ties = 0
    for p in range(size):
        nearer += distances[np.uint64(p)] < radius
        ties += distances[np.uint64(p)] == radius
    if nearer > 0:
        return -1
    if ties > 0:
        ties = 0
        for p in range(size):
            if distances[p] == radius:
                ties += multiplicities[start + np.int64(p)]
    return ties


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _children_within(tree, node, query, radius):
    """Children of a node that may hold a record within the radius, the nearer one last.

    A child that cannot is given as 0.
    """
    _, _, _, boxes, weights = tree
    near, far = 2 * node, 2 * node + 1
    near_bound = _least_distance(boxes, near, query, weights)
    far_bound = _least_distance(boxes, far, query, weights)
    if far_bound < near_bound:
        near, far = far, near
        near_bound, far_bound = far_bound, near_bound
    return far if far_bound <= radius else 0, near if near_bound <= radius else 0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _count_for_one(tree, query, radius, distances, stack):
    """Count the originals at exactly the radius of one query; -1 if any is nearer."""
    n_leaves = tree[2].shape[0] - 1
    stack[0] = 1
    height = 1
    count = 0
    while height > 0:
        height -= 1
        node = stack[height]
        if node >= n_leaves:
            found = _scan_leaf(tree, node - n_leaves, query, radius, distances)
            if found < 0:
                return -1
            count += found
            continue
        for child in _children_within(tree, node, query, radius):
            if child > 0:
                stack[height] = child
                height += 1
    return count


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_at_radius(tree, queries, radii):
    """Count the originals at exactly the radius of each query; -1 if any is nearer.

    ``tree`` holds the blocks, how many originals each record stands for in the order of
    the tree, the leaves' starts, the boxes and the attributes' weights.
    """
    leaf_starts = tree[2]
    distances = np.empty(np.max(leaf_starts[1:] - leaf_starts[:-1]))
    stack = np.empty(72, np.int64)  # one for each level that 64-bit positions allow
    counts = np.empty(queries.shape[0], np.int64)
    for q in range(queries.shape[0]):
        counts[q] = _count_for_one(tree, queries[q], radii[q], distances, stack)
    return counts
