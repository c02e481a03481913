"""The answer in words: what does best under each guarantee, and how sure that is."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars

from microveil.compare.learnt import analysed_words, learnt_words
from microveil.compare.measures import LOSS, RISK, Measures, baseline_of
from microveil.compare.rows import (
    GROUPS,
    NO_SCOPE,
    conditions_in_common,
    conditions_of,
    own_conditions,
)
from microveil.evaluation.measures import MEASURES
from microveil.privacy import Condition, Model
from microveil.text.document import Block, Document, heading, items, paragraph

__all__ = ["GROUP_WORDS", "answer_of", "configuration_words", "refusals_of", "why_no_loss"]

# How many reasons, and how many k, are named one by one.
MOST_NAMED = 4

GROUP_WORDS = {
    "row": "Row scope",
    "vector": "Vector scope",
    "cluster": "Cluster scope",
    "none": "No epsilon",
}
GROUP_MEANS = {
    "row": "epsilon covers everything that is protected, also which rows go together",
    "vector": "epsilon covers all centroids of an attribute, the clusters formed anew",
    "cluster": "epsilon covers one centroid, while everybody stays in their cluster",
    "none": "nothing is covered by an epsilon",
}
CLOSING = (
    "In parentheses: 95 % intervals of the mean; those that overlap are not told apart; seed "
    "{seed}. The figures are the custodian's, and choosing by them is a use of the data."
)
UNLINKED = "Record linkage was not measured: there is no frontier, and nothing is said of risk."

Row = Mapping[str, Any]
# What all claims of a comparison are conditional on, said once.
Common = Sequence[Condition]
# The configurations of one scope by epsilon, the one that loses least first.
Ranked = Mapping[float | None, Sequence[Row]]


def answer_of(
    summary: polars.DataFrame, frontier: polars.DataFrame, description: Mapping[str, Any]
) -> Document:
    """Say what does best, for each guarantee and epsilon.

    Parameters
    ----------
    summary, frontier : polars.DataFrame
        See `Comparison`.
    description : dict

    Returns
    -------
    Document
        An item for each scope, then what there is to know of each epsilon.
    """
    measures = Measures.of(description)
    scopes = dict(_scopes(summary))
    common = conditions_in_common(summary.to_dicts())
    blocks: list[Block] = [heading(1, "What does best")]
    if scopes:
        blocks += [
            paragraph(
                f"Least mean information loss over {description.get('runs')} runs (100 % is as "
                "good as the means alone); the same epsilon promises less at a weaker scope:"
            ),
            items(_headline(scope, ranked, common) for scope, ranked in scopes.items()),
        ]
    else:
        blocks.append(paragraph(f"No configuration can be ranked: {why_no_loss(summary)}."))
    blocks += [paragraph(condition.text) for condition in common]
    for scope, ranked in scopes.items():
        of_it = [
            item
            for configurations in ranked.values()
            for item in _of_epsilon(configurations, measures, common)
        ]
        blocks += [heading(2, f"{GROUP_WORDS[scope]}: {GROUP_MEANS[scope]}"), items(of_it)]
    blocks += _conditions(summary.to_dicts(), common)
    if not measures.risks:
        blocks.append(paragraph(UNLINKED))
    elif scopes:
        risk = RISK if RISK in measures.risks else measures.risks[0]
        blocks.append(paragraph(_frontier_words(summary, frontier, scopes, risk)))
    blocks.append(paragraph(CLOSING.format(seed=description.get("seed"))))
    return Document(tuple(blocks))


def _conditions(rows: Sequence[Row], common: Common) -> list[Block]:
    """Say whole, once, what is said in short behind the names of methods."""
    found = {
        condition.text: condition
        for row in rows
        if row["scope"] is not None
        for condition in own_conditions(row, common)
    }
    if not found:
        return []
    conditions = (
        f"{condition.clause[0].upper()}{condition.clause[1:]}: {condition.text}"
        for condition in found.values()
    )
    return [paragraph("What these epsilons are conditional on, and leave out:"), items(conditions)]


def why_no_loss(summary: polars.DataFrame) -> str:
    """Say why no configuration has an information loss; empty where one has.

    Parameters
    ----------
    summary : polars.DataFrame
        See `Comparison`.
    """
    if summary[LOSS].count():
        return ""
    if summary["refused"].null_count() == 0:
        return "every one was refused"
    if summary["sse"].count():
        return "no protected attribute varies, so that there is no variance to hold a loss against"
    return "in every one that was not refused, some run could not be measured"


def configuration_words(row: Row) -> str:
    """Name a configuration: its method, steps and k."""
    return ", ".join([_choice_words(row), *([] if row["k"] is None else [f"k {row['k']}"])])


def _named(row: Row, common: Common) -> str:
    """Name a configuration with its own conditions, where it is not the one described whole."""
    short = "; ".join(condition.clause for condition in own_conditions(row, common))
    return configuration_words(row) + (f" ({short})" if short else "")


def _choice_words(row: Row) -> str:
    steps = [step.replace("=", " ") for step in row["steps"].split(":") if step]
    return ", ".join([row["method"], *steps])


def _scopes(summary: polars.DataFrame) -> Iterator[tuple[str, Ranked]]:
    """Yield each scope that has configurations, the most demanding first."""
    rows = [row for row in summary.to_dicts() if row[LOSS] is not None]
    for scope in GROUPS:
        configurations = sorted(
            (row for row in rows if row["scope"] == scope),
            key=lambda row: (row[LOSS], row["configuration"]),
        )
        epsilons = sorted({row["epsilon"] for row in configurations}, key=lambda e: e or 0.0)
        if configurations:
            yield (
                scope,
                {e: [row for row in configurations if row["epsilon"] == e] for e in epsilons},
            )


def _headline(scope: str, ranked: Ranked, common: Common) -> str:
    """Name the method of the least loss at each epsilon, with what it is conditional on."""
    chosen: dict[str, list[Row]] = {}
    for configurations in ranked.values():
        short = ["individual differential privacy"] if configurations[0]["model"] == "idp" else []
        short += [condition.clause for condition in own_conditions(configurations[0], common)]
        name = _choice_words(configurations[0]) + (f" ({'; '.join(short)})" if short else "")
        chosen.setdefault(name, []).append(configurations[0])
    choices = [name + _at(bests) for name, bests in chosen.items()]
    lost = [row for bests in chosen.values() for row in bests if row[LOSS] > 100]
    worse = f"; worse than publishing the mean in every row{_at(lost)}" if lost else ""
    return f"{GROUP_WORDS[scope]}: {'; '.join(choices)}{worse}."


def _at(rows: Sequence[Row]) -> str:
    epsilons = [f"{row['epsilon']:g}" for row in rows if row["epsilon"] is not None]
    return f" at epsilon {', '.join(epsilons)}" if epsilons else ""


def _of_epsilon(ranked: Sequence[Row], measures: Measures, common: Common) -> list[str]:
    """Say of one epsilon what loses least, what it hides, and what cannot be told from it."""
    best = ranked[0]
    words = "No epsilon" if best["epsilon"] is None else f"Epsilon {best['epsilon']:g}"
    first = f"{words}: {configuration_words(best)}, {_loss(best)}"
    if best.get(RISK) is not None:
        first += f", {best[RISK]:.2g} % linked"
    sentences = [f"{first}.", _cautions(best), *_beside(best, ranked, common)]
    items = [" ".join(filter(None, sentences))]
    named = {row["configuration"]: _named(row, common) for row in ranked}
    learnt = learnt_words(ranked, measures.labels, named) if measures.labels else ""
    items += [f"{words}: {part}" for part in (learnt, analysed_words(ranked, named)) if part]
    return items


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


def _cautions(row: Row) -> str:
    """Say what the epsilon of a configuration does not say."""
    sentences = []
    if row["exact_cells"]:
        share = 100 * row["exact_cells"] / row["n_cells"]
        sentences.append(f"{share:.2g} % of its cells come out exact.")
    if row["scope"] == "cluster":
        loss = row["vector_loss"]
        sentences.append(
            "No bound at vector scope."
            if loss is None
            else f"True loss at vector scope {loss:.4g}."
        )
    return " ".join(sentences)


def _beside(best: Row, ranked: Sequence[Row], common: Common) -> list[str]:
    """Hold the best against the same method with another k, and against other methods."""
    same = [row for row in ranked[1:] if _choice(row) == _choice(best)]
    others = [row for row in ranked[1:] if _choice(row) != _choice(best)]
    near = sorted(row["k"] for row in same if row["k"] is not None and _overlap(best, row))
    sentences = []
    if near:
        which = f"k {', '.join(map(str, near))}"
        if len(near) > MOST_NAMED:
            which = f"{len(near)} of {len(same)} other k"
        if len(near) == len(same) > 1:
            which = "every other k"
        sentences.append(f"Not told apart: {which}.")
    # What asks for no noise by the data of others is worth more: it is always named.
    strict = next((row for row in others if row["model"] == "dp"), None)
    strict = strict if best["model"] == "idp" else None
    if others and others[0] is not strict:
        sentences.append(f"Next: {_other(best, others[0], common)}.")
    if strict is not None:
        model = (
            "With noise for any neighbour of the cluster"
            if best["scope"] == "cluster"
            else "Under differential privacy"
        )
        sentences += [f"{model}: {_other(best, strict, common)}.", _cautions(strict)]
    return sentences


def _other(best: Row, row: Row, common: Common) -> str:
    return f"{_named(row, common)}, {_number(row[LOSS])} %, {_apart(best, row)}"


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
        return "not told apart"
    return f"{_number(low - high)} points apart"


def _frontier_words(
    summary: polars.DataFrame,
    frontier: polars.DataFrame,
    scopes: Iterable[str],
    risk: str,
) -> str:
    """Say how many configurations are Pareto-optimal by their means, and how many for sure."""
    rows = [row for row in summary.to_dicts() if row[LOSS] is not None]
    linked = [row for row in rows if row.get(risk) is not None]
    held = {
        row["configuration"]: {condition.id for condition in conditions_of(row)} for row in linked
    }
    on_it = set(frontier.filter(polars.col("risk") == risk)["configuration"])
    sentences = []
    for scope in scopes:
        configurations = [row for row in linked if row["scope"] == scope]
        kept = [row for row in configurations if row["configuration"] in on_it]
        sure = sum(_surely_unbeaten(row, configurations, held, risk) for row in kept)
        beaten = sum(row.get(f"excluded[{risk}]") or False for row in configurations)
        sentences.append(
            f"{GROUP_WORDS[scope].lower()} {len(kept)} of {len(configurations)} configurations, "
            f"{sure} sure, {beaten} excluded"
        )
    known = baseline_of(risk, linked[0]) if linked else None
    chance = "" if known is None else f" ({known:.2g} % by chance)"
    named = MEASURES[risk].label
    return (
        f"Pareto-optimal with {named}{chance}, by means: {'; '.join(sentences)}. "
        "Sure are those that nothing beats anywhere within the intervals, excluded those that "
        "another beats by intervals that are apart."
    )


def _surely_unbeaten(
    own: Row, configurations: Sequence[Row], held: Mapping[int, set[str]], risk: str
) -> bool:
    """Whether all that guarantees as much is worse in one measure, by intervals that are apart."""
    return all(
        any(_is_above(other, own, measure) for measure in (LOSS, risk))
        for other in configurations
        if other is not own
        and _as_strong(other, own)
        and held[other["configuration"]] <= held[own["configuration"]]
    )


def _as_strong(other: Row, own: Row) -> bool:
    within = own["scope"] == NO_SCOPE or other["epsilon"] <= own["epsilon"]
    return within and Model(other["model"]).strength >= Model(own["model"]).strength


def _is_above(other: Row, own: Row, measure: str) -> bool:
    low, high = other[f"{measure}_low"], own[f"{measure}_high"]
    return low is not None and high is not None and bool(low > high)


def refusals_of(summary: polars.DataFrame) -> Document:
    """Say which configurations were refused, by reason; nothing where none was."""
    refused = summary.filter(polars.col("refused").is_not_null()).to_dicts()
    if not refused:
        return Document(())
    sentences = []
    for reason in list(dict.fromkeys(row["refused"] for row in refused))[:MOST_NAMED]:
        of_it = [row for row in refused if row["refused"] == reason]
        more = f" and {len(of_it) - 1} more" if len(of_it) > 1 else ""
        epsilon = of_it[0]["epsilon"]
        at = "" if epsilon is None or math.isnan(epsilon) else f", epsilon {epsilon:g}"
        sentences.append(f"{configuration_words(of_it[0])}{at}{more}: {reason}")
    left = len({row["refused"] for row in refused}) - MOST_NAMED
    if left > 0:
        sentences.append(f"and {left} other reasons")
    return Document(
        (
            heading(2, "Refused"),
            paragraph(f"{len(refused)} of {summary.height} configurations:"),
            items(sentences),
        )
    )
