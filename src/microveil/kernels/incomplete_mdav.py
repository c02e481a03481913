"""Clusters around extreme records, some of which lack numbers: every record is looked at.

Two records without a number are alike in it, and a record without it lies at the same squared
distance, its ``gap``, from every value. So a value can be nearer to all others than these are
among themselves: these are no distances of any space, and bounds by boxes and centroids, as in
`mdav`, would hide records.

The squared distance of two records is one float64 computation, the same everywhere::

    total = 0.0
    for each number, in order:    total += (x - y) * (x - y)  if both are there
                                  total += gap                if one is
    for each category, in order:  total += weight if x != y else 0.0

That of a record to the centroid of a set is the mean of its distances to the records of the set,
less half the mean of these among themselves. With p the share of the set that has the number,
q = 1 - p, and the mean and the variance of those that do, a number adds::

    p * (x - mean)^2 + (p * q * variance + q * q * gap)
    p * p * (gap - variance)                                if it is missing

and a category what it adds in `mdav`. ``columns`` holds the records that no cluster has yet, in the
order of the table, attribute by attribute: numbers, NaN where missing, then codes. So the first of
equal distances is that of the lowest position. ``middle`` holds what follows these records:

    moments  (n_numbers, 3)  how many have the number, its sum, and the sum of its squares
    counts   of the categories, (n_nominal, most categories)
    weights  of the categories: what two different ones add
    gaps     of the numbers

Clusters count units, see `mdav`.
"""

import numba
import numpy as np

