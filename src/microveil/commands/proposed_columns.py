"""What is proposed of one column: its role, its entries, and what is left for a person to type."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from microveil.commands import remarks
from microveil.commands.remarks import Remark
from microveil.commands.request_lines import written
from microveil.methods import Method
from microveil.protect.domains import read_bounds, read_categories, read_resolution
from microveil.schema import Declared, Kind, Ordered, Role
from microveil.schema import written as written_number
from microveil.table import (
    Table,
    categories_seen,
    code_for,
    decimals_seen,
    likely_birth,
    likely_body_weight,
    likely_coordinate,
    likely_identifier,
    likely_name,
    missing_seen,
    numeric_look_of,
)
from microveil.text import one_line

# Of text with more different values than this none is shown: it is hardly one of categories. Of
# numbers those are shown that may be codes.
MOST_CATEGORIES, MOST_CODES = 1000, 20
PROTECTED = (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)

# A line of a recipe, and what is said of it.
Line = tuple[str, Remark | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedColumn:
    """What is proposed of a column: `left` names the entries that a person has to type."""

    role: Role
    kind: Kind
    lines: tuple[Line, ...]
    label: str
    by_file: str
    left: tuple[str, ...]
    n_missing: int
    n_values: int | None  # where values are asked for
    is_untyped: bool  # its kind is learnt, and is likely to be this one
    step: str | None

    @property
    def is_protected(self) -> bool:
        """Whether it is to be protected."""
        return self.role in PROTECTED

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What is said of it, whether or not it stands in the recipe."""
        said = (remark for _, remark in self.lines if remark is not None)
        # Where there is no recipe, kinds are stated in a form.
        return tuple(remark for remark in said if remark is not remarks.KIND_LEARNT)


@dataclass(frozen=True, kw_only=True)
class Looked:
    """A table that was looked at, what its file declares of it, and what is asked for."""

    table: Table
    declared: Mapping[str, Declared]
    given: Mapping[str, Any]
    method: Method | None  # None where it is left to advice
    weights: Collection[str]
    people: Collection[str]
    unit: str | None
    show_values: bool

    @property
    def accepts(self) -> bool:
        """Whether what the file declares is accepted."""
        return self.given.get("accept") is not None

    @property
    def is_for_rows(self) -> bool:
        """Whether rows of the release are to be nobody's."""
        return self.method is not None and "new table" in self.method.can

    @property
    def learns(self) -> bool:
        """Whether domains that are not declared are learnt within the budget."""
        allows = self.given.get("delta", 1) > 0 and self.given.get("domains") != "declared"
        return self.is_for_rows and allows

    def can(self, what: str) -> bool:
        """Whether the method is able to do something."""
        return self.method is not None and what in self.method.can

    def of(self, argument: str, name: str) -> Any:
        """Return what is asked of a column by an argument that goes by column; else None."""
        return self.given.get(argument, {}).get(name)


@dataclass(frozen=True, kw_only=True)
class _Column:
    """One column of them, as its lines are written."""

    look: Looked
    name: str

    @cached_property
    def kind(self) -> Kind:
        return self.look.table.kind(self.name)

    @cached_property
    def own(self) -> Declared:
        return self.look.declared.get(self.name, Declared())

    @cached_property
    def words(self) -> list[str]:
        """The different values of text; none of another column."""
        return categories_seen(self.look.table, self.name) or []

    @cached_property
    def numbers(self) -> list[Any]:
        """The different values of a column of numbers."""
        numbers = self.look.table.numbers(self.name)
        values = numbers.values if numbers.missing is None else numbers.values[~numbers.missing]
        return list(np.unique(values).tolist())

    @cached_property
    def lacks(self) -> bool:
        """Whether the column has values that its file's list lacks."""
        if not self.own.categories:
            return False
        held = {*(self.numbers if self.kind.is_numeric else self.words)}
        return not held <= {*self.own.categories, *self.own.missing_codes}

    @property
    def is_untyped(self) -> bool:
        """Whether its kind is learnt."""
        return self.look.learns and self.name in self.look.table.untyped

    @property
    def is_listed(self) -> bool:
        """Whether the file lists all that the column holds."""
        return bool(self.own.categories) and not self.lacks

    @property
    def has_domain(self) -> bool:
        """Whether a domain is asked for."""
        asked = (self.look.of(argument, self.name) for argument in ("bounds", "categories"))
        return any(one is not None for one in asked)


