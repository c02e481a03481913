"""Figures 1 and 2 of KANON-2013, each once more composed in sequence, and at vector scope."""

import re
from collections.abc import Sequence

import polars

from microveil.compare.results import flat
from microveil_papers.given import SEE
from microveil_papers.kanon2013.experiments import (
    AT_VECTOR_SCOPE,
    EPSILONS,
    INSENSITIVE,
    LAPLACE,
    MDAV,
    READINGS,
    Measured,
)
from microveil_papers.paper import Chart, Figure, Series

__all__ = ["K_TITLE", "TRUST", "USUAL", "USUAL_TITLE", "by_method", "figures_of", "written"]

K_TITLE = "microaggregation level k (records)"
ERROR, ERROR_TITLE = "sse", "SSE, raw units squared (log scale)"
LINKAGE, LINKAGE_TITLE = "record_linkage", "records linked, percent (log scale)"
USUAL, USUAL_TITLE = "mean_sse", "mean SSE over variance (log scale)"
KEPT = (
    "sse", "mean_sse", "information_loss", "record_linkage", "record_linkage_standardised",
    "record_linkage_by_rank",
)  # fmt: skip
TRUST = "Vertical bars are 95 % intervals of the mean over runs."
NO_ZERO = (
    "A mean of 0 has no place on a log scale and is left out; it is in the table. By chance one "
    "in the number of records is linked."
)


def figures_of(found: Measured) -> tuple[Figure, ...]:
    """Lay out all figures."""
    return (
        _published(found, "1", ERROR, ERROR_TITLE, TRUST),
        _published(found, "2", LINKAGE, LINKAGE_TITLE, f"{TRUST} {NO_ZERO}"),
        _sequential(found),
        _vector(found),
    )


def _published(found: Measured, number: str, figure: str, title: str, note: str) -> Figure:
    """Figure 1 or 2: a figure against k, in both readings of the paper's epsilon."""
    measured = {ERROR: "SSE", LINKAGE: "record linkage"}[figure]
    table = polars.concat([found.published, found.baselines], how="diagonal")
    return Figure(
        identifier=f"figure-{number}",
        title=f"Figure {number}: Census, {measured}",
        caption="Insensitive microaggregation and Laplace noise, composed in parallel as "
        "published, and microaggregation without noise. The paper does not say which of the two "
        f"readings of epsilon it drew. {SEE} {note}",
        charts=(
            tuple(
                Chart(
                    title=reading.title,
                    series=(
                        *_by_epsilon(
                            found.published.filter(polars.col("reading") == reading.name),
                            "paper_epsilon",
                            figure,
                        ),
                        *_without_noise(found, figure),
                    ),
                    x_title=K_TITLE,
                    y_title=title,
                    logarithmic=True,
                )
                for reading in READINGS
            ),
        ),
        table=written(table, "reading", "paper_epsilon"),
    )


def _sequential(found: Measured) -> Figure:
    """Draw what both figures become where epsilon holds with clusters formed anew."""
    return Figure(
        identifier="figure-sequential",
        title="As Figures 1 and 2, composed in sequence",
        caption="With J clusters the noise is J times as wide, and the epsilon holds when one "
        "record is replaced and the clusters are formed anew, for a domain declared without the "
        f"data. Epsilon is split over the attributes. {SEE} {TRUST} {NO_ZERO}",
        charts=(
            tuple(
                Chart(
                    title=measured,
                    series=(
                        *_by_epsilon(found.sequential, "epsilon", figure),
                        *_without_noise(found, figure),
                    ),
                    x_title=K_TITLE,
                    y_title=title,
                    logarithmic=True,
                )
                for measured, figure, title in (
                    ("SSE", ERROR, ERROR_TITLE),
                    ("record linkage", LINKAGE, LINKAGE_TITLE),
                )
            ),
        ),
        table=written(polars.concat([found.sequential, found.baselines])),
        ours=True,
    )


def _vector(found: Measured) -> Figure:
    """Draw error and linkage of what keeps its epsilon at vector scope."""
    return Figure(
        identifier="figure-vector",
        title="Error and linkage at equal epsilon at vector scope",
        caption="Every line would keep its epsilon, with what it takes as given, when one record "
        "is replaced and clusters are formed anew, for domains declared without the data; laplace "
        f"needs no clusters. Here domains were read from the data, as in the paper. {SEE} An error "
        "of 1 is as good as publishing the mean. Error and linkage are to be read together: what "
        f"follows the data more closely can link more records. {TRUST} {NO_ZERO}",
        charts=tuple(
            tuple(
                Chart(
                    title=f"epsilon {epsilon:g}: {measured}",
                    series=by_method(
                        found.vector.filter(polars.col("epsilon") == epsilon),
                        (LAPLACE, *AT_VECTOR_SCOPE),
                        figure,
                    ),
                    x_title=K_TITLE,
                    y_title=title,
                    logarithmic=True,
                )
                for measured, figure, title in (
                    ("error", USUAL, USUAL_TITLE),
                    ("record linkage", LINKAGE, LINKAGE_TITLE),
                )
            )
            for epsilon in EPSILONS
        ),
        table=written(found.vector),
        ours=True,
    )


def _by_epsilon(configurations: polars.DataFrame, column: str, figure: str) -> list[Series]:
    return [
        _line(configurations.filter(polars.col(column) == epsilon), figure, f"epsilon {epsilon:g}")
        for epsilon in EPSILONS
    ]


def _without_noise(found: Measured, figure: str) -> list[Series]:
    return list(by_method(found.baselines, (MDAV, INSENSITIVE), figure))


def by_method(
    configurations: polars.DataFrame, names: Sequence[str], figure: str
) -> tuple[Series, ...]:
    """Make the lines of methods against k, those that have any configuration.

    Parameters
    ----------
    configurations : polars.DataFrame
        With column ``name``.
    names : sequence of str
        In the order of the legend.
    figure : str
        A column, with its intervals in two more.
    """
    lines = (
        _line(
            configurations.filter(polars.col("name") == name), figure, re.sub(r":\w+=", ", ", name)
        )
        for name in names
    )
    return tuple(line for line in lines if line.y)


def _line(configurations: polars.DataFrame, figure: str, title: str) -> Series:
    """Make a line against k of the configurations above 0; a level where there is no k."""
    own = configurations.filter(polars.col(figure) > 0).sort("k")
    known = own[f"{figure}_low"].null_count() == 0
    level = bool(own["k"].null_count())
    # An interval that reaches 0 or below ends where a log scale still shows it.
    floor = min(own[figure].to_list(), default=0.0)
    low, high = (
        tuple(own[f"{figure}{end}"].clip(lower_bound=floor).to_list()) if known else None
        for end in ("_low", "_high")
    )
    return Series(
        name=title,
        x=() if level else tuple(map(float, own["k"].to_list())),
        y=tuple(own[figure].to_list()),
        low=low,
        high=high,
        mark="level" if level else "line",
    )


def written(table: polars.DataFrame, *more: str) -> polars.DataFrame:
    """Keep what belongs into a figure's file.

    Parameters
    ----------
    table : polars.DataFrame
        As `compare` sums it up, with ``name``.
    *more : str
        Columns that stand after the name.
    """
    figures = [f"{name}{end}" for name in KEPT for end in ("", "_low", "_high")]
    first = ["name", *more, "k", "epsilon", "runs", "scope", "vector_loss", "exact_cells"]
    kept = [*first, *(name for name in ("conditions", *figures) if name in table.columns)]
    return flat(table.select(kept).rename({"name": "method"}))
