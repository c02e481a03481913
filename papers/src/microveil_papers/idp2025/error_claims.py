"""The claims of IDP-2025, section 4.1 and 5, on the error of the masked data."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise

import polars

from microveil_papers.estimates import Ratio, estimates_of, ratio_of
from microveil_papers.idp2025.cluster_claims import cluster_claims
from microveil_papers.idp2025.experiments import ALPHAS, EPSILONS, LAPLACE, MEASURES
from microveil_papers.idp2025.reading import (
    ALIKE,
    SIMILAR,
    Estimates,
    alike,
    of_methods,
    over_alphas,
    over_domains,
    over_epsilons,
    settings,
)
from microveil_papers.paper import Case, Claim, claimed

__all__ = ["error_claims"]

# The methods that pay for the width of the domain.
OF_DOMAINS = (LAPLACE, "dp-um", "idp-ls")
# What "hardly" is taken for.
HARDLY = 1.5


def error_claims(errors: polars.DataFrame) -> tuple[Claim, ...]:
    """Check the claims of section 4.1 by the error as printed, and note those of the usual one."""
    published, usual = (_claims(partial(estimates_of, errors, figure)) for figure in MEASURES)
    return tuple(
        replace(
            claim,
            remark=(
                "By the usual error, which divides squares by the variance and not by its square: "
                f"{other.verdict.value} ({sum(case.holds for case in other.cases)} of "
                f"{len(other.cases)} cases). {claim.remark}"
            ).strip(),
        )
        for claim, other in zip(published, usual, strict=True)
    )


def _claims(estimates: Estimates) -> tuple[Claim, ...]:
    return (
        _laplace_is_worst(estimates),
        _laplace_hardly_falls(estimates),
        _falls_with_size(estimates),
        _local_is_similar(estimates),
        _local_loses_less(estimates),
        _local_gains_with_epsilon(estimates),
        _proportional_over_domains(estimates),
        _narrow_domains_help(estimates),
        *cluster_claims(estimates),
    )


@claimed(
    section="4.1",
    text="Plain Laplace noise has the largest error of all methods.",
    criterion="some configurations of other methods have their interval wholly below that of "
    "laplace, and none wholly above",
)
def _laplace_is_worst(estimates: Estimates) -> Iterator[Case]:
    for where, at in settings():
        (plain,) = estimates(name=LAPLACE, **at)
        others = [
            (name, estimate)
            for name in ("dp-um", "idp-ls", "idp-cbls")
            for estimate in estimates(name=name, **at)
        ]
        name, worst = max(others, key=lambda found: found[1].mean)
        above = sum(plain.is_below(estimate) for _, estimate in others)
        below = sum(estimate.is_below(plain) for _, estimate in others)
        yield Case(
            where=where,
            holds=above == 0 and below > 0,
            measured=f"laplace {plain}; the worst other, {name} at k {worst.k}: {worst}; of "
            f"{len(others)} configurations {above} wholly above laplace, {below} wholly below",
        )


@claimed(
    section="4.1",
    text="The error of plain Laplace noise hardly falls from epsilon 0.01 to 1: its data are "
    "nearly random.",
    criterion=f"the error falls by a factor of {HARDLY:g} at most",
)
def _laplace_hardly_falls(estimates: Estimates) -> Iterator[Case]:
    for where, at in over_alphas():
        low, high = (
            estimates(name=LAPLACE, epsilon=epsilon, **at)[0]
            for epsilon in (EPSILONS[0], EPSILONS[-1])
        )
        yield Case(
            where=where,
            holds=low.mean / high.mean <= HARDLY,
            measured=f"epsilon 0.01: {low}; 1: {high}; ratio {low.mean / high.mean:.3g}",
        )


@claimed(
    section="4.1",
    text="The errors of dp-um and idp-ls fall as k grows.",
    criterion="at the largest k the interval is wholly below that at the least k, and more than "
    "half of the steps from one k to the next fall",
    remark="Where the noise fills the domain and is cut off, nothing is left for k to reduce.",
)
def _falls_with_size(estimates: Estimates) -> Iterator[Case]:
    for where, at in of_methods(("dp-um", "idp-ls"), settings()):
        line = estimates(**at)
        falling = sum(after.mean < before.mean for before, after in pairwise(line))
        yield Case(
            where=where,
            holds=line[-1].is_below(line[0]) and falling > (len(line) - 1) / 2,
            measured=f"k {line[0].k}: {line[0]}; k {line[-1].k}: {line[-1]}; "
            f"{falling} of {len(line) - 1} steps fall",
        )


def _local_ratios(estimates: Estimates) -> Iterator[tuple[str, Ratio]]:
    """Divide the errors of idp-ls by those of dp-um, at each setting."""
    for where, at in settings():
        yield where, ratio_of(estimates(name="idp-ls", **at), estimates(name="dp-um", **at))


@claimed(
    section="4.1",
    text="idp-ls has a lower error than dp-um.",
    criterion="over k, the geometric mean of the ratio is below 1 with its interval",
)
def _local_loses_less(estimates: Estimates) -> Iterator[Case]:
    for where, ratio in _local_ratios(estimates):
        yield Case(where=where, holds=ratio.high < 1, measured=f"idp-ls over dp-um: {ratio}")


@claimed(
    section="4.1",
    text="The errors of dp-um and idp-ls are similar.",
    criterion=f"over k, the geometric mean of the ratio is within a factor of {SIMILAR:g} of 1, "
    "with its interval",
)
def _local_is_similar(estimates: Estimates) -> Iterator[Case]:
    for where, ratio in _local_ratios(estimates):
        yield Case(
            where=where,
            holds=ratio.low >= 1 / SIMILAR and ratio.high <= SIMILAR,
            measured=f"idp-ls over dp-um: {ratio}",
        )


@claimed(
    section="4.1",
    text="The differences between dp-um and idp-ls are larger for larger epsilon.",
    criterion="the ratio at epsilon 1 is above that at 0.01, their intervals over k apart",
)
def _local_gains_with_epsilon(estimates: Estimates) -> Iterator[Case]:
    for where, at in over_alphas():
        low, high = (
            ratio_of(
                estimates(name="dp-um", epsilon=epsilon, **at),
                estimates(name="idp-ls", epsilon=epsilon, **at),
            )
            for epsilon in (EPSILONS[0], EPSILONS[-1])
        )
        yield Case(
            where=where,
            holds=high.low > low.high,
            measured=f"dp-um over idp-ls at epsilon 0.01: {low}; at 1: {high}",
        )


@claimed(
    section="4.1",
    text="The differences between dp-um and idp-ls stay proportional when domains widen.",
    criterion="at either alpha the ratio differs from 1 by its interval, and the two ratios "
    f"differ from each other by a factor of {ALIKE:g} at most",
)
def _proportional_over_domains(estimates: Estimates) -> Iterator[Case]:
    for where, at in over_epsilons():
        narrow, wide = (
            ratio_of(
                estimates(name="dp-um", alpha=alpha, **at),
                estimates(name="idp-ls", alpha=alpha, **at),
            )
            for alpha in ALPHAS
        )
        differ = not (narrow.low <= 1 <= narrow.high or wide.low <= 1 <= wide.high)
        yield Case(
            where=where,
            holds=differ and alike(wide.mean / narrow.mean),
            measured=f"dp-um over idp-ls at alpha 1.5: {narrow}; at 3: {wide}",
        )


@claimed(
    section="4.1",
    text="The errors of laplace, dp-um and idp-ls fall as domains get smaller.",
    criterion="each has a larger error at alpha 3 than at 1.5: the ratio, for methods with a k its "
    "geometric mean over k, is above 1 with its interval",
)
def _narrow_domains_help(estimates: Estimates) -> Iterator[Case]:
    for where, at in over_epsilons():
        found = [over_domains(estimates, name, **at) for name in OF_DOMAINS]
        yield Case(
            where=where,
            holds=all(ratio.low > 1 for ratio, _ in found),
            measured="error at alpha 3 over that at 1.5: " + "; ".join(words for _, words in found),
        )
