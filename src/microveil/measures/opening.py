"""A table and its release, opened to be held against each other, with what lies beside them."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError, FileError
from microveil.files import FORMATS
from microveil.guarantee import Guarantee
from microveil.measures.base import Measure
from microveil.measures.values import Flags, Floats
from microveil.protect.recipe import roles_of_recipe
from microveil.protect.release import Release
from microveil.schema import Kind, Role, Source
from microveil.synthesis.measurements import Measurements
from microveil.table import (
    Column,
    MissingCodes,
    Table,
    check_columns,
    column_of,
    open_beside,
    open_table,
)
from microveil.table.blocks import (
    LARGEST_VALUE,
    AttributeMatrix,
    Matrix,
    lacks_some,
    largest_of,
    over_blocks,
)
from microveil.table.table import coded_words

# What measurements.json repeats of the guarantee.
SAME_IN_BOTH = ("method", "n_records", "epsilon", "delta", "rho")
# Text of more different values is left out: hardly any are categories.
MOST_CATEGORIES = 1000
Columns = dict[str, Column]
# Of an attribute of text: the codes before and after, and the categories they stand for.
Codes = tuple[NDArray[np.signedinteger], NDArray[np.signedinteger], tuple[str, ...]]


def guarantee_beside(table: Path, columns: Collection[str]) -> Guarantee | None:
    """Read the guarantee that was written with a table of these columns; never another table's."""
    tables = {f"data{suffix}" for entry in FORMATS.values() for suffix in entry.suffixes[:1]}
    if table.name not in tables:
        return None
    try:
        found = Guarantee.read(table.parent / "guarantee.json")
    except FileError:
        return None  # it is not one of ours
    promised_columns = {*(terms.name for terms in found.attributes), *found.kept}
    if found.has_new_numbers:
        promised_columns.add(str(found.unit.column))
    # A column of which nothing was learnt is promised, and left out.
    unknown = {own.name for own in found.attributes if own.domain_source is Source.LEARNT}
    absent = promised_columns - {*columns}
    return found if {*columns} <= promised_columns and absent <= unknown else None


