"""Two tables, as measures are given them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.base import OF_ONE, Measure, Takes
from microveil.measures.distributions import Levels, decile_levels
from microveil.measures.models import parse_formula
from microveil.measures.relations import sampled_records
from microveil.measures.values import Flags, Whole
from microveil.table import Column, Numbers
from microveil.table.blocks import AttributeMatrix, Matrix, lacks_some, over_blocks
from microveil.table.threads import in_threads

EVERY = slice(None)
Columns = dict[str, Column]
# Of these nothing is left without an attribute of numbers.
OF_NUMBERS = (Takes.NUMBERS, Takes.COMPLETE, Takes.NUMBER)
# Of an attribute of text: the codes before and after, and the categories they stand for.
Codes = tuple[NDArray[np.signedinteger], NDArray[np.signedinteger], tuple[str, ...]]


def _present_codes(codes: Codes, side: int, rows: slice | Whole = EVERY) -> Column:
    """Return one table's codes of text as numbers; NaN where a cell is missing."""
    *sides, categories = codes
    own, missing = sides[side][rows], categories.index("") if "" in categories else -1
    return np.where(own == missing, np.nan, own)


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

    @property
    def levels(self) -> tuple[dict[str, Levels], dict[str, Levels]]:
        """Deciles of numbers and codes of text, by attribute: made anew, for the one who asks."""
        of_numbers = in_threads(
            lambda a: decile_levels(self.original[:, a], self.protected[:, a]),
            range(len(self.names)),
            self.original.size,
        )
        found = dict(zip(self.names, of_numbers, strict=True))
        for name, (before, after, categories) in self.texts.items():
            if len(categories) <= 1 << 8:
                found[name] = before.astype(np.uint8), after.astype(np.uint8)
            else:
                found[name] = before.astype(np.uint16), after.astype(np.uint16)
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
        """Call a measure's function, once for all of it; None where there is nothing to take."""
        more = {name: self.asked[name] for name in measure.arguments if name in self.asked}
        call = partial(measure.function, **more)
        if measure.takes in OF_ONE:
            found = {}
            for name, given in self._attributes(measure.takes):
                of_one = measure.function, measure.arguments, name
                if of_one not in self._known:
                    self._known[of_one] = call(*given)
                found[name] = self._known[of_one]
            return {name: one for name, one in found.items() if one is not None}
        key = measure.function, measure.arguments, measure.takes
        if key not in self._known:
            taken = self._given(measure.takes)
            if taken is not None and not measure.in_blocks:
                taken = tuple(one[:] if isinstance(one, AttributeMatrix) else one for one in taken)
            self._known[key] = None if taken is None else call(*taken)
        return self._known[key]

    def _attributes(self, takes: Takes) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """Yield attributes and what a function of one is called with; made when it is come to."""
        if takes is not Takes.TEXT:
            for a, name in enumerate(self.names):
                more = (False, name in self.nominal) if takes is Takes.EACH else ()
                yield name, (self.original[:, a], self.protected[:, a], *more)
        if takes is Takes.RANKED:
            yield from self.ranks.items()
        for name, codes in self.texts.items():
            if takes is Takes.TEXT:
                yield name, codes
            elif takes is Takes.EACH:
                yield name, (_present_codes(codes, 0), _present_codes(codes, 1), True, True)

    def _given(self, takes: Takes) -> tuple[Any, ...] | None:
        """Return what a function of all attributes at once is called with."""
        if takes in {Takes.NUMBERS, Takes.SUBGROUPS}:
            return self.original, self.protected
        if takes is Takes.COMPLETE:
            return self.complete if len(self.complete[0]) else None
        if takes is Takes.LEVELS:
            return self.levels
        if takes is Takes.SAMPLE:
            nominal = self.nominal | (self.texts.keys() - self.ranks.keys())
            return self._sampled(0), self._sampled(1), nominal, len(self.original)
        if takes in {Takes.RECORDS, Takes.MIXED}:
            return self._records() if takes is Takes.RECORDS else self._mixed()
        both = self.columns(self._columns_of(takes))
        return both[1:] if takes is Takes.RELEASE else both

    def _columns_of(self, takes: Takes) -> Iterable[str]:
        """Name the columns that a measure takes: those compared, or that were asked for."""
        if takes is Takes.VARIABLES:
            return parse_formula(self.asked["formula"]).attributes
        if takes is Takes.RULES:
            return dict.fromkeys(name for rule in self.asked["rules"] for name in rule.columns)
        return self.compared

    def _sampled(self, side: int) -> dict[str, Column]:
        """Return the records of one table in which relations are looked for."""
        table = (self.original, self.protected)[side]
        chosen = sampled_records(len(table))
        rows = EVERY if chosen is None else chosen
        taken = table[rows]
        found = {name: taken[:, a] for a, name in enumerate(self.names)}
        for name, codes in self.texts.items():
            in_order = self.ranks.get(name)
            own = _present_codes(codes, side, rows) if in_order is None else in_order[side][rows]
            found[name] = own
        return found

    def _records(self) -> tuple[list[Column], list[Column], Flags]:
        """Return the columns of numbers, and codes of text, and which are codes."""
        codes = [[both[side] for both in self.texts.values()] for side in (0, 1)]
        before, after = [*self.original.T, *codes[0]], [*self.protected.T, *codes[1]]
        return before, after, np.repeat([False, True], [len(self.names), len(self.texts)])

    def _mixed(self) -> tuple[AttributeMatrix, AttributeMatrix, Flags]:
        """Return numbers, ranks of text that has an order, and codes of other text."""
        sides = []
        for side, matrix in enumerate((self.original, self.protected)):
            if isinstance(matrix, AttributeMatrix) and matrix.rows is None:
                columns = [*matrix.numbers]  # none is made anew
            else:
                columns = [Numbers(values=column, missing=None) for column in matrix.T]
            for name, (*codes, _) in self.texts.items():
                columns.append(Numbers(values=self.ranks.get(name, codes)[side], missing=None))
            sides.append(AttributeMatrix(numbers=columns))
        is_category = [name in self.nominal for name in self.names]
        is_category += [name not in self.ranks for name in self.texts]
        return sides[0], sides[1], np.array(is_category)
