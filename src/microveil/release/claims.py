"""From what was decided to what is promised: the guarantee, its conditions and its remarks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

from microveil.guarantee import EVERY_SCOPE, AttributeTerms, Condition, Guarantee, Model, Scope
from microveil.guarantee import condition as conditions
from microveil.guarantee.notes import Circumstances, remarks
from microveil.methods import Promise
from microveil.methods.planned import AttributePlan
from microveil.release.columns import Prepared
from microveil.release.labels import released_labels
from microveil.release.request import Advised, Request
from microveil.schema import Attribute
from microveil.table import Reasons

__all__ = [
    "Decided",
    "circumstances",
    "conditions_of",
    "draws_at_random",
    "guarantee_of",
    "in_force",
    "labelled",
    "named_method",
    "shuffled",
    "terms_of",
]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decided:
    """A request decided on, short of a guarantee in words.

    Attributes
    ----------
    request : Request
    prepared : Prepared
    attributes : tuple of AttributePlan
    synthetic : SyntheticPlan or None
    promise : Promise
        Of the method, as asked for.
    reasons : dict of Reasons
        By attribute that is not drawn yet: the codes of cells that are released as missing.
    """

    request: Request
    prepared: Prepared
    attributes: tuple[AttributePlan, ...]
    synthetic: Any
    promise: Promise
    reasons: Mapping[str, Reasons] = field(default_factory=dict)

    @property
    def protected(self) -> list[Attribute]:
        """The attributes that are planned."""
        return [part.attribute for part in self.attributes]


class Promised(Protocol):
    """What conditions hang on: a request decided on, or one of which only that much is known."""

    @property
    def request(self) -> Request:
        """What was asked for."""
        ...

    @property
    def protected(self) -> Sequence[Attribute]:
        """The attributes."""
        ...

    @property
    def promise(self) -> Promise:
        """Of the method, as asked for."""
        ...


def shuffled(request: Request) -> str | None:
    """Return what a release puts in random order."""
    return request.shuffle if request.method.uses("shuffle") else None


def guarantee_of(decided: Decided) -> Guarantee:
    """Say what is promised of a release drawn with the operating system's randomness."""
    request, parts, promise = decided.request, decided.attributes, decided.promise
    table, method = decided.prepared.table, request.method
    kept = tuple(name for name in table.names if name in request.keep)
    unit = request.protected_unit
    if "units" in method.can and unit.column is not None:
        unit = replace(unit, max_rows=table.n_records)
    return Guarantee(
        method=method.id,
        title=promise.title or method.title,
        source=promise.source or method.source,
        deed=(promise.deed or method.deed).format(k=request.counted.least(request.k)),
        model=promise.model,
        epsilon=promise.epsilon,
        delta=promise.delta,
        rho=promise.rho,
        k=request.k if "k" in method.needs and "k" not in request.unused else None,
        n_records=table.n_records,
        unit=unit,
        scopes=promise.scopes,
        conditions=tuple(
            conditions_of([decided], promise.epsilon, kept, labelled=labelled([decided], kept))
        ),
        attributes=terms_of(decided),
        randomness="os",
        kept=kept,
        shuffle=shuffled(request),
        is_synthetic="new table" in method.can,
        remarks=_remarks(request, parts, promise, seeded=False),
    )


def terms_of(decided: Decided) -> tuple[AttributeTerms, ...]:
    """Return what is said of each attribute."""
    request = decided.request
    return tuple(
        AttributeTerms.of(
            part.attribute,
            request.protected_unit.spends(part.share, of_unit=part.attribute.of_unit),
            request.method.id,
            getattr(part, "stated", None),
        )
        for part in decided.attributes
    )


def in_force(
    claim: Guarantee, request: Request, parts: tuple[AttributePlan, ...], promise: Promise
) -> Guarantee:
    """Return what is promised of the release as it is drawn: nothing where a seed draws it."""
    if request.seed is None or not draws_at_random(request):
        return claim
    return claim.drawn_from_seed(_remarks(request, parts, promise, seeded=True))


def draws_at_random(request: Request) -> bool:
    """Whether anything of a release is left to chance."""
    return request.method.randomness is not None or request.shuffle is not None


def labelled(decided: Sequence[Decided], kept: tuple[str, ...]) -> bool:
    """Whether labels of the file are released, with attributes or with columns that are kept."""
    table = decided[0].prepared.table
    found = (released_labels(table, one.protected, kept, one.request.codes) for one in decided)
    return any(found)


def conditions_of(
    decided: Sequence[Promised],
    epsilon: Fraction | None,
    kept: tuple[str, ...],
    *,
    labelled: bool,
) -> Iterator[Condition]:
    """Yield what a claim takes as given and leaves out, the methods' own first.

    Parameters
    ----------
    decided : sequence of Promised
        The release's parts: often one alone.
    epsilon : Fraction or None
        Of the whole.
    kept : tuple of str
        Columns that are released unprotected.
    labelled : bool
        Whether labels of a file are released.
    """
    scopes: tuple[Scope, ...] = EVERY_SCOPE if epsilon is not None else ()
    requests = [one.request for one in decided]
    attributes = [attribute for one in decided for attribute in one.protected]

    def of(condition: Condition, names: Sequence[str]) -> Condition:
        return _named(condition, names, decided).at(scopes)

    yield from _of_methods(decided, scopes)
    if names := [a.name for a in attributes if a.bounds_from_data]:
        yield of(conditions.bounds(names), names)
    if names := [a.name for a in attributes if a.categories_from_data]:
        yield of(conditions.categories(names), names)
    if names := [a.name for a in attributes if a.resolution_from_data]:
        yield of(conditions.resolution(names), names)
    yield from _of_choices(decided, scopes)
    if keeping := [one for one in decided if one.request.missing == "keep"]:
        found = [attribute for one in keeping for attribute in one.protected]
        with_reasons = [a.name for a in found if a.reasons]
        yield of(conditions.missing_cells(with_reasons), _names(keeping))
    yield from (condition.at(scopes) for condition in _of_unit(requests[0]))
    if counting := [one for one in decided if _counts_records(one)]:
        yield of(conditions.repeated_people(), _names(counting))
    if allowing := [one for one in decided if _may_be_exact(one.request)]:
        yield of(conditions.exact_cells(), _names(allowing))
    if labelled:
        yield conditions.labels().at(scopes)
    if kept:
        yield conditions.kept_columns(kept).at(scopes)


