"""The answer in words: what does best under each guarantee, and how sure that is."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import polars

from microveil.compare.learnt import learnt_words
from microveil.compare.measures import Measures
from microveil.compare.measuring import LOSS, RISKS
from microveil.compare.rows import GROUPS

__all__ = ["GROUP_WORDS", "RISK_WORDS", "answer_of", "cell_words"]

WIDTH = 100
# How many cells of a frontier, and how many reasons, are told.
TOLD = 4
RISK = "record_linkage_standardised"

GROUP_WORDS = {
    "row": "Row scope",
    "vector": "Vector scope",
    "cluster": "Cluster scope",
    "none": "No epsilon",
}
GROUP_MEANS = {
    "row": "epsilon covers everything that is released, also which rows go together",
    "vector": "epsilon covers all centroids of an attribute, the clusters formed anew",
    "cluster": "epsilon covers one centroid, while everybody stays in their cluster",
    "none": "nothing is covered by an epsilon",
}
RISK_WORDS = {
    "record_linkage": "record linkage in raw units",
    "record_linkage_standardised": "record linkage, standardised",
    "record_linkage_by_rank": "record linkage by rank",
}
UNLINKED = "Record linkage was not measured: there is no frontier, and nothing is said of risk."
MODEL_WORDS = {"idp": "individual differential privacy", "dp": "differential privacy"}

Row = Mapping[str, Any]


def answer_of(
    summary: polars.DataFrame, frontier: polars.DataFrame, description: Mapping[str, Any]
) -> str:
    """Say what does best, for each guarantee and epsilon.

    Parameters
    ----------
    summary, frontier : polars.DataFrame
        See `Comparison`.
    description : dict

    Returns
    -------
    str
        Markdown, lines of at most 100 characters.
    """
    runs, seed = description.get("runs"), description.get("seed")
    measures = Measures.of(description)
    lines = [
        "# What does best",
        "",
        *_wrapped(
            f"Mean information loss over {runs} runs (100 % = as good as the means alone), with "
            f"its 95 % interval; seed {seed}. The figures depend on the data: they are the "
            "custodian's, and choosing by them is a use of the data. Scopes are told apart, "
            "since the same epsilon promises less at a weaker one."
        ),
        *([] if measures.linkage else _wrapped(UNLINKED)),
    ]
    for group in GROUPS:
        cells = [
            row
            for row in summary.filter(polars.col("scope") == group).to_dicts()
            if row[LOSS] is not None
        ]
        if not cells:
            continue
        lines += ["", f"## {GROUP_WORDS[group]}: {GROUP_MEANS[group]}"]
        for epsilon in sorted({row["epsilon"] for row in cells}, key=lambda e: e or 0.0):
            own = [row for row in cells if row["epsilon"] == epsilon]
            on_it = frontier.filter(
                (polars.col("scope") == group)
                & polars.col("epsilon").eq_missing(epsilon)
                & (polars.col("risk") == RISK)
            )
            lines += ["", *_of_epsilon(epsilon, own, on_it.to_dicts(), measures)]
    return "\n".join([*lines, *_refusals(summary)]) + "\n"


def cell_words(row: Row) -> str:
    """Name a cell: its method, steps and k."""
    steps = [step.replace("=", " ") for step in row["steps"].split(":") if step]
    size = [] if row["k"] is None else [f"k {row['k']}"]
    return ", ".join([row["method"], *steps, *size])


def _of_epsilon(
    epsilon: float | None, cells: Sequence[Row], frontier: Sequence[Row], measures: Measures
) -> list[str]:
    ranked = sorted(cells, key=lambda row: (row[LOSS], row["cell"]))
    best = ranked[0]
    words = "Least loss" if epsilon is None else f"Epsilon {epsilon:g}"
    first = f"{words}: {cell_words(best)} loses least, {_loss(best)}{_means_alone(best)}."
    told = [_cautions(best), " ".join(_beside(best, ranked))]
    if best["model"] == "idp":
        told += [_without_individual(ranked)]
    if measures.linkage:
        told += [_frontier_words(frontier)]
    if measures.labels:
        named = {row["cell"]: cell_words(row) for row in cells}
        told += [learnt_words(cells, measures.labels, named)]
    items = [line for part in told if part for line in _wrapped(f"- {part}", "  ")]
    return [*_wrapped(first), *(["", *items] if items else [])]


def _loss(row: Row) -> str:
    low, high = row[f"{LOSS}_low"], row[f"{LOSS}_high"]
    if low is None:
        return f"{_number(row[LOSS])} %"
    if low == high:
        return f"{_number(row[LOSS])} % (nothing random)"
    return f"{_number(row[LOSS])} % ({_number(low)} to {_number(high)})"


def _number(value: float) -> str:
    """Write three digits, without an exponent where that stays short."""
    return f"{value:,.0f}" if 1000 <= value < 1e9 else f"{value:.3g}"


def _means_alone(row: Row) -> str:
    return ", worse than publishing the mean in every row" if row[LOSS] > 100 else ""


def _cautions(row: Row) -> str:
    """Say what the epsilon of the best cell does not tell."""
    told = []
    if row["exact_cells"]:
        share = 100 * row["exact_cells"] / row["n_cells"]
        told.append(f"{share:.2g} % of its cells come out exactly as they are.")
    if row["scope"] == "cluster":
        loss = row["vector_loss"]
        told.append(
            "At vector scope it has no bound."
            if loss is None
            else f"At vector scope its true loss is {loss:.4g}."
        )
    return " ".join(told)


def _beside(best: Row, ranked: Sequence[Row]) -> list[str]:
    """Hold the best against the same method with another k, and against other methods."""
    same = [row for row in ranked[1:] if _choice(row) == _choice(best)]
    others = [row for row in ranked[1:] if _choice(row) != _choice(best)]
    near = sorted(row["k"] for row in same if row["k"] is not None and _overlap(best, row))
    told = []
    if near:
        which = ", ".join(str(k) for k in near)
        all_of_them = len(near) == len(same) > 1
        told.append(
            f"Within the spread of the runs: {'every other k' if all_of_them else f'k {which}'}."
        )
    if others:
        told.append(f"The next method is {cell_words(others[0])}, {_loss(others[0])}")
        told[-1] += f": {_apart(best, others[0])}."
    return told


def _choice(row: Row) -> tuple[str, str]:
    return row["method"], row["steps"]


def _overlap(best: Row, other: Row) -> bool:
    """Whether the intervals overlap; False where one has none."""
    high, low = best[f"{LOSS}_high"], other[f"{LOSS}_low"]
    return high is not None and low is not None and low <= high


def _apart(best: Row, other: Row) -> str:
    high, low = best[f"{LOSS}_high"], other[f"{LOSS}_low"]
    if high is None or low is None:
        return "one run says nothing of the spread"
    if low <= high:
        return "within the spread of the runs"
    return f"apart, {_number(low - high)} points between the intervals"


def _without_individual(ranked: Sequence[Row]) -> str:
    strict = next((row for row in ranked if row["model"] == "dp"), None)
    told = f"This is {MODEL_WORDS['idp']}"
    if strict is None:
        return f"{told}."
    return f"{told}; under {MODEL_WORDS['dp']} it is {cell_words(strict)}, {_loss(strict)}."


def _frontier_words(frontier: Sequence[Row]) -> str:
    if not frontier:
        return "None is on the frontier: a stronger guarantee does as well."
    told = [
        f"{cell_words(row)} ({_number(row[LOSS])} %, linkage {row['linkage']:.2g} %)"
        for row in frontier[:TOLD]
    ]
    more = len(frontier) - TOLD
    rest = f", and {more} more" if more > 0 else ""
    chance = frontier[0]["record_linkage_by_chance"]
    return (
        f"On the frontier with {RISK_WORDS[RISK]} ({chance:.2g} % by chance): "
        f"{'; '.join(told)}{rest}."
    )


def _refusals(summary: polars.DataFrame) -> list[str]:
    refused = summary.filter(polars.col("refused").is_not_null()).to_dicts()
    if not refused:
        return []
    lines = ["", "## Refused", "", f"{len(refused)} of {summary.height} cells:"]
    for reason in list(dict.fromkeys(row["refused"] for row in refused))[:TOLD]:
        of_it = [row for row in refused if row["refused"] == reason]
        more = f" and {len(of_it) - 1} more" if len(of_it) > 1 else ""
        epsilon = of_it[0]["epsilon"]
        at = "" if epsilon is None or math.isnan(epsilon) else f", epsilon {epsilon:g}"
        lines += _wrapped(f"- {cell_words(of_it[0])}{at}{more}: {reason}", "  ")
    left = len({row["refused"] for row in refused}) - TOLD
    return [*lines, *([f"- and {left} other reasons"] if left > 0 else [])]


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


assert set(RISK_WORDS) == set(RISKS)  # noqa: S101 -- each risk has its words
