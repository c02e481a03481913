"""A guarantee read again from its file, of this schema or the one before.

What schema 1 left unsaid is said on reading, or the file would launder an old claim: the noise
scales of individual differential privacy are a condition, columns or parameters left to the data
are one too and cost the row scope, and nothing of it is then differential privacy.
"""

import datetime
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microveil.errors import FileError
from microveil.guarantee.budget import exact_number
from microveil.guarantee.condition import (
    SEEDED,
    Condition,
    bounds,
    cluster_sizes,
    columns_chosen,
    exact_cells,
    kept_columns,
    missing_cells,
    noise_scales,
    parameters_chosen,
    rank_boundaries,
    repeated_people,
    resolution,
    seeded,
)
from microveil.guarantee.model import Model
from microveil.guarantee.notes import FURTHER
from microveil.guarantee.scope import EVERY_SCOPE, Cover, Scope, Scopes
from microveil.guarantee.terms import RESPONSE, AttributeTerms, PartTerms, Transition, Unit
from microveil.schema import Kind, Source

if TYPE_CHECKING:  # the guarantee reads itself by this module
    from microveil.guarantee.guarantee import Guarantee

__all__ = ["guarantee_of", "read_guarantee"]

# Sentences by which certificates of schema 1 spoke of what are conditions now.
SCHEMA_1: tuple[tuple[str, Condition], ...] = (
    ("was left to a look at the table", columns_chosen()),
    ("Parameters left to advice were chosen by the error", parameters_chosen()),
    ("that means by the same rank boundaries", rank_boundaries()),
    ("rank boundaries held", rank_boundaries()),
    ("Cluster sizes were chosen from the data", cluster_sizes()),
    ("The partition was chosen from the data", cluster_sizes()),
    ("Cells without a value are released as such", missing_cells()),
    ("exactly as they are; this was allowed", exact_cells()),
)
COST_ROW_SCOPE = {"columns-chosen", "parameters-chosen"}
# What individual differential privacy takes as given, and differential privacy never does.
NOT_DP = {
    "noise-scales",
    "rank-boundaries",
    "cluster-sizes",
    "bounds",
    "categories",
    "resolution",
    "columns-chosen",
    "parameters-chosen",
}


# Sums of as many as there can be in a row fit 64 bits.
LARGEST_WEIGHT = 1 << 55


def read_guarantee(made: "type[Guarantee]", path: Path) -> "Guarantee":
    """Read a guarantee.json; see `Guarantee.read`."""
    try:
        contents = json.loads(path.read_text(encoding="utf-8"))
        return guarantee_of(made, contents)
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


def guarantee_of(made: "type[Guarantee]", contents: Mapping[str, Any]) -> "Guarantee":
    """Make a guarantee of its plain values; see `Guarantee.from_dict`.

    Raises
    ------
    KeyError, TypeError, ValueError
        If they are not those of a guarantee.
    """
    if contents["schema"] == 1:
        return _with_repeated_people(_of_schema_1(made, contents))
    if contents["schema"] != 2:
        raise ValueError
    guarantee = _of_schema_2(made, contents)
    # What is shown and what is exact must be one and the same.
    if guarantee.to_dict() != contents or _says_too_much(guarantee):
        raise ValueError
    return _with_repeated_people(guarantee)


def _with_repeated_people(guarantee: "Guarantee") -> "Guarantee":
    """Add the condition of k-anonymity that counts records, which earlier versions left unsaid."""
    models = {guarantee.model, *(part.model for part in guarantee.parts)}
    said = {condition.id for condition in guarantee.conditions}
    counts_people = guarantee.unit.column is not None
    if Model.K_ANONYMITY not in models or counts_people or "repeated-people" in said:
        return guarantee
    scopes = EVERY_SCOPE if guarantee.epsilon is not None else ()
    own = repeated_people().at(scopes)
    kept = tuple(c for c in guarantee.conditions if c.id == "kept-columns")
    others = tuple(c for c in guarantee.conditions if c not in kept)
    return replace(guarantee, conditions=(*others, own, *kept))


