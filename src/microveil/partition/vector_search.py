"""Partitions for vector sensitivities: clusters chosen for the noise their whole vector takes."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import RequestError
from microveil.kernels import vector_aware as kernel
from microveil.partition.ranking import Partition, ranking, ranking_sizes

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

# Up to this many records every position is a candidate cut, and every pair a candidate run.
_ALL_PAIRS = 2400
# Candidate cuts of the first, coarse search among more records than that: about a quarter
# each by rank, by value, towards the tails and at the edges of long runs of equal values.
_COARSE = 2000
# Steps towards the best multipliers.
_STEPS = (0.8, 0.4, 0.2, 0.1, 0.05, 0.05)
# Candidate runs of one finer search, but for the least reach, and candidates back at most.
_PAIRS, _LEAST_REACH, _MOST_REACH = 4_000_000, 64, 4000
_ROUNDS = 8
# Where clusters of equal values are forbidden, the cheapest hold a value or three more than
# such a run: what stands third from an end of a cluster counts in its sensitivity.
_BESIDE = (-3, -1, 0, 1, 3)
# Partitions swept after a scan, fewer where that is more than so many records in all; sweeps
# of each, where all pairs were searched and where not; sweeps of the best in a round.
_SWEPT, _RECORDS_SWEPT = 8, 4_000_000
_SWEEPS, _SWEEPS_OF_MANY, _SWEEPS_OF_A_ROUND = 20, 2, 3
# Rounds end when one gains less than this part of the objective, sweeps with a tenth of it.
_ENOUGH = 1e-3
# Costs of the same runs, summed in another order, differ by less than this part of themselves.
ROUNDING = 1e-6
# Of so many candidates one is taken to find a cost that shortest paths do not exceed.
EVERY = 8
# Differences whose common divisor is found at a time: it is 1 after few of them, as a rule.
BATCH = 1 << 12


def vector_aware(
    values: ArrayLike, k: int, share: float, *, exact_allowed: bool = True
) -> Partition:
    """Partition records so that means and vector-scope noise have little expected error.

    All means of an attribute together are covered by its share of epsilon: with S_j the
    cluster-based local sensitivity of the mean of cluster j, s_j its size, A_j and B_j as in
    `microveil.noise.sensitivity` and L the sum of S_j^(2/3) s_j^(1/3), the noise on that mean
    has the scale

        b_j = L (S_j / s_j)^(1/3) / share * l / share

    where l, the exact loss without the last factor, is the larger of the sums of
    A_j / (s_j b_j) and B_j / (s_j b_j). The partition sought has the least

        sum over clusters of (squared distances to the winsorised mean + 2 s_j b_j^2),

    the expected squared error over all records, before clamping. Clusters are runs of
    records in ascending order of value, ties by record position, of any size from k to n.

    Parameters
    ----------
    values, k
        As for `ranking`, but k from 3; so are result and errors.
    share : float
        The attribute's own part of epsilon, above 0.
    exact_allowed : bool
        Whether clusters may hold equal values only. Such a cluster takes no noise and comes
        out exact. Without them, all records are one cluster where all values are equal.

    Notes
    -----
    The objective is never above that of a ranking by any fixed size of k or more, or of one single
    cluster, but for rounding. Everything else is a search, described and measured in
    docs/methods/idp-vector.md; no guarantee depends on how good it is.

    O(n log n) time, about 0.3 to 3 s for a million records; memory of 6 columns, and up to 31
    where most positions are candidates. Values are taken as float64 distances to the least: what
    differs by less than 2^-53 of the range counts as equal. Every machine cuts alike.

    Examples
    --------
    >>> values = [7, 1, 3, 6, 2, 5, 4]
    >>> vector_aware(values, k=3, share=10.0).sizes
    array([3, 4])
    >>> vector_aware([1, 2, 3, 4, 5, 6, 7], k=3, share=0.01).sizes
    array([7])
    """
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 3:
        raise RequestError("k", "k must be a whole number of 3 or more", "pass for example k=3")
    if not isinstance(share, Real) or isinstance(share, bool) or not 0 < share < math.inf:
        raise RequestError(
            "share",
            "the share must be a finite number above 0",
            "pass the attribute's own part of epsilon, for example share=0.5",
        )
    ranked = ranking(values, k)
    in_order = np.asarray(values)[ranked.order]
    sizes = vector_aware_sizes(in_order, int(k), float(share), exact_allowed=exact_allowed)
    return replace(ranked, sizes=sizes)


def vector_aware_sizes(
    in_order: NDArray[np.integer] | NDArray[np.floating],
    k: int,
    share: float,
    *,
    exact_allowed: bool = True,
) -> NDArray[np.int64]:
    """Cluster sizes of `vector_aware`, for k or more values in ascending order.

    The share is a number above 0; shares below 1e-100 or above 1e100 count as these.

    >>> vector_aware_sizes(np.array([1, 2, 3, 4, 70, 71, 72]), 3, 5.0)
    array([4, 3])
    """
    values = _scaled(in_order)
    n = len(values)
    if n < 2 * k or values[-1] == 0:
        return np.array([n], dtype=np.int64)
    noise = 2 / min(max(float(share), 1e-100), 1e100) ** 2
    return np.diff(best_cuts(values, k, noise, exact_allowed=exact_allowed))


def _scaled(in_order: NDArray[np.integer] | NDArray[np.floating]) -> NDArray[np.float64]:
    """Distances to the least value, by a power of two (and a common divisor) below 1."""
    if in_order.dtype.kind == "f":
        largest = max(abs(float(in_order[0])), abs(float(in_order[-1])))
        distances = np.ldexp(in_order.astype(np.float64), -math.frexp(largest)[1])
        distances -= distances[0]
    else:
        # Modulo 2**64 the distance to the least value is right, whatever the signs are.
        whole = in_order.astype(np.uint64)
        whole -= whole[0]
        divisor = 0
        for start in range(0, len(whole), BATCH):
            divisor = math.gcd(divisor, int(np.gcd.reduce(whole[start : start + BATCH])))
            if divisor == 1:
                break
        if divisor > 1:
            whole //= np.uint64(divisor)
        distances = whole.astype(np.float64)
    exponent = -math.frexp(float(distances[-1]))[1]
    return np.asarray(np.ldexp(distances, exponent, out=distances))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    """What the objective takes: values from 0 to 1 ascending, and 2/share**2."""

    values: Floats
    k: int
    noise: float
    exact_allowed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A partition met: cuts from 0 to n, the kernel's four totals, the objective.

    ``upwards`` is the weight of the upwards total, from 0 to 1, in the search that found it.
    """

    cuts: Places
    totals: Floats
    objective: float
    upwards: float = 0.5


