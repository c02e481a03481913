"""Nearest released rows of people an intruder knows something of, and what predicates select.

Rows are searched in the k-d tree that linkage builds: ``tree`` holds the blocks, how many
rows each distinct row stands for in the order of the tree, the leaves' starts, the boxes and
the attributes' weights. The squared distance is one float64 computation, the same
everywhere::

    total = 0.0
    for each attribute, in order:
        total += weight                        of a category that differs
        total += (x - y) * (x - y) * weight    of numbers

A box's bound is computed in the same order from terms that are nowhere larger, so pruning
needs no tolerance and ties are found to the last bit.
"""

import numba
import numpy as np

# Kinds of comparison in a predicate; 0 leaves the attribute out.
_EQUAL = 1
_AT_LEAST = 2
_AT_MOST = 3


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _least_distance(tree, is_category, node, query):
    """Lower bound for the computed squared distance to any row of the node."""
    boxes, weights = tree[3], tree[4]
    total = 0.0
    for a in range(query.shape[0]):
        difference = max(boxes[node, 0, a] - query[a], query[a] - boxes[node, 1, a], 0.0)
        if is_category[a]:
            if difference > 0:
                total += weights[a]
        else:
            total += difference * difference * weights[a]
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _measure_leaf(tree, is_category, leaf, query, distances):
    """Set the squared distances to the rows of a leaf; return how many there are."""
    blocks, leaf_starts, weights = tree[0], tree[2], tree[4]
    start = leaf_starts[leaf]
    size = leaf_starts[leaf + 1] - start
    distances[:size] = 0.0
    at = start * query.shape[0]
    for a in range(query.shape[0]):
        block = blocks[at : at + size]
        value, weight = query[a], weights[a]
        if is_category[a]:
            for p in range(size):
                distances[p] += weight if block[p] != value else 0.0
        else:
            for p in range(size):
                difference = block[p] - value
                distances[p] += difference * difference * weight
        at += size
    return size


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
def _kth_for_one(tree, is_category, query, work):
    """Lower the least distances in ``work`` to those of one query."""
    least, distances, stack, bounds = work
    k = least.shape[0]
    n_leaves = tree[2].shape[0] - 1
    multiplicities, leaf_starts = tree[1], tree[2]
    stack[0], bounds[0] = 1, _least_distance(tree, is_category, 1, query)
    height = 1
    while height > 0:
        height -= 1
        node = stack[height]
        if not bounds[height] < least[k - 1]:
            continue
        if node >= n_leaves:
            leaf = node - n_leaves
            size = _measure_leaf(tree, is_category, leaf, query, distances)
            for p in range(size):
                if distances[p] < least[k - 1]:
                    _insert(least, distances[p], multiplicities[leaf_starts[leaf] + p])
            continue
        near, far = 2 * node, 2 * node + 1
        near_bound = _least_distance(tree, is_category, near, query)
        far_bound = _least_distance(tree, is_category, far, query)
        if far_bound < near_bound:
            near, far = far, near
            near_bound, far_bound = far_bound, near_bound
        stack[height], bounds[height] = far, far_bound
        stack[height + 1], bounds[height + 1] = near, near_bound
        height += 2


@numba.njit(cache=True, nogil=True, error_model="numpy")
def kth_least_distances(tree, is_category, queries, k):
    """Squared distance of each query to its k-th nearest row; infinite of fewer rows."""
    leaf_starts = tree[2]
    distances = np.empty(np.max(leaf_starts[1:] - leaf_starts[:-1]))
    stack = np.empty(72, np.int64)  # one for each level that 64-bit positions allow
    bounds = np.empty(72)
    least = np.empty(k)
    found = np.empty(queries.shape[0])
    for q in range(queries.shape[0]):
        least[:] = np.inf
        _kth_for_one(tree, is_category, queries[q], (least, distances, stack, bounds))
        found[q] = least[k - 1]
    return found


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _leaves_within(tree, is_category, query, radius, stack, leaves):
    """List the leaves that may hold a row within the radius; return how many."""
    n_leaves = tree[2].shape[0] - 1
    stack[0] = 1
    height, found = 1, 0
    while height > 0:
        height -= 1
        node = stack[height]
        if not _least_distance(tree, is_category, node, query) <= radius:
            continue
        if node >= n_leaves:
            leaves[found] = node - n_leaves
            found += 1
            continue
        stack[height] = 2 * node
        stack[height + 1] = 2 * node + 1
        height += 2
    return found


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _count_between(secrets, low, high):
    """Count the values of an ascending array from ``low`` to ``high``, both included."""
    return np.searchsorted(secrets, high, side="right") - np.searchsorted(secrets, low, side="left")


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_at_distance(tree, is_category, queries, radii, secrets, starts, intervals):
    """Count the rows at exactly the radius, and those of them with a secret in an interval.

    ``secrets`` holds the secrets of the rows, ascending within each distinct row of the
    tree, whose own begin at ``starts``. Returns both counts, a row to a query.
    """
    leaf_starts = tree[2]
    distances = np.empty(np.max(leaf_starts[1:] - leaf_starts[:-1]))
    stack = np.empty(72, np.int64)
    leaves = np.empty(leaf_starts.shape[0], np.int64)
    counts = np.zeros((queries.shape[0], 2), np.int64)
    for q in range(queries.shape[0]):
        n_leaves = _leaves_within(tree, is_category, queries[q], radii[q], stack, leaves)
        for leaf in leaves[:n_leaves]:
            size = _measure_leaf(tree, is_category, leaf, queries[q], distances)
            for p in range(size):
                if distances[p] == radii[q]:
                    g = leaf_starts[leaf] + p
                    counts[q, 0] += starts[g + 1] - starts[g]
                    counts[q, 1] += _count_between(
                        secrets[starts[g] : starts[g + 1]], intervals[q, 0], intervals[q, 1]
                    )
    return counts