def _of_schema_2(made: "type[Guarantee]", contents: Mapping[str, Any]) -> "Guarantee":
    exact = contents["exact"]
    return made(
        method=_words(contents["method"]),
        title=_words(contents["title"]),
        source=_words(contents["source"]),
        deed=_words(contents["deed"]),
        model=Model(contents["model"]),
        epsilon=_fraction(exact["epsilon"]),
        delta=_fraction(exact["delta"]) or Fraction(0),
        rho=_fraction(exact["rho"]),
        k=_count(contents["k"]),
        n_records=_count(contents["n_records"]) or 0,
        unit=_unit(contents["unit"]),
        scopes=_scopes(exact["scopes"]),
        conditions=tuple(_condition(entry) for entry in contents["conditions"]),
        attributes=tuple(
            _terms(name, terms, Kind(contents["kinds"][name]), _fraction(exact["shares"][name]))
            for name, terms in contents["attributes"].items()
        ),
        parts=tuple(_part(entry) for entry in contents.get("parts", ())),
        randomness=str(_one_of(contents["randomness"], ("os", "keyed", "seeded"))),
        kept=tuple(_words(name) for name in contents["kept"]),
        shuffle=_one_of(contents["shuffle"], (None, "rows", "columns", "parts")),
        is_synthetic=contents.get("synthetic", False) is True,
        remarks=tuple(_words(note) for note in contents["notes"][len(contents["conditions"]) :]),
    )


def _scopes(exact: Mapping[str, Any]) -> Scopes:
    return Scopes(
        **{
            scope.value: Cover(
                exact_epsilon=_fraction(exact[scope.value]["epsilon"]),
                exact_delta=_fraction(exact[scope.value]["delta"]) or Fraction(0),
            )
            for scope in Scope
        }
    )


def _part(contents: Mapping[str, Any]) -> PartTerms:
    return PartTerms(
        attributes=tuple(_words(name) for name in contents["attributes"]),
        method=_words(contents["method"]),
        title=_words(contents["title"]),
        source=_words(contents["source"]),
        deed=_words(contents["deed"]),
        model=Model(contents["model"]),
        epsilon=_fraction(contents["exact"]["epsilon"]),
        k=_count(contents["k"]),
        scopes=_scopes(contents["exact"]["scopes"]),
        shuffle=_one_of(contents["shuffle"], (None, "rows", "columns")),
    )


def _parts_say_less(guarantee: "Guarantee") -> bool:
    """Whether a whole claims more than its parts do, or a part more than a part can."""
    parts = guarantee.parts
    weakest = min((part.model for part in parts), key=lambda model: model.strength)
    if guarantee.model.strength > weakest.strength or guarantee.model is Model.K_ANONYMITY:
        return True
    if guarantee.k is not None or guarantee.rho is not None or guarantee.is_synthetic:
        return True
    if len(parts) < 2 or any(map(_is_no_part, parts)):
        return True
    named = [(name, part.method) for part in parts for name in part.attributes]
    if named != [(terms.name, terms.method) for terms in guarantee.attributes]:
        return True
    if guarantee.epsilon != _sum([part.epsilon for part in parts]):
        return True
    return _orders_differ(guarantee) or any(
        _covers_too_much(guarantee, scope) for scope in EVERY_SCOPE
    )


def _is_no_part(part: PartTerms) -> bool:
    """Whether a part covers a scope without an epsilon, or claims a model that spends one."""
    covered = any(cover.covered for cover in part.scopes.by_scope.values())
    formal = part.model in (Model.DIFFERENTIAL_PRIVACY, Model.INDIVIDUAL)
    return part.epsilon is None and (covered or formal)


