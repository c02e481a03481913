"""What publishers are told in words: remarks of a guarantee, and notes on a plan.

All of it is public, and none of it refuses. The words stand in `words.toml`; here is decided
which of them hold.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from importlib.resources import files
from typing import Protocol

from microveil.guarantee import Guarantee, Model
from microveil.guarantee.condition import FURTHER, IN_ONE_STREAM
from microveil.methods import METHODS, Promise
from microveil.methods.expected_pairs import ExpectedPairs
from microveil.methods.synthetic import DEEP_ENOUGH
from microveil.protect.columns import Prepared
from microveil.protect.opening import LIKE_NAME, LIKE_PERSON, LIKE_WEIGHT
from microveil.protect.plan import PartPlan
from microveil.protect.request import Advised, Request
from microveil.schema import Attribute
from microveil.synthesis.one_way_plan import OneWayPlan
from microveil.table import named_like_person
from microveil.text import listed, one_line, some_of

WORDS: dict[str, dict[str, str]] = tomllib.loads(
    files("microveil.protect").joinpath("words.toml").read_text("utf-8")
)
# Of larger tables no report is made unasked: an assessment takes far longer than protecting.
REPORTED_RECORDS = 50_000
# Chance that a label of somebody alone is shown, all people together, from which it is warned of.
LARGE_AT_LARGE = Fraction(1, 100)
# Under these a new table would not cover rows either, and they say so themselves.
OF_A_LOOK = frozenset({"bounds", "categories", "resolution", "columns-chosen"})

# What holds, by the name of its sentence, and what these sentences are about.
Holding = tuple[Mapping[str, object], Mapping[str, object]]


class Promised(Protocol):
    """What conditions and remarks depend on: a part that is planned, or public figures alone."""

    @property
    def request(self) -> Request:
        """What was asked for."""

    @property
    def protected(self) -> Sequence[Attribute]:
        """The attributes."""

    @property
    def promise(self) -> Promise:
        """Of the method, as asked for."""


def said(section: str, holds: Mapping[str, object], **about: object) -> Iterator[str]:
    """Yield the sentences of a section of `words.toml` that hold, in the order of the section."""
    for name, words in WORDS[section].items():
        if holds.get(name):
            yield words.format(**about)


def remarks_of_method(one: Promised, *, apart: bool = False) -> Iterator[str]:
    """Yield what is to be known of what a method did, to rows apart from other parts' perhaps."""
    request, promise = one.request, one.promise
    looked = request.attributes is None
    holds = {
        "columns-looked-at": looked and promise.epsilon is None,
        "chosen-publicly": request.chosen_publicly and not looked,
        "chosen-publicly-for-columns-looked-at": request.chosen_publicly and looked,
    }
    yield from said("remarks", holds)
    yield from promise.caveats
    yield from said("remarks", {"part-shuffled": apart and request.order == "rows"})


def handling(one: Promised, shuffle: str | None, *, apart: bool = False) -> Iterator[str]:
    """Yield what became of cells, clusters and the order of rows."""
    request, method, exact_cells = one.request, one.request.method, exact_cells_of(one.request)
    protects, is_drawn = request.missing == "protect", method.randomness is not None
    never = [attribute.name for attribute in one.protected if attribute.never_missing]
    has_bounds = any(attribute.bounds is not None for attribute in one.protected)
    order = "new-table" if "new table" in method.can else shuffle or "original"
    holds = {
        "isotonic": request.isotonic and shuffle == "columns",
        "isotonic-in-rows": request.isotonic and shuffle != "columns",
        "missing-refused": request.missing == "error",
        "missing-shared": protects and not is_drawn,
        "missing-protected": protects and is_drawn,
        "never-missing": never and request.missing != "error",
        "outside-clamped": has_bounds and request.outside == "clamp",
        "exact-widened": exact_cells == "widen",
        "exact-refused": exact_cells == "refuse",
        f"order-of-{order}": not (apart and shuffle == "rows"),
    }
    return said("remarks", holds, never=listed(never))


