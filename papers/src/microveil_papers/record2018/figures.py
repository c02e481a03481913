"""Errors against k: by partition, beside KANON-2013, and at equal epsilon at vector scope."""

from collections.abc import Sequence

import polars

from microveil_papers.given import SEE, clauses_of
from microveil_papers.kanon2013.experiments import LAPLACE
from microveil_papers.kanon2013.figures import (
    K_TITLE,
    TRUST,
    USUAL,
    USUAL_TITLE,
    by_method,
    written,
)
from microveil_papers.paper import Chart, Figure, Listing
from microveil_papers.record2018.experiments import (
    EARLIER,
    EPSILONS,
    NOISE_AWARE,
    OF_THE_PAPER,
    SETTINGS,
    VECTOR,
    WITHOUT_NOISE,
    Measured,
)

__all__ = ["figures_of", "guarantees_of"]

K = 10
MEAN = "An error of 1 is as good as publishing the mean in every record."


def figures_of(found: Measured) -> tuple[Figure, ...]:
    """Lay out all figures; the paper's own are not among the pages at hand."""
    return (
        Figure(
            identifier="figure-partitions",
            title="What the partitions lose, without noise",
            caption=f"MDAV and insensitive MDAV group whole records, ranking and optimal each "
            f"attribute by itself. {MEAN}",
            charts=(_row(found.partitions, WITHOUT_NOISE, ""),),
            table=written(found.partitions, "setting"),
            ours=True,
        ),
        Figure(
            identifier="figure-noisy",
            title="Error against k, beside KANON-2013",
            caption="Epsilons of equal number keep different scopes, as the table of what each "
            f"method keeps has it. {SEE} noise-aware is what we take the reformulated optimal "
            f"partition for. {MEAN} {TRUST}",
            charts=_rows(found.noisy, (LAPLACE, *OF_THE_PAPER, NOISE_AWARE, *EARLIER)),
            table=written(found.noisy, "setting"),
            ours=True,
        ),
        Figure(
            identifier="figure-vector",
            title="Error at equal epsilon at vector scope",
            caption="Every line would keep its epsilon, with what it takes as given, when one "
            "record is replaced and clusters are formed anew, for domains declared without the "
            f"data; here domains were read from it. {SEE} record-dp by ranking, optimal and "
            "noise-aware spends epsilon as it is; the exact loss of this table at vector scope is "
            "in the file of numbers. By MDAV nothing bounds that loss, so that no epsilon at "
            "vector scope can be had. "
            f"{MEAN} {TRUST}",
            charts=_rows(found.vector, VECTOR),
            table=written(found.vector, "setting"),
            ours=True,
        ),
    )


def _rows(table: polars.DataFrame, names: Sequence[str]) -> tuple[tuple[Chart, ...], ...]:
    return tuple(
        _row(table.filter(polars.col("epsilon") == epsilon), names, f"epsilon {epsilon:g}, ")
        for epsilon in EPSILONS
    )


def _row(table: polars.DataFrame, names: Sequence[str], title: str) -> tuple[Chart, ...]:
    """Draw a chart for each set of attributes."""
    return tuple(
        Chart(
            title=f"{title}{setting.title}",
            series=by_method(table.filter(polars.col("setting") == setting.name), names, USUAL),
            x_title=K_TITLE,
            y_title=USUAL_TITLE,
            logarithmic=True,
        )
        for setting in SETTINGS
    )


def guarantees_of(found: Measured) -> Listing:
    """Tabulate what each method keeps, with what it loses on this table."""
    own = found.noisy.filter(
        polars.col("setting") == SETTINGS[0].name,
        polars.col("epsilon") == 1.0,
        polars.col("k") == K,
    )
    groups = {
        release.name: dict(release.groups)[K]
        for release in found.anonymity
        if release.where == SETTINGS[0].title
    }
    promises = {promised.name: promised for promised in found.promises}
    rows = [
        (
            row["name"],
            promises[row["name"]].cluster,
            promises[row["name"]].vector,
            row["row_epsilon"],
            row["vector_loss"],
            groups.get(row["name"]),
            row[USUAL],
            clauses_of(promises[row["name"]].conditions),
        )
        for row in own.to_dicts()
    ]
    return Listing(
        identifier="guarantees",
        title="What each method keeps at epsilon 1",
        caption=f"Census, {SETTINGS[0].title}, k {K}",
        table=polars.DataFrame(
            rows,
            orient="row",
            schema={
                "method": polars.String,
                "epsilon, clusters held": polars.Float64,
                "epsilon, clusters formed anew": polars.Float64,
                "epsilon, rows seen": polars.Float64,
                "exact loss, clusters formed anew": polars.Float64,
                "fewest records alike": polars.Int64,
                "error": polars.Float64,
                "takes as given or leaves out": polars.String,
            },
        ),
        note="A dash: nothing is promised, nothing bounds the loss, or not counted. Domains were "
        "read from the data, as in the papers. The first two epsilons, and the last column with "
        "them, are those for the same domains declared without it; the exact loss holds whatever "
        "an epsilon takes as given. With domains that are read from the data nothing is promised "
        "where rows are seen, and kanon-dp, whose order of the records follows from the domains, "
        "then promises nothing for clusters formed anew either. "
        f"{SEE} Methods that form clusters for each attribute by itself do not make records "
        "k-anonymous.",
    )
