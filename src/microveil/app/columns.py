"""The columns: what is declared of each, what its file declares, and what will be learnt.

What `inspect` proposes declares nothing until a person goes on with it. The values of a column are
shown where a person asks for them, and a list of them is declared where one says in so many words
that it is publicly known, or that it is taken from the table.
"""

import datetime
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from microveil.app.drafts import WORDS, Draft, Proposed, SeenValues
from microveil.app.site import Errors, Form
from microveil.methods import METHODS
from microveil.protect.arguments import DECLARED
from microveil.protect.domains import read_bounds, read_categories, read_resolution
from microveil.schema import Kind, Ordered

ROLES, KINDS = WORDS["roles"], WORDS["kinds"]
PROTECTED = ("quasi-identifier", "confidential")
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
class Column:
    """A column as the page shows it; fields are named by nothing of it, as its name may be any.

    `stood` is its entry as declared, else as proposed; `status` says where its domain is from.
    """

    number: int
    name: str
    proposed: Proposed
    values: Mapping[str, str]
    is_declared: bool
    stood: Mapping[str, Any]
    domain: str = ""
    status: str = ""
    seen_values: SeenValues | None = None
    was_from_data: bool = False

    @property
    def is_protected(self) -> bool:
        """Whether it is to be protected, and so needs a domain."""
        return self.values["role"] in PROTECTED

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
            *lines_in(self.values["categories"]),
            *map(_word, self.stood.get("categories", ())),
        }
        return [value for value in self.seen_values.values if value.strip() not in listed]


def columns_of(draft: Draft) -> Iterator[Column]:
    """Yield every column: as declared, else as proposed."""
    opened = {} if draft.opened is None else draft.opened[1].get("attributes", {})
    proposed = {} if draft.proposal is None else draft.proposal.columns
    for number, (name, own) in enumerate(proposed.items()):
        declared = draft.declared(name)
        entry = own.entry if declared is None else {"type": own.entry["type"], **declared}
        column = Column(
            number=number,
            name=name,
            proposed=own,
            values=_written(entry),
            is_declared=declared is not None,
            stood=entry,
            seen_values=draft.values.get(name),
            was_from_data=bool(opened.get(name, {}).get("categories_from_data")),
        )
        domain, status = _domain_in_words(draft, column)
        yield replace(column, domain=domain, status=status)


def _domain_in_words(draft: Draft, column: Column) -> tuple[str, str]:
    """Say what values a column may have, and whether that is declared, accepted or learnt."""
    entry, by_file, kind = column.stood, column.proposed.by_file, column.values["type"]
    bounds = f"{column.values['lower']} to {column.values['upper']}"
    listed = f"{len(entry.get('categories') or ())} categories"
    listed += ", in order" if entry.get("ordered") else ""
    learnt = f"will be learnt: the file declares {by_file}" if by_file else "will be learnt"
    is_named = column.is_declared or column.name in draft.undeclared
    cases = (
        (not is_named, ("", "not in the recipe: left out")),
        (column.values["role"] == "non-confidential", ("", "")),
        (not column.is_protected, ("", "left out")),
        (entry.get("bounds"), (bounds, "declared")),
        (entry.get("categories_from_data"), (listed, "taken from the table")),
        (entry.get("categories"), (listed, "declared")),
        (by_file and draft.recipe.get("accept"), (by_file, "accepted from the file")),
        (kind == Kind.BOOLEAN, ("yes or no", "by its kind")),
        (_learns(draft.recipe), ("", learnt)),
        (kind == Kind.OTHER, ("", "left out: no list of its categories")),
    )
    return next((said for holds, said in cases if holds), ("", "to be declared"))


def _learns(recipe: Mapping[str, Any]) -> bool:
    """Whether what is not declared is learnt: of a new table, with a delta."""
    method = METHODS.get(recipe.get("method", "dp-synthetic"))
    allows = recipe.get("delta", 0 if "method" in recipe else 1)
    may_learn = recipe.get("domains") != "declared" and bool(allows)
    return may_learn and method is not None and "new table" in method.can


