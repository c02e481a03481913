"""Nearest records, of numbers and categories, some of which may be missing.

The squared distance of two records is one float64 computation, the same everywhere::

    total = 0.0
    for each attribute, in order:
        total += 0.0                          if both lack it
        total += gap                          if one does
        total += weight if x != y else 0.0    of categories
        total += (x - y) * (x - y) * weight   of numbers

A k-d tree finds what lies within a radius (Bentley 1975, doi:10.1145/361002.361007), as in
`linkage`. A value can be nearer to a missing one than to another value, as in no space, so a node
says of each attribute more than a box does: the lowest and highest value of those that have one,
and whether some lack it. The least term of an attribute is then the lesser of what the box and what
the gap allow. Terms are computed in the same order as above and are nowhere larger; as rounding
never turns a smaller number into a larger one, the computed bound never exceeds the computed
distance of a record of the node. Pruning needs no tolerance, and ties are found to the last bit.

A node is divided at the median of the attribute in which pairs of its records are farthest apart on
average, as far as some pairs show, where a term beyond the reach of the queries counts as that
reach: what lies farther is left out anyway. Long tails then draw no division to themselves, and
categories that weigh more than the reach count by the share of pairs that they tell apart, so that
records end in groups of one combination as far as that tells more of them apart than numbers do.
Those who lack a value come after all that have one.

Nodes and leaves are numbered and laid out as in `linkage`; so many records as a leaf has are
measured with vector instructions, and given up if every sum is beyond the radius already: terms
only add.
"""

import numba
import numpy as np

from microveil.kernels.linkage import _MODULUS, _MULTIPLIER, _split

CHECK_EVERY = 2
# Pairs of records by which a node's spread is judged.
PAIRS = 64
# Where the reach is 0, pairs count by whether they are apart at all.
SMALLEST_REACH = float(np.finfo(np.float64).tiny)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _term(x, y, is_category, weight, gap):
    """Return what an attribute adds to the squared distance of two records."""
    if np.isnan(x) or np.isnan(y):
        return 0.0 if np.isnan(x) and np.isnan(y) else gap
    if is_category:
        return weight if x != y else 0.0
    return (x - y) * (x - y) * weight


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _enclose(column, members, box):
    """Set the lowest and highest value of the members, and whether one has none (1.0)."""
    lowest, highest, lacks = np.inf, -np.inf, 0.0
    for record in members:
        value = column[record]
        if np.isnan(value):
            lacks = 1.0
        else:
            lowest = min(lowest, value)
            highest = max(highest, value)
    box[0], box[1], box[2] = lowest, highest, lacks


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _widest(records, members, scale, reach):
    """Return the attribute in which pairs of members are farthest apart; -1 where in none.

    Pairs at random positions are judged by, whatever order the table is in.
    """
    is_category, weights, gaps = scale
    pairs = np.empty((PAIRS, 2), np.int64)
    state = 1
    for i in range(PAIRS):
        for side in range(2):
            state = state * _MULTIPLIER % _MODULUS
            pairs[i, side] = members[state % members.shape[0]]
    widest, spread = -1, 0.0
    for a in range(records.shape[0]):
        apart = 0.0
        for i in range(PAIRS):
            one, other = records[a, pairs[i, 0]], records[a, pairs[i, 1]]
            apart += min(_term(one, other, is_category[a], weights[a], gaps[a]), reach)
        if apart > spread:
            widest, spread = a, apart
    return widest