class _Candidates(NamedTuple):
    """Candidate cuts, what lies between them, and how far a run may reach from each."""

    places: Places
    pieces: Floats
    ends: Floats
    reach: Places


class _Multipliers(NamedTuple):
    """Weights (3, n_multipliers) of the kernel, and the part of the upwards total in each."""

    weights: Floats
    upwards: Floats


def best_cuts(values: Floats, k: int, noise: float, *, exact_allowed: bool) -> Places:
    """Return the cuts, 0 and n among them, of the best partition met.

    Values ascend from 0 to below 1, 2k or more and not all equal; ``noise`` is 2 over the squared
    share. The objective is ``within + noise * L * U**2`` over the kernel's totals; never above that
    of a ranking by a fixed size of k or more, or of one run.
    """
    problem = _Problem(values=values, k=k, noise=noise, exact_allowed=exact_allowed)
    best = _measured(problem, np.array([0, len(values)]))
    if len(values) <= _ALL_PAIRS:
        candidates = _candidates(problem, np.arange(len(values) + 1))
        met = _scan(problem, candidates, _fixed_size(problem, best))
        best = _best_swept(problem, met, _SWEEPS)
        return _in_rounds(problem, best, lambda _: candidates).cuts
    # Few candidates all over, then, round by round, those near the best cuts.
    met = _scan(problem, _candidates(problem, _spread_places(problem, _COARSE)), best)
    best = _fixed_size(problem, _best_swept(problem, met, _SWEEPS_OF_MANY))
    return _in_rounds(problem, best, lambda found: _near_candidates(problem, found)).cuts


def _in_rounds(
    problem: _Problem, best: _Found, candidates: Callable[[_Found], _Candidates]
) -> _Found:
    """Search with multipliers around the best partition's and sweep, until that gains little."""
    step = 0.2
    for _ in range(_ROUNDS):
        before = best.objective
        if before == 0:
            break
        multipliers = _around(problem, best, (0.7, 1.0, 1.4), step)
        best = _least([best, *_paths(problem, candidates(best), multipliers, [best])])
        best = _swept(problem, best, _SWEEPS_OF_A_ROUND)
        step /= 2
        if best.objective > (1 - _ENOUGH) * before:
            break
    return best


def _scan(problem: _Problem, candidates: _Candidates, best: _Found) -> list[_Found]:
    """Partitions met with multipliers over a wide range, then ever closer to the best's."""
    met = [best]
    multipliers = _wide(problem, best)
    known = _coarse(problem, candidates, multipliers, best)
    for width in _STEPS:
        if best.objective == 0:
            break
        met += _paths(problem, candidates, multipliers, [best, *known])
        best = _least(met)
        factors = (1 - width / 2, 1 - width / 4, 1.0, 1 + width / 2, 1 + width)
        multipliers = _around(problem, best, factors, width / 4)
    return met


