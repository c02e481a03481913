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
from microveil.methods.centroids import CentroidPlan
from microveil.methods.planned import Figures
from microveil.methods.synthetic import DEEP_ENOUGH
from microveil.protect.claims import as_value, declared_missing, released_labels
from microveil.protect.columns import Units
from microveil.protect.draw import Drawn
from microveil.protect.exact_audit import audit_of
from microveil.protect.expectation import Expectation, average, expectations
from microveil.protect.notes import said
from microveil.protect.plan import PartPlan, Plan, kept_scope
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
_custodian = functools.partial(said, "custodian")
COMPONENTS = ("microveil", "numpy", "scipy", "numba", "polars", "narwhals", "cryptography")


def released(
    planned: Plan,
    drawn: Drawn,
    *,
    notes: Sequence[str] = (),
    **entries: Any,
) -> Release:
    """Make the release of a plan, with notes on its files, and more entries for its manifest."""
    schema = _schema(planned, drawn)
    manifest = _manifest(planned, drawn)
    return Release(
        data=drawn.data,
        measurements=drawn.measurements,
        guarantee=planned.guarantee,
        notes=(
            *planned.notes,
            *(() if drawn.measurements is None else _of_measured(planned, drawn.measurements)),
            *(() if drawn.repairs is None else _of_repairs(drawn.measurements, drawn.repairs)),
            *notes,
            *(_of_labels(planned, schema) if planned.table.labels else ()),
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


def _of_measured(planned: Plan, measurements: Measurements) -> Iterator[str]:
    """Say what is to be known of what was learnt, by what was measured: all of it public."""
    unknown, formulas, words, rough = (list[str]() for _ in range(4))
    shares, parts = list[str](), {part.attribute.name: part for part in planned.attributes}
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
            shares += [f"{one_line(name)} ({100 * share:.0f} %)"] if share >= MOSTLY else []
            continue
        words += [name] if are_words_there(own.kinds) else []
        plan = part.of_kind(kind)
        rough += [name] if plan.is_number and plan.worth < DEEP_ENOUGH else []
    found = {
        "nothing-learnt": (unknown, {"names": some_of(unknown)}),
        "formulas": (formulas, {"formulas": some_of(formulas)}),
        "kinds-mixed": (shares, {"mixed": some_of(shares)}),
        "words-for-nothing": (words, {"words": some_of(words)}),
        "rough": (rough, {"rough": some_of(rough)}),
    }
    for note, (holds, about) in found.items():
        yield from said("notes", {note: holds}, **about)


def _of_repairs(measurements: Measurements | None, repairs: Repairs) -> Iterator[str]:
    """Say which rules hold, and how many drawn records were changed for them: all of it public."""
    kept = () if measurements is None else measurements.rules
    rules = listed(f"'{rule}'" for rule in kept)
    return said("notes", {"rules-kept": kept}, rules=rules, **asdict(repairs))


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
    yield from said("notes", {"labelled": any(own.labels.parts for own in schema.values())})
    yield from said("notes", {"labels-left-out": left_out}, names=some_of(left_out))
    yield from said("notes", {"codes-undeclared": coded}, names=some_of(coded))


def _declared_codes(planned: Plan) -> MissingCodes:
    asked = planned.parameters
    return MissingCodes.of(asked.get("missing_codes"), asked.get("missing_values"))


def _manifest(planned: Plan, drawn: Drawn) -> dict[str, Any]:
    """Describe a plan, what was found out about it and the software that carried it out."""
    planned.prepared.progress("auditing")
    audited, expected = audit_of(planned), expectations(planned)
    requests = [part.request for part in planned.parts]
    looks = dict[str, str]()
    if requests[0].attributes is None:  # why columns that were left out are text
        found = {n: numeric_look_of(planned.table, n) for n in planned.prepared.left_out}
        looks = {name: look for name, look in found.items() if look is not None}
    is_advised = any(request.advised is not None for request in requests)
    told = [
        *(() if planned.units is None else _of_units(planned, planned.units)),
        *(sentence for part in planned.parts for sentence in _of_whole_records(part)),
        *_of_cells(planned),
        *_custodian({"advised-error": expected and is_advised}, error=average(expected)),
    ]
    if drawn.measurements is not None:
        told += _of_cells_read(planned, drawn.measurements)
    for name, look in looks.items():
        told += _custodian({"numeric-look": True}, name=name, look=look)
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
        "audit": audited.to_dict(),
        "expected_error": {name: entry.to_dict() for name, entry in expected.items()},
        **({"numeric_looks": looks} if looks else {}),
        "versions": dict(_versions()),
    }


@functools.cache
def _versions() -> Mapping[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in COMPONENTS}}


def _of_cells_read(planned: Plan, measurements: Measurements) -> Iterator[str]:
    """Say how many cells are none of the kind of their column, and what text looks like."""
    for own in measurements.attributes:
        if own.kinds is None or own.is_unknown:
            continue
        name, kind = own.attribute.name, own.attribute.kind
        if not kind.is_numeric:
            look = numeric_look_of(planned.table, name)
            yield from _custodian({"text-look": look}, name=name, look=look)
            continue
        column = planned.prepared.column(planned.prepared.names.index(name)).untyped
        counts = {} if column is None else dict(zip(CELLS, column.counts().tolist(), strict=True))
        fit = {Kind.WHOLE, Kind.DECIMAL} if kind in {Kind.WHOLE, Kind.DECIMAL} else {kind}
        odd = sum(n for what, n in counts.items() if isinstance(what, Kind) and what not in fit)
        n_words = counts.get("word for nothing", 0)
        for note, n in {"odd-cells": odd, "cells-with-words": n_words}.items():
            cells = "1 cell" if n == 1 else f"{n:,} cells"
            yield from _custodian({note: n}, name=name, kind=kind.value, cells=cells)


def _of_units(planned: Plan, units: Units) -> Iterator[str]:
    """Say which records were left out, and where what was declared one value a unit is not."""
    n_all = planned.table.n_records + units.n_dropped
    about = {"n_dropped": units.n_dropped, "n_all": n_all, "most": units.unit.max_rows}
    yield from _custodian({"cut": units.n_dropped}, **about)
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
    n_empty, n_records = int(np.logical_and.reduce(masks).sum()), part.prepared.table.n_records
    names = some_of(own.attribute.name for own in part.attributes)
    return _custodian({"empty-records": n_empty}, n_empty=n_empty, n_records=n_records, names=names)


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
    return _custodian(about, worst=some_of(worst))
