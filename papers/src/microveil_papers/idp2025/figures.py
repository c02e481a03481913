"""Figures 3 to 6 of IDP-2025, and each once more at equal epsilon at vector scope."""

from collections.abc import Sequence

import polars

from microveil.compare.results import flat
from microveil_papers.given import SEE
from microveil_papers.idp2025.experiments import (
    AT_CLUSTER_SCOPE,
    AT_VECTOR_SCOPE,
    DATA,
    EPSILONS,
    LAPLACE,
    OF_THE_PAPER,
    WIDENED,
    Data,
    Measured,
)
from microveil_papers.idp2025.vector_scope import at_vector_scope
from microveil_papers.paper import Chart, Figure, Series

__all__ = ["figures_of"]

PUBLISHED, USUAL = "mean_sse_published", "mean_sse"
K_TITLE = "microaggregation level k (records)"
PUBLISHED_TITLE = "mean SSE by Eqs. 4 and 5 (log scale)"
USUAL_TITLE = "mean SSE over variance (log scale)"
TRUST = (
    "One line is one method; vertical bars are 95 % intervals of the mean over runs, and one that "
    "reaches 0 leaves the log scale below. The error of noise is heavy-tailed and cut off by the "
    "domains."
)
EQUALLY = (
    "idp-ls and idp-cbls keep their epsilon while everybody stays in their cluster. Here they "
    "spend so little that the exact loss of this table, clusters formed anew, is the epsilon named "
    "with each chart: an audit of this table, no promise for another one. dp-um, idp-vector and "
    f"laplace spend that epsilon as it is. {SEE}"
)


def figures_of(found: Measured, trees: int) -> tuple[Figure, ...]:
    """Lay out all figures; the forests had so many trees."""
    numbers = {"census": ("3", "5"), "wine": ("4", "6")}
    figures: list[Figure] = []
    for data in DATA:
        of_errors, of_forests = numbers[data.name]
        figures += [
            _errors(found, data, of_errors),
            _equal_errors(found, data, of_errors),
            _learnt(found, data, of_forests, trees),
            _equal_learnt(found, data, of_forests, trees),
        ]
    return tuple(sorted(figures, key=lambda figure: (figure.identifier[:8], figure.ours)))


def _errors(found: Measured, data: Data, number: str) -> Figure:
    """Figure 3 or 4: the error against k, epsilon by rows and alpha by columns."""
    table = found.errors.filter(
        polars.col("data") == data.name, polars.col("name").is_in(OF_THE_PAPER)
    )
    return Figure(
        identifier=f"figure-{number}",
        title=f"Figure {number}: {data.title}, mean SSE",
        caption=f"The error against k at the paper's epsilon. {SEE} {TRUST}",
        charts=tuple(
            tuple(
                _error_chart(
                    table.filter(polars.col("alpha") == alpha, polars.col("epsilon") == epsilon),
                    f"epsilon {epsilon:g}, alpha {alpha:g}",
                    OF_THE_PAPER,
                    PUBLISHED,
                )
                for alpha in table["alpha"].unique().sort()
            )
            for epsilon in EPSILONS
        ),
        table=_written(table),
    )


def _equal_errors(found: Measured, data: Data, number: str) -> Figure:
    """Draw the error at equal epsilon at vector scope."""
    own = polars.col("data") == data.name
    table = at_vector_scope(found.errors, found.equal_errors).filter(own)
    names = (*OF_THE_PAPER, *AT_VECTOR_SCOPE)
    return Figure(
        identifier=f"figure-{number}-vector",
        title=f"As Figure {number}, {data.title}: at equal epsilon at vector scope",
        caption=f"{EQUALLY} The error is the usual one: 1 is as good as publishing the mean. "
        f"{TRUST}",
        charts=tuple(
            tuple(
                _error_chart(
                    table.filter(
                        polars.col("alpha") == alpha, polars.col("vector_epsilon") == epsilon
                    ),
                    f"epsilon {epsilon:g} at vector scope, alpha {alpha:g}",
                    names,
                    USUAL,
                )
                for alpha in table["alpha"].unique().sort()
            )
            for epsilon in EPSILONS
        ),
        table=_written(table, "vector_epsilon"),
        ours=True,
    )


def _error_chart(
    configurations: polars.DataFrame, title: str, names: Sequence[str], error: str
) -> Chart:
    return Chart(
        title=title,
        series=tuple(
            _series(configurations, name, error) for name in names if _has(configurations, name)
        ),
        x_title=K_TITLE,
        y_title=PUBLISHED_TITLE if error == PUBLISHED else USUAL_TITLE,
        logarithmic=True,
    )


