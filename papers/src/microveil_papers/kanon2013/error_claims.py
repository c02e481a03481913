"""The claims of KANON-2013 on noise and on the sum of squared errors (SSE)."""

from collections.abc import Iterator
from itertools import pairwise

import polars

from microveil.report.wording import number
from microveil_papers.estimates import SEVERAL_ORDERS, Estimate
from microveil_papers.given import SEE
from microveil_papers.kanon2013.cases import LARGE, MEDIUM, Lines, alike, at, of_sizes
from microveil_papers.kanon2013.experiments import (
    EPSILONS,
    READINGS,
    SMALL_EPSILONS,
    Measured,
)
from microveil_papers.paper import Case, Claim, claimed

__all__ = ["error_claims"]

SECTION = "IV"
# What "sharp", "slow", "nearly constant" and "similar" are taken for.
SHARP, SLOW, CONSTANT, SIMILAR = 10.0, 3.0, 2.0, 2.0
# Two orders of magnitude when rounded.
TWO_ORDERS = (10**1.5, 10**2.5)
# "Around 10", from where on noise is held against what clusters lose; and where "larger k"
# begins at epsilon 1: at the k that the text goes on to speak of.
TURN, AROUND_TURN, LATER = 10, (5, 20), 25
USELESS = 1.0


def error_claims(found: Measured) -> tuple[Claim, ...]:
    """Check all claims on errors."""
    lines = Lines(found, "sse")
    return (
        _improves_utility(lines),
        _guarantee(found.published),
        _orders_of_magnitude(lines),
        _falls_with_size(lines),
        _hardly_useful(Lines(found, "mean_sse")),
        _sharp_decline(lines),
        _slow_increase(lines),
        _substantial_decline(lines),
        _nearly_constant(lines),
        _reasonably_low(Lines(found, "mean_sse")),
        _insensitive_loses_more(lines),
        _costs_less_than_it_saves(lines),
        _two_orders(lines),
        _like_plain_microaggregation(lines),
    )


@claimed(
    section="abstract",
    text="Microaggregation before the noise increases the utility of the release.",
    criterion="at every k from 2 on the interval of the SSE is wholly below that at k 1, where "
    "records get the noise as they are",
)
def _improves_utility(lines: Lines) -> Iterator[Case]:
    for where, (first, *line) in lines.noisy_at(*EPSILONS):
        best = _least(line)
        below = sum(estimate.is_below(first) for estimate in line)
        yield Case(
            where=where,
            holds=below == len(line),
            measured=f"at {below} of {len(line)} k; k 1: {first}; least at k {best.k}: {best}",
        )


@claimed(
    section="III-A",
    text="Laplace noise of the domain's width / (k epsilon) on every mean of insensitive "
    "clusters gives epsilon-differential privacy.",
    criterion="at every k from 2 on, the exact loss of this table is at most epsilon, when one "
    "record is replaced by any of the domain and the clusters are formed anew, with the rest of "
    "the table and whatever the epsilon takes as given held",
    remark="This is kanon-dp, composed in parallel. One changed record can change every "
    "cluster by one record, so that losses add up over clusters. While everybody stays in "
    "their cluster the epsilon holds, with what it takes as given. Epsilon was read as split over "
    f"the attributes; the authors correct the claim in their paper of 2018, section 2.2. {SEE}",
)
def _guarantee(published: polars.DataFrame) -> Iterator[Case]:
    own = published.filter(polars.col("reading") == READINGS[0].name, polars.col("k") > 1)
    for epsilon, line in own.group_by("paper_epsilon", maintain_order=True):
        known = line.drop_nulls("vector_loss").to_dicts()
        ratios = [(row["k"], row["vector_loss"] / row["epsilon"]) for row in known]
        least, most = (chosen(ratios, key=lambda pair: pair[1]) for chosen in (min, max))
        yield Case(
            where=f"epsilon {epsilon[0]:g}",
            holds=most[1] <= 1,
            measured=f"largest loss over epsilon: {most[1]:.3g} at k {most[0]}; "
            f"least: {least[1]:.3g} at k {least[0]}",
        )


