"""The experiments of KNOISE, section 3, and what it costs to have a guarantee instead."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

import microveil as mv
from microveil.protect.draw import draw
from microveil_papers.given import Given, joined
from microveil_papers.knoise.ages import HIGHEST, LOWEST, WIDTH, Ages
from microveil_papers.knoise.measures import Runs, distances_of_laws, linked
from microveil_papers.paper import Experiment

__all__ = [
    "EPSILONS",
    "GUARANTEED",
    "K_NOISE",
    "K_PRAM",
    "PERMUTED",
    "VARIANTS",
    "Measured",
    "Variant",
    "carry_out",
]

SEED = 659
RESOLUTION = 0.001
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
K_PRAM, K_NOISE, PERMUTED = "k-pram", "k-noise", "k-pram, permutation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A method with its choices.

    Attributes
    ----------
    name : str
    request : dict
        Arguments of `plan`.
    stays_inside : bool
        Whether values are drawn from their interval.
    """

    name: str
    request: Mapping[str, Any]
    stays_inside: bool = False


def _noise(name: str, *, resolution: float = RESOLUTION, **choices: Any) -> Variant:
    steps = {"age": resolution}
    return Variant(
        name=name, request={"method": K_NOISE, "width": WIDTH, "resolution": steps, **choices}
    )


def _pram(name: str, **choices: Any) -> Variant:
    steps = {"age": RESOLUTION}
    return Variant(
        name=name,
        request={"method": K_PRAM, "width": WIDTH, "resolution": steps, **choices},
        stays_inside=True,
    )


# The first two are the paper's.
VARIANTS = (
    _pram(K_PRAM),
    _noise(K_NOISE),
    _pram(PERMUTED, noise="permutation"),
    _noise("k-noise, triangular", noise="triangular"),
    _noise("k-noise, gaussian", noise="gaussian"),
    _noise("k-noise, laplace", noise="laplace"),
    _noise("k-noise, whole years", resolution=1),
)


def _guaranteed(name: str, method: str, **choices: Any) -> Variant:
    # The records were chosen by these bounds: they are public, whatever the ages.
    bounds = {"age": (LOWEST, HIGHEST)}
    steps = {"age": RESOLUTION}
    request = {"method": method, "bounds": bounds, "resolution": steps, **choices}
    return Variant(name=name, request=request)


# All of them keep their epsilon at vector scope.
GUARANTEED = (
    _guaranteed("laplace", "laplace"),
    _guaranteed("idp-vector, k = 25", "idp-vector", k=25, exact_cells="widen"),
    _guaranteed(
        "idp-vector, noise-aware",
        "idp-vector",
        k=3,
        partition="noise-aware",
        exact_cells="widen",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """What came out.

    Attributes
    ----------
    ages : Ages
        The originals.
    released : dict of ndarray of float64, shape (n_runs, n_records)
        By name of the variant.
    links : dict of ndarray of float64, shape (n_runs, n_records)
        Each record's chance to be linked, by name of the variant.
    fresh : ndarray of float64, shape (n_runs,)
        Kolmogorov-Smirnov distances to as many ages drawn anew from the originals.
    costs : dict of list of ndarray of float64, shape (n_runs,)
        Root mean squared errors of each run, by name of the method that keeps an epsilon, for
        each epsilon of `EPSILONS`.
    given : tuple of Given
        What those epsilons take as given.
    """

    ages: Ages
    released: Mapping[str, Runs]
    links: Mapping[str, Runs]
    fresh: Runs
    costs: Mapping[str, list[Runs]]
    given: tuple[Given, ...] = ()

    def errors(self, name: str) -> Runs:
        """Return the errors of a variant in years, shape (n_runs, n_records)."""
        return self.released[name] - self.ages.values

    def bias(self, name: str) -> Runs:
        """Return the mean error of each run, in years."""
        return np.asarray(self.errors(name).mean(axis=1))

    def mse(self, name: str) -> Runs:
        """Return the mean squared error of each run, in years squared."""
        return np.asarray((self.errors(name) ** 2).mean(axis=1))

    def rmse(self, name: str) -> Runs:
        """Return the root of the mean squared error of each run, in years."""
        return np.sqrt(self.mse(name))


def carry_out(experiment: Experiment, ages: Ages) -> Measured:
    """Draw all variants, and the methods that keep an epsilon.

    Parameters
    ----------
    experiment : Experiment
    ages : Ages
    """
    runs = experiment.runs
    total = len(VARIANTS) + len(GUARANTEED) * len(EPSILONS)
    done = _Counted(experiment=experiment, total=total)
    released = {
        variant.name: done(
            variant.name, partial(_released, _planned(ages.values, variant.request), runs)
        )
        for variant in VARIANTS
    }
    plans = {
        variant.name: [
            _planned(ages.values, {**variant.request, "epsilon": epsilon}) for epsilon in EPSILONS
        ]
        for variant in GUARANTEED
    }
    costs = {
        name: [
            done(f"{name}, epsilon {epsilon:g}", partial(_rmse, ages.values, planned, runs))
            for epsilon, planned in zip(EPSILONS, own, strict=True)
        ]
        for name, own in plans.items()
    }
    return Measured(
        ages=ages,
        released=released,
        links={name: linked(ages, drawn) for name, drawn in released.items()},
        fresh=_fresh(ages.values, runs),
        costs=costs,
        given=joined(
            Given.of_guarantee(name, planned.claim)
            for name, own in plans.items()
            for planned in own
        ),
    )


@dataclass(slots=True, kw_only=True)
class _Counted:
    """Carries steps out and reports how many are done."""

    experiment: Experiment
    total: int
    done: int = 0

    def __call__(self, what: str, step: Callable[[], Runs]) -> Runs:
        found = step()
        self.done += 1
        runs = self.experiment.runs
        self.experiment.progress(what, self.done * runs, self.total * runs)
        return found


def _planned(values: NDArray[np.float64], request: Mapping[str, Any]) -> mv.Plan:
    return mv.plan(polars.DataFrame({"age": values}), attributes=["age"], **request)


def _released(planned: mv.Plan, runs: int) -> Runs:
    """Protect the ages in many seeded runs."""
    return np.array(
        [
            draw(planned, seed=SEED + run).data["age"].to_numpy().astype(np.float64)
            for run in range(runs)
        ]
    )


def _rmse(values: NDArray[np.float64], planned: mv.Plan, runs: int) -> Runs:
    errors = _released(planned, runs) - values
    roots: Runs = np.sqrt(np.mean(errors**2, axis=1))
    return roots


def _fresh(values: NDArray[np.float64], runs: int) -> Runs:
    """Return how far off as many ages are that are drawn anew from the originals."""
    drawn = np.random.default_rng(SEED).choice(values, size=(runs, len(values)))
    return distances_of_laws(values, drawn)
