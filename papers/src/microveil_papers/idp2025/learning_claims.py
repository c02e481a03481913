"""The claims of IDP-2025, section 4.2, on what a random forest learns from masked records."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product

import polars

from microveil_papers.estimates import Estimate, difference, estimates_of, pooled
from microveil_papers.idp2025.experiments import (
    CLUSTER_READINGS,
    DATA,
    EPSILONS,
    WIDENED,
    Data,
    Measured,
)
from microveil_papers.idp2025.reading import Choice, Estimates, of_methods, with_epsilons
from microveil_papers.paper import Case, Claim, claimed

__all__ = ["learning_claims"]

CENSUS, WINE = DATA
ALPHA = 1.5
# F-measures are said to be alike within this.
ALIKE = 0.01
# What "quite stable" and "similar" are taken for.
STABLE = 0.05
STABLE_FROM = 50
# The losses that the paper reports, in percent of the original's F-measure, by epsilon.
LOCAL_LOSSES = {0.01: 20.0, 0.1: 10.0, 1.0: 5.0}
CLUSTER_LOSSES = {0.01: 10.0, 0.1: 3.0}
# Within this factor a loss is about the paper's.
ABOUT = 2.0
PROTOTYPE_SIZE = 5
# How often the commoner class of the wines occurs for once of the other, as the paper says.
IMBALANCE, IMBALANCE_WITHIN = 3.5, 0.25


def learning_claims(found: Measured) -> tuple[Claim, ...]:
    """Check the claims of section 4.2."""
    estimates = partial(_estimates, found.learnt)
    original = partial(_original, found.learnt)
    return (
        _grows_with_size(estimates, CENSUS, "4.2.1"),
        _narrow_domains_help(estimates),
        _stable_from_fifty(estimates),
        _losses(estimates, original, ("idp-ls",), LOCAL_LOSSES),
        _cluster_beats_local(estimates, CENSUS, "4.2.1", found.learnt),
        _identical_at_one(estimates, original),
        replace(
            _losses(estimates, original, CLUSTER_READINGS, CLUSTER_LOSSES),
            remark=_exact_cells(found.learnt),
        ),
        _like_a_tenfold_epsilon(estimates),
        _worse_at_large_sizes(estimates),
        _grows_with_size(estimates, WINE, "4.2.2"),
        _cluster_beats_local(estimates, WINE, "4.2.2", found.learnt),
        _unbalanced(original, found.learnt),
        _reaches_the_original(estimates, original),
        _beats_the_original(estimates, original),
    )


def _estimates(
    learnt: polars.DataFrame, place: int, data: Data, **chosen: object
) -> list[Estimate]:
    return estimates_of(learnt, f"f_measure_{place}", data=data.name, **{"alpha": ALPHA, **chosen})


def _original(learnt: polars.DataFrame, place: int, data: Data) -> list[Estimate]:
    """Return what is learnt from the original, which all configurations were held against."""
    return estimates_of(learnt, f"f_measure_original_{place}", data=data.name, alpha=ALPHA)[:1]


def _both(read: Estimates, data: Data, **chosen: object) -> list[Estimate]:
    """Return the mean F-measure of both classes; its interval is no narrower than it should be."""
    first, second = (read(place, data, **chosen) for place in range(2))
    return [
        Estimate(
            k=one.k,
            mean=(one.mean + other.mean) / 2,
            low=(one.low + other.low) / 2,
            high=(one.high + other.high) / 2,
            has_interval=one.has_interval and other.has_interval,
        )
        for one, other in zip(first, second, strict=True)
    ]


def _over_classes(data: Data) -> Iterator[Choice]:
    """Go through the classes of one data set."""
    for place, name in enumerate(data.class_names):
        yield f"{data.title}, class {name}", {"place": place, "data": data}


def _over_epsilons(data: Data, epsilons: Iterable[float] = EPSILONS) -> Iterator[Choice]:
    """Go through the classes of one data set, and epsilon."""
    return with_epsilons(_over_classes(data), epsilons)


def _best(line: list[Estimate]) -> Estimate:
    return max(line, key=lambda estimate: estimate.mean)


def _grows_with_size(estimates: Estimates, data: Data, section: str) -> Claim:
    return Claim(
        section=section,
        text=f"On {data.title} the F-measures of idp-ls grow with k.",
        criterion="at the largest k the interval lies wholly above that at the least k",
        cases=tuple(_growths(estimates, data)),
    )


def _growths(estimates: Estimates, data: Data) -> Iterator[Case]:
    for where, at in _over_epsilons(data):
        line = estimates(name="idp-ls", **at)
        yield Case(
            where=where,
            holds=line[0].is_below(line[-1]),
            measured=f"k {line[0].k}: {line[0]}; k {line[-1].k}: {line[-1]}",
        )


@claimed(
    section="4.2.1",
    text="With epsilon above 0.01 idp-ls does better with narrower domains.",
    criterion="in the mean over k the F-measure at alpha 1.5 is above that at alpha 3, with the "
    "95 % interval of the difference",
)
def _narrow_domains_help(estimates: Estimates) -> Iterator[Case]:
    for where, at in _over_epsilons(CENSUS, EPSILONS[1:]):
        narrow, wide = (
            estimates(name="idp-ls", alpha=alpha, **at) for alpha in CENSUS.learnt_alphas
        )
        gain = difference(pooled(narrow), pooled(wide))
        better = sum(one.mean > other.mean for one, other in zip(narrow, wide, strict=True))
        yield Case(
            where=where,
            holds=gain.has_interval and gain.low > 0,
            measured=f"by {gain} in the mean over k; better at {better} of {len(narrow)} k",
        )


@claimed(
    section="4.2.1",
    text="With epsilon above 0.01 the F-measures of idp-ls stay quite stable from k = 50 on.",
    criterion=f"from k = {STABLE_FROM} on they differ by {STABLE:g} at most",
)
def _stable_from_fifty(estimates: Estimates) -> Iterator[Case]:
    for where, at in _over_epsilons(CENSUS, EPSILONS[1:]):
        line = [
            estimate
            for estimate in estimates(name="idp-ls", **at)
            if (estimate.k or 0) >= STABLE_FROM
        ]
        means = [estimate.mean for estimate in line]
        yield Case(
            where=where,
            holds=max(means) - min(means) <= STABLE,
            measured="; ".join(f"k {estimate.k}: {estimate}" for estimate in line),
        )


def _loss(estimate: Estimate, original: Estimate) -> float:
    """Return by how many percent an F-measure is below the original's."""
    return 100 * (1 - estimate.mean / original.mean)


