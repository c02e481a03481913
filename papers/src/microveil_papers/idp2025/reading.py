"""What the claims of IDP-2025 go through, and how those of section 4.1 read the errors."""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

from microveil_papers.estimates import Estimate, Ratio, ratio_of
from microveil_papers.idp2025.experiments import ALPHAS, DATA, EPSILONS

__all__ = [
    "ALIKE",
    "SIMILAR",
    "Choice",
    "Estimates",
    "alike",
    "least",
    "of_methods",
    "over_alphas",
    "over_data",
    "over_domains",
    "over_epsilons",
    "settings",
    "with_epsilons",
]

# Returns those of the method, data, alpha and epsilon that are chosen, by k.
Estimates = Callable[..., list[Estimate]]
# What is chosen of method, data, alpha and epsilon: in words, and by name.
Choice = tuple[str, dict[str, Any]]
# Factors up to which two errors are taken for alike, and for similar.
ALIKE, SIMILAR = 1.25, 3.0


def settings() -> Iterator[Choice]:
    """Go through data, alpha and epsilon, each with its name."""
    return with_epsilons(over_alphas())


def over_alphas() -> Iterator[Choice]:
    """Go through data and alpha."""
    for (where, at), alpha in product(over_data(), ALPHAS):
        yield f"{where}, alpha {alpha:g}", at | {"alpha": alpha}


def over_epsilons() -> Iterator[Choice]:
    """Go through data and epsilon."""
    return with_epsilons(over_data())


def over_data() -> Iterator[Choice]:
    """Go through the data."""
    for data in DATA:
        yield data.title, {"data": data.name}


def with_epsilons(
    choices: Iterable[Choice], epsilons: Iterable[float] = EPSILONS
) -> Iterator[Choice]:
    """Go through the epsilons with each choice."""
    for (where, at), epsilon in product(choices, epsilons):
        yield f"{where}, epsilon {epsilon:g}", at | {"epsilon": epsilon}


def of_methods(names: Iterable[str], choices: Iterable[Choice]) -> Iterator[Choice]:
    """Go through the choices for each method."""
    for name, (where, at) in product(names, choices):
        yield f"{name}: {where}", at | {"name": name}


def alike(ratio: float, factor: float = ALIKE) -> bool:
    """Say whether a ratio is within a factor of 1."""
    return 1 / factor <= ratio <= factor


def over_domains(estimates: Estimates, name: str, data: str, epsilon: float) -> tuple[Ratio, str]:
    """Return by how much the error at alpha 3 exceeds that at 1.5, over k.

    Of a method without k it is the ratio of two estimates, as wide as their intervals allow.
    """
    wide, narrow = (
        estimates(name=name, data=data, epsilon=epsilon, alpha=alpha) for alpha in reversed(ALPHAS)
    )
    if len(wide) > 1:
        ratio = ratio_of(wide, narrow)
        return ratio, f"{name} {ratio}"
    (above,), (below,) = wide, narrow
    known = above.has_interval and below.has_interval
    found = Ratio(
        mean=above.mean / below.mean,
        low=above.low / below.high if known else 0.0,
        high=above.high / below.low if known and below.low > 0 else math.inf,
    )
    return found, f"{name} {found.mean:.3g} [{found.low:.3g}, {found.high:.3g}]"


def least(line: list[Estimate]) -> Estimate:
    """Return the estimate of the least mean error."""
    return min(line, key=lambda estimate: estimate.mean)
