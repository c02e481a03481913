"""What a comparison found: every run, each configuration's mean with its interval, and words.

Configurations are held against each other within a scope alone. Within it, a configuration is
beaten by one that guarantees at least as much (an epsilon no larger, a model no weaker, no
condition that the other has not, no delta where it has none) with no more loss and no more risk,
and less of one of them; what nothing beats is Pareto-optimal. A release whose rows follow nobody
has no record to be found again: its risk is none, by what linkage is and not by a measurement.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars
from numpy.typing import ArrayLike, NDArray

from microveil.compare.answer import answer_of
from microveil.compare.columns import (
    FACTS,
    GROUPS,
    NAMES,
    NO_SCOPE,
    RISK,
    Column,
    Measures,
    as_table,
    conditions_of,
    loss_of,
    risks_of,
)
from microveil.compare.store import opened
from microveil.errors import RequestError
from microveil.files.disk import written_text
from microveil.guarantee import Model
from microveil.measures.linkage import CHANCE
from microveil.measures.registry import MEASURES
from microveil.measures.values import mean_of, plain
from microveil.text.document import Document, Heading, Items, heading
from microveil.text.notebook import as_html, pictured

CONFIDENCE = 0.95
WIDTH = 100
ENDS = ("", "_low", "_high")
# What names a Pareto-optimal configuration.
OF_FRONTIER = (
    "scope", "configuration", "method", "steps", "k", "epsilon", "delta", "model", "is_synthetic",
    "conditions",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """Methods, k, epsilons and runs compared on one table.

    Every figure depends on the data: it is for the custodian, not for publication.

    Attributes
    ----------
    description : dict
        What was compared, as plain values: methods, k, epsilon, runs, seed, attributes,
        other arguments, and a digest of the table.
    table : polars.DataFrame
        One row for every run, by configuration and run. A configuration that was refused has one
        row whose ``refused`` says why. Columns: see docs/compare.md.
    summary : polars.DataFrame
        One row for every configuration: for each measure the mean over runs, and the 95 % interval
        of that mean in ``_low`` and ``_high``. With a risk also whether it is excluded from each
        frontier.
    frontier : polars.DataFrame
        The Pareto-optimal configurations: no other of the same guarantee beats them in loss and a
        risk.
    """

    description: Mapping[str, Any]
    table: polars.DataFrame
    summary: polars.DataFrame
    frontier: polars.DataFrame

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], description: Mapping[str, Any]) -> "Comparison":
        """Make a comparison of the rows of its runs."""
        measures = Measures.of(description)
        table = as_table(rows, measures)
        summary = summary_of(table, measures)
        frontier, excluded = frontier_of(summary), excluded_of(summary)
        summary = summary.with_columns(excluded.get_columns())
        return cls(description=dict(description), table=table, summary=summary, frontier=frontier)

    @property
    def document(self) -> Document:
        """What does best, as a value: tables, and a few sentences."""
        return answer_of(self.summary, self.frontier, self.description)

    @property
    def answer(self) -> str:
        """What does best, as Markdown."""
        return self.document.to_markdown(WIDTH)

    def plot(self, risk: str = RISK) -> Any:
        """Chart the loss against a risk, by the extra ``report``.

        Colour is for the method, a line goes along epsilon, size is for k, shape for the scope;
        filled marks are Pareto-optimal. What is chosen among the methods stays in view.

        Parameters
        ----------
        risk : str
            The id of a measure that is a risk, "record_linkage_by_rank" for example.

        Returns
        -------
        altair.LayerChart
            It depends on the data.

        Raises
        ------
        RequestError
            If there is no such risk, or nothing to draw.
        """
        if risk not in risks_of(self.summary.columns):
            known = ", ".join(risks_of(MEASURES))
            rule = "it was not measured"
            remedy = f"compare with linkage=True, and choose from {known}"
            raise RequestError(f"risk '{risk}'", rule, remedy)
        chart = pictured("comparison_plot", self, risk)
        if chart is None:
            rule = "no configuration has both a finite loss and a risk"
            raise RequestError("map", rule, "see why in the comparison's answer")
        return chart

    def __repr__(self) -> str:
        """Name the comparison without its figures: notebooks print it."""
        return f"Comparison({self._size})"

    def _repr_html_(self) -> str:
        """Show a notebook what does best by the first thing that ranks: for the custodian."""
        blocks = self.document.blocks[1:]
        places = [place for place, block in enumerate(blocks) if isinstance(block, Heading)]
        first = blocks[: places[1] if len(places) > 1 else None]
        sentences = [block for block in blocks[len(first) :] if isinstance(block, Items)]
        title = f"Comparison of {self._size} (for the custodian, not for logs)"
        return as_html([heading(1, title), *first, *sentences[:1]])

    @property
    def _size(self) -> str:
        runs = self.table["run"].drop_nulls().len()
        return f"{self.summary.height} configurations, {runs} runs"

    def to_dict(self) -> dict[str, Any]:
        """Return summary, frontier and answer as JSON knows them: no NaN, no infinity."""
        return {
            "schema": 2,
            "description": dict(self.description),
            "summary": plain(self.summary.to_dicts()),
            "frontier": plain(self.frontier.to_dicts()),
            "answer": self.answer,
        }

    def write(self, folder: str | Path) -> Path:
        """Write the comparison to a folder that only its owner can open.

        The folder gets results.parquet (every run), comparison.json (what was compared),
        summary.csv, frontier.csv and answer.md, each of them whole or not at all. It is new,
        empty, or of this comparison; else that is a `FileError`.
        """
        path = Path(folder)
        with opened(path, self.description) as store:
            store.rows = self.table.to_dicts()
            store.save()
            self.write_beside(path)
        return path

    def write_beside(self, folder: Path) -> None:
        """Write what follows from the results into their folder."""
        for name, table in (("summary.csv", self.summary), ("frontier.csv", self.frontier)):
            written_text(folder / name, flat(table).write_csv().rstrip("\n"))
        written_text(folder / "answer.md", self.answer.rstrip("\n"))


def summary_of(table: polars.DataFrame, measures: Measures) -> polars.DataFrame:
    """Take the mean of every configuration over its runs, with a 95 % interval.

    It is Student's, cut off where a measure ends; where nothing is drawn, the figure itself. A
    measure that some run lacks has no mean: that of the others would be of those that came out
    well. ``_runs`` counts those that have it.
    """
    schema = {**NAMES, **FACTS, "runs": polars.Int64}
    for column in measures.all:
        use = column.measure.use
        schema |= {column.name + end: polars.Float64 for end in (ENDS if use.varies else ENDS[:1])}
        schema |= {f"{column.name}_runs": polars.Int64} if use.counted else {}
    configurations = table.partition_by("configuration", maintain_order=True)
    rows = [_summarised(own.to_dicts(), measures.all) for own in configurations]
    return polars.DataFrame(rows, schema={**schema, "refused": polars.String})


def _summarised(configuration: list[dict[str, Any]], columns: Iterable[Column]) -> dict[str, Any]:
    """Take the means over the rows of a configuration."""
    runs = [row for row in configuration if row["run"] is not None]
    first = (runs or configuration)[0]
    found = {name: first[name] for name in (*NAMES, *FACTS)} | {"runs": len(runs)}
    found["refused"] = next(filter(None, (row["refused"] for row in configuration)), None)
    for column in columns:
        name, measure = column.name, column.measure
        figures = [row[name] for row in runs if row[name] is not None]
        mean = mean_with_interval(
            np.array(figures if len(figures) == len(runs) else [], dtype=np.float64),
            drawn=first["seed"] is not None or measure.use.seeded,
            lowest=measure.lowest,
            highest=measure.highest,
        )
        found |= dict(zip((name + end for end in ENDS), mean, strict=True))
        if not measure.use.varies:
            found[name] = first[name]
        found[f"{name}_runs"] = len(figures)
    return found


def mean_with_interval(
    figures: np.ndarray[Any, np.dtype[np.float64]],
    *,
    drawn: bool,
    highest: float,
    lowest: float = 0.0,
) -> tuple[float | None, float | None, float | None]:
    """Return the mean of some runs and the ends of its 95 % interval, None where undefined."""
    if not len(figures):
        return None, None, None
    if not drawn:  # alike in every run
        return (float(figures[0]),) * 3
    mean = mean_of(figures, CONFIDENCE)
    if len(figures) == 1 or not math.isfinite(mean.value):
        return mean.value, None, None
    return mean.value, max(lowest, mean.interval[0]), min(highest, mean.interval[1])


def flat(table: polars.DataFrame) -> polars.DataFrame:
    """Write conditions by their ids: a CSV file has no lists."""
    if "conditions" not in table.columns:
        return table
    ids = polars.col("conditions").list.eval(polars.element().struct.field("id"))
    return table.with_columns(ids.list.join(" "))


def beaten(
    losses: ArrayLike,
    risks: ArrayLike,
    epsilons: ArrayLike,
    strengths: ArrayLike,
    conditions: ArrayLike,
) -> NDArray[np.bool_]:
    """Say which configurations another one beats by more than the spread of the runs.

    Losses and risks (n, 3) are means with ends of intervals, which reach everywhere if NaN. Beaten
    is what one that guarantees as much, and has no condition more, has a mean loss and a mean risk
    no larger than, and an interval of either that ends below its own.
    """
    epsilon, strength = (np.asarray(part, dtype=np.float64) for part in (epsilons, strengths))
    hangs = np.asarray(conditions, dtype=np.bool_).reshape(len(epsilon), -1)
    both = [np.asarray(part, dtype=np.float64).reshape(-1, 3) for part in (losses, risks)]
    # Rows are who may beat, columns who may be beaten.
    no_weaker = (epsilon[:, None] <= epsilon) & (strength[:, None] >= strength)
    no_weaker &= (hangs[:, None] <= hangs).all(axis=2)
    no_worse = np.all([own[:, 0, None] <= own[:, 0] for own in both], axis=0)
    apart = np.any([own[:, 2, None] < own[:, 1] for own in both], axis=0)  # never where one is NaN
    found: NDArray[np.bool_] = np.any(no_weaker & no_worse & apart, axis=0)
    return found


def _held(
    summary: polars.DataFrame,
) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]]:
    """Yield each risk, rows of a scope, which are Pareto-optimal, and which are off for certain."""
    loss = loss_of(summary).id
    for scope, risk in product(GROUPS, risks_of(summary.columns)):
        known = polars.col(risk).is_not_null() | polars.col("is_synthetic")
        own = summary.with_row_index("row").filter(known, ~polars.col(loss).is_null(), scope=scope)
        if own.is_empty():
            continue
        linked = (polars.when("is_synthetic").then(0.0).otherwise(risk + end) for end in ENDS)
        both = (
            own.select(loss + end for end in ENDS).to_numpy(),
            own.select(one.alias(end) for one, end in zip(linked, ENDS, strict=True)).to_numpy(),
        )
        held = [
            {condition.id for condition in conditions_of(row)}
            | ({"delta"} if row["delta"] else set())
            for row in own.to_dicts()
        ]
        guarantees = (
            # An epsilon that nothing is kept of makes no configuration stronger than another.
            np.zeros(own.height) if scope == NO_SCOPE else own["epsilon"].to_numpy(),
            [float(Model(model).strength) for model in own["model"]],
            [[one in conditions for one in sorted(set().union(*held))] for conditions in held],
        )
        losses, risks = (np.repeat(part[:, :1], 3, axis=1) for part in both)
        optimal = ~beaten(losses, risks, *guarantees)
        yield risk, own["row"].to_numpy(), optimal, beaten(both[0], both[1], *guarantees)


def excluded_of(summary: polars.DataFrame) -> polars.DataFrame:
    """Say by risk, in a column each, which configurations are off its frontier for certain."""
    columns = [f"excluded[{risk}]" for risk in risks_of(summary.columns)]
    found = {name: dict[int, bool]() for name in columns}
    for risk, rows, _, excluded in _held(summary):
        found[f"excluded[{risk}]"] |= zip(rows.tolist(), excluded.tolist(), strict=True)
    each = {name: [*map(own.get, range(summary.height))] for name, own in found.items()}
    return polars.DataFrame(each, schema=dict.fromkeys(columns, polars.Boolean))


def frontier_of(summary: polars.DataFrame) -> polars.DataFrame:
    """Find what is Pareto-optimal in the loss and each risk, in each scope.

    ``linkage`` is the figure of the risk, null where rows follow nobody.
    """
    loss = loss_of(summary).id
    unmeasured = {CHANCE, *(RISK + end for end in ENDS)} - {*summary.columns}
    whole = summary.with_columns(
        polars.lit(None, polars.Float64).alias(name) for name in unmeasured
    )

    def named(configurations: polars.DataFrame, risk: str) -> polars.DataFrame:
        return configurations.select(
            *OF_FRONTIER,
            polars.lit(risk).alias("risk"),
            *(loss + end for end in ENDS),
            *(polars.col(risk + end).alias("linkage" + end) for end in ENDS),
            CHANCE,
        ).sort("epsilon", loss, "configuration", nulls_last=True)

    optimal = (named(whole[rows[kept]], risk) for risk, rows, kept, _ in _held(summary))
    return polars.concat([named(whole.clear(), RISK), *optimal])
