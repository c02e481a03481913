"""Weighing requests by the error to expect of them, the least first.

Of hundreds of configurations, methods by k, the one is sought whose plan has the least expected
error. A lower bound of that error costs far less than the plan: so all are bounded, closer and
closer where they are still in question, and in the order of their bounds they are planned, until
none that is left can be better. What is found is what planning all of them would find, equal
errors included, of which the first in order is taken: but for partitions of `idp-vector` that are
searched for together with the noise, where half the error that a coarse search finds stands for a
bound (see `methods.base.floor_by_plans`).
"""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from microveil.engines.base import Column, Engine
from microveil.errors import DataError, MicroveilError, RequestError
from microveil.guarantee import Model, Scope
from microveil.methods import Choices, Method
from microveil.release.columns import Prepared, check_enough
from microveil.release.expectation import all_expected, average
from microveil.release.made import Made
from microveil.release.option import Option
from microveil.release.plan import Plan
from microveil.release.planning import choices_of, plan_prepared, promised, refuse_exact
from microveil.release.request import Request
from microveil.utility.error_floor import SensitivityRule

__all__ = ["Candidate", "Search", "weigh"]

# The first limit that bounds go to, and how many times as far they go each time they are asked:
# a bound beyond its limit is given up early. Where others are known they go but a little beyond
# these: a plan's error is that much above a close bound of it.
FIRST, FARTHER, BESIDE = 1e-2, 8.0, 1.001
# From so many on what is done once for a request is nothing beside what is done for each record.
MANY_RECORDS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What all candidates are weighed for.

    Attributes
    ----------
    prepared : Prepared
        The columns.
    scope : str or None
        That must be covered.
    engine : Engine
    chosen : tuple of str
        Steps that no candidate may pass over where the request chose them.
    least : Model
        Those whose model is weaker are left out.
    refusals : dict
        Takes a refusal of each method.
    least_made : list of (float, Made)
        Takes the plans of least error of those that were made, and that error.
    """

    prepared: Prepared
    scope: str | None
    engine: Engine
    chosen: tuple[str, ...]
    least: Model = Model.INDIVIDUAL
    refusals: dict[str, MicroveilError] = field(default_factory=dict)
    least_made: list[tuple[float, Made]] = field(default_factory=list)

    def with_plans(self) -> Prepared:
        """Return the columns with the plans of least error, so that they need not be made again."""
        made = self.least_made[0][1] if self.least_made else None
        return replace(self.prepared, made=made)

    def keep(self, request: Request, planned: Plan, error: float) -> None:
        """Keep the plans of a request if none of less error is kept."""
        known = self.least_made[0][0] if self.least_made else math.inf
        if planned.synthetic is None and error < known:
            n_records = self.prepared.table.n_records
            made = Made(
                method=request.method.id,
                choices=choices_of(self.prepared.names, n_records, request),
                attributes=planned.attributes,
            )
            self.least_made[:] = [(error, made)]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A method with its steps, to be weighed at several k.

    Attributes
    ----------
    method : Method
    steps : dict of str
    asked : dict
        What else is asked for.
    sizes : sequence of int or None
        Each k, ascending.
    search : Search
    """

    method: Method
    steps: Mapping[str, str]
    asked: Mapping[str, Any]
    sizes: Sequence[int | None]
    search: Search

    def request(self, k: int | None) -> Request:
        """Make the request of one k."""
        return Request.of({**self.asked, **self.steps, "k": k})

    @cached_property
    def _bounded_by(self) -> tuple[Sequence[Column], Choices] | None:
        """What a bound is found of; None where there is none, and what is refused is seen later."""
        if self.method.error_floor is None:
            return None
        try:
            request = self.request(self.sizes[0])
            prepared = self.search.prepared
            choices = choices_of(prepared.names, prepared.table.n_records, request)
        except MicroveilError:
            return None
        if request.isotonic:
            return None
        engine = self.search.engine
        return [engine.column(column) for column in self.search.prepared.columns], choices

    def floor(self, k: int | None, limit: float, *, ends: bool = False) -> float:
        """Bound the error over variance from below: beyond the limit not any closer.

        By the ends of columns alone, if so asked: soon.
        """
        if self.method.error_floor is None or self._bounded_by is None:
            return 0.0
        columns, choices = self._bounded_by
        choices = replace(choices, k=1 if k is None else k)
        try:
            return self.method.error_floor(columns, choices, self.search.engine, limit, ends=ends)
        except MicroveilError:
            return 0.0  # its plan will be refused

    @property
    def is_bounded_late(self) -> bool:
        """Whether a close bound, where none is known to give it up at, takes as long as a plan."""
        many = self.search.prepared.table.n_records >= MANY_RECORDS
        return many and self.method.ranks_each

    def keeps_promise(self, k: int | None) -> bool:
        """Whether what it promises suffices, as far as that is known before it is planned."""
        try:
            return _suffices(promised(self.search.prepared, self.request(k)).model, self.search)
        except MicroveilError:
            return False

    def weighed(self, k: int | None) -> Option | None:
        """Plan at one k and weigh; None if the model is too weak.

        Raises
        ------
        RequestError, DataError
            If the request would be refused.
        """
        search, request = self.search, self.request(k)
        check_enough(search.prepared.columns, request)
        if any(self.asked.get(step) and step in request.unused for step in search.chosen):
            return None  # a step that was asked for is not to be passed over
        spends_its_shares = self.method.error_floor is not None
        if spends_its_shares and not _suffices(promised(search.prepared, request).model, search):
            return None
        planned = plan_prepared(search.prepared, request, search.engine)
        refuse_exact(planned, request)
        expected = all_expected(planned, search.prepared, search.engine)
        if not expected or not _suffices(planned.claim.model, search):
            return None
        error = average(expected)
        search.keep(request, planned, error)
        return Option(
            method=request.method.id,
            model=planned.claim.model_in_words,
            conditions=planned.claim.conditions,
            choices=self.steps,
            k=k,
            over_variance=error,
            of_distributions=planned.synthetic is not None,
        )


