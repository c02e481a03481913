"""What does best under each guarantee: a table for whatever ranks, and a few sentences."""

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars

from microveil.compare.columns import (
    GROUPS,
    NO_SCOPE,
    RISK,
    Column,
    Measures,
    conditions_in_common,
    loss_of,
    own_conditions,
    risk_of,
)
from microveil.guarantee import Condition, Model
from microveil.measures.base import Better
from microveil.measures.learning import F_MAJORITY, F_MEASURE, F_ORIGINAL
from microveil.measures.registry import MEASURES
from microveil.measures.values import plain
from microveil.text.document import Document
from microveil.text.figures import NOTHING, figure
from microveil.text.templates import document_of

MODELS = {"dp": "DP", "idp": "iDP", "k-anonymity": "k-anon.", "none": "none"}
# How many classes are ranked by, and how many reasons of refusals are told.
MOST_NAMED = 4
# By what the best is known: highest, lowest or nearest to 0, for a minimum.
PLACES: Mapping[Better, tuple[str, Callable[[float], float]]] = {
    Better.HIGHER: ("highest", operator.neg),
    Better.LOWER: ("lowest", float),
    Better.ZERO: ("nearest to 0", abs),
}

Row = Mapping[str, Any]
Common = Sequence[Condition]


def ranked_by(measures: Measures, summary: polars.DataFrame) -> list[Column]:
    """Return what the answer ranks by, if measured: loss, what declares it, first classes."""
    of_classes = [column for column in measures.all if column.measure is F_MEASURE]
    others = [column for column in measures.all if column.measure.use.in_answer]
    ranked = [Column(measure=loss_of(summary)), *others, *of_classes[:MOST_NAMED]]
    return [one for one in ranked if summary[one.name].count() or one.measure.use.counted]


def answer_of(
    summary: polars.DataFrame, frontier: polars.DataFrame, description: Mapping[str, Any]
) -> Document:
    """Say what does best: a table for each thing that ranks, and at most ten sentences."""
    rows, loss = summary.to_dicts(), loss_of(summary)
    common = conditions_in_common(rows)
    best_of = {
        column: list(_best(rows, column)) for column in ranked_by(Measures.of(description), summary)
    }
    bests = [best for chosen in best_of.values() for best, _ in chosen]
    level = loss.use.level
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row["refused"] is not None:
            given = [f"{name} {row[name]:g}" for name in ("k", "epsilon") if row[name] is not None]
            own = ", ".join([method_words(row), *given])
            reasons.setdefault(row["refused"], []).append(own)
    return document_of(
        "compare/answer.jinja",
        ranked=[(_title(column), *_table(column, own, common)) for column, own in best_of.items()],
        why_no_loss=why_no_loss(summary),
        runs=description.get("runs"),
        seed=description.get("seed"),
        common=[condition.text for condition in common],
        conditional=_conditional(rows, common),
        exact=max((row["exact_cells"] / (row["n_cells"] or 1) for row in bests), default=0),
        losses=[plain(row["vector_loss"]) for row in bests if row["scope"] == "cluster"],
        nobodys=summary.filter("is_synthetic")["method"].unique(maintain_order=True).to_list(),
        loss=loss,
        **_on_frontier(summary, frontier),
        unlinked=unlinked(summary),
        is_hopeless=level is not None and any((row.get(loss.id) or 0) > level[1] for row in bests),
        refused=reasons,
        n_configurations=len(rows),
        most_named=MOST_NAMED,
        figure=figure,
    )