def remarks_of_release(
    decided: Sequence[Promised],
    model: Model,
    shuffle: str | None,
    names: Sequence[str],
    *,
    spends: bool,
) -> Iterator[str]:
    """Yield what is to be known of a release as a whole, of a table of columns ``names``."""
    request = decided[0].request
    unit, is_counted = request.protected_unit, request.counted.column is not None
    people = "".join(_people_by_name(decided, names))
    is_unit, is_new = unit.column is not None and not is_counted, "new table" in request.method.can
    once = [own.name for one in decided for own in one.protected if own.of_unit]
    # What advice chose by the table was not chosen by public figures, whoever declares so.
    grounds = {
        None if own.advised is Advised.DATA and own.looked_at != Advised.DATA else own.looked_at
        for own in (one.request for one in decided)
    }
    of_claim = {
        "looked-at-data": grounds == {"data"} and not spends,
        "looked-at-public": grounds == {"public"},
        "further-without-epsilon": not spends,
        "neighbours": spends and unit.column is None,
        "neighbours-of-units": spends and unit.column is not None,
    }
    of_people = {
        "record-is-person": unit.column is None and not people,
        "person-left-out": is_counted and shuffle is not None,
        "person-left-out-in-order": is_counted and shuffle is None,
        "unit-is-column": is_unit,
        "unit-cut": is_unit and request.outside == "clamp" and request.max_rows is not None,
        "unit-drawn-once": is_unit and once,
        "unit-in-new-table": is_unit and is_new,
        "unit-numbers": is_unit and not is_new and shuffle != "columns",
        **{f"noise-{one.request.method.randomness}": True for one in decided},
    }
    about = {"unit": unit, "column": one_line(unit.column or ""), "once": listed(once)}
    yield from said("remarks", of_claim, **about)
    if spends:
        yield FURTHER[model]
    if people:
        yield people
    yield from said("remarks", of_people, **about, stream=IN_ONE_STREAM)


def _people_by_name(decided: Sequence[Promised], names: Sequence[str]) -> Iterator[str]:
    """Say which columns may tell whose a record is, by name alone, where no unit is asked for."""
    protected = {attribute.name for one in decided for attribute in one.protected}
    found = [name for name in names if named_like_person(name) and name not in protected]
    if decided[0].request.unit is not None or not found:
        return
    methods = [one.request.method for one in decided]
    flags = f"--unit {found[0]}"
    if any(method.uses("max_rows") for method in methods):
        flags = f"{flags} --max-rows N, N the most records that one has"
    takes = all(method.uses("unit") for method in methods)
    holds = {"record-or-unit": takes, "record-or-unit-elsewhere": not takes}
    people = " or ".join(map(one_line, found))
    yield from said("notes", holds, people=people, flags=one_line(flags))


def exact_cells_of(request: Request) -> str | None:
    """Return what is done about cells that would come out exactly; None where none can."""
    return request.exact_cells if "exact cells" in request.method.can else None


def plan_notes(parts: Sequence[PartPlan], prepared: Prepared, claim: Guarantee) -> tuple[str, ...]:
    """Return what a person should know of a plan before publishing: nothing of the data."""
    each = [_of_part(part) for part in parts]
    own, about = _of_release(parts, prepared, claim)
    people = _people_by_name(parts, prepared.table.names)
    if prepared.whole is None:
        (holds, of_it), pairs = each[0], pairs_expected(parts[0].pairs)
        return (*pairs, *said("notes", {**holds, **own}, **of_it, **about), *people)
    named = zip(prepared.whole.parts, each, strict=True)
    of_parts = (f"{one.named}: {note}" for one, (h, of) in named for note in said("notes", h, **of))
    return (*of_parts, *said("notes", own, **about), *people)


def _of_part(part: PartPlan) -> Holding:
    """Return the notes that hold of what one method does, and what they are about."""
    request, attributes = part.request, part.protected
    has_matrix = request["matrix"] and request.method.uses("matrix")
    bounds = [own.name for own in attributes if own.bounds_from_data]
    categories = [own.name for own in attributes if own.categories_from_data]
    steps = (f"{step} {value}" for step, value in request.steps.items())
    size = [f"k {request.k}"] if "k" in request.method.needs else []
    # Where a new table's budget is short, or its delta no small chance.
    new = [own for own in part.attributes if isinstance(own, OneWayPlan)]
    rough = [own.attribute.name for own in new if own.is_number and own.worth < DEEP_ENOUGH]
    at_large = request.delta * part.prepared.table.n_records
    learns = any(own.attribute.is_learnt for own in new)
    holds = {
        "matrix-beside-epsilon": has_matrix and request.epsilon is not None,
        "unused": request.unused,
        "bounds-read": bounds,
        "categories-read": categories,
        "isotonic": request.isotonic,
        "rough": rough,
        "large-delta": at_large >= 1,
        "large-delta-learnt": learns and 1 > at_large > LARGE_AT_LARGE,
        "advised": request.advised is not None,
    }
    about = {
        "method": request.method.id,
        "unused": ", ".join(request.unused),
        "bounds": some_of(bounds),
        "categories": some_of(categories),
        "rough": some_of(rough),
        "chosen": ", ".join([request.method.id, *steps, *size]),
    }
    return holds, about


