"""Table 1 of KNOISE beside ours; other laws of noise, risk, and the price of epsilon."""

import math
from itertools import pairwise

import numpy as np
import polars

from microveil_papers.given import SEE
from microveil_papers.knoise.ages import Ages
from microveil_papers.knoise.error_claims import FIGURES, PUBLISHED, critical_distance
from microveil_papers.knoise.experiments import (
    EPSILONS,
    GUARANTEED,
    K_NOISE,
    K_PRAM,
    VARIANTS,
    Measured,
    Variant,
)
from microveil_papers.knoise.measures import best_guesses, distances_of_laws, within
from microveil_papers.knoise.spread import Spread, spread_of
from microveil_papers.paper import Listing

__all__ = ["epsilon_at", "expected_mse", "listings_of"]


def listings_of(found: Measured) -> tuple[Listing, ...]:
    """Lay out all tables."""
    return _table_1(found), _laws(found), _risks(found), _epsilons(found)


def expected_mse(ages: Ages, variant: Variant) -> float:
    """Return the mean squared error that theory expects, in years squared.

    delta^2/3 of k-noise, whatever the law; twice the variance within the intervals of k-pram,
    whose draws are as far from the interval's mean as the originals.
    """
    if variant.stays_inside:
        return 2 * float(np.mean(ages.deviations**2))
    return ages.delta**2 / 3


def _table_1(found: Measured) -> Listing:
    rows = []
    for variant in VARIANTS[: len(PUBLISHED)]:
        expected = expected_mse(found.ages, variant)
        theory = {"bias": 0.0, "MSE": expected, "RMSE": math.sqrt(expected)}
        for label, figure in FIGURES.items():
            ours = spread_of(figure(found, variant.name))
            rows.append(
                (
                    variant.name,
                    label,
                    PUBLISHED[variant.name][label],
                    ours.mean,
                    _interval(ours),
                    f"{ours.least:.4f} to {ours.greatest:.4f}",
                    theory[label],
                )
            )
    return Listing(
        identifier="table-1",
        title="Table 1: bias and error of both methods",
        caption="In years, MSE in years squared; the paper's single run beside many of ours",
        table=polars.DataFrame(
            rows,
            orient="row",
            schema=["method", "figure", "paper", "ours", "interval", "single runs", "theory"],
        ),
        note="Interval: 95 % of the mean over runs. Single runs: where the middle 95 % of them "
        "lie. Theory: delta squared over 3 for k-noise, for k-pram twice the variance of ages "
        "within their intervals. Its ages are others than ours.",
    )


def _laws(found: Measured) -> Listing:
    values = found.ages.values
    rows = []
    for variant in VARIANTS:
        released = found.released[variant.name]
        outside = np.mean((released < values.min()) | (released > values.max()))
        rows.append(
            (
                variant.name,
                str(spread_of(found.bias(variant.name))),
                str(spread_of(found.rmse(variant.name))),
                math.sqrt(expected_mse(found.ages, variant)),
                str(spread_of(distances_of_laws(values, released))),
                float(100 * outside),
                float(np.abs(found.errors(variant.name)).max()),
            )
        )
    return Listing(
        identifier="laws",
        title="Other laws of noise, and permutation (not in the paper)",
        caption="Means over runs with 95 % intervals; all laws have the same variance",
        table=polars.DataFrame(
            rows,
            orient="row",
            schema=[
                "method",
                "bias (years)",
                "RMSE (years)",
                "RMSE by theory",
                "KS distance",
                "outside the originals (%)",
                "farthest move (years)",
            ],
        ),
        note="Permutation keeps the distribution exactly, and the bias is 0 in every run. Of "
        "whole years k-noise has five to draw from, with a lower variance. KS distance: of "
        "Kolmogorov and Smirnov, to the originals; as many ages drawn anew from these are off by "
        f"{spread_of(found.fresh)}, and {critical_distance(len(values)):.3g} is what 5 % of "
        "independent samples exceed.",
    )


