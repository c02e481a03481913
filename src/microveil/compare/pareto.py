"""How many configurations of a comparison are Pareto-optimal, in words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars

from microveil.compare.measures import baseline_of, loss_of
from microveil.compare.rows import GROUP_WORDS, NO_SCOPE, conditions_of
from microveil.guarantee import Model
from microveil.measures.registry import MEASURES, Measure
from microveil.text.figures import figure

__all__ = ["frontier_words", "unlinked_words"]

UNLINKED = (
    "Records of {methods} were not linked, which takes numbers and none of them missing: they "
    "stand on no frontier and no map."
)

Row = Mapping[str, Any]


def frontier_words(
    summary: polars.DataFrame,
    frontier: polars.DataFrame,
    scopes: Iterable[str],
    measures: tuple[Measure, str],
) -> str:
    """Say how many configurations are Pareto-optimal by their means, and how many for sure.

    Parameters
    ----------
    summary, frontier : polars.DataFrame
        See `Comparison`.
    scopes : iterable of str
        Those that have configurations.
    measures : (Measure, str)
        The loss, and the id of the risk.
    """
    loss, risk = measures
    rows = [_linked(row, risk) for row in summary.to_dicts() if row[loss.id] is not None]
    linked = [row for row in rows if row.get(risk) is not None]
    held = {
        row["configuration"]: {condition.id for condition in conditions_of(row)} for row in linked
    }
    on_it = set(frontier.filter(polars.col("risk") == risk)["configuration"])
    sentences = []
    for scope in scopes:
        configurations = [row for row in linked if row["scope"] == scope]
        kept = [row for row in configurations if row["configuration"] in on_it]
        sure = sum(_surely_unbeaten(row, configurations, held, (loss.id, risk)) for row in kept)
        beaten = sum(row.get(f"excluded[{risk}]") or False for row in configurations)
        sentences.append(
            f"{GROUP_WORDS[scope].lower()} {len(kept)} of {len(configurations)} configurations, "
            f"{sure} sure, {beaten} excluded"
        )
    chances = (baseline_of(risk, row) for row in linked)
    known = next((chance for chance in chances if chance is not None), None)
    chance = "" if known is None else f" ({figure(known)} % by chance)"
    named = MEASURES[risk].label
    return (
        f"Pareto-optimal with {named}{chance}, by means: {'; '.join(sentences)}. "
        "Sure are those that nothing beats anywhere within the intervals, excluded those that "
        "another beats by intervals that are apart."
    )


def unlinked_words(summary: polars.DataFrame, risk: str) -> str:
    """Name the methods whose rows follow people and were not linked; empty where there is none.

    Parameters
    ----------
    summary : polars.DataFrame
        See `Comparison`.
    risk : str
        The id of the risk.
    """
    follows = ~polars.col("is_synthetic")
    has_loss, unlinked = polars.col(loss_of(summary).id).is_not_null(), polars.col(risk).is_null()
    methods = summary.filter(follows & has_loss & unlinked)["method"].unique(maintain_order=True)
    return UNLINKED.format(methods=", ".join(methods)) if len(methods) else ""


def _surely_unbeaten(
    own: Row, configurations: Sequence[Row], held: Mapping[int, set[str]], measures: Sequence[str]
) -> bool:
    """Whether all that guarantees as much is worse in one measure, by intervals that are apart."""
    return all(
        any(_is_above(other, own, measure) for measure in measures)
        for other in configurations
        if other is not own
        and _as_strong(other, own)
        and held[other["configuration"]] <= held[own["configuration"]]
    )


def _linked(row: Row, risk: str) -> Row:
    """Return a row as frontiers have it: where rows follow nobody, nobody is found again."""
    return (
        {**row, **dict.fromkeys((risk, f"{risk}_low", f"{risk}_high"), 0.0)}
        if row["is_synthetic"]
        else row
    )


def _as_strong(other: Row, own: Row) -> bool:
    within = own["scope"] == NO_SCOPE or (
        other["epsilon"] <= own["epsilon"] and (other["delta"] or 0) <= (own["delta"] or 0)
    )
    return within and Model(other["model"]).strength >= Model(own["model"]).strength


def _is_above(other: Row, own: Row, measure: str) -> bool:
    low, high = other[f"{measure}_low"], own[f"{measure}_high"]
    return low is not None and high is not None and bool(low > high)
