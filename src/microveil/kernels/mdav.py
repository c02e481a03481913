"""Clusters around extreme records: exact farthest and nearest records among those left.

The squared distance of two records is one float64 computation, the same everywhere::

    total = 0.0
    for each number, in order:    total += (x - y) * (x - y)  if both are there
                                  total += gap                if one is
    for each category, in order:  total += weight if x != y else 0.0

A place holds the numbers first, NaN where missing, then the codes of the categories, whole numbers
from 0 as floats. The squared distance of a record to a centroid is the mean of its distances to the
records that this is of, less half the mean of these among themselves. With p the share of them
that has a number, q = 1 - p, and the mean and the variance of those that do, a number adds::

    p * (x - mean)^2 + (p * q * variance + q * q * gap)
    p * p * (gap - variance)                                if it is missing

and a category x, c being the counts of categories among the n records::

    weight / 2 * ((n * n - 2 * n * c[x] + sum of c * c) / (n * n))

Without missing numbers these are the distances of a Euclidean space, and every bound below is one
of it. With them a value can be nearer to all others than these are among themselves: there is then
one leaf, which is always looked at. ``middle`` holds what follows the records that remain:

    moments  (n_numbers, 3)  how many have the number, its sum, and the sum of its squares
    counts   of the categories, (n_nominal, most categories)
    centroid (4, n_numbers)  mean, p, and the last two terms above
    shares   of the categories
    costs    what each category adds to the distance from the centroid
    weights  of the categories
    gaps     of the numbers; none where no number is missing

``space`` holds the records that no cluster has yet, in leaves of a k-d tree:

    blocks   the leaves' records, leaf after leaf, each attribute by attribute
    starts   the slot at which each leaf begins, and the end of the last
    left     how many records each leaf still has, in its first slots
    records  the record position in each slot
    lows, highs  (n_attributes, n_leaves) the box around what each leaf still has
    slots, leaves  of each record position: its slot and its leaf

A leaf is looked at only if a bound says that it may hold what is sought:

- Nearest: the distance to the leaf's box, computed in the order of the distances from differences
  that are nowhere larger; rounding never turns a smaller number into a larger one.
- Farthest from the centroid: ``reach``, the leaf's greatest distance from an earlier centroid plus
  how far the centroid has moved since.
- Farthest from a record q: with c the centroid, every record x of a leaf has
  |x - q|^2 = |x - c|^2 + |c - q|^2 + 2 (x - c).(c - q); the first term is at most the square of
  ``reach``, the last at most its maximum over the box.

The last two are widened by far more than rounding can have made them too small, so no bound ever
hides a record, and ties are found to the last bit.

A cluster counts units: the people whose records these are, or each record for itself. ``units``:

    of_record  the unit of each record, numbered from 0
    left       how many records of each unit have no cluster yet
    seen       the last cluster that each unit was counted in, -1 before the first
    n_left     of how many units there are such records, the only number of an array

A heap is a pair of arrays, squared distances and record positions. Its first entry comes last in
nearness, ties by position: the next to be replaced. Positions of hot loops are unsigned: one that
might be negative would be tested each time, and no vector instructions used.
"""

import numba
import numpy as np

# Rounding errs by a small multiple of m^1.5 units of 2^-52 relative to the terms that enter
# a bound, m the number of attributes, and by less than TINY where squares underflow.
SLACK = 1e-12
TINY = 1e-300

# Undoes the rounding of one addition and one product of numbers that are not negative.
UPWARDS = 1.0 + 2.0**-50

