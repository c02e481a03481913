"""How far one record moves the sums of joint clusters that are formed anew, and what it costs.

Records in a total order, fixed by each record alone, are cut into consecutive runs of given
sizes, as `partition.insensitive_mdav` does. A neighbour replaces one record r by any other
record r' of the domain; the order is made anew, the sizes stay. Let r stand in cluster p and
r' come to stand in cluster q. With first(j) and last(j) the end records of cluster j:

======================  =====================================  ================================
role of a cluster       its sum changes by                     r' stands between
======================  =====================================  ================================
left, p < q             first(p+1) - r
passing, p < j < q      first(j+1) - first(j)
entered, p < q          r' - first(q)                          first(q) and first(q+1)
left, p > q             last(p-1) - r
passing, q < j < p      last(j-1) - last(j)
entered, p > q          r' - last(q)                           last(q-1) and last(q)
left and entered        r' - r                                 last(q-1) and first(q+1)
======================  =====================================  ================================

Ends included: a copy of an end record changes no sum, whichever side it is put on. Beyond the
first and the last cluster stand the corners of the domain. The choices of r and of r' do not
depend on each other but for p and q, so the worst loss of one attribute is a longest path: the
largest change in the role of p, those of all between, the largest in the role of q.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy  # which loads its parts when they are used: linalg takes a third of a second
from numpy.typing import NDArray

from microveil.kernels import joint_shifts as kernel

# Domains of as many grid points or fewer are enumerated, larger ones searched.
ENUMERABLE = 200_000
# Nodes of the search, shared by all extremes that are sought, and the least for each.
NODES, LEAST_NODES = 1 << 23, 64
# Beyond this magnitude float64, in which the order is made, no longer tells whole numbers apart.
DISTINCT = 1 << 53
# The noise of `least_scales` is this close to the least there is, relatively.
TOLERANCE = 1e-5
# Newton steps shorter than this part of themselves gain nothing that rounding leaves.
SHORTEST = 1e-9

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
_Rows = tuple[Whole, Real, Real]


@dataclass(frozen=True, slots=True, kw_only=True)
class JointShifts:
    """The largest change of each cluster's sum, role by role, for the attributes of a block.

    In grid units, 0 where a cluster cannot have the role. Upwards, to a later cluster, and
    downwards changes (3, n_attributes, n_clusters) are of the cluster that is left, those between
    and the one entered. Of staying in one cluster they are (n_attributes, n_clusters), and no role
    changes more. Not ``exact``, some may be larger than any neighbour's: never smaller.
    """

    upwards: Whole
    downwards: Whole
    staying: Whole
    exact: bool


def joint_shifts(
    columns: Sequence[Whole],
    order: NDArray[np.integer],
    sizes: Whole,
    bounds: Sequence[tuple[int, int]],
) -> JointShifts:
    """Find how far one record can move the sum of each cluster of a block.

    Columns are in grid units within their bounds, and records in the order of
    `partition.insensitive_mdav` over these; sizes are of consecutive runs in that order. What an
    arriving record can have for a value is found exactly where the domain has at most 200,000 grid
    points, by enumerating them, and where a block has one attribute. In larger domains a search
    with a bounded number of nodes settles it nearly always, and otherwise the most extreme value
    not ruled out is taken.
    """
    values = np.column_stack([column[order] for column in columns]).astype(np.int64, copy=False)
    domain = np.array(bounds, dtype=np.int64).T.copy()
    ends = np.cumsum(sizes)
    starts = ends - sizes
    first, last = values[starts], values[ends - 1]
    smallest = np.minimum.reduceat(values, starts)
    largest = np.maximum.reduceat(values, starts)
    # Where a record comes from below: first(q) to first(q+1); from above: last(q-1) to last(q).
    upwards = np.stack([first, np.vstack([first[1:], domain[1:]])])
    downwards = np.stack([np.vstack([domain[:1], last[:-1]]), last])
    (low_up, high_up), (low_down, high_down), exact = _arrivals(
        upwards, downwards, np.stack([smallest, largest]), domain
    )
    next_first, previous_last = upwards[1], downwards[0]
    return JointShifts(
        upwards=_roles(
            _reach(smallest, largest, next_first),
            np.abs(next_first - first),
            _reach(low_up, high_up, first),
        ),
        # In the opposite direction, so that the last cluster is the first to be left.
        downwards=_roles(
            _reach(smallest, largest, previous_last)[::-1],
            np.abs(last - previous_last)[::-1],
            _reach(low_down, high_down, last)[::-1],
        )[..., ::-1],
        staying=np.maximum(
            np.maximum(high_up, high_down) - smallest, largest - np.minimum(low_up, low_down)
        ).T,
        exact=exact,
    )


def worst_loss(shifts: JointShifts, attribute_index: int, scales: Real) -> float:
    """Return the loss of the worst neighbour: the sum over clusters of |change| / scale.

    Scales are those of the noise on the sums, in grid units. 0 is no noise: it costs nothing
    where a cluster cannot change and makes the loss infinite where it can. The loss is rounded up,
    by less than two parts in 10**15; where ``shifts.exact`` is false, perhaps by more.
    """
    staying = shifts.staying[attribute_index]
    if ((scales <= 0) & (staying > 0)).any():
        return math.inf
    # A cluster that cannot change costs nothing, whatever its scale.
    divisor = np.where(staying > 0, scales, 1.0)
    upwards = shifts.upwards[:, attribute_index] / divisor
    downwards = shifts.downwards[:, attribute_index] / divisor
    worst = float((staying / divisor).max())
    if len(staying) > 1:
        worst = max(worst, _longest(upwards), _longest(downwards[:, ::-1]))
    return worst * (1 + 2.0**-50)


def least_scales(shifts: JointShifts, attribute_index: int, sizes: Whole, share: float) -> Real:
    """Return the scales with the least noise among those whose loss is at most a share.

    Minimises the expected squared noise over the records,

        sum over clusters j of 2 t_j**2 / s_j   subject to   worst loss of t <= share.

    In the inverse scales this is a convex programme over longest paths; an interior-point method
    solves it (Boyd and Vandenberghe 2004, section 11.3), and the scales are then multiplied by
    their exact loss over the share. They depend on the data and must not be published. A scale is
    0 where a cluster cannot change.
    """
    staying = shifts.staying[attribute_index]
    scales = np.zeros(len(staying))
    kept = np.flatnonzero(staying)
    if len(kept) == 0:
        return scales
    # Each cluster's scale at which staying alone costs the share; in units that all fit.
    alone = staying[kept] / share
    weights = (alone / alone.max()) ** 2 / sizes[kept]
    upwards, downwards = (
        roles[:, attribute_index, kept] / staying[kept]
        for roles in (shifts.upwards, shifts.downwards)
    )
    scales[kept] = alone / _least_inverse(weights, upwards, downwards)
    scales *= worst_loss(shifts, attribute_index, scales) / share
    while worst_loss(shifts, attribute_index, scales) > share:
        scales *= 1 + 2.0**-50
    return scales


def _roles(leaving: Whole, passing: Whole, arriving: Whole) -> Whole:
    """Put attributes before clusters; the last cluster is not left, the first not entered."""
    roles = np.stack([leaving.T, passing.T, arriving.T])
    roles[0, :, -1:], roles[1, :, -1:], roles[1:, :, :1] = 0, 0, 0
    return roles


def _reach(lowest: Whole, highest: Whole, values: Whole) -> Whole:
    """Return the largest distance of a value to anything from lowest to highest."""
    distance: Whole = np.maximum(highest - values, values - lowest)
    return distance


def _longest(costs: Real) -> float:
    """Return the cost of the longest path, roles and clusters in the path's direction."""
    leaving, passing, arriving = np.ascontiguousarray(costs)
    p, q = kernel.worst_path(leaving, passing, arriving)
    return math.fsum([leaving[p], *passing[p + 1 : q], arriving[q]])


