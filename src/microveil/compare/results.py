"""What a comparison found: every run, each configuration's mean with its interval, and words."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars

from microveil.compare.answer import answer_of, refusals_of
from microveil.compare.frontier import excluded_of, frontier_of
from microveil.compare.measures import Column, Measures
from microveil.compare.rows import FACTS, NAMES, as_table
from microveil.compare.store import opened, written_whole
from microveil.text.document import Document

__all__ = ["Comparison", "flat", "mean_with_interval", "summary_of"]

CONFIDENCE = 0.95
WIDTH = 100
ENDS = ("", "_low", "_high")


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
        of that mean in ``_low`` and ``_high``; see `summary_of`. With a risk also whether it is
        excluded from each frontier, see `excluded_of`.
    frontier : polars.DataFrame
        The Pareto-optimal configurations: no other of the same guarantee beats them in information
        loss and a risk.
    answer : str
        What does best, in words: Markdown, lines of at most 100 characters.
    """

    description: Mapping[str, Any]
    table: polars.DataFrame
    summary: polars.DataFrame
    frontier: polars.DataFrame
    answer: str

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], description: Mapping[str, Any]) -> "Comparison":
        """Make a comparison of the rows of its runs."""
        measures = Measures.of(description)
        table = as_table(rows, measures)
        summary = summary_of(table, measures)
        frontier = frontier_of(summary if measures.risks else _nothing())
        if measures.risks:
            summary = summary.hstack(excluded_of(summary))
        return cls(
            description=dict(description),
            table=table,
            summary=summary,
            frontier=frontier,
            answer=_document(summary, frontier, description).to_markdown(WIDTH),
        )

    @property
    def document(self) -> Document:
        """The answer as a value, which `answer` has as Markdown."""
        return _document(self.summary, self.frontier, self.description)

    def __repr__(self) -> str:
        """Name the comparison without its figures: notebooks print it."""
        runs = self.table["run"].drop_nulls().len()
        return f"Comparison({self.summary.height} configurations, {runs} runs)"

    def to_dict(self) -> dict[str, Any]:
        """Return summary, frontier and answer as JSON knows them: no NaN, no infinity."""
        return {
            "schema": 2,
            "description": dict(self.description),
            "summary": _plain_rows(self.summary),
            "frontier": _plain_rows(self.frontier),
            "answer": self.answer,
        }

    def write(self, folder: str | Path) -> Path:
        """Write the comparison to a folder that only its owner can open.

        The folder gets results.parquet (every run), comparison.json (what was compared),
        summary.csv, frontier.csv and answer.md, each of them whole or not at all.

        Parameters
        ----------
        folder : str or Path
            New, empty, or of this comparison.

        Returns
        -------
        Path

        Raises
        ------
        FileError
            If the folder holds something else or cannot be written.
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
            _write_text(folder / name, flat(table).write_csv())
        _write_text(folder / "answer.md", self.answer)


def _document(
    summary: polars.DataFrame, frontier: polars.DataFrame, description: Mapping[str, Any]
) -> Document:
    parts = (answer_of(summary, frontier, description), refusals_of(summary))
    return Document(tuple(block for part in parts for block in part.blocks))


def summary_of(table: polars.DataFrame, measures: Measures) -> polars.DataFrame:
    """Take the mean of every configuration over its runs, with a 95 % interval.

    Parameters
    ----------
    table : polars.DataFrame
        See `Comparison.table`.
    measures : Measures
        What it has columns of.

    Returns
    -------
    polars.DataFrame
        One row for every configuration. The interval is Student's, cut off where a measure cannot
        be: at 0, a percentage of links at 100, an F-measure at 1. One run has none; where nothing
        is drawn at random it is the figure itself. A measure that some run does not have has no
        mean: that of the others would be one of the runs that came out well. ``_runs`` counts
        those that have it, of the measures that a release can leave undefined.
    """
    schema: dict[str, Any] = {
        **{name: table.schema[name] for name in (*NAMES, *FACTS)},
        "runs": polars.Int64,
        **{name: kind for column in measures.all for name, kind in _columns(column).items()},
        "refused": polars.String,
    }
    configurations: dict[int, list[dict[str, Any]]] = {}
    for row in table.to_dicts():
        configurations.setdefault(row["configuration"], []).append(row)
    return polars.DataFrame(
        [_summarised(rows, measures.all) for rows in configurations.values()],
        schema=schema,
    )


def _columns(column: Column) -> dict[str, Any]:
    """Return the columns of a figure in a summary with their types."""
    ends = ENDS if column.use.varies else ("",)
    counts = {f"{column.name}_runs": polars.Int64} if column.use.counted else {}
    return {**{column.name + end: polars.Float64 for end in ends}, **counts}


def _nothing() -> polars.DataFrame:
    """Return the summary of nothing: what a comparison without a risk has a frontier of."""
    measures = Measures()
    return summary_of(as_table([], measures), measures)


def _summarised(configuration: list[dict[str, Any]], columns: Iterable[Column]) -> dict[str, Any]:
    """Take the means over the rows of a configuration."""
    runs = [row for row in configuration if row["run"] is not None]
    refusals = [row["refused"] for row in configuration if row["refused"] is not None]
    first = (runs or configuration)[0]
    found = {name: first[name] for name in (*NAMES, *FACTS)}
    found["runs"] = len(runs)
    found["refused"] = refusals[0] if refusals else None
    drawn = first["seed"] is not None
    for column in columns:
        if not column.use.varies:
            found[column.name] = first[column.name]
            continue
        figures = [row[column.name] for row in runs if row[column.name] is not None]
        if column.use.counted:
            found[f"{column.name}_runs"] = len(figures)
        ends = mean_with_interval(
            np.array(figures if len(figures) == len(runs) else [], dtype=np.float64),
            drawn=drawn or column.use.seeded,
            lowest=column.measure.lowest,
            highest=column.measure.highest,
        )
        found |= dict(zip((column.name + end for end in ENDS), ends, strict=True))
    return found


def mean_with_interval(
    figures: np.ndarray[Any, np.dtype[np.float64]],
    *,
    drawn: bool,
    highest: float,
    lowest: float = 0.0,
) -> tuple[float | None, float | None, float | None]:
    """Return the mean of some runs and the ends of its 95 % interval, None where undefined.

    Examples
    --------
    >>> mean_with_interval(np.array([1.0, 3.0]), drawn=True, highest=10.0)
    (2.0, 0.0, 10.0)
    >>> mean_with_interval(np.array([1.0]), drawn=True, highest=10.0)
    (1.0, None, None)
    >>> mean_with_interval(np.array([1.0]), drawn=False, highest=10.0)
    (1.0, 1.0, 1.0)
    """
    from scipy.special import stdtrit

    n_runs = len(figures)
    if not n_runs:
        return None, None, None
    if not drawn:  # alike in every run
        return (float(figures[0]),) * 3
    mean = float(np.mean(figures))
    if n_runs == 1 or not math.isfinite(mean):
        return mean, None, None
    quantile = float(stdtrit(n_runs - 1, (1 + CONFIDENCE) / 2))
    half = quantile * float(np.std(figures, ddof=1)) / math.sqrt(n_runs)
    return mean, max(lowest, mean - half), min(highest, mean + half)


def flat(table: polars.DataFrame) -> polars.DataFrame:
    """Write conditions by their ids: a CSV file has no lists.

    Examples
    --------
    >>> held = [{"id": "bounds"}, {"id": "cluster-sizes"}]
    >>> flat(polars.DataFrame({"conditions": [held]})).item()
    'bounds cluster-sizes'
    """
    if "conditions" not in table.columns:
        return table
    ids = polars.col("conditions").list.eval(polars.element().struct.field("id"))
    return table.with_columns(ids.list.join(" "))


def _plain_rows(table: polars.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in row.items()
        }
        for row in table.to_dicts()
    ]


def _write_text(path: Path, text: str) -> None:
    written_whole(path, lambda part: part.write_text(text, encoding="utf-8"), private=True)
