"""Runs of sorted values under one guarantee: what they cost, and shortest paths over cuts.

A run of s >= 3 ascending values x1 <= ... <= xs costs

    within      its squared distances to its winsorised mean
    upwards     A / (M s)^(1/3)     downwards   B / (M s)^(1/3)     M = max(A, B)

(A and B as in `microveil.noise.sensitivity`; where M is 0 both are 0). The totals of a
partition are those sums over its runs, and of the larger of upwards and downwards: the sum L.

Squared distances are summed from the run's own first or last value, to which they add what
is never negative: SSE = sum d^2 - (sum d)^2/s loses at most s units of rounding, as d = 0 is
one of its terms. Only operations that IEEE 754 rounds are used: every machine cuts alike.

``places`` are the candidate cuts, ascending, the first 0 and the last n. What lies between
two of them enters as ``pieces`` (2, n_places - 1): the sums of the distances to the piece's
first value, and of their squares. ``ends`` (6, n_places) are the three values from each
place upwards and the three below it downwards (0 where there are none).
"""

import numba
import numpy as np

UNREACHED = np.inf
LEAST = 1e-250  # in place of M = 0, so that nothing is divided by 0
THIRD = np.int64(0x55555556)  # 2**32 / 3, rounded up
BIAS = np.int64(715094163)  # two thirds of the exponent's bias, less what errs least (fdlibm)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def cube_root(number):
    """Return the cube root of a normal positive float64, off by less than 1e-12 of it.

    A third of the exponent, then Halley's iteration twice: it runs on vector instructions
    and rounds alike everywhere, which a library's function does not.
    """
    upper = np.float64(number).view(np.int64) >> np.int64(32)
    upper = ((upper * THIRD) >> np.int64(32)) + BIAS
    root = np.int64(upper << np.int64(32)).view(np.float64)
    cube = root * root * root
    root *= (cube + 2.0 * number) / (2.0 * cube + number)
    cube = root * root * root
    return root * ((cube + 2.0 * number) / (2.0 * cube + number))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def run_costs(size, total, squares, first, second, third, last, last2, last3):
    """Return within, upwards and downwards of a run from its distances' sums and its ends."""
    shift = (second - first) - (last - last2)
    within = max(squares - total * total / size, 0.0) + shift * shift / size
    up = (last - second) + (third - second) + (last - last2)
    down = (last2 - first) + (last2 - last3) + (second - first)
    root = cube_root(max(up, down, LEAST) * size)
    return within, up / root, down / root


@numba.njit(cache=True, nogil=True, error_model="numpy")
def measure(in_order, places, pieces, ends):
    """Write the pieces between the places and the values at their ends."""
    n = in_order.shape[0]
    for t in range(places.shape[0]):
        for nth in range(3):
            ends[nth, t] = in_order[places[t] + nth] if places[t] + nth < n else 0.0
            ends[3 + nth, t] = in_order[places[t] - 1 - nth] if places[t] > nth else 0.0
    for t in range(places.shape[0] - 1):
        first = in_order[places[t]]
        total = squares = 0.0
        for position in range(places[t] + 1, places[t + 1]):
            distance = in_order[position] - first
            total += distance
            squares += distance * distance
        pieces[0, t] = total
        pieces[1, t] = squares