def _conditional(rows: Iterable[Row], common: Common) -> dict[str, list[str]]:
    """Return what epsilons hang on that not all hang on, in short, with the methods."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        for condition in own_conditions(row, common) if row["scope"] is not None else ():
            found.setdefault(condition.clause, {})[row["method"]] = None
    return {clause: list(methods) for clause, methods in found.items()}


def _best(rows: Sequence[Row], column: Column) -> Iterator[tuple[Row, list[Row]]]:
    """Yield the best of each guarantee, the most demanding first, and all that it is best of."""
    key = PLACES[column.measure.better][1]
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        if row["scope"] is not None and row.get(column.name) is not None:
            groups.setdefault((row["scope"], row["epsilon"], row["model"]), []).append(row)
    order = list(GROUPS)
    for group in sorted(
        groups, key=lambda g: (order.index(g[0]), g[1] or 0.0, -Model(g[2]).strength)
    ):
        best = min(groups[group], key=lambda row: (key(row[column.name]), row["configuration"]))
        yield best, groups[group]


def _title(column: Column) -> str:
    """Say what ranks, and which figures are best."""
    level, place = column.measure.use.level, PLACES[column.measure.better][0]
    title = column.measure.label + (f" of class {column.label}" if column.label else "")
    if title.split(" ", 1)[0].islower():  # a symbol stays as it is
        title = title[0].upper() + title[1:]
    return f"{title}, {place}" + (f"; {level[1]:g} is {level[0]}" if level else "")


def _table(
    column: Column, chosen: Sequence[tuple[Row, list[Row]]], common: Common
) -> tuple[list[str], list[list[str]]]:
    """Tabulate the best of each guarantee; no rows where there is none."""
    if not chosen:
        return [], []
    shown = {
        **({"original": _of_class(F_ORIGINAL.id, column)} if column.label else {}),
        **({"majority": _of_class(F_MAJORITY.id, column)} if column.label else {}),
        **({} if column.label or RISK not in chosen[0][0] else {"linked, %": RISK}),
    }
    heads = [
        "guarantee",
        "epsilon",
        "method",
        "k",
        "mean" + (f", {column.measure.unit}" if column.measure.unit else ""),
    ]
    rows = [
        [
            _guarantee(best),
            NOTHING if best["epsilon"] is None else f"{best['epsilon']:g}",
            method_words(best, common),
            NOTHING if best["k"] is None else str(best["k"]),
            with_spread(best, column.name),
            *(figure(best.get(name)) for name in shown.values()),
            _as_good(best, group, column.name),
        ]
        for best, group in chosen
    ]
    return [*heads, *shown, "as good"], rows


def _guarantee(row: Row) -> str:
    """Name scope and model, in few letters: a terminal of 80 columns has room for the table."""
    if row["scope"] == NO_SCOPE:
        return "no epsilon" if row["model"] == "none" else str(row["model"])
    return f"{row['scope']} {MODELS[row['model']]}"


def _of_class(measure: str, column: Column) -> str:
    return Column(measure=MEASURES[measure], label=column.label).name


def _as_good(best: Row, group: Sequence[Row], name: str) -> str:
    """Count others whose intervals overlap with the best's; one run says nothing of its spread."""
    low, high = best[f"{name}_low"], best[f"{name}_high"]
    if low is None:
        return NOTHING
    others = [row for row in group if row is not best]
    near = sum(
        row[f"{name}_low"] is None or (row[f"{name}_low"] <= high and low <= row[f"{name}_high"])
        for row in others
    )
    return f"{near} of {len(others)}"


def _on_frontier(summary: polars.DataFrame, frontier: polars.DataFrame) -> dict[str, Any]:
    """Return the risk, chance, and how many of a scope are Pareto-optimal, or surely not."""
    risk = risk_of(summary.columns)
    if risk is None:
        return {"risk": None, "chance": None, "scopes": []}
    base = MEASURES[risk].use.baseline
    chance = summary[base].drop_nulls().to_list() if base in summary.columns else []
    scopes = []
    for scope, words in GROUPS.items():
        excluded = summary.filter(scope=scope)[f"excluded[{risk}]"].drop_nulls()
        if len(excluded):
            n_optimal = frontier.filter(risk=risk, scope=scope).height
            scopes.append((words.lower(), n_optimal, len(excluded), int(excluded.sum())))
    return {"risk": MEASURES[risk], "chance": chance[0] if chance else None, "scopes": scopes}


def unlinked(summary: polars.DataFrame) -> str:
    """Name the methods whose rows follow people and were not linked; empty where there is none."""
    risk = risk_of(summary.columns)
    if risk is None:
        return ""
    has_loss, is_unlinked = (
        polars.col(loss_of(summary).id).is_not_null(),
        polars.col(risk).is_null(),
    )
    found = summary.filter(~polars.col("is_synthetic") & has_loss & is_unlinked)
    methods = ", ".join(found["method"].unique(maintain_order=True))
    told = f"Records of {methods} were not linked, which takes numbers and none of them missing: "
    return f"{told}they stand on no frontier and no map." if methods else ""


def why_no_loss(summary: polars.DataFrame) -> str:
    """Say why no configuration has an information loss; empty where one has."""
    if summary[loss_of(summary).id].count():
        return ""
    if summary["refused"].null_count() == 0:
        return "every one was refused"
    nobodys = summary["is_synthetic"].drop_nulls()
    if len(nobodys) and nobodys.all():
        return "rows of all that were not refused follow nobody, and no run could be measured"
    if summary["sse"].count():
        return "no protected attribute varies, so that there is no variance to hold a loss against"
    return "in every one that was not refused, some run could not be measured"


def method_words(row: Row, common: Common | None = None) -> str:
    """Name a method with its steps; † where its guarantee has conditions that not all have."""
    steps = []
    for step in filter(None, row["steps"].split(":")):
        name, _, value = step.partition("=")
        if value in {"true", "false"}:
            steps.append(name if value == "true" else f"not {name}")
        else:
            named = name in {"width", "exact_cells"}
            steps.append(f"{name.replace('_', ' ')} {value}" if named else value)
    if row.get("delta"):
        steps.append(f"delta {row['delta']:g}")
    mark = " †" if common is not None and own_conditions(row, common) else ""
    return str(row["method"]) + (f" ({', '.join(steps)})" if steps else "") + mark


def with_spread(row: Row, name: str) -> str:
    """Write a mean with half its interval, where it has one."""
    value, low, high = (row.get(name + end) for end in ("", "_low", "_high"))
    if value is None or low is None or high is None or math.isclose(low, high):
        return figure(value)
    # An end may be cut off where the measure ends.
    half = float(f"{max(value - low, high - value):.2g}")
    return f"{figure(value)} ± {figure(half)}"