def _orders_differ(guarantee: "Guarantee") -> bool:
    """Whether a whole says of the order of rows what its parts do not."""
    orders = [part.shuffle for part in guarantee.parts]
    if guarantee.shuffle == "columns":
        return any(order != "columns" for order in orders)
    if guarantee.shuffle == "parts":
        return not any(orders) or all(order == "columns" for order in orders)
    return any(orders)


def _covers_too_much(guarantee: "Guarantee", scope: Scope) -> bool:
    """Whether a whole covers a scope by less than its parts spend there."""
    cover = guarantee.scopes[scope]
    covers = [part.scopes[scope] for part in guarantee.parts]
    spent = _sum([own.exact_epsilon for own in covers])
    if cover.exact_epsilon is None:
        return False
    left_out = sum((own.exact_delta for own in covers), Fraction(0))
    return spent is None or cover.exact_epsilon < spent or cover.exact_delta < left_out


def _sum(epsilons: list[Fraction | None]) -> Fraction | None:
    known = [epsilon for epsilon in epsilons if epsilon is not None]
    return sum(known, Fraction(0)) if len(known) == len(epsilons) else None


def _one_of(value: Any, known: tuple[str | None, ...]) -> str | None:
    if value not in known:
        raise ValueError
    return None if value is None else str(value)


def _says_too_much(guarantee: "Guarantee") -> bool:
    """Whether a guarantee claims what no guarantee of ours does."""
    ids = {condition.id for condition in guarantee.conditions}
    of_parts = (part.scopes for part in guarantee.parts)
    seeded_but_covered = guarantee.randomness == "seeded" and any(
        cover.covered
        for scopes in (guarantee.scopes, *of_parts)
        for cover in scopes.by_scope.values()
    )
    not_dp = guarantee.model is Model.DIFFERENTIAL_PRIVACY and ids & NOT_DP
    without_budget = guarantee.epsilon is None and any(
        cover.covered for cover in guarantee.scopes.by_scope.values()
    )
    given = any(condition.is_given for condition in guarantee.conditions)
    without_scales = guarantee.model is Model.INDIVIDUAL and not given
    unit = guarantee.unit
    without_sizes = (unit.column is not None) != ("unit-sizes" in ids)
    of_record = unit.column is None and (
        unit.max_rows != 1 or any(terms.of_unit for terms in guarantee.attributes)
    )
    chosen = bool(ids & COST_ROW_SCOPE) and guarantee.scopes.row.covered
    return bool(
        seeded_but_covered
        or not_dp
        or without_budget
        or without_scales
        or chosen
        or without_sizes
        or of_record
        or (guarantee.parts and _parts_say_less(guarantee))
        or (guarantee.randomness == "seeded") != (SEEDED in ids)
    )


