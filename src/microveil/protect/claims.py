"""From a plan to what is promised of it: the guarantee, with its terms, conditions and remarks.

The words of conditions stand in `guarantee/conditions.toml`.
"""

import datetime
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from microveil.guarantee import (
    EVERY_SCOPE,
    AttributeTerms,
    Condition,
    Cover,
    Guarantee,
    Model,
    PartTerms,
    Scope,
    Scopes,
)
from microveil.guarantee.budget import added_up
from microveil.guarantee.condition import condition_of
from microveil.protect.notes import IN_ONE_STREAM, Promised, remarks_of
from microveil.protect.parts import Whole
from microveil.protect.plan import PartPlan
from microveil.protect.request import Advised
from microveil.schema import EPOCH, Attribute, Bounds, Code, GivenCode, Source
from microveil.table import Labels, MissingCodes, Table, code_for, only
from microveil.text import listed

SEVERAL = "several methods, each for attributes of its own"
ONE_METHOD = "one method, for parts of the attributes by themselves"


def guarantee_of(parts: Sequence[PartPlan], whole: Whole | None = None) -> Guarantee:
    """Say what is promised of a release of one part or several, drawn by the system's randomness.

    Parts draw their noise apart, so that at each scope their epsilons add up; but what other parts
    put into a row stands beside a part's values, as a column that is kept does. Each is therefore
    asked for its promise with the columns of the others counted as kept, unless its own rows are
    in a random order of their own.
    """
    request, table = parts[0].request, parts[0].prepared.table
    unit = request.protected_unit
    if whole is None:
        own, shuffle = _described(parts[0]), request.order
        kept = tuple(name for name in table.names if name in request.keep)
        if request.counted.column is not None:
            unit = replace(unit, max_rows=table.n_records)
    else:
        own, shuffle, kept = _together(parts), _order(parts, whole), whole.keep
    epsilon = own["epsilon"]
    # Labels of the file are released with attributes, or with columns that are kept.
    labelled = bool(table.labels) and any(
        released_labels(table, one.protected, kept, one.request.codes) for one in parts
    )
    terms = []
    for one in parts:
        method, spender = one.request.method.id, one.request.protected_unit
        for part in one.attributes:
            share = spender.spends(part.share, of_unit=part.attribute.of_unit)
            stated = getattr(part, "stated", None)
            terms.append(AttributeTerms.of(part.attribute, share, method, stated))
    return Guarantee(
        **own,
        delta=sum([one.promise.delta for one in parts], Fraction(0)),
        rho=parts[0].promise.rho if whole is None else None,
        n_records=table.n_records,
        unit=unit,
        conditions=tuple(conditions_of(parts, epsilon, kept, labelled=labelled)),
        attributes=tuple(terms),
        parts=() if whole is None else tuple(map(_part_terms, parts)),
        randomness="os",
        kept=kept,
        shuffle=shuffle,
        is_synthetic="new table" in request.method.can,
        remarks=tuple(
            remarks_of(parts, whole, own["model"], shuffle, table.names, spends=epsilon is not None)
        ),
    )


def in_force(claim: Guarantee, parts: Sequence[PartPlan], whole: Whole | None = None) -> Guarantee:
    """Return what is promised of the release as it is drawn: nothing where a seed draws it."""
    if parts[0].request.seed is None:
        return claim
    is_shuffled = whole is not None and whole.shuffle is not None
    requests = [one.request for one in parts]
    is_drawn = any(own.method.randomness is not None or own.shuffle is not None for own in requests)
    if not (is_shuffled or is_drawn):
        return claim
    names = [""] if whole is None else [f"{part.named}: " for part in whole.parts]
    named = zip(names, parts, strict=True)
    caveats = {f"{name}{own}" for name, one in named for own in one.promise.caveats}
    remarks = (own for own in claim.remarks if own not in caveats)
    return replace(
        claim,
        scopes=Scopes(),
        parts=tuple(replace(part, scopes=Scopes()) for part in claim.parts),
        conditions=(condition_of("seeded"), *claim.conditions),
        randomness="seeded",
        remarks=tuple(own for own in remarks if not own.endswith(IN_ONE_STREAM)),
    )


