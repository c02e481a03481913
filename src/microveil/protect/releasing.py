"""From a plan and what was drawn of it to a release: its schema, its notes and its manifest.

What the custodian is told depends on the data. Nothing is looked at for it but the plan; what is
found of a release is in `measures.findings`.
"""

import datetime
import functools
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from microveil.files.formulas import begins_like_formula
from microveil.methods.planned import Figures
from microveil.methods.synthetic_plan import DEEP_ENOUGH
from microveil.partition.ranking import Widening
from microveil.protect.claims import as_value, declared_missing, released_labels
from microveil.protect.columns import Units
from microveil.protect.draw import Drawn
from microveil.protect.exact_audit import audit_of
from microveil.protect.expectation import Expectation, average, expectations
from microveil.protect.notes import said
from microveil.protect.plan import PartPlan, Plan, all_figures, kept_scope
from microveil.protect.release import Manifest, Release
from microveil.schema import Kind, Source
from microveil.synthesis.keeping import Repairs
from microveil.synthesis.kinds import are_words_there, share_of_cells
from microveil.synthesis.measurements import Measurements
from microveil.synthesis.one_way_plan import OneWayPlan
from microveil.table import (
    ColumnSchema,
    Labels,
    MissingCodes,
    numbers_of_attribute,
    numeric_look_of,
)
from microveil.table.untyped import CELLS
from microveil.text import listed, one_line, some_of
from microveil.text.figures import figure

# A column of text is spoken of where so large a share of its cells are numbers or dates.
MOSTLY = 0.5
COMPONENTS = ("microveil", "numpy", "scipy", "numba", "polars", "narwhals", "cryptography")

_custodian = functools.partial(said, "custodian")


def released(
    planned: Plan,
    drawn: Drawn,
    *,
    notes: Sequence[str] = (),
    **entries: Any,
) -> Release:
    """Make the release of a plan, with notes on its files, and more entries for its manifest."""
    schema, told = _schema(planned, drawn), list(planned.notes)
    if drawn.measurements is not None:
        told += _of_measured(planned, drawn.measurements)
    if drawn.repairs is not None:
        told += _of_repairs(drawn.measurements, drawn.repairs)
    told += notes
    if planned.table.labels:
        told += _of_labels(planned, schema)
    return Release(
        data=drawn.data,
        measurements=drawn.measurements,
        guarantee=planned.guarantee,
        notes=tuple(told),
        schema=schema,
        manifest=Manifest(contents={**_manifest(planned, drawn), **entries}),
    )


def _schema(planned: Plan, drawn: Drawn) -> dict[str, ColumnSchema]:
    """Say of each column to be released what is known of it beside its values."""
    attributes = {part.attribute.name: part.attribute for part in planned.attributes}
    for own in () if drawn.measurements is None else drawn.measurements.attributes:
        if own.is_unknown:
            del attributes[own.attribute.name]
        else:  # with the domain that was learnt
            attributes[own.attribute.name] = own.attribute
    table, guarantee, labels = planned.table, planned.guarantee, dict[str, Labels]()
    if table.labels:
        asked = [*attributes.values()]
        labels = released_labels(table, asked, guarantee.kept, _declared_codes(planned))
    schema = dict[str, ColumnSchema]()
    for name in table.names:
        attribute = attributes.get(name)
        if attribute is not None or name in guarantee.kept:
            schema[name] = ColumnSchema(
                kind=table.kind(name) if attribute is None else attribute.kind,
                categories=None if attribute is None else attribute.categories,
                labels=replace(labels.get(name, Labels()), n_left_out=0),
            )
        elif name == guarantee.unit.column and guarantee.has_new_numbers:
            schema[name] = ColumnSchema(kind=Kind.WHOLE, categories=None)
    return schema


