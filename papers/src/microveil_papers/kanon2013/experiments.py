"""The experiment of KANON-2013, section IV, and what it leaves open or does not ask."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars

import microveil as mv
from microveil_papers.paper import Experiment

__all__ = [
    "ATTRIBUTES",
    "AT_VECTOR_SCOPE",
    "EPSILONS",
    "INSENSITIVE",
    "LAPLACE",
    "MDAV",
    "PUBLISHED",
    "READINGS",
    "SEQUENTIAL",
    "SMALL_EPSILONS",
    "Measured",
    "Reading",
    "carry_out",
    "compared",
    "sizes_of",
]

SEED = 2013
ALPHA = 1.5
ATTRIBUTES = ("FICA", "FEDTAX", "INTVAL", "POTHVAL")
EPSILONS = (0.01, 0.1, 1.0, 10.0)
SMALL_EPSILONS = EPSILONS[:2]
SIZES = (1, 2, 3, 4, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100)
QUICK_SIZES = (1, 2, 5, 10, 15, 20, 25, 50, 100)
VECTOR_SIZES = (3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500)
QUICK_VECTOR_SIZES = (3, 10, 30, 100)
# One record in a thousand is linked at k 1: so rare an event wants more runs than a whole line,
# which is pooled over k.
SINGLE_TIMES = 10
LAPLACE, MDAV, INSENSITIVE = "laplace", "mdav", "mdav-insensitive"
PUBLISHED = "kanon-dp:composition=parallel"
SEQUENTIAL = "kanon-dp:composition=sequential"
AT_VECTOR_SCOPE = (
    SEQUENTIAL,
    "kanon-dp:sensitivity=vector",
    "dp-um",
    "idp-vector",
    "idp-vector:partition=noise-aware",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the paper's epsilon is taken to be.

    Attributes
    ----------
    name, title : str
    attributes_each : int
        How many times the paper's epsilon the release spends.
    """

    name: str
    title: str
    attributes_each: int


# "Treating the attributes separately" (Proposition 2) may mean either.
READINGS = (
    Reading(name="split", title="epsilon split over the four attributes", attributes_each=1),
    Reading(
        name="each",
        title="epsilon for each of the four attributes",
        attributes_each=len(ATTRIBUTES),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """What came out: a row for each configuration, the columns of `compare`'s summary and ``name``.

    Attributes
    ----------
    published : polars.DataFrame
        `kanon-dp` as the paper composes it, with ``reading`` and ``paper_epsilon``.
    single : polars.DataFrame
        Its configurations at k 1 and the small epsilons once more, of ten times as many runs.
    baselines : polars.DataFrame
        `mdav` and `mdav-insensitive`, from k 2 on.
    sequential : polars.DataFrame
        `kanon-dp` composed so that its epsilon holds when clusters are formed anew.
    vector : polars.DataFrame
        What keeps its epsilon at vector scope where bounds are declared.
    """

    published: polars.DataFrame
    single: polars.DataFrame
    baselines: polars.DataFrame
    sequential: polars.DataFrame
    vector: polars.DataFrame


def sizes_of(experiment: Experiment) -> tuple[int, ...]:
    """Return each k of Figures 1 and 2."""
    return QUICK_SIZES if experiment.quick else SIZES


def carry_out(experiment: Experiment) -> Measured:
    """Carry out section IV in both readings, and the rest.

    Notes
    -----
    About 5,000 runs of 1,080 records; the three record linkages of a run take most of the time.
    """
    sizes = sizes_of(experiment)
    published = polars.concat(_published(experiment, reading, sizes) for reading in READINGS)
    often = replace(experiment, runs=SINGLE_TIMES * experiment.runs)
    single = polars.concat(
        _published(often, reading, (1,), SMALL_EPSILONS, "k 1, ") for reading in READINGS
    )
    baselines = compared(experiment, "baselines", (MDAV, INSENSITIVE), sizes[1:])
    vector_sizes = QUICK_VECTOR_SIZES if experiment.quick else VECTOR_SIZES
    return Measured(
        published=published,
        single=single,
        baselines=baselines,
        sequential=compared(experiment, "sequential composition", (SEQUENTIAL,), sizes, EPSILONS),
        vector=compared(
            experiment, "vector scope", (LAPLACE, *AT_VECTOR_SCOPE), vector_sizes, EPSILONS
        ),
    )


def _published(
    experiment: Experiment,
    reading: Reading,
    sizes: Sequence[int],
    epsilons: Sequence[float] = EPSILONS,
    before: str = "",
) -> polars.DataFrame:
    """Run the paper's method at the epsilon that a reading makes of the paper's."""
    spent = [round(reading.attributes_each * epsilon, 6) for epsilon in epsilons]
    found = compared(experiment, f"{before}epsilon {reading.name}", (PUBLISHED,), sizes, spent)
    budgets = polars.DataFrame({"epsilon": spent, "paper_epsilon": epsilons})
    return found.join(budgets, on="epsilon", maintain_order="left").with_columns(
        reading=polars.lit(reading.name)
    )


def compared(
    experiment: Experiment,
    what: str,
    methods: Sequence[str],
    sizes: Sequence[int],
    epsilons: Sequence[float] = (),
    *,
    attributes: Sequence[str] = ATTRIBUTES,
    linkage: bool = True,
    seed: int = SEED,
) -> polars.DataFrame:
    """Run a grid on Census; its runs are kept under what it is, and found again.

    Parameters
    ----------
    experiment : Experiment
        With a table "census".
    what : str
        For the progress and the folder; a grid's own.
    methods : sequence of str
        Ids with steps.
    sizes : sequence of int
        Each k.
    epsilons : sequence of float
    attributes : sequence of str
        Masked together, on a grid of 1 and a domain from 0 to 1.5 times the largest value.
    linkage : bool
        Whether records are linked.
    seed : int

    Returns
    -------
    polars.DataFrame
        `compare`'s summary, and ``name``: method and steps together.

    Raises
    ------
    DataError
        If a configuration cannot be run, too few records for a k for example: a figure with
        holes would mislead.

    Notes
    -----
    Cost: that of `compare`.
    """
    frame = experiment.tables["census"].whole.select(attributes)
    found = mv.compare(
        frame,
        methods=methods,
        k=list(sizes),
        epsilon=list(epsilons),
        runs=experiment.runs,
        seed=seed,
        folder=experiment.folder / what.replace(",", "").replace(" ", "-"),
        progress=lambda done, total: experiment.progress(what, done, total),
        linkage=linkage,
        attributes=list(attributes),
        # Read from the data as in the paper, which the guarantee then says.
        bounds=mv.bounds_from_data(frame, ALPHA),
        resolution=dict.fromkeys(attributes, 1),
        outside="clamp",
        # The paper publishes them.
        exact_cells="allow",
    ).summary
    refused = found.drop_nulls("refused")
    if refused.height:
        first = refused.row(0, named=True)
        raise mv.DataError(
            f"data 'census', {first['method']}, k {first['k']}",
            f"the configuration cannot be run ({first['refused'].rstrip('.')})",
            "pass the file as published",
        )
    name = (
        polars.when(polars.col("steps") == "")
        .then("method")
        .otherwise(polars.concat_str("method", "steps", separator=":"))
    )
    return found.with_columns(name=name)
