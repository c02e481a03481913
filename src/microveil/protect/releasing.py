"""From a plan and what was drawn of it to a release: its schema, its notes and its manifest."""

import datetime
import functools
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from microveil.protect.custodian_notes import PlanNotes
from microveil.protect.draw import Drawn
from microveil.protect.labels import as_value, declared_missing, released_labels
from microveil.protect.plan import Plan
from microveil.protect.release import Manifest, Release
from microveil.schema import Kind
from microveil.table import ColumnSchema, Labels, MissingCodes
from microveil.text import one_line

__all__ = ["released"]

COMPONENTS = ("microveil", "numpy", "scipy", "numba", "polars", "narwhals", "cryptography")
LABELLED = (
    "Labels, code lists and codes of missing answers go along as the file's metadata have them: "
    "read through them before you publish. Codes outside a declared domain are left out."
)


LEFT_OUT = (
    "The file labels codes, or declares them missing, that no cell of the column can hold: in "
    "{names}. They are left out (.a to .z of Stata, 1.5 among whole numbers)."
)


CODED = (
    "The file has codes of missing answers in {names} that the request does not declare: they are "
    "protected as values like others. Declare them (missing_codes, --missing-codes) where they are "
    "none."
)


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


def _schema(planned: Plan) -> dict[str, ColumnSchema]:
    """Say of each column to be released what is known of it beside its values."""
    attributes = {part.attribute.name: part.attribute for part in planned.attributes}
    table, schema = planned.table, {}
    labels = released_labels(
        table, [*attributes.values()], planned.guarantee.kept, _declared_codes(planned)
    )
    guarantee = planned.guarantee
    for name in table.names:
        if name == guarantee.unit.column and guarantee.has_new_numbers:
            schema[name] = ColumnSchema(kind=Kind.WHOLE, categories=None)
        if name not in attributes and name not in guarantee.kept:
            continue
        attribute = attributes.get(name)
        schema[name] = ColumnSchema(
            kind=table.kind(name) if attribute is None else attribute.kind,
            categories=None if attribute is None else attribute.categories,
            labels=replace(labels.get(name, Labels()), n_left_out=0),
        )
    return schema


def released(
    planned: Plan, drawn: Drawn, said: PlanNotes, *, notes: Sequence[str] = (), **entries: Any
) -> Release:
    """Make the release of a plan, with notes on its files, and more entries for its manifest."""
    schema = _schema(planned)
    if any(column.labels.parts for column in schema.values()):
        notes = (*notes, LABELLED)
    labels = planned.table.labels
    if left_out := [name for name in schema if name in labels and labels[name].n_left_out]:
        notes = (*notes, LEFT_OUT.format(names=", ".join(map(one_line, left_out))))
    coded = _coded(planned)
    if coded:
        notes = (*notes, CODED.format(names=", ".join(map(one_line, coded))))
    return Release(
        data=drawn.data,
        measurements=drawn.measurements,
        guarantee=planned.guarantee,
        notes=(*planned.notes, *notes),
        schema=schema,
        manifest=_manifest(planned, said, entries),
    )


def _manifest(planned: Plan, said: PlanNotes, entries: Mapping[str, Any]) -> Manifest:
    """Describe a plan, what was found out about it and the software that carried it out."""
    contents = {
        "schema": 1,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "method": planned.guarantee.method,
        "parameters": dict(planned.parameters),
        "unused_parameters": list(planned.unused),
        "n_records": planned.table.n_records,
        "attributes": {part.attribute.name: part.to_dict() for part in planned.attributes},
        "guarantee": planned.guarantee.to_dict(),
        "notes": list(planned.notes),
        "custodian_notes": list(said.sentences),
        **said.entries,
        "versions": dict(_versions()),
        **entries,
    }
    return Manifest(contents=contents)


@functools.cache
def _versions() -> Mapping[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in COMPONENTS}}
