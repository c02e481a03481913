"""The claims of RECORD-2018 that its first two pages make and that can be checked."""

import math
from collections.abc import Iterator
from itertools import product

import polars

from microveil_papers.estimates import Estimate, estimates_of, ratio_of
from microveil_papers.given import SEE
from microveil_papers.kanon2013.experiments import (
    INSENSITIVE,
    LAPLACE,
    MDAV,
    PUBLISHED,
    SEQUENTIAL,
)
from microveil_papers.paper import Case, Claim, claimed
from microveil_papers.record2018.experiments import (
    BY_MDAV,
    EPSILONS,
    OF_THE_PAPER,
    OPTIMAL,
    RANKING,
    SETTINGS,
    Measured,
    Setting,
)

__all__ = ["claims_of"]

ERROR = "mean_sse"
# What "substantially" is taken for, what "unrelated" is, and from which multiple of the square
# root of n on a gain must show.
SUBSTANTIAL, UNRELATED, CLEARLY = 2.0, 0.5, 2.0
COMPOSED = {PUBLISHED: "composed in parallel", SEQUENTIAL: "composed in sequence"}


def claims_of(found: Measured) -> tuple[Claim, ...]:
    """Check all claims, those of the abstract first."""
    return (
        _individuals_are_protected(found),
        _more_utility(found),
        _by_its_partition(found),
        _anonymous(found),
        _unrelated_clusters(found),
        _insensitive(found),
        _less_homogeneous(found),
        _gain_from_root_of_n(found),
        _ranking_avoids_the_penalty(found),
    )


def _noisy(found: Measured, setting: Setting, name: str, epsilon: float) -> list[Estimate]:
    return estimates_of(found.noisy, ERROR, setting=setting.name, name=name, epsilon=epsilon)


def _plain(found: Measured, setting: Setting, name: str) -> list[Estimate]:
    return estimates_of(found.partitions, ERROR, setting=setting.name, name=name)


@claimed(
    section="abstract",
    text="Noise on a microaggregated data set (record-dp) gives differential privacy to the "
    "individuals who contributed the original records.",
    criterion="at every k and epsilon the exact loss of this table is at most epsilon, when "
    "one original record is replaced by any of the domain and clusters are formed anew, with "
    "whatever the epsilon takes as given held; and, as a case of its own, no change that was tried "
    "gives clusters of other sizes by optimal microaggregation",
    remark="Sizes of clusters show in the release as numbers of equal values, so that nothing "
    "bounds the loss where they change. While everybody stays in their cluster every method here "
    f"keeps its epsilon, with what it takes as given. {SEE}",
)
def _individuals_are_protected(found: Measured) -> Iterator[Case]:
    yield from _losses(found)
    yield from _sizes_chosen_anew(found)


def _losses(found: Measured) -> Iterator[Case]:
    """Hold the exact losses against epsilon, by partition."""
    for setting, name in product(SETTINGS, OF_THE_PAPER):
        own = found.noisy.filter(
            polars.col("setting") == setting.name, polars.col("name") == name
        ).select("k", loss=polars.col("vector_loss") / polars.col("epsilon"))
        unbounded = own["loss"].null_count()
        largest = own.drop_nulls("loss").sort("loss")[-1:].rows()
        losses = [f"loss over epsilon {loss:.3g} at most, at k {k}" for k, loss in largest]
        losses += [f"nothing bounds the loss in {unbounded} of {own.height} configurations"] * (
            unbounded > 0
        )
        yield Case(
            where=f"{_name_words(name)}, {setting.title}",
            holds=not unbounded and all(loss <= 1 for _, loss in largest),
            measured="; ".join(losses),
        )


def _sizes_chosen_anew(found: Measured) -> Iterator[Case]:
    """See whether optimal microaggregation of a changed table has clusters of the same sizes."""
    for where, worst, shown in _changes(found, OPTIMAL, "gave clusters of other sizes", "sizes"):
        yield Case(
            where=f"record-dp, optimal, its rank boundaries chosen anew, {where}",
            holds=worst == 0,
            measured=shown,
        )