# Beyond every distance, with a square that is finite.
BEYOND = 1e100


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _measure_numbers(blocks, at, capacity, size, place, n_numbers, distances):
    """Set the squared distances from a place in the numbers; return where what follows begins.

    Four attributes at a time, which reads and writes the sums less often.
    """
    a = 0
    while a + 4 <= n_numbers:
        v0, v1, v2, v3 = place[a], place[a + 1], place[a + 2], place[a + 3]
        at1 = at + capacity
        at2 = at1 + capacity
        at3 = at2 + capacity
        for i in range(size):
            p = np.uint64(i)
            d0 = blocks[at + p] - v0
            d1 = blocks[at1 + p] - v1
            d2 = blocks[at2 + p] - v2
            d3 = blocks[at3 + p] - v3
            distances[p] = (((distances[p] + d0 * d0) + d1 * d1) + d2 * d2) + d3 * d3
        at = at3 + capacity
        a += 4
    while a < n_numbers:
        value = place[a]
        for i in range(size):
            difference = blocks[at + np.uint64(i)] - value
            distances[np.uint64(i)] += difference * difference
        at += capacity
        a += 1
    return at


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _measure(blocks, starts, left, leaf, place, weights, gaps, distances):
    """Set the squared distances from a record's place to what the leaf still has.

    The arrays come one by one because unpacking the space, which counts references, takes as
    long as measuring a leaf.
    """
    m = place.shape[0]
    n_numbers = m - weights.shape[0]
    capacity = np.uint64(starts[leaf + 1] - starts[leaf])
    size = np.uint64(left[leaf])
    at = np.uint64(starts[leaf] * m)
    for p in range(size):
        distances[p] = 0.0
    if gaps.shape[0] == 0:
        at = _measure_numbers(blocks, at, capacity, size, place, n_numbers, distances)
    for a in range(gaps.shape[0]):
        value, gap = place[a], gaps[a]
        alone = gap if np.isnan(value) else 0.0
        for i in range(size):
            p = np.uint64(i)
            square = (blocks[at + p] - value) * (blocks[at + p] - value)
            of_missing = gap - alone if np.isnan(blocks[at + p]) else alone
            distances[p] += of_missing if np.isnan(square) else square
        at += capacity
    for a in range(weights.shape[0]):
        code, weight = place[n_numbers + a], weights[a]
        for i in range(size):
            p = np.uint64(i)
            distances[p] += weight if blocks[at + p] != code else 0.0
        at += capacity


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _measure_from_centroid(blocks, starts, left, leaf, centroid, costs, gaps, distances):
    """Set the squared distances from the centroid to what the leaf still has."""
    n_numbers = centroid.shape[1]
    capacity = np.uint64(starts[leaf + 1] - starts[leaf])
    size = np.uint64(left[leaf])
    at = np.uint64(starts[leaf] * (n_numbers + costs.shape[0]))
    for p in range(size):
        distances[p] = 0.0
    if gaps.shape[0] == 0:
        at = _measure_numbers(blocks, at, capacity, size, centroid[0], n_numbers, distances)
    for a in range(gaps.shape[0]):
        mean, share = centroid[0, a], centroid[1, a]
        among, of_missing = centroid[2, a], centroid[3, a]
        for i in range(size):
            p = np.uint64(i)
            square = share * ((blocks[at + p] - mean) * (blocks[at + p] - mean)) + among
            distances[p] += of_missing if np.isnan(square) else square
        at += capacity
    for a in range(costs.shape[0]):
        for i in range(size):
            p = np.uint64(i)
            distances[p] += costs[a, np.uint64(blocks[at + p])]
        at += capacity


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _after(distances, records, i, j):
    """Whether entry i is farther than entry j, or as far and later in the table."""
    return distances[i] > distances[j] or (distances[i] == distances[j] and records[i] > records[j])


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _sink(distances, records, size):
    """Restore a heap with the last of its records first, after its root was replaced."""
    parent = 0
    while True:
        child = 2 * parent + 1
        if child >= size:
            return
        if child + 1 < size and _after(distances, records, child + 1, child):
            child += 1
        if not _after(distances, records, child, parent):
            return
        distances[parent], distances[child] = distances[child], distances[parent]
        records[parent], records[child] = records[child], records[parent]
        parent = child


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _gather(distances, records, start, size, nearest_distances, nearest_records):
    """Replace the heap's records by nearer ones of a leaf that has been measured."""
    radius = nearest_distances[0]
    within = 0
    for i in range(np.uint64(size)):
        within += distances[i] <= radius
    if within == 0:
        return
    for i in range(size):
        if distances[i] > radius:
            continue
        record = records[start + i]
        if distances[i] < radius or record < nearest_records[0]:
            nearest_distances[0] = distances[i]
            nearest_records[0] = record
            _sink(nearest_distances, nearest_records, nearest_distances.shape[0])
            radius = nearest_distances[0]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _clear(heap):
    """Fill the heap with what every record comes before."""
    heap[0][:] = np.inf
    heap[1][:] = np.iinfo(np.int64).max


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _bound_nearest(lows, highs, place, weights, bounds):
    """Set each leaf's lower bound for the computed squared distance from a record's place."""
    bounds[:] = 0.0
    n_leaves = np.uint64(bounds.shape[0])
    if n_leaves == 1:
        return
    n_numbers = place.shape[0] - weights.shape[0]
    for a in range(n_numbers):
        value = place[a]
        for leaf in range(n_leaves):
            difference = max(lows[a, leaf] - value, value - highs[a, leaf], 0.0)
            bounds[leaf] += difference * difference
    for a in range(weights.shape[0]):
        code, weight = place[n_numbers + a], weights[a]
        for leaf in range(n_leaves):
            outside = (lows[n_numbers + a, leaf] > code) | (highs[n_numbers + a, leaf] < code)
            bounds[leaf] += weight if outside else 0.0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _nearest(space, place, weights, gaps, bounds, distances, heap):
    """Replace the heap's records by those that are nearer to a place; sort it by nearness.

    There must be as many records as the heap takes.
    """
    blocks, starts, left, records, lows, highs, _, _ = space
    nearest_distances, nearest_records = heap
    wanted = nearest_records.shape[0]
    if wanted == 0:
        return
    _bound_nearest(lows, highs, place, weights, bounds)
    closest = np.argmin(bounds)
    for turn in range(-1, bounds.shape[0]):
        leaf = closest if turn < 0 else turn
        if bounds[leaf] <= nearest_distances[0] and turn != closest:
            _measure(blocks, starts, left, leaf, place, weights, gaps, distances)
            _gather(
                distances, records, starts[leaf], left[leaf], nearest_distances, nearest_records
            )
    for end in range(wanted - 1, 0, -1):
        farthest, last = nearest_distances[0], nearest_records[0]
        nearest_distances[0], nearest_records[0] = nearest_distances[end], nearest_records[end]
        nearest_distances[end], nearest_records[end] = farthest, last
        _sink(nearest_distances, nearest_records, end)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def follow_centroid(middle, remaining):
    """Set the centroid of the records that remain; return a bound for the way it moved."""
    moments, counts, centroid, shares, costs, weights, gaps = middle
    m = moments.shape[0] + weights.shape[0]
    moved = 0.0
    for a in range(moments.shape[0]):
        present = moments[a, 0]
        mean = moments[a, 1] / present if present > 0 else 0.0
        moved += (mean - centroid[0, a]) * (mean - centroid[0, a])
        centroid[0, a] = mean
        if gaps.shape[0] > 0:
            gap, share, absent = gaps[a], present / remaining, (remaining - present) / remaining
            variance = moments[a, 2] / present - mean * mean if present > 0 else gap
            centroid[1, a] = share
            centroid[2, a] = share * absent * variance + absent * absent * gap
            centroid[3, a] = share * share * (gap - variance)
    for a in range(weights.shape[0]):
        half = weights[a] / 2.0
        alike = np.int64(0)
        for category in range(counts.shape[1]):
            alike += counts[a, category] * counts[a, category]
        pairs = remaining * remaining
        for category in range(counts.shape[1]):
            share = counts[a, category] / remaining
            step = share - shares[a, category]
            moved += half * step * step
            shares[a, category] = share
            apart = pairs - 2 * remaining * counts[a, category] + alike
            costs[a, category] = half * (apart / pairs)
    return np.sqrt(moved * (1.0 + SLACK * m * m) + TINY)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _bound_farthest(space, place, middle, reach, bounds):
    """Set each leaf's upper bound for the computed squared distance from a record's place."""
    _, _, _, _, lows, highs, _, _ = space
    _, _, centroid, shares, costs, weights, _ = middle
    n_numbers = centroid.shape[1]
    n_leaves = np.uint64(bounds.shape[0])
    bounds[:] = 0.0
    if n_leaves == 1:
        return
    apart = 0.0
    for a in range(n_numbers):
        middle_value = centroid[0, a]
        step = middle_value - place[a]
        apart += step * step
        for leaf in range(n_leaves):
            bounds[leaf] += max(
                (lows[a, leaf] - middle_value) * step, (highs[a, leaf] - middle_value) * step
            )
    gains = np.empty(shares.shape[1])
    for a in range(weights.shape[0]):
        own = np.int64(place[n_numbers + a])
        apart += costs[a, own]
        most = _set_gains(shares[a], own, weights[a], gains)
        low, high = lows[n_numbers + a], highs[n_numbers + a]
        for leaf in range(n_leaves):
            alone = gains[np.uint64(low[leaf])]
            bounds[leaf] += alone if low[leaf] == high[leaf] else most
    wider = 1.0 + SLACK * lows.shape[0] ** 2
    allowance = TINY + SLACK * np.sum(weights)
    for leaf in range(n_leaves):
        around = (reach[leaf] * reach[leaf] + apart) * wider
        bounds[leaf] = around + 2.0 * bounds[leaf] + allowance


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _set_gains(shares, own, weight, gains):
    """Set (x - c).(c - q) for each category x, c the centroid and q one's own; return the most."""
    alike = 0.0
    for share in shares:
        alike += share * share
    most = -np.inf
    for category in range(shares.shape[0]):
        same = 1.0 if category == own else 0.0
        gains[category] = weight / 2.0 * (shares[category] - same - alike + shares[own])
        most = max(most, gains[category])
    return most


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _farthest(space, place, middle, bounds, reach, distances):
    """Return the record farthest from a place, given each leaf's upper bound.

    Without a place from the centroid: the reach of the leaves that are seen is tightened.
    """
    blocks, starts, left, records, lows, _, _, _ = space
    _, _, centroid, _, costs, weights, gaps = middle
    wider = 1.0 + SLACK * lows.shape[0] ** 2
    # Far more than what rounding can change in the terms of all categories.
    allowance = TINY + SLACK * np.sum(weights)
    farthest, greatest = np.int64(-1), -1.0
    most = -1
    for leaf in range(bounds.shape[0]):
        if left[leaf] > 0 and (most < 0 or bounds[leaf] > bounds[most]):
            most = leaf
    for turn in range(-1, bounds.shape[0]):
        leaf = most if turn < 0 else turn
        if left[leaf] == 0 or turn == most or bounds[leaf] < greatest:
            continue
        size = np.uint64(left[leaf])
        if place.shape[0] > 0:
            _measure(blocks, starts, left, leaf, place, weights, gaps, distances)
        else:
            _measure_from_centroid(blocks, starts, left, leaf, centroid, costs, gaps, distances)
            here = distances[0]
            for i in range(size):
                here = max(here, distances[i])
            reach[leaf] = np.sqrt(here * wider + allowance)
        beyond = 0
        for i in range(size):
            beyond += distances[i] >= greatest
        if beyond > 0:
            for i in range(left[leaf]):
                record = records[starts[leaf] + i]
                if distances[i] > greatest or (distances[i] == greatest and record < farthest):
                    greatest, farthest = distances[i], record
    return farthest


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _take(space, record, middle):
    """Take a record out of the space and out of what is summed; keep the leaf dense, its box tight.

    A leaf of one category keeps that box when it is empty: nothing is measured there. A single
    leaf's box is not looked at.
    """
    blocks, starts, left, records, lows, highs, slots, leaves = space
    moments, counts, _, _, _, _, _ = middle
    n_numbers = moments.shape[0]
    m = n_numbers + counts.shape[0]
    leaf = leaves[record]
    capacity = starts[leaf + 1] - starts[leaf]
    slot = slots[record]
    last = left[leaf] - 1
    for a in range(m):
        begin = starts[leaf] * m + a * capacity
        end = begin + last
        value = blocks[begin + slot - starts[leaf]]
        if a >= n_numbers:
            counts[a - n_numbers, np.int64(value)] -= 1
        elif not np.isnan(value):
            moments[a, 0] -= 1.0
            moments[a, 1] -= value
            moments[a, 2] -= value * value
        blocks[begin + slot - starts[leaf]] = blocks[end]
        at_end = lows.shape[1] > 1 and (value == lows[a, leaf] or value == highs[a, leaf])
        if at_end and (a < n_numbers or lows[a, leaf] < highs[a, leaf]):
            low, high = np.inf, -np.inf
            for i in range(np.uint64(begin), np.uint64(end)):
                low = min(low, blocks[i])
                high = max(high, blocks[i])
            lows[a, leaf] = low
            highs[a, leaf] = high
    moved = records[starts[leaf] + last]
    records[slot] = moved
    slots[moved] = slot
    left[leaf] = last


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _assign(space, record, cluster, labels, middle, units):
    """Let a record join a cluster; return whether the cluster had none of its unit."""
    _take(space, record, middle)
    of_record, left, seen, n_left = units
    unit = of_record[record]
    labels[record] = cluster
    left[unit] -= 1
    n_left[0] -= left[unit] == 0
    is_new = seen[unit] != cluster
    seen[unit] = cluster
    return is_new


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _form_around(space, points, record, remaining, cluster, labels, middle, units, work):
    """Form a cluster of the record and its nearest, until it holds k units; return its size.

    Who they are is written to the front of the members.
    """
    bounds, distances, heap, members = work
    k = heap[1].shape[0] + 1
    _assign(space, record, cluster, labels, middle, units)
    members[0] = record
    size, n_units = 1, 1
    while n_units < k:
        _clear(heap)
        _nearest(space, points[record], middle[5], middle[6], bounds, distances, heap)
        for neighbour in heap[1]:
            if n_units < k:
                n_units += _assign(space, neighbour, cluster, labels, middle, units)
                members[size] = neighbour
                size += 1
        if n_units < k:  # seldom, but where units have many records
            more = min(2 * heap[1].shape[0], remaining - size)
            heap = (np.empty(more), np.empty(more, np.int64))
    return size


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _work(space, k, remaining):
    """Reserve memory: a number per leaf, one per record of a leaf, k - 1 neighbours, members."""
    starts = space[1]
    heap = (np.empty(k - 1), np.empty(k - 1, np.int64))
    distances = np.empty(np.max(starts[1:] - starts[:-1]))
    return np.empty(starts.shape[0] - 1), distances, heap, np.empty(remaining, np.int64)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def form_clusters(space, points, k, labels, middle, units, formed):
    """Form clusters by MDAV until fewer than k units or at most half of the records remain.

    The caller then arranges the rest anew, as leaves have grown sparse. ``formed``, which is
    returned as it has become, is the number of clusters and of the records that remain.
    """
    n_clusters, remaining = formed
    work = _work(space, k, remaining)
    bounds, distances, _, _ = work
    half = remaining // 2
    reach = np.full(bounds.shape[0], BEYOND)
    while units[3][0] >= k and remaining > half:
        forms_two = units[3][0] >= 2 * k
        way = follow_centroid(middle, remaining)
        for leaf in range(reach.shape[0]):
            reach[leaf] = (reach[leaf] + way) * UPWARDS
            bounds[leaf] = reach[leaf] * reach[leaf]
        r = _farthest(space, points[0, :0], middle, bounds, reach, distances)
        remaining -= _form_around(
            space, points, r, remaining, n_clusters, labels, middle, units, work
        )
        n_clusters += 1
        if forms_two:
            _bound_farthest(space, points[r], middle, reach, bounds)
            s = _farthest(space, points[r], middle, bounds, reach, distances)
            remaining -= _form_around(
                space, points, s, remaining, n_clusters, labels, middle, units, work
            )
            n_clusters += 1
    return n_clusters, remaining


