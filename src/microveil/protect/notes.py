"""What publishers are told in words: remarks of a guarantee, and notes on a plan.

All of it is public, and none of it refuses. The words stand in `words.toml`; here is decided
which of them hold.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from importlib.resources import files
from typing import Any, NamedTuple

from microveil.guarantee import Guarantee, Model
from microveil.guarantee.condition import FURTHER
from microveil.methods import METHODS, Promise
from microveil.methods.expected_pairs import ExpectedPairs
from microveil.methods.synthetic_plan import DEEP_ENOUGH
from microveil.protect.columns import Prepared
from microveil.protect.opening import LIKE_NAME, LIKE_PERSON, LIKE_WEIGHT
from microveil.protect.parts import Whole
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
IN_ONE_STREAM = "an AES-256 stream keyed by the operating system's randomness."
# Under these a new table would not cover rows either, and they say so themselves.
OF_A_LOOK = frozenset({"bounds", "categories", "resolution", "columns-chosen"})


class Foreseen(NamedTuple):
    """What a part promises by public figures alone, before anything is planned."""

    request: Request
    protected: Sequence[Attribute]
    promise: Promise


# What conditions and remarks depend on.
Promised = Foreseen | PartPlan


def said(section: str, holds: Mapping[str, object], **about: object) -> Iterator[str]:
    """Yield the sentences of a section of `words.toml` that hold, in the order of the section.

    ``holds`` says by sentence whether it does, or ``{what}`` it is about where that is anything.
    Of many names a guarantee has them all.
    """
    for name, words in WORDS[section].items():
        if what := holds.get(name):
            if isinstance(what, list | tuple):
                what = listed(what) if section == "remarks" else some_of(what)
            yield words.format(what=what, **about)


def remarks_of(
    decided: Sequence[Promised],
    whole: Whole | None,
    model: Model,
    shuffle: str | None,
    names: Sequence[str],
    *,
    spends: bool,
) -> Iterator[str]:
    """Yield what each method did, what all did to cells and rows, what some; then of the release.

    ``shuffle`` is what the release puts in random order, ``names`` are the table's columns.
    """
    if whole is None:
        for own in _of_method(decided[0], shuffle):
            yield from own
    else:
        each = [
            (part.named, *_of_method(one, one.request.order or whole.shuffle, whole))
            for one, part in zip(decided, whole.parts, strict=True)
        ]
        for named, own, _ in each:
            yield from (f"{named}: {remark}" for remark in own)
        common = [own for own in each[0][2] if all(own in handled for *_, handled in each)]
        yield from common
        for named, _, handled in each:
            yield from (f"{named}: {remark}" for remark in handled if remark not in common)
    yield from _of_people(decided, model, shuffle, names, spends=spends)


def _of_method(
    one: Promised, shuffle: str | None, whole: Whole | None = None
) -> tuple[list[str], list[str]]:
    """Say what a method did, and what became of cells, clusters and the order of rows."""
    request, method = one.request, one.request.method
    looked, is_public = request.attributes is None, request.chosen_publicly
    of_choice = {
        "columns-looked-at": looked and one.promise.epsilon is None,
        "chosen-publicly": is_public and not looked,
        "chosen-publicly-for-columns-looked-at": is_public and looked,
    }
    is_apart = whole is not None and request.shuffle is not None
    did = [*said("remarks", of_choice), *one.promise.caveats]
    did += said("remarks", {"part-shuffled": is_apart and request.order == "rows"})
    never, has_bounds = list[str](), False
    for attribute in one.protected:
        has_bounds = has_bounds or attribute.bounds is not None
        if attribute.never_missing:
            never.append(attribute.name)
    protects, is_drawn = request.missing == "protect", method.randomness is not None
    may_be_exact = "exact cells" in method.can
    order = "new-table" if "new table" in method.can else shuffle or "original"
    handled = {
        "isotonic": request.isotonic and shuffle == "columns",
        "isotonic-in-rows": request.isotonic and shuffle != "columns",
        "missing-refused": request.missing == "error",
        "missing-shared": protects and not is_drawn,
        "missing-protected": protects and is_drawn,
        "never-missing": request.missing != "error" and never,
        "outside-clamped": has_bounds and request.outside == "clamp",
        "exact-widened": may_be_exact and request.exact_cells == "widen",
        "exact-refused": may_be_exact and request.exact_cells == "refuse",
        f"order-of-{order}": not (is_apart and shuffle == "rows"),
    }
    return did, [*said("remarks", handled)]


def _of_people(
    decided: Sequence[Promised],
    model: Model,
    shuffle: str | None,
    names: Sequence[str],
    *,
    spends: bool,
) -> Iterator[str]:
    """Yield what is to be known of a release as a whole: what it compares, and whose records."""
    request = decided[0].request
    unit, is_counted = request.protected_unit, request.counted.column is not None
    is_unit, is_new = unit.column is not None and not is_counted, "new table" in request.method.can
    people = people_by_name(decided, names)
    grounds, once, noise = set[str | None](), list[str](), dict[str, bool]()
    for one in decided:
        own = one.request
        # What advice chose by the table was not chosen by public figures, whoever declares so.
        is_undeclared = own.advised is Advised.DATA and own.looked_at != Advised.DATA
        grounds.add(None if is_undeclared else own.looked_at)
        once += [attribute.name for attribute in one.protected if attribute.of_unit]
        noise[f"noise-{own.method.randomness}"] = True
    of_claim = {
        "looked-at-data": grounds == {"data"} and not spends,
        "looked-at-public": grounds == {"public"},
        "further-without-epsilon": not spends,
        "neighbours": spends and unit.column is None,
        "neighbours-of-units": spends and unit.column is not None,
    }
    yield from said("remarks", of_claim, unit=unit)
    if spends:
        yield FURTHER[model]
    yield from people
    of_people = {
        "record-is-person": not spends and not request.says_whose and not people,
        "record-is-person-declared": unit.column is None and request.max_rows == 1,
        "person-left-out": is_counted and shuffle is not None,
        "person-left-out-in-order": is_counted and shuffle is None,
        "unit-is-column": is_unit,
        "unit-cut": is_unit and request.outside == "clamp" and request.max_rows is not None,
        "unit-drawn-once": is_unit and once,
        "unit-in-new-table": is_unit and is_new,
        "unit-numbers": is_unit and not is_new and shuffle != "columns",
    }
    column = None if unit.column is None else one_line(unit.column)
    about = {"unit": unit, "column": column, "stream": IN_ONE_STREAM}
    yield from said("remarks", {**of_people, **noise}, **about)


def people_by_name(decided: Sequence[Promised], names: Sequence[str]) -> list[str]:
    """Say which columns may tell whose a record is, by name alone, where no unit is asked for."""
    if decided[0].request.says_whose:
        return []
    protected = {attribute.name for one in decided for attribute in one.protected}
    found = [name for name in names if name not in protected and named_like_person(name)]
    if not found:
        return []
    methods, flags = [one.request.method for one in decided], f"--unit {found[0]}"
    if any(method.uses("max_rows") for method in methods):
        flags = f"{flags} --max-rows N, N the most records that one has"
    takes = "" if all(method.uses("unit") for method in methods) else "-elsewhere"
    people = " or ".join(map(one_line, found))
    return [*said("notes", {f"record-or-unit{takes}": people}, flags=one_line(flags))]


def plan_notes(parts: Sequence[PartPlan], prepared: Prepared, claim: Guarantee) -> tuple[str, ...]:
    """Return what a person should know of a plan before publishing: nothing of the data."""
    of_release, about = _of_release(parts, prepared, claim)
    people = people_by_name(parts, prepared.table.names)
    if prepared.whole is None:
        pairs, holds = parts[0].pairs, {**_of_part(parts[0]), **of_release}
        method = parts[0].request.method.id
        return (*pairs_expected(pairs), *said("notes", holds, method=method, **about), *people)
    of_parts = [
        f"{one.named}: {note}"
        for one, part in zip(prepared.whole.parts, parts, strict=True)
        for note in said("notes", _of_part(part), method=part.request.method.id)
    ]
    return (*of_parts, *said("notes", of_release, **about), *people)


def _of_part(part: PartPlan) -> dict[str, object]:
    """Return the notes that hold of what one method does."""
    request, advised = part.request, ""
    bounds, categories, rough = list[str](), list[str](), list[str]()
    learns = False
    for own in part.attributes:
        attribute = own.attribute
        if "bounds" in attribute.from_data:
            bounds.append(attribute.name)
        if "categories" in attribute.from_data:
            categories.append(attribute.name)
        if isinstance(own, OneWayPlan):  # of a new table
            learns = learns or attribute.is_learnt
            if own.is_number and own.worth < DEEP_ENOUGH:  # its budget is short
                rough.append(attribute.name)
    if request.advised is not None:
        steps = (f"{step} {value}" for step, value in request.steps.items())
        size = [f"k {request.k}"] if "k" in request.method.needs else []
        advised = ", ".join([request.method.id, *steps, *size])
    at_large = request.delta * part.prepared.table.n_records
    return {
        "matrix-beside-epsilon": (
            request["matrix"] and request.method.uses("matrix") and request.epsilon is not None
        ),
        "unused": ", ".join(request.unused),
        "bounds-read": bounds,
        "categories-read": categories,
        "isotonic": request.isotonic,
        "rough": rough,
        "large-delta": at_large >= 1,
        "large-delta-learnt": learns and 1 > at_large > LARGE_AT_LARGE,
        "advised": advised,
    }


def _of_release(
    parts: Sequence[PartPlan], prepared: Prepared, claim: Guarantee
) -> tuple[dict[str, object], dict[str, Any]]:
    """Return the notes that hold of a table and of its rows, and what they are about."""
    request = parts[0].request
    whole = request if prepared.whole is None else prepared.whole
    is_seeded = request.seed is not None
    note, names = _left_out(prepared.left_out) if prepared.left_out else ("", "")
    would_cover = ""
    # Of whoever asked for rows or for a scope it is known what would cover rows.
    is_asked = whole.scope is not None or whole.keep or is_seeded
    looked = OF_A_LOOK & {condition.id for condition in claim.conditions}
    if claim.follows_individuals and not is_asked and not looked:
        new = (method.id for method in METHODS.values() if "new table" in method.can)
        would_cover = " or ".join(new)
    holds = {
        note: True,
        "rows-not-covered": would_cover,
        "units-in-order": request.counted.column is not None and claim.shuffle is None,
        "index": prepared.table.has_index,
        "seeded": is_seeded,
        "formulas": prepared.formulas,
    }
    about = {
        "names": names,
        "n_left_out": len(prepared.left_out),
        "n_columns": len(prepared.table.names),
        "unit": None if request.unit is None else one_line(request.unit),
    }
    return holds, about


def _left_out(left_out: Mapping[str, str]) -> tuple[str, str]:
    """Return the note on columns that are not released, and these, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        by_reason.setdefault(reason, []).append(name)
    names = "; ".join(
        f"{some_of(names)} ({reason})" if reason else some_of(names)
        for reason, names in by_reason.items()
    )
    if not by_reason.keys().isdisjoint({LIKE_PERSON, LIKE_WEIGHT, LIKE_NAME}):
        return "left-out-by-name", names
    return "left-out-by-method" if any(by_reason) else "left-out", names


def pairs_expected(pairs: ExpectedPairs | None) -> list[str]:
    """Say how many pairs of columns can be measured, or what would do where none can."""
    if pairs is None:
        return []
    holds = {
        "pairs-none": not pairs.n_measured,
        "would-do": "" if pairs.n_measured else pairs.would_do,
        "pairs-measured": pairs.n_measured,
        "pairs-others": 0 < pairs.n_measured < pairs.n_pairs,
    }
    return [" ".join(said("notes", holds, measured=pairs.n_measured, pairs=pairs.n_pairs))]
