"""The plain values of a guarantee read again: what they say of its fields, and what they may not.

Nothing here knows the class: a file becomes the values of its fields.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from microveil.errors import FileError
from microveil.guarantee.condition import Condition, condition_of
from microveil.guarantee.model import Model
from microveil.guarantee.schema_1 import COST_ROW_SCOPE, as_schema_2
from microveil.guarantee.scope import EVERY_SCOPE, Cover, Scope, Scopes
from microveil.guarantee.terms import RESPONSE, AttributeTerms, PartTerms, Transition, Unit
from microveil.schema import Kind, Source

__all__ = ["contradicts", "fields_of", "read_contents", "with_repeated_people"]

Made = TypeVar("Made")
Fields = dict[str, Any]

# What individual differential privacy takes as given, and differential privacy never does.
NOT_DP = {
    *("noise-scales", "rank-boundaries", "cluster-sizes", "bounds", "categories", "resolution"),
    *COST_ROW_SCOPE,
}
# Sums of as many as there can be in a row fit 64 bits.
LARGEST_WEIGHT = 1 << 55


def read_contents(path: Path, made: Callable[[Any], Made]) -> Made:
    """Read a guarantee.json, and make of its values what they are of."""
    try:
        return made(json.loads(path.read_text(encoding="utf-8")))
    except OSError:
        raise FileError(
            f"{path}", "the guarantee cannot be read", "check path and rights"
        ) from None
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
        raise FileError(
            f"{path}",
            "it must be the guarantee.json of a release, of schema 1 or 2",
            "pass the file as microveil wrote it",
        ) from None


def fields_of(contents: Mapping[str, Any]) -> Fields:
    """Return the fields of a guarantee from its plain values, of schema 1 or 2.

    Raises
    ------
    KeyError, TypeError, ValueError
        If they are not those of a guarantee.
    """
    if contents["schema"] == 1:
        contents = as_schema_2(contents)
    if contents["schema"] != 2:
        raise ValueError
    exact, kinds, conditions = contents["exact"], contents["kinds"], contents["conditions"]
    return {
        **_shared(contents),
        "delta": _fraction(exact["delta"]) or Fraction(0),
        "rho": _fraction(exact["rho"]),
        "n_records": _count(contents["n_records"]) or 0,
        "unit": _unit(contents["unit"]),
        "conditions": tuple(map(_condition, conditions)),
        "attributes": tuple(
            _terms(name, terms, Kind(kinds[name]), _fraction(exact["shares"][name]))
            for name, terms in contents["attributes"].items()
        ),
        "parts": tuple(map(_part, contents.get("parts", ()))),
        "randomness": _one_of(contents["randomness"], "os", "keyed", "seeded"),
        "kept": tuple(map(_words, contents["kept"])),
        "shuffle": _one_of(contents["shuffle"], None, "rows", "columns", "parts"),
        "is_synthetic": contents.get("synthetic", False) is True,
        "remarks": tuple(map(_words, contents["notes"][len(conditions) :])),
    }


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


def _shared(contents: Mapping[str, Any]) -> Fields:
    """Read what a part says as a whole does."""
    return {
        **{name: _words(contents[name]) for name in ("method", "title", "source", "deed")},
        "model": Model(contents["model"]),
        "epsilon": _fraction(contents["exact"]["epsilon"]),
        "k": _count(contents["k"]),
        "scopes": Scopes(
            **{own.value: _cover(contents["exact"]["scopes"][own.value]) for own in EVERY_SCOPE}
        ),
    }


def _cover(exact: Mapping[str, Any]) -> Cover:
    epsilon, delta = _fraction(exact["epsilon"]), _fraction(exact["delta"])
    return Cover(exact_epsilon=epsilon, exact_delta=delta or Fraction(0))


def _part(contents: Mapping[str, Any]) -> PartTerms:
    return PartTerms(
        **_shared(contents),
        attributes=tuple(map(_words, contents["attributes"])),
        shuffle=_one_of(contents["shuffle"], None, "rows", "columns"),
    )


def _unit(contents: Mapping[str, Any]) -> Unit:
    column, rows = contents["column"], _count(contents["max_rows"])
    return Unit(column=None if column is None else _words(column), max_rows=rows or 1)


def _condition(contents: Mapping[str, Any]) -> Condition:
    own = Condition.from_dict(contents)
    for text in (own.id, own.short, own.text):
        _words(text)
    if not isinstance(own.is_given, bool):
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


def contradicts(fields: Fields) -> bool:
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
        or fields["epsilon"] != _sum([part.epsilon for part in parts])
        or any(
            part.epsilon is None and (part.scopes.any_covered or part.model in formal)
            for part in parts
        )
        or (shuffle == "columns" and any(order != "columns" for order in orders))
        or (shuffle == "parts" and (not any(orders) or set(orders) == {"columns"}))
        or (shuffle in (None, "rows") and any(orders))
        or any(_covers_too_much(fields["scopes"], parts, scope) for scope in EVERY_SCOPE)
    )


def _covers_too_much(whole: Scopes, parts: Sequence[PartTerms], scope: Scope) -> bool:
    """Whether a whole covers a scope by less than its parts spend there."""
    cover, covers = whole[scope], [part.scopes[scope] for part in parts]
    if cover.exact_epsilon is None:
        return False
    spent = _sum([own.exact_epsilon for own in covers])
    left_out = sum((own.exact_delta for own in covers), Fraction(0))
    return spent is None or cover.exact_epsilon < spent or cover.exact_delta < left_out


def _sum(epsilons: Sequence[Fraction | None]) -> Fraction | None:
    known = [epsilon for epsilon in epsilons if epsilon is not None]
    return sum(known, Fraction(0)) if len(known) == len(epsilons) else None
