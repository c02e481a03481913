"""The plain values of a guarantee read again: what they say of its fields, and what they may not.

Nothing here knows the class: a file becomes the values of its fields. What a certificate of schema
1 (version 0.1) left unsaid is added, or a file would launder an old claim: the noise scales of
individual differential privacy are a condition; so are columns or parameters left to the data,
which cost the row scope and differential privacy.
"""

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from microveil.guarantee.budget import added_up, exact_number
from microveil.guarantee.condition import FURTHER, Condition, condition_of
from microveil.guarantee.terms import (
    EVERY_SCOPE,
    RESPONSE,
    AttributeTerms,
    Cover,
    Model,
    PartTerms,
    Scopes,
    Transition,
    Unit,
)
from microveil.schema import Kind, Source

Fields = dict[str, Any]

COST_ROW_SCOPE = {"columns-chosen", "parameters-chosen"}
# What individual differential privacy takes as given, and differential privacy never does.
NOT_DP = {
    *("noise-scales", "rank-boundaries", "cluster-sizes", "bounds", "categories", "resolution"),
    *COST_ROW_SCOPE,
}
# Sums of as many as there can be in a row fit 64 bits.
LARGEST_WEIGHT = 1 << 55
# Sentences by which certificates of schema 1 spoke of what are conditions now.
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
RANDOMNESS = ("os", "keyed", "seeded")


def fields_of(contents: Mapping[str, Any]) -> Fields:
    """Return the fields of a guarantee from its plain values; refuse what none of ours has."""
    if contents["schema"] == 1:
        return _of_schema_1(contents)
    fields = _fields(contents)
    if contents["schema"] != 2 or _contradicts(fields):
        raise ValueError
    return fields


def with_repeated_people(fields: Fields) -> Fields:
    """Add the condition of k-anonymity that counts records, which earlier versions left unsaid."""
    models = {fields["model"], *(part.model for part in fields["parts"])}
    said = {own.id for own in fields["conditions"]}
    counts_people = fields["unit"].column is not None
    if Model.K_ANONYMITY not in models or counts_people or "repeated-people" in said:
        return fields
    own = condition_of("repeated-people").at(EVERY_SCOPE if fields["epsilon"] is not None else ())
    # What is kept comes last.
    ordered = sorted((*fields["conditions"], own), key=lambda one: one.id == "kept-columns")
    return {**fields, "conditions": tuple(ordered)}


def _fields(contents: Mapping[str, Any]) -> Fields:
    exact, kinds, conditions = contents["exact"], contents["kinds"], contents["conditions"]
    unit = contents["unit"]
    return {
        **_shared(contents),
        "delta": _fraction(exact["delta"]) or Fraction(0),
        "rho": _fraction(exact["rho"]),
        "n_records": _count(contents["n_records"]) or 0,
        "unit": Unit(
            column=None if unit["column"] is None else _words(unit["column"]),
            max_rows=_count(unit["max_rows"]) or 1,
        ),
        "conditions": tuple(map(_condition, conditions)),
        "attributes": tuple(
            _terms(name, terms, Kind(kinds[name]), _fraction(exact["shares"][name]))
            for name, terms in contents["attributes"].items()
        ),
        "parts": tuple(
            PartTerms(
                **_shared(part),
                attributes=tuple(map(_words, part["attributes"])),
                shuffle=_one_of(part["shuffle"], None, "rows", "columns"),
            )
            for part in contents.get("parts", ())
        ),
        "randomness": _one_of(contents["randomness"], *RANDOMNESS),
        "kept": tuple(map(_words, contents["kept"])),
        "shuffle": _one_of(contents["shuffle"], None, "rows", "columns", "parts"),
        "is_synthetic": contents.get("synthetic", False) is True,
        "remarks": tuple(map(_words, contents["notes"][len(conditions) :])),
    }