def _wide(problem: _Problem, best: _Found) -> _Multipliers:
    """Multipliers by powers of 2, from far below to far above those of any good partition."""
    n = len(problem.values)
    known = [best, _measured(problem, _cuts(ranking_sizes(n, problem.k)))]
    if len(best.cuts) > 2:
        known.append(_measured(problem, np.array([0, n])))
    marginal = [problem.noise * found.totals[1] ** 2 for found in known if found.totals[1] > 0]
    # A wider range comes from differences of values that are nothing beside the others.
    least = max(min(marginal), max(marginal) * 2.0**-64)
    span = math.frexp(max(marginal) / least)[1] + 10
    weights = np.ldexp(np.full((3, span), least), np.arange(span) - 5)
    return _Multipliers(weights, np.full(span, 0.5))


def _around(
    problem: _Problem, best: _Found, factors: tuple[float, ...], step: float
) -> _Multipliers:
    """Multiples of the objective's derivatives at a partition, at three weights of upwards.

    With U the larger of the upwards and downwards totals, noise L U^2 has the derivatives
    noise U^2 for L and 2 noise L U for U. Where both totals are U, any mean of the two may
    stand for it.
    """
    _, whole, upwards, downwards = best.totals
    larger = max(upwards, downwards)
    parts = np.clip(best.upwards + np.array([-step, 0.0, step]), 0.0, 1.0)
    factor, part = (grid.ravel() for grid in np.meshgrid(np.array(factors), parts))
    up, down = part, 1 - part
    weights = np.stack([0.5 * larger * np.ones_like(part), whole * up, whole * down])
    weights *= 2 * problem.noise * larger * factor
    return _Multipliers(weights, part)


def _coarse(
    problem: _Problem, candidates: _Candidates, multipliers: _Multipliers, best: _Found
) -> list[_Found]:
    """Shortest paths over few of the candidates: no cheaper than those over all of them."""
    few = _places(len(problem.values), [candidates.places[::EVERY]])
    is_one = len(best.cuts) == 2
    one_run = best if is_one else _measured(problem, np.array([0, len(problem.values)]))
    return _paths(problem, _candidates(problem, few), multipliers, [one_run])


def _paths(
    problem: _Problem, candidates: _Candidates, multipliers: _Multipliers, known: list[_Found]
) -> list[_Found]:
    """Shortest paths over the candidates, one a multiplier; none costs more than a known one.

    Their cuts are among the candidates, and their runs within their reach.
    """
    places, pieces, ends, reach = candidates
    # What the best of those known costs under each multiplier, and some rounding.
    totals = np.array([found.totals for found in known])
    limits = (totals[:, :1] + totals[:, 1:] @ multipliers.weights).min(axis=0) * (1 + ROUNDING)
    before = np.zeros((len(multipliers.upwards), len(places)), dtype=np.int32)
    kernel.shortest_paths(
        places, pieces, ends, reach, problem.k, problem.exact_allowed, multipliers.weights, limits,
        before,
    )  # fmt: skip
    paths = []
    cuts = np.empty(len(places), dtype=np.int64)
    for path, upwards in zip(before, multipliers.upwards.tolist(), strict=True):
        totals = np.empty(4)
        n_runs = kernel.path_totals(places, pieces, ends, path, totals, cuts)
        objective = _objective(problem, totals)
        in_turn = cuts[n_runs::-1].copy()
        paths.append(_Found(cuts=in_turn, totals=totals, objective=objective, upwards=upwards))
    return paths


def _objective(problem: _Problem, totals: Floats) -> float:
    """Return the expected error of a partition with these totals."""
    within, whole, upwards, downwards = totals.tolist()
    return float(within + problem.noise * whole * max(upwards, downwards) ** 2)


def _least(met: list[_Found]) -> _Found:
    """Return the first with the least objective."""
    return min(met, key=lambda found: found.objective)


def _measured(problem: _Problem, cuts: Places) -> _Found:
    """Return the partition with these cuts."""
    totals = np.empty(4)
    kernel.cut_totals(problem.values, cuts, totals)
    return _Found(cuts=cuts, totals=totals, objective=_objective(problem, totals))


def _cuts(sizes: NDArray[np.int64]) -> Places:
    """Where runs of these sizes begin and end."""
    return np.concatenate([[0], np.cumsum(sizes)])


def _fixed_size(problem: _Problem, best: _Found) -> _Found:
    """Return the better of a partition and the best ranking by a fixed size."""
    values = problem.values
    sums = np.empty((len(values) + 1, 4))
    kernel.running_sums(values, sums)
    size = kernel.best_fixed_size(
        values, sums, problem.k, problem.exact_allowed, problem.noise, best.objective
    )
    if size == 0:
        return best
    return _least([best, _measured(problem, _cuts(ranking_sizes(len(values), size)))])


