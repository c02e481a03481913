"""The columns: what each is to whoever would find a person, and what it may hold.

What `inspect` proposes is shown as a proposal. It goes into the recipe where a person says that
it is right, column by column or all at once, and not before.
"""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from microveil.app.drafts import Draft
from microveil.app.forms import Errors, Form
from microveil.arguments.registry import arguments
from microveil.errors import RequestError
from microveil.release.domains import read_bounds, read_categories, read_resolution
from microveil.schema import COLUMN_KINDS, Kind, Ordered, Role

__all__ = ["ColumnFields", "column_fields", "declare_columns", "undeclared"]

PROTECTED = (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)
# Entries of a recipe that the form has fields for.
OWN = ("role", "type", "resolution", "bounds", "categories", "ordered", "missing_codes")
# The fields that stand for entries.
FIELDS_OF = {
    ("resolution",): ("resolution",),
    ("bounds", "categories", "ordered"): ("lower", "upper", "categories", "ordered"),
    ("missing_codes",): ("codes",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFields:
    """The fields of a column, as the page shows them.

    Attributes
    ----------
    number : int
        Its place in the table: fields are named by it, as a column's name may be any text.
    name, seen : str
        The column, and what kind of values it holds.
    values : dict of str
        What stands in each field.
    is_declared, is_proposed : bool
        Whether its entry is in the recipe; whether what is shown is a proposal.
    remarks : tuple of str
    stood : dict
        Its entry as declared, else as proposed.
    """

    number: int
    name: str
    seen: str
    values: Mapping[str, str]
    is_declared: bool
    is_proposed: bool
    remarks: tuple[str, ...]
    stood: Mapping[str, Any]

    @property
    def wants_domain(self) -> bool:
        """Whether it is to be protected, and so needs a domain."""
        return self.values["role"] in PROTECTED

    def field(self, name: str) -> str:
        """Return the name of one of its fields in the form."""
        return f"{name}-{self.number}"


def column_fields(draft: Draft, form: Form | None = None) -> Iterator[ColumnFields]:
    """Yield the fields of every column: as sent, else as declared, else as proposed."""
    proposal = draft.proposal
    if proposal is None:
        return
    for number, (name, seen) in enumerate(proposal.kinds.items()):
        declared = draft.declared(name)
        entry = proposal.entries.get(name, {}) if declared is None else declared
        values = _written(entry)
        if form is not None and f"role-{number}" in form:
            values = {field: form[f"{field}-{number}"] for field in values}
        yield ColumnFields(
            number=number,
            name=name,
            seen=seen,
            values=values,
            is_declared=declared is not None,
            is_proposed=declared is None,
            remarks=proposal.remarks.get(name, ()),
            stood=entry,
        )


def undeclared(draft: Draft) -> list[str]:
    """Name the columns that nobody has said anything about."""
    return [name for name in draft.columns if draft.declared(name) is None]


def declare_columns(draft: Draft, form: Form) -> tuple[Draft, Errors]:
    """Take into the recipe what is declared of columns, and say what is wrong beside the field.

    A column's entry is taken where it is said to be right, or where it was declared before.
    Entries that the form has no field for stay as they are.
    """
    errors = Errors()
    entries: dict[str, Any] = {**draft.recipe.get("attributes", {})}
    for column in column_fields(draft, form):
        if not (column.is_declared or "all" in form or column.field("right") in form):
            continue
        entry = _entry(column, errors)
        if entry is not None:
            before = entries.get(column.name, {})
            kept = {n: v for n, v in before.items() if n not in OWN}
            entries[column.name] = {**_as_it_stood(column, entry), **kept}
    # A recipe that was opened and says nothing of attributes stays as it was.
    if entries == draft.recipe.get("attributes", None if draft.opened is None else {}):
        return draft, errors
    return draft.choosing(attributes=entries), errors


def _as_it_stood(column: ColumnFields, entry: dict[str, Any]) -> dict[str, Any]:
    """Leave as they stood the parts of an entry whose fields were not changed.

    A field shows less than a recipe can say: no space around a category, nor that it is empty.
    """
    shown = _written(column.stood)
    same = {name for name in shown if _text(column.values[name]) == _text(shown[name])}
    found = dict(entry)
    for names, fields in FIELDS_OF.items():
        if {"type", *fields} <= same:
            for name in names:
                found.pop(name, None)
            found.update({name: column.stood[name] for name in names if name in column.stood})
    return found


def _text(sent: str) -> list[str]:
    """Return the lines of a field, as browsers send them in their own way."""
    return [line.strip() for line in sent.strip().splitlines()]


def _written(entry: Mapping[str, Any]) -> dict[str, str]:
    lower, upper = entry.get("bounds") or ("", "")
    return {
        "role": str(entry.get("role", "")),
        "type": str(entry.get("type", "")),
        "resolution": str(entry.get("resolution", "")),
        "lower": str(lower),
        "upper": str(upper),
        "categories": "\n".join(map(_word, entry.get("categories") or ())),
        "ordered": "yes" if entry.get("ordered") else "",
        "codes": "\n".join(map(_word, entry.get("missing_codes") or ())),
    }


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _entry(column: ColumnFields, errors: Errors) -> dict[str, Any] | None:
    """Make a recipe's entry of a column's fields; None where something is wrong with it."""
    before = len(errors)
    values = column.values
    if values["role"] not in list(Role):
        errors.add(column.field("role"), "Say what the column is.")
    if values["type"] not in list(COLUMN_KINDS):
        errors.add(column.field("type"), "Say what the column holds.")
    if len(errors) > before:
        return None
    kind = Kind(values["type"])
    entry: dict[str, Any] = {"role": values["role"], "type": kind.value}
    if values["resolution"]:
        with errors.beside(column.field("resolution")):
            read_resolution(column.name, kind, values["resolution"])
            entry["resolution"] = _number(values["resolution"])
    elif kind is Kind.DECIMAL and column.wants_domain:
        errors.add(
            column.field("resolution"),
            "Decimals are rounded to a step: write the one that matters, 0.01 for cents.",
        )
    entry.update(_domain(column, kind, errors))
    if codes := Form({"codes": values["codes"]}).lines("codes"):
        entry["missing_codes"] = [_code(code, kind) for code in codes]
        with errors.beside(column.field("codes")):
            _argument("missing_codes").checked({column.name: entry["missing_codes"]})
    return entry if len(errors) == before else None


def _domain(column: ColumnFields, kind: Kind, errors: Errors) -> dict[str, Any]:
    """Read what values a column may have: categories that are listed, else bounds."""
    values = column.values
    listed = Form({"categories": values["categories"]}).lines("categories")
    ends = values["lower"], values["upper"]
    if listed and any(ends):
        errors.add(column.field("categories"), "One attribute has bounds or categories: empty one.")
    elif listed:
        is_ordered = bool(values["ordered"])
        with errors.beside(column.field("categories")):
            given = Ordered(tuple(listed)) if is_ordered else listed
            found = read_categories(column.name, kind, given)
            return {
                "categories": list(found.values),
                **({"ordered": True} if is_ordered else {}),
            }
    elif any(ends):
        with errors.beside(column.field("lower")):
            if kind is Kind.OTHER:
                read_categories(column.name, kind, ends[0], "bounds")
            read_bounds(column.name, kind, ends)
            as_held = datetime.date.fromisoformat if kind is Kind.DATE else _number
            return {"bounds": [as_held(end) for end in ends]}
    elif column.wants_domain and kind is not Kind.BOOLEAN:
        of_text = kind is Kind.OTHER
        errors.add(
            column.field("categories" if of_text else "lower"),
            "List every category that there is, as publicly known, or leave the column out."
            if of_text
            else "Write the least and the greatest value that is possible, as publicly known and "
            "never those of the table, or leave the column out.",
        )
    return {}


def _number(text: str) -> int | float:
    """Read what was held against its rules, as TOML holds it."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def _code(text: str, kind: Kind) -> Any:
    """Read a code for a missing value: a number where the column holds numbers."""
    if not kind.is_numeric:
        return text
    try:
        if kind is Kind.DATE and "-" in text.lstrip("-"):
            return datetime.date.fromisoformat(text)
        return _number(text)
    except ValueError:
        return text


def _argument(name: str) -> Any:
    found = next((argument for argument in arguments() if argument.name == name), None)
    if found is None:
        raise RequestError(name, "there is no such argument", "see docs/arguments.md")
    return found