from microveil.kernels.mdav import assign, set_costs


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _measure(columns, remaining, place, middle, distances):
    """Set the squared distances from a record's place to those that remain."""
    _, _, weights, gaps = middle
    n_numbers = gaps.shape[0]
    distances[:remaining] = 0.0
    for a in range(n_numbers):
        value, gap, column = place[a], gaps[a], columns[a]
        if np.isnan(value):
            for i in range(remaining):
                distances[i] += 0.0 if np.isnan(column[i]) else gap
        else:
            for i in range(remaining):
                square = (column[i] - value) * (column[i] - value)
                distances[i] += gap if np.isnan(square) else square
    for a in range(weights.shape[0]):
        code, weight, column = place[n_numbers + a], weights[a], columns[n_numbers + a]
        for i in range(remaining):
            distances[i] += weight if column[i] != code else 0.0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _measure_from_centroid(columns, n_looked_at, middle, n_records, distances):
    """Set the squared distances of records to the centroid of the set of so many in the middle."""
    moments, counts, weights, gaps = middle
    n_numbers = gaps.shape[0]
    distances[:n_looked_at] = 0.0
    for a in range(n_numbers):
        n_present, gap, column = moments[a, 0], gaps[a], columns[a]
        share, absent = n_present / n_records, (n_records - n_present) / n_records
        mean, variance = 0.0, gap
        if n_present > 0:
            mean = moments[a, 1] / n_present
            variance = moments[a, 2] / n_present - mean * mean
        among = share * absent * variance + absent * absent * gap
        of_missing = share * share * (gap - variance)
        for i in range(n_looked_at):
            square = share * ((column[i] - mean) * (column[i] - mean)) + among
            distances[i] += of_missing if np.isnan(square) else square
    costs = np.empty(counts.shape[1])
    for a in range(weights.shape[0]):
        set_costs(counts[a], n_records, weights[a], costs)
        column = columns[n_numbers + a]
        for i in range(n_looked_at):
            distances[i] += costs[np.int64(column[i])]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _first_farthest(distances, remaining):
    """Return the slot of the farthest record, the first of several."""
    farthest = 0
    for i in range(1, remaining):
        if distances[i] > distances[farthest]:
            farthest = i
    return farthest


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _first_nearest(distances, remaining, without):
    """Return the slot of the nearest record but one, the first of several."""
    nearest = -1
    for i in range(remaining):
        if i != without and (nearest < 0 or distances[i] < distances[nearest]):
            nearest = i
    return nearest


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _take(columns, slot, middle):
    """Take a record off what is summed."""
    moments, counts, _, gaps = middle
    n_numbers = gaps.shape[0]
    for a in range(n_numbers):
        value = columns[a, slot]
        if not np.isnan(value):
            moments[a, 0] -= 1.0
            moments[a, 1] -= value
            moments[a, 2] -= value * value
    for a in range(counts.shape[0]):
        counts[a, np.int64(columns[n_numbers + a, slot])] -= 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _close_up(columns, records, distances, labels, remaining):
    """Leave out the records that have got a cluster, in the order of the table."""
    kept = 0
    for i in range(remaining):
        if labels[records[i]] < 0:
            for a in range(columns.shape[0]):
                columns[a, kept] = columns[a, i]
            records[kept] = records[i]
            distances[kept] = distances[i]
            kept += 1
    return kept


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _nearest(distances, remaining, slot, wanted):
    """Return the slots of so many records by nearness, without the one in a slot; ties in order."""
    radius = np.partition(distances[:remaining], wanted)[wanted]
    chosen = np.empty(wanted, np.int64)
    n_chosen = 0
    for within in range(2):
        for i in range(remaining):
            is_chosen = distances[i] < radius if within == 0 else distances[i] == radius
            if is_chosen and i != slot and n_chosen < wanted:
                chosen[n_chosen] = i
                n_chosen += 1
    return chosen[np.argsort(distances[chosen], kind="mergesort")]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _form_around(left, remaining, slot, k, cluster, labels, middle, distances, units):
    """Form a cluster of the record in a slot and its nearest, until they are of k units.

    Return how many remain; the distances from it stay with those.
    """
    columns, records = left
    _measure(columns, remaining, columns[:, slot].copy(), middle, distances)
    assign(records[slot], cluster, labels, units)
    _take(columns, slot, middle)
    # Nearer than every other, and out of the way: it has its cluster.
    distances[slot] = -1.0
    n_units, looked_at = 1, 0
    while n_units < k:
        # Most often k - 1 are enough; where people have many records, more are looked at.
        wanted = min(max(k - 1, 2 * looked_at), remaining - 1)
        # They leave by nearness: what is summed is rounded in that order.
        for i in _nearest(distances, remaining, slot, wanted)[looked_at:]:
            if n_units < k:
                n_units += assign(records[i], cluster, labels, units)
                _take(columns, i, middle)
        looked_at = wanted
    return _close_up(columns, records, distances, labels, remaining)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def form_clusters(columns, k, labels, middle, units):
    """Form clusters of k units by MDAV; return how many."""
    remaining = columns.shape[1]
    distances = np.empty(remaining)
    left = columns, np.arange(remaining)
    n_clusters = 0
    while True:
        n_units = units[3][0]
        if n_units < k:
            return n_clusters
        _measure_from_centroid(columns, remaining, middle, remaining, distances)
        slot = _first_farthest(distances, remaining)
        for _ in range(2 if n_units >= 2 * k else 1):
            remaining = _form_around(
                left, remaining, slot, k, n_clusters, labels, middle, distances, units
            )
            n_clusters += 1
            slot = _first_farthest(distances, remaining)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def form_variable_clusters(columns, k, gamma, labels, middle, units):
    """Form clusters of k units or more by V-MDAV; return how many."""
    remaining = columns.shape[1]
    distances, nearest = np.empty(remaining), np.empty(remaining)
    _measure_from_centroid(columns, remaining, middle, remaining, distances)
    outermost = np.argsort(-distances, kind="mergesort")
    points = columns.copy()
    left = columns, np.arange(remaining)
    n_clusters, at = 0, 0
    while units[3][0] >= k:
        while labels[outermost[at]] >= 0:
            at += 1
        slot = np.searchsorted(left[1][:remaining], outermost[at])
        remaining = _form_around(
            left, remaining, slot, k, n_clusters, labels, middle, distances, units
        )
        nearest[:remaining] = np.inf
        for member in np.flatnonzero(labels == n_clusters):
            _measure(columns, remaining, points[:, member], middle, distances)
            nearest[:remaining] = np.minimum(nearest[:remaining], distances[:remaining])
        size = k
        while size < 2 * k - 1 and remaining > 1:
            slot = _first_nearest(nearest, remaining, -1)
            _measure(columns, remaining, columns[:, slot].copy(), middle, distances)
            to_others = distances[_first_nearest(distances, remaining, slot)]
            if not nearest[slot] < gamma * gamma * to_others:
                break
            nearest[:remaining] = np.minimum(nearest[:remaining], distances[:remaining])
            size += assign(left[1][slot], n_clusters, labels, units)
            _take(columns, slot, middle)
            remaining = _close_up(columns, left[1], nearest, labels, remaining)
        n_clusters += 1
    return n_clusters


@numba.njit(cache=True, nogil=True, error_model="numpy")
def join_leftovers(points, labels, order, starts, middle):
    """Let each record without a cluster join the one whose centroid is nearest.

    ``order`` and ``starts`` are as for `mdav.join_leftovers`; ``points`` holds all records,
    attribute by attribute.
    """
    moments, counts, _, gaps = middle
    n_numbers = gaps.shape[0]
    leftovers = order[: starts[0]]
    columns = np.empty((points.shape[0], leftovers.shape[0]))
    for i in range(leftovers.shape[0]):
        columns[:, i] = points[:, leftovers[i]]
    distances = np.empty(leftovers.shape[0])
    least = np.full(leftovers.shape[0], np.inf)
    for cluster in range(starts.shape[0] - 1):
        members = order[starts[cluster] : starts[cluster + 1]]
        moments[:] = 0.0
        counts[:] = 0
        for record in members:
            for a in range(n_numbers):
                value = points[a, record]
                if not np.isnan(value):
                    moments[a, 0] += 1.0
                    moments[a, 1] += value
                    moments[a, 2] += value * value
            for a in range(counts.shape[0]):
                counts[a, np.int64(points[n_numbers + a, record])] += 1
        _measure_from_centroid(columns, leftovers.shape[0], middle, members.shape[0], distances)
        for i in range(leftovers.shape[0]):
            if distances[i] < least[i]:
                least[i] = distances[i]
                labels[leftovers[i]] = cluster