@claimed(
    section=SECTION,
    text="Microaggregation before the noise lowers the SSE by several orders of magnitude.",
    criterion=f"the least SSE over k is at most that of k 1 divided by {SEVERAL_ORDERS:.0f}",
    remark="At k 1 means are clamped to the domain, which caps their error.",
)
def _orders_of_magnitude(lines: Lines) -> Iterator[Case]:
    for where, line in lines.noisy_at(*EPSILONS):
        first, best = line[0], _least(line)
        yield Case(
            where=where,
            holds=first.mean / best.mean >= SEVERAL_ORDERS,
            measured=f"k 1: {first}; k {best.k}: {best}; a factor of {first.mean / best.mean:.3g}",
        )


@claimed(
    section=SECTION,
    text="At epsilon 0.01 and 0.1 the SSE after noise is the smaller, the larger k.",
    criterion="at the largest k the interval is wholly below that at k 1, and from no k to the "
    "next is it wholly above",
)
def _falls_with_size(lines: Lines) -> Iterator[Case]:
    for where, line in lines.noisy_at(*SMALL_EPSILONS):
        rising = sum(before.is_below(after) for before, after in pairwise(line))
        first, last = line[0], line[-1]
        yield Case(
            where=where,
            holds=last.is_below(first) and rising == 0,
            measured=f"k 1: {first}; k {last.k}: {last}; {rising} of {len(line) - 1} steps rise",
        )


@claimed(
    section=SECTION,
    text="At epsilon 0.01 and 0.1 the masked data are hardly useful at any k.",
    criterion="at every k the mean SSE over variance is above 1, which publishing the mean in "
    "every record would reach",
)
def _hardly_useful(lines: Lines) -> Iterator[Case]:
    for where, line in lines.noisy_at(*SMALL_EPSILONS):
        best = _least(line)
        yield Case(
            where=where,
            holds=best.mean > USELESS,
            measured=f"least mean SSE over variance, at k {best.k}: {best}",
        )


@claimed(
    section=SECTION,
    text="At epsilon 10 the SSE after noise falls sharply until k is about 10.",
    criterion=f"at k {TURN} it is at most that of k 1 divided by {SHARP:g}, and it is least at "
    f"a k from {AROUND_TURN[0]} to {AROUND_TURN[1]}",
)
def _sharp_decline(lines: Lines) -> Iterator[Case]:
    low, high = AROUND_TURN
    for where, line in lines.noisy_at(LARGE):
        first, turn, best = line[0], at(line, TURN), _least(line)
        yield Case(
            where=where,
            holds=first.mean / turn.mean >= SHARP and low <= (best.k or 0) <= high,
            measured=f"k 1: {first}; k {TURN}: {turn}; least at k {best.k}: {best}",
        )


@claimed(
    section=SECTION,
    text="At epsilon 10 the SSE after noise rises again, slowly, at k above 10.",
    criterion=f"at the largest k the interval is wholly above that at k {TURN}, and the mean "
    f"no more than {SLOW:g} times as large",
)
def _slow_increase(lines: Lines) -> Iterator[Case]:
    for where, line in lines.noisy_at(LARGE):
        turn, last = at(line, TURN), line[-1]
        factor = last.mean / turn.mean
        yield Case(
            where=where,
            holds=turn.is_below(last) and factor <= SLOW,
            measured=f"k {TURN}: {turn}; k {last.k}: {last}; a factor of {factor:.3g}",
        )


@claimed(
    section=SECTION,
    text="At epsilon 1 the SSE after noise falls substantially while k is low.",
    criterion=f"at k {LATER} it is at most that of k 1 divided by {SHARP:g}",
)
def _substantial_decline(lines: Lines) -> Iterator[Case]:
    for where, line in lines.noisy_at(MEDIUM):
        factor, fall = _fall(line)
        yield Case(where=where, holds=factor >= SHARP, measured=fall)


@claimed(
    section=SECTION,
    text="At epsilon 1 the SSE after noise stays nearly constant at larger k.",
    criterion=f"from k {LATER} on, the largest mean is at most {CONSTANT:g} times the least",
)
def _nearly_constant(lines: Lines) -> Iterator[Case]:
    for where, line in lines.noisy_at(MEDIUM):
        later = of_sizes(line, LATER)
        low, high = _least(later), _most(later)
        yield Case(
            where=where,
            holds=alike(high.mean, low.mean, CONSTANT),
            measured=f"most at k {high.k}: {high}; least at k {low.k}: {low}",
        )