def _shared(contents: Mapping[str, Any]) -> Fields:
    """Read what a part says as a whole does."""
    covers = contents["exact"]["scopes"]
    return {
        **{name: _words(contents[name]) for name in ("method", "title", "source", "deed")},
        "model": Model(contents["model"]),
        "epsilon": _fraction(contents["exact"]["epsilon"]),
        "k": _count(contents["k"]),
        "scopes": Scopes(
            **{
                scope.value: Cover(
                    exact_epsilon=_fraction(covers[scope.value]["epsilon"]),
                    exact_delta=_fraction(covers[scope.value]["delta"]) or Fraction(0),
                )
                for scope in EVERY_SCOPE
            }
        ),
    }


def _condition(contents: Mapping[str, Any]) -> Condition:
    own = Condition.from_dict(contents)
    texts = (own.id, own.short, own.text)
    if not isinstance(own.is_given, bool) or not all(isinstance(text, str) for text in texts):
        raise TypeError
    return own


def _terms(
    name: str, terms: Mapping[str, Any], kind: Kind, share: Fraction | None
) -> AttributeTerms:
    domain, reasons = terms["domain"], terms.get("missing_codes", ())
    if not all(isinstance(part, int | float | str) for part in (*(domain or ()), *reasons)):
        raise TypeError
    if kind.is_numeric and domain is not None and len(domain) != 2:
        raise ValueError
    return AttributeTerms(
        name=name,
        kind=kind,
        method=_words(terms["method"]),
        share=share,
        domain=None if domain is None else tuple(domain),
        domain_source=Source(terms["domain_source"]),
        resolution=terms["resolution"],
        resolution_source=Source(terms["resolution_source"]),
        reasons=tuple(reasons),
        transition=_transition(terms.get("transition")),
        of_unit=terms.get("of_unit", False) is True,
    )


def _transition(rows: Any) -> Transition | None:
    """Read a transition matrix: square, of whole numbers, and no row of nothing; or what it is."""
    if rows is None or rows == RESPONSE:
        return None if rows is None else RESPONSE
    read = tuple(tuple(_count(weight) or 0 for weight in row) for row in rows)
    if not read or any(len(row) != len(read) or not any(row) for row in read):
        raise ValueError
    if max(map(max, read)) > LARGEST_WEIGHT:
        raise ValueError
    return read