def _words(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _count(value: Any) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise ValueError
    return value


def _fraction(text: str | None) -> Fraction | None:
    if text is None:
        return None
    # No exponents: a short text must not stand for a number without end.
    if not re.fullmatch(r"[0-9]{1,1000}(/[0-9]{1,1000})?", text):
        raise ValueError
    return Fraction(text)


def _unit(contents: Mapping[str, Any]) -> Unit:
    column, rows = contents["column"], _count(contents["max_rows"])
    return Unit(column=None if column is None else _words(column), max_rows=rows or 1)


def _condition(contents: Mapping[str, Any]) -> Condition:
    condition = Condition.from_dict(contents)
    for text in (condition.id, condition.short, condition.text):
        _words(text)
    if not isinstance(condition.is_given, bool):
        raise TypeError
    return condition


def _terms(
    name: str, terms: Mapping[str, Any], kind: Kind, share: Fraction | None
) -> AttributeTerms:
    domain, reasons = terms["domain"], terms.get("missing_codes", ())
    if not all(isinstance(part, int | float | str) for part in (*(domain or ()), *reasons)):
        raise TypeError
    numbers = kind.is_numeric and domain is not None
    if numbers and len(domain) != 2:
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


def _of_schema_1(made: "type[Guarantee]", contents: Mapping[str, Any]) -> "Guarantee":
    """Read what schema 1 holds, and add the conditions that it did not say as such."""
    # White space of any kind must not hide a sentence.
    notes = tuple(" ".join(_words(note).split()) for note in contents["notes"])
    found = _conditions_of_schema_1(contents, notes)
    spends = contents["epsilon"] is not None
    conditions = tuple(condition if spends else condition.at(()) for condition in found)
    costly = COST_ROW_SCOPE & {condition.id for condition in conditions}
    model = Model(contents["model"])
    scopes = Scopes(
        **{
            name: Cover.of(exact_number(cover["epsilon"])) if cover["covered"] else Cover.none()
            for name, cover in contents["scopes"].items()
        }
    )
    if costly:
        model, scopes = model.at_most(Model.INDIVIDUAL), replace(scopes, row=Cover.none())
    method, title = _method_of(notes)
    epsilon = contents["epsilon"]
    return made(
        method=method,
        title=title,
        source="",
        deed="",
        model=model,
        epsilon=None if epsilon is None else exact_number(epsilon),
        k=contents["k"],
        n_records=0,
        scopes=scopes,
        conditions=conditions,
        attributes=tuple(
            _terms_of_schema_1(name, terms, method)
            for name, terms in contents["attributes"].items()
        ),
        randomness=contents["randomness"],
        kept=tuple(contents["kept"]),
        remarks=tuple(_remarks_of_schema_1(notes, model)),
    )


def _remarks_of_schema_1(notes: tuple[str, ...], model: Model) -> Iterator[str]:
    """Keep the sentences of an old certificate, but for the one that was false of iDP."""
    for note in notes:
        adds_up = "adds its epsilon to this one's" in note
        yield FURTHER[model] if adds_up and model is Model.INDIVIDUAL else note


def _conditions_of_schema_1(
    contents: Mapping[str, Any], notes: tuple[str, ...]
) -> Iterator[Condition]:
    spends = contents["epsilon"] is not None
    if contents["randomness"] == "seeded":
        yield seeded()
    if contents["model"] == Model.INDIVIDUAL.value:
        yield noise_scales()
    said = " ".join(notes)
    found = {condition.id: condition for sentence, condition in SCHEMA_1 if sentence in said}
    for condition in found.values():
        if spends or condition.id == "missing-cells":
            yield condition
    for source, condition_of in (("bounds_source", bounds), ("resolution_source", resolution)):
        names = [
            name
            for name, terms in contents["attributes"].items()
            if terms[source] == Source.DATA.value
        ]
        if names:
            yield condition_of(names)
    if contents["kept"]:
        yield kept_columns(contents["kept"])


def _method_of(notes: tuple[str, ...]) -> tuple[str, str]:
    """Find the note that named the method: "Method: dp-um, univariate microaggregation ..."."""
    named = next(note for note in notes if note.startswith("Method: "))
    method, _, title = named.removeprefix("Method: ").removesuffix(".").partition(", ")
    return method, title


def _terms_of_schema_1(name: str, terms: Mapping[str, Any], method: str) -> AttributeTerms:
    share, domain = terms["share"], terms["bounds"]
    return AttributeTerms(
        name=name,
        kind=_kind_of(domain),
        method=method,
        share=None if share is None else exact_number(share),
        domain=None if domain is None else tuple(domain),
        domain_source=Source(terms["bounds_source"]),
        resolution=terms["resolution"],
        resolution_source=Source(terms["resolution_source"]),
    )


def _kind_of(domain: list[Any] | None) -> Kind:
    """Tell dates and categories from numbers, as far as a certificate of schema 1 shows them."""
    if not domain or not isinstance(domain[0], str):
        return Kind.DECIMAL
    try:
        for bound in domain:
            datetime.date.fromisoformat(bound)
    except ValueError:
        return Kind.OTHER
    return Kind.DATE if len(domain) == 2 else Kind.OTHER
