"""The experiments of IDP-2025: sections 4.1 and 4.2, and both once more at vector scope."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars

from microveil.analyses import named_classifier
from microveil.compare import compare
from microveil.errors import DataError
from microveil.reproduce.paper import Experiment
from microveil.table import bounds_from_data

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
FOREST, QUICK_TREES = "sklearn.ensemble.RandomForestClassifier", 20
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
LEARNT = (*OF_THE_PAPER, WIDENED, NOISE_AWARE)
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
    sizes, learnt_sizes : tuple of int
        Each k of section 4.1, and of 4.2.
    quick_sizes : tuple of int
        Each k of both, with ``--quick``.
    learnt_alphas : tuple of float
        Of section 4.2: a forest takes its time.
    """

    name: str
    title: str
    attributes: Mapping[str, float]
    class_attribute: str
    threshold: float
    class_names: tuple[str, str]
    sizes: tuple[int, ...]
    learnt_sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]
    learnt_alphas: tuple[float, ...]

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
        learnt_sizes=(3, 5, 10, 15, 25, 50, 75, 100),
        quick_sizes=(3, 10, 50, 100),
        learnt_alphas=ALPHAS,
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
        learnt_sizes=(3, 5, 10, 15, 50, 100, 400),
        quick_sizes=(3, 10, 100, 400),
        learnt_alphas=(1.5,),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measured:
    """What came out: each table one row for a cell, with means and intervals over runs.

    Attributes
    ----------
    errors : polars.DataFrame
        Section 4.1, with the columns of `compare`'s summary, and ``data`` and ``alpha``.
    equal_errors : polars.DataFrame
        The same for methods of cluster scope at the epsilon that gives ``vector_epsilon``.
    learnt, equal_learnt : polars.DataFrame
        Section 4.2 likewise; F-measures of the two classes are ``f_0`` and ``f_1``.
    """

    errors: polars.DataFrame
    equal_errors: polars.DataFrame
    learnt: polars.DataFrame
    equal_learnt: polars.DataFrame


def carry_out(experiment: Experiment) -> Measured:
    """Carry out every experiment on both data sets.

    Notes
    -----
    Random forests take nearly all of the time, and of theirs those on the wines most.
    """
    found: dict[str, list[polars.DataFrame]] = {
        name: [] for name in ("errors", "equal_errors", "learnt", "equal_learnt")
    }
    for data in DATA:
        for alpha in ALPHAS:
            bench = _Bench.of(experiment, data, alpha)
            errors = bench.errors()
            found["errors"].append(errors)
            found["equal_errors"].append(bench.equal_errors(errors))
    for data in DATA:
        for alpha in data.learnt_alphas:
            bench = _Bench.of(experiment, data, alpha)
            learnt = bench.learnt()
            found["learnt"].append(learnt)
            found["equal_learnt"].append(bench.equal_learnt(learnt))
    return Measured(**{name: polars.concat(tables) for name, tables in found.items()})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Bench:
    """A data set with its domains at one alpha, and how to compare on it."""

    experiment: Experiment
    data: Data
    alpha: float
    arguments: dict[str, Any]

    @classmethod
    def of(cls, experiment: Experiment, data: Data, alpha: float) -> "_Bench":
        frame = experiment.tables[data.name].frame
        names = list(data.attributes)
        arguments = {
            "attributes": names,
            # [0, alpha x the largest value], section 4: read from the data, which the guarantee
            # then says.
            "bounds": bounds_from_data(frame.select(names), alpha),
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

    def errors(self) -> polars.DataFrame:
        """Compare all methods by their error."""
        methods = (*OF_THE_PAPER, *AT_VECTOR_SCOPE)
        return self._compared("errors", methods, self.sizes, EPSILONS)

    def learnt(self) -> polars.DataFrame:
        """Compare methods by what a forest learns."""
        return self._compared("forests", LEARNT, self.learnt_sizes, EPSILONS, **self.classes)

    def equal_errors(self, errors: polars.DataFrame) -> polars.DataFrame:
        """Compare the methods of cluster scope at an epsilon that is kept at vector scope."""
        return polars.concat(self._compared_equally(errors, AT_CLUSTER_SCOPE, f"errors at {WORDS}"))

    def equal_learnt(self, learnt: polars.DataFrame) -> polars.DataFrame:
        """Compare what a forest learns of them likewise."""
        return polars.concat(
            self._compared_equally(learnt, ("idp-cbls",), f"forests at {WORDS}", **self.classes)
        )

    def _compared_equally(
        self, known: polars.DataFrame, methods: Sequence[str], what: str, **more: Any
    ) -> Iterator[polars.DataFrame]:
        """Spend so much that the exact loss of this table at vector scope is epsilon.

        The loss is in proportion to the epsilon that is spent, as scales are to its inverse.
        """
        own = known.filter(polars.col("name").is_in(methods), polars.col("epsilon") == 1.0)
        for row in own.iter_rows(named=True):
            if row["vector_loss"] is None:
                continue  # nothing bounds it: no epsilon at vector scope can be had
            spent = [epsilon / row["vector_loss"] for epsilon in EPSILONS]
            cell = f"{row['name']}-{row['k']}"
            found = self._compared(what, (row["name"],), (row["k"],), spent, cell=cell, **more)
            yield found.with_columns(polars.Series("vector_epsilon", EPSILONS))

    def _compared(
        self,
        what: str,
        methods: Sequence[str],
        sizes: Sequence[int],
        epsilons: Sequence[float],
        *,
        cell: str = "",
        **more: Any,
    ) -> polars.DataFrame:
        """Run a grid; its runs are kept, and found again by a later call."""
        kept = self.experiment.folder / f"{self.data.name}-{self.alpha:g}-{what.replace(' ', '-')}"
        if cell:
            kept.mkdir(exist_ok=True)
        found = compare(
            self.experiment.tables[self.data.name].frame,
            methods=methods,
            k=list(sizes),
            epsilon=list(epsilons),
            runs=self.experiment.runs,
            seed=SEED,
            folder=kept / cell,
            progress=self._progress(what),
            **self.arguments,
            **more,
        )
        _check_none_refused(found.summary, self.data)
        return _tidied(found.summary, self.data, self.alpha)

    def _progress(self, what: str) -> Callable[[int, int, float | None], None]:
        title = f"{self.data.title}, alpha {self.alpha:g}, {what}"
        return lambda done, total, left: self.experiment.progress(title, done, total, left)


WORDS = "equal vector-scope epsilon"


def _small_forest() -> Any:
    """Make a forest for a quick look."""
    return named_classifier(FOREST).set_params(n_estimators=QUICK_TREES)


def _check_none_refused(summary: polars.DataFrame, data: Data) -> None:
    """Stop where a cell could not be run: a figure with holes would mislead."""
    refused = summary.drop_nulls("refused")
    if refused.height:
        first = refused.row(0, named=True)
        raise DataError(
            f"data '{data.name}', {first['method']}, k {first['k']}",
            f"the cell cannot be run ({first['refused'].rstrip('.')})",
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
