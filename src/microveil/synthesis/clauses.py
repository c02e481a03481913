"""Rules of records as clauses over whole numbers: exact, whatever the resolutions of columns.

A clause is one comparison, or several of which a record is to hold one. A rule that says what a
column equals, a sum of others, makes no clause of its own: the column is computed, its name stands
for the sum in all other rules, and its domain is a rule for the others.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.schema import Attribute, Kind
from microveil.table.record_rules import Comparison, RecordRule

Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]
# What is compared: by column how often, and a constant; all in the columns' own units.
Sum = tuple[dict[str, Fraction], Fraction]
# Where no domain is declared: METHODS section 11, C.
FARTHEST = 1 << 53
# Beyond this, sums are of Python's own numbers.
WIDE = 1 << 62
NEGATED = {"<=": ">", "<": ">=", "=": "!=", "!=": "=", ">=": "<", ">": "<="}
TURNED = {">=": "<=", ">": "<"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Places:
    """The values of an attribute in ascending order, as whole numbers.

    Of numbers these are the grid units. Of listed categories they are ranks: ``numbers`` has by
    rank what the category stands for (a number, or that of a word), ``positions`` its place in
    the list, and ``ranks`` by place in the list its rank.
    """

    lower: int
    upper: int
    is_ordered: bool = True
    numbers: Whole | None = None
    positions: Whole | None = None
    ranks: Whole | None = None

    def number(self, places: Whole) -> Whole:
        """Return what is compared of places."""
        return places if self.numbers is None else self.numbers[places]

    def of_units(self, units: Whole) -> Whole:
        """Return the places of grid units."""
        return units.astype(np.int64) if self.ranks is None else self.ranks[units]

    def units(self, places: Whole) -> Whole:
        """Return the grid units of places."""
        return places if self.positions is None else self.positions[places]

    def within(self, numbers: Any, side: str) -> Any:
        """Return the last place whose number is not above some, or the first one not below."""
        if self.numbers is None:
            return numbers
        found = np.searchsorted(self.numbers, numbers, side="right" if side == "last" else "left")
        return found - (side == "last")


@dataclass(frozen=True, slots=True, kw_only=True)
class Atom:
    """A sum of columns, each so many times, and a constant, compared with 0: <=, = or !=."""

    columns: tuple[int, ...]
    times: tuple[int, ...]
    constant: int
    sign: str
    is_wide: bool

    def compared(self, sums: Any) -> Mask:
        """Say which sums hold it."""
        holds = sums <= 0 if self.sign == "<=" else sums == 0
        return np.asarray(~holds if self.sign == "!=" else holds, dtype=np.bool_)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """Atoms of which a record with a value in all columns is to hold one; and whose rule it is."""

    atoms: tuple[Atom, ...]
    columns: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """A column that is a sum of others, in its own grid units."""

    attribute: Attribute
    columns: tuple[int, ...]
    times: tuple[int, ...]
    constant: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clauses:
    """What records are to hold, about the columns in ``involved``, which have ``places``.

    Columns of clauses are positions in ``involved``, which are those of drawn attributes.
    """

    involved: tuple[int, ...]
    places: tuple[Places, ...]
    clauses: tuple[Clause, ...]
    computed: tuple[Computed, ...]

    def numbers(self, column: int, places: Whole, *, is_wide: bool) -> Any:
        """Return what is compared of the places of a column, as Python's numbers where wide."""
        found = self.places[column].number(places)
        return found.astype(object) if is_wide else found

    def sums(self, atom: Atom, places: Whole) -> Any:
        """Return the sums of an atom in records: (n_records, n_involved) to (n_records,)."""
        found: Any = np.full(len(places), atom.constant, object if atom.is_wide else np.int64)
        for column, times in zip(atom.columns, atom.times, strict=True):
            found = found + times * self.numbers(column, places[:, column], is_wide=atom.is_wide)
        return found

    def broken(self, places: Whole, absent: Mask) -> Mask:
        """Find who breaks which clause: (n_records, n_involved) to (n_records, n_clauses)."""
        found = np.zeros((len(places), len(self.clauses)), dtype=np.bool_)
        for number, clause in enumerate(self.clauses):
            holds = absent[:, list(clause.columns)].any(axis=1)
            for atom in clause.atoms:
                holds |= atom.compared(self.sums(atom, places))
            found[:, number] = ~holds
        return found

    def components(self) -> list[tuple[int, ...]]:
        """Group the columns that clauses tie together, directly or not."""
        groups = [{column} for column in range(len(self.involved))]
        for clause in self.clauses:
            tied = [group for group in groups if group & {*clause.columns}]
            groups = [group for group in groups if group not in tied]
            groups.append(set().union(*tied))
        return [tuple(sorted(group)) for group in groups if group]