def _risks(found: Measured) -> Listing:
    ages = found.ages
    chance = 100 / len(ages.values)
    rows = []
    for variant in VARIANTS:
        released, links = found.released[variant.name], found.links[variant.name]
        linked = spread_of(100 * links.mean(axis=1))
        near = within(released, ages.values, ages.delta).mean(axis=0)
        guess = (
            spread_of(best_guesses(ages, released, stays_inside=variant.stays_inside))
            if _known(variant)
            else None
        )
        rows.append(
            (
                variant.name,
                str(linked),
                linked.mean / chance,
                float(100 * links.mean(axis=0).max()),
                None if guess is None else str(guess),
                float(near.mean()),
                float(near.min()),
                "none at any scope",
            )
        )
    return Listing(
        identifier="risk",
        title="What no guarantee covers: risk beside chance (not in the paper)",
        caption="An intruder knows all original ages and links a released one to the nearest; "
        f"blind guessing links {chance:.3g} %",
        table=polars.DataFrame(
            rows,
            orient="row",
            schema=[
                "method",
                "linked (%)",
                "times chance",
                "most linked record (%)",
                "error of best guess (years)",
                "originals within delta, mean",
                "originals within delta, least",
                "epsilon",
            ],
        ),
        note="Most linked record: the share of runs in which the record that is found most often "
        "is found. Best guess: of one who knows how ages are distributed, but not whose is which, "
        "as a root mean squared error. k-pram and k-noise keep no epsilon at any scope: intervals "
        "follow the data, and noise of bounded reach rules out for certain what lies beyond it.",
    )


def _known(variant: Variant) -> bool:
    """Say whether the best guess is known in closed form."""
    return variant.stays_inside or variant.name == K_NOISE


def _epsilons(found: Measured) -> Listing:
    levels = {name: float(found.rmse(name).mean()) for name in (K_PRAM, K_NOISE)}
    rows = []
    for variant in GUARANTEED:
        means = [float(costs.mean()) for costs in found.costs[variant.name]]
        rows.append(
            (variant.name, *(_epsilon_words(epsilon_at(means, level)) for level in levels.values()))
        )
    return Listing(
        identifier="epsilon",
        title="Which epsilon at vector scope has the same error (not in the paper)",
        caption="The epsilon at which a method's mean RMSE is that of k-pram or k-noise",
        table=polars.DataFrame(
            rows,
            orient="row",
            schema=[
                "method",
                *(f"as {name} ({level:.3g} years)" for name, level in levels.items()),
            ],
        ),
        note="Read between the epsilons of the figure, along straight lines of logarithms. k-pram "
        "and k-noise keep no epsilon, neither this nor another one: equal error is not equal "
        f"protection. {SEE} Of two methods whose epsilons hang on the same, the one with the "
        "smaller number is the better: it has the same error with a stronger guarantee.",
    )


def epsilon_at(errors: list[float], level: float) -> float | None:
    """Return the epsilon at which falling errors reach a level; None beyond those of `EPSILONS`.

    Parameters
    ----------
    errors : list of float
        One for each epsilon of `EPSILONS`.
    level : float
        Above 0.

    Examples
    --------
    >>> epsilon_at([64.0, 32.0, 16.0, 8.0, 4.0, 2.0, 1.0], 8.0)
    1.0
    """
    for place, (before, after) in enumerate(pairwise(errors)):
        if before >= level >= after:
            low, high = EPSILONS[place], EPSILONS[place + 1]
            if before == after:
                return low
            share = math.log(before / level) / math.log(before / after)
            return float(low * (high / low) ** share)
    return None


def _epsilon_words(epsilon: float | None) -> str:
    if epsilon is None:
        return f"not from {EPSILONS[0]:g} to {EPSILONS[-1]:g}"
    return f"about {epsilon:.2g}"


def _interval(spread: Spread) -> str:
    return f"{spread.low:.4f} to {spread.high:.4f}"
