"""From a plan to what is promised of it: the guarantee, with its terms, conditions and remarks.

The words of conditions stand in `guarantee/conditions.toml`.
"""

import datetime
from collections.abc import Collection, Iterable, Iterator, Sequence
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
from microveil.guarantee.condition import condition_of, without_draws
from microveil.protect.notes import (
    Promised,
    exact_cells_of,
    handling,
    remarks_of_method,
    remarks_of_release,
)
from microveil.protect.parts import Whole
from microveil.protect.plan import PartPlan
from microveil.protect.request import Advised, Request
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
    own = _described(parts[0]) if whole is None else _together(parts)
    unit, kept = request.protected_unit, () if whole is None else whole.keep
    if whole is None:
        kept = tuple(name for name in table.names if name in request.keep)
        if "units" in request.method.can and unit.column is not None:
            unit = replace(unit, max_rows=table.n_records)
    shuffle, epsilon = _order(parts, whole), own["epsilon"]
    # Labels of the file are released with attributes, or with columns that are kept.
    labelled = bool(table.labels) and any(
        released_labels(table, one.protected, kept, one.request.codes) for one in parts
    )
    return Guarantee(
        **own,
        delta=sum((one.promise.delta for one in parts), Fraction(0)),
        rho=parts[0].promise.rho if whole is None else None,
        n_records=table.n_records,
        unit=unit,
        conditions=tuple(conditions_of(parts, epsilon, kept, labelled=labelled)),
        attributes=tuple(terms for one in parts for terms in _terms(one)),
        parts=() if whole is None else tuple(map(_part_terms, parts)),
        randomness="os",
        kept=kept,
        shuffle=shuffle,
        is_synthetic="new table" in request.method.can,
        remarks=(
            *_remarks(parts, whole),
            *remarks_of_release(
                parts, own["model"], shuffle, table.names, spends=epsilon is not None
            ),
        ),
    )


def in_force(claim: Guarantee, parts: Sequence[PartPlan], whole: Whole | None = None) -> Guarantee:
    """Return what is promised of the release as it is drawn: nothing where a seed draws it."""
    requests = [one.request for one in parts]
    is_shuffled = whole is not None and whole.shuffle is not None
    is_drawn = any(own.method.randomness is not None or own.shuffle is not None for own in requests)
    if requests[0].seed is None or not (is_shuffled or is_drawn):
        return claim
    names = [""] if whole is None else [f"{part.named}: " for part in whole.parts]
    named = zip(names, parts, strict=True)
    caveats = tuple(f"{name}{own}" for name, one in named for own in one.promise.caveats)
    return claim.drawn_from_seed(without_draws(claim.remarks, caveats))


def _described(one: PartPlan) -> dict[str, Any]:
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


def _together(parts: Sequence[PartPlan]) -> dict[str, Any]:
    """Say what several methods promise together: what one of them leaves out is not covered."""
    promises, methods = [one.promise for one in parts], {one.request.method.id: 1 for one in parts}
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


def _order(parts: Sequence[PartPlan], whole: Whole | None) -> str | None:
    """Return what a release puts in random order: "parts" where it is some, each by itself."""
    if whole is None:
        return parts[0].request.order
    orders = {one.request.shuffle for one in parts}
    if orders == {"columns"}:
        return "columns"
    return whole.shuffle or ("parts" if any(orders) else None)


def _part_terms(one: PartPlan) -> PartTerms:
    names = tuple(_names([one]))
    return PartTerms(**_described(one), attributes=names, shuffle=one.request.shuffle)


def _terms(one: PartPlan) -> Iterator[AttributeTerms]:
    unit = one.request.protected_unit
    for part in one.attributes:
        share = unit.spends(part.share, of_unit=part.attribute.of_unit)
        stated = getattr(part, "stated", None)
        yield AttributeTerms.of(part.attribute, share, one.request.method.id, stated)


def _remarks(parts: Sequence[PartPlan], whole: Whole | None) -> Iterator[str]:
    """Yield what each part's method did, then what all did to cells and rows, then what some."""
    if whole is None:
        yield from remarks_of_method(parts[0])
        yield from handling(parts[0], parts[0].request.order)
        return
    handled = []
    for one, part in zip(parts, whole.parts, strict=True):
        apart, order = one.request.shuffle is not None, one.request.order or whole.shuffle
        yield from (f"{part.named}: {own}" for own in remarks_of_method(one, apart=apart))
        handled.append((part.named, [*handling(one, order, apart=apart)]))
    common = [own for own in handled[0][1] if all(own in others for _, others in handled)]
    yield from common
    for named, remarks in handled:
        yield from (f"{named}: {own}" for own in remarks if own not in common)