def _described(one: Promised) -> dict[str, Any]:
    """Say what a method did and promises, of the whole release or of its part."""
    request, promise, method = one.request, one.promise, one.request.method
    return {
        "method": method.id,
        "title": promise.title or method.title,
        "source": promise.source or method.source,
        "deed": (promise.deed or method.deed).format(k=request.counted.least(request.k)),
        "model": promise.model,
        "epsilon": promise.epsilon,
        "k": request.k if "k" in method.needs and "k" not in request.unused else None,
        "scopes": promise.scopes,
    }


def _together(decided: Sequence[Promised]) -> dict[str, Any]:
    """Say what several methods promise together: what one of them leaves out is not covered."""
    promises = [one.promise for one in decided]
    methods = dict.fromkeys(one.request.method.id for one in decided)
    model = min((promise.model for promise in promises), key=lambda model: model.strength)
    scopes = {scope.value: [own.scopes[scope] for own in promises] for scope in Scope}
    return {
        "method": " + ".join(methods),
        "title": SEVERAL if len(methods) > 1 else ONE_METHOD,
        "source": "",
        "deed": "",
        # Together with others' values nobody of a cluster is like the rest of it.
        "model": Model.NONE if model is Model.K_ANONYMITY else model,
        "epsilon": added_up(own.epsilon for own in promises),
        "k": None,
        "scopes": Scopes(**{name: _added(covers) for name, covers in scopes.items()}),
    }


def _added(covers: Sequence[Cover]) -> Cover:
    epsilon = added_up(own.exact_epsilon for own in covers)
    if epsilon is None:
        return Cover()
    return Cover.of(epsilon, sum((own.exact_delta for own in covers), Fraction(0)))


def _order(decided: Sequence[Promised], whole: Whole) -> str | None:
    """Return what several parts put in random order: "parts" where it is some, each by itself."""
    orders = {one.request.shuffle for one in decided}
    if orders == {"columns"}:
        return "columns"
    return whole.shuffle or ("parts" if any(orders) else None)


def _part_terms(one: Promised) -> PartTerms:
    names = tuple(attribute.name for attribute in one.protected)
    return PartTerms(**_described(one), attributes=names, shuffle=one.request.shuffle)


def conditions_of(
    decided: Sequence[Promised], epsilon: Fraction | None, kept: tuple[str, ...], *, labelled: bool
) -> list[Condition]:
    """List what a claim takes as given and leaves out, the methods' own first.

    It is that of a release of one part or several, with the epsilon of the whole.
    """
    request, scopes = decided[0].request, EVERY_SCOPE if epsilon is not None else ()
    unit, of_units = request.protected_unit, request.protected_unit.column is not None
    are_counted, marked = request.counted.column is not None, _marked(decided)
    is_checked = request.outside == "error" and not are_counted
    is_new, reasons = "new table" in request.method.can, marked["missing-reasons"]
    looked = bool(scopes) and request.looked_at == Advised.DATA  # said of the table: of all parts
    # By name whether it holds, of the release, or the attributes that it is about.
    holds: dict[str, bool | Sequence[str]] = {
        "bounds": marked["bounds"],
        "categories": marked["categories"],
        "resolution": marked["resolution"],
        "columns-chosen": bool(scopes and marked["columns-chosen"]),
        "parameters-looked-at": looked,
        "parameters-chosen": not looked and marked["parameters-chosen"],
        "missing-cells": not reasons and marked["missing-cells"],
        "missing-reasons": reasons and marked["missing-cells"],
        "people-counted": are_counted,
        "unit-sizes": of_units and not are_counted,
        "outside-checked": is_checked and is_new and not of_units,
        "outside-checked-in-units": is_checked and is_new and of_units,
        "units-checked": is_checked and of_units and not is_new,
        "repeated-people": not request.says_whose and marked["repeated-people"],
        "repeated-people-of-epsilon": not request.says_whose and bool(scopes),
        "exact-cells": marked["exact-cells"],
        "labels": labelled,
        "kept-columns": kept,
    }
    found = _of_methods(decided, scopes)
    for name, about in holds.items():
        if about:
            names = reasons if name == "missing-reasons" else () if about is True else about
            own = condition_of(name, names=names, unit=unit).at(scopes)
            found.append(_named(own, about, decided) if isinstance(about, list) else own)
    return found


