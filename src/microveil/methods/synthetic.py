"""dp-synthetic: a new table, drawn from noisy counts, that holds whatever is looked at.

Select, measure, generate (McKenna, Miklau and Sheldon, "Winning the NIST Contest", 2021: MST),
with recursive private medians for numbers (Kaplan, Schnapp and Stemmer 2022), tables of pairs
chosen by the exponential mechanism (a tree first, then against what the model says so far), and
for a declared target a tree-augmented naive Bayes (Friedman, Geiger and Goldszmidt 1997).

Departures: bins are parts of equal mass between private medians instead of equal widths; numbers
inside them follow a quantile function on the scale of standard scores; noisy tables are shrunk
towards a copula; records are drawn by systematic sampling. How the budget is shared out is in
`synthetic_plan`. See docs/methods.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from microveil.guarantee import Cover, Scopes
from microveil.guarantee.budget import concentrated_budget
from microveil.methods.base import Choices, Method, Promise, Setting
from microveil.methods.synthetic_plan import OF_THRESHOLDS, Planning, is_learnt
from microveil.schema import Attribute, Source
from microveil.synthesis.clauses import computed_by
from microveil.synthesis.one_way_plan import OneWayPlan
from microveil.synthesis.plan import SyntheticPlan
from microveil.table import GridColumn
from microveil.table.record_rules import kind_in_rules, parse_rule
from microveil.text import listed


def dp_synthetic(columns: Sequence[GridColumn], choices: Choices) -> SyntheticPlan:
    """Plan METHODS sections 7 and 11 by public figures: budgets, depths, scales, thresholds."""
    attributes = [column.attribute for column in columns]
    kinds = {attribute.name: kind_in_rules(attribute) for attribute in attributes}
    rules = tuple(parse_rule(text, kinds) for text in choices["rules"])
    computed = computed_by(rules, attributes)
    drawn = tuple(attribute for attribute in attributes if attribute.name not in computed)
    return replace(
        Planning(drawn, choices).plan(),
        rules=rules,
        computed=tuple(
            OneWayPlan(
                attribute=attribute,
                n_records=choices.n_records,
                share=None,
                noise=None,
                has_missing=choices.hides_missing(attribute),
            )
            for attribute in attributes
            if attribute.name in computed
        ),
    )


_NOBODY = (
    "Every row is synthetic, drawn from counts to which random errors were added: none was copied "
    "or altered from a person's. A row can equal somebody's by coincidence. The rows tell about "
    "the people as a group, and about a single one no more than the promise says."
)
_MEASURED = (
    "Distributions, and the tables of pairs of attributes that were measured, follow the original "
    "as closely as the noise allows. Everything else follows from these: rare combinations are "
    "noise, and {rules} between columns (such as a tax that is never above the income) are not "
    "kept."
)
_RULES = (
    "Every record keeps the rules that were declared: {rules}. They are public, were not read "
    "from the data, and cost nothing of the budget."
)
_CONCENTRATED = (
    "Budgets were added up in the rho of zero-concentrated differential privacy and converted to "
    "epsilon and delta (Canonne, Kamath and Steinke 2020)."
)
_LEARNT = (
    "Which values a column may have was learnt from the table where nobody declared it, and the "
    "epsilon pays for that, too: categories, numbers that many records share, and the bounds and "
    "decimals of numbers. A category that few records have is released as 'other'. For each "
    "person, the chance that a label which only they have is shown is at most {chance}. "
    "That numbers near 0 may occur (up to 16 of the smallest unit that a column has) is taken to "
    "be public, how many people have them is not.{came} Drawn numbers reach at most 16 times as "
    "far from 0 as the outermost number that was learnt."
)
_CAME = " The kind and the type of {} are taken to be public, too."
_KINDS = (
    "What kind of values a column of the file holds (whole numbers, decimals, dates, true and "
    "false, or text) was learnt within the budget, too. Each cell was read by itself, and one that "
    "is no value of its column's kind counts as missing. How the file is written is taken to be "
    "public: its encoding, its separator, and its header with the names of the columns."
)
_FROM_DATA = (
    "Domains, categories or resolutions were read from the data: the epsilon holds for tables with "
    "the same ones."
)


def _learnt(attributes: Sequence[Attribute], delta: Fraction) -> list[str]:
    """Say what was learnt of attributes, and what is public of them."""
    learnt = [own for own in attributes if is_learnt(own) or own.kind_source is Source.LEARNT]
    if not learnt:
        return []
    untyped = [own for own in learnt if own.kind_source is Source.LEARNT]
    others = "other columns" if untyped else "a column"
    came = "" if len(untyped) == len(learnt) else _CAME.format(others)
    chance = f"1 in {math.floor(1 / (delta * OF_THRESHOLDS)):,}"
    return [_LEARNT.format(came=came, chance=chance), *([_KINDS] if untyped else [])]


def _promise(setting: Setting) -> Promise:
    """Promise the whole budget, whatever is looked at: nothing is held."""
    epsilon, delta = setting.choices.epsilon, setting.choices.delta
    assert epsilon is not None  # noqa: S101 -- a request without one is refused
    from_data, rules = setting.read_from_data, setting.choices["rules"]
    cover, learns = Cover.of(epsilon, delta), any(map(is_learnt, setting.attributes))
    of_rho = delta * (1 - OF_THRESHOLDS if learns else 1)
    return Promise(
        model=setting.model,
        epsilon=epsilon,
        delta=delta,
        rho=concentrated_budget(epsilon, of_rho) if delta else None,
        scopes=Scopes(cluster=cover, vector=cover, row=Cover() if from_data else cover),
        caveats=(
            _NOBODY,
            _MEASURED.format(rules="other rules" if rules else "rules"),
            *([_RULES.format(rules=listed(rules))] if rules else []),
            *([_CONCENTRATED] if delta else []),
            *_learnt(setting.attributes, delta),
            *([_FROM_DATA] if from_data else []),
        ),
    )


METHODS = (
    Method(
        id="dp-synthetic",
        title="a synthetic table drawn from noisy counts",
        source="select, measure, generate: after McKenna, Miklau and Sheldon 2021, and Kaplan, "
        "Schnapp and Stemmer 2022",
        deed="Synthetic rows were drawn from noisy counts of the original: none is a real "
        "person's.",
        randomness="counts",
        plan=dp_synthetic,
        promise=_promise,
        needs=frozenset({"epsilon", "bounds"}),
        can=frozenset({"new table", "categories", "delta", "missing"}),
        without_units=None,
        arguments={
            "target": (),
            "domains": ("learn", "declared"),
            "structure": ("graph", "tree", "independent"),
            "rules": (),
            "n_records": (),
        },
        sets_aside={"target": ("structure",)},
    ),
)