def _best_swept(problem: _Problem, met: list[_Found], most: int) -> _Found:
    """Sweep the best few partitions met, as which is best may change by that."""
    distinct = sorted({found.objective: found for found in reversed(met)}.items())
    few = min(max(_RECORDS_SWEPT // len(problem.values), 2), _SWEPT)
    return _least([_swept(problem, found, most) for _, found in distinct[:few]])


def _swept(problem: _Problem, best: _Found, most: int) -> _Found:
    """Sweep through a partition's runs until that gains next to nothing."""
    for _ in range(most):
        better = np.empty(len(problem.values) // problem.k + 2, dtype=np.int64)
        n_runs = kernel.sweep(
            problem.values, best.cuts, problem.k, problem.exact_allowed, problem.noise,
            best.totals, better,
        )  # fmt: skip
        swept = replace(_measured(problem, better[: n_runs + 1].copy()), upwards=best.upwards)
        if not swept.objective < best.objective:
            break
        enough = swept.objective > (1 - _ENOUGH / 10) * best.objective
        best = swept
        if enough:
            break
    return best


def _candidates(problem: _Problem, places: Places, reach: Places | None = None) -> _Candidates:
    """Candidate cuts with what lies between them; runs may reach to the end by default."""
    pieces = np.empty((2, len(places) - 1))
    ends = np.empty((6, len(places)))
    kernel.measure(problem.values, places, pieces, ends)
    if reach is None:
        reach = np.full(len(places), len(places) - 1)
    return _Candidates(places, pieces, ends, reach)


def _spread_places(problem: _Problem, n_places: int) -> Places:
    """Candidate cuts by rank, by value, ever denser towards both tails, and around ties."""
    values = problem.values
    n, quarter = len(values), n_places // 4
    by_rank = np.arange(1, 2 * quarter) * n // (2 * quarter)
    by_value = np.searchsorted(values, values[-1] * np.arange(1, quarter) / quarter)
    tail = [1]
    while tail[-1] < n // 2:
        tail.append(tail[-1] + 1 + tail[-1] // 16)
    starts, lengths = _runs_of_ties(values, problem.k)
    most = _COARSE // (4 if problem.exact_allowed else 8)
    longest = np.argsort(-lengths, kind="stable")[:most]
    ties = _edges(problem, starts[longest], lengths[longest])
    tails = np.array(tail)
    return _places(n, [by_rank, by_value, tails, n - tails, *ties])


def _near_candidates(problem: _Problem, best: _Found) -> _Candidates:
    """Candidate cuts around those of a partition, and inside its runs.

    The cuts themselves; 1, 2, 4, ... positions from them, up to half the run on that side;
    the eighths of each run; the edges of equal values that fill a 32nd of a run or more: at
    most about 110 for each run. A run may reach past the end of the next one of the
    partition, and as far beyond as the number of candidates admits.
    """
    cuts, n = best.cuts, len(problem.values)
    sizes = np.diff(cuts)
    near = [cuts]
    step = 1
    while step <= sizes.max() // 2:
        wide = 2 * step <= sizes
        near += [cuts[:-1][wide] + step, cuts[1:][wide] - step]
        step *= 2
    near += [cuts[:-1] + sizes * eighth // 8 for eighth in range(1, 8)]
    starts, lengths = _runs_of_ties(problem.values, problem.k)
    around = sizes[np.searchsorted(cuts, starts, side="right") - 1]
    long = 32 * lengths >= around
    near += _edges(problem, starts[long], lengths[long])
    places = _places(n, near)
    last = len(places) - 1
    after_next = np.minimum(np.searchsorted(cuts, places, side="right") + 1, len(cuts) - 1)
    window = min(max(_PAIRS // last, _LEAST_REACH), _MOST_REACH)
    reach = np.maximum(np.arange(last + 1) + window, np.searchsorted(places, cuts)[after_next])
    return _candidates(problem, places, np.minimum(reach, last))


def _runs_of_ties(values: Floats, k: int) -> tuple[Places, Places]:
    """Where k or more equal values begin, and how many they are."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    lengths = np.diff(starts, append=len(values))
    return starts[lengths >= k], lengths[lengths >= k]


def _edges(problem: _Problem, starts: Places, lengths: Places) -> list[Places]:
    """Positions at both edges of runs of equal values, and beside them where that serves."""
    offsets = (0,) if problem.exact_allowed else _BESIDE
    return [edge + offset for edge in (starts, starts + lengths) for offset in offsets]


def _places(n: int, groups: list[Places]) -> Places:
    """Positions from 0 to n in ascending order, each once, with 0 and n."""
    chosen = np.zeros(n + 1, dtype=np.bool_)
    chosen[[0, n]] = True
    for group in groups:
        chosen[np.clip(group, 0, n)] = True
    return np.flatnonzero(chosen)
