"""The claims of KANON-2013 on noise and on the sum of squared errors (SSE)."""

from itertools import pairwise, product

import polars

from microveil.report.wording import number
from microveil.reproduce.cells import SEVERAL_ORDERS, Cell
from microveil.reproduce.kanon2013.cases import Lines, alike, at, cases_by_epsilon, cases_by_reading
from microveil.reproduce.kanon2013.experiments import (
    READINGS,
    SMALL_EPSILONS,
    Measured,
    Reading,
)
from microveil.reproduce.paper import Case, Claim

__all__ = ["error_claims"]

SECTION = "IV"
MEDIUM, LARGE = (1.0,), (10.0,)
# What "sharp", "slow", "nearly constant" and "similar" are taken for.
SHARP, SLOW, CONSTANT, SIMILAR = 10.0, 3.0, 2.0, 2.0
# Two orders of magnitude when rounded.
TWO_ORDERS = (10**1.5, 10**2.5)
# "Around 10", from where on noise is held against what clusters lose; and where "larger k"
# begins at epsilon 1: at the k that the text goes on to speak of.
TURN, AROUND_TURN, LATER = 10, (5, 20), 25
USELESS = 1.0
LARGE_SIZES = (50, 100)


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


def _improves_utility(lines: Lines) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        first, *line = lines.noisy(reading, epsilon)
        best = _least(line)
        below = sum(cell.is_below(first) for cell in line)
        return (
            below == len(line),
            f"at {below} of {len(line)} k; k 1: {first}; least at k {best.k}: {best}",
        )

    return Claim(
        section="abstract",
        text="Microaggregation before the noise increases the utility of the release.",
        criterion="at every k from 2 on the interval of the SSE is wholly below that at k 1, where "
        "records get the noise as they are",
        cases=cases_by_epsilon(check),
    )


def _guarantee(published: polars.DataFrame) -> Claim:
    cases = []
    own = published.filter(polars.col("reading") == READINGS[0].name, polars.col("k") > 1)
    for epsilon, line in own.group_by("paper_epsilon", maintain_order=True):
        ratios = [(row["k"], row["vector_loss"] / row["epsilon"]) for row in line.to_dicts()
                  if row["vector_loss"] is not None]  # fmt: skip
        least, most = (chosen(ratios, key=lambda pair: pair[1]) for chosen in (min, max))
        cases.append(
            Case(
                where=f"epsilon {epsilon[0]:g}",
                holds=most[1] <= 1,
                measured=f"largest loss over epsilon: {most[1]:.3g} at k {most[0]}; "
                f"least: {least[1]:.3g} at k {least[0]}",
            )
        )
    return Claim(
        section="III-A",
        text="Laplace noise of the domain's width / (k epsilon) on every mean of insensitive "
        "clusters gives epsilon-differential privacy.",
        criterion="at every k from 2 on, the exact loss of this table is at most epsilon, when one "
        "record is replaced by any of the domain and the clusters are formed anew",
        cases=tuple(cases),
        remark="This is kanon-dp, composed in parallel. One changed record can change every "
        "cluster by one record, so that losses add up over clusters. While everybody stays in "
        "their cluster the epsilon holds. The domain was taken as given and epsilon as split over "
        "the attributes; the authors correct the claim in their paper of 2018, section 2.2.",
    )


def _orders_of_magnitude(lines: Lines) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        line = lines.noisy(reading, epsilon)
        first, best = line[0], _least(line)
        return (
            first.mean / best.mean >= SEVERAL_ORDERS,
            f"k 1: {first}; k {best.k}: {best}; a factor of {first.mean / best.mean:.3g}",
        )

    return Claim(
        section=SECTION,
        text="Microaggregation before the noise lowers the SSE by several orders of magnitude.",
        criterion=f"the least SSE over k is at most that of k 1 divided by {SEVERAL_ORDERS:.0f}",
        cases=cases_by_epsilon(check),
        remark="At k 1 means are clamped to the domain, which caps their error.",
    )


