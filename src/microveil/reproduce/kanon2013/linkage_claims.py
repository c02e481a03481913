"""The claims of KANON-2013, section IV, on the percentage of record linkages."""

from itertools import product
from statistics import fmean

from microveil.reproduce.cells import Cell
from microveil.reproduce.kanon2013.cases import Lines, alike, at, cases_by_epsilon, cases_by_reading
from microveil.reproduce.kanon2013.experiments import EPSILONS, READINGS, Measured, Reading
from microveil.reproduce.paper import Case, Claim

__all__ = ["linkage_claims"]

SECTION = "IV"
LINKAGE = "record_linkage"
SMALL, MEDIUM, LARGE = (0.01, 0.1), 1.0, 10.0
LARGE_SIZES = (50, 100)
# What the text reads off Figure 2, in percent.
BELOW, NEEDED = 5.0, 20
SINGLE, CLUSTERED, LATER = 1.5, 5.0, 25
# What "noticeably" and "much", and "similar" and "around", are taken for.
MUCH, ALIKE = 2.0, 1.5


def linkage_claims(found: Measured) -> tuple[Claim, ...]:
    """Check all claims on linkage."""
    lines = Lines(found, LINKAGE)
    chance = float(found.published["record_linkage_by_chance"][0])
    return (
        _mdav_is_worst(lines),
        _size_that_is_needed(lines),
        _insensitive_links_less(lines),
        _insensitive_like_large_epsilon(lines),
        _hardly_varies(lines),
        _near_chance(lines, chance),
        _level_is_kept(lines),
        _rise_at_medium_epsilon(lines),
        _more_than_compensates(lines, Lines(found, "sse")),
        _much_less_than_plain(lines),
    )


def _mdav_is_worst(lines: Lines) -> Claim:
    rivals = [("insensitive MDAV", lines.insensitive)]
    for reading in READINGS:
        for epsilon in EPSILONS:
            told = reading.title.removeprefix("epsilon ")
            rivals.append((f"epsilon {epsilon:g}, {told}", lines.noisy(reading, epsilon)[1:]))
    cases = []
    for where, line in rivals:
        above = [c for c, plain in zip(line, lines.mdav, strict=True) if plain.is_below(c)]
        cases.append(
            Case(
                where=where,
                holds=not above,
                measured=f"above MDAV at {len(above)} of {len(line)} k; "
                f"k {LATER}: {at(line, LATER)} against {at(lines.mdav, LATER)}",
            )
        )
    return Claim(
        section=SECTION,
        text="MDAV without noise has the highest percentage of linkages.",
        criterion="at no k is the interval of another line wholly above MDAV's",
        cases=tuple(cases),
    )


def _size_that_is_needed(lines: Lines) -> Claim:
    before = [cell for cell in lines.mdav if (cell.k or 0) < NEEDED]
    after = [cell for cell in lines.mdav if (cell.k or 0) >= NEEDED]
    told = "; ".join(f"k {cell.k}: {cell}" for cell in (before[-1], after[0]))
    return Claim(
        section=SECTION,
        text="MDAV needs a k of 20 or more for a linkage below 5 %.",
        criterion="the linkage is below 5 % at every k from 20 on, and at none of those tried "
        "before",
        cases=(
            Case(
                where="",
                holds=min(c.mean for c in before) >= BELOW > max(c.mean for c in after),
                measured=told,
            ),
        ),
    )


def _insensitive_links_less(lines: Lines) -> Claim:
    pairs = list(zip(lines.mdav, lines.insensitive, strict=True))
    less = sum(insensitive.mean < plain.mean for plain, insensitive in pairs)
    much_less = sum(insensitive.mean <= plain.mean / MUCH for plain, insensitive in pairs)
    plain, insensitive = at(lines.mdav, LATER), at(lines.insensitive, LATER)
    return Claim(
        section=SECTION,
        text="Insensitive MDAV is noticeably more private than MDAV.",
        criterion="at every k the linkage is below that of MDAV, and at more than half of the k at "
        f"most that divided by {MUCH:g}",
        cases=(
            Case(
                where="",
                holds=less == len(pairs) and much_less > len(pairs) / 2,
                measured=f"below at {less}, by that much at {much_less} of {len(pairs)} k; "
                f"at k {LATER}: {insensitive} against {plain}",
            ),
        ),
    )


def _insensitive_like_large_epsilon(lines: Lines) -> Claim:
    def check(reading: Reading) -> tuple[bool, str]:
        noisy = lines.noisy(reading, LARGE)[1:]
        pairs = list(zip(noisy, lines.insensitive, strict=True))
        near = sum(alike(cell.mean, plain.mean, ALIKE) for cell, plain in pairs)
        return (
            near > len(pairs) / 2,
            (
                f"at {near} of {len(pairs)} k; at k {LATER}: {at(noisy, LATER)} with noise, "
                f"{at(lines.insensitive, LATER)} without; at k {noisy[-1].k}: {noisy[-1]} and "
                f"{lines.insensitive[-1]}"
            ),
        )

    return Claim(
        section=SECTION,
        text="The linkage of insensitive MDAV is very similar to that with noise at epsilon 10.",
        criterion=f"at more than half of the k they differ by a factor of {ALIKE:g} at most",
        cases=cases_by_reading(check),
    )