def _losses(
    estimates: Estimates, original: Estimates, names: tuple[str, ...], reported: dict[float, float]
) -> Claim:
    words = " and ".join(f"{loss:g} % at epsilon {epsilon:g}" for epsilon, loss in reported.items())
    return Claim(
        section="4.2.1",
        text=f"The best F-measures of {names[0]} are below those of the original by about {words}.",
        criterion="at the best k the interval is wholly below that of the original, and the loss "
        f"within a factor of {ABOUT:g} of the paper's",
        cases=tuple(_held_against(estimates, original, names, reported)),
    )


def _held_against(
    estimates: Estimates, original: Estimates, names: tuple[str, ...], reported: dict[float, float]
) -> Iterator[Case]:
    for where, at in of_methods(names, _over_epsilons(CENSUS, reported)):
        (upper,) = original(at["place"], CENSUS)
        best, expected = _best(estimates(**at)), reported[at["epsilon"]]
        loss = _loss(best, upper)
        yield Case(
            where=where,
            holds=best.is_below(upper) and expected / ABOUT <= loss <= ABOUT * expected,
            measured=f"k {best.k}: {best}; original {upper}; {loss:.1f} % lower, "
            f"{expected:g} % in the paper",
        )


def _exact_cells(learnt: polars.DataFrame) -> str:
    """Say what share of the cells has no noise at all."""
    own = learnt.filter(
        polars.col("data") == CENSUS.name,
        polars.col("alpha") == ALPHA,
        polars.col("name") == "idp-cbls",
        polars.col("epsilon") == EPSILONS[0],
    ).sort("k")
    shares = ", ".join(
        f"{percent:.1f} % at k {k}" for k, percent in own.select("k", "exact_percent").rows()
    )
    return (
        "The paper does not say what becomes of clusters of equal values, which need no noise. "
        f"Left as they are, whatever the epsilon, they make up {shares} of the cells, and a forest "
        f"can learn from them; {WIDENED} merges them with their neighbours, so that every cell has "
        "noise."
    )


@claimed(
    section="4.2.1",
    text="At epsilon 1 the F-measures of idp-cbls are identical to those of the original.",
    criterion=f"the means differ by less than {ALIKE:g}",
)
def _identical_at_one(estimates: Estimates, original: Estimates) -> Iterator[Case]:
    for where, at in of_methods(CLUSTER_READINGS, _over_classes(CENSUS)):
        (upper,) = original(at["place"], CENSUS)
        line = estimates(epsilon=1.0, **at)
        near = min(line, key=lambda estimate: abs((estimate.k or 0) - PROTOTYPE_SIZE))
        for label, estimate in ((f"k {near.k}", near), ("best k", _best(line))):
            yield Case(
                where=f"{where}, {label}",
                holds=abs(estimate.mean - upper.mean) < ALIKE,
                measured=f"k {estimate.k}: {estimate}; original {upper}; "
                f"difference {estimate.mean - upper.mean:+.3f}",
            )


@claimed(
    section="4.2.1",
    text="idp-cbls at epsilon 0.01 is at least as useful as idp-ls at epsilon 0.1.",
    criterion=f"at the best k of each, the F-measure of idp-cbls is lower by at most {STABLE:g}",
)
def _like_a_tenfold_epsilon(estimates: Estimates) -> Iterator[Case]:
    for where, at in _over_classes(CENSUS):
        ours = _best(estimates(name="idp-cbls", epsilon=0.01, **at))
        theirs = _best(estimates(name="idp-ls", epsilon=0.1, **at))
        yield Case(
            where=where,
            holds=ours.mean >= theirs.mean - STABLE,
            measured=f"idp-cbls, epsilon 0.01, k {ours.k}: {ours}; "
            f"idp-ls, epsilon 0.1, k {theirs.k}: {theirs}",
        )