def proposed_column(look: Looked, name: str) -> ProposedColumn:
    """Propose the entries of a column."""
    one = _Column(look=look, name=name)
    role, remark = _role(one)
    found, is_protected = missing_seen(look.table, name), role in PROTECTED
    lines: list[Line] = []
    label = one_line(one.own.label or "")
    if label:
        lines.append(("", Remark(comment=label, said=f"The file calls it: {label}.")))
    lines.append((f'role = "{role}"', remark))
    looks = None if one.is_listed else numeric_look_of(look.table, name)
    if looks is not None:
        lines.append(("", Remark(comment=looks, is_seen=True, is_notable=True)))
    stated = f'type = "{one.kind.value}"'
    lines.append((f"# {stated}", remarks.KIND_LEARNT) if one.is_untyped else (stated, None))
    lines += _domain(one, is_protected=is_protected, role=role)
    lines += _missing(one, found)
    lines += _other(one)
    decimals = one.kind is Kind.DECIMAL and not one.is_listed
    values: list[Any] = []
    if look.show_values:
        values = one.numbers if one.kind.is_numeric else one.words
    return ProposedColumn(
        role=role,
        kind=one.kind,
        lines=tuple(lines),
        label=label,
        by_file=_by_file(one),
        left=tuple(_left(one)) if is_protected else (),
        n_missing=0 if found is None else found.n_missing,
        n_values=len(values) if look.show_values else None,
        step=_step(one) if decimals else None,
        is_untyped=one.is_untyped,
    )


def _role(one: _Column) -> tuple[Role, Remark | None]:
    """Propose a role, and say by what."""
    look, name, table = one.look, one.name, one.look.table
    named = look.given.get("attributes")
    unlisted = remarks.LEARNT if look.learns else remarks.UNLISTED
    is_number = one.kind.is_numeric
    shown = likely_coordinate(table, name), likely_birth(table, name)
    known = remarks.COORDINATE if shown[0] else remarks.BIRTH if shown[1] else None
    protected = Role.QUASI_IDENTIFIER if known or not is_number else Role.CONFIDENTIAL
    is_asked = (named is not None and name in named) or one.has_domain
    is_unordered = one.is_listed and is_number and not one.own.is_ordered
    cannot = look.method is not None and not look.can("categories")
    roles = (
        (name in look.given.get("keep", ()), Role.NON_CONFIDENTIAL, None),
        (name == look.given.get("unit"), Role.IDENTIFIER, remarks.UNIT_NUMBERS),
        (is_asked and (is_number or one.has_domain or one.is_listed), protected, known),
        (named is not None and name not in named, Role.IDENTIFIER, remarks.NOT_ASKED),
        (name in look.weights, Role.WEIGHT, remarks.WEIGHT),
        (likely_body_weight(table, name), Role.CONFIDENTIAL, remarks.BODY_WEIGHT),
        (not one.is_listed and likely_identifier(table, name), Role.IDENTIFIER,
         remarks.NUMBERS_IDENTIFY),
        (name == look.unit, Role.IDENTIFIER, remarks.UNIT_NUMBERS),
        (name in look.people, Role.IDENTIFIER, remarks.PERSON_NUMBERS),
        (is_unordered and cannot and one.kind is not Kind.BOOLEAN, Role.IDENTIFIER,
         remarks.no_order("" if look.method is None else look.method.id)),
        (one.is_listed and is_number, protected, known),
        (is_number, protected, known),
        (one.is_listed and not cannot, protected, None if look.accepts else unlisted),
        (likely_name(table, name), Role.IDENTIFIER, remarks.TEXT_NAMES),
        (len(one.words) == table.n_records, Role.IDENTIFIER, remarks.TEXT_IDENTIFIES),
        (cannot, Role.QUASI_IDENTIFIER, remarks.NO_NUMBER),
        (bool(one.words), Role.QUASI_IDENTIFIER, unlisted),
        (True, Role.IDENTIFIER, remarks.NEITHER),
    )  # fmt: skip
    return next((role, remark) for holds, role, remark in roles if holds)


def _domain(one: _Column, *, is_protected: bool, role: Role) -> Iterator[Line]:
    """Write the step, and bounds or categories: as asked for, else what is to be filled in."""
    look, kind = one.look, one.kind
    may_be_one = look.is_for_rows
    bounds, categories, step = (
        look.of(argument, one.name) for argument in ("bounds", "categories", "resolution")
    )
    if step is not None:
        yield f"resolution = {written(read_resolution(one.name, kind, step)[0])}", None
    elif kind is Kind.DECIMAL and not one.is_listed and categories is None:
        yield from _resolution(one)
    if bounds is not None and kind.is_numeric and not isinstance(bounds, Ordered):
        read = read_bounds(one.name, kind, bounds, may_be_one=may_be_one)
        yield f"bounds = [{', '.join(_end(end, kind) for end in (read.lower, read.upper))}]", None
    elif bounds is not None or categories is not None:
        asked = bounds if categories is None else categories
        listed = read_categories(one.name, kind, asked, may_be_one=may_be_one)
        yield f"categories = {written(listed.values)}", None
        yield from [("ordered = true", None)] if listed.ordered else []
    elif one.is_listed:
        yield from _code_list(one)
    else:
        yield from _open(one, with_bounds=is_protected or role is Role.WEIGHT)