def _hardly_varies(lines: Lines) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        line = lines.noisy(reading, epsilon)
        first = line[0]
        apart = [cell for cell in line if cell.is_below(first) or first.is_below(cell)]
        return not apart, f"k 1: {first}; apart: {_told(apart)}"

    return Claim(
        section=SECTION,
        text="At epsilon 0.01 and 0.1 the linkage hardly varies with k.",
        criterion="at no k does the interval lie apart from that at k 1",
        cases=cases_by_epsilon(check, SMALL),
    )


def _near_chance(lines: Lines, chance: float) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        mean = fmean(cell.mean for cell in lines.noisy(reading, epsilon))
        return (
            alike(mean, chance, ALIKE),
            f"{mean:.3g} % in the mean over k; {chance:.3g} % by chance",
        )

    return Claim(
        section=SECTION,
        text="At epsilon 0.01 and 0.1 the linkage stays near that of chance.",
        criterion=f"the mean over k is within a factor of {ALIKE:g} of one in the number of "
        "records",
        cases=cases_by_epsilon(check, SMALL),
    )


def _level_is_kept(lines: Lines) -> Claim:
    def check(reading: Reading, epsilon: float) -> tuple[bool, str]:
        line = lines.noisy(reading, epsilon)
        above = [cell for cell in line if line[0].is_below(cell)]
        return not above, f"k 1: {line[0]}; above: {_told(above)}"

    return Claim(
        section=SECTION,
        text="At low epsilon microaggregation before the noise costs no privacy.",
        criterion="at no k is the interval of the linkage wholly above that at k 1",
        cases=cases_by_epsilon(check, SMALL),
    )


def _rise_at_medium_epsilon(lines: Lines) -> Claim:
    cases = []
    for reading in READINGS:
        line = lines.noisy(reading, MEDIUM)
        first, later = line[0], at(line, LATER)
        for cell, told in ((first, SINGLE), (later, CLUSTERED)):
            cases.append(
                Case(
                    where=f"k {cell.k}, {reading.title}",
                    holds=alike(cell.mean, told, ALIKE),
                    measured=f"{cell} %; the paper has {told:g} %",
                )
            )
        cases.append(
            Case(
                where=f"rise, {reading.title}",
                holds=first.is_below(later),
                measured=f"from {first} % to {later} %",
            )
        )
    return Claim(
        section=SECTION,
        text="At epsilon 1 the linkage rises from 1.5 % at k 1 to about 5 % at k 25.",
        criterion=f"each is within a factor of {ALIKE:g} of the paper's, and, as a case of its "
        "own, the interval at k 25 is wholly above that at k 1",
        cases=tuple(cases),
        remark="By the same text MDAV links the most, and less than 5 % from k 20 on, and noise "
        "of epsilon 10 links about as many as insensitive MDAV, far fewer than MDAV: that leaves "
        "no room for 5 % at k 25. A tenth of both numbers would go with these claims.",
    )


def _more_than_compensates(lines: Lines, errors: Lines) -> Claim:
    def check(reading: Reading) -> tuple[bool, str]:
        linked, lost = (which.noisy(reading, MEDIUM) for which in (lines, errors))
        first, later = linked[0], at(linked, LATER)
        fall = lost[0].mean / at(lost, LATER).mean
        rise = f"{later.mean / first.mean:.3g}" if first.mean else "unknown, from 0,"
        return (
            later.mean <= fall * first.mean,
            (
                f"SSE falls by a factor of {fall:.3g}; linkage rises by a factor of {rise} to "
                f"{later} %"
            ),
        )

    return Claim(
        section=SECTION,
        text="At epsilon 1 the lower SSE more than makes up for the higher linkage.",
        criterion=f"from k 1 to k {LATER} the linkage rises by no larger factor than the SSE falls "
        "by",
        cases=cases_by_reading(check),
        remark="Factors are only one way to hold error and risk against each other.",
    )


def _much_less_than_plain(lines: Lines) -> Claim:
    cases = []
    plain_lines = (("MDAV", lines.mdav), ("insensitive MDAV", lines.insensitive))
    for (title, line), reading, k in product(plain_lines, READINGS, LARGE_SIZES):
        noisy, plain = at(lines.noisy(reading, MEDIUM), k), at(line, k)
        cases.append(
            Case(
                where=f"{title}, k {k}, {reading.title}",
                holds=noisy.mean <= plain.mean / MUCH,
                measured=f"{noisy} % with noise, {plain} % without",
            )
        )
    return Claim(
        section=SECTION,
        text="At epsilon 1 and large k far fewer records are linked than with microaggregation "
        "alone.",
        criterion=f"at k 50 and 100 the linkage is at most that without noise divided by {MUCH:g}",
        cases=tuple(cases),
    )


def _told(cells: list[Cell]) -> str:
    return ", ".join(f"k {cell.k}: {cell}" for cell in cells) or "none"
