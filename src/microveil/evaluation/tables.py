"""Two tables of the same people, as measures are given them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.evaluation.measures import Measure, Takes
from microveil.table import Column
from microveil.utility.formula import parse_formula

__all__ = ["Codes", "Tables"]

Matrix = NDArray[np.float64]
Columns = dict[str, Column]
# Of an attribute of text: the codes before and after, and the categories they stand for.
Codes = tuple[NDArray[np.intp], NDArray[np.intp], tuple[str, ...]]


def _no_columns(names: Iterable[str]) -> tuple[Columns, Columns]:
    raise LookupError(", ".join(names))


@dataclass(frozen=True, kw_only=True, eq=False)
class Tables:
    """The original and the release, and what is asked of them.

    Attributes
    ----------
    names : tuple of str
        The attributes of numbers.
    original, protected : float64 arrays (n_records, n_attributes)
        Their values, NaN where missing.
    paired : bool
        Whether the records are in the same order.
    texts : dict of (codes, codes, categories)
        The attributes of text that are compared.
    columns : callable
        Reads columns of both tables by their names.
    asked : dict
        What was asked for, by argument.
    """

    names: tuple[str, ...]
    original: Matrix
    protected: Matrix
    paired: bool = True
    texts: Mapping[str, Codes] = field(default_factory=dict)
    columns: Callable[[Iterable[str]], tuple[Columns, Columns]] = _no_columns
    asked: Mapping[str, Any] = field(default_factory=dict)

    @property
    def compared(self) -> tuple[str, ...]:
        """The attributes compared: of numbers, then of text."""
        return (*self.names, *self.texts)

    @cached_property
    def complete(self) -> tuple[Matrix, Matrix]:
        """The records without a missing cell in either table."""
        missing = (np.isnan(self.original) | np.isnan(self.protected)).any(axis=1)
        if not missing.any():
            return self.original, self.protected
        return self.original[~missing], self.protected[~missing]

    def takes_part(self, measure: Measure) -> bool:
        """Whether a measure is asked for, and has the pairs that it needs."""
        if measure.asked_by:
            given = self.asked.get(measure.asked_by)
            if given is None or given is False:
                return False
        return self.paired or not measure.needs_pairs

    def result_of(self, measure: Measure) -> Any:
        """Call a measure's function with what it takes; None where there is nothing of it."""
        more = {name: self.asked[name] for name in measure.arguments}
        if measure.takes is Takes.NUMBER:
            sides = zip(self.names, self.original.T, self.protected.T, strict=True)
            found = {name: measure.function(x, y, **more) for name, x, y in sides}
            return {name: result for name, result in found.items() if result is not None}
        if measure.takes is Takes.TEXT:
            return {name: measure.function(*codes, **more) for name, codes in self.texts.items()}
        given = self._given(measure.takes)
        return None if given is None else measure.function(*given, **more)

    def _given(self, takes: Takes) -> tuple[Any, ...] | None:
        if takes is Takes.NUMBERS:
            return self.original, self.protected
        if takes is Takes.COMPLETE:
            return self.complete if len(self.complete[0]) else None
        if takes is Takes.VARIABLES:
            return self.columns(parse_formula(self.asked["formula"]).attributes)
        if takes is Takes.PREDICTORS:
            classes = self.asked["class_attribute"]
            return self.columns([name for name in self.compared if name != classes])
        both = self.columns(self.compared)
        return both[1:] if takes is Takes.RELEASE else both