def conditions_of(
    decided: Sequence[Promised], epsilon: Fraction | None, kept: tuple[str, ...], *, labelled: bool
) -> Iterator[Condition]:
    """Yield what a claim takes as given and leaves out, the methods' own first.

    It is that of a release of one part or several, with the epsilon of the whole.
    """
    scopes, request = (EVERY_SCOPE if epsilon is not None else ()), decided[0].request
    attributes = [attribute for one in decided for attribute in one.protected]

    def of(about: Sequence[str], name: str, names: Sequence[str] = ()) -> Iterator[Condition]:
        if about:
            yield _named(condition_of(name, names=names), about, decided).at(scopes)

    yield from _of_methods(decided, scopes)
    for name in ("bounds", "categories", "resolution"):
        marked = [own.name for own in attributes if getattr(own, f"{name}_from_data")]
        yield from of(marked, name, marked)
    if scopes and any(one.request.attributes is None for one in decided):
        yield condition_of("columns-chosen")
    if scopes and request.looked_at == Advised.DATA:  # said of the table: of all parts
        yield condition_of("parameters-looked-at")
    else:
        advised = [one for one in decided if one.request.advised is Advised.DATA]
        yield from of(_names(advised), "parameters-chosen")
    keeping = [one for one in decided if one.request.missing == "keep"]
    reasons = [a.name for one in keeping for a in one.protected if a.reasons]
    yield from of(_names(keeping), "missing-reasons" if reasons else "missing-cells", reasons)
    yield from (own.at(scopes) for own in _of_unit(request))
    by_records = [one for one in decided if one.promise.model is Model.K_ANONYMITY]
    yield from of(_names(by_records) if request.unit is None else (), "repeated-people")
    exact = [one for one in decided if exact_cells_of(one.request) == "allow"]
    yield from of(_names(exact), "exact-cells")
    if labelled:
        yield condition_of("labels").at(scopes)
    if kept:
        yield condition_of("kept-columns", names=kept).at(scopes)


def _names(decided: Iterable[Promised]) -> list[str]:
    return [attribute.name for one in decided for attribute in one.protected]


def _named(own: Condition, names: Sequence[str], decided: Sequence[Promised]) -> Condition:
    """Name the attributes that a condition is about, where other parts have none like it."""
    if len(decided) == 1 or set(names) == {*_names(decided)}:
        return own
    return replace(own, short=f"{own.short} ({listed(names)})")


def _of_methods(decided: Sequence[Promised], scopes: Sequence[Scope]) -> Iterator[Condition]:
    """Yield the conditions of methods, each once, at every scope that some method has it at."""
    found: dict[tuple[str, str], Condition] = {}
    names: dict[tuple[str, str], list[str]] = {}
    for one in decided:
        for own in one.promise.conditions:
            key = own.id, own.text
            known = found.get(key, own).scopes
            found[key] = own.at(s for s in Scope if s in known or s in own.scopes)
            names.setdefault(key, []).extend(_names([one]))
    if len(decided) == 1:
        yield from found.values()
        return
    for key, own in found.items():
        alike = [other for other in found if other[0] == own.id]
        text = f"{listed(names[key])}: {own.text}" if len(alike) > 1 else own.text
        said = replace(own, text=text, scopes=tuple(s for s in own.scopes if s in scopes))
        # In short they are then one, said once.
        yield _named(said, [name for other in alike for name in names[other]], decided)


def _of_unit(request: Request) -> Iterator[Condition]:
    """Yield what is taken as given of units, and that a table was not refused by a check."""
    unit, is_synthetic = request.protected_unit, "new table" in request.method.can
    if request.counted.column is not None:
        yield condition_of("people-counted", unit=unit)
        return
    if unit.column is not None:
        yield condition_of("unit-sizes", unit=unit)
        checked = "outside-checked-in-units" if is_synthetic else "units-checked"
    else:
        checked = "outside-checked" if is_synthetic else ""
    if request.outside == "error" and checked:
        yield condition_of(checked, unit=unit)


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