def _arrivals(
    upwards: Whole, downwards: Whole, within: Whole, domain: Whole
) -> tuple[Whole, Whole, bool]:
    """Return extreme values of a record that arrives, (2, n_clusters, n_attributes) each way.

    ``upwards`` and ``downwards`` are the first and the last record it can be, ``within`` the
    extremes of the cluster's own records.
    """
    if int(np.abs(domain).max()) > DISTINCT:
        anything = np.broadcast_to(domain[:, None, :], upwards.shape)
        return anything, anything, False
    points = math.prod(upper - lower + 1 for lower, upper in domain.T.tolist())
    if points <= ENUMERABLE:
        return *_enumerated(np.stack([upwards, downwards]), domain), True
    n_clusters, n_attributes = upwards.shape[1:]
    nodes = max(NODES // (4 * n_clusters * n_attributes), LEAST_NODES)
    by_width = np.argsort(domain[1] - domain[0], kind="stable")
    undecided = 0
    extremes = []
    for ends in (upwards, downwards):
        known = np.stack([np.minimum(within[0], ends.min(0)), np.maximum(within[1], ends.max(0))])
        found = np.empty_like(ends)
        undecided += kernel.extreme_values(ends, known, domain, by_width, nodes, found)
        extremes.append(found)
    return extremes[0], extremes[1], undecided == 0


def _enumerated(ends: Whole, domain: Whole) -> tuple[Whole, Whole]:
    """Return the extremes between the ends of each range, from all grid points in order.

    ``ends`` is int64 (2 directions, 2 ends, n_clusters, n_attributes).
    """
    lower, upper = domain
    shape = tuple((upper - lower + 1).tolist())
    rank, points = _listed(shape)
    places = rank[np.ravel_multi_index(tuple(np.moveaxis(ends - lower, -1, 0)), shape)]
    points = points + lower
    # From each first place to past each last; every other stretch is between ranges.
    stretches = np.stack([places[:, 0], places[:, 1] + 1], axis=2).reshape(2, -1)
    up, down = (
        np.stack([extreme.reduceat(points, stretch)[::2] for extreme in (np.minimum, np.maximum)])
        for stretch in stretches
    )
    return up, down


@lru_cache(maxsize=1)  # plans of one table are weighed one after another, on one domain
def _listed(shape: tuple[int, ...]) -> tuple[Whole, Whole]:
    """Return the rank of each grid point of a domain from 0, and the points in that order."""
    key = np.zeros(shape)
    # The operations of the partition, in its order.
    for distance in np.ix_(*(np.arange(size) / max(size - 1, 1) for size in shape)):
        key += distance * distance
    # Points are listed by their values, so a stable sort by key breaks ties by these.
    in_order = np.argsort(key.ravel(), kind="stable")
    rank = np.empty_like(in_order)
    rank[in_order] = np.arange(len(in_order))
    points = np.stack(np.unravel_index(in_order, shape), axis=1)
    # One more point, that no range reaches, as reduceat takes ends within its array only.
    points = np.vstack([points, points[-1:]])
    for kept in (rank, points):
        kept.setflags(write=False)
    return rank, points


def _least_inverse(weights: Real, upwards: Real, downwards: Real) -> Real:
    """Minimise sum of weights / v**2 over v with no path of cost above 1.

    Roles are (3, n_clusters) and at most 1; staying, of cost v itself, is a path too. Beside
    v_j stand x_j and y_j, at least what a path costs that comes to j from below, from above:
    so constraints join neighbours alone, and Newton's steps have banded matrices.
    """
    n_clusters = len(weights)
    rows = _constraints(upwards, downwards)
    n_rows = len(rows[2])
    # The best v if every role cost as much as staying, halved to leave room on all sides.
    start = np.cbrt(weights)
    start /= 2 * start.sum()
    margins = np.arange(1, n_clusters + 1) / (4 * n_clusters)
    point = np.empty(3 * n_clusters)
    point[::3] = start
    point[1::3] = np.cumsum(start) - start + margins
    point[2::3] = (np.cumsum(start[::-1]) - start[::-1] + margins)[::-1]
    weights = weights / (weights / start**2).sum()
    precision = float(n_rows)
    point = _centred(point, precision * weights, rows)
    while n_rows > TOLERANCE * precision * float((weights / point[::3] ** 2).sum()):
        precision *= 100
        point = _centred(point, precision * weights, rows)
    return point[::3]


def _centred(point: Real, weights: Real, rows: _Rows) -> Real:
    """Minimise sum of weights / v**2 less the logs of the slacks, by damped Newton steps."""
    gradient, band = np.empty_like(point), np.empty((5, len(point)))
    value = kernel.barrier(point, weights, *rows, gradient, band)
    for _ in range(100):
        try:
            step = scipy.linalg.solveh_banded(band, -gradient, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            break  # as close as float64 gets: what is left is rounding
        decrease, length, trial = -float(gradient @ step), 2.0, math.inf
        while not trial <= value - 0.1 * length * decrease and length > SHORTEST:
            length /= 2
            trial = kernel.barrier(point + length * step, weights, *rows, gradient, band)
        if not trial < value:
            break
        point, value = point + length * step, trial
        if decrease < 1:
            break
    return point


def _constraints(upwards: Real, downwards: Real) -> _Rows:
    """Return rows of up to three terms: positions, coefficients, and the limit of their sum."""
    v = 3 * np.arange(upwards.shape[1])
    one, none = np.ones(len(v)), np.zeros(len(v))
    rows = [((v, v, v), (one, none, none), one)]
    for (leaving, passing, arriving), at, cost in (
        (upwards, v, v + 1),
        (downwards[:, ::-1], v[::-1], v[::-1] + 2),
    ):
        step = (cost[1:], at[:-1], cost[:-1])
        rows += [
            ((cost, cost, cost), (-one, none, none), none),
            (step, (-one[1:], leaving[:-1], none[1:]), none[1:]),
            (step, (-one[1:], passing[:-1], one[1:]), none[1:]),
            ((at, cost, cost), (arriving, one, none), one),
        ]
    positions, coefficients, limits = zip(*rows, strict=True)
    return (
        np.hstack([np.stack(terms) for terms in positions]).T.copy(),
        np.hstack([np.stack(terms) for terms in coefficients]).T.copy(),
        np.concatenate(limits),
    )