@numba.njit(cache=True, nogil=True, error_model="numpy")
def form_variable_clusters(space, points, k, gamma, labels, outermost, middle, units, formed):
    """Form clusters by V-MDAV until fewer than k units or at most half of the records remain.

    ``outermost`` lists the records by distance from the centroid of all, farthest first;
    ``formed`` is as for MDAV.
    """
    n_clusters, remaining = formed
    work = _work(space, k, remaining)
    bounds, distances, _, members = work
    one = (np.empty(1), np.empty(1, np.int64))
    two = (np.empty(2), np.empty(2, np.int64))
    half = remaining // 2
    at = 0
    while units[3][0] >= k and remaining > half:
        while labels[outermost[at]] >= 0:
            at += 1
        size = _form_around(
            space, points, outermost[at], remaining, n_clusters, labels, middle, units, work
        )
        remaining -= size
        n_units = k
        while n_units < 2 * k - 1 and remaining > 1:
            # What is nearest to any member: each search leaves it unless it finds one nearer.
            _clear(one)
            for member in members[:size]:
                _nearest(space, points[member], middle[5], middle[6], bounds, distances, one)
            to_cluster, record = one[0][0], one[1][0]
            # The record itself is one of its two nearest, or as near as both.
            _clear(two)
            _nearest(space, points[record], middle[5], middle[6], bounds, distances, two)
            if not to_cluster < gamma * gamma * two[0][1]:
                break
            n_units += _assign(space, record, n_clusters, labels, middle, units)
            members[size] = record
            size += 1
            remaining -= 1
        n_clusters += 1
    return n_clusters, remaining


