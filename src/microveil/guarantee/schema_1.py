"""Guarantees of schema 1 (version 0.1), as the plain values of schema 2.

What schema 1 left unsaid is added, or a file would launder an old claim: the noise scales of
individual differential privacy are a condition, columns or parameters left to the data are one
too and cost the row scope, and nothing of it is then differential privacy.
"""

import datetime
from collections.abc import Iterator, Mapping
from typing import Any

from microveil.guarantee.budget import exact_number
from microveil.guarantee.condition import Condition, condition_of
from microveil.guarantee.model import Model
from microveil.guarantee.remarks import FURTHER
from microveil.guarantee.scope import EVERY_SCOPE
from microveil.schema import Kind, Source

__all__ = ["COST_ROW_SCOPE", "as_schema_2"]

# Sentences by which certificates spoke of what are conditions now.
SENTENCES = {
    "was left to a look at the table": "columns-chosen",
    "Parameters left to advice were chosen by the error": "parameters-chosen",
    "that means by the same rank boundaries": "rank-boundaries",
    "rank boundaries held": "rank-boundaries",
    "Cluster sizes were chosen from the data": "cluster-sizes",
    "The partition was chosen from the data": "cluster-sizes",
    "Cells without a value are released as such": "missing-cells",
    "exactly as they are; this was allowed": "exact-cells",
}
COST_ROW_SCOPE = {"columns-chosen", "parameters-chosen"}
NOTHING: dict[str, str | None] = {"epsilon": None, "delta": None}


def as_schema_2(old: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a guarantee of schema 1 says, and what it left unsaid, as one of schema 2."""
    # White space of any kind must not hide a sentence.
    notes = [" ".join(str.split(note)) for note in old["notes"]]
    model, attributes = Model(old["model"]), old["attributes"]
    scopes = {name: _cover(cover) for name, cover in old["scopes"].items()}
    conditions = list(_conditions(old, " ".join(notes)))
    if not COST_ROW_SCOPE.isdisjoint(own.id for own in conditions):
        model, scopes = model.at_most(Model.INDIVIDUAL), {**scopes, "row": NOTHING}
    named = next(note for note in notes if note.startswith("Method: "))
    method, _, title = named.removeprefix("Method: ").removesuffix(".").partition(", ")
    if model is Model.INDIVIDUAL:  # of which one sentence was false
        further = FURTHER[model]
        notes = [further if "adds its epsilon to this one's" in note else note for note in notes]
    return {
        "schema": 2,
        "method": method,
        "title": title,
        "source": "",
        "deed": "",
        "n_records": None,
        "model": model,
        "k": old["k"],
        "unit": {"column": None, "max_rows": 1},
        "conditions": [own.to_dict() for own in conditions],
        "attributes": {
            name: {
                "method": method,
                "domain": own["bounds"],
                "domain_source": own["bounds_source"],
                "resolution": own["resolution"],
                "resolution_source": own["resolution_source"],
            }
            for name, own in attributes.items()
        },
        "randomness": old["randomness"],
        "kept": old["kept"],
        "notes": [*(own.text for own in conditions), *notes],
        "shuffle": None,
        "exact": {
            "epsilon": _exact(old["epsilon"]),
            "delta": None,
            "rho": None,
            "scopes": scopes,
            "shares": {name: _exact(own["share"]) for name, own in attributes.items()},
        },
        "kinds": {name: _kind_of(own["bounds"]) for name, own in attributes.items()},
    }


def _conditions(old: Mapping[str, Any], said: str) -> Iterator[Condition]:
    spends, attributes = old["epsilon"] is not None, old["attributes"]
    scopes = EVERY_SCOPE if spends else ()
    if old["randomness"] == "seeded":
        yield condition_of("seeded").at(scopes)
    if old["model"] == Model.INDIVIDUAL.value:
        yield condition_of("noise-scales").at(scopes)
    for found in dict.fromkeys(own for sentence, own in SENTENCES.items() if sentence in said):
        if spends:
            yield condition_of(found)
        elif found == "missing-cells":
            yield condition_of(found).at(())
    for source, found in (("bounds_source", "bounds"), ("resolution_source", "resolution")):
        names = [name for name, own in attributes.items() if own[source] == Source.DATA.value]
        if names:
            yield condition_of(found, names=names).at(scopes)
    if old["kept"]:
        yield condition_of("kept-columns", names=old["kept"]).at(scopes)


def _cover(cover: Mapping[str, Any]) -> dict[str, str | None]:
    return NOTHING | ({"epsilon": str(exact_number(cover["epsilon"]))} if cover["covered"] else {})


def _exact(number: Any) -> str | None:
    return None if number is None else str(exact_number(number))


def _kind_of(domain: list[Any] | None) -> Kind:
    """Tell dates and categories from numbers, as far as a certificate shows them."""
    if not domain or not isinstance(domain[0], str):
        return Kind.DECIMAL
    try:
        for bound in domain:
            datetime.date.fromisoformat(bound)
    except ValueError:
        return Kind.OTHER
    return Kind.DATE if len(domain) == 2 else Kind.OTHER
