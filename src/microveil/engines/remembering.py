"""The engine of one machine for many plans on the same columns: what they share is done once."""

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil.engines.base import Column, Engine, Ranked
from microveil.engines.disk import DiskEngine
from microveil.engines.handles import LocalColumn, are_ranked, domains_of
from microveil.engines.local import LocalEngine, summarised
from microveil.partition import Partition, ranking_sizes
from microveil.partition.corner import corner_ends
from microveil.utility.error_floor import (
    SensitivityRule,
    error_floor,
    error_floor_of_any_runs,
    error_floor_of_ends,
    vector_loss,
)

__all__ = ["RememberingEngine", "remembering", "weighing"]

Result = TypeVar("Result")
Whole = NDArray[np.int64]
# Work and the columns it is on: they are kept beside it, so that their ids stay their own.
Found = dict[Hashable, tuple[Sequence[Whole], Future[Any]]]

# About one record in so many is in either end of an order that is looked at first.
ENDS = 32
# So many partitions of several attributes are kept: a grid goes through epsilon before k.
JOINT = 16


def remembering(engine: Engine) -> Engine:
    """Return an engine that does once what many plans on the same columns share.

    For that in memory; any other is returned as it is: what it would remember may not fit.

    >>> isinstance(remembering(LocalEngine()), RememberingEngine)
    True
    """
    return RememberingEngine() if type(engine) is LocalEngine else engine


def weighing(engine: Engine, n_values: int) -> Engine:
    """Return the engine that weighs many plans of so many values in place of another.

    In place of that on the disk one that remembers, where the memory that is allowed holds all that
    is planned; any other is returned as it is.

    >>> isinstance(weighing(DiskEngine(memory=10**9), 100_000), RememberingEngine)
    True
    """
    is_held = isinstance(engine, DiskEngine) and engine.holds_plans(n_values)
    return RememberingEngine() if is_held else engine


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runs:
    """Values in the order of their clusters.

    ``squares`` is what an error over variance is multiplied by to be a squared error.
    """

    values: Whole
    squares: float
    domain: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ends:
    """The first and the last values in the order of their clusters; see `_Runs`."""

    nearest: Whole
    farthest: Whole
    squares: float
    domain: tuple[int, int] | None


