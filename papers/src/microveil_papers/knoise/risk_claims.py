"""The claims of KNOISE on neighbourhoods and disclosure risk: sections 2.3 to 2.5, 3 and 5."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from microveil.measures.neighbourhoods import expected_neighbours, original_neighbours
from microveil_papers.knoise.experiments import K_NOISE, K_PRAM, PERMUTED, Measured
from microveil_papers.knoise.measures import best_guesses, within
from microveil_papers.knoise.spread import spread_of
from microveil_papers.paper import Case, Claim, claimed

__all__ = ["risk_claims"]

# What "comparable", "close to", "far" and "conservative" are taken for.
COMPARABLE, CLOSE, FAR, CONSERVATIVE, MOST = 1.25, 1.25, 1.5, 1.5, 0.95
# What is expected on paper may miss a bound by a rounding.
ROUNDING = 1e-9

Counts = NDArray[np.int64] | NDArray[np.float64]


def risk_claims(found: Measured) -> tuple[Claim, ...]:
    """Check them, in the paper's order."""
    return (
        _sizes_kept(found),
        _risk_of_one_in_k(found),
        _k_originals_near(found),
        _comparable_risk(found),
        _half_of_k_guaranteed(found),
        _far_above_half_of_k(found),
        _close_to_k(found),
        _at_least_own_group(found),
        _misleads(found),
        _theorem(found),
    )


def _targets(found: Measured) -> tuple[tuple[str, Counts], ...]:
    """Return each record's k by what the paper may mean by it."""
    ages = found.ages
    same = np.ones(len(ages.values), dtype=np.int64)
    return (
        ("k the size of the record's own interval", ages.own_sizes),
        (f"k = {ages.average_size}, the average interval's size", ages.average_size * same),
        (f"k = {ages.least_size}, the smallest interval's size", ages.least_size * same),
    )


def _share(met: NDArray[np.bool_]) -> str:
    """Write how many records meet something."""
    return f"{np.count_nonzero(met)} of {met.size} records"


@claimed(
    section="2.3",
    text="k-PRAM leaves the number of records of every interval as it was.",
    criterion="in every run every interval holds as many records as before",
)
def _sizes_kept(found: Measured) -> Iterator[Case]:
    intervals = found.ages.intervals
    for name in (K_PRAM, PERMUTED):
        labels = np.searchsorted(intervals.edges[1:-1], found.released[name], side="right")
        sizes = [np.bincount(row, minlength=intervals.n_intervals) for row in labels]
        kept = [bool(np.all(size == intervals.sizes)) for size in sizes]
        yield Case(
            where=name,
            holds=all(kept),
            measured=f"all {intervals.n_intervals} sizes kept in {sum(kept)} of {len(kept)} runs",
        )


@claimed(
    section="2.3",
    text="As the intervals of k-PRAM have k records in expectation, its disclosure risk is 1/k "
    "at most.",
    criterion="in no interval is the share of records that an intruder links, with its 95 % "
    "interval, above 1/k",
    remark="A record is linked with probability one over the size of its own interval, "
    "whatever the size on average. The intruder knows all originals and takes the nearest.",
)
def _risk_of_one_in_k(found: Measured) -> Iterator[Case]:
    labels = found.ages.intervals.labels
    groups = np.unique(labels)
    shares = [spread_of(found.links[K_PRAM][:, labels == group].mean(axis=1)) for group in groups]
    worst = max(shares, key=lambda share: share.mean)
    for what, size in (
        ("average", found.ages.average_size),
        ("smallest", found.ages.least_size),
    ):
        above = sum(share.is_above(1 / size) for share in shares)
        yield Case(
            where=f"k = {size}, the {what} interval's size",
            holds=above == 0 and worst.has_interval,
            measured=f"1/k is {1 / size:.3g}; at most {worst} of an interval's records are "
            f"linked; above 1/k in {above} of {len(groups)} intervals",
        )


@claimed(
    section="2.4",
    text="Within 2 delta of every record there are k originals or more, as intervals are "
    "2 delta wide.",
    criterion="so it is for every record, itself included, at less than 2 delta",
    remark="Ages at both ends of a closed interval are 2 delta apart, which is not less.",
)
def _k_originals_near(found: Measured) -> Iterator[Case]:
    near = original_neighbours(found.ages.values, found.ages.delta)
    labels = found.ages.intervals.labels
    last = labels == labels.max()
    (own, sizes), *fixed = _targets(found)
    for where, size, among in (
        (f"{own}, half-open ones", sizes, ~last),
        (f"{own}, the last one with both ends closed", sizes, last),
        *((where, size, last | ~last) for where, size in fixed),
    ):
        met = (near >= size)[among]
        yield Case(where=where, holds=bool(met.all()), measured=f"{_share(met)} have k or more")


