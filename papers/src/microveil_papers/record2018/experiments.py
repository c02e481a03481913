"""The methods of RECORD-2018 beside one another and beside KANON-2013, on Census."""

from dataclasses import dataclass

import polars

from microveil_papers.idp2025.experiments import DATA
from microveil_papers.kanon2013.experiments import (
    AT_VECTOR_SCOPE,
    ATTRIBUTES,
    INSENSITIVE,
    LAPLACE,
    MDAV,
    PUBLISHED,
    SEQUENTIAL,
    compared,
)
from microveil_papers.paper import Experiment
from microveil_papers.record2018.clusters import (
    Anonymity,
    Promised,
    Stability,
    anonymity_of,
    promises_of,
    stability_of,
)

__all__ = [
    "BY_MDAV",
    "EARLIER",
    "EPSILONS",
    "NOISE_AWARE",
    "OF_THE_PAPER",
    "OPTIMAL",
    "RANKING",
    "SETTINGS",
    "VECTOR",
    "WITHOUT_NOISE",
    "Measured",
    "Setting",
    "carry_out",
]

SEED = 2018
EPSILONS = (0.1, 1.0, 10.0)
SIZES = (2, 3, 5, 7, 10, 15, 20, 25, 30, 33, 36, 40, 50, 70, 100, 150, 200)
QUICK_SIZES = (2, 5, 10, 25, 33, 50, 70, 100)
VECTOR_SIZES = (3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500)
QUICK_VECTOR_SIZES = (3, 10, 30, 100)
REPLACED, QUICK_REPLACED = 100, 10
# The three of the abstract, and what we take its reformulated optimal microaggregation for.
BY_MDAV = "record-dp:partition=mdav"
OF_THE_PAPER = (BY_MDAV, "record-dp:partition=ranking", "record-dp:partition=optimal")
NOISE_AWARE = "record-dp:partition=noise-aware"
EARLIER = (PUBLISHED, SEQUENTIAL)
RANKING, OPTIMAL = "ranking", "optimal"
WITHOUT_NOISE = (MDAV, INSENSITIVE, RANKING, OPTIMAL)
VECTOR = (LAPLACE, *OF_THE_PAPER[1:], NOISE_AWARE, *(n for n in AT_VECTOR_SCOPE if n != "dp-um"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Attributes of Census that are masked together.

    Attributes
    ----------
    name, title : str
    attributes : tuple of str
    """

    name: str
    title: str
    attributes: tuple[str, ...]


SETTINGS = (
    Setting(name="four", title="four attributes", attributes=ATTRIBUTES),
    Setting(name="nine", title="nine attributes", attributes=tuple(DATA[0].attributes)),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """What came out; tables have a row for a configuration, with ``setting`` and ``name``.

    Attributes
    ----------
    noisy : polars.DataFrame
        The paper's method by partition, the one of KANON-2013 by composition, and plain noise.
    partitions : polars.DataFrame
        Microaggregation without noise.
    vector : polars.DataFrame
        What keeps its epsilon at vector scope where bounds are declared.
    stability : tuple of Stability
        How far clusters change with one value.
    anonymity : tuple of Anonymity
        How many records are alike.
    promises : tuple of Promised
        What the methods state on the first set of attributes, for declared domains.
    n_records : int
    """

    noisy: polars.DataFrame
    partitions: polars.DataFrame
    vector: polars.DataFrame
    stability: tuple[Stability, ...]
    anonymity: tuple[Anonymity, ...]
    promises: tuple[Promised, ...]
    n_records: int


def carry_out(experiment: Experiment) -> Measured:
    """Carry everything out on both sets of attributes.

    Notes
    -----
    About 10,000 runs of 1,080 records, without record linkage.
    """
    sizes = QUICK_SIZES if experiment.quick else SIZES
    vector_sizes = QUICK_VECTOR_SIZES if experiment.quick else VECTOR_SIZES
    noisy = (LAPLACE, *OF_THE_PAPER, NOISE_AWARE, *EARLIER)
    grids = {
        "noisy": (noisy, sizes, EPSILONS),
        "partitions": (WITHOUT_NOISE, sizes, ()),
        "vector": (VECTOR, vector_sizes, EPSILONS),
    }
    found: dict[str, list[polars.DataFrame]] = {name: [] for name in grids}
    stability: list[Stability] = []
    anonymity: list[Anonymity] = []
    for setting in SETTINGS:
        names = setting.attributes
        for name, (methods, each_k, epsilons) in grids.items():
            table = compared(
                experiment, f"{setting.title}, {name}", methods, each_k, epsilons,
                attributes=names, linkage=False, seed=SEED,
            )  # fmt: skip
            found[name].append(table.with_columns(setting=polars.lit(setting.name)))
        frame = experiment.tables["census"].whole.select(names)
        times = QUICK_REPLACED if experiment.quick else REPLACED
        stability += stability_of(frame, setting.title, times, SEED)
        anonymity += anonymity_of(frame, setting.title, sizes, SEED)
    first = experiment.tables["census"].whole.select(SETTINGS[0].attributes)
    return Measured(
        **{name: polars.concat(tables) for name, tables in found.items()},
        stability=tuple(stability),
        anonymity=tuple(anonymity),
        promises=tuple(promises_of(first, (*OF_THE_PAPER, NOISE_AWARE, *EARLIER))),
        n_records=experiment.tables["census"].n_records,
    )
