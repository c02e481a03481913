"""What is proposed of one column: its role, its entries, and what is left for a person to type."""

import datetime
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib.resources import files
from typing import Any

import numpy as np

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
from microveil.table.likely import present
from microveil.text import one_line

# Of text with more different values than this none is shown: it is hardly one of categories. Of
# numbers those are shown that may be codes; of listed codes so many are read out in a sentence.
MOST_CATEGORIES, MOST_CODES, MOST_READ = 1000, 20, 20
PROTECTED = (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)

WORDS: dict[str, dict[str, Any]] = tomllib.loads(
    files("microveil.commands").joinpath("remarks.toml").read_text("utf-8")
)
LINES: dict[str, str] = WORDS.pop("lines")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What is said of a column: behind a line of a recipe, and by itself as a sentence."""

    comment: str
    said: str = ""  # where another sentence is needed
    is_seen: bool = False  # in the values: it stands in no recipe unless these are asked for
    is_notable: bool = False  # said on the terminal too

    @classmethod
    def of(cls, name: str, **values: Any) -> "Remark":
        """Return a remark of `remarks.toml`."""
        own: dict[str, Any] = {**WORDS[name]}
        own |= {n: words.format(**values) for n, words in own.items() if isinstance(words, str)}
        return cls(**own)

    @property
    def sentence(self) -> str:
        """What is read where there is no recipe to be seen."""
        return self.said or f"{self.comment[:1].upper()}{self.comment[1:]}."


Line = tuple[str, Remark | None]  # of a recipe, and what is said of it


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
        return self.can("new table")

    @property
    def learns(self) -> bool:
        """Whether domains that are not declared are learnt within the budget."""
        allows = self.given.get("delta", 1) > 0 and self.given.get("domains") != "declared"
        return self.is_for_rows and allows

    @property
    def calculates(self) -> bool:
        """Whether the method calculates with numbers that are not said to be codes."""
        return self.method is not None and not self.is_for_rows

    def can(self, what: str) -> bool:
        """Whether the method is able to do something."""
        return self.method is not None and what in self.method.can


@dataclass(frozen=True, kw_only=True)
class ProposedColumn:
    """What is proposed of a column of a table that was looked at."""

    look: Looked
    name: str

    @cached_property
    def kind(self) -> Kind:
        """What it holds."""
        return self.look.table.kind(self.name)

    @cached_property
    def own(self) -> Declared:
        """What its file declares of it."""
        return self.look.declared.get(self.name, Declared())

    @cached_property
    def label(self) -> str:
        """What its file calls it."""
        return one_line(self.own.label or "")

    @cached_property
    def words(self) -> list[str]:
        """The different values of text; none of another column."""
        return categories_seen(self.look.table, self.name) or []

    @cached_property
    def values(self) -> list[Any]:
        """The different numbers or texts."""
        if not self.kind.is_numeric:
            return self.words
        return list(np.unique(present(self.look.table.numbers(self.name))).tolist())

    @cached_property
    def lacks(self) -> bool:
        """Whether the column has values that its file's list lacks."""
        known = {*self.own.categories, *self.own.missing_codes}
        return bool(self.own.categories) and not {*self.values} <= known

    @property
    def is_listed(self) -> bool:
        """Whether the file lists all that the column holds."""
        return bool(self.own.categories) and not self.lacks

    @property
    def is_untyped(self) -> bool:
        """Whether its kind is learnt, and is likely to be this one."""
        return self.look.learns and self.name in self.look.table.untyped

    @property
    def is_unsuited(self) -> bool:
        """Whether it is left out because the method cannot take it."""
        method = "" if self.look.method is None else self.look.method.id
        reasons = (Remark.of("no-number"), Remark.of("no-order", method=method))
        return self._proposed[1] in reasons

    @property
    def has_domain(self) -> bool:
        """Whether a domain is asked for."""
        return any(self._asked(argument) is not None for argument in ("bounds", "categories"))

    @property
    def has_step(self) -> bool:
        """Whether its values are rounded to a step."""
        return self.kind is Kind.DECIMAL and not self.is_listed

    @cached_property
    def role(self) -> Role:
        """What it is to an intruder."""
        return self._proposed[0]

    @property
    def is_protected(self) -> bool:
        """Whether it is to be protected."""
        return self.role in PROTECTED

    @cached_property
    def step(self) -> str:
        """The step of the decimals in use."""
        decimals = decimals_seen(self.look.table.numbers(self.name))
        return "1" if decimals == 0 else f"{10.0**-decimals:.{decimals}f}"

    @cached_property
    def missing(self) -> Any:
        """The cells seen to be missing, and the codes that look like it; None of other columns."""
        return missing_seen(self.look.table, self.name)

    @property
    def n_missing(self) -> int:
        """How many cells are missing."""
        return 0 if self.missing is None else self.missing.n_missing

    @property
    def by_file(self) -> str:
        """What the file declares, in a few words."""
        n_codes, in_order = len(self.own.categories), " in order" * self.own.is_ordered
        parts = (
            (n_codes, f"{n_codes} codes{in_order}"),
            (self.own.bounds, "bounds"),
            (self.own.missing_codes, f"{len(self.own.missing_codes)} missing"),
        )
        return ", ".join(words for declared, words in parts if declared)

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What is said of it, whether or not it stands in the recipe."""
        learnt = Remark.of("kind-learnt")  # in a form a kind is stated
        return tuple(said for _, said in self.lines if said is not None and said != learnt)

    @cached_property
    def left(self) -> tuple[str, ...]:
        """The entries that a person has to type: none where domains are learnt."""
        look = self.look
        if not self.is_protected or look.learns:
            return ()
        is_stepped = look.show_values and not look.is_for_rows
        is_stepped |= any(self._asked(name) is not None for name in ("resolution", "categories"))
        left = ("resolution",) if self.has_step and not is_stepped else ()
        is_declared = self.is_listed or self.own.bounds is not None
        if self.has_domain or is_declared or self.kind is Kind.BOOLEAN:
            return left
        if not self.kind.is_numeric:
            return (*left, "categories") if look.can("categories") and self.words else left
        needs_bounds = look.method is not None and "bounds" in look.method.needs
        return (*left, "bounds") if needs_bounds or (self.lacks and look.accepts) else left

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines of its entry in a recipe."""
        return tuple(self._lines())

    def _asked(self, argument: str) -> Any:
        """Return what is asked of it by an argument that goes by column; else None."""
        return self.look.given.get(argument, {}).get(self.name)

    @cached_property
    def _proposed(self) -> tuple[Role, Remark | None]:
        """The role, and what it is proposed by."""
        look, name, table, is_listed = self.look, self.name, self.look.table, self.is_listed
        named, is_number = look.given.get("attributes"), self.kind.is_numeric
        unlisted = "learnt" if look.learns else "unlisted"
        shown = likely_coordinate(table, name), likely_birth(table, name)
        known = "coordinate" if shown[0] else "birth" if shown[1] else None
        protected = Role.QUASI_IDENTIFIER if known or not is_number else Role.CONFIDENTIAL
        is_asked = (named is not None and name in named) or self.has_domain
        is_unordered = is_listed and is_number and not self.own.is_ordered
        cannot = look.method is not None and not look.can("categories")
        roles = (
            (name in look.given.get("keep", ()), Role.NON_CONFIDENTIAL, None),
            (name == look.given.get("unit"), Role.IDENTIFIER, "unit-numbers"),
            (is_asked and (is_number or self.has_domain or is_listed), protected, known),
            (named is not None and name not in named, Role.IDENTIFIER, "not-asked"),
            (name in look.weights, Role.WEIGHT, "weight"),
            (likely_body_weight(table, name), Role.CONFIDENTIAL, "body-weight"),
            (not is_listed and likely_identifier(table, name), Role.IDENTIFIER,
             "numbers-identify"),
            (name == look.unit, Role.IDENTIFIER, "unit-numbers"),
            (name in look.people, Role.IDENTIFIER, "person-numbers"),
            (is_unordered and cannot and self.kind is not Kind.BOOLEAN, Role.IDENTIFIER,
             "no-order"),
            (is_number, protected, known),
            (is_listed and not cannot, protected, None if look.accepts else unlisted),
            (likely_name(table, name), Role.IDENTIFIER, "text-names"),
            (len(self.words) == table.n_records, Role.IDENTIFIER, "text-identifies"),
            (cannot, Role.QUASI_IDENTIFIER, "no-number"),
            (bool(self.words), Role.QUASI_IDENTIFIER, unlisted),
            (True, Role.IDENTIFIER, "neither"),
        )  # fmt: skip
        role, said = next((role, said) for holds, role, said in roles if holds)
        method = "" if look.method is None else look.method.id
        return role, None if said is None else Remark.of(said, method=method)

    def _lines(self) -> Iterator[Line]:
        if self.label:
            yield "", Remark.of("label", label=self.label)
        yield f'role = "{self.role}"', self._proposed[1]
        looks = None if self.is_listed else numeric_look_of(self.look.table, self.name)
        if looks is not None:
            yield "", Remark.of("looks", look=looks)
        stated = f'type = "{self.kind.value}"'
        yield (f"# {stated}", Remark.of("kind-learnt")) if self.is_untyped else (stated, None)
        yield from self._domain()
        yield from self._gaps()
        for argument, key in (("budget", "budget"), ("never_missing", "missing"), ("matrix",) * 2):
            value = self._asked(argument)
            if value is not None:
                is_text = argument == "budget" and isinstance(value, str)
                yield f"{key} = {value if is_text else written(value)}", None

    def _domain(self) -> Iterator[Line]:
        """Write the step, and bounds or categories: as asked for, else what is to be filled in."""
        name, kind, may_be_one = self.name, self.kind, self.look.is_for_rows
        bounds, categories, step = map(self._asked, ("bounds", "categories", "resolution"))
        if step is not None:
            yield f"resolution = {written(read_resolution(name, kind, step)[0])}", None
        elif self.has_step and categories is None:
            yield from self._resolution()
        if bounds is not None and kind.is_numeric and not isinstance(bounds, Ordered):
            read = read_bounds(name, kind, bounds, may_be_one=may_be_one)
            ends = (written_number(end, kind) for end in (read.lower, read.upper))
            shown = (end if isinstance(end, str) else written(end) for end in ends)
            yield f"bounds = [{', '.join(shown)}]", None
        elif bounds is not None or categories is not None:
            asked = bounds if categories is None else categories
            listed = read_categories(name, kind, asked, may_be_one=may_be_one)
            yield f"categories = {written(listed.values)}", None
            yield from [("ordered = true", None)] if listed.ordered else []
        else:
            yield from self._code_list()
            yield from self._open() if not self.is_listed else ()

    def _open(self) -> Iterator[Line]:
        """Ask for a domain: of numbers bounds, else categories; values are comments."""
        shows, seen = self.look.show_values, self.words
        if self.kind in LINES:
            if self.own.bounds is not None:
                lower, upper = self.own.bounds
                yield "", Remark.of("bounds-by-file", lower=lower, upper=upper)
            elif self.is_protected or self.role is Role.WEIGHT:
                yield LINES[self.kind], None
            few = self.kind is Kind.WHOLE and len(self.values) <= MOST_CODES
            if few and self.is_protected and self.look.calculates and not self.has_domain:
                yield "", Remark.of("few-values")
            if shows and self.kind is Kind.WHOLE:
                entry = f"# categories = {written(self.values)}" if few else ""
                yield entry, _seen(self.values, are_shown=few)
        elif not seen or self.own.categories:
            return
        elif shows and len(seen) <= MOST_CATEGORIES:
            yield "# categories = [", _seen(seen, are_shown=True)
            yield from ((f"#   {written(category)},", None) for category in seen)
            yield "# ]", None
            yield LINES["ordered"], None
        else:
            yield LINES["categories"], None
            yield "", _seen(seen, are_shown=False)

    def _resolution(self) -> Iterator[Line]:
        """Ask for the step; the decimals in use stand there where values are asked for."""
        seen = Remark.of("whole-seen" if self.step == "1" else "decimals-seen")
        if self.look.show_values:
            yield f"{'# ' if self.look.is_for_rows else ''}resolution = {self.step}  ", seen
        else:
            yield LINES["resolution"], None
            yield "", seen

    def _code_list(self) -> Iterator[Line]:
        """Say what the file lists: its metadata, for a person to accept."""
        if self.own.categories:
            read = [f"{code} {one_line(text)}" for code, text in self.own.categories.items()]
            more = f" and {len(read) - MOST_READ} more" if len(read) > MOST_READ else ""
            yield "", Remark.of("list-by-file", codes=", ".join(read[:MOST_READ]) + more)
            yield from [("", Remark.of("list-ordered"))] if self.own.is_ordered else []
            yield from [("", Remark.of("list-lacks-values"))] if self.lacks else []

    def _gaps(self) -> Iterator[Line]:
        """Say how many cells are missing, and which codes stand for that."""
        if self.n_missing:
            counts = {"n_missing": self.n_missing, "n_records": self.look.table.n_records}
            yield "", Remark.of("cells-missing", **counts)
        codes, kind = self._asked("missing_codes"), self.kind
        if codes:
            read = ((code, code_for(code, self.name, kind)) for code in codes)
            own = [code if kind is Kind.DATE or held is None else held for code, held in read]
            yield f"missing_codes = {written(own)}", None
        elif self.own.missing_codes:
            listed = ", ".join(map(written, self.own.missing_codes))
            yield "", Remark.of("missing-by-file", codes=listed)
        elif self.missing is not None and self.missing.likely_codes:
            likely = self.missing.likely_codes
            entry = f"# missing_codes = {written(likely)}" if self.look.show_values else ""
            name = "likely-code" if len(likely) == 1 else "likely-codes"
            yield entry, Remark.of(name, n_codes=len(likely))


def _seen(values: Collection[Any], *, are_shown: bool) -> Remark:
    return Remark.of("values-shown" if are_shown else "values-seen", n_values=len(values))


def quoted(name: str) -> str:
    """Write a key of TOML: in quotes unless it is plain."""
    is_bare = name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if is_bare else written(name)


def written(value: Any) -> str:
    """Write a value as TOML has it; what is not printable is escaped."""
    if isinstance(value, Mapping):
        entries = (f"{quoted(name)} = {written(part)}" for name, part in value.items())
        return f"{{ {', '.join(entries)} }}"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return f"[{', '.join(map(written, value))}]"
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        plain = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped)
        return f'"{plain}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Fraction):
        return str(int(value) if value.denominator == 1 else float(value))
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