@numba.njit(cache=True, nogil=True, error_model="numpy")
def shortest_paths(places, pieces, ends, reach, k, exact_allowed, weights, limits, before):
    """Write, for every multiplier, the place before each place on its shortest path.

    A run costs ``within + weights[0] * max(upwards, downwards) + weights[1] * upwards +
    weights[2] * downwards``, one column of weights (3, n_multipliers) for each multiplier.
    Runs go from place i to at most place ``reach[i]`` and hold k values or more, not all
    equal unless ``exact_allowed``. Of runs that cost the same the longest is taken.

    ``limits`` (n_multipliers,) are costs that some path does not exceed: what costs more on the
    way is on no shortest path, and is passed over. As nothing costs less than 0, and what a run
    loses within grows with its length, one run too costly for every multiplier ends its start.

    What a run costs but for the weights is worked out once, for all ends of one start, and
    then serves every multiplier. Positions are unsigned, because one that might be negative
    is tested each time.
    """
    n_places = places.shape[0]
    n_multipliers = weights.shape[1]
    best = np.full((n_multipliers, n_places), UNREACHED)
    best[:, 0] = 0.0
    room = 1
    for start in range(n_places):
        room = max(room, reach[start] - start)
    within = np.empty(room)
    total = np.empty(room)
    up = np.empty(room)
    down = np.empty(room)
    larger = np.empty(room)
    for start in range(n_places - 1):
        first, second, third = ends[0, start], ends[1, start], ends[2, start]
        at = places[start]
        beyond = np.uint64(start + 1)
        n_ends = np.uint64(reach[start] - start)
        most = -1.0
        for r in range(n_multipliers):
            most = max(most, limits[r] - best[r, start])
        sums = squares = 0.0
        for p in range(n_ends):
            piece = np.uint64(start) + np.uint64(p)
            gap = ends[0, piece] - first
            count = float(places[piece + np.uint64(1)] - places[piece])
            sums += pieces[0, piece] + count * gap
            squares += pieces[1, piece] + gap * (2.0 * pieces[0, piece] + count * gap)
            total[p] = sums
            within[p] = squares
            if squares - sums * sums / float(places[piece + np.uint64(1)] - at) > most:
                n_ends = np.uint64(p)
                break
        skip = np.uint64(0)
        while skip < n_ends and places[beyond + skip] - at < k:
            skip += np.uint64(1)
        if not exact_allowed:
            while skip < n_ends and ends[3, beyond + skip] == first:
                skip += np.uint64(1)
        for p in range(skip, n_ends):
            end = beyond + np.uint64(p)
            within[p], up[p], down[p] = run_costs(
                float(places[end] - at), total[p], within[p], first, second, third,
                ends[3, end], ends[4, end], ends[5, end],
            )  # fmt: skip
            larger[p] = max(up[p], down[p])
        for r in range(n_multipliers):
            base = best[r, start]
            if base > limits[r] or base == UNREACHED:
                continue
            whole, upward, downward = weights[0, r], weights[1, r], weights[2, r]
            for p in range(skip, n_ends):
                end = beyond + np.uint64(p)
                cost = base + (
                    within[p] + (whole * larger[p] + (upward * up[p] + downward * down[p]))
                )
                better = cost < best[r, end]
                best[r, end] = cost if better else best[r, end]
                before[r, end] = start if better else before[r, end]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def path_totals(places, pieces, ends, before, totals, cuts):
    """Write the totals (4,) and the cuts, last first, of a path; return its number of runs."""
    totals[:] = 0.0
    n_runs = 0
    end = places.shape[0] - 1
    while end > 0:
        start = before[end]
        sums = squares = 0.0
        for piece in range(start, end):
            gap = ends[0, piece] - ends[0, start]
            count = float(places[piece + 1] - places[piece])
            sums += pieces[0, piece] + count * gap
            squares += pieces[1, piece] + gap * (2.0 * pieces[0, piece] + count * gap)
        within, up, down = run_costs(
            float(places[end] - places[start]), sums, squares, ends[0, start], ends[1, start],
            ends[2, start], ends[3, end], ends[4, end], ends[5, end],
        )  # fmt: skip
        totals[0] += within
        totals[1] += max(up, down)
        totals[2] += up
        totals[3] += down
        cuts[n_runs] = places[end]
        n_runs += 1
        end = start
    cuts[n_runs] = 0
    return n_runs


@numba.njit(cache=True, nogil=True, error_model="numpy")
def add(leading, rest, number):
    """Return the sum of a pair of float64 and a number as a pair (Knuth)."""
    total = leading + number
    part = total - leading
    return total, rest + ((leading - (total - part)) + (number - part))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def multiply(one, other):
    """Return the product of two float64 as a pair (Dekker), for magnitudes up to 1e100."""
    product = one * other
    split = 134217729.0 * one
    upper = split - (split - one)
    lower = one - upper
    split = 134217729.0 * other
    above = split - (split - other)
    below = other - above
    return product, ((upper * above - product) + upper * below + lower * above) + lower * below