def _of_measured(planned: Plan, measurements: Measurements) -> Iterator[str]:
    """Say what is to be known of what was learnt, by what was measured: all of it public."""
    unknown, formulas, words, rough, mixed = (list[str]() for _ in range(5))
    parts = {part.attribute.name: part for part in planned.attributes}
    for own in measurements.attributes:
        attribute, part = own.attribute, parts[own.attribute.name]
        name, kind, listed_words = attribute.name, attribute.kind, attribute.categories
        if own.is_unknown:
            unknown.append(name)
        if attribute.domain_source is Source.LEARNT and listed_words is not None:
            formulas += [name] if any(map(begins_like_formula, listed_words.words or ())) else []
        if own.kinds is None or own.is_unknown:
            continue
        assert isinstance(part, OneWayPlan)  # noqa: S101 -- of a new table
        if not kind.is_numeric:
            share = share_of_cells(own.kinds, Kind.WHOLE, Kind.DECIMAL, Kind.DATE)
            mixed += [f"{one_line(name)} ({100 * share:.0f} %)"] if share >= MOSTLY else []
            continue
        words += [name] if are_words_there(own.kinds) else []
        plan = part.of_kind(kind)
        rough += [name] if plan.is_number and plan.worth < DEEP_ENOUGH else []
    yield from said("notes", {"nothing-learnt": unknown})
    yield from said("notes", {"formulas": formulas})
    yield from said("notes", {"kinds-mixed": mixed, "words-for-nothing": words, "rough": rough})


def _of_repairs(measurements: Measurements | None, repairs: Repairs) -> Iterator[str]:
    """Say which rules hold, and how many drawn records were changed for them: all of it public."""
    kept = () if measurements is None else measurements.rules
    rules = listed(f"'{rule}'" for rule in kept)
    return said("notes", {"rules-kept": rules}, **asdict(repairs))


def _of_labels(planned: Plan, schema: Mapping[str, ColumnSchema]) -> Iterator[str]:
    """Say which labels and codes of the file go out, and which are not declared."""
    labels, codes, coded = planned.table.labels, _declared_codes(planned), list[str]()
    left_out = [name for name in schema if name in labels and labels[name].n_left_out]
    for attribute in (part.attribute for part in planned.attributes):
        declared = declared_missing(planned.table, attribute.name, codes)
        # As a category of its own a code is what it is meant to be.
        declared |= {*attribute.categories.values} if attribute.categories else set()
        of_file = labels.get(attribute.name, Labels()).missing_codes
        coded += [attribute.name] if {as_value(code) for code in of_file} - declared else []
    is_labelled = any(own.labels.parts for own in schema.values())
    holds = {"labelled": is_labelled, "labels-left-out": left_out, "codes-undeclared": coded}
    return said("notes", holds)


def _declared_codes(planned: Plan) -> MissingCodes:
    asked = planned.parameters
    return MissingCodes.of(asked.get("missing_codes"), asked.get("missing_values"))


def _manifest(planned: Plan, drawn: Drawn) -> dict[str, Any]:
    """Describe a plan, what was found out about it and the software that carried it out."""
    planned.prepared.progress("auditing")
    audited, expected, looks = audit_of(planned), expectations(planned), dict[str, str]()
    if planned.parts[0].request.attributes is None:  # why columns that were left out are text
        for name in planned.prepared.left_out:
            if (look := numeric_look_of(planned.table, name)) is not None:
                looks[name] = look
    return {
        "schema": 1,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "method": planned.guarantee.method,
        "parameters": dict(planned.parameters),
        "unused_parameters": list(planned.unused),
        "n_records": planned.table.n_records,
        "attributes": {own.attribute.name: dict(own.written) for own in all_figures(planned)},
        "guarantee": planned.guarantee.to_dict(),
        "notes": list(planned.notes),
        "custodian_notes": [*_told(planned, drawn, expected, looks)],
        "audit": audited.to_dict(),
        "expected_error": {name: entry.to_dict() for name, entry in expected.items()},
        **({"numeric_looks": looks} if looks else {}),
        "versions": dict(_versions()),
    }


@functools.cache
def _versions() -> Mapping[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in COMPONENTS}}


