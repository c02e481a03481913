"""A Frictionless Table Schema beside a table, with what its format has no place for."""

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microveil.errors import FileError
from microveil.schema import Code, GivenCode, Kind
from microveil.table import ColumnSchema, Labels

SCHEMA_FILE, PACKAGE_FILE = "schema.json", "datapackage.json"
TYPES = {
    Kind.WHOLE: "integer", Kind.DECIMAL: "number", Kind.BOOLEAN: "boolean", Kind.DATE: "date",
    Kind.OTHER: "string",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What stands beside a table."""

    labels: Mapping[str, Labels]
    texts: frozenset[str] = frozenset()  # columns that hold text, whatever they look like
    decimals: frozenset[str] = frozenset()  # and decimal numbers


def table_schema(schema: Mapping[str, ColumnSchema]) -> dict[str, Any]:
    """Return a schema as Frictionless has it, for JSON."""
    return {
        "$schema": "https://datapackage.org/profiles/2.0/tableschema.json",
        "fields": [_field(name, column) for name, column in schema.items()],
    }


def _field(name: str, column: ColumnSchema) -> dict[str, Any]:
    labels = column.labels
    field: dict[str, Any] = {"name": name, "type": _type(column)}
    if labels.column:
        field["title"] = labels.column
    if labels.valid:
        field["categories"] = [
            {"value": code.isoformat() if isinstance(code, datetime.date) else code, "label": text}
            for code, text in labels.valid.items()
        ]
        if labels.is_ordinal:
            field["categoriesOrdered"] = True
    if labels.missing_codes:
        field["missingValues"] = [
            "",
            *(
                {"value": str(code), "label": labels.codes[code]}
                if code in labels.codes
                else str(code)
                for code in labels.missing_codes
            ),
        ]
    return field


def _type(column: ColumnSchema) -> str:
    values: Sequence[Code] = () if column.categories is None else column.categories.values
    if values and all(isinstance(value, int) for value in values):
        return "boolean" if isinstance(values[0], bool) else "integer"
    return TYPES.get(column.kind, "string")


def schema_beside(path: Path, names: Sequence[str]) -> Beside | None:
    """Read what the Table Schema beside a table says of its columns; None where there is none."""
    stem = path.name.split(".")[0]
    for name in (f"{stem}.schema.json", PACKAGE_FILE, SCHEMA_FILE):
        place = path.parent / name
        if not place.is_file():
            continue
        try:
            contents = json.loads(place.read_text(encoding="utf-8"))
            schema = contents
            if name == PACKAGE_FILE:  # what it says of the file, if anything
                own = contents.get("resources", ()) if isinstance(contents, dict) else ()
                schema = next((o.get("schema") for o in own if o.get("path") == path.name), None)
            if not isinstance(schema, dict) or not isinstance(schema.get("fields"), list):
                continue
            for_all = {"missingValues": schema.get("missingValues", ())}
            fields = [{**for_all, **field} for field in schema["fields"]]
            found = {field["name"]: labels_of_field(field) for field in fields}
            types = {field["name"]: field.get("type", "any") for field in fields}
            is_whole = len(found) == len(fields)
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            rule = "the schema beside a table must be JSON with its fields, and it is broken"
            raise FileError(str(place), rule, "restore it, or move it elsewhere") from None
        if not is_whole or set(found) != set(names):
            rule = f"its fields must be the columns of {path.name}, each once, and they are not"
            raise FileError(str(place), rule, "correct it, or move it elsewhere")
        return Beside(
            labels=found,
            texts=frozenset(name for name, kind in types.items() if kind == "string"),
            decimals=frozenset(name for name, kind in types.items() if kind == "number"),
        )
    return None


def labels_of_field(field: Mapping[str, Any]) -> Labels:
    """Read what a field says in words; TypeError or LookupError where it is none."""
    kind = field.get("type", "string")
    codes: dict[GivenCode, str] = {}
    limits = field.get("constraints", {})
    for entry in field.get("categories", limits.get("enum", ())):
        if isinstance(entry, dict):
            codes[_code(entry["value"], kind)] = _text(entry.get("label", str(entry["value"])))
        else:
            codes[_code(entry, kind)] = str(entry)
    missing: list[GivenCode] = []
    for entry in field.get("missingValues", ()):
        value = entry["value"] if isinstance(entry, dict) else entry
        if value == "":
            continue  # an empty cell is missing in any case
        missing.append(_missing_code(value, kind))
        if isinstance(entry, dict) and "label" in entry:
            codes[missing[-1]] = _text(entry["label"])
    title = field.get("title")
    column = None if title is None else _text(title)
    return Labels(
        column=column,
        codes=codes,
        missing_codes=tuple(dict.fromkeys(missing)),
        is_ordinal=field.get("categoriesOrdered") is True,
        bounds=None if codes.keys() - missing else _bounds(limits, kind),
    )


def _bounds(limits: Mapping[str, Any], kind: str) -> tuple[Any, Any] | None:
    """Read the least and the greatest value, of numbers and dates."""
    if kind not in ("integer", "number", "date") or not {"minimum", "maximum"} <= {*limits}:
        return None
    return _code(limits["minimum"], kind), _code(limits["maximum"], kind)


def _missing_code(value: Any, kind: str) -> GivenCode:
    """Read a missing code; a word may stand for what is missing among numbers."""
    try:
        return _code(value, kind)
    except (ValueError, KeyError):
        return _text(value)


def _code(value: Any, kind: str) -> GivenCode:
    """Read a code as the column's values are; `fitting` leaves out what is none."""
    if kind == "boolean":
        return {"true": True, "false": False}[str(value).lower()]
    if kind == "date":
        try:
            return datetime.date.fromisoformat(_text(value))
        except ValueError:
            return _text(value)
    if kind not in ("integer", "number"):
        return _text(value)
    number = float(value)
    if not number.is_integer():
        return number
    return int(value) if kind == "integer" else int(number)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
