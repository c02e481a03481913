"""From a plan and what was drawn of it to a release: its schema, its notes and its manifest.

What the custodian is told depends on the data. Nothing is looked at for it but the plan; what is
found of a release is in `measures.findings`.
"""

import datetime
import functools
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from microveil.files.formulas import begins_like_formula
from microveil.methods.centroids import CentroidPlan
from microveil.methods.planned import Figures
from microveil.methods.synthetic import DEEP_ENOUGH
from microveil.noise.counts import NoisyCounts
from microveil.protect.claims import as_value, declared_missing, released_labels
from microveil.protect.draw import Drawn
from microveil.protect.exact_audit import audit_of
from microveil.protect.expectation import Expectation, average, expectations
from microveil.protect.notes import said
from microveil.protect.plan import PartPlan, Plan, kept_scope
from microveil.protect.release import Manifest, Release
from microveil.schema import Kind, Source
from microveil.synthesis.kinds import are_words_there, share_of_cells
from microveil.synthesis.one_way import AttributeMeasured
from microveil.synthesis.one_way_plan import OneWayPlan
from microveil.table import (
    ColumnSchema,
    Labels,
    MissingCodes,
    numbers_of_attribute,
    numeric_look_of,
)
from microveil.table.spelling import CELLS
from microveil.text import listed, one_line
from microveil.text.figures import figure

# A column of text is spoken of where so large a share of its cells are numbers or dates.
MOSTLY = 0.5
_custodian = functools.partial(said, "custodian")
COMPONENTS = ("microveil", "numpy", "scipy", "numba", "polars", "narwhals", "cryptography")


def released(
    planned: Plan,
    drawn: Drawn,
    *,
    notes: Sequence[str] = (),
    progress: Callable[[str], None] = lambda _step: None,
    **entries: Any,
) -> Release:
    """Make the release of a plan, with notes on its files, and more entries for its manifest."""
    schema = _schema(planned, drawn)
    manifest = _manifest(planned, drawn, progress)
    return Release(
        data=drawn.data,
        measurements=drawn.measurements,
        guarantee=planned.guarantee,
        notes=(
            *planned.notes,
            *_of_learnt(drawn),
            *_of_kinds(planned, drawn),
            *_of_repairs(drawn),
            *notes,
            *_of_labels(planned, schema),
        ),
        schema=schema,
        manifest=Manifest(contents={**manifest, **entries}),
    )


def _schema(planned: Plan, drawn: Drawn) -> dict[str, ColumnSchema]:
    """Say of each column to be released what is known of it beside its values."""
    attributes = {part.attribute.name: part.attribute for part in planned.attributes}
    if drawn.measurements is not None:  # with the domains that were learnt
        known = {own.attribute.name: own for own in drawn.measurements.attributes}
        attributes |= {name: own.attribute for name, own in known.items()}
        for name in (name for name, own in known.items() if own.is_unknown):
            del attributes[name]
    table, guarantee, schema = planned.table, planned.guarantee, dict[str, ColumnSchema]()
    kept, codes = guarantee.kept, _declared_codes(planned)
    labels = released_labels(table, [*attributes.values()], kept, codes)
    for name in table.names:
        if name == guarantee.unit.column and guarantee.has_new_numbers:
            schema[name] = ColumnSchema(kind=Kind.WHOLE, categories=None)
        if name not in attributes and name not in kept:
            continue
        attribute = attributes.get(name)
        schema[name] = ColumnSchema(
            kind=table.kind(name) if attribute is None else attribute.kind,
            categories=None if attribute is None else attribute.categories,
            labels=replace(labels.get(name, Labels()), n_left_out=0),
        )
    return schema


def _of_repairs(drawn: Drawn) -> Iterator[str]:
    """Say which rules hold, and how many drawn records were changed for them: all of it public."""
    if drawn.repairs is None or drawn.measurements is None:
        return iter(())
    rules = _in_a_line(f"'{rule}'" for rule in drawn.measurements.rules)
    return said("notes", {"rules-kept": True}, rules=rules, **asdict(drawn.repairs))


def _of_learnt(drawn: Drawn) -> Iterator[str]:
    """Name the columns of which nothing was learnt, and those whose words begin like formulas."""
    measured = () if drawn.measurements is None else drawn.measurements.attributes
    names = [own.attribute.name for own in measured if own.is_unknown]
    yield from said("notes", {"nothing-learnt": names}, names=_in_a_line(names))
    words = {
        own.attribute.name: (own.attribute.categories and own.attribute.categories.words) or ()
        for own in measured
        if own.attribute.domain_source is Source.LEARNT
    }
    found = [name for name, own in words.items() if any(map(begins_like_formula, own))]
    yield from said("notes", {"formulas": found}, formulas=_in_a_line(found))


