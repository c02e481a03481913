"""The guarantee as a page for people: no formula without its meaning."""

import math
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

from microveil.shown import in_markdown

__all__ = ["write_statement"]

# Beyond this factor an epsilon tells nobody anything: e**14 is over a million.
MEANINGLESS = 14.0

SCOPES = {
    "cluster": (
        "cluster",
        (
            "One person's values change, everybody stays in the cluster they are in, and the "
            "published values are looked at."
        ),
    ),
    "vector": (
        "vector",
        (
            "One person's values change, the clusters are formed anew, and all published values of "
            "an attribute are looked at, without knowing which row is whose."
        ),
    ),
    "row": (
        "row",
        (
            "The same, and it is also seen which rows share a value, that is, which people share "
            "a cluster."
        ),
    ),
}


def write_statement(
    guarantee: dict[str, Any], *, method: str, deed: str, model: str, n_records: int
) -> str:
    """Return the statement of a guarantee as Markdown.

    Parameters
    ----------
    guarantee : dict
        As `Guarantee.to_dict` gives it: all that is said here follows from it.
    method, deed, model : str
        The method with its name and publication, what it did to the values, and the model in
        words.
    n_records : int
    """
    with_epsilon = guarantee["epsilon"] is not None
    told = _scopes(guarantee) if with_epsilon else _no_epsilon(guarantee)
    parts = [
        ["# What this release guarantees"],
        _summary(guarantee, method, deed, model, n_records),
        ["## What the epsilon covers" if with_epsilon else "## What is promised", "", *told],
        ["## Protected attributes", "", *_attributes(guarantee)],
        ["## Columns released unprotected", "", *_kept(guarantee)],
        ["## Conditions and exceptions", "", *_notes(guarantee)],
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _summary(
    guarantee: dict[str, Any], method: str, deed: str, model: str, n_records: int
) -> list[str]:
    lines = []
    if guarantee["randomness"] == "seeded":
        lines += [
            (
                "**This release protects nobody.** Its randomness came from a seed, for an "
                "experiment: whoever knows or guesses the seed can take the noise off again. Do "
                "not publish it."
            ),
            "",
        ]
    epsilon = guarantee["epsilon"]
    budget = "." if epsilon is None else f" with a budget (epsilon) of {_number(epsilon)}, divided "
    if epsilon is not None:
        budget += f"among {_count(len(guarantee['attributes']), 'attribute')}."
    lines.append(
        f"A table of {n_records} records was protected by {method}. {deed} "
        f"The privacy model is {model}{budget}"
    )
    if epsilon is not None and guarantee["randomness"] == "os":
        lines += [
            "",
            (
                "An epsilon bounds what the release can reveal about one person, at the scopes "
                "that the next table names: if that person's record were replaced by any other, "
                "nothing seen at such a scope would become more or less likely by more than the "
                f"factor e^epsilon ({_factor(epsilon)} for {_number(epsilon)}). A factor near 1 "
                "protects well; a large one hardly at all. What exactly is compared is the scope, "
                "and it decides what the number is worth."
            ),
        ]
    return lines


def _no_epsilon(guarantee: dict[str, Any]) -> list[str]:
    if guarantee["model"] == "k-anonymity":
        return [
            (
                "Whoever looks for a person by the protected attributes finds at least "
                f"{guarantee['k']} records that fit equally well. That hides which row is whose. "
                "It does not hide what the rows of such a group have in common, and it bounds "
                "nothing for an intruder who knows more. No epsilon is claimed at any scope."
            ),
        ]
    return [
        (
            "Nothing formal: no epsilon at any scope and no k-anonymity of records. What the "
            "method does is said below; how well it hides people in this table has to be "
            "measured, by an assessment of the release against the original."
        ),
    ]


def _scopes(guarantee: dict[str, Any]) -> list[str]:
    lines = ["| scope | what is compared | covered | epsilon | factor |", "|---|---|---|---|---|"]
    for key, (name, meaning) in SCOPES.items():
        scope = guarantee["scopes"][key]
        if scope["covered"]:
            cells = f"yes | {_number(scope['epsilon'])} | {_factor(scope['epsilon'])}"
        else:
            cells = "**no** | none | no bound"
        lines.append(f"| {name} | {meaning} | {cells} |")
    vector = guarantee["scopes"]["vector"]
    clusters = guarantee["k"] is not None
    multiplied = vector["covered"] and vector["epsilon"] > guarantee["epsilon"]
    if clusters and multiplied and vector["epsilon"] > MEANINGLESS:
        lines += [
            "",
            (
                "At vector scope the epsilon is a bound that needs no data and is far too large to "
                "protect anybody by itself: what protects there is the mixing of values within "
                "clusters, for which there is no formal promise."
            ),
        ]
    if clusters and not guarantee["scopes"]["row"]["covered"] and guarantee["randomness"] == "os":
        lines += [
            "",
            (
                "Row scope is not covered: rows that carry the same value of an attribute show "
                "which people lie close together in it, whatever the epsilon."
            ),
        ]
    return lines


def _attributes(guarantee: dict[str, Any]) -> list[str]:
    lines = ["| attribute | share of epsilon | bounds | resolution |", "|---|---|---|---|"]
    for name, terms in guarantee["attributes"].items():
        bounds = terms["bounds"]
        told = f"{_domain(bounds)}, " if bounds else ""
        share = "none" if terms["share"] is None else _number(terms["share"])
        step = "" if terms["resolution"] is None else f"{terms['resolution']}, "
        lines.append(
            f"| {in_markdown(name)} | {share} | {told}{terms['bounds_source']} | "
            f"{step}{terms['resolution_source']} |"
        )
    return lines


def _domain(bounds: list[Any]) -> str:
    if all(isinstance(bound, str) for bound in bounds) and len(bounds) != 2:
        return in_markdown(", ".join(bounds))
    return in_markdown(f"{bounds[0]} to {bounds[1]}")


def _kept(guarantee: dict[str, Any]) -> list[str]:
    if not guarantee["kept"]:
        return ["None."]
    names = ", ".join(in_markdown(name) for name in guarantee["kept"])
    return [
        (
            f"{names}. They are in the release exactly as in the original. Nothing above holds for "
            "them, and they may help to find a person in the other columns."
        ),
    ]


def _notes(guarantee: dict[str, Any]) -> list[str]:
    return [f"- {in_markdown(note)}" for note in guarantee["notes"]]


def _number(value: float) -> str:
    """Write six digits, rounded up: a certificate must not understate."""
    with localcontext() as context:
        context.prec, context.rounding = 6, ROUND_CEILING
        return f"{float(+Decimal(repr(value))):.6g}"


def _factor(epsilon: float) -> str:
    if epsilon > MEANINGLESS:
        return "over a million"
    with localcontext() as context:
        context.prec, context.rounding = (3 if epsilon >= 0.1 else 5), ROUND_CEILING
        return f"{+Decimal(repr(math.exp(epsilon))):f}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