@claimed(
    section=SECTION,
    text="At epsilon 1 the SSE after noise is reasonably low at larger k.",
    criterion=f"at every k from {LATER} on the mean SSE over variance is, with its interval, "
    f"below {USELESS:g}, which publishing the mean in every record would reach",
)
def _reasonably_low(lines: Lines) -> Iterator[Case]:
    for where, line in lines.noisy_at(MEDIUM):
        later = of_sizes(line, LATER)
        low = sum(estimate.has_interval and estimate.high < USELESS for estimate in later)
        worst = _most(later)
        yield Case(
            where=where,
            holds=low == len(later),
            measured=f"below at {low} of {len(later)} k; most at k {worst.k}: {worst}",
        )


@claimed(
    section=SECTION,
    text="Insensitive MDAV has a higher SSE than MDAV.",
    criterion="at every k",
)
def _insensitive_loses_more(lines: Lines) -> Iterator[Case]:
    pairs = list(zip(lines.mdav, lines.insensitive, strict=True))
    more = sum(plain.mean < insensitive.mean for plain, insensitive in pairs)
    plain, insensitive = at(lines.mdav, LATER), at(lines.insensitive, LATER)
    yield Case(
        where="",
        holds=more == len(pairs),
        measured=f"at {more} of {len(pairs)} k; at k {LATER}: {insensitive} against {plain}",
    )


@claimed(
    section=SECTION,
    text="What insensitive MDAV loses more than MDAV is several orders of magnitude less than "
    "the noise it saves.",
    criterion=f"at every k from {TURN} on, the SSE saved over k 1 is at least "
    f"{SEVERAL_ORDERS:.0f} times what insensitive MDAV loses more than MDAV",
)
def _costs_less_than_it_saves(lines: Lines) -> Iterator[Case]:
    plain, insensitive = of_sizes(lines.mdav, TURN), of_sizes(lines.insensitive, TURN)
    lost = [more.mean - less.mean for less, more in zip(plain, insensitive, strict=True)]
    for where, line in lines.noisy_at(*EPSILONS):
        saved = [line[0].mean - estimate.mean for estimate in of_sizes(line, TURN)]
        held = list(zip(saved, lost, strict=True))
        enough = sum(gain > 0 and gain >= SEVERAL_ORDERS * loss for gain, loss in held)
        ratios = [gain / loss for gain, loss in held if loss > 0]
        gains = ", ".join(number(end(ratios), 3) for end in (min, max)) if ratios else "unknown"
        yield Case(
            where=where,
            holds=enough == len(held),
            measured=f"at {enough} of {len(held)} k; saved over lost, least and most: {gains}",
        )


@claimed(
    section=SECTION,
    text="At epsilon 1 the SSE after noise falls by about two orders of magnitude from k 1 to "
    "k 25.",
    criterion=f"by a factor from {TWO_ORDERS[0]:.0f} to {TWO_ORDERS[1]:.0f}",
    remark="At k 1 means are clamped to the domain, which caps their error.",
)
def _two_orders(lines: Lines) -> Iterator[Case]:
    low, high = TWO_ORDERS
    for reading in READINGS:
        factor, fall = _fall(lines.noisy(reading, MEDIUM))
        yield Case(where=reading.title, holds=low <= factor <= high, measured=fall)


@claimed(
    section=SECTION,
    text="At epsilon 1 and large k the SSE after microaggregation and noise is similar to that "
    "of microaggregation alone.",
    criterion=f"at k 50 and 100 they differ by a factor of {SIMILAR:g} at most",
)
def _like_plain_microaggregation(lines: Lines) -> Iterator[Case]:
    for where, noisy, plain in lines.beside_plain(MEDIUM):
        yield Case(
            where=where,
            holds=alike(noisy.mean, plain.mean, SIMILAR),
            measured=f"{noisy} with noise, {plain} without",
        )


def _fall(line: list[Estimate]) -> tuple[float, str]:
    """Return the factor by which a line falls from k 1 to larger k, and write it."""
    first, later = line[0], at(line, LATER)
    factor = first.mean / later.mean
    return factor, f"k 1: {first}; k {LATER}: {later}; a factor of {factor:.3g}"


def _least(line: list[Estimate]) -> Estimate:
    return min(line, key=lambda estimate: estimate.mean)


def _most(line: list[Estimate]) -> Estimate:
    return max(line, key=lambda estimate: estimate.mean)