@claimed(
    section="abstract",
    text="Noise on records of a standard microaggregation (record-dp) leaves substantially "
    "more utility than the method of KANON-2013 (kanon-dp) at equal epsilon.",
    criterion=f"the geometric mean over k of the ratio of the errors is {SUBSTANTIAL:g} or "
    "more, and its interval over k (not over runs) above 1",
    remark="The epsilons are equal in number, not in meaning: they keep different scopes. "
    f"{SEE} The abstract does not name its rivals; section 2.2 speaks of KANON-2013 composed in "
    "sequence.",
)
def _more_utility(found: Measured) -> Iterator[Case]:
    for setting, earlier, name, epsilon in product(SETTINGS, COMPOSED, OF_THE_PAPER, EPSILONS):
        above, below = (_noisy(found, setting, which, epsilon) for which in (earlier, name))
        ratio = ratio_of(above, below)
        least = [min(line, key=lambda estimate: estimate.mean) for line in (above, below)]
        yield Case(
            where=f"{_name_words(name)} against kanon-dp {COMPOSED[earlier]}, epsilon {epsilon:g}, "
            f"{setting.title}",
            holds=ratio.mean >= SUBSTANTIAL and ratio.low > 1,
            measured=f"error of kanon-dp over that of record-dp: {ratio}; least: kanon-dp "
            f"{least[0]} at k {least[0].k}, record-dp {least[1]} at k {least[1].k}",
        )


@claimed(
    section="abstract",
    text="The gain in utility of record-dp over kanon-dp comes from avoiding insensitive "
    "microaggregation.",
    criterion="in the geometric mean over k, by standard instead of insensitive clusters "
    "alone, with noise of equal scale, the error falls by half or more of the orders of "
    "magnitude by which it falls in all",
    remark="Clusters by MDAV. The rest of the gain comes from holding the partition, by which "
    "the noise is no longer scaled by the number of clusters.",
)
def _by_its_partition(found: Measured) -> Iterator[Case]:
    for setting, epsilon in product(SETTINGS, EPSILONS):
        ours = _noisy(found, setting, BY_MDAV, epsilon)
        by_clusters, in_all = (
            ratio_of(_noisy(found, setting, earlier, epsilon), ours)
            for earlier in (PUBLISHED, SEQUENTIAL)
        )
        share = math.log(by_clusters.mean) / math.log(in_all.mean) if in_all.mean > 1 else 0.0
        yield Case(
            where=f"epsilon {epsilon:g}, {setting.title}",
            holds=in_all.mean > 1 and by_clusters.mean**2 >= in_all.mean,
            measured=f"with noise of equal scale: {by_clusters}; against kanon-dp composed in "
            f"sequence: {in_all}; {100 * share:.0f} % of the orders of magnitude",
        )


@claimed(
    section="2.2",
    text="Multivariate microaggregation over all attributes makes records k-anonymous.",
    criterion="at every k, every combination of the released values belongs to k records or more",
    remark="With noise the attributes of a cluster get one draw each, so that its records stay "
    "alike.",
)
def _anonymous(found: Measured) -> Iterator[Case]:
    for release in found.anonymity:
        if "mdav" not in release.name:
            continue
        enough = sum(smallest >= k for k, smallest in release.groups)
        k, smallest = min(release.groups, key=lambda pair: pair[1] / pair[0])
        yield Case(
            where=f"{release.name}, {release.where}",
            holds=enough == len(release.groups),
            measured=f"at {enough} of {len(release.groups)} k; nearest to it at k {k}: "
            f"{smallest} records alike",
        )


@claimed(
    section="2.2",
    text="Under standard microaggregation one changed value may give unrelated clusters.",
    criterion="one of the changes that were tried changes more than half of the clusters by "
    "more than one record",
    remark="MDAV at k 10; one value of one record was drawn anew from the domain.",
)
def _unrelated_clusters(found: Measured) -> Iterator[Case]:
    for where, worst, shown in _changes(found, MDAV):
        yield Case(where=where, holds=worst > UNRELATED, measured=shown)