def computed_by(
    rules: Iterable[RecordRule], attributes: Sequence[Attribute]
) -> dict[str, RecordRule]:
    """Find the columns that rules say how to compute, each with its rule.

    A rule says so by ==, without a condition, where other columns stand on the right of one of
    numbers or dates whose values are not listed.
    """
    found: dict[str, RecordRule] = {}
    for rule in (rule for rule in rules if _computes(rule, attributes)):
        name = rule.comparison.column
        if name in found:
            raise RequestError(
                f"rule '{rule}'",
                f"'{name}' is computed by two rules",
                "leave out one, or write it with another column on the left",
            )
        found[name] = rule
    for name, rule in found.items():
        _refuse_circles(name, rule, found)
    return found


def _computes(rule: RecordRule, attributes: Iterable[Attribute]) -> bool:
    own = rule.comparison
    is_sum = rule.condition is None and own.sign == "=" and bool(own.others)
    return is_sum and any(a.name == own.column and a.kind.is_numeric for a in attributes)


def _refuse_circles(name: str, rule: RecordRule, found: Mapping[str, RecordRule]) -> None:
    waiting, met = [other for other, _ in rule.comparison.others], set[str]()
    while waiting:
        one = waiting.pop()
        if one == name:
            raise RequestError(
                f"rule '{rule}'",
                f"'{name}' would be computed of itself",
                "write it with <= and >=, or leave it out",
            )
        if one in found and one not in met:
            met.add(one)
            waiting += [other for other, _ in found[one].comparison.others]


def clauses_of(
    rules: Sequence[RecordRule], drawn: Sequence[Attribute], computed: Sequence[Attribute]
) -> Clauses:
    """Resolve rules over the attributes that are drawn, and those that are computed of them."""
    return _Resolving(rules, drawn, computed).clauses()


