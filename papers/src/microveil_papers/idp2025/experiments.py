"""The experiments of IDP-2025: sections 4.1 and 4.2, and both once more at vector scope."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars

import microveil as mv
from microveil_papers.idp2025.shares import shares_of
from microveil_papers.paper import Experiment

__all__ = [
    "DATA",
    "EPSILONS",
    "MEASURES",
    "QUICK_TREES",
    "Data",
    "Measured",
    "carry_out",
]

SEED = 2025
QUICK_TREES = 20
EPSILONS = (0.01, 0.1, 1.0)
ALPHAS = (1.5, 3.0)
LAPLACE, NOISE_AWARE = "laplace", "idp-vector:partition=noise-aware"
OF_THE_PAPER = (LAPLACE, "dp-um", "idp-ls", "idp-cbls")
AT_VECTOR_SCOPE = ("idp-vector", NOISE_AWARE)
# They keep their epsilon at cluster scope only: for a given loss at vector scope they get less.
AT_CLUSTER_SCOPE = ("idp-ls", "idp-cbls")
# The paper does not say what becomes of clusters of equal values, which need no noise: here they
# come out as they are, and a second time are merged with their neighbours.
WIDENED = "idp-cbls:exact_cells=widen"
CLUSTER_READINGS = ("idp-cbls", WIDENED)
LEARNT = (*OF_THE_PAPER, WIDENED, *AT_VECTOR_SCOPE)
# As printed in Eqs. 4 and 5, and by the variance alone.
MEASURES = ("mean_sse_published", "mean_sse")


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """A data set of the paper, and what is done with it.

    Attributes
    ----------
    name, title : str
    attributes : dict of str to float
        Those that are protected, and the step of each one's grid.
    class_attribute : str
    threshold : float
        Of its two classes.
    class_names : tuple of str
        As the paper calls them: up to the threshold, and above.
    sizes, learnt_sizes, equal_sizes : tuple of int
        Each k of section 4.1, of 4.2, and of 4.2 at equal epsilon at vector scope.
    quick_sizes : tuple of int
        Each k of all of them, with ``--quick``.
    learnt_alphas : tuple of float
        Of section 4.2: a forest takes its time. The first one has all methods.
    class_order : tuple of int
        In which the paper draws the classes, from left to right.
    """

    name: str
    title: str
    attributes: Mapping[str, float]
    class_attribute: str
    threshold: float
    class_names: tuple[str, str]
    sizes: tuple[int, ...]
    learnt_sizes: tuple[int, ...]
    equal_sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]
    learnt_alphas: tuple[float, ...]
    class_order: tuple[int, int]

    @property
    def labels(self) -> tuple[str, str]:
        """The classes as `compare` calls them."""
        return f"<= {self.threshold:g}", f"> {self.threshold:g}"


DATA = (
    Data(
        name="census",
        title="Census",
        attributes=dict.fromkeys(
            (
                "AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "STATETAX", "TAXINC", "POTHVAL", "INTVAL",
                "FICA",
            ),
            1,
        ),
        class_attribute="ERNVAL",
        threshold=30_000,
        class_names=("\u2264 30K", "> 30K"),
        sizes=(3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 75, 100),
        learnt_sizes=(3, 5, 15, 50, 75, 100),
        equal_sizes=(5, 50, 100),
        quick_sizes=(3, 10, 50, 100),
        learnt_alphas=ALPHAS,
        class_order=(0, 1),
    ),
    Data(
        name="wine",
        title="Wine Quality",
        # A few strengths of alcohol are written as thirds, in fourteen decimals.
        attributes=dict.fromkeys(
            (
                "fixed acidity", "volatile acidity", "citric acid", "residual sugar", "chlorides",
                "free sulfur dioxide", "total sulfur dioxide", "density", "pH", "sulphates",
                "alcohol",
            ),
            0.001,
        )
        | {"density": 0.00001},
        class_attribute="quality",
        threshold=6,
        class_names=("Not Excellent", "Excellent"),
        sizes=(3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 250, 300, 350, 400),
        learnt_sizes=(3, 5, 15, 50, 100, 400),
        equal_sizes=(5, 100, 400),
        quick_sizes=(3, 10, 100, 400),
        learnt_alphas=ALPHAS[:1],
        class_order=(1, 0),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """What came out: each table one row for a configuration, with means and intervals over runs.

    Attributes
    ----------
    errors : polars.DataFrame
        Section 4.1, with the columns of `compare`'s summary, and ``data`` and ``alpha``.
    equal_errors : polars.DataFrame
        The same for methods of cluster scope at the epsilon that gives ``vector_epsilon``.
    learnt, equal_learnt : polars.DataFrame
        Section 4.2 likewise; those of the two classes are ``f_measure_0`` and ``f_measure_1``.
    shares : polars.DataFrame
        What part each attribute has in the error.
    """

    errors: polars.DataFrame
    equal_errors: polars.DataFrame
    learnt: polars.DataFrame
    equal_learnt: polars.DataFrame
    shares: polars.DataFrame


def carry_out(experiment: Experiment) -> Measured:
    """Carry out every experiment on both data sets.

    Notes
    -----
    Random forests take nearly all of the time, and of theirs those on the wines most.
    """
    benches = {(d.name, a): _Bench.of(experiment, d, a) for d in DATA for a in ALPHAS}
    learnt_at = [(d.name, a) for d in DATA for a in d.learnt_alphas]
    total = 2 * len(benches) + len(learnt_at) + len(DATA)
    stages = (f"{number} of {total}" for number in range(1, total + 1))
    errors = {key: bench.errors(next(stages)) for key, bench in benches.items()}
    learnt = {key: benches[key].learnt(next(stages)) for key in learnt_at}
    first = [(data.name, data.learnt_alphas[0]) for data in DATA]
    return Measured(
        errors=polars.concat(errors.values()),
        equal_errors=polars.concat(
            benches[key].equal_errors(next(stages), known) for key, known in errors.items()
        ),
        learnt=polars.concat(learnt.values()),
        equal_learnt=polars.concat(
            benches[key].equal_learnt(next(stages), learnt[key]) for key in first
        ),
        shares=polars.concat(
            shares_of(experiment.tables[data.name].whole, data.title, tuple(data.attributes),
                      benches[data.name, ALPHAS[0]].arguments, experiment.runs)
            for data in DATA
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Bench:
    """A data set with its domains at one alpha, and how to compare on it."""

    experiment: Experiment
    data: Data
    alpha: float
    arguments: dict[str, Any]

    @classmethod
    def of(cls, experiment: Experiment, data: Data, alpha: float) -> "_Bench":
        frame = experiment.tables[data.name].whole
        names = list(data.attributes)
        arguments = {
            "attributes": names,
            # [0, alpha x the largest value], section 4: read from the data, which the guarantee
            # then says.
            "bounds": mv.bounds_from_data(frame.select(names), alpha),
            "resolution": dict(data.attributes),
            "outside": "clamp",
            "exact_cells": "allow",
            "linkage": False,
        }
        return cls(experiment=experiment, data=data, alpha=alpha, arguments=arguments)

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.data.quick_sizes if self.experiment.quick else self.data.sizes

    @property
    def learnt_sizes(self) -> tuple[int, ...]:
        return self.data.quick_sizes if self.experiment.quick else self.data.learnt_sizes

    @property
    def classes(self) -> dict[str, Any]:
        asked = {"classes": self.data.class_attribute, "threshold": self.data.threshold}
        return asked | ({"estimator": _small_forest()} if self.experiment.quick else {})

    def errors(self, stage: str) -> polars.DataFrame:
        """Compare all methods by their error."""
        methods = (*OF_THE_PAPER, *AT_VECTOR_SCOPE)
        return self._compared(stage, "errors", methods, self.sizes, EPSILONS)

    def learnt(self, stage: str) -> polars.DataFrame:
        """Compare methods by what a forest learns: beyond the first alpha the paper's alone."""
        methods = LEARNT if self.alpha == self.data.learnt_alphas[0] else AT_CLUSTER_SCOPE
        sizes = self.learnt_sizes
        return self._compared(stage, "forests", methods, sizes, EPSILONS, **self.classes)

    def equal_errors(self, stage: str, errors: polars.DataFrame) -> polars.DataFrame:
        """Compare the methods of cluster scope at an epsilon that is kept at vector scope."""
        return self._compared_equally(stage, "errors", errors, AT_CLUSTER_SCOPE, self.sizes)

    def equal_learnt(self, stage: str, learnt: polars.DataFrame) -> polars.DataFrame:
        """Compare what a forest learns of them likewise."""
        methods = ("idp-ls", *CLUSTER_READINGS)
        sizes = self.data.quick_sizes if self.experiment.quick else self.data.equal_sizes
        return self._compared_equally(stage, "forests", learnt, methods, sizes, **self.classes)

    def _compared_equally(
        self,
        stage: str,
        what: str,
        known: polars.DataFrame,
        methods: Sequence[str],
        sizes: Sequence[int],
        **more: Any,
    ) -> polars.DataFrame:
        """Spend so much that the exact loss of this table at vector scope is epsilon.

        The loss is in proportion to the epsilon that is spent, as scales are to its inverse.
        """
        own = known.filter(
            polars.col("name").is_in(methods),
            polars.col("k").is_in(sizes),
            polars.col("epsilon") == 1.0,
            # Where nothing bounds the loss no epsilon at vector scope can be had.
            polars.col("vector_loss").is_not_null(),
        )
        found = []
        for done, row in enumerate(own.iter_rows(named=True)):
            spent = [epsilon / row["vector_loss"] for epsilon in EPSILONS]
            grid = (row["name"],), (row["k"],), spent
            configuration = (f"{row['name'].replace(':', '-')}-{row['k']}", done, own.height)
            compared = self._compared(
                stage,
                f"{what} at equal epsilon at vector scope",
                *grid,
                configuration=configuration,
                **more,
            )
            found.append(compared.with_columns(polars.Series("vector_epsilon", EPSILONS)))
        return polars.concat(found)

    def _compared(
        self,
        stage: str,
        what: str,
        methods: Sequence[str],
        sizes: Sequence[int],
        epsilons: Sequence[float],
        *,
        configuration: tuple[str, int, int] = ("", 0, 1),
        **more: Any,
    ) -> polars.DataFrame:
        """Run a grid, or one of the many that make a stage; its runs are kept."""
        kept = self.experiment.folder / f"{self.data.name}-{self.alpha:g}-{what.replace(' ', '-')}"
        name, place, configurations = configuration
        if name:
            kept.mkdir(exist_ok=True)
        title = f"{stage}: {self.data.title}, alpha {self.alpha:g}, {what}"

        def progress(done: int, total: int) -> None:
            self.experiment.progress(title, place * total + done, configurations * total)

        found = mv.compare(
            self.experiment.tables[self.data.name].whole,
            methods=methods,
            k=list(sizes),
            epsilon=list(epsilons),
            runs=self.experiment.runs,
            seed=round(10 * (SEED + self.alpha)),  # no two domains share their draws
            folder=kept / name,
            progress=progress,
            **self.arguments,
            **more,
        )
        _check_none_refused(found.summary, self.data)
        return _tidied(found.summary, self.data, self.alpha)