def _suffices(model: Model, search: Search) -> bool:
    return model.strength >= search.least.strength


def weigh(candidates: Sequence[Candidate], count: int | None = None) -> list[Option]:
    """Weigh candidates: each with its best k, best first, as many as are asked for.

    Parameters
    ----------
    candidates : sequence of Candidate
        Of equal errors the first in order comes first, and of one candidate the least k.
    count : int, optional
        By default all that are not refused.
    """
    weighing = _Weighing(candidates=candidates, count=len(candidates) if count is None else count)
    _rank_columns(candidates)
    # The last promise least and so, as a rule, lose least: beyond them no other need be bounded.
    for number in reversed(range(len(candidates))):
        weighing.look(number)
    while weighing.waiting and len(weighing.found) < weighing.count:
        bound, number, place, is_bounded, option = heapq.heappop(weighing.waiting)
        if number in weighing.found or weighing.refuses(number):
            continue
        if option is not None:
            weighing.found[number] = option
        elif is_bounded:
            weighing.plan(number, place)
        else:
            weighing.bound(number, place, bound)
    return list(weighing.found.values())


def _rank_columns(candidates: Sequence[Candidate]) -> None:
    """Rank the columns side by side, where they will be bounded by rank one after another."""
    by_rank = (one for one in candidates if one.method.ranks_each and one.method.error_floor)
    first = next(by_rank, None)
    if first is None or not first.search.engine.remembers:
        return
    engine, prepared = first.search.engine, first.search.prepared

    def began(column: Column) -> float:
        # What every bound begins with, and no more: the limit is reached at once.
        return engine.error_floor(column, 1, SensitivityRule.NONE, 1, 0, ends=True)

    columns = [engine.column(column) for column in prepared.columns]
    engine.side_by_side(began, columns, len(columns) * prepared.table.n_records)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighing:
    """What is known while candidates are weighed.

    Attributes
    ----------
    candidates : sequence of Candidate
    count : int
        How many are asked for.
    waiting : list
        A heap, the least first: bound, number of the candidate, place of its k, whether the bound
        was as close as its limit let it be, and what was planned.
    close : dict of dict
        By candidate and place such a bound, or what was planned.
    refused : dict
        By candidate the place of the largest k that was refused.
    found : dict of Option
    """

    candidates: Sequence[Candidate]
    count: int
    waiting: list[tuple[float, int, int, bool, Option | None]] = field(default_factory=list)
    close: dict[int, dict[int, float]] = field(default_factory=dict)
    refused: dict[int, int] = field(default_factory=dict)
    found: dict[int, Option] = field(default_factory=dict)

    def refuses(self, number: int) -> bool:
        """Whether a candidate was refused whatever its k."""
        return self.refused.get(number) == len(self.candidates[number].sizes)

    def look(self, number: int) -> None:
        """Bound a candidate at every k by the ends of columns, closely where that is least.

        Or plan it there, where a bound would take as long.
        """
        candidate, enough = self.candidates[number], BESIDE * self._enough(number)
        floors = [candidate.floor(k, enough, ends=True) for k in candidate.sizes]
        best = min(range(len(floors)), key=floors.__getitem__, default=None)
        for place, floor in enumerate(floors):
            if place == best and floor <= enough:
                if math.isinf(enough) and floor > 0 and candidate.is_bounded_late:
                    self.plan(number, place)
                else:
                    self.bound(number, place, floor)
            else:
                heapq.heappush(self.waiting, (floor, number, place, False, None))

    def bound(self, number: int, place: int, known: float) -> None:
        """Bound an error closer than it is known to be, but not far beyond what would do."""
        candidate = self.candidates[number]
        k = candidate.sizes[place]
        limit, enough = max(FIRST, FARTHER * known), BESIDE * self._enough(number)
        if known < enough < math.inf:
            limit = enough
        floor = max(known, candidate.floor(k, limit))
        is_close = floor <= limit
        if 0 < floor <= limit and candidate.keeps_promise(k):
            self.close.setdefault(number, {})[place] = floor
        heapq.heappush(self.waiting, (floor, number, place, is_close, None))

    def plan(self, number: int, place: int) -> None:
        """Plan a candidate at one k, to wait until none can be better."""
        own = self.close.setdefault(number, {})
        own.pop(place, None)
        option = _weighed(self.candidates[number], number, place, self.refused)
        if option is not None:
            own[place] = option.over_variance
            heapq.heappush(self.waiting, (option.over_variance, number, place, True, option))

    def _enough(self, number: int) -> float:
        """Return the error beyond which a candidate is not among those asked for, or another k is.

        As far as bounds that are close tell: it decides how far others go, and nothing else.
        """
        least = {other: min(own.values()) for other, own in self.close.items() if own}
        others = sorted(error for other, error in least.items() if other not in self.found)
        wanted = self.count - len(self.found)
        among = others[wanted - 1] if wanted <= len(others) else math.inf
        return min(among, least.get(number, math.inf))


def _weighed(
    candidate: Candidate, number: int, place: int, refused: dict[int, int]
) -> Option | None:
    """Weigh at one k; keep the refusal of the largest k that was refused."""
    search = candidate.search
    try:
        return candidate.weighed(candidate.sizes[place])
    except (RequestError, DataError) as error:
        whatever_k = error.place == "scope" and search.scope == Scope.ROW
        last = len(candidate.sizes) if whatever_k else place
        if last >= refused.get(number, 0):
            refused[number] = last
            search.refusals[candidate.method.id] = error
        return None
