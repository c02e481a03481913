"""Two tables, as measures are given them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.base import Measure, Takes
from microveil.measures.distributions import Levels, decile_levels
from microveil.measures.formula import parse_formula
from microveil.measures.relations import sampled_records
from microveil.table import Column, Numbers
from microveil.table.blocks import (
    AttributeMatrix,
    Matrix,
    lacks_some,
    over_blocks,
)
from microveil.table.threads import in_threads

Columns = dict[str, Column]
# Of these nothing is left without an attribute of numbers.
OF_NUMBERS = (Takes.NUMBERS, Takes.COMPLETE, Takes.NUMBER)
# Of an attribute of text: the codes before and after, and the categories they stand for.
Codes = tuple[NDArray[np.signedinteger], NDArray[np.signedinteger], tuple[str, ...]]


def _numbers_of(matrix: Matrix) -> list[Numbers]:
    """Return the columns of a matrix; of one of all records, none is made."""
    if isinstance(matrix, AttributeMatrix) and matrix.rows is None:
        return list(matrix.numbers)
    return [Numbers(values=column, missing=None) for column in matrix.T]


def _present_codes(
    codes: Codes, before: NDArray[np.int64] | None, after: NDArray[np.int64] | None
) -> tuple[Column, Column]:
    """Return codes of text as numbers, of all or some records; NaN where a cell is missing."""
    *sides, categories = codes
    missing = categories.index("") if "" in categories else -1
    taken = [
        own if rows is None else own[rows] for own, rows in zip(sides, (before, after), strict=True)
    ]
    one, other = (np.where(own == missing, np.nan, own) for own in taken)
    return one, other


def _no_columns(names: Iterable[str]) -> tuple[Columns, Columns]:
    raise LookupError(", ".join(names))


@dataclass(frozen=True, kw_only=True, eq=False)
class Tables:
    """The original and the release, and what is asked of them."""

    names: tuple[str, ...]  # the attributes of numbers
    # Their values, NaN where missing; as many records in both only where they are paired.
    original: Matrix
    protected: Matrix
    paired: bool = True
    # The attributes of text that are compared; a missing cell is a category of its own.
    texts: Mapping[str, Codes] = field(default_factory=dict)
    # Of those whose categories have an order, each record's rank; NaN where it has none.
    ranks: Mapping[str, tuple[Column, Column]] = field(default_factory=dict)
    nominal: frozenset[str] = frozenset()  # attributes of numbers that are categories in no order
    # Reads columns of both tables by their names.
    columns: Callable[[Iterable[str]], tuple[Columns, Columns]] = _no_columns
    asked: Mapping[str, Any] = field(default_factory=dict)  # by argument
    _known: dict[Any, dict[str, Any]] = field(default_factory=dict, init=False)

    @property
    def compared(self) -> tuple[str, ...]:
        """The attributes compared: of numbers, then of text."""
        return (*self.names, *self.texts)

    @cached_property
    def complete(self) -> tuple[Matrix, Matrix]:
        """The records without a missing cell in either table."""
        if not (lacks_some(self.original) or lacks_some(self.protected)):
            return self.original, self.protected
        of_blocks = over_blocks(
            lambda rows: (np.isnan(self.original[rows]) | np.isnan(self.protected[rows])).any(
                axis=1
            ),
            len(self.original),
        )
        missing = np.concatenate(of_blocks)
        if not missing.any():
            return self.original, self.protected
        present = np.flatnonzero(~missing)
        before, after = (
            side.taken(present) if isinstance(side, AttributeMatrix) else side[present]
            for side in (self.original, self.protected)
        )
        return before, after

    @property
    def levels(self) -> tuple[dict[str, Levels], dict[str, Levels]]:
        """Deciles of numbers and codes of text, by attribute: made anew, for the one who asks."""
        of_numbers = in_threads(
            lambda a: decile_levels(self.original[:, a], self.protected[:, a]),
            range(len(self.names)),
            self.original.size,
        )
        found = dict(zip(self.names, of_numbers, strict=True))
        for name, (*codes, categories) in self.texts.items():
            if len(categories) <= 1 << 8:
                found[name] = codes[0].astype(np.uint8), codes[1].astype(np.uint8)
            else:
                found[name] = codes[0].astype(np.uint16), codes[1].astype(np.uint16)
        one, other = ({name: both[side] for name, both in found.items()} for side in (0, 1))
        return one, other

    @property
    def is_mixed(self) -> bool:
        """Whether records are more than numbers that all of them have."""
        return bool(
            self.texts or self.nominal or lacks_some(self.original) or lacks_some(self.protected)
        )

    def takes_part(self, measure: Measure) -> bool:
        """Whether a measure is asked for, and has the pairs and the numbers that it needs."""
        if measure.asked_by:
            given = self.asked.get(measure.asked_by)
            if given is None or given is False:
                return False
        if measure.takes in OF_NUMBERS and not self.names:
            return False
        if measure.takes is Takes.MIXED and not self.is_mixed:
            return False
        return self.paired or not measure.needs_pairs

    def result_of(self, measure: Measure) -> Any:
        """Call a measure's function with what it takes; None where there is nothing of it."""
        more = {name: self.asked[name] for name in measure.arguments if name in self.asked}
        if measure.takes in {Takes.NUMBER, Takes.RANKED}:
            found = dict(self._of_numbers(measure.function, more))
            if measure.takes is Takes.RANKED:
                found |= {n: measure.function(*both, **more) for n, both in self.ranks.items()}
            return {name: one for name, one in found.items() if one is not None}
        if measure.takes is Takes.TEXT:
            return {name: measure.function(*codes, **more) for name, codes in self.texts.items()}
        if measure.takes is Takes.EACH:
            each = {name: measure.function(*given, **more) for name, given in self._each()}
            return {name: found for name, found in each.items() if found is not None}
        given = self._given(measure.takes)
        if given is not None and not measure.in_blocks:
            given = tuple(own[:] if isinstance(own, AttributeMatrix) else own for own in given)
        return None if given is None else measure.function(*given, **more)

    def _of_numbers(
        self, function: Callable[..., Any], more: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Call a function for each attribute of numbers, once for all measures that share it."""
        key = function, tuple(more)
        if key not in self._known:
            self._known[key] = {
                name: function(self.original[:, a], self.protected[:, a], **more)
                for a, name in enumerate(self.names)
            }
        return self._known[key]

    def _each(self) -> Iterator[tuple[str, tuple[Column, Column, bool, bool]]]:
        """Go through all attributes: numbers, and text as codes; each made when it is come to."""
        for a, name in enumerate(self.names):
            yield name, (self.original[:, a], self.protected[:, a], False, name in self.nominal)
        for name, codes in self.texts.items():
            yield name, (*_present_codes(codes, None, None), True, True)

    def _sample(self) -> tuple[dict[str, Column], dict[str, Column], frozenset[str], int]:
        """Return the records in which relations are looked for."""
        sides = self.original, self.protected
        n_records = [len(side) for side in sides]
        rows = [sampled_records(n) for n in n_records]
        taken = [
            side[slice(None) if own is None else own] for side, own in zip(sides, rows, strict=True)
        ]
        found = {name: (taken[0][:, a], taken[1][:, a]) for a, name in enumerate(self.names)}
        for name, codes in self.texts.items():
            ranks = self.ranks.get(name)
            if ranks is None:
                found[name] = _present_codes(codes, *rows)
            else:
                before, after = (
                    rank if own is None else rank[own]
                    for rank, own in zip(ranks, rows, strict=True)
                )
                found[name] = before, after
        one, other = ({name: both[side] for name, both in found.items()} for side in (0, 1))
        nominal = self.nominal | (self.texts.keys() - self.ranks.keys())
        return one, other, nominal, n_records[0]

    def _given(self, takes: Takes) -> tuple[Any, ...] | None:
        if takes in {Takes.NUMBERS, Takes.SUBGROUPS}:
            return self.original, self.protected
        if takes is Takes.COMPLETE:
            return self.complete if len(self.complete[0]) else None
        if takes is Takes.LEVELS:
            return self.levels
        made = {
            Takes.RECORDS: self._records, Takes.MIXED: self._mixed, Takes.SAMPLE: self._sample
        }.get(takes)  # fmt: skip
        if made is not None:
            return made()
        both = self.columns(self._columns_of(takes))
        return both[1:] if takes is Takes.RELEASE else both

    def _columns_of(self, takes: Takes) -> Iterable[str]:
        """Name the columns that a measure takes: those compared, or that were asked for."""
        if takes is Takes.VARIABLES:
            return parse_formula(self.asked["formula"]).attributes
        if takes is Takes.RULES:
            return dict.fromkeys(name for rule in self.asked["rules"] for name in rule.columns)
        left_out = {self.asked["class_attribute"]} if takes is Takes.PREDICTORS else set()
        return [name for name in self.compared if name not in left_out]

    def _records(self) -> tuple[list[Column], list[Column], NDArray[np.bool_]]:
        """Return the columns of numbers, and codes of text, and which are codes."""
        codes = [[both[side] for both in self.texts.values()] for side in (0, 1)]
        before, after = [*self.original.T, *codes[0]], [*self.protected.T, *codes[1]]
        return before, after, np.repeat([False, True], [len(self.names), len(self.texts)])

    def _mixed(self) -> tuple[AttributeMatrix, AttributeMatrix, NDArray[np.bool_]]:
        """Return numbers, ranks of text that has an order, and codes of other text."""
        is_category = [name in self.nominal for name in self.names]
        sides = [_numbers_of(self.original), _numbers_of(self.protected)]
        for name, (*codes, _) in self.texts.items():
            in_order = name in self.ranks
            for side, values in zip(sides, self.ranks[name] if in_order else codes, strict=True):
                side.append(Numbers(values=values, missing=None))
            is_category.append(not in_order)
        before, after = (AttributeMatrix(numbers=side) for side in sides)
        return before, after, np.array(is_category)