@claimed(
    section="2.4",
    text="The disclosure risk of k-noise can be held to that of k-PRAM.",
    criterion="with intervals of the same width the risk of k-noise is at most "
    f"{COMPARABLE:g} times that of k-PRAM; the error of a guess at least its "
    f"{COMPARABLE:g}th part",
    remark="Under k-PRAM the best guess is the mean of the interval: what is drawn within it "
    "adds error for the reader and takes nothing from the intruder.",
)
def _comparable_risk(found: Measured) -> Iterator[Case]:
    links = [found.links[name] for name in (K_PRAM, K_NOISE)]
    linked = [spread_of(100 * shares.mean(axis=1)) for shares in links]
    yield Case(
        where="records linked",
        holds=linked[1].mean <= COMPARABLE * linked[0].mean,
        measured=f"k-PRAM {linked[0]} %; k-noise {linked[1]} %; chance "
        f"{100 / len(found.ages.values):.3g} %",
    )
    largest = [100 * shares.mean(axis=0).max() for shares in links]
    yield Case(
        where="the record most at risk",
        holds=bool(largest[1] <= COMPARABLE * largest[0]),
        measured=f"linked in {largest[0]:.3g} % of the runs under k-PRAM; in "
        f"{largest[1]:.3g} % under k-noise",
    )
    guesses = [spread_of(errors) for errors in _guesses(found)]
    yield Case(
        where="the error of an intruder's best guess",
        holds=guesses[1].mean >= guesses[0].mean / COMPARABLE,
        measured=f"RMSE under k-PRAM {guesses[0]} years; under k-noise {guesses[1]} years",
    )


def _guesses(found: Measured) -> list[NDArray[np.float64]]:
    """Return the errors of best guesses per run, under k-PRAM and under k-noise."""
    return [
        best_guesses(found.ages, found.released[name], stays_inside=name == K_PRAM)
        for name in (K_PRAM, K_NOISE)
    ]


@claimed(
    section="2.5",
    text="Uniform noise of reach delta guarantees k/2 other individuals within 2 delta.",
    criterion="so it is for every record",
    remark="Theorem 1 bounds an expectation that counts the record itself; what is said of "
    "each release is more than it proves.",
)
def _half_of_k_guaranteed(found: Measured) -> Iterator[Case]:
    ages = found.ages
    expected = expected_neighbours(ages.values, ages.delta)
    for where, size in _targets(found):
        met: NDArray[np.bool_] = np.asarray(expected > size / 2)
        yield Case(
            where=f"in expectation, {where}",
            holds=bool(met.all()),
            measured=f"{_share(met)} above k/2",
        )
    others = _observed(found) - (np.abs(found.errors(K_NOISE)) <= 2 * ages.delta)
    reached: NDArray[np.bool_] = others >= ages.own_sizes / 2
    always = np.asarray(reached.all(axis=0), dtype=np.bool_)
    yield Case(
        where="in each single run, others only, k the size of the record's own interval",
        holds=bool(always.all()),
        measured=f"missed {np.count_nonzero(~reached)} times in {len(reached)} runs; never by "
        f"{_share(always)}",
    )


def _observed(found: Measured) -> NDArray[np.int64]:
    """Count noised records within 2 delta of each original, per run."""
    return within(found.ages.values, found.released[K_NOISE], 2 * found.ages.delta)


def _radii(found: Measured) -> tuple[tuple[str, Counts], ...]:
    """Return each record's expected number of neighbours, by the paper's two radii."""
    ages, noised = found.ages, found.released[K_NOISE]
    return (
        (
            "originals within delta of the noised record (Figure 5)",
            within(noised, ages.values, ages.delta).mean(axis=0),
        ),
        ("noised records within 2 delta (Theorem 1)", _observed(found).mean(axis=0)),
    )


