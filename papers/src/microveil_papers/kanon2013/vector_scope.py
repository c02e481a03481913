"""What the paper does not ask: its least errors, and what its epsilon is at vector scope."""

from collections.abc import Iterator
from typing import Any

import polars

from microveil_papers.given import SEE
from microveil_papers.kanon2013.experiments import EPSILONS, READINGS, Measured
from microveil_papers.paper import Listing

__all__ = ["least_errors_of", "losses_of"]

ERROR, LINKAGE = "mean_sse", "record_linkage"


def least_errors_of(found: Measured) -> Listing:
    """Tabulate each method's least error over k, at equal epsilon at vector scope."""
    return Listing(
        identifier="vector-scope",
        title="The least errors at equal epsilon at vector scope",
        caption="Mean SSE over variance at the k that did best (1 is as good as publishing the "
        "mean in every record), and the records linked there",
        table=polars.DataFrame(
            list(_least_errors(found.vector)),
            orient="row",
            schema={
                "epsilon, method": polars.String,
                "k": polars.Int64,
                "error": polars.Float64,
                "interval": polars.String,
                "linked, percent": polars.Float64,
            },
        ),
        note="The best k was chosen by the error itself, which flatters each of them a little. "
        "Domains were read from the data, as in the paper: at vector scope these epsilons would "
        f"hold for domains declared without it, with what they take as given. {SEE}",
    )


def _least_errors(table: polars.DataFrame) -> Iterator[tuple[Any, ...]]:
    for epsilon in EPSILONS:
        own = table.filter(polars.col("epsilon") == epsilon)
        for name in own["name"].unique(maintain_order=True):
            best = own.filter(polars.col("name") == name).sort(ERROR).row(0, named=True)
            low, high = best[f"{ERROR}_low"], best[f"{ERROR}_high"]
            interval = None if low is None else f"{low:.3g} to {high:.3g}"
            yield f"{epsilon:g}, {name}", best["k"], best[ERROR], interval, best[LINKAGE]


def losses_of(found: Measured) -> Listing:
    """Tabulate what epsilon 1 really loses when clusters are formed anew."""
    tables = (
        found.published.filter(polars.col("reading") == READINGS[0].name),
        found.sequential,
    )
    parallel, sequential = (
        {
            row["k"]: row["vector_loss"]
            for row in table.filter(polars.col("epsilon") == 1.0).to_dicts()
        }
        for table in tables
    )
    n_records = round(100 / found.published["record_linkage_by_chance"][0])
    return Listing(
        identifier="losses",
        title="What epsilon 1 is when clusters are formed anew",
        caption="Exact loss of this table at vector scope, when one record is replaced by any of "
        "the domain, by composition over clusters; epsilon 1 split over the attributes",
        table=polars.DataFrame(
            {
                "k": list(parallel),
                "clusters": [n_records // k for k in parallel],
                "parallel, as published": list(parallel.values()),
                "sequential": [sequential[k] for k in parallel],
            }
        ),
        note="Parallel composition promises at most as many times epsilon as there are clusters, "
        "sequential composition epsilon itself, for domains declared without the data. At k 1 "
        "rows follow one record each, and what passes from cluster to cluster is not seen in them. "
        f"{SEE}",
    )