def _of_kinds(planned: Plan, drawn: Drawn) -> Iterator[str]:
    """Say what is to be known of kinds that were learnt, by what was measured: all of it public."""
    untyped = _untyped(drawn)
    parts = {part.attribute.name: part for part in planned.attributes}
    mixed, words, rough = dict[str, float](), list[str](), list[str]()
    for name, own, cells in untyped:
        kind, part = own.attribute.kind, parts[name]
        assert isinstance(part, OneWayPlan)  # noqa: S101 -- of a new table
        if not kind.is_numeric:
            share = share_of_cells(cells, Kind.WHOLE, Kind.DECIMAL, Kind.DATE)
            mixed |= {name: share} if share >= MOSTLY else {}
            continue
        if are_words_there(cells):
            words.append(name)
        plan = part.of_kind(kind)
        rough += [name] if plan.is_number and plan.worth < DEEP_ENOUGH else []
    shares = ", ".join(f"{one_line(name)} ({100 * share:.0f} %)" for name, share in mixed.items())
    holds = {"kinds-mixed": mixed, "words-for-nothing": words, "rough": rough}
    return said("notes", holds, mixed=shares, words=_in_a_line(words), rough=listed(rough))


def _untyped(drawn: Drawn) -> list[tuple[str, AttributeMeasured, NoisyCounts]]:
    """Return what was measured of columns whose kind was learnt, but for those left out."""
    measured = () if drawn.measurements is None else drawn.measurements.attributes
    return [
        (own.attribute.name, own, own.kinds)
        for own in measured
        if own.kinds is not None and not own.is_unknown
    ]


def _of_labels(planned: Plan, schema: Mapping[str, ColumnSchema]) -> Iterator[str]:
    """Say which labels and codes of the file go out, and which are not declared."""
    labels = planned.table.labels
    left_out = [name for name in schema if name in labels and labels[name].n_left_out]
    coded = _coded(planned)
    yield from said("notes", {"labelled": any(own.labels.parts for own in schema.values())})
    yield from said("notes", {"labels-left-out": left_out}, names=_in_a_line(left_out))
    yield from said("notes", {"codes-undeclared": coded}, names=_in_a_line(coded))


def _coded(planned: Plan) -> list[str]:
    """Name the attributes with codes of missing answers that are neither declared nor listed."""
    codes, found = _declared_codes(planned), []
    for attribute in (part.attribute for part in planned.attributes):
        name = attribute.name
        declared = declared_missing(planned.table, name, codes)
        # As a category of its own a code is what it is meant to be.
        declared |= {*attribute.categories.values} if attribute.categories else set()
        of_file = planned.table.labels.get(name, Labels()).missing_codes
        if {as_value(code) for code in of_file} - declared:
            found.append(name)
    return found


def _declared_codes(planned: Plan) -> MissingCodes:
    asked = planned.parameters
    return MissingCodes.of(asked.get("missing_codes"), asked.get("missing_values"))


def _manifest(planned: Plan, drawn: Drawn, progress: Callable[[str], None]) -> dict[str, Any]:
    """Describe a plan, what was found out about it and the software that carried it out."""
    progress("auditing")
    audited, expected = audit_of(planned), expectations(planned)
    requests = [part.request for part in planned.parts]
    looks = _numeric_looks(planned) if requests[0].attributes is None else {}
    is_advised = any(request.advised is not None for request in requests)
    told = [
        *_of_units(planned),
        *(sentence for part in planned.parts for sentence in _of_whole_records(part)),
        *_of_cells(planned),
        *_custodian({"advised-error": expected and is_advised}, error=average(expected)),
    ]
    told += _of_cells_read(planned, drawn)
    for name, look in looks.items():
        told += _custodian({"numeric-look": True}, name=name, look=look)
    found: dict[str, Any] = {
        "audit": audited.to_dict(),
        "expected_error": {name: entry.to_dict() for name, entry in expected.items()},
    }
    if looks:
        found["numeric_looks"] = looks
    told += _of_hopeless(planned, expected)
    return {
        "schema": 1,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "method": planned.guarantee.method,
        "parameters": dict(planned.parameters),
        "unused_parameters": list(planned.unused),
        "n_records": planned.table.n_records,
        "attributes": {part.attribute.name: part.to_dict() for part in planned.attributes},
        "guarantee": planned.guarantee.to_dict(),
        "notes": list(planned.notes),
        "custodian_notes": told,
        **found,
        "versions": dict(_versions()),
    }