@numba.njit(cache=True, nogil=True, error_model="numpy")
def first_at_distance(tree, is_category, queries, radii):
    """Return which distinct row of the tree is the first at exactly the radius, -1 for none."""
    leaf_starts = tree[2]
    distances = np.empty(np.max(leaf_starts[1:] - leaf_starts[:-1]))
    stack = np.empty(72, np.int64)
    leaves = np.empty(leaf_starts.shape[0], np.int64)
    found = np.full(queries.shape[0], -1)
    for q in range(queries.shape[0]):
        n_leaves = _leaves_within(tree, is_category, queries[q], radii[q], stack, leaves)
        for leaf in leaves[:n_leaves]:
            size = _measure_leaf(tree, is_category, leaf, queries[q], distances)
            for p in range(size):
                if distances[p] == radii[q] and found[q] < 0:
                    found[q] = leaf_starts[leaf] + p
    return found


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _mark(search, query, radius, work, marks):
    """Mark the rows within a radius: 1 inside, 2 at it; return how many were listed."""
    tree, is_category, rows, starts = search
    distances, stack, leaves, listed = work
    leaf_starts = tree[2]
    n_listed = 0
    n_leaves = _leaves_within(tree, is_category, query, radius, stack, leaves)
    for leaf in leaves[:n_leaves]:
        size = _measure_leaf(tree, is_category, leaf, query, distances)
        for p in range(size):
            if distances[p] <= radius:
                g = leaf_starts[leaf] + p
                for row in rows[starts[g] : starts[g + 1]]:
                    marks[row] = 1 if distances[p] < radius else 2
                    listed[n_listed] = row
                    n_listed += 1
    return n_listed


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _work(search):
    """Make the working memory of a search."""
    leaf_starts = search[0][2]
    return (
        np.empty(np.max(leaf_starts[1:] - leaf_starts[:-1])),
        np.empty(72, np.int64),
        np.empty(leaf_starts.shape[0], np.int64),
        np.empty(search[2].shape[0], np.int64),
    )


@numba.njit(cache=True, nogil=True, error_model="numpy")
def common_neighbours(one, other, one_queries, other_queries, one_radii, other_radii):
    """Count released rows by where they lie from either part of a person.

    ``one`` and ``other`` are each a tree, which attributes are categories, the rows in the order of
    the tree, and where those of each distinct row begin. ``counts[q, i, j]`` counts the rows inside
    (1), at (2) or beyond (0) the first part's radius, by i, and the second's, by j; beyond both is
    left at 0.
    """
    n_rows = one[2].shape[0]
    one_work, other_work = _work(one), _work(other)
    one_marks = np.zeros(n_rows, np.uint8)
    other_marks = np.zeros(n_rows, np.uint8)
    counts = np.zeros((one_queries.shape[0], 3, 3), np.int64)
    for q in range(one_queries.shape[0]):
        n_one = _mark(one, one_queries[q], one_radii[q], one_work, one_marks)
        n_other = _mark(other, other_queries[q], other_radii[q], other_work, other_marks)
        for row in one_work[3][:n_one]:
            counts[q, one_marks[row], other_marks[row]] += 1
        for row in other_work[3][:n_other]:
            if one_marks[row] == 0:
                counts[q, 0, other_marks[row]] += 1
        one_marks[one_work[3][:n_one]] = 0
        other_marks[other_work[3][:n_other]] = 0
    return counts


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _range_of(in_order, comparison, value):
    """First and last position, the latter excluded, of what satisfies a comparison."""
    start, end = 0, in_order.shape[0]
    if comparison != _AT_MOST:
        start = np.searchsorted(in_order, value, side="left")
    if comparison != _AT_LEAST:
        end = np.searchsorted(in_order, value, side="right")
    return start, end


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _satisfies(x, comparison, value):
    """Whether a value satisfies a comparison; a missing one (NaN) satisfies none."""
    if comparison == _EQUAL:
        return x == value
    if comparison == _AT_LEAST:
        return x >= value
    return x <= value


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_selected(columns, orders, in_order, n_present, comparisons, values):
    """Count the records that each predicate selects, a conjunction of comparisons.

    ``columns`` has an attribute to a row; ``orders`` the records by ascending value, missing ones
    last, ``in_order`` the values so; ``comparisons`` and ``values`` a predicate to a row. The
    comparison that fewest records satisfy says which records the others are held against.
    """
    n_predicates, n_attributes = comparisons.shape
    counts = np.zeros(n_predicates, np.int64)
    used = np.empty(n_attributes, np.int64)
    for p in range(n_predicates):
        n_used = 0
        first, start, end = -1, 0, 0
        for a in range(n_attributes):
            if comparisons[p, a] == 0:
                continue
            low, high = _range_of(in_order[a, : n_present[a]], comparisons[p, a], values[p, a])
            if first < 0 or high - low < end - start:
                if first >= 0:
                    used[n_used] = first
                    n_used += 1
                first, start, end = a, low, high
            else:
                used[n_used] = a
                n_used += 1
        if n_used == 0:
            counts[p] = end - start
            continue
        for i in orders[first, start:end]:
            selected = True
            for a in used[:n_used]:
                if not _satisfies(columns[a, i], comparisons[p, a], values[p, a]):
                    selected = False
                    break
            counts[p] += selected
    return counts