def _told(
    planned: Plan,
    drawn: Drawn,
    expected: Mapping[str, Expectation],
    looks: Mapping[str, str],
) -> Iterator[str]:
    """Yield what the custodian is told: it depends on the data."""
    if planned.units is not None:
        yield from _of_units(planned, planned.units)
    is_advised, exact, n_cells = False, 0, 0
    for one in planned.parts:
        is_advised = is_advised or one.request.advised is not None
        yield from _of_whole_records(one)
    for part in all_figures(planned):
        exact, n_cells = exact + part.exact_cells, n_cells + part.n_cells
        if part.widening:
            yield from _of_widening(part, part.widening)
    if exact:
        yield from _custodian({"exact-cells": exact}, cells=n_cells)
    if expected and is_advised:
        yield from _custodian({"advised-error": True}, error=average(expected))
    if drawn.measurements is not None:
        yield from _of_cells_read(planned, drawn.measurements)
    for name, look in looks.items():
        yield from _custodian({"numeric-look": look}, name=name)
    if any(entry.hopeless for entry in expected.values()):
        yield from _of_hopeless(planned, expected)


def _of_hopeless(planned: Plan, expected: Mapping[str, Expectation]) -> Iterator[str]:
    """Say which attributes are hopeless, and where something better may be found."""
    worst = [
        f"'{name}' ({figure(entry.over_variance)} times the variance)"
        if entry.variance > 0
        else f"'{name}' (all its values are equal)"
        for name, entry in expected.items()
        if entry.hopeless
    ]
    advised = "" if kept_scope(planned) is None else "-advised"
    return _custodian({f"hopeless{advised}": worst})


def _of_cells_read(planned: Plan, measurements: Measurements) -> Iterator[str]:
    """Say how many cells are none of the kind of their column, and what text looks like."""
    for own in measurements.attributes:
        if own.kinds is None or own.is_unknown:
            continue
        name, kind = own.attribute.name, own.attribute.kind
        if not kind.is_numeric:
            yield from _custodian({"text-look": numeric_look_of(planned.table, name)}, name=name)
            continue
        column = planned.prepared.column(planned.prepared.names.index(name)).untyped
        counts = {} if column is None else dict(zip(CELLS, column.counts().tolist(), strict=True))
        fit = {Kind.WHOLE, Kind.DECIMAL} if kind in {Kind.WHOLE, Kind.DECIMAL} else {kind}
        odd = sum(n for what, n in counts.items() if isinstance(what, Kind) and what not in fit)
        n_words = counts.get("word for nothing", 0)
        for note, n in {"odd-cells": odd, "cells-with-words": n_words}.items():
            cells = "1 cell" if n == 1 else f"{n:,} cells"
            yield from _custodian({note: n and cells}, name=name, kind=kind.value)


def _of_units(planned: Plan, units: Units) -> Iterator[str]:
    """Say which records were left out, and where what was declared one value a unit is not."""
    n_all = planned.table.n_records + units.n_dropped
    yield from _custodian({"cut": units.n_dropped}, n_all=n_all, most=units.unit.max_rows)
    for attribute in (part.attribute for part in planned.attributes if part.attribute.of_unit):
        n_units = units.differing(numbers_of_attribute(planned.table, attribute))
        yield from _custodian({"units-differ": n_units}, name=one_line(attribute.name))


def _of_whole_records(part: PartPlan) -> Iterator[str]:
    """Say how many records are released without a value, because one of theirs is missing."""
    if not part.request.method.uses("blocks"):
        return iter(())
    masks: list[Any] = [getattr(own, "missing", None) for own in part.attributes]
    if any(mask is None for mask in masks):
        return iter(())
    n_empty, n_records = int(np.logical_and.reduce(masks).sum()), part.prepared.table.n_records
    names = some_of(own.attribute.name for own in part.attributes)
    return _custodian({"empty-records": n_empty}, n_records=n_records, names=names)


def _of_widening(part: Figures, before: Widening) -> Iterator[str]:
    """Say what merging clusters of equal values cost."""
    total = part.total_squares
    return _custodian(
        {"widened" if total else "all-equal": True},
        name=part.attribute.name,
        before=before.clusters_before,
        after=part.n_clusters,
        lost_before=100 * before.squares_before / (total or 1),
        lost=100 * (part.squares_within or 0.0) / (total or 1),
    )
