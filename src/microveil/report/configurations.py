"""The configurations of a comparison, grouped by what they guarantee, and as tables."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from microveil.compare import Comparison
from microveil.compare.measures import Column, Measures, risks_of
from microveil.compare.rows import CONDITIONAL, conditions_in_common, own_conditions
from microveil.guarantee import Condition
from microveil.measures.linkage import CHANCE
from microveil.measures.registry import MEASURES, By
from microveil.report.chart import Spread
from microveil.report.markup import Child, Markup, element, fragment
from microveil.report.sections import Section
from microveil.report.tables import definitions, table
from microveil.report.wording import NOTHING, number, percent, plural, rounded_up

__all__ = [
    "GROUP_WORDS",
    "MODEL_WORDS",
    "Group",
    "compared_section",
    "configurations_section",
    "groups_of",
    "marked_words",
    "method_words",
    "refused_section",
    "spread_of",
]

Row = Mapping[str, Any]
# By scope, the most demanding first.
GROUP_WORDS = {
    "row": "Row scope",
    "vector": "Vector scope",
    "cluster": "Cluster scope",
    "none": "No epsilon",
}
MODEL_WORDS = {"dp": "DP", "idp": "iDP", "k-anonymity": "k-anonymity", "none": "no model"}
MOST_NAMED = 12
# Behind a method whose guarantee is conditional on more than its scope and epsilon.


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The configurations of one guarantee: one scope, one epsilon.

    Attributes
    ----------
    scope : str
    epsilon : float or None
    rows : tuple of dict
        Of the summary, by method and k, each with its method's name as ``named``.
    """

    scope: str
    epsilon: float | None
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        """What the configurations guarantee, as a heading."""
        words = GROUP_WORDS[self.scope]
        return words if self.epsilon is None else f"{words}, epsilon {self.epsilon:g}"


def groups_of(comparison: Comparison) -> tuple[Group, ...]:
    """Group the configurations that were not refused, by scope and epsilon."""
    found: dict[tuple[int, float], list[Row]] = {}
    scopes = list(GROUP_WORDS)
    rows = comparison.summary.to_dicts()
    common = conditions_in_common(rows)
    for row in rows:
        if row["scope"] is not None:
            epsilon = -1.0 if row["epsilon"] is None else row["epsilon"]
            named = {**row, "named": marked_words(row, common)}
            found.setdefault((scopes.index(row["scope"]), epsilon), []).append(named)
    return tuple(
        Group(
            scope=scopes[scope],
            epsilon=None if epsilon < 0 else epsilon,
            rows=tuple(found[scope, epsilon]),
        )
        for scope, epsilon in sorted(found)
    )


def method_words(row: Row) -> str:
    """Name a method with the steps that were chosen for it.

    >>> method_words({"method": "dp-um", "steps": ""})
    'dp-um'
    >>> method_words({"method": "kanon-dp", "steps": "composition=parallel:isotonic=true"})
    'kanon-dp (parallel, isotonic)'
    >>> method_words({"method": "dp-synthetic", "steps": "structure=tree", "delta": 1e-9})
    'dp-synthetic (tree, delta 1e-09)'
    """
    steps = []
    for step in filter(None, row["steps"].split(":")):
        name, _, value = step.partition("=")
        if value in {"true", "false"}:
            steps.append(name if value == "true" else f"not {name}")
        elif name in {"width", "exact_cells"}:
            steps.append(f"{name.replace('_', ' ')} {value}")
        else:
            steps.append(value)
    if row.get("delta"):
        steps.append(f"delta {row['delta']:g}")
    return f"{row['method']} ({', '.join(steps)})" if steps else str(row["method"])


def marked_words(row: Row, common: Sequence[Condition]) -> str:
    """Name a method, with a mark where its guarantee has conditions that not all have.

    >>> held = {
    ...     "id": "noise-scales",
    ...     "scopes": ["vector"],
    ...     "short": "the noise scales",
    ...     "text": "They were fitted to this table.",
    ...     "is_given": True,
    ... }
    >>> row = {"method": "idp-vector", "steps": "", "scope": "vector", "conditions": [held]}
    >>> marked_words(row, ())
    'idp-vector †'
    """
    mark = f" {CONDITIONAL}" if own_conditions(row, common) else ""
    return method_words(row) + mark