def _of_choices(decided: Sequence[Promised], scopes: Sequence[Scope]) -> Iterator[Condition]:
    """Yield that columns, methods, k or epsilons were chosen by the data."""
    if any(one.request.attributes is None for one in decided) and scopes:
        yield conditions.columns_chosen()
    if scopes and decided[0].request.looked_at == Advised.DATA:  # said of the table: of all parts
        yield conditions.parameters_chosen(looked_at=True).at(scopes)
    elif advised := [one for one in decided if one.request.advised is Advised.DATA]:
        chosen, names = conditions.parameters_chosen(), _names(advised)
        yield _named(chosen, names, decided).at(scopes)


def _names(decided: Iterable[Promised]) -> list[str]:
    return [attribute.name for one in decided for attribute in one.protected]


def _counts_records(one: Promised) -> bool:
    return one.promise.model is Model.K_ANONYMITY and one.request.unit is None


def _may_be_exact(request: Request) -> bool:
    return "exact cells" in request.method.can and request.exact_cells == "allow"


def _named(condition: Condition, names: Sequence[str], decided: Sequence[Promised]) -> Condition:
    """Name the attributes that a condition is about, where other parts have none like it."""
    return (
        condition if len(decided) == 1 or set(names) == {*_names(decided)} else condition.of(names)
    )


def _of_methods(decided: Sequence[Promised], scopes: Sequence[Scope]) -> Iterator[Condition]:
    """Yield the conditions of methods, each once, at every scope that some method has it at."""
    found: dict[tuple[str, str], Condition] = {}
    names: dict[tuple[str, str], list[str]] = {}
    for one in decided:
        for condition in one.promise.conditions:
            key = condition.id, condition.text
            known = found.get(key, condition).scopes
            found[key] = condition.at(s for s in Scope if s in known or s in condition.scopes)
            names.setdefault(key, []).extend(_names([one]))
    if len(decided) == 1:
        yield from found.values()
        return
    for key, condition in found.items():
        own = condition.at(s for s in condition.scopes if s in scopes)
        alike = [other for other in found if other[0] == condition.id]
        if len(alike) > 1:
            own = own.in_words_of(names[key])
        # In short they are then one, said once.
        yield _named(own, [name for other in alike for name in names[other]], decided)


def _of_unit(request: Request) -> Iterator[Condition]:
    """Yield what is taken as given of units, and that a table was not refused by a check."""
    unit, is_synthetic = request.protected_unit, "new table" in request.method.can
    if request.counted.column is not None:
        yield conditions.people_counted(unit)
        return
    if unit.column is not None:
        yield conditions.unit_sizes(unit)
    if request.outside == "error" and (is_synthetic or unit.column is not None):
        yield conditions.outside_checked(unit, bounds=is_synthetic)


def _remarks(
    request: Request, parts: tuple[AttributePlan, ...], promise: Promise, *, seeded: bool
) -> tuple[str, ...]:
    given = circumstances(request, parts, promise, seeded=seeded)
    return remarks(named_method(request, promise), given, promise.caveats)


def named_method(request: Request, promise: Promise) -> str:
    """Return a method's id and its name as chosen."""
    return f"{request.method.id}, {promise.title or request.method.title}"


def circumstances(
    request: Request, parts: tuple[AttributePlan, ...], promise: Promise, *, seeded: bool
) -> Circumstances:
    """Return what of a request bears on its guarantee, beside the method."""
    method = request.method
    bounded = any(part.attribute.bounds is not None for part in parts)
    by_hand = request.looked_at == Advised.DATA
    return Circumstances(
        seeded=seeded,
        model=promise.model,
        shuffle=shuffled(request),
        is_synthetic="new table" in method.can,
        isotonic=request.isotonic,
        missing=request.missing,
        never_missing=tuple(part.attribute.name for part in parts if part.attribute.never_missing),
        clamps=request.outside == "clamp" and bounded,
        drops=request.outside == "clamp" and request.max_rows is not None,
        unit=request.protected_unit,
        counts_units=request.counted.column is not None,
        of_unit=tuple(part.attribute.name for part in parts if part.attribute.of_unit),
        chosen_from_data=request.attributes is None,
        exact_cells=request.exact_cells if "exact cells" in method.can else None,
        randomness=() if method.randomness is None else (method.randomness,),
        spends_epsilon=promise.epsilon is not None,
        advised_publicly=request.chosen_publicly,
        # What advice chose by the table was not chosen by public figures, whoever declares so.
        looked_at=None if request.advised is Advised.DATA and not by_hand else request.looked_at,
    )