def measurements_beside(table: Path, guarantee: Guarantee | None) -> Measurements | None:
    """Read what a new table was drawn from; None where its domains were read from the data."""
    path = table.parent / "measurements.json"
    if guarantee is None or not guarantee.is_synthetic or not path.exists():
        return None
    attributes = [terms.attribute() for terms in guarantee.attributes]
    declared = [attribute for attribute in attributes if attribute is not None]
    if len(declared) < len(attributes):
        return None
    promised_there = guarantee.to_dict()
    try:
        contents = json.loads(path.read_text(encoding="utf-8"))
        if any(contents[name] != promised_there[name] for name in SAME_IN_BOTH):
            raise ValueError  # noqa: TRY301 -- reported as what cannot be read is
        return Measurements.from_dict(contents, declared)
    except (OSError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        rule = "it must be the measurements.json that was written with the release"
        raise FileError(f"{path}", rule, "restore it as microveil wrote it, or delete it") from None


def codes_in_release(codes: MissingCodes, guarantee: Guarantee | None) -> MissingCodes:
    """Return what stands for missing in a release: if protected, what the guarantee names."""
    if guarantee is None:
        return codes
    protected = {terms.name for terms in guarantee.attributes}
    others = {name: own for name, own in codes.by_column.items() if name not in protected}
    return replace(codes, by_column=others).and_of(guarantee.missing_codes)


def has_pairs(guarantee: Guarantee | None, n_missing: int = 0) -> bool:
    """Whether records may stand in the original's order, of which units may lack ``n_missing``."""
    if guarantee is None:
        return True
    return guarantee.has_pairs and not (guarantee.unit.column is not None and n_missing)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opened:
    """A table and its release, and what is known of them."""

    original: Table
    protected: Table
    paired: bool  # whether the records of both are in the same order
    control: Table | None = None  # of people who are not in the original
    # What a recipe says that attributes are to an intruder.
    roles: Mapping[str, Role] = field(default_factory=dict)
    # Of the attributes that are listed as categories, the words in order, or None.
    orders: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    guarantee: Guarantee | None = None
    measurements: Measurements | None = None

    @property
    def tables(self) -> dict[str, Table]:
        """All that there are, by what they are called in an error."""
        found = {"original": self.original, "protected": self.protected}
        return found if self.control is None else {**found, "control": self.control}

    def of_role(self, role: Role) -> list[str]:
        """Name the columns of the original that have a role."""
        return [name for name in self.original.names if self.roles.get(name) is role]

    def attributes(self, wanted: Iterable[str] | None) -> list[str]:
        """Name those wanted, or all of one kind in each table but identifiers and units."""
        if wanted is not None:
            names = named(wanted)
            self.check(names)
            return names
        unit = None if self.guarantee is None else self.guarantee.unit.column
        dropped = {*self.of_role(Role.IDENTIFIER), unit}
        return [
            name
            for name in self.original.names
            if name not in dropped
            and all(
                name in table.names
                and table.kind(name).is_numeric == self.original.kind(name).is_numeric
                for table in self.tables.values()
            )
        ]

    def numeric(self, names: Iterable[str]) -> list[str]:
        """Name those that are numbers."""
        return [name for name in names if self.original.kind(name).is_numeric]

    def check(self, names: Iterable[str]) -> None:
        """Refuse columns that some table lacks."""
        wanted = list(names)
        for side, table in self.tables.items():
            check_columns(table, wanted, side)


def opened(
    original: Any,
    protected: Any,
    *,
    paired: bool,
    missing_codes: Mapping[str, Any] | None,
    missing_values: Iterable[str] | None,
    recipe: str | Path | Mapping[str, Any] | None,
    control: Any = None,
    guarantee: Guarantee | None = None,
    measurements: Measurements | None = None,
) -> Opened:
    """Open a table and its release, of which a `Release` knows what it promises."""
    codes = MissingCodes.of(missing_codes, missing_values)
    if isinstance(protected, Release):
        codes, guarantee = protected.codes_of_original(codes), guarantee or protected.guarantee
        measurements, protected = measurements or protected.measurements, protected.data
    after = open_table(protected, codes_in_release(codes, guarantee))
    before = open_beside(original, after, codes)
    check_columns(before, codes.by_column, "original")
    paired = paired and has_pairs(guarantee, before.n_records - after.n_records)
    if paired and before.n_records != after.n_records:
        raise DataError(
            "original and protected tables",
            "paired records must be as many in both",
            "pass the same people in the same order, or paired=False (--shuffled) for a shuffled "
            "or synthetic release",
        )
    return Opened(
        original=before,
        protected=after,
        control=None if control is None else open_beside(control, after, codes),
        paired=paired,
        roles={} if recipe is None else roles_of_recipe(recipe),
        orders={
            one.name: tuple(map(str, one.domain or ())) if one.kind is Kind.ORDINAL else None
            for one in (() if guarantee is None else guarantee.attributes)
            if one.kind in {Kind.ORDINAL, Kind.NOMINAL}
        },
        guarantee=guarantee,
        measurements=measurements,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Tables:
    """The original and the release, and what is asked of them."""

    names: tuple[str, ...]  # the attributes of numbers
    # Reads columns of both tables by their names.
    columns: Callable[[Iterable[str]], tuple[Columns, Columns]]
    # Their values, NaN where missing; as many records in both only where they are paired.
    original: Matrix
    protected: Matrix
    paired: bool = True
    # The attributes of text that are compared; a missing cell is a category of its own.
    texts: Mapping[str, Codes] = field(default_factory=dict)
    # Of those whose categories have an order, each record's rank; NaN where it has none.
    ranks: Mapping[str, tuple[Column, Column]] = field(default_factory=dict)
    nominal: frozenset[str] = frozenset()  # attributes of numbers that are categories in no order
    dates: frozenset[str] = frozenset()  # attributes of numbers that are days since 1970-01-01
    asked: Mapping[str, Any] = field(default_factory=dict)  # by argument
    _known: dict[Any, Any] = field(default_factory=dict, init=False)  # what measures share

    @property
    def compared(self) -> tuple[str, ...]:
        """The attributes compared: of numbers, then of text."""
        return (*self.names, *self.texts)

    @cached_property
    def complete(self) -> tuple[Matrix, Matrix]:
        """The records without a missing cell in either table."""
        if not (lacks_some(self.original) or lacks_some(self.protected)):
            return self.original, self.protected

        def lacks(rows: slice) -> Flags:
            either = np.isnan(self.original[rows]) | np.isnan(self.protected[rows])
            return np.asarray(either.any(axis=1))

        missing = np.concatenate(over_blocks(lacks, len(self.original)))
        if not missing.any():
            return self.original, self.protected
        present = np.flatnonzero(~missing)
        before, after = (
            side.taken(present) if isinstance(side, AttributeMatrix) else side[present]
            for side in (self.original, self.protected)
        )
        return before, after

    def each_number(self) -> Iterator[tuple[str, tuple[Column, Column]]]:
        """Go through the attributes of numbers, each made when it is come to."""
        for a, name in enumerate(self.names):
            yield name, (self.original[:, a], self.protected[:, a])

    def takes_part(self, measure: Measure) -> bool:
        """Whether a measure is asked for, and has the pairs and the numbers that it needs."""
        if measure.asked_by:
            given = self.asked.get(measure.asked_by)
            if given is None or given is False:
                return False
        if not measure.takes.fits(self):
            return False
        return self.paired or not measure.needs_pairs

    def result_of(self, measure: Measure) -> Any:
        """Call a measure's function, once for all of it; None where there is nothing to take."""
        more = {name: self.asked[name] for name in measure.arguments if name in self.asked}
        call, takes = partial(measure.function, **more), measure.takes
        if takes.of_each:
            found = {}
            for name, given in takes.give(self):
                key: Any = measure.function, measure.arguments, name
                if key not in self._known:
                    self._known[key] = call(*given)
                found[name] = self._known[key]
            return {name: one for name, one in found.items() if one is not None}
        key = measure.function, measure.arguments, takes
        if key not in self._known:
            taken = takes.give(self)
            if taken is not None and not measure.in_blocks:
                taken = tuple(one[:] if isinstance(one, AttributeMatrix) else one for one in taken)
            self._known[key] = None if taken is None else call(*taken)
        return self._known[key]


def present_codes(codes: Codes, side: int) -> Column:
    """Return one table's codes of text as numbers; NaN where a cell is missing."""
    *sides, categories = codes
    missing = categories.index("") if "" in categories else -1
    return np.where(sides[side] == missing, np.nan, sides[side])


def tables_of(
    both: Opened, names: Iterable[str], asked: Mapping[str, Any], *, masked: bool = False
) -> Tables:
    """Read attributes as measures are given them; text of more than 1000 categories is left out."""
    wanted = list(names)
    numeric, orders, sides = both.numeric(wanted), both.orders, (both.original, both.protected)
    coded = {name: _codes(sides, name) for name in wanted if name not in numeric}
    texts = {name: codes for name, codes in coded.items() if codes is not None}
    before, after = (
        _matrix(table, numeric, place, masked=masked)
        for table, place in zip(sides, ("original data", "protected data"), strict=True)
    )
    return Tables(
        names=tuple(numeric),
        original=before,
        protected=after,
        paired=both.paired,
        texts=texts,
        ranks={
            name: _ranks(texts[name], words)
            for name, words in orders.items()
            if words and name in texts
        },
        nominal=frozenset(name for name in numeric if name in orders and orders[name] is None),
        dates=frozenset(name for name in numeric if both.original.kind(name) is Kind.DATE),
        columns=partial(_columns, both),
        asked={"linkage": True, "unpaired": not both.paired, **asked},
    )


def _matrix(table: Table, names: list[str], place: str, *, masked: bool) -> Matrix:
    if not names:
        return np.empty((table.n_records, 0))
    matrix = AttributeMatrix(numbers=[table.numbers(name, shared=True) for name in names])
    if largest_of(matrix) > LARGEST_VALUE and masked:
        return usable(np.asarray(matrix))
    if largest_of(matrix) > LARGEST_VALUE:
        rule = "values must be finite and at most 1e140 in size"
        raise DataError(place, rule, "leave such records out, or mark the cells as missing")
    return matrix


def usable(values: Floats) -> Floats:
    """Mark what no distance can be taken of as missing, as a release does; in place."""
    values[~(np.abs(values) <= LARGEST_VALUE)] = np.nan
    return values


def coded(
    sides: Iterable[Table], name: str, most: int = MOST_CATEGORIES
) -> tuple[list[NDArray[np.int32]], tuple[str, ...]] | None:
    """Read text of tables as positions in one list of its words; None where there are too many."""
    found = [coded_words(table, name, most) for table in sides]
    known = [one for one in found if one is not None]
    categories = sorted({word for _, words in known for word in words})
    if len(known) < len(found) or len(categories) > most:
        return None
    codes = [
        np.searchsorted(categories, np.array(words, dtype=np.str_)).astype(np.int32)[own]
        for own, words in known
    ]
    return codes, tuple(categories)


def _codes(sides: Sequence[Table], name: str) -> Codes | None:
    """Read a text attribute as codes; None where it is no text or has too many categories."""
    try:
        found = coded(sides, name)
    except DataError:
        return None
    return None if found is None else (found[0][0], found[0][1], found[1])


def _ranks(codes: Codes, words: Sequence[str]) -> tuple[Column, Column]:
    """Return the ranks of text that has an order; NaN of what that does not list."""
    before, after, categories = codes
    order = {word: float(rank) for rank, word in enumerate(words)}
    ranks = np.array([order.get(category, np.nan) for category in categories])
    return ranks[before], ranks[after]


def _columns(both: Opened, names: Iterable[str]) -> tuple[Columns, Columns]:
    """Read columns of both tables."""
    wanted, sides = list(names), (both.original, both.protected)
    both.check(wanted)
    before, after = ({name: column_of(table, name) for name in wanted} for table in sides)
    return before, after


def named(names: Iterable[str]) -> list[str]:
    """Return names, of which one may stand by itself."""
    return [names] if isinstance(names, str) else list(names)