def _small_forest() -> Any:
    """Make a forest for a quick look."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=QUICK_TREES)


def _check_none_refused(summary: polars.DataFrame, data: Data) -> None:
    """Stop where a configuration could not be run: a figure with holes would mislead."""
    refused = summary.drop_nulls("refused")
    if refused.height:
        first = refused.row(0, named=True)
        raise mv.DataError(
            f"data '{data.name}', {first['method']}, k {first['k']}",
            f"the configuration cannot be run ({first['refused'].rstrip('.')})",
            "pass the file as published",
        )


def _tidied(summary: polars.DataFrame, data: Data, alpha: float) -> polars.DataFrame:
    """Name rows by method and steps together, and classes by their place."""
    renamed = {
        column.replace(f"[{label}]", f"_{place}"): polars.col(column)
        for place, label in enumerate(data.labels)
        for column in summary.columns
        if f"[{label}]" in column
    }
    kept = [column for column in summary.columns if "[" not in column]
    name = (
        polars.when(polars.col("steps") == "")
        .then("method")
        .otherwise(polars.concat_str("method", "steps", separator=":"))
    )
    return summary.select(
        polars.lit(data.name).alias("data"),
        polars.lit(alpha).alias("alpha"),
        name.alias("name"),
        *kept,
        (100 * polars.col("exact_cells") / polars.col("n_cells")).alias("exact_percent"),
        **renamed,
    )