def _open(one: _Column, *, with_bounds: bool) -> Iterator[Line]:
    """Ask for a domain: of numbers bounds, of text and codes categories; values are comments."""
    if one.own.categories:
        yield from _code_list(one)
    if one.kind in remarks.BOUNDS:
        if one.own.bounds is not None:
            lower, upper = one.own.bounds
            yield "", Remark(comment=f"bounds by the file: {lower} to {upper}")
        elif with_bounds:
            yield remarks.BOUNDS[one.kind], None
        if one.look.show_values and one.kind is Kind.WHOLE:
            n_values = len(one.numbers)
            few = n_values <= MOST_CODES
            entry = f"# categories = {written(one.numbers)}" if few else ""
            yield entry, remarks.values_seen(n_values, are_shown=few)
        return
    seen = one.words
    if not seen or one.own.categories:
        return
    are_shown = one.look.show_values and len(seen) <= MOST_CATEGORIES
    remark = remarks.values_seen(len(seen), are_shown=are_shown)
    if not are_shown:
        yield remarks.CATEGORIES, None
        yield "", remark
        return
    yield "# categories = [               ", remark
    yield from ((f"#   {written(category)},", None) for category in seen)
    yield "# ]", None
    yield f"{'# ordered = true':31}# if they are listed in an order that means something", None


def _end(end: Any, kind: Kind) -> str:
    """Write an end of bounds: a date as TOML has it."""
    plain = written_number(end, kind)
    return plain if isinstance(plain, str) else written(plain)


def _resolution(one: _Column) -> Iterator[Line]:
    """Ask for the step; the decimals in use stand there where values are asked for."""
    step = _step(one)
    seen = remarks.WHOLE_SEEN if step == "1" else remarks.DECIMALS_SEEN
    if not one.look.show_values:
        yield remarks.RESOLUTION, None
        yield "", seen
        return
    yield f"{'# ' if one.look.is_for_rows else ''}resolution = {step}  ", seen


def _step(one: _Column) -> str:
    decimals = decimals_seen(one.look.table.numbers(one.name))
    return "1" if decimals == 0 else f"{10.0**-decimals:.{decimals}f}"


def _code_list(one: _Column) -> Iterator[Line]:
    """Say what the file lists: its metadata, for a person to accept."""
    if one.own.categories:
        listed = {code: one_line(text) for code, text in one.own.categories.items()}
        yield "", remarks.code_list(listed)
        if one.own.is_ordered:
            yield "", remarks.LIST_ORDERED
    if one.lacks:
        yield "", remarks.LIST_LACKS_VALUES


def _missing(one: _Column, found: Any) -> Iterator[Line]:
    """Say how many cells are missing, and which codes stand for that."""
    look, kind = one.look, one.kind
    if found is not None and found.n_missing:
        lacking = f"{found.n_missing} of {look.table.n_records} cells are missing"
        yield "", Remark(comment=lacking, is_seen=True)
    codes = look.of("missing_codes", one.name)
    if codes:
        read = ((code, code_for(code, one.name, kind)) for code in codes)
        own = [code if kind is Kind.DATE or held is None else held for code, held in read]
        yield f"missing_codes = {written(own)}", None
    elif one.own.missing_codes:
        listed = ", ".join(map(written, one.own.missing_codes))
        yield "", Remark(comment=f"of missing answers by the file: {listed}")
    elif found is not None and found.likely_codes:
        listed = f"# missing_codes = {written(found.likely_codes)}" if look.show_values else ""
        yield listed, remarks.likely_codes(len(found.likely_codes))


def _other(one: _Column) -> Iterator[Line]:
    """Write what else is asked of a column."""
    for argument, key in (("budget", "budget"), ("never_missing", "missing"), ("matrix", "matrix")):
        value = one.look.of(argument, one.name)
        if value is not None:
            is_text = argument == "budget" and isinstance(value, str)
            yield f"{key} = {value if is_text else written(value)}", None


def _by_file(one: _Column) -> str:
    """Say in a few words what the file declares."""
    n_codes, n_missing = len(one.own.categories), len(one.own.missing_codes)
    in_order = " in order" if one.own.is_ordered else ""
    parts = [f"{n_codes} codes{in_order}"] if n_codes else []
    parts += ["bounds"] if one.own.bounds is not None else []
    parts += [f"{n_missing} missing"] if n_missing else []
    return ", ".join(parts)


def _left(one: _Column) -> Iterator[str]:
    """Name what a person has to type of a protected column: nothing where domains are learnt."""
    look = one.look
    if look.learns:
        return
    if one.kind is Kind.DECIMAL and not one.is_listed:
        is_shown = look.show_values and not look.is_for_rows
        is_written = look.of("resolution", one.name) is not None or is_shown
        yield from [] if is_written or look.of("categories", one.name) else ["resolution"]
    is_declared = one.is_listed or one.own.bounds is not None
    if one.has_domain or is_declared or one.kind is Kind.BOOLEAN:
        return
    if not one.kind.is_numeric:
        yield from ["categories"] if look.can("categories") and one.words else []
    elif (look.method and "bounds" in look.method.needs) or (one.lacks and look.accepts):
        yield "bounds"