@numba.njit(cache=True, nogil=True, error_model="numpy")
def build_tree(records, scale, reach, leaf_size):
    """Arrange records in a k-d tree with at most ``leaf_size`` to a leaf, 2 or more.

    ``records`` holds them attribute by attribute, NaN where missing; ``scale`` says of each
    attribute whether it is of categories, its weight and its gap. ``reach`` is a squared distance,
    infinite for any. Returns the order of the records in the tree, their values in blocks, where
    each leaf starts, and per node and attribute the lowest and highest value and whether one is
    missing.
    """
    m, n = records.shape
    reach = max(reach, SMALLEST_REACH)
    n_leaves = 1
    while n_leaves * leaf_size < n:
        n_leaves *= 2
    leaf_starts = np.empty(n_leaves + 1, np.int64)
    for leaf in range(n_leaves + 1):
        leaf_starts[leaf] = leaf * n // n_leaves
    boxes = np.empty((2 * n_leaves, m, 3))
    order = np.arange(n)
    keys = np.empty(n)
    width = n_leaves  # leaves under each node of the level
    first = 1  # the level's first node
    while width > 1:
        for node in range(first, 2 * first):
            leaf = (node - first) * width
            start, end = leaf_starts[leaf], leaf_starts[leaf + width]
            members = order[start:end]
            widest = _widest(records, members, scale, reach)
            if widest >= 0:
                column = records[widest]
                for record in members:
                    keys[record] = np.inf if np.isnan(column[record]) else column[record]
                _split(keys, members, leaf_starts[leaf + width // 2] - start)
        width //= 2
        first *= 2
    blocks = np.empty(n * m)
    for leaf in range(n_leaves):
        start, end = leaf_starts[leaf], leaf_starts[leaf + 1]
        for a in range(m):
            for i in range(start, end):
                blocks[start * m + a * (end - start) + i - start] = records[a, order[i]]
            _enclose(records[a], order[start:end], boxes[n_leaves + leaf, a])
    for node in range(n_leaves - 1, 0, -1):
        for a in range(m):
            one, other = boxes[2 * node, a], boxes[2 * node + 1, a]
            boxes[node, a, 0] = min(one[0], other[0])
            boxes[node, a, 1] = max(one[1], other[1])
            boxes[node, a, 2] = max(one[2], other[2])
    return order, blocks, leaf_starts, boxes


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _least_distance(box, query, scale, radius):
    """Lower bound for the computed squared distance to any record of a node.

    Where it is beyond the radius it may be that of the first attributes alone: terms only add.
    """
    is_category, weights, gaps = scale
    total = 0.0
    for a in range(query.shape[0]):
        lowest, highest, lacks = box[a, 0], box[a, 1], box[a, 2] > 0
        value, gap = query[a], gaps[a]
        if np.isnan(value):
            if not lacks:
                total += gap
        elif lowest > highest:  # nobody has a value
            total += gap
        else:
            difference = max(lowest - value, value - highest, 0.0)
            if difference > 0:
                least = weights[a] if is_category[a] else difference * difference * weights[a]
                total += min(least, gap) if lacks else least
        if total > radius:
            return total
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _add(values, value, is_category, weight, gap, distances):
    """Add an attribute's terms for originals of such values."""
    if np.isnan(value):
        for i in range(np.uint64(values.shape[0])):
            distances[i] += 0.0 if np.isnan(values[i]) else gap
    elif is_category:
        for i in range(np.uint64(values.shape[0])):
            differing = weight if values[i] != value else 0.0
            distances[i] += gap if np.isnan(values[i]) else differing
    else:
        for i in range(np.uint64(values.shape[0])):
            difference = values[i] - value
            square = difference * difference * weight
            distances[i] += gap if np.isnan(values[i]) else square


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _some_within(distances, size, radius):
    """Whether any of the first distances is within the radius."""
    within = 0
    for i in range(np.uint64(size)):
        within += distances[i] <= radius
    return within > 0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _measure_leaf(tree, scale, leaf, query, radius, distances):
    """Set the squared distances to the records of a leaf; return how many, 0 if all are beyond."""
    blocks, leaf_starts, _ = tree
    is_category, weights, gaps = scale
    start = leaf_starts[leaf]
    size = leaf_starts[leaf + 1] - start
    at = start * query.shape[0]
    distances[:size] = 0.0
    for a in range(query.shape[0]):
        values = blocks[at : at + size]
        _add(values, query[a], is_category[a], weights[a], gaps[a], distances)
        at += size
        if (a + 1) % CHECK_EVERY == 0 and not _some_within(distances, size, radius):
            return 0
    return size


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _scan_leaf(tree, scale, leaf, query, radius, distances):
    """Count the originals of a leaf at exactly the radius; -1 if one is strictly nearer."""
    count = 0
    for i in range(_measure_leaf(tree, scale, leaf, query, radius, distances)):
        if distances[i] < radius:
            return -1
        count += distances[i] == radius
    return count


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _count_for_one(tree, scale, query, radius, distances, stack):
    """Count the originals at exactly the radius of one query; -1 if any is nearer."""
    _, leaf_starts, boxes = tree
    n_leaves = leaf_starts.shape[0] - 1
    if not _least_distance(boxes[1], query, scale, radius) <= radius:
        return 0
    stack[0] = 1
    height = 1
    count = 0
    while height > 0:
        height -= 1
        node = stack[height]
        if node >= n_leaves:
            found = _scan_leaf(tree, scale, node - n_leaves, query, radius, distances)
            if found < 0:
                return -1
            count += found
            continue
        near, far = 2 * node, 2 * node + 1
        near_bound = _least_distance(boxes[near], query, scale, radius)
        far_bound = _least_distance(boxes[far], query, scale, radius)
        if far_bound < near_bound:
            near, far = far, near
            near_bound, far_bound = far_bound, near_bound
        # The nearer one is looked at first: a nearer original ends the search.
        if far_bound <= radius:
            stack[height] = far
            height += 1
        if near_bound <= radius:
            stack[height] = near
            height += 1
    return count


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_at_radius(tree, scale, queries, radii):
    """Count the originals at exactly the radius of each query; -1 if any is nearer.

    ``tree`` holds the blocks, the leaves' starts and the boxes; ``scale`` is that of `build_tree`.
    """
    leaf_starts = tree[1]
    distances = np.empty(np.max(leaf_starts[1:] - leaf_starts[:-1]))
    stack = np.empty(72, np.int64)  # one for each level that 64-bit positions allow
    counts = np.empty(queries.shape[0], np.int64)
    for q in range(queries.shape[0]):
        counts[q] = _count_for_one(tree, scale, queries[q], radii[q], distances, stack)
    return counts


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _insert(least, distance, copies):
    """Put copies of a distance in their place among the least ones, kept in ascending order."""
    k = least.shape[0]
    for _ in range(min(copies, k)):
        if not distance < least[k - 1]:
            return
        place = k - 1
        while place > 0 and least[place - 1] > distance:
            least[place] = least[place - 1]
            place -= 1
        least[place] = distance


@numba.njit(cache=True, nogil=True, error_model="numpy")
def kth_least_distances(tree, scale, copies, queries, k):
    """Squared distance of each query to its k-th nearest record; infinite of fewer records.

    ``copies`` says how many records each one stands for, in the order of the tree.
    """
    _, leaf_starts, boxes = tree
    n_leaves = leaf_starts.shape[0] - 1
    distances = np.empty(np.max(leaf_starts[1:] - leaf_starts[:-1]))
    stack, bounds = np.empty(72, np.int64), np.empty(72)
    found = np.empty(queries.shape[0])
    for q in range(queries.shape[0]):
        query, least = queries[q], np.full(k, np.inf)
        stack[0], bounds[0] = 1, 0.0
        height = 1
        while height > 0:
            height -= 1
            node, reach = stack[height], least[k - 1]
            if not bounds[height] < reach:
                continue
            if node >= n_leaves:
                leaf = node - n_leaves
                for p in range(_measure_leaf(tree, scale, leaf, query, reach, distances)):
                    _insert(least, distances[p], copies[leaf_starts[leaf] + p])
                continue
            near, far = 2 * node, 2 * node + 1
            near_bound = _least_distance(boxes[near], query, scale, reach)
            far_bound = _least_distance(boxes[far], query, scale, reach)
            if far_bound < near_bound:
                near, far = far, near
                near_bound, far_bound = far_bound, near_bound
            stack[height], bounds[height] = far, far_bound
            stack[height + 1], bounds[height + 1] = near, near_bound
            height += 2
        found[q] = least[k - 1]
    return found


@numba.njit(cache=True, nogil=True, error_model="numpy")
def records_within(tree, scale, queries, radii):
    """List the query, the place in the tree, and 1 (nearer) or 2 (at it), within each radius."""
    _, leaf_starts, boxes = tree
    n_leaves = leaf_starts.shape[0] - 1
    distances = np.empty(np.max(leaf_starts[1:] - leaf_starts[:-1]))
    stack = np.empty(72, np.int64)
    found, n_found = np.empty((64, 3), np.int64), 0
    for q in range(queries.shape[0]):
        query, radius = queries[q], radii[q]
        stack[0] = 1
        height = 1
        while height > 0:
            height -= 1
            node = stack[height]
            if not _least_distance(boxes[node], query, scale, radius) <= radius:
                continue
            if node < n_leaves:
                stack[height], stack[height + 1] = 2 * node, 2 * node + 1
                height += 2
                continue
            leaf = node - n_leaves
            for p in range(_measure_leaf(tree, scale, leaf, query, radius, distances)):
                if distances[p] <= radius:
                    if n_found == found.shape[0]:
                        found = np.concatenate((found, np.empty_like(found)))
                    found[n_found, 0], found[n_found, 1] = q, leaf_starts[leaf] + p
                    found[n_found, 2] = 1 if distances[p] < radius else 2
                    n_found += 1
    return found[:n_found]