@claimed(
    section="4.2.1",
    text="The F-measures of idp-cbls fall at large k.",
    criterion="at the largest k the interval lies wholly below that at the best k",
)
def _worse_at_large_sizes(estimates: Estimates) -> Iterator[Case]:
    for where, at in of_methods(CLUSTER_READINGS, _over_epsilons(CENSUS)):
        line = estimates(**at)
        best, last = _best(line), line[-1]
        yield Case(
            where=where,
            holds=last.is_below(best),
            measured=f"k {best.k}: {best}; k {last.k}: {last}",
        )


def _cluster_beats_local(
    estimates: Estimates, data: Data, section: str, learnt: polars.DataFrame
) -> Claim:
    return Claim(
        section=section,
        text=f"On {data.title} idp-cbls provides better results than idp-ls.",
        criterion="at the best k of each, the interval of the mean F-measure of both classes lies "
        "wholly above",
        cases=tuple(_cluster_beside_local(estimates, data)),
        remark="Both classes together: who guesses the commoner class always has "
        f"{_majority(learnt, data):.3f} there, and 0 for the other one.",
    )


def _cluster_beside_local(estimates: Estimates, data: Data) -> Iterator[Case]:
    for name, epsilon in product(CLUSTER_READINGS, EPSILONS):
        ours, theirs = (
            _best(_both(estimates, data, name=which, epsilon=epsilon)) for which in (name, "idp-ls")
        )
        yield Case(
            where=f"{name}, epsilon {epsilon:g}",
            holds=theirs.is_below(ours),
            measured=f"{name}, k {ours.k}: {ours}; idp-ls, k {theirs.k}: {theirs}",
        )


@claimed(
    section="4.2.2",
    text="The classes of the wines are unbalanced, 3.5 to 1, and the rarer one is harder to learn.",
    criterion="among the records tested the commoner class is 3.25 to 3.75 times as frequent; and "
    "the F-measure of the rarer class is wholly below",
)
def _unbalanced(original: Estimates, learnt: polars.DataFrame) -> Iterator[Case]:
    # Guessing the commoner class always has an F-measure of 2 p / (1 + p).
    guess = _majority(learnt, WINE)
    share = guess / (2 - guess)
    yield Case(
        where="balance of the records tested",
        holds=abs(share / (1 - share) - IMBALANCE) <= IMBALANCE_WITHIN,
        measured=f"{share / (1 - share):.2f} to 1",
    )
    (usual,), (excellent,) = (original(place, WINE) for place in range(2))
    yield Case(
        where="F-measures on the original",
        holds=excellent.is_below(usual),
        measured=f"Not Excellent {usual}; Excellent {excellent}",
    )


def _majority(learnt: polars.DataFrame, data: Data) -> float:
    """Return the F-measure of the commoner class if it is guessed always."""
    own = learnt.filter(polars.col("data") == data.name)
    return max(float(own[f"f_measure_majority_{place}"].drop_nulls()[0]) for place in range(2))


def _on_wine(estimates: Estimates) -> Iterator[tuple[str, list[Estimate]]]:
    """Go through what idp-cbls leaves to learn of the wines over k, at epsilon above 0.01."""
    for name, epsilon in product(CLUSTER_READINGS, EPSILONS[1:]):
        yield f"{name}, epsilon {epsilon:g}", _both(estimates, WINE, name=name, epsilon=epsilon)


@claimed(
    section="4.2.2",
    text="On the wines idp-cbls at epsilon 0.1 and 1 reaches the F-measures of the original.",
    criterion="at the best k the mean F-measure of both classes is above the original's less "
    f"{ALIKE:g}",
)
def _reaches_the_original(estimates: Estimates, original: Estimates) -> Iterator[Case]:
    (upper,) = _both(original, WINE)
    for where, line in _on_wine(estimates):
        best = _best(line)
        yield Case(
            where=where,
            holds=best.mean > upper.mean - ALIKE,
            measured=f"k {best.k}: {best}; original {upper}",
        )


@claimed(
    section="4.2.2",
    text="On the wines, for some k, idp-cbls even does slightly better than the original.",
    criterion="at one k or more the interval of the mean F-measure of both classes lies wholly "
    "above that of the original",
)
def _beats_the_original(estimates: Estimates, original: Estimates) -> Iterator[Case]:
    (upper,) = _both(original, WINE)
    for where, line in _on_wine(estimates):
        above = [estimate for estimate in line if upper.is_below(estimate)]
        better = ", ".join(f"k {estimate.k}: {estimate}" for estimate in above) or "none"
        best = _best(line)
        yield Case(
            where=where,
            holds=bool(above),
            measured=f"original {upper}; wholly above it: {better}; best, k {best.k}: {best}",
        )