class RememberingEngine(LocalEngine):
    """Ranks each column once, and partitions by several attributes once for each k.

    Of insensitive partitions, whose order has nothing to do with k, it makes one for all.

    Columns are told apart by identity, and must not be changed. Threads may share the engine:
    who asks for what another is at work on waits for that.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from microveil.schema import Attribute, Kind, Source
    >>> from microveil.table import GridColumn
    >>> age = Attribute(
    ...     name="AGE", kind=Kind.WHOLE, resolution=Fraction(1), resolution_source=Source.TYPE
    ... )
    >>> engine = RememberingEngine()
    >>> ages = engine.column(GridColumn(attribute=age, values=np.array([7, 1, 4]), missing=None))
    >>> engine.rank(ages)[0] is engine.rank(ages)[0]
    True
    """

    remembers = True

    def __init__(self) -> None:
        self._ranked: Found = {}
        self._joint: Found = {}
        self._complete: Found = {}
        self._runs: Found = {}
        self._chosen: Found = {}
        self._floors: Found = {}
        self._lock = threading.Lock()

    def rank(self, column: Column) -> tuple[NDArray[np.integer], Whole]:
        """Rank one column, once."""
        values = self.held(column).values
        return self._once(
            self._ranked, (id(values),), [values], lambda: LocalEngine.rank(self, column)
        )

    def cluster_jointly(
        self,
        name: str,
        columns: Sequence[Column],
        k: int,
        *,
        with_missing: bool = False,
        units: Whole | None = None,
    ) -> Partition:
        """Partition the matrix of the columns, once for each k."""
        held = [self.held(column).values for column in columns]
        bounds = tuple(column.attribute.grid_bounds for column in columns)
        ids = tuple(id(values) for values in held)
        is_run = name == "mdav-insensitive" and not with_missing and units is None
        ordered = is_run and k <= len(held[0])
        least = 1 if ordered else k
        of_units = None if units is None else units.tobytes()
        key = (name, ids, least, bounds, tuple(are_ranked(columns)), with_missing, of_units)

        def clustered() -> Partition:
            return LocalEngine.cluster_jointly(
                self, name, columns, least, with_missing=with_missing, units=units
            )

        found = self._once(self._joint, key, held, clustered)
        return replace(found, sizes=ranking_sizes(found.n_records, k)) if ordered else found

    def complete(self, columns: Sequence[Column]) -> Sequence[LocalColumn]:
        """Gather once: what is found out of the columns gathered is then found again."""
        held = [self.held(column).values for column in columns]
        return self._once(
            self._complete,
            tuple(map(id, held)),
            held,
            lambda: LocalEngine.complete(self, columns),
        )

    def error_floor(
        self,
        column: Column,
        k: int,
        rule: SensitivityRule,
        share: float,
        limit: float,
        *,
        together: Sequence[Column] | None = None,
        ends: bool = False,
    ) -> float:
        """Sum over the clusters, from the last and the first inwards, up to the limit.

        O(n) at most. Of the ends of an insensitive order these alone are put in order.
        """
        if ends:
            return self._floor_of_ends(column, k, rule, share, limit, together)
        runs = self._in_runs(column, together)
        if runs.squares <= 0 or k > len(runs.values):
            return 0.0
        bound = error_floor(runs.values, k, rule, runs.domain, share, limit * runs.squares)
        return bound / runs.squares

    def _floor_of_ends(
        self,
        column: Column,
        k: int,
        rule: SensitivityRule,
        share: float,
        limit: float,
        together: Sequence[Column] | None,
    ) -> float:
        """Sum over the clusters that either end of the order holds."""
        ends, n_records = self._ends(column, together), column.n_present
        if ends.squares <= 0 or k > n_records:
            return 0.0
        loss = 0.0
        if rule is SensitivityRule.VECTOR and together is None:
            loss = vector_loss(self.rank(column)[1], k)
        bound = error_floor_of_ends(
            ends.nearest,
            ends.farthest,
            n_records,
            k,
            rule,
            ends.domain,
            share,
            limit * ends.squares,
            loss=loss,
        )
        return bound / ends.squares

    def _ends(self, column: Column, together: Sequence[Column] | None) -> "_Ends":
        """Return the values at both ends of the order of clusters."""
        values = self.held(column).values
        others = [] if together is None else [self.held(other).values for other in together]

        def found() -> _Ends:
            if together is None:
                in_order, size = self.rank(column)[1], column.n_present // ENDS
                nearest, farthest = in_order[:size], in_order[len(in_order) - size :]
            else:
                nearest, farthest = (values[end] for end in self._joint_ends(together))
            return _Ends(
                nearest=nearest,
                farthest=farthest,
                squares=self._squares(column),
                domain=column.attribute.grid_bounds,
            )

        key = ("ends", id(values), together is None, *map(id, others))
        return self._once(self._runs, key, [values, *others], found)

    def _joint_ends(self, together: Sequence[Column]) -> tuple[Whole, Whole]:
        """Return who stands at both ends of the insensitive order of some columns."""
        held = [self.held(column).values for column in together]

        def found() -> tuple[Whole, Whole]:
            ranked = [place for place, in_order in enumerate(are_ranked(together)) if in_order]
            domains = domains_of(together)
            return corner_ends([held[at] for at in ranked], [domains[at] for at in ranked], ENDS)

        return self._once(self._runs, ("joint ends", *map(id, held)), held, found)

    def _squares(self, column: Column) -> float:
        """Return what an error over variance is multiplied by to be a squared error."""
        values = self.held(column).values

        def found() -> float:
            n_records = len(values)
            squares = float(summarised(values, np.array([n_records])).squares[0])
            return squares * n_records / max(n_records - 1, 1)

        return self._once(self._floors, ("squares", id(values)), [values], found)

    def error_floor_of_any_runs(self, column: Column, k: int, share: float) -> float:
        """Group the values and find the cheapest chain of groups, once for each k and share."""
        runs = self._in_runs(column, None)
        if runs.squares <= 0 or k > len(runs.values) or runs.domain is None:
            return 0.0
        domain = runs.domain
        return self._once(
            self._floors,
            (id(runs.values), k, share),
            [runs.values],
            lambda: error_floor_of_any_runs(runs.values, k, domain, share) / runs.squares,
        )

    def cluster_noise_aware(self, column: Column, k: int, penalty: float) -> Ranked:
        """Search once for each k and penalty."""
        values = self.held(column).values
        return self._once(
            self._chosen,
            (id(values), k, penalty),
            [values],
            lambda: LocalEngine.cluster_noise_aware(self, column, k, penalty),
        )

    def cluster_vector_aware(
        self, column: Column, k: int, share: float, *, exact_allowed: bool, coarsely: bool = False
    ) -> Ranked:
        """Search once for each k and share."""
        values = self.held(column).values
        return self._once(
            self._chosen,
            (id(values), k, share, exact_allowed, coarsely),
            [values],
            lambda: LocalEngine.cluster_vector_aware(
                self, column, k, share, exact_allowed=exact_allowed, coarsely=coarsely
            ),
        )

    def _in_runs(self, column: Column, together: Sequence[Column] | None) -> "_Runs":
        """Return the values in the order of their clusters, and what is the same for every k."""
        values = self.held(column).values
        others = [] if together is None else [self.held(other).values for other in together]

        def found() -> _Runs:
            in_order = (
                self.rank(column)[1]
                if together is None
                else values[self.cluster_jointly("mdav-insensitive", together, 1).order]
            )
            return _Runs(
                values=in_order,
                squares=self._squares(column),
                domain=column.attribute.grid_bounds,
            )

        key = (id(values), together is None, *map(id, others))
        return self._once(self._runs, key, [values, *others], found)

    def _once(
        self,
        found: Found,
        key: Hashable,
        columns: Sequence[Whole],
        work: Callable[[], Result],
    ) -> Result:
        with self._lock:
            mine = key not in found
            if mine:
                found[key] = tuple(columns), Future()
                if (found is self._joint or found is self._chosen) and len(found) > JOINT:
                    del found[next(iter(found))]
            future = found[key][1]
        if mine:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
                raise
        result: Result = future.result()
        return result