class _Resolving:
    """Rules on their way to clauses."""

    def __init__(
        self,
        rules: Sequence[RecordRule],
        drawn: Sequence[Attribute],
        computed: Sequence[Attribute],
    ) -> None:
        self.attributes = {own.name: own for own in (*drawn, *computed)}
        self.rules = rules
        self.defined = {r.comparison.column: r for r in rules if _computes(r, computed)}
        mentioned = {name for rule in rules for name in rule.columns} - {*self.defined}
        self.involved = [n for n, own in enumerate(drawn) if own.name in mentioned]
        self.place = {drawn[number].name: place for place, number in enumerate(self.involved)}
        self.words = {word: number for number, word in enumerate(sorted(self._every_word()))}
        self.places = tuple(self._places(drawn[number]) for number in self.involved)

    def _every_word(self) -> set[str]:
        found = {""}  # a word that no rule names
        for rule in self.rules:
            for own in (rule.condition, rule.comparison):
                if own is not None and isinstance(own.constant, str):
                    found.add(own.constant)
        for attribute in self.attributes.values():
            listed = None if attribute.categories is None else attribute.categories.words
            found |= {*(listed or ())}
        return found

    def _places(self, attribute: Attribute) -> Places:
        categories = attribute.categories
        if categories is None and attribute.kind.is_numeric:
            lower, upper = attribute.grid_bounds or (-FARTHEST, FARTHEST)
            return Places(lower=lower, upper=upper)
        if categories is None:  # not known yet: any word
            numbers = np.arange(len(self.words), dtype=np.int64)
        elif categories.words is None:
            numbers = np.array([int(value) for value in categories.values], dtype=np.int64)
        else:
            numbers = np.array([self.words[word] for word in categories.words], dtype=np.int64)
        positions = np.argsort(numbers)
        return Places(
            lower=0,
            upper=len(numbers) - 1,
            is_ordered=attribute.kind is Kind.ORDINAL,
            numbers=numbers[positions],
            positions=positions,
            ranks=np.argsort(positions),
        )

    def clauses(self) -> Clauses:
        """Make a clause of each rule, and two of the domain of each computed column."""
        found = [self._clause(rule) for rule in self.rules if rule not in self.defined.values()]
        computed = []
        for name, rule in self.defined.items():
            own = self._sum_of(name)
            computed.append(self._computed(self.attributes[name], own, rule))
            found += self._domain(self.attributes[name], own, rule)
        return Clauses(
            involved=tuple(self.involved),
            places=self.places,
            clauses=tuple(found),
            computed=tuple(computed),
        )

    def _clause(self, rule: RecordRule) -> Clause:
        atoms = [self._atom(self._difference(rule.comparison), rule.comparison.sign)]
        if rule.condition is not None:
            negated = NEGATED[rule.condition.sign]
            atoms.insert(0, self._atom(self._difference(rule.condition), negated))
        names = {one for name in rule.columns for one in self._sum_of(name)[0]}
        columns = tuple(sorted(self.place[name] for name in names))
        return Clause(atoms=tuple(atoms), columns=columns, text=str(rule))

    def _domain(self, attribute: Attribute, own: Sum, rule: RecordRule) -> list[Clause]:
        """Hold a sum against the domain of the column that is computed by it."""
        if attribute.grid_bounds is None:
            return []
        columns = tuple(sorted(self.place[name] for name in own[0]))
        ends = [end * attribute.resolution for end in attribute.grid_bounds]
        atoms = [
            self._atom((own[0], own[1] - end), sign)
            for end, sign in zip(ends, (">=", "<="), strict=True)
        ]
        return [Clause(atoms=(atom,), columns=columns, text=str(rule)) for atom in atoms]

    def _difference(self, comparison: Comparison) -> Sum:
        """Take the right side of a comparison off the left one, in terms of drawn columns."""
        constant = comparison.constant
        if isinstance(constant, str):
            number = Fraction(0 if comparison.others else self.words[constant])
        else:
            number = constant
        found, total = self._sum_of(comparison.column)
        found, total = dict(found), total - number
        for name, times in comparison.others:
            own, added = self._sum_of(name)
            total -= times * added
            for one, often in own.items():
                found[one] = found.get(one, Fraction(0)) - times * often
        return found, total

    def _sum_of(self, name: str) -> Sum:
        """Return the sum of drawn columns that a column is: itself, unless it is computed."""
        if name not in self.defined:
            return {name: Fraction(1)}, Fraction(0)
        own = self.defined[name].comparison
        total, found = own.constant, dict[str, Fraction]()
        assert not isinstance(total, str)  # noqa: S101 -- columns of numbers alone are computed
        for other, times in own.others:
            parts, added = self._sum_of(other)
            total += times * added
            for one, often in parts.items():
                found[one] = found.get(one, Fraction(0)) + times * often
        return found, total

    def _step(self, name: str) -> Fraction:
        """Return what one of what is compared of a column is in its own units."""
        attribute = self.attributes[name]
        is_listed = attribute.categories is not None or not attribute.kind.is_numeric
        return Fraction(1) if is_listed else attribute.resolution

    def _atom(self, own: Sum, sign: str) -> Atom:
        """Write a comparison of a sum with 0 in whole numbers."""
        parts = {name: often * self._step(name) for name, often in own[0].items() if often}
        turn = -1 if sign in TURNED else 1
        scale = turn * math.lcm(own[1].denominator, *(p.denominator for p in parts.values()))
        times = tuple(int(part * scale) for part in parts.values())
        sign = TURNED.get(sign, sign)
        constant = int(own[1] * scale) + (sign == "<")
        columns = tuple(self.place[name] for name in parts)
        most = abs(constant) + sum(
            abs(often) * max(map(abs, self._reach(column)))
            for often, column in zip(times, columns, strict=True)
        )
        return Atom(
            columns=columns,
            times=times,
            constant=constant,
            sign="<=" if sign == "<" else sign,
            is_wide=most >= WIDE,
        )

    def _reach(self, column: int) -> tuple[int, int]:
        own = self.places[column]
        if own.numbers is None:
            return own.lower, own.upper
        return int(own.numbers[0]), int(own.numbers[-1])

    def _computed(self, attribute: Attribute, own: Sum, rule: RecordRule) -> Computed:
        """Put a sum on the grid of the column that it is; refused where it has finer steps."""
        names = [name for name, often in own[0].items() if often]
        parts = [own[0][name] * self._step(name) / attribute.resolution for name in names]
        constant = own[1] / attribute.resolution
        if any(part.denominator != 1 for part in (*parts, constant)):
            raise RequestError(
                f"rule '{rule}'",
                f"the resolution of '{attribute.name}' is coarser than what it is computed of",
                f"declare for '{attribute.name}' the finest resolution on the right",
            )
        return Computed(
            attribute=attribute,
            columns=tuple(self.place[name] for name in names),
            times=tuple(map(int, parts)),
            constant=int(constant),
        )