def _words(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _count(value: Any) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ValueError
    return value


def _fraction(text: str | None) -> Fraction | None:
    # No exponents: a short text must not stand for a number without end.
    if text is not None and not re.fullmatch(r"[0-9]{1,1000}(/[0-9]{1,1000})?", text):
        raise ValueError
    return None if text is None else Fraction(text)


def _one_of(value: Any, *known: str | None) -> Any:
    if value not in known:
        raise ValueError
    return value


def _contradicts(fields: Fields) -> bool:
    """Whether the fields of a guarantee claim what no guarantee of ours does."""
    scopes, model, unit = fields["scopes"], fields["model"], fields["unit"]
    ids = {own.id for own in fields["conditions"]}
    is_seeded, parts = fields["randomness"] == "seeded", fields["parts"]
    every = [scopes, *(part.scopes for part in parts)]
    of_unit = any(terms.of_unit for terms in fields["attributes"])
    return (
        is_seeded != ("seeded" in ids)
        or (is_seeded and any(own.any_covered for own in every))
        or (model is Model.DIFFERENTIAL_PRIVACY and not ids.isdisjoint(NOT_DP))
        or (fields["epsilon"] is None and scopes.any_covered)
        or (model is Model.INDIVIDUAL and not any(own.is_given for own in fields["conditions"]))
        or (scopes.row.covered and not ids.isdisjoint(COST_ROW_SCOPE))
        or (unit.column is not None) != ("unit-sizes" in ids)
        or (unit.column is None and (unit.max_rows != 1 or of_unit))
        or (bool(parts) and _parts_say_less(fields, parts))
    )


def _parts_say_less(fields: Fields, parts: Sequence[PartTerms]) -> bool:
    """Whether a whole claims more than its parts do, or a part more than a part can."""
    orders, shuffle = [part.shuffle for part in parts], fields["shuffle"]
    named = [(name, part.method) for part in parts for name in part.attributes]
    formal = (Model.DIFFERENTIAL_PRIVACY, Model.INDIVIDUAL)
    return (
        len(parts) < 2
        or fields["model"] is Model.K_ANONYMITY
        or fields["model"].strength > min(part.model.strength for part in parts)
        or (fields["k"], fields["rho"], fields["is_synthetic"]) != (None, None, False)
        or named != [(terms.name, terms.method) for terms in fields["attributes"]]
        or fields["epsilon"] != added_up(part.epsilon for part in parts)
        or any(
            part.epsilon is None and (part.scopes.any_covered or part.model in formal)
            for part in parts
        )
        or (shuffle == "columns" and any(order != "columns" for order in orders))
        or (shuffle == "parts" and (not any(orders) or set(orders) == {"columns"}))
        or (shuffle in (None, "rows") and any(orders))
        or any(
            _covers_too_much(cover, [part.scopes[scope] for part in parts])
            for scope, cover in fields["scopes"].by_scope.items()
        )
    )


def _covers_too_much(whole: Cover, covers: Sequence[Cover]) -> bool:
    """Whether a whole covers a scope by less than its parts spend there."""
    if whole.exact_epsilon is None:
        return False
    spent = added_up(own.exact_epsilon for own in covers)
    left_out = sum(own.exact_delta for own in covers)
    return spent is None or whole.exact_epsilon < spent or whole.exact_delta < left_out


def _of_schema_1(old: Mapping[str, Any]) -> Fields:
    """Return the fields of a guarantee of schema 1, and what it left unsaid."""
    # White space of any kind must not hide a sentence.
    notes = [" ".join(str.split(note)) for note in old["notes"]]
    model, conditions = Model(old["model"]), tuple(_conditions(old, " ".join(notes)))
    scopes = {scope.value: _cover(old["scopes"][scope.value]) for scope in EVERY_SCOPE}
    if not COST_ROW_SCOPE.isdisjoint(own.id for own in conditions):
        model, scopes = model.at_most(Model.INDIVIDUAL), {**scopes, "row": Cover()}
    named = next(note for note in notes if note.startswith("Method: "))
    method, _, title = named.removeprefix("Method: ").removesuffix(".").partition(", ")
    if model is Model.INDIVIDUAL:  # of which one sentence was false
        further = FURTHER[model]
        notes = [further if "adds its epsilon to this one's" in note else note for note in notes]
    attributes = []
    for name, own in old["attributes"].items():
        terms = {"method": method, "domain": own["bounds"], "domain_source": own["bounds_source"]}
        terms |= {part: own[part] for part in ("resolution", "resolution_source")}
        attributes.append(_terms(name, terms, _kind_of(own["bounds"]), _number(own["share"])))
    return {
        "method": method,
        "title": title,
        "source": "",
        "deed": "",
        "model": model,
        "epsilon": _number(old["epsilon"]),
        "k": _count(old["k"]),
        "n_records": 0,
        "unit": Unit(),
        "scopes": Scopes(**scopes),
        "conditions": conditions,
        "attributes": tuple(attributes),
        "parts": (),
        "randomness": _one_of(old["randomness"], *RANDOMNESS),
        "kept": tuple(map(_words, old["kept"])),
        "remarks": tuple(notes),
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


def _cover(cover: Mapping[str, Any]) -> Cover:
    if not cover["covered"]:
        return Cover()
    return Cover(exact_epsilon=_fraction(str(exact_number(cover["epsilon"]))))


def _number(number: Any) -> Fraction | None:
    return None if number is None else _fraction(str(exact_number(number)))


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