@functools.cache
def _versions() -> Mapping[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in COMPONENTS}}


def _numeric_looks(planned: Plan) -> dict[str, str]:
    """Say of columns that were left out why they are text, where they look like numbers."""
    names = planned.prepared.left_out
    looks = {name: numeric_look_of(planned.table, name) for name in names}
    return {name: look for name, look in looks.items() if look is not None}


def _of_cells_read(planned: Plan, drawn: Drawn) -> Iterator[str]:
    """Say how many cells are none of the kind of their column, and what text looks like."""
    for name, own, _ in _untyped(drawn):
        kind = own.attribute.kind
        if not kind.is_numeric:
            look = numeric_look_of(planned.table, name)
            yield from _custodian({"text-look": look}, name=name, look=look)
            continue
        column = planned.prepared.column(planned.prepared.names.index(name)).untyped
        counts = {} if column is None else dict(zip(CELLS, column.counts().tolist(), strict=True))
        fit = {Kind.WHOLE, Kind.DECIMAL} if kind in {Kind.WHOLE, Kind.DECIMAL} else {kind}
        odd = sum(n for what, n in counts.items() if isinstance(what, Kind) and what not in fit)
        n_words = counts.get("word for nothing", 0)
        holds = {"odd-cells": odd, "cells-with-words": n_words}
        yield from _custodian(holds, name=name, kind=kind.value, odd=odd, n_words=n_words)


def _of_units(planned: Plan) -> Iterator[str]:
    """Say which records were left out, and where what was declared one value a unit is not."""
    units, n_records = planned.units, planned.table.n_records
    if units is None:
        return
    most, n_dropped = units.unit.max_rows, units.n_dropped
    about = {"n_dropped": n_dropped, "n_all": n_records + n_dropped, "most": most}
    yield from _custodian({"cut": n_dropped}, **about)
    for attribute in (part.attribute for part in planned.attributes if part.attribute.of_unit):
        n_units = units.differing(numbers_of_attribute(planned.table, attribute))
        name = one_line(attribute.name)
        yield from _custodian({"units-differ": n_units}, n_units=n_units, name=name)


def _of_whole_records(part: PartPlan) -> Iterator[str]:
    """Say how many records are released without a value, because one of theirs is missing."""
    found = (getattr(own, "missing", None) for own in part.attributes)
    masks = [mask for mask in found if mask is not None]
    if not part.request.method.uses("blocks") or len(masks) < len(part.attributes):
        return iter(())
    n_empty = int(np.logical_and.reduce(masks).sum())
    names = _in_a_line(own.attribute.name for own in part.attributes)
    n_records = part.prepared.table.n_records
    about = {"n_empty": n_empty, "n_records": n_records, "names": names}
    return _custodian({"empty-records": n_empty}, **about)


def _of_cells(planned: Plan) -> Iterator[str]:
    """Say what merging clusters of equal values cost, and how many cells come out exactly."""
    for part in planned.attributes:
        if isinstance(part, CentroidPlan | Figures) and part.widening:
            before, total = part.widening, part.total_squares or 1
            squares = (before.squares_before, part.squares_within or 0.0)
            yield from _custodian(
                {"all-equal": part.total_squares == 0, "widened": part.total_squares != 0},
                name=part.attribute.name,
                before=before.clusters_before,
                after=part.n_clusters,
                lost_before=100 * squares[0] / total,
                lost=100 * squares[1] / total,
            )
    exact = sum(part.exact_cells for part in planned.attributes)
    cells = sum(part.n_cells for part in planned.attributes)
    yield from _custodian({"exact-cells": exact}, exact=exact, cells=cells)


def _of_hopeless(planned: Plan, expected: Mapping[str, Expectation]) -> Iterator[str]:
    """Say which attributes are hopeless, and where something better may be found."""
    worst = [
        f"'{name}' ({figure(entry.over_variance)} times the variance)"
        if entry.variance > 0
        else f"'{name}' (all its values are equal)"
        for name, entry in expected.items()
        if entry.hopeless
    ]
    keeps = kept_scope(planned) is not None
    about = {"hopeless": worst and not keeps, "hopeless-advised": worst and keeps}
    return _custodian(about, worst=", ".join(worst))


def _in_a_line(names: Iterable[str]) -> str:
    return ", ".join(map(one_line, names))