def spread_of(row: Row, measure: str) -> Spread | None:
    """Return a mean with its interval, which is the mean alone where there is none."""
    value = row.get(measure)
    if value is None or not math.isfinite(value):
        return None
    low, high = row.get(f"{measure}_low"), row.get(f"{measure}_high")
    return Spread(
        value=value, lower=value if low is None else low, upper=value if high is None else high
    )


def compared_section(description: Mapping[str, Any]) -> Section:
    """Tabulate what was compared: table, methods, sizes, budgets, runs, seed, arguments."""
    shown: list[tuple[str, Child]] = [
        ("records", f"{description['n_records']:,}" if "n_records" in description else NOTHING),
        ("digest of the table, SHA-256", _code(description.get("table"))),
        ("attributes", ", ".join(description.get("attributes", ()))),
        ("methods", ", ".join(description.get("methods", ()))),
        ("k", ", ".join(map(str, description.get("k", ())))),
        ("epsilon", ", ".join(f"{float(Fraction(e)):g}" for e in description.get("epsilon", ()))),
        ("runs of each configuration", str(description.get("runs", NOTHING))),
        ("seed", str(description.get("seed", NOTHING))),
        ("microveil", str(description.get("microveil", NOTHING))),
        *_measures_shown(description),
        *(
            (_argument(name, description), _code(value))
            for name, value in description.get("arguments", {}).items()
        ),
    ]
    return Section(
        identifier="compared",
        title="What was compared",
        body=definitions(
            "The comparison: the same request on the same table gives the same figures",
            ((name, value or NOTHING) for name, value in shown),
            heads=("what", "value"),
            identifier="compared-table",
        ),
    )


def _measures_shown(description: Mapping[str, Any]) -> list[tuple[str, Child]]:
    """Say what was measured, beside the loss of information."""
    asked = Measures.of(description)
    shown: list[tuple[str, Child]] = [
        ("record linkage", "measured" if asked.linkage else "not measured")
    ]
    if asked.classes is not None:
        cut = NOTHING if asked.threshold is None else f"{asked.threshold:g}"
        shown += [
            ("class attribute", asked.classes),
            ("threshold of its classes", cut),
            ("classes", ", ".join(asked.labels)),
            ("classifier", _code(asked.estimator)),
            ("scikit-learn", asked.scikit_learn or NOTHING),
        ]
    if asked.formula is not None:
        kind = "logistic regression" if asked.logistic else "linear regression"
        shown.append((kind, _code(asked.formula)))
    if asked.propensity:
        shown.append((MEASURES["propensity_ratio"].label, "measured"))
    return shown


def _argument(name: str, description: Mapping[str, Any]) -> str:
    """Name an argument, and whose part of it was not declared but read from the data."""
    read = description.get("read_from_data", {}).get(name, ())
    return f"argument {name}" + (f", read from the data for {', '.join(read)}" if read else "")


def configurations_section(comparison: Comparison, groups: Sequence[Group]) -> Section:
    """Tabulate every configuration, by what it guarantees."""
    kept: dict[int, list[str]] = {}
    for configuration, risk in comparison.frontier.select("configuration", "risk").iter_rows():
        kept.setdefault(configuration, []).append(MEASURES[risk].head)
    measures = _measured(comparison.description, groups)
    chance = next((r[CHANCE] for g in groups for r in g.rows if r.get(CHANCE) is not None), None)
    return Section(
        identifier="configurations",
        title="All configurations",
        body=fragment(
            element(
                "p",
                "Means over the runs, with 95 % intervals of the mean in parentheses; a figure "
                "without one is of a single run, or of a method that draws nothing at random. "
                "Exact cells are those that noise was due for and that come out as they are. Loss "
                "at vector scope is the exact loss when the clusters are formed anew; where it "
                "exceeds epsilon, epsilon holds only while everybody stays in their cluster.",
                None if chance is None else f" Blind guessing links {number(chance, 3)} %.",
            ),
            (_group_table(place, group, measures, kept) for place, group in enumerate(groups)),
        ),
    )