def entering(draft: Draft, form: Form) -> Draft:
    """Keep what was sent with a request for the values of a column: it declares nothing."""
    entered = {name: form[name] for name in form.fields if name not in ("version", "values")}
    return replace(draft, entered=entered)


def with_values(draft: Draft, name: str, found: SeenValues) -> Draft:
    """Show a column's values, in its list too if nobody wrote one: they declare nothing."""
    entered = {**(draft.entered or {})}
    column = next((one for one in columns_of(draft) if one.name == name), None)
    if column is not None and not (entered.get("categories") or column.values["categories"]):
        entered["categories"] = "\n".join(found.values)
    return replace(draft, values={**draft.values, name: found}, entered=entered)


def as_sent(column: Column, form: Form) -> Column:
    """Return a column with the fields that were sent in place of its own; others it has none of."""
    sent = {name: form[name] for name in form.fields if name in column.values}
    if not column.asks_source:
        sent.pop("source", None)
    if "role" in form and "ordered" not in form and "categories" in form:
        sent["ordered"] = ""  # a box that is not ticked is not sent
    return replace(column, values={**column.values, **sent})


def declare_rest(draft: Draft) -> Draft:
    """Declare the roles and kinds of all columns that nobody has said anything about."""
    entries = {**draft.recipe.get("attributes", {})}
    if draft.proposal is not None:
        proposed = draft.proposal.columns
        entries |= {name: {**proposed[name].entry} for name in draft.undeclared}
    return draft.choosing(attributes=entries) if entries else draft


def set_many(draft: Draft, numbers: Collection[int], role: str, kind: str) -> Draft:
    """Set the role, the kind or both of several columns; another kind has another domain."""
    entries = {**draft.recipe.get("attributes", {})}
    for column in columns_of(draft):
        if column.number not in numbers or not (role in ROLES or kind in KINDS):
            continue
        entry = {**column.stood}
        if kind in KINDS and kind != entry.get("type"):
            entry = {name: said for name, said in entry.items() if name not in OWN[2:]}
            entry["type"] = kind
        entries[column.name] = entry | ({"role": role} if role in ROLES else {})
    return draft.choosing(attributes=entries) if entries else draft


def declare_column(draft: Draft, column: Column) -> tuple[Draft, Errors]:
    """Take what is declared of a column into the recipe, or say what is wrong beside its fields."""
    errors = Errors()
    entry = _entry(column, errors)
    if errors:
        return draft, errors
    entries: dict[str, Any] = {**draft.recipe.get("attributes", {})}
    before = entries.get(column.name, {})
    kept = {n: v for n, v in before.items() if n not in OWN}
    made = entries[column.name] = {**_as_it_stood(column, entry), **kept}
    changed = draft.choosing(attributes=entries)
    # Values are figures too, of which bounds can be read: of a list a person says where it is from.
    was_seen = column.seen_values is not None and bool(column.seen_values.values)
    if was_seen and made.get("bounds") not in (None, before.get("bounds")):
        changed = changed.asking(looked_at="data")
    return changed, errors


def without_column(draft: Draft, name: str) -> Draft:
    """Take a column out of a recipe, wherever that names it; a part without any goes too."""
    recipe = draft.recipe
    changed: dict[str, Any] = {}
    if name in recipe.get("attributes", {}):
        entries = recipe["attributes"].items()
        changed["attributes"] = {other: own for other, own in entries if other != name}
    if "parts" in recipe:
        parts = [
            {**part, "attributes": _left(part["attributes"], name)} for part in recipe["parts"]
        ]
        changed["parts"] = [part for part in parts if part["attributes"]] or None
    if recipe.get("unit") == name:  # who is protected is to be said anew
        changed |= {"unit": None, "max_rows": None, "unit_attributes": None, "scope": None}
    target = recipe.get("target") or []
    if name in ([target] if isinstance(target, str) else target):
        changed["target"] = None
    for entry in ("unit_attributes", "blocks"):
        if entry in recipe and entry not in changed:
            changed[entry] = _left(recipe[entry], name) or None
    return draft.choosing(**changed)