def _learnt(found: Measured, data: Data, number: str, trees: int) -> Figure:
    """Figure 5 or 6: the F-measure of both classes against k."""
    table = found.learnt.filter(polars.col("data") == data.name)
    shown = table.filter(polars.col("name").is_in(AT_CLUSTER_SCOPE))
    return Figure(
        identifier=f"figure-{number}",
        title=f"Figure {number}: {data.title}, F-measure of a random forest",
        caption=(
            "Trained on the first 66 % of the masked records and tested on the other original "
            f"ones; {trees} trees. The level is the same forest trained on the original records, "
            f"the shade its 95 % interval over the seeds of the forest. {SEE}"
        ),
        charts=tuple(
            tuple(_learnt_chart(shown, data, place, alpha) for place in data.class_order)
            for alpha in data.learnt_alphas
        ),
        table=_written(table),
    )


def _learnt_chart(configurations: polars.DataFrame, data: Data, place: int, alpha: float) -> Chart:
    own = configurations.filter(polars.col("alpha") == alpha)
    series = [_original(own, place)]
    for epsilon in EPSILONS:
        at = own.filter(polars.col("epsilon") == epsilon)
        series += [
            _series(at, name, f"f_measure_{place}", f"{name}, epsilon {epsilon:g}")
            for name in AT_CLUSTER_SCOPE
        ]
    return Chart(
        title=f"class {data.class_names[place]}, alpha {alpha:g}",
        series=tuple(series),
        x_title=K_TITLE,
        y_title="F-measure (0 to 1)",
    )


def _equal_learnt(found: Measured, data: Data, number: str, trees: int) -> Figure:
    """Draw what a forest learns at equal epsilon at vector scope."""
    own = polars.col("data") == data.name
    names = (*OF_THE_PAPER, WIDENED, *AT_VECTOR_SCOPE)
    table = at_vector_scope(found.learnt, found.equal_learnt).filter(own)
    shown = table.filter(polars.col("alpha") == data.learnt_alphas[0])
    return Figure(
        identifier=f"figure-{number}-vector",
        title=f"As Figure {number}, {data.title}: at equal epsilon at vector scope",
        caption=f"{EQUALLY} Domains of alpha {data.learnt_alphas[0]:g}; {trees} trees.",
        charts=tuple(
            tuple(
                Chart(
                    title=f"class {data.class_names[place]}, epsilon {epsilon:g} at vector scope",
                    series=(
                        _original(shown, place),
                        *(
                            _series(configurations, name, f"f_measure_{place}")
                            for name in names
                            if _has(configurations, name)
                        ),
                    ),
                    x_title=K_TITLE,
                    y_title="F-measure (0 to 1)",
                )
                for place in data.class_order
            )
            for epsilon in EPSILONS
            if not (
                configurations := shown.filter(polars.col("vector_epsilon") == epsilon)
            ).is_empty()
        ),
        table=_written(table, "vector_epsilon"),
        ours=True,
    )


def _has(configurations: polars.DataFrame, name: str) -> bool:
    return not configurations.filter(polars.col("name") == name).is_empty()


def _original(configurations: polars.DataFrame, place: int) -> Series:
    column = f"f_measure_original_{place}"
    first = configurations.row(0, named=True)
    ends = (first[f"{column}_low"], first[f"{column}_high"])
    known = None not in ends
    return Series(
        name="original data",
        y=(first[column],),
        low=(ends[0],) if known else None,
        high=(ends[1],) if known else None,
        mark="level",
    )


def _series(
    configurations: polars.DataFrame, name: str, figure: str, title: str | None = None
) -> Series:
    """Draw a figure of a method against k; a method without k is a level."""
    own = configurations.filter(polars.col("name") == name).drop_nulls(figure).sort("k")
    known = own[f"{figure}_low"].null_count() == 0
    low, high = (
        tuple(own[f"{figure}{end}"].to_list()) if known else None for end in ("_low", "_high")
    )
    level = name == LAPLACE
    return Series(
        name=title or name,
        x=() if level else tuple(map(float, own["k"].to_list())),
        y=tuple(own[figure].to_list()),
        low=low,
        high=high,
        mark="level" if level else "line",
    )


def _written(table: polars.DataFrame, *more: str) -> polars.DataFrame:
    """Keep what belongs into a figure's file."""
    names = [PUBLISHED, USUAL, *(f"{f}_{place}" for f in FORESTS for place in (0, 1))]
    present = [
        column
        for name in names
        for column in (name, f"{name}_low", f"{name}_high")
        if column in table.columns
    ]
    first = ["data", "name", "alpha", "k", "epsilon", *more, "runs", "scope"]
    first += [column for column in ("conditions",) if column in table.columns]
    first += ["vector_loss", "exact_percent"]
    return flat(table.select(*first, *present).rename({"name": "method"}))


FORESTS = ("f_measure", "f_measure_original", "f_measure_majority")