def _falls_with_size(lines: Lines) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        line = lines.noisy(reading, epsilon)
        rising = sum(before.is_below(after) for before, after in pairwise(line))
        first, last = line[0], line[-1]
        return (
            last.is_below(first) and rising == 0,
            f"k 1: {first}; k {last.k}: {last}; {rising} of {len(line) - 1} steps rise",
        )

    return Claim(
        section=SECTION,
        text="At epsilon 0.01 and 0.1 the SSE after noise is the smaller, the larger k.",
        criterion="at the largest k the interval is wholly below that at k 1, and from no k to the "
        "next is it wholly above",
        cases=cases_by_epsilon(check, SMALL_EPSILONS),
    )


def _hardly_useful(lines: Lines) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        best = _least(lines.noisy(reading, epsilon))
        return best.mean > USELESS, f"least mean SSE over variance, at k {best.k}: {best}"

    return Claim(
        section=SECTION,
        text="At epsilon 0.01 and 0.1 the masked data are hardly useful at any k.",
        criterion="at every k the mean SSE over variance is above 1, which publishing the mean in "
        "every record would reach",
        cases=cases_by_epsilon(check, SMALL_EPSILONS),
    )


def _sharp_decline(lines: Lines) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        line = lines.noisy(reading, epsilon)
        first, turn, best = line[0], at(line, TURN), _least(line)
        low, high = AROUND_TURN
        return (
            first.mean / turn.mean >= SHARP and low <= (best.k or 0) <= high,
            f"k 1: {first}; k {TURN}: {turn}; least at k {best.k}: {best}",
        )

    return Claim(
        section=SECTION,
        text="At epsilon 10 the SSE after noise falls sharply until k is about 10.",
        criterion=f"at k {TURN} it is at most that of k 1 divided by {SHARP:g}, and it is least at "
        f"a k from {AROUND_TURN[0]} to {AROUND_TURN[1]}",
        cases=cases_by_epsilon(check, LARGE),
    )


def _slow_increase(lines: Lines) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        line = lines.noisy(reading, epsilon)
        turn, last = at(line, TURN), line[-1]
        return (
            turn.is_below(last) and last.mean / turn.mean <= SLOW,
            f"k {TURN}: {turn}; k {last.k}: {last}; a factor of {last.mean / turn.mean:.3g}",
        )

    return Claim(
        section=SECTION,
        text="At epsilon 10 the SSE after noise rises again, slowly, at k above 10.",
        criterion=f"at the largest k the interval is wholly above that at k {TURN}, and the mean "
        f"no more than {SLOW:g} times as large",
        cases=cases_by_epsilon(check, LARGE),
    )


def _substantial_decline(lines: Lines) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        line = lines.noisy(reading, epsilon)
        first, later = line[0], at(line, LATER)
        return (
            first.mean / later.mean >= SHARP,
            f"k 1: {first}; k {LATER}: {later}; a factor of {first.mean / later.mean:.3g}",
        )

    return Claim(
        section=SECTION,
        text="At epsilon 1 the SSE after noise falls substantially while k is low.",
        criterion=f"at k {LATER} it is at most that of k 1 divided by {SHARP:g}",
        cases=cases_by_epsilon(check, MEDIUM),
    )


def _nearly_constant(lines: Lines) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        later = [cell for cell in lines.noisy(reading, epsilon) if (cell.k or 0) >= LATER]
        low, high = _least(later), max(later, key=lambda cell: cell.mean)
        return (
            alike(high.mean, low.mean, CONSTANT),
            f"most at k {high.k}: {high}; least at k {low.k}: {low}",
        )

    return Claim(
        section=SECTION,
        text="At epsilon 1 the SSE after noise stays nearly constant at larger k.",
        criterion=f"from k {LATER} on, the largest mean is at most {CONSTANT:g} times the least",
        cases=cases_by_epsilon(check, MEDIUM),
    )


