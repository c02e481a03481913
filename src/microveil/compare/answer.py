"""The answer in words: what does best under each guarantee, and how sure that is."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars

from microveil.compare.learnt import analysed_words, learnt_words
from microveil.compare.measures import RISK, Measures, loss_of
from microveil.compare.pareto import frontier_words, unlinked_words
from microveil.compare.rows import GROUP_WORDS, GROUPS, conditions_in_common, own_conditions
from microveil.guarantee import Condition
from microveil.measures.information_loss import LOSS
from microveil.measures.registry import Measure
from microveil.text.document import Block, Document, heading, items, paragraph
from microveil.text.figures import figure, figures_to

__all__ = ["answer_of", "configuration_words", "refusals_of", "why_no_loss"]

# The information loss of publishing the means alone.
MEAN = 100.0
# How many reasons, and how many k, are named one by one.
MOST_NAMED = 4

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
OF_NOBODY = (
    "Rows of {methods} follow nobody: row by row nothing of them can be lost or found again. Where "
    "others are linked they stand at 0, by what linkage is and not by a measurement."
)
HELD_BY = (
    "All methods are therefore held against each other by the {loss}, which needs no pairs and "
    "does not see what rows keep of their own people; information loss stands beside it where it "
    "can be measured."
)
NOT_RANKED = "Nothing that stands for information loss was measured: they are not ranked."

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
    measures, loss = Measures.of(description), loss_of(summary)
    scopes = dict(_scopes(summary, loss))
    common = conditions_in_common(summary.to_dicts())
    blocks: list[Block] = [heading(1, "What does best")]
    if scopes:
        read = "100 % is as good as the means alone" if loss is LOSS else _read(loss)
        blocks += [
            paragraph(
                f"Least mean {loss.label} over {description.get('runs')} runs ({read}); the same "
                "epsilon promises less at a weaker scope:"
            ),
            items(_headline(scope, ranked, common, loss) for scope, ranked in scopes.items()),
        ]
    else:
        blocks.append(paragraph(f"No configuration can be ranked: {why_no_loss(summary)}."))
    blocks += _of_nobody(summary, loss)
    blocks += [paragraph(condition.text) for condition in common]
    for scope, ranked in scopes.items():
        of_it = [
            item
            for configurations in ranked.values()
            for item in _of_epsilon(configurations, measures, common, loss)
        ]
        blocks += [heading(2, f"{GROUP_WORDS[scope]}: {GROUP_MEANS[scope]}"), items(of_it)]
    blocks += _conditions(summary.to_dicts(), common)
    if not measures.risks:
        blocks.append(paragraph(UNLINKED))
    elif scopes:
        risk = RISK if RISK in measures.risks else measures.risks[0]
        words = (
            frontier_words(summary, frontier, scopes, (loss, risk)),
            unlinked_words(summary, risk),
        )
        blocks += [paragraph(part) for part in words if part]
    blocks.append(paragraph(CLOSING.format(seed=description.get("seed"))))
    return Document(tuple(blocks))


def _of_nobody(summary: polars.DataFrame, loss: Measure) -> list[Block]:
    """Say what is not measured where rows follow nobody, and by what all are ranked instead."""
    rows = [row for row in summary.to_dicts() if row["is_synthetic"]]
    if not rows:
        return []
    methods = ", ".join(dict.fromkeys(row["method"] for row in rows))
    by = NOT_RANKED if loss is LOSS else HELD_BY.format(loss=loss.label)
    return [paragraph(f"{OF_NOBODY.format(methods=methods)} {by}")]


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


def configuration_words(row: Row) -> str:
    """Name a configuration: its method, steps and k."""
    return ", ".join([_choice_words(row), *([] if row["k"] is None else [f"k {row['k']}"])])


def _named(row: Row, common: Common) -> str:
    """Name a configuration with its own conditions, where it is not the one described whole."""
    short = "; ".join(condition.clause for condition in own_conditions(row, common))
    return configuration_words(row) + (f" ({short})" if short else "")


def _choice_words(row: Row) -> str:
    steps = [step.replace("=", " ") for step in row["steps"].split(":") if step]
    delta = [f"delta {row['delta']:g}"] if row.get("delta") else []
    return ", ".join([row["method"], *steps, *delta])


def _scopes(summary: polars.DataFrame, loss: Measure) -> Iterator[tuple[str, Ranked]]:
    """Yield each scope that has configurations, the most demanding first."""
    rows = [row for row in summary.to_dicts() if row[loss.id] is not None]
    for scope in GROUPS:
        configurations = sorted(
            (row for row in rows if row["scope"] == scope),
            key=lambda row: (row[loss.id], row["configuration"]),
        )
        epsilons = sorted({row["epsilon"] for row in configurations}, key=lambda e: e or 0.0)
        if configurations:
            yield (
                scope,
                {e: [row for row in configurations if row["epsilon"] == e] for e in epsilons},
            )


def _headline(scope: str, ranked: Ranked, common: Common, loss: Measure) -> str:
    """Name the method of the least loss at each epsilon, with what it is conditional on."""
    chosen: dict[str, list[Row]] = {}
    for configurations in ranked.values():
        short = ["individual differential privacy"] if configurations[0]["model"] == "idp" else []
        short += [condition.clause for condition in own_conditions(configurations[0], common)]
        name = _choice_words(configurations[0]) + (f" ({'; '.join(short)})" if short else "")
        chosen.setdefault(name, []).append(configurations[0])
    choices = [name + _at(bests) for name, bests in chosen.items()]
    mean = MEAN if loss is LOSS else math.inf
    lost = [row for bests in chosen.values() for row in bests if row[loss.id] > mean]
    worse = f"; worse than publishing the mean in every row{_at(lost)}" if lost else ""
    return f"{GROUP_WORDS[scope]}: {'; '.join(choices)}{worse}."


def _at(rows: Sequence[Row]) -> str:
    epsilons = [f"{row['epsilon']:g}" for row in rows if row["epsilon"] is not None]
    return f" at epsilon {', '.join(epsilons)}" if epsilons else ""


def _of_epsilon(
    ranked: Sequence[Row], measures: Measures, common: Common, loss: Measure
) -> list[str]:
    """Say of one epsilon what loses least, what it hides, and what cannot be told from it."""
    best = ranked[0]
    words = "No epsilon" if best["epsilon"] is None else f"Epsilon {best['epsilon']:g}"
    first = f"{words}: {configuration_words(best)}, {_loss(best, loss)}"
    if best.get(RISK) is not None:
        first += f", {figure(best[RISK])} % linked"
    elif best["is_synthetic"]:
        first += ", whose rows follow nobody"
    sentences = [f"{first}.", _cautions(best), *_beside(best, ranked, common, loss)]
    items = [" ".join(filter(None, sentences))]
    named = {row["configuration"]: _named(row, common) for row in ranked}
    learnt = learnt_words(ranked, measures.labels, named) if measures.labels else ""
    items += [f"{words}: {part}" for part in (learnt, analysed_words(ranked, named)) if part]
    return items


def _loss(row: Row, loss: Measure) -> str:
    low, high = row[f"{loss.id}_low"], row[f"{loss.id}_high"]
    mean = _in_units(row[loss.id], loss)
    if low is None:
        return mean
    if low == high:
        return f"{mean} (nothing random)"
    return f"{mean} ({figures_to((low, high))})"


def _read(loss: Measure) -> str:
    """Say how a loss is read, in words that Markdown leaves as they are."""
    return loss.explanation.replace(" = ", " is ")


def _in_units(value: float, loss: Measure) -> str:
    return f"{figure(value)} {loss.unit}".strip()


def _cautions(row: Row) -> str:
    """Say what the epsilon of a configuration does not say."""
    sentences = []
    if row["exact_cells"]:
        share = 100 * row["exact_cells"] / row["n_cells"]
        sentences.append(f"{figure(share)} % of its cells come out exact.")
    if row["scope"] == "cluster":
        loss = row["vector_loss"]
        sentences.append(
            "No bound at vector scope."
            if loss is None
            else f"True loss at vector scope {loss:.4g}."
        )
    return " ".join(sentences)


def _beside(best: Row, ranked: Sequence[Row], common: Common, loss: Measure) -> list[str]:
    """Hold the best against the same method with another k, and against other methods."""
    same = [row for row in ranked[1:] if _choice(row) == _choice(best)]
    others = [row for row in ranked[1:] if _choice(row) != _choice(best)]
    near = sorted(row["k"] for row in same if row["k"] is not None and _overlap(best, row, loss))
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
        sentences.append(f"Next: {_other(best, others[0], common, loss)}.")
    if strict is not None:
        model = (
            "With noise for any neighbour of the cluster"
            if best["scope"] == "cluster"
            else "Under differential privacy"
        )
        sentences += [f"{model}: {_other(best, strict, common, loss)}.", _cautions(strict)]
    return sentences


def _other(best: Row, row: Row, common: Common, loss: Measure) -> str:
    return f"{_named(row, common)}, {_in_units(row[loss.id], loss)}, {_apart(best, row, loss)}"


def _choice(row: Row) -> tuple[str, str]:
    return row["method"], row["steps"]


def _overlap(best: Row, other: Row, loss: Measure) -> bool:
    """Whether the intervals overlap; False where one has none."""
    high, low = best[f"{loss.id}_high"], other[f"{loss.id}_low"]
    return high is not None and low is not None and low <= high


def _apart(best: Row, other: Row, loss: Measure) -> str:
    high, low = best[f"{loss.id}_high"], other[f"{loss.id}_low"]
    if high is None or low is None:
        return "one run says nothing of the spread"
    if low <= high:
        return "not told apart"
    return f"{figure(low - high)} {'points ' if loss.unit == '%' else ''}apart"


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