def _measured(description: Mapping[str, Any], groups: Sequence[Group]) -> dict[str, Column]:
    """Return the figures that tables show and that some configuration has, by column."""
    return {
        column.name: column
        for column in sorted(Measures.of(description).all, key=lambda c: c.measure.by is By.CLASS)
        if column.use.tabulated
        and any(row.get(column.name) is not None for group in groups for row in group.rows)
    }


def _group_table(
    place: int, group: Group, measures: Mapping[str, Column], kept: Mapping[int, Sequence[str]]
) -> Markup:
    risks = risks_of(measures)
    models = {row["model"] for row in group.rows}
    differing = ["model"] if len(models) > 1 else []
    heads = ["method", "k", *differing, *(c.title for c in measures.values()), "exact cells, %"]
    heads += ["loss at vector scope", *(["Pareto-optimal by means"] if risks else [])]
    rows = []
    for row in group.rows:
        shown = [row["named"], NOTHING if row["k"] is None else str(row["k"])]
        shown += [MODEL_WORDS[row["model"]] for _ in differing]
        shown += [_written(row, name) for name in measures]
        shown += [percent(row["exact_cells"] / row["n_cells"]) if row["n_cells"] else NOTHING]
        shown += [_vector_loss(row)]
        if risks:
            shown += [_frontier_words(kept.get(row["configuration"], ()), len(risks))]
        rows.append(shown)
    model = "" if differing else f" ({MODEL_WORDS[group.rows[0]['model']]})"
    return fragment(
        element("h3", group.title + model),
        table(
            f"{group.title}: {plural(len(rows), 'configuration')}",
            heads,
            rows,
            identifier=f"configurations-{place}",
            class_="configurations",
            captioned=False,
        ),
    )


def _written(row: Row, measure: str) -> str:
    spread = spread_of(row, measure)
    if spread is None:
        return NOTHING
    if spread.lower == spread.upper:
        return number(spread.value, 3)
    ends = f"{number(spread.lower, 3)} to {number(spread.upper, 3)}"
    return f"{number(spread.value, 3)} ({ends})"


def _vector_loss(row: Row) -> str:
    if row["vector_loss"] is None or not math.isfinite(row["vector_loss"]):
        return "no bound"
    return rounded_up(row["vector_loss"])


def _frontier_words(risks: Sequence[str], count: int) -> str:
    if len(risks) == count:
        return "all"
    return ", ".join(risks) or NOTHING


def refused_section(comparison: Comparison) -> Section | None:
    """Tabulate what was refused, by reason; None where nothing was."""
    reasons: dict[str, list[Row]] = {}
    for row in comparison.summary.to_dicts():
        if row["refused"] is not None:
            reasons.setdefault(row["refused"], []).append(row)
    if not reasons:
        return None
    return Section(
        identifier="refused",
        title="Refused configurations",
        body=table(
            "Configurations that were refused, by reason",
            ("why", "configurations", "which"),
            (
                [reason, f"{len(rows):,}", _named(map(_configuration_words, rows))]
                for reason, rows in reasons.items()
            ),
            identifier="refused-table",
            words=True,
            class_="reasons",
        ),
    )


def _configuration_words(row: Row) -> str:
    words = [method_words(row)]
    if row["k"] is not None:
        words.append(f"k {row['k']}")
    if row["epsilon"] is not None:
        words.append(f"epsilon {row['epsilon']:g}")
    return " ".join(words)


def _named(names: Iterable[str]) -> str:
    every = list(names)
    more = len(every) - MOST_NAMED
    return "; ".join(every[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")


def _code(value: object) -> Child:
    if value is None:
        return NOTHING
    return element(
        "code", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    )