def _of_release(parts: Sequence[PartPlan], prepared: Prepared, claim: Guarantee) -> Holding:
    """Return the notes that hold of a table and of its rows, and what they are about."""
    whole = parts[0].request if prepared.whole is None else prepared.whole
    is_seeded = any(part.request.seed is not None for part in parts)
    new = [method.id for method in METHODS.values() if "new table" in method.can]
    # Of whoever asked for rows or for a scope it is known what would cover rows.
    is_asked = whole.scope is not None or whole.keep or is_seeded
    looked = any(condition.id in OF_A_LOOK for condition in claim.conditions)
    why = {reason for reason in prepared.left_out.values() if reason}
    by_name = {LIKE_PERSON, LIKE_WEIGHT, LIKE_NAME} & why
    holds = {
        "left-out": prepared.left_out and not why,
        "left-out-by-name": by_name,
        "left-out-by-method": why and not by_name,
        "rows-not-covered": new and not is_asked and not looked and claim.follows_individuals,
        "units-in-order": parts[0].request.counted.column is not None and claim.shuffle is None,
        "index": prepared.table.has_index,
        "seeded": is_seeded,
        "formulas": prepared.formulas,
    }
    about = {
        "names": _with_reasons(prepared.left_out),
        "n_left_out": len(prepared.left_out),
        "n_columns": len(prepared.table.names),
        "new": " or ".join(new),
        "unit": one_line(parts[0].request.unit or ""),
        "formulas": some_of(prepared.formulas),
    }
    return holds, about


def _with_reasons(left_out: Mapping[str, str]) -> str:
    """List columns that are not released, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        by_reason.setdefault(reason, []).append(name)
    return "; ".join(
        f"{some_of(names)} ({reason})" if reason else some_of(names)
        for reason, names in by_reason.items()
    )


def unlisted_note(unlisted: Sequence[str], n_columns: int, request: Request) -> Iterator[str]:
    """Say which columns a recipe has protected and its request leaves out: text without a list."""
    may_list = "categories" in request.method.can
    holds = {
        "left-out-unlisted": unlisted and may_list,
        "left-out-for-numbers": unlisted and not may_list,
    }
    about = {"n_unlisted": len(unlisted), "n_columns": n_columns, "unlisted": listed(unlisted)}
    return said("notes", holds, **about, method=request.method.id)


def file_notes(*, is_reported: bool) -> tuple[str, ...]:
    """Return what a person should know of the files of a release, reported to the custodian."""
    return tuple(said("notes", {"unreported": not is_reported}, records=REPORTED_RECORDS))


def dates_note(names: Sequence[str], order: str) -> Iterator[str]:
    """Say which dates are written otherwise than the file of text has them."""
    return said("notes", {"dates-in-iso": names}, names=listed(names), order=order)


def labels_beside(title: str, names: Sequence[str]) -> str:
    """Say that a format cannot hold some labels of columns."""
    return "".join(said("notes", {"labels-beside": True}, title=title, names=some_of(names)))


def pairs_expected(pairs: ExpectedPairs | None) -> Iterator[str]:
    """Say how many pairs of columns can be measured, or what would do where none can."""
    if pairs is None:
        return iter(())
    holds = {
        "pairs-none": not pairs.n_measured,
        "would-do": not pairs.n_measured and pairs.would_do,
        "pairs-measured": pairs.n_measured,
        "pairs-others": 0 < pairs.n_measured < pairs.n_pairs,
    }
    about = {"measured": pairs.n_measured, "pairs": pairs.n_pairs, "would_do": pairs.would_do}
    return iter([" ".join(said("notes", holds, **about))])