def _reasonably_low(lines: Lines) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        later = [cell for cell in lines.noisy(reading, epsilon) if (cell.k or 0) >= LATER]
        low = [cell for cell in later if cell.has_interval and cell.high < USELESS]
        worst = max(later, key=lambda cell: cell.mean)
        return (
            len(low) == len(later),
            f"below at {len(low)} of {len(later)} k; most at k {worst.k}: {worst}",
        )

    return Claim(
        section=SECTION,
        text="At epsilon 1 the SSE after noise is reasonably low at larger k.",
        criterion=f"at every k from {LATER} on the mean SSE over variance is, with its interval, "
        f"below {USELESS:g}, which publishing the mean in every record would reach",
        cases=cases_by_epsilon(check, MEDIUM),
    )


def _insensitive_loses_more(lines: Lines) -> Claim:
    pairs = list(zip(lines.mdav, lines.insensitive, strict=True))
    more = sum(plain.mean < insensitive.mean for plain, insensitive in pairs)
    plain, insensitive = at(lines.mdav, LATER), at(lines.insensitive, LATER)
    return Claim(
        section=SECTION,
        text="Insensitive MDAV has a higher SSE than MDAV.",
        criterion="at every k",
        cases=(
            Case(
                where="",
                holds=more == len(pairs),
                measured=f"at {more} of {len(pairs)} k; at k {LATER}: {insensitive} against "
                f"{plain}",
            ),
        ),
    )


def _costs_less_than_it_saves(lines: Lines) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        line = lines.noisy(reading, epsilon)
        held = [
            (line[0].mean - cell.mean, insensitive.mean - plain.mean)
            for cell, plain, insensitive in zip(
                line[1:], lines.mdav, lines.insensitive, strict=True
            )
            if (cell.k or 0) >= TURN
        ]
        enough = sum(saved > 0 and saved >= SEVERAL_ORDERS * lost for saved, lost in held)
        ratios = [saved / lost for saved, lost in held if lost > 0]
        told = ", ".join(number(end(ratios), 3) for end in (min, max)) if ratios else "unknown"
        return enough == len(
            held
        ), f"at {enough} of {len(held)} k; saved over lost, least and most: {told}"

    return Claim(
        section=SECTION,
        text="What insensitive MDAV loses more than MDAV is several orders of magnitude less than "
        "the noise it saves.",
        criterion=f"at every k from {TURN} on, the SSE saved over k 1 is at least "
        f"{SEVERAL_ORDERS:.0f} times what insensitive MDAV loses more than MDAV",
        cases=cases_by_epsilon(check),
    )


def _two_orders(lines: Lines) -> Claim:
    def check(reading: Reading) -> tuple[bool, str]:
        line = lines.noisy(reading, *MEDIUM)
        first, later = line[0], at(line, LATER)
        low, high = TWO_ORDERS
        return (
            low <= first.mean / later.mean <= high,
            f"k 1: {first}; k {LATER}: {later}; a factor of {first.mean / later.mean:.3g}",
        )

    return Claim(
        section=SECTION,
        text="At epsilon 1 the SSE after noise falls by about two orders of magnitude from k 1 to "
        "k 25.",
        criterion=f"by a factor from {TWO_ORDERS[0]:.0f} to {TWO_ORDERS[1]:.0f}",
        cases=cases_by_reading(check),
        remark="At k 1 means are clamped to the domain, which caps their error.",
    )


def _like_plain_microaggregation(lines: Lines) -> Claim:
    cases = []
    plain_lines = (("MDAV", lines.mdav), ("insensitive MDAV", lines.insensitive))
    for (title, line), reading, k in product(plain_lines, READINGS, LARGE_SIZES):
        noisy, plain = at(lines.noisy(reading, *MEDIUM), k), at(line, k)
        cases.append(
            Case(
                where=f"{title}, k {k}, {reading.title}",
                holds=alike(noisy.mean, plain.mean, SIMILAR),
                measured=f"{noisy} with noise, {plain} without",
            )
        )
    return Claim(
        section=SECTION,
        text="At epsilon 1 and large k the SSE after microaggregation and noise is similar to that "
        "of microaggregation alone.",
        criterion=f"at k 50 and 100 they differ by a factor of {SIMILAR:g} at most",
        cases=tuple(cases),
    )


def _least(line: list[Cell]) -> Cell:
    return min(line, key=lambda cell: cell.mean)