@claimed(
    section="2.2",
    text="Under insensitive microaggregation clusters differ in one record at most.",
    criterion="none of the changes that were tried changes any cluster by more than one record",
    remark="The same changes as for standard microaggregation, the domain held.",
)
def _insensitive(found: Measured) -> Iterator[Case]:
    for where, worst, shown in _changes(found, INSENSITIVE):
        yield Case(where=where, holds=worst == 0, measured=shown)


def _changes(
    found: Measured,
    name: str,
    deed: str = "changed a cluster by more than one record",
    what: str = "clusters",
) -> Iterator[tuple[str, float, str]]:
    """Go through the changes tried on a method: where, the largest share, and all in words."""
    for tried in found.stability:
        if tried.name == name:
            shares = tried.shares
            shown = (
                f"of {len(shares)} changes {sum(share > 0 for share in shares)} {deed}; "
                f"{100 * max(shares):.0f} % of the {what} in the worst case, "
                f"{100 * sum(shares) / len(shares):.0f} % in the mean"
            )
            yield tried.where, max(shares), shown


@claimed(
    section="2.2",
    text="Insensitive microaggregation loses more information than standard microaggregation.",
    criterion="without noise the error of insensitive MDAV is above that of MDAV at every k",
)
def _less_homogeneous(found: Measured) -> Iterator[Case]:
    return _less_at_every_size(found, MDAV, INSENSITIVE)


@claimed(
    section="2.2",
    text="Composed in sequence, the method of KANON-2013 (kanon-dp) has less noise than "
    "records without microaggregation only where k is at least the square root of their "
    "number.",
    criterion="the interval of kanon-dp composed in sequence is wholly below that of plain "
    f"Laplace noise at no k below the root of n, and at every k of {CLEARLY:g} times the root "
    "or more",
    remark="Widths of the noise are equal at the root of n by arithmetic; measured is the "
    "error after clamping to the domain, which hides differences where noise fills it.",
)
def _gain_from_root_of_n(found: Measured) -> Iterator[Case]:
    root = math.sqrt(found.n_records)
    for setting, epsilon in product(SETTINGS, EPSILONS):
        (plain,) = _noisy(found, setting, LAPLACE, epsilon)
        line = _noisy(found, setting, SEQUENTIAL, epsilon)
        gains = [estimate for estimate in line if estimate.is_below(plain)]
        early = any((estimate.k or 0) < root for estimate in gains)
        late, below = (
            sum((estimate.k or 0) >= CLEARLY * root for estimate in estimates)
            for estimates in (line, gains)
        )
        yield Case(
            where=f"epsilon {epsilon:g}, {setting.title}",
            holds=not early and below == late,
            measured=f"laplace {plain}; first wholly below at "
            f"{f'k {gains[0].k}: {gains[0]}' if gains else 'no k'}; "
            f"{below} of {late} k of {CLEARLY * root:.0f} or more are",
        )


@claimed(
    section="2.2",
    text="Individual ranking avoids what multivariate insensitive microaggregation loses.",
    criterion="without noise the error of individual ranking is below that of insensitive "
    "MDAV at every k",
)
def _ranking_avoids_the_penalty(found: Measured) -> Iterator[Case]:
    return _less_at_every_size(found, RANKING, INSENSITIVE)


def _less_at_every_size(found: Measured, less: str, more: str) -> Iterator[Case]:
    """Hold two methods without noise against each other, by setting."""
    for setting in SETTINGS:
        lower, upper = (_plain(found, setting, name) for name in (less, more))
        below = sum(one.mean < other.mean for one, other in zip(lower, upper, strict=True))
        yield Case(
            where=setting.title,
            holds=below == len(lower),
            measured=f"at {below} of {len(lower)} k; error of {more} over that of {less}: "
            f"{ratio_of(upper, lower)}",
        )


def _name_words(name: str) -> str:
    return name.replace(":partition=", ", ")