def _marked(decided: Sequence[Promised]) -> Mapping[str, list[str]]:
    """Name the attributes that each condition which only some may have is about."""
    found = defaultdict[str, list[str]](list)
    for one in decided:
        request = one.request
        of_all = {
            "columns-chosen": request.attributes is None,
            "parameters-chosen": request.advised is Advised.DATA,
            "missing-cells": request.missing == "keep",
            "repeated-people": one.promise.model is Model.K_ANONYMITY,
            "exact-cells": "exact cells" in request.method.can and request.exact_cells == "allow",
        }
        for own in one.protected:
            holds = {
                **of_all,
                **dict.fromkeys(own.from_data, True),
                "missing-reasons": of_all["missing-cells"] and own.reasons,
            }
            for name, is_so in holds.items():
                if is_so:
                    found[name].append(own.name)
    return found


def _of_methods(decided: Sequence[Promised], scopes: Sequence[Scope]) -> list[Condition]:
    """List the conditions of methods, each once, at every scope that some method has it at."""
    found: dict[tuple[str, str], Condition] = {}
    about = defaultdict[tuple[str, str], list[str]](list)
    for one in decided:
        for own in one.promise.conditions:
            key = own.id, own.text
            known = found.get(key, own).scopes
            found[key] = own.at(s for s in Scope if s in known or s in own.scopes)
            about[key] += [attribute.name for attribute in one.protected]
    if len(decided) == 1:
        return [*found.values()]
    conditions = []
    for key, own in found.items():
        alike = [other for other in found if other[0] == own.id]
        text = f"{listed(about[key])}: {own.text}" if len(alike) > 1 else own.text
        said = replace(own, text=text, scopes=tuple(s for s in own.scopes if s in scopes))
        # In short they are then one, said once.
        names = [name for other in alike for name in about[other]]
        conditions.append(_named(said, names, decided))
    return conditions


def _named(own: Condition, about: Sequence[str], decided: Sequence[Promised]) -> Condition:
    """Name the attributes that a condition is about, where other parts have none like it."""
    if len(decided) == 1 or {*about} == {own.name for one in decided for own in one.protected}:
        return own
    return replace(own, short=f"{own.short} ({listed(about)})")


def released_labels(
    table: Table, attributes: Sequence[Attribute], kept: Collection[str], missing: MissingCodes
) -> dict[str, Labels]:
    """Return the labels of the columns that are released, of those that have some.

    A code of a protected attribute needs a place in its declared domain, or must be declared
    missing: a list of the values that occur would show who is in the table.
    """
    protected = {attribute.name: attribute for attribute in attributes}
    found = {}
    for name, labels in table.labels.items():
        if name in protected:
            own = declared_missing(table, name, missing)
            codes = (*labels.codes, *labels.missing_codes)
            held = {code for code in codes if as_value(code) in own}
            held |= {code for code in codes if _in_domain(as_value(code), protected[name])}
            found[name] = only(labels, held)
        elif name in kept:
            found[name] = labels
    return {name: labels for name, labels in found.items() if labels.parts}


def declared_missing(table: Table, name: str, missing: MissingCodes) -> set[Code | None]:
    """Return the codes that a request declares missing, as the column's values are."""
    declared = {code_for(code, name, table.kind(name)) for code in missing.of_column(name)}
    return declared | {*missing.of_text}  # never equal to a number


def as_value(code: GivenCode) -> Code:
    """Return a code as a column's values are: dates as days since 1970-01-01."""
    return (code - EPOCH).days if isinstance(code, datetime.date) else code


def _in_domain(code: Code, attribute: Attribute) -> bool:
    domain = attribute.domain
    if domain is None or domain.source is Source.DATA:  # none was declared
        return True
    if isinstance(domain, Bounds):
        return not isinstance(code, str) and (domain.lower <= Fraction(str(+code)) <= domain.upper)
    return code in domain.values