@numba.njit(cache=True, nogil=True, error_model="numpy")
def measure_all(points, middle, distances):
    """Set the squared distance of every record to the centroid."""
    _, _, centroid, _, costs, _, _ = middle
    n_numbers = centroid.shape[1]
    for record in range(points.shape[0]):
        total = 0.0
        for a in range(n_numbers):
            difference = points[record, a] - centroid[0, a]
            square = centroid[1, a] * (difference * difference) + centroid[2, a]
            total += centroid[3, a] if np.isnan(square) else square
        for a in range(costs.shape[0]):
            total += costs[a, np.int64(points[record, n_numbers + a])]
        distances[record] = total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def join_leftovers(points, labels, order, starts, middle):
    """Let each record without a cluster join the one whose centroid is nearest.

    ``order`` lists the records, those without a cluster before ``starts[0]``, then cluster by
    cluster, each in the order of the table; ``starts`` says where each begins, and the end.
    """
    moments, counts, _, _, _, _, _ = middle
    n_numbers = moments.shape[0]
    leftovers = order[: starts[0]]
    places = points[leftovers]
    distances = np.empty(leftovers.shape[0])
    least = np.full(leftovers.shape[0], np.inf)
    for cluster in range(starts.shape[0] - 1):
        members = order[starts[cluster] : starts[cluster + 1]]
        moments[:] = 0.0
        counts[:] = 0
        for record in members:
            for a in range(n_numbers):
                value = points[record, a]
                if not np.isnan(value):
                    moments[a, 0] += 1.0
                    moments[a, 1] += value
                    moments[a, 2] += value * value
            for a in range(counts.shape[0]):
                counts[a, np.int64(points[record, n_numbers + a])] += 1
        follow_centroid(middle, members.shape[0])
        measure_all(places, middle, distances)
        for i in range(leftovers.shape[0]):
            if distances[i] < least[i]:
                least[i] = distances[i]
                labels[leftovers[i]] = cluster