@numba.njit(cache=True, nogil=True, error_model="numpy")
def running_sums(in_order, sums):
    """Write the sums of the first values and of their squares, each as a pair: (n + 1, 4)."""
    leading = rest = squares = below = 0.0
    sums[0] = 0.0
    for position in range(in_order.shape[0]):
        value = in_order[position]
        leading, rest = add(leading, rest, value)
        square, error = multiply(value, value)
        squares, below = add(squares, below, square)
        below += error
        sums[position + 1, 0] = leading
        sums[position + 1, 1] = rest
        sums[position + 1, 2] = squares
        sums[position + 1, 3] = below


@numba.njit(cache=True, nogil=True, error_model="numpy")
def best_fixed_size(in_order, sums, k, exact_allowed, noise, known):
    """Return the size from k to n // 2 whose ranking has the least objective, below that known.

    0 where none is below ``known``, which must be that of a partition there is. A ranking is left
    as soon as it reaches the least so far, as all totals only grow.
    """
    n = in_order.shape[0]
    best = 0
    for size in range(n // 2, k - 1, -1):
        n_runs = n // size
        middle = n_runs // 2
        within = whole = upward = downward = 0.0
        objective = 0.0
        start = 0
        for run in range(n_runs):
            end = start + size
            if run == middle:
                end += n - n_runs * size
            first, last = in_order[start], in_order[end - 1]
            if first < last:
                count = float(end - start)
                total = sums[end, 0] - sums[start, 0]
                rest = (sums[end, 0] - total) - sums[start, 0]
                rest += sums[end, 1] - sums[start, 1]
                square, error = multiply(total, total)
                error += 2.0 * total * rest
                squares = sums[end, 2] - sums[start, 2]
                rest = (sums[end, 2] - squares) - sums[start, 2]
                rest += sums[end, 3] - sums[start, 3]
                product, lower = multiply(squares, count)
                lower += rest * count
                spread = max(((product - square) + (lower - error)) / count, 0.0)
                inside, up, down = run_costs(
                    count, 0.0, spread, first, in_order[start + 1], in_order[start + 2],
                    last, in_order[end - 2], in_order[end - 3],
                )  # fmt: skip
                within += inside
                whole += max(up, down)
                upward += up
                downward += down
                larger = max(upward, downward)
                objective = within + noise * whole * larger * larger
                if objective >= known:
                    break
            elif not exact_allowed:
                objective = UNREACHED
                break
            start = end
        if objective < known:
            known = objective
            best = size
    return best


@numba.njit(cache=True, nogil=True, error_model="numpy")
def cut_totals(in_order, cuts, totals):
    """Write the totals (4,) of the runs between these cuts."""
    totals[:] = 0.0
    for run in range(cuts.shape[0] - 1):
        start, end = cuts[run], cuts[run + 1]
        first = in_order[start]
        total = squares = 0.0
        for position in range(start, end):
            distance = in_order[position] - first
            total += distance
            squares += distance * distance
        within, up, down = run_costs(
            float(end - start), total, squares, first, in_order[start + 1], in_order[start + 2],
            in_order[end - 1], in_order[end - 2], in_order[end - 3],
        )  # fmt: skip
        totals[0] += within
        totals[1] += max(up, down)
        totals[2] += up
        totals[3] += down


@numba.njit(cache=True, nogil=True, error_model="numpy")
def best_cut(in_order, start, end, k, exact_allowed, noise, others, current, room):
    """Return the cut of a stretch in two with the least objective, and that objective.

    A cut at ``end`` joins the stretch in one run; 0 is returned where no objective is below
    ``current``. ``others`` (4,) are the totals of all runs but the stretch's; ``room`` is
    (5, n + 1) to work in.
    """
    size = np.uint64(end - start)
    base = np.uint64(start)
    first, second, third = in_order[start], in_order[start + 1], in_order[start + 2]
    last, last2, last3 = in_order[end - 1], in_order[end - 2], in_order[end - 3]
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    least = current
    chosen = 0
    total = squares = 0.0
    for p in range(size):
        distance = in_order[base + np.uint64(p)] - first
        total += distance
        squares += distance * distance
        room[0, np.uint64(p) + one] = total
        room[1, np.uint64(p) + one] = squares
    if exact_allowed or first < last:
        within, up, down = run_costs(
            float(size), total, squares, first, second, third, last, last2, last3
        )
        larger = max(others[2] + up, others[3] + down)
        objective = others[0] + within + noise * (others[1] + max(up, down)) * larger * larger
        if objective < least:
            least = objective
            chosen = end
    if size < 2 * k:
        return chosen, least
    total = squares = 0.0
    for p in range(size):
        place = size - one - np.uint64(p)
        distance = last - in_order[base + place]
        total += distance
        squares += distance * distance
        room[2, place] = total
        room[3, place] = squares
    low, high = np.uint64(k), size - np.uint64(k - 1)
    for place in range(low, high):
        p = np.uint64(place)
        at = base + p
        within, up, down = run_costs(
            float(p), room[0, p], room[1, p], first, second, third,
            in_order[at - one], in_order[at - two], in_order[at - three],
        )  # fmt: skip
        within2, up2, down2 = run_costs(
            float(size - p), room[2, p], room[3, p],
            in_order[at], in_order[at + one], in_order[at + two], last, last2, last3,
        )  # fmt: skip
        larger = max(others[2] + (up + up2), others[3] + (down + down2))
        whole = others[1] + (max(up, down) + max(up2, down2))
        room[4, p] = others[0] + (within + within2) + noise * whole * larger * larger
    for place in range(low, high):
        p = np.uint64(place)
        at = base + p
        if room[4, p] < least and (
            exact_allowed or (first < in_order[at - one] and in_order[at] < last)
        ):
            least = room[4, p]
            chosen = np.int64(at)
    return chosen, least


@numba.njit(cache=True, nogil=True, error_model="numpy")
def sweep(in_order, cuts, k, exact_allowed, noise, totals, better):
    """Go once through the runs and split, join or cut each pair anew where that is better.

    ``cuts`` (n_runs + 1,) begin with 0 and end with n, ``totals`` (4,) are theirs; the cuts
    after the sweep are written to ``better`` (n // k + 2,), and their number of runs is
    returned. Runs just joined are left until the next sweep, so that the work stays O(n).
    """
    n = in_order.shape[0]
    room = np.empty((5, n + 1))
    kept = np.empty((n // k + 3, 4))
    others = np.empty(4)
    totals = totals.copy()
    larger = max(totals[2], totals[3])
    current = totals[0] + noise * totals[1] * larger * larger
    better[0] = 0
    n_runs = 0
    joined = False
    for run in range(cuts.shape[0] - 1):
        end = cuts[run + 1]
        n_runs += 1
        better[n_runs] = end
        cut_totals(in_order, better[n_runs - 1 : n_runs + 1], kept[n_runs])
        for n_parts in range(1, 3):
            if n_runs < n_parts or (joined and n_parts == 2):
                joined = False
                continue
            start = better[n_runs - n_parts]
            if n_parts == 1 and end - start < 2 * k:
                continue
            others[:] = totals
            for part in range(n_parts):
                others -= kept[n_runs - part]
            cut, least = best_cut(
                in_order, start, end, k, exact_allowed, noise, others, current, room
            )
            if cut == 0 or (cut == end and n_parts == 1):
                continue
            current = least
            joined = cut == end
            n_runs += 2 - n_parts - joined
            better[n_runs] = end
            better[n_runs - 1 + joined] = cut
            totals[:] = others
            for part in range(2 - joined):
                at = n_runs - part
                cut_totals(in_order, better[at - 1 : at + 1], kept[at])
                totals += kept[at]
    return n_runs