@claimed(
    section="3",
    text="By simulation the expected number of people near a noised record far exceeds k/2.",
    criterion=f"{100 * MOST:g} % of the records are at k/2 or above, and the average of all at "
    f"{FAR:g} times k/2",
)
def _far_above_half_of_k(found: Measured) -> Iterator[Case]:
    for (radius, expected), (where, size) in product(_radii(found), _targets(found)):
        ratio, met = expected / (size / 2), expected >= size / 2
        yield Case(
            where=f"{radius}; {where}",
            holds=bool(met.mean() >= MOST and ratio.mean() >= FAR),
            measured=f"{ratio.mean():.3g} times k/2 on average, {ratio.min():.3g} times "
            f"at least; {_share(met)} at k/2 or above",
        )


@claimed(
    section="3",
    text="Theorem 1's bound on the number of people near a noised record, k/2, is "
    "conservative: in reality their number is close to k.",
    criterion=f"on average over the records the number is {CONSERVATIVE:g} times the bound or "
    f"more; it differs from k by a factor of {CLOSE:g} at most",
    remark="Where ages are evenly spread, k are expected within delta, and 2 k within 2 delta: "
    "the paper's figure has the one radius and its theorem the other.",
)
def _close_to_k(found: Measured) -> Iterator[Case]:
    ages = found.ages
    expected = expected_neighbours(ages.values, ages.delta)
    bound = original_neighbours(ages.values, ages.delta) / 2
    conservative = expected / bound
    yield Case(
        where="Theorem 1's bound",
        holds=bool(conservative.mean() >= CONSERVATIVE),
        measured=f"the expected number is {conservative.mean():.3g} times half the count of "
        f"originals on average, {conservative.min():.3g} times at least",
    )
    for radius, near in _radii(found):
        ratio = near / ages.own_sizes
        yield Case(
            where=radius,
            holds=bool(1 / CLOSE <= ratio.mean() <= CLOSE),
            measured=f"{ratio.mean():.3g} times the own interval's size on average, from "
            f"{ratio.min():.3g} to {ratio.max():.3g} times",
        )


@claimed(
    section="3",
    text="k-noise is effective in practice: near a noised record there are as many people as "
    "in the original's group, or more.",
    criterion=f"so it is for {100 * MOST:g} % of the records, in expectation",
    remark="The paper calls a record adequately protected where it is so, and does not say for "
    "how many it is.",
)
def _at_least_own_group(found: Measured) -> Iterator[Case]:
    for radius, expected in _radii(found):
        met = expected >= found.ages.own_sizes * (1 - ROUNDING)
        yield Case(
            where=radius,
            holds=bool(met.mean() >= MOST),
            measured=f"{_share(met)} ({100 * met.mean():.3g} %)",
        )


@claimed(
    section="3",
    text="k-noise misleads attackers more than k-PRAM.",
    criterion="the difference lies with its 95 % interval on the side of k-noise",
)
def _misleads(found: Measured) -> Iterator[Case]:
    fewer = spread_of(100 * (found.links[K_NOISE] - found.links[K_PRAM]).mean(axis=1))
    yield Case(
        where="records linked",
        holds=fewer.is_below(0),
        measured=f"k-noise less k-PRAM: {fewer} percentage points",
    )
    pram, noise = _guesses(found)
    farther = spread_of(noise - pram)
    yield Case(
        where="the error of an intruder's best guess",
        holds=farther.is_above(0),
        measured=f"k-noise less k-PRAM: {farther} years",
    )


@claimed(
    section="5",
    text="Theorem 1: under k-noise the expected number of noised records within 2 delta of a "
    "record is more than half the number of originals there, so more than k/2 where those are "
    "k.",
    criterion="so it is for every record",
)
def _theorem(found: Measured) -> Iterator[Case]:
    ages = found.ages
    near = original_neighbours(ages.values, ages.delta)
    expected = expected_neighbours(ages.values, ages.delta)
    simulated = _observed(found).mean(axis=0)
    for how, number in (("in closed form", expected), ("mean over runs", simulated)):
        yield Case(
            where=how,
            holds=bool((number > near / 2).all()),
            measured=f"{_share(number > near / 2)}; {(number / near).min():.3g} of the count at "
            "least",
        )
    k = ages.average_size
    premise, above = near >= k, expected > k / 2
    yield Case(
        where=f"k = {k}, where k originals are within 2 delta",
        holds=bool(above[premise].all()),
        measured=f"the premise is met by {_share(premise)}; of these "
        f"{np.count_nonzero(above & premise)} above k/2; of the others "
        f"{np.count_nonzero(above & ~premise)}",
    )