def _left(listed: Any, name: str) -> list[Any]:
    """Leave a name out of a list, and of the lists in it."""
    left = [
        one if isinstance(one, str) else [other for other in one if other != name]
        for one in listed
        if one != name
    ]
    return [one for one in left if one]


def _as_it_stood(column: Column, entry: dict[str, Any]) -> dict[str, Any]:
    """Leave as they stood the parts of an entry whose fields, which show less, were not changed."""
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
    public = PUBLIC if entry.get("categories") else ""
    return {
        "role": str(entry.get("role", "")),
        "type": str(entry.get("type", "")),
        "resolution": str(entry.get("resolution", "")),
        "lower": str(lower),
        "upper": str(upper),
        "categories": "\n".join(map(_word, entry.get("categories") or ())),
        "ordered": "yes" if entry.get("ordered") else "",
        "source": FROM_DATA if entry.get("categories_from_data") else public,
        "codes": "\n".join(map(_word, entry.get("missing_codes") or ())),
    }


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _entry(column: Column, errors: Errors) -> dict[str, Any]:
    """Make a recipe's entry of a column's fields."""
    values = column.values
    if values["role"] not in ROLES:
        errors.add("role", "Say what the column is.")
    if values["type"] not in KINDS:
        errors.add("type", "Say what the column holds.")
    if errors:
        return {}
    kind = Kind(values["type"])
    entry: dict[str, Any] = {"role": values["role"], "type": kind.value}
    if values["resolution"]:
        with errors.beside("resolution"):
            read_resolution(column.name, kind, values["resolution"])
            entry["resolution"] = _number(values["resolution"])
    entry.update(_domain(column, kind, errors))
    if codes := lines_in(values["codes"]):
        entry["missing_codes"] = [_code(code, kind) for code in codes]
        with errors.beside("codes"):
            DECLARED["missing_codes"].checked({column.name: entry["missing_codes"]})
    return entry


def _domain(column: Column, kind: Kind, errors: Errors) -> dict[str, Any]:
    """Read what values a column may have: categories that are listed, else bounds, else none."""
    listed, ends = _categories_of(column), (column.values["lower"], column.values["upper"])
    if listed and any(ends):
        errors.add("categories", "A column has bounds or categories: empty one of them.")
    elif listed:
        return _declared_list(column, kind, listed, errors)
    elif any(ends):
        with errors.beside("lower"):
            if kind is Kind.OTHER:
                read_categories(column.name, kind, ends[0], "bounds")
            read_bounds(column.name, kind, ends, may_be_one=True)
            as_held = datetime.date.fromisoformat if kind is Kind.DATE else _number
            return {"bounds": [as_held(end) for end in ends]}
    return {}


def _categories_of(column: Column) -> list[str]:
    """Return the categories in a column's field, as they were seen where they are the same."""
    if column.asks_source and not (column.is_protected or column.values["source"]):
        return []  # they were looked at, and a column that is left out needs no list
    if column.seen_values is not None and column.lists_what_was_seen:
        return list(column.seen_values.values)
    return lines_in(column.values["categories"])


def _declared_list(column: Column, kind: Kind, listed: list[str], errors: Errors) -> dict[str, Any]:
    """Read a list of categories: one beside the values of the table says where it comes from."""
    source, is_ordered = column.values["source"], bool(column.values["ordered"])
    if column.asks_source and source not in (PUBLIC, FROM_DATA):
        errors.add("source", "Say where the list of categories comes from.")
        return {}
    if source == FROM_DATA and is_ordered:
        errors.add(
            "source",
            "A list that is taken from the table is in no order: leave the order out, or declare "
            "the list as publicly known.",
        )
        return {}
    with errors.beside("categories"):
        given = Ordered(tuple(listed)) if is_ordered else listed
        found = read_categories(column.name, kind, given, may_be_one=True)
        return {
            "categories": list(found.values),
            **({"ordered": True} if is_ordered else {}),
            **({"categories_from_data": True} if source == FROM_DATA else {}),
        }
    return {}


def lines_in(text: str) -> list[str]:
    """Return the lines of a field that hold something."""
    return [line.strip() for line in text.splitlines() if line.strip()]


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
