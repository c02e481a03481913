"""The columns: what each is to whoever would find a person, and what it may hold.

What `inspect` proposes is shown as a proposal. It goes into the recipe where a person says that
it is right, column by column or all at once, and not before. The step that decimals are rounded to
is read from the data where nobody declares it: it is proposed beside its field, which stays empty.
The values of a column are shown where a person asks for them, and a list of them is declared where
one says in so many words that it is publicly known, or that it is taken from the table.
"""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from microveil.app.drafts import Draft, SeenValues
from microveil.app.forms import Errors, Form
from microveil.protect.arguments import DECLARED
from microveil.protect.domains import read_bounds, read_categories, read_resolution
from microveil.schema import COLUMN_KINDS, Kind, Ordered, Role

__all__ = [
    "ColumnFields",
    "column_fields",
    "declare_columns",
    "entering",
    "undeclared",
    "with_values",
    "without_entered",
]

PROTECTED = (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)
# The fields that stand for entries.
DOMAIN = ("bounds", "categories", "ordered", "categories_from_data")
FIELDS_OF = {
    ("resolution",): ("resolution",),
    DOMAIN: ("lower", "upper", "categories", "ordered", "source"),
    ("missing_codes",): ("codes",),
}
# Entries of a recipe that the form has fields for.
OWN = ("role", "type", *(name for names in FIELDS_OF for name in names))
# Where a list of categories comes from, as a person says.
PUBLIC, FROM_DATA = "public", "data"


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
    is_right : bool
        Whether it is said to be right, in the recipe or as sent.
    remarks : tuple of str
    stood : dict
        Its entry as declared, else as proposed.
    proposed_step : str
        The step to round to that is proposed for a blank, empty where none is.
    seen_values : SeenValues or None
        Its values, where a person asked to see them.
    was_from_data : bool
        Whether the recipe that was opened takes its list from the table.
    """

    number: int
    name: str
    seen: str
    values: Mapping[str, str]
    is_declared: bool
    is_proposed: bool
    is_right: bool
    remarks: tuple[str, ...]
    stood: Mapping[str, Any]
    proposed_step: str = ""
    seen_values: SeenValues | None = None
    was_from_data: bool = False

    @property
    def wants_domain(self) -> bool:
        """Whether it is to be protected, and so needs a domain."""
        return self.values["role"] in PROTECTED

    @property
    def has_text(self) -> bool:
        """Whether the table holds text there, whose values can be asked for."""
        return self.seen == Kind.OTHER.value

    @property
    def asks_source(self) -> bool:
        """Whether a person must say where its list of categories comes from."""
        shown = self.seen_values is not None and bool(self.seen_values.values)
        return shown or self.was_from_data or bool(self.stood.get("categories_from_data"))

    @property
    def lists_what_was_seen(self) -> bool:
        """Whether the values that were seen stand in its field, and no others."""
        seen = "" if self.seen_values is None else "\n".join(self.seen_values.values)
        return bool(seen) and _text(self.values["categories"]) == _text(seen)

    @property
    def lacking(self) -> list[str]:
        """The values that were seen and are not in its list."""
        if self.seen_values is None or self.lists_what_was_seen:
            return []
        listed = {
            *_listed(self.values["categories"]),
            *map(_word, self.stood.get("categories", ())),
        }
        return [value for value in self.seen_values.values if value.strip() not in listed]

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
        proposed = dict(proposal.entries.get(name, {}))
        step = proposed.pop("resolution", "") if declared is None else ""
        entry = proposed if declared is None else declared
        column = ColumnFields(
            number=number,
            name=name,
            seen=seen,
            values=_written(entry),
            is_declared=declared is not None,
            is_proposed=declared is None,
            is_right=declared is not None or (form is not None and f"right-{number}" in form),
            remarks=proposal.remarks.get(name, ()),
            stood=entry,
            proposed_step=str(step),
            seen_values=draft.values.get(name),
            was_from_data=_was_from_data(draft, name),
        )
        yield column if form is None else replace(column, values=_as_sent(column, form))


def _was_from_data(draft: Draft, name: str) -> bool:
    entries = {} if draft.opened is None else draft.opened[1].get("attributes", {})
    return bool(entries.get(name, {}).get("categories_from_data"))


def _as_sent(column: ColumnFields, form: Form) -> dict[str, str]:
    """Return the fields of a column as they were sent, in place of those that it has."""
    if column.field("role") not in form:
        return {**column.values}
    sent = {name: form[column.field(name)] for name in column.values}
    return sent if column.asks_source else {**sent, "source": column.values["source"]}


def entering(draft: Draft, form: Form) -> Draft:
    """Keep what was sent with a request for the values of a column: it declares nothing.

    What was seen before stays until it is listed anew: a list beside it wants its source.
    """
    entered = {name: form[name] for name in form.fields if name not in ("version", "values")}
    return replace(draft, entered=entered)


def without_entered(draft: Draft) -> Draft:
    """Forget what was sent and not saved, and a request for values that came to nothing."""
    works = {kind: work for kind, work in draft.works.items() if kind != "list"}
    return replace(draft, entered=None, works=works)


def with_values(draft: Draft, name: str, found: SeenValues) -> Draft:
    """Put the values of a column beside it, and into its list where nobody wrote one.

    They are what a person looks at, and declare nothing.
    """
    entered = {**(draft.entered or {})}
    for column in column_fields(draft, Form(entered)):
        if column.name == name and not column.values["categories"]:
            entered[column.field("categories")] = "\n".join(found.values)
    return replace(draft, values={**draft.values, name: found}, entered=entered)


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
    is_bounded_after_a_look = False
    for column in column_fields(draft, form):
        if not (column.is_declared or "all" in form or column.field("right") in form):
            continue
        entry = _entry(column, errors)
        if entry is not None:
            before = entries.get(column.name, {})
            kept = {n: v for n, v in before.items() if n not in OWN}
            made = entries[column.name] = {**_as_it_stood(column, entry), **kept}
            if made.get("bounds") not in (None, before.get("bounds")):
                seen = column.seen_values
                is_bounded_after_a_look |= seen is not None and bool(seen.values)
    # A recipe that was opened and says nothing of attributes stays as it was.
    if entries == draft.recipe.get("attributes", None if draft.opened is None else {}):
        return draft, errors
    changed = draft.choosing(attributes=entries)
    # Values are figures too, of which bounds can be read: of a list a person says where it is from.
    return changed.asking(looked_at="data") if is_bounded_after_a_look else changed, errors


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
        "source": FROM_DATA if entry.get("categories_from_data") else _known(entry),
        "codes": "\n".join(map(_word, entry.get("missing_codes") or ())),
    }


def _known(entry: Mapping[str, Any]) -> str:
    return PUBLIC if entry.get("categories") else ""


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
    if codes := _listed(values["codes"]):
        entry["missing_codes"] = [_code(code, kind) for code in codes]
        with errors.beside(column.field("codes")):
            DECLARED["missing_codes"].checked({column.name: entry["missing_codes"]})
    return entry if len(errors) == before else None


def _domain(column: ColumnFields, kind: Kind, errors: Errors) -> dict[str, Any]:
    """Read what values a column may have: categories that are listed, else bounds."""
    listed, ends = _categories_of(column), (column.values["lower"], column.values["upper"])
    if listed and any(ends):
        errors.add(column.field("categories"), "One attribute has bounds or categories: empty one.")
    elif listed:
        return _declared_list(column, kind, listed, errors)
    elif any(ends):
        with errors.beside(column.field("lower")):
            if kind is Kind.OTHER:
                read_categories(column.name, kind, ends[0], "bounds")
            read_bounds(column.name, kind, ends, may_be_one=True)
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


def _categories_of(column: ColumnFields) -> list[str]:
    """Return the categories in a column's field, as they were seen where they are the same."""
    if column.asks_source and not (column.wants_domain or column.values["source"]):
        return []  # they were looked at, and a column that is left out needs no list
    if column.seen_values is not None and column.lists_what_was_seen:
        return list(column.seen_values.values)
    return _listed(column.values["categories"])


def _declared_list(
    column: ColumnFields, kind: Kind, listed: list[str], errors: Errors
) -> dict[str, Any]:
    """Read a list of categories: one beside the values of the table says where it comes from."""
    source, is_ordered = column.values["source"], bool(column.values["ordered"])
    if column.asks_source and source not in (PUBLIC, FROM_DATA):
        errors.add(column.field("source"), "Say where the list of categories comes from.")
        return {}
    if source == FROM_DATA and is_ordered:
        errors.add(
            column.field("source"),
            "A list that is taken from the table is in no order: leave the order out, or declare "
            "the list as publicly known.",
        )
        return {}
    with errors.beside(column.field("categories")):
        given = Ordered(tuple(listed)) if is_ordered else listed
        found = read_categories(column.name, kind, given, may_be_one=True)
        return {
            "categories": list(found.values),
            **({"ordered": True} if is_ordered else {}),
            **({"categories_from_data": True} if source == FROM_DATA else {}),
        }
    return {}


def _listed(text: str) -> list[str]:
    return Form({"lines": text}).lines("lines")


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
